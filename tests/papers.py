"""Papers made up for tests."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from experiments.config.paper import Paper, parse_paper
from experiments.judge import claim_answers, number_answers
from experiments.judge.claim_answer import ClaimAnswer
from experiments.judge.numbers.number_verdict import PrintedNumber
from experiments.judge.question import Need
from experiments.questions.number_questions import resolve_number
from experiments.questions.paper_questions import PaperQuestions, resolve_claims, resolve_numbers
from experiments.questions.printed import list_numbers
from experiments.store.results import Results

STUDY = {"dataset": "car", "algorithm": "majority"}


def make_paper(**keys) -> Paper:
    """Return a paper with these keys; it has a number, a title and a study if they do not say, and `fill_words`."""
    return parse_paper(fill_words({"number": 0, "title": "Made up", "studies": {"floor": STUDY}, **keys}))


def fill_words(contents: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a paper's file says, with made-up words of the paper wherever it must have some and has none."""
    filled = dict(contents)
    if "claims" in contents:
        claims = contents["claims"]
        read = {claim.get("reading_of") for claim in claims}
        filled["claims"] = [_fill_words_of_claim(claim, claim.get("id") in read) for claim in claims]
    if "choices" in contents:
        choices = contents["choices"]
        opened = [*choices.get("algorithms", {}).values(), choices.get("protocol", {})]
        words = {name: f"no word on {name}" for values in opened for name in values}
        filled["choices"] = {**choices, "words": words | choices.get("words", {})}
    return filled


def _fill_words_of_claim(claim: Mapping[str, Any], has_readings: bool) -> dict[str, Any]:
    words = {"says": "Words of the paper.", "source": "page 1"}
    if claim.get("own"):
        words = {}
    elif "reading_of" in claim:
        words = {"leaves_open": "no word on it"}
    return words | ({"read_as": "it is read as it stands"} if has_readings else {}) | dict(claim)


def ask(paper: Paper) -> PaperQuestions:
    """Return the questions of a paper whose algorithms and data sets need not be there: nothing is run."""
    numbers = resolve_numbers(paper)
    claims = resolve_claims(paper, [question.number for question in numbers])
    return PaperQuestions({}, tuple(numbers), tuple(claims), {})


def judge_claims(paper: Paper, table: pd.DataFrame, numbers: pd.DataFrame | None = None) -> list[ClaimAnswer]:
    """Return the verdicts on the claims of a paper by a long table."""
    printed = []
    for row in [] if numbers is None else numbers.to_dict("records"):
        printed.append(
            PrintedNumber(row["id"], "t", row.get("metric"), "mean", row.get("printed"), row.get("decimals"), "", {})
        )
    return claim_answers.judge_claims(resolve_claims(paper, printed), Results(table), numbers)


def judge_numbers(paper: Paper, reported: pd.DataFrame, table: pd.DataFrame, facts: dict | None = None) -> pd.DataFrame:
    """Return the verdicts on printed numbers by a long table."""
    printed = list_numbers(reported)
    questions = [resolve_number(paper, number, printed) for number in printed]
    return number_answers.judge_numbers(questions, Results(table), facts)


def list_claim_needs(paper: Paper, table: pd.DataFrame) -> list[Need]:
    """Return what the first claim of a paper needs."""
    question = resolve_claims(paper)[0].question
    return claim_answers.list_claim_needs(question, question.gather(Results(table)))


def list_number_needs(paper: Paper, reported: pd.DataFrame, table: pd.DataFrame) -> list[Need]:
    """Return what printed numbers need."""
    printed = list_numbers(reported)
    questions = [resolve_number(paper, number, printed) for number in printed]
    return number_answers.list_number_needs(questions, Results(table))


def name_settings(need: Need) -> list[tuple[str, ...]]:
    """Return the values of the axes of the settings that are needed."""
    return [setting.values for setting in need.settings]
