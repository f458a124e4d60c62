"""Comparisons of algorithms in words: ranks, probabilities, and over which data sets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from experiments.comparisons.comparison import NOT_TOLD_APART, AlgorithmComparison, describe_held_out
from experiments.config.paper import Paper
from experiments.judge.words import format_share
from plots.labels import MISSING, label_name, label_names


def describe_sets(comparison: AlgorithmComparison, names: pd.Index) -> str:
    """Return how many data sets there are, how many of them held out, and which held-out ones the study lacks."""
    parts = [f"{len(names)} data set{'' if len(names) == 1 else 's'}", *filter(None, [describe_held_out(names)])]
    if comparison.part.sets == "held_out" and (absent := comparison.list_absent()):
        parts.append(f"not in this study: {', '.join(label_names(comparison.paper, absent))}")
    return ", ".join(parts)


def format_rank(rank: float) -> str:
    """Return a mean rank as text; a dash where nothing was ranked."""
    return MISSING if math.isnan(rank) else f"{rank:.2f}"


def format_probability(probability: float) -> str:
    """Return a probability in words; it is a share of random draws, whose digits near 0 and 1 say nothing.

    Examples
    --------
    >>> [format_probability(p) for p in (0.9496, 1, 0.003, 0, math.nan)]
    ['94 %', 'above 99 %', 'below 1 %', 'below 1 %', '—']
    """
    if probability > 0.99:
        return "above 99 %"
    return "below 1 %" if probability < 0.01 else format_share(probability)


def name_with_odds(paper: Paper, row: Mapping[str, Any]) -> str:
    """Return the name of an algorithm, with the probabilities where these decide nothing."""
    name = label_name(paper, row["algorithm"])
    if row["verdict"] != NOT_TOLD_APART:
        return name
    odds = ", ".join(f"{what} {format_probability(row[what])}" for what in ("better", "equal", "worse"))
    return f"{name} ({odds})"
