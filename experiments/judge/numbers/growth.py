"""What the verdicts on printed numbers still need: more repeats of their settings.

Repeats are looked at 20, 40, 80, ... at a time (twice as many each time, from the paper's own number if that is
larger), so that the verdict of a number is a function of the number of its repeats alone. A number needs more while
it is *undecided*, or refuted by repeats that all agree but are too few to show that they always do (see `agreement`).
It needs none if cells are missing that should be there already, or if the next look would be beyond the most repeats
allowed.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from experiments.config.paper import Paper
from experiments.judge.evidence.need import Need
from experiments.judge.numbers.printed import PrintedNumber, list_numbers
from experiments.judge.numbers.verdicts import find_part, judge_each
from experiments.store.study_rows import select_rows, select_undefined

MOST_REPEATS = 1280
_FIRST_LOOK = 20


def list_needs(paper: Paper, reported: pd.DataFrame, table: pd.DataFrame, most: int = MOST_REPEATS) -> list[Need]:
    """Return which parts of studies need how many repeats for the printed numbers that more repeats could decide.

    Parameters
    ----------
    paper : Paper
        The paper.
    reported : DataFrame
        Its printed numbers, as from `numbers.printed.read_reported`.
    table : DataFrame
        The long table with all repeats that there are; settings may differ in how many they have.
    most : int, default=1280
        The most repeats of a setting that may be run.

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
        repeats = find_next_look(_count_repeats(paper, study, where, number, table), paper.repeats, most)
        need = Need(study, where, repeats)
        if repeats and need not in needs:
            needs.append(need)
    return needs


def find_next_look(n: int, repeats: int, most: int) -> int:
    """Return the next number of repeats to look at after n, or 0 if there is none.

    Examples
    --------
    >>> [find_next_look(n, 10, 100) for n in (3, 10, 20, 39, 40, 80)]
    [20, 20, 40, 40, 80, 0]
    >>> find_next_look(100, 100, 1280)
    200
    """
    look = max(_FIRST_LOOK, repeats)
    while look <= n:
        look *= 2
    return look if look <= most else 0


def _count_repeats(paper: Paper, name: str, where: dict[str, Any], number: PrintedNumber, table: pd.DataFrame) -> int:
    """Return how many repeats every setting of a part has at least, undefined ones included."""
    study = paper.study(name, number.table)
    axes = list(study.axes(where))
    rows = pd.concat(find(table, study, number.metric, where) for find in (select_rows, select_undefined))
    return int(rows.groupby(axes, dropna=False)["repeat"].nunique().min()) if len(rows) else 0
