"""Claims of a paper as data: what each kind claims, and of which part of which study.

How one is decided stands in its rule, which `experiments.questions.rule` finds by its kind.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from documents.document import ListOf, Named, Scalar
from experiments.config.setting import is_among, is_same_value
from experiments.config.study import Curve, HasStudies, PaperError, Study, StudyPart

Level = dict[str, Scalar]
"""What tells a level that a claim compares from the others: values of axes."""


class Claim(Named):
    """A claim of a paper; its kind says how it is judged."""

    kind: str
    text: str
    """What is tested, in a sentence. Of another reading: how it takes the text, in words that may follow "if"."""
    says: str = ""
    """The paper's own words, verbatim and in its language. Every claim has them, except ours and other readings of one
    claim that has."""
    source: str = ""
    """Where the paper says so: page, section, equation."""
    translation: str = ""
    """Its words in English, where they are in another language."""
    reading_of: str | None = None
    """The claim, before this one, that this is another reading of. Neither is privileged: the verdict is what all
    readings come to, see `judge.readings_together`."""
    leaves_open: str = ""
    """Of another reading, the words of the text that leave it open; where the text is silent, what it does not say."""
    read_as: str = ""
    """How the claim itself is read, in words that may follow "if"; needed where there are other readings of it."""
    own: bool = False
    """Whether it is ours, not the paper's: it is counted apart from what the paper says."""
    against: Literal["reconstruction"] | None = None
    """``reconstruction`` where the other side is our reconstruction of a baseline whose own text was not at hand: the
    verdict says so, as another reconstruction could have another."""

    @model_validator(mode="after")
    def _check_words(self) -> Claim:
        if self.own:
            return self
        if self.reading_of is not None and not self.leaves_open:
            raise ValueError("leaves_open is missing: the words of the text that leave this reading open")
        if self.reading_of is None and not (self.says and self.source):
            lacking = "source" if self.says else "says"
            raise ValueError(f"{lacking} is missing: a claim has the paper's words and their place, or own: true")
        return self


class AgreesClaim(Claim):
    """What the paper says of one thing in several places is the same.

    If not, it is ``inconsistent in print``; nothing need be run for that.
    """

    kind: Literal["agrees"]
    values: dict[str, Scalar] = Field(min_length=2)
    """What stands where: by place, the number or word that follows from the text there."""


class ConsistentClaim(Claim):
    """The printed precisions and recalls can come from one confusion matrix of ``n_rows`` test rows of each class.

    If not, they are ``inconsistent in print``; nothing need be run for that.
    """

    kind: Literal["consistent"]
    precision: ListOf[str]
    """Ids of the printed precisions, one of each class."""
    recall: ListOf[str]
    """Ids of the printed recalls, one of each class."""
    n_rows: ListOf[int | ListOf[int]]
    """Test rows of each class, or the smallest and the largest number that there may be."""


class ExactClaim(Claim):
    """A theorem or a printed formula: a function of `experiments.statements` says whether it holds."""

    kind: Literal["exact"]
    statement: str
    """The function, ``module.function``."""
    given: dict[str, Scalar] = {}
    """Its arguments, such as the number that is printed."""


class PrintedClaim(Claim):
    """Printed numbers of the paper, all of which must be reproduced."""

    kind: Literal["printed"]
    numbers: ListOf[str]
    """Ids of printed numbers."""


class ClaimAboutRuns(Claim):
    """A claim that runs decide, as many as it takes."""

    metric: str
    """The metric that it is about."""
    most_repeats: int | None = Field(None, ge=1)
    """Repeats after which it stays undecided, in place of the paper's ``most_repeats``: fewer where a run is dear, more
    where it is cheap. What the command line asks for comes before both."""
    median: str = ""
    """The paper's words that say that it is about the median of several runs; without them it is about their mean."""

    #: Which effects bear the claim out: 1 those above zero, -1 those below, 0 those near it.
    direction: ClassVar[int] = 1

    @property
    def margin_as_share(self) -> float | None:
        """What counts as no difference, as a share of the metric; None if δ of the metric does."""
        return None

    @property
    def statistic(self) -> str:
        """What the claim is about, and its verdict, effect and interval are of."""
        return "median" if self.median else "mean"

    def list_measured(self) -> list[tuple[StudyPart, list[str]]]:
        """Return the parts of studies that it speaks of, with the metrics that these must have."""
        return []


class AboveAtEqualClaim(ClaimAboutRuns):
    """The curve ``better`` has more of the metric than ``worse`` where both have the same of ``equal``.

    An example is accuracy at equal leakage. Each repeat gives the difference of their means over the range of ``equal``
    that both reach, see `questions.tradeoffs`. There is one group.
    """

    kind: Literal["above_at_equal"]
    better: Curve
    """The curve that is claimed to be better."""
    worse: Curve
    """The curve that it is better than."""
    equal: str
    """The metric that is held equal; ``metric`` is compared."""

    def list_measured(self) -> list[tuple[StudyPart, list[str]]]:
        """Return both curves, with both metrics."""
        return [(curve, [self.equal, self.metric]) for curve in (self.worse, self.better)]


class GroupClaim(ClaimAboutRuns, StudyPart):
    """A claim about every group of a part of a study."""

    within: ListOf[str]
    """The axes whose values tell groups apart: every axis that varies, but that along which the metric changes."""

    #: The keys whose values the claim compares, the lesser first.
    compared_keys: ClassVar[tuple[str, ...]] = ()

    @property
    def compared_axis(self) -> str:
        """The axis of the values that the claim names."""
        return "algorithm"

    @property
    def averaged_axes(self) -> Sequence[str]:
        """The axes over which a run is averaged before it is compared."""
        return ()

    @property
    def named_values(self) -> dict[str, Any]:
        """The values that the claim compares, by the keys that name them, the lesser first."""
        return {key: getattr(self, key) for key in self.compared_keys}

    def list_levels(self, study: Study) -> list[Level]:
        """Return the levels that the claim compares: as a rule its named values."""
        return [{self.compared_axis: value} for value in self.named_values.values()]

    def list_measured(self) -> list[tuple[StudyPart, list[str]]]:
        """Return its part of a study, with its metric."""
        return [(self, [self.metric])]

    def find_part(self, paper: HasStudies) -> tuple[Study, dict[str, Any]]:
        """Return the study that the claim speaks of, and which part of it; PaperError if it names what is not there."""
        study = paper.study(self.study, f"claim {self.id!r}")
        self._check_named(study)
        compared: dict[str, list] = {}
        for level in self.list_levels(study):
            for axis, value in level.items():
                values = compared.setdefault(axis, [])
                values += [] if value in values else [value]
        return study, {**self.where, **compared}

    def check_within(self, study: Study, where: Mapping[str, Any], levels: Sequence[Level]) -> None:
        """Check that its groups are those of a part of a study in which nothing varies but its levels; PaperError."""
        compared, named = {axis for level in levels for axis in level}, set(self.averaged_axes)
        varying = set(study.varying_axes(where)) - compared - named
        if compared & set(self.within) or not varying <= set(self.within) or named & {*compared, *self.within}:
            besides = " and ".join(sorted(compared | named))
            raise PaperError(
                f"claim {self.id!r}: within must name every axis that varies except {besides}: {sorted(varying)}"
            )

    def _check_named(self, study: Study) -> None:
        values = study.axis(self.compared_axis, self.where)
        for key, value in self.named_values.items():
            if value not in values:
                raise PaperError(f"claim {self.id!r}: {key} = {value!r} is not run by the study ({values})")
        pair = list(self.named_values.values())
        if pair and pair[0] == pair[1]:
            raise PaperError(f"claim {self.id!r}: {pair[0]!r} is compared with itself; name two")


class TrendClaim(GroupClaim):
    """A claim about a change along an axis."""

    along: str
    """The axis along which the metric changes, its values in ascending order."""

    def list_axis_values(self, study: Study) -> list[Scalar]:
        """Return the values of the axis, ascending."""
        values = sorted(study.axis(self.along, self.where))
        if len(values) < 2:
            raise PaperError(f"claim {self.id!r}: {self.along} has one level only")
        return values

    def list_levels(self, study: Study) -> list[Level]:
        """Return every level of the axis."""
        return [{self.along: value} for value in self.list_axis_values(study)]


class ComparisonClaim(GroupClaim):
    """A claim that one algorithm, or one value of a parameter, has more or less of a metric than another."""

    better: Scalar
    """The algorithm that is claimed to be better."""
    worse: Scalar
    """The algorithm that it is better than."""
    axis: str = "algorithm"
    """The axis of the two, if they are no algorithms: ``params.<name>``."""
    over: ListOf[str] = ()
    """Axes over which a run is averaged before the two are compared, such as ``[dataset]``: "on average over the data
    sets". None of them is one of ``within``."""

    compared_keys: ClassVar[tuple[str, ...]] = ("worse", "better")

    @property
    def compared_axis(self) -> str:
        """The axis of the two."""
        return self.axis

    @property
    def averaged_axes(self) -> Sequence[str]:
        """The axes over which a run is averaged before it is compared."""
        return self.over


class WithMargin(GroupClaim):
    """A claim that something does not change by more than a margin."""

    margin: float
    """What counts as no change, as a share of the metric's mean, such as 0.05."""

    @property
    def margin_as_share(self) -> float:
        """The claim's own."""
        return self.margin

    @field_validator("margin")
    @classmethod
    def _check_margin(cls, margin: float) -> float:
        if not 0 < margin < 1:
            raise ValueError(f"margin = {margin!r} must be a share of the mean between 0 and 1, such as 0.05")
        return margin


class AboveClaim(ComparisonClaim):
    """The algorithm ``better`` has more of the metric than ``worse`` in every group.

    Each repeat gives their difference, better minus worse. With ``axis: params.<name>`` two values of that parameter
    are compared instead.
    """

    kind: Literal["above"]


class BelowClaim(ComparisonClaim):
    """The same as ``above``, of an error: ``better`` has less of it than ``worse``."""

    kind: Literal["below"]

    direction: ClassVar[int] = -1


class NotWorseClaim(WithMargin, ComparisonClaim):
    """The algorithm ``better`` is as good as ``worse``: it has at most ``margin``, a share of the metric, less.

    A test of non-inferiority in every group. ``independent`` is refuted by any difference, this by a loss only.
    """

    kind: Literal["not_worse"]


class IncreasesClaim(TrendClaim):
    """The metric grows along one axis within every group.

    It grows if every level is above the one before it, and the last above the first. Each of these counts as a setting:
    with steps that are practically flat the claim holds in part, and one that falls refutes it.
    """

    kind: Literal["increases"]


class DecreasesClaim(TrendClaim):
    """The same as ``increases``, of an error, which falls."""

    kind: Literal["decreases"]

    direction: ClassVar[int] = -1


class IndependentClaim(WithMargin, TrendClaim):
    """The metric does not depend on one axis.

    That is more than "no change was found", so it is an equivalence test: in every group the change from the first
    level to the last, and that of every step between, must lie inside ± ``margin``, a share of the mean of the same
    repeat over all levels. A change outside refutes it. An algorithm without a privacy parameter is run at every ε all
    the same, each time with a seed of its own, so that even it must be shown to be independent.
    """

    kind: Literal["independent"]

    direction: ClassVar[int] = 0


class ApproachesClaim(TrendClaim):
    """Along one axis the distance between ``algorithm`` and ``to`` falls.

    The distance is the absolute difference of their metrics in each repeat. It must be smaller at the last level than
    at the first; what it does between is not claimed, and not run again. A change of less than δ of the metric itself
    is none. Noise keeps two algorithms apart even where their means agree, so a distance that falls may be noise that
    does. With ``axis: params.<name>`` two values of that parameter are compared instead.
    """

    kind: Literal["approaches"]
    algorithm: Scalar
    """The algorithm that comes nearer."""
    to: Scalar
    """The algorithm that it comes nearer to."""
    axis: str = "algorithm"
    """The axis of the two, if they are no algorithms: ``params.<name>``."""

    direction: ClassVar[int] = -1
    compared_keys: ClassVar[tuple[str, ...]] = ("to", "algorithm")

    @property
    def compared_axis(self) -> str:
        """The axis of the two."""
        return self.axis

    def list_levels(self, study: Study) -> list[Level]:
        """Return both ends of the axis of the one, and then of the other."""
        levels = self.list_axis_values(study)
        ends = (levels[0], levels[-1])
        return [{self.axis: value, self.along: end} for value in (self.algorithm, self.to) for end in ends]


class MeetsClaim(WithMargin):
    """At the largest value of one axis, or in every group, the metric of ``algorithm`` is that of ``to``.

    An equivalence test within ± ``margin``, a share of the metric of ``to``, as for ``independent``. A difference
    outside refutes it.
    """

    kind: Literal["meets"]
    along: str | None = None
    """The axis at whose largest value they meet; left out: in every group."""
    algorithm: str
    """The algorithm that is claimed to meet the other."""
    to: str
    """The other, whose metric the margin is a share of."""

    direction: ClassVar[int] = 0
    compared_keys: ClassVar[tuple[str, ...]] = ("to", "algorithm")

    def list_levels(self, study: Study) -> list[Level]:
        """Return the two, where they are claimed to meet."""
        levels = super().list_levels(study)
        if self.along is None:
            return levels
        last = max(study.axis(self.along, self.where))
        return [level | {self.along: last} for level in levels]


class FartherClaim(GroupClaim):
    """``one`` is farther from ``middle`` than ``other`` is, in every group.

    The distance is the absolute difference of their metrics in each repeat.
    """

    kind: Literal["farther"]
    one: Scalar
    """The value that is claimed to be far from the middle."""
    middle: Scalar
    """The value that the others are compared with."""
    other: Scalar
    """The value that is claimed to be near the middle."""
    axis: str = "algorithm"
    """The axis of the three, if they are no algorithms: ``params.<name>``."""

    compared_keys: ClassVar[tuple[str, ...]] = ("other", "middle", "one")

    @property
    def compared_axis(self) -> str:
        """The axis of the three."""
        return self.axis


class HighestClaim(GroupClaim):
    """Along one axis the metric is highest at the value ``at``, as of a parameter that was chosen by it.

    It must be above that at every other value. Another value that is better refutes it; where no other differs by more
    than the margin, the choice is practically equal to others.
    """

    kind: Literal["highest"]
    along: str
    """The axis."""
    at: Scalar
    """Its value at which the metric is claimed to be highest."""
    margin: Annotated[float, Field(gt=0, lt=1)] | None = None
    """What counts as no difference, as a share of the metric's mean; δ of the metric if left out."""

    @property
    def margin_as_share(self) -> float | None:
        """The claim's own, if it has one."""
        return self.margin

    def list_levels(self, study: Study) -> list[Level]:
        """Return the value claimed, then the others."""
        values = study.axis(self.along, self.where)
        if not is_among(self.at, values) or len(values) < 2:
            raise PaperError(f"claim {self.id!r}: at = {self.at!r} must be one of several {self.along} ({values})")
        others = [value for value in values if not is_same_value(value, self.at)]
        return [{self.along: value} for value in (self.at, *others)]


class BetweenClaim(GroupClaim):
    """In every group the metric of the one algorithm of the part lies between two numbers, or on one side of one.

    A figure that is printed without its setting tells by the ends of its axis which settings it may be of.
    """

    kind: Literal["between"]
    low: float = -math.inf
    """The lower end, a fraction of metrics that are printed in per cent; none if left out."""
    high: float = math.inf
    """The upper end; none if left out."""

    def list_levels(self, study: Study) -> list[Level]:
        """Return the one algorithm of the part."""
        algorithms = study.axis("algorithm", self.where)
        if len(algorithms) > 1:
            raise PaperError(f"claim {self.id!r}: where must name one algorithm of {algorithms}")
        return [{"algorithm": algorithms[0]}]

    @model_validator(mode="after")
    def _check_ends(self) -> BetweenClaim:
        if not self.low < self.high:
            raise ValueError(f"low = {self.low} must be below high = {self.high}")
        if math.isinf(self.low) and math.isinf(self.high):
            raise ValueError("low or high must be given")
        return self
