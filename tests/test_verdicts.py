"""Verdicts on printed numbers, against answers worked out by hand."""

import math

import numpy as np
import pandas as pd
import pytest

from experiments.config.paper import PaperError
from experiments.config.papers import read_paper
from experiments.judge.numbers.printed import read_numbers_of, read_reported
from experiments.judge.numbers.verdicts import count_expected_misses, judge_numbers
from experiments.judge.verdict import half_digit
from tests.papers import make_paper

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


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(0.8, "reproduced"), (0.84968, "reproduced"), (0.84970, "refuted"), (0.75031, "refuted")],
)
def test_prediction_interval_decides(value, verdict):
    row = judge(printed(value), cells(REPEATS))
    assert row["verdict"] == verdict
    assert row["prediction_high"] == pytest.approx(0.8496827, abs=1e-6)
    assert row["ci_high"] == pytest.approx(0.8 + 4.302653 * 0.01 / math.sqrt(3), abs=1e-6)
    assert row["difference"] == pytest.approx(0.8 - value)
    assert row["detects"] == pytest.approx(0.0496827 + 5e-6, abs=1e-6)


def test_an_interval_that_is_too_wide_reproduces_nothing():
    row = judge(printed(0.8), cells(REPEATS), paper=PAPER | {"resolution": {"accuracy": 0.0496}})
    assert row["verdict"] == "undecided"
    assert "too wide to tell" in row["reason"]
    assert judge(printed(0.9), cells((0.2, 0.5, 0.8)), paper=PAPER)["verdict"] == "undecided"


def test_a_mean_of_more_printed_runs_must_lie_closer():
    # half-width for a mean of 3: 4.302653 * 0.01 * sqrt(2/3) = 0.0351310
    averaged = PAPER | {"printed_repeats": 3}
    assert judge(printed(0.83513), cells(REPEATS), paper=averaged)["verdict"] == "reproduced"
    assert judge(printed(0.83514), cells(REPEATS), paper=averaged)["verdict"] == "refuted"


def test_the_verdict_for_a_single_printed_run_stands_beside():
    averaged = PAPER | {"printed_repeats": 3}
    row = judge(printed(0.84), cells(REPEATS), paper=averaged)
    assert (row["verdict"], row["verdict_one_run"]) == ("refuted", "reproduced")


def test_chance_misses_count_every_number_with_an_interval():
    wide = make_paper(**PAPER | {"resolution": {"accuracy": 0.001}})
    numbers = judge_numbers(wide, printed(0.8), pd.DataFrame(cells(REPEATS)))
    assert numbers["verdict"].tolist() == ["undecided"]
    assert count_expected_misses(numbers) == pytest.approx(0.05)
    assert count_expected_misses(judge_numbers(wide, printed(0.8), pd.DataFrame(cells((0.8,))))) == 0


def test_a_metric_without_a_scale_needs_a_resolution():
    with pytest.raises(PaperError, match="resolution"):
        judge(printed(1.0, metric="mse"), cells(REPEATS, metric="mse"), paper=PAPER | {"resolution": {}})


def test_half_a_printed_digit_is_granted_and_no_more():
    same = cells((0.8, 0.8, 0.8))
    assert judge(printed(0.805, decimals=0), same)["verdict"] == "reproduced"
    assert judge(printed(0.8051, decimals=0), same)["verdict"] == "refuted"
    assert half_digit("mse", 2) == 0.005


def test_no_spread_gives_an_interval_as_wide_as_the_rounding():
    row = judge(printed(1.0), cells((1.0, 1.0, 1.0)))
    assert row["verdict"] == "reproduced"
    assert "agree exactly" in row["reason"]
    row = judge(printed(0.99999), cells((1.0, 1.0, 1.0)))
    assert row["verdict"] == "refuted"
    assert "+0.001 points" in row["reason"]


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
    assert row["reason"].endswith("best setting: max_depth = 4, no noise")
    assert judge(printed(0.9, **wanted), everything())["verdict"] == "refuted"


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


def test_the_rule_misses_as_often_as_it_says():
    """Of many numbers drawn from the very runs we made, one in twenty falls outside."""
    rng = np.random.default_rng(7)
    paper = PAPER | {"repeats": 10}
    verdicts = [
        judge(printed(v[0], decimals=6), cells(v[1:]), paper=paper)["verdict"] for v in rng.normal(0.8, 0.01, (400, 11))
    ]
    assert 0.02 < verdicts.count("refuted") / 400 < 0.09


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
    assert list(reported["statistic"].value_counts().loc[["mean", "exact", "max"]]) == [28, 10, 2]
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


def all_settings(spread=0.01):
    """Depth 3 and 4 at 0.6 and 0.7, then ε = 0.1 and none at 0.5 and 0.8; each ± the spread."""
    rows = []
    for center, study, depth, epsilon in (
        (0.6, "one", 3, 1.0),
        (0.7, "one", 4, 1.0),
        (0.5, "two", math.nan, 0.1),
        (0.8, "two", math.nan, math.inf),
    ):
        values = (center - spread, center, center + spread)
        rows += [one | {"study": study} for one in cells(values, depth=depth, epsilon=epsilon)]
    return rows


# half-width of the prediction interval of one run: 0.0496827, as above; rounding adds 0.00005
@pytest.mark.parametrize(
    ("value", "verdict", "says"),
    [
        (0.84972, "undecided", "1 of them agree with it; nearest: two, no noise"),
        (0.84974, "refuted", "above all that can be meant: 4 settings give 50.00 to 80.00"),
        (0.45028, "undecided", "nearest: two, epsilon = 0.1"),
        (0.45026, "refuted", "below all that can be meant"),
        (0.65, "undecided", "0 of them agree with it"),
        (0.70, "undecided", "nearest: one, max_depth = 4"),
    ],
)
def test_a_number_without_its_setting_is_asked_of_all_of_them(value, verdict, says):
    row = judge(unplaced(value), all_settings(), paper=UNPLACED)
    assert (row["verdict"], row["n"], row["n_expected"]) == (verdict, 3, 3), "of the nearest"
    assert says in row["reason"]


def test_a_number_without_its_setting_never_comes_out_by_itself():
    assert judge(unplaced(0.7), [], paper=UNPLACED)["verdict"] == "not run"
    partial = judge(unplaced(0.99), all_settings()[1:], paper=UNPLACED)
    assert partial["verdict"] == "undecided"
    assert "INCOMPLETE" in partial["reason"]
    single = [one for one in all_settings() if one["repeat"] == 0]
    assert "one repeat only" in judge(unplaced(0.99), single, paper=UNPLACED | {"repeats": 1})["reason"]


def test_what_is_not_implemented_says_why():
    row = judge(unplaced(0.7, "lost"), all_settings(), paper=UNPLACED)
    assert (row["verdict"], row["reason"], row["n"]) == ("undecided", "not implemented: never described", 0)


def test_a_number_without_its_setting_needs_a_table_of_such_numbers():
    with pytest.raises(PaperError, match="statistic some needs a table of kind span"):
        judge(unplaced(0.7), [])
    with pytest.raises(PaperError, match="t has no algorithm 'b'"):
        judge(unplaced(0.7, "b"), [], paper=UNPLACED)
