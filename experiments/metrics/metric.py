"""What is known of a metric before anything is run: its range, its direction, its unit, and what is no difference."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

POINT = 0.01  #: one point of a percentage, and as much of R²
STANDARD_ERROR = "_se"  #: the end of the name of a metric's standard error over folds


class MetricRange(NamedTuple):
    """The smallest and the largest value that a metric can have."""

    low: float
    high: float

    @property
    def reach(self) -> float | None:
        """The largest difference of two values; None where there is no bound."""
        return self.high - self.low if math.isfinite(self.high - self.low) else None


class Margin(NamedTuple):
    """What counts as no difference of a metric."""

    size: float  #: on the metric's scale, or a share of the metric
    is_share: bool = False
    floor: float = -math.inf  #: values below it do not differ, however far apart: an R² below 0 is worse than no model

    def between(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """Return the margin between two levels of a metric, one value of each in each repeat, on the metric's scale.

        Examples
        --------
        >>> Margin(0.1, is_share=True).between(np.array([1.0, -1.0]), np.array([3.0, -3.0]))
        array([0.2, 0.2])
        >>> Margin(0.01, floor=0.0).between(np.array([-5.0, -5.0]), np.array([-9.0, 0.5]))
        array([ inf, 0.01])
        """
        size = self.size * np.abs(before + after) / 2 if self.is_share else np.full(np.shape(before), self.size)
        return np.where(np.maximum(before, after) < self.floor, math.inf, size)

    def largest(self, reach: float) -> float:
        """Return the largest that it can be of a metric between 0 and ``reach``."""
        return self.size * reach if self.is_share else self.size


UNBOUNDED = MetricRange(-math.inf, math.inf)
TWENTIETH = Margin(0.05, is_share=True)  #: the margin of an error, or of any other metric without a scale of its own


@dataclass(frozen=True)
class Metric:
    """A metric, as far as it is known before anything is run."""

    name: str  #: on the command line and in files
    range: MetricRange = UNBOUNDED
    margin: Margin = TWENTIETH  #: unless a paper says otherwise
    is_error: bool = False  #: less is better
    is_in_per_cent: bool = False  #: as papers print it; it is a fraction in files all the same
    meaning: str = field(default="", compare=False)  #: in a phrase; empty of one that nobody knows


def make_share(name: str, meaning: str, is_in_per_cent: bool) -> Metric:
    """Return a metric between 0 and 1, of which more is better and a point is no difference."""
    return Metric(name, MetricRange(0.0, 1.0), Margin(POINT), is_in_per_cent=is_in_per_cent, meaning=meaning)


def make_skill(name: str, meaning: str) -> Metric:
    """Return a metric up to 1, of which 0 is no skill, less no worse, and a point no difference."""
    return Metric(name, MetricRange(-math.inf, 1.0), Margin(POINT, floor=0.0), meaning=meaning)


def make_error(name: str, meaning: str) -> Metric:
    """Return a metric from 0, of which less is better and a twentieth is no difference."""
    return Metric(name, MetricRange(0.0, math.inf), is_error=True, meaning=meaning)


class Needs(NamedTuple):
    """What a metric asks of a model and of a data set."""

    probabilities: bool
    two_classes: bool
