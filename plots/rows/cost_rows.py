"""What fits take, as it is read: seconds and peak memory, measured once, in one run."""

from __future__ import annotations

import pandas as pd

from experiments.config.paper import Paper
from plots.labels import label_name, label_value

COST_HEADS = ("algorithm", "seconds to fit", "peak memory (MB)")


def list_costs(paper: Paper, costs: pd.DataFrame) -> list[tuple[str, list[list[str]]]]:
    """Return, for each data set that was fitted, a sentence and the rows of a table, the fastest first.

    Parameters
    ----------
    paper : Paper
        For the names.
    costs : DataFrame
        As from `experiments.speed.costs.measure_costs`.
    """
    described = []
    for dataset, part in costs.groupby("dataset", sort=False):
        body = []
        for row in part.sort_values("seconds", kind="stable").to_dict("records"):
            seconds, megabytes = f"{row['seconds']:.3g}", f"{row['megabytes']:.0f}"
            body.append([label_name(paper, row["algorithm"]), seconds, megabytes])
        n_rows, epsilons = int(part["rows"].max()), sorted(set(part["epsilon"]))
        sentence = (
            f"{label_name(paper, str(dataset))}, {n_rows:,} training rows, the largest set of its study; "
            f"ε = {label_value(paper, epsilons[0])}. Measured once, on one core: median of three fits after a first, "
            "and peak of the process that fits, interpreter, libraries and rows included."
        )
        described.append((sentence, body))
    return described
