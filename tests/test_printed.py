"""Claims about what is printed alone, which need no run."""

import pandas as pd
import pytest

from experiments.config.paper import PaperError
from experiments.judge.claim_verdicts import judge_claims

PAPER = {"number": 0, "repeats": 1}


def printed_rates(*rates):
    names = ("p-a", "p-b", "r-a", "r-b")
    rows = [
        {"id": name, "metric": "precision_acc", "printed": rate, "decimals": 1, "verdict": "not reproduced"}
        for name, rate in zip(names, rates, strict=True)
    ]
    return pd.DataFrame(rows)


CONSISTENT = {"id": "c", "text": "c", "kind": "consistent", "precision": ["p-a", "p-b"], "recall": ["r-a", "r-b"]}
CONSISTENT |= {"n_rows": [210, 84]}


def test_printed_rates_that_no_table_of_counts_gives_are_inconsistent_in_print():
    paper = PAPER | {"claims": [CONSISTENT]}
    (found,) = judge_claims(paper, pd.DataFrame(), printed_rates(0.953, 0.941, 0.946, 0.938))
    assert found["verdict"] == "inconsistent in print" and "97.4 to 97.5 %" in found["reason"]
    # 200 of 210 and 80 of 84 right: precisions 200/204 and 80/90
    (found,) = judge_claims(paper, pd.DataFrame(), printed_rates(0.980, 0.889, 0.952, 0.952))
    assert found["verdict"] == "reproduced" and "[[200, 10], [4, 80]]" in found["reason"]
    # two runs on 10 and 10 rows, all rates 0.8 in one and 0.9 in the other: no single table of counts gives the mean
    claim = CONSISTENT | {"n_rows": [10, 10]}
    (found,) = judge_claims(PAPER | {"claims": [claim]}, pd.DataFrame(), printed_rates(0.85, 0.85, 0.85, 0.85))
    assert found["verdict"] == "not testable" and "a mean over runs may" in found["reason"]
    claim = CONSISTENT | {"n_rows": [[200, 220], [80, 90]]}
    rates = printed_rates(0.953, 0.941, 0.946, 0.938)
    (found,) = judge_claims(PAPER | {"claims": [claim]}, pd.DataFrame(), rates)
    assert found["verdict"] == "inconsistent in print"
    with pytest.raises(PaperError, match="there is no printed number 'p-a'"):
        judge_claims(paper, pd.DataFrame(), pd.DataFrame())
    with pytest.raises(PaperError, match="each of at least 2 classes"):
        judge_claims(PAPER | {"claims": [CONSISTENT | {"n_rows": [210]}]}, pd.DataFrame(), printed_rates(1, 1, 1, 1))
