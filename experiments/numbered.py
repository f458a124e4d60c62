"""Papers by their numbers, and the command line of what is asked of them: `readings`, `bands` and `check` share it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from experiments.cells import Cell
from experiments.command import name_failures, run_cells
from experiments.errors import BadInput, suggestion
from experiments.executors import Executor
from experiments.table import long_table

ROOT = Path(__file__).resolve().parents[1]
PAPERS = ROOT / "conf" / "paper"


def names() -> list[str]:
    """Return the papers, by number: all of ``conf/paper`` but the demo and the benchmark.

    Examples
    --------
    >>> "2" in names(), "demo" in names()
    (True, False)
    """
    return sorted(path.stem for path in PAPERS.glob("*.yaml") if path.stem.isdigit())


def paper_of(name: str) -> dict:
    """Return a paper's description as it is written: no data set stands in for another here.

    Raises
    ------
    BadInput
        If there is no such paper, or it cannot be read.
    """
    if name not in names():
        raise BadInput(f"unknown paper {name!r}; {suggestion(name, names())}")
    try:
        return OmegaConf.to_container(OmegaConf.load(PAPERS / f"{name}.yaml"), resolve=True)
    except (OmegaConfBaseException, OSError) as error:
        raise BadInput(f"conf/paper/{name}.yaml cannot be read: {' '.join(str(error).split())}") from error


def run(asked: Mapping[str, list[Cell]], options: argparse.Namespace) -> tuple[pd.DataFrame, int]:
    """Run cells by study, as a paper's are run; return the long table, and 1 where some have no result."""
    folder, where = ROOT / Path(options.results).expanduser(), Executor(jobs=options.jobs)
    outcome, skipped, records = run_cells([cell for found in asked.values() for cell in found], folder, where)
    return long_table(asked, records), name_failures(outcome, skipped, options.results)


def parsed(module: str, arguments: list[str], **more: str) -> argparse.Namespace:
    """Read the command line that they share: which papers, where the results are, how many cells at once.

    ``more`` are options of one of them, with their help.
    """
    parser = argparse.ArgumentParser(f"python -m experiments.{module}")
    parser.add_argument("papers", nargs="*", default=names(), help="numbers of papers; all if none is given")
    parser.add_argument("--results", default="results", help="folder of the store, relative to the checkout")
    parser.add_argument("--jobs", type=int, default=-1, help="cells at once; -1 is one for each core")
    for name, meaning in more.items():
        parser.add_argument(f"--{name}", help=meaning)
    return parser.parse_args(arguments)


def exit_with(command: Callable[[list[str]], int]) -> None:
    """Run such a command and exit with its code, 2 for bad input."""
    try:
        sys.exit(command(sys.argv[1:]))
    except KeyboardInterrupt:
        print("everything finished so far is kept; run the same command again to go on", file=sys.stderr)
        sys.exit(130)
    except BadInput as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)
