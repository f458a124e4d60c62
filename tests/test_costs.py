"""What a fit takes: measured in a process of its own, and shown on the page of a paper."""

import math

import numpy as np
import pandas as pd
import pytest

import datasets
from experiments.cells.cell import Cell
from experiments.run.splits import split_rows
from experiments.speed import costs
from plots.pages.paper_results import list_costs, publish_paper
from plots.runs.paper_run import PaperRun
from plots.runs.run_folder import KEPT
from tests.command_line import exit_code
from tests.papers import ask, make_paper

STUDIES = {
    "small": {"dataset": ["car", "congvote"], "algorithm": ["majority", "rdt"], "epsilon": [0.1, 2.0, 5.0]},
    "large": {"dataset": ["nursery", "car"], "algorithm": "majority"},
}


def test_each_algorithm_is_fitted_on_the_largest_set_of_each_of_its_studies_near_epsilon_one():
    cells = costs.list_largest(make_paper(studies=STUDIES))
    assert [(cell.dataset, cell.algorithm, cell.epsilon) for cell in cells] == [
        ("car", "majority", 0.1),
        ("car", "rdt", 0.1),
        ("nursery", "majority", math.inf),
    ]


@pytest.mark.long
def test_a_fit_is_measured_in_a_process_of_its_own(monkeypatch, capsys):
    found = costs.measure_costs(make_paper(studies={"large": STUDIES["large"]}))
    assert found[["dataset", "algorithm", "rows"]].values.tolist() == [["nursery", "majority", 9072]]
    assert 0 < found["seconds"][0] < 60 and 20 < found["megabytes"][0] < 4000
    assert "nursery" in capsys.readouterr().err


def test_the_peak_is_that_of_what_is_held_at_once():
    before = costs.measure_peak()
    held = np.ones(25_000_000)  # 200 MB
    assert costs.measure_peak() - before > 100
    del held


def test_the_rows_are_those_that_a_cell_is_trained_on():
    cell = Cell("car", "majority", {}, math.inf, 0)
    train, _ = split_rows(datasets.load("car"), 0, cell.protocol)
    measured = costs.measure_here(cell)
    assert measured["rows"] == len(train) and measured["seconds"] > 0


@pytest.mark.parametrize("is_measured", [True, False])
def test_the_page_shows_what_was_measured(tmp_path, is_measured):
    paper = make_paper(studies=STUDIES, labels={"rdt": "RDT"})
    rows = {"dataset": "car", "epsilon": 1.0, "rows": 1210}
    ours = {"algorithm": "rdt", "seconds": 0.5, "megabytes": 300.4}
    floor = {"algorithm": "majority", "seconds": 0.0123, "megabytes": 200.0}
    frame = pd.DataFrame([rows | ours, rows | floor])
    if is_measured:
        frame.to_csv(tmp_path / "costs.csv", index=False)
    publish_paper(paper, ask(paper), pd.DataFrame(), tmp_path)
    run, report = PaperRun.read(tmp_path), (tmp_path / "report.html").read_text(encoding="utf-8")
    assert ("Time and memory" in report) == is_measured
    assert "costs.csv" in KEPT
    if is_measured:
        ((sentence, body),) = list_costs(paper, run.costs)
        assert body == [["majority", "0.0123", "200"], ["RDT", "0.5", "300"]]
        assert sentence.startswith("car, 1,210 training rows, the largest set of its study; ε = 1.")


def test_the_command_asks_for_a_paper_and_writes_beside_it(tmp_path, monkeypatch):
    monkeypatch.setattr("experiments.speed.costs.measure_costs", lambda paper: pd.DataFrame({"dataset": ["car"]}))
    assert exit_code("do=costs", "paper=demo", f"results={tmp_path}") == 0
    assert (tmp_path / "paper-demo" / "costs.csv").read_text() == "dataset\ncar\n"
    assert exit_code("do=costs") == 2
