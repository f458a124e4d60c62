"""Verdicts on runs of any program, by the claims and printed numbers of a paper."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from datasets.own_tables import own_file
from datasets.own_tables.opened_file import UnreadableFile
from experiments.config.papers import read_paper, read_paper_file
from experiments.errors import BadInput, one_line
from experiments.python_api import refuses_bad_input
from experiments.python_api.papers import NotebookView
from experiments.python_api.results import widen
from experiments.questions.given_runs.judged_runs import judge_runs
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
    path = Path(str(paper)).expanduser()
    is_file = path.suffix in (".yaml", ".yml")
    read = read_paper_file(path) if is_file else read_paper(str(paper))
    frame, name = _read_runs(runs)
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
        What the search calls it, if it has several: "neg_mean_squared_error", whose sign is turned.

    Returns
    -------
    DataFrame
        Columns ``dataset, algorithm``, a parameter each, ``repeat`` (the number of the split) and the metric. A verdict
        takes repeats for independent runs: split by ``ShuffleSplit``, not into folds that share their training rows.

    Raises
    ------
    BadInput
        If there are no splits with that score.

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
    splits = {name: int(found[1]) for name in frame if (found := re.fullmatch(rf"split(\d+)_test_{score}", str(name)))}
    if not splits:
        raise BadInput(f"cv_results_ has no column split0_test_{score}: name the score of the search with score=...")
    params = [name for name in frame if str(name).startswith("param_")]
    plain = {name: str(name).removeprefix("param_").rpartition("__")[2] for name in params}  # that of a pipeline's step
    candidates = frame[params].rename(columns=plain)
    rows = candidates.loc[candidates.index.repeat(len(splits))].reset_index(drop=True)
    values = frame[list(splits)].to_numpy(dtype=float).ravel()
    rows.insert(0, "algorithm", algorithm)
    rows.insert(0, "dataset", dataset)
    values = -values if score.startswith("neg_") else values
    return rows.assign(**{"repeat": list(splits.values()) * len(frame), metric: values})


def _read_runs(runs: pd.DataFrame | str | Path) -> tuple[pd.DataFrame, str]:
    """Return a table with a row for each run, and what errors call it."""
    if isinstance(runs, pd.DataFrame):
        is_long = {"metric", "value"} <= set(runs.columns)
        return (widen(runs) if is_long else runs.reset_index(drop=True)), "the table"
    path = Path(runs).expanduser().absolute()
    try:
        return own_file.read_file(path, own_file.guess_form(path)), path.name
    except UnreadableFile as error:
        raise BadInput(str(error)) from error
