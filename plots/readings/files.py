"""The readings of a paper as files: two tables, and a specification curve for each question and each claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from experiments.config.paper import Paper
from experiments.config.readings import Question
from experiments.judge.readings.under_reading import HOLDS, IS_REFUTED, OPEN
from plots import style
from plots.readings.curve import SpecificationCurve, draw_curve
from plots.runs.run_folder import write_csv
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
_VERDICTS = {
    HOLDS: ("the claim holds", QUALITATIVE[2]),
    IS_REFUTED: ("it fails", ALARM),
    OPEN: ("open", QUALITATIVE[4]),
}


def write_rankings(paper: Paper, rankings: Mapping[str, pd.DataFrame], folder: Path) -> list[Path]:
    """Write ``readings.csv`` and a figure for each question into the folder of a paper; returns their paths.

    ``rankings`` are by question, as `ranking.rank_readings` gives them; ``folder`` is ``results/paper-N``.
    """
    drawings = {f"readings-{one.id}": partial(_draw_ranking, one, rankings[one.id]) for one in paper.readings}
    return _write_readings(rankings, folder / "readings.csv", drawings)


def write_curves(paper: Paper, curves: Mapping[str, pd.DataFrame], folder: Path) -> list[Path]:
    """Write ``curves.csv`` and a figure for each claim into the folder of a paper; returns their paths.

    ``curves`` are by claim, as `claim_curves.judge_readings` gives them; ``folder`` is ``results/paper-N``.
    """
    texts = {claim.id: claim.text for claim in paper.claims}
    drawings = {f"curve-{name}": partial(draw_claim, texts[name], rows) for name, rows in curves.items()}
    return _write_readings(curves, folder / "curves.csv", drawings)


def _write_readings(
    parts: Mapping[str, pd.DataFrame], path: Path, drawings: Mapping[str, Callable[[], Figure]]
) -> list[Path]:
    """Write the tables of all questions, or of all claims, as one, none if there are none, and draw their figures."""
    figures = path.parent / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    if parts:
        write_csv(pd.concat(parts.values()), path)
    pictures = [style.draw_figure(name, draw, figures)[1] for name, draw in drawings.items()]
    return [path, *pictures] if parts else pictures


def _draw_ranking(question: Question, rows: pd.DataFrame) -> Figure:
    """Draw how far every reading is from what is printed, with what no noise at all would give as a line."""
    null, unit = rows[rows["kind"] == "no noise"], rows["unit"].iloc[0]
    curve = SpecificationCurve(
        title=question.title,
        effect="distance",
        label=_LABELS[unit],
        colour_by="keeps_epsilon",
        colours=_COSTS,
        full="in_set",
        legend_of_full=("cannot be told from the nearest\n(model confidence set, 95 %)", "is farther off"),
        floor="noise_floor" if rows["noise_floor"].notna().any() else "",
        legend_of_floor="what noise alone would leave,\nwere this the paper's code",
        line=None if null.empty else (null["distance"].iloc[0], "no noise at all, whatever ε", ALARM),
        is_distance=unit == "points",
    )
    return draw_curve(curve, rows[rows["kind"] != "no noise"])


def draw_claim(text: str, rows: pd.DataFrame) -> Figure:
    """Draw the effect that a claim speaks of under every reading; above zero it speaks for the claim."""
    counts, n = rows["verdict"].value_counts(), len(rows)
    shares = f"It holds under {counts.get(HOLDS, 0):,} of {n:,} readings and fails under {counts.get(IS_REFUTED, 0):,}."
    curve = SpecificationCurve(
        title=f"{text} {shares}",
        effect="effect",
        label=f"effect in favour of the claim\n({rows['unit'].iloc[0]}, mean over its settings)",
        colour_by="verdict",
        colours=_VERDICTS,
        full="is_private",
        legend_of_full=("keeps the ε it claims", "does not, or claims none"),
        floor="weakest",
        legend_of_floor="effect in the weakest setting",
        line=(0.0, "no effect", INK),
    )
    return draw_curve(curve, rows.assign(is_private=rows["keeps_epsilon"] == "yes"))
