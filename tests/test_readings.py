"""Readings of a paper: the cells they need, and their ranking on made-up results whose truth is known."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from experiments.judge.reading_cells import readings_of

from experiments.audit.report import write
from experiments.commands import readings as readings_command
from experiments.config.paper import PaperError
from experiments.config.papers import paper_names, paper_of
from experiments.config.paths import ROOT
from experiments.judge.printed_numbers import read_reported
from experiments.judge.readings import ranked, sentence
from tests.command_line import exit_code

PAPER = {
    "number": 0,
    "repeats": 4,
    "not_implemented": {"lost": "never described"},
    "studies": {
        "grid": {
            "dataset": ["car", "nursery"],
            "algorithm": ["rfdpp_gini", "rdt"],
            "params": {"max_depth": [2, 3]},
            "epsilon": [0.5, math.inf],
            "protocol": {"test_size": 0.25},
        }
    },
    "tables": [
        {"id": "t", "title": "T", "kind": "grid", "study": "grid", "where": {"algorithm": "rfdpp_gini"}}
        | {"rows": "params.max_depth", "columns": "epsilon", "metric": "accuracy"},
        {"id": "s", "title": "S", "kind": "span", "studies": ["grid"], "algorithms": ["rfdpp_gini", "rdt", "lost"]}
        | {"metric": "accuracy"},
    ],
    "claims": [
        {"id": "above", "text": "above", "kind": "above", "study": "grid", "better": "rfdpp_gini", "worse": "rdt"}
        | {"within": ["dataset", "params.max_depth", "epsilon"], "metric": "accuracy"},
        {"id": "below", "text": "below", "kind": "below", "study": "grid", "better": "rfdpp_gini", "worse": "rdt"}
        | {"within": ["dataset", "params.max_depth"], "where": {"epsilon": 0.5}, "metric": "accuracy"},
    ],
}
NUMBERS = pd.DataFrame(
    [
        ("a", "t", "car", "rfdpp_gini", 2, 0.5, "mean", 0.70),
        ("b", "t", "car", "rfdpp_gini", 3, math.inf, "mean", 0.80),
        ("c", "s", math.nan, "rfdpp_gini", math.nan, math.nan, "some", 0.60),
        ("d", "s", math.nan, "rdt", math.nan, math.nan, "some", 0.50),
        ("e", "s", math.nan, "lost", math.nan, math.nan, "some", 0.90),
    ],
    columns=["id", "table", "dataset", "algorithm", "params.max_depth", "epsilon", "statistic", "value"],
).assign(metric="accuracy", decimals=1, source="by hand")
TABLES = {"id": "tables", "title": "Which?", "study": "grid", "algorithm": "rfdpp_gini", "repeats": 4}
TABLES |= {
    "params": {"leaf": ["noisy_counts", "exact"], "n_estimators": [5]},
    "protocol": {"evaluate_on": ["test", "train"]},
}
SETTINGS = {"id": "settings", "title": "Which?", "table": "s", "repeats": 4}
ORDERINGS = {"id": "orderings", "title": "Which?", "claims": ["above", "below"], "algorithm": "rdt", "repeats": 4}
ORDERINGS |= {"params": {"n_estimators": [2, 3]}}


def results(readings, value, privacy=None):
    """A long table in which ``value(cell)`` is the accuracy of every cell, and a text its privacy."""
    cells = {cell.key: cell for reading in readings for target in reading.targets for cell in target.all()}
    rows = [
        {"key": key, "status": "done", "accuracy": value(cell), "privacy": json.dumps(privacy) if privacy else ""}
        for key, cell in cells.items()
    ]
    return pd.DataFrame(rows)


def test_every_product_of_parameters_and_protocols_is_a_reading():
    readings = readings_of(PAPER, TABLES, NUMBERS)
    assert [one.words for one in readings] == [
        f"leaf = {leaf}, n_estimators = 5, evaluate_on = {rows}"
        for leaf in ("noisy_counts", "exact")
        for rows in ("test", "train")
    ]
    first, second = readings[1].targets
    assert (first.printed, second.printed) == (0.70, 0.80)
    cell = first.cells[3]
    assert (cell.dataset, cell.epsilon, cell.repeat, cell.params["max_depth"]) == ("car", 0.5, 3, 2)
    assert cell.params["leaf"] == "noisy_counts" and cell.params["n_estimators"] == 5
    assert (cell.protocol["evaluate_on"], cell.protocol["test_size"]) == ("train", 0.25)


def test_the_reading_that_gives_the_printed_numbers_is_the_nearest():
    readings, rng = readings_of(PAPER, TABLES, NUMBERS), np.random.default_rng(0)

    def value(cell):
        truth = 0.70 if cell.params["max_depth"] == 2 else 0.80
        is_right = cell.params["leaf"] == "exact" and cell.protocol["evaluate_on"] == "train"
        return truth + (0 if is_right else 0.05) + rng.normal(0, 0.001)

    privacy = {"claimed_epsilon": 0.5, "accounted_epsilon": "inf", "noisy_epsilon": 1.5}
    rows = ranked(TABLES, readings, results(readings, value, privacy))
    assert rows["reading"].iloc[0] == "leaf = exact, n_estimators = 5, evaluate_on = train"
    assert rows["rank"].tolist() == [1, 2, 3, 4] and rows["as_good"].tolist() == [True, False, False, False]
    assert rows["distance"].tolist() == pytest.approx([0.05, 5, 5, 5], abs=0.15), "points, root mean square"
    assert rows["times_label"].tolist() == [3.0] * 4 and rows["unpaid"].all()
    said = sentence(rows)
    assert "; 3 are farther off; its noisy steps cost 3 × the ε of the label; other steps have no noise at all" in said


def test_a_noisy_reading_with_the_right_means_is_nearer_than_a_quiet_wrong_one():
    readings, sign = readings_of(PAPER, TABLES, NUMBERS), [1, -1, 1, -1]

    def value(cell):
        truth = 0.70 if cell.params["max_depth"] == 2 else 0.80
        return truth + (0.06 * sign[cell.repeat] if cell.params["leaf"] == "exact" else 0.03)

    rows = ranked(TABLES, readings, results(readings, value))
    assert rows["reading"].iloc[0].startswith("leaf = exact") and rows["distance"].iloc[0] == pytest.approx(0)


def test_an_undefined_mean_has_no_distance():
    readings = readings_of(PAPER, TABLES, NUMBERS)
    table = results(readings, lambda cell: math.nan if cell.params["leaf"] == "exact" else 0.75)
    rows = ranked(TABLES, readings, table)
    assert rows["distance"].notna().tolist() == [True, True, False, False]
    assert rows["from_best"].iloc[1] == 0 and "2 could not be compared" in sentence(rows)


def test_a_cost_is_that_of_the_algorithm_that_is_read():
    readings = readings_of(PAPER, ORDERINGS, NUMBERS)
    table = results(readings, lambda cell: 0.5)
    algorithm = {cell.key: cell.algorithm for one in readings for target in one.targets for cell in target.all()}
    costs = {"rdt": 2.0, "rfdpp_gini": 9.0}
    table["privacy"] = [
        json.dumps({"claimed_epsilon": 1.0, "accounted_epsilon": 9.0, "noisy_epsilon": costs[algorithm[key]]})
        for key in table["key"]
    ]
    assert ranked(ORDERINGS, readings, table)["times_label"].tolist() == [2.0, 2.0]


def test_readings_that_cannot_be_told_apart_are_as_good():
    readings, rng = readings_of(PAPER, TABLES, NUMBERS), np.random.default_rng(1)
    rows = ranked(TABLES, readings, results(readings, lambda cell: 0.75 + rng.normal(0, 0.05)))
    assert rows["as_good"].sum() > 1 and "more are as good" in sentence(rows)
    assert (rows["low"] <= rows["from_best"]).all() and rows["from_best"].is_monotonic_increasing


def test_a_reading_without_all_its_cells_has_no_distance_and_stands_last():
    readings = readings_of(PAPER, TABLES, NUMBERS)
    table = results(readings, lambda cell: 0.75)
    gone = readings[0].targets[0].cells[0].key
    rows = ranked(TABLES, readings, table[table["key"] != gone])
    assert rows["reading"].iloc[-1] == readings[0].words and math.isnan(rows["distance"].iloc[-1])
    assert (rows["n"].iloc[-1], rows["n_expected"].iloc[-1]) == (7, 8)
    nothing = ranked(TABLES, readings, table.assign(status="failed"))
    assert sentence(nothing).startswith("INCOMPLETE")


def test_numbers_without_a_setting_are_asked_of_every_setting_that_all_share():
    readings = readings_of(PAPER, SETTINGS, NUMBERS)
    assert len(readings) == 8 and readings[0].words == "grid, car, max_depth = 2, epsilon = 0.5"
    assert [target.printed for target in readings[0].targets] == [0.6, 0.5], "what is not implemented is left out"

    def value(cell):
        right = cell.dataset == "nursery" and cell.params["max_depth"] == 3 and math.isinf(cell.epsilon)
        return (0.6 if cell.algorithm == "rfdpp_gini" else 0.5) if right else 0.9

    rows = ranked(SETTINGS, readings, results(readings, value))
    assert rows["reading"].iloc[0] == "grid, nursery, max_depth = 3, no noise"
    assert rows["distance"].iloc[0] == pytest.approx(0)
    assert rows["distance"].iloc[1] == pytest.approx(100 * math.sqrt((0.3**2 + 0.4**2) / 2))


def test_orderings_are_counted_in_the_direction_that_is_claimed():
    readings = readings_of(PAPER, ORDERINGS, NUMBERS)
    assert [len(one.targets) for one in readings] == [12, 12], "eight groups of one claim, four of the other"
    # with two trees RDT is always below, so that "above" holds in all its groups and "below" in none
    table = results(readings, lambda cell: 0.5 if cell.algorithm == "rfdpp_gini" else 0.2 * cell.params["n_estimators"])
    rows = ranked(ORDERINGS, readings, table)
    assert rows["reading"].tolist() == ["n_estimators = 2", "n_estimators = 3"]
    assert rows["distance"].tolist() == pytest.approx([4 / 12, 8 / 12])
    assert "33% of the orderings off" in sentence(rows)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({key: value for key, value in TABLES.items() if key != "params"}, "params is missing"),
        (TABLES | {"param": {}}, "unknown key 'param'; did you mean 'params'"),
        (TABLES | {"algorithm": "rdt"}, "prints nothing that they could explain"),
        (SETTINGS | {"table": "t"}, "'t' is no table of kind span"),
        (ORDERINGS | {"claims": ["abov"]}, "no claim 'abov' of kind above or below"),
    ],
)
def test_a_question_that_cannot_be_meant_is_refused(question, message):
    with pytest.raises(PaperError, match=message):
        readings_of(PAPER, question, NUMBERS)


@pytest.mark.parametrize("name", [name for name in paper_names() if paper_of(name).get("readings")])
def test_the_readings_of_every_paper_can_be_asked(name):
    paper = paper_of(name)
    reported = read_reported(ROOT / paper["reported"])
    for question in paper["readings"]:
        readings = readings_of(paper, question, reported)
        assert len({one.words for one in readings}) == len(readings) > 1
        assert len({len(one.targets) for one in readings}) == 1


def test_the_ranking_is_written_and_drawn(tmp_path):
    readings, rng = readings_of(PAPER, TABLES, NUMBERS), np.random.default_rng(0)
    rows = ranked(TABLES, readings, results(readings, lambda cell: rng.normal(0.75, 0.01)))
    paths = write(PAPER | {"readings": [TABLES]}, [rows], tmp_path)
    assert [path.name for path in paths] == ["readings.csv", "readings-tables.png"]
    assert pd.read_csv(paths[0])["distance"].tolist() == pytest.approx(rows["distance"].tolist())
    before = (tmp_path / "figures" / "readings-tables.svg").read_bytes()
    write(PAPER | {"readings": [TABLES]}, [rows], tmp_path)
    assert (tmp_path / "figures" / "readings-tables.svg").read_bytes() == before


def test_a_paper_without_readings_says_so(capsys):
    assert exit_code("do=readings", "paper=3") == 2
    assert "paper 3 has no readings" in capsys.readouterr().err


def test_the_command_runs_the_readings_and_ranks_them(tmp_path, monkeypatch, capsys):
    question = TABLES | {"repeats": 2, "params": {"n_estimators": [1]}}
    paper = PAPER | {"readings": [question], "reported": "numbers.csv"}
    monkeypatch.setattr(readings_command, "paper_of", lambda name: paper)
    monkeypatch.setattr(readings_command, "read_reported", lambda path: NUMBERS)
    assert exit_code("do=readings", "paper=2", f"results={tmp_path}", "executor.jobs=1") == 0
    ranking = pd.read_csv(tmp_path / "paper-2" / "readings.csv")
    assert len(ranking) == 2 and ranking["n"].tolist() == ranking["n_expected"].tolist()
    stderr = capsys.readouterr().err
    assert f"  {tmp_path / 'paper-2' / 'readings.csv'}" in stderr and "Which?: " in stderr
