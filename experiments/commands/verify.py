"""Does it matter where and in which order cells are run? ``make verify PAPER=2`` runs a paper in six ways and compares.

One job, two jobs, cells in another order, threads, a Dask cluster, and a run that is killed with ``kill -9`` and taken
up again: ``cells.csv``, which holds every digit of every cell, must have the same bytes each time.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from time import monotonic, sleep

from experiments.cells import study_cells
from experiments.cells.cell import Cell
from experiments.commands.common import ROOT, exit_with
from experiments.config.papers import paper_names, paper_of
from experiments.run.executors import Executor
from experiments.run.runner import run_cells
from experiments.store.database import Store
from experiments.store.long_table import format_cells_csv, long_table

Studies = Mapping[str, list[Cell]]


def digests(studies: Studies, ways: Mapping[str, Callable[[Studies, Path], None]]) -> dict[str, str]:
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
    found = {}
    for name, fill in ways.items():
        started = monotonic()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "store.sqlite"
            fill(studies, path)
            found[name] = hashlib.sha256(_cells_csv(studies, path).encode()).hexdigest()
        print(f"{name}: {found[name][:16]}  ({monotonic() - started:.0f} s)", file=sys.stderr)
    return found


def ways(name: str, repeats: int) -> dict[str, Callable[[Studies, Path], None]]:
    """Return the ways in which a paper is run."""
    return {
        "one job": partial(_run, where=Executor(jobs=1)),
        "two jobs": partial(_run, where=Executor(jobs=2)),
        "two jobs, in another order": partial(_run, where=Executor(jobs=2), is_shuffled=True),
        "two threads": partial(_run, where=Executor("threading", 2)),
        "two Dask workers": partial(_run, where=Executor("dask", 2)),
        "two jobs, killed and taken up": partial(_kill_and_run, name=name, repeats=repeats),
    }


def _run(studies: Studies, path: Path, where: Executor, is_shuffled: bool = False) -> None:
    cells = [cell for found in studies.values() for cell in found]
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
    n = len({cell.key for found in studies.values() for cell in found})
    while process.poll() is None and _finished(path) < n / 3:
        sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    print(f"  killed with {_finished(path)} of {n} cells in the store", file=sys.stderr)
    _run(studies, path, Executor(jobs=2))


def _finished(path: Path) -> int:
    if not path.exists():
        return 0
    with Store(path) as store:
        return len(store.done())


def _cells_csv(studies: Studies, path: Path) -> str:
    with Store(path) as store:
        records = store.get({cell.key for found in studies.values() for cell in found})
    return format_cells_csv(long_table(studies, records))


def command(arguments: list[str]) -> int:
    """Verify a paper; returns the exit code: 0 the same bytes, 1 not."""
    parser = argparse.ArgumentParser("python -m experiments.commands.verify", description=__doc__.splitlines()[0])
    parser.add_argument("paper", nargs="?", default="2", choices=paper_names(), help="number of a paper")
    parser.add_argument("--repeats", type=int, default=1, help="of every setting")
    asked = parser.parse_args(arguments)
    paper = paper_of(asked.paper) | {"repeats": asked.repeats}
    studies = study_cells.cells_of_studies(paper)
    found = digests(studies, ways(asked.paper, asked.repeats))
    differing = [way for way, digest in found.items() if digest != found["one job"]]
    n = sum(map(len, studies.values()))
    if differing:
        print(f"cells.csv of paper {asked.paper} differs from that of one job: {', '.join(differing)}")
        return 1
    print(f"cells.csv of paper {asked.paper}, {n} cells, has the same bytes in all {len(found)} ways")
    return 0


if __name__ == "__main__":
    exit_with(command)
