"""Verdicts on runs of any program, by the claims and printed numbers of a paper."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from datasets.own_tables import own_file
from datasets.own_tables.opened_file import UnreadableFile
from experiments.config.papers import read_paper, read_paper_file
from experiments.errors import BadInput
from experiments.python_api import refuses_bad_input
from experiments.python_api.papers import NotebookView
from experiments.python_api.results import widen
from experiments.questions.judged_runs import judge_runs
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
