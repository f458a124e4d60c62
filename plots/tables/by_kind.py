"""``by_kind``: how far each algorithm gets from the floor to the ceiling, by kind of data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from experiments.comparisons.comparison import AlgorithmComparison
from experiments.comparisons.data_kinds import KINDS, UNKNOWN, list_kinds_of
from experiments.config.kinds.exhibits import ByKindTable
from experiments.metrics.find import is_error
from experiments.questions.exhibits.checks import find_levels
from plots.exhibits.compared import describe_sets
from plots.labels import MISSING, label_name, label_names
from plots.text_table import ArrangedTable, TextTable, make_cell

_ALL = "all"
# A share of the way beyond these counts as these, so that one data set does not decide a mean.
_LOWEST, _HIGHEST = -1.0, 2.0


class ByKindView(ArrangedTable[ByKindTable], of=ByKindTable):
    """How far each algorithm gets from the floor (0) to the ceiling (100), mean over the data sets of each kind."""

    @property
    def comparison(self) -> AlgorithmComparison:
        """What is compared."""
        return AlgorithmComparison(self.paper, self.exhibit)

    def make_frame(self, table: pd.DataFrame, numbers: pd.DataFrame, facts: Mapping) -> pd.DataFrame:
        """Return the share of the way of each algorithm, mean over the data sets of each kind.

        One row per algorithm and kind, the best over all data sets first: ``algorithm``; ``data``, a name in `KINDS` or
        ``all``, or ``unknown`` where files are missing; ``way``, mean over data sets of (score - floor) / (ceiling -
        floor), from -1 to 2, of errors with minus their logarithms as scores; ``members``, the data sets in the mean,
        joined by blanks; ``n`` and ``n_expected`` (cells, in the rows of ``all``). A data set of which a setting has no
        result, and one whose ceiling is not above its floor by more than ``equal_within``, is in no mean.
        """
        ways = self._measure_ways(table)
        study = self.paper.study(self.exhibit.study, self.exhibit.id)
        members: dict[str, list[str]] = {_ALL: list(ways.index)}
        for name in (*KINDS, UNKNOWN):
            members[name] = [dataset for dataset in ways.index if name in list_kinds_of(study, dataset)]
        if not members[UNKNOWN]:
            del members[UNKNOWN]
        cells = pd.DataFrame(self.comparison.count_cells(table)).groupby("algorithm")[["n", "n_expected"]].sum()
        order = ways.mean().sort_values(ascending=False, kind="stable").index
        records = []
        for algorithm in order:
            for name, sets in members.items():
                counts = cells.loc[algorithm].to_dict() if name == _ALL else {"n": 0, "n_expected": 0}
                way = ways.loc[sets, algorithm].mean() if sets else math.nan
                records.append({"algorithm": algorithm, "data": name, "way": way, "members": " ".join(sets), **counts})
        return pd.DataFrame(records)

    def arrange(self, frame: pd.DataFrame) -> TextTable:
        """Arrange a frame as rows of algorithms and columns of the kinds that some data set is of."""
        titles = {_ALL: "all sets"} | {name: kind.title for name, kind in KINDS.items()} | {UNKNOWN: "kind unknown"}
        heads = []
        for name, title in titles.items():
            if sets := _split_names(frame, name):
                heads.append(f"{title} ({len(sets)})")
        by_algorithm = dict(list(frame[frame["members"] != ""].groupby("algorithm", sort=False)["way"]))
        cells = []
        for ways in by_algorithm.values():
            cells.append([make_cell(MISSING if math.isnan(way) else f"{100 * way:.0f}") for way in ways])
        return TextTable("algorithm", heads, label_names(self.paper, by_algorithm), cells)

    def explain(self, frame: pd.DataFrame) -> dict[str, Any]:
        """Return what 0 and 100 are, and which data sets are of which kind."""
        names = _split_names(frame, _ALL)
        floor, ceiling = label_name(self.paper, self.exhibit.floor), label_name(self.paper, self.exhibit.ceiling)
        scale = ", in the logarithm of the error" if is_error(self.exhibit.metric) else ""
        members = []
        for name, kind in KINDS.items():
            if sets := label_names(self.paper, _split_names(frame, name)):
                members.append(f"{kind.title} ({kind.words}): {', '.join(sets)}")
        if unknown := label_names(self.paper, _split_names(frame, UNKNOWN)):
            members.append(f"kind unknown, as their files are missing: {', '.join(unknown)}")
        counted = describe_sets(self.comparison, pd.Index(names))
        explanation = (
            f"0 is {floor}, 100 is {ceiling}{scale}; mean over {counted}, each cut to "
            f"{100 * _LOWEST:.0f} to {100 * _HIGHEST:.0f}. {'; '.join(members)}."
        )
        return {"explanation": explanation}

    def _measure_ways(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the share of the way by data set and algorithm."""
        levels = find_levels(self.exhibit, self.paper)
        ends = levels.score_algorithms(levels.list_medians(table))
        lengths = ends[self.exhibit.ceiling] - ends[self.exhibit.floor]
        lengths = lengths[lengths > self.comparison.margin]
        scores = self.comparison.score_algorithms(self.comparison.list_medians(table))
        scores = scores.loc[scores.index.intersection(lengths.index)]
        ways = scores.sub(ends[self.exhibit.floor], axis=0).div(lengths, axis=0).loc[scores.index]
        return ways.clip(_LOWEST, _HIGHEST)


def _split_names(frame: pd.DataFrame, kind: str) -> list[str]:
    """Return the data sets of a kind that are in the means."""
    return next((text.split() for text in frame.loc[frame["data"] == kind, "members"]), [])
