"""From rows to regressors: public scaling of the attributes, then their monomials, a block of rows at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from algorithms.domain import Continuous, Feature
from algorithms.parameters import check_choice
from algorithms.regression.monomials import Monomials

SCALINGS = ("box", "ball")
_BLOCK = 8192  # rows; measured at 27 and 54 monomials, faster than 4,096 or 16,384


@dataclass(frozen=True)
class Design:
    """Which regressors are made of a row: everything in here is public.

    Parameters
    ----------
    features : tuple of Continuous or Nominal
        The declared attributes. A nominal one counts as the position of its category, from 0 to the number of
        categories less 1.
    degree : int
        Largest degree of a monomial, at least 1.
    scaling : {"box", "ball"}
        "box" maps the declared bounds of each attribute and of the target to [-1, 1]; "ball" maps those of p
        attributes to [0, 1/√p], so that no row is longer than 1, and those of the target to [0, 1].
    constant : bool
        Whether the constant 1 is a regressor, too; it is the last.

    Raises
    ------
    ParameterError
        For an unknown scaling, a bad degree, or one that gives too many monomials.

    Examples
    --------
    >>> design = Design((Continuous("a", 0, 10), Continuous("b", 0, 1)), 2, "box", constant=False)
    >>> next(design.blocks(np.array([[10.0, 0.5], [7.5, 0.0]]))).T
    array([[ 1.  ,  0.  ,  1.  ,  0.  ,  0.  ],
           [ 0.5 , -1.  ,  0.25, -0.5 ,  1.  ]])
    """

    features: tuple[Feature, ...]
    degree: int
    scaling: str
    constant: bool

    def __post_init__(self):
        check_choice("scaling", self.scaling, SCALINGS)
        self.monomials  # noqa: B018 - built here so that a bad degree is refused at once

    @cached_property
    def monomials(self) -> Monomials:
        """The monomials of the scaled attributes."""
        return Monomials(len(self.features), self.degree, self.constant)

    def blocks(self, matrix: np.ndarray, target: np.ndarray | None = None, size: int = _BLOCK) -> Iterator:
        """Yield the regressors of some rows after the other, so that those of all rows are never in memory.

        Parameters
        ----------
        matrix : float64 array of shape (n, p)
            Rows as ``Domain.encode`` returns them.
        target : float64 array of shape (n,) or None, default=None
            Target in [0, 1].
        size : int, default=8192
            Rows of a block.

        Yields
        ------
        float64 array of shape (d, m), or (d + 1, m) with a target
            Monomials of m rows, and in the last line their scaled target. The next block overwrites it.
        """
        n_lines = len(self.monomials) + (target is not None)
        buffer = np.empty((n_lines, min(size, len(matrix))))
        for start in range(0, len(matrix), size):
            rows = slice(start, start + size)
            block = buffer[:, : len(matrix[rows])]
            self._scale(matrix[rows], block[: len(self.features)])
            self.monomials.expand(block[: len(self.monomials)])
            if target is not None:
                block[-1] = 2 * target[rows] - 1 if self.scaling == "box" else target[rows]
            yield block

    def share_of_target(self, scaled: np.ndarray) -> np.ndarray:
        """Turn values on the scale of the target line of a block back to [0, 1]."""
        return (scaled + 1) / 2 if self.scaling == "box" else scaled

    def _scale(self, matrix: np.ndarray, out: np.ndarray) -> None:
        np.subtract(matrix.T, self._bounds[0], out=out)
        out /= self._bounds[1]  # a quotient, unlike a product with 1 / width, never rounds to more than 1
        if self.scaling == "box":
            out *= 2
            out -= 1
        else:
            out /= math.sqrt(len(self.features))

    @cached_property
    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower bound and width of each attribute, arrays of shape (p, 1)."""
        pairs = [(f.lower, f.upper) if isinstance(f, Continuous) else (0, len(f.categories) - 1) for f in self.features]
        lower, upper = np.array(pairs, dtype=np.float64).T[:, :, np.newaxis]
        return lower, np.where(upper > lower, upper - lower, 1.0)  # a single category has no width
