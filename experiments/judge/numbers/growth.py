"""What the verdicts on printed numbers still need: more repeats of their settings.

A number is looked at twice: with the paper's repeats, and, while it is *undecided*, or refuted by repeats that all
agree but are too few to show that they always do (see `agreement`), with ten times as many as the printed mean is of.
Our own part of the uncertainty is then a twentieth of what the print leaves, and more repeats could tell little more.
Further looks would raise the chance of a false miss above the level of the interval.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from experiments.config.paper import Paper
from experiments.judge.evidence.need import Need
from experiments.judge.numbers.printed import PrintedNumber, list_numbers
from experiments.judge.numbers.verdicts import find_part, judge_each
from experiments.store.study_rows import select_rows, select_undefined

_TIMES_PRINTED = 10


def list_needs(paper: Paper, reported: pd.DataFrame, table: pd.DataFrame) -> list[Need]:
    """Return which parts of studies need how many repeats for the printed numbers that more repeats could decide.

    Parameters
    ----------
    paper : Paper
        The paper.
    reported : DataFrame
        Its printed numbers, as from `numbers.printed.read_reported`.
    table : DataFrame
        The long table with all repeats that there are; settings may differ in how many they have.

    Returns
    -------
    list of Need
        Each part once, in the order of the numbers; of a maximum over settings all of these. Cells that fail are asked
        for again: whoever runs them stops when the needs stay the same.
    """
    needs: list[Need] = []
    for number, verdict in judge_each(paper, list_numbers(reported), table):
        if not verdict.needs_repeats:
            continue
        study, where = find_part(paper, paper.parts[number.table], number)
        n = _count_repeats(paper, study, where, number, table)
        repeats = find_next_look(n, paper)
        need = Need(study, where, repeats)
        if repeats and need not in needs:
            needs.append(need)
    return needs


def find_next_look(n: int, paper: Paper) -> int:
    """Return the number of repeats to look at after n, or 0 if there is none.

    Examples
    --------
    >>> studies = {"s": {"dataset": "car", "algorithm": "rdt"}}
    >>> paper = Paper(number=0, title="T", repeats=10, printed_repeats=10, studies=studies)
    >>> find_next_look(10, paper), find_next_look(100, paper)
    (100, 0)
    """
    look = max(2 * paper.repeats, _TIMES_PRINTED * paper.printed_repeats)
    return look if n < look <= paper.most_repeats else 0


def _count_repeats(paper: Paper, name: str, where: dict[str, Any], number: PrintedNumber, table: pd.DataFrame) -> int:
    """Return how many repeats every setting of a part has at least, undefined ones included."""
    study = paper.study(name, number.table)
    axes = list(study.axes(where))
    rows = pd.concat(find(table, study, number.metric, where) for find in (select_rows, select_undefined))
    return int(rows.groupby(axes, dropna=False)["repeat"].nunique().min()) if len(rows) else 0
