"""``above_at_equal``: one curve has more of a metric than another where both have the same of a second metric."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from experiments.config.paper import Curve, Paper
from experiments.judge.claims.above import AboveClaim
from experiments.judge.evidence.claim_group import ClaimGroup
from experiments.judge.group_claim import ClaimAboutRuns, Evidence, describe_scope, is_fixed_split
from experiments.judge.margin import find_margin
from experiments.judge.preflight import check_metrics
from experiments.judge.tradeoffs import check_curve, compare_at_equal, count_attempted, select_points
from experiments.metrics.find import find_metric


class AboveAtEqualClaim(ClaimAboutRuns):
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
    """The metric that is held equal; ``metric`` is compared."""

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

    def make_evidence(self, paper: Paper, table: pd.DataFrame) -> Evidence:
        """Return the one group of the claim with its runs, from the long table."""
        points, parts, fixed, n_attempted, n_cells = [], [], set(), [], 0
        for curve in (self.worse, self.better):
            check_curve(paper, self.id, curve)
            study = paper.study(curve.study, self.id)
            n_points = study.count_settings(curve.where)
            found = select_points(paper, self.id, curve, table, [self.equal, self.metric])
            points.append(found[found.groupby("repeat")["repeat"].transform("size") == n_points])
            n_cells += n_points
            parts.append((study.name, dict(curve.where)))
            fixed |= {is_fixed_split(study, dataset) for dataset in study.axis("dataset", curve.where)}
            n_attempted.append(count_attempted(paper, self.id, curve, table))
        values = compare_at_equal(points, self.equal, self.metric)
        both = set(points[0]["repeat"]) & set(points[1]["repeat"])
        group = ClaimGroup(
            setting={},
            repeats=values.index.to_numpy(),
            values=values.to_numpy(np.float64),
            n_attempted=min(n_attempted),
            rule=AboveClaim,
            margin=find_margin(paper, self.metric),
            center=paper.center_of(self.metric),
            reach=find_metric(self.metric).range.reach,
            cells_per_repeat=n_cells,
        )
        # what drops out depends on what came out: no test of the rest would be fair
        unfit = sorted(both - set(values.index))
        return Evidence(
            [group], [parts], [[]], describe_scope(fixed), f"the curves share no range of {self.equal}", unfit
        )
