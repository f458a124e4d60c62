"""The report page: one HTML file that opens from disk, asks the network for nothing, the same bytes always."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from experiments.claims import effect_text, setting_of
from plots import figures, labels, span
from plots.series import decimals_of, ours, shortfall
from plots.summary import describe
from plots.tables import FACTS, corner, datasets_shortfall, grid_cells


def write(
    paper: Mapping,
    table: pd.DataFrame,
    numbers: pd.DataFrame,
    claims: list[dict],
    notes: list[str],
    shown_tables: list[dict],
    shown_figures: list[dict],
    folder: Path,
) -> Path:
    """Write ``report.html`` into the folder of a paper and return its path.

    Parameters
    ----------
    paper, table, numbers, claims
        The paper, the long table and the verdicts.
    notes : list of str
        What must be said with the verdicts.
    shown_tables, shown_figures : list of dict
        ``item`` (the paper's entry), ``frame`` (its numbers) and, for figures, ``svg`` (the file) and ``note`` (what
        is missing).
    folder : Path
        Where the page goes; ``provenance.json`` is read from here when it is there.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.globals["sign"] = lambda verdict: labels.SIGNS.get(verdict, "")
    page = environment.get_template("report.html.j2").render(
        paper=paper,
        notes=notes,
        claims=[_claim(paper, claim) for claim in claims],
        numbers=[_number(paper, row) for row in numbers.to_dict("records")],
        counts=_counts(numbers, claims),
        tables=[_table(paper, shown) for shown in shown_tables],
        figures=[_figure(paper, shown) for shown in shown_figures],
        privacy=_privacy(paper, table),
        heading=f"Paper {paper['number']}. {paper['title']}" if isinstance(paper["number"], int) else paper["title"],
        printed_repeats=int(paper.get("printed_repeats", 1)),
        provenance=_provenance(folder),
    )
    path = folder / "report.html"
    path.write_text(page, encoding="utf-8")
    return path


def _counts(numbers: pd.DataFrame, claims: list[dict]) -> list[tuple[str, int, int]]:
    found = list(numbers["verdict"])
    return [(v, found.count(v), sum(c["verdict"] == v for c in claims)) for v in labels.SIGNS]


def _number(paper: Mapping, row: Mapping) -> dict:
    metric, decimals = row["metric"], row["decimals"]
    return {
        "what": describe(paper, row),
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
    shown = {name: claim[name] for name in ("text", "verdict", "reason", "scope")}
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


def _table(paper: Mapping, shown: Mapping) -> dict:
    item, frame = shown["item"], shown["frame"]
    if item["kind"] == "datasets":
        return {
            "id": item["id"],
            "title": item["title"],
            "note": datasets_shortfall(frame),
            "kind": "datasets",
        } | {
            "columns": list(FACTS.values()),
            "rows": [
                (labels.label(paper, name), [_fact(entry) for entry in part.to_dict("records")])
                for name, part in frame.groupby("dataset", sort=False)
            ],
        }
    if item["kind"] == "span":
        known = {"note": shortfall(frame), "kind": "span", "corner": "algorithm", "columns": span.COLUMNS}
        rows = [
            (labels.label(paper, row["algorithm"]), [_span_cell(*one) for one in span.cells(row)])
            for row in frame.to_dict("records")
        ]
        return {"id": item["id"], "title": item["title"], "rows": rows} | known
    columns, rows, cells = grid_cells(paper, item, frame)
    return {
        "id": item["id"],
        "title": item["title"],
        "note": shortfall(frame),
        "kind": "grid",
        "center": ours(frame),
        "corner": corner(paper, item),
        "columns": columns,
        "rows": list(zip(rows, cells, strict=True)),
    }


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


def _figure(paper: Mapping, shown: Mapping) -> dict:
    item, frame = shown["item"], shown["frame"]
    svg = _inline(shown["svg"].read_text(encoding="utf-8"), item["id"])
    if "study" not in item:
        return {"id": item["id"], "title": item["title"], "note": shown["note"], "svg": svg, "points": []}
    decimals = {metric: decimals_of(part) for metric, part in frame.groupby("metric")}
    points = [
        {
            "line": labels.value_label(paper, point[item["lines"]]),
            "x": labels.axis_labels(paper, item["x"], [point[item["x"]]])[0],
            "ours": labels.number(point["metric"], point[ours(frame)], decimals[point["metric"]]),
            "interval": labels.interval(point["metric"], point["ci_low"], point["ci_high"], decimals[point["metric"]]),
            "n": point["n"],
            "printed": ""
            if pd.isna(point["printed"])
            else labels.number(point["metric"], point["printed"], int(point["decimals"])),
            "verdict": point["verdict"],
        }
        for point in frame.to_dict("records")
    ]
    return {
        "id": item["id"],
        "title": item["title"],
        "note": shown["note"],
        "svg": svg,
        "line": labels.label(paper, item["lines"]),
        "x": labels.label(paper, item["x"]),
        "metric": ours(frame)
        if item["x"] == "metric"
        else f"{labels.metric_label(paper, item['metric'])}, {ours(frame)}",
        "points": points,
    }


def _inline(svg: str, name: str) -> str:
    """Make an SVG file part of the page: ids of its own, colours as variables that follow light and dark."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r'(<svg [^>]*?)width="[^"]*pt" ', r"\1", re.sub(r'(<svg [^>]*?)height="[^"]*pt" ', r"\1", svg))
    for role, colours in (
        ("s", figures.SEQUENTIAL),
        ("q", figures.QUALITATIVE),
        ("fig", (figures.INK, figures.GRID, figures.ALARM, "#ffffff")),
    ):
        for i, colour in enumerate(colours):
            svg = svg.replace(colour, f"var(--{role}{i}, {colour})")
    return svg


def _privacy(paper: Mapping, table: pd.DataFrame) -> list[dict]:
    """Sum up, for each algorithm, what its fitted models said of their privacy."""
    if "privacy" not in table.columns:
        return []
    rows = []
    spoken = table[table["privacy"].fillna("") != ""]
    for algorithm, part in spoken.groupby("algorithm", sort=True):
        said = [json.loads(text) for text in sorted(set(part["privacy"]))]
        faults = [fault for one in said for fault in one["faults"]]
        rows.append(
            {
                "algorithm": labels.label(paper, algorithm),
                "neighbours": ", ".join(sorted({one["neighbours"] for one in said})),
                "faults": list({tuple(fault.items()): fault for fault in faults}.values()),
            }
            | _paid([one for one in said if _finite(one["claimed_epsilon"])])
        )
    return rows


def _paid(claimed: list[dict]) -> dict[str, str]:
    """Return whether the finite claims of an algorithm hold, and what its ledgers add up to."""
    if not claimed:
        return {"sound": "nothing claimed", "paid": ""}
    sound = "yes" if all(one["is_sound"] for one in claimed) else "no"
    if not all(_finite(one["accounted_epsilon"]) for one in claimed):
        return {"sound": sound, "paid": "inf (unbounded)"}
    most = max(one["accounted_epsilon"] / one["claimed_epsilon"] for one in claimed)
    return {"sound": sound, "paid": f"up to {most:.3g} × the label"}


def _finite(value) -> bool:
    return isinstance(value, int | float) and value == value and abs(value) != float("inf")


def _provenance(folder: Path) -> list[tuple[str, str]]:
    path = folder / "provenance.json"
    if not path.is_file():
        return []
    contents = json.loads(path.read_text(encoding="utf-8"))
    return [
        (
            key,
            value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True),
        )
        for key, value in contents.items()
    ]
