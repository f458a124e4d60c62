"""Verdicts on the claims of a paper, as predicates over the long table.

Every kind of claim is a class in `judge.claims`, which says how it is tested. The p-values of all claims of a paper are
adjusted by Holm, so that the chance of accepting any false one is at most 5 % for the whole paper.

A claim may be another reading of the text of one before it, ``reading_of``: where that one is not reproduced as
printed and this one is, that one's verdict is ``only under a reading``, with both reasons.

A p-value that is not small speaks neither for the claim nor against it. A claim is therefore ``reproduced`` if it
is significant in every group; ``refuted`` only if some group contradicts it, because the opposite of its
effect is significant (Holm over the groups) or the effect exactly zero in every repeat, or because a step
contradicts it significantly; and otherwise ``undecided``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd

from experiments.config.paper import Claim, Paper
from experiments.judge.group_claim import describe_place
from experiments.judge.verdict import (
    ONLY_UNDER_READING,
    REFUTED,
    REPRODUCED,
    UNDECIDED,
    format_effect,
)
from experiments.stats import ALPHA, adjust_holm

_NUMBERS = ("p_value", "p_adjusted", "center", "effect", "low", "high", "groups", "groups_holding", "at_bound")
_FIELDS = ("verdict", "reason", *_NUMBERS, "contradicted", "steps", "worst", "scope", "cells", "cells_expected")


def judge_claims(
    paper: Paper,
    table: pd.DataFrame,
    numbers: pd.DataFrame | None = None,
    *,
    fixed_splits: Collection[str] = (),
) -> list[dict]:
    """Judge every claim of a paper.

    Parameters
    ----------
    paper : Paper
        With its claims.
    table : DataFrame
        The long table, one row per cell and repeat.
    numbers : DataFrame, optional
        Verdicts on the printed numbers (`numbers.judge_numbers`), for claims about these.
    fixed_splits : collection of str
        Data sets with an official split, the same in every repeat; all others are taken to be split anew each
        time.

    Returns
    -------
    list of dict
        For each claim: id, text, kind, verdict (``reproduced``, ``only under a reading``, ``refuted``,
        ``inconsistent in print``, ``undecided``), reason, p_value, p_adjusted (Holm), center (mean or median),
        effect with low and high (over groups, on the metric's scale), groups, groups_holding, at_bound (groups set
        aside), contradicted (the groups that speak against it), steps (those that do), worst (the group with the
        largest p-value), scope, cells,
        cells_expected. Claims that could not be tested have None where there is no number.

    Raises
    ------
    PaperError
        If a claim names something the paper does not have.
    """
    results, tested, n_testable = [], [], 0
    for claim in paper.claims:
        result = _judge(paper, claim, table, numbers, fixed_splits)
        results.append(result)
        n_testable += _is_testable(paper, claim)
        if result["p_value"] is not None:
            tested.append((claim, result))
    p_values = adjust_holm([result["p_value"] for _, result in tested], n_testable)
    for (claim, result), adjusted in zip(tested, p_values, strict=True):
        result["p_adjusted"] = adjusted
        _conclude(claim, result, n_testable)
    _judge_readings(paper.claims, results)
    return results


def _is_testable(paper: Paper, claim: Claim) -> bool:
    """Return whether a claim is about runs, all of whose algorithms are implemented."""
    return hasattr(claim, "explain_missing") and not claim.explain_missing(paper)


def _judge(
    paper: Paper, claim: Any, table: pd.DataFrame, numbers: pd.DataFrame | None, fixed_splits: Collection[str]
) -> dict:
    """Return the result of a claim before any p-value is adjusted, its fields in the order of ``claims.json``."""
    own = {"id": claim.id, "text": claim.text, "kind": claim.kind, "metric": getattr(claim, "metric", None)}
    result = own | dict.fromkeys(_FIELDS)
    if hasattr(claim, "explain_missing") and (reason := claim.explain_missing(paper)):
        return result | {"verdict": UNDECIDED, "reason": reason}
    return result | claim.judge(paper, table, numbers, fixed_splits)


def _judge_readings(claims: Sequence[Claim], results: Sequence[dict]) -> None:
    """Give claims that come out only under another reading of the text, ``reading_of``, a verdict that says so."""
    by_id = {result["id"]: result for result in results}
    for claim in claims:
        literal = by_id.get(claim.reading_of)
        if not literal or by_id[claim.id]["verdict"] != REPRODUCED:
            continue
        if literal["verdict"] == REFUTED:
            as_printed = f"as printed: {literal['verdict']}: {literal['reason']}"
            literal["verdict"] = ONLY_UNDER_READING
            literal["reason"] = f"{claim.id} ({claim.text}) is; {as_printed}"
        elif literal["verdict"] == UNDECIDED:
            literal["reason"] += f"; reproduced under a reading: {claim.id}"


def _conclude(claim: Any, result: dict, n_testable: int) -> None:
    """Turn the adjusted p-value into a verdict with its reason."""
    is_incomplete = result["cells"] < result["cells_expected"]
    reasons = [f"INCOMPLETE: {result['cells']} of {result['cells_expected']} cells"] if is_incomplete else []
    n_tested = result["groups"] - result["at_bound"]
    holding = f"significant in {result['groups_holding']} of {n_tested} groups"
    if result["at_bound"]:
        holding += f" ({result['at_bound']} more stand at {claim.bound:g} throughout)"
    contradictions = _describe_contradictions(claim, result, n_tested)
    smallest = result.pop("p_smallest")
    if contradictions:
        result["verdict"] = REFUTED
        reasons += [*contradictions, holding]
    elif smallest * n_testable >= ALPHA:
        needed = math.floor(math.log2(n_testable / ALPHA)) + 1
        result["verdict"] = UNDECIDED
        reasons.append(f"too few repeats: no p-value below {smallest:.2g} is possible; {needed} repeats suffice")
    elif result["p_adjusted"] < ALPHA:
        result["verdict"] = REPRODUCED
        reasons.append(holding)
    else:
        result["verdict"] = UNDECIDED
        reasons += _describe_doubt(result, holding, n_tested)
    result["reason"] = "; ".join(reasons)


def _describe_doubt(result: Mapping[str, Any], holding: str, n_tested: int) -> list[str]:
    worst = result["worst"]
    alone = ", but not after Holm" if result["groups_holding"] == n_tested else ""
    weakest = f"weakest {describe_place(worst)}: {format_effect(result['metric'], worst)}"
    return [f"inconclusive: {holding}{alone}", weakest]


def _describe_contradictions(claim: Any, result: Mapping[str, Any], n_tested: int) -> list[str]:
    """Say which groups and steps contradict a claim: how many, and of each the one that does most."""
    sentences = []
    if groups := result["contradicted"]:
        effect = format_effect(result["metric"], groups[0])
        place = describe_place(groups[0])
        sentences.append(f"contradicted in {len(groups)} of {n_tested} groups, most in {place}: {effect}")
    if steps := result["steps"]:
        effect = format_effect(result["metric"], steps[0])
        singular, plural = claim.contradiction_words
        count = f"1 step {singular}" if len(steps) == 1 else f"{len(steps)} steps {plural}"
        place = describe_place(steps[0])
        sentences.append(f"{count} significantly, most step {steps[0]['step']} of {place}: {effect}")
    return sentences
