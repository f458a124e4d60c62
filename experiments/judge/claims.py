"""Claims of a paper as predicates over the long table.

A claim is plain data with a ``kind``:

- ``increases``: the metric grows along one axis within every group. Each repeat of a group gives one number,
  the gain from the first to the last level along its least-squares line (levels equally spaced), and this
  gain is tested against zero. A trend is not yet "grows step by step", so the claim is also contradicted when
  any single step falls significantly (paired t, Holm over all steps of all groups). A group that stands at 1
  throughout cannot grow and is set aside, as in the papers' own tables, where accuracy "grows, then settles"
  at 100 %.
- ``decreases``: the same of an error, which falls; a step that rises contradicts it, and a group that stands at
  0 throughout is set aside.
- ``above``: the algorithm ``better`` has more of the metric than ``worse`` in every group; each repeat gives their
  difference, better minus worse. With ``axis: params.<name>`` two values of that parameter are compared instead.
- ``below``: the same of an error: ``better`` has less of it than ``worse``.
- ``approaches``: along one axis the distance between ``algorithm`` and ``to``, the absolute difference of their
  metrics in each repeat, falls; tested as ``decreases`` is. Noise keeps two algorithms apart even where their
  means agree, so a distance that falls may be noise that does.
- ``independent``: the metric does not depend on one axis. That is more than "no change was found", so it is an
  equivalence test: in every group the gain must lie inside ± ``margin``, a share of the group's mean (two
  one-sided tests at once; the mean is that of the same repeats, so its own error is tested along). A gain, or a
  single step, that is significantly outside contradicts it. An algorithm without a privacy parameter is
  run at every ε all the same, each time with a seed of its own, so that even it must be shown to be independent.
- ``meets``: at the largest value of one axis the metric of ``algorithm`` is that of ``to``: an equivalence test within
  ± ``margin``, a share of the metric of ``to``, as for ``independent``. A difference significantly outside contradicts.
- ``above_at_equal``: the curve ``better`` has more of the metric than ``worse`` where both have the same of another
  metric, ``equal`` (accuracy at equal leakage): each repeat gives the difference of their means over the range of
  ``equal`` that both reach, see `tradeoffs`. There is one group.
- ``printed``: printed numbers of the paper, all of which must be reproduced.
- ``consistent``: the printed precisions and recalls can come from one confusion matrix of ``n_rows`` test rows of each
  class. If not, they are ``inconsistent in print``; nothing need be run for that.

All but the last two say "at every ...", so the claim holds only if it holds in every group: its p-value is the
largest of the groups' (an intersection-union test, which needs no further adjustment). The p-values of all
claims of a paper are then adjusted by Holm, so that the chance of accepting any false one is at most 5 % for
the whole paper.

A claim may be another reading of the text of one before it, ``reading_of``: where that one is not reproduced as
printed and this one is, that one's verdict is ``only under a reading``, with both reasons.

A p-value that is not small speaks neither for the claim nor against it. A claim is therefore ``reproduced`` if it
is significant in every group; ``not reproduced`` only if some group contradicts it, because the opposite of its
effect is significant (Holm over the groups) or the effect exactly zero in every repeat, or because a step
contradicts it significantly; and otherwise ``not testable``.

Which test a group gets depends on what its repeats vary. On an official split only the algorithm's randomness
varies, the repeats are independent, and the paired permutation test (all sign flips) is exact; it speaks of
that split alone. With a new split of the same rows in each repeat the training sets overlap, and the t-test
with Nadeau and Bengio's variance is used, floored at the permutation test's smallest p-value, since so few
repeats cannot claim more.

A metric may have tails so heavy that means are those of a few runs only (R² has no lower bound). Where the paper says
``center: {metric: median}``, or the claim ``center: median``, medians take the place of means, and the sign test that
of all others: it asks whether the claim holds in more than half of all runs, and no single run can outweigh others.
Repeats then are runs on these rows, each with its own split and noise, and speak of further runs on these rows.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd

from experiments.cells.cell import PROTOCOL, overlap_of
from experiments.config.selection import PaperError, axes, axis, center_of, setting_words, settings, size, study_of
from experiments.errors import suggestion
from experiments.judge import claims_in_print, tradeoffs
from experiments.judge.claim_groups import KINDS, Group, contradicted, contradicting_steps
from experiments.judge.no_setting import reason_against
from experiments.judge.verdict import NOT_REPRODUCED, NOT_TESTABLE, ONLY_UNDER_READING, REPRODUCED, is_in_per_cent
from experiments.stats import ALPHA, center_interval, holm, smallest_p
from experiments.store.study_rows import rows_of_study, rows_without_metric

_ABOUT = ("effect", "low", "high", "margin", "p_value", "n", "step", "p_adjusted")


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
        For each claim: id, text, kind, verdict (``reproduced``, ``only under a reading``, ``not reproduced``,
        ``inconsistent in print``, ``not testable``), reason, p_value, p_adjusted (Holm), center (mean or median),
        effect with low and high (over groups, on the metric's scale), groups, groups_holding, at_bound (groups set
        aside), contradicted (the groups that speak against it), steps (those that do), worst (the group with the
        largest p-value), scope, cells,
        cells_expected. Claims that could not be tested have None where there is no number.

    Raises
    ------
    PaperError
        If a claim names something the paper does not have, lacks a key that its kind needs, or has one too many.
    """
    claims = list(paper.get("claims") or ())
    results = [_judge(paper, claim, table, numbers, fixed_splits) for claim in claims]
    family = sum(claim["kind"] not in claims_in_print.KEYS and not _missing(paper, claim) for claim in claims)
    tested = [result for result in results if result["p_value"] is not None]
    for result, adjusted in zip(tested, holm([r["p_value"] for r in tested], family), strict=True):
        result["p_adjusted"] = adjusted
        _conclude(result, family)
    _read_anew(claims, results)
    return results


def _read_anew(claims: list[Mapping], results: list[dict]) -> None:
    """Give claims that come out only under another reading of the text, ``reading_of``, a verdict that says so."""
    found = {result["id"]: result for result in results}
    for claim in claims:
        literal = found.get(claim.get("reading_of"))
        if not literal or found[claim["id"]]["verdict"] != REPRODUCED:
            continue
        if literal["verdict"] == NOT_REPRODUCED:
            before = f"as printed: {literal['verdict']}: {literal['reason']}"
            literal |= {"verdict": ONLY_UNDER_READING, "reason": f"{claim['id']} ({claim['text']}) is; {before}"}
        elif literal["verdict"] == NOT_TESTABLE:
            literal["reason"] += f"; reproduced under a reading: {claim['id']}"


def _judge(paper, claim, table, numbers, fixed_splits) -> dict:
    _check_keys(claim)
    if claim["kind"] in claims_in_print.KEYS:
        return _blank(claim) | claims_in_print.judge(claim, numbers)
    if reason := _missing(paper, claim):
        return _blank(claim) | {"verdict": NOT_TESTABLE, "reason": reason}
    if claim["kind"] == "above_at_equal":
        return _judge_at_equal(paper, claim, table, fixed_splits)
    study, where = part_of(paper, claim)
    rows = rows_of_study(table, study, claim["metric"], where)
    expected = size(study, int(paper["repeats"]), where)
    n_undefined = len(rows_without_metric(table, study, claim["metric"], where))
    result = _blank(claim) | {"cells": len(rows), "cells_expected": expected}
    if rows.empty:
        return result | {"verdict": NOT_TESTABLE, "reason": f"no cell answers it (0 of {expected})"}
    groups = groups_of(paper, claim, rows, fixed_splits)
    smallest = min(groups, key=lambda group: len(group.values))
    if len(smallest.values) < 2:
        reason = f"{_place(smallest.setting)} has {len(smallest.values)} complete repeats; at least 2 are needed"
        if n_undefined:
            reason = f"{claim['metric']} is undefined in {n_undefined} runs (a class never predicted); {reason}"
        if len(rows) + n_undefined < expected:
            reason = f"INCOMPLETE: {len(rows)} of {expected} cells; {reason}"
        return result | {"verdict": NOT_TESTABLE, "reason": reason}
    return result | _measure(groups) | {"scope": _scope(groups)}


def _judge_at_equal(paper, claim, table, fixed_splits) -> dict:
    """Judge a claim about two curves at the same value of another metric."""
    curves = [claim["worse"], claim["better"]]
    for curve in curves:
        tradeoffs.check(paper, claim, curve)
    found = [tradeoffs.points(paper, claim, curve, table, [claim["equal"], claim["metric"]]) for curve in curves]
    n, n_expected = sum(map(len, found)), sum(tradeoffs.expected(paper, claim, curve) for curve in curves)
    result = _blank(claim) | {"cells": n, "cells_expected": n_expected}
    values = tradeoffs.at_equal(found, claim["equal"], claim["metric"])
    n_repeats = min(curve["repeat"].nunique() for curve in found)
    if len(values) < max(n_repeats, 2):  # what drops out depends on what came out: no test of the rest would be fair
        reason = f"a range of {claim['equal']} is shared by both in {len(values)} of {n_repeats} repeats"
        return result | {"verdict": NOT_TESTABLE, "reason": reason if n else "no cell answers it"}
    studies = [study_of(paper, curve | {"id": claim["id"]}) for curve in curves]
    sets = [axis(study, "dataset", curve.get("where"))[0] for study, curve in zip(studies, curves, strict=True)]
    overlaps = [_overlap(study, dataset, fixed_splits) for study, dataset in zip(studies, sets, strict=True)]
    group = Group({}, values, max(overlaps), KINDS["above"], 0.0, center_of(paper, claim, claim["metric"]))
    return result | _measure([group]) | {"scope": _scope([group])}


def part_of(paper: Mapping, claim: Mapping) -> tuple[Mapping, dict]:
    """Return the study that a claim speaks of, and which part of it.

    Raises
    ------
    PaperError
        If the claim is written wrongly.
    """
    _check_keys(claim)
    study = study_of(paper, claim)
    along, _, where = _levels(claim, study)
    _check_within(claim, study, along, where)
    return study, where


def _check_keys(claim: Mapping) -> None:
    """Check that a claim says all that its kind needs and nothing else."""
    name, kind = f"claim {claim.get('id')!r}", claim.get("kind")
    if kind not in KINDS and kind not in claims_in_print.KEYS:
        raise PaperError(f"{name}: kind {kind!r} is not one of {', '.join([*KINDS, *claims_in_print.KEYS])}")
    own = (
        claims_in_print.KEYS[kind]
        if kind in claims_in_print.KEYS
        else ("metric", *KINDS[kind].common, *KINDS[kind].keys)
    )
    needed = ("id", "text", "kind", *own)
    for key in needed:
        if key not in claim:
            raise PaperError(f"{name}: kind {kind} needs {key}; it needs {', '.join(needed)}")
    for key in claim:
        if key not in (*needed, *_optional(kind)):
            raise PaperError(f"{name}: kind {kind} knows no {key!r}; {suggestion(key, (*needed, *_optional(kind)))}")
    margin = claim.get("margin")
    if "margin" in needed and not (isinstance(margin, float) and 0 < margin < 1):
        raise PaperError(f"{name}: margin = {margin!r} must be a share of the mean between 0 and 1, such as 0.05")


def _optional(kind: str) -> tuple[str, ...]:
    """Return the keys that a claim of this kind may have and need not."""
    if kind in claims_in_print.KEYS or not KINDS[kind].common:
        return ("reading_of",)
    return ("where", "center", "reading_of", *(("axis",) if "better" in KINDS[kind].keys else ()))


def _missing(paper: Mapping, claim: Mapping) -> str:
    """Return why a claim can never be tested: it speaks of an algorithm that is not implemented."""
    return "; ".join(filter(None, (reason_against(paper, str(name)) for name in _named(claim).values())))


def _named(claim: Mapping) -> dict:
    """Return what a claim compares, by the part that it plays."""
    return {role: claim[role] for role in ("worse", "better", "to", "algorithm") if role in claim}


def _levels(claim: Mapping, study: Mapping) -> tuple[str, list, dict]:
    """Return the axis along which the metric should change, its levels in order, and the part of the study meant."""
    where = dict(claim.get("where") or {})
    compared = claim.get("axis", "algorithm")
    known = axis(study, compared, where)
    named = _named(claim)
    for role, value in named.items():
        if value not in known:
            raise PaperError(f"claim {claim['id']!r}: {role} = {value!r} is not run by the study ({known})")
    pair = list(named.values())
    if pair and pair[0] == pair[1]:
        raise PaperError(f"claim {claim['id']!r}: {pair[0]!r} is compared with itself; name two")
    where |= {compared: pair} if pair else {}
    if "along" not in claim:
        return compared, pair, where
    levels = sorted(axis(study, claim["along"], where))
    if KINDS[claim["kind"]].last_only:
        return compared, pair, where | {claim["along"]: levels[-1]}
    if len(levels) < 2:
        raise PaperError(f"claim {claim['id']!r}: {claim['along']} has one level only")
    return claim["along"], levels, where


def _check_within(claim: Mapping, study: Mapping, along: str, where: Mapping) -> None:
    compared = {along, "algorithm"} if "to" in claim else {along}
    varied = {name for name, values in axes(study, where).items() if len(values) > 1} - compared
    if compared & set(claim["within"]) or not varied <= set(claim["within"]):
        besides = " and ".join(sorted(compared))
        raise PaperError(
            f"claim {claim['id']!r}: within must name every axis that varies except {besides}: {sorted(varied)}"
        )


def groups_of(paper: Mapping, claim: Mapping, table: pd.DataFrame, fixed_splits: Collection[str] = ()) -> list[Group]:
    """Return the groups of a claim with their cells; the parameters are those of `judge_claims`."""
    study, where = part_of(paper, claim)
    along, levels, _ = _levels(claim, study)
    center = center_of(paper, claim, claim["metric"])
    groups = []
    for setting in settings(study, claim["within"], where):
        named = dict(zip(claim["within"], setting, strict=True))
        part = rows_of_study(table, study, claim["metric"], where | named)
        dataset = named.get("dataset") or axis(study, "dataset", where)[0]
        overlap = _overlap(study, dataset, fixed_splits)
        values = _repeats_by_levels(claim, part, along, levels)
        groups.append(Group(named, values, overlap, KINDS[claim["kind"]], claim.get("margin", 0.0), center))
    return groups


def _overlap(study: Mapping, dataset: str, fixed_splits: Collection[str]) -> float:
    return overlap_of(PROTOCOL | dict(study.get("protocol") or {}), dataset in fixed_splits)


def _repeats_by_levels(claim: Mapping, rows: pd.DataFrame, along: str, levels: list) -> np.ndarray:
    """Return the metric of complete repeats at each level, or the distance of two algorithms where claimed of that."""

    def wide(part: pd.DataFrame) -> pd.DataFrame:
        return part.pivot(index="repeat", columns=along, values=claim["metric"]).reindex(columns=levels)

    if "to" not in claim or along == "algorithm":
        return wide(rows).dropna().to_numpy(dtype=np.float64)
    ours, theirs = (wide(rows[rows["algorithm"] == claim[role]]) for role in ("algorithm", "to"))
    return (ours - theirs).abs().dropna().to_numpy(dtype=np.float64)


def _measure(groups: list[Group]) -> dict:
    tested = [group for group in groups if not group.at_bound]
    counts = {"groups": len(groups), "at_bound": len(groups) - len(tested)}
    if not tested:
        reason = f"every group stands at {groups[0].kind.bound:g} throughout and cannot move as claimed"
        return counts | {"verdict": NOT_TESTABLE, "reason": reason}
    worst = max(tested, key=lambda group: (group.p_value, -group.support))
    n, center = min(len(group.gains) for group in groups), groups[0].center
    over_groups = np.median if center == "median" else np.mean
    per_repeat = over_groups([group.gains[:n] for group in groups], axis=0)
    effect = center_interval(center, per_repeat, overlap=max(group.overlap for group in groups))
    return counts | {
        "groups_holding": sum(group.p_value < ALPHA for group in tested),
        "p_value": worst.p_value,
        "p_smallest": smallest_p(min(len(group.gains) for group in tested)),
        "center": center,
        "effect": effect.center,
        "low": effect.low,
        "high": effect.high,
        "worst": worst.describe(),
        "contradicted": [group.describe() for group in contradicted(tested)],
        "steps": contradicting_steps(tested) if worst.kind.objection else [],
    }


def _conclude(result: dict, family: int) -> None:
    """Turn the adjusted p-value into a verdict with its reason."""
    incomplete = result["cells"] < result["cells_expected"]
    reasons = [f"INCOMPLETE: {result['cells']} of {result['cells_expected']} cells"] if incomplete else []
    tested = result["groups"] - result["at_bound"]
    holding = f"significant in {result['groups_holding']} of {tested} groups"
    if result["at_bound"]:
        holding += f" ({result['at_bound']} more stand at {KINDS[result['kind']].bound:g} throughout)"
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
        effect = effect_text(result["metric"], groups[0])
        said.append(f"contradicted in {len(groups)} of {tested} groups, most in {_place(groups[0])}: {effect}")
    if steps := result["steps"]:
        effect = effect_text(result["metric"], steps[0])
        one, several = KINDS[result["kind"]].objection
        count = f"1 step {one}" if len(steps) == 1 else f"{len(steps)} steps {several}"
        said.append(f"{count} significantly, most step {steps[0]['step']} of {_place(steps[0])}: {effect}")
    return said


def effect_text(metric: str, found: Mapping) -> str:
    """Return an effect with its interval as text, in percentage points where the metric is printed in per cent.

    Parameters
    ----------
    metric : str
        The metric of the claim.
    found : mapping
        ``effect``, ``low`` and ``high``, and ``margin`` where the claim has one.

    Examples
    --------
    >>> effect_text("accuracy", {"effect": 0.0125, "low": -0.001, "high": 0.026})
    '+1.25 points (-0.10 to +2.60)'
    >>> effect_text("mse", {"effect": -0.00123, "low": -0.002, "high": 0.0})
    '-0.00123 (-0.002 to +0)'
    """
    scale, form, unit = (100, ".2f", " points") if is_in_per_cent(metric) else (1, ".3g", "")
    effect, low, high = (f"{scale * found[name]:+{form}}" for name in ("effect", "low", "high"))
    margin = f", margin ± {scale * found['margin']:{form}}" if "margin" in found else ""
    return f"{effect}{unit} ({low} to {high}){margin}"


def _blank(claim: Mapping) -> dict:
    """Return the result of a claim before anything is known, its fields in the order of ``claims.json``."""
    numbers = ("p_value", "p_adjusted", "center", "effect", "low", "high", "groups", "groups_holding", "at_bound")
    empty = ("verdict", "reason", *numbers, "contradicted", "steps", "worst", "scope", "cells", "cells_expected")
    return {name: claim.get(name) for name in ("id", "text", "kind", "metric")} | dict.fromkeys(empty)


def _scope(groups: list[Group]) -> str:
    fixed = any(not group.overlap for group in groups)
    anew = any(group.overlap for group in groups)
    said = ["one split: repeats vary only the algorithm's randomness, so this speaks of that split"] if fixed else []
    if anew and groups[0].center == "median":
        said.append("split anew in each repeat: medians and signs, which speak of further runs on these rows")
    elif anew:
        said.append("split anew in each repeat: variance corrected for overlapping training sets")
    return "; ".join(said)


def setting_of(found: Mapping) -> dict:
    """Return the setting of a group or step of a result, without the numbers about it.

    Examples
    --------
    >>> setting_of({"dataset": "car", "epsilon": 1.0, "effect": 0.1, "p_value": 0.3})
    {'dataset': 'car', 'epsilon': 1.0}
    """
    return {name: value for name, value in found.items() if name not in _ABOUT}


def _place(found: Mapping) -> str:
    return setting_words(setting_of(found)) or "the only group"
