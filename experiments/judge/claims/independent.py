"""``independent``: a metric does not depend on an axis."""

from __future__ import annotations

from typing import ClassVar, Literal

from experiments.judge.group_claim import TrendClaim, WithMargin


class IndependentClaim(WithMargin, TrendClaim):
    """The metric does not depend on one axis.

    That is more than "no change was found", so it is an equivalence test: in every group the gain must lie inside ±
    ``margin``, a share of the group's mean (two one-sided tests at once; the mean is that of the same repeats, so its
    own error is tested along). A gain, or a single step, that is significantly outside contradicts it. An algorithm
    without a privacy parameter is run at every ε all the same, each time with a seed of its own, so that even it must
    be shown to be independent.
    """

    kind: Literal["independent"]

    # no margin is a share of nothing: where the metric is zero throughout, nothing can be said
    bound: ClassVar[float | None] = 0.0
    contradiction_words: ClassVar[tuple[str, str] | None] = ("leaves the margin", "leave the margin")
