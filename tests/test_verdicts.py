"""Verdicts on printed numbers, against answers worked out by hand."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from documents.yaml_files import DocumentError
from experiments.calibration.numbers import FAMILIES, TRUTHS, TextOfPaper, simulate_false_misses
from experiments.config.finding import Sign
from experiments.config.papers import read_paper
from experiments.config.study import PaperError
from experiments.judge.number_answers import count_expected_misses, find_outside
from experiments.judge.numbers.number_verdict import half_digit, read_by_runs
from experiments.judge.numbers.order_chance import HighestMean
from experiments.judge.numbers.prediction import Prediction
from experiments.judge.verdict import Verdict
from experiments.metrics.metric import MetricRange
from experiments.questions.printed import read_numbers_of, read_reported
from plots.runs.paper_run import PaperRun
from tests.papers import judge_numbers, list_number_needs, make_paper, name_settings

PAPER = {
    "number": 0,
    "repeats": 3,
    "resolution": {"accuracy": 0.05, "mse": 1.0},
    "studies": {
        "grid": {"dataset": ["car"], "algorithm": ["a"], "params": {"max_depth": [3, 4]}, "epsilon": [0.1, math.inf]}
    },
    "tables": [
        {"id": "t", "title": "T", "kind": "grid", "study": "grid", "metric": "accuracy"}
        | {"rows": "params.max_depth", "columns": "epsilon"}
    ],
}


def cells(values, depth=3, epsilon=0.1, metric="accuracy"):
    return [
        {"study": "grid", "dataset": "car", "algorithm": "a", "params.max_depth": depth}
        | {"epsilon": epsilon, "repeat": r, metric: v}
        for r, v in enumerate(values)
    ]


def printed(value, decimals=3, statistic="mean", depth=3, epsilon=0.1, metric="accuracy"):
    row = {"id": "x", "table": "t", "dataset": "car", "algorithm": "a", "params.max_depth": depth, "epsilon": epsilon}
    row |= {"metric": metric, "statistic": statistic, "value": value, "decimals": decimals, "source": "by hand"}
    return pd.DataFrame([row])


def judge(reported, rows, facts=None, paper=PAPER):
    return judge_numbers(make_paper(**paper), reported, pd.DataFrame(rows), facts).iloc[0]


# mean 0.8, s = 0.01, t(0.975, 2) = 4.302653: half-width of one run 4.302653 · 0.01 · sqrt(4/3) = 0.0496827
REPEATS = (0.79, 0.80, 0.81)
TWICE = REPEATS * 10  # what a second look sees if the first one was typical: s = sqrt(20 · 0.0001 / 29) = 0.00830455


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(0.8, "reproduced"), (0.84968, "reproduced"), (0.84970, "undecided"), (0.75031, "undecided")],
)
def test_prediction_interval_decides(value, verdict):
    row = judge(printed(value), cells(REPEATS))
    assert row["verdict"] == verdict
    assert row["prediction_high"] == pytest.approx(0.8496827, abs=1e-6)
    assert row["ci_high"] == pytest.approx(0.8 + 4.302653 * 0.01 / math.sqrt(3), abs=1e-6)
    assert row["difference"] == pytest.approx(0.8 - value)
    assert row["detects"] == pytest.approx(0.0496827 + 5e-6, abs=1e-6)
    assert row["reason"].startswith("outside so far: ") == (verdict == "undecided")


# second look: t(0.975, 29) = 2.045230, half-width of one run 2.045230 · 0.00830455 · sqrt(31/30) = 0.0172655
@pytest.mark.parametrize(
    ("value", "delta", "verdict", "says"),
    [
        (0.81726, 0.018, "reproduced", "inside the range that our runs predict"),
        # endless repeats would leave 1.959964 · 0.00830455 = 0.0162766
        (0.81600, 0.016, "print too coarse", "agrees, but a single printed run is known to ± 1.63 points at best"),
        (0.81728, 0.016, "undecided", "but it is inside by the first 3 runs alone"),
        (0.84967, 0.016, "undecided", "but it is inside by the first 3 runs alone"),
        (0.84970, 0.016, "refuted", "ours is 4.970 points lower; the chance of that is 0.02 %"),
        (0.84970, 0.070, "reproduced within ± δ", "ours is 4.970 points lower, shown to be less than 7 points"),
    ],
)
def test_a_number_is_refuted_at_two_looks_or_not_at_all(value, delta, verdict, says):
    row = judge(printed(value), cells(TWICE), paper=PAPER | {"resolution": {"accuracy": delta}})
    assert row["verdict"] == verdict and row["reason"].endswith(says)
    assert row["verdicts_by_runs"] == f"1: {verdict}"
    assert row["prediction_high"] == pytest.approx(0.8172655, abs=1e-6)


def test_without_a_second_look_nothing_is_refuted():
    for most, n, says in ((5, 5, "no more runs are allowed to confirm it"), (10, 9, "10 runs are to confirm it")):
        row = judge(printed(0.9), cells(TWICE[:n]), paper=PAPER | {"most_repeats": most})
        assert row["verdict"] == "undecided"
        assert row["reason"].startswith("outside so far: ours is 10.") and row["reason"].endswith(says)
    assert judge(printed(0.9), cells(TWICE[:6]), paper=PAPER | {"most_repeats": 6})["verdict"] == "refuted"


@pytest.mark.parametrize(("beyond", "is_refuted"), [(-1e-4, False), (1e-4, True)])
def test_the_interval_beside_a_number_ends_where_it_is_refuted(beyond, is_refuted):
    """So near to the bound of the metric the exact chances are about as narrow as the bootstrap."""
    paper, ours = PAPER | {"printed_repeats": [1, 10]}, cells(np.linspace(0.95, 0.999, 20))
    end = judge(printed(0.98), ours, paper=paper)["prediction_high"]
    assert (judge(printed(end + beyond), ours, paper=paper)["chance"] < 0.05) == is_refuted


def test_inside_an_interval_wider_than_delta_more_repeats_could_tell_or_none_could():
    # endless repeats would leave 1.959964 · 0.01 = 0.0196
    row = judge(printed(0.8), cells(REPEATS), paper=PAPER | {"resolution": {"accuracy": 0.0496}})
    assert (row["verdict"], row["reason"]) == ("undecided", "agrees so far: after 3 runs to ± 4.97 points")
    row = judge(printed(0.8), cells(REPEATS), paper=PAPER | {"resolution": {"accuracy": 0.0195}})
    assert row["verdict"] == "print too coarse"
    assert row["reason"] == "agrees, but a single printed run is known to ± 1.96 points at best"
    # inside now, but outside of what endless repeats would leave of this spread: they could refute it
    row = judge(printed(0.82), cells(REPEATS), paper=PAPER | {"resolution": {"accuracy": 0.0195}})
    assert row["verdict"] == "undecided"


def test_a_mean_printed_so_coarsely_stays_so_after_any_number_of_repeats():
    for n, verdict in ((40, "undecided"), (160, "print too coarse")):
        # δ is a little more than what endless repeats would leave
        values = np.random.default_rng(0).normal(0.8, 0.05, n)
        paper = PAPER | {"printed_repeats": 10, "repeats": n, "resolution": {"accuracy": 1.02 * floor_of(values, 10)}}
        assert judge(printed(values.mean().round(5)), cells(values), paper=paper)["verdict"] == verdict


def floor_of(values, m):
    return 1.959964 * values.std(ddof=1) / math.sqrt(m)


def test_a_difference_shown_to_be_below_delta_is_no_refutation():
    """Maximum of paper 2: 86.335 beside 85.703 is outside of ours, and less than a point away."""
    values = 0.857 + 0.0005 * np.array(REPEATS) / 0.01 - 0.04  # ± 0.05 points around 0.857
    assert values.mean() == pytest.approx(0.857)
    row = judge(printed(0.86335), cells(values), paper=PAPER | {"resolution": {"accuracy": 0.01}})
    assert row["verdict"] == "reproduced within ± δ"
    assert row["reason"].startswith("ours is 0.635 points lower, shown to be less than 1 point")
    # t(0.95, 2) = 2.919986: the difference is shown only up to 0.635 + 2.919986 · 0.05 · sqrt(4/3) = 0.8036 points
    for delta, verdict in ((0.0085, "reproduced within ± δ"), (0.0080, "undecided")):
        row = judge(printed(0.86335), cells(values), paper=PAPER | {"resolution": {"accuracy": delta}})
        assert row["verdict"] == verdict


def test_a_metric_with_a_bound_refutes_what_leaves_no_single_run_room():
    """Mushroom of paper 2: 99.95 as a mean of ten leaves each of them 99.505 - half a digit."""
    spread = (0.35, 0.52, 0.80, 0.90, 0.9602, 0.95, 0.96, 0.95, 0.96, 0.96)
    averaged = PAPER | {"printed_repeats": 10, "repeats": 10}
    row = judge(printed(0.99951), cells(spread), paper=averaged)
    assert row["chance"] == pytest.approx(2 / math.comb(20, 10))
    asked = "each of its 10 runs would have to give at least 99.5 %, as none of our 10 does"
    assert f"outside so far: ours is 16.849 points lower; the chance of that is below 0.01 %: {asked};" in row["reason"]
    assert row["prediction_high"] <= 1
    row = judge(printed(0.99951), cells(spread * 10), paper=averaged)
    assert row["verdict"] == "refuted" and row["reason"].endswith(asked.replace("our 10", "our 100"))
    # a single printed run above all of forty: 1 / 41
    forty = cells((0.3,) * 20 + (0.9,) * 20)
    row = judge(printed(0.999), forty, paper=PAPER | {"repeats": 40})
    assert row["chance"] == pytest.approx(2 / 41)
    assert "its one run would have to give at least 99.9 %, as none of our 40 does" in row["reason"]


def test_a_mean_of_more_printed_runs_must_lie_closer():
    # half-width for a mean of 3: 4.302653 * 0.01 * sqrt(2/3) = 0.0351310
    averaged = PAPER | {"printed_repeats": 3}
    assert judge(printed(0.83513), cells(REPEATS), paper=averaged)["verdict"] == "reproduced"
    assert "outside so far" in judge(printed(0.83514), cells(REPEATS), paper=averaged)["reason"]
    # at thirty runs 2.045230 · 0.00830455 · sqrt(1/30 + 1/3) = 0.0102847
    for value, verdict in (
        (0.81028, "reproduced"),
        (0.81029, "undecided"),
        (0.83513, "undecided"),
        (0.8352, "refuted"),
    ):
        row = judge(printed(value), cells(TWICE), paper=averaged | {"resolution": {"accuracy": 0.0103}})
        assert row["verdict"] == verdict


# Over how many runs a number is a mean is not known: with thirty runs, one reaches to ± 0.0172655, a mean of three to
# ± 0.0102847; with the first three to ± 0.0496827 and ± 0.0351310.
@pytest.mark.parametrize(
    ("value", "delta", "verdict", "by_runs"),
    [
        (0.8, 0.018, "reproduced", "1: reproduced; 3: reproduced"),
        # of single runs endless repeats would leave 0.0162766, of means of three 0.0093973
        (0.8, 0.0104, "print too coarse", "1: print too coarse; 3: reproduced"),
        (0.8, 0.0100, "undecided", "1: print too coarse; 3: undecided"),
        (0.8, 0.0090, "print too coarse", "1: print too coarse; 3: print too coarse"),
        (0.84, 0.0100, "depends on how many runs were averaged", "1: undecided; 3: refuted"),
        (0.85, 0.0100, "refuted", "1: refuted; 3: refuted"),
        (0.85, 0.0700, "reproduced within ± δ", "1: reproduced within ± δ; 3: reproduced within ± δ"),
        # shown to be below δ if 0.05 + t(0.95, 29) · s · sqrt(1/30 + 1/m) is: m = 1 0.0643438, m = 3 0.0585443
        (0.85, 0.0600, "depends on how many runs were averaged", "1: refuted; 3: reproduced within ± δ"),
    ],
)
def test_a_number_is_judged_under_every_number_of_runs_that_the_text_allows(value, delta, verdict, by_runs):
    paper = PAPER | {"printed_repeats": [3, 1], "resolution": {"accuracy": delta}}
    row = judge(printed(value), cells(TWICE), paper=paper)
    assert (row["verdict"], row["verdicts_by_runs"]) == (verdict, by_runs)
    assert row["prediction_high"] == pytest.approx(0.8172655, abs=1e-6), "the widest"
    assert read_by_runs(by_runs) == dict(
        zip((1, 3), (part.split(": ")[1] for part in by_runs.split("; ")), strict=True)
    )


def test_a_verdict_that_depends_on_the_number_of_runs_says_on_which():
    """First look ± 0.0497 and ± 0.0351: outside as a mean of three only, and inside as a single run at both looks."""
    wild = cells((*REPEATS, *(0.70, 0.90) * 13, 0.8))
    row = judge(printed(0.84), wild, paper=PAPER | {"printed_repeats": [1, 3], "resolution": {"accuracy": 0.01}})
    assert row["verdict"] == "print too coarse", "as the first three runs were not typical"
    steady = cells((*REPEATS, *(0.775, 0.825) * 13, 0.8))  # ± 4.9 points of one run, ± 2.9 of three
    row = judge(printed(0.84), steady, paper=PAPER | {"printed_repeats": [1, 3], "resolution": {"accuracy": 0.01}})
    assert row["verdict"] == "depends on how many runs were averaged"
    assert Verdict(row["verdict"]).sign == Sign.DEPENDS
    refuted, other = row["reason"].split("; print too coarse as a single printed run: ")
    assert refuted.startswith(
        "refuted as a mean of 3 printed runs: ours is 4.000 points lower; the chance of that is 0.9 %"
    )
    assert other.startswith("agrees, but a single printed run is known to ± 4.67 points at best")
    assert count_expected_misses(pd.DataFrame([row])) == pytest.approx(0.05)


def test_what_lies_outside_is_counted_before_a_second_look_confirms_it_and_by_number_of_runs(tmp_path):
    paper = PAPER | {"printed_repeats": [1, 3], "resolution": {"accuracy": 0.01}}
    # so far outside, outside as a mean of three only, inside; then confirmed
    rows = [judge(printed(value), cells(REPEATS), paper=paper) for value in (0.85, 0.84, 0.8)]
    rows.append(judge(printed(0.85), cells(TWICE), paper=paper))
    numbers = pd.DataFrame(rows)
    assert numbers["verdict"].tolist() == ["undecided", "undecided", "print too coarse", "refuted"]
    assert find_outside(numbers).tolist() == [True, False, False, True]
    nothing = pd.DataFrame()
    run = PaperRun(
        *(tmp_path, make_paper(**paper), numbers, [], (0, 0), [], {}, nothing, nothing, nothing, nothing, nothing)
    )
    missed, by_runs = run.notes_on_chance
    assert missed.startswith("2 printed numbers lie outside of our intervals; by chance alone at most about 0.2 would")
    counts = "1 refuted, 2 undecided, 1 print too coarse."
    assert by_runs.startswith("The text leaves open over how many runs a printed number is a mean. ")
    assert by_runs.endswith(f"Taken for a single printed run: {counts} Taken for a mean of 3 printed runs: {counts}")


def test_a_number_may_have_numbers_of_runs_of_its_own(tmp_path):
    path, paper = tmp_path / "r.csv", PAPER | {"printed_repeats": [1, 3]}
    for runs, by_runs in (("", ["1", "3"]), ("10", ["10"]), ("10; 4", ["4", "10"])):
        printed(0.8).assign(runs=runs).to_csv(path, index=False)
        row = judge(read_reported(path), cells(REPEATS), paper=paper)
        assert [part.split(":")[0] for part in row["verdicts_by_runs"].split("; ")] == by_runs
    for runs in ("0", "4;4", "4,10", "ten"):
        printed(0.8).assign(runs=runs).to_csv(path, index=False)
        with pytest.raises(PaperError, match=r"r\.csv: x: runs are numbers of runs, each once, such as 4;10; got"):
            read_reported(path)
    for wrong in ([], [1, 1]):
        with pytest.raises(DocumentError, match="printed_repeats: name each number of runs once"):
            make_paper(**PAPER | {"printed_repeats": wrong})


def test_chance_misses_count_every_number_with_an_interval():
    wide = make_paper(**PAPER | {"resolution": {"accuracy": 0.001}})
    numbers = judge_numbers(wide, printed(0.8), pd.DataFrame(cells(REPEATS)))
    assert numbers["verdict"].tolist() == ["print too coarse"]
    assert count_expected_misses(numbers) == pytest.approx(0.05)
    assert count_expected_misses(judge_numbers(wide, printed(0.8), pd.DataFrame(cells((0.8,))))) == 0


def test_a_metric_without_a_scale_needs_a_resolution_before_a_cell_has_run():
    studies = {"grid": PAPER["studies"]["grid"] | {"metrics": ["log_loss"]}}
    paper = PAPER | {"studies": studies, "resolution": {}}
    for numbers in (cells(REPEATS, metric="log_loss"), []):
        with pytest.raises(PaperError, match=r"resolution: {log_loss: \.\.\.}"):
            judge(printed(1.0, metric="log_loss"), numbers, paper=paper)


def test_a_printed_number_of_a_metric_that_its_study_does_not_measure_is_refused():
    with pytest.raises(PaperError, match="printed number 'x': study 'grid' does not measure 'log_loss'"):
        judge(printed(1.0, metric="log_loss"), [], paper=PAPER)


def test_half_a_printed_digit_is_granted_and_no_more():
    same = cells((0.8, 0.8, 0.8))
    exactly = PAPER | {"resolution": {"accuracy": 0.005}}
    assert judge(printed(0.805, decimals=0), same, paper=exactly)["verdict"] == "reproduced"
    assert "outside so far" in judge(printed(0.8051, decimals=0), same, paper=exactly)["reason"]
    assert half_digit("mse", 2) == 0.005


def test_no_spread_gives_an_interval_as_wide_as_the_rounding():
    row = judge(printed(1.0), cells((1.0, 1.0, 1.0)))
    assert row["verdict"] == "reproduced"
    assert "all 3 runs agree exactly" in row["reason"]
    row = judge(printed(0.99999), cells((1.0, 1.0, 1.0)))
    assert row["verdict"] == "reproduced within ± δ"
    assert "0.001 points higher" in row["reason"]
    for n, verdict in ((3, "undecided"), (10, "undecided"), (40, "refuted")):
        row = judge(printed(0.9), cells((1.0,) * n))
        assert row["verdict"] == verdict and row["reason"].startswith("outside so far: ") == (verdict == "undecided")
        assert row["chance"] == pytest.approx(2 / (n + 1)), "three of a kind are no proof that the fourth is"


@pytest.mark.parametrize(
    ("value", "ours", "verdict", "chance"),
    [
        (1.6, [1.0] * 5 + [1.6] * 2 + [2.0] * 3, "print too coarse", 6 / 11),
        (1.6, [1.0] * 4 + [2.0] * 6, "undecided", 1 / 11),
        (1.6, [1.0] * 10 + [2.0] * 10, "undecided", 1 / 21),
        (1.6, [1.6] * 3, "reproduced", 1.0),
    ],
)
def test_a_printed_choice_is_judged_by_how_often_we_choose_it(value, ours, verdict, chance):
    paper = PAPER | {"repeats": len(ours)}
    row = judge(printed(value, 1, metric="sampling_ratio"), cells(ours, metric="sampling_ratio"), paper=paper)
    assert row["verdict"] == verdict
    assert row["chance"] == pytest.approx(chance)
    assert f"{ours.count(1.6)} of our {len(ours)} runs choose 1.6" in row["reason"]
    assert count_expected_misses(pd.DataFrame([row])) == 0


def test_a_printed_choice_is_refuted_at_two_looks():
    ours = cells([1.0, 2.0] * 20, metric="sampling_ratio")
    for repeats, verdict in ((20, "refuted"), (10, "undecided")):  # the chance is 1 in 11 after the first ten
        row = judge(printed(1.6, 1, metric="sampling_ratio"), ours, paper=PAPER | {"repeats": repeats})
        assert row["verdict"] == verdict and row["chance"] == pytest.approx(1 / 41)


def test_a_mean_of_printed_choices_is_reproduced_by_choices_that_are_all_the_same():
    ours, paper = cells([1.6] * 3, metric="sampling_ratio"), PAPER | {"printed_repeats": 10}
    assert judge(printed(1.6, 1, metric="sampling_ratio"), ours, paper=paper)["verdict"] == "reproduced"


def test_more_repeats_than_the_paper_asks_for_all_count():
    row = judge(printed(0.8), cells(REPEATS * 4))
    assert (row["n"], row["n_expected"]) == (12, 12)
    assert "INCOMPLETE" not in row["reason"]


def test_one_repeat_is_not_testable_even_when_it_agrees():
    row = judge(printed(0.8), cells((0.8,)))
    assert row["verdict"] == "undecided"
    assert (row["n"], row["n_expected"]) == (1, 3)
    assert math.isnan(row["ci_low"])


@pytest.mark.parametrize(
    "rows",
    [
        [],
        cells(REPEATS, depth=4),
        cells(REPEATS, epsilon=math.inf),
        cells((math.nan,) * 3),
        cells(REPEATS, metric="mse"),
    ],
    ids=["nothing", "other depth", "other epsilon", "failed cells", "other metric"],
)
def test_a_number_that_no_cell_answers_is_not_run(rows):
    row = judge(printed(0.8), rows)
    assert row["verdict"] == "not run"
    assert row["n"] == 0


def test_no_noise_is_a_setting_of_its_own():
    rows = cells(REPEATS) + cells((0.99, 0.99, 0.99), epsilon=math.inf)
    assert judge(printed(0.99, epsilon=math.inf), rows)["mean"] == pytest.approx(0.99)


def test_fewer_repeats_than_asked_for_are_named():
    assert "INCOMPLETE: 2 of 3" in judge(printed(0.8), cells((0.79, 0.81)))["reason"]


def everything(best=REPEATS):
    low = (0.5, 0.51, 0.52)
    return cells(low) + cells(low, depth=4) + cells(low, epsilon=math.inf) + cells(best, depth=4, epsilon=math.inf)


def test_maximum_uses_the_best_setting():
    wanted = {"statistic": "max", "depth": math.nan, "epsilon": math.nan}
    row = judge(printed(0.82, **wanted), everything())
    assert row["verdict"] == "reproduced"
    assert row["mean"] == pytest.approx(0.8)
    assert row["reason"].endswith("ours is best at max_depth = 4 without noise")
    assert "outside so far" in judge(printed(0.9, **wanted), everything())["reason"]
    again = [row | {"repeat": row["repeat"] + 3 * k} for row in everything() for k in range(4)]
    assert judge(printed(0.9, **wanted), again)["verdict"] == "refuted"
    assert "outside so far" in judge(printed(0.9, **wanted), again[:-3])["reason"], "of the best setting only nine runs"


def test_maximum_over_some_settings_only_is_not_testable():
    wanted = {"statistic": "max", "depth": math.nan, "epsilon": math.nan}
    row = judge(printed(0.8, **wanted), everything()[3:])
    assert row["verdict"] == "undecided"
    assert "INCOMPLETE: a maximum over 9 of 12 cells" in row["reason"]


def test_exact_numbers_must_agree_to_the_digit():
    reported = printed(1728, decimals=0, statistic="exact", metric="rows")
    assert judge(reported, [], {("car", "rows"): 1728})["verdict"] == "reproduced"
    assert judge(reported, [], {("car", "rows"): 1727})["verdict"] == "refuted"
    assert judge(reported, [], {})["verdict"] == "not run"


@pytest.mark.parametrize(
    ("family", "n", "limit"), [("normal", 40, 5), ("exponential, tail below", 40, 5), ("3 % lose 40 points", 40, 10)]
)
@pytest.mark.long
def test_few_true_numbers_are_refuted_whatever_the_paper_did(family, n, limit):
    """`make calibrate` measures this with as many as it takes; so few show what is grossly wrong."""
    (chosen,) = [one for one in FAMILIES if one.name == family]
    rows = simulate_false_misses([chosen], n, np.random.default_rng(3))
    assert [row.truth for row in rows] == [truth.name for truth in TRUTHS]
    for row in rows:
        assert row.refuted <= limit
    assert rows[0].depends > rows[1].depends, "one run is no mean of ten"


def test_an_assumed_mean_of_ten_refutes_single_runs_and_depends_on_it_if_one_is_allowed():
    for runs, is_refuted in (((10,), True), ((1, 10), False)):
        (row,) = simulate_false_misses(FAMILIES[:1], 40, np.random.default_rng(4), TextOfPaper(runs), TRUTHS[:1])
        assert (row.refuted > 20) == is_refuted and (row.depends > 20) != is_refuted


@pytest.mark.long
@pytest.mark.parametrize("m", [1, 10])
@pytest.mark.parametrize("draw", ["normal", "bunched at the top", "two modes"])
def test_the_rule_misses_as_often_as_it_says(draw, m):
    """Of many numbers that are means of the very runs we made, about one in twenty falls outside."""
    rng = np.random.default_rng(7)
    runs = {
        "normal": lambda size: rng.normal(0.8, 0.01, size),
        "bunched at the top": lambda size: 1 - 0.1 * rng.exponential(1, size).clip(0, 10),
        "two modes": lambda size: rng.choice([0.52, 0.9], size) + rng.normal(0, 0.01, size),
    }[draw]
    n_outside = 0
    for ours, theirs in zip(runs((300, 20)), runs((300, m)), strict=True):
        n_outside += Prediction(ours, m, MetricRange(0.0, 1.0)).chance_of(theirs.mean()) < 0.05
    assert n_outside / 300 < 0.08
    assert n_outside / 300 > 0.01 or draw != "normal", "an interval may be as wide as all that is possible"


def count_orders(n, m, is_extreme):
    """Share of the orders of n + m runs, m of them printed, in which something holds of the places of the m."""
    orders = list(combinations(range(n + m), m))
    return sum(map(is_extreme, orders)) / len(orders)


def test_exact_chances_against_all_orders_of_the_runs():
    ours, m = [0.5, 0.6, 0.8, 0.9], 3

    def highest(places):  # of the m among all, each as high as its place among ours allows
        tops = [*ours, 1.0]
        return sum(tops[place - i] for i, place in enumerate(places)) / m

    exact = HighestMean(ours, m, 1.0)
    for least in (0.75, 0.85, 0.92, 0.97, 0.99):
        counted = count_orders(4, m, lambda places, least=least: highest(places) >= least - 1e-12)
        assert exact.chance_at_least(least) == pytest.approx(counted)
    for places in combinations(range(4 + m), m):  # where the grid rounds, it makes no chance smaller
        least = highest(places)
        counted = count_orders(4, m, lambda places, least=least: highest(places) >= least - 1e-12)
        assert exact.chance_at_least(least) >= counted - 1e-9
    # all m above what K of our n reach: C(m + K, m) / C(n + m, m)
    assert exact.chance_at_least(0.97) == pytest.approx(math.comb(m, m) / math.comb(4 + m, m))
    assert exact.chance_at_least(1.01) == 0 and exact.chance_at_least(0.1) == 1
    assert HighestMean(ours, m, math.inf).chance_at_least(99.0) == pytest.approx(
        count_orders(4, m, lambda places: places[-1] == 4 + m - 1)
    )


def test_exact_chances_hold_for_every_distribution_and_their_ends_agree_with_them():
    rng = np.random.default_rng(1)
    n_above = 0
    for _ in range(400):  # nine runs in ten stand at 0.5, others at 1
        runs = rng.choice([0.5, 1.0], 15, p=[0.9, 0.1])
        exact = HighestMean(runs[:10], 5, 1.0)
        end = exact.find_end(0.05)
        n_above += exact.chance_at_least(runs[10:].mean()) < 0.05
        assert exact.chance_at_least(end + 1e-3) < 0.05 or end == 1
        assert exact.chance_at_least(end - 1e-3) >= 0.05
    assert n_above <= 0.05 * 400


def test_a_tail_without_end_is_not_predicted_from_ten_runs():
    """R² has no lower bound: where one run is wild, the next mean may be anywhere below."""
    r2 = MetricRange(-math.inf, 1.0)
    wild, tame = Prediction([0.9] * 9 + [-50.0], 10, r2), Prediction(np.linspace(0.8, 0.9, 10), 10, r2)
    assert wild.interval().low == -math.inf and tame.interval().low > 0.7
    assert wild.chance_of(-1e6) > 0.05 > tame.chance_of(-1e6)


def test_contradictions_are_refused():
    with pytest.raises(PaperError, match="no table or figure 'u'"):
        judge(printed(0.8).assign(table="u"), [])
    with pytest.raises(PaperError, match="is no setting of t"):
        judge(printed(0.8, depth=5), [])
    with pytest.raises(PaperError, match="selects 2 settings"):
        judge(printed(0.8, depth=math.nan), [])
    with pytest.raises(PaperError, match="two cells answer the same setting"):
        judge(printed(0.8), cells(REPEATS) + cells((0.7,)))


def test_printed_numbers_of_paper_2_are_read():
    paper = read_paper("2")
    reported = read_numbers_of(paper)
    assert list(reported["statistic"].value_counts().loc[["mean", "exact", "max"]]) == [28, 11, 2]
    numbers = judge_numbers(paper, reported, pd.DataFrame())
    assert set(numbers["verdict"]) == {"not run"}
    assert count_expected_misses(numbers) == 0
    twice = reported[reported["statistic"] == "mean"].duplicated(["dataset", "params.max_depth", "epsilon"])
    assert not twice.any()


def test_bad_files_of_printed_numbers_are_refused(tmp_path):
    with pytest.raises(PaperError, match="missing"):
        read_reported(tmp_path / "none.csv")
    path = tmp_path / "r.csv"
    printed(0.8).assign(statistic="median").to_csv(path, index=False)
    with pytest.raises(PaperError, match="median"):
        read_reported(path)
    pd.concat([printed(0.8), printed(0.8)]).to_csv(path, index=False)
    with pytest.raises(PaperError, match="stands twice"):
        read_reported(path)
    printed(0.8).drop(columns="decimals").to_csv(path, index=False)
    with pytest.raises(PaperError, match="decimals"):
        read_reported(path)


# Numbers that are printed without their setting.

UNPLACED = {
    "number": 0,
    "repeats": 3,
    "not_implemented": {"lost": "never described"},
    "studies": {
        "one": {"dataset": ["car"], "algorithm": ["a", "b"], "params": {"max_depth": [3, 4]}, "epsilon": [1.0]},
        "two": {"dataset": ["car"], "algorithm": ["a", "b"], "epsilon": [0.1, math.inf]},
    },
    "tables": [
        {"id": "t", "title": "T", "kind": "span", "studies": ["one", "two"], "algorithms": ["a", "lost"]}
        | {"metric": "accuracy"}
    ],
}


def unplaced(value, algorithm="a"):
    row = {"id": "x", "table": "t", "dataset": math.nan, "algorithm": algorithm, "epsilon": math.nan}
    row |= {"metric": "accuracy", "statistic": "some", "value": value, "decimals": 2, "source": "by hand"}
    return pd.DataFrame([row])


def all_settings(spread=0.01, times=1):
    """Depth 3 and 4 at 0.6 and 0.7, then ε = 0.1 and none at 0.5 and 0.8; each ± the spread, in three runs or more."""
    rows = []
    for center, study, depth, epsilon in (
        (0.6, "one", 3, 1.0),
        (0.7, "one", 4, 1.0),
        (0.5, "two", math.nan, 0.1),
        (0.8, "two", math.nan, math.inf),
    ):
        values = (center - spread, center, center + spread) * times
        rows += [one | {"study": study} for one in cells(values, depth=depth, epsilon=epsilon)]
    return rows


# half-width of the prediction interval of one run: 0.0496827, as above; rounding adds 0.00005
@pytest.mark.parametrize(
    ("value", "verdict", "says"),
    [
        (0.84972, "setting lost", "1 of 4 settings could have given it, nearest two, no noise"),
        (
            0.84974,
            "undecided",
            "outside so far: no setting gives it: 4 settings give 50.00 to 80.00, nearest two, no noise; "
            "the chance of that is 4 %; 10 runs are to confirm it",
        ),
        (0.45028, "setting lost", "nearest two, ε = 0.1"),
        (0.45026, "undecided", "no setting gives it: 4 settings give 50.00 to 80.00"),
        (0.65, "undecided", "no setting gives it: 4 settings give 50.00 to 80.00"),
        (0.70, "setting lost", "nearest one, max_depth = 4"),
    ],
)
def test_a_number_without_its_setting_is_asked_of_all_of_them(value, verdict, says):
    spread = 0.009 if value == 0.65 else 0.01  # 0.65 lies between two settings, too far from both
    row = judge(unplaced(value), all_settings(spread), paper=UNPLACED)
    assert (row["verdict"], row["n"], row["n_expected"]) == (verdict, 3, 3), "of the nearest"
    assert says in row["reason"]
    twice = judge(unplaced(value), all_settings(spread, 4), paper=UNPLACED)
    assert twice["verdict"] == {"undecided": "refuted"}.get(verdict, "setting lost" if value == 0.7 else "undecided")


def two_unplaced(a, b):
    return pd.concat([unplaced(a).assign(id="x"), unplaced(b, "b").assign(id="y")])


def judge_two(a, b, times=1, **changes):
    paper = UNPLACED | changes
    paper["tables"] = [UNPLACED["tables"][0] | {"algorithms": ["a", "b", "lost"]}]
    rows = all_settings(times=times) + [row | {"algorithm": "b"} for row in all_settings(times=times)]
    return judge_numbers(make_paper(**paper), two_unplaced(a, b), pd.DataFrame(rows)).to_dict("records")


def test_numbers_without_their_setting_must_come_from_one_setting():
    for row in judge_two(0.6, 0.61, printed_repeats=[1, 3]):
        assert row["verdict"] == "setting lost"
        said = (
            "; one setting could give all 2 numbers of t as single runs (chance 95 %), one as means of 3 (chance 69 %)"
        )
        assert said in row["reason"]
    for row in judge_two(0.6, 0.8, times=10):  # each fits some setting, and no setting fits both
        assert row["verdict"] == "refuted" and row["chance"] < 0.05
        assert row["reason"].startswith("no setting could give all 2 numbers of t as single runs (chance 0.0")
    assert judge_two(0.6, 0.8)[0]["reason"].startswith("outside so far: no setting could give all 2 numbers")


def test_how_many_runs_were_printed_decides_what_one_setting_can_explain():
    # one run: half-width 0.0497; a mean of 3: 0.0351, and 0.0464 with Bonferroni's two numbers
    for m, verdict in ((1, "setting lost"), (30, "undecided")):
        row, _ = judge_two(0.6, 0.64, printed_repeats=m)
        assert row["verdict"] == verdict
    row, _ = judge_two(0.6, 0.64, printed_repeats=[1, 30])
    assert (row["verdict"], row["verdicts_by_runs"]) == ("undecided", "1: setting lost; 30: undecided")
    assert (
        "one setting could give all 2 numbers of t as single runs (chance 14 %), none as means of 30" in row["reason"]
    )
    # at 102 runs one run reaches to ± 0.0163, and to ± 0.0185 with Bonferroni's two; a mean of ten to ± 0.0054
    paper = {"printed_repeats": [1, 10], "repeats": 20}
    row, _ = judge_two(0.6, 0.61, times=34, **paper)
    assert row["verdict"] == "depends on how many runs were averaged"
    assert row["verdicts_by_runs"] == "1: setting lost; 10: refuted"
    assert row["reason"].startswith(
        "refuted as a mean of 10 printed runs: one setting could give all 2 numbers of t as "
    )
    assert "setting lost as a single printed run: " in row["reason"]


def test_a_number_without_its_setting_never_comes_out_by_itself():
    assert judge(unplaced(0.7), [], paper=UNPLACED)["verdict"] == "not run"
    further = [row | {"repeat": row["repeat"] + 3} for row in all_settings()]  # which fill no gap of another setting
    for more in ([], further[3:]):
        partial = judge(unplaced(0.99), all_settings()[1:] + more, paper=UNPLACED)
        assert partial["verdict"] == "undecided"
        assert "INCOMPLETE" in partial["reason"]
    single = [one for one in all_settings() if one["repeat"] == 0]
    assert "only one run: " in judge(unplaced(0.99), single, paper=UNPLACED | {"repeats": 1})["reason"]


def test_what_is_not_implemented_says_why():
    row = judge(unplaced(0.7, "lost"), all_settings(), paper=UNPLACED)
    assert (row["verdict"], row["reason"], row["n"]) == ("not implemented", "never described", 0)


def test_a_number_without_its_setting_needs_a_table_of_such_numbers():
    with pytest.raises(PaperError, match="statistic some needs a table of kind span"):
        judge(unplaced(0.7), [])
    with pytest.raises(PaperError, match="t has no algorithm 'b'"):
        judge(unplaced(0.7, "b"), [], paper=UNPLACED)


# What undecided numbers still need.


def needs(reported, rows, **changes):
    return list_number_needs(make_paper(**PAPER | changes), reported, pd.DataFrame(rows))


def test_an_undecided_number_needs_one_more_look_and_a_decided_one_nothing():
    fine = {"resolution": {"accuracy": 0.0496}, "repeats": 10}
    (need,) = needs(printed(0.8), cells(REPEATS), **fine)
    assert (name_settings(need), need.repeats) == ([("car", "a", "3", "0.1")], 20)
    assert needs(printed(0.8), cells((0.8,)), repeats=10)[0].repeats == 20, "one repeat only"
    assert needs(printed(0.8), cells(REPEATS), repeats=10) == [], "reproduced"
    assert needs(printed(0.9), cells(REPEATS), repeats=10)[0].repeats == 20, "outside so far"
    assert needs(printed(0.9), cells(TWICE), repeats=10) == [], "refuted"
    assert needs(printed(0.8), [], repeats=10) == [], "not run"
    assert needs(printed(0.8), cells(REPEATS), most_repeats=19, **fine) == []
    later = cells(np.random.default_rng(0).normal(0.8, 0.02, 20))
    assert needs(printed(0.8), later, repeats=10, resolution={"accuracy": 0.0405}) == [], "the last look"
    for m, most, look in ((30, 1280, 300), ([1, 10], 1280, 100), ([1, 10], 80, 80), ([1, 10], 20, 20)):
        (need,) = needs(printed(0.8), cells((0.8,)), repeats=10, printed_repeats=m, most_repeats=most)
        assert need.repeats == look, "as many as the paper allows"


def test_equal_repeats_that_refute_are_asked_for_once_more():
    # chance 2 / (n + 1): 0.18 after 10, 0.049 after 40
    assert needs(printed(0.5), cells((0.9,) * 10), repeats=10)[0].repeats == 20
    assert needs(printed(0.5), cells((0.9,) * 40), repeats=10) == []


def test_a_number_without_its_setting_that_lies_outside_needs_all_settings_once_more():
    assert needs(unplaced(0.7), all_settings(), **UNPLACED) == [], "setting lost"
    (need,) = needs(unplaced(0.65), all_settings(0.009), **UNPLACED)
    assert need.repeats == 10 and len(need.settings) == 4
    assert needs(unplaced(0.65), all_settings(0.009, 4), **UNPLACED) == []
    assert needs(unplaced(0.65), all_settings(0.009), **UNPLACED, most_repeats=5) == []


def test_an_undecided_maximum_needs_all_its_settings():
    wanted = {"statistic": "max", "depth": math.nan, "epsilon": math.nan}
    (need,) = needs(printed(0.8, **wanted), everything(), resolution={"accuracy": 0.0496}, repeats=len(REPEATS))
    assert need.repeats == 10
    assert set(name_settings(need)) == {("car", "a", depth, epsilon) for depth in "34" for epsilon in ("0.1", "inf")}
    more = [row | {"repeat": row["repeat"] + 3 * k} for row in everything()[:3] for k in (1, 2, 3)]
    assert needs(printed(0.8, **wanted), everything() + more, resolution={"accuracy": 0.0496}) == [need], (
        "of the others"
    )
    assert needs(printed(0.8, **wanted), everything()[3:], resolution={"accuracy": 0.0496}) == [], "cells are missing"


def test_numbers_of_one_setting_share_their_need():
    both = pd.concat([printed(0.8), printed(0.81).assign(id="y")])
    assert len(needs(both, cells(REPEATS), resolution={"accuracy": 0.0496})) == 1
