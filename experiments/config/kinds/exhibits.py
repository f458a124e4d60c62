"""Tables and figures of a paper as data: what each kind shows, and which part of which study.

What they need of runs is checked in `experiments.questions.exhibits.checks`; who shows a kind is found by its name, in
`plots.tables` and `plots.figures`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from datasets.tuning import Side, find_side
from documents.document import Document, ListOf, Named, Scalar
from experiments.config.study import Center, Curve, HasStudies, PaperError, Study, StudyPart, Where


class Exhibit(Named):
    """What a paper shows: a table or a figure."""

    title: str
    """What stands above a table, below a figure."""

    def list_study_parts(self, paper: HasStudies) -> list[tuple[Study, Mapping]]:
        """Return the parts of studies that are shown."""
        return []

    def list_algorithms(self, paper: HasStudies) -> list[str]:
        """Return the algorithms that are shown, each of them once."""
        names: dict[str, None] = {}
        for study, where in self.list_study_parts(paper):
            names.update(dict.fromkeys(study.axis("algorithm", where)))
        return list(names)


class PaperTable(Exhibit):
    """A table of a paper; its kind says what it shows."""

    kind: str

    def list_open_studies(self, paper: HasStudies) -> list[Study]:
        """Return the studies of which some setting gave the numbers that it prints without their settings."""
        return []


class PaperFigure(Exhibit):
    """A figure of a paper; its kind says what it draws."""

    kind: str


class ShownPart(StudyPart, Exhibit):
    """A table or a figure of one part of a study."""

    def list_study_parts(self, paper: HasStudies) -> list[tuple[Study, Mapping]]:
        """Return the part of the study that is shown."""
        return [(paper.study(self.study, self.id), self.where)]


class ComparedPart(ShownPart):
    """A table or a figure that compares the algorithms of a part of a study over its data sets."""

    metric: str
    """The metric that they are compared by."""
    equal_within: Annotated[float, Field(ge=0, lt=1)] = 0.01
    """The largest difference that counts as practically equal: of errors a share of the error, of other metrics on
    their own scale, so that 0.01 of an accuracy is one point."""
    sets: Side | None = None
    """Which data sets of the study: ``held_out`` or ``chosen_on``, as ``conf/tuning.yaml`` lists them; both if left
    out."""

    def narrow(self, paper: HasStudies) -> dict[str, Any]:
        """Return which part of the study is compared: ``where``, with the data sets that ``sets`` leaves.

        A PaperError is raised if it leaves none.
        """
        if self.sets is None:
            return dict(self.where)
        study = paper.study(self.study, self.id)
        kept = [name for name in study.axis("dataset", self.where) if find_side(name) == self.sets]
        if not kept:
            raise PaperError(
                f"{self.id}: study {self.study!r} has no data set that the project lists as {self.sets}; "
                "leave sets out, or add one to the study"
            )
        return {**self.where, "dataset": kept}

    def list_study_parts(self, paper: HasStudies) -> list[tuple[Study, Mapping]]:
        """Return the part of the study that is compared."""
        return [(paper.study(self.study, self.id), self.narrow(paper))]


class BetweenLevels(Document):
    """What is shown between a floor and a ceiling, which a study of their own runs."""

    levels: str
    """The study that runs floor and ceiling on the same data sets: what has no ε need not be run at each."""
    floor: str
    """The algorithm that knows next to nothing: the majority class, or the mean."""
    ceiling: str
    """The algorithm without privacy that others are measured by."""


class GridTable(ShownPart, PaperTable):
    """A metric over two axes of a study; with ``columns: metric``, a list of metrics over one axis."""

    kind: Literal["grid"]
    rows: str
    """The axis of the rows."""
    columns: str
    """The axis of the columns, or ``metric``."""
    metric: str | ListOf[str]
    """The metric, or a list of them with ``columns: metric``."""
    center: Center | None = None
    """What stands for the repeats, if not as the paper says of the metric."""

    @model_validator(mode="after")
    def _check_columns(self) -> GridTable:
        if (self.columns == "metric") == isinstance(self.metric, str):
            raise ValueError("columns: metric goes with a list of metrics, and a list with that")
        return self

    @property
    def axes(self) -> list[str]:
        """The axes of rows and columns."""
        return [self.rows, self.columns]


class SpanTable(PaperTable):
    """Numbers that are printed without their setting: for each algorithm one, which some setting should give."""

    kind: Literal["span"]
    studies: ListOf[str]
    """The studies of which some setting gave the numbers."""
    algorithms: ListOf[str]
    """The algorithms, in the order of the rows."""
    metric: str
    """What is printed."""

    def list_open_studies(self, paper: HasStudies) -> list[Study]:
        """Return the studies of which some setting gave the numbers."""
        return [paper.study(name, self.id) for name in self.studies]

    def list_algorithms(self, paper: HasStudies) -> list[str]:
        """Return the algorithms of the rows."""
        return list(self.algorithms)


class TableOfFacts(PaperTable):
    """Base of the tables of what is counted in data sets."""

    datasets: ListOf[str]
    """The data sets, in the order of the rows."""


class DatasetsTable(TableOfFacts):
    """Facts of data sets: counted rows, columns and classes."""

    kind: Literal["datasets"]


class AttributesTable(TableOfFacts):
    """One row for each attribute, with the number of its categories: 0 of a continuous one.

    A printed number is of the metric ``categories_<attribute>``.
    """

    kind: Literal["attributes"]


class ByKindTable(BetweenLevels, PaperTable, ComparedPart):
    """How far each algorithm gets from the floor (0) to the ceiling (100), mean over the data sets of each kind."""

    kind: Literal["by_kind"]


class Situation(Document):
    """A line of a decision table: what a reader has and needs."""

    neighbours: Literal["added_or_removed", "replaced"] | None = None
    """Between which tables the ε on the label must hold; as each method means it if left out."""
    release: bool = False
    """Whether the whole fitted model is to be published: the method must have a form in which it can leave."""
    unchecked: bool = False
    """Whether a claim that nobody accounted for will do, too: that of a peer, or of an (ε, δ)."""
    situation: str
    """What the reader has or needs, in words."""
    study: str
    """One of the paper's studies: its algorithms come into question."""
    where: Where = {}
    """Which part of the study: its algorithms, and the ε that count."""
    metric: str
    """The metric that decides."""
    equal_within: Annotated[float, Field(ge=0, lt=1)] = 0.01
    """The largest difference that counts as practically equal; see the kind of figure ``ranks``."""
    data: str | None = None
    """Only data sets of this kind: ``small``, ``classes``, ``tails``, ``wide``, ``nominal`` or ``numbers``."""
    figure: str | None = None
    """The table or figure of the paper that shows the evidence."""

    def select_part(self, sets: Side | None) -> ComparedPart:
        """Return what is compared, over data sets of every kind."""
        return ComparedPart(
            id=self.situation,
            title=self.situation,
            study=self.study,
            where=self.where,
            metric=self.metric,
            equal_within=self.equal_within,
            sets=sets,
        )


class DecisionTable(PaperTable):
    """Which method is first in each situation, with its evidence, or that too few data sets say so.

    In each situation the methods that come into question are ranked among themselves, over the data sets of the kind
    that is asked about. Nothing of the answer is written in the paper's file.
    """

    kind: Literal["decision"]
    lines: ListOf[Situation]
    """The situations."""
    sets: Side | None = None
    """Which data sets decide: ``held_out`` or ``chosen_on``, as ``conf/tuning.yaml`` lists them; all if left out."""
    least_sets: Annotated[int, Field(ge=2)] = 3
    """The least number of data sets that says something: with fewer the answer is that they are not enough."""

    def list_study_parts(self, paper: HasStudies) -> list[tuple[Study, Mapping]]:
        """Return the parts of studies that decide."""
        parts = []
        for line in self.lines:
            parts += line.select_part(self.sets).list_study_parts(paper)
        return parts


class LinesFigure(ShownPart, PaperFigure):
    """A line for each value of one axis of a study, over the values of another or over several metrics."""

    kind: Literal["lines"] = "lines"
    x: str
    """The axis along the bottom, or ``metric``."""
    lines: str
    """The axis of which each value has a line."""
    metric: str | ListOf[str]
    """The metric, or a list of them with ``x: metric``."""
    center: Center | None = None
    """What stands for the repeats, if not as the paper says of the metric."""
    y: Literal["log", "symlog"] | None = None
    """``log``: the y axis is logarithmic; ``symlog``: it is linear between -1 and 1, and logarithmic beyond."""
    bottom: float | None = None
    """Lower end of the y axis, in the units printed there; what lies beyond is marked at it with its value."""
    top: float | None = None
    """Upper end of the y axis."""
    marks: dict[str, float] = {}
    """Places on the x axis that are marked with a name, ``{name: place}``."""
    further: ListOf[StudyPart] = ()
    """Parts of other studies whose lines are drawn beside these, each with the values along the bottom that it has."""

    @model_validator(mode="after")
    def _check_axes(self) -> LinesFigure:
        if (self.x == "metric") == isinstance(self.metric, str):
            raise ValueError("x: metric goes with a list of metrics, and a list with that")
        for name, end in (("bottom", self.bottom), ("top", self.top)):
            if end is None:
                continue
            if not math.isfinite(end):
                raise ValueError(f"{name} = {end!r} must be a number on the scale of the axis")
            if self.y == "log" and end <= 0:
                raise ValueError(f"{name} = {end!r} cannot be shown on a log axis; choose one above zero")
        if self.bottom is not None and self.top is not None and self.bottom >= self.top:
            raise ValueError(f"bottom = {self.bottom!r} must lie below top = {self.top!r}")
        return self

    @property
    def axes(self) -> list[str]:
        """The axis of the lines, and that along the bottom."""
        return [self.lines, self.x]

    @property
    def parts(self) -> list[LinesFigure]:
        """The figure, as one of a single study for each study that has lines in it."""
        return [self, *(self.model_copy(update=dict(other)) for other in self.further)]

    def list_study_parts(self, paper: HasStudies) -> list[tuple[Study, Mapping]]:
        """Return the parts of studies that are shown."""
        return [(paper.study(part.study, self.id), part.where) for part in self.parts]


class FacetsFigure(BetweenLevels, ShownPart, PaperFigure):
    """A metric against ε, a small picture for each data set, with floor and ceiling at the same height in all."""

    kind: Literal["facets"]
    metric: str
    """The metric; an error is drawn on a logarithmic axis."""


class FitFigure(PaperFigure):
    """A sample of the rows of a data set, and the curves that algorithms fit to one feature of all rows."""

    kind: Literal["fit"]
    dataset: str
    """The data set."""
    feature: str
    """The feature along the bottom."""
    algorithm: ListOf[str]
    """The algorithms, a curve for each."""
    params: dict[str, Any]
    """Parameters of all of them."""
    epsilon: float
    """Their privacy budget."""

    def list_algorithms(self, paper: HasStudies) -> list[str]:
        """Return the algorithms."""
        return list(self.algorithm)


class LedgerFigure(PaperFigure):
    """The budget of fitted models, divided as the steps that one record meets divide it."""

    kind: Literal["ledger"]
    dataset: str
    """The data set."""
    algorithm: str
    """The algorithm."""
    params: dict[str, ListOf[Scalar]]
    """One parameter with its values, ``{parameter: [value, ...]}``: each has a bar."""
    epsilon: float
    """The privacy budget."""

    @field_validator("params")
    @classmethod
    def _check_params(cls, params: dict) -> dict:
        if len(params) != 1:
            raise ValueError(f"write one parameter, {{parameter: [value, ...]}}, got {len(params)}")
        return params

    def list_algorithms(self, paper: HasStudies) -> list[str]:
        """Return the algorithm."""
        return [self.algorithm]


class RanksFigure(ComparedPart, PaperFigure):
    """Mean ranks of the algorithms of a study over its data sets, and the first compared with each other one."""

    kind: Literal["ranks"]
    advises: bool = False
    """Whether the first algorithm is the one to take: the figure must hold none that is not private as it says."""


class SoundnessFigure(ShownPart, PaperFigure):
    """What the sound variants of algorithms gain or lose, and what the printed ones really pay."""

    kind: Literal["soundness"]
    metric: str
    """The metric that is compared."""
    pairs: dict[str, str]
    """Printed algorithms with their sound variants, ``{printed: sound}``."""

    @field_validator("pairs", mode="before")
    @classmethod
    def _check_pairs(cls, pairs: Any) -> Any:
        if not isinstance(pairs, Mapping) or not pairs:
            raise ValueError("write {printed algorithm: its sound variant, ...}")
        return pairs


class LabelledCurve(Curve):
    """A curve of a figure."""

    label: str
    """How the legend calls it."""


class TradeoffFigure(PaperFigure):
    """One metric against another, a curve for each method as its parameter goes through its values."""

    kind: Literal["tradeoff"]
    curves: ListOf[LabelledCurve]
    """The curves."""
    x: str
    """The metric along the bottom."""
    y: str
    """The metric upwards."""

    def list_study_parts(self, paper: HasStudies) -> list[tuple[Study, Mapping]]:
        """Return the parts of studies that the curves show."""
        return [(paper.study(curve.study, self.id), curve.where) for curve in self.curves]


class WinsFigure(ComparedPart, PaperFigure):
    """On how many data sets each algorithm beats each other one by more than ``equal_within``, and loses to it."""

    kind: Literal["wins"]
