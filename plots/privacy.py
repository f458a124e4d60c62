"""What fitted models said of their privacy, summed up for each algorithm."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from experiments.config.paper import Paper
from experiments.store.long_table import distinct_privacy_reports
from plots.labels import label_name


def sum_up_privacy(table: pd.DataFrame) -> list[dict]:
    """Sum up the column ``privacy`` of the long table.

    Returns
    -------
    list of dict
        For each algorithm with an account: ``algorithm``, ``neighbours`` (a list), ``keeps_claim`` and ``times_label``
        (the largest ratio of accounted to claimed ε; both None where no finite ε is claimed), ``faults``.
    """
    if "privacy" not in table.columns:
        return []
    rows = []
    for algorithm, part in table.groupby("algorithm", sort=True):
        reports = distinct_privacy_reports(part["privacy"])
        if reports:
            rows.append({"algorithm": algorithm, **_sum_up_reports(reports)})
    return rows


def describe_privacy(paper: Paper, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of `sum_up_privacy` as it is read."""
    return {
        "algorithm": label_name(paper, row["algorithm"]),
        "sound": {True: "yes", False: "no", None: "nothing claimed"}[row["keeps_claim"]],
        "paid": _format_times_label(row["times_label"]),
        "neighbours": ", ".join(row["neighbours"]),
        "faults": row["faults"],
    }


def count_keeping_claim(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return how many algorithms keep the ε that they claim.

    Examples
    --------
    >>> count_keeping_claim([{"keeps_claim": True}, {"keeps_claim": False}, {"keeps_claim": None}])
    '1 of 2'
    """
    claiming = [row["keeps_claim"] for row in rows if row["keeps_claim"] is not None]
    return f"{sum(claiming)} of {len(claiming)}"


def _sum_up_reports(reports: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    faults, neighbours, claiming = {}, set(), []
    for report in reports:
        neighbours.add(report["neighbours"])
        for fault in report["faults"]:
            faults[tuple(fault.items())] = fault
        if _is_finite(report["claimed_epsilon"]):
            claiming.append(report)
    return {
        "neighbours": sorted(neighbours),
        "keeps_claim": all(report["keeps_claim"] for report in claiming) if claiming else None,
        "times_label": max(map(_compute_times_label, claiming), default=None),
        "faults": list(faults.values()),
    }


def _format_times_label(times: float | None) -> str:
    if times is None:
        return ""
    return "inf (unbounded)" if math.isinf(times) else f"up to {times:.3g} × the label"


def _compute_times_label(report: Mapping[str, Any]) -> float:
    accounted = report["accounted_epsilon"]
    return accounted / report["claimed_epsilon"] if _is_finite(accounted) else math.inf


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
