"""Run settings, or a paper, from Python: as the commands do, with the same store."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from algorithms.installation import resolve_path
from documents import search_path
from documents.yaml_files import parse_yaml
from experiments.cells.grid import REPEATS, expand_grid, order_values
from experiments.config.papers import load_paper
from experiments.config.paths import CONF
from experiments.errors import BadInput, suggest_name
from experiments.metrics.find import read_names
from experiments.processes import start_without_main_module
from experiments.python_api import check_flags, read_path, refuses_bad_input
from experiments.python_api.paper_runs import run_papers
from experiments.python_api.papers import LoadedPaper
from experiments.python_api.results import arrange_cells
from experiments.request import SweepRequest, make_folder
from experiments.run.executors.executor import make_executor
from experiments.run.run_studies import name_failures, run_and_collect

_NAMED = ("dataset", "algorithm", "metrics")


@refuses_bad_input
def use_folder(folder: str | Path) -> None:
    """Add a folder with algorithms, data sets, metrics and papers of your own, as ``--config-dir`` does.

    It stays added for this process, and for the processes that it starts.

    Parameters
    ----------
    folder : str or Path
        It has some of the folders ``algorithm``, ``dataset``, ``metric``, ``paper`` and ``executor``.

    Raises
    ------
    BadInput
        If there is no such folder, or it has none of these.
    """
    path = read_path(folder, "folder").absolute()
    if not path.is_dir():
        raise BadInput(f"there is no folder {folder}")
    if not search_path.has_group(path):
        raise BadInput(f"{folder} has none of the folders {', '.join(search_path.GROUPS)}; put NAME.yaml into one")
    search_path.use_folders([*search_path.list_added(), path])


@refuses_bad_input
def run(
    dataset: str | Iterable[str],
    algorithm: str | Iterable[str],
    epsilon: float | Iterable[float] = 1.0,
    *,
    params: Mapping[str, Any] | None = None,
    protocol: Mapping[str, Any] | None = None,
    metrics: Iterable[str] = (),
    repeats: int = REPEATS,
    results: str | Path = "results",
    executor: str = "local",
    jobs: int | None = None,
    time_limit: float | None = None,
    address: str | None = None,
    anew: bool = False,
    stop_on_error: bool = False,
) -> pd.DataFrame:
    """Run every combination of some settings, and return what came out.

    Finished cells are kept in the store, are never run twice, and are the same that the command line runs. How far it
    is, which cells failed and what there is to know of the data is printed to standard error.

    Parameters
    ----------
    dataset, algorithm : str, or several
        Names of the catalogue, such as ``"car"`` and ``"rdt"``; a variant is ``"edprf:sound"``.
    epsilon : float, or several
        Privacy budgets; ``math.inf`` for no noise. What has no noise ignores it.
    params : mapping, optional
        Parameters of the algorithms by name, each with a value or a list of several: ``{"max_depth": [2, 4, 8]}``.
    protocol : mapping, optional
        Options of the protocol likewise: ``{"folds": 5}``.
    metrics : iterable of str
        What is measured beside accuracy, or mean squared error and R²: names of scikit-learn, or of your own.
    repeats : int
        Runs of every setting, at least 1; repeat r has the same split for every algorithm.
    results : str or Path
        Folder of the store: relative to the checkout where this is one, whatever the current folder; to the current
        folder where it is installed.
    executor : {"local", "threads", "dask"}, or a file of your own
        Where cells are run.
    jobs : int, optional
        How many cells run at once; -1, the default of ``local``, is one for each core.
    time_limit : float, optional
        Seconds that a cell may take before it is given up.
    address : str, optional
        Of the scheduler of a running Dask cluster, ``"tcp://10.0.0.1:8786"``, for ``executor="dask"``.
    anew : bool
        Whether to forget what the store has of these cells first.
    stop_on_error : bool
        Whether to run no more cells once one has failed.

    Returns
    -------
    DataFrame
        As from `load_results`, of these cells alone, with all that the store has of them: metrics, too, that an earlier
        call has asked for.

    Raises
    ------
    BadInput
        If a name or value cannot be; nothing has been run then.

    Examples
    --------
    >>> import tempfile
    >>> frame = run("car", ["majority", "rdt"], [0.1, 1], repeats=2, results=tempfile.mkdtemp(), jobs=1)
    >>> accuracy = frame[frame["metric"] == "accuracy"]
    >>> accuracy.groupby(["algorithm", "epsilon"])["value"].count().to_dict()
    {('majority', 0.1): 2, ('majority', 1.0): 2, ('rdt', 0.1): 2, ('rdt', 1.0): 2}
    """
    for name, given in (("params", params), ("protocol", protocol)):
        if given is not None and not isinstance(given, Mapping):
            raise BadInput(f"{name} must be a mapping, such as {{'max_depth': [2, 4]}}; got {given!r}")
    axes: dict[str, Any] = {"dataset": dataset, "algorithm": algorithm, "epsilon": epsilon}
    axes |= {f"params.{name}": value for name, value in (params or {}).items()}
    axes |= {f"protocol.{name}": value for name, value in (protocol or {}).items()}
    values = order_values({name: _list_values(name, value) for name, value in axes.items()})
    settings = expand_grid(values, repeats, metrics=read_names(_list_values("metrics", metrics)))
    cells = list(chain.from_iterable(settings))
    check_flags(anew=anew, stop_on_error=stop_on_error)
    folder = resolve_path(read_path(results, "results"))
    where = make_executor(_read_settings(executor, jobs=jobs, time_limit=time_limit, address=address))
    make_folder(folder)
    keys = {cell.key for cell in cells} if anew else ()
    with start_without_main_module():
        outcome, records = run_and_collect(cells, folder, where, stop_on_error, keys)
    name_failures(outcome, str(results))
    return arrange_cells(cells, records)


@refuses_bad_input
def run_paper(
    paper: str | int,
    *,
    repeats: int | None = None,
    most_repeats: int | None = None,
    results: str | Path = "results",
    executor: str = "local",
    jobs: int | None = None,
    time_limit: float | None = None,
    address: str | None = None,
    anew: bool = False,
    stop_on_error: bool = False,
) -> LoadedPaper:
    """Run a paper until its verdicts are decided, write its tables, figures and page, and return what came out.

    Parameters
    ----------
    paper : str or int
        Its name: 1 to 6, ``"demo"``, ``"benchmark"``, or that of a file of your own, see `use_folder`.
    repeats : int, optional
        Runs of every setting, as the paper has them if left out; given alone, no verdict takes more.
    most_repeats : int, optional
        The most that a verdict takes.
    results, executor, jobs, time_limit, address, anew, stop_on_error
        As of `run`; files go to ``paper-NAME`` in the folder of results.

    Returns
    -------
    LoadedPaper
        As from `load_paper`.

    Raises
    ------
    BadInput
        If there is no such paper, or it cannot be run; nothing has been run then.
    """
    check_flags(anew=anew, stop_on_error=stop_on_error)
    name, folder = str(paper), resolve_path(read_path(results, "results"))
    config: dict[str, Any] = {"results": str(results), "dry_run": False, "anew": anew, "stop_on_error": stop_on_error}
    config["executor"] = _read_settings(executor, jobs=jobs, time_limit=time_limit, address=address)
    request = SweepRequest("reproduce", config, {}, {}, (f"paper={name}",))
    # a notebook shows the summary as what is returned
    with start_without_main_module(), redirect_stdout(io.StringIO()):
        run_papers(request, {name: load_paper(name, repeats, most_repeats)})
    return LoadedPaper.read(folder / f"paper-{name}")


def _read_settings(name: str, **given: Any) -> dict[str, Any]:
    """Return the settings of an executor, with those that are given; BadInput if there is none."""
    files = search_path.list_files(CONF / "executor")
    if name not in files:
        raise BadInput(f"unknown executor {name!r}; {suggest_name(name, files)}")
    settings = dict(parse_yaml(files[name].read_text(encoding="utf-8")))
    return settings | {key: value for key, value in given.items() if value is not None}


def _list_values(name: str, value: Any) -> list:
    """Return the values of an axis: one, or several in a list, tuple, range or array."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        value = [value]
    values = [item.item() if isinstance(item, np.generic) else item for item in value]
    if not values and name != "metrics":
        raise BadInput(f"{name} has no value: give one, or several")
    if name in _NAMED and (wrong := [item for item in values if not isinstance(item, str)]):
        raise BadInput(f"{name} must be named by text, got {wrong[0]!r}")
    return values
