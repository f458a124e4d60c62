"""The store as a Parquet file and in MLflow's layout: the same cells, the same digits."""

import math
import re

import duckdb
import pytest
import yaml

from experiments.cells.cell import Cell
from experiments.store.database import Store
from experiments.store.exports import mlruns, parquet
from experiments.store.record import Measured, Record
from tests.command_line import exit_code

CELLS = [Cell("car", "majority", {"strategy": "prior"}, epsilon, r) for epsilon in (0.1, math.inf) for r in range(3)]


def test_what_is_in_the_store_is_in_the_file(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(parquet, "_BATCH", 4)
    with Store(tmp_path / "store.sqlite") as store:
        for i, cell in enumerate(CELLS):
            store.put(cell, Record("done", Measured({"accuracy": 1 / (i + 3), "recall_acc": math.nan}, 0.5)))
        store.put(Cell("ccpp", "fm", {}, 1.0, 0), Record("failed", error="no"))
    assert exit_code("do=export", f"results={tmp_path}") == 0
    assert "7 cells" in capsys.readouterr().err
    frame = duckdb.read_parquet(str(tmp_path / "cells.parquet")).df().set_index("key")
    for i, cell in enumerate(CELLS):
        row = frame.loc[cell.key]
        assert (row["accuracy"], row["epsilon"], row["repeat"]) == (1 / (i + 3), cell.epsilon, cell.repeat)
        assert row["params"] == '{"strategy":"prior"}' and math.isnan(row["r2"]) and row["status"] == "done"
    means = frame.groupby(["dataset", "epsilon"], observed=True)["accuracy"].mean()
    assert means["car", 0.1] == pytest.approx((1 / 3 + 1 / 4 + 1 / 5) / 3)
    (failed,) = frame[frame["status"] == "failed"].to_dict("records")
    assert failed["error"] == "no" and math.isnan(failed["fit_seconds"])


def test_a_quote_may_stand_in_the_name_of_a_file(tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        store.put(CELLS[0], Record("done", Measured({"accuracy": 0.5}, 0.5)))
        assert parquet.write_parquet(store, tmp_path / "today's.parquet") == (1, 0)
    assert (tmp_path / "today's.parquet").is_file()


def test_what_cannot_be_written_or_read_is_one_line(tmp_path, capsys):
    assert exit_code("do=export", f"results={tmp_path / 'nowhere'}") == 2
    assert "nothing has run with results=" in capsys.readouterr().err
    with Store(tmp_path / "store.sqlite"):
        pass
    assert exit_code("do=export", f"file={tmp_path / 'no' / 'cells.parquet'}", f"results={tmp_path}") == 2
    assert re.search(r"cannot be written .*choose another file", capsys.readouterr().err)


def test_runs_stand_where_mlflow_looks_for_them(tmp_path, capsys):
    with Store(tmp_path / "store.sqlite") as store:
        for cell in CELLS:
            store.put(cell, Record("done", Measured({"accuracy": 0.1 + cell.repeat, "recall_>50K": math.nan}, 0.5)))
        store.put(Cell("ccpp", "fm", {}, 1.0, 0), Record("failed", error="no"))
    (tmp_path / "mlruns" / "0").mkdir(parents=True)
    for _ in range(2):  # a second time over the first
        assert exit_code("do=export", f"results={tmp_path}", f"mlruns={tmp_path / 'mlruns'}") == 0
        assert "7 cells" in capsys.readouterr().err
    assert {path.name for path in tmp_path.glob("*")} == {"store.sqlite", "mlruns"}
    car, ccpp = (tmp_path / "mlruns" / mlruns.number_experiment(name) for name in ("car", "ccpp"))
    assert {path.name for path in (tmp_path / "mlruns").iterdir()} == {"0", car.name, ccpp.name}
    assert yaml.safe_load((car / "meta.yaml").read_text())["name"] == "car"
    for cell in CELLS:
        run = car / cell.key[:32]
        meta = yaml.safe_load((run / "meta.yaml").read_text())
        assert (meta["run_id"], meta["experiment_id"], meta["status"]) == (run.name, car.name, 3)
        assert meta["end_time"] - meta["start_time"] == 500 and meta["artifact_uri"].endswith(f"/{run.name}/artifacts")
        params = {path.name: path.read_text() for path in (run / "params").iterdir()}
        assert params == {
            "dataset": "car",
            "algorithm": "majority",
            "epsilon": str(cell.epsilon),
            "params.strategy": "prior",
            "repeat": str(cell.repeat),
        }
        metrics = {path.name: path.read_text().split() for path in (run / "metrics").iterdir()}
        assert {name: float(line[1]) for name, line in metrics.items()} == pytest.approx(
            {"accuracy": 0.1 + cell.repeat, "recall__3e_50K": math.nan, "fit_seconds": 0.5}, rel=0, abs=0, nan_ok=True
        )
        assert all(line[::2] == [str(meta["start_time"]), "0"] for line in metrics.values())
    (failed,) = ccpp.glob("*/")
    assert yaml.safe_load((failed / "meta.yaml").read_text())["status"] == 4
    assert (failed / "tags" / "error").read_text() == "no" and not list((failed / "metrics").iterdir())


def test_a_file_is_no_folder_of_runs(tmp_path, capsys):
    with Store(tmp_path / "store.sqlite"):
        pass
    assert exit_code("do=export", f"results={tmp_path}", f"mlruns={tmp_path / 'store.sqlite'}") == 2
    assert "is a file: give a folder" in capsys.readouterr().err
