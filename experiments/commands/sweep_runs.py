"""Run a sweep whose settings are checked; write its folder, and print its results."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import chain

import pandas as pd

from experiments.cells.cell import Cell
from experiments.commands.sweep_options import SweepOptions
from experiments.errors import print_to_stderr
from experiments.request import SweepRequest, make_folder
from experiments.run.copies import describe_copies, list_copies
from experiments.run.dry_run import print_plan, spare_processes
from experiments.run.executors.executor import make_executor
from experiments.run.run_studies import describe_data_faults, name_failures, run_in_batches
from experiments.store import provenance
from experiments.store.record import Record
from experiments.store.summaries import summarise_setting, write_json_lines
from experiments.trace import span
from plots.sweeps import sweep_folder
from plots.sweeps.sweep import identify_sweep, name_sweep
from plots.sweeps.sweep_run import make_run, tabulate_settings
from plots.sweeps.sweep_tables import arrange_tables, print_sweep


def run_sweep(
    request: SweepRequest,
    options: SweepOptions,
    axes: Mapping[str, list],
    settings: list[list[Cell]],
    metrics: Sequence[str],
) -> int:
    """Run the cells of all settings, or one repeat of each, and write what came out; returns the exit code."""
    stop_on_error, is_anew = request.read_flag("stop_on_error"), request.read_flag("anew")
    if options.repeat is not None:
        settings = [cells[0].repeats([options.repeat]) for cells in settings]
    parent = request.results_folder / sweep_folder.FOLDER
    if options.name:
        sweep_folder.refuse_taken_name(parent, options.name, identify_sweep(settings, metrics))
    cells, store = list(chain.from_iterable(settings)), request.results_folder / "store.sqlite"
    executor = spare_processes(cells, store, make_executor(request.config["executor"]))
    if request.config["dry_run"]:
        print_plan(cells, store, executor, is_anew)
        return 0
    make_folder(parent)
    parts: list[tuple[pd.DataFrame, list[str]]] = []

    def take(first: int, some: list[list[Cell]], records: Mapping[str, Record]) -> None:
        summaries = [summarise_setting(of_setting, records, metrics) for of_setting in some]
        if options.output == "json":
            for of_setting, summary in zip(some, summaries, strict=True):
                write_json_lines(of_setting, summary)
        parts.append(tabulate_settings(some, summaries, metrics, first))

    anew = {cell.key for cell in cells} if is_anew else ()
    outcome, details = run_in_batches(settings, request.results_folder, executor, take, stop_on_error, anew)
    copies = list_copies(((of_setting[0].dataset, of_setting[0].protocol) for of_setting in settings), len(settings[0]))
    for sentence in filter(None, [describe_copies(copies, {}), *describe_data_faults(details)]):
        print_to_stderr(sentence)
    run, paths = make_run(axes, settings, parts), []
    if options.repeat is None:
        with span("write tables and figures"):
            identity = identify_sweep(settings, metrics)
            folder = sweep_folder.make_folder(parent, options.name or name_sweep(axes), identity)
            facts = provenance.gather_facts(request.arguments, axes["dataset"], run.sweep.repeats, axes["algorithm"])
            paths = sweep_folder.write_sweep(run, identity, facts, folder)
    if options.output == "csv":
        sys.stdout.write(run.format_csv())
    if options.output == "table":
        print_sweep(run, arrange_tables(run), paths, sys.stdout)
    else:
        print_sweep(run, [], paths, sys.stderr)
    return name_failures(outcome, str(request.config["results"]))
