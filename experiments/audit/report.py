"""The results of an audit as text and as files.

The text has a line for each algorithm, then the violations, to be checked by hand. Of the files one has all results for
programs, another what is shown beside experiments. A row says of its algorithm what the whole audit does: ``verdict``
and ``reason`` are the same in all rows of one.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.audit.bounds import FALSE_ALARMS
from experiments.audit.laws.worst_cases import WorstCase
from experiments.audit.outcomes import (
    BLACK_BOX,
    ONE_RUN,
    REPLAY,
    WAY_OUT,
    BoundRow,
    find_largest_losses,
    select_violations,
    select_worst,
)
from experiments.audit.verdicts import AlgorithmVerdict, AuditResult, judge_algorithms
from experiments.cells.cell import json_safe

_SUMMARY = ["algorithm", "layer", "epsilon", "claimed", "accounted", "keeps_claim", "neighbours", "where", "event", "n"]
_SUMMARY += ["count", "of", "bound", "refutable", "verdict", "loss", "loss_where", "reason"]


def format_report(result: AuditResult) -> str:
    """Return the results as text: a verdict of each algorithm, then the layers that have rows."""
    black_box = result.select_layer(BLACK_BOX)
    parts: list[tuple[Callable[[Any], str], Sequence]] = [
        (_format_verdicts, judge_algorithms(result)),
        (_format_laws, result.laws),
        (_format_black_box, black_box),
        (_format_releases, result.select_layer(WAY_OUT)),
        (_format_canaries, result.select_layer(ONE_RUN)),
        (_format_violations, select_violations(black_box)),
    ]
    return "\n\n".join(format_part(rows) for format_part, rows in parts if rows)


def _format_verdicts(verdicts: Sequence[AlgorithmVerdict]) -> str:
    return "\n".join(_align_cells([(verdict.algorithm, str(verdict)) for verdict in verdicts]))


def _format_laws(laws: Sequence[WorstCase]) -> str:
    broken = [law for law in laws if not law.holds]
    outcome = f"{len(broken)} exceed it: {broken}" if broken else "none exceeds it"
    return f"Exact laws of {len(laws)} discrete choices, the largest log-ratio against the proven ε: {outcome}."


def _format_black_box(rows: Sequence[BoundRow]) -> str:
    head = (
        f"Up to {max(row.n for row in rows):,} trainings on each of two neighbouring tables: what is claimed, what\n"
        "the account says, the largest ε that an attack measured, on the pair that shows most, and the largest\n"
        "that so many trainings could show. Where there is one: the largest exact loss of a training."
    )
    return f"{head}\n\n{_format_table(select_worst(rows), find_largest_losses(rows))}"


def _format_releases(rows: Sequence[BoundRow]) -> str:
    violations = select_worst(select_violations(rows))
    n_algorithms, n_kinds = len({row.algorithm for row in rows}), len({row.where for row in rows})
    whose = f"{n_algorithms} algorithm{'s' if n_algorithms > 1 else ''}"
    head = (
        f"Real releases of {whose}, {max(row.n for row in rows):,} from each of two tables that are\n"
        f"built to slip past mechanisms, {n_kinds} kinds of them: "
    )
    if violations:
        return f"{head}some break their claim.\n\n{_format_table(violations)}"
    return f"{head}none breaks its claim."


def _format_canaries(rows: Sequence[BoundRow]) -> str:
    head = "One training with canaries among the rows: an attack guesses which were in."
    return f"{head}\n\n{_format_table(sorted(rows, key=lambda row: row.rank))}"


def _format_violations(rows: Sequence[BoundRow]) -> str:
    by_event = defaultdict(list)
    for row in select_worst(rows):
        by_event[row.table, row.neighbour, row.event].append(row)
    sure = f"{100 * (1 - FALSE_ALARMS):g} %"
    head = f"Broken claims, to be checked by hand; all bounds of an algorithm hold together with {sure}."
    return "\n\n".join([head, *map(_describe_violations, by_event.values())])


def _format_table(rows: Sequence[BoundRow], losses: Mapping | None = None) -> str:
    """Return rows as a table, with the largest losses where there are any."""
    lines = [["algorithm", "claims", "accounts", "measured", "at most", *(["exact loss"] if losses else []), "by"]]
    for row in rows:
        numbers = f"{row.claimed:.4g}", f"{row.accounted:.4g}", f">= {row.bound:.3f}", f"{row.refutable:.1f}"
        cells = [row.algorithm, *numbers, *([_format_loss(row, losses)] if losses else [])]
        counts = f" ({row.count:,} of {row.of:,} right)" if row.layer == ONE_RUN else ""
        lines.append([*cells, f"{row.where}: {row.event}{counts}"])
    return "\n".join(_align_cells(lines))


def _align_cells(lines: Sequence[Sequence[str]]) -> list[str]:
    """Return lines of cells as text, in which all columns but the last have one width."""
    *columns, last = zip(*lines, strict=True)
    padded = []
    for column in columns:
        width = max(map(len, column))
        padded.append([cell.ljust(width) for cell in column])
    return list(map("  ".join, zip(*padded, last, strict=True)))


def _format_loss(row: BoundRow, losses: Mapping) -> str:
    """Return the largest loss of an algorithm as a cell; the pair is named if it is not that of the row."""
    loss, where = losses.get(row.kind, (math.nan, row.where))
    if math.isnan(loss):
        return ""
    return f"{loss:.3f}" if where == row.where else f"{loss:.3f} ({where})"


def _describe_violations(rows: list[BoundRow]) -> str:
    """Return what a reader needs to check violations by one event with their own eyes."""
    first = rows[0]
    lines = [
        f"{first.where}, {first.neighbours}",
        f"  columns    {first.columns}",
        f"  table      {first.table}",
        f"  neighbour  {first.neighbour}",
        f"  event      {first.event}",
    ]
    for row in rows:
        params = ", ".join(f"{name}={value}" for name, value in json.loads(row.params).items())
        other = "table" if row.on == "neighbour" else "neighbour"
        counts = f"on the {row.on} in {row.count:,} of {row.of:,} trainings, on the {other} in {row.other:,}"
        lines += [
            f"  {row.algorithm} claims {row.claimed:g}, measured was at least {row.bound:.3f}: {counts}",
            f"             epsilon={row.epsilon:g}, {params}",
        ]
    return "\n".join(lines)


# Files.


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


def write_summary(
    result: AuditResult, folder: Path, name: str = "audit", provenance: Mapping | None = None
) -> list[Path]:
    """Write the results in short, to be shown beside experiments, and where they come from, if that is given.

    Of the black box that is the pair of tables that shows most of each algorithm, with the largest exact loss on any of
    its pairs of that kind and the name of that pair; of canaries each run; of releases those that are told apart.
    """
    table, origin = folder / f"{name.replace('audit', 'summary', 1)}.csv", folder / "provenance.json"
    _summarise(result).to_csv(table, index=False, float_format="%.6g", lineterminator="\n")
    if provenance is None:
        return [table]
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
            rows.append(_make_unmeasured_row(verdict.algorithm, layer, result.epsilon, verdict.verdict))
    return rows


def _make_unmeasured_row(algorithm: str, layer: str, epsilon: float, verdict: str) -> BoundRow:
    """Return the row of an algorithm that no attack could be made on, so that a summary of bounds names it."""
    given: dict[str, Any] = {"layer": layer, "params": "{}", "keeps_claim": False, "verdict": verdict}
    given |= dict.fromkeys(("epsilon", "claimed", "accounted"), epsilon)
    given |= dict.fromkeys(("neighbours", "where", "event"), "")
    given |= dict.fromkeys(("n", "count", "of", "other", "other_of", "bound", "refutable"), 0)
    return BoundRow(algorithm=algorithm, **given)


def _describe_row(row: BoundRow, verdicts: list[AlgorithmVerdict]) -> dict:
    """Return a row with the verdict of its algorithm, and the reason."""
    (verdict,) = (verdict for verdict in verdicts if verdict.algorithm == row.algorithm)
    return asdict(row) | {"verdict": verdict.verdict, "reason": verdict.reason}


def _write_json(contents: Mapping, path: Path) -> None:
    text = json.dumps(json_safe(contents), indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")
