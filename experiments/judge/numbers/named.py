"""The printed numbers that a claim names."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from experiments.config.paper import PaperError


def find_numbers(claim: str, names: Sequence[str], numbers: pd.DataFrame | None) -> list[dict]:
    """Return the verdicts on printed numbers, in the order in which a claim names them.

    Parameters
    ----------
    claim : str
        The claim's id, for the error.
    names : sequence of str
        Ids of printed numbers.
    numbers : DataFrame or None
        As from `numbers.judge_numbers`.

    Raises
    ------
    PaperError
        If the paper prints no such number.
    """
    rows = {}
    if numbers is not None:
        for row in numbers.to_dict("records"):
            rows[row["id"]] = row
    verdicts = []
    for name in names:
        if name not in rows:
            raise PaperError(f"claim {claim!r}: there is no printed number {name!r}")
        verdicts.append(rows[name])
    return verdicts
