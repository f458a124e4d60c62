"""Resolve a paper, once: check all of it, and return its questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from experiments.cells.cell import Cell
from experiments.cells.study_cells import cells_of_studies
from experiments.config.finding import INSIDE
from experiments.config.kinds.claims import Claim, ClaimAboutRuns
from experiments.config.paper import Paper, Passage
from experiments.config.papers import locate_errors
from experiments.config.study import PaperError
from experiments.errors import BadInput, suggest_name
from experiments.judge.numbers.number_verdict import NumberQuestion, PrintedNumber
from experiments.judge.question import AskedClaim, ClaimQuestion
from experiments.questions.claims import find_rule
from experiments.questions.exhibits.checks import check_exhibit
from experiments.questions.number_questions import resolve_number
from experiments.questions.preflight import check_metrics, check_rule, collect, raise_errors
from experiments.questions.printed import list_numbers, read_numbers_of
from experiments.questions.readings.choices import check_choices
from experiments.questions.settings import key_of_cell
from experiments.stats import ALPHA
from experiments.store.results import SettingKey


@dataclass(frozen=True)
class PaperQuestions:
    """What is asked of the runs of a paper."""

    #: What is run first, by study: all settings, with the paper's repeats.
    cells: dict[str, list[Cell]]
    numbers: tuple[NumberQuestion, ...]
    claims: tuple[AskedClaim, ...]
    #: The first repeat of every setting.
    settings: dict[SettingKey, Cell]


def resolve_paper(paper: Paper) -> PaperQuestions:
    """Check all that a paper asks for, before hours are spent on it, and return its questions.

    PaperError if a study cannot be run, a table, figure, claim, choice or printed number asks for what the paper does
    not run, or the printed numbers cannot be read. All errors are reported at once.
    """
    errors: list[str] = []
    (cells,) = collect([partial(cells_of_studies, paper)], errors) or [{}]
    collect([partial(check_exhibit, exhibit, paper) for exhibit in paper.exhibits.values()], errors)
    (printed,) = collect([lambda: list_numbers(read_numbers_of(paper))], errors) or [[]]
    numbers = collect([partial(resolve_number, paper, number, printed) for number in printed], errors)
    by_id = {number.id: number for number in printed}
    claims = collect([partial(_resolve_claim, paper, claim, by_id) for claim in paper.claims], errors)
    collect([partial(_check_metrics, paper, paper.claims_by_id[claim.id]) for claim in claims], errors)
    collect([partial(check, paper) for check in (_check_readings_of_claims, _check_finding)], errors)
    collect([partial(_check_coverage, paper, passage, [*by_id]) for passage in paper.coverage], errors)
    named = {"own": [name for name in paper.own if name not in paper.not_implemented]}
    collect([partial(_check_algorithms, paper, *entry) for entry in named.items()], errors)
    collect([partial(check_choices, paper)], errors)
    raise_errors(errors)
    settings = {}
    for name, of_study in cells.items():
        study = paper.studies[name]
        settings.update({key_of_cell(study, cell): cell for cell in of_study[:: paper.repeats]})
    return PaperQuestions(cells, tuple(numbers), tuple(_share_levels(claims)), settings)


def resolve_named(name: str, paper: Paper) -> PaperQuestions:
    """Do what `resolve_paper` does; of a paper that has a file, errors name it, and the line of what they are about."""
    try:
        return resolve_paper(paper)
    except BadInput as error:
        raise BadInput(locate_errors(error, name)) from error


def resolve_given(paper: Paper) -> PaperQuestions:
    """Return the questions of a paper whose runs are given: nothing of it need be known here, as nothing is run.

    PaperError if a claim or printed number asks for what its studies do not have; all errors are reported at once.
    """
    errors: list[str] = []
    (printed,) = collect([lambda: list_numbers(read_numbers_of(paper))], errors) or [[]]
    numbers = collect([partial(resolve_number, paper, number, printed, is_given=True) for number in printed], errors)
    by_id = {number.id: number for number in printed}
    claims = collect([partial(_resolve_claim, paper, claim, by_id) for claim in paper.claims], errors)
    collect([partial(_check_readings_of_claims, paper)], errors)
    raise_errors(errors)
    return PaperQuestions({}, tuple(numbers), tuple(_share_levels(claims)), {})


def resolve_numbers(paper: Paper) -> list[NumberQuestion]:
    """Return the printed numbers of a paper that is checked, with what decides each."""
    printed = list_numbers(read_numbers_of(paper))
    return [resolve_number(paper, number, printed) for number in printed]


def resolve_claims(paper: Paper, printed: Sequence[PrintedNumber] = ()) -> list[AskedClaim]:
    """Return the claims of a paper that is checked, with what decides each; some are about its printed numbers.

    Examples
    --------
    >>> study = {"dataset": "car", "algorithm": "rdt", "epsilon": [0.1, 1]}
    >>> grows = {"id": "a", "text": "T", "kind": "increases", "study": "s", "along": "epsilon", "metric": "accuracy"}
    >>> first = grows | {"within": [], "says": "It grows.", "source": "page 1", "read_as": "it is mean accuracy"}
    >>> other = grows | {"within": [], "id": "b", "reading_of": "a", "leaves_open": "no word on it"}
    >>> paper = Paper(number=0, title="T", studies={"s": study}, claims=[first, other])
    >>> [round(claim.question.level, 5) for claim in resolve_claims(paper)]
    [0.0125, 0.0125]
    """
    by_id = {number.id: number for number in printed}
    return _share_levels([_resolve_claim(paper, claim, by_id) for claim in paper.claims])


def _resolve_claim(paper: Paper, claim: Claim, printed: Mapping[str, PrintedNumber]) -> AskedClaim:
    question, is_against = find_rule(claim).resolve(paper, printed), claim.against is not None
    if isinstance(question, ClaimQuestion):
        check_rule(claim.id, question)
    reading_of = None if claim.reading_of is None else paper.text_of(claim)
    return AskedClaim(claim.id, claim.text, claim.kind, question, reading_of, claim.read_as, is_against)


def _check_metrics(paper: Paper, claim: Claim) -> None:
    """Check that the data sets of a claim about runs have its metrics."""
    if isinstance(claim, ClaimAboutRuns) and not find_rule(claim).explain_missing(paper):
        for part, metrics in claim.list_measured():
            check_metrics(paper, claim.id, part.study, part.where, metrics)


def _share_levels(asked: Sequence[AskedClaim]) -> list[AskedClaim]:
    """Return claims, each with its share of the chance of a false verdict.

    Texts have equal shares, half of it for either side, and readings of a text equal shares of that.
    """
    n_readings = Counter(claim.reading_of or claim.id for claim in asked if isinstance(claim.question, ClaimQuestion))
    shared = []
    for claim in asked:
        if isinstance(claim.question, ClaimQuestion):
            level = ALPHA / len(n_readings) / 2 / n_readings[claim.reading_of or claim.id]
            claim = claim._replace(question=replace(claim.question, level=level))
        shared.append(claim)
    return shared


def _check_readings_of_claims(paper: Paper) -> None:
    for claim in paper.claims:
        if claim.reading_of is not None and claim.reading_of not in paper.claims_by_id:
            raise PaperError(f"claim {claim.id!r}: there is no claim {claim.reading_of!r} that it is a reading of")


def _check_finding(paper: Paper) -> None:
    finding = paper.finding
    if finding is None:
        return
    numbers = set(read_numbers_of(paper)["id"])
    known = {"claims": paper.claims_by_id, "numbers": numbers}
    for what, named in {"claims": finding.claims, "numbers": finding.numbers}.items():
        for name in named:
            if name not in known[what]:
                raise PaperError(f"finding.{what}: the paper has no {name!r}; {suggest_name(name, known[what])}")
    for name in finding.fields:
        if name != INSIDE and name not in finding.claims and name not in finding.numbers:
            raise PaperError(f"finding.text: {{{name}}} is not among the claims and numbers that it rests on")
    if finding.picture is not None and finding.picture not in paper.exhibits:
        raise PaperError(f"finding.picture: {suggest_name(finding.picture, paper.exhibits)}")


def _check_coverage(paper: Paper, passage: Passage, numbers: Iterable[str]) -> None:
    """Check that what judges a passage of the text is a claim, a printed number, a table or a figure of the paper."""
    known = {*paper.claims_by_id, *numbers, *paper.exhibits}
    for name in passage.judged_by:
        if name not in known:
            what = f"the paper has no claim, printed number, table or figure {name!r}"
            raise PaperError(f"coverage, {passage.at}: {what}; {suggest_name(name, known)}")


def _check_algorithms(paper: Paper, place: str, algorithms: Iterable[str]) -> None:
    """Check that studies run the algorithms that another key speaks of."""
    run = set(chain.from_iterable(study.algorithm for study in paper.studies.values()))
    for algorithm in algorithms:
        if algorithm not in run:
            raise PaperError(f"{place}: no study runs {algorithm!r}; {suggest_name(algorithm, sorted(run))}")
