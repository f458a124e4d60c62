"""What counts as no difference: δ, set before anything is run."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from experiments.config.paper import Paper
from experiments.judge.verdict import is_in_per_cent

_POINT = 0.01
"""One point of a percentage, and as much of R²."""
_SHARE = 0.05
"""Of an error, or of any other metric without a scale of its own."""


class Margin(NamedTuple):
    """What counts as no difference of a metric.

    Parameters
    ----------
    size : float
        On the metric's scale, or a share of the metric.
    is_share : bool
        Whether it is a share.
    floor : float
        Two values below it do not differ, however far apart they are: an R² below 0 is worse than no model.
    """

    size: float
    is_share: bool = False
    floor: float = -math.inf

    def between(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """Return the margin between two levels of a metric in each repeat, on the metric's scale.

        Parameters
        ----------
        before, after : float64 array of shape (n_repeats,)
            The metric at each level.

        Examples
        --------
        >>> Margin(0.1, is_share=True).between(np.array([1.0, -1.0]), np.array([3.0, -3.0]))
        array([0.2, 0.2])
        >>> Margin(0.01, floor=0.0).between(np.array([-5.0, -5.0]), np.array([-9.0, 0.5]))
        array([ inf, 0.01])
        """
        size = self.size * np.abs(before + after) / 2 if self.is_share else np.full(len(before), self.size)
        return np.where(np.maximum(before, after) < self.floor, math.inf, size)

    def largest(self, reach: float) -> float:
        """Return the largest that it can be of a metric between 0 and ``reach``."""
        return self.size * reach if self.is_share else self.size


def find_margin(paper: Paper, metric: str) -> Margin:
    """Return what counts as no difference of a metric in a paper: its ``resolution``, or else our default.

    The default is 0.01 of shares and of R², where two values below 0 do not differ at all, and 5 % of other metrics.

    Examples
    --------
    >>> study = {"dataset": "car", "algorithm": "rdt"}
    >>> paper = Paper(number=0, title="T", studies={"s": study}, resolution={"beta": 2})
    >>> find_margin(paper, "accuracy").size, find_margin(paper, "beta").size, find_margin(paper, "mse").is_share
    (0.01, 2.0, True)
    """
    if metric in paper.resolution:
        return Margin(paper.resolution[metric])
    if metric == "r2":
        return Margin(_POINT, floor=0.0)
    if is_in_per_cent(metric):
        return Margin(_POINT)
    return Margin(_SHARE, is_share=True)
