"""Verdicts on runs that are given, by whatever program made them: nothing is run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path

import pandas as pd

from datasets.own_tables import own_file
from datasets.own_tables.opened_file import UnreadableFile
from experiments.config.paper import Paper
from experiments.errors import BadInput
from experiments.judge.claim_answer import ClaimAnswer
from experiments.judge.claim_answers import judge_claims
from experiments.judge.more_runs import MoreRuns, list_more_runs
from experiments.judge.number_answers import list_number_verdicts, tabulate_verdicts
from experiments.judge.question import AskedClaim, ClaimQuestion
from experiments.judge.verdict import Verdict
from experiments.questions.given_runs.given_table import arrange_given
from experiments.questions.paper_questions import resolve_given
from experiments.questions.settings import list_asked
from experiments.store.results import Results

_UNCOUNTED = "a table of runs does not have the rows of a data set, which would have to be counted"


def read_runs(path: Path) -> pd.DataFrame:
    """Return the table of runs in a file, a row for each; BadInput if it cannot be read."""
    try:
        return own_file.read_file(path, own_file.guess_form(path))
    except UnreadableFile as error:
        raise BadInput(str(error)) from error


@dataclass(frozen=True)
class JudgedRuns:
    """What the claims and printed numbers of a paper come to on given runs."""

    paper: Paper
    n_done: int  #: how many runs have a result
    n_runs: int  #: how many there are
    claims: list[ClaimAnswer]
    numbers: pd.DataFrame  #: verdicts on the printed numbers, as from `judge_numbers`
    more: Mapping[str, list[MoreRuns]]  #: how many runs would settle what is open, by id of a claim or number


def judge_runs(paper: Paper, paper_name: str, frame: pd.DataFrame, name: str, is_published: bool = False) -> JudgedRuns:
    """Judge a table of runs, as `given_table` describes it, by the claims and printed numbers of a paper.

    Parameters
    ----------
    paper : Paper
        Whose claims and numbers.
    paper_name : str
        What errors call it.
    frame : pd.DataFrame
        A row for each run.
    name : str
        What errors call the table.
    is_published : bool
        Whether these are the runs of the paper's own folder, of which it is known how rows were split.

    Raises
    ------
    BadInput
        If the paper asks for nothing, or the table cannot answer it.
    """
    questions = resolve_given(paper)
    if not questions.claims and not questions.numbers:
        raise BadInput(f"{paper_name} has neither claims nor printed numbers: there is nothing to judge by")
    if not is_published:  # nobody but its maker knows how its rows were split
        questions = replace(questions, claims=tuple(map(_forget_scope, questions.claims)))
    table = arrange_given(frame, name, paper, list_asked(questions.claims, questions.numbers))
    results = Results(table)
    verdicts = list_number_verdicts(questions.numbers, results)
    numbers = tabulate_verdicts(questions.numbers, verdicts)
    if not numbers.empty:
        numbers.loc[numbers["statistic"] == "exact", "reason"] = _UNCOUNTED
    claims = judge_claims(questions.claims, results, numbers)
    is_open = [answer.as_read in (Verdict.UNDECIDED, Verdict.NOT_RUN) for answer in claims]
    of_numbers = {question.number.id: found for question, found in zip(questions.numbers, verdicts, strict=True)}
    open_claims = compress(questions.claims, is_open)  # others need none
    more = list_more_runs(open_claims, questions.numbers, results, of_numbers)
    return JudgedRuns(paper, int((table["status"] == "done").sum()), len(table), claims, numbers, more)


def _forget_scope(claim: AskedClaim) -> AskedClaim:
    question = claim.question
    return claim._replace(question=replace(question, scope="")) if isinstance(question, ClaimQuestion) else claim
