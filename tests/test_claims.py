"""Claims on tables whose truth is known, both ways."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, quantile_test, ttest_1samp

from documents.yaml_files import DocumentError
from experiments.config.papers import read_paper
from experiments.config.study import PaperError
from experiments.judge.readings_together import combine_verdicts
from experiments.judge.verdict import Verdict
from experiments.questions.printed import read_numbers_of
from experiments.stats import mean_interval, median_interval, sign_p
from tests.papers import judge_claims, make_paper

EPSILON = [0.1, 0.5, 1.0, math.inf]
DEPTH = [3, 5, 7]
N = 40
GROWS = {"id": "grows", "text": "grows", "kind": "increases", "study": "grid", "along": "epsilon", "metric": "accuracy"}
GROWS |= {"within": ["dataset", "params.max_depth"]}
ABOVE = {"id": "above", "text": "above", "kind": "above", "study": "pair", "better": "a", "worse": "b"}
ABOVE |= {"within": ["dataset", "epsilon"], "metric": "accuracy"}
NEARS = {"id": "nears", "text": "nears", "kind": "approaches", "study": "pair", "along": "epsilon"}
NEARS |= {"algorithm": "a", "to": "b", "within": ["dataset"], "metric": "accuracy"}
STAYS = GROWS | {"id": "stays", "kind": "independent", "margin": 0.05}
PEAKS = STAYS | {"id": "peaks", "kind": "highest", "along": "params.max_depth", "at": 5, "margin": 0.01}
PEAKS |= {"within": ["dataset", "epsilon"]}
AS_GOOD = ABOVE | {"id": "as-good", "kind": "not_worse", "margin": 0.05}
MEETS = NEARS | {"id": "meets", "kind": "meets", "margin": 0.05}
PAPER = {
    "number": 0,
    "repeats": 10,
    "most_repeats": N,
    "studies": {
        "grid": {"dataset": ["car"], "algorithm": ["a"], "params": {"max_depth": DEPTH}, "epsilon": EPSILON},
        "pair": {"dataset": ["car"], "algorithm": ["a", "b"], "params": {"max_depth": 3}, "epsilon": EPSILON},
    },
    "claims": [GROWS],
}


def without(claim, key):
    """Return a claim without one of its keys."""
    return {name: value for name, value in claim.items() if name != key}


def grid(truth, *, sd=0.002, repeats=N, seed=0, cap=1.0):
    """Return a table of the study ``grid`` with mean ``truth(level of epsilon, depth)``."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {"study": "grid", "dataset": "car", "algorithm": "a", "params.max_depth": d, "epsilon": e, "repeat": r}
        | {"accuracy": min(cap, truth(i, d) + rng.normal(0, sd)), "status": "done"}
        for d in DEPTH
        for i, e in enumerate(EPSILON)
        for r in range(repeats)
    )


def pair(gap, *, sd=0.002, repeats=N, seed=0):
    """Return a table of the study ``pair`` in which a is above b by ``gap(level of epsilon)``; repeats share a part."""
    rng = np.random.default_rng(seed)
    shared = rng.uniform(-0.05, 0.05, repeats)
    return pd.DataFrame(
        {"study": "pair", "dataset": "car", "algorithm": algorithm, "params.max_depth": 3, "epsilon": e, "repeat": r}
        | {"accuracy": 0.6 + shared[r] + (gap(i) if algorithm == "a" else 0) + rng.normal(0, sd), "status": "done"}
        for i, e in enumerate(EPSILON)
        for algorithm in "ab"
        for r in range(repeats)
    )


def judge(table, claim=GROWS, paper=PAPER, **more):
    (result,) = judge_claims(make_paper(**paper | {"claims": [claim | more]}), table)
    return result


def outcomes_of(result):
    """Return the outcomes of a claim's settings, by the values of their axes and the part of the claim."""
    axes = ("params.max_depth", "epsilon", "part")
    places = {tuple(found.place[axis] for axis in axes if axis in found.place): found for found in result.settings}
    return {place: found.outcome for place, found in places.items()}


def count(result):
    """Return how many settings came out how, without what none did."""
    return {outcome: n for outcome, n in result.counts.items() if n}


def test_growth_is_found():
    result = judge(grid(lambda i, d: 0.4 + 0.15 * i))
    assert result.verdict == result.as_read == "reproduced"
    assert result.effect == pytest.approx(0.45, abs=0.003)
    assert result.low < result.effect < result.high
    assert set(outcomes_of(result).values()) == {"as claimed"} and count(result) == {"as claimed": 12}
    assert result.runs == 20 and result.reason == "as claimed in all 12 settings, after up to 20 runs"
    assert (result.statistic, result.unseen) == (
        "mean",
        "a collapse in fewer than 1 of 7 runs would not have been seen",
    )


def test_verdict_effect_and_interval_are_of_one_statistic():
    """Most runs gain 5 points, one of four loses 40: the mean of a is lower, its median is higher."""
    table = pair(lambda i: 0, sd=0, repeats=160)
    is_a, collapses = table["algorithm"] == "a", table["repeat"] % 4 == 3
    table["accuracy"] = 0.5 + is_a * np.where(collapses, -0.4, 0.05)
    of_means = judge(table, ABOVE, most_repeats=160)
    of_medians = judge(table, ABOVE, most_repeats=160, median="half of the runs")
    assert (of_means.verdict, of_means.statistic) == ("refuted", "mean")
    assert of_means.effect == pytest.approx(-0.0625) and of_means.high < 0 and of_means.refuting.high < 0
    assert of_means.refuting.share_won == 0.75, "a fact beside the verdict, which does not rest on it"
    assert (of_medians.verdict, of_medians.statistic) == ("reproduced", "median")
    assert of_medians.effect == pytest.approx(0.05) and of_medians.low > 0


def test_a_claim_about_medians_has_the_words_that_say_so():
    with pytest.raises(DocumentError, match="unknown key 'center'"):
        judge(pair(lambda i: 0.1), ABOVE, center="median")
    with pytest.raises(DocumentError, match=r"claims\.0\.median: input should be a valid string, got True"):
        judge(pair(lambda i: 0.1), ABOVE, median=True)


@pytest.mark.parametrize(
    ("truth", "counted"),
    [
        (lambda i, d: 0.9 - 0.12 * i, "; the opposite in all 12 settings"),
        (
            lambda i, d: 0.4 + (0.12 * i if d != 5 else -0.12 * i),
            "; as claimed in 8 of 12 settings, the opposite in 4",
        ),
    ],
    ids=["falls", "falls at one depth"],
)
def test_a_fall_refutes_growth(truth, counted):
    result = judge(grid(truth))
    assert result.verdict == "refuted"
    found = result.refuting
    assert found.high < 0 and found.share_won == 0 and found.outcome == "opposite"
    depth = found.place["params.max_depth"]
    assert result.reason.startswith(f"fails on car at max_depth = {depth}, first to last: −")
    assert result.reason.endswith(counted), "those that do not refute it are counted, too"


def test_a_step_that_falls_by_more_than_delta_refutes_growth_from_first_to_last():
    result = judge(grid(lambda i, d: 0.4 + (0.0, 0.3, 0.2, 0.5)[i] if d == 5 else 0.4 + 0.15 * i))
    assert result.verdict == "refuted"
    found = result.refuting
    assert (found.place["part"], found.place["params.max_depth"]) == ("step 2", 5)
    assert found.effect == pytest.approx(-0.1, abs=0.004)
    assert "fails on car at max_depth = 5, step 2: −" in result.reason
    assert result.reason.endswith("as claimed in 11 of 12 settings, the opposite in 1")


def test_a_step_that_falls_by_less_than_delta_is_equal_and_the_claim_holds_in_part():
    result = judge(grid(lambda i, d: 0.4 + (0.0, 0.2, 0.195, 0.4)[i], sd=0.001))
    assert result.verdict == "in part" and result.verdict.sign.value == "depends"
    assert count(result) == {"as claimed": 9, "equal": 3}
    assert {place for place, outcome in outcomes_of(result).items() if outcome == "equal"} == {
        (depth, "step 2") for depth in DEPTH
    }


def test_delta_is_what_the_paper_says():
    table = grid(lambda i, d: 0.4 + (0.0, 0.2, 0.19 - 0.01, 0.4)[i], sd=0.001)
    assert judge(table).verdict == "refuted"
    assert judge(table, paper=PAPER | {"resolution": {"accuracy": 0.05}}).verdict == "in part"


def test_equal_everywhere_fails_and_equal_somewhere_is_in_part():
    result = judge(grid(lambda i, d: 0.8))
    assert result.verdict == "practically equal" and result.verdict.sign.value == "fails"
    assert result.reason == "no difference that matters in all 12 settings, after up to 20 runs"
    result = judge(grid(lambda i, d: 0.8 if d == 7 else 0.4 + 0.15 * i))
    assert result.verdict == "in part" and count(result) == {"as claimed": 8, "equal": 4}
    assert result.reason == "as claimed in 8 of 12 settings, no difference that matters in 4, after up to 20 runs"
    assert result.settings[0].place["params.max_depth"] == 7, "the weakest stands first"


@pytest.mark.parametrize(
    ("gaps", "verdict", "counts"),
    [
        ((0.1, 0.1, 0.1, 0.1), "reproduced", {"as claimed": 4}),
        ((0.1, 0, 0, 0), "in part", {"as claimed": 1, "equal": 3}),
        ((0, 0, 0, 0), "practically equal", {"equal": 4}),
        ((-0.1, 0.1, 0.1, 0.1), "refuted", {"as claimed": 3, "opposite": 1}),
        ((-0.1, 0, 0, 0), "refuted", {"equal": 3, "opposite": 1}),
        ((0.1, 0.1, 0, None), "undecided", {"as claimed": 2, "equal": 1, "open": 1}),
    ],
)
def test_settings_are_counted_four_ways(gaps, verdict, counts):
    table = pair(lambda i: gaps[i] or 0)
    is_open = table["epsilon"].map(dict(zip(EPSILON, gaps, strict=True))).isna() & (table["algorithm"] == "a")
    table["accuracy"] += np.where(is_open, 0.2 * (-1.0) ** table["repeat"], 0)
    result = judge(table, ABOVE)
    assert (result.verdict, count(result)) == (verdict, counts)
    assert sum(result.counts.values()) == len(result.settings) == 4


@pytest.mark.parametrize("level", [0.8, 0.0, 1.0])
def test_a_constant_is_practically_equal_and_no_growth_at_a_bound_of_the_metric_too(level):
    result = judge(grid(lambda i, d: level, sd=0))
    assert result.verdict == "practically equal"
    assert {found.share_won for found in result.settings} == {0}, "a draw is not won"


def test_a_setting_that_begins_at_the_ceiling_is_a_setting_like_others():
    """It would leave, and "grows" hold, if a claim could not be seen to hold there."""
    table = grid(lambda i, d: 0.4 + 0.12 * i if d < 7 else 2)
    result = judge(table)
    assert result.verdict == "in part" and count(result) == {"as claimed": 8, "equal": 4}
    falls = table["params.max_depth"].eq(7) & table["epsilon"].gt(0.5) & table["repeat"].ge(10)
    result = judge(table.assign(accuracy=np.where(falls, 0.5, table["accuracy"])))
    assert result.verdict == "refuted", "its later runs count"


def test_growth_that_is_too_noisy_to_see_is_undecided_and_more_repeats_find_it():
    table = grid(lambda i, d: 0.3 + 0.12 * i, sd=0.15, repeats=320)
    few, many = (judge(table, paper=PAPER | {"most_repeats": most}) for most in (20, 320))
    assert (few.verdict, many.verdict) == ("undecided", "reproduced")
    assert few.reason.startswith("open: as claimed in ") and "; weakest on car at max_depth = " in few.reason
    assert not few.unseen


def test_fewer_than_twenty_runs_prove_nothing():
    result = judge(pair(lambda i: 0.3, repeats=10), ABOVE, PAPER | {"most_repeats": 10})
    assert result.verdict == "undecided"
    assert result.reason.startswith("open: 10 runs, and 20 are the least that prove anything")


def test_the_weakest_open_setting_is_named_where_a_claim_is_undecided():
    table = grid(lambda i, d: 0.8 if d == 7 else 0.4 + 0.12 * i)
    noise = np.where(table["params.max_depth"] == 5, 0.4 * (-1.0) ** table["repeat"] * (table["epsilon"] - 0.1 > 0), 0)
    result = judge(table.assign(accuracy=table["accuracy"] + noise))
    assert result.verdict == "undecided"
    assert result.reason.startswith("open: as claimed in 7 of 12 settings, no difference that matters in 4, open in 1")
    assert "; weakest on car at max_depth = 5, step 1: " in result.reason


def test_a_comparison_on_average_is_one_of_the_means_over_the_named_axes():
    table = pair(lambda i: 0.3 if i else -0.1)  # below at the smallest ε, above at the others
    on_average = {"over": ["epsilon"], "within": ["dataset"]}
    assert judge(table, ABOVE).verdict == "refuted"
    result = judge(table, ABOVE, **on_average)
    mean = (0.3 * (len(EPSILON) - 1) - 0.1) / len(EPSILON)
    assert result.verdict == "reproduced" and result.effect == pytest.approx(mean, abs=0.002)
    assert (len(result.settings), result.settings[0].weighed, result.settings[0].n) == (1, result.runs, 40)
    lost = table[~((table["epsilon"] == EPSILON[0]) & (table["algorithm"] == "a") & (table["repeat"] == 3))]
    result = judge(lost, ABOVE, **on_average)
    assert result.verdict == "undecided" and result.settings[0].weighed == 19, (
        "a repeat without one of its settings has no mean"
    )


def test_above_is_paired():
    result = judge(pair(lambda i: 0.3), ABOVE)
    assert result.verdict == "reproduced"
    assert result.effect == pytest.approx(0.3, abs=0.002)
    assert judge(pair(lambda i: 0.3), ABOVE, better="b", worse="a").verdict == "refuted"
    assert judge(pair(lambda i: 0.0, seed=1), ABOVE).verdict == "practically equal"
    table = pair(lambda i: 0.3, sd=0)
    lost = judge(table[(table["algorithm"] == "a") | (table["repeat"] != 3)], ABOVE)
    assert {round(found.effect, 6) for found in lost.settings} == {0.3}, "by repeat, not place"


@pytest.mark.parametrize(("gap", "verdict"), [(-0.3, "refuted"), (0.0, "in part"), (0.3, "reproduced")])
def test_above_must_hold_in_every_setting(gap, verdict):
    result = judge(pair(lambda i: 0.4 if i else gap), ABOVE)
    assert result.verdict == verdict
    assert result.settings[0].place["epsilon"] == 0.1
    assert ("fails on car at ε = 0.1: " in result.reason) == (verdict == "refuted")


def test_below_is_the_mirror_of_above():
    for gap in (-0.3, 0.0, 0.3):
        table = pair(lambda i, gap=gap: gap, seed=1)
        below = judge(table, ABOVE | {"kind": "below"})
        above = judge(table.assign(accuracy=1 - table["accuracy"]), ABOVE)
        for name in ("verdict", "counts", "runs"):
            assert getattr(above, name) == getattr(below, name)
        assert below.effect == pytest.approx(-above.effect) == pytest.approx(gap, abs=0.003)


TRUTHS = {
    "grows": lambda i, d: 0.4 + 0.12 * i,
    "falls": lambda i, d: 0.9 - 0.12 * i,
    "flat": lambda i, d: 0.8,
    "dips": lambda i, d: 0.4 + (0.0, 0.3, 0.2, 0.5)[i],
    "ceiling": lambda i, d: 2 if d == 7 else 0.4 + 0.12 * i,
}


@pytest.mark.parametrize("truth", TRUTHS)
def test_an_error_decreases_as_its_complement_increases(truth):
    table = grid(TRUTHS[truth])
    error = table.assign(accuracy=1 - table["accuracy"])
    up, down = judge(table), judge(error, GROWS | {"kind": "decreases"})
    for name in ("verdict", "counts", "runs"):
        assert getattr(up, name) == getattr(down, name)
    assert up.effect == pytest.approx(-down.effect)
    assert outcomes_of(up) == outcomes_of(down)


@pytest.mark.parametrize(
    ("gap", "verdict"),
    [
        (lambda i: -0.36 / 2**i, "reproduced"),
        (lambda i: 0.1 * (1 + i), "refuted"),
        (lambda i: (0.36, 0.06, 0.3, 0.06)[i], "reproduced"),
        (lambda i: (0.06, 0.01, 0.01, 0.36)[i], "refuted"),
        (lambda i: 0.03, "practically equal"),
    ],
    ids=["nears from below", "parts", "nears with a step back", "nears and parts", "keeps its distance"],
)
def test_two_algorithms_approach_each_other(gap, verdict):
    result = judge(pair(gap, seed=2), NEARS)
    assert result.verdict == verdict
    assert len(result.settings) == 1, "both ends alone"


def test_a_distance_of_zero_is_practically_equal_at_both_ends():
    assert judge(pair(lambda i: 0, sd=0), NEARS).verdict == "practically equal"


def test_a_distance_that_grows_by_little_of_the_metric_refutes_nothing():
    table = pair(lambda i: 0.3 + 0.1 * i).rename(columns={"accuracy": "mse"})
    assert judge(table, NEARS, metric="mse").verdict == "refuted"
    assert judge(table.assign(mse=table["mse"] + 100), NEARS, metric="mse").verdict == "practically equal"


BEST = {"id": "best", "text": "best", "kind": "highest", "study": "grid", "along": "params.max_depth", "at": 5}
BEST |= {"within": ["epsilon"], "metric": "accuracy"}
FARTHER = {"id": "far", "text": "far", "kind": "farther", "study": "grid", "axis": "params.max_depth"}
FARTHER |= {"one": 7, "middle": 5, "other": 3, "within": ["epsilon"], "metric": "accuracy"}
LINE = {"id": "line", "text": "line", "kind": "between", "study": "grid"}
LINE |= {"within": ["params.max_depth", "epsilon"], "metric": "accuracy"}


@pytest.mark.parametrize(
    ("of_depth", "expected"),
    [
        ({3: 0.5, 5: 0.7, 7: 0.6}, "reproduced"),
        ({3: 0.5, 5: 0.7, 7: 0.8}, "refuted"),
        ({3: 0.5, 5: 0.7, 7: 0.7}, "in part"),
        ({3: 0.7, 5: 0.7, 7: 0.7}, "practically equal"),
    ],
)
def test_the_best_value_of_an_axis_is_above_each_of_the_others(of_depth, expected):
    result = judge(grid(lambda i, d: of_depth[d]), BEST)
    assert result.verdict == expected
    if expected == "refuted":
        assert result.refuting.place["part"] == "other value 2"


@pytest.mark.parametrize(
    ("of_depth", "expected"),
    [
        ({3: 0.5, 5: 0.52, 7: 0.9}, "reproduced"),
        ({3: 0.5, 5: 0.52, 7: 0.12}, "reproduced"),
        ({3: 0.9, 5: 0.5, 7: 0.45}, "refuted"),
    ],
)
def test_which_of_two_values_is_farther_from_a_third(of_depth, expected):
    assert judge(grid(lambda i, d: of_depth[d]), FARTHER).verdict == expected


@pytest.mark.parametrize(
    ("accuracy", "end", "expected"),
    [(0.4, "high", "reproduced"), (0.4, "low", "refuted"), (0.6, "low", "reproduced"), (0.6, "high", "refuted")],
)
def test_a_metric_lies_on_one_side_of_a_number(accuracy, end, expected):
    result = judge(grid(lambda i, d: accuracy), LINE | {end: 0.5})
    assert result.verdict == expected
    assert abs(result.effect) == pytest.approx(0.1, abs=0.002)


def test_below_zero_a_number_still_tells_two_sides_of_r2_apart():
    """Elsewhere two R² below 0 do not differ, so that no claim about them is refuted."""
    table = grid(lambda i, d: -0.8).rename(columns={"accuracy": "r2"})
    assert judge(table, LINE | {"high": -1}, metric="r2").verdict == "refuted"
    assert judge(table, LINE | {"low": -1}, metric="r2").verdict == "reproduced"


def test_the_distance_of_two_values_of_a_parameter_falls():
    nears = without(NEARS, "id") | {"id": "n", "study": "grid", "axis": "params.max_depth", "algorithm": 3, "to": 7}
    assert judge(grid(lambda i, d: 0.5 + 0.1 * (d == 7) / (i + 1)), nears).verdict == "reproduced"
    assert judge(grid(lambda i, d: 0.5 + 0.1 * (d == 7) * i), nears).verdict == "refuted"


def test_two_algorithms_that_are_to_meet_everywhere_must_do_so_in_every_group():
    everywhere = without(MEETS, "along") | {"within": ["epsilon"]}
    assert judge(pair(lambda i: 0.001), everywhere).verdict == "reproduced"
    assert judge(pair(lambda i: 0.1 if i == 1 else 0), everywhere).verdict == "refuted"


@pytest.mark.parametrize(
    ("truth", "sd", "verdict"),
    [
        (lambda i, d: 0.8, 0.002, "reproduced"),
        (lambda i, d: 0.8 + 0.002 * i, 0.002, "reproduced"),
        (lambda i, d: 0.5 + 0.1 * i * (d == 5), 0.002, "refuted"),
        (lambda i, d: 0.9 - 0.1 * i, 0.002, "refuted"),
        (lambda i, d: (0.6, 0.8, 0.8, 0.6)[i], 0.002, "refuted"),
        (lambda i, d: 0.8, 0.08, "undecided"),
    ],
    ids=["flat", "a slope inside", "rises at one depth", "falls", "humps", "too noisy"],
)
def test_independence_needs_evidence_of_its_own(truth, sd, verdict):
    result = judge(grid(truth, sd=sd), STAYS)
    assert result.verdict == verdict
    assert (result.refuting is not None) == (verdict == "refuted")


@pytest.mark.parametrize("level", [0.8, 1.0])
def test_what_never_varies_is_independent(level):
    assert judge(grid(lambda i, d: level, sd=0), STAYS).verdict == "reproduced"


def test_a_share_of_nothing_is_nothing_so_zero_is_not_shown_to_be_independent():
    assert judge(grid(lambda i, d: 0.0, sd=0), STAYS).verdict == "undecided"


@pytest.mark.parametrize("median", ["", "the median of all runs"])
@pytest.mark.parametrize(
    ("last", "verdict"),
    [(0.0, "reproduced"), (0.01, "reproduced"), (-0.01, "reproduced"), (0.3, "refuted"), (-0.3, "refuted")],
)
def test_two_algorithms_meet_at_the_last_level_only(last, verdict, median):
    result = judge(pair(lambda i: last if i == 3 else 0.1 * i), MEETS, median=median)
    assert result.verdict == verdict
    assert result.effect == pytest.approx(last, abs=0.005)
    assert len(result.settings) == 1


def test_the_margin_of_a_meeting_is_a_share_of_the_other_algorithm():
    """0.2102 and 0.2: five per cent of the one are more than their difference, of the other less."""
    table = pair(lambda i: 0.0)
    noise = np.random.default_rng(0).normal(0, 1e-5, len(table))
    table["accuracy"] = np.where(table["algorithm"] == "a", 0.2102, 0.2) + noise
    assert judge(table, MEETS, algorithm="a", to="b").verdict == "refuted"
    assert judge(table, MEETS, algorithm="b", to="a").verdict == "reproduced"


def test_the_margin_of_independence_is_a_share_of_the_mean_of_all_levels():
    """From 0.2 to 0.21: the mean of the two is 0.205, and with two levels at 0.1 it is 0.155."""
    for levels, margin, verdict in (
        ((0.2, 0.2, 0.21, 0.21), 0.0487, "refuted"),
        ((0.2, 0.2, 0.21, 0.21), 0.0489, "reproduced"),
        ((0.2, 0.3, 0.3, 0.21), 0.395, "refuted"),
        ((0.2, 0.3, 0.3, 0.21), 0.397, "reproduced"),
    ):
        table = grid(lambda i, d, levels=levels: levels[i], sd=1e-6)
        assert judge(table, STAYS, margin=margin).verdict == verdict


def test_a_wide_scatter_meets_nothing():
    table = pair(lambda i: 0.0, sd=0.3)
    assert judge(table.assign(accuracy=table["accuracy"].clip(0, 1)), MEETS).verdict == "undecided"


ON_AXIS = {"id": "axis", "text": "axis", "kind": "between", "study": "grid", "where": {"epsilon": 0.5}, "low": 0.7}
ON_AXIS |= {"high": 0.8, "within": ["params.max_depth"], "metric": "accuracy"}


@pytest.mark.parametrize(
    ("level", "verdict"),
    [(0.75, "reproduced"), (0.799, "in part"), (0.83, "refuted"), (0.67, "refuted")],
)
def test_a_metric_is_on_an_axis_or_off_it(level, verdict):
    table = grid(lambda i, d: level if i == 1 else 0.1, sd=0.004, repeats=320)
    assert judge(table, ON_AXIS, PAPER | {"most_repeats": 320}).verdict == verdict
    one_off = grid(lambda i, d: 0.83 if d == 5 else level, sd=0.004, repeats=320)
    assert judge(one_off, ON_AXIS, PAPER | {"most_repeats": 320}).verdict == "refuted"


def test_an_axis_is_asked_of_one_algorithm_and_has_an_end():
    with pytest.raises(PaperError, match="where must name one algorithm of"):
        judge(pair(lambda i: 0.0), LINE | {"study": "pair", "within": ["dataset", "epsilon"], "low": 0.5})
    with pytest.raises(DocumentError, match="low or high must be given"):
        judge(grid(lambda i, d: 0.8), LINE)
    with pytest.raises(DocumentError, match=r"low = 0\.9 must be below high = 0\.8"):
        judge(grid(lambda i, d: 0.8), ON_AXIS | {"low": 0.9})


@pytest.mark.parametrize(
    ("means", "verdict"),
    [
        ({3: 0.4, 5: 0.7, 7: 0.4}, "reproduced"),
        ({3: 0.4, 5: 0.7, 7: 0.9}, "refuted"),
        ({3: 0.7, 5: 0.7, 7: 0.7}, "practically equal"),
        ({3: 0.4, 5: 0.7, 7: 0.7}, "in part"),
    ],
)
def test_a_peak_stands_above_every_other_value(means, verdict):
    """Whatever the order of the axis; of the margin, a share of 0.7, the noise is a fourteenth."""
    assert judge(grid(lambda i, d: means[d], sd=0.0005), PEAKS).verdict == verdict
    table = grid(lambda i, d: means[{3: 5, 5: 3, 7: 7}[d]], sd=0.0005)
    assert judge(table, PEAKS, at=3).verdict == verdict
    with pytest.raises(PaperError, match="at = 4 must be one of several"):
        judge(table, PEAKS, at=4)


@pytest.mark.parametrize(
    ("gap", "margin", "verdict"),
    [(0.3, 0.05, "reproduced"), (-0.01, 0.05, "reproduced"), (-0.1, 0.05, "refuted"), (-0.25, 0.5, "reproduced")],
)
def test_as_good_is_refuted_by_a_loss_only(gap, margin, verdict):
    """Five per cent of the other's 0.6 are 0.03, a half is 0.3."""
    assert judge(pair(lambda i: gap, sd=0.0005), AS_GOOD, margin=margin, most_repeats=N).verdict == verdict


def test_values_of_a_parameter_are_compared_like_algorithms():
    claim = ABOVE | {"study": "grid", "axis": "params.max_depth", "better": 5, "worse": 3}
    assert judge(grid(lambda i, d: 0.3 + 0.1 * d), claim).verdict == "reproduced"
    assert judge(grid(lambda i, d: 0.9 - 0.1 * d), claim).verdict == "refuted"
    with pytest.raises(PaperError, match="worse = 4 is not run"):
        judge(grid(lambda i, d: 0.7), claim | {"worse": 4})


def test_rare_deep_collapses_count_as_what_they_do_to_the_mean():
    """The fourth run of four loses far more than three gain."""
    table, most = pair(lambda i: 0, sd=0, repeats=160), PAPER | {"most_repeats": 160}
    is_a, collapses = table["algorithm"] == "a", table["repeat"] % 4 == 3
    losing = table.assign(accuracy=0.9 + is_a * np.where(collapses, -0.9, 0.05))
    assert judge(losing, ABOVE, paper=most).verdict == "refuted"
    assert judge(losing, ABOVE | {"better": "b", "worse": "a"}, paper=most).verdict == "reproduced"


def test_a_verdict_says_which_collapses_it_could_not_have_seen():
    said = [judge(pair(lambda i: 0.3, repeats=n), ABOVE, PAPER | {"repeats": n, "most_repeats": n}) for n in (20, 60)]
    assert [result.unseen for result in said] == [
        "a collapse in fewer than 1 of 7 runs would not have been seen",
        "a collapse in fewer than 1 of 20 runs would not have been seen",
    ]


def test_a_repeat_far_below_zero_does_not_turn_the_margin_round():
    table = pair(lambda i: 0.0).rename(columns={"accuracy": "r2"})
    table.loc[table["repeat"] == 0, "r2"] -= 1e6
    result = judge(table, MEETS | {"metric": "r2"}, median="the median of all runs")
    assert result.verdict == "reproduced" and result.effect == pytest.approx(0, abs=0.003)


def test_claims_without_cells_never_pass():
    for table in (pd.DataFrame(), grid(lambda i, d: 0.8).iloc[:0], pair(lambda i: 1).iloc[:0]):
        result = judge(table)
        assert (result.verdict, result.reason) == ("not run", "no cell of it was run")
        assert result.settings == [] and result.decisive is None
    failed = grid(lambda i, d: 0.8).assign(accuracy=math.nan, status="failed")
    for table in (failed, failed.drop(columns="accuracy")):
        assert judge(table).verdict == "not run"


def test_a_missing_setting_is_said():
    table = grid(lambda i, d: 0.4 + 0.12 * i)
    result = judge(table[~((table["params.max_depth"] == 5) & (table["epsilon"] == 0.5))])
    assert result.verdict == "undecided"
    assert result.reason.endswith("INCOMPLETE: 0 of 20 repeats are complete on car at max_depth = 5")


@pytest.mark.parametrize("crashed", ["a", "b"])
def test_a_crash_leaves_the_claim_open_and_says_so(crashed):
    """What crashed may have been the worst run of all, whoever crashed."""
    table = pair(lambda i: 0.3)
    is_lost = (table["algorithm"] == crashed) & (table["epsilon"] == 0.5) & (table["repeat"] == 4)
    table.loc[is_lost, ["accuracy", "status"]] = [math.nan, "failed"]
    result = judge(table, ABOVE)
    assert result.verdict == "undecided"
    assert count(result) == {"as claimed": 3, "open": 1}
    assert "INCOMPLETE: 1 run failed on car at ε = 0.5: a crash may hide the worst" in result.reason


def test_a_crash_after_the_last_look_that_counts_changes_no_verdict():
    """It is in the effect alone that it is missing, which is of all runs that there are."""
    table = pair(lambda i: 0.3)
    late = (table["epsilon"] == 0.5) & (table["repeat"] == 30)
    crashed = table.assign(status=np.where(late, "failed", "done"), accuracy=table["accuracy"].mask(late))
    found, whole = judge(crashed, ABOVE), judge(table, ABOVE)
    assert (found.verdict, found.reason, found.counts) == (whole.verdict, whole.reason, whole.counts)
    assert {one.n for one in found.settings} == {39, 40} and {one.n for one in whole.settings} == {40}


def test_a_verdict_rests_on_the_runs_that_settled_it_and_its_effect_on_all():
    """Runs end where an effect is large, so of those alone it would be exaggerated, and differ from every table."""
    table = pair(lambda i: 0.3)
    later = (table["algorithm"] == "a") & (table["repeat"] >= 20)
    fallen = table.assign(accuracy=table["accuracy"] - np.where(later, 0.2, 0.0))
    found = judge(fallen, ABOVE)
    assert found.verdict == "reproduced" and found.runs == 20 and {one.weighed for one in found.settings} == {20}
    assert found.effect == pytest.approx((0.3 + 0.1) / 2, abs=0.003) and found.decisive.n == 40


def test_a_setting_that_refutes_is_not_undone_by_a_crash_in_another():
    table = pair(lambda i: 0.3 if i else -0.3)
    is_lost = (table["algorithm"] == "a") & (table["epsilon"] == 0.5) & (table["repeat"] == 4)
    table.loc[is_lost, ["accuracy", "status"]] = [math.nan, "failed"]
    result = judge(table, ABOVE)
    assert result.verdict == "refuted" and result.refuting.place["epsilon"] == 0.1


def test_a_precision_of_a_class_that_is_never_predicted_counts_as_zero():
    claim = ABOVE | {"metric": "precision_acc"}
    table = pair(lambda i: 0).rename(columns={"accuracy": "precision_acc"})
    table.loc[table["algorithm"] == "b", "precision_acc"] = math.nan
    result = judge(table, claim)
    assert result.verdict == "reproduced"
    n_undefined = sum(found.n for found in result.settings)
    assert result.reason.endswith(f"precision_acc is undefined in {n_undefined} runs and counts as 0 there")
    assert judge(table, claim, better="b", worse="a").verdict == "refuted"
    failed = table.assign(status=np.where(table["algorithm"] == "b", "failed", "done"))
    assert judge(failed, claim).verdict == "not run", "a cell that failed is not an undefined precision"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_infinite_error_leaves_a_mean_open_and_is_more_than_any_other_for_a_median():
    table = pair(lambda i: 0.5).rename(columns={"accuracy": "mse"})
    table.loc[(table["algorithm"] == "a") & (table["repeat"] % 3 == 0), "mse"] = math.inf
    for kind in ("above", "below"):
        of_means = judge(table, ABOVE | {"metric": "mse", "kind": kind})
        assert of_means.verdict == "undecided" and "nan" not in of_means.reason
    assert judge(table, ABOVE | {"metric": "mse"}, median="the median").verdict == "reproduced"
    assert judge(table, ABOVE | {"metric": "mse", "kind": "below"}, median="the median").verdict == "refuted"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_one_run_has_no_interval():
    table = pair(lambda i: 0.3, repeats=1)
    alone = judge(table, ABOVE, PAPER | {"repeats": 1, "most_repeats": 20})
    assert alone.verdict == "undecided"
    assert "nan" not in alone.reason + judge(table, ABOVE).reason, "nor has no run at all"


def test_the_scope_says_what_repeats_vary():
    table = grid(lambda i, d: 0.7)
    in_order = {
        "grid": PAPER["studies"]["grid"] | {"protocol": {"split": "in_order"}},
        "pair": PAPER["studies"]["pair"],
    }
    assert judge(table).scope == "", "each repeat splits the rows anew, which is the rule"
    assert judge(table, paper=PAPER | {"studies": in_order}).scope == "one fixed split"


def test_studies_that_differ_in_an_open_parameter_are_told_apart():
    grown, flat = grid(TRUTHS["grows"]), grid(TRUTHS["flat"]).assign(study="other")
    studies = PAPER["studies"] | {"other": PAPER["studies"]["grid"]}
    claims = [GROWS, GROWS | {"id": "other", "study": "other"}]
    paper = make_paper(**PAPER | {"studies": studies, "claims": claims})
    one, other = judge_claims(paper, pd.concat([grown, flat]))
    assert (one.verdict, other.verdict) == ("reproduced", "practically equal")
    shared = grown.assign(study="grid+other")
    assert [result.verdict for result in judge_claims(paper, shared)] == ["reproduced", "reproduced"]
    assert judge(grown.assign(study="grid-2")).verdict == "not run"
    with pytest.raises(PaperError, match="study 'grid': two cells answer the same setting"):
        judge(pd.concat([grown, grown]))


def test_printed_claims_follow_their_numbers():
    claim = {"id": "p", "text": "", "kind": "printed", "numbers": ["x", "y"]}
    paper = make_paper(**PAPER | {"claims": [claim]})
    for verdicts, expected in (
        (["reproduced", "reproduced"], "reproduced"),
        (["reproduced", "refuted"], "refuted"),
        (["reproduced", "not run"], "not run"),
    ):
        numbers = pd.DataFrame({"id": ["x", "y"], "verdict": verdicts, "reason": ""})
        (result,) = judge_claims(paper, pd.DataFrame(), numbers)
        assert result.verdict == expected
    with pytest.raises(PaperError, match="no printed number 'x'"):
        judge_claims(paper, pd.DataFrame())


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        (GROWS | {"study": "gird"}, "claim 'grows': study 'gird' is not in the paper; it has: grid, pair"),
        (GROWS | {"along": "params.depth"}, "study 'grid' has no axis 'params.depth'; did you mean 'params.max_depth'"),
        (GROWS | {"within": ["dataset"]}, "claim 'grows': within must name"),
        (GROWS | {"within": ["dataset", "params.max_dept"]}, "claim 'grows': within must name"),
        (
            GROWS | {"where": {"params.max_depth": 4}},
            "study 'grid' has no params.max_depth = 4; it has ",
        ),
        (ABOVE | {"better": "c"}, "claim 'above': better = 'c'"),
        (GROWS | {"where": {"epsilon": 0.1}}, "claim 'grows': epsilon has one level only"),
        (NEARS | {"to": "c"}, "to = 'c' is not run by the study"),
        (BEST | {"at": 4}, "at = 4 must be one of several params.max_depth"),
        (LINE | {"study": "pair", "low": 0.5}, "where must name one algorithm"),
        (NEARS | {"to": "a"}, "compared with itself"),
        (NEARS | {"within": ["dataset", "algorithm"]}, "within must name every axis that varies except algorithm and"),
        (ABOVE | {"over": ["epsilon"]}, "within must name every axis that varies except algorithm and epsilon"),
        (ABOVE | {"over": ["algorithm"], "within": ["dataset", "epsilon"]}, "within must name every axis that varies"),
        (ABOVE | {"over": ["epsilom"], "within": ["dataset"]}, "epsilom"),
    ],
)
def test_claims_about_nothing_are_refused(claim, message):
    with pytest.raises(PaperError, match=message):
        judge(grid(lambda i, d: 0.8), claim)


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        (GROWS | {"kind": "grows"}, "claims.0: kind 'grows' is not known; known are above, above_at_equal, "),
        (GROWS | {"kind": "increase"}, "claims.0: kind 'increase' is not known; did you mean 'increases'?"),
        (GROWS | {"kind": ["above"]}, "claims.0: write a mapping with a kind: above, "),
        (without(GROWS, "kind"), "claims.0: write a mapping with a kind: above, above_at_equal, "),
        (without(GROWS, "id"), "claims.0: the key 'id' is missing"),
        (without(GROWS, "along"), "claims.0: the key 'along' is missing"),
        (without(GROWS, "metric"), "claims.0: the key 'metric' is missing"),
        (without(ABOVE, "worse") | {"kind": "below"}, "claims.0: the key 'worse' is missing"),
        (without(NEARS, "to"), "claims.0: the key 'to' is missing"),
        (without(STAYS, "margin"), "claims.0: the key 'margin' is missing"),
        ({"id": "p", "text": "", "kind": "printed"}, "claims.0: the key 'numbers' is missing"),
        (GROWS | {"withn": ["dataset"]}, "claims.0: unknown key 'withn'; did you mean 'within'?"),
        (GROWS | {"margin": 0.1}, "claims.0: unknown key 'margin'; "),
        (GROWS | {"axis": "epsilon"}, "claims.0: unknown key 'axis'; "),
        (STAYS | {"margin": 5}, "claims.0.margin: margin = 5.0 must be a share of the mean between 0 and 1"),
        (STAYS | {"margin": "0.05"}, "claims.0.margin: input should be a valid number, got '0.05'"),
        (GROWS | {"center": "mean"}, "claims.0: unknown key 'center'; "),
        (GROWS | {"median": True}, "claims.0.median: input should be a valid string, got True"),
    ],
)
def test_claims_that_lack_a_key_or_have_a_wrong_one_are_refused(claim, message):
    with pytest.raises(DocumentError, match=re.escape(message)):
        judge(grid(lambda i, d: 0.8), claim)


def test_every_claim_of_paper_2_can_be_asked():
    paper = read_paper("2")
    numbers = read_numbers_of(paper).assign(verdict="not run", reason="")
    results = judge_claims(paper, pd.DataFrame(), numbers.assign(printed=numbers["value"]))
    assert {"grows-with-epsilon", "above-diffprfs-ig"} <= {result.id for result in results}
    assert len({result.id for result in results}) == len(results) == len(paper.claims)
    for claim, result in zip(paper.claims, results, strict=True):
        assert result.id == claim.id
        by_computing = claim.kind in ("agrees", "consistent", "exact")  # of the print or a formula, which need no run
        assert (result.as_read == "not run") == (not by_computing), claim.id


def test_statistics_against_other_sources():
    d = np.array([0.3, -0.1, 0.4, 0.2, 0.05, 0.3, -9.0, 0.1, 0.2, 0.3, 0.1, 0.2])
    both = ttest_1samp(d, 0).confidence_interval(0.95)
    assert (mean_interval(d).low, mean_interval(d).high) == pytest.approx((both.low, both.high))
    ours, theirs = median_interval(d), quantile_test(d, p=0.5).confidence_interval(0.95)
    assert (ours.center, ours.low, ours.high) == (np.median(d), theirs.low, theirs.high)
    assert sign_p(d) == pytest.approx(binomtest(int((d > 0).sum()), len(d), alternative="greater").pvalue)
    assert math.isnan(median_interval([1.0, 2.0, math.nan]).center)
    assert math.isnan(median_interval(range(5)).low) and median_interval(range(6)).low == 0


def test_a_claim_about_what_is_not_implemented_says_so_and_counts_as_no_test():
    table, lost = pair(lambda i: 0.02), [ABOVE | {"id": f"lost-{i}", "worse": "lost"} for i in range(200)]
    keys = PAPER | {"claims": [ABOVE, *lost]}
    paper = make_paper(**keys, not_implemented={"lost": "never described"})
    of_ours, *of_lost = judge_claims(paper, table)
    assert of_ours == judge(table, ABOVE)
    assert {result.verdict for result in of_lost} == {"not implemented"}
    assert {result.reason for result in of_lost} == {"never described"}
    with pytest.raises(PaperError, match="'lost' is not run by the study"):
        judge_claims(make_paper(**keys), table)


def test_a_claim_against_a_reconstruction_says_so_once_it_is_judged():
    against = {"id": "rebuilt", "against": "reconstruction"}
    plain, rebuilt = judge_claims(make_paper(**PAPER | {"claims": [ABOVE, ABOVE | against]}), pair(lambda i: 0.3))
    note = "; against our reconstruction of the baseline"
    assert plain.verdict == rebuilt.verdict == "reproduced" and rebuilt.reason == plain.reason + note
    (not_run,) = judge_claims(make_paper(**PAPER | {"claims": [ABOVE | against]}), pair(lambda i: 0.3).head(0))
    assert (not_run.verdict, not_run.reason) == ("not run", "no cell of it was run")


READ = ABOVE | {"id": "first", "read_as": "labels are noisy"}
ANEW = ABOVE | {"id": "anew", "text": "labels are exact", "study": "other", "reading_of": "first"}
ANEW |= {"leaves_open": "labels"}


def judge_readings(gaps, first=READ, other=ANEW):
    """Return the answers to a claim and another reading of it, by the gaps that a has under each; None is open."""
    tables = []
    for gap, study in zip(gaps, ("pair", "other"), strict=True):
        table = pair(lambda i, gap=gap: gap or 0.0, seed=3).assign(study=study)
        if gap is None:
            table["accuracy"] += 0.2 * (-1.0) ** table["repeat"] * (table["algorithm"] == "a")
        tables.append(table)
    studies = PAPER["studies"] | {"other": PAPER["studies"]["pair"]}
    return judge_claims(make_paper(**PAPER | {"studies": studies, "claims": [first, other]}), pd.concat(tables))


@pytest.mark.parametrize(
    ("gaps", "verdict"),
    [
        ((0.3, 0.3), "reproduced"),
        ((-0.3, -0.3), "refuted"),
        ((-0.3, 0.0), "refuted"),
        ((0.0, 0.0), "practically equal"),
        ((-0.3, 0.3), "depends on the reading"),
        ((0.0, 0.3), "depends on the reading"),
        ((None, 0.3), "undecided"),
        ((None, -0.3), "undecided"),
    ],
)
def test_a_verdict_is_that_of_all_readings_and_none_has_a_privilege(gaps, verdict):
    first, other = judge_readings(gaps)
    swapped, _ = judge_readings(gaps[::-1])
    assert first.verdict == swapped.verdict == verdict
    assert swapped.as_read == other.as_read == other.verdict, "each reading has its own verdict"


def test_where_readings_differ_the_conditions_are_said_in_words():
    first, _ = judge_readings((-0.3, 0.3))
    assert first.reason.startswith(
        "fails if labels are noisy; holds if labels are exact; if labels are noisy: fails on car"
    )
    assert first.conditions == {"labels are noisy": "refuted", "labels are exact": "reproduced"}
    assert first.refuting is not None and first.effect == pytest.approx(-0.3, abs=0.01), "those of the one as read"
    agreeing, _ = judge_readings((0.3, 0.3))
    assert agreeing.conditions == {} and agreeing.reason.endswith("; so under each of 2 readings")
    open_, _ = judge_readings((None, 0.3))
    assert open_.reason.startswith("is open if labels are noisy; holds if labels are exact; ")


def test_readings_together_know_no_order():
    for one in Verdict:
        for two in Verdict:
            together = combine_verdicts([one, two])
            assert together.sign == combine_verdicts([two, one]).sign
            assert together.sign.value in {one.sign.value, two.sign.value, "depends", "open"}


@pytest.mark.parametrize(
    ("first", "other", "message"),
    [
        (READ | {"says": ""}, ANEW, "says is missing: a claim has the paper's words and their place, or own: true"),
        (READ | {"source": ""}, ANEW, "source is missing"),
        (READ | {"read_as": ""}, ANEW, "claim 'first' has other readings: say in read_as how it is read itself"),
        (READ, ANEW | {"text": READ["read_as"]}, "claim 'first' has two readings with the same condition"),
        (
            READ,
            ANEW | {"leaves_open": ""},
            "leaves_open is missing: the words of the text that leave this reading open",
        ),
    ],
)
def test_a_claim_without_its_words_is_refused(first, other, message):
    with pytest.raises(DocumentError, match=re.escape(message)):
        judge_readings((0.3, 0.3), first, other)


def test_a_claim_of_ours_needs_no_words():
    ours = {"own": True, "says": "", "source": "", "read_as": "", "leaves_open": ""}
    first, _ = judge_readings((0.3, 0.3), READ | ours, ANEW | ours)
    assert first.verdict == "reproduced"
