"""Cells that were run and lack a metric that is asked for now: they are run again, and no others.

A cell's seed does not depend on what is measured, so the metrics that it had come out with the same digits; where they
do not, because an algorithm does not keep to its seed, that is said.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from experiments.cells.cell import Cell
from experiments.cells.code_version import list_own_versions
from experiments.metrics.find import list_measured
from experiments.metrics.metric import STANDARD_ERROR
from experiments.metrics.own import find_own
from experiments.metrics.scikit_learn import find_scikit_learn
from experiments.store.database import Store
from experiments.store.record import Measured, Record


def merge_metrics(cells: Iterable[Cell]) -> dict[str, Cell]:
    """Return each cell once, by its key, with all metrics that are asked of it.

    Examples
    --------
    >>> asked = [Cell("car", "majority", {}, math.inf, 0, metrics=(name,)) for name in ("f1_macro", "jaccard_macro")]
    >>> [cell.metrics for cell in merge_metrics(asked).values()]
    [('f1_macro', 'jaccard_macro')]
    """
    unique: dict[str, Cell] = {}
    for cell in cells:
        first = unique.setdefault(cell.key, cell)
        if first.metrics != cell.metrics:
            unique[cell.key] = replace(cell, metrics=tuple(sorted({*first.metrics, *cell.metrics})))
    return unique


def find_lacking(cells: Mapping[str, Cell], store: Store) -> dict[str, Measured]:
    """Return what the cells that lack a metric gave when they were run, by key."""
    wanted = {key: cell.metrics for key, cell in cells.items() if cell.metrics}
    if not wanted:
        return {}
    return store.find_lacking(wanted, list_own_versions({name for names in wanted.values() for name in names}))


def ask_again(cell: Cell, before: Measured) -> Cell:
    """Return a cell that measures what is asked for and what it gave before.

    Examples
    --------
    >>> cell = Cell("car", "majority", {}, math.inf, 0, metrics=("f1_macro",))
    >>> ask_again(cell, Measured({"accuracy": 0.7, "jaccard_macro": 0.2}, 0.1)).metrics
    ('f1_macro', 'jaccard_macro')
    """
    had = [name for name in before.metrics if find_scikit_learn(name) or find_own(name)]
    return replace(cell, metrics=tuple(sorted({*cell.metrics, *had})))


def keep_asked(cells: Iterable[Cell], records: Mapping[str, Record]) -> dict[str, Record]:
    """Return the records of some cells without metrics that others alone have asked for, of the same cells.

    Examples
    --------
    >>> cell = Cell("car", "majority", {}, math.inf, 0, metrics=("f1_macro",))
    >>> had = Record("done", Measured({"accuracy": 0.7, "f1_macro": 0.2, "jaccard_macro": 0.2}, 0.1))
    >>> keep_asked([cell], {cell.key: had})[cell.key].measured.metrics
    {'accuracy': 0.7, 'f1_macro': 0.2}
    """
    kept = dict(records)
    others: dict[tuple, set[str]] = {}  # of the few kinds of cells that there are
    for key, cell in merge_metrics(cells).items():
        measured = records[key].measured if key in records else None
        if measured is None:
            continue
        kind = cell.dataset, cell.metrics, *measured.metrics
        if kind not in others:
            others[kind] = _list_of_others(cell, measured)
        if others[kind]:
            asked = {name: value for name, value in measured.metrics.items() if name not in others[kind]}
            kept[key] = replace(records[key], measured=replace(measured, metrics=asked))
    return kept


def _list_of_others(cell: Cell, measured: Measured) -> set[str]:
    """Return the metrics that a cell does not ask for, with their standard errors, and that are not always measured."""
    known = {*list_measured(cell.dataset), *cell.metrics}
    own = measured.details.get("own_metrics", {})
    base_of = {name: name.removesuffix(STANDARD_ERROR) for name in measured.metrics}
    return {name for name, base in base_of.items() if base not in known and (base in own or find_scikit_learn(base))}


def has_changed(before: Measured, after: Measured) -> bool:
    """Return whether a metric that a cell had has other digits now.

    Examples
    --------
    >>> has_changed(Measured({"accuracy": 0.7}, 0.1), Measured({"accuracy": 0.7, "f1_macro": 0.2}, 0.1))
    False
    """
    versions = before.details.get("own_metrics", {})
    for name, value in before.metrics.items():
        is_of_other_code = versions.get(name) != after.details.get("own_metrics", {}).get(name)
        now = after.metrics.get(name, math.nan)
        if not is_of_other_code and now != value and not (math.isnan(now) and math.isnan(value)):
            return True
    return False


def describe_changed(changed: Sequence[Cell]) -> list[str]:
    """Return what is to be said of cells whose metrics have other digits now: a line for each algorithm.

    Examples
    --------
    >>> describe_changed([Cell("car", "majority", {}, math.inf, repeat) for repeat in (0, 1)])
    ['majority does not keep to its seed: run again, 2 of its cells gave other metrics than before, which are kept now']
    """
    lines = []
    for name, n in Counter(cell.algorithm for cell in changed).items():
        cells = f"{n} of its cells" if n > 1 else "one of its cells"
        lines.append(
            f"{name} does not keep to its seed: run again, {cells} gave other metrics than before, which are kept now"
        )
    return lines
