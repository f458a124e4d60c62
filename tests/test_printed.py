"""Claims about what is printed alone, which need no run."""

import pandas as pd
import pytest

from experiments.config.paper import PaperError
from experiments.judge.claim_verdicts import judge_claims
from tests.papers import make_paper


def printed_rates(*rates):
    names = ("p-a", "p-b", "r-a", "r-b")
    rows = [
        {"id": name, "metric": "precision_acc", "printed": rate, "decimals": 1, "verdict": "refuted"}
        for name, rate in zip(names, rates, strict=True)
    ]
    return pd.DataFrame(rows)


CONSISTENT = {"id": "c", "text": "c", "kind": "consistent", "precision": ["p-a", "p-b"], "recall": ["r-a", "r-b"]}
CONSISTENT |= {"n_rows": [210, 84]}


def judge(numbers, **changes):
    """Judge the claim, with other keys, about printed numbers."""
    (result,) = judge_claims(make_paper(repeats=1, claims=[CONSISTENT | changes]), pd.DataFrame(), numbers)
    return result


def test_printed_rates_that_no_table_of_counts_gives_are_inconsistent_in_print():
    result = judge(printed_rates(0.953, 0.941, 0.946, 0.938))
    assert result["verdict"] == "inconsistent in print" and "97.4 to 97.5 %" in result["reason"]
    # 200 of 210 and 80 of 84 right: precisions 200/204 and 80/90
    result = judge(printed_rates(0.980, 0.889, 0.952, 0.952))
    assert result["verdict"] == "reproduced" and "[[200, 10], [4, 80]]" in result["reason"]
    # two runs on 10 and 10 rows, all rates 0.8 in one and 0.9 in the other: no single table of counts gives the mean
    result = judge(printed_rates(0.85, 0.85, 0.85, 0.85), n_rows=[10, 10])
    assert result["verdict"] == "undecided" and "a mean over runs may" in result["reason"]
    result = judge(printed_rates(0.953, 0.941, 0.946, 0.938), n_rows=[[200, 220], [80, 90]])
    assert result["verdict"] == "inconsistent in print" and "of [[200, 220], [80, 90]] test rows" in result["reason"]
    with pytest.raises(PaperError, match="there is no printed number 'p-a'"):
        judge(pd.DataFrame())
    with pytest.raises(PaperError, match="each of at least 2 classes"):
        judge(printed_rates(1, 1, 1, 1), n_rows=[210])
