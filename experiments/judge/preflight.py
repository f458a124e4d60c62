"""Check all of a paper before a cell is run."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.config import selection
from experiments.errors import suggestion
from experiments.run.leakage import LEAKS
from experiments.run.metrics import metric_names


def check_metrics(paper: Mapping, item: Mapping) -> None:
    """Check that the data sets of a table, figure or claim have its metrics.

    Raises
    ------
    PaperError
        If one has not.
    """
    metrics = item["metric"] if isinstance(item["metric"], list) else [item["metric"]]
    study = selection.study_of(paper, item)
    leaks = () if (study.get("protocol") or {}).get("leakage") else LEAKS
    for dataset in selection.axis(study, "dataset", item.get("where")):
        known = [name for name in metric_names(dataset) if name not in leaks]
        for metric in metrics:
            if metric not in known:
                raise selection.PaperError(
                    f"{item['id']}: {dataset} has no metric {metric!r}; {suggestion(metric, known)}"
                )
