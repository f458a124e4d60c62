"""What came out of the readings, in words for a page: an answer in a sentence, what else is known, how it was run."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from experiments.judge.readings.under_reading import HOLDS, IS_REFUTED, OPEN
from experiments.judge.readings.variance import PREFIX, explain_variance, list_choices
from experiments.judge.words import find_label, format_share, name_setting

_SHOWN_SHARE = 0.05
"""Choices that explain less of the variance are not named."""
_NAMED = 3
"""In an answer so many choices of a reading are named; the details have all of them."""
_OUTCOMES = {HOLDS: "holds", IS_REFUTED: "fails", OPEN: "is open"}
_NOTHING_COMPARED = "INCOMPLETE: no reading has all its cells, or what is printed is undefined in all"


def describe_ranking(rows: pd.DataFrame) -> str:
    """Say which reading comes nearest to what is printed, how near, and whether it is private: an answer in a sentence.

    Examples
    --------
    >>> best = {"kind": "reading", "reading": "leaf = exact", "unit": "points", "distance": 0.9, "keeps_epsilon": "no"}
    >>> best |= {"choice.leaf": "exact", "low": 0.8, "high": 1.0}
    >>> describe_ranking(pd.DataFrame([best, best | {"kind": "literal", "distance": 5.0, "choice.leaf": "count"}]))
    'The nearest of 2 readings, leaf = exact, is 0.9 points off; none keeps its ε'
    """
    readings = rows[rows["kind"] != "no noise"]
    compared = readings[readings["distance"].notna()]
    if compared.empty:
        return _NOTHING_COMPARED
    best = compared.iloc[0].to_dict()
    nearest = f"The nearest of {len(readings):,} readings, {_name_choices(best, readings)}, {_describe_distance(best)}"
    if len(readings) == 1:
        nearest = f"The one reading {_describe_distance(best)}"
    null = rows[(rows["kind"] == "no noise") & (rows["distance"] < best["distance"])]
    nearer = [f"no noise at all {_describe_distance(row)}, which is nearer" for row in null.to_dict("records")]
    return "; ".join([nearest, *_describe_privacy(compared), *nearer])


def list_ranking_details(rows: pd.DataFrame) -> list[str]:
    """Return what else is known of the readings of a question, a sentence for each fact; see `describe_ranking`."""
    readings = rows[rows["kind"] != "no noise"]
    compared = readings[readings["distance"].notna()]
    if compared.empty:
        return []
    best = compared.iloc[0].to_dict()
    off = f": {best['distance']:.2f} points off (95 % interval {best['low']:.2f} to {best['high']:.2f})"
    has_interval = best["unit"] != "orderings" and math.isfinite(best["high"] - best["low"])
    details = [f"The nearest reading is {best['reading']}{off if has_interval else ''}"]
    if (n_alike := int(compared["in_set"].sum()) - 1) > 0:
        details.append(f"{n_alike:,} more cannot be told from it (model confidence set, 95 %)")
    if n_not_compared := len(readings) - len(compared):
        details.append(f"{n_not_compared:,} could not be compared: cells are missing, or a mean is undefined")
    if math.isfinite(best["noise_floor"]):
        off = f"With our own noise it is {best['uncorrected']:.2f} points off"
        details.append(f"{off}; noise alone would leave {best['noise_floor']:.2f}")
    null = rows[(rows["kind"] == "no noise") & rows["distance"].notna()]
    details += [f"No noise at all, whatever ε, {_describe_distance(row)}" for row in null.to_dict("records")]
    details += [*_describe_literal(readings), *_confirm(compared), *_describe_variance(compared, "distance")]
    if is_costly := math.isfinite(best["times_label"]):
        details.append(f"The noisy steps of the nearest cost {best['times_label']:.3g} times its ε")
    if best["unpaid"]:
        details.append(f"{'Other steps' if is_costly else 'Some steps'} of the nearest carry no noise")
    return details


def list_ranking_notes(rows: pd.DataFrame) -> list[str]:
    """Return how the readings of a question were run, which is no finding: how many were dropped early."""
    readings = rows[rows["kind"] != "no noise"]
    n_dropped = int(readings["dropped_after"].notna().sum())
    if not n_dropped:
        return []
    share = format_share(readings["n_expected"].sum() / readings["n_full"].sum())
    return [f"{n_dropped:,} of {len(readings):,} readings were dropped early, so that {share} of all cells were run"]


def _name_choices(best: Mapping, readings: pd.DataFrame) -> str:
    """Return in what a reading differs from the literal one; without a literal one, what it is."""
    literal = readings[readings["kind"] == "literal"]
    if best["kind"] == "literal":
        return "the literal one"
    if literal.empty or not list_choices(readings):
        words = best["reading"].split(", ")
    else:
        first, words = literal.iloc[0], []
        for name in list_choices(readings):
            if str(first[PREFIX + name]) != str(best[PREFIX + name]):
                words.append(name_setting({name: best[PREFIX + name]}))
    more = f" and {len(words) - _NAMED} more choices" if len(words) > _NAMED + 1 else ""
    return ", ".join(words[:_NAMED] if more else words) + more


def _describe_distance(row: Mapping) -> str:
    if row["unit"] == "orderings":
        return f"gets {format_share(row['distance'])} of the comparisons wrong"
    return f"is {row['distance']:.1f} points off"


def _describe_privacy(compared: pd.DataFrame) -> list[str]:
    """Say whether the nearest reading keeps the ε that it claims, and which does if it does not."""
    if compared["keeps_epsilon"].iloc[0] == "yes":
        return ["it keeps its ε"]
    private = compared[compared["keeps_epsilon"] == "yes"]
    if len(private):
        which = "the one that keeps" if len(private) == 1 else f"the nearest of {len(private)} that keep"
        return [f"{which} ε {_describe_distance(private.iloc[0].to_dict())}"]
    return ["none keeps its ε"] if (compared["keeps_epsilon"] == "no").any() else []


def _describe_literal(readings: pd.DataFrame) -> list[str]:
    literal = readings[readings["kind"] == "literal"]
    if literal.empty or literal["rank"].iloc[0] == 1:
        return []
    row = literal.iloc[0].to_dict()
    if math.isnan(row["distance"]):
        return ["The literal reading could not be compared"]
    return [f"The literal reading is number {row['rank']:,.0f} and {_describe_distance(row)}"]


def _confirm(compared: pd.DataFrame) -> list[str]:
    """Say where the reading that is nearest on one half of what is printed stands on the other half."""
    halves = compared[["first_half", "second_half"]]
    if len(compared) < 2 or not np.isfinite(halves.to_numpy(np.float64)).all():
        return []
    first, second = compared["halves"].iloc[0].split(" | ")
    places = []
    for chosen_on, name, scored_on in (("first_half", first, "second_half"), ("second_half", second, "first_half")):
        chosen = compared.sort_values([chosen_on, "rank"], kind="stable").iloc[0]
        rank = 1 + int((compared[scored_on] < chosen[scored_on]).sum())
        other = second if scored_on == "second_half" else first
        off = _describe_distance({"unit": chosen["unit"], "distance": chosen[scored_on]})
        places.append(f"The nearest on {name} is number {rank} on {other}: there it {off}")
    return places


def _describe_variance(compared: pd.DataFrame, effect: str) -> list[str]:
    shares = explain_variance(compared, effect)
    named = sorted((-share, name) for name, share in shares.items() if share >= _SHOWN_SHARE)
    if not named:
        return []
    words = ", ".join(f"{find_label(name)} {format_share(-share)}" for share, name in named)
    return [f"What matters, as a share of all that differs between readings: {words}"]


def describe_curve(rows: pd.DataFrame) -> str:
    """Say under how many readings a claim holds: an answer in a sentence.

    Examples
    --------
    >>> rows = {"verdict": ["holds", "refuted", "open", "holds"], "kind": ["literal", *["reading"] * 3]}
    >>> describe_curve(pd.DataFrame(rows | {"keeps_epsilon": "no"}))
    'It holds under 2 of 4 readings, fails under 1 and is open under 1; under the literal one it holds'
    >>> describe_curve(pd.DataFrame({"verdict": ["refuted"] * 2, "kind": "reading", "keeps_epsilon": ["no", "yes"]}))
    'It fails under all 2 readings'
    """
    counts, n = rows["verdict"].value_counts(), len(rows)
    said = [f"{words} under {counts[verdict]:,}" for verdict, words in _OUTCOMES.items() if verdict in counts]
    if len(said) == 1:
        answer = f"It {_OUTCOMES[counts.index[0]]} under all {n:,} readings"
        return answer if n > 1 else f"It {_OUTCOMES[counts.index[0]]} under its one reading"
    said[0] += f" of {n:,} readings"
    answer = f"It {', '.join(said[:-1])} and {said[-1]}"
    answers = [answer]
    for verdict in rows.loc[rows["kind"] == "literal", "verdict"]:
        answers.append(f"under the literal one it {_OUTCOMES[verdict]}")
    private = rows.loc[rows["keeps_epsilon"] == "yes", "verdict"]
    if len(private):
        n_holding = int((private == HOLDS).sum())
        answers.append(f"of the {len(private):,} that keep their ε it holds under {n_holding:,}")
    return "; ".join(answers)


def list_curve_details(rows: pd.DataFrame) -> list[str]:
    """Return what else is known of a claim under its readings, a sentence for each fact; see `describe_curve`."""
    compared = rows[rows["effect"].notna()]
    n_incomplete, part = len(rows) - len(compared), rows["part"].iloc[0]
    sentences = _describe_variance(compared, "effect")
    if n_incomplete:
        sentences.insert(0, f"INCOMPLETE: {n_incomplete:,} lack cells, or what is measured is undefined in them")
    if isinstance(part, str) and part:
        sentences.append(f"Run on a part of the claim: {part}")
    return sentences


def list_curve_notes(rows: pd.DataFrame) -> list[str]:
    """Return how the readings of a claim were run, which is no finding: how many cells early decisions saved."""
    share = rows["n_expected"].sum() / rows["n_full"].sum()
    return (
        [f"Readings that were decided early got no more runs: {format_share(share)} of all cells"] if share < 1 else []
    )
