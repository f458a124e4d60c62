"""All results of an audit, one verdict of each algorithm with its reason, and both as text and as files.

The text has a line for each algorithm, then the violations, to be checked by hand. Of the files one has all results for
programs, another what is shown beside experiments. A row says of its algorithm what the whole audit does: ``verdict``
and ``reason`` are the same in all rows of one.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from algorithms.whole_files import write_text
from experiments.audit.laws import WorstCase
from experiments.audit.outcomes import (
    BLACK_BOX,
    FALSE_ALARMS,
    NOT_AUDITED,
    NOT_REFUTED,
    NOTHING_CLAIMED,
    ONE_RUN,
    OUTCOMES,
    REPLAY,
    UNPROVEN,
    VIOLATED,
    WAY_OUT,
    BoundRow,
    Unaudited,
    exceeds,
    find_largest_losses,
    round_down,
    round_up,
    select_violations,
    select_worst,
)
from experiments.audit.replay.replay_audit import ReplayReport
from experiments.store.json_files import write_json

CLAIMS_ONLY = (
    "it only claims an ε. Give it released_(), all that it would publish, and it is attacked; draw its noise from "
    "algorithms.mechanisms, and it is replayed"
)
_SUMMARY = ["algorithm", "layer", "epsilon", "claimed", "accounted", "keeps_claim", "neighbours", "where", "event", "n"]
_SUMMARY += ["count", "of", "bound", "refutable", "verdict", "loss", "loss_where", "reason", "version"]


@dataclass(frozen=True)
class AuditResult:
    """All results of an audit."""

    bounds: list[BoundRow]  #: of the black box, of real releases and of canaries
    replays: list[ReplayReport]
    laws: list[WorstCase]
    claims_only: list[str] = field(default_factory=list)  #: algorithms that claim an ε and offer nothing to be attacked
    unaudited: list[Unaudited] = field(default_factory=list)
    epsilon: float = 1.0  #: what algorithms were to claim
    versions: dict[str, str] = field(default_factory=dict)  #: of the algorithms, as they were when it began

    @property
    def is_alarming(self) -> bool:
        """Whether anything that calls itself sound violates its claim."""
        return (
            any(row.is_alarming for row in self.bounds)
            or any(report.keeps_claim and report.failures for report in self.replays)
            or not all(law.holds for law in self.laws)
        )

    def add(self, found: BoundRow | Unaudited) -> None:
        """Add a bound, or what could not be done."""
        if isinstance(found, Unaudited):
            self.unaudited.append(found)
        else:
            self.bounds.append(found)

    def select_layer(self, layer: str) -> list[BoundRow]:
        """Return the rows of a layer."""
        return [row for row in self.bounds if row.layer == layer]


@dataclass(frozen=True)
class AlgorithmVerdict:
    """What an audit says of an algorithm: one of ``OUTCOMES``, and why, in words."""

    algorithm: str
    verdict: str
    reason: str

    def __str__(self) -> str:
        return f"{OUTCOMES[self.verdict]}: {self.reason}"


def judge_algorithms(result: AuditResult) -> list[AlgorithmVerdict]:
    """Return the verdict of each algorithm of an audit, the worst first."""
    replays = {report.name: report for report in result.replays}
    names = {row.algorithm: None for row in result.bounds} | dict.fromkeys(replays)
    names |= {gap.algorithm: None for gap in result.unaudited} | dict.fromkeys(result.claims_only)
    verdicts = []
    for name in names:
        left_out = [gap.reason for gap in result.unaudited if gap.algorithm == name]
        verdict, reason = _judge(_select_rows(result.bounds, name), replays.get(name), left_out)
        verdicts.append(AlgorithmVerdict(name, verdict, reason))
    return sorted(verdicts, key=lambda verdict: (list(OUTCOMES).index(verdict.verdict), verdict.algorithm))


def _select_rows(rows: Sequence[BoundRow], algorithm: str) -> list[BoundRow]:
    """Return the rows of an algorithm, of each layer the one that shows most, the worst first."""
    worst = []
    for layer in (BLACK_BOX, WAY_OUT, ONE_RUN):
        worst += select_worst(row for row in rows if (row.layer, row.algorithm) == (layer, algorithm))
    return sorted(worst, key=lambda row: row.rank)


def _judge(rows: Sequence[BoundRow], replay: ReplayReport | None, left_out: Sequence[str]) -> tuple[str, str]:
    claims = [row for row in rows if math.isfinite(row.claimed)]
    if rows and not claims:
        return NOTHING_CLAIMED, f"measured ε ≥ {round_down(rows[0].bound)}"
    if breaches := list(_list_breaches(claims, replay)):
        return VIOLATED, "; ".join(breaches)
    if not claims and not replay:
        return NOT_AUDITED, left_out[0] if left_out else CLAIMS_ONLY
    said = _describe_bound(claims[0]) if claims else "no attack was made"
    if doubt := _find_doubt(claims, replay):
        return UNPROVEN, "; ".join([said, doubt, *left_out])
    if replay and not claims:
        said = f"a replay of {replay.n_calls} calls of mechanisms keeps all rules; {said}"
    return claims[0].verdict if claims else NOT_REFUTED, "; ".join([said, *left_out])


def _list_breaches(rows: Sequence[BoundRow], replay: ReplayReport | None) -> Iterator[str]:
    """Yield in words what breaks a claim: first what names the cause, then what was measured."""
    if replay and replay.failures and replay.keeps_claim:
        yield replay.reason
    for row in rows:
        if row.verdict == VIOLATED:
            yield _describe_bound(row)
            return
        if row.keeps_claim and exceeds(row.loss, row.claimed):
            yield f"a training lost {row.loss:.3g} where {row.claimed:g} is claimed, on “{row.where}”"


def _find_doubt(rows: Sequence[BoundRow], replay: ReplayReport | None) -> str:
    """Return in words why a claim is not backed, of an algorithm that does not call itself sound; else nothing."""
    if any(row.keeps_claim for row in rows) or (replay and replay.keeps_claim):
        return ""
    for row in rows:
        if exceeds(row.accounted, row.claimed):
            accounted = f"{row.accounted:.3g}" if math.isfinite(row.accounted) else "no finite ε"
            return f"its own account says {accounted} where {row.claimed:g} is claimed"
    return "its own account does not back its claim"


def _describe_bound(row: BoundRow) -> str:
    """Return in words what was measured of which claim, and where if it is broken.

    Examples
    --------
    >>> parts = {"algorithm": "mine", "params": "{}", "epsilon": 1.0, "claimed": 1.0, "accounted": 1.0, "event": "e"}
    >>> parts |= {"keeps_claim": True, "neighbours": "", "where": "a tie", "count": 9, "of": 9, "other": 0}
    >>> row = BoundRow("black box", n=20_000, other_of=9, bound=0.4, refutable=2.0, verdict="not refuted", **parts)
    >>> _describe_bound(row)
    'nothing above 0.40 in 20,000 trainings, where 1 is claimed'
    """
    how = {
        BLACK_BOX: f"{row.n:,} trainings",
        WAY_OUT: f"{row.n:,} releases",
        ONE_RUN: f"one training on {row.where}",
    }[row.layer]
    if row.verdict != VIOLATED:
        return f"nothing above {round_up(row.bound)} in {how}, where {row.claimed:g} is claimed"
    where = f"in {how}" if row.layer == ONE_RUN else f"on “{row.where}”, {how}"
    return f"measured ε ≥ {round_down(row.bound)} where {row.claimed:g} is claimed, {where}"


# Text.


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
    lines = [["algorithm", "claims", "accounts", "measured", "at most", *(["exact loss"] if losses else []), "by"]]
    for row in rows:
        numbers = f"{row.claimed:.4g}", f"{row.accounted:.4g}", f">= {round_down(row.bound, 3)}", f"{row.refutable:.1f}"
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
        params = [f"{name}={value}" for name, value in json.loads(row.params).items()]
        other = "table" if row.on == "neighbour" else "neighbour"
        counts = f"on the {row.on} in {row.count:,} of {row.of:,} trainings, on the {other} in {row.other:,}"
        lines += [
            f"  {row.algorithm} claims {row.claimed:g}, measured was at least {row.bound:.3f}: {counts}",
            f"             {', '.join([f'epsilon={row.epsilon:g}', *params])}",
        ]
    return "\n".join(lines)


# Files.


def write_results(result: AuditResult, folder: Path, name: str = "audit") -> list[Path]:
    """Write the bounds as CSV, and all results as JSON; returns the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    table, everything = folder / f"{name}.csv", folder / f"{name}.json"
    verdicts = judge_algorithms(result)
    rows = [_describe_row(row, verdicts) for row in _list_rows(result, result.bounds, verdicts)]
    write_text(table, pd.DataFrame(rows).to_csv(index=False))
    contents = {"verdicts": list(map(asdict, verdicts)), **asdict(result), "bounds": rows}
    write_json(contents, everything)
    return [table, everything]


def write_summary(result: AuditResult, folder: Path, provenance: Mapping, name: str = "audit") -> list[Path]:
    """Write the results in short, to be shown beside experiments, and where they come from.

    Each row has the version of its algorithm, so that whoever shows it sees of which code and settings it is. Of the
    black box that is the pair of tables that shows most of each algorithm, with the largest exact loss on any of its
    pairs of that kind and the name of that pair; of canaries each run; of releases those that are told apart.
    """
    table = folder / f"{name.replace('audit', 'summary', 1)}.csv"
    origin = folder / f"{name.replace('audit', 'provenance', 1)}.json"
    write_text(table, summarise(result).to_csv(index=False, float_format="%.6g", lineterminator="\n"))
    write_json(provenance, origin)
    return [table, origin]


def summarise(result: AuditResult) -> pd.DataFrame:
    """Return the rows that `write_summary` writes."""
    violations = select_violations(result.select_layer(WAY_OUT))
    shown = [*select_worst(result.select_layer(BLACK_BOX)), *result.select_layer(ONE_RUN), *select_worst(violations)]
    verdicts, largest = judge_algorithms(result), find_largest_losses(result.bounds)
    rows = sorted(_list_rows(result, shown, verdicts), key=lambda row: (row.algorithm, row.layer))
    described = []
    for row in rows:
        loss, where = largest.get(row.kind, ("", ""))
        version = result.versions.get(row.algorithm, "")
        described.append(_describe_row(row, verdicts) | {"loss": loss, "loss_where": where, "version": version})
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
    (verdict,) = (verdict for verdict in verdicts if verdict.algorithm == row.algorithm)
    return asdict(row) | {"verdict": verdict.verdict, "reason": verdict.reason}
