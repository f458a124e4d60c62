"""``do=verify``: does it matter where and in which order cells are run? A paper is run in six ways, which are compared.

One job, two jobs, cells in another order, threads, a Dask cluster, and a run that is killed with ``kill -9`` and taken
up again: ``cells.csv``, which holds every digit of every cell, and ``claims.json``, which says how many repeats each
claim took, must have the same bytes each time.
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
from pathlib import Path
from time import monotonic, sleep

from experiments.cells.cell import Cell, format_canonical
from experiments.cells.study_cells import cells_of_studies
from experiments.config.paper import Paper
from experiments.config.papers import load_paper, locate_errors
from experiments.config.study import PaperError
from experiments.errors import BadInput
from experiments.judge.claim_answers import judge_claims
from experiments.judge.number_answers import judge_numbers
from experiments.processes import build_command, make_environment
from experiments.questions.decide import run_until_decided
from experiments.questions.paper_questions import resolve_paper
from experiments.request import SweepRequest
from experiments.run.executors.executor import Executor
from experiments.run.executors.task_runner import TaskRunner
from experiments.run.runner import run_cells
from experiments.store.database import Store
from experiments.store.long_table import format_cells_csv
from experiments.store.record import Record
from experiments.store.results import Results

Way = Callable[[Paper, Path], str]  #: runs a paper with a store of its own, and returns what came out as text


def compare_ways(paper: Paper, ways: Mapping[str, Way]) -> dict[str, str]:
    """Run a paper in several ways, each with a store of its own; return the SHA-256 of what came out by way."""
    digests = {}
    for name, run in ways.items():
        started = monotonic()
        with tempfile.TemporaryDirectory() as folder:
            digests[name] = hashlib.sha256(run(paper, Path(folder) / "store.sqlite").encode()).hexdigest()
        print(f"{name}: {digests[name][:16]}  ({monotonic() - started:.0f} s)", file=sys.stderr)
    return digests


def ways_to_run(name: str) -> dict[str, Way]:
    """Return the ways in which a paper is run."""
    return {
        "one job": partial(_run_paper, where=Executor(jobs=1)),
        "two jobs": partial(_run_paper, where=Executor(jobs=2)),
        "two jobs, in another order": partial(_run_paper, where=Executor(jobs=2), is_shuffled=True),
        "two threads": partial(_run_paper, where=Executor("threading", 2)),
        "two Dask workers": partial(_run_paper, where=Executor("dask", 2)),
        "two jobs, killed and taken up": partial(_kill_and_run, name=name),
    }


def _run_paper(paper: Paper, path: Path, where: Executor, is_shuffled: bool = False) -> str:
    """Run a paper until it is decided; return ``cells.csv`` and the verdicts on its claims."""
    with Store(path) as store, where.keep_cluster() as where:  # whose workers judge, too

        def run(cells: list[Cell], reason: str) -> dict[str, Record]:
            order = random.Random(0).sample(cells, len(cells)) if is_shuffled else cells
            run_cells(order, store, where)
            return store.get({cell.key for cell in cells})

        questions = resolve_paper(paper)
        answer = TaskRunner(where).answer
        table = run_until_decided(questions, run, run_tasks=answer)
        results = Results(table)
        numbers = judge_numbers(questions.numbers, results, run_tasks=answer)
        claims = [answered.model_dump() for answered in judge_claims(questions.claims, results, numbers, answer)]
    return f"{format_cells_csv(table)}{format_canonical(claims)}"


def _kill_and_run(paper: Paper, path: Path, name: str) -> str:
    """Kill the command in the midst of the rounds that follow the first, then let another run take up what is left."""
    words = [f"paper={name}", f"repeats={paper.repeats}", f"most_repeats={paper.most_repeats}"]
    process = subprocess.Popen(
        build_command("experiments", *words, f"results={path.parent}", "executor.jobs=2"),
        env=make_environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    n_first = len({cell.key for cells in cells_of_studies(paper).values() for cell in cells})
    n_wanted = n_first if paper.most_repeats > paper.repeats else n_first / 3
    while process.poll() is None and _count_finished(path) <= n_wanted:
        sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    print(f"  killed with {_count_finished(path)} cells in the store, {n_first} in the first round", file=sys.stderr)
    return _run_paper(paper, path, Executor(jobs=2))


def _count_finished(path: Path) -> int:
    if not path.exists():
        return 0
    with Store(path) as store:
        return len(store.done())


def run_command(request: SweepRequest) -> int:
    """Verify a paper; returns the exit code: 0 the same bytes, 1 not."""
    (name,), config = request.list_choices("paper"), request.config
    paper = load_paper(name, config["repeats"], config["most_repeats"])
    try:
        digests = compare_ways(paper, ways_to_run(name))
    except PaperError as error:  # of the first way, before it has run anything
        raise BadInput(locate_errors(error, name)) from error
    differing = [way for way, digest in digests.items() if digest != digests["one job"]]
    if differing:
        print(f"cells and claims of paper {name} differ from those of one job: {', '.join(differing)}")
        return 1
    print(f"cells and claims of paper {name} have the same bytes in all {len(digests)} ways")
    return 0
