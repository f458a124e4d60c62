"""Claims about what is printed alone, which need no run."""

import pandas as pd
import pytest

from documents.yaml_files import DocumentError
from experiments.config.study import PaperError
from tests.papers import judge_claims, make_paper


def printed_rates(*rates):
    names = ("p-a", "p-b", "r-a", "r-b")
    rows = [
        {"id": name, "metric": "precision_acc", "printed": rate, "decimals": 1, "verdict": "refuted"}
        for name, rate in zip(names, rates, strict=True)
    ]
    return pd.DataFrame(rows)


CONSISTENT = {
    "id": "c",
    "text": "c",
    "own": True,
    "kind": "consistent",
    "precision": ["p-a", "p-b"],
    "recall": ["r-a", "r-b"],
}
CONSISTENT |= {"n_rows": [210, 84]}


def judge(numbers, **changes):
    """Judge the claim, with other keys, about printed numbers."""
    (result,) = judge_claims(make_paper(repeats=1, claims=[CONSISTENT | changes]), pd.DataFrame(), numbers)
    return result


def test_printed_rates_that_no_table_of_counts_gives_are_inconsistent_in_print():
    result = judge(printed_rates(0.953, 0.941, 0.946, 0.938))
    assert result.verdict == "inconsistent in print" and "97.4 to 97.5 %" in result.reason
    # 200 of 210 and 80 of 84 right: precisions 200/204 and 80/90
    result = judge(printed_rates(0.980, 0.889, 0.952, 0.952))
    assert result.verdict == "reproduced" and "[[200, 10], [4, 80]]" in result.reason
    # two runs on 10 and 10 rows, all rates 0.8 in one and 0.9 in the other: no single table of counts gives the mean
    result = judge(printed_rates(0.85, 0.85, 0.85, 0.85), n_rows=[10, 10])
    assert result.verdict == "print too coarse" and "a mean over runs may" in result.reason
    # of 10 and 30 rows such recalls leave 65.30 to 65.47 %, so that nothing is printed as 65.2
    for precision, verdict in ((0.653, "print too coarse"), (0.652, "inconsistent in print")):
        assert judge(printed_rates(precision, 0.944, 0.85, 0.85), n_rows=[10, 30]).verdict == verdict
    result = judge(printed_rates(0.953, 0.941, 0.946, 0.938), n_rows=[[200, 220], [80, 90]])
    assert result.verdict == "inconsistent in print" and "of 200 to 220 and 80 to 90 test rows" in result.reason
    with pytest.raises(PaperError, match="there is no printed number 'p-a'"):
        judge(pd.DataFrame())
    with pytest.raises(PaperError, match="each of at least 2 classes"):
        judge(printed_rates(1, 1, 1, 1), n_rows=[210])


def test_what_stands_in_two_places_is_the_same_or_inconsistent_in_print():
    claim = {"id": "c", "text": "c", "own": True, "kind": "agrees"}
    for values, verdict in (
        ({"here": 6, "there": 7}, "inconsistent in print"),
        ({"here": 6, "there": 6}, "reproduced"),
    ):
        (result,) = judge_claims(make_paper(repeats=1, claims=[claim | {"values": values}]), pd.DataFrame())
        assert result.verdict == verdict and result.reason == "; ".join(f"{k}: {v}" for k, v in values.items())
    with pytest.raises(DocumentError, match=r"claims\.0\.values: dictionary should have at least 2 items"):
        make_paper(repeats=1, claims=[claim | {"values": {"here": 6}}])


def judge_claim_about(*verdicts):
    """Judge a claim about numbers with these verdicts."""
    names = [f"n{i}" for i in range(len(verdicts))]
    numbers = pd.DataFrame({"id": names, "verdict": verdicts, "reason": [f"why {name}" for name in names]})
    claim = {"id": "p", "text": "p", "own": True, "kind": "printed", "numbers": names}
    (result,) = judge_claims(make_paper(repeats=1, claims=[claim]), pd.DataFrame(), numbers)
    return result


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["reproduced", "reproduced"], "reproduced"),
        (["reproduced", "reproduced within ± δ"], "reproduced within ± δ"),
        (["reproduced within ± δ", "refuted", "undecided"], "refuted"),
        (["depends on how many runs were averaged", "refuted"], "refuted"),
        (["undecided", "depends on how many runs were averaged"], "depends on how many runs were averaged"),
        (["reproduced", "print too coarse"], "print too coarse"),
        (["print too coarse", "setting lost"], "setting lost"),
        (["print too coarse", "undecided"], "undecided"),
        (["undecided", "not implemented"], "not implemented"),
        (["reproduced", "not run"], "not run"),
    ],
)
def test_a_claim_about_numbers_is_as_decided_as_the_least_decided_of_them(verdicts, expected):
    result = judge_claim_about(*verdicts)
    assert result.verdict == expected
    said = dict(part.split(": ") for part in result.reason.split("; "))
    assert "n1" in said[verdicts[1]]
