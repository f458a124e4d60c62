"""The comparison of ways to run: it finds equal what is equal, and sees one digit that is not."""

import sqlite3

import pytest

from experiments.cells.study_cells import cells_of_studies
from experiments.commands import verify
from experiments.run.executors import Executor
from experiments.run.runner import run_cells
from experiments.store.database import Store
from tests.command_line import exit_code
from tests.papers import make_paper


@pytest.fixture(scope="module")
def tiny():
    study = {"dataset": ["car"], "algorithm": ["majority", "nothing"], "epsilon": [1.0]}
    return cells_of_studies(make_paper(repeats=4, studies={"tiny": study}))


def honest(asked, path):
    with Store(path) as store:
        run_cells(asked["tiny"], store, Executor(jobs=1))


def off_by_a_digit(asked, path):
    honest(asked, path)
    with sqlite3.connect(path) as connection:
        connection.execute(
            "UPDATE cells SET metrics = replace(metrics, '\"accuracy\":0.', '\"accuracy\":0.0') WHERE repeat = 2"
        )


def without_a_cell(asked, path):
    with Store(path) as store:
        run_cells(asked["tiny"][1:], store, Executor(jobs=1))


def test_equal_runs_are_equal_and_others_are_not(tiny):
    ways = {"one job": honest, "again": honest, "digit": off_by_a_digit, "missing": without_a_cell}
    found = verify.compare_ways(tiny, ways)
    assert found["one job"] == found["again"]
    assert len(set(found.values())) == 3


def test_the_command_names_what_differs(tiny, monkeypatch, capsys):
    monkeypatch.setattr(verify, "cells_of_studies", lambda paper, repeats: tiny)
    monkeypatch.setattr(verify, "ways_to_run", lambda *_: {"one job": honest, "strange": off_by_a_digit})
    assert exit_code("do=verify") == 1
    assert "cells.csv of paper 2 differs from that of one job: strange" in capsys.readouterr().out
    monkeypatch.setattr(verify, "ways_to_run", lambda *_: {"one job": honest, "shuffled": honest})
    assert exit_code("do=verify", "paper=3") == 0
    assert "paper 3, 8 cells, has the same bytes in all 2 ways" in capsys.readouterr().out
