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
from experiments.questions.decide import PaperErrors, list_rounds, run_together
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
    """Run papers, their rounds together, each written while others are still run; returns the exit code."""
    prepared = {name: (paper, resolve_named(name, paper)) for name, paper in papers.items()}
    executor = make_executor(request.config["executor"])
    is_dry = request.config["dry_run"]
    for paper, questions in prepared.values():
        _print_substitutes(paper)
        if is_dry:
            cells = list(chain.from_iterable(questions.cells.values()))
            print_plan(cells, request.results_folder / "store.sqlite", executor, request.read_flag("anew"))
    if is_dry:
        return 0
    for name in papers:
        make_folder(request.results_folder / f"paper-{name}")
    flags = request.read_flag("stop_on_error"), request.read_flag("anew")
    rounds, errors = Rounds(request.results_folder, executor, *flags), PaperErrors(len(papers))
    _run_and_write(request, prepared, rounds, TaskRunner(executor), errors)
    code = rounds.name_failures(str(request.config["results"]))
    errors.raise_first()
    return code


def _run_and_write(
    request: SweepRequest,
    prepared: Mapping[str, tuple[Paper, PaperQuestions]],
    rounds: Rounds,
    runner: TaskRunner,
    errors: PaperErrors,
) -> None:
    """Run papers until they are decided, and write what came out of each."""
    decided: list[_DecidedPaper] = []

    def finish(one: _DecidedPaper) -> None:
        try:
            one.finish(runner)
        except Exception as error:
            errors.leave_out(one.name, error)

    def run_round(cells: list[Cell], reason: str) -> Mapping[str, Record]:
        while decided and decided[0].is_written:  # between the bars of two rounds
            finish(decided.pop(0))
        for one in decided:
            one.begin_to_write(runner)
        return rounds.run(cells, reason)

    def finish_all() -> None:
        for one in decided[:-1]:
            one.begin_to_write(runner)
        for one in decided:
            finish(one)

    deciding = {name: list_rounds(questions, run_tasks=runner.answer) for name, (_, questions) in prepared.items()}
    try:
        with span("run until all is decided"):
            for name, table in run_together(deciding, run_round, errors):
                paper, questions = prepared[name]
                folder = request.results_folder / f"paper-{name}"
                asked = replace(questions, cells={}, settings={})  # which may be many, and nothing is run any more
                write = partial(write_results, paper, asked, folder, table, request.arguments)
                decided.append(_DecidedPaper(name, write, folder))
    except Exception:  # whatever ends all papers, those that are decided are written; Ctrl-C waits for nothing
        finish_all()
        raise
    finish_all()


@dataclass
class _DecidedPaper:
    """A paper whose cells are run, and what is left to do."""

    name: str
    #: Writes what came out; returns the files that are named then.
    write: Callable[..., list[Path]]
    folder: Path
    writing: BegunTask[list[Path]] | None = None

    @property
    def is_written(self) -> bool:
        """Whether what came out is written, and nothing but to say it is left."""
        return self.writing is not None and self.writing.is_done

    def begin_to_write(self, runner: TaskRunner) -> None:
        """Let a process write what came out while other papers are run."""
        self.writing = self.writing or runner.begin(self.write)

    def finish(self, runner: TaskRunner) -> None:
        """Write what came out, if that has not begun, and say it."""
        from plots.pages.terminal import print_summary
        from plots.runs.paper_run import PaperRun

        with span("write tables and figures"):
            paths = self.writing.wait() if self.writing else self.write(runner=runner)
        print_summary(PaperRun.read(self.folder), paths)


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
