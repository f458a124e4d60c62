"""Floor and ceiling: what knows next to nothing, and what learns without privacy, on the data sets that are shown."""

from __future__ import annotations

from collections.abc import Sequence

from documents.document import Document
from experiments.config.paper import Paper, PaperError, Where
from plots.comparisons.compared_part import ComparedPart


class BetweenLevels(Document):
    """What is shown between a floor and a ceiling, which a study of their own runs."""

    levels: str
    """The study that runs floor and ceiling on the same data sets: what has no ε need not be run at each."""
    floor: str
    """The algorithm that knows next to nothing: the majority class, or the mean."""
    ceiling: str
    """The algorithm without privacy that others are measured by."""

    def select_levels(self, paper: Paper, user: str, metric: str, sets: Sequence[str]) -> ComparedPart:
        """Return floor and ceiling on some data sets, as a part of their study.

        Raises
        ------
        PaperError
            If the study has not both of them, on all of these.
        """
        study, algorithms = paper.study(self.levels, user), [self.floor, self.ceiling]
        for axis, wanted in (("algorithm", algorithms), ("dataset", sets)):
            has = study.axis(axis)
            if missing := [name for name in wanted if name not in has]:
                raise PaperError(f"{user}: study {self.levels!r} has no {axis} {', '.join(missing)}; add it there")
        where: Where = {"algorithm": tuple(algorithms), "dataset": tuple(sets)}
        return ComparedPart(id=user, title="", study=self.levels, where=where, metric=metric)
