"""The comparison of ways to run: it finds equal what is equal, and sees one digit that is not."""

import json

import pytest

from experiments.commands import verify
from experiments.run.executors.executor import Executor
from tests.command_line import exit_code
from tests.papers import make_paper


@pytest.fixture
def tiny(tmp_path):
    study = {"dataset": ["car"], "algorithm": ["majority", "nothing"], "epsilon": [1.0]}
    above = {"id": "above", "text": "T", "kind": "above", "study": "tiny", "better": "majority", "worse": "nothing"}
    printed = {"id": "printed", "text": "T", "kind": "printed", "numbers": ["rows"]}
    claims = [above | {"within": [], "metric": "accuracy"}, printed]
    table = {"id": "t", "title": "T", "kind": "grid", "study": "tiny", "rows": "algorithm", "columns": "epsilon"}
    (tmp_path / "printed.csv").write_text(
        "id,table,dataset,algorithm,metric,statistic,value,decimals,source\nrows,t,car,majority,accuracy,mean,0.7,1,T\n"
    )
    parts = {"tables": [table | {"metric": "accuracy"}], "reported": str(tmp_path / "printed.csv")}
    return make_paper(repeats=4, most_repeats=60, studies={"tiny": study}, claims=claims, **parts)


def run(paper, path):
    return verify._run_paper(paper, path, Executor(jobs=1))


def test_equal_runs_are_equal_and_others_are_not(tiny, tmp_path):
    honest = run(tiny, tmp_path / "store.sqlite")
    ways = {
        "one job": lambda *_: honest,
        "again": run,
        "digit": lambda *_: honest.replace(",done", ",done ", 1),
        "shorter": lambda paper, path: run(paper.replaced(most_repeats=4), path),
    }
    found = verify.compare_ways(tiny, ways)
    assert found["one job"] == found["again"]
    assert len(set(found.values())) == 3


def test_what_is_compared_holds_the_cells_of_every_round_and_the_claims(tiny, tmp_path):
    text = run(tiny, tmp_path / "store.sqlite")
    cells, _, claims = text.partition("[{")
    claim, printed = json.loads("[{" + claims)
    assert printed["verdict"] == "reproduced within ± δ"
    assert claim["runs"] > tiny.repeats and claim["verdict"] == "practically equal"
    assert len(cells.splitlines()) == 1 + 2 * claim["runs"]


def test_the_command_names_what_differs(monkeypatch, capsys):
    monkeypatch.setattr(verify, "ways_to_run", lambda _: {"one job": lambda *_: "a", "strange": lambda *_: "b"})
    assert exit_code("do=verify") == 1
    assert "cells and claims of paper 2 differ from those of one job: strange" in capsys.readouterr().out
    monkeypatch.setattr(verify, "ways_to_run", lambda _: {"one job": lambda *_: "a", "shuffled": lambda *_: "a"})
    assert exit_code("do=verify", "paper=3") == 0
    assert "paper 3 have the same bytes in all 2 ways" in capsys.readouterr().out
