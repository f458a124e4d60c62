"""How much of what differs between readings each choice explains."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

PREFIX = "choice."
"""Columns of a table of readings with the value of each choice start so."""


def explain_variance(rows: pd.DataFrame, effect: str) -> dict[str, float]:
    """Return the share of the variance of an effect, a column, that the main effect of each choice explains (η²).

    Over all readings that have an effect, a row each: the variance of the means of a choice's values over the variance
    of all. In a full product of choices the shares add up to at most 1, and what is left are interactions; where
    readings are missing, choices overlap.

    Examples
    --------
    >>> rows = pd.DataFrame({"choice.leaf": ["a", "a", "b", "b"], "choice.cut": [1, 2, 1, 2], "far": [0.0, 1, 4, 5]})
    >>> {name: round(share, 3) for name, share in explain_variance(rows, "far").items()}
    {'leaf': 0.941, 'cut': 0.059}
    """
    defined = rows[np.isfinite(rows[effect].to_numpy(np.float64))]
    names = list_choices(defined)
    values = defined[effect].to_numpy(np.float64)
    if len(values) < 2 or not values.var():
        return dict.fromkeys(names, 0.0)
    shares = {}
    for name in names:
        means = defined.groupby(defined[PREFIX + name].astype(str))[effect].transform("mean")
        shares[name] = float(means.to_numpy(np.float64).var() / values.var())
    return shares


def list_choices(rows: pd.DataFrame) -> list[str]:
    """Return the names of the choices that a table of readings has values of."""
    named: Sequence[str] = [name for name in rows.columns if name.startswith(PREFIX)]
    return [name.removeprefix(PREFIX) for name in named if rows[name].notna().any()]
