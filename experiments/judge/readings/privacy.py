"""What the readings of an algorithm cost: whether they keep the ε that is claimed."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from experiments.cells.cell import Cell, format_canonical
from experiments.store.record import Record


class Cost(NamedTuple):
    """What a reading costs."""

    #: Whether every run keeps the ε that it claims: "yes", "no" or "claims none".
    keeps_epsilon: str
    #: What its noisy steps cost at most, as a multiple of the ε of the label; NaN if nothing is claimed.
    times_label: float
    #: Whether there are steps without noise.
    unpaid: bool


def sum_up_cost(cells: Iterable[Cell], algorithm: str, records: Mapping[str, Record]) -> Cost:
    """Return what the cells of one algorithm cost, as their fitted models account for it; ε = ∞ claims nothing."""
    texts = set()
    for cell in cells:
        measured = records[cell.key].measured if cell.key in records else None
        if cell.algorithm == algorithm and measured and measured.details.get("privacy"):
            texts.add(format_canonical(measured.details["privacy"]))
    reports = [report for report in map(json.loads, sorted(texts)) if _is_number(report["claimed_epsilon"])]
    if not reports:
        return Cost("claims none", math.nan, False)
    times = [float(report["noisy_epsilon"]) / report["claimed_epsilon"] for report in reports]
    unpaid = not all(_is_number(report["accounted_epsilon"]) for report in reports)
    keeps = all(report["keeps_claim"] for report in reports)
    return Cost("yes" if keeps else "no", max(times), unpaid)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)
