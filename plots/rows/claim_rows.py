"""Claims as pages and the terminal show them: rows of a forest plot, each with its readings inside.

A row shows the setting that decides: the one that refutes the claim, else the one that is weakest. To its right lies
what the claim says, whatever its direction; where a claim says that nothing changes, zero is what it says.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments.config.finding import Sign
from experiments.config.paper import Claim, Paper, Speaker
from experiments.judge.evidence.claim_group import State
from experiments.judge.verdict import REFUTED, REPRODUCED, SIGN_OF, UNDECIDED, format_effect, setting_of
from experiments.metrics.find import is_in_per_cent
from experiments.questions.group_claim import ClaimAboutRuns
from plots import labels
from plots.answers import count_signs
from plots.rows.strips import Axis, Strip, make_effect_axis, place_effect
from plots.runs.run_folder import PaperRun

COMPUTED = ""
"""The unit of claims that are decided by computing: they have no effect."""
_APART = 0.1
"""Labels of an axis are at least so far apart, as a share of its length."""
_PLAIN = (REPRODUCED, REFUTED, UNDECIDED)
"""Verdicts that say no more than their sign."""


@dataclass(frozen=True)
class SettingRow:
    """A setting that a claim speaks of.

    Parameters
    ----------
    place : str
        The setting in the paper's words, and the part of the claim that it is about.
    effect : str
        The effect with its interval; empty without a complete run.
    won : str
        How many of its runs are as claimed.
    strip : Strip or None
        Where the effect stands.
    decides : bool
        Whether the claim's row shows it.
    """

    place: str
    effect: str = ""
    won: str = ""
    strip: Strip | None = None
    decides: bool = False


@dataclass(frozen=True)
class ClaimRow:
    """A claim, or another reading of one.

    Parameters
    ----------
    id, text : str
        As the paper's file has them.
    sign : Sign
        What a reader learns first.
    verdict, reason : str
        The finer kind, and why.
    unit : str
        Of its effect, `COMPUTED` without one.
    effect, interval, place : str
        Of the setting that decides, the 95 % interval, and which setting that is; empty if the claim has one only.
    strip : Strip or None
        Where that stands on the axis of its unit.
    held : str
        In how many settings it is proven, such as ``8 of 9``.
    details : dict of str to str
        What is told of it when its row is opened, by name.
    settings : list of SettingRow
        All its settings, the weakest first.
    readings : list of ClaimRow
        Other readings of the sentence.
    """

    id: str
    text: str
    sign: Sign
    verdict: str
    reason: str
    unit: str = COMPUTED
    effect: str = ""
    interval: str = ""
    place: str = ""
    strip: Strip | None = None
    held: str = ""
    details: dict[str, str] = field(default_factory=dict)
    settings: list[SettingRow] = field(default_factory=list)
    readings: list[ClaimRow] = field(default_factory=list)

    @property
    def finer(self) -> str:
        """The verdict where it says more than the sign; else nothing."""
        return "" if self.verdict in _PLAIN else self.verdict

    @property
    def turning(self) -> dict[Sign, int]:
        """How many of its readings come to another sign, and to which."""
        return count_signs([reading.verdict for reading in self.readings if reading.sign != self.sign])


@dataclass(frozen=True)
class Forest:
    """The claims that share an axis.

    Parameters
    ----------
    unit : str
        Of their effects.
    ticks : list of (float, str)
        Where the labels of the axis stand, from 0 to 1.
    rows : list of ClaimRow
        In the order of the paper's file.
    """

    unit: str
    ticks: list[tuple[float, str]]
    rows: list[ClaimRow]


def list_forests(run: PaperRun, speaker: Speaker) -> list[Forest]:
    """Return the claims of one speaker by unit, those that are computed last; readings stand in the row they read."""
    paper = run.paper
    records = {claim["id"]: claim for claim in run.claims}
    wanted = [claim for claim in paper.claims if claim.reading_of is None and paper.speaker_of(claim) == speaker]
    by_unit: dict[str, list[Claim]] = {}
    for claim in wanted:
        by_unit.setdefault(_find_unit(paper, records[claim.id]), []).append(claim)
    forests = []
    for unit in sorted(by_unit, key=lambda name: name == COMPUTED):
        claims = by_unit[unit]
        axis = _make_axis([records[claim.id] for claim in _with_readings(paper, claims)])
        rows = [_make_row(run, claim, records, axis) for claim in claims]
        forests.append(Forest(unit, _label_ticks(unit, axis), rows))
    return forests


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


def label_place(paper: Paper, claim: Claim, group: Mapping[str, Any]) -> str:
    """Return the setting of a group in the paper's words, and the part of the claim that it is about."""
    words = []
    for name, value in setting_of(group).items():
        text = labels.label_value(paper, value)
        is_plain = name in ("dataset", "algorithm") or text == "no noise"
        words.append(text if is_plain else f"{labels.label_name(paper, name)} = {text}")
    return ", ".join(filter(None, [*words, _label_part(paper, claim, group.get("part", ""))])) or "its one setting"


def _label_part(paper: Paper, claim: Claim, part: str) -> str:
    """Return a part of a claim by the values that it compares, or by its name if it compares none."""
    along, compared = claim.find_compared(paper, part) if part and isinstance(claim, ClaimAboutRuns) else ("", [])
    if not compared:
        return part
    axis, values = labels.label_name(paper, along), " to ".join(labels.label_value(paper, value) for value in compared)
    return f"{axis} from {values}" if len(compared) > 1 else f"against {axis} = {values}"


def _with_readings(paper: Paper, claims: Sequence[Claim]) -> list[Claim]:
    return [claim for claim in paper.claims if paper.claims_by_id[paper.text_of(claim)] in claims]


def _find_unit(paper: Paper, record: Mapping[str, Any]) -> str:
    if record["metric"] is None:
        return COMPUTED
    return "points" if is_in_per_cent(record["metric"]) else labels.label_metric(paper, record["metric"])


def _make_axis(records: Sequence[Mapping[str, Any]]) -> Axis:
    """Return the axis of the effects that decide some claims, which share a unit."""
    deciding = [group for record in records if (group := _find_deciding(record))]
    reaches = [
        max(filter(math.isfinite, (abs(group[end]) for end in ("effect", "low", "high"))), default=0.0)
        for group in deciding
    ]
    margins = sorted(group["margin"] for group in deciding)
    is_linear = all(is_in_per_cent(record["metric"] or "") for record in records)
    return make_effect_axis(reaches, margins[len(margins) // 2] if margins else 1.0, is_linear)


def _find_deciding(record: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the setting that refutes a claim, else the weakest one; None if none has a complete run."""
    if record["contradiction"]:
        return record["contradiction"]
    return next((group for group in record["groups"] or () if group["n"]), None)


def _label_ticks(unit: str, axis: Axis) -> list[tuple[float, str]]:
    """Return the ticks of an axis with their labels, without those that would run into the label of zero."""
    scale = 100 if unit == "points" else 1
    ticks = []
    for tick in axis.list_ticks() if unit else []:
        place = axis.place(tick)
        if not tick or abs(place - axis.place(0.0)) >= _APART:
            ticks.append((place, f"{scale * tick:+.4g}".replace("e+0", "e") if tick else "0"))
    return ticks


def _make_row(run: PaperRun, claim: Claim, records: Mapping[str, Mapping], axis: Axis) -> ClaimRow:
    record = records[claim.id]
    readings = [_make_row(run, other, records, axis) for other in run.paper.claims if other.reading_of == claim.id]
    row = {name: record[name] for name in ("id", "text", "verdict", "reason")}
    row |= {"sign": SIGN_OF[record["verdict"]], "readings": readings, "unit": _find_unit(run.paper, record)}
    deciding = _find_deciding(record)
    if deciding:
        effect, _, interval = format_effect(record["metric"], deciding).rstrip(")").partition(" (")
        row |= {"effect": effect, "interval": interval, "strip": _place(claim, deciding, axis)}
        row |= {"held": _count_held(record), "settings": _list_settings(run.paper, claim, record, axis)}
        row |= {"place": label_place(run.paper, claim, deciding) if len(record["groups"]) > 1 else ""}
    return ClaimRow(**row, details=_list_details(run, record))


def _place(claim: Claim, group: Mapping[str, Any], axis: Axis) -> Strip:
    """Return where the effect of a setting stands; what bears the claim out lies to the right, or near zero."""
    assert isinstance(claim, ClaimAboutRuns)
    effect, low, high, margin = (group[name] for name in ("effect", "low", "high", "margin"))
    if claim.find_direction(group.get("part", "")) == -1:
        return place_effect(axis, -effect, -high, -low, margin)
    return place_effect(axis, effect, low, high, margin)


def _count_held(record: Mapping[str, Any]) -> str:
    states = [group["state"] for group in record["groups"]]
    return f"{states.count(State.HOLDS.value)} of {len(states)}"


def _list_settings(paper: Paper, claim: Claim, record: Mapping[str, Any], axis: Axis) -> list[SettingRow]:
    deciding = _find_deciding(record)
    rows = []
    for group in record["groups"]:
        place = label_place(paper, claim, group)
        if not group["n"]:
            rows.append(SettingRow(place))
            continue
        won = f"{100 * group['share_won']:.0f} % of {group['n']} runs as claimed"
        is_deciding = deciding is not None and setting_of(group) == setting_of(deciding)
        effect = format_effect(record["metric"], group)
        rows.append(SettingRow(place, effect, won, _place(claim, group, axis), is_deciding))
    return rows


def _list_details(run: PaperRun, record: Mapping[str, Any]) -> dict[str, str]:
    details = {}
    if record["on_average"] and record["on_average"] != record["in_most_runs"]:
        details["the mean of the runs"] = record["on_average"]
        details["most single runs"] = record["in_most_runs"]
    if record["effect"] is not None:
        center = " (median)" if record["center"] == "median" else ""
        details[f"over all settings{center}"] = format_effect(record["metric"], record)
        details["runs of a setting, at most"] = str(record["repeats"])
        details["chance that ten new runs show it again"] = format_chance(record["rerun_probability"])
    if record["at_bound"]:
        details["settings set aside, as they cannot move as claimed"] = str(record["at_bound"])
    details |= {"what it speaks of": record["scope"] or "", "new rows": run.describe_further_rows(record["id"])}
    return {name: text for name, text in details.items() if text}
