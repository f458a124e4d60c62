"""Tables: a tidy CSV for machines, LaTeX for papers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

import datasets
from datasets import catalogue
from experiments.config.selection import axis, study_of
from experiments.judge.series import decimals_of, ours, shortfall
from plots.labels import MISSING, axis_labels, interval, label, number

#: Facts of a data set, in the order of the table; the keys are the metrics of ``statistic = exact`` numbers.
FACTS = {
    "rows": "rows",
    "features": "features",
    "continuous": "continuous",
    "nominal": "nominal",
    "classes": "classes",
    "train": "training rows",
    "test": "test rows",
}


def collect_facts(paper: Mapping) -> dict[tuple[str, str], int]:
    """Count rows, columns and classes of every data set that the paper's tables of kind ``datasets`` name.

    A data set whose files are not there contributes nothing: its line of the table stays empty.
    """
    facts = {}
    for name in sorted({name for item in paper.get("tables", ()) for name in item.get("datasets", ())}):
        try:
            loaded = datasets.load(name)
        except datasets.DataUnavailable:
            continue
        facts |= {(name, fact): value for fact, value in _facts(loaded).items()}
    return facts


def fixed_splits(paper: Mapping) -> set[str]:
    """Return the data sets of the paper's studies that have an official split, the same in every repeat."""
    names = {name for study in (paper.get("studies") or {}).values() for name in axis(study, "dataset")}
    return {name for name in names if catalogue.read_entry(name).n_train is not None}


def datasets_frame(item: Mapping, facts: Mapping, numbers: pd.DataFrame) -> pd.DataFrame:
    """Return the tidy form of a table of kind ``datasets``: dataset, fact, value, printed, verdict, note."""
    exact = numbers[numbers["statistic"] == "exact"]
    printed = {(row["dataset"], row["metric"]): row for row in exact.to_dict("records")}
    rows = []
    for name in item["datasets"]:
        there = (name, "rows") in facts
        for fact in FACTS:
            value, row = facts.get((name, fact)), printed.get((name, fact), {})
            note = (
                ""
                if value is not None
                else ("none: no official split" if there else "INCOMPLETE: data set not available")
            )
            known = {"value": value, "printed": row.get("printed"), "verdict": row.get("verdict", "")}
            rows.append({"dataset": name, "fact": fact} | known | {"note": note})
    return pd.DataFrame(rows).astype({"value": "Int64", "printed": "Int64"})


def grid_values(paper: Mapping, item: Mapping) -> tuple[list, list]:
    """Return the values of the rows and of the columns of a grid table; columns may be metrics."""
    study = study_of(paper, item)
    columns = item["metric"] if item["columns"] == "metric" else axis(study, item["columns"], item.get("where"))
    return axis(study, item["rows"], item.get("where")), columns


def corner(paper: Mapping, item: Mapping, between: str = " \\ ") -> str:
    """Return what the corner of a grid table says of its rows and columns.

    Examples
    --------
    >>> corner({"labels": {"epsilon": "ε"}}, {"rows": "params.max_depth", "columns": "epsilon"}, " / ")
    'max_depth / ε'
    >>> corner({}, {"rows": "dataset", "columns": "metric"})
    'dataset'
    """
    names = [item["rows"], *([] if item["columns"] == "metric" else [item["columns"]])]
    return between.join(label(paper, name) for name in names)


def grid_cells(paper: Mapping, item: Mapping, series: pd.DataFrame) -> tuple[list[str], list[str], list[list[dict]]]:
    """Arrange a series as rows and columns of text.

    Returns
    -------
    columns, rows : list of str
        Labels.
    cells : list of list of dict
        ``ours``, ``band`` (its interval), ``printed``, ``verdict`` and ``note``, as text.
    """
    row_values, column_values = grid_values(paper, item)
    decimals = {metric: decimals_of(part) for metric, part in series.groupby("metric")}
    name = ours(series)
    texts = [_cell(point, point[name], decimals[point["metric"]], name) for point in series.to_dict("records")]
    width = len(column_values)
    cells = [texts[start : start + width] for start in range(0, len(texts), width)]
    return (
        axis_labels(paper, item["columns"], column_values),
        axis_labels(paper, item["rows"], row_values),
        cells,
    )


def write_grid_tex(paper: Mapping, item: Mapping, series: pd.DataFrame, path: Path) -> None:
    """Write a grid table as LaTeX (booktabs); missing cells are dashes, and a note says how many there are."""
    columns, rows, cells = grid_cells(paper, item, series)
    body = [[name, *map(_tex_cell, line)] for name, line in zip(rows, cells, strict=True)]
    write_tex(path, item["title"], [corner(paper, item, " / "), *columns], body, shortfall(series))


def write_datasets_tex(paper: Mapping, item: Mapping, frame: pd.DataFrame, path: Path) -> None:
    """Write a table of data sets as LaTeX."""
    wide = frame.pivot(index="dataset", columns="fact", values="value")
    body = [
        [
            label(paper, name),
            *(MISSING if pd.isna(wide.loc[name, fact]) else str(wide.loc[name, fact]) for fact in FACTS),
        ]
        for name in item["datasets"]
    ]
    write_tex(path, item["title"], ["data set", *FACTS.values()], body, datasets_shortfall(frame))


def datasets_shortfall(frame: pd.DataFrame) -> str:
    """Return the note on data sets that could not be counted."""
    missing = frame.loc[frame["note"].str.startswith("INCOMPLETE"), "dataset"].unique()
    total = frame["dataset"].nunique()
    return (
        f"INCOMPLETE: {total - len(missing)} of {total} data sets ({', '.join(missing)} not available)"
        if len(missing)
        else ""
    )


def _facts(loaded) -> dict[str, int]:
    features = loaded.domain.features
    n_continuous = sum(hasattr(feature, "lower") for feature in features)
    counted = {
        "rows": len(loaded.frame),
        "features": loaded.frame.shape[1],
        "continuous": n_continuous,
        "nominal": len(features) - n_continuous,
    }
    if loaded.task == "classification":
        counted["classes"] = int(loaded.target.nunique())
    if loaded.n_train is not None:
        counted |= {"train": int(loaded.n_train), "test": len(loaded.frame) - int(loaded.n_train)}
    return counted


def _cell(point: Mapping, value: float, decimals: int, center: str) -> dict:
    metric = point["metric"]
    return {
        "ours": number(metric, value, decimals),
        "band": _band(metric, point["ci_low"], point["ci_high"], decimals, center),
        "printed": "" if pd.isna(point["printed"]) else number(metric, point["printed"], int(point["decimals"])),
        "verdict": point["verdict"],
        "note": point["note"],
    }


def _band(metric: str, low: float, high: float, decimals: int, center: str) -> str:
    """Return an interval as it stands behind a number: the half-width of a mean's, the ends of a median's."""
    if center == "median":
        ends = interval(metric, low, high, decimals)
        return f"({ends})" if ends else ""
    return "" if pd.isna(high - low) else f"± {number(metric, (high - low) / 2, decimals)}"


def _tex_cell(cell: Mapping) -> str:
    text, band = cell["ours"], cell["band"]
    if text == MISSING:
        return text
    text = text.replace(",", "{,}")
    if band.startswith("±"):
        return f"${text} \\pm{band.removeprefix('±')}$"
    return f"${text}$ {band}".rstrip()


def write_tex(path: Path, title: str, columns: list[str], body: list[list[str]], note: str) -> None:
    """Write a table of text as LaTeX (booktabs); a note stands in bold behind its caption."""
    caption = _tex(title) + (rf" \textbf{{{_tex(note)}}}" if note else "")
    lines = [
        r"\begin{table}",
        rf"\caption{{{caption}}}",
        rf"\begin{{tabular}}{{l*{{{len(columns) - 1}}}{{r}}}}",
        r"\toprule",
        " & ".join(_tex(column) for column in columns) + r" \\",
        r"\midrule",
        *(" & ".join(_tex(entry) for entry in line) + r" \\" for line in body),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _tex(text: str) -> str:
    if text.startswith("$"):
        return text
    for plain, escaped in (
        ("%", r"\%"),
        ("_", r"\_"),
        ("&", r"\&"),
        ("ε", r"$\varepsilon$"),
        (MISSING, "---"),
    ):
        text = text.replace(plain, escaped)
    return text
