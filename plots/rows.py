"""What pages and the terminal show in rows: claims as a forest plot, printed numbers as a dot plot.

The row of a claim has its readings inside. It shows the setting that decides: the one that refutes the claim, else the
one that is weakest. To its right lies what the claim says, whatever its direction; where a claim says that nothing
changes, zero is what it says.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from experiments.config.finding import Sign
from experiments.config.paper import Claim, Paper, Speaker
from experiments.judge.evidence.claim_group import State
from experiments.judge.numbers.number_verdict import is_blank
from experiments.judge.verdict import REFUTED, REPRODUCED, SIGN_OF, UNDECIDED, format_effect, setting_of
from experiments.metrics.find import is_in_per_cent
from experiments.questions.group_claim import ClaimAboutRuns
from plots import labels
from plots.answers import count_signs
from plots.strips import Axis, Strip, StripPlot, make_effect_axis, make_number_axis

COMPUTED = ""  #: the unit of claims that are decided by computing: they have no effect
_PLAIN = (REPRODUCED, REFUTED, UNDECIDED)  # verdicts that say no more than their sign
_APART = 0.1  # labels of an axis are at least so far apart, as a share of its length


@dataclass(frozen=True)
class _SettingRow:
    """A setting that a claim speaks of, in the paper's words, with the part of the claim that it is about."""

    place: str
    effect: str = ""  #: with its interval; empty without a complete run
    won: str = ""  #: how many of its runs are as claimed
    strip: Strip | None = None


@dataclass(frozen=True)
class ClaimRow:
    """A claim, or another reading of one."""

    id: str
    text: str
    sign: Sign
    verdict: str
    reason: str
    is_rebuilt: bool  #: whether the other side is our reconstruction
    unit: str = COMPUTED
    effect: str = ""  #: of the setting that decides
    interval: str = ""  #: 95 %, of that
    place: str = ""  #: which setting that is; empty if the claim has one only
    strip: Strip | None = None  #: where that stands on the axis of its unit
    held: str = ""  #: in how many settings it is proven, such as "8 of 9"
    details: dict[str, str] = field(default_factory=dict)  #: told when its row is opened, by name
    settings: list[_SettingRow] = field(default_factory=list)  #: the weakest first
    readings: list[ClaimRow] = field(default_factory=list)  #: other readings of the sentence

    @property
    def finer(self) -> str:
        """The verdict where it says more than the sign; else nothing."""
        return "" if self.verdict in _PLAIN else self.verdict

    @property
    def aside(self) -> str:
        """What is said behind its text: the finer verdict, and what it was tested against."""
        return ", ".join(filter(None, [self.finer, "against our reconstruction" if self.is_rebuilt else ""]))

    @property
    def size(self) -> str:
        """The effect without its unit, for a column that is headed by that."""
        return self.effect.removesuffix(f" {self.unit}")

    @property
    def turning(self) -> dict[Sign, int]:
        """How many of its readings come to another sign, and to which."""
        return count_signs([reading.verdict for reading in self.readings if reading.sign != self.sign])

    @property
    def lines_on_readings(self) -> list[str]:
        """A line for each other reading that turns its sign, and how many do not."""
        turning = [reading for reading in self.readings if reading.sign != self.sign]
        lines = [f"another reading: {labels.SYMBOLS[one.sign]} {one.text.rstrip('.')}" for one in turning]
        n_agreeing = len(self.readings) - len(turning)
        if n_agreeing:
            lines.append(f"{n_agreeing} other reading{'s agree' if n_agreeing > 1 else ' agrees'}")
        return lines


def list_forests(
    paper: Paper, records: Iterable[Mapping[str, Any]], new_rows: Mapping[str, str], speaker: Speaker
) -> list[StripPlot[ClaimRow]]:
    """Return the claims of one speaker by unit, those that are computed last; readings stand in the row they read.

    ``records`` are what ``claims.json`` has of each claim, ``new_rows`` what is said of some claims on new rows, by id.
    """
    known = {record["id"]: {**record, "new rows": new_rows.get(record["id"], "")} for record in records}
    by_unit: dict[str, list[Claim]] = {}
    for claim in paper.claims:
        if claim.reading_of is None and paper.speaker_of(claim) == speaker:
            by_unit.setdefault(_find_unit(paper, known[claim.id]), []).append(claim)
    forests = []
    for unit in sorted(by_unit, key=lambda name: name == COMPUTED):
        claims = by_unit[unit]
        with_readings = [claim for claim in paper.claims if paper.claims_by_id[paper.text_of(claim)] in claims]
        axis = _make_axis([known[claim.id] for claim in with_readings])
        rows = [_make_claim_row(paper, claim, known, axis) for claim in claims]
        forests.append(StripPlot(unit, _label_ticks(unit, axis), rows))
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
    parts = [labels.label_setting(paper, setting_of(group)), _label_part(paper, claim, group.get("part", ""))]
    return ", ".join(filter(None, parts)) or "its one setting"


def _label_part(paper: Paper, claim: Claim, part: str) -> str:
    """Return a part of a claim by the values that it compares, or by its name if it compares none."""
    along, compared = claim.find_compared(paper, part) if part and isinstance(claim, ClaimAboutRuns) else ("", [])
    if not compared:
        return part
    axis, values = labels.label_name(paper, along), " to ".join(labels.label_value(paper, value) for value in compared)
    return f"{axis} from {values}" if len(compared) > 1 else f"against {axis} = {values}"


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


def _make_claim_row(paper: Paper, claim: Claim, records: Mapping[str, Mapping], axis: Axis) -> ClaimRow:
    record = records[claim.id]
    row = {name: record[name] for name in ("id", "text", "verdict", "reason")}
    row |= {"sign": SIGN_OF[record["verdict"]], "unit": _find_unit(paper, record), "details": _list_details(record)}
    row |= {"is_rebuilt": claim.against is not None}
    deciding = _find_deciding(record)
    if deciding:
        effect, _, interval = format_effect(record["metric"], deciding).rstrip(")").partition(" (")
        row |= {"effect": effect, "interval": interval, "strip": _place(claim, deciding, axis)}
        states = [group["state"] for group in record["groups"]]
        row |= {"held": f"{states.count(State.HOLDS.value)} of {len(states)}"}
        row |= {"settings": [_make_setting(paper, claim, record["metric"], group, axis) for group in record["groups"]]}
        row |= {"place": label_place(paper, claim, deciding) if len(states) > 1 else ""}
    return ClaimRow(
        **row,
        readings=[_make_claim_row(paper, one, records, axis) for one in paper.claims if one.reading_of == claim.id],
    )


def _place(claim: Claim, group: Mapping[str, Any], axis: Axis) -> Strip:
    """Return where the effect of a setting stands; what bears the claim out lies to the right, or near zero."""
    assert isinstance(claim, ClaimAboutRuns)
    effect, low, high, margin = (group[name] for name in ("effect", "low", "high", "margin"))
    if claim.find_direction(group.get("part", "")) == -1:
        effect, low, high = -effect, -high, -low
    return axis.make_strip(effect, low, high, 0.0, margin)


def _make_setting(paper: Paper, claim: Claim, metric: str, group: Mapping[str, Any], axis: Axis) -> _SettingRow:
    place = label_place(paper, claim, group)
    if not group["n"]:
        return _SettingRow(place)
    won = f"{100 * group['share_won']:.0f} % of {group['n']} runs as claimed"
    return _SettingRow(place, format_effect(metric, group), won, _place(claim, group, axis))


def _list_details(record: Mapping[str, Any]) -> dict[str, str]:
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
    details |= {"what it speaks of": record["scope"] or "", "new rows": record["new rows"]}
    return {name: text for name, text in details.items() if text}


_PART = ", "  # what stands between the parts of a setting


@dataclass(frozen=True)
class NumberRow:
    """A printed number beside ours."""

    id: str
    what: str  #: it is a number of
    kind: str  #: of the number: its statistic
    sign: Sign
    verdict: str
    reason: str
    printed: str
    ours: str
    interval: str  #: 95 %, of our mean
    prediction: str  #: where the paper's mean would fall
    repeats: str  #: of ours, and how many there should be if some are missing
    source: str  #: where it is printed
    strip: Strip | None  #: None where there is no common axis, or nothing of ours

    @property
    def aside(self) -> str:
        """The finer verdict where it says more than its sign, and how much was run if not all."""
        finer = "" if self.verdict in _PLAIN else self.verdict
        return ", ".join(filter(None, [finer, f"{self.repeats} runs" if " of " in self.repeats else ""]))


def plot_numbers(paper: Paper, measured: pd.DataFrame) -> list[StripPlot[NumberRow]]:
    """Return the printed measurements of a paper: those in per cent on one axis, the others without any."""
    is_percentage = measured["metric"].map(is_in_per_cent).astype(bool)
    plots = []
    if is_percentage.any():
        rows = measured[is_percentage].to_dict("records")
        axis = make_number_axis([row[name] for row in rows for name in ("printed", "mean")])
        ticks = [(axis.place(tick), f"{100 * tick:.4g}") for tick in axis.list_ticks()]
        plots.append(StripPlot("%", ticks, [make_row(paper, row, axis) for row in rows]))
    others = measured[~is_percentage].to_dict("records")
    return [*plots, StripPlot("", [], [make_row(paper, row) for row in others])] if others else plots


def group_numbers(plots: Iterable[StripPlot[NumberRow]]) -> list[StripPlot[NumberRow]]:
    """Return printed numbers as text shows them: those together that are of one kind, and said once what they share."""
    groups = []
    for plot in plots:
        by_kind: dict[str, list[NumberRow]] = {}
        for row in plot.rows:
            by_kind.setdefault(row.kind, []).append(row)
        for rows in by_kind.values():
            shared, others = _split_words([row.what for row in rows])
            own = [replace(row, what=words) for words, row in zip(others, rows, strict=True)]
            groups.append(StripPlot(plot.unit, plot.ticks, own, shared))
    return groups


def _split_words(texts: Sequence[str]) -> tuple[str, list[str]]:
    """Return the parts that all of some texts share, and what is left of each.

    >>> _split_words(["Adult, ε = 1, RDT: accuracy (%)", "Adult, ε = 2, RDT: accuracy (%)"])
    ('Adult, RDT: accuracy (%)', ['ε = 1', 'ε = 2'])
    >>> _split_words(["Adult, ε = 1"])
    ('', ['Adult, ε = 1'])
    """
    parts = [text.split(_PART) for text in texts]
    if len(parts) < 2:
        return "", list(texts)
    shared = [part for part in parts[0] if all(part in other for other in parts)]
    return _PART.join(shared), [_PART.join(part for part in own if part not in shared) for own in parts]


def make_row(paper: Paper, row: Mapping[str, Any], axis: Axis | None = None) -> NumberRow:
    """Return a row of ``numbers.csv`` as it is read; ``axis`` is what its strip stands on."""
    metric, decimals = row["metric"], row["decimals"]
    strip = None
    if axis is not None and row["n"] > 0:
        strip = axis.make_strip(row["mean"], row["ci_low"], row["ci_high"], row["printed"])
    return NumberRow(
        id=row["id"],
        what=labels.label_result(paper, row),
        kind=row["statistic"],
        sign=SIGN_OF[row["verdict"]],
        verdict=row["verdict"],
        reason=row["reason"],
        printed=labels.format_number(metric, row["printed"], decimals),
        ours=labels.format_number(metric, row["mean"], decimals),
        interval=labels.format_interval(metric, row["ci_low"], row["ci_high"], decimals),
        prediction=labels.format_interval(metric, row["prediction_low"], row["prediction_high"], decimals),
        repeats=str(row["n"]) if row["n"] == row["n_expected"] else f"{row['n']} of {row['n_expected']}",
        source=row["source"],
        strip=strip,
    )


def describe_facts(paper: Paper, facts: pd.DataFrame) -> str:
    """Return how many printed facts of data sets agree with what was counted, and which do not.

    Nothing of a paper that prints none.
    """
    differing = []
    for row in facts.to_dict("records"):
        if row["verdict"] != REPRODUCED:
            name = f"{labels.label_name(paper, row['dataset'])}, {row['metric'].replace('_', ' ')}"
            ours = "nobody counted" if is_blank(row["mean"]) else f"{row['mean']:g} counted"
            differing.append(f"{name}: {row['printed']:g} printed, {ours}")
    if facts.empty:
        return ""
    return "; ".join([f"Facts of the data sets: {len(facts) - len(differing)} of {len(facts)} agree", *differing]) + "."
