"""What a figure shows, in a sentence with its numbers: computed from the rows that it is drawn from.

A title names what is asked. A caption says what came out, so that who reads no further knows it; it compares what is
drawn and judges nothing: verdicts on claims do that, from intervals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from experiments.config.finding import SIGNS
from experiments.config.paper import Paper
from experiments.judge.verdict import Verdict
from experiments.metrics.find import is_in_per_cent
from plots.labels import format_large, format_number, label_axis


def compare_lines(
    names: Sequence[str],
    values: np.ndarray,
    most: str,
    places: tuple[Sequence[str], str],
    write: Callable[[float, int], str],
    is_less_better: bool = False,
) -> str:
    """Return which of some lines is the best at most places, and where they are farthest apart.

    Nothing of a single line, or where no place has a value of each.

    Parameters
    ----------
    names : sequence of str
        What the lines are called.
    values : float array of shape (lines, places)
        Their values; NaN where there is none.
    most : str
        What the best line has, such as "the highest accuracy".
    places : tuple of sequence of str and str
        Each place with its preposition, such as "at ε = 1", and all of them, such as "values of ε".
    write : callable
        Returns a value of a place as text.
    is_less_better : bool
        Whether the smallest value is the best.

    Examples
    --------
    >>> values = np.array([[97.0, 98.0], [70.0, 98.5]])
    >>> places = ["at ε = 0.1", "at ε = 1"], "values of ε"
    >>> compare_lines(["RDT", "FM"], values, "the highest accuracy", places, lambda value, place: f"{value:g} %")
    'RDT has the highest accuracy at 1 of 2 values of ε. The values differ most at ε = 0.1: 97 % (RDT) and 70 % (FM).'
    """
    known = np.flatnonzero(np.isfinite(values).all(axis=0))
    if len(names) < 2 or not len(known):
        return ""
    shown = values[:, known]
    signed = -shown if is_less_better else shown
    is_best = signed == signed.max(axis=0)
    counts = is_best.sum(axis=1)
    first = int(counts.argmax())
    shares = "shares" if (is_best[first] & (is_best.sum(axis=0) > 1)).any() else "has"
    sentence = f"{names[first]} {shares} {most} {_count_places(int(counts[first]), known, places)}."
    found = find_widest(signed)
    if found is None:
        return sentence
    widest, *both = found
    place = int(known[widest])
    ends = " and ".join(f"{write(values[line, place], place)} ({names[line]})" for line in both)
    return f"{sentence} The values differ most {places[0][place]}: {ends}."


def _count_places(count: int, known: np.ndarray, places: tuple[Sequence[str], str]) -> str:
    """Return at how many of the places at which all lines have a value one of them is the best.

    >>> places = ["on Car", "on Adult", "on Letter"], "data sets"
    >>> _count_places(2, np.array([0, 1]), places), _count_places(1, np.array([0, 1, 2]), places)
    ('on both data sets that have all values', 'on 1 of 3 data sets')
    """
    n, which = len(known), "" if len(known) == len(places[0]) else " that have all values"
    if n == 1:
        return places[0][known[0]]
    how_many = f"{count} of {n}" if count < n else "both" if n == 2 else f"all {n}"
    return f"{places[0][0].split()[0]} {how_many} {places[1]}{which}"


def find_widest(values: np.ndarray) -> tuple[int, int, int] | None:
    """Return at which place some lines are farthest apart, and which are the highest and the lowest one there.

    None if they nowhere differ.

    Examples
    --------
    >>> find_widest(np.array([[97.0, 98.0], [70.0, 98.5]])), find_widest(np.ones((2, 3)))
    ((0, 0, 1), None)
    """
    place = int(np.ptp(values, axis=0).argmax())
    highest, lowest = int(values[:, place].argmax()), int(values[:, place].argmin())
    return None if highest == lowest else (place, highest, lowest)


def write_value(metric: str, value: float) -> str:
    """Return a stored value of a metric with three digits, or in per cent with one decimal.

    Examples
    --------
    >>> write_value("accuracy", 0.84162), write_value("mse", 0.0123456), write_value("r2", -12345.6)
    ('84.2 %', '0.0123', '−12,346')
    """
    if is_in_per_cent(metric):
        return f"{format_number(metric, value, 1)} %"
    return (f"{value:.3g}" if abs(value) < 1000 else format_large(value)).replace("-", "−")


def name_metric(paper: Paper, metric: str) -> str:
    """Return how a sentence calls a metric, whose values are written with their unit.

    Examples
    --------
    >>> from plots.labels import NO_LABELS
    >>> name_metric(NO_LABELS, "accuracy"), name_metric(NO_LABELS, "r2")
    ('accuracy', 'R²')
    """
    return label_axis(paper, metric).removesuffix(" (%)")


def count_printed(frame: pd.DataFrame) -> str:
    """Return what became of the printed numbers among the points of a figure; nothing if there is none.

    Examples
    --------
    >>> count_printed(pd.DataFrame({"verdict": ["refuted", "reproduced", "refuted", ""]}))
    'Of 3 printed numbers 1 holds, 2 fail.'
    """
    verdicts = [Verdict(verdict).shown for verdict in frame["verdict"].dropna() if verdict]
    counts = Counter(verdicts)
    told = ", ".join(f"{counts[sign]} {sign.describe(counts[sign])}" for sign in SIGNS if sign in counts)
    numbers = f"{len(verdicts)} printed number{'' if len(verdicts) == 1 else 's'}"
    return f"Of {numbers} {told}." if verdicts else ""
