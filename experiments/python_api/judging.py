"""Verdicts on runs of any program, by the claims and printed numbers of a paper."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.config.papers import read_paper, read_paper_file
from experiments.errors import BadInput, one_line
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
