"""Claims that need no run: about printed numbers alone."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from experiments.config.selection import PaperError
from experiments.judge.confusion_matrix import feasibility
from experiments.judge.verdict import INCONSISTENT, NOT_REPRODUCED, NOT_TESTABLE, REPRODUCED, is_in_per_cent

#: What a claim of each kind says beside id, text and kind.
KEYS = {"printed": ("numbers",), "consistent": ("precision", "recall", "n_rows")}


def judge(claim: Mapping, numbers: pd.DataFrame | None) -> dict:
    """Return verdict and reason of a claim of one of the kinds of `KEYS`.

    Raises
    ------
    PaperError
        If it names a number that the paper does not print.
    """
    return {"printed": _all_reproduced, "consistent": _consistent}[claim["kind"]](claim, numbers)


def _all_reproduced(claim: Mapping, numbers: pd.DataFrame | None) -> dict:
    found = [row["verdict"] for row in _named(claim, claim["numbers"], numbers)]
    reason = "; ".join(f"{name}: {verdict}" for name, verdict in zip(claim["numbers"], found, strict=True))
    if NOT_REPRODUCED in found:
        return {"verdict": NOT_REPRODUCED, "reason": reason}
    return {"verdict": REPRODUCED if all(one == REPRODUCED for one in found) else NOT_TESTABLE, "reason": reason}


def _consistent(claim: Mapping, numbers: pd.DataFrame | None) -> dict:
    """Ask whether printed precisions and recalls can come from one confusion matrix."""
    precision, recall = (_named(claim, claim[rate], numbers) for rate in ("precision", "recall"))
    decimals = {row["decimals"] + 2 * is_in_per_cent(row["metric"]) for row in (*precision, *recall)}
    if len(decimals) > 1:
        raise PaperError(f"claim {claim['id']!r}: its numbers are printed with different decimals")
    shares = [[float(row["printed"]) for row in rows] for rows in (precision, recall)]
    places = decimals.pop()
    sizes = [tuple(size) if isinstance(size, list) else size for size in claim["n_rows"]]
    try:
        found = feasibility(*shares, sizes, decimals=places)
    except ValueError as error:
        raise PaperError(f"claim {claim['id']!r}: {error}") from error
    if found.is_feasible:
        return {"verdict": REPRODUCED, "reason": f"confusion matrix {found.matrix.tolist()} rounds to all of them"}
    forced = ", ".join(f"{100 * low:.1f} to {100 * high:.1f} %" for low, high in found.precision_range)
    reason = (
        f"no confusion matrix of {claim['n_rows']} test rows rounds to them; the recalls force precisions of {forced}"
    )
    half = 0.5 * 10.0**-places
    ranges = zip(shares[0], found.precision_range, strict=True)
    if all(low - half <= share <= high + half for share, (low, high) in ranges):
        return {"verdict": NOT_TESTABLE, "reason": f"{reason}: a mean over runs may give them, a single run cannot"}
    return {"verdict": INCONSISTENT, "reason": reason}


def _named(claim: Mapping, names: list[str], numbers: pd.DataFrame | None) -> list[dict]:
    rows = {} if numbers is None or numbers.empty else {row["id"]: row for row in numbers.to_dict("records")}
    unknown = [name for name in names if name not in rows]
    if unknown:
        raise PaperError(f"claim {claim['id']!r}: there is no printed number {unknown[0]!r}")
    return [rows[name] for name in names]
