"""Printed numbers as pages and the terminal show them: rows of a dot plot, the printed number beside ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from experiments.config.finding import Sign
from experiments.config.paper import Paper
from experiments.judge.numbers.number_verdict import is_blank
from experiments.judge.verdict import REPRODUCED, SIGN_OF
from experiments.metrics.find import is_in_per_cent
from plots import labels
from plots.rows.claim_rows import PLAIN
from plots.rows.strips import Axis, Strip, StripPlot, make_number_axis

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
        finer = "" if self.verdict in PLAIN else self.verdict
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
            shared, others = split_words([row.what for row in rows])
            own = [replace(row, what=words) for words, row in zip(others, rows, strict=True)]
            groups.append(StripPlot(plot.unit, plot.ticks, own, shared))
    return groups


def split_words(texts: Sequence[str]) -> tuple[str, list[str]]:
    """Return the parts that all of some texts share, and what is left of each.

    Examples
    --------
    >>> split_words(["Adult, ε = 1, RDT: accuracy (%)", "Adult, ε = 2, RDT: accuracy (%)"])
    ('Adult, RDT: accuracy (%)', ['ε = 1', 'ε = 2'])
    >>> split_words(["Adult, ε = 1"])
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
