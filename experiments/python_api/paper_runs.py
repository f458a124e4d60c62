"""Run papers: their cells until their verdicts are decided, and all that is written of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

import pandas as pd

from algorithms.whole_files import write_text
from experiments.cells.cell import Cell
from experiments.config.paper import Paper
from experiments.config.substitutes import describe_substitutes
from experiments.errors import print_to_stderr
from experiments.questions.decide import run_until_decided
from experiments.questions.paper_questions import PaperQuestions, resolve_named
from experiments.request import SweepRequest, make_folder
from experiments.run.dry_run import print_plan
from experiments.run.executors.executor import make_executor
from experiments.run.executors.task_runner import BegunTask, TaskRunner
from experiments.run.run_studies import Rounds
from experiments.store import provenance
from experiments.store.json_files import write_json
from experiments.store.long_table import format_cells_csv
from experiments.store.record import Record
from experiments.trace import span


def run_papers(request: SweepRequest, papers: Mapping[str, Paper]) -> int:
    """Run papers one after the other, each written while the next is run; returns the exit code."""
    prepared = {name: (paper, resolve_named(name, paper)) for name, paper in papers.items()}
    executor = make_executor(request.config["executor"])
    if request.config["dry_run"]:
        for paper, questions in prepared.values():
            _print_substitutes(paper)
            cells = list(chain.from_iterable(questions.cells.values()))
            print_plan(cells, request.results_folder / "store.sqlite", executor, request.read_flag("anew"))
        return 0
    runner = TaskRunner(executor)
    codes: list[int] = []
    runs: list[_PaperRun] = []

    def finish_written() -> None:
        while runs and runs[0].is_written:
            codes.append(runs.pop(0).finish(runner))

    try:
        for name, (paper, questions) in prepared.items():
            for earlier in runs:
                earlier.begin_to_write(runner)
            runs.append(_run_paper(name, paper, questions, request, runner, finish_written))
    except Exception:  # whatever ends one paper, the others were run; Ctrl-C waits for nothing
        for run in runs:
            run.finish(runner)
        raise
    return max([*codes, *(run.finish(runner) for run in runs)])


@dataclass
class _PaperRun:
    """A paper whose cells are run, and what is left to do."""

    #: Writes what came out; returns the files that are named then.
    write: Callable[..., list[Path]]
    folder: Path
    #: Says which settings have no result; returns the exit code.
    name_failures: Callable[[], int]
    writing: BegunTask[list[Path]] | None = None

    @property
    def is_written(self) -> bool:
        """Whether what came out is written, and nothing but to say it is left."""
        return self.writing is not None and self.writing.is_done

    def begin_to_write(self, runner: TaskRunner) -> None:
        """Let a process write what came out while the next paper is run."""
        self.writing = self.writing or runner.begin(self.write)

    def finish(self, runner: TaskRunner) -> int:
        """Write what came out, if that has not begun, and say it; returns the exit code."""
        from plots.pages.terminal import print_summary
        from plots.runs.paper_run import PaperRun

        with span("write tables and figures"):
            paths = self.writing.wait() if self.writing else self.write(runner=runner)
        print_summary(PaperRun.read(self.folder), paths)
        return self.name_failures()


def _run_paper(
    name: str,
    paper: Paper,
    questions: PaperQuestions,
    request: SweepRequest,
    runner: TaskRunner,
    finish_written: Callable[[], None],
) -> _PaperRun:
    executor = make_executor(request.config["executor"])
    _print_substitutes(paper)
    folder = request.results_folder / f"paper-{name}"
    make_folder(folder)
    flags = request.read_flag("stop_on_error"), request.read_flag("anew")
    rounds = Rounds(request.results_folder, executor, *flags)

    def run_round(cells: list[Cell], reason: str) -> Mapping[str, Record]:
        finish_written()  # between the bars of two rounds
        return rounds.run(cells, reason)

    with span(f"paper {name}, until it is decided"):
        table = run_until_decided(questions, run_round, run_tasks=runner.answer)
    asked = replace(questions, cells={}, settings={})  # which may be many, and nothing is run any more
    write = partial(write_results, paper, asked, folder, table, request.arguments)
    return _PaperRun(write, folder, partial(rounds.name_failures, str(request.config["results"])))


def _print_substitutes(paper: Paper) -> None:
    for sentence in describe_substitutes(paper.labels, paper.used_instead):
        print_to_stderr(sentence)


def write_results(
    paper: Paper,
    questions: PaperQuestions,
    folder: Path,
    table: pd.DataFrame,
    arguments: Sequence[str],
    runner: TaskRunner | None = None,
) -> list[Path]:
    """Write a paper's results: cells, timings, provenance, and all that `plots` makes of them."""
    from plots.pages.paper_results import publish_paper  # matplotlib is slow to import, and needed only here

    for name in ("claims.json", "report.html"):  # without which what an interrupted run leaves looks incomplete
        (folder / name).unlink(missing_ok=True)
    write_text(folder / "cells.csv", format_cells_csv(table))
    timings = table[["key", "fit_seconds"]]
    write_text(folder / "timings.csv", timings.to_csv(index=False, lineterminator="\n"))
    facts = provenance.gather_facts(arguments, table["dataset"].unique(), paper.repeats, table["algorithm"].unique())
    facts |= {"instead": paper.used_instead} if paper.used_instead else {}
    write_json(facts, folder / "provenance.json")
    return publish_paper(paper, questions, table, folder, runner)
