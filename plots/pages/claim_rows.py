"""Verdicts on claims as a page shows them: in words, and each group as an interval on a line of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from experiments.config.paper import Paper
from experiments.judge.verdict import format_effect, setting_of
from plots import labels

_WIDEST = 4.0
"""Of a drawing: how many times as far as the median group its line reaches; what is longer runs off its end."""
_ROOM = 1.05
"""Of a drawing: so much longer than what is drawn, so that no mark is cut in half."""


def describe_claim(paper: Paper, claim: Mapping[str, Any]) -> dict[str, Any]:
    """Return a verdict on a claim as it is read.

    Parameters
    ----------
    paper : Paper
        With the claim.
    claim : mapping
        As from `claim_verdicts.judge_claims`.

    Returns
    -------
    dict
        ``id, text, verdict, reason, scope, center``; ``speaker``, whose it is; ``answers`` (the verdict by question,
        where two are asked); ``effect, interval, repeats, rerun`` as text, and ``rerun_key`` to sort by; ``at_bound``;
        and ``groups``, the weakest first: ``place, effect, won, n``, whether it ``contradicts``, and ``drawing`` in per
        cent of its width.
    """
    described = {name: claim[name] for name in ("id", "text", "verdict", "reason", "scope")}
    described |= {"center": claim["center"] or "", "at_bound": claim["at_bound"] or 0}
    described["speaker"] = paper.speaker_of(paper.claims_by_id[claim["id"]]).value
    answers = {"on average": claim["on_average"], "in most runs": claim["in_most_runs"]}
    described["answers"] = answers if all(answers.values()) else {}
    described |= {"effect": "", "interval": "", "repeats": "", "rerun": "", "rerun_key": "", "groups": []}
    if claim["groups"]:
        described["groups"] = _describe_groups(paper, claim)
    if claim["effect"] is not None:
        effect, _, interval = format_effect(claim["metric"], claim).rstrip(")").partition(" (")
        described |= {"effect": effect, "interval": interval}
        described["repeats"] = str(claim["repeats"])
        described |= {"rerun": format_chance(claim["rerun_probability"]), "rerun_key": claim["rerun_probability"]}
    return described


def format_chance(probability: float | None) -> str:
    """Return a probability in per cent; nothing is certain, nothing impossible.

    Examples
    --------
    >>> format_chance(0.618), format_chance(1.0), format_chance(0.0), format_chance(None)
    ('62 %', '> 99 %', '< 1 %', '')
    """
    if probability is None or math.isnan(probability):
        return ""
    if probability < 0.01:
        return "< 1 %"
    return "> 99 %" if probability > 0.99 else f"{100 * probability:.0f} %"


def label_place(paper: Paper, group: Mapping[str, Any]) -> str:
    """Return the setting of a group in the paper's words, and the part of the claim that it is about."""
    words = []
    for name, value in setting_of(group).items():
        text = labels.label_value(paper, value)
        is_plain = name in ("dataset", "algorithm") or text == "no noise"
        words.append(text if is_plain else f"{labels.label_name(paper, name)} {text}")
    return ", ".join(filter(None, [*words, group.get("part", "")])) or "the only group"


def draw_intervals(groups: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return where the marks of each group stand on a line with zero in its middle, in per cent of its length.

    Returns
    -------
    list of dict
        Of each group ``low``, ``high`` and ``effect``, and the ends of ± δ, ``margin_low`` and ``margin_high``. All
        groups of a claim share one scale; what does not fit ends at 0 or 100, and ``beyond`` says on which side an
        effect lies that does not, ``left`` or ``right``.

    Examples
    --------
    >>> group = {"effect": 0.02, "low": -0.01, "high": 0.05, "margin": 0.01}
    >>> draw_intervals([group])
    [{'low': 40.48, 'high': 97.62, 'effect': 69.05, 'margin_low': 40.48, 'margin_high': 59.52, 'beyond': ''}]
    """
    reaches = [_find_reach(group) for group in groups] or [0.0]
    reach = _ROOM * min(max(reaches), _WIDEST * float(np.median(reaches))) or 1.0
    drawn = []
    for group in groups:
        ends = {name: group[name] for name in ("low", "high", "effect")}
        ends |= {"margin_low": -group["margin"], "margin_high": group["margin"]}
        places: dict[str, Any] = {name: _place(value, reach) for name, value in ends.items()}
        places["beyond"] = {0.0: "left", 100.0: "right"}.get(places["effect"], "")
        drawn.append(places)
    return drawn


def _find_reach(group: Mapping[str, Any]) -> float:
    """Return how far from zero the line of a group would have to reach."""
    lengths = [abs(group[name]) for name in ("effect", "low", "high", "margin")]
    return max(filter(math.isfinite, lengths), default=0.0)


def _place(value: float, reach: float) -> float:
    share = 0.0 if math.isnan(value) else float(np.clip(value / reach, -1, 1))
    return round(50 + 50 * share, 2)


def _describe_groups(paper: Paper, claim: Mapping[str, Any]) -> list[dict[str, Any]]:
    contradiction = claim["contradiction"]
    against = None if contradiction is None else setting_of(contradiction)
    measured = [group for group in claim["groups"] if group["n"]]
    described = []
    for group, drawing in zip(measured, draw_intervals(measured), strict=True):
        described.append(
            {
                "place": label_place(paper, group),
                "effect": format_effect(claim["metric"], group),
                "won": f"{100 * group['share_won']:.0f} %",
                "n": group["n"],
                "contradicts": setting_of(group) == against,
                "drawing": drawing,
            }
        )
    for group in claim["groups"]:
        if not group["n"]:
            described.append({"place": label_place(paper, group), "n": 0, "contradicts": False, "drawing": None})
    return described
