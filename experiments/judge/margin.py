"""What counts as no difference: δ, set before anything is run."""

from __future__ import annotations

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
    of_first : bool
        Whether it is a share of the first level alone, not of the mean of all.
    """

    size: float
    is_share: bool = False
    of_first: bool = False

    def apply_to(self, values: np.ndarray) -> np.ndarray:
        """Return the margin of each repeat on the metric's scale, from its values of shape (n_repeats, n_levels).

        Examples
        --------
        >>> Margin(0.1, is_share=True).apply_to(np.array([[1.0, 3.0], [-1.0, -3.0]]))
        array([0.2, 0.2])
        """
        if not self.is_share:
            return np.full(len(values), self.size)
        return self.size * np.abs(values[:, 0] if self.of_first else values.mean(axis=1))

    def largest(self, reach: float) -> float:
        """Return the largest that it can be of a metric between 0 and ``reach``."""
        return self.size * reach if self.is_share else self.size


def find_margin(paper: Paper, metric: str) -> Margin:
    """Return what counts as no difference of a metric in a paper: its ``resolution``, or else our default.

    The default is 0.01 of shares and R², and 5 % of any other metric.

    Examples
    --------
    >>> study = {"dataset": "car", "algorithm": "rdt"}
    >>> paper = Paper(number=0, title="T", studies={"s": study}, resolution={"beta": 2})
    >>> find_margin(paper, "accuracy").size, find_margin(paper, "beta").size, find_margin(paper, "mse").is_share
    (0.01, 2.0, True)
    """
    if metric in paper.resolution:
        return Margin(paper.resolution[metric])
    if is_in_per_cent(metric) or metric == "r2":
        return Margin(_POINT)
    return Margin(_SHARE, is_share=True)
