"""What came out of the readings, in a sentence for a page."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from experiments.judge.readings.under_reading import HOLDS, IS_REFUTED, OPEN
from experiments.judge.readings.variance import explain_variance

_SHOWN_SHARE = 0.05
"""Choices that explain less of the variance are not named."""


def describe_ranking(rows: pd.DataFrame) -> str:
    """Say which reading explains best what is printed, how sure that is, and what it costs.

    Parameters
    ----------
    rows : DataFrame
        As from `ranking.rank_readings`, of one question.
    """
    readings = rows[rows["kind"] != "no noise"]
    compared = readings[readings["distance"].notna()]
    if compared.empty:
        return "INCOMPLETE: no reading has all its cells, or what is printed is undefined in all"
    best = compared.iloc[0].to_dict()
    sentences = [
        *_describe_null(rows[rows["kind"] == "no noise"], best),
        f"of {len(readings)} readings the nearest is {best['reading']}: {_say_distance(best)} off{_say_floor(best)}",
        *_count_others(readings, compared),
        *_describe_literal(readings),
        *_confirm(compared),
        *_describe_variance(compared, "distance"),
        *_describe_cost(best, compared),
    ]
    return "; ".join(sentences)


def _describe_null(null: pd.DataFrame, best: Mapping) -> list[str]:
    if null.empty or math.isnan(null["distance"].iloc[0]):
        return []
    row = null.iloc[0].to_dict()
    if row["distance"] < best["distance"]:
        return [f"NO READING comes as near as no noise at all, whatever ε: that is {_say_distance(row)} off"]
    return [f"no noise at all, whatever ε, is {_say_distance(row)} off"]


def _say_distance(row: Mapping) -> str:
    if row["unit"] == "orderings":
        return f"{row['distance']:.0%} of the orderings"
    interval = "" if math.isnan(row["low"]) else f" ({row['low']:.2f} to {row['high']:.2f})"
    return f"{row['distance']:.2f} points{interval}"


def _say_floor(row: Mapping) -> str:
    if math.isnan(row["noise_floor"]):
        return ""
    return f", {row['uncorrected']:.2f} with our own noise, where noise alone would leave {row['noise_floor']:.2f}"


def _count_others(readings: pd.DataFrame, compared: pd.DataFrame) -> list[str]:
    dropped = compared[compared["dropped_after"].notna()]
    share = readings["n_expected"].sum() / readings["n_full"].sum()
    counts = {
        "more cannot be told from it (model confidence set, 95 %)": int(compared["in_set"].sum()) - 1,
        "could not be compared": len(readings) - len(compared),
        f"were dropped early, which left {share:.0%} of their cells to run": len(dropped),
    }
    return [f"{count} {words}" for words, count in counts.items() if count]


def _describe_literal(readings: pd.DataFrame) -> list[str]:
    literal = readings[readings["kind"] == "literal"]
    if literal.empty or literal["rank"].iloc[0] == 1:
        return []
    row = literal.iloc[0].to_dict()
    if math.isnan(row["distance"]):
        return ["the literal reading could not be compared"]
    return [f"the literal reading is number {row['rank']:.0f}, {_say_distance(row)} off"]


def _confirm(compared: pd.DataFrame) -> list[str]:
    """Say where the reading that is nearest on one half of what is printed stands on the other half."""
    if len(compared) < 2 or compared[["first_half", "second_half"]].isna().any(axis=None):
        return []
    first, second = compared["halves"].iloc[0].split(" | ")
    places = []
    for chosen_on, name, scored_on in (("first_half", first, "second_half"), ("second_half", second, "first_half")):
        chosen = compared.sort_values([chosen_on, "rank"], kind="stable").iloc[0]
        rank = 1 + int((compared[scored_on] < chosen[scored_on]).sum())
        other = second if scored_on == "second_half" else first
        is_share = chosen["unit"] == "orderings"
        off = f"{chosen[scored_on]:.0%}" if is_share else f"{chosen[scored_on]:.2f} points"
        places.append(f"the nearest on {name} is number {rank} on {other}, {off} off")
    return places


def _describe_variance(compared: pd.DataFrame, effect: str) -> list[str]:
    shares = explain_variance(compared, effect)
    named = sorted((-share, name) for name, share in shares.items() if share >= _SHOWN_SHARE)
    if not named:
        return []
    words = ", ".join(f"{name} {-share:.0%}" for share, name in named)
    return [f"of the variance between readings each choice by itself explains: {words}"]


def _describe_cost(best: Mapping, compared: pd.DataFrame) -> list[str]:
    sentences = []
    has_cost = math.isfinite(best["times_label"])
    if has_cost:
        sentences.append(f"the noisy steps of the nearest cost {best['times_label']:.3g} × the ε of the label")
    if best["unpaid"]:
        sentences.append(f"{'others of its' if has_cost else 'some of its'} steps have no noise at all")
    private = compared[compared["keeps_epsilon"] == "yes"]
    if len(private):
        nearest = _say_distance(private.iloc[0].to_dict())
        sentences.append(f"{len(private)} keep the ε that they claim, the nearest of them {nearest} off")
    elif (compared["keeps_epsilon"] == "no").any():
        sentences.append("none keeps the ε that it claims")
    return sentences


def describe_curve(rows: pd.DataFrame) -> str:
    """Say under how many readings a claim holds.

    Parameters
    ----------
    rows : DataFrame
        As from `claim_curves.judge_readings`, of one claim.
    """
    counts = rows["verdict"].value_counts()
    n, compared = len(rows), rows[rows["effect"].notna()]
    shares = [
        f"{words} {counts[verdict]} ({counts[verdict] / n:.0%})" for verdict, words in _SHARES if verdict in counts
    ]
    sentences = [f"of {n} readings it {', '.join(shares)}", *_describe_literal_verdict(rows)]
    n_incomplete = n - len(compared)
    if n_incomplete:
        sentences.append(f"INCOMPLETE: {n_incomplete} lack cells, or what is measured is undefined in them")
    is_private = rows["keeps_epsilon"] == "yes"
    if is_private.any():
        n_holding = int((is_private & (rows["verdict"] == HOLDS)).sum())
        sentences.append(
            f"of the {is_private.sum()} readings that keep the ε that they claim it holds under {n_holding}"
        )
    sentences += _describe_variance(compared, "effect")
    share = rows["n_expected"].sum() / rows["n_full"].sum()
    if share < 1:
        sentences.append(f"what was decided early got no further repeats, which left {share:.0%} of the cells to run")
    if rows["part"].iloc[0]:
        sentences.append(f"a part only: {rows['part'].iloc[0]}")
    return "; ".join(sentences)


_SHARES = ((HOLDS, "holds under"), (IS_REFUTED, "is refuted under"), (OPEN, "stays open under"))


def _describe_literal_verdict(rows: pd.DataFrame) -> list[str]:
    literal = rows[rows["kind"] == "literal"]
    return [f"the literal one: {verdict}" for verdict in literal["verdict"]]
