"""All monomials of some attributes up to a degree, expanded column by column."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np

from algorithms.parameters import ParameterError, check_count

MOST = 2000
"""Largest number of monomials: the objective has its square of coefficients."""


def count_monomials(n_attributes: int, degree: int) -> int:
    """Return d = C(p + k, k) - 1, the number of monomials of degree 1 to k in p attributes.

    Examples
    --------
    >>> count_monomials(9, 2), count_monomials(4, 3), count_monomials(6, 2)
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
        return count_monomials(self.n_attributes, self.degree) + self.constant

    def names(self, attributes: Sequence[str]) -> list[str]:
        """Return the name of each monomial, given those of the attributes."""
        powers = map(Counter, self._factor_tuples)
        names = ["·".join(f"{attributes[i]}{_format_power(power)}" for i, power in each.items()) for each in powers]
        return names + ["1"] * self.constant

    def containing(self, attributes: Collection[int]) -> np.ndarray:
        """Return which monomials contain any of the attributes, given by position: bool array of shape (d,).

        Examples
        --------
        >>> Monomials(2, 2, constant=True).containing([1])
        array([False,  True, False,  True,  True, False])
        """
        contain = [not set(attributes).isdisjoint(factors) for factors in self._factor_tuples]
        return np.array(contain + [False] * self.constant)

    @cached_property
    def exponents(self) -> np.ndarray:
        """Power of each attribute in each monomial: int64 array of shape (d, p)."""
        powers = np.zeros((len(self), self.n_attributes), dtype=np.int64)
        for row, factors in zip(powers, self._factor_tuples, strict=False):  # the row of the constant stays
            for attribute in factors:
                row[attribute] += 1
        return powers

    @cached_property
    def squares(self) -> np.ndarray:
        """Which product each two monomials have: numbers from 0, equal where the products are, of shape (d, d).

        Examples
        --------
        >>> Monomials(1, 2, constant=True).squares  # x, x² and 1
        array([[2, 3, 1],
               [3, 4, 2],
               [1, 2, 0]])
        """
        numbers, base = np.zeros((len(self), len(self)), dtype=np.int64), 2 * self.degree + 1
        n_digits = 0
        for powers in self.exponents.T:
            if (len(self) ** 2) * base ** (n_digits + 1) > 2**62:
                numbers, n_digits = _rank(numbers), 0  # they would be too large soon; numbered anew they are below d²
            numbers = numbers * base + (powers[:, np.newaxis] + powers)
            n_digits += 1
        return _rank(numbers)

    def expand(self, block: np.ndarray) -> None:
        """Compute the monomials of m rows in place.

        Parameters
        ----------
        block : float64 array of shape (d, m)
            The first p lines hold the attributes; the others are filled.
        """
        for attribute, monomials, products in self._runs_of_products:
            np.multiply(block[attribute], block[monomials], out=block[products])
        if self.constant:
            block[-1] = 1.0

    @cached_property
    def _factor_tuples(self) -> list[tuple[int, ...]]:
        """The attributes that are multiplied in each monomial but the constant."""
        degrees = range(1, self.degree + 1)
        return [each for k in degrees for each in combinations_with_replacement(range(self.n_attributes), k)]

    @cached_property
    def _runs_of_products(self) -> list[tuple[int, slice, slice]]:
        """What the monomials of degree 2 or more are products of: an attribute, and monomials of one degree less.

        Those are neighbours: all of that degree whose first factor is the attribute, or comes after it.
        """
        runs, starts, end = [], list(range(self.n_attributes)), self.n_attributes
        for _ in range(1, self.degree):
            end_of_factors = end
            for attribute, start in enumerate(starts):
                starts[attribute], n = end, end_of_factors - start
                runs.append((attribute, slice(start, end_of_factors), slice(end, end + n)))
                end += n
        return runs


def _rank(numbers: np.ndarray) -> np.ndarray:
    """Number what occurs from 0, by size."""
    return np.unique(numbers, return_inverse=True)[1].reshape(numbers.shape)


def _format_power(power: int) -> str:
    return str(power).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")) if power > 1 else ""
