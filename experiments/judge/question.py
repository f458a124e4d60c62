"""Questions that runs decide, and what an answer is made from: arrays, and nothing of a paper or its file.

A paper is resolved once, by `experiments.questions`. From then on a question about runs knows the settings whose
repeats answer it, its metric with range and margin, and how it is decided. `gather` takes its values out of the results
that there are; from these alone comes the answer (`claim_answers`, `number_answers`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from experiments.judge.evidence.claim_group import ClaimGroup, ClaimTest
from experiments.judge.verdict import Verdict
from experiments.metrics.find import is_in_per_cent
from experiments.store.results import Results, Runs, SettingKey


class Need(NamedTuple):
    """More repeats of some settings: 0, 1, ... up to a number."""

    settings: tuple[SettingKey, ...]
    repeats: int


class Evidence(NamedTuple):
    """What a verdict on a claim is made from."""

    groups: list[ClaimGroup]
    #: Repeats that cannot be compared: no verdict is possible on runs that have any of them.
    unfit: Sequence[int] = ()


class AskedGroup(NamedTuple):
    """One group of a claim, of which all that is claimed has to hold."""

    #: The axes that are fixed within it.
    setting: dict[str, Any]
    #: Of each level that is compared its settings; a repeat is averaged over several.
    levels: tuple[tuple[SettingKey, ...], ...]

    def list_settings(self) -> tuple[SettingKey, ...]:
        """Return the settings of all levels."""
        return tuple(chain.from_iterable(self.levels))


@dataclass(frozen=True)
class ClaimQuestion:
    """A claim that runs decide, as many as it takes."""

    metric: str
    groups: tuple[AskedGroup, ...]
    #: What is claimed of each group.
    test: ClaimTest
    #: Repeats after which it is looked at first and last.
    first: int
    most: int
    #: What is special of the splits, in words.
    scope: str = ""
    #: Why some repeats can be unfit to be compared, in words.
    obstacle: str = ""
    #: The chance of a false verdict that it may have on either side; all of it until claims share it.
    level: float = 1.0

    def list_metrics(self) -> list[str]:
        """Return the metrics of its runs that decide it."""
        return [self.metric]

    def gather(self, results: Results) -> Evidence:
        """Return the groups with their runs; an undefined share counts as 0, the worst that it can be."""
        groups = []
        for asked in self.groups:
            columns = [results.find_all(column, self.metric) for column in asked.levels]
            repeats, levels = _arrange_repeats([list(map(self._measure, column)) for column in columns])
            values = np.column_stack(levels)
            runs = list(chain.from_iterable(columns))
            n_attempted = min(one.n_attempted for one in runs)
            undefined = np.concatenate([one.repeats[one.is_undefined] for one in runs])
            groups.append(
                ClaimGroup(asked.setting, repeats, values, n_attempted, self.test, asked.list_settings(), undefined)
            )
        return Evidence(groups)

    def _measure(self, runs: Runs) -> tuple[np.ndarray, np.ndarray]:
        """Return the repeats that have the metric, or in which it counts as 0, with its values."""
        values = np.where(runs.is_undefined, 0.0, runs.values) if is_in_per_cent(self.metric) else runs.values
        is_there = ~np.isnan(values)
        return runs.repeats[is_there], values[is_there]


def _arrange_repeats(
    columns: Sequence[Sequence[tuple[np.ndarray, np.ndarray]]],
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the repeats that all settings of all levels have, and of each level their mean over its settings."""
    repeats = reduce(np.intersect1d, (numbers for column in columns for numbers, _ in column))
    levels = []
    for column in columns:
        levels.append(np.mean([values[np.searchsorted(numbers, repeats)] for numbers, values in column], axis=0))
    return repeats, levels


@dataclass(frozen=True)
class ComputedQuestion:
    """A claim that is decided by computing, not by runs."""

    #: Takes the verdicts on printed numbers by id, and returns verdict and reason.
    compute: Callable[[Mapping[str, Mapping[str, Any]]], dict[str, Any]]
    #: What it is about, if it is about runs that nobody can make.
    metric: str | None = None

    @classmethod
    def known(cls, verdict: Verdict, reason: str, metric: str | None = None) -> ComputedQuestion:
        """Return the question of a claim whose answer is known before any run."""
        return cls(partial(_return_known, verdict, reason), metric)


def _return_known(verdict: Verdict, reason: str, numbers: Mapping) -> dict[str, Any]:
    return {"verdict": verdict, "reason": reason}


class AskedClaim(NamedTuple):
    """A claim with its question."""

    id: str
    text: str
    kind: str
    question: ClaimQuestion | ComputedQuestion
    #: The claim whose text it is another reading of.
    reading_of: str | None = None
    #: How it is read itself, where there are others.
    read_as: str = ""
    #: Whether the other side is our reconstruction of a baseline.
    is_against_reconstruction: bool = False
