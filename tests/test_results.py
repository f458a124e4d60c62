"""``results``: what the store has, filtered as it is asked for; nothing that is left out is left out in silence."""

import csv
import io
import json

import numpy as np
import pytest

import dp_replica as dr
from experiments.stats import mean_interval
from experiments.store.database import Store
from tests.command_line import exit_code


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A store with cells of three data sets, one of them of numbers, and some that failed."""
    path = tmp_path_factory.mktemp("results")
    dr.run("car", "rdt", [0.1, 1.0], params={"max_depth": [2, 4]}, repeats=3, jobs=1, results=path)
    dr.run("car", "majority", params={"strategy": "constant"}, repeats=2, jobs=1, results=path)
    dr.run("nursery", "majority", repeats=2, jobs=1, results=path)
    return path


def ask(capfd, folder, *words):
    code = exit_code("results", f"results={folder}", *words)
    printed = capfd.readouterr()
    return code, printed.out, printed.err


def ask_rows(capfd, folder, *words):
    code, out, err = ask(capfd, folder, "output=csv", *words)
    assert code == 0, err
    return list(csv.DictReader(io.StringIO(out)))


def test_the_rows_are_those_of_the_settings(capfd, folder):
    rows = ask_rows(capfd, folder, "dataset=car", "algorithm=rdt", "epsilon=1", "algorithm.max_depth=4")
    assert [(row["epsilon"], row["params.max_depth"], row["metric"]) for row in rows] == [
        ("1.0", "4.0", "accuracy")
    ] * 3
    frame = dr.load_results(folder)
    wanted = frame[(frame["metric"] == "accuracy") & (frame["epsilon"] == 1) & (frame["params.max_depth"] == 4)]
    assert [float(row["value"]) for row in rows] == list(wanted["value"])
    several = ask_rows(capfd, folder, "dataset=car,nursery", "epsilon=0.1,1", "metrics=accuracy,recall_acc")
    assert {row["dataset"] for row in several} == {"car", "nursery"} and {row["metric"] for row in several} >= {
        "recall_acc"
    }


def test_json_has_the_same_rows(capfd, folder):
    rows = ask_rows(capfd, folder, "dataset=car", "algorithm=rdt")
    _, out, _ = ask(capfd, folder, "output=json", "dataset=car", "algorithm=rdt")
    lines = list(map(json.loads, out.splitlines()))
    assert [line["value"] for line in lines] == [float(row["value"]) for row in rows] and "version" not in lines[0]


def test_the_table_has_the_mean_of_each_setting(capfd, folder):
    _, out, _ = ask(capfd, folder, "output=table", "algorithm=rdt")
    frame = dr.load_results(folder).query("algorithm == 'rdt' and metric == 'accuracy'")
    for (epsilon, depth), group in frame.groupby(["epsilon", "params.max_depth"]):
        interval = mean_interval(group["value"])
        line = next(line for line in out.splitlines() if line.split()[:2] == [f"{epsilon:g}", f"{depth:g}"])
        shown = [f"{100 * interval.center:.2f}", f"{100 * (interval.high - interval.center):.2f}"]
        assert line.split()[2:] == ["accuracy", "3", *shown]
    assert out.splitlines()[0].startswith("car, rdt")


def test_what_failed_is_counted(capfd, folder):
    rows = ask_rows(capfd, folder, "status=failed")
    assert len(rows) == 2 and all("constant" in row["error"] for row in rows)
    _, out, _ = ask(capfd, folder, "output=table", "dataset=car", "algorithm=majority")
    assert "—" in out and " 0       2" in out


def test_cells_of_other_code_are_named_and_left_out(capfd, folder, monkeypatch, tmp_path):
    (tmp_path / "store.sqlite").write_bytes((folder / "store.sqlite").read_bytes())
    monkeypatch.setattr("experiments.cells.current.StoredSetting.is_current", lambda *_: False)
    code, out, err = ask(capfd, tmp_path, "dataset=nursery", "output=csv")
    assert (code, out) == (1, "") and "2 cells of other code, data or libraries are left out" in err
    rows = ask_rows(capfd, tmp_path, "dataset=nursery", "outdated=true")
    assert len(rows) == 2 and rows[0]["current"] == "False" and rows[0]["version"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["algorithm.max_deph=4"], "no stored cell has algorithm.max_deph; did you mean 'algorithm.max_depth'?"),
        (["status=fail"], "status must be done or failed; did you mean 'failed'?"),
        (["output=tabel"], "output must be table, json or csv; did you mean 'table'?"),
        (["dataset=carr"], "unknown dataset 'carr'; did you mean 'car'?"),
        (["epsilon=none"], "epsilon"),
    ],
)
def test_bad_input_is_refused_in_a_line(capfd, folder, words, message):
    code, out, err = ask(capfd, folder, *words)
    assert (code, out) == (2, "") and message in err and len(err.splitlines()) == 1


def test_nothing_of_the_kind_is_no_success(capfd, folder):
    assert ask(capfd, folder, "dataset=adult")[::2] == (1, "the store has no cell of these settings\n")
    code, _, err = ask(capfd, folder / "none")
    assert code == 2 and "nothing has run" in err


@pytest.mark.long
def test_a_store_of_many_cells_is_read_column_by_column(tmp_path):
    """40,000 cells of 200 settings, which no loop over cells and metrics with a table for each would read in time."""
    from experiments.cells.cell import Cell
    from experiments.store.record import Measured, Record

    rng = np.random.default_rng(0)
    with Store(tmp_path / "store.sqlite") as store:
        for first in (Cell("car", "majority", {"constant": str(i)}, 1.0, 0) for i in range(200)):
            for cell in first.repeats(range(200)):
                store.put(cell, Record("done", Measured({"accuracy": rng.random(), "recall_acc": 0.5}, 0.1)))
    frame = dr.load_results(tmp_path)
    assert len(frame) == 80_000 and frame["params.constant"].nunique() == 200
    assert frame.query("metric == 'recall_acc'")["value"].eq(0.5).all()
