"""Every kind of claim on one made-up study: verdicts and numbers stay the same to the digit; rules are tried early."""

import math

import numpy as np
import pandas as pd
import pytest

from experiments.config.study import PaperError
from experiments.judge.evidence.claim_group import Contrast
from experiments.questions.group_claim import ComparisonRule
from experiments.questions.paper_questions import resolve_claims
from tests.papers import judge_claims, make_paper

EPSILON = [0.1, 1.0, math.inf]
STUDY = {"dataset": ["car", "adult"], "algorithm": ["a", "b", "c"], "epsilon": EPSILON}
PAIR = {"better": "b", "worse": "a", "within": ["dataset", "epsilon"]}
ALONG = {"along": "epsilon", "within": ["dataset", "algorithm"]}
CURVES = {
    side: {"study": "s", "where": {"dataset": "car", "algorithm": name}, "along": "epsilon"}
    for side, name in (("better", "b"), ("worse", "a"))
}
#: By kind: its keys; the verdict, how settings came out, the effect, and the sum of all numbers of its settings.
FOUND = {
    "above": (PAIR, "undecided", "2 as claimed, 4 open", 0.00522863194584, 3.63044020621),
    "below": (
        PAIR | {"within": ["epsilon"], "metric": "mse", "over": ["dataset"]},
        *("practically equal", "3 equal", -0.00554564632116, 1.8995387403),
    ),
    "not_worse": (
        PAIR | {"better": "a", "worse": "b", "margin": 0.05},
        *("reproduced", "6 as claimed", -0.00522863194584, 5.20544969403),
    ),
    "between": (
        {"where": {"algorithm": "b"}, "low": 0.62, "high": 0.9, "within": ["dataset", "epsilon"]},
        *("undecided", "11 as claimed, 1 open", 0.0496567309011, 8.02002109048),
    ),
    "increases": (ALONG, "undecided", "15 as claimed, 3 open", 0.0583015173776, 18.1284325759),
    "decreases": (
        ALONG | {"metric": "mse", "median": "half of the runs"},
        *("in part", "7 as claimed, 11 equal", -0.0579257980601, 14.3960532645),
    ),
    "independent": (
        ALONG | {"where": {"algorithm": "c"}, "within": ["dataset"], "margin": 0.1},
        *("reproduced", "6 as claimed", 0.0313941464044, 6.51250102421),
    ),
    "approaches": (
        ALONG | {"algorithm": "b", "to": "a", "within": ["dataset"]},
        *("undecided", "2 open", -0.00507109339492, 1.13812443742),
    ),
    "meets": (
        ALONG | {"algorithm": "c", "to": "a", "within": ["dataset"], "margin": 0.04},
        *("reproduced", "2 as claimed", -0.0089300120506, 1.32722430612),
    ),
    "farther": (
        {"one": "c", "middle": "a", "other": "b", "within": ["dataset", "epsilon"]},
        *("undecided", "6 open", 0.00849667817774, 3.78810664057),
    ),
    "highest": (
        ALONG | {"at": 1.0, "where": {"algorithm": ["a", "c"]}, "margin": 0.01},
        *("refuted", "3 as claimed, 3 opposite, 2 open", 0.0282972845006, 4.06058247529),
    ),
    "above_at_equal": (
        CURVES | {"equal": "membership_auc"},
        *("undecided", "1 open", 0.00574713981186, 0.677268314697),
    ),
}


def make_runs() -> pd.DataFrame:
    """Return 40 runs of each setting of three algorithms, whose metrics change along ε."""
    rng, rows = np.random.default_rng(7), []
    for dataset, offset in (("car", 0.0), ("adult", 0.05)):
        for place, algorithm in enumerate(STUDY["algorithm"]):
            for level, epsilon in enumerate(EPSILON):
                for repeat in range(40):
                    setting = {"dataset": dataset, "algorithm": algorithm, "epsilon": epsilon, "repeat": repeat}
                    mean = 0.6 + offset + 0.04 * level + 0.02 * place - 0.012 * place * level
                    accuracy = mean + rng.normal(0, 0.02)
                    measured = {"accuracy": accuracy, "mse": 2 - accuracy + rng.normal(0, 0.01)}
                    leak = 0.5 + 0.05 * level + rng.normal(0, 0.004)
                    rows.append({"study": "s", **setting, **measured, "membership_auc": leak})
    return pd.DataFrame(rows)


def make_claim(kind, keys):
    study = {} if "equal" in keys else {"study": "s"}
    return {"id": "it", "text": "T", "kind": kind, "metric": "accuracy", **study, **keys}


@pytest.mark.parametrize("kind", FOUND)
def test_verdicts_and_numbers_of_a_kind_stay_the_same(kind):
    keys, *expected = FOUND[kind]
    paper = make_paper(repeats=10, most_repeats=40, studies={"s": STUDY}, claims=[make_claim(kind, keys)])
    (answer,) = judge_claims(paper, make_runs())
    counts = ", ".join(f"{n} {outcome}" for outcome, n in answer.counts.items() if n)
    numbers = [[one.effect, one.low, one.high, one.margin, one.share_won] for one in answer.settings]
    assert [answer.verdict, counts] == expected[:2]
    assert [answer.effect, np.sum(numbers)] == pytest.approx(expected[2:], rel=1e-10)


def compare(values, margin, name="", **changed):
    worse, better = values.T
    return Contrast.of_difference(name, 1, worse, better, margin)._replace(**changed)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (lambda values, margin: [], "says nothing: there is no contrast, or one without sides"),
        (lambda values, margin: [compare(values, margin, sides=())], "says nothing"),
        (lambda values, margin: [compare(values, margin)] * 2, r"returns contrasts of one name, \['', ''\]; give each"),
        (lambda values, margin: values.T[2], r"fails \(IndexError: index 2 is out of bounds .*\)"),
        (lambda values, margin: [compare(values - values.mean(axis=0), margin)], "says something else of a run if"),
        (lambda values, margin: [compare(values, margin, sides=(values,))], "does not return a number for each run"),
        (lambda values, margin: [compare(values / 0, margin)], "does not return a number for each run"),
        (lambda values, margin: [compare(values, margin)][: len(values) - 2], r"fails \(ValueError: zip\(\)"),
    ],
    ids=["none", "no sides", "one name", "raises", "of several runs", "shape", "infinite", "of many alone"],
)
def test_a_rule_of_which_no_verdict_can_be_made_is_refused_before_any_run(monkeypatch, rule, said):
    paper = make_paper(studies={"s": STUDY}, claims=[make_claim("above", PAIR)])
    monkeypatch.setattr(ComparisonRule, "list_contrasts", lambda self, values, margin: rule(values, margin))
    with pytest.raises(PaperError, match=f"claim 'it': list_contrasts of its kind, tried on made-up runs, {said}"):
        resolve_claims(paper)
