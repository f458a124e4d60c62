"""What counts as no difference: δ, set before anything is run."""

from __future__ import annotations

from experiments.config.paper import Paper
from experiments.metrics.find import find_metric
from experiments.metrics.metric import Margin


def find_margin(paper: Paper, metric: str) -> Margin:
    """Return what counts as no difference of a metric in a paper: its ``resolution``, or else the metric's own.

    That is 0.01 of shares and of R², where two values below 0 do not differ at all, and 5 % of other metrics.

    Examples
    --------
    >>> study = {"dataset": "car", "algorithm": "rdt"}
    >>> paper = Paper(number=0, title="T", studies={"s": study}, resolution={"beta": 2})
    >>> find_margin(paper, "accuracy").size, find_margin(paper, "beta").size, find_margin(paper, "mse").is_share
    (0.01, 2.0, True)
    """
    return Margin(paper.resolution[metric]) if metric in paper.resolution else find_metric(metric).margin
