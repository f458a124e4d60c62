"""The folder of a sweep in ``results/sweeps``: its name, that no sweep takes another one's, and all files in it.

``provenance.json`` and ``table.csv`` have all that is known; the other tables, the figure and the page, which needs no
file beside it, are made of these two, when the sweep was run and whenever somebody has them drawn anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

from algorithms.whole_files import write_text
from experiments.errors import BadInput
from experiments.store.json_files import read_json, write_json
from plots import style
from plots.pages import html
from plots.pages.html import read_svg
from plots.runs.run_folder import name_damage, write_csv
from plots.sweeps.sweep import make_sweep
from plots.sweeps.sweep_figure import plan_figure
from plots.sweeps.sweep_run import REMEDY, SweepRun, read_table
from plots.sweeps.sweep_tables import SweepTable, arrange_tables, format_as_latex, format_as_markdown

FOLDER = "sweeps"
PROVENANCE, TABLE, PAGE = "provenance.json", "table.csv", "report.html"
_FIGURE = tuple(f"figure.{ending}" for ending in (*style.ENDINGS, "csv"))
#: All that a sweep may write.
FILES = (TABLE, "table.tex", "table.md", PAGE, PROVENANCE, *_FIGURE)


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
    if not folder.is_dir():
        return not folder.exists()
    if facts := _read_facts(folder):
        return facts["sweep"]["identity"] == identity
    return all(path.name.startswith(".") for path in folder.iterdir())


def _read_facts(folder: Path) -> dict[str, Any] | None:
    """Return what the folder of a sweep says of it; None if it says nothing that can be read."""
    try:
        facts = read_json(folder / PROVENANCE)
        return facts if facts["sweep"]["identity"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_sweep(run: SweepRun, identity: str, facts: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write all files of a sweep to its folder, as from `make_folder`; returns those to look at first.

    ``facts`` say where the results are from.
    """
    sweep = run.sweep
    said = {"identity": identity, "fixed": sweep.title, "varies": sweep.describe_varying()}
    asked = {"axes": sweep.axes, "repeats": sweep.repeats, "shown": sweep.shown}
    write_json({"sweep": {**said, "incomplete": bool(run.describe_shortfall()), **asked}, **facts}, folder / PROVENANCE)
    write_text(folder / TABLE, run.format_csv())
    return draw_sweep(folder)


def read_sweep(folder: Path) -> SweepRun:
    """Read what a sweep gave; BadInput if a file of its folder is missing, or is not as it was written."""
    with name_damage(folder / PROVENANCE, REMEDY):
        said = read_json(folder / PROVENANCE)["sweep"]
        sweep = make_sweep(said["axes"], said["repeats"], said["fixed"], said["shown"])
    return SweepRun(sweep, read_table(folder / TABLE, sweep))


def draw_sweep(folder: Path) -> list[Path]:
    """Make all that shows a sweep from the files that have its numbers; returns what to look at first."""
    run = read_sweep(folder)
    tables, figure = arrange_tables(run), plan_figure(run.sweep)
    write_text(folder / "table.md", format_as_markdown(run, tables))
    write_text(folder / "table.tex", format_as_latex(run, tables))
    if figure is None or not run.sweep.shown:
        for file in _FIGURE:  # of an earlier run
            (folder / file).unlink(missing_ok=True)
    else:
        frame, note = figure.make_frame(run), run.describe_shortfall()
        write_csv(frame, folder / "figure.csv")
        style.draw_figure("figure", lambda: figure.draw(frame, note), folder)
    write_text(folder / PAGE, _format_page(run, tables, folder))
    return [path for path in (folder / "figure.png", folder / PAGE) if path.is_file()]


def _format_page(run: SweepRun, tables: Sequence[SweepTable], folder: Path) -> str:
    picture, facts = folder / "figure.svg", read_json(folder / PROVENANCE)
    return html.render_template(
        "sweep.html.j2",
        links=[],
        name=folder.name,
        run=run,
        svg=read_svg(picture, "figure") if picture.is_file() else "",
        tables=tables,
        files=[name for name in FILES if name != PAGE and (folder / name).is_file()],
        provenance=[(name, html.format_fact(value)) for name, value in facts.items() if name != "sweep"],
    )
