"""Run a sweep whose settings are checked; write its folder, and print its results."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from experiments.cells.cell import Cell
from experiments.commands.sweep_options import SweepOptions
from experiments.errors import print_to_stderr
from experiments.request import SweepRequest, make_folder
from experiments.run.copies import describe_copies, list_copies
from experiments.run.dry_run import print_plan, spare_processes
from experiments.run.executors.executor import make_executor
from experiments.run.run_studies import Details, describe_data_faults, name_failures, run_and_summarise
from experiments.store import provenance
from experiments.store.summaries import SettingSummary, keep_metrics, write_json_lines
from plots.sweeps import sweep_folder
from plots.sweeps.sweep import ResultCollector, Sweep
from plots.sweeps.sweep_folder import write_sweep
from plots.sweeps.sweep_tables import arrange_tables, print_shortfall, print_sweep


def run_sweep(
    request: SweepRequest,
    options: SweepOptions,
    values: Mapping[str, list],
    settings: list[list[Cell]],
    metrics: Sequence[str],
) -> int:
    """Run the cells of all settings, or one repeat of each, and write what came out; returns the exit code."""
    stop_on_error, anew = request.read_flag("stop_on_error"), request.read_flag("anew")
    if options.repeat is not None:
        settings = [cells[0].repeats([options.repeat]) for cells in settings]
    sweep, parent = Sweep(values, settings, metrics), request.results_folder / sweep_folder.FOLDER
    if options.name:
        sweep_folder.refuse_taken_name(parent, options.name, sweep.identity)
    cells, store = list(chain.from_iterable(sweep.settings)), request.results_folder / "store.sqlite"
    executor = spare_processes(cells, store, make_executor(request.config["executor"]))
    if request.config["dry_run"]:
        print_plan(cells, store, executor, anew)
        return 0
    make_folder(parent)
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
        _print_notes_on_data(sweep, details)
        _write_answer(collector, options, parent, request.arguments)
    return name_failures(outcome, str(request.config["results"]))


def _write_answer(collector: ResultCollector, options: SweepOptions, parent: Path, arguments: Sequence[str]) -> None:
    """Write the files of a sweep and print what was asked for; of one repeat alone nothing is written."""
    results, paths = collector.arrange(), []
    sweep, tables = results.sweep, arrange_tables(results)
    if options.repeat is None:
        folder = sweep_folder.make_folder(parent, options.name or sweep.automatic_name, sweep.identity)
        facts = provenance.gather_facts(arguments, sweep.axes["dataset"], sweep.repeats, sweep.axes["algorithm"])
        paths = write_sweep(collector, results, tables, facts, folder)
    if options.output == "table":
        print_sweep(results, tables, paths)
        return
    if options.output == "csv":
        collector.copy_table(sys.stdout)
    print_shortfall(results, paths)


def _print_notes_on_data(sweep: Sweep, details: Details) -> None:
    copies = list_copies(((cells[0].dataset, cells[0].protocol) for cells in sweep.settings), sweep.repeats)
    for sentence in filter(None, [describe_copies(copies, {}), *describe_data_faults(details)]):
        print_to_stderr(sentence)
