"""Released numbers by name: the simplest release, of an algorithm that publishes noisy answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from algorithms.released.document import Origin, Release, to_array, to_plain_data


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
    def from_contents(cls, origin: Origin, contents: dict) -> ReleasedNumbers:
        """Return the release that ``contents`` was made of."""
        return cls(origin, {name: to_array(numbers) for name, numbers in contents.items()})
