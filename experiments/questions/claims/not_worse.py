"""``not_worse``: one algorithm has as much of a metric as another, or more."""

from __future__ import annotations

import numpy as np

from experiments.config.kinds.claims import NotWorseClaim
from experiments.judge.evidence.claim_group import Contrast
from experiments.metrics.metric import Margin
from experiments.questions.group_claim import GroupRule


class NotWorseRule(GroupRule[NotWorseClaim], of=NotWorseClaim):
    """The difference is above minus the margin."""

    def list_contrasts(self, values: np.ndarray, margin: Margin) -> list[Contrast]:
        """Want the difference to be above minus the margin."""
        worse, better = values.T
        margins = margin.between(worse, worse)
        return [Contrast("", better - worse, (better - worse + margins,), margins)]
