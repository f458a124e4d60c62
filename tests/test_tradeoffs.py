"""Claims about two curves where both have the same of another metric, on curves whose truth is known."""

import math

import numpy as np
import pandas as pd
import pytest

from documents.yaml_files import DocumentError
from experiments.config.study import PaperError
from experiments.questions.tradeoffs import compare_at_equal
from tests.papers import judge_claims, list_claim_needs, make_paper

AT_EQUAL = {"id": "equal", "text": "equal", "kind": "above_at_equal", "metric": "accuracy", "equal": "relinked"}
AT_EQUAL |= {"better": {"study": "h", "along": "params.bandwidth"}, "worse": {"study": "s", "along": "params.sigma"}}
LEAKS = {"leakage": True}
CURVES = {
    "number": 0,
    "repeats": 10,
    "most_repeats": 40,
    "studies": {
        "h": {"dataset": ["car"], "algorithm": ["cpppw"], "params": {"bandwidth": [0.1, 0.5, 1.0]}, "protocol": LEAKS},
        "s": {"dataset": ["car"], "algorithm": ["asn"], "params": {"sigma": [1.0, 2.0]}, "protocol": LEAKS},
    },
}


def judged(table, keys=None, **changes):
    paper = make_paper(**CURVES | (keys or {}), claims=[AT_EQUAL | changes])
    (result,) = judge_claims(paper, table)
    return result


def list_needed(table, **keys):
    """Return how many repeats of which curves are needed."""
    paper = make_paper(**CURVES | keys, claims=[AT_EQUAL])
    return [({key.study for key in need.settings}, need.repeats) for need in list_claim_needs(paper, table)]


def two_curves(gap, shift=0.0, seed=0, repeats=40):
    """Accuracy is a third of the leakage, and ``gap`` more for the first; the second begins to leak ``shift`` later."""
    rng, rows = np.random.default_rng(seed), []
    for study, algorithm, name, levels in (
        ("h", "cpppw", "bandwidth", {0.1: 0.9, 0.5: 0.5, 1.0: 0.1}),
        ("s", "asn", "sigma", {1.0: 0.8 + shift, 2.0: 0.3 + shift}),
    ):
        setting = {"study": study, "dataset": "car", "algorithm": algorithm, "epsilon": math.inf, "status": "done"}
        for value, leak in levels.items():
            for r in range(repeats):
                accuracy = 0.3 + leak / 3 + (gap if study == "h" else 0) + rng.normal(0, 0.002)
                found = {"key": f"{study} {value} {r}", "repeat": r, "relinked": leak, "accuracy": accuracy}
                rows.append(setting | {f"params.{name}": value} | found)
    return pd.DataFrame(rows)


@pytest.mark.parametrize(("gap", "verdict"), [(0.2, "reproduced"), (0.0, "practically equal"), (-0.2, "refuted")])
def test_curves_are_compared_where_they_leak_the_same(gap, verdict):
    found = judged(two_curves(gap, seed=1))
    assert found.verdict == verdict
    assert found.effect == pytest.approx(gap, abs=0.002), "not the difference of their means, which leak differently"
    assert len(found.settings) == 1


def test_a_bent_curve_must_have_many_points_to_be_compared_with_itself():
    """A ceiling is reached in a bend: with four points, the chords alone make a difference."""
    gaps = []
    for n_points in (4, 9):
        curves = []
        for power in (1, 2):
            leak = 0.5 + 0.4 * np.linspace(0, 1, n_points) ** power
            curves.append(pd.DataFrame({"repeat": 0, "leak": leak, "accuracy": 0.7 + 0.27 * np.tanh(6 * (leak - 0.5))}))
        ((one, other),) = compare_at_equal(curves, "leak", "accuracy").to_numpy()
        gaps.append(abs(one - other))
    assert gaps[0] > 0.0025 > 0.001 > gaps[1]


def test_both_curves_get_more_repeats_until_the_claim_is_decided():
    noisy = two_curves(0.0)
    noisy["accuracy"] += 0.1 * (-1.0) ** noisy["repeat"] * (noisy["study"] == "h")
    assert list_needed(noisy[noisy["repeat"] < 10]) == [({"s", "h"}, 20)]
    assert list_needed(noisy[noisy["repeat"] < 20]) == [({"s", "h"}, 40)]
    uneven = noisy[(noisy["repeat"] < 10) | (noisy["study"] == "s")]
    assert list_needed(uneven) == [({"s", "h"}, 20)]
    assert list_needed(noisy) == []
    assert list_needed(two_curves(0.2)) == []


def test_curves_that_never_leak_the_same_are_not_compared():
    apart = two_curves(0.02, shift=0.7)
    found = judged(apart)
    assert found.verdict == "undecided"
    assert found.reason == "the curves share no range of relinked in 20 of 20 repeats"
    assert list_needed(apart[apart["repeat"] < 20]) == []
    nothing = judged(pd.DataFrame())
    assert (nothing.verdict, nothing.reason) == ("not run", "no cell of it was run")


def test_curves_that_leak_the_same_in_some_repeats_only_are_not_compared():
    table = two_curves(0.02)
    table.loc[(table["study"] == "s") & (table["repeat"] < 5), "relinked"] += 0.7
    found = judged(table)
    assert found.verdict == "undecided" and "share no range of relinked in 5 of 20 repeats" in found.reason


def test_a_repeat_beyond_those_that_decided_a_claim_does_not_undo_it():
    """Another claim may have taken more repeats of the same cells."""
    few, table = judged(two_curves(0.2).query("repeat < 30")), two_curves(0.2)
    table.loc[(table["study"] == "s") & (table["repeat"] == 35), "relinked"] += 0.7
    assert few.verdict == "reproduced" and few.runs <= 30
    more = judged(table)
    assert (more.verdict, more.runs, more.counts) == (few.verdict, few.runs, few.counts)


def test_a_curve_that_lacks_a_point_is_no_curve():
    table = two_curves(0.2)
    table.loc[(table["study"] == "h") & (table["params.bandwidth"] == 0.5) & (table["repeat"] == 3), "status"] = (
        "failed"
    )
    table.loc[table["status"] == "failed", ["accuracy", "relinked"]] = math.nan
    found = judged(table)
    assert found.verdict == "undecided"
    assert found.reason.endswith("INCOMPLETE: 1 run failed: a crash may hide the worst")


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
