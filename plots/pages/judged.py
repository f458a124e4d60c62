"""What came out of a table of runs that was given: the summary on the terminal, and its files."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
from rich.markup import escape

from experiments.config.paper import Paper
from experiments.judge.claim_answer import ClaimAnswer
from experiments.judge.more_runs import MoreRuns
from experiments.judge.words import count_runs, describe_place
from experiments.stats import LEVEL
from experiments.store.json_files import write_json
from plots.pages.terminal import make_table, open_console, print_summary
from plots.runs.paper_run import PaperRun
from plots.runs.run_folder import DIGITS, write_csv

_MOST_SHOWN = 10
"""Settings that the terminal shows; stdout has all."""


class JudgedTable(PaperRun):
    """What came out of a table of runs that was given; ``coverage`` has those that are done, and all of them."""

    @property
    def completeness(self) -> str:
        """How many runs there are, and how many of them were lost."""
        n_done, n = self.coverage
        return f"Judged from {count_runs(n)}{f', {n - n_done} of which failed' if n_done < n else ''}."


def write_judged(
    paper: Paper,
    claims: Sequence[ClaimAnswer],
    numbers: pd.DataFrame,
    more: Mapping[str, Sequence[MoreRuns]],
    folder: Path,
) -> list[Path]:
    """Write ``claims.json`` and ``numbers.csv``, as of a run, and ``needs.csv``; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / name for name in ("claims.json", "numbers.csv", "needs.csv")]
    head = {"paper": paper.number, "family_error_rate": round(1 - LEVEL, 10)}
    write_json(head | {"claims": [claim.model_dump() for claim in claims]}, paths[0], DIGITS)
    write_csv(numbers, paths[1])
    rows = [{"asked_by": name, **one.to_mapping()} for name, needs in more.items() for one in needs]
    write_csv(pd.DataFrame(rows, columns=None if rows else ["asked_by"]), paths[2])
    return paths


def print_judged(
    paper: Paper,
    n_runs: tuple[int, int],
    claims: Sequence[ClaimAnswer],
    numbers: pd.DataFrame,
    more: Mapping[str, Sequence[MoreRuns]],
    paths: Sequence[Path],
) -> None:
    """Print to stderr what came out, and which settings need more runs; ``n_runs`` are done, and there."""
    shown = paper.model_copy(update={"tables": (), "figures": (), "finding": None})
    measured = numbers[numbers["statistic"] != "exact"]
    print_summary(JudgedTable.of_verdicts(shown, measured, list(claims), n_runs), [], sys.stderr)
    console = open_console(sys.stderr)
    if len(measured) < len(numbers):
        n = len(numbers) - len(measured)
        console.print(f"{n} printed fact{'s' if n > 1 else ''} of data sets cannot be counted in a table of runs.")
    rows = _gather_needs(paper, more)
    if rows:
        table = make_table()
        table.add_column("What is open needs at least")
        for name in ("has", "needs"):
            table.add_column(name, justify="right")
        table.add_column("for")
        for setting, (n, needed, users) in list(rows.items())[:_MOST_SHOWN]:
            table.add_row(escape(setting), str(n), str(needed), escape(", ".join(users)))
        console.print()
        console.print(table)
        if len(rows) > _MOST_SHOWN:
            console.print(f"and {len(rows) - _MOST_SHOWN} more settings, see stdout")
    for path in paths:
        console.print(f"  {escape(str(path))}", soft_wrap=True)


def _gather_needs(paper: Paper, more: Mapping[str, Sequence[MoreRuns]]) -> dict[str, tuple[int, int, list[str]]]:
    """Return by setting, in words, how many runs there are, how many are needed, and by which claims and numbers."""
    rows: dict[str, tuple[int, int, list[str]]] = {}
    for user, needs in more.items():
        for one in needs:
            axes, values = one.setting.axes, one.setting.values
            varying = paper.studies[one.setting.study].varying_axes()
            known: dict[str, str | float] = {}
            for name, value in zip(axes, values, strict=True):
                if name in varying:
                    known[name] = float(value) if name == "epsilon" else value
            setting = describe_place(known, paper.labels)
            n, needed, users = rows.get(setting, (one.n, 0, []))
            rows[setting] = (min(n, one.n), max(needed, one.needed), [*users, user])
    return rows
