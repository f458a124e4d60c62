"""``above_at_equal``: one curve has more of a metric than another where both have the same of a second metric."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.config.kinds.claims import AboveAtEqualClaim
from experiments.config.paper import Paper
from experiments.judge.evidence.claim_group import ClaimGroup, Contrast
from experiments.judge.question import AskedGroup, ClaimQuestion, Evidence
from experiments.judge.words import find_label
from experiments.metrics.metric import Margin
from experiments.questions.group_claim import RunsRule, describe_scope, is_fixed_split
from experiments.questions.settings import list_setting_keys
from experiments.questions.tradeoffs import check_curve, compare_at_equal, join_points
from experiments.store.results import Results


@dataclass(frozen=True)
class CurveQuestion(ClaimQuestion):
    """Has the second curve more of the metric than the first where both have the same of ``equal``?"""

    equal: str = ""

    def list_metrics(self) -> list[str]:
        """Return the metric that is held equal, and that which is compared."""
        return [self.equal, self.metric]

    def gather(self, results: Results) -> Evidence:
        """Return the one group; repeats in which the curves share no range are unfit."""
        (asked,), points, n_attempted = self.groups, [], []
        for curve in asked.levels:
            runs = results.find_all(curve, self.metric)
            n_attempted += [at_point.n_attempted for at_point in runs]
            points.append(join_points(runs, results.find_all(curve, self.equal), self.metric, self.equal))
        values = compare_at_equal(points, self.equal, self.metric)
        repeats = values.index.to_numpy()
        settings = asked.list_settings()
        group = ClaimGroup({}, repeats, values.to_numpy(np.float64), min(n_attempted), self.test, settings)
        both = set(points[0]["repeat"]) & set(points[1]["repeat"])
        # what drops out depends on what came out: no test of the rest would be fair
        return Evidence([group], sorted(both - set(repeats.tolist())))


class AboveAtEqualRule(RunsRule[AboveAtEqualClaim], of=AboveAtEqualClaim):
    """Each repeat gives the difference of the curves' means over the range of ``equal`` that both reach."""

    def name_sides(self, paper: Paper, contrast: str) -> tuple[str, str]:
        """Return the algorithms of the two curves."""
        names = []
        for curve in (self.claim.better, self.claim.worse):
            algorithms = paper.study(curve.study, self.claim.id).axis("algorithm", curve.where)
            names.append(" and ".join(find_label(str(name), paper.labels) for name in algorithms))
        return names[0], names[1]

    def list_contrasts(self, values: np.ndarray, margin: Margin) -> list[Contrast]:
        """Want the difference of the curves to be above zero."""
        worse, better = values.T
        return [Contrast.of_difference("", 1, worse, better, margin)]

    def make_question(self, paper: Paper) -> CurveQuestion:
        """Return the question; see `RunsRule.make_question`."""
        claim = self.claim
        curves, fixed = [], set()
        for curve in (claim.worse, claim.better):
            check_curve(paper, claim.id, curve)
            study = paper.study(curve.study, claim.id)
            curves.append(list_setting_keys(study, curve.where))
            fixed |= {is_fixed_split(study, dataset) for dataset in study.axis("dataset", curve.where)}
        return CurveQuestion(
            metric=claim.metric,
            groups=(AskedGroup({}, tuple(curves)),),
            test=self.make_test(paper),
            scope=describe_scope(fixed),
            obstacle=f"the curves share no range of {claim.equal}",
            equal=claim.equal,
            first=paper.repeats,
            most=self.find_last_look(paper),
        )
