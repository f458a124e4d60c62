"""``above_at_equal``: one curve has more of a metric than another where both have the same of a second metric."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

import pandas as pd

from experiments.config.paper import Claim, Curve, Paper
from experiments.judge.claims.above import AboveClaim
from experiments.judge.evidence.claim_groups import ClaimGroup
from experiments.judge.group_claim import describe_scope, measure_groups, overlap_of_study
from experiments.judge.preflight import check_metrics
from experiments.judge.tradeoffs import check_curve, compare_at_equal, count_expected_points, select_points
from experiments.judge.verdict import UNDECIDED


class AboveAtEqualClaim(Claim):
    """The curve ``better`` has more of the metric than ``worse`` where both have the same of ``equal``.

    An example is accuracy at equal leakage. Each repeat gives the difference of their means over the range of ``equal``
    that both reach, see `judge.tradeoffs`. There is one group.
    """

    kind: Literal["above_at_equal"]
    better: Curve
    """The curve that is claimed to be better."""
    worse: Curve
    """The curve that it is better than."""
    equal: str
    """The metric that is held equal."""
    metric: str
    """The metric that is compared."""

    def check(self, paper: Paper) -> None:
        """Check that both are curves whose data sets have the two metrics.

        Raises
        ------
        PaperError
            If they are not.
        """
        for curve in (self.worse, self.better):
            check_curve(paper, self.id, curve)
            check_metrics(paper, self.id, curve.study, curve.where, [self.equal, self.metric])

    def explain_missing(self, paper: Paper) -> str:
        """Return nothing: curves are of algorithms that are run."""
        return ""

    def judge(
        self, paper: Paper, table: pd.DataFrame, numbers: pd.DataFrame | None, fixed_splits: Collection[str]
    ) -> dict[str, Any]:
        """Measure the claim; the parameters are those of `GroupClaim.judge`."""
        points, n_expected, overlap = [], 0, 0.0
        for curve in (self.worse, self.better):
            check_curve(paper, self.id, curve)
            points.append(select_points(paper, self.id, curve, table, [self.equal, self.metric]))
            n_expected += count_expected_points(paper, self.id, curve)
            overlap = max(overlap, self._overlap_of(paper, curve, fixed_splits))
        n_points = sum(map(len, points))
        counts = {"cells": n_points, "cells_expected": n_expected}
        values = compare_at_equal(points, self.equal, self.metric)
        n_repeats = min(cells["repeat"].nunique() for cells in points)
        # what drops out depends on what came out: no test of the rest would be fair
        if len(values) < max(n_repeats, 2):
            shared = f"a range of {self.equal} is shared by both in {len(values)} of {n_repeats} repeats"
            return counts | {"verdict": UNDECIDED, "reason": shared if n_points else "no cell answers it"}

        group = ClaimGroup({}, values, overlap, AboveClaim, 0.0, paper.center_of(self.metric))
        return {**counts, **measure_groups([group]), "scope": describe_scope([group])}

    def _overlap_of(self, paper: Paper, curve: Curve, fixed_splits: Collection[str]) -> float:
        study = paper.study(curve.study, self.id)
        dataset = study.axis("dataset", curve.where)[0]
        return overlap_of_study(study, dataset, fixed_splits)
