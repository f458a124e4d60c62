"""Rank the readings of a text by their distance from what the paper prints.

The distance of a reading is the root mean square, over the printed numbers, of our means minus theirs; of orderings,
the share that comes out the wrong way round. Repeats have splits that all readings share, so that readings are compared
in pairs, by the jackknife: those whose difference from the best has an interval that reaches zero are as good. The best
is the luckiest of many, for which nothing is adjusted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
import pandas as pd

from datasets import catalogue
from experiments.cells.cell import Cell, overlap_of
from experiments.config.paper import Question, QuestionOfClaims, QuestionOfNumbers
from experiments.judge.readings.cells import PrintedTarget, Reading
from experiments.judge.verdict import is_in_per_cent
from experiments.stats import mean_interval
from experiments.store.long_table import distinct_privacy_reports


def rank_readings(question: Question, readings: Sequence[Reading], table: pd.DataFrame) -> pd.DataFrame:
    """Rank readings by their distance from what is printed.

    Parameters
    ----------
    question : Question
        What the readings are to explain.
    readings : sequence of Reading
        As from `cells.make_readings`.
    table : DataFrame
        The long table, with the cells of all of them.

    Returns
    -------
    DataFrame
        ``question, unit, rank, reading, distance`` (points where the paper prints per cent),
        ``from_best`` with ``low`` and ``high`` (how much farther off it is than the best, paired), ``as_good`` (whether
        that may be nothing), ``times_label`` (what its noisy steps cost, as a multiple of the ε of the label),
        ``unpaid`` (whether other steps have no noise at all; both of the paper's own algorithm), ``n`` and
        ``n_expected`` (cells). Readings without all their cells, or with a mean that is undefined, have no distance and
        stand last.
    """
    cells = table.set_index("key")
    ranked = [RankedReading.measure(question, reading, cells) for reading in readings]
    ranked.sort(key=lambda reading: reading.distance if math.isfinite(reading.distance) else math.inf)
    rows = []
    for rank, reading in enumerate(ranked, start=1):
        rows.append(reading.to_row(question, rank, ranked[0]))
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class RankedReading:
    """How far one reading is from what is printed.

    Parameters
    ----------
    reading : Reading
        The reading.
    errors : float64 array of shape (n_targets, n_repeats)
        Ours minus what is printed; no columns where cells are missing.
    times_label : float
        What its noisy steps cost at most, as a multiple of the ε of the label.
    is_unpaid : bool
        Whether there are steps without noise.
    n, n_expected : int
        Cells that are done, and that there should be.
    """

    reading: Reading
    errors: np.ndarray
    times_label: float
    is_unpaid: bool
    n: int
    n_expected: int

    @classmethod
    def measure(cls, question: Question, reading: Reading, cells: pd.DataFrame) -> RankedReading:
        """Measure a reading, from the long table with its keys as index."""
        wanted = reading.cells_by_key
        own = reading.targets[0].cells[0].algorithm  # a table names the paper's own algorithm first
        if isinstance(question, QuestionOfNumbers | QuestionOfClaims):
            own = question.algorithm
        n_done, own_keys = 0, []
        for key, cell in wanted.items():
            if key in cells.index and cells.at[key, "status"] == "done":
                n_done += 1
                own_keys += [key] if cell.algorithm == own else []
        times_label, is_unpaid = _sum_up_cost(cells.loc[own_keys, "privacy"])
        errors = np.empty((1, 0))
        if n_done == len(wanted):
            errors = np.array([_measure_errors(target, cells) for target in reading.targets])
        return cls(reading, errors, times_label, is_unpaid, n_done, len(wanted))

    @property
    def distance(self) -> float:
        """How far the means over repeats are from what is printed; NaN where a mean is undefined."""
        return self._measure_distance(self.errors)

    def compute_pseudo_values(self) -> np.ndarray:
        """Return what each repeat contributes to the distance (jackknife)."""
        n = self.errors.shape[1]
        if n < 2:
            return np.array([])
        without = [self._measure_distance(np.delete(self.errors, i, axis=1)) for i in range(n)]
        return n * self.distance - (n - 1) * np.array(without)

    def to_row(self, question: Question, rank: int, best: RankedReading) -> dict[str, Any]:
        """Return the row of the ranking."""
        is_compared = math.isfinite(self.distance) and self.errors.shape[1] > 1
        behind, half_width = self.distance - best.distance, self._spread_from(best) if is_compared else math.nan
        return {
            "question": question.id,
            "unit": "orderings" if isinstance(question, QuestionOfClaims) else "points",
            "rank": rank,
            "reading": self.reading.words,
            "distance": self.distance,
            "from_best": behind,
            "low": behind - half_width,
            "high": behind + half_width,
            "as_good": bool(behind - half_width <= 0) if is_compared else math.isfinite(self.distance),
            "times_label": self.times_label,
            "unpaid": self.is_unpaid,
            "n": self.n,
            "n_expected": self.n_expected,
        }

    def _measure_distance(self, errors: np.ndarray) -> float:
        if not errors.shape[1] or np.isnan(errors).any():
            return math.nan
        means = errors.mean(axis=1)
        is_of_orderings = bool(self.reading.targets[0].less)
        return float(np.mean(means <= 0) if is_of_orderings else np.sqrt(np.mean(means**2)))

    def _spread_from(self, best: RankedReading) -> float:
        """Return the half-width of the interval of the difference from the best."""
        cell = self.reading.targets[0].cells[0]
        overlap = overlap_of(cell.protocol, catalogue.read_entry(cell.dataset).n_train is not None)
        spread = mean_interval(self.compute_pseudo_values() - best.compute_pseudo_values(), overlap=overlap)
        return (spread.high - spread.low) / 2


def _measure_errors(target: PrintedTarget, cells: pd.DataFrame) -> np.ndarray:
    """Return for each repeat ours minus what is printed, or by how much an ordering comes out as claimed."""
    ours = _read_metric(target.cells, target.metric, cells)
    if target.less:
        return ours - _read_metric(target.less, target.metric, cells)
    return (ours - target.printed) * (100 if is_in_per_cent(target.metric) else 1)


def _read_metric(repeats: Sequence[Cell], metric: str, cells: pd.DataFrame) -> np.ndarray:
    keys = list(map(attrgetter("key"), repeats))
    return cells.loc[keys, metric].to_numpy(np.float64)


def _sum_up_cost(privacy: pd.Series) -> tuple[float, bool]:
    """Return what the noisy steps cost at most, in labels, and whether there are steps without noise."""
    times, is_unpaid = [], False
    for report in distinct_privacy_reports(privacy):
        if isinstance(report["claimed_epsilon"], int | float):
            times.append(float(report["noisy_epsilon"]) / report["claimed_epsilon"])
            is_unpaid = is_unpaid or not isinstance(report["accounted_epsilon"], int | float)
    return max(times, default=math.nan), is_unpaid


def describe_ranking(rows: pd.DataFrame) -> str:
    """Say which reading explains best what is printed, and what it costs."""
    best, compared = rows.iloc[0], rows[rows["distance"].notna()]
    if compared.empty:
        return "INCOMPLETE: no reading has all its cells, or what is printed is undefined in all"
    is_of_orderings = best["unit"] == "orderings"
    off = f"{best['distance']:.0%} of the orderings" if is_of_orderings else f"{best['distance']:.2f} points"
    sentences = [f"best explained by {best['reading']}: {off} off", *_count_others(rows, compared)]
    has_cost = math.isfinite(best["times_label"])
    if has_cost:
        sentences.append(f"its noisy steps cost {best['times_label']:.3g} × the ε of the label")
    if best["unpaid"]:
        sentences.append(f"{'other' if has_cost else 'some'} steps have no noise at all")
    return "; ".join(sentences)


def _count_others(rows: pd.DataFrame, compared: pd.DataFrame) -> list[str]:
    counts = {
        "more are as good": int(compared["as_good"].sum()) - 1,
        "are farther off": int((~compared["as_good"]).sum()),
        "could not be compared": len(rows) - len(compared),
    }
    return [f"{count} {words}" for words, count in counts.items() if count]
