"""What a paper of a million cells takes once all are done: the verdicts, tables, figures and page of its results."""

from __future__ import annotations

import math
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from experiments.cells.cell import Cell
from experiments.cells.study_cells import cells_of_studies
from experiments.config.paper import parse_paper
from experiments.speed.measurement import Measurement, run_on_store
from experiments.store.database import Store
from experiments.store.record import Measured, Record

_NAME = "million"
_REPEATS = 100
_PRIVATE, _PUBLIC = ["rdt", "rfdpp_gini", "edprf"], ["random_forest", "extra_trees"]
_CLASSES = {"car": 4, "nursery": 5}
_AXES: dict[str, Any] = {
    "dataset": list(_CLASSES),
    "algorithm": _PRIVATE + _PUBLIC,
    "params": {"max_depth": list(range(2, 12)), "n_estimators": list(range(5, 55, 5))},
    "epsilon": [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0],
}


def measure_report() -> list[Measurement]:
    """Take up a paper of a million made-up cells, with ten tables, ten figures and ten claims, and report on it."""
    contents = _describe_paper()
    with tempfile.TemporaryDirectory() as folder:
        catalogue = Path(folder) / "catalogue"
        (catalogue / "paper").mkdir(parents=True)
        (catalogue / "paper" / f"{_NAME}.yaml").write_text(yaml.safe_dump(contents), encoding="utf-8")
        n_cells = _fill_store(Path(folder) / "store.sqlite", contents)
        words = f"--config-dir={catalogue}", f"paper={_NAME}"
        published = run_on_store(folder, *words)
        reported = run_on_store(folder, "do=report", *words)
    return [
        Measurement(f"results of a paper of {n_cells:,} cells, all done", published.seconds, 60, "s"),
        Measurement("the same, processor time", published.processor_seconds, unit="s"),
        Measurement("the same, largest process", published.megabytes, unit="MB"),
        Measurement("the report on these results", reported.seconds, 60, "s"),
    ]


def _describe_paper() -> dict[str, Any]:
    """Return a paper with a table, a figure and a claim for each data set and algorithm."""
    tables, figures, claims = [], [], []
    for dataset, algorithm in product(_AXES["dataset"], _AXES["algorithm"]):
        name, pair = f"{dataset}-{algorithm}", {"dataset": dataset, "algorithm": algorithm}
        shown = {"study": "grid", "metric": "accuracy", "where": pair | {"params.n_estimators": 10}}
        axes = {"rows": "params.max_depth", "columns": "epsilon"}
        tables.append({"id": f"table-{name}", "title": name, "kind": "grid", **axes, **shown})
        figures.append({"id": f"figure-{name}", "title": name, "x": "epsilon", "lines": "params.max_depth", **shown})
        within = ["dataset", "algorithm", "params.max_depth", "params.n_estimators"]
        grows = {"kind": "increases", "along": "epsilon", "within": within, "study": "grid", "metric": "accuracy"}
        claims.append({"id": f"grows-{name}", "text": f"{name} grows", "where": pair, **grows})
    return {
        "number": _NAME,
        "title": "A million cells",
        "repeats": _REPEATS,
        "most_repeats": _REPEATS,
        "studies": {"grid": _AXES},
        "tables": tables,
        "figures": figures,
        "claims": claims,
    }


def _fill_store(path: Path, contents: dict[str, Any]) -> int:
    """Put made-up results of all cells of a paper into a store; return how many."""
    generator = np.random.default_rng(0)
    cells = cells_of_studies(parse_paper(contents))["grid"]
    with Store(path) as store:
        for cell in cells:
            store.put(cell, Record("done", _make_up(cell, generator)))
    return len(cells)


def _make_up(cell: Cell, generator: np.random.Generator) -> Measured:
    """Return numbers like those of a forest: the accuracy grows with ε and depth, plus noise."""
    trend = 0.05 * math.log10(cell.epsilon) + 0.005 * cell.params["max_depth"]
    metrics = {"accuracy": 0.7 + trend + 0.02 * generator.standard_normal()}
    for place in range(_CLASSES[cell.dataset]):
        metrics |= {f"precision_{place}": 0.5, f"recall_{place}": metrics["accuracy"]}
    return Measured(metrics, 0.01, _make_up_account(cell), 0.02)


def _make_up_account(cell: Cell) -> dict[str, Any]:
    if cell.algorithm in _PUBLIC:
        return {}
    named = dict.fromkeys(("claimed_epsilon", "accounted_epsilon", "noisy_epsilon"), cell.epsilon)
    accounted = {"one record added or removed": cell.epsilon, "one record replaced": 2 * cell.epsilon}
    said = {"keeps_claim": True, "neighbours": "one record added or removed", "accounted": accounted}
    return {"privacy": named | said | {"faults": [], "data_faults": []}}
