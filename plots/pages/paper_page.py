"""The page of a paper: one HTML file that opens from disk, asks the network for nothing, the same bytes always.

It has three levels. The first screen answers: what the paper promises, whether its numbers come out, its claims hold
and its algorithms are private, what was found, and the picture that decides. Then come its claims as a forest plot and
its printed numbers as a dot plot. All else is closed; pictures in it are files, which load when it is opened.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.config.paper import PaperFigure, PaperTable, Speaker
from experiments.config.substitutes import describe_substitutes
from plots import audit_bounds, privacy
from plots.answers import count_signs
from plots.checked_finding import list_misfits, write_finding
from plots.pages import html
from plots.pages import paper_sections as sections
from plots.pages.pictures import read_svg
from plots.rows.claim_rows import list_forests
from plots.rows.cost_rows import COST_HEADS, list_costs
from plots.rows.number_rows import list_dot_plots, list_facts
from plots.rows.text_rows import list_shown_answers, name_paper
from plots.runs.run_folder import PaperRun

_DECISION = "decision"
"""The kind of tables that say what to take: they are what a study without claims is about."""


def write_page(run: PaperRun) -> Path:
    """Write ``report.html`` into the folder of a run and return its path."""
    path = run.folder / "report.html"
    path.write_text(render_page(run, run.write_notes()), encoding="utf-8")
    return path


def render_page(run: PaperRun, notes: list[str], base: str = "", links: list[dict] | None = None) -> str:
    """Return the page of a run.

    Parameters
    ----------
    run : PaperRun
        What is shown.
    notes : list of str
        What must be said with the verdicts.
    base : str
        The way from the page to the run's files, ``paper-2/`` for example.
    links : list of dict, optional
        The pages around it: ``href``, ``text`` and ``is_here``.
    """
    return html.render_template(
        "paper.html.j2",
        links=links or [],
        base=base,
        paper=run.paper,
        heading=name_paper(run.paper),
        **_list_notes(run, notes),
        **_answer(run),
        **_list_verdicts(run),
        **_list_sections(run),
    )


def _list_notes(run: PaperRun, notes: list[str]) -> dict[str, list[str]]:
    """Sort what must be said by where it stands: what nobody may miss first, the rest where it matters."""
    substitutes = describe_substitutes(run.paper.labels, run.paper.used_instead)
    on_data = [note for note in run.write_notes_on_data() if note not in substitutes]
    on_numbers, advice = run.write_notes_on_chance(), run.list_advice()
    elsewhere = {*substitutes, *on_data, *on_numbers, *advice}
    said = [note for note in notes if note not in elsewhere]
    alarms = [note for note in said if note.startswith("INCOMPLETE")]
    return {
        "alarms": alarms,
        "substitutes": substitutes,
        "about_run": [note for note in said if note not in alarms],
        "on_running": [*on_data, *run.list_notes_on_running()],
        "on_numbers": on_numbers,
        "advice": advice,
    }


def _answer(run: PaperRun) -> dict[str, Any]:
    """Return what the first screen shows."""
    return {
        "answers": list_shown_answers(run),
        "finding": write_finding(run),
        "misfits": list_misfits(run),
        **_find_picture(run),
    }


def _find_picture(run: PaperRun) -> dict[str, Any]:
    """Return the figure or table that decides, or else the first figure, and its id; nothing if there is none."""
    finding, figures = run.paper.finding, run.paper.figures
    shown: dict[str, Any] = {"picture": None, "decisive_table": None}
    name = (finding and finding.picture) or (figures[0].id if figures else "")
    part = run.paper.parts.get(name)
    if isinstance(part, PaperFigure):
        shown["picture"] = {**sections.describe_figure(run, part), "svg": read_svg(run, name)}
    elif isinstance(part, PaperTable):
        shown["decisive_table"] = sections.describe_table(run, part)
    return shown | {"shown_first": name}


def _list_verdicts(run: PaperRun) -> dict[str, Any]:
    """Return what the second level shows."""
    facts = list_facts(run)
    return {
        "forests": list_forests(run, Speaker.PAPER),
        "own_forests": list_forests(run, Speaker.OURS),
        "own_counts": count_signs(run.list_verdicts(Speaker.OURS)),
        "dot_plots": list_dot_plots(run),
        "facts": facts,
        "fact_counts": count_signs([row.verdict for row in facts]),
    }


def _list_sections(run: PaperRun) -> dict[str, Any]:
    """Return what the third level shows."""
    paper = run.paper
    return {
        "decisions": [sections.describe_table(run, part) for part in paper.tables if part.kind == _DECISION],
        "tables": [sections.describe_table(run, part) for part in paper.tables if part.kind != _DECISION],
        "figures": [sections.describe_figure(run, part) for part in paper.figures],
        "readings": sections.describe_readings(run),
        "curves": sections.describe_curves(run),
        "privacy": sections.describe_privacy(run),
        "data_faults": privacy.describe_data_faults(paper, run.privacy),
        "audit": audit_bounds.name_audit(run.folder.parent),
        "cost_heads": COST_HEADS,
        "costs": list_costs(paper, run.costs),
        "provenance": sections.format_provenance(run),
        "summaries": sections.list_summaries(run),
    }
