"""Released weights of a polynomial regression."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from algorithms.encoding.features import Continuous
from algorithms.encoding.scalings import IN_BALL, SCALINGS, SIGNED_TARGET
from algorithms.released.document import Origin, Release, to_plain_data
from algorithms.released.field import Field
from algorithms.released.origin import check_target

HIGHEST_DEGREE = 2000
"""Highest degree of a monomial."""


@dataclass(frozen=True, eq=False)
class ReleasedRegression(Release):
    """A polynomial regression that has left."""

    KIND = "regression"

    origin: Origin
    weights: np.ndarray  #: float64 (d,): of each monomial of the scaled attributes, for the scaled target
    powers: np.ndarray  #: int64 (d, p): of each attribute in each monomial
    scaling: str  #: where the bounds are mapped, one of ``algorithms.encoding.scalings.SCALINGS``

    def predict(self, X) -> np.ndarray:
        """Predict the target of each row, in its unit, but maybe beyond its bounds."""
        target = self.origin.domain.target
        shares = (self.origin.domain.encode(X)[0] - self._lower_bounds) / self._bound_widths
        length = math.sqrt(self.powers.shape[1]) if self.scaling in IN_BALL else 1.0
        scaled = 2 * shares - 1 if self.scaling == "box" else shares / length
        predicted = np.zeros(len(scaled))
        for weight, powers in zip(self.weights, self.powers, strict=True):
            predicted += weight * (scaled**powers).prod(axis=1)
        of_target = (predicted + 1) / 2 if self.scaling in SIGNED_TARGET else predicted
        return target.lower + of_target * (target.upper - target.lower)

    @property
    def _lower_bounds(self) -> np.ndarray:
        return np.array([f.lower if isinstance(f, Continuous) else 0.0 for f in self.origin.domain.features])

    @property
    def _bound_widths(self) -> np.ndarray:
        """Width of each attribute; a category counts as its position, and a single one has no width."""
        features = self.origin.domain.features
        return np.array(
            [f.upper - f.lower if isinstance(f, Continuous) else len(f.categories) - 1 or 1.0 for f in features]
        )

    def to_contents(self) -> dict:
        """Return weights, powers and scaling."""
        return {"weights": to_plain_data(self.weights), "powers": to_plain_data(self.powers), "scaling": self.scaling}

    @classmethod
    def from_contents(cls, origin: Origin, contents: Field) -> ReleasedRegression:
        """Return the regression that ``contents`` was made of: it has a weight for every monomial of its degree."""
        check_target(origin.domain, Continuous)
        fields = contents.entries("weights", "powers", "scaling")
        shape = (None, len(origin.domain.features))
        powers = fields["powers"].whole_numbers(*shape, lowest=0, highest=HIGHEST_DEGREE)
        if not has_every_monomial(powers):
            fields["powers"].refuse("must be all monomials up to a degree, by degree, the constant last if at all")
        return cls(origin, fields["weights"].numbers(len(powers)), powers, fields["scaling"].one_of(SCALINGS))


def has_every_monomial(powers: np.ndarray) -> bool:
    """Tell whether powers are those of all monomials up to a degree, as ``regression.monomials`` orders them.

    Parameters
    ----------
    powers : int64 array of shape (d, p)
        Of each attribute in each monomial, at least 0.

    Examples
    --------
    >>> has_every_monomial(np.array([[1, 0], [0, 1], [2, 0], [1, 1], [0, 2], [0, 0]]))
    True
    >>> has_every_monomial(np.array([[1, 0], [0, 1], [2, 0], [1, 1], [0, 3]]))
    False
    """
    rows, p = powers.tolist(), powers.shape[1]
    if rows and not any(rows[-1]):
        rows.pop()  # the constant
    keys = [(sum(row), [-power for power in row]) for row in rows]
    is_ascending = all(a < b for a, b in pairwise(keys))
    degree = keys[-1][0] if keys else 0
    is_whole = 0 < degree <= HIGHEST_DEGREE and len(keys) == math.comb(p + degree, degree) - 1
    return is_ascending and is_whole and keys[0][0] > 0
