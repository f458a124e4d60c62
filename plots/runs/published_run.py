"""Published runs beside the prose of today: what a person writes of a paper is no part of a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from experiments.config.papers import name_paper_file, read_paper
from experiments.config.paths import REFERENCE
from plots.checked_finding import list_misfits
from plots.runs.run_folder import PaperRun


def read_published(folder: Path) -> PaperRun:
    """Read a published run, with the promise and the finding that the file of the paper has today.

    A sentence may be written better without running anything again; the run then says whether it bears it out.
    """
    run = PaperRun.read(folder)
    written = read_paper(str(run.paper.number))
    return replace(run, paper=run.paper.model_copy(update={"promise": written.promise, "finding": written.finding}))


def list_published(folder: Path = REFERENCE) -> list[PaperRun]:
    """Return all published runs, the papers before the benchmarks."""
    return [read_published(path) for path in sorted(folder.glob("paper-*"))]


def list_drifts(folder: Path = REFERENCE) -> list[str]:
    """Return where a finding takes for granted what its published run does not bear out, a line for each.

    Examples
    --------
    >>> list_drifts()
    []
    """
    lines = []
    for run in list_published(folder):
        file = name_paper_file(str(run.paper.number))
        lines += [f"{file}: the finding no longer fits its published run: {misfit}" for misfit in list_misfits(run)]
    return lines
