"""Released noisy distributions, and rows that are drawn from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous, Nominal
from algorithms.released.document import Origin, Release, to_plain_data
from algorithms.released.field import ROUNDING, SMALLEST, Field
from algorithms.released.origin import check_target, count_categories

MOST_ROWS = 10**8
"""Most rows that can be drawn."""


@dataclass(frozen=True, eq=False)
class ReleasedMarginals(Release):
    """Noisy sizes of classes and, in each of them, the noisy distribution of each attribute."""

    KIND = "marginals"

    origin: Origin
    class_counts: np.ndarray  #: float64 (c,): noisy size of each class, at least 0
    shares: tuple[np.ndarray, ...]  #: float64 (c, v) for each attribute: of its v categories or bins in each class

    def draw(self, random_state=None) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows: as many as ``sampling_ratio`` asks for, by the noisy sizes of the classes.

        Parameters
        ----------
        random_state : int or None, default=None
            Seed of the draw, which may be public: no row that was protected is looked at.

        Returns
        -------
        rows : float64 array of shape (m, k)
            Columns as the domain has them, categories as their place in it, from 1.
        labels : array of shape (m,)
            Their classes.
        """
        ratio = self.origin.parameters["sampling_ratio"]
        rng = np.random.default_rng(random_state)
        rows, labels = draw_rows(self.origin.domain, self.class_counts, self.shares, ratio, rng)
        return rows, np.unique(np.array(self.origin.domain.target.categories))[labels]

    def to_contents(self) -> dict:
        """Return the noisy tables."""
        return {"class_counts": to_plain_data(self.class_counts), "shares": to_plain_data(self.shares)}

    @classmethod
    def from_contents(cls, origin: Origin, contents: Field) -> ReleasedMarginals:
        """Return the marginals that ``contents`` was made of; two parameters say how rows are drawn from them."""
        check_target(origin.domain, Nominal)
        fields = contents.entries("class_counts", "shares")
        parameters = Field(origin.parameters, "parameters").named()
        for name in ("sampling_ratio", "n_bins"):
            if name not in parameters:
                Field(origin.parameters, "parameters").refuse(f"must have {name!r}")
        ratio = parameters["sampling_ratio"].number(lowest=SMALLEST)
        n_bins = parameters["n_bins"].whole(lowest=2, highest=MOST_ROWS)
        class_counts = fields["class_counts"].numbers(len(origin.domain.target.categories), lowest=0)
        if not ratio * class_counts.sum() <= MOST_ROWS:
            fields["class_counts"].refuse(f"must be at most {MOST_ROWS:,} rows in all, times sampling_ratio")
        tables, n_values = fields["shares"].items(), count_categories(origin.domain, n_bins)
        if len(tables) != len(n_values):
            fields["shares"].refuse(f"must be a list of {len(n_values)}")
        shares = tuple(_read_shares(*each, len(class_counts)) for each in zip(tables, n_values, strict=True))
        return cls(origin, class_counts, shares)


def _read_shares(field: Field, n_values: int, n_classes: int) -> np.ndarray:
    shares = field.numbers(n_classes, n_values, lowest=0, highest=1)
    field.refuse_where(np.abs(shares.sum(axis=1) - 1) > ROUNDING, "must have a sum of 1")
    return shares


def draw_rows(
    domain: Domain, class_counts: np.ndarray, shares: tuple[np.ndarray, ...], ratio: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows from noisy distributions, attribute by attribute; parameters are those of `ReleasedMarginals`.

    Returns
    -------
    rows : float64 array of shape (m, k)
        Categories count from 1.
    labels : int64 array of shape (m,)
        Positions of their classes, ascending.
    """
    sizes = np.round(ratio * class_counts).astype(np.int64)
    if not sizes.any():  # the noise has left none at all
        sizes = np.ones_like(sizes)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    columns = [_draw_column(domain.features[i], shares[i], labels, rng) for i in range(len(shares))]
    return np.column_stack(columns), labels


def _draw_column(feature, shares: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a value of one attribute for each row, given its class; a continuous one evenly in its bin."""
    ends = np.cumsum(shares, axis=1)
    ends[:, -1] = 1.0  # not a rounding less: each draw is below it
    cells = (rng.random(len(labels))[:, None] >= ends[labels]).sum(axis=1)
    if not isinstance(feature, Continuous):
        return cells + 1.0
    return feature.lower + (cells + rng.random(len(labels))) / shares.shape[1] * (feature.upper - feature.lower)
