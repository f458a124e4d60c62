"""The readings of a paper as files: two tables, and a specification curve for each question and each claim."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from experiments.config.paper import Paper
from experiments.config.readings import Question
from experiments.judge.readings.under_reading import HOLDS, IS_REFUTED, OPEN
from plots import style
from plots.readings.curve import SpecificationCurve, draw_curve
from plots.style import ALARM, INK, QUALITATIVE

_LABELS = {
    "points": "distance from what is printed\n(points, root mean square)",
    "orderings": "share of comparisons\nthe wrong way round",
}
_COSTS = {
    "yes": ("keeps the ε it claims", QUALITATIVE[2]),
    "no": ("does not keep the ε it claims", QUALITATIVE[0]),
    "claims none": ("claims no ε", QUALITATIVE[3]),
}


def write_rankings(paper: Paper, rankings: Mapping[str, pd.DataFrame], folder: Path) -> list[Path]:
    """Write ``readings.csv`` and a figure for each question into the folder of a paper; returns their paths.

    Parameters
    ----------
    paper : Paper
        With its ``readings``.
    rankings : mapping of str to DataFrame
        By question, as `ranking.rank_readings` gives them.
    folder : Path
        ``results/paper-N``.
    """
    paths = _write_table(rankings, folder / "readings.csv")
    for question in paper.readings:
        rows = rankings[question.id]
        draw = partial(draw_ranking, question, rows)
        paths.append(style.draw_figure(f"readings-{question.id}", draw, folder / "figures")[1])
    return paths


def draw_ranking(question: Question, rows: pd.DataFrame) -> Figure:
    """Draw how far every reading is from what is printed, with what no noise at all would give as a line."""
    null = rows[rows["kind"] == "no noise"]
    has_floor = bool(rows["noise_floor"].notna().any())
    curve = SpecificationCurve(
        title=question.title,
        effect="distance",
        label=_LABELS[rows["unit"].iloc[0]],
        colour_by="keeps_epsilon",
        colours=_COSTS,
        full="in_set",
        legend_of_full=("cannot be told from the nearest\n(model confidence set, 95 %)", "is farther off"),
        floor="noise_floor" if has_floor else "",
        legend_of_floor="what noise alone would leave,\nwere this the paper's code",
        line=None if null.empty else (null["distance"].iloc[0], "no noise at all, whatever ε", ALARM),
        is_distance=rows["unit"].iloc[0] == "points",
    )
    return draw_curve(curve, rows[rows["kind"] != "no noise"])


_VERDICTS = {
    HOLDS: ("the claim holds", QUALITATIVE[2]),
    IS_REFUTED: ("it fails", ALARM),
    OPEN: ("open", QUALITATIVE[4]),
}


def write_curves(paper: Paper, curves: Mapping[str, pd.DataFrame], folder: Path) -> list[Path]:
    """Write ``curves.csv`` and a figure for each claim into the folder of a paper; returns their paths.

    Parameters
    ----------
    paper : Paper
        With the claims.
    curves : mapping of str to DataFrame
        By claim, as `claim_curves.judge_readings` gives them.
    folder : Path
        ``results/paper-N``.
    """
    paths = _write_table(curves, folder / "curves.csv")
    for name, rows in curves.items():
        draw = partial(draw_claim, paper.claims_by_id[name].text, rows)
        paths.append(style.draw_figure(f"curve-{name}", draw, folder / "figures")[1])
    return paths


def draw_claim(text: str, rows: pd.DataFrame) -> Figure:
    """Draw the effect that a claim speaks of under every reading; above zero it speaks for the claim."""
    counts, n = rows["verdict"].value_counts(), len(rows)
    shares = f"It holds under {counts.get(HOLDS, 0):,} of {n:,} readings and fails under {counts.get(IS_REFUTED, 0):,}."
    unit = "points" if rows["unit"].iloc[0] == "points" else rows["unit"].iloc[0]
    curve = SpecificationCurve(
        title=f"{text} {shares}",
        effect="effect",
        label=f"effect in favour of the claim\n({unit}, mean over its settings)",
        colour_by="verdict",
        colours=_VERDICTS,
        full="is_private",
        legend_of_full=("keeps the ε it claims", "does not, or claims none"),
        floor="weakest",
        legend_of_floor="effect in the weakest setting",
        line=(0.0, "no effect", INK),
    )
    return draw_curve(curve, rows.assign(is_private=rows["keeps_epsilon"] == "yes"))


def _write_table(parts: Mapping[str, pd.DataFrame], path: Path) -> list[Path]:
    """Write the tables of all questions, or of all claims, as one; nothing if there are none."""
    (path.parent / "figures").mkdir(parents=True, exist_ok=True)
    if not parts:
        return []
    pd.concat(parts.values()).to_csv(path, index=False, lineterminator="\n", float_format="%.10g")
    return [path]
