"""``do=reproduce``, or no ``do=`` at all: run a paper and write its results, or run settings and print theirs."""

from __future__ import annotations

from collections.abc import Mapping

from algorithms.installation import PROGRAM
from experiments.commands.sweep_options import SweepOptions, refuse_options_of_sweeps
from experiments.config.paper import Paper
from experiments.config.papers import load_paper
from experiments.config.setting import drop_entries
from experiments.errors import BadInput, print_to_stderr, require_utf_8
from experiments.request import SweepRequest
from experiments.trace import begin_trace, span, write_trace

_START = f"""\
Choose a paper, or a data set and an algorithm:
  {PROGRAM} paper=demo                                a tour of a minute
  {PROGRAM} dataset=car algorithm=random_forest       accuracy of ten repeats
  {PROGRAM} --help                                    everything that can be set, and the other commands"""


def run_command(request: SweepRequest) -> int:
    """Run what is asked for, and keep a trace of it if that is asked for; returns the exit code."""
    if not request.read_flag("profile"):
        return _run(request)
    begin_trace()
    code = _run(request)
    path = request.results_folder / "trace.json"
    write_trace(path)
    print_to_stderr(f"  {path}: what each second went to; Perfetto, speedscope and Chrome open it")
    return code


def _run(request: SweepRequest) -> int:
    if request.list_choices("paper"):
        papers = _load_papers(request)
        with span("import what runs and judges"):  # after these checks, as it takes longest
            from experiments.python_api.paper_runs import run_papers

        return run_papers(request, papers)
    chosen = {"dataset": request.list_choices("dataset"), "algorithm": request.list_choices("algorithm")}
    if not any(chosen.values()):
        print_to_stderr(_START)
        return 2
    for name, options_of_group in chosen.items():
        if not options_of_group:
            raise BadInput(f"choose {name}=... (or paper=...); `{PROGRAM} --help` lists them")
    from experiments.cells.grid import REPEATS, expand_grid, order_values  # a paper that is refused needs neither
    from experiments.metrics.find import read_names

    options = SweepOptions.read(request.config)
    values, metrics = order_values(_read_axes(request, chosen)), read_names(request.values.get("metrics", []))
    repeats = REPEATS if request.config["repeats"] is None else request.config["repeats"]
    settings = expand_grid(values, repeats, protocol=request.config["protocol"], metrics=metrics)
    with span("import what runs and draws"):  # after all checks, as it takes longest
        from experiments.commands.sweep_runs import run_sweep

    return run_sweep(request, options, values, settings, metrics)


def _load_papers(request: SweepRequest) -> dict[str, Paper]:
    """Return the papers that are to be run, with the data sets that are there."""
    for name in ("dataset", "algorithm", *request.values):
        if name != "paper" and (name in request.values or request.choices.get(name)):
            raise BadInput(f"{name} cannot be given beside paper=...: the paper says what is run")
    refuse_options_of_sweeps(request.config)
    require_utf_8(request.results_folder)
    repeats = request.config["repeats"], request.config["most_repeats"]
    return {name: load_paper(name, *repeats) for name in request.list_choices("paper")}


def _read_axes(request: SweepRequest, chosen: Mapping[str, list[str]]) -> dict[str, list]:
    values = {**chosen, "epsilon": [request.config["epsilon"]]}
    for name, given in drop_entries(request.values, ["metrics"]).items():
        values[name.replace("algorithm.", "params.", 1)] = given
    return values
