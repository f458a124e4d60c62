"""A paper as a typed document: its studies, tables, figures, claims, readings, and what its regression check watches.

``conf/paper/N.yaml`` says all of it, and is read once, here. What a paper shows and claims are documents of `kinds`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, PlainValidator, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema

from documents.document import Document, ListOf, OneOrMore, parse_document
from documents.publication import Publication
from documents.search_path import name_stored_in
from documents.yaml_files import DocumentError
from experiments.config.finding import PaperFinding, ShortText
from experiments.config.kinds import parser_of
from experiments.config.kinds.claims import Claim
from experiments.config.kinds.exhibits import PaperFigure, PaperTable
from experiments.config.readings import Choices, parse_question
from experiments.config.setting import keep_entries
from experiments.config.study import Center, PaperError, Study, StudyPart, Where
from experiments.errors import suggest_name


class Speaker(StrEnum):
    """Whose a claim is."""

    PAPER = "the paper's"
    READING = "our reading"
    OURS = "ours"


class Passage(Document):
    """A sentence, table, figure or theorem of a paper, and what became of it."""

    at: str
    """Where it stands: "Table 2", "section 4.2, Theorem 3"."""
    says: str
    """What it says, in English and in a few words."""
    judged_by: ListOf[str] = ()
    """The claims, printed numbers, tables or figures of the paper's file that judge or show it."""
    why_not: str = ""
    """Why it is not judged, where it is not."""

    @model_validator(mode="after")
    def _check_one(self) -> Passage:
        if bool(self.judged_by) == bool(self.why_not):
            raise ValueError("write either judged_by, what judges it, or why_not, why nothing does")
        return self


class Watch(StudyPart):
    """Numbers that the regression check watches: a metric of each setting, or its mean over some axes."""

    metric: str
    """Which metric."""
    within: ListOf[str] | None = None
    """The axes that are told apart; over the others the mean is taken. Left out: each setting by itself."""
    clip: tuple[float, float] | None = None
    """Values beyond these two are moved there before the mean is taken, where tails are heavy."""

    @field_validator("clip", mode="before")
    @classmethod
    def _read_clip(cls, clip: Any) -> tuple[float, ...]:
        if not (isinstance(clip, list | tuple) and len(clip) == 2 and clip[0] < clip[1]):
            raise ValueError(f"write two numbers, the smaller one first, got {clip!r}")
        return tuple(map(float, clip))


class RegressionWatch(Document):
    """What ``make check`` runs and watches of a paper."""

    repeats: Annotated[int, Field(ge=1)]
    """Runs of every setting in the check: repeats 0, 1, ..."""
    accepted: Annotated[int, Field(ge=1)]
    """Runs that the bands are made from: the repeats after these, independent of them."""
    watch: ListOf[Watch]
    """The numbers that are watched."""
    claims: dict[str, Where | None] = {}
    """Claims whose verdicts are watched, with the part of their study that is run."""
    must_hold: ListOf[str] = ()
    """Printed numbers that the check's runs have to bear out: a positive control, which shows that a paper that
    replicates is seen to."""

    @field_validator("watch")
    @classmethod
    def _check_watch(cls, watch: tuple[Watch, ...]) -> tuple[Watch, ...]:
        if not watch:
            raise ValueError("nothing to check: name what is watched")
        return watch


class Paper(Document):
    """A paper, or a study of our own, as data."""

    number: int | str
    """The paper's number in this project, or a word for a study of our own."""
    title: str
    """Its title."""
    publication: Publication | None = None
    """Where it was published, and what of its text was at hand."""
    citation: str = ""
    """Where a study comes from that has no ``publication``, in words."""
    promise: ShortText = ""
    """What the paper claims, in a sentence of at most 30 words: its page begins with it. Studies of our own may leave
    it out."""
    finding: PaperFinding | None = None
    """What came out and why, with the verdicts that the sentence takes for granted: where a run gives others, its page
    says so and ``make pages`` fails. A study of our own may leave it out."""
    repeats: Annotated[int, Field(ge=1)] = 10
    """Runs of every setting."""
    most_repeats: Annotated[int, Field(ge=1)] = 1280
    """Runs of a setting after which a verdict stays undecided: up to here, each claim and number gets as many as it
    takes. Tables and figures show ``repeats`` runs whatever the verdicts take."""
    printed_repeats: OneOrMore[Annotated[int, Field(ge=1)]] = (1,)
    """Over how many runs its printed numbers are means: every number of runs that its text allows, such as ``[1, 10]``
    where it does not say. 1 also covers runs on one split of the rows that the text does not name."""
    own: ListOf[str] = ()
    """The algorithms that the paper proposes: the sentence above its results says whether these keep the ε that they
    claim. Left out by a study that proposes none."""
    reported: str | None = None
    """The CSV file of its printed numbers: relative to the paper's own file, or to the checkout if that is one of ours
    in ``conf/paper``."""
    center: dict[str, Center] = {}
    """By metric, what stands for the repeats of a setting: ``median`` where tails are so heavy that one run decides a
    mean. It says what tables and figures show; what a claim is about, the claim says."""
    labels: dict[str, str] = {}
    """Readable names of data sets, algorithms, metrics and axes."""
    resolution: dict[str, float] = {}
    """By metric, the widest half-width of an interval inside of which a printed number counts as reproduced; 0.01 of
    shares and R² if left out."""
    algorithms: dict[str, dict[str, Any]] = {}
    """By algorithm, parameters that replace those of its file throughout the paper."""
    instead: dict[str, str] = {}
    """Data sets that stand in, under their own names, for others where these are not available."""
    not_implemented: dict[str, str] = {}
    """Algorithms that the paper names and nobody describes, with the reason: their rows stay empty."""
    studies: dict[str, Study]
    """The grids of cells that are run."""
    tables: ListOf[Annotated[PaperTable, PlainValidator(parser_of("tables"))]] = ()
    """Its tables."""
    figures: ListOf[Annotated[PaperFigure, PlainValidator(parser_of("figures", "lines"))]] = ()
    """Its figures; of kind ``lines`` if they do not say."""
    claims: ListOf[Annotated[Claim, PlainValidator(parser_of("claims"))]] = ()
    """Its claims."""
    coverage: ListOf[Passage] = ()
    """Every sentence that claims something, table, figure and theorem of its text, with what became of it."""
    choices: Choices = Choices()
    """What its text leaves open: every combination of values is a reading."""
    readings: ListOf[Annotated[Any, PlainValidator(parse_question)]] = ()
    """Questions that its ambiguous text raises."""
    check: RegressionWatch | None = None
    """What ``make check`` watches."""

    repeats_asked: SkipJsonSchema[int | None] = Field(None, exclude=True)
    used_instead: SkipJsonSchema[dict[str, str]] = Field({}, exclude=True)

    def model_post_init(self, context: Any) -> None:
        """Tell the studies their names."""
        for name, study in self.studies.items():
            study._name = name

    @property
    def short_title(self) -> str:
        """Its title up to a colon."""
        return self.title.partition(":")[0]

    @property
    def reference(self) -> str:
        """Where it was published, as a list of references has it; of a study of our own, what it comes from."""
        return self.publication.cite() if self.publication else self.citation.rstrip(".")

    @property
    def exhibits(self) -> dict[str, PaperTable | PaperFigure]:
        """The tables and figures, by id."""
        tables: dict[str, PaperTable | PaperFigure] = {table.id: table for table in self.tables}
        return tables | {figure.id: figure for figure in self.figures}

    @property
    def claims_by_id(self) -> dict[str, Claim]:
        """The claims, by id."""
        return {claim.id: claim for claim in self.claims}

    def text_of(self, claim: Claim) -> str:
        """Return the id of the claim that a claim is, or is a reading of, or a reading of a reading."""
        known = {claim.id}
        while claim.reading_of in self.claims_by_id and claim.reading_of not in known:
            claim = self.claims_by_id[claim.reading_of]
            known.add(claim.id)
        return claim.reading_of or claim.id

    def speaker_of(self, claim: Claim) -> Speaker:
        """Return whose a claim is; a reading of one of ours is ours, too."""
        text = self.claims_by_id.get(self.text_of(claim), claim)
        if claim.own or text.own:
            return Speaker.OURS
        return Speaker.PAPER if claim.reading_of is None else Speaker.READING

    def study(self, name: str, user: str) -> Study:
        """Return a study; PaperError begins with ``user``, the table, figure or claim that names it, if missing."""
        if name not in self.studies:
            raise PaperError(f"{user}: study {name!r} is not in the paper; it has: {', '.join(self.studies)}")
        return self.studies[name]

    def claim(self, name: str, user: str) -> Claim:
        """Return a claim; PaperError begins with ``user``, who names it, if there is none."""
        claims = self.claims_by_id
        if name not in claims:
            raise PaperError(f"{user}: the paper has no claim {name!r}; {suggest_name(name, claims)}")
        return claims[name]

    def center_of(self, metric: str, center: str | None = None) -> str:
        """Return what stands for the repeats of a setting: ``center`` if given, else the paper's, else the mean."""
        return center or self.center.get(metric, "mean")

    def reason_not_implemented(self, algorithm: str) -> str:
        """Return why an algorithm of the paper is not implemented; nothing if it is."""
        reason = self.not_implemented.get(algorithm, "")
        return f"not implemented: {reason}" if reason else ""

    def to_mapping(self) -> dict[str, Any]:
        """Return what a YAML file says that gives the same paper: the keys that are set."""
        return _plain(self)

    @field_validator("studies", mode="after")
    @classmethod
    def _check_names(cls, studies: dict[str, Study]) -> dict[str, Study]:
        if not studies:
            raise ValueError("the paper has no studies")
        for name in studies:
            if "+" in name:
                raise ValueError(
                    f"study {name!r}: choose a name without +, which joins the names of studies in cells.csv"
                )
        return studies

    @field_validator("claims", mode="after")
    @classmethod
    def _check_read_as(cls, claims: tuple[Claim, ...]) -> tuple[Claim, ...]:
        read = {claim.reading_of for claim in claims}
        for claim in claims:
            if claim.id in read and not claim.read_as and not claim.own:
                raise ValueError(f"claim {claim.id!r} has other readings: say in read_as how it is read itself")
            conditions = [claim.read_as, *(other.text for other in claims if other.reading_of == claim.id)]
            if twice := next((text for text in conditions if conditions.count(text) > 1), None):
                raise ValueError(f"claim {claim.id!r} has two readings with the same condition: {twice!r}")
        return claims

    @field_validator("printed_repeats")
    @classmethod
    def _check_printed_repeats(cls, printed_repeats: tuple[int, ...]) -> tuple[int, ...]:
        if not printed_repeats or len(set(printed_repeats)) < len(printed_repeats):
            raise ValueError(f"name each number of runs once, and one at least, got {list(printed_repeats)}")
        return printed_repeats

    @model_validator(mode="after")
    def _check_ids(self) -> Paper:
        for what, entries in (("table or figure", (*self.tables, *self.figures)), ("claim", self.claims)):
            names = list(map(attrgetter("id"), entries))
            for name in names:
                if names.count(name) > 1:
                    raise ValueError(f"two {what}s have the id {name!r}")
        return self


def parse_paper(contents: Any, file: Path | None = None) -> Paper:
    """Return a paper made of what its file says; DocumentError reports all missing, unknown or wrong keys at once."""
    if not isinstance(contents, Mapping):
        raise DocumentError(f"{file or 'the paper'} must be a mapping of keys, got {contents!r}")
    return parse_document(Paper, name_stored_in(contents), file)


_FIRST_KEYS = ("id", "reading_of", "title", "text", "kind")
"""Keys that stand first in a part of a written paper."""


def _plain(value: Any) -> Any:
    if isinstance(value, Document):
        keys = [name for name in type(value).model_fields if name in value.model_fields_set]
        keys.sort(key=lambda name: _FIRST_KEYS.index(name) if name in _FIRST_KEYS else len(_FIRST_KEYS))
        value = keep_entries(vars(value), keys)
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return list(map(_plain, value))
    return value.value if isinstance(value, StrEnum) else value
