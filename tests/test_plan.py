"""What ``dry_run=true`` says: how many cells, which of them are done, and how long the others may take."""

from dataclasses import replace

from experiments.cells.grid import expand_grid
from experiments.run import dry_run
from experiments.run.executors.executor import Executor
from experiments.store.database import Store
from experiments.store.record import Measured, Record


def cells_of(*algorithms):
    values = {"dataset": ["car"], "algorithm": list(algorithms), "epsilon": [0.1, 1.0]}
    return [cell for setting in expand_grid(values, repeats=3) for cell in setting]


def test_without_a_store_everything_is_to_run_and_no_time_is_made_up(tmp_path):
    lines = dry_run.describe_plan(cells_of("majority"), tmp_path / "store.sqlite", Executor(jobs=1)).splitlines()
    assert lines[1].split() == ["car", "majority", "6", "6", "unknown"]
    assert lines[2].endswith(
        "6 cells: 0 in " + str(tmp_path / "store.sqlite") + ", 6 to run; 6 are of a kind that never ran here: no guess"
    )
    assert not (tmp_path / "store.sqlite").exists(), "a plan leaves nothing behind"


def test_the_time_follows_from_what_cells_of_the_same_kind_took(tmp_path):
    asked = cells_of("majority", "nothing")
    with Store(tmp_path / "store.sqlite") as store:
        for cell, seconds in zip(asked[:2], (10, 20), strict=True):
            store.put(cell, Record("done", Measured({"accuracy": 0.5}, 1.0, seconds=seconds)))
        store.put(asked[2], Record("failed", error="no"))
        store.put(replace(asked[0], params={"strategy": "prior"}), Record("done", Measured({}, 1.0, seconds=30)))
    said = dry_run.describe_plan(asked + asked, tmp_path / "store.sqlite", Executor(jobs=2)).splitlines()
    assert [line.split() for line in said[1:3]] == [
        ["car", "majority", "6", "4", "20"],
        ["car", "nothing", "6", "6", "unknown"],
    ]
    assert "12 cells: 2 in" in said[3] and "4 of them in about 40.0 s, 2 at once; 6 are of a kind" in said[3]


def test_a_few_cells_that_are_known_to_be_quick_start_no_processes(tmp_path):
    path, asked = tmp_path / "store.sqlite", cells_of("majority")
    assert dry_run.spare_processes(asked, path, Executor()) == Executor(), "nothing is known of these"
    with Store(path) as store:
        store.put(asked[0], Record("done", Measured({"accuracy": 0.5}, 1.0, seconds=0.3)))
    assert dry_run.spare_processes(asked, path, Executor()) == Executor(jobs=1), "1.5 seconds are left"
    for chosen in (Executor(jobs=2), Executor("threading"), Executor(time_limit=9)):
        assert dry_run.spare_processes(asked, path, chosen) == chosen
    assert dry_run.spare_processes(cells_of("majority", "nothing"), path, Executor()) == Executor(), "of a kind unknown"
    (many,) = expand_grid({"dataset": ["car"], "algorithm": ["majority"], "epsilon": [1.0]}, repeats=21)
    assert dry_run.spare_processes(many, path, Executor()) == Executor()
    with Store(path) as store:
        store.put(asked[1], Record("done", Measured({"accuracy": 0.5}, 1.0, seconds=3.0)))
    assert dry_run.spare_processes(asked, path, Executor()) == Executor(), "four cells of 1.65 seconds"
