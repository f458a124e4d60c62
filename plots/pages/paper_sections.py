"""The third level of a paper's page, as it is read: tables, figures, readings, curves, privacy and provenance."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from experiments.config.paper import PaperFigure, PaperTable
from experiments.judge.readings.sentences import (
    describe_curve,
    describe_ranking,
    list_curve_details,
    list_ranking_details,
)
from plots import audit_bounds, labels, privacy
from plots.pages.pictures import measure_picture
from plots.runs.run_folder import PaperRun
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
_ENDINGS = {"CSV": "csv", "LaTeX": "tex", "SVG": "svg", "PNG": "png", "PDF": "pdf"}


def list_summaries(run: PaperRun) -> list[tuple[str, str]]:
    """Return the files of a run that are about all of it, and where they lie."""
    return [(name, name) for name in _SUMMARIES if (run.folder / name).is_file()]


def describe_table(run: PaperRun, part: PaperTable) -> dict[str, Any]:
    """Return a table with its title, its files and what was measured of its algorithms."""
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


def describe_figure(run: PaperRun, part: PaperFigure) -> dict[str, Any]:
    """Return a figure with its title, its size, its files and the numbers behind it."""
    frame = run.read_frame(part)
    return {
        **_describe_picture(run, part.id),
        "title": part.title,
        "note": note_shortfall(frame),
        "measured": _describe_audit(run, part),
        "points": [],
        "standings": [],
        **part.describe(run.paper, frame),
    }


def describe_privacy(run: PaperRun) -> list[dict[str, Any]]:
    """Return, of each algorithm with an account, what it claims, accounts for and was measured to give away."""
    rows = []
    for row in run.privacy:
        measured = audit_bounds.list_bounds(run.audit, row["algorithm"])
        rows.append({**privacy.describe_privacy(run.paper, row), "measured": measured})
    return rows


def describe_readings(run: PaperRun) -> list[dict[str, Any]]:
    """Return what the readings of the text give, question by question, as it is read."""
    described = []
    for question, rows in run.list_rankings():
        picture = _describe_picture(run, f"readings-{question.id}")
        files = [("CSV of all questions", "readings.csv"), *picture["files"]]
        words: dict[str, Any] = {"title": question.title, "sentence": _as_sentence(describe_ranking(rows))}
        words["details"] = list_ranking_details(rows)
        answers = [_describe_reading(row) for row in rows.to_dict("records")]
        unit, note = rows["unit"].iloc[0], note_shortfall(rows)
        described.append({**picture, **words, "files": files, "note": note, "unit": unit, "rows": answers})
    return described


def describe_curves(run: PaperRun) -> list[dict[str, Any]]:
    """Return what the readings of the text say of each claim, as it is read."""
    described = []
    for claim, rows in run.list_curves():
        picture = _describe_picture(run, f"curve-{claim.id}")
        files = [("CSV of all claims", "curves.csv"), *picture["files"]]
        words: dict[str, Any] = {"title": claim.text, "sentence": _as_sentence(describe_curve(rows))}
        words["details"] = list_curve_details(rows)
        described.append({**picture, **words, "files": files, "note": note_shortfall(rows)})
    return described


def format_provenance(run: PaperRun) -> list[tuple[str, str]]:
    """Return where a run comes from, as names and texts."""
    texts = []
    for key, value in run.provenance.items():
        is_text = isinstance(value, str)
        texts.append((key, value if is_text else json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)))
    return texts


def _as_sentence(words: str) -> str:
    return words[0].upper() + words[1:] + "."


def _describe_picture(run: PaperRun, name: str) -> dict[str, Any]:
    width, height = measure_picture(run, name)
    return {"id": name, "width": width, "height": height, "files": _list_files(run, "figures", name)}


def _describe_audit(run: PaperRun, part: PaperTable | PaperFigure) -> str:
    """Return what was measured of the privacy of the algorithms of a table or figure."""
    return audit_bounds.describe_bounds(run.paper, run.audit, part.list_algorithms(run.paper))


def _list_files(run: PaperRun, folder: str, name: str) -> list[tuple[str, str]]:
    """Return the files of a table or figure that are there, by what they are."""
    files = []
    for what, ending in _ENDINGS.items():
        path = f"{folder}/{name}.{ending}"
        if (run.folder / path).is_file():
            files.append((what, path))
    return files


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
