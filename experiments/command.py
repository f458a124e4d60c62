"""``python -m experiments``: from the command line to an exit code."""

from __future__ import annotations

import gc
import os
import re
import shlex
import signal
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path

import hydra
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from experiments import estimators, papers, plan, substitutes, sweeper
from experiments.cells import Cell
from experiments.errors import BadInput, suggestion
from experiments.executors import Executor
from experiments.runner import Outcome, run
from experiments.settings import expand, unavailable
from experiments.store import Record, Store
from experiments.sweeper import Request
from experiments.table import write_summaries

_ROOT = Path(__file__).resolve().parents[1]
_CONF = _ROOT / "conf"
_REPEATS = 10
_SHOWN = 20
_DRY_RUN = "--dry-run"


class Terminated(KeyboardInterrupt):
    """SIGTERM, treated like Ctrl-C."""


def main() -> None:
    """Run the command line and exit with its code: 0 all done, 1 some failed or skipped, 2 bad input."""
    arguments = sys.argv[1:]
    gc.freeze()  # what was imported stays to the end: the collector need not walk through it each time
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra then lets exceptions through instead of printing them itself
    signal.signal(signal.SIGTERM, _terminated)
    sweeper.register()
    # One setting is a sweep of one, so -m has nothing to add; and where it stands would matter to Hydra's parser.
    sys.argv[1:] = [_for_hydra(one) for one in arguments if one not in ("-m", "--multirun", _DRY_RUN)]
    try:
        hydra.main(version_base="1.3", config_path=str(_CONF), config_name="config")(_task(arguments))()
    except KeyboardInterrupt as error:
        _say("everything finished so far is kept; run the same command again to go on")
        sys.exit(143 if isinstance(error, Terminated) else 130)
    except BrokenPipeError:  # the reader of stdout has gone, as in `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (BadInput, HydraException, OmegaConfBaseException) as error:
        _say(f"error: {explain(error)}")
        sys.exit(2)


def explain(error: Exception) -> str:
    """Return what is wrong with a command line, in one line and in our words.

    Examples
    --------
    >>> explain(MissingConfigException("...", "dataset/aduld", ["adult", "car"]))
    "unknown dataset 'aduld'; did you mean 'adult'?"
    """
    text = " ".join(str(error).split())
    if isinstance(error, BadInput):
        return text
    if isinstance(error, MissingConfigException) and error.missing_cfg_file and "/" in error.missing_cfg_file:
        group, _, name = error.missing_cfg_file.rpartition("/")
        return f"unknown {group} {name!r}; {suggestion(name, error.options or _options(group))}"
    if isinstance(error, OverrideParseException):
        return f"cannot read {error.override!r}: write name=value (text with blanks or commas in quotes)"
    if found := re.match(r"Could not override '([^']+)'", text):
        return f"there is nothing called {found[1]!r} to set; {suggestion(found[1], _keys())}"
    return text or " ".join(str(error.__cause__).split())


def _task(arguments: list[str]):
    def task(request: Request) -> None:
        config = request.config
        folder = _ROOT / Path(str(config["results"])).expanduser()
        executor = Executor(**config["executor"])
        run_one = _run_paper if config.get("paper") else _run_settings
        sys.exit(run_one(request, folder, executor, arguments))

    return task


def _run_settings(request: Request, folder: Path, executor: Executor, arguments: list[str]) -> int:
    config = request.config
    for name in ("dataset", "algorithm"):
        if name not in request.values:
            raise BadInput(f"choose {name}=... (or paper=...); `python -m experiments --help` lists them")
    values = {name: request.values[name] for name in ("dataset", "algorithm")} | {"epsilon": [config["epsilon"]]}
    values |= request.values
    repeats = _REPEATS if config["repeats"] is None else config["repeats"]
    settings = expand(values, repeats, protocol=config["protocol"])
    cells = [cell for setting in settings for cell in setting]
    if _DRY_RUN in arguments:
        return _plan(cells, folder, executor)
    outcome, skipped, records = run_cells(cells, folder, executor)
    write_summaries(settings, records)
    return name_failures(outcome, skipped, config["results"])


def _run_paper(request: Request, folder: Path, executor: Executor, arguments: list[str]) -> int:
    if request.values:
        name = next(iter(request.values))
        name = name.replace("params.", "algorithm.")
        raise BadInput(f"{name} cannot be given beside paper=...: the paper says what is run")
    paper, name = request.config["paper"], request.choices["paper"]
    repeats = request.config["repeats"]
    paper["repeats_asked"] = paper.get("repeats", _REPEATS)
    paper["repeats"] = paper["repeats_asked"] if repeats is None else repeats
    paper = substitutes.substituted(paper, substitutes.needed(paper))
    cells = papers.studies(paper)
    papers.check(paper)
    for sentence in substitutes.sentences(paper):
        _say(sentence)
    asked = [cell for study in cells.values() for cell in study]
    if _DRY_RUN in arguments:
        return _plan(asked, folder, executor)
    papers.prepare(folder / f"paper-{name}")
    outcome, skipped, records = run_cells(asked, folder, executor)
    papers.write(paper, folder / f"paper-{name}", cells, records, arguments)
    return name_failures(outcome, skipped, request.config["results"])


def _plan(cells: list[Cell], folder: Path, executor: Executor) -> int:
    _say(plan.told(cells, folder / "store.sqlite", executor))
    return 0


def run_cells(cells: list[Cell], folder: Path, executor: Executor) -> tuple[Outcome, dict, dict[str, Record]]:
    """Run cells; returns also those that were skipped, by reason, and all records by key."""
    with Store(folder / "store.sqlite") as store:
        finished = store.done()
        pending = [cell for cell in cells if cell.key not in finished]
        without_rows = unavailable({cell.dataset for cell in pending})
        without_code = {name: estimators.lacks(name) for name in {cell.algorithm for cell in pending}}
        skipped = defaultdict(list)
        for cell in pending:
            if reason := without_code[cell.algorithm] or without_rows.get(cell.dataset):
                skipped[reason].append(cell)
        impossible = {cell.key for some in skipped.values() for cell in some}
        outcome = run([cell for cell in cells if cell.key not in impossible], store, executor)
        records = store.get({cell.key for cell in cells})
    for line in clipped_values(cells, records):
        _say(line)
    return outcome, skipped, records


def clipped_values(cells: Iterable[Cell], records: Mapping[str, Record]) -> list[str]:
    """Say for each data set how many training values lay outside the declared bounds, at most in any cell."""
    most: dict[str, dict[str, int]] = defaultdict(dict)
    for cell in cells:
        measured = records[cell.key].measured if cell.key in records else None
        for column, n in (measured.details.get("clipped", {}) if measured else {}).items():
            most[cell.dataset][column] = max(n, most[cell.dataset].get(column, 0))
    return [
        f"{name}: values outside the declared bounds were clipped: {', '.join(f'{c} {n}' for c, n in columns.items())}"
        for name, columns in most.items()
    ]


def name_failures(outcome: Outcome, skipped: dict[str, list[Cell]], results: str) -> int:
    """Name every setting that has no result, with the command that runs only it; returns the exit code."""
    for reason, cells in skipped.items():
        n, names = len({cell.key for cell in cells}), {cell.dataset for cell in cells}
        where = f" on {names.pop()}" if len(names) == 1 else ""
        _say(f"skipped {n} cell{'s' if n > 1 else ''}{where}: {reason}")
    failed = defaultdict(list)
    for cell, error in outcome.failures:
        failed[cell.name].append((cell.repeat, error))
    where = "" if results == "results" else f" results={shlex.quote(results)}"
    for name, errors in list(failed.items())[:_SHOWN]:
        repeats = sorted(repeat for repeat, _ in errors)
        again = f"python -m experiments {name} repeats={repeats[-1] + 1}{where}"
        _say(f"failed in repeat {', '.join(map(str, repeats))}: {again}: {errors[0][1]}")
    if len(failed) > _SHOWN:
        _say(f"... and {len(failed) - _SHOWN} more settings; running the same command again tries only what failed")
    return 1 if failed or skipped else 0


def _for_hydra(argument: str) -> str:
    """Return a command line argument in the form that Hydra takes.

    ``algorithm.x=1`` may name a parameter that the algorithm's file does not list, which Hydra wants marked with
    ``++``; whether it exists is checked against the constructor. ``paper=2`` is the name of a file, not a number.
    """
    if argument.startswith("algorithm."):
        return f"++{argument}"
    return re.sub(r"^paper=(\d+)$", r"paper='\1'", argument)


def _keys() -> list[str]:
    config = OmegaConf.to_container(OmegaConf.load(_CONF / "config.yaml"))
    nested = {"executor": tuple(one.name for one in fields(Executor)), "protocol": config["protocol"]}
    groups = [path.name for path in _CONF.iterdir() if path.is_dir()]
    names = [*groups, *(name for name in config if name not in ("hydra", "defaults"))]
    return names + [f"{group}.{name}" for group, inner in nested.items() for name in inner]


def _options(group: str) -> list[str]:
    return [path.stem for path in (_CONF / group).glob("*.yaml")]


def _terminated(*_) -> None:
    raise Terminated


def _say(text: str) -> None:
    print(text, file=sys.stderr)
