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
from experiments.judge.verdict import Verdict


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
    >>> compare_lines(["RDT", "DiffPETs"], values, "the highest accuracy", places, lambda value, place: f"{value:g} %")
    'RDT has the highest accuracy at 1 of 2 values of ε. They are farthest apart at ε = 0.1: RDT 97 %, DiffPETs 70 %.'
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
    preposition = places[0][0].split()[0]
    sentence = f"{names[first]} {shares} {most} {preposition} {counts[first]} of {len(known)} {places[1]}."
    widest = int(np.ptp(shown, axis=0).argmax())
    best, worst = (int(end) for end in (signed[:, widest].argmax(), signed[:, widest].argmin()))
    if best == worst:
        return sentence
    place = int(known[widest])
    ends = ", ".join(f"{names[line]} {write(values[line, place], place)}" for line in (best, worst))
    return f"{sentence} They are farthest apart {places[0][place]}: {ends}."


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
