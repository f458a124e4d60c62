"""From the results of a sweep to all files in its folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from plots.sweeps.arrangement import SweepTable
from plots.sweeps.collector import ResultCollector, SweepResults
from plots.sweeps.sweep_figure import plan_figure
from plots.sweeps.sweep_folder import PROVENANCE
from plots.sweeps.sweep_page import write_page
from plots.sweeps.table_files import write_latex, write_markdown


def describe_sweep(results: SweepResults) -> dict[str, Any]:
    """Return what a sweep is, as its folder and the report tell."""
    sweep = results.sweep
    return {
        "identity": sweep.identity,
        "fixed": sweep.describe_fixed(),
        "varies": sweep.describe_varying(),
        "incomplete": results.is_partial,
    }


def write_sweep(
    collector: ResultCollector,
    results: SweepResults,
    tables: Sequence[SweepTable],
    facts: Mapping[str, Any],
    folder: Path,
) -> list[Path]:
    """Write all files of a sweep; returns those to look at first.

    Parameters
    ----------
    collector : ResultCollector
        Has the table of all metrics.
    results, tables : SweepResults, sequence of SweepTable
        What is shown.
    facts : mapping
        Where it is from.
    folder : Path
        As from `sweep_folder.make_folder`.
    """
    provenance = {"sweep": describe_sweep(results), **facts}
    text = json.dumps(provenance, indent=2, ensure_ascii=False)  # first, as it says whose the folder is
    (folder / PROVENANCE).write_text(f"{text}\n", encoding="utf-8")
    with (folder / "table.csv").open("w", encoding="utf-8", newline="") as stream:
        collector.copy_table(stream)
    write_markdown(results, tables, folder / "table.md")
    write_latex(results, tables, folder / "table.tex")
    pictures = _write_figure(results, folder)
    return [*pictures, write_page(results, tables, facts, folder)]


def _write_figure(results: SweepResults, folder: Path) -> list[Path]:
    """Draw the figure of a sweep of several settings; returns the picture to look at."""
    figure = plan_figure(results.sweep)
    if figure is None or not results.metrics:
        return []
    from plots import style
    from plots.sweeps._sweep_drawing import draw_sweep

    frame, note = figure.make_frame(results), results.describe_shortfall()
    kept = frame.drop(columns=["printed", "decimals", "verdict"])
    style.write_figure("figure", lambda: draw_sweep(figure, frame, note), kept, folder)
    return [folder / "figure.png"]
