"""Claims about two curves where both have the same of another metric, on curves whose truth is known."""

import math

import numpy as np
import pandas as pd
import pytest

from documents.document import DocumentError
from experiments.config.paper import PaperError
from experiments.judge.claim_verdicts import judge_claims
from tests.papers import make_paper

AT_EQUAL = {"id": "equal", "text": "equal", "kind": "above_at_equal", "metric": "accuracy", "equal": "relinked"}
AT_EQUAL |= {"better": {"study": "h", "along": "params.bandwidth"}, "worse": {"study": "s", "along": "params.sigma"}}
CURVES = {
    "number": 0,
    "repeats": 10,
    "studies": {
        "h": {"dataset": ["car"], "algorithm": ["cpppw"], "params": {"bandwidth": [0.1, 0.5, 1.0]}},
        "s": {"dataset": ["car"], "algorithm": ["asn"], "params": {"sigma": [1.0, 2.0]}},
    },
}


def judged(table, **changes):
    paper = make_paper(**CURVES, claims=[AT_EQUAL | changes])
    (result,) = judge_claims(paper, table, fixed_splits=("car",))
    return result


def two_curves(gap, shift=0.0, seed=0):
    """Accuracy is half the leakage, and ``gap`` more for the first; leakages of the second begin ``shift`` higher."""
    rng, rows = np.random.default_rng(seed), []
    for study, algorithm, name, levels in (
        ("h", "cpppw", "bandwidth", {0.1: 0.9, 0.5: 0.5, 1.0: 0.1}),
        ("s", "asn", "sigma", {1.0: 0.8 + shift, 2.0: 0.3 + shift}),
    ):
        for value, leak in levels.items():
            for r in range(10):
                accuracy = 0.4 + leak / 2 + (gap if study == "h" else 0) + rng.normal(0, 0.002)
                rows.append(
                    {"study": study, "key": f"{study} {value} {r}", "dataset": "car", "algorithm": algorithm}
                    | {
                        f"params.{name}": value,
                        "epsilon": math.inf,
                        "repeat": r,
                        "relinked": leak,
                        "accuracy": accuracy,
                    }
                )
    return pd.DataFrame(rows)


@pytest.mark.parametrize(("gap", "verdict"), [(0.02, "reproduced"), (0.0, "undecided"), (-0.02, "refuted")])
def test_curves_are_compared_where_they_leak_the_same(gap, verdict):
    found = judged(two_curves(gap, seed=1))
    assert found["verdict"] == verdict
    assert found["effect"] == pytest.approx(gap, abs=0.002), "not the difference of their means, which leak differently"
    assert (found["cells"], found["cells_expected"]) == (50, 50)


def test_curves_that_never_leak_the_same_are_not_compared():
    apart = judged(two_curves(0.02, shift=0.7))
    assert apart["verdict"] == "undecided" and "shared by both in 0 of 10 repeats" in apart["reason"]
    nothing = judged(pd.DataFrame())
    assert (nothing["verdict"], nothing["reason"]) == ("undecided", "no cell answers it")


def test_curves_that_leak_the_same_in_some_repeats_only_are_not_compared():
    table = two_curves(0.02)
    table.loc[(table["study"] == "s") & (table["repeat"] < 5), "relinked"] += 0.7
    found = judged(table)
    assert found["verdict"] == "undecided" and "in 5 of 10 repeats" in found["reason"]


@pytest.mark.parametrize(
    ("curve", "message"),
    [
        ({"study": "x", "along": "epsilon"}, "equal: study 'x' is not in the paper"),
        ({"study": "h", "along": "epsilon"}, "equal: a curve along epsilon must fix params.bandwidth"),
        ({"study": "h", "along": "sigma"}, "equal: a curve along sigma must fix params.bandwidth"),
    ],
)
def test_a_curve_that_is_none_is_refused(curve, message):
    with pytest.raises(PaperError, match=message):
        judged(two_curves(0.0), better=curve)


@pytest.mark.parametrize(
    ("curve", "message"),
    [
        ({"study": "h"}, "claims.0.better: the key 'along' is missing"),
        (
            {"study": "h", "along": "params.bandwidth", "wher": {}},
            r"claims.0.better: unknown key 'wher'; did you mean 'where'\?",
        ),
    ],
)
def test_a_curve_that_lacks_a_key_or_has_a_wrong_one_is_refused(curve, message):
    with pytest.raises(DocumentError, match=message):
        judged(two_curves(0.0), better=curve)
