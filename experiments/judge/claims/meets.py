"""``meets``: two algorithms agree at the largest value of an axis."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from experiments.config.paper import Study
from experiments.judge.group_claim import Levels, WithMargin


class MeetsClaim(WithMargin):
    """At the largest value of one axis the metric of ``algorithm`` is that of ``to``.

    An equivalence test within ± ``margin``, a share of the metric of ``to``, as for ``independent``. A difference
    outside refutes it.
    """

    kind: Literal["meets"]
    along: str
    """The axis at whose largest value they meet."""
    algorithm: str
    """The algorithm that is claimed to meet the other."""
    to: str
    """The other, whose metric the margin is a share of."""

    is_of_first: ClassVar[bool] = True

    @property
    def named_values(self) -> dict[str, Any]:
        """The two algorithms."""
        return {"to": self.to, "algorithm": self.algorithm}

    def _find_levels(self, study: Study) -> Levels:
        levels = super()._find_levels(study)
        last = max(study.axis(self.along, levels.where))
        return Levels(levels.axis, levels.values, levels.where | {self.along: last})
