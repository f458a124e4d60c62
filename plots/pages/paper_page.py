"""The page of a paper: one HTML file that opens from disk, asks the network for nothing, the same bytes always."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.config.paper import Paper, PaperFigure, PaperTable, Speaker
from experiments.judge.readings.sentences import describe_curve, describe_ranking
from plots import audit_bounds, labels, privacy, run_folder, style
from plots.pages import html
from plots.pages.claim_rows import describe_claim
from plots.pages.cost_rows import COST_HEADS, list_costs
from plots.pages.summary import summarise_run
from plots.pages.terminal import format_count
from plots.run_folder import PaperRun
from plots.series import note_shortfall

_SUMMARIES = (
    "numbers.csv",
    "claims.json",
    "privacy.json",
    "copies.csv",
    "readings.csv",
    "curves.csv",
    "further_rows.csv",
    "costs.csv",
    "paper.yaml",
    "provenance.json",
)
_ENDINGS = {"CSV": "csv", "LaTeX": "tex", "SVG": "svg", "PNG": "png"}
_PALETTES = {"s": style.SEQUENTIAL, "q": style.QUALITATIVE, "fig": (style.INK, style.GRID, style.ALARM, "#ffffff")}
_ROLES = {colour: f"{role}{i}" for role, palette in _PALETTES.items() for i, colour in enumerate(palette)}
"""The variable of each colour of a figure."""
_COLOUR = re.compile("|".join(_ROLES))


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
    paper = run.paper
    return html.render_template(
        "paper.html.j2",
        links=links or [],
        base=base,
        paper=paper,
        sentence=summarise_run(run),
        notes=notes,
        claims=[_describe_claim(run, claim) for claim in run.claims],
        numbers=[describe_number(paper, row) for row in run.numbers.to_dict("records")],
        counts=count_verdicts(paper, run.numbers, run.claims),
        tables=[_describe_table(run, part) for part in paper.tables],
        figures=[_describe_figure(run, part) for part in paper.figures],
        privacy=[_describe_privacy(run, row) for row in run.privacy],
        data_faults=privacy.describe_data_faults(paper, run.privacy),
        audit=audit_bounds.name_audit(run.folder.parent),
        cost_heads=COST_HEADS,
        costs=list_costs(paper, run.costs),
        readings=_describe_readings(run),
        curves=_describe_curves(run),
        heading=make_heading(paper),
        printed_repeats=paper.printed_repeats,
        provenance=_format_provenance(run.provenance),
        summaries=[(name, name) for name in _SUMMARIES if (run.folder / name).is_file()],
    )


def make_heading(paper: Paper) -> str:
    """Return the title of a paper with its number.

    Examples
    --------
    >>> studies = {"grid": {"dataset": "car", "algorithm": "rdt"}}
    >>> make_heading(Paper(number=2, title="Forests", studies=studies))
    'Paper 2. Forests'
    >>> make_heading(Paper(number="demo", title="A tour", studies=studies))
    'A tour'
    """
    return f"Paper {paper.number}. {paper.title}" if isinstance(paper.number, int) else paper.title


def count_verdicts(paper: Paper, numbers: pd.DataFrame, claims: Sequence[Mapping]) -> dict[str, dict[str, int]]:
    """Return how many numbers, facts of the data sets and claims got which verdict.

    A study of our own prints nothing: what it has none of is left out.
    """
    is_fact = numbers["statistic"] == "exact"
    verdicts = {
        "printed numbers": list(numbers.loc[~is_fact, "verdict"]),
        "facts of the data sets": list(numbers.loc[is_fact, "verdict"]),
        "claims of the paper": run_folder.list_verdicts(paper, claims, Speaker.PAPER),
        "our readings of them": run_folder.list_verdicts(paper, claims, Speaker.READING),
        "claims of our own": run_folder.list_verdicts(paper, claims, Speaker.OURS),
    }
    counts = {}
    for what, given in verdicts.items():
        if given or isinstance(paper.number, int):
            counts[what] = {verdict: given.count(verdict) for verdict in labels.SIGNS}
    return counts


def describe_number(paper: Paper, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a printed number, ours and the verdict as text."""
    metric, decimals = row["metric"], row["decimals"]
    return {
        "what": labels.label_result(paper, row),
        "is_fact": row["statistic"] == "exact",
        "table": row["table"],
        "printed": labels.format_number(metric, row["printed"], decimals),
        "ours": labels.format_number(metric, row["mean"], decimals),
        "interval": labels.format_interval(metric, row["ci_low"], row["ci_high"], decimals),
        "prediction": labels.format_interval(metric, row["prediction_low"], row["prediction_high"], decimals),
        "n": format_count(row),
        "verdict": row["verdict"],
        "reason": row["reason"],
        "source": row["source"],
    }


def _describe_claim(run: PaperRun, claim: Mapping[str, Any]) -> dict[str, Any]:
    return describe_claim(run.paper, claim) | {"further_rows": run.describe_further_rows(claim["id"])}


def _describe_table(run: PaperRun, part: PaperTable) -> dict[str, Any]:
    return {
        "id": part.id,
        "title": part.title,
        "kind": part.kind,  # type: ignore[attr-defined]  # each class of tables declares its own
        "measured": _describe_audit(run, part),
        "files": _list_files(run, "tables", part.id),
        "explanation": "",
        "is_text": False,
        **part.describe(run.paper, run.read_frame(part)),
    }


def _describe_figure(run: PaperRun, part: PaperFigure) -> dict[str, Any]:
    frame = run.read_frame(part)
    return {
        "id": part.id,
        "title": part.title,
        "note": note_shortfall(frame),
        "svg": _read_svg(run, part.id),
        "files": _list_files(run, "figures", part.id),
        "measured": _describe_audit(run, part),
        "points": [],
        "standings": [],
        **part.describe(run.paper, frame),
    }


def _describe_audit(run: PaperRun, part: PaperTable | PaperFigure) -> str:
    """Return what was measured of the privacy of the algorithms of a table or figure."""
    return audit_bounds.describe_bounds(run.paper, run.audit, part.list_algorithms(run.paper))


def _describe_privacy(run: PaperRun, row: Mapping[str, Any]) -> dict[str, Any]:
    bounds = audit_bounds.list_bounds(run.audit, row["algorithm"])
    return {**privacy.describe_privacy(run.paper, row), "measured": bounds}


def _list_files(run: PaperRun, folder: str, name: str) -> list[tuple[str, str]]:
    """Return the files of a table or figure that are there, by what they are."""
    files = []
    for what, ending in _ENDINGS.items():
        path = f"{folder}/{name}.{ending}"
        if (run.folder / path).is_file():
            files.append((what, path))
    return files


def _read_svg(run: PaperRun, name: str) -> str:
    """Make an SVG file part of the page: ids of its own, colours as variables that follow light and dark."""
    svg = (run.folder / "figures" / f"{name}.svg").read_text(encoding="utf-8")
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    for before in (' id="', "url(#", 'href="#'):
        svg = svg.replace(before, f"{before}{name}-")
    svg = re.sub(r'(<svg [^>]*?)width="[^"]*pt" ', r"\1", re.sub(r'(<svg [^>]*?)height="[^"]*pt" ', r"\1", svg))
    return _COLOUR.sub(lambda found: f"var(--{_ROLES[found[0]]}, {found[0]})", svg)


def _describe_readings(run: PaperRun) -> list[dict[str, Any]]:
    """Return what the readings of the text give, question by question, as it is read."""
    described = []
    for question, rows in run.list_rankings():
        name, sentence = f"readings-{question.id}", describe_ranking(rows)
        described.append(
            {
                "id": name,
                "title": question.title,
                "sentence": sentence[0].upper() + sentence[1:] + ".",
                "note": note_shortfall(rows),
                "svg": _read_svg(run, name),
                "files": [("CSV of all questions", "readings.csv"), *_list_files(run, "figures", name)],
                "unit": rows["unit"].iloc[0],
                "rows": [_describe_reading(row) for row in rows.to_dict("records")],
            }
        )
    return described


def _describe_reading(row: Mapping[str, Any]) -> dict[str, Any]:
    decimals = 2 if row["unit"] == "points" else 3
    costs = ["unbounded"] if row["unpaid"] else []
    if math.isfinite(row["times_label"]):
        costs.append(f"{row['times_label']:.3g}")
    return {
        "rank": "none" if row["kind"] == "no noise" else f"{row['rank']:.0f}",
        "reading": row["reading"],
        "in_set": row["in_set"],
        "distance": labels.format_number("", row["distance"], decimals),
        "interval": labels.format_interval("", row["low"], row["high"], decimals),
        "dropped_after": "" if math.isnan(row["dropped_after"]) else f"{row['dropped_after']:.0f}",
        "cost": "; the noisy steps ".join(costs),
    }


def _describe_curves(run: PaperRun) -> list[dict[str, Any]]:
    """Return what the readings of the text say of each claim, as it is read."""
    described = []
    for claim, rows in run.list_curves():
        name, sentence = f"curve-{claim.id}", describe_curve(rows)
        words = {"id": name, "title": claim.text, "sentence": sentence[0].upper() + sentence[1:] + "."}
        files = [("CSV of all claims", "curves.csv"), *_list_files(run, "figures", name)]
        described.append({**words, "svg": _read_svg(run, name), "files": files, "note": note_shortfall(rows)})
    return described


def _format_provenance(contents: Mapping[str, Any]) -> list[tuple[str, str]]:
    texts = []
    for key, value in contents.items():
        is_text = isinstance(value, str)
        texts.append((key, value if is_text else json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)))
    return texts
