"""Write the results of an audit: all of them for programs, and in short to be shown beside experiments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from experiments.audit.report.bound_rows import (
    BLACK_BOX,
    ONE_RUN,
    WAY_OUT,
    AuditResult,
    BoundRow,
    find_largest_losses,
    select_violations,
    select_worst,
)
from experiments.cells.cell import json_safe

_SUMMARY = ["algorithm", "layer", "epsilon", "claimed", "accounted", "keeps_claim", "neighbours", "where", "event", "n"]
_SUMMARY += ["count", "of", "bound", "refutable", "verdict", "loss", "loss_where"]


def write_results(result: AuditResult, folder: Path, name: str = "audit") -> list[Path]:
    """Write the bounds as CSV, and all results as JSON; returns the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    table, everything = folder / f"{name}.csv", folder / f"{name}.json"
    pd.DataFrame([asdict(row) for row in result.bounds]).to_csv(table, index=False)
    _write_json(asdict(result), everything)
    return [table, everything]


def write_summary_of_own(result: AuditResult, folder: Path, name: str) -> list[Path]:
    """Write the results of an audit of a user's own algorithms in short, to be shown beside those of a complete one."""
    table = folder / f"{name.replace('audit', 'summary', 1)}.csv"
    _summarise(result).to_csv(table, index=False, float_format="%.6g", lineterminator="\n")
    return [table]


def write_summary(result: AuditResult, folder: Path, provenance: Mapping) -> list[Path]:
    """Write the results of a complete audit in short, to be shown beside experiments, and where they come from.

    Of the black box that is the pair of tables that shows most of each algorithm, with the largest exact loss on any of
    its pairs of that kind and the name of that pair; of canaries each run; of releases those that are told apart.
    """
    table, origin = folder / "summary.csv", folder / "provenance.json"
    _summarise(result).to_csv(table, index=False, float_format="%.6g", lineterminator="\n")
    _write_json(provenance, origin)
    return [table, origin]


def _summarise(result: AuditResult) -> pd.DataFrame:
    violations = select_violations(result.select_layer(WAY_OUT))
    rows = [*select_worst(result.select_layer(BLACK_BOX)), *result.select_layer(ONE_RUN), *select_worst(violations)]
    rows.sort(key=lambda row: (row.algorithm, row.layer))
    largest = find_largest_losses(result.bounds)
    return pd.DataFrame([_summarise_row(row, largest) for row in rows], columns=_SUMMARY)


def _summarise_row(row: BoundRow, largest: Mapping) -> dict:
    loss, where = largest.get(row.kind, ("", ""))
    return asdict(row) | {"loss": loss, "loss_where": where}


def _write_json(contents: Mapping, path: Path) -> None:
    text = json.dumps(json_safe(contents), indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")
