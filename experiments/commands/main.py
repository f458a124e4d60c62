"""``python -m experiments``: from the command line to an exit code."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
from dataclasses import fields
from pathlib import Path

import hydra
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from experiments.cells import study_cells
from experiments.cells.cell import Cell
from experiments.cells.grid import expand
from experiments.commands import dry_run
from experiments.commands.common import name_failures, run_and_collect, say
from experiments.commands.reproduce import check_paper, make_results_folder, write_results
from experiments.config import hydra_sweeper, substitutes
from experiments.config.hydra_sweeper import Request
from experiments.config.paths import CONF, ROOT
from experiments.errors import BadInput, suggestion
from experiments.run.executors import Executor
from experiments.store.long_table import write_summaries

_REPEATS = 10
_DRY_RUN = "--dry-run"


class Terminated(KeyboardInterrupt):
    """SIGTERM, treated like Ctrl-C."""


def main() -> None:
    """Run the command line and exit with its code: 0 all done, 1 some failed or skipped, 2 bad input."""
    arguments = sys.argv[1:]
    gc.freeze()  # what was imported stays to the end: the collector need not walk through it each time
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra then lets exceptions through instead of printing them itself
    signal.signal(signal.SIGTERM, _terminated)
    hydra_sweeper.register()
    # One setting is a sweep of one, so -m has nothing to add; and where it stands would matter to Hydra's parser.
    sys.argv[1:] = [_for_hydra(one) for one in arguments if one not in ("-m", "--multirun", _DRY_RUN)]
    try:
        hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")(_task(arguments))()
    except KeyboardInterrupt as error:
        say("everything finished so far is kept; run the same command again to go on")
        sys.exit(143 if isinstance(error, Terminated) else 130)
    except BrokenPipeError:  # the reader of stdout has gone, as in `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (BadInput, HydraException, OmegaConfBaseException) as error:
        say(f"error: {explain(error)}")
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
        folder = ROOT / Path(str(config["results"])).expanduser()
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
    outcome, skipped, records = run_and_collect(cells, folder, executor)
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
    cells = study_cells.cells_of_studies(paper)
    check_paper(paper)
    for sentence in substitutes.sentences(paper):
        say(sentence)
    asked = [cell for study in cells.values() for cell in study]
    if _DRY_RUN in arguments:
        return _plan(asked, folder, executor)
    make_results_folder(folder / f"paper-{name}")
    outcome, skipped, records = run_and_collect(asked, folder, executor)
    write_results(paper, folder / f"paper-{name}", cells, records, arguments)
    return name_failures(outcome, skipped, request.config["results"])


def _plan(cells: list[Cell], folder: Path, executor: Executor) -> int:
    say(dry_run.describe_plan(cells, folder / "store.sqlite", executor))
    return 0


def _for_hydra(argument: str) -> str:
    """Return a command line argument in the form that Hydra takes.

    ``algorithm.x=1`` may name a parameter that the algorithm's file does not list, which Hydra wants marked with
    ``++``; whether it exists is checked against the constructor. ``paper=2`` is the name of a file, not a number.
    """
    if argument.startswith("algorithm."):
        return f"++{argument}"
    return re.sub(r"^paper=(\d+)$", r"paper='\1'", argument)


def _keys() -> list[str]:
    config = OmegaConf.to_container(OmegaConf.load(CONF / "config.yaml"))
    nested = {"executor": tuple(one.name for one in fields(Executor)), "protocol": config["protocol"]}
    groups = [path.name for path in CONF.iterdir() if path.is_dir()]
    names = [*groups, *(name for name in config if name not in ("hydra", "defaults"))]
    return names + [f"{group}.{name}" for group, inner in nested.items() for name in inner]


def _options(group: str) -> list[str]:
    return [path.stem for path in (CONF / group).glob("*.yaml")]


def _terminated(*_) -> None:
    raise Terminated
