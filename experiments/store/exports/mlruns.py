"""A store in the layout of MLflow's file store: a folder for each run, a file for each value.

``FOLDER/EXPERIMENT/RUN/`` has ``meta.yaml`` and the folders ``params``, ``metrics`` and ``tags``; a cell is a run, the
cells of a data set are an experiment. That is twenty small files a cell, good for thousands of cells: a store of a
million is better one Parquet file. MLflow itself is not needed; 3.17.2 reads and migrates what is written.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from algorithms.whole_files import replace_folder, write_text
from experiments.cells.cell import format_canonical
from experiments.config.protocol import DEFAULT_PROTOCOL
from experiments.errors import BadInput
from experiments.store.database import Store

_BATCH = 5_000
_LOCAL, _FINISHED, _FAILED = 4, 3, 4  # MLflow's numbers for a source and for states of runs
_DEFAULTS = json.loads(format_canonical(vars(DEFAULT_PROTOCOL)))


def write_mlruns(store: Store, folder: Path, with_outdated: bool = False) -> tuple[int, int]:
    """Write the cells of a store as runs into a folder, without those of other code, data or libraries than today's.

    Experiments and runs have the same numbers each time: what an earlier call has written is written anew, and what
    else is in the folder stays. A store does not know when a cell was run: each run begins when the store was last
    written, and lasts as long as the fit.

    Parameters
    ----------
    store : Store
        What is exported.
    folder : Path
        MLflow's folder of runs, such as ``mlruns``.
    with_outdated : bool
        Whether cells that are not current are written, too.

    Returns
    -------
    tuple of int
        How many cells are written, and how many are left out.

    Raises
    ------
    BadInput
        If the folder is a file.
    """
    if folder.is_file():
        raise BadInput(f"{folder} is a file: give a folder, such as mlruns")
    began = int(store.path.stat().st_mtime * 1000)
    n_written, n_left_out, experiments = 0, 0, set()
    for cells in store.rows(_BATCH):
        for cell in cells:
            if not with_outdated and not cell["current"]:
                n_left_out += 1
                continue
            experiment = number_experiment(cell["dataset"])
            if experiment not in experiments:
                _write_experiment(folder / experiment, experiment, cell["dataset"])
                experiments.add(experiment)
            _write_run(folder / experiment / cell["key"][:32], experiment, cell, began)
            n_written += 1
    return n_written, n_left_out


def number_experiment(dataset: str) -> str:
    """Return the number of a data set's experiment: 18 digits, as MLflow's own have.

    Examples
    --------
    >>> number_experiment("car")
    '532324077382652577'
    """
    return str(10**17 + int(hashlib.sha256(dataset.encode()).hexdigest(), 16) % (9 * 10**17))


def _write_experiment(folder: Path, number: str, dataset: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    meta = {"artifact_location": folder.absolute().as_uri(), "experiment_id": number, "lifecycle_stage": "active"}
    write_text(folder / "meta.yaml", yaml.safe_dump(meta | {"name": dataset}))


def _write_run(folder: Path, experiment: str, cell: Mapping[str, Any], began: int) -> None:
    params = {f"params.{name}": value for name, value in json.loads(cell["params"]).items()}
    protocol = json.loads(cell["protocol"]).items()
    params |= {f"protocol.{name}": value for name, value in protocol if value != _DEFAULTS.get(name)}
    setting = {name: cell[name] for name in ("dataset", "algorithm", "epsilon")} | params
    seconds = cell["fit_seconds"] if cell["fit_seconds"] is not None else math.nan
    metrics = cell["metrics"] | ({} if math.isnan(seconds) else {"fit_seconds": seconds})
    name = f"{cell['algorithm']}, epsilon {cell['epsilon']:g}, repeat {cell['repeat']}"
    tags = {"mlflow.runName": name, "key": cell["key"], "version": cell["version"], "error": cell["error"]}
    with replace_folder(folder) as aside:
        _write_values(aside / "params", setting | {"repeat": cell["repeat"]})
        _write_values(aside / "metrics", {name: f"{began} {value!r} 0\n" for name, value in metrics.items()})
        _write_values(aside / "tags", {name: text for name, text in tags.items() if text is not None})
        (aside / "artifacts").mkdir()
        meta = {
            "artifact_uri": (folder / "artifacts").absolute().as_uri(),
            "end_time": began + (0 if math.isnan(seconds) else round(1000 * seconds)),
            "entry_point_name": "",
            "experiment_id": experiment,
            "lifecycle_stage": "active",
            "run_id": folder.name,
            "run_name": name,
            "run_uuid": folder.name,
            "source_name": "",
            "source_type": _LOCAL,
            "source_version": "",
            "start_time": began,
            "status": _FINISHED if cell["status"] == "done" else _FAILED,
            "tags": [],
            "user_id": "",
        }
        (aside / "meta.yaml").write_text(yaml.safe_dump(meta), encoding="utf-8")


def _write_values(folder: Path, values: Mapping[str, Any]) -> None:
    folder.mkdir()
    for name, value in values.items():
        text = format_canonical(value) if isinstance(value, dict | list) else str(value)
        (folder / name_value_file(name)).write_text(text, encoding="utf-8")


def name_value_file(name: str) -> str:
    """Return a name of letters, digits, blanks and the marks _ - . alone, as MLflow takes it; others become numbers.

    Examples
    --------
    >>> name_value_file("recall_<=50K"), name_value_file("recall_>50K")
    ('recall__3c__3d_50K', 'recall__3e_50K')
    """
    return re.sub(r"[^\w\-. ]", lambda found: f"_{ord(found[0]):x}_", name)
