"""All monomials of some attributes up to a degree, expanded column by column."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np

from algorithms.parameters import ParameterError, check_count

MOST = 2000
"""Largest number of monomials: the objective has its square of coefficients."""


def count(n_attributes: int, degree: int) -> int:
    """Return d = C(p + k, k) - 1, the number of monomials of degree 1 to k in p attributes.

    Examples
    --------
    >>> count(9, 2), count(4, 3), count(6, 2)
    (54, 34, 27)
    """
    return math.comb(n_attributes + degree, degree) - 1


@dataclass(frozen=True)
class Monomials:
    """The monomials of degree 1 to k in p attributes: by degree, then lexicographically, then the constant if any.

    Parameters
    ----------
    n_attributes : int
        Number of attributes p, at least 1.
    degree : int
        Largest degree k, at least 1.
    constant : bool
        Whether the constant 1 is a monomial, too; it is the last.

    Raises
    ------
    ParameterError
        If the degree is not a positive whole number, or gives more than 2,000 monomials.

    Examples
    --------
    >>> quadratic = Monomials(2, 2, constant=True)
    >>> quadratic.names(["a", "b"])
    ['a', 'b', 'a²', 'a·b', 'b²', '1']
    >>> block = np.empty((len(quadratic), 1))
    >>> block[:2, 0] = 3, 5
    >>> quadratic.expand(block)
    >>> block[:, 0]
    array([ 3.,  5.,  9., 15., 25.,  1.])
    """

    n_attributes: int
    degree: int
    constant: bool = False

    def __post_init__(self):
        check_count("degree", self.degree, highest=MOST, of="largest number of monomials")
        if len(self) > MOST:
            raise ParameterError(
                f"degree must be smaller: {self.n_attributes} attributes have {len(self):,} monomials up to degree "
                f"{self.degree}, more than {MOST:,}"
            )

    def __len__(self) -> int:
        return count(self.n_attributes, self.degree) + self.constant

    def names(self, attributes: Sequence[str]) -> list[str]:
        """Return the name of each monomial, given those of the attributes."""
        powers = [
            Counter(factors)
            for degree in range(1, self.degree + 1)
            for factors in combinations_with_replacement(range(self.n_attributes), degree)
        ]
        names = ["·".join(f"{attributes[i]}{_superscript(power)}" for i, power in each.items()) for each in powers]
        return names + ["1"] * self.constant

    def expand(self, block: np.ndarray) -> None:
        """Compute the monomials of m rows in place.

        Parameters
        ----------
        block : float64 array of shape (d, m)
            The first p lines hold the attributes; the others are filled.
        """
        for attribute, factors, products in self._steps:
            np.multiply(block[attribute], block[factors], out=block[products])
        if self.constant:
            block[-1] = 1.0

    @cached_property
    def _steps(self) -> list[tuple[int, slice, slice]]:
        """Which attribute is multiplied into which monomials of the degree below, and where the products go.

        In lexicographic order the monomials that begin with attribute i are x_i times those of the degree below that
        begin with i or a later one, and these are the tail of their degree.
        """
        steps = []
        begins, filled = list(range(self.n_attributes)), self.n_attributes
        for _ in range(1, self.degree):
            end = filled
            for i, begin in enumerate(begins):
                begins[i] = filled
                filled += end - begin
                steps.append((i, slice(begin, end), slice(begins[i], filled)))
        return steps


def _superscript(power: int) -> str:
    return str(power).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")) if power > 1 else ""
