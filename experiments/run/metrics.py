"""Names of the metrics of each task."""

from __future__ import annotations

from datasets import catalogue
from experiments.run.leakage import LEAKS


def metric_names(dataset: str) -> list[str]:
    """Return the names of all metrics that a cell on a data set may have.

    Examples
    --------
    >>> metric_names("car")[:3], "r2" in metric_names("diamonds")
    (['accuracy', 'precision_unacc', 'recall_unacc'], True)
    """
    entry = catalogue.read_entry(dataset)
    if entry.task == "regression":
        return ["mse", "unit_mse", "r2", "noise_scale_quadratic", "noise_scale_linear", "beta"]
    labels = entry.domain.target.categories
    rates = [f"{rate}_{label}" for label in labels for rate in ("precision", "recall")]
    return ["accuracy", *rates, "sampling_ratio", *LEAKS]
