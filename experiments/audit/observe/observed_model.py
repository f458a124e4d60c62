"""What is seen of many trainings: the whole released model, as codes and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from algorithms.accounting.privacy import Privacy


class Observation(NamedTuple):
    """What n trainings released, looked at from several sides.

    A model may have T parts that are drawn alike, such as trees; a side then has a column for each.
    """

    codes: dict[str, np.ndarray]  #: int64 (n, T): discrete outcomes, equal where the outcome is
    numbers: dict[str, np.ndarray]  #: float64 (n, T): NaN where there is none

    def select(self, trainings: slice) -> Observation:
        """Return what some of the trainings released."""
        return Observation(*({side: values[trainings] for side, values in sides.items()} for sides in self))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of trainings and of parts."""
        sides = self.codes or self.numbers
        return next(iter(sides.values())).shape


class Observer:
    """An algorithm on one table, ready to be trained many times."""

    privacy: Privacy  #: what the algorithm claims, as its estimator says after a fit of this table

    def observe(self, first: int, n: int) -> Observation:
        """Train n times, training number ``first`` and those that follow it; the same numbers give the same models."""
        raise NotImplementedError

    def describe_side(self, side: str, training: int, part: int) -> str:
        """Return in words what a side of the model is in one training, in one of its parts; numbers have no words."""
        raise KeyError(side)


def join_observations(observations: Sequence[Observation]) -> Observation:
    """Return one observation of all trainings, in order."""
    joined = []
    for blocks in zip(*observations, strict=True):  # codes, then numbers
        joined.append({side: np.concatenate([block[side] for block in blocks]) for side in blocks[0]})
    return Observation(*joined)
