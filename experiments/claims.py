"""Claims of a paper as predicates over the long table.

A claim is plain data with a ``kind``:

- ``increases``: the metric grows along one axis within every group. Each repeat of a group gives one number,
  the gain from the first to the last level along its least-squares line (levels equally spaced), and this
  gain is tested against zero. A trend is not yet "grows step by step", so the claim is also contradicted when
  any single step falls significantly (paired t, Holm over all steps of all groups). A group that stands at 1
  throughout cannot grow and is set aside, as in the papers' own tables, where accuracy "grows, then settles"
  at 100 %.
- ``above``: one algorithm beats another in every group; each repeat gives their difference.
- ``printed``: printed numbers of the paper, all of which must be reproduced.

The first two say "at every ...", so the claim holds only if it holds in every group: its p-value is the
largest of the groups' (an intersection-union test, which needs no further adjustment). The p-values of all
claims of a paper are then adjusted by Holm, so that the chance of accepting any false one is at most 5 % for
the whole paper.

A p-value that is not small speaks neither for the claim nor against it. A claim is therefore ``reproduced`` if it
is significant in every group; ``not reproduced`` only if some group contradicts it, because its effect is
significantly below zero (Holm over the groups) or exactly zero in every repeat, or because a step falls
significantly; and otherwise ``not testable``.

Which test a group gets depends on what its repeats vary. On an official split only the algorithm's randomness
varies, the repeats are independent, and the paired permutation test (all sign flips) is exact; it speaks of
that split alone. With a new split of the same rows in each repeat the training sets overlap, and the t-test
with Nadeau and Bengio's variance is used, floored at the permutation test's smallest p-value, since so few
repeats cannot claim more.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from experiments.selection import PaperError, answers, axes, axis, settings, size, study_of
from experiments.statistics import ALPHA, holm, mean_interval, paired_t_p, sign_flip_p, smallest_p
from experiments.verdicts import NOT_REPRODUCED, NOT_TESTABLE, REPRODUCED, per_cent, setting_words

_KINDS = ("increases", "above", "printed")
_ABOUT = ("effect", "low", "high", "p_value", "n", "step", "change", "p_adjusted")
_ROUNDING = 1e-12  # what is left of an effect of exactly zero after a sum of floats


@dataclass(frozen=True)
class _Group:
    """One group of a claim: complete repeats × levels, and how far its training sets overlap."""

    setting: dict
    values: np.ndarray
    overlap: float

    @property
    def gains(self) -> np.ndarray:
        """Gain of each repeat from the first to the last level, along the least-squares line."""
        n_levels = self.values.shape[1]
        weights = np.arange(n_levels) - (n_levels - 1) / 2
        return self.values @ weights / (weights @ weights) * (n_levels - 1)

    @property
    def p_value(self) -> float:
        return self._p_of(self.gains)

    @property
    def p_against(self) -> float:
        """The p-value of the opposite; 0 where no repeat has any gain, since then nothing is left to chance."""
        return 0.0 if (np.abs(self.gains) <= _ROUNDING).all() else self._p_of(-self.gains)

    def _p_of(self, gains: np.ndarray) -> float:
        if self.overlap:
            return max(paired_t_p(gains, overlap=self.overlap), smallest_p(len(gains)))
        return sign_flip_p(gains)

    @property
    def at_ceiling(self) -> bool:
        return bool((self.values == 1.0).all())

    def describe(self) -> dict:
        interval = mean_interval(self.gains, overlap=self.overlap)
        effect = {"effect": interval.mean, "low": interval.low, "high": interval.high}
        return self.setting | effect | {"p_value": self.p_value, "n": interval.n}


def judge_claims(
    paper: Mapping,
    table: pd.DataFrame,
    numbers: pd.DataFrame | None = None,
    *,
    fixed_splits: Collection[str] = (),
) -> list[dict]:
    """Judge every claim of a paper.

    Parameters
    ----------
    paper : mapping
        The paper's description.
    table : DataFrame
        The long table, one row per cell and repeat.
    numbers : DataFrame, optional
        Verdicts on the printed numbers (`verdicts.judge_numbers`), for claims of kind ``printed``.
    fixed_splits : collection of str
        Data sets with an official split, the same in every repeat; all others are taken to be split anew each
        time.

    Returns
    -------
    list of dict
        For each claim: id, text, kind, verdict (``reproduced``, ``not reproduced``, ``not testable``),
        reason, p_value, p_adjusted (Holm), effect with low and high (mean over groups, on the metric's
        scale), groups, groups_holding, at_ceiling, contradicted (the groups that speak against it),
        falls, worst (the group with the largest p-value), scope, cells, cells_expected. Claims that could not be
        tested have None where there is no number.

    Raises
    ------
    PaperError
        If a claim names something the paper does not have.
    """
    claims = list(paper.get("claims") or ())
    results = [_judge(paper, claim, table, numbers, fixed_splits) for claim in claims]
    family = sum(claim["kind"] != "printed" for claim in claims)
    tested = [result for result in results if result["p_value"] is not None]
    for result, adjusted in zip(tested, holm([r["p_value"] for r in tested], family), strict=True):
        result["p_adjusted"] = adjusted
        _conclude(result, family)
    return results


def _judge(paper, claim, table, numbers, fixed_splits) -> dict:
    if claim.get("kind") not in _KINDS:
        raise PaperError(f"claim {claim.get('id')!r}: kind {claim.get('kind')!r} is not one of {', '.join(_KINDS)}")
    if claim["kind"] == "printed":
        return _judge_printed(claim, numbers)
    study = study_of(paper, claim)
    along, levels = _levels(claim, study)
    where = dict(claim.get("where") or {}) | {along: levels}
    rows = answers(table, study, claim["metric"], where)
    expected = size(study, int(paper["repeats"]), where)
    result = _blank(claim) | {"cells": len(rows), "cells_expected": expected}
    if rows.empty:
        return result | {"verdict": NOT_TESTABLE, "reason": f"no cell answers it (0 of {expected})"}
    groups = _groups(claim, study, where, along, levels, rows, fixed_splits)
    smallest = min(groups, key=lambda group: len(group.values))
    if len(smallest.values) < 2:
        reason = f"{setting_words(smallest.setting)} has {len(smallest.values)} complete repeats; at least 2 are needed"
        if len(rows) < expected:
            reason = f"INCOMPLETE: {len(rows)} of {expected} cells; {reason}"
        return result | {"verdict": NOT_TESTABLE, "reason": reason}
    return result | _measure(claim, groups) | {"scope": _scope(groups)}


def _levels(claim: Mapping, study: Mapping) -> tuple[str, list]:
    """Return the axis along which the metric should grow, and its levels from low to high."""
    where = claim.get("where")
    if claim["kind"] == "above":
        known = axis(study, "algorithm", where)
        for role in ("worse", "better"):
            if claim.get(role) not in known:
                raise PaperError(
                    f"claim {claim['id']!r}: {role} = {claim.get(role)!r} is not run by the study ({known})"
                )
        return "algorithm", [claim["worse"], claim["better"]]
    levels = axis(study, claim["along"], where)
    if len(levels) < 2:
        raise PaperError(f"claim {claim['id']!r}: {claim['along']} has one level only")
    return claim["along"], sorted(levels)


def _groups(claim, study, where, along, levels, rows, fixed_splits) -> list[_Group]:
    within = list(claim["within"])
    varied = {name for name, values in axes(study, where).items() if len(values) > 1} - {along}
    if along in within or not varied <= set(within):
        raise PaperError(
            f"claim {claim['id']!r}: within must name every axis that varies except {along}: {sorted(varied)}"
        )
    ratio = _ratio(study)
    groups = []
    for setting in settings(study, within, where):
        named = dict(zip(within, setting, strict=True))
        part = answers(rows, study, claim["metric"], where | named)
        wide = part.pivot(index="repeat", columns=along, values=claim["metric"]).reindex(columns=levels)
        dataset = named.get("dataset") or axis(study, "dataset", where)[0]
        complete = wide.dropna().to_numpy(dtype=np.float64)
        groups.append(_Group(named, complete, 0.0 if dataset in fixed_splits else ratio))
    return groups


def _ratio(study: Mapping) -> float:
    """Test rows / training rows of a split that is drawn anew in every repeat."""
    test = float((study.get("protocol") or {}).get("test_size", 0.3))
    return test / (1 - test)


def _measure(claim: Mapping, groups: list[_Group]) -> dict:
    tested = [g for g in groups if claim["kind"] != "increases" or not g.at_ceiling]
    counts = {"groups": len(groups), "at_ceiling": len(groups) - len(tested)}
    if not tested:
        return counts | {
            "verdict": NOT_TESTABLE,
            "reason": "every group stands at its ceiling and cannot grow",
        }
    worst = max(tested, key=lambda group: (group.p_value, -group.gains.mean()))
    n = min(len(group.gains) for group in groups)
    per_repeat = np.mean([group.gains[:n] for group in groups], axis=0)
    effect = mean_interval(per_repeat, overlap=max(group.overlap for group in groups))
    against = holm([group.p_against for group in tested])
    return counts | {
        "groups_holding": sum(group.p_value < ALPHA for group in tested),
        "p_value": worst.p_value,
        "p_smallest": smallest_p(min(len(group.gains) for group in tested)),
        "effect": effect.mean,
        "low": effect.low,
        "high": effect.high,
        "worst": worst.describe(),
        "contradicted": [group.describe() for group, p in zip(tested, against, strict=True) if p < ALPHA],
        "falls": _falls(claim, tested) if claim["kind"] == "increases" else [],
    }


def _falls(claim: Mapping, groups: list[_Group]) -> list[dict]:
    """Return the steps between neighbouring levels that fall significantly.

    With dozens of steps Holm asks for p-values below what the sign flips of ten repeats can reach, so that a
    test by flips could never object; the t-test can.
    """
    steps = [(g, i) for g in groups for i in range(g.values.shape[1] - 1)]
    drops = [g.values[:, i] - g.values[:, i + 1] for g, i in steps]
    p_values = holm([paired_t_p(d, overlap=g.overlap) for (g, _), d in zip(steps, drops, strict=True)])
    falls = []
    for (g, i), drop, p in zip(steps, drops, p_values, strict=True):
        if p < ALPHA:
            change = mean_interval(-drop, overlap=g.overlap)
            found = {"change": change.mean, "low": change.low, "high": change.high, "p_adjusted": p}
            falls.append(g.setting | {"step": i + 1} | found)
    return falls


def _conclude(result: dict, family: int) -> None:
    """Turn the adjusted p-value into a verdict with its reason."""
    incomplete = result["cells"] < result["cells_expected"]
    reasons = [f"INCOMPLETE: {result['cells']} of {result['cells_expected']} cells"] if incomplete else []
    tested = result["groups"] - result["at_ceiling"]
    holding = f"significant in {result['groups_holding']} of {tested} groups"
    if result["at_ceiling"]:
        holding += f" ({result['at_ceiling']} more at the ceiling)"
    against = _contradictions(result, tested)
    smallest = result.pop("p_smallest")
    if against:
        result["verdict"] = NOT_REPRODUCED
        reasons += [*against, holding]
    elif smallest * family >= ALPHA:
        needed = math.floor(math.log2(family / ALPHA)) + 1
        reasons.append(f"too few repeats: no p-value below {smallest:.2g} is possible; {needed} repeats suffice")
        result["verdict"] = NOT_TESTABLE
    elif result["p_adjusted"] < ALPHA:
        result["verdict"] = REPRODUCED
        reasons.append(holding)
    else:
        result["verdict"] = NOT_TESTABLE
        worst = result["worst"]
        alone = ", but not after Holm" if result["groups_holding"] == tested else ""
        weakest = f"weakest {_place(worst)}: {effect_text(result['metric'], worst)}"
        reasons += [f"inconclusive: {holding}{alone}", weakest]
    result["reason"] = "; ".join(reasons)


def _contradictions(result: Mapping, tested: int) -> list[str]:
    """Say which groups contradict a claim: how many, and of each kind the one that does most."""
    said = []
    if groups := result["contradicted"]:
        most = min(groups, key=lambda group: group["effect"])
        effect = effect_text(result["metric"], most)
        said.append(f"contradicted in {len(groups)} of {tested} groups, most in {_place(most)}: {effect}")
    if falls := result["falls"]:
        most = min(falls, key=lambda fall: fall["change"])
        change = effect_text(result["metric"], most | {"effect": most["change"]})
        steps = "1 step falls" if len(falls) == 1 else f"{len(falls)} steps fall"
        said.append(f"{steps} significantly, most step {most['step']} of {_place(most)}: {change}")
    return said


def effect_text(metric: str, found: Mapping) -> str:
    """Return an effect with its interval as text, in percentage points where the metric is printed in per cent.

    Parameters
    ----------
    metric : str
        The metric of the claim.
    found : mapping
        ``effect``, ``low`` and ``high``.

    Examples
    --------
    >>> effect_text("accuracy", {"effect": 0.0125, "low": -0.001, "high": 0.026})
    '+1.25 points (-0.10 to +2.60)'
    >>> effect_text("mse", {"effect": -0.00123, "low": -0.002, "high": 0.0})
    '-0.00123 (-0.002 to +0)'
    """
    scale, form, unit = (100, "+.2f", " points") if per_cent(metric) else (1, "+.3g", "")
    effect, low, high = (f"{scale * found[name]:{form}}" for name in ("effect", "low", "high"))
    return f"{effect}{unit} ({low} to {high})"


def _judge_printed(claim: Mapping, numbers: pd.DataFrame | None) -> dict:
    verdicts = {} if numbers is None or numbers.empty else dict(zip(numbers["id"], numbers["verdict"], strict=True))
    unknown = [name for name in claim["numbers"] if name not in verdicts]
    if unknown:
        raise PaperError(f"claim {claim['id']!r}: there is no printed number {unknown[0]!r}")
    found = [verdicts[name] for name in claim["numbers"]]
    reason = "; ".join(f"{name}: {verdict}" for name, verdict in zip(claim["numbers"], found, strict=True))
    if NOT_REPRODUCED in found:
        verdict = NOT_REPRODUCED
    else:
        verdict = REPRODUCED if all(one == REPRODUCED for one in found) else NOT_TESTABLE
    return _blank(claim) | {"verdict": verdict, "reason": reason}


def _blank(claim: Mapping) -> dict:
    """Return the result of a claim before anything is known, its fields in the order of ``claims.json``."""
    fields = ("p_value", "p_adjusted", "effect", "low", "high", "groups", "groups_holding", "at_ceiling")
    empty = {
        name: None
        for name in ("verdict", "reason", *fields, "contradicted", "falls", "worst", "scope", "cells", "cells_expected")
    }
    return {
        "id": claim["id"],
        "text": claim["text"],
        "kind": claim["kind"],
        "metric": claim.get("metric"),
    } | empty


def _scope(groups: list[_Group]) -> str:
    fixed = any(not group.overlap for group in groups)
    anew = any(group.overlap for group in groups)
    said = (
        ["official split: repeats vary only the algorithm's randomness, so this speaks of that split"] if fixed else []
    )
    said += ["split anew in each repeat: variance corrected for overlapping training sets"] if anew else []
    return "; ".join(said)


def _place(found: Mapping) -> str:
    """Return the group of a result, whose other fields are numbers about it."""
    return setting_words({name: value for name, value in found.items() if name not in _ABOUT})
