"""From the results of a sweep to all files in its folder: tables, figure, and a page that needs no file beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from plots import style
from plots.markdown import format_table
from plots.pages import html
from plots.pages.pictures import embed_svg
from plots.sweeps.arrangement import BEST, SweepCell, SweepTable
from plots.sweeps.collector import ResultCollector, SweepResults
from plots.sweeps.sweep_figure import plan_figure
from plots.sweeps.sweep_folder import FILES, PROVENANCE
from plots.text_table import format_mean
from plots.text_table import format_table as format_latex


def write_sweep(
    collector: ResultCollector,
    results: SweepResults,
    tables: Sequence[SweepTable],
    facts: Mapping[str, Any],
    folder: Path,
) -> list[Path]:
    """Write all files of a sweep to its folder, as from `sweep_folder.make_folder`; returns those to look at first.

    The ``collector`` has the table of all metrics; ``facts`` say where the results are from.
    """
    sweep = results.sweep
    said = {"identity": sweep.identity, "fixed": sweep.describe_fixed(), "varies": sweep.describe_varying()}
    provenance = {"sweep": {**said, "incomplete": results.is_partial}, **facts}
    text = json.dumps(provenance, indent=2, ensure_ascii=False)  # first, as it says whose the folder is
    (folder / PROVENANCE).write_text(f"{text}\n", encoding="utf-8")
    with (folder / "table.csv").open("w", encoding="utf-8", newline="") as stream:
        collector.copy_table(stream)
    (folder / "table.md").write_text(_format_markdown(results, tables), encoding="utf-8")
    (folder / "table.tex").write_text(_format_latex(results, tables), encoding="utf-8")
    pictures = _write_figure(results, folder)
    page = folder / "report.html"
    page.write_text(_format_page(results, tables, facts, folder), encoding="utf-8")
    return [*pictures, page]


def _write_figure(results: SweepResults, folder: Path) -> list[Path]:
    """Draw the figure of a sweep of several settings; returns the picture to look at."""
    figure = plan_figure(results.sweep)
    if figure is None or not results.metrics:
        return []
    frame, note = figure.make_frame(results), results.describe_shortfall()
    kept = frame.drop(columns=["printed", "decimals", "verdict"])
    style.write_figure("figure", lambda: figure.draw(frame, note), kept, folder)
    return [folder / "figure.png"]


def _format_markdown(results: SweepResults, tables: Sequence[SweepTable]) -> str:
    """Return the tables, and below them what is missing."""
    parts = [f"**{results.sweep.describe_fixed()}**"]
    for table in tables:
        body = []
        for names, cells in table.rows:
            body.append([*names, *(cell.marked.replace(BEST, f"\\{BEST}") for cell in cells)])  # a star is no emphasis
        parts += [table.describe(), format_table([*table.heads, *table.columns], body), *_count_rest(table)]
    return "\n\n".join([*parts, *results.list_incomplete()]) + "\n"


def _format_latex(results: SweepResults, tables: Sequence[SweepTable]) -> str:
    """Return the tables, one environment for each; what is missing stands in their captions."""
    parts = []
    for table in tables:
        title = f"{results.sweep.describe_fixed()}; {table.describe()}"
        body = [[*names, *map(_format_entry, cells)] for names, cells in table.rows]
        note = "; ".join([*_count_rest(table), *filter(None, [results.describe_shortfall()])])
        parts.append(format_latex(title, [*table.heads, *table.columns], body, note, max(len(table.heads), 1)))
    return "\n".join(parts)


def _format_entry(cell: SweepCell) -> str:
    return format_mean(cell.ours, cell.band.replace(",", "{,}"), "^{*}" if cell.is_best else cell.sign)


def _count_rest(table: SweepTable) -> list[str]:
    return [f"{table.n_left_out} more rows are in table.csv"] if table.n_left_out else []


def _format_page(results: SweepResults, tables: Sequence[SweepTable], facts: Mapping[str, Any], folder: Path) -> str:
    picture = folder / "figure.svg"
    return html.render_template(
        "sweep.html.j2",
        links=[],
        name=folder.name,
        fixed=results.sweep.describe_fixed(),
        varying=results.sweep.describe_varying(),
        incomplete=results.list_incomplete(),
        svg=embed_svg(picture.read_text(encoding="utf-8"), "figure") if picture.is_file() else "",
        tables=tables,
        others=results.others,
        files=[name for name in FILES if name != "report.html" and (folder / name).is_file()],
        provenance=[(name, _format_fact(value)) for name, value in facts.items()],
    )


def _format_fact(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)
