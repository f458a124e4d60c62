"""Runs that are really killed, starved and crowded: what is finished stays, and nothing is run twice."""

import json
import os
import random
import resource
import signal
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from experiments.cells.grid import expand_grid
from experiments.run.executors.executor import Executor
from experiments.run.runner import run_cells
from experiments.store.database import Store, StoreError
from tests.waiting import wait_for
from tests.worker_processes import find_workers, is_running

ROOT = Path(__file__).resolve().parents[1]
ON_LINUX = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")


@pytest.fixture
def start(commands):
    """Start a sweep; returns its process."""

    def start(results, *words):
        return commands.start_module("experiments", "-m", f"results={results}", *words)

    return start


def finished(results):
    """Return how many cells the store has; waits for whoever is writing."""
    path = results / "store.sqlite"
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path, timeout=30)) as connection:
        is_there = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        return connection.execute("SELECT count(*) FROM cells WHERE status = 'done'").fetchone()[0] if is_there else 0


def killed_and_resumed(start, results, n_kills, words):
    """Kill a sweep several times at random moments, then let it end; returns what the last run said.

    Workers end with what started them: nobody could tell them to.
    """
    rng, n_workers = random.Random(0), 0
    for _ in range(n_kills):
        before = finished(results)
        process = start(results, *words)
        wait_for(lambda: finished(results) > before or process.poll())  # noqa: B023 - called at once
        time.sleep(rng.uniform(0, 0.2))
        workers = find_workers(process.pid)
        process.send_signal(signal.SIGKILL)
        process.wait()
        wait_for(lambda: not any(map(is_running, workers)))  # noqa: B023 - called at once
        n_workers += len(workers)
    assert n_workers or sys.platform != "linux"
    kept = finished(results)
    last = start(results, *words).wait()
    assert last.returncode == 0, last.stderr
    return kept, last.stdout, last.stderr


def swept(n_cells, n_trees):
    forest = ["algorithm=random_forest", f"algorithm.n_estimators={n_trees}"]
    return ["dataset=car", *forest, f"repeats={n_cells}", "executor.jobs=2"]


def check_survival(start, tmp_path, n_kills, n, n_trees):
    kept, stdout, stderr = killed_and_resumed(start, tmp_path / "killed", n_kills, swept(n, n_trees))
    assert 0 < kept <= n
    assert f"{kept} cells reused from the store, {n - kept} to run" in stderr
    with closing(sqlite3.connect(tmp_path / "killed" / "store.sqlite")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("SELECT count(*), count(DISTINCT key) FROM cells").fetchone() == (n, n)
    quiet = start(tmp_path / "quiet", *swept(n, n_trees), "executor.jobs=1")
    assert without_times(quiet.wait().stdout) == without_times(stdout)


def without_times(lines):
    return [one for one in map(json.loads, lines.splitlines()) if one["metric"] != "fit_seconds"]


@pytest.mark.system
def test_a_sweep_that_is_killed_again_and_again_ends_with_every_cell_once(start, tmp_path):
    check_survival(start, tmp_path, n_kills=2, n=350, n_trees=2)


@pytest.mark.slow
def test_a_large_sweep_that_is_killed_ten_times_ends_with_every_cell_once(start, tmp_path):
    check_survival(start, tmp_path, n_kills=10, n=2000, n_trees=10)


@pytest.mark.system
@ON_LINUX
@pytest.mark.parametrize("how_many", [1, 2])
def test_killed_workers_are_replaced(start, tmp_path, how_many):
    forests = ("algorithm=random_forest", "algorithm.n_estimators=40")
    process = start(tmp_path, "dataset=car", *forests, "repeats=30", "executor.jobs=2")
    wait_for(lambda: finished(tmp_path) and len(find_workers(process.pid)) == 2)
    for worker in find_workers(process.pid)[:how_many]:
        os.kill(worker, signal.SIGKILL)
    done = process.wait()
    assert done.returncode == 0, done.stderr
    assert finished(tmp_path) == 30


def test_a_full_disk_is_said_and_what_was_written_stays(tmp_path):
    """The limit on the size of a file stands in for a disk that is full: SQLite is told the same."""
    store = Store(tmp_path / "store.sqlite")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
        with pytest.raises(StoreError, match="free space on the disk, or choose another with results=FOLDER"):
            run_cells([cell for setting in _many() for cell in setting], store, Executor(jobs=1))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    store.close()
    kept = finished(tmp_path)
    assert kept > 0
    with Store(tmp_path / "store.sqlite") as store:
        outcome = run_cells([cell for setting in _many() for cell in setting], store, Executor(jobs=1))
    assert outcome.reused == kept and outcome.failures == []


def _many():
    return expand_grid({"dataset": ["car"], "algorithm": ["nothing"], "epsilon": [1.0]}, repeats=1500)


@pytest.mark.system
@ON_LINUX
def test_a_second_run_says_who_holds_the_store_and_waits(start, tmp_path):
    words = ["dataset=car", "algorithm=random_forest", "repeats=25", "executor.jobs=1"]
    first = start(tmp_path, *words)
    wait_for(lambda: finished(tmp_path))
    first.send_signal(signal.SIGSTOP)  # however long the second takes to start
    second = start(tmp_path, *words)
    try:
        wait_for(second.read_stderr)
    finally:
        first.send_signal(signal.SIGCONT)
    said = second.wait().stderr
    assert first.wait().returncode == second.wait().returncode == 0
    assert f"store.sqlite is held by process {first.pid} on" in said and "waiting for it to end" in said
    assert "25 cells reused from the store, 0 to run" in said, "nothing is computed twice"
