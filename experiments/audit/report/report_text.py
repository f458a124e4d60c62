"""Format the results of an audit as text: a line for each algorithm, then the violations, to be checked by hand."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from experiments.audit.bounds import FALSE_ALARMS
from experiments.audit.laws.worst_cases import WorstCase
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
from experiments.audit.report.verdicts import AlgorithmVerdict, judge_algorithms


def format_report(result: AuditResult) -> str:
    """Return the results as text: a verdict of each algorithm, then the layers that have rows."""
    black_box = result.select_layer(BLACK_BOX)
    parts = [
        _format_verdicts(judge_algorithms(result)),
        _format_laws(result.laws),
        _format_black_box(black_box),
        _format_releases(result.select_layer(WAY_OUT)),
        _format_canaries(result.select_layer(ONE_RUN)),
        _format_violations(select_violations(black_box)),
    ]
    return "\n\n".join(filter(None, parts))


def _format_verdicts(verdicts: Sequence[AlgorithmVerdict]) -> str:
    return "\n".join(_align_cells([(verdict.algorithm, str(verdict)) for verdict in verdicts])) if verdicts else ""


def _format_laws(laws: Sequence[WorstCase]) -> str:
    if not laws:
        return ""
    broken = [law for law in laws if not law.holds]
    outcome = f"{len(broken)} exceed it: {broken}" if broken else "none exceeds it"
    return f"Exact laws of {len(laws)} discrete choices, the largest log-ratio against the proven ε: {outcome}."


def _format_black_box(rows: list[BoundRow]) -> str:
    if not rows:
        return ""
    head = (
        f"Up to {max(row.n for row in rows):,} trainings on each of two neighbouring tables: what is claimed, what\n"
        "the account says, the largest ε that an attack measured, on the pair that shows most, and the largest\n"
        "that so many trainings could show. Where there is one: the largest exact loss of a training."
    )
    return f"{head}\n\n{_format_table(select_worst(rows), find_largest_losses(rows))}"


def _format_releases(rows: list[BoundRow]) -> str:
    if not rows:
        return ""
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


def _format_canaries(rows: list[BoundRow]) -> str:
    if not rows:
        return ""
    head = "One training with canaries among the rows: an attack guesses which were in."
    return f"{head}\n\n{_format_table(sorted(rows, key=lambda row: row.rank))}"


def _format_violations(rows: list[BoundRow]) -> str:
    if not rows:
        return ""
    by_event = defaultdict(list)
    for row in select_worst(rows):
        by_event[row.table, row.neighbour, row.event].append(row)
    sure = f"{100 * (1 - FALSE_ALARMS):g} %"
    head = f"Broken claims, to be checked by hand; all bounds of an algorithm hold together with {sure}."
    return "\n\n".join([head, *map(_describe_violations, by_event.values())])


def _format_table(rows: Sequence[BoundRow], losses: Mapping | None = None) -> str:
    """Return rows as a table, with the largest losses where there are any."""
    header = ["algorithm", "claims", "accounts", "measured", "at most", *(["exact loss"] if losses else []), "by"]
    lines = [header]
    for row in rows:
        cells = [row.algorithm, f"{row.claimed:.4g}", f"{row.accounted:.4g}", f">= {row.bound:.3f}"]
        cells.append(f"{row.refutable:.1f}")
        cells += [_format_loss(row, losses)] if losses else []
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
