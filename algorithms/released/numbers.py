"""Released numbers by name: the simplest release, of an algorithm that publishes noisy answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from algorithms.released.document import Origin, Release, to_plain_data
from algorithms.released.field import DEEPEST, Field


@dataclass(frozen=True, eq=False)
class ReleasedNumbers(Release):
    """Noisy numbers that have left."""

    KIND = "numbers"

    origin: Origin
    numbers: Mapping[str, np.ndarray]  #: what was paid for, by name

    def to_contents(self) -> dict:
        """Return the numbers."""
        return {name: to_plain_data(numbers) for name, numbers in self.numbers.items()}

    @classmethod
    def from_contents(cls, origin: Origin, contents: Field) -> ReleasedNumbers:
        """Return the release that ``contents`` was made of."""
        return cls(origin, {name: _read_numbers(field) for name, field in contents.named().items()})


def _read_numbers(field: Field) -> np.ndarray:
    """Return an array of as many axes as its first number stands in lists."""
    n_axes, first = 0, field.value
    while type(first) is list and n_axes < DEEPEST:
        n_axes, first = n_axes + 1, first[0] if first else None
    return field.numbers(*[None] * n_axes)
