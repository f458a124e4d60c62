"""Write the results of an audit: all of them for programs, and in short to be shown beside experiments.

A row says of its algorithm what the whole audit does: ``verdict`` and ``reason`` are the same in all rows of one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from experiments.audit.report.bound_rows import (
    BLACK_BOX,
    ONE_RUN,
    REPLAY,
    WAY_OUT,
    AuditResult,
    BoundRow,
    find_largest_losses,
    make_unmeasured_row,
    select_violations,
    select_worst,
)
from experiments.audit.report.verdicts import AlgorithmVerdict, judge_algorithms
from experiments.cells.cell import json_safe

_SUMMARY = ["algorithm", "layer", "epsilon", "claimed", "accounted", "keeps_claim", "neighbours", "where", "event", "n"]
_SUMMARY += ["count", "of", "bound", "refutable", "verdict", "loss", "loss_where", "reason"]


def write_results(result: AuditResult, folder: Path, name: str = "audit") -> list[Path]:
    """Write the bounds as CSV, and all results as JSON; returns the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    table, everything = folder / f"{name}.csv", folder / f"{name}.json"
    verdicts = judge_algorithms(result)
    rows = [_describe_row(row, verdicts) for row in _list_rows(result, result.bounds, verdicts)]
    pd.DataFrame(rows).to_csv(table, index=False)
    contents = {"verdicts": list(map(asdict, verdicts)), **asdict(result), "bounds": rows}
    _write_json(contents, everything)
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
    shown = [*select_worst(result.select_layer(BLACK_BOX)), *result.select_layer(ONE_RUN), *select_worst(violations)]
    verdicts, largest = judge_algorithms(result), find_largest_losses(result.bounds)
    rows = sorted(_list_rows(result, shown, verdicts), key=lambda row: (row.algorithm, row.layer))
    described = []
    for row in rows:
        loss, where = largest.get(row.kind, ("", ""))
        described.append(_describe_row(row, verdicts) | {"loss": loss, "loss_where": where})
    return pd.DataFrame(described, columns=_SUMMARY)


def _list_rows(result: AuditResult, shown: list[BoundRow], verdicts: list[AlgorithmVerdict]) -> list[BoundRow]:
    """Return rows, and one for each algorithm that has none among them: what was not attacked has a verdict, too."""
    rows, named = list(shown), {row.algorithm for row in shown}
    replayed = {report.name for report in result.replays}
    for verdict in verdicts:
        if verdict.algorithm not in named:
            layer = REPLAY if verdict.algorithm in replayed else ""
            rows.append(make_unmeasured_row(verdict.algorithm, layer, result.epsilon, verdict.verdict))
    return rows


def _describe_row(row: BoundRow, verdicts: list[AlgorithmVerdict]) -> dict:
    """Return a row with the verdict of its algorithm, and the reason."""
    (verdict,) = (verdict for verdict in verdicts if verdict.algorithm == row.algorithm)
    return asdict(row) | {"verdict": verdict.verdict, "reason": verdict.reason}


def _write_json(contents: Mapping, path: Path) -> None:
    text = json.dumps(json_safe(contents), indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")
