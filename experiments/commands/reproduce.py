"""``do=reproduce``, or no ``do=`` at all: run a paper and write its results, or run settings and print theirs."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from algorithms.installation import PROGRAM
from algorithms.whole_files import write_text
from experiments.cells.cell import Cell
from experiments.cells.grid import expand_grid
from experiments.config import estimators
from experiments.config.paper import Paper
from experiments.config.papers import load_paper, name_paper_file
from experiments.config.setting import drop_entries
from experiments.config.substitutes import describe_substitutes
from experiments.errors import BadInput, print_to_stderr, require_utf_8
from experiments.metrics.find import read_names
from experiments.questions.decide import run_until_decided
from experiments.questions.paper_questions import PaperQuestions, resolve_paper
from experiments.request import SweepRequest
from experiments.run.copies import describe_copies, list_copies
from experiments.run.dry_run import describe_plan, spare_processes
from experiments.run.executors.executor import Executor, make_executor
from experiments.run.executors.task_runner import BegunTask, TaskRunner
from experiments.run.run_studies import Details, Rounds, describe_data_faults, name_failures, run_and_summarise
from experiments.store import provenance
from experiments.store.json_files import write_json
from experiments.store.long_table import format_cells_csv
from experiments.store.record import Record
from experiments.store.summaries import SettingSummary, keep_metrics, write_json_lines
from plots.sweeps import sweep_folder
from plots.sweeps.sweep import ResultCollector, Sweep, order_values
from plots.sweeps.sweep_folder import SweepOptions, refuse_options_of_sweeps, write_sweep
from plots.sweeps.sweep_tables import arrange_tables, print_shortfall, print_sweep

_REPEATS = 10
_START = f"""\
Choose a paper, or a data set and an algorithm:
  {PROGRAM} paper=demo                                a tour of a minute
  {PROGRAM} dataset=car algorithm=random_forest       accuracy of ten repeats
  {PROGRAM} --help                                    everything that can be set, and the other commands"""


def run_command(request: SweepRequest) -> int:
    """Run what is asked for; returns the exit code."""
    if request.list_choices("paper"):
        return _run_papers(request)
    chosen = {"dataset": request.list_choices("dataset"), "algorithm": request.list_choices("algorithm")}
    if not any(chosen.values()):
        print_to_stderr(_START)
        return 2
    for name, options in chosen.items():
        if not options:
            raise BadInput(f"choose {name}=... (or paper=...); `{PROGRAM} --help` lists them")
    return _run_settings(request, chosen)


def _run_settings(request: SweepRequest, chosen: Mapping[str, list[str]]) -> int:
    options = SweepOptions.read(request.config)
    stop_on_error, anew = request.read_flag("stop_on_error"), request.read_flag("anew")
    sweep = _expand_sweep(request, chosen, options.repeat)
    parent = request.results_folder / sweep_folder.FOLDER
    if options.name:
        sweep_folder.refuse_taken_name(parent, options.name, sweep.identity)
    cells = list(chain.from_iterable(sweep.settings))
    executor = spare_processes(
        cells, request.results_folder / "store.sqlite", make_executor(request.config["executor"])
    )
    if request.config["dry_run"]:
        return _say_plan(cells, request, executor)
    make_results_folder(parent)
    with tempfile.TemporaryFile("w+", dir=parent, encoding="utf-8", newline="") as file:
        collector = ResultCollector(sweep, file)

        def take(setting: SettingSummary) -> None:
            setting = keep_metrics(setting, sweep.metrics)
            collector.take(setting)
            if options.output == "json":
                write_json_lines(setting)

        outcome, details = run_and_summarise(
            sweep.settings, request.results_folder, executor, take, stop_on_error, anew
        )
        _say_of_data(sweep, details)
        _answer(collector, options, parent, request.arguments)
    return name_failures(outcome, str(request.config["results"]))


def _expand_sweep(request: SweepRequest, chosen: Mapping[str, list[str]], repeat: int | None) -> Sweep:
    config = request.config
    values = {**chosen, "epsilon": [config["epsilon"]]}
    metrics = read_names(request.values.get("metrics", []))
    for name, given in drop_entries(request.values, ["metrics"]).items():
        values[name.replace("algorithm.", "params.", 1)] = given
    values = order_values(values)
    repeats = _REPEATS if config["repeats"] is None else config["repeats"]
    settings = expand_grid(values, repeats, protocol=config["protocol"], metrics=metrics)
    settings = settings if repeat is None else [cells[0].repeats([repeat]) for cells in settings]
    return Sweep(values, settings, metrics)


def _answer(collector: ResultCollector, options: SweepOptions, parent: Path, arguments: Sequence[str]) -> None:
    """Write the files of a sweep and print what was asked for; of one repeat alone nothing is written."""
    results, paths = collector.arrange(), []
    sweep, tables = results.sweep, arrange_tables(results)
    if options.repeat is None:
        folder = sweep_folder.make_folder(parent, options.name or sweep.automatic_name, sweep.identity)
        facts = _gather_facts(arguments, sweep.axes["dataset"], sweep.repeats, sweep.axes["algorithm"])
        paths = write_sweep(collector, results, tables, facts, folder)
    if options.output == "table":
        print_sweep(results, tables, paths)
        return
    if options.output == "csv":
        collector.copy_table(sys.stdout)
    print_shortfall(results, paths)


def _say_of_data(sweep: Sweep, details: Details) -> None:
    copies = list_copies(((cells[0].dataset, cells[0].protocol) for cells in sweep.settings), sweep.repeats)
    for sentence in filter(None, [describe_copies(copies, {}), *describe_data_faults(details)]):
        print_to_stderr(sentence)


def _run_papers(request: SweepRequest) -> int:
    for name in ("dataset", "algorithm", *request.values):
        if name != "paper" and (name in request.values or request.choices.get(name)):
            raise BadInput(f"{name} cannot be given beside paper=...: the paper says what is run")
    refuse_options_of_sweeps(request.config)
    require_utf_8(request.results_folder)
    repeats = request.config["repeats"], request.config["most_repeats"]
    prepared = {name: _prepare_paper(name, *repeats) for name in request.list_choices("paper")}
    executor = make_executor(request.config["executor"])
    if request.config["dry_run"]:
        for paper, questions in prepared.values():
            _say_instead(paper)
            _say_plan(list(chain.from_iterable(questions.cells.values())), request, executor)
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

        paths = self.writing.wait() if self.writing else self.write(runner=runner)
        print_summary(PaperRun.read(self.folder), paths)
        return self.name_failures()


def _prepare_paper(name: str, repeats: int | None, most_repeats: int | None) -> tuple[Paper, PaperQuestions]:
    """Return a paper with the data sets that are there, and its questions, after all checks."""
    paper = load_paper(name, repeats, most_repeats)
    try:
        return paper, resolve_paper(paper)
    except BadInput as error:
        raise BadInput(f"{name_paper_file(name)}: {error}") from error


def _run_paper(
    name: str,
    paper: Paper,
    questions: PaperQuestions,
    request: SweepRequest,
    runner: TaskRunner,
    finish_written: Callable[[], None],
) -> _PaperRun:
    executor = make_executor(request.config["executor"])
    _say_instead(paper)
    folder = request.results_folder / f"paper-{name}"
    make_results_folder(folder)
    flags = request.read_flag("stop_on_error"), request.read_flag("anew")
    rounds = Rounds(request.results_folder, executor, *flags)

    def run_round(cells: list[Cell], reason: str) -> Mapping[str, Record]:
        finish_written()  # between the bars of two rounds
        return rounds.run(cells, reason)

    table = run_until_decided(questions, run_round, run_tasks=runner.answer)
    asked = replace(questions, cells={}, settings={})  # which may be many, and nothing is run any more
    write = partial(write_results, paper, asked, folder, table, request.arguments)
    return _PaperRun(write, folder, partial(rounds.name_failures, str(request.config["results"])))


def _say_instead(paper: Paper) -> None:
    for sentence in describe_substitutes(paper.labels, paper.used_instead):
        print_to_stderr(sentence)


def _say_plan(cells: list[Cell], request: SweepRequest, executor: Executor) -> int:
    path = request.results_folder / "store.sqlite"
    print_to_stderr(describe_plan(cells, path, executor, request.read_flag("anew")))
    return 0


def make_results_folder(folder: Path) -> None:
    """Make the folder of results, before hours are spent on what could not be written then, or raise BadInput."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = error.strerror or error
        raise BadInput(f"{folder} cannot be written to ({reason}); choose another with results=FOLDER") from error


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
    facts = _gather_facts(arguments, table["dataset"].unique(), paper.repeats, table["algorithm"].unique())
    facts |= {"instead": paper.used_instead} if paper.used_instead else {}
    write_json(facts, folder / "provenance.json")
    return publish_paper(paper, questions, table, folder, runner)


def _gather_facts(
    arguments: Sequence[str], datasets: Iterable[str], repeats: int, algorithms: Iterable[str]
) -> dict[str, Any]:
    """Return where results are from, with the versions of the packages of peers."""
    facts = provenance.gather_facts(list(arguments), datasets, repeats)
    peers: dict[str, str] = {}
    for algorithm in sorted(algorithms):
        peers |= estimators.list_packages(algorithm)
    return facts | ({"versions_of_peers": peers} if peers else {})
