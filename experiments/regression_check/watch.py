"""What a regression check watches: a paper's key ``check``, and the cells, values and verdicts that it stands for.

The key is data like the rest of a paper::

    check:
      repeats: 21           # runs of every setting in `make check`: repeats 0 to 20
      accepted: 200         # runs that the bands are made from: the 200 repeats after these, independent of them
      watch:
        - {study: grid, where: {epsilon: [0.25, 1]}, metric: accuracy}                    # each setting by itself
        - {study: grid, where: {epsilon: [0.25, 1]}, metric: accuracy, within: [dataset]} # their mean in each repeat
      claims:
        above-diffprf: {epsilon: 1}                                                       # the part of the study

Settings that are summed up in their mean tell a fault that moves all of them a little, which no single one shows. Where
tails are heavy that mean would be the worst setting's alone; ``clip: [0, 1]`` moves values beyond to the ends first.

Claims are judged by medians and signs, whatever the paper's center is, each as the only one: then the verdict depends
on nothing but how many runs speak for it, and the chance of another verdict has a bound for any distribution.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pandas as pd
from scipy.stats import binom

from experiments.cells import study_cells
from experiments.cells.cell import Cell
from experiments.config.selection import axes, axis, setting_key, setting_words, settings, study_of
from experiments.errors import BadInput, suggestion
from experiments.judge.claim_groups import Group, steps_wanted
from experiments.judge.claims import groups_of, judge_claims, part_of
from experiments.judge.preflight import check_metrics
from experiments.judge.verdict import NOT_TESTABLE, REPRODUCED
from experiments.regression_check.order_statistics import LEVEL, most_against
from experiments.stats import ALPHA
from experiments.store.study_rows import rows_of_study

_KEYS = ("repeats", "accepted", "watch", "claims")
_ENTRY = ("study", "where", "metric", "within", "clip")
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Watched:
    """One number that is watched: a metric of one setting, or its mean over several.

    Parameters
    ----------
    study : str
        Of the paper.
    where : dict
        The settings: every axis of the study with its values.
    metric : str
        Which number.
    within : list of str
        The axes that are named; over the others the mean is taken.
    clip : list of two numbers
        Values beyond them are moved there before the mean is taken.
    """

    study: str
    where: dict
    metric: str
    within: list[str] = field(default_factory=list)
    clip: list[float] = field(default_factory=lambda: [-math.inf, math.inf])

    @property
    def n_settings(self) -> int:
        """How many settings the mean is of."""
        return math.prod(len(values) for values in self.where.values())

    @property
    def name(self) -> str:
        """The setting in words.

        Examples
        --------
        >>> where = {"dataset": ["car"], "params.max_depth": [3, 4], "epsilon": [1.0]}
        >>> Watched("grid", where, "accuracy", ["dataset", "epsilon"]).name
        'grid: car, epsilon = 1, mean of 2 settings'
        """
        words = setting_words({name: self.where[name][0] for name in self.within})
        several = f", mean of {self.n_settings} settings" if self.n_settings > 1 else ""
        clipped = "" if math.isinf(self.clip[0]) else ", clipped to {:g} to {:g}".format(*self.clip)
        return f"{self.study}: {words}{several}{clipped}"

    def values(self, paper: Mapping, table: pd.DataFrame) -> np.ndarray:
        """Return the number of every repeat that has all its settings, in their order."""
        rows = rows_of_study(table, study_of(paper, {"study": self.study}), self.metric, self.where)
        repeats = rows[self.metric].clip(*self.clip).groupby(rows["repeat"])
        return repeats.mean()[repeats.size() == self.n_settings].to_numpy(np.float64)


@dataclass(frozen=True)
class Check:
    """What is watched of a paper.

    Parameters
    ----------
    repeats, accepted : int
        Runs of the check, and of the bands.
    watched : list of Watched
        The numbers.
    claims : list of dict
        Claims, each narrowed to the part of its study that is watched.
    """

    repeats: int
    accepted: int
    watched: list[Watched]
    claims: list[dict]

    @property
    def n_tests(self) -> int:
        """How many chances of a false alarm there are."""
        return len(self.watched) + len(self.claims)


def check_of(paper: Mapping) -> Check:
    """Return what a paper's key ``check`` asks for.

    Raises
    ------
    BadInput
        If there is none, or it cannot be meant.

    Examples
    --------
    >>> study = {"dataset": ["car"], "algorithm": ["majority"], "epsilon": [0.1, 1]}
    >>> watch = [{"study": "floor", "metric": "accuracy"}]
    >>> check = check_of({"studies": {"floor": study}, "check": {"repeats": 9, "accepted": 200, "watch": watch}})
    >>> [one.name for one in check.watched]
    ['floor: car, majority, epsilon = 0.1', 'floor: car, majority, epsilon = 1']
    """
    given = paper.get("check")
    if not isinstance(given, Mapping) or not given.get("watch"):
        raise BadInput("nothing to check: name what is watched under check: watch: (docs/papers.md says how)")
    _check_known("check", given, _KEYS)
    for key in ("repeats", "accepted"):
        if isinstance(given.get(key), bool) or not isinstance(given.get(key), int) or given[key] < 1:
            raise BadInput(f"check: {key} must be a whole number, at least 1, got {given.get(key)!r}")
    watched = [one for entry in given["watch"] for one in _watched(paper, entry)]
    names = [(one.name, one.metric) for one in watched]
    for name, metric in names:
        if names.count((name, metric)) > 1:
            raise BadInput(f"check: {name}, {metric} is watched twice")
    claims = [_claim(paper, name, where) for name, where in (given.get("claims") or {}).items()]
    return Check(given["repeats"], given["accepted"], watched, claims)


def _watched(paper: Mapping, entry: Mapping) -> list[Watched]:
    _check_known(f"check: {entry}", entry, _ENTRY)
    study = study_of(paper, {"id": "check"} | entry)
    found = axes(study, entry.get("where"))
    check_metrics(paper, {"id": "check", "metric": "None"} | entry)
    clip = entry.get("clip", [-math.inf, math.inf])
    if not (isinstance(clip, list) and len(clip) == 2 and clip[0] < clip[1]):
        raise BadInput(f"check: clip must be two numbers, the smaller one first, got {clip!r}")
    within = entry.get("within") or [
        name for name in found if name in ("dataset", "algorithm") or len(axis(study, name)) > 1
    ]
    return [
        Watched(
            study["name"],
            found | {name: [value] for name, value in zip(within, point, strict=True)},
            entry["metric"],
            within,
            clip,
        )
        for point in settings(study, within, entry.get("where"))
    ]


def _claim(paper: Mapping, name: str, where: Mapping | None) -> dict:
    claims = {claim["id"]: claim for claim in paper.get("claims") or ()}
    if name not in claims:
        raise BadInput(f"check: the paper has no claim {name!r}; {suggestion(name, claims)}")
    if "study" not in claims[name]:
        raise BadInput(f"check: claim {name!r} is not about the runs of one study; watch its settings instead")
    claim = claims[name] | {"center": "median", "where": (claims[name].get("where") or {}) | (where or {})}
    part_of(paper, claim)
    return claim


def _check_known(where: str, given: Mapping, known: tuple[str, ...]) -> None:
    for key in given:
        if key not in known:
            raise BadInput(f"{where}: unknown key {key!r}; {suggestion(key, known)}")


def cells(paper: Mapping, check: Check, repeats: Iterable[int]) -> dict[str, list[Cell]]:
    """Return the cells of all that is watched, by study, for some repeats; a cell that is asked for twice is one."""
    parts = [(one.study, one.where) for one in check.watched]
    parts += [(claim["study"], axes(*part_of(paper, claim))) for claim in check.claims]
    repeats = list(repeats)
    found = {}
    for study, first in study_cells.cells_of_studies(dict(paper) | {"repeats": 1}).items():
        wanted = [_points(where) for name, where in parts if name == study]
        kept = [cell for cell in first if any(_point(cell, names) in points for names, points in wanted)]
        found[study] = [one for cell in kept for one in cell.repeats(repeats)]
    return {study: these for study, these in found.items() if these}


def _points(where: Mapping) -> tuple[list[str], set[tuple]]:
    return list(where), {setting_key(point) for point in product(*where.values())}


def _point(cell: Cell, names: list[str]) -> tuple:
    own = {"dataset": cell.dataset, "algorithm": cell.algorithm, "epsilon": cell.epsilon}
    return setting_key(own[name] if name in own else cell.params[name.removeprefix("params.")] for name in names)


def verdict(paper: Mapping, claim: Mapping, table: pd.DataFrame, repeats: int) -> tuple[str, str]:
    """Return the verdict on a watched claim, and the reason; every one is judged as if it were the only one."""
    (result,) = judge_claims(dict(paper) | {"claims": [claim], "repeats": repeats}, table)
    return result["verdict"], result["reason"]


def doubts(paper: Mapping, claim: Mapping, table: pd.DataFrame, said: str, n_further: int) -> str:
    """Return why further runs may well give another verdict on a claim; nothing if the chance is below ``LEVEL``.

    A claim that is reproduced stays so unless in some group too many runs speak against it, or against a step. One that
    is not stays so as long as enough runs of one group contradict it. Both are counts of signs, see `most_against`.

    Parameters
    ----------
    paper, claim : mapping
        As for `verdict`.
    table : DataFrame
        The long table with the runs that the verdict is about.
    said : str
        The verdict on these.
    n_further : int
        How many further runs will be judged.
    """
    groups = groups_of(paper, claim, table)
    if said == NOT_TESTABLE or any(group.at_bound for group in groups):
        return f"it is {said}" if said == NOT_TESTABLE else "a group stands at its bound throughout"
    tests = _for_it(groups, n_further) if said == REPRODUCED else _against_it(groups, n_further)
    margins = [
        (most_against(len(is_against), n_further, too_many, LEVEL / len(tests)), int(is_against.sum()), len(is_against))
        for is_against, too_many in tests
    ]
    choose = min if said == REPRODUCED else max  # all must hold, or one must
    allowed, found, n = choose(margins, key=lambda margin: margin[0] - margin[1])
    return "" if found <= allowed else f"{found} of {n} runs speak against it, and {max(allowed, 0)} may"


def _for_it(groups: list[Group], n: int) -> list[tuple[np.ndarray, int]]:
    """Return which runs speak against what makes a claim reproduced, and how many of n are too many, for each test."""
    tests = [(numbers <= _ROUNDING, _tolerated(n, ALPHA) + 1) for group in groups for numbers in group.wanted]
    steps = steps_wanted(groups) if groups[0].kind.objection else []
    return tests + [(numbers < -_ROUNDING, n - _tolerated(n, ALPHA / len(steps))) for *_, numbers in steps]


def _against_it(groups: list[Group], n: int) -> list[tuple[np.ndarray, int]]:
    """Return the same of what makes a claim not reproduced."""
    wanted = [numbers for group in groups for numbers in group.wanted]
    return [(numbers >= -_ROUNDING, _tolerated(n, ALPHA / len(wanted)) + 1) for numbers in wanted]


def _tolerated(n: int, alpha: float) -> int:
    """Return how many of n signs may be wrong in a sign test that is significant; -1 if it never is."""
    return max((wrong for wrong in range(n + 1) if binom.sf(n - wrong - 1, n, 0.5) < alpha), default=-1)
