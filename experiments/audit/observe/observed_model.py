"""What is seen of many trainings: the whole released model, as codes and numbers."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from algorithms.accounting import Privacy


class Observation(NamedTuple):
    """What n trainings released, looked at from several sides.

    A model may have T parts that are drawn alike, such as trees; a side then has a column for each.
    """

    codes: dict[str, np.ndarray]  # int64 (n, T): discrete outcomes, equal where the outcome is
    numbers: dict[str, np.ndarray]  # float64 (n, T): NaN where there is none

    def __getitem__(self, trainings: slice) -> Observation:
        """Return what some of the trainings released."""
        codes = {side: values[trainings] for side, values in self.codes.items()}
        return Observation(codes, {side: values[trainings] for side, values in self.numbers.items()})

    def __len__(self) -> int:
        return len(next(iter((self.codes | self.numbers).values())))


class Observer(Protocol):
    """An algorithm on one table, ready to be trained many times."""

    privacy: Privacy
    """What the algorithm claims, as its estimator says after a fit of this table."""

    def observe(self, first: int, n: int) -> Observation:
        """Train n times, training number ``first`` and those that follow it; the same numbers give the same models."""
        ...

    def words(self, side: str, training: int, part: int) -> str:
        """Say what a side of the model is in one training, in one of its parts."""
        ...


def join_observations(observations: list[Observation]) -> Observation:
    """Return one observation of all trainings, in order."""
    codes, numbers = (
        {
            side: np.concatenate([getattr(one, kind)[side] for one in observations])
            for side in getattr(observations[0], kind)
        }
        for kind in ("codes", "numbers")
    )
    return Observation(codes, numbers)
