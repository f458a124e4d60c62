"""What a fit takes: seconds and memory of each algorithm of a paper, on the largest data set of each of its studies.

Each algorithm is fitted in a process of its own, one after the other, so that none lends another its memory or its
time. A first fit is not timed. Of a peer the memory is that of its own process, where it fits.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

import datasets
from experiments.cells.cell import Cell
from experiments.cells.study_cells import cells_of_studies
from experiments.config import estimators
from experiments.config.data import explain_missing
from experiments.config.paper import Paper
from experiments.config.protocol import Protocol
from experiments.errors import print_to_stderr
from experiments.processes import ONE_THREAD
from experiments.run.splits import split_rows
from experiments.speed.measurement import read_status, run_apart, time_call

_FITS = 3
_EPSILON = 1.0  #: the ε of the fits, or the nearest that a study has


def measure_costs(paper: Paper) -> pd.DataFrame:
    """Measure what fits of a paper's algorithms take, each in a process of its own.

    A row for each algorithm and data set, in the paper's order, has ``dataset, algorithm, epsilon, rows`` (that are
    trained on), ``seconds`` (median of three fits after a first one, one core), ``megabytes`` (peak of the process that
    fits, interpreter, libraries and rows included). Algorithms and data sets that cannot be had here are left out, and
    named.
    """
    rows = []
    for cell in list_largest(paper):
        if reason := estimators.explain_obstacle(cell.algorithm):
            print_to_stderr(f"{cell.algorithm}: not measured: {reason}")
            continue
        named = {"dataset": cell.dataset, "algorithm": cell.algorithm, "epsilon": cell.epsilon}
        asked = {**named, "params": cell.params, "repeat": cell.repeat, "protocol": dict(cell.protocol)}
        measured = run_apart(_measure_words, asked, **ONE_THREAD)
        rows.append({**named, **measured})
        print_to_stderr(f"{cell.name}: {measured['seconds']:.3g} s, {measured['megabytes']:.0f} MB")
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "epsilon", "rows", "seconds", "megabytes"])


def list_largest(paper: Paper) -> list[Cell]:
    """Return a cell of each algorithm on the largest data set of each study that is there, at ε = 1 or near it."""
    chosen: dict[tuple[str, str], Cell] = {}
    for name, cells in cells_of_studies(paper, repeats=1).items():
        missing = explain_missing(set(paper.studies[name].dataset))
        there = [dataset for dataset in paper.studies[name].dataset if dataset not in missing]
        largest = max(there, key=lambda dataset: len(datasets.load(dataset).frame), default=None)
        nearest = min({cell.epsilon for cell in cells}, key=lambda epsilon: abs(epsilon - _EPSILON))
        for cell in cells:
            if cell.dataset == largest and cell.epsilon == nearest:
                chosen.setdefault((cell.dataset, cell.algorithm), cell)
    return list(chosen.values())


def measure_here(cell: Cell) -> dict[str, Any]:
    """Return the rows, the seconds and the peak memory of fits in this process."""
    data = datasets.load(cell.dataset)
    train, _ = split_rows(data, cell.repeat, cell.protocol)
    target = data.target.to_numpy()[train]
    estimator = estimators.make_estimator(
        cell.algorithm, cell.params, epsilon=cell.epsilon, domain=data.domain, random_state=cell.seed
    )
    as_declared = "domain" in estimators.list_parameters(estimators.find_target(cell.algorithm))
    rows = data.frame.iloc[train].reset_index(drop=True) if as_declared else data.domain.encode(data.frame)[0][train]
    estimator.fit(rows, target)
    seconds = [time_call(partial(estimator.fit, rows, target)) for _ in range(_FITS)]
    return {"rows": len(train), "seconds": statistics.median(seconds), "megabytes": measure_peak()}


def measure_peak() -> float:
    """Return the peak memory in MB of this process, or of one that it started and that is still there, if larger."""
    return max(read_status("VmHWM", process) for process in (str(os.getpid()), *_list_children()))


def _measure_words(words: dict[str, Any]) -> dict[str, Any]:
    return measure_here(Cell(**words | {"protocol": Protocol(**words["protocol"])}))


def _list_children() -> Iterator[str]:
    """Return the processes that this one started, as Linux lists them by thread."""
    for path in Path("/proc/self/task").glob("*/children"):
        yield from path.read_text().split()
