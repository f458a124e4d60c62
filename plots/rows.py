"""What pages and the terminal show in rows: claims as a forest plot, printed numbers as a dot plot.

The row of a claim has its readings inside. It shows the setting that decides: the one that refutes the claim, else the
one that is weakest. To its right lies what the claim says, whatever its direction; where a claim says that nothing
changes, zero is what it says. So an effect has the sign of its side: what should be smaller is subtracted from what
should be larger, and the row says so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from experiments.config.finding import AnySign, Sign
from experiments.config.kinds.claims import Claim, ClaimAboutRuns
from experiments.config.paper import Paper, Speaker
from experiments.judge.claim_answer import ClaimAnswer, SettingAnswer
from experiments.judge.evidence.standings import Outcome
from experiments.judge.numbers.number_verdict import is_blank
from experiments.judge.verdict import Verdict
from experiments.judge.words import count_runs, describe_place, format_effect, format_share
from experiments.metrics.find import is_in_per_cent
from experiments.questions.claims import find_rule
from plots import labels
from plots.strips import Axis, Strip, StripPlot, make_effect_axis, make_number_axis

COMPUTED = ""  #: the unit of claims that are decided by computing: they have no effect
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
    verdict: Verdict
    reason: str
    is_rebuilt: bool  #: whether the other side is our reconstruction
    unit: str = COMPUTED
    effect: str = ""  #: of the setting that decides
    interval: str = ""  #: 95 %, of that
    difference: str = ""  #: what it is the difference of: what minus what
    place: str = ""  #: which setting that is; empty if the claim has one only
    strip: Strip | None = None  #: where that stands on the axis of its unit
    held: str = ""  #: how many settings came out how, such as "8 as claimed, 1 equal"
    runs: str = ""  #: of a setting, the most that were taken
    new_rows: str = ""  #: what is said of it on new rows of the same kind
    details: dict[str, str] = field(default_factory=dict)  #: told when its row is opened, by name
    settings: list[_SettingRow] = field(default_factory=list)  #: the weakest first
    readings: list[ClaimRow] = field(default_factory=list)  #: other readings of the sentence
    differs: bool = False  #: whether readings come to different verdicts
    read_as: str = ""  #: how it is read itself
    sign_as_read: AnySign = Sign.OPEN  #: what comes of that

    @property
    def sign(self) -> AnySign:
        """That of its verdict."""
        return self.verdict.shown

    @property
    def aside(self) -> str:
        """What is said behind its text: the finer verdict, and what it was tested against."""
        return ", ".join(filter(None, [self.verdict.finer, "against our reconstruction" if self.is_rebuilt else ""]))

    @property
    def lines_below(self) -> list[str]:
        """The lines below its text: its readings, and new rows."""
        return [*self.lines_on_readings, *filter(None, [self.new_rows])]

    @property
    def size(self) -> str:
        """The effect without its unit, for a column that is headed by that."""
        return self.effect.removesuffix(f" {self.unit}")

    @property
    def lines_on_readings(self) -> list[str]:
        """A line for each reading where they differ, with its condition and effect; else how many there are."""
        if not self.differs:
            n = len(self.readings)
            return [f"{n} other reading{'s agree' if n > 1 else ' agrees'}"] if n else []
        lines = []
        for sign, condition, effect in [
            (self.sign_as_read, self.read_as, self.effect),
            *((reading.sign, reading.text, reading.effect) for reading in self.readings),
        ]:
            shown = f": {effect}" if effect else ""
            lines.append(f"{labels.SYMBOLS[sign]} if {condition.rstrip('.')}{shown}")
        return lines


def list_claim_plots(
    paper: Paper, answers: Iterable[ClaimAnswer], new_rows: Mapping[str, str], speaker: Speaker
) -> list[StripPlot[ClaimRow]]:
    """Return the claims of one speaker by unit, those that are computed last; readings stand in the row they read.

    ``new_rows`` is what is said of some claims on new rows, by id.
    """
    known = {answer.id: answer for answer in answers}
    by_unit: dict[str, list[Claim]] = {}
    for claim in paper.claims:
        if claim.reading_of is None and paper.speaker_of(claim) == speaker:
            by_unit.setdefault(_find_unit(paper, known[claim.id]), []).append(claim)
    plots = []
    for unit in sorted(by_unit, key=lambda name: name == COMPUTED):
        claims = by_unit[unit]
        with_readings = [claim for claim in paper.claims if paper.claims_by_id[paper.text_of(claim)] in claims]
        axis = _make_axis([known[claim.id] for claim in with_readings])
        rows = [_make_claim_row(paper, claim, known, new_rows, axis) for claim in claims]
        plots.append(StripPlot(unit, _label_ticks(unit, axis), rows, scale=_describe_effect_axis(unit, axis)))
    return plots


def label_place(paper: Paper, claim: Claim, group: Mapping[str, Any]) -> str:
    """Return the setting of a group in the paper's words, and the part of the claim that it is about."""
    return describe_place({**group, "part": _label_contrast(paper, claim, group.get("part", ""))}, paper.labels)


def _label_contrast(paper: Paper, claim: Claim, contrast: str) -> str:
    """Return a contrast of a claim by the values that it compares, or by its name if it compares none."""
    if not contrast or not isinstance(claim, ClaimAboutRuns):
        return contrast
    along, compared = find_rule(claim).find_compared(paper, contrast)
    if not compared:
        return contrast
    axis, values = labels.label_name(paper, along), " to ".join(labels.label_value(paper, value) for value in compared)
    return f"{axis} from {values}" if len(compared) > 1 else f"against {axis} = {values}"


def _find_unit(paper: Paper, answer: ClaimAnswer) -> str:
    if answer.metric is None:
        return COMPUTED
    return "points" if is_in_per_cent(answer.metric) else labels.label_metric(paper, answer.metric)


def _make_axis(answers: Sequence[ClaimAnswer]) -> Axis:
    """Return the axis of the effects that decide some claims, which share a unit."""
    deciding = [answer.decisive for answer in answers if answer.decisive]
    reaches = [
        max(filter(math.isfinite, map(abs, (found.effect, found.low, found.high))), default=0.0) for found in deciding
    ]
    margins = sorted(filter(math.isfinite, (found.margin for found in deciding)))
    is_linear = all(is_in_per_cent(answer.metric or "") for answer in answers)
    return make_effect_axis(reaches, margins[len(margins) // 2] if margins else 1.0, is_linear)


def _label_ticks(unit: str, axis: Axis) -> list[tuple[float, str]]:
    """Return the ticks of an axis with their labels, without those that would run into the label of zero."""
    scale = _find_scale(unit)
    ticks = []
    for tick in axis.list_ticks() if unit else []:
        place = axis.place(tick)
        if not tick or abs(place - axis.place(0.0)) >= _APART:
            ticks.append((place, f"{scale * tick:+.4g}".replace("e+0", "e") if tick else "0"))
    return ticks


def _describe_effect_axis(unit: str, axis: Axis) -> str:
    """Return the scale of an axis of effects in words: both ends with the unit, and where it is no linear one.

    >>> _describe_effect_axis("points", Axis(-0.25, 0.25)), _describe_effect_axis("MSE", Axis(-3, 3, threshold=0.01))
    ('−25 … +25 percentage points', '−3 … +3 MSE, logarithmic beyond ± 0.01')
    """
    if unit == COMPUTED:
        return ""
    reach = f"{_find_scale(unit) * axis.high:.3g}".replace("e+0", "e")
    bent = f", logarithmic beyond ± {axis.threshold:g}" if math.isfinite(axis.threshold) else ""
    return f"−{reach} … +{reach} {'percentage points' if unit == 'points' else unit}{bent}"


def _find_scale(unit: str) -> int:
    return 100 if unit == "points" else 1


def _make_claim_row(
    paper: Paper, claim: Claim, answers: Mapping[str, ClaimAnswer], new_rows: Mapping[str, str], axis: Axis
) -> ClaimRow:
    answer = answers[claim.id]
    row: dict[str, Any] = {"id": answer.id, "text": answer.text, "verdict": answer.verdict}
    row |= {"reason": give_reason(claim, answer)}
    row |= {"unit": _find_unit(paper, answer), "details": _list_details(claim, answer)}
    row |= {"is_rebuilt": claim.against is not None, "new_rows": new_rows.get(claim.id, "")}
    row |= {"differs": bool(answer.conditions), "read_as": next(iter(answer.conditions), "")}
    row |= {"sign_as_read": answer.as_read.shown}
    if found := answer.decisive:
        metric, turned = str(answer.metric), turn(claim, found)
        effect, _, interval = format_effect(metric, turned.to_mapping()).rstrip(")").partition(" (")
        row |= {"effect": effect, "interval": interval, "strip": _place(turned, axis)}
        row |= {"difference": name_difference(paper, claim, found)}
        row |= {"held": _format_counts(answer.counts), "runs": _format_runs(found)}
        row |= {"settings": [_make_setting(paper, claim, metric, setting, axis) for setting in answer.settings]}
        row |= {"place": label_place(paper, claim, found.place) if len(answer.settings) > 1 else ""}
    readings = [one for one in paper.claims if one.reading_of == claim.id]
    return ClaimRow(**row, readings=[_make_claim_row(paper, one, answers, new_rows, axis) for one in readings])


def _format_counts(counts: Mapping[str, int]) -> str:
    """Return how many settings came out how, without what none did.

    >>> _format_counts({"as claimed": 3, "equal": 0, "opposite": 1, "open": 0})
    '3 as claimed, 1 opposite'
    """
    return ", ".join(f"{n} {outcome}" for outcome, n in counts.items() if n)


def _format_runs(found: SettingAnswer) -> str:
    """Return how many runs an effect is of and, if these are fewer, how many of the first settled it.

    >>> made = {"place": {}, "outcome": "as claimed"}
    >>> [_format_runs(SettingAnswer(**made, n=40, weighed=weighed)) for weighed in (20, 40)]
    ['20 of 40', '40']
    """
    return f"{found.weighed} of {found.n}" if found.weighed < found.n else str(found.n)


def turn(claim: Claim, found: SettingAnswer) -> SettingAnswer:
    """Return the effect of a setting with the sign of its side: above zero is what bears the claim out, or near it."""
    return _turn(found) if _is_turned(claim, found.place) else found


def _is_turned(claim: Claim, place: Mapping[str, Any]) -> bool:
    return isinstance(claim, ClaimAboutRuns) and find_rule(claim).find_direction(place.get("part", "")) == -1


def _turn(found: SettingAnswer) -> SettingAnswer:
    return found.model_copy(update={"effect": 0.0 - found.effect, "low": 0.0 - found.high, "high": 0.0 - found.low})


def name_difference(paper: Paper, claim: Claim, found: SettingAnswer) -> str:
    """Return what the effect of a setting, as it is shown, is the difference of; nothing where nobody says."""
    assert isinstance(claim, ClaimAboutRuns)
    sides = find_rule(claim).name_sides(paper, found.place.get("part", ""))
    return " minus ".join(reversed(sides) if _is_turned(claim, found.place) else sides) if all(sides) else ""


def give_reason(claim: Claim, answer: ClaimAnswer) -> str:
    """Return the reason of a verdict, effects in it with the signs that they have where they are shown."""
    turned = {}
    for found in answer.settings:
        if found.n and _is_turned(claim, found.place):
            said, shown = (format_effect(str(answer.metric), one.to_mapping()) for one in (found, _turn(found)))
            turned[said] = shown
    effects = "|".join(map(re.escape, turned))
    return re.sub(effects, lambda effect: turned[effect[0]], answer.reason) if turned else answer.reason


def _place(turned: SettingAnswer, axis: Axis) -> Strip:
    """Return where an effect stands, as from `turn`."""
    return axis.make_strip(turned.effect, turned.low, turned.high, 0.0, turned.margin)


def _make_setting(paper: Paper, claim: Claim, metric: str, found: SettingAnswer, axis: Axis) -> _SettingRow:
    place = label_place(paper, claim, found.place)
    if not found.n:
        return _SettingRow(place)
    won = f"{found.outcome.value}; {format_share(found.share_won)} of {count_runs(found.n)} as claimed"
    turned = turn(claim, found)
    return _SettingRow(place, format_effect(metric, turned.to_mapping()), won, _place(turned, axis))


def _list_details(claim: Claim, answer: ClaimAnswer) -> dict[str, str]:
    details = {"the paper's words": claim.says, "in English": claim.translation, "where": claim.source}
    details |= {"what leaves it open": claim.leaves_open, "read as": claim.read_as}
    if answer.effect is not None:
        center = " (median)" if answer.statistic == "median" else ""
        over_all = SettingAnswer(place={}, outcome=Outcome.OPEN, effect=answer.effect, low=answer.low, high=answer.high)
        details[f"over all settings{center}"] = format_effect(str(answer.metric), turn(claim, over_all).to_mapping())
        details["runs of a setting, at most"] = str(answer.runs)
        details["what they could not show"] = answer.unseen
    details["what it speaks of"] = answer.scope
    return {name: text for name, text in details.items() if text}


_PART = ", "  # what stands between the parts of a setting


@dataclass(frozen=True)
class NumberRow:
    """A printed number beside ours."""

    id: str
    what: str  #: it is a number of
    kind: str  #: of the number: its statistic
    verdict: Verdict
    reason: str
    printed: str
    ours: str
    interval: str  #: 95 %, of our mean
    prediction: str  #: where the paper's mean would fall
    repeats: str  #: of ours, and how many there should be if some are missing
    source: str  #: where it is printed
    strip: Strip | None  #: None where there is no common axis, or nothing of ours

    @property
    def sign(self) -> AnySign:
        """That of its verdict."""
        return self.verdict.shown

    @property
    def aside(self) -> str:
        """The finer verdict where it says more than its sign, and how much was run if not all."""
        return ", ".join(filter(None, [self.verdict.finer, f"{self.repeats} runs" if " of " in self.repeats else ""]))


def plot_numbers(paper: Paper, measured: pd.DataFrame) -> list[StripPlot[NumberRow]]:
    """Return the printed measurements of a paper: those in per cent on one axis, the others without any."""
    is_percentage = measured["metric"].map(is_in_per_cent).astype(bool)
    plots = []
    if is_percentage.any():
        rows = measured[is_percentage].to_dict("records")
        axis = make_number_axis([row[name] for row in rows for name in ("printed", "mean")])
        ticks = [(axis.place(tick), f"{100 * tick:.4g}") for tick in axis.list_ticks()]
        scale = f"{100 * axis.low:.3g} … {100 * axis.high:.3g} %"
        plots.append(StripPlot("%", ticks, [make_row(paper, row, axis) for row in rows], scale=scale))
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
            reworded = [replace(row, what=words) for words, row in zip(others, rows, strict=True)]
            groups.append(StripPlot(plot.unit, plot.ticks, reworded, shared, plot.scale))
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
    return _PART.join(shared), [_PART.join(part for part in words if part not in shared) for words in parts]


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
        verdict=Verdict(row["verdict"]),
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
        if row["verdict"] != Verdict.REPRODUCED:
            name = f"{labels.label_name(paper, row['dataset'])}, {row['metric'].replace('_', ' ')}"
            ours = "nobody counted" if is_blank(row["mean"]) else f"{row['mean']:g} counted"
            differing.append(f"{name}: {row['printed']:g} printed, {ours}")
    if facts.empty:
        return ""
    return "; ".join([f"Facts of the data sets: {len(facts) - len(differing)} of {len(facts)} agree", *differing]) + "."
