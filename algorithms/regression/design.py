"""From rows to regressors: public scaling of the attributes, then their monomials, a block of rows at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from algorithms.encoding.clipping import MANY_ROWS, clip_number
from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous
from algorithms.encoding.rows import Rows
from algorithms.encoding.scalings import IN_BALL, SIGNED_TARGET
from algorithms.native import compiled
from algorithms.regression.monomials import Monomials

TARGET_SCALINGS = ("declared", "none")
_NUMBERS = 250_000  # of a block: two megabytes stay in the cache, and each block that is begun takes 30 µs
_FEWEST_ROWS = 1000  # of a block: of d lines d² sums are added up for each block, which many rows make little of
_CACHE_LINE = 8  # numbers that come from memory together


@dataclass(frozen=True)
class Design:
    """Which regressors are made of a row: everything in here is public.

    Parameters
    ----------
    domain : Domain
        The declared attributes and target. A nominal attribute counts as the position of its category, from 0 to the
        number of categories less 1.
    degree : int
        Largest degree of a monomial, at least 1.
    scaling : {"box", "unit", "ball", "signed_ball"}
        "box" maps the declared bounds of each attribute and of the target to [-1, 1], "unit" maps them to [0, 1];
        "ball" maps those of p attributes to [0, 1/√p], so that no row is longer than 1, and those of the target to
        [0, 1]; "signed_ball" does the same with the attributes, and maps those of the target to [-1, 1].
    constant : bool
        Whether the constant 1 is a regressor, too; it is the last.
    target_scaling : {"declared", "none"}, default="declared"
        Whether the target is scaled like that; "none" leaves it in its own unit.

    Examples
    --------
    >>> domain = Domain((Continuous("a", 0, 10), Continuous("b", 0, 1)))
    >>> design = Design(domain, 2, "box", constant=False)
    >>> next(design.blocks(domain.rows([[10.0, 0.5], [7.5, 0.0]]))).T
    array([[ 1.  ,  0.  ,  1.  ,  0.  ,  0.  ],
           [ 0.5 , -1.  ,  0.25, -0.5 ,  1.  ]])
    """

    domain: Domain
    degree: int
    scaling: str
    constant: bool
    target_scaling: str = "declared"

    @cached_property
    def monomials(self) -> Monomials:
        """The monomials of the scaled attributes."""
        return Monomials(len(self.domain.features), self.degree, self.constant)

    @cached_property
    def names(self) -> list[str]:
        """Names of the monomials."""
        return self.monomials.names(self.domain.names)

    def blocks(self, rows: Rows, size: int | None = None) -> Iterator[np.ndarray]:
        """Yield the regressors of some rows after the other, so that those of all rows are never in memory.

        Parameters
        ----------
        rows : Rows of the domain
            n rows, with or without their target.
        size : int or None, default=None
            Rows of a block; None: as many as stay in the cache.

        Yields
        ------
        float64 array of shape (d, m), or (d + 1, m) with a target
            Monomials of m rows, and in the last line their scaled target. The next block overwrites it.

        Raises
        ------
        DomainError
            For values that the domain does not know, or missing ones, unless ``rows`` leaves such records out.
        """
        p, d = len(self.domain.features), len(self.monomials)
        n_lines = d + len(rows.features) - p
        size = size or _choose_size(n_lines)
        buffer = _make_buffer(n_lines * min(size, len(rows)))  # flat, so that the last block has no gaps either
        for start in range(0, len(rows), size):
            m = min(size, len(rows) - start)
            block = buffer[: n_lines * m].reshape(n_lines, m)
            is_usable = self._read_block(rows, slice(start, start + m), block)
            if not is_usable.all():
                block = np.compress(is_usable, block, axis=1)
            if not block.shape[1]:
                continue  # the sum of such a block would be complained about, in print
            self.monomials.expand(block[:d])
            yield block

    def _read_block(self, rows: Rows, which: slice, block: np.ndarray) -> np.ndarray:
        """Fill the lines of the attributes and of the target, scaled, and tell which rows can be used."""
        p, d = len(self.domain.features), len(self.monomials)
        times, less = _times_and_less(self.scaling == "box")
        lines, first, read_table = [*block[:p], *block[d:]], 0, None
        if rows.table is not None and len(rows) > MANY_ROWS:  # the attributes are clipped and scaled at once
            first, read_table = p, partial(_read_table, block[:p], self._bounds, times, less)
        is_usable = rows.encode(which, lines, read_table)
        lower, width = self._lower_and_width
        for i in range(first, len(lines) if self.target_scaling == "declared" else p):
            if i == p:
                times, less = _times_and_less(self.scaling in SIGNED_TARGET)
            _scale_line(lines[i], lower[i], width[i], times, less)
        if self.scaling in IN_BALL:
            block[:p] /= math.sqrt(p)
        return is_usable

    def in_unit_of_target(self, scaled: np.ndarray) -> np.ndarray:
        """Turn values on the scale of the target line of a block into the unit of the target."""
        if self.target_scaling == "none":
            return scaled
        bounds = self.domain.target
        shares = (scaled + 1) / 2 if self.scaling in SIGNED_TARGET else scaled
        return bounds.lower + shares * (bounds.upper - bounds.lower)

    @property
    def largest_target(self) -> float:
        """The largest absolute value that a target may have in a block."""
        bounds = self.domain.target
        return 1.0 if self.target_scaling == "declared" else max(abs(bounds.lower), abs(bounds.upper))

    @cached_property
    def _bounds(self) -> np.ndarray:
        """Lower bound, upper bound and width of each attribute, all of them numbers: float64 array of shape (3, p)."""
        lower, width = self._lower_and_width
        upper = [feature.upper for feature in self.domain.features]
        return np.array([values[: len(upper)] for values in (lower, upper, width)], dtype=np.float64)

    @cached_property
    def _lower_and_width(self) -> tuple[list[float], list[float]]:
        """Lower bound and width of each attribute, and of the target if there is one."""
        columns = [*self.domain.features, *([self.domain.target] if self.domain.target else [])]
        pairs = [(f.lower, f.upper) if isinstance(f, Continuous) else (0, len(f.categories) - 1) for f in columns]
        # a single category has no width
        return [float(lower) for lower, _ in pairs], [float(upper - lower) or 1.0 for lower, upper in pairs]


def _times_and_less(is_signed: bool) -> tuple[float, float]:
    """Return what maps [0, 1] to [-1, 1], or to itself: a factor, and what is taken away then."""
    return (2.0, 1.0) if is_signed else (1.0, 0.0)


def _choose_size(n_lines: int) -> int:
    """Return how many rows a full block has: whole cache lines, and an odd number of them.

    Lines of a block that were whole pages apart would push each other out of the nearest cache. Where there are fewer
    rows, lines lie as they come, which takes some hundredths more time.
    """
    return max(_FEWEST_ROWS, _NUMBERS // n_lines) // (2 * _CACHE_LINE) * (2 * _CACHE_LINE) + _CACHE_LINE


def _make_buffer(n_numbers: int) -> np.ndarray:
    """Return room for numbers that begins with a cache line; else every other vector that is read lies in two lines."""
    buffer = np.empty(n_numbers + _CACHE_LINE)
    n_before = -(buffer.ctypes.data // buffer.itemsize) % _CACHE_LINE
    return buffer[n_before : n_before + n_numbers]


def _scale_number(value, lower, width, times, less):
    # a quotient, unlike a product with 1 / width, never rounds to more than 1
    return times * ((value - lower) / width) - less


@compiled
def _scale_line(line, lower, width, times, less):
    """Map values between the bounds to [0, 1], and that to [-less, times - less], in place."""
    for i in range(line.shape[0]):
        line[i] = _scale_number(line[i], lower, width, times, less)


@compiled
def _read_table(out, bounds, times, less, values, n_clipped):
    """Clip and scale the columns of a table into lines, see ``read_table`` of `Rows.encode`."""
    n_missing = 0
    for j in range(values.shape[1]):
        lower, upper, width = bounds[:, j]
        for i in range(values.shape[0]):
            value = values[i, j]
            clipped = clip_number(value, lower, upper)
            n_clipped[j] += clipped < value or clipped > value
            n_missing += np.isnan(value)
            out[j, i] = _scale_number(clipped, lower, width, times, less)
    return n_missing
