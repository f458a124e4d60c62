"""Sweeps whose numbers are made up: what is shown of them is known in advance."""

import numpy as np

from experiments.cells.grid import expand_grid, order_values
from experiments.store.record import Measured, Record
from experiments.store.summaries import summarise_setting
from plots.sweeps.sweep_run import make_run, tabulate_settings

USUAL = ("accuracy", "recall_acc", "r2", "mse", "f1_macro", "sampling_ratio", "beta", "fit_seconds")


def make_axes(**values):
    """Return the axes of a sweep on Car without noise; ``max_depth`` stands for ``params.max_depth``."""
    named = {name if name in ("dataset", "algorithm", "epsilon") else f"params.{name}": v for name, v in values.items()}
    return order_values({"dataset": ["car"], "algorithm": ["majority"], "epsilon": [1.0], **named})


def run_sweep(metrics_of, repeats=3, **values):
    """Return a run of a sweep, with all metrics that it gave.

    ``metrics_of(cell)`` returns the metrics of a cell by name, or None where it has failed.
    """
    axes = make_axes(**values)
    settings, summaries = expand_grid(axes, repeats), []
    for cells in settings:
        found = {cell.key: metrics_of(cell) for cell in cells}
        records = {}
        for key, metrics in found.items():
            is_done = metrics is not None
            records[key] = Record("done", Measured(metrics, 0.5)) if is_done else Record("failed", error="it broke")
        summaries.append(summarise_setting(cells, records, USUAL))
    return make_run(axes, settings, [tabulate_settings(settings, summaries)])


def accuracies(*means):
    """Return metrics whose mean over three repeats is each of ``means`` in turn, in the order of the settings."""
    left = iter(np.repeat(means, 3))
    return lambda cell: {"accuracy": float(next(left)) + 0.01 * (cell.repeat - 1), "recall_acc": 0.5}
