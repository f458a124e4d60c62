"""What fitted models said of their privacy, summed up for each algorithm."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from experiments.store.long_table import said_of_privacy
from plots.labels import label


def sums(table: pd.DataFrame) -> list[dict]:
    """Sum up the column ``privacy`` of the long table.

    Returns
    -------
    list of dict
        For each algorithm that spoke: ``algorithm``, ``neighbours`` (a list), ``keeps_claim`` and ``times_label`` (the
        largest ratio of accounted to claimed ε; both None where no finite ε is claimed), ``faults``.
    """
    if "privacy" not in table.columns:
        return []
    rows = []
    for algorithm, part in table.groupby("algorithm", sort=True):
        said = said_of_privacy(part["privacy"])
        if not said:
            continue
        faults = [fault for one in said for fault in one["faults"]]
        claimed = [one for one in said if _finite(one["claimed_epsilon"])]
        rows.append(
            {
                "algorithm": algorithm,
                "neighbours": sorted({one["neighbours"] for one in said}),
                "keeps_claim": all(one["keeps_claim"] for one in claimed) if claimed else None,
                "times_label": max(map(_times_label, claimed), default=None),
                "faults": list({tuple(fault.items()): fault for fault in faults}.values()),
            }
        )
    return rows


def words(paper: Mapping, row: Mapping) -> dict:
    """Return a row of `sums` as it is read."""
    times = row["times_label"]
    return {
        "algorithm": label(paper, row["algorithm"]),
        "sound": {True: "yes", False: "no", None: "nothing claimed"}[row["keeps_claim"]],
        "paid": "" if times is None else "inf (unbounded)" if math.isinf(times) else f"up to {times:.3g} × the label",
        "neighbours": ", ".join(row["neighbours"]),
        "faults": row["faults"],
    }


def tally(rows: list[dict]) -> str:
    """Return how many algorithms keep the ε that they claim.

    Examples
    --------
    >>> tally([{"keeps_claim": True}, {"keeps_claim": False}, {"keeps_claim": None}])
    '1 of 2'
    """
    claiming = [row["keeps_claim"] for row in rows if row["keeps_claim"] is not None]
    return f"{sum(claiming)} of {len(claiming)}"


def _times_label(said: Mapping) -> float:
    accounted = said["accounted_epsilon"]
    return accounted / said["claimed_epsilon"] if _finite(accounted) else math.inf


def _finite(value) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
