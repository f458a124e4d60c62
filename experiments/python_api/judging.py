"""Verdicts on runs of any program, by the claims and printed numbers of a paper."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.config.papers import read_paper, read_paper_file
from experiments.errors import BadInput, one_line, suggest_name
from experiments.python_api import read_path, refuses_bad_input
from experiments.python_api.papers import NotebookView
from experiments.python_api.results import widen
from experiments.questions.given_runs.judged_runs import judge_runs, read_runs
from plots.pages.judged import JudgedTable


class Judged(NotebookView, JudgedTable):
    """Verdicts on given runs: ``answers``, ``numbers``, ``claims``, as a paper's run has them; shown in a notebook."""


@refuses_bad_input
def judge(runs: pd.DataFrame | str | Path, paper: str | int | Path) -> Judged:
    """Judge runs by the claims and printed numbers of a paper; nothing is run.

    Parameters
    ----------
    runs : DataFrame, str or Path
        Results as from `run` or `load_results`; or a table with a row for each run, or its file: columns ``dataset,
        algorithm, epsilon``, parameters, ``repeat`` and the metrics that the paper asks for.
    paper : str, int or Path
        Its name, or the YAML file of a paper of your own.

    Returns
    -------
    Judged
        The verdicts, with the reason of each.

    Raises
    ------
    BadInput
        If a column, a run or a value is missing, with its row; or the paper asks for nothing.
    """
    path = Path(str(paper)).expanduser().absolute()
    is_file = path.suffix in (".yaml", ".yml")
    read = read_paper_file(path) if is_file else read_paper(str(paper))
    frame, name = _read_table(runs)
    judged = judge_runs(read, str(path) if is_file else f"paper {paper}", frame, name)
    return Judged.of_runs(judged)


@refuses_bad_input
def read_cv_results(
    results: Mapping[str, Any] | pd.DataFrame | str | Path,
    *,
    dataset: str,
    algorithm: str,
    metric: str = "accuracy",
    score: str = "score",
    negate: bool | None = None,
) -> pd.DataFrame:
    """Return a search of scikit-learn's as a table of runs that `judge` takes: a row for each candidate and split.

    Parameters
    ----------
    results : mapping, DataFrame, str or Path
        ``cv_results_`` of a ``GridSearchCV`` or another search, or a CSV file of it.
    dataset, algorithm : str
        What the paper calls the data set and the estimator that was searched.
    metric : str
        What the paper calls the score.
    score : str
        What the search calls it, if it has several, such as "neg_mean_squared_error".
    negate : bool, optional
        Whether the sign is turned, as of errors that the search has negative; if left out, where the name of the score
        begins with ``neg_``.

    Returns
    -------
    DataFrame
        Columns ``dataset, algorithm``, a parameter each, ``repeat`` (the number of the split) and the metric. A verdict
        takes repeats for independent runs: split by ``ShuffleSplit``, not into folds that share their training rows.

    Raises
    ------
    BadInput
        If there are no splits with that score, or a parameter has the name of another column.

    Examples
    --------
    >>> found = {"param_max_depth": [2, 4], "split0_test_score": [0.6, 0.7], "split1_test_score": [0.5, 0.8]}
    >>> read_cv_results(found, dataset="car", algorithm="tree").to_dict("list")  # doctest: +NORMALIZE_WHITESPACE
    {'dataset': ['car', 'car', 'car', 'car'], 'algorithm': ['tree', 'tree', 'tree', 'tree'],
     'max_depth': [2, 2, 4, 4], 'repeat': [0, 1, 0, 1], 'accuracy': [0.6, 0.5, 0.7, 0.8]}
    """
    try:
        frame = pd.DataFrame(results) if isinstance(results, Mapping | pd.DataFrame) else pd.read_csv(results)
    except (OSError, ValueError) as error:
        raise BadInput(f"{results} cannot be read: {one_line(error)}") from error
    pattern = re.compile(rf"split(\d+)_test_{re.escape(score)}")
    splits = {name: int(found[1]) for name in frame if (found := pattern.fullmatch(str(name)))}
    if not splits:
        raise BadInput(f"cv_results_ has no column split0_test_{score}: name the score of the search with score=...")
    rows = _name_parameters(frame).loc[lambda found: np.repeat(found.index, len(splits))].reset_index(drop=True)
    beside = {"dataset": dataset, "algorithm": algorithm, "repeat": list(splits.values()) * len(frame)}
    if taken := {*beside, metric} & set(rows.columns) or {metric} & set(beside):
        raise BadInput(f"{min(taken)!r} is a parameter of the search or a column of its own: rename one of the two")
    sign = -1 if (score.startswith("neg_") if negate is None else negate) else 1
    values = sign * frame[list(splits)].to_numpy(dtype=float).ravel()
    return rows.assign(**beside, **{metric: values})[["dataset", "algorithm", *rows.columns, "repeat", metric]]


@refuses_bad_input
def read_benchopt(
    results: pd.DataFrame | str | Path,
    *,
    metric: str = "accuracy",
    objective: str = "objective_value",
    negate: bool = False,
) -> pd.DataFrame:
    """Return the results of a benchmark of benchopt as a table of runs that `judge` takes: a row for each repetition.

    Of a run that was measured at several times the last one counts.

    Parameters
    ----------
    results : DataFrame, str or Path
        The table that ``benchopt run`` writes into ``outputs/``, or its file (Parquet needs the extra ``parquet``).
    metric : str
        What the paper calls the objective.
    objective : str
        Its column, ``objective_KEY`` with a key of the dictionary that ``Objective.evaluate_result`` returns.
    negate : bool
        Whether the sign is turned.

    Returns
    -------
    DataFrame
        Columns ``dataset`` (as benchopt has it, with parameters in brackets), ``algorithm`` (the solver's name without
        them), a parameter each of objectives and solvers, ``repeat`` and the metric. A verdict takes repeats for
        independent runs, which the folds of an ``Objective.cv`` are not.

    Raises
    ------
    BadInput
        If a column is missing, or two have one name.

    Examples
    --------
    >>> run = {"dataset_name": "made[n=9]", "solver_name": "GD[lr=0.1]", "p_solver_lr": 0.1, "idx_rep": 0}
    >>> curve = [run | {"time": 0.1, "objective_value": 0.6}, run | {"time": 0.2, "objective_value": 0.7}]
    >>> read_benchopt(pd.DataFrame(curve)).to_dict("records")
    [{'dataset': 'made[n=9]', 'algorithm': 'GD', 'lr': 0.1, 'repeat': 0, 'accuracy': 0.7}]
    """
    table = results if isinstance(results, pd.DataFrame) else read_runs(read_path(results, "results").absolute())
    dataset = "dataset_name" if "dataset_name" in table else "data_name"  # as older versions call it
    for name in (dataset, "solver_name", "idx_rep", "time", objective):
        if name not in table:
            known = [
                column for column in map(str, table) if column.startswith("objective_") and column != "objective_name"
            ]
            raise BadInput(f"results of benchopt have a column {name}, these have not; {suggest_name(name, known)}")
    run = [dataset, "solver_name", "idx_rep", *(name for name in table if str(name).startswith("p_obj_"))]
    ends = table.sort_values("time", kind="stable").drop_duplicates(run, keep="last").sort_index()
    params = {str(name): re.sub("^p_(obj|solver)_", "", str(name)) for name in ends}
    columns = [(params[name], ends[name]) for name in params if params[name] != name]
    columns = [
        ("dataset", ends[dataset]),
        ("algorithm", ends["solver_name"].str.replace(r"\[.*", "", regex=True)),
        *columns,
    ]
    columns += [("repeat", ends["idx_rep"]), (metric, -ends[objective] if negate else ends[objective])]
    names = [name for name, _ in columns]
    if twice := [name for name in names if names.count(name) > 1]:
        raise BadInput(f"{twice[0]!r} is a parameter and another column, too: rename one of the two")
    return pd.DataFrame(dict(columns)).reset_index(drop=True)


def _name_parameters(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the parameters of a search by their names, of a pipeline without the step where that tells them apart."""
    full = [str(name).removeprefix("param_") for name in frame if str(name).startswith("param_")]
    short = [name.rpartition("__")[2] for name in full]
    names = [last if short.count(last) == 1 else name for name, last in zip(full, short, strict=True)]
    found = frame[[f"param_{name}" for name in full]].set_axis(names, axis=1)
    return found.reset_index(drop=True)


def _read_table(runs: pd.DataFrame | str | Path) -> tuple[pd.DataFrame, str]:
    """Return a table with a row for each run, and what errors call it."""
    if isinstance(runs, pd.DataFrame):
        is_long = {"metric", "value"} <= set(runs.columns)
        return (widen(runs) if is_long else runs.reset_index(drop=True)), "the table"
    path = read_path(runs, "runs").absolute()
    return read_runs(path), path.name
