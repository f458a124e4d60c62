"""What the rows of a comparison say: their order, the verdicts of comparisons, and both as text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from experiments.config.paper import Paper
from experiments.judge.verdict import EQUAL
from experiments.stats import LEVEL, nemenyi_difference
from plots.labels import MISSING, label_name

TOLD_APART = "told apart"
NOT_TOLD_APART = "not told apart"
BEATS_THE_FIRST = "beats the first"
"""Told apart the other way: a mean rank counts wins over everybody, a comparison those of one pair alone."""


def judge_posterior(posterior: Mapping[str, float]) -> str:
    """Return what the probabilities of the first algorithm against another one say, which 0.95 decides.

    Examples
    --------
    >>> judge_posterior({"better": 0.96, "equal": 0.01, "worse": 0.03})
    'told apart'
    >>> judge_posterior({"better": 0.94, "equal": 0.06, "worse": 0.0})
    'not told apart'
    """
    verdicts = {"better": TOLD_APART, "equal": EQUAL, "worse": BEATS_THE_FIRST}
    return next((verdict for name, verdict in verdicts.items() if posterior[name] >= LEVEL), NOT_TOLD_APART)


def format_rank(rank: float) -> str:
    """Return a mean rank as text; a dash where nothing was ranked."""
    return MISSING if math.isnan(rank) else f"{rank:.2f}"


def format_probability(probability: float) -> str:
    """Return a probability in per cent, rounded down so that what is below 0.95 never reads 95 %.

    Examples
    --------
    >>> [format_probability(p) for p in (0.9496, 0.9999, 0.003, math.nan)]
    ['94 %', '> 99 %', '< 1 %', '—']
    """
    if math.isnan(probability):
        return MISSING
    if probability >= 0.995:
        return "> 99 %"
    return f"{math.floor(100 * probability + 1e-9)} %" if probability >= 0.01 else "< 1 %"


def name_with_odds(paper: Paper, row: Mapping[str, Any]) -> str:
    """Return the name of an algorithm, with the probabilities where these decide nothing."""
    name = label_name(paper, row["algorithm"])
    if row["verdict"] != NOT_TOLD_APART:
        return name
    odds = ", ".join(f"{what} {format_probability(row[what])}" for what in ("better", "equal", "worse"))
    return f"{name} ({odds})"


def select_means(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows over all data sets, the best mean rank first."""
    return frame[frame["dataset"] == ""].sort_values("rank", kind="stable")


def list_ranked_sets(frame: pd.DataFrame) -> pd.Index:
    """Return the data sets that rank the algorithms."""
    return pd.Index(frame.loc[(frame["dataset"] != "") & frame["rank"].notna(), "dataset"].unique())


def find_critical_difference(frame: pd.DataFrame) -> float:
    """Return the critical difference of the mean ranks; NaN where nothing was ranked."""
    return nemenyi_difference(len(select_means(frame)), len(list_ranked_sets(frame)))


def is_beyond(frame: pd.DataFrame) -> np.ndarray:
    """Return which mean ranks, the best first, differ from the best by at least the critical difference."""
    ranks = select_means(frame)["rank"].to_numpy()
    return ranks - ranks[0] >= find_critical_difference(frame)
