"""What came out of a table of runs that was given: the summary on the terminal, and its files."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

import pandas as pd
from rich.markup import escape

from experiments.config.paper import Paper
from experiments.judge.more_runs import MoreRuns
from experiments.judge.words import count_runs, describe_place
from experiments.questions.given_runs.judged_runs import JudgedRuns
from experiments.stats import LEVEL
from experiments.store.json_files import write_json
from plots.pages.terminal import make_table, open_console, print_summary
from plots.runs.paper_run import PaperRun
from plots.runs.run_folder import DIGITS, write_csv

_MOST_SHOWN = 10
"""Settings that the terminal shows; stdout has all."""


class JudgedTable(PaperRun):
    """What came out of a table of runs that was given; ``coverage`` has those that are done, and all of them."""

    @classmethod
    def of_runs(cls, judged: JudgedRuns) -> Self:
        """Return what is shown of verdicts on given runs: no facts of data sets, no tables, no finding."""
        shown = judged.paper.model_copy(update={"tables": (), "figures": (), "finding": None})
        measured = judged.numbers[judged.numbers["statistic"] != "exact"]
        return cls.of_verdicts(shown, measured, judged.claims, (judged.n_done, judged.n_runs))

    @property
    def completeness(self) -> str:
        """How many runs there are, and how many of them were lost."""
        n_done, n = self.coverage
        return f"Judged from {count_runs(n)}{f', {n - n_done} of which failed' if n_done < n else ''}."


def write_judged(judged: JudgedRuns, folder: Path) -> list[Path]:
    """Write ``claims.json`` and ``numbers.csv``, as of a run, and ``needs.csv``; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / name for name in ("claims.json", "numbers.csv", "needs.csv")]
    head = {"paper": judged.paper.number, "family_error_rate": round(1 - LEVEL, 10)}
    write_json(head | {"claims": [claim.model_dump() for claim in judged.claims]}, paths[0], DIGITS)
    write_csv(judged.numbers, paths[1])
    rows = [{"asked_by": name, **one.to_mapping()} for name, needs in judged.more.items() for one in needs]
    write_csv(pd.DataFrame(rows, columns=None if rows else ["asked_by"]), paths[2])
    return paths


def print_judged(judged: JudgedRuns, paths: Sequence[Path]) -> None:
    """Print to stderr what came out, and which settings need more runs."""
    shown = JudgedTable.of_runs(judged)
    print_summary(shown, [], sys.stderr)
    console = open_console(sys.stderr)
    if n := len(judged.numbers) - len(shown.numbers):
        console.print(f"{n} printed fact{'s' if n > 1 else ''} of data sets cannot be counted in a table of runs.")
    rows = _gather_needs(judged.paper, judged.more)
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
