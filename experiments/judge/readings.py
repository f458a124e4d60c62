"""Which reading of a paper's text explains best what it prints? The product of its readings, run and ranked.

A paper's key ``readings`` is a list of questions. Each is one of three kinds::

    readings:
      - id: tables            # printed numbers of one algorithm in one study: the parameters vary
        title: "..."
        study: grid
        algorithm: rfdpp_gini
        params: {leaf: [noisy_counts, exact], tree_budget: [divided, whole]}
        protocol: {evaluate_on: [test, train]}
        repeats: 3
      - {id: table-2, title: "...", table: table-2, repeats: 10}     # numbers without a setting: the settings vary
      - id: orderings         # no number survives, but claims "above" and "below" do
        title: "..."
        claims: [diffpets-above-rdt]
        algorithm: diffpets
        params: {leaf: [noisy_counts, count]}
        repeats: 5

The distance of a reading is the root mean square, over the printed numbers, of our means minus theirs; of orderings,
the share that comes out the wrong way round. Repeats have splits that all readings share, so that readings are compared
in pairs, by the jackknife: those whose difference from the best has an interval that reaches zero are as good. The best
is the luckiest of many, for which nothing is adjusted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from datasets import catalogue
from experiments.cells.cell import overlap_of
from experiments.judge.reading_cells import Reading, Target, kind_of
from experiments.judge.verdict import is_in_per_cent
from experiments.stats import mean_interval
from experiments.store.long_table import said_of_privacy


def ranked(question: Mapping, readings: list[Reading], table: pd.DataFrame) -> pd.DataFrame:
    """Rank readings by their distance from what is printed.

    Parameters
    ----------
    question : mapping
        What was asked.
    readings : list of Reading
        As from `readings_of`.
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
    found = [_Found.of(question, reading, cells) for reading in readings]
    found.sort(key=lambda one: one.distance if math.isfinite(one.distance) else math.inf)
    return pd.DataFrame([one.row(question, rank, found[0]) for rank, one in enumerate(found, start=1)])


@dataclass(frozen=True)
class _Found:
    """What the cells say of one reading."""

    reading: Reading
    errors: np.ndarray  # one row per target, one column per repeat; no columns where cells are missing
    cost: tuple[float, bool]
    n: int
    n_expected: int

    @classmethod
    def of(cls, question: Mapping, reading: Reading, cells: pd.DataFrame) -> _Found:
        asked = {cell.key: cell for target in reading.targets for cell in target.all()}
        done = [key for key in asked if key in cells.index and cells.at[key, "status"] == "done"]
        own = question.get("algorithm", reading.targets[0].cells[0].algorithm)  # a table names the paper's own first
        cost = _cost(cells.loc[[key for key in done if asked[key].algorithm == own], "privacy"])
        complete = len(done) == len(asked)
        errors = np.array([_errors(target, cells) for target in reading.targets]) if complete else np.empty((1, 0))
        return cls(reading, errors, cost, len(done), len(asked))

    @property
    def distance(self) -> float:
        """How far the means over repeats are from what is printed; NaN where a mean is undefined."""
        return self._distance(self.errors)

    def _distance(self, errors: np.ndarray) -> float:
        if not errors.shape[1] or np.isnan(errors).any():
            return math.nan
        means = errors.mean(axis=1)
        return float(np.mean(means <= 0) if self.reading.targets[0].less else np.sqrt(np.mean(means**2)))

    def pseudo_values(self) -> np.ndarray:
        """Return what each repeat contributes to the distance (jackknife)."""
        n = self.errors.shape[1]
        without = [self._distance(np.delete(self.errors, i, axis=1)) for i in range(n)]
        return n * self.distance - (n - 1) * np.array(without) if n > 1 else np.array([])

    def row(self, question: Mapping, rank: int, best: _Found) -> dict:
        """Return the row of the ranking."""
        is_compared = math.isfinite(self.distance) and self.errors.shape[1] > 1
        cell = self.reading.targets[0].cells[0]
        overlap = overlap_of(cell.protocol, catalogue.read_entry(cell.dataset).n_train is not None)
        spread = mean_interval(self.pseudo_values() - best.pseudo_values() if is_compared else [], overlap=overlap)
        behind, half = self.distance - best.distance, (spread.high - spread.low) / 2
        return {
            "question": question["id"],
            "unit": "orderings" if kind_of(question) == "claims" else "points",
            "rank": rank,
            "reading": self.reading.words,
            "distance": self.distance,
            "from_best": behind,
            "low": behind - half,
            "high": behind + half,
            "as_good": bool(behind - half <= 0) if is_compared else math.isfinite(self.distance),
            "times_label": self.cost[0],
            "unpaid": self.cost[1],
            "n": self.n,
            "n_expected": self.n_expected,
        }


def _errors(target: Target, cells: pd.DataFrame) -> np.ndarray:
    """Return for each repeat ours minus what is printed, or by how much an ordering comes out as claimed."""
    ours = cells.loc[[cell.key for cell in target.cells], target.metric].to_numpy(np.float64)
    if target.less:
        return ours - cells.loc[[cell.key for cell in target.less], target.metric].to_numpy(np.float64)
    return (ours - target.printed) * (100 if is_in_per_cent(target.metric) else 1)


def _cost(privacy: pd.Series) -> tuple[float, bool]:
    """Return what the noisy steps cost at most, in labels, and whether there are steps without noise."""
    finite = [one for one in said_of_privacy(privacy) if isinstance(one["claimed_epsilon"], int | float)]
    times = [float(one["noisy_epsilon"]) / one["claimed_epsilon"] for one in finite]
    return max(times, default=math.nan), any(not isinstance(one["accounted_epsilon"], int | float) for one in finite)


def sentence(rows: pd.DataFrame) -> str:
    """Say which reading explains best what is printed, and what it costs."""
    best, known = rows.iloc[0], rows[rows["distance"].notna()]
    if known.empty:
        return "INCOMPLETE: no reading has all its cells, or what is printed is undefined in all"
    others, farther = int(known["as_good"].sum()) - 1, int((~known["as_good"]).sum())
    is_of_orderings, times = best["unit"] == "orderings", best["times_label"]
    off = f"{best['distance']:.0%} of the orderings" if is_of_orderings else f"{best['distance']:.2f} points"
    said = [
        f"best explained by {best['reading']}: {off} off",
        f"{others} more are as good" if others else "",
        f"{farther} are farther off" if farther else "",
        f"{len(rows) - len(known)} could not be compared" if len(known) < len(rows) else "",
        f"its noisy steps cost {times:.3g} × the ε of the label" if math.isfinite(times) else "",
        f"{'other' if math.isfinite(times) else 'some'} steps have no noise at all" if best["unpaid"] else "",
    ]
    return "; ".join(filter(None, said))
