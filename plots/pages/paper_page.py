"""The page of a paper: one HTML file that opens from disk, asks the network for nothing, the same bytes always."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from itertools import product
from pathlib import Path

import pandas as pd

from experiments.config.selection import axis, study_of
from experiments.judge.claims import effect_text, setting_of
from experiments.judge.readings import sentence
from experiments.judge.series import decimals_of, ours, shortfall
from plots import labels, style
from plots.pages import audit_bounds, html, privacy
from plots.run_folder import Run
from plots.tables import span
from plots.tables.grid_table import FACTS, corner, datasets_shortfall, grid_cells
from plots.terminal import describe

_SUMMARIES = ("numbers.csv", "claims.json", "privacy.json", "readings.csv", "paper.yaml", "provenance.json")


def write(run: Run) -> Path:
    """Write ``report.html`` into the folder of a run and return its path."""
    path = run.folder / "report.html"
    path.write_text(render(run, run.notes()), encoding="utf-8")
    return path


def render(run: Run, notes: list[str], base: str = "", links: list[dict] | None = None) -> str:
    """Return the page of a run.

    Parameters
    ----------
    run : Run
        What is shown.
    notes : list of str
        What must be said with the verdicts.
    base : str
        The way from the page to the run's files, ``paper-2/`` for example.
    links : list of dict, optional
        The pages around it: ``href``, ``text`` and ``is_here``.
    """
    paper = run.paper
    return html.render(
        "paper.html.j2",
        links=links or [],
        base=base,
        paper=paper,
        notes=notes,
        claims=[_claim(paper, claim) for claim in run.claims],
        numbers=[number(paper, row) for row in run.numbers.to_dict("records")],
        counts=counts(paper, run.numbers, run.claims),
        tables=[_table(run, item) for item in paper.get("tables", ())],
        figures=[_figure(run, item) for item in paper.get("figures", ())],
        privacy=[
            privacy.words(paper, row) | {"measured": audit_bounds.words(run.audit, row["algorithm"])}
            for row in run.privacy
        ],
        audit=audit_bounds.source(run.folder.parent),
        readings=_readings(run),
        heading=heading(paper),
        printed_repeats=int(paper.get("printed_repeats", 1)),
        provenance=_provenance(run.provenance),
        summaries=[(name, name) for name in _SUMMARIES if (run.folder / name).is_file()],
    )


def heading(paper: Mapping) -> str:
    """Return the title of a paper with its number.

    Examples
    --------
    >>> heading({"number": 2, "title": "Forests"}), heading({"number": "demo", "title": "A tour"})
    ('Paper 2. Forests', 'A tour')
    """
    return f"Paper {paper['number']}. {paper['title']}" if isinstance(paper["number"], int) else paper["title"]


def counts(paper: Mapping, numbers: pd.DataFrame, claims: list[dict]) -> dict[str, dict[str, int]]:
    """Return how many numbers, facts of the data sets and claims got which verdict.

    A study of our own prints nothing: what it has none of is left out.
    """
    is_fact = numbers["statistic"] == "exact"
    found = {
        "printed numbers": list(numbers.loc[~is_fact, "verdict"]),
        "facts of the data sets": list(numbers.loc[is_fact, "verdict"]),
        "claims": [claim["verdict"] for claim in claims],
    }
    is_printed = isinstance(paper["number"], int)
    return {
        what: {verdict: said.count(verdict) for verdict in labels.SIGNS}
        for what, said in found.items()
        if said or is_printed
    }


def number(paper: Mapping, row: Mapping) -> dict:
    """Return a printed number, ours and the verdict as text."""
    metric, decimals = row["metric"], row["decimals"]
    return {
        "what": describe(paper, row),
        "is_fact": row["statistic"] == "exact",
        "table": row["table"],
        "printed": labels.number(metric, row["printed"], decimals),
        "ours": labels.number(metric, row["mean"], decimals),
        "interval": labels.interval(metric, row["ci_low"], row["ci_high"], decimals),
        "prediction": labels.interval(metric, row["prediction_low"], row["prediction_high"], decimals),
        "n": row["n"] if row["n"] == row["n_expected"] else f"{row['n']} of {row['n_expected']}",
        "verdict": row["verdict"],
        "reason": row["reason"],
        "source": row["source"],
    }


def _claim(paper: Mapping, claim: Mapping) -> dict:
    shown = {name: claim[name] for name in ("id", "text", "verdict", "reason", "scope")}
    shown["center"] = claim["center"] or ""
    shown["p"] = "" if claim["p_adjusted"] is None else f"{claim['p_adjusted']:.2g}"
    shown["effect"] = shown["worst"] = shown["steps"] = ""
    if claim["p_value"] is not None:
        metric, worst = claim["metric"], claim["worst"]
        shown["effect"] = effect_text(metric, claim)
        shown["worst"] = f"{_place(paper, setting_of(worst))}: {effect_text(metric, worst)}"
        shown["steps"] = "; ".join(
            f"{_place(paper, setting_of(step))}, step {step['step']}: {effect_text(metric, step)}"
            for step in claim["steps"]
        )
    return shown


def _place(paper: Mapping, where: Mapping) -> str:
    plain = {"dataset", "algorithm"}
    words = []
    for name, value in where.items():
        text = labels.value_label(paper, value)
        words.append(text if name in plain or text == "no noise" else f"{labels.label(paper, name)} {text}")
    return ", ".join(words)


def _table(run: Run, item: Mapping) -> dict:
    shown = {"datasets": _datasets, "span": _span, "grid": _grid}[item["kind"]](run.paper, item, run.frame(item))
    known = {name: item[name] for name in ("id", "title", "kind")} | {"measured": _measured(run, item)}
    return known | {"files": _files(run, "tables", item)} | shown


def _measured(run: Run, item: Mapping) -> str:
    """Return what was measured of the privacy of the algorithms of a table or figure."""
    curves = item.get("curves", [item] if "study" in item else [])
    parts = [(study_of(run.paper, curve | {"id": item["id"]}), curve.get("where")) for curve in curves]
    algorithms = [name for study, where in parts for name in axis(study, "algorithm", where)]
    named = item.get("algorithms", item.get("algorithm", []))
    algorithms += [named] if isinstance(named, str) else named
    return audit_bounds.sentence(run.paper, run.audit, dict.fromkeys(algorithms))


def _files(run: Run, kind: str, item: Mapping) -> list[tuple[str, str]]:
    """Return the files of a table or figure that are there, by what they are."""
    endings = {"CSV": "csv", "LaTeX": "tex", "SVG": "svg", "PNG": "png"}
    paths = {name: f"{kind}/{item['id']}.{ending}" for name, ending in endings.items()}
    return [(name, path) for name, path in paths.items() if (run.folder / path).is_file()]


def _datasets(paper: Mapping, item: Mapping, frame: pd.DataFrame) -> dict:
    rows = [
        (labels.label(paper, name), [_fact(entry) for entry in part.to_dict("records")])
        for name, part in frame.groupby("dataset", sort=False)
    ]
    return {"note": datasets_shortfall(frame), "corner": "data set", "columns": list(FACTS.values()), "rows": rows}


def _span(paper: Mapping, item: Mapping, frame: pd.DataFrame) -> dict:
    rows = [
        (labels.label(paper, row["algorithm"]), [_span_cell(*one) for one in span.cells(row)])
        for row in frame.to_dict("records")
    ]
    return {"note": shortfall(frame), "corner": "algorithm", "columns": span.COLUMNS, "rows": rows}


def _grid(paper: Mapping, item: Mapping, frame: pd.DataFrame) -> dict:
    columns, rows, cells = grid_cells(paper, item, frame)
    known = {"note": shortfall(frame), "center": ours(frame), "has_printed": frame["printed"].notna().any()}
    return known | {"corner": corner(paper, item), "columns": columns, "rows": list(zip(rows, cells, strict=True))}


def _span_cell(text: str, said: str) -> dict:
    return {"ours": text, "band": f"({said})" if said else "", "printed": "", "verdict": "", "note": ""}


def _fact(entry: Mapping) -> dict:
    there, printed = not pd.isna(entry["value"]), not pd.isna(entry["printed"])
    return {
        "ours": f"{entry['value']:,}"
        if there
        else ("split anew" if entry["note"].startswith("none") else labels.MISSING),
        "band": "",
        "printed": f"{entry['printed']:,}" if printed else "",
        "verdict": entry["verdict"],
        "note": entry["note"],
    }


def _figure(run: Run, item: Mapping) -> dict:
    paper, frame = run.paper, run.frame(item)
    svg = (run.folder / "figures" / f"{item['id']}.svg").read_text(encoding="utf-8")
    shown = {"id": item["id"], "title": item["title"], "note": shortfall(frame), "svg": _inline(svg, item["id"])}
    shown |= {"files": _files(run, "figures", item), "measured": _measured(run, item), "points": []}
    if item.get("kind", "lines") != "lines":
        return shown
    decimals = {metric: decimals_of(part) for metric, part in frame.groupby("metric")}
    study, center = study_of(paper, item), ours(frame)
    xs = style.places(study, item)
    names = product(axis(study, item["lines"], item.get("where")), labels.axis_labels(paper, item["x"], xs))
    is_of_metrics = item["x"] == "metric"
    return shown | {
        "line": labels.label(paper, item["lines"]),
        "x": labels.label(paper, item["x"]),
        "metric": center if is_of_metrics else f"{labels.metric_label(paper, item['metric'])}, {center}",
        "points": [
            {"line": labels.value_label(paper, line), "x": x} | _point(point, center, decimals[point["metric"]])
            for (line, x), point in zip(names, frame.to_dict("records"), strict=True)
        ],
    }


def _point(point: Mapping, center: str, decimals: int) -> dict:
    metric = point["metric"]
    has_printed = not pd.isna(point["printed"])
    return {
        "ours": labels.number(metric, point[center], decimals),
        "interval": labels.interval(metric, point["ci_low"], point["ci_high"], decimals),
        "n": point["n"],
        "printed": labels.number(metric, point["printed"], int(point["decimals"])) if has_printed else "",
        "verdict": point["verdict"],
    }


def _inline(svg: str, name: str) -> str:
    """Make an SVG file part of the page: ids of its own, colours as variables that follow light and dark."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r'(<svg [^>]*?)width="[^"]*pt" ', r"\1", re.sub(r'(<svg [^>]*?)height="[^"]*pt" ', r"\1", svg))
    for role, colours in (
        ("s", style.SEQUENTIAL),
        ("q", style.QUALITATIVE),
        ("fig", (style.INK, style.GRID, style.ALARM, "#ffffff")),
    ):
        for i, colour in enumerate(colours):
            svg = svg.replace(colour, f"var(--{role}{i}, {colour})")
    return svg


def _readings(run: Run) -> list[dict]:
    """Return what the readings of the text give, question by question, as it is read."""
    asked = {question["id"]: question for question in run.paper.get("readings", ())}
    shown = []
    for name, rows in run.readings.groupby("question", sort=False) if len(run.readings) else ():
        item = {"id": f"readings-{name}"}
        svg = run.folder / "figures" / f"{item['id']}.svg"
        said = sentence(rows)
        shown.append(
            item
            | {
                "title": asked[name]["title"],
                "sentence": said[0].upper() + said[1:] + ".",
                "note": shortfall(rows),
                "svg": _inline(svg.read_text(encoding="utf-8"), item["id"]),
                "files": _files(run, "figures", item),
                "unit": rows["unit"].iloc[0],
                "rows": [_reading(row) for row in rows.to_dict("records")],
            }
        )
    return shown


def _reading(row: Mapping) -> dict:
    decimals = 2 if row["unit"] == "points" else 3
    behind = labels.number("", row["from_best"], decimals)
    noisy = f"{row['times_label']:.3g}" if math.isfinite(row["times_label"]) else ""
    return {name: row[name] for name in ("rank", "reading", "as_good")} | {
        "distance": labels.number("", row["distance"], decimals),
        "behind": f"{behind} ({labels.interval('', row['low'], row['high'], decimals)})",
        "cost": "; the noisy steps ".join(filter(None, ["unbounded" if row["unpaid"] else "", noisy])),
    }


def _provenance(contents: Mapping) -> list[tuple[str, str]]:
    return [
        (key, value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True))
        for key, value in contents.items()
    ]
