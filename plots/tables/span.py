"""A table of kind ``span``: numbers printed without their setting, beside the lowest and the highest of ours."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from experiments.judge.no_setting import expected, reason_against, tried
from experiments.judge.series import note_missing_cells
from plots.labels import SIGNS, label, number
from plots.tables.grid_table import write_tex

COLUMNS = ["paper", "lowest of ours", "highest of ours"]


def frame(paper: Mapping, item: Mapping, table: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
    """Return one row per algorithm.

    Returns
    -------
    DataFrame
        algorithm, metric, printed, decimals, verdict, lowest and highest (means over repeats), lowest_setting and
        highest_setting (where they are), n, n_expected, note.
    """
    said = {row["algorithm"]: row for row in numbers[numbers["table"] == item["id"]].to_dict("records")}
    rows = []
    for algorithm in item["algorithms"]:
        settings = tried(paper, item, algorithm, table)
        n, n_expected = sum(len(one.values) for one in settings), expected(paper, item, algorithm)
        nothing = {"printed": math.nan, "decimals": 2, "verdict": ""}
        rows.append(
            {"algorithm": algorithm, "metric": item["metric"]}
            | {name: said.get(algorithm, nothing)[name] for name in nothing}
            | _ends(sorted((one.values.mean(), one.where) for one in settings))
            | {"n": n, "n_expected": n_expected}
            | {"note": reason_against(paper, algorithm) or note_missing_cells(n, n_expected)}
        )
    return pd.DataFrame(rows)


def _ends(ordered: list[tuple[float, str]]) -> dict:
    (low, where_low), (high, where_high) = (ordered[0], ordered[-1]) if ordered else [(math.nan, "")] * 2
    return {"lowest": low, "lowest_setting": where_low, "highest": high, "highest_setting": where_high}


def cells(row: Mapping) -> list[tuple[str, str]]:
    """Return for each of `COLUMNS` the number of a row as text, and what is to be said with it."""
    lowest, highest, printed = (
        number(row["metric"], row[name], int(row["decimals"])) for name in ("lowest", "highest", "printed")
    )
    sign = SIGNS.get(row["verdict"], "")
    return [
        (f"{printed} {sign}".rstrip(), row["note"]),
        (lowest, row["lowest_setting"]),
        (highest, row["highest_setting"]),
    ]


def markdown(paper: Mapping, item: Mapping, rows: pd.DataFrame) -> str:
    """Return the table as Markdown."""
    lines = [" | ".join(["| algorithm", *COLUMNS]) + " |", "|---" * (1 + len(COLUMNS)) + "|"]
    for row in rows.fillna({"note": "", "lowest_setting": "", "highest_setting": ""}).to_dict("records"):
        texts = [f"{text} ({said})" if said else text for text, said in cells(row)]
        lines.append(" | ".join([f"| **{label(paper, row['algorithm'])}**", *texts]) + " |")
    return f"{item['title']}\n\n" + "\n".join(lines)


def write_span_tex(paper: Mapping, item: Mapping, rows: pd.DataFrame, path: Path) -> None:
    """Write the table as LaTeX (booktabs); notes go to the caption."""
    records = rows.to_dict("records")
    body = [[label(paper, row["algorithm"]), *(text for text, _ in cells(row))] for row in records]
    notes = [f"{label(paper, row['algorithm'])}: {row['note']}" for row in records if row["note"]]
    write_tex(path, item["title"], ["algorithm", *COLUMNS], body, "; ".join(notes))
