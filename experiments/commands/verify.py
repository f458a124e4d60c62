"""``do=verify``: does it matter where and in which order cells are run? A paper is run in six ways, which are compared.

One job, two jobs, cells in another order, threads, a Dask cluster, and a run that is killed with ``kill -9`` and taken
up again: ``cells.csv``, which holds every digit of every cell, must have the same bytes each time.
"""

from __future__ import annotations

import hashlib
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from time import monotonic, sleep

from experiments.cells.cell import Cell
from experiments.cells.study_cells import cells_of_studies
from experiments.config.papers import read_paper
from experiments.config.paths import ROOT
from experiments.config.request import SweepRequest
from experiments.run.executors import Executor
from experiments.run.runner import run_cells
from experiments.store.database import Store
from experiments.store.long_table import format_cells_csv, long_table

Studies = Mapping[str, list[Cell]]


def compare_ways(studies: Studies, ways: Mapping[str, Callable[[Studies, Path], None]]) -> dict[str, str]:
    """Run cells in several ways, each into a store of its own; return the SHA-256 of ``cells.csv`` by way.

    Parameters
    ----------
    studies : mapping of str to list of Cell
        What is run.
    ways : mapping of str to callable
        Each takes the studies and the path of a store, and fills it.

    Raises
    ------
    BadInput
        If cells fail: they could not be compared.
    """
    digests = {}
    for name, fill in ways.items():
        started = monotonic()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "store.sqlite"
            fill(studies, path)
            digests[name] = hashlib.sha256(_format_cells(studies, path).encode()).hexdigest()
        print(f"{name}: {digests[name][:16]}  ({monotonic() - started:.0f} s)", file=sys.stderr)
    return digests


def ways_to_run(name: str, repeats: int) -> dict[str, Callable[[Studies, Path], None]]:
    """Return the ways in which a paper is run."""
    return {
        "one job": partial(_run_cells, where=Executor(jobs=1)),
        "two jobs": partial(_run_cells, where=Executor(jobs=2)),
        "two jobs, in another order": partial(_run_cells, where=Executor(jobs=2), is_shuffled=True),
        "two threads": partial(_run_cells, where=Executor("threading", 2)),
        "two Dask workers": partial(_run_cells, where=Executor("dask", 2)),
        "two jobs, killed and taken up": partial(_kill_and_run, name=name, repeats=repeats),
    }


def _run_cells(studies: Studies, path: Path, where: Executor, is_shuffled: bool = False) -> None:
    cells = list(chain.from_iterable(studies.values()))
    if is_shuffled:
        random.Random(0).shuffle(cells)
    with Store(path) as store:
        run_cells(cells, store, where)


def _kill_and_run(studies: Studies, path: Path, name: str, repeats: int) -> None:
    """Kill the command in the midst, then let another run take up what is left."""
    words = [f"paper={name}", f"repeats={repeats}", f"results={path.parent}", "executor.jobs=2"]
    process = subprocess.Popen(
        [sys.executable, "-m", "experiments", *words], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    n_cells = len(_list_keys(studies))
    while process.poll() is None and _count_finished(path) < n_cells / 3:
        sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    print(f"  killed with {_count_finished(path)} of {n_cells} cells in the store", file=sys.stderr)
    _run_cells(studies, path, Executor(jobs=2))


def _count_finished(path: Path) -> int:
    if not path.exists():
        return 0
    with Store(path) as store:
        return len(store.done())


def _format_cells(studies: Studies, path: Path) -> str:
    with Store(path) as store:
        records = store.get(_list_keys(studies))
    return format_cells_csv(long_table(studies, records))


def _list_keys(studies: Studies) -> set[str]:
    return {cell.key for cell in chain.from_iterable(studies.values())}


def run_command(request: SweepRequest) -> int:
    """Verify a paper; returns the exit code: 0 the same bytes, 1 not."""
    (name,), repeats = request.list_choices("paper"), request.config["repeats"]
    studies = cells_of_studies(read_paper(name), repeats)
    digests = compare_ways(studies, ways_to_run(name, repeats))
    differing = [way for way, digest in digests.items() if digest != digests["one job"]]
    if differing:
        print(f"cells.csv of paper {name} differs from that of one job: {', '.join(differing)}")
        return 1
    n_cells = sum(map(len, studies.values()))
    print(f"cells.csv of paper {name}, {n_cells} cells, has the same bytes in all {len(digests)} ways")
    return 0
