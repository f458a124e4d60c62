"""Readings of a paper: the cells they need, and their ranking on made-up results whose truth is known."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from documents.document import DocumentError
from experiments.commands import readings as readings_command
from experiments.config.paper import PaperError, parse_question
from experiments.config.papers import list_papers, read_paper
from experiments.judge.numbers.printed import read_numbers_of
from experiments.judge.readings.cells import make_readings
from experiments.judge.readings.ranking import describe_ranking, rank_readings
from plots.reading_ranks import write_rankings
from tests.command_line import exit_code
from tests.papers import make_paper

KEYS = {
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
PAPER = make_paper(**KEYS)
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
TABLE_KEYS = {"id": "tables", "title": "Which?", "study": "grid", "algorithm": "rfdpp_gini", "repeats": 4}
TABLE_KEYS |= {
    "params": {"leaf": ["noisy_counts", "exact"], "n_estimators": [5]},
    "protocol": {"evaluate_on": ["test", "train"]},
}
SETTING_KEYS = {"id": "settings", "title": "Which?", "table": "s", "repeats": 4}
ORDERING_KEYS = {"id": "orderings", "title": "Which?", "claims": ["above", "below"], "algorithm": "rdt", "repeats": 4}
ORDERING_KEYS |= {"params": {"n_estimators": [2, 3]}}
TABLES, SETTINGS, ORDERINGS = (parse_question(keys) for keys in (TABLE_KEYS, SETTING_KEYS, ORDERING_KEYS))


def results(readings, value, privacy=None):
    """A long table in which ``value(cell)`` is the accuracy of every cell, and a text its privacy."""
    cells = {cell.key: cell for reading in readings for cell in reading.list_cells()}
    rows = [
        {"key": key, "status": "done", "accuracy": value(cell), "privacy": json.dumps(privacy) if privacy else ""}
        for key, cell in cells.items()
    ]
    return pd.DataFrame(rows)


def test_every_product_of_parameters_and_protocols_is_a_reading():
    readings = make_readings(PAPER, TABLES, NUMBERS)
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
    readings, rng = make_readings(PAPER, TABLES, NUMBERS), np.random.default_rng(0)

    def value(cell):
        truth = 0.70 if cell.params["max_depth"] == 2 else 0.80
        is_right = cell.params["leaf"] == "exact" and cell.protocol["evaluate_on"] == "train"
        return truth + (0 if is_right else 0.05) + rng.normal(0, 0.001)

    privacy = {"claimed_epsilon": 0.5, "accounted_epsilon": "inf", "noisy_epsilon": 1.5}
    rows = rank_readings(TABLES, readings, results(readings, value, privacy))
    assert rows["reading"].iloc[0] == "leaf = exact, n_estimators = 5, evaluate_on = train"
    assert rows["rank"].tolist() == [1, 2, 3, 4] and rows["as_good"].tolist() == [True, False, False, False]
    assert rows["distance"].tolist() == pytest.approx([0.05, 5, 5, 5], abs=0.15), "points, root mean square"
    assert rows["times_label"].tolist() == [3.0] * 4 and rows["unpaid"].all()
    text = describe_ranking(rows)
    assert "; 3 are farther off; its noisy steps cost 3 × the ε of the label; other steps have no noise at all" in text


def test_a_noisy_reading_with_the_right_means_is_nearer_than_a_quiet_wrong_one():
    readings, sign = make_readings(PAPER, TABLES, NUMBERS), [1, -1, 1, -1]

    def value(cell):
        truth = 0.70 if cell.params["max_depth"] == 2 else 0.80
        return truth + (0.06 * sign[cell.repeat] if cell.params["leaf"] == "exact" else 0.03)

    rows = rank_readings(TABLES, readings, results(readings, value))
    assert rows["reading"].iloc[0].startswith("leaf = exact") and rows["distance"].iloc[0] == pytest.approx(0)


def test_an_undefined_mean_has_no_distance():
    readings = make_readings(PAPER, TABLES, NUMBERS)
    table = results(readings, lambda cell: math.nan if cell.params["leaf"] == "exact" else 0.75)
    rows = rank_readings(TABLES, readings, table)
    assert rows["distance"].notna().tolist() == [True, True, False, False]
    assert rows["from_best"].iloc[1] == 0 and "2 could not be compared" in describe_ranking(rows)


def test_a_cost_is_that_of_the_algorithm_that_is_read():
    readings = make_readings(PAPER, ORDERINGS, NUMBERS)
    table = results(readings, lambda cell: 0.5)
    algorithm = {cell.key: cell.algorithm for reading in readings for cell in reading.list_cells()}
    costs = {"rdt": 2.0, "rfdpp_gini": 9.0}
    table["privacy"] = [
        json.dumps({"claimed_epsilon": 1.0, "accounted_epsilon": 9.0, "noisy_epsilon": costs[algorithm[key]]})
        for key in table["key"]
    ]
    assert rank_readings(ORDERINGS, readings, table)["times_label"].tolist() == [2.0, 2.0]


def test_readings_that_cannot_be_told_apart_are_as_good():
    readings, rng = make_readings(PAPER, TABLES, NUMBERS), np.random.default_rng(1)
    rows = rank_readings(TABLES, readings, results(readings, lambda cell: 0.75 + rng.normal(0, 0.05)))
    assert rows["as_good"].sum() > 1 and "more are as good" in describe_ranking(rows)
    assert (rows["low"] <= rows["from_best"]).all() and rows["from_best"].is_monotonic_increasing


def test_a_reading_without_all_its_cells_has_no_distance_and_stands_last():
    readings = make_readings(PAPER, TABLES, NUMBERS)
    table = results(readings, lambda cell: 0.75)
    gone = readings[0].targets[0].cells[0].key
    rows = rank_readings(TABLES, readings, table[table["key"] != gone])
    assert rows["reading"].iloc[-1] == readings[0].words and math.isnan(rows["distance"].iloc[-1])
    assert (rows["n"].iloc[-1], rows["n_expected"].iloc[-1]) == (7, 8)
    nothing = rank_readings(TABLES, readings, table.assign(status="failed"))
    assert describe_ranking(nothing).startswith("INCOMPLETE")


def test_numbers_without_a_setting_are_asked_of_every_setting_that_all_share():
    readings = make_readings(PAPER, SETTINGS, NUMBERS)
    assert len(readings) == 8 and readings[0].words == "grid, car, max_depth = 2, epsilon = 0.5"
    assert [target.printed for target in readings[0].targets] == [0.6, 0.5], "what is not implemented is left out"

    def value(cell):
        right = cell.dataset == "nursery" and cell.params["max_depth"] == 3 and math.isinf(cell.epsilon)
        return (0.6 if cell.algorithm == "rfdpp_gini" else 0.5) if right else 0.9

    rows = rank_readings(SETTINGS, readings, results(readings, value))
    assert rows["reading"].iloc[0] == "grid, nursery, max_depth = 3, no noise"
    assert rows["distance"].iloc[0] == pytest.approx(0)
    assert rows["distance"].iloc[1] == pytest.approx(100 * math.sqrt((0.3**2 + 0.4**2) / 2))


def test_orderings_are_counted_in_the_direction_that_is_claimed():
    readings = make_readings(PAPER, ORDERINGS, NUMBERS)
    assert [len(one.targets) for one in readings] == [12, 12], "eight groups of one claim, four of the other"
    # with two trees RDT is always below, so that "above" holds in all its groups and "below" in none
    table = results(readings, lambda cell: 0.5 if cell.algorithm == "rfdpp_gini" else 0.2 * cell.params["n_estimators"])
    rows = rank_readings(ORDERINGS, readings, table)
    assert rows["reading"].tolist() == ["n_estimators = 2", "n_estimators = 3"]
    assert rows["distance"].tolist() == pytest.approx([4 / 12, 8 / 12])
    assert "33% of the orderings off" in describe_ranking(rows)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (TABLES.replaced(algorithm="rdt"), "readings 'tables': the paper prints nothing that they could explain"),
        (TABLES.replaced(study="gird"), "readings 'tables': the paper prints nothing that they could explain"),
        (SETTINGS.replaced(table="t"), "readings 'settings': 't' is no table of kind span"),
        (SETTINGS.replaced(table="u"), "readings 'settings': 'u' is no table of kind span"),
        (ORDERINGS.replaced(claims=("abov",)), "readings 'orderings': there is no claim 'abov' of kind above or below"),
    ],
)
def test_a_question_that_cannot_be_meant_is_refused(question, message):
    with pytest.raises(PaperError, match=message):
        make_readings(PAPER, question, NUMBERS)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (
            {key: value for key, value in TABLE_KEYS.items() if key != "params"},
            "readings.0: the key 'params' is missing",
        ),
        (TABLE_KEYS | {"param": {}}, "readings.0: unknown key 'param'; did you mean 'params'"),
        (SETTING_KEYS | {"protocol": {}}, "readings.0: unknown key 'protocol'"),
        (ORDERING_KEYS | {"repeats": 0}, "readings.0.repeats: input should be greater than or equal to 1, got 0"),
    ],
)
def test_a_question_that_lacks_a_key_or_has_a_wrong_one_is_refused(question, message):
    with pytest.raises(DocumentError, match=message):
        make_paper(**KEYS, readings=[question])


@pytest.mark.parametrize("name", [name for name in list_papers() if read_paper(name).readings])
def test_the_readings_of_every_paper_can_be_asked(name):
    paper = read_paper(name)
    reported = read_numbers_of(paper)
    for question in paper.readings:
        readings = make_readings(paper, question, reported)
        assert len({reading.words for reading in readings}) == len(readings) > 1
        assert len({len(reading.targets) for reading in readings}) == 1


def test_the_ranking_is_written_and_drawn(tmp_path):
    readings, rng = make_readings(PAPER, TABLES, NUMBERS), np.random.default_rng(0)
    rows = rank_readings(TABLES, readings, results(readings, lambda cell: rng.normal(0.75, 0.01)))
    paper = make_paper(**KEYS, readings=[TABLE_KEYS])
    paths = write_rankings(paper, [rows], tmp_path)
    assert [path.name for path in paths] == ["readings.csv", "readings-tables.png"]
    assert pd.read_csv(paths[0])["distance"].tolist() == pytest.approx(rows["distance"].tolist())
    before = (tmp_path / "figures" / "readings-tables.svg").read_bytes()
    write_rankings(paper, [rows], tmp_path)
    assert (tmp_path / "figures" / "readings-tables.svg").read_bytes() == before


def test_a_paper_without_readings_says_so(capsys):
    assert exit_code("do=readings", "paper=3") == 2
    assert "paper 3 has no readings" in capsys.readouterr().err


def test_the_command_runs_the_readings_and_ranks_them(tmp_path, monkeypatch, capsys):
    question = TABLE_KEYS | {"repeats": 2, "params": {"n_estimators": [1]}}
    monkeypatch.setattr(readings_command, "read_paper", lambda name: make_paper(**KEYS, readings=[question]))
    monkeypatch.setattr(readings_command, "read_numbers_of", lambda paper: NUMBERS)
    assert exit_code("do=readings", "paper=2", f"results={tmp_path}", "executor.jobs=1") == 0
    ranking = pd.read_csv(tmp_path / "paper-2" / "readings.csv")
    assert len(ranking) == 2 and ranking["n"].tolist() == ranking["n_expected"].tolist()
    stderr = capsys.readouterr().err
    assert f"  {tmp_path / 'paper-2' / 'readings.csv'}" in stderr and "Which?: " in stderr
