"""The folder of a sweep in ``results/sweeps``: its name, that no sweep takes another one's, and all files in it.

They are tables, a figure, and a page that needs no file beside it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

from algorithms.whole_files import replace_file, write_text
from experiments.errors import BadInput
from experiments.store.json_files import write_json
from plots import style
from plots.pages import html
from plots.pages.html import read_svg
from plots.runs.run_folder import write_csv
from plots.sweeps.sweep import ResultCollector, SweepResults
from plots.sweeps.sweep_figure import plan_figure
from plots.sweeps.sweep_tables import BEST, SweepCell, SweepTable
from plots.text_table import format_latex, format_markdown, format_mean

FOLDER = "sweeps"
PROVENANCE, PAGE = "provenance.json", "report.html"
_FIGURE = tuple(f"figure.{ending}" for ending in ("svg", "png", "pdf", "csv"))
#: All that a sweep may write.
FILES = ("table.csv", "table.tex", "table.md", PAGE, PROVENANCE, *_FIGURE)


def refuse_taken_name(parent: Path, name: str, identity: str) -> None:
    """Refuse a name that another sweep has, before anything has run; raises a BadInput."""
    if not _is_free(parent / name, identity):
        raise BadInput(
            f"name={name}: {parent / name} holds another sweep; choose another name, or move that folder away"
        )


def make_folder(parent: Path, name: str, identity: str) -> Path:
    """Make the folder of a sweep and return it: the one that it has, else one with a number behind its name.

    The page of an earlier run of the same sweep goes: without it, what an interrupted run leaves looks incomplete.
    """
    candidates = chain([parent / name], (parent / f"{name}-{number}" for number in count(2)))
    folder = next(candidate for candidate in candidates if _is_free(candidate, identity))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / PAGE).unlink(missing_ok=True)
    return folder


def list_sweeps(results: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Return the folders of the sweeps among some results, the newest first, each with what it says of itself."""
    found = []
    for folder in sorted((results / FOLDER).glob("*")):
        facts = _read_facts(folder)
        if facts and (folder / PAGE).is_file():
            found.append((folder, facts))
    return sorted(found, key=lambda one: str(one[1].get("written", "")), reverse=True)


def _is_free(folder: Path, identity: str) -> bool:
    """Return whether a folder is not there, is empty, or has the same sweep."""
    if not folder.exists():
        return True
    if not folder.is_dir():
        return False
    facts = _read_facts(folder)
    return (
        facts["sweep"]["identity"] == identity if facts else all(path.name.startswith(".") for path in folder.iterdir())
    )


def _read_facts(folder: Path) -> dict[str, Any] | None:
    """Return what the folder of a sweep says of it; None if it says nothing that can be read."""
    try:
        facts = json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))
        return facts if facts["sweep"]["identity"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


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
    write_json(provenance, folder / PROVENANCE)  # first, as it says whose the folder is
    with replace_file(folder / "table.csv") as aside, aside.open("w", encoding="utf-8", newline="") as stream:
        collector.copy_table(stream)
    write_text(folder / "table.md", _format_markdown(results, tables))
    write_text(folder / "table.tex", _format_latex(results, tables))
    pictures = _write_figure(results, folder)
    page = folder / PAGE
    write_text(page, _format_page(results, tables, facts, folder))
    return [*pictures, page]


def _write_figure(results: SweepResults, folder: Path) -> list[Path]:
    """Draw the figure of a sweep of several settings; returns the picture to look at."""
    figure = plan_figure(results.sweep)
    if figure is None or not results.metrics:
        for file in _FIGURE:  # of an earlier run
            (folder / file).unlink(missing_ok=True)
        return []
    frame, note = figure.make_frame(results), results.describe_shortfall()
    kept = frame.drop(columns=["printed", "decimals", "verdict"])
    write_csv(kept, folder / "figure.csv")
    style.draw_figure("figure", lambda: figure.draw(frame, note), folder)
    return [folder / "figure.png"]


def _format_markdown(results: SweepResults, tables: Sequence[SweepTable]) -> str:
    """Return the tables, and below them what is missing."""
    parts = [f"**{results.sweep.describe_fixed()}**"]
    for table in tables:
        body = []
        for names, cells in table.rows:
            body.append([*names, *(cell.marked.replace(BEST, f"\\{BEST}") for cell in cells)])  # a star is no emphasis
        parts += [table.describe(), format_markdown([*table.heads, *table.columns], body), *_count_rest(table)]
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
        svg=read_svg(picture, "figure") if picture.is_file() else "",
        tables=tables,
        others=results.others,
        files=[name for name in FILES if name != "report.html" and (folder / name).is_file()],
        provenance=[(name, html.format_fact(value)) for name, value in facts.items()],
    )
