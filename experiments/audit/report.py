"""What an audit found, for people and for programs."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pandas as pd
from sklearn.base import BaseEstimator

from algorithms.domain import Continuous, Domain
from experiments.audit.attacks.black_box import (
    NOT_REFUTED,
    NOTHING_CLAIMED,
    TIGHTLY_KEPT,
    VIOLATED,
    PairFinding,
    select_params,
)
from experiments.audit.attacks.canaries import CanaryFinding
from experiments.audit.attacks.release_path import ReleaseFinding
from experiments.audit.bounds import FALSE_ALARMS
from experiments.audit.laws import worst_cases
from experiments.audit.neighbouring_tables import RecordValues
from experiments.audit.replay.replay_audit import ReplayReport
from experiments.cells.cell import canonical, json_safe

BLACK_BOX, WAY_OUT, ONE_RUN = "black box", "way out", "one run"
_SUMMARY = ["algorithm", "layer", "epsilon", "claimed", "accounted", "keeps_claim", "neighbours", "where", "event", "n"]
_SUMMARY += ["count", "of", "bound", "refutable", "verdict", "loss", "loss_where"]
ROUNDING = 1e-9
VERDICTS = (VIOLATED, TIGHTLY_KEPT, NOT_REFUTED, NOTHING_CLAIMED)


@dataclass(frozen=True)
class BoundRow:
    """One bound of one algorithm: a line of ``audit.csv``.

    Parameters
    ----------
    layer : str
        "black box", "way out" or "one run".
    algorithm, params : str
        Its name, and the parameters of what was trained, as canonical JSON.
    epsilon, claimed, accounted : float
        The ε it was given, what it claims for these neighbours by that, and what its own ledger says.
    keeps_claim : bool
        Whether it calls itself sound.
    neighbours : str
        In what the tables differ.
    where : str
        The pair of tables, or the data set.
    event : str
        What happens more often on one of them, or how was guessed.
    n : int
        Trainings on each table.
    count, of, other, other_of : int
        How often it happened where it is more likely, of how many trainings, and on the other table; or how many of the
        guesses were right.
    bound, refutable : float
        ε is at least so much; the largest bound that was possible.
    verdict : str
        One of ``VERDICTS``.
    on : str
        Where the event is more likely.
    columns, table, neighbour : str
        The tables in words, to be checked by hand.
    loss : float
        The largest exact loss of some trainings on these tables, of a forest that calls itself sound; else NaN.
    """

    layer: str
    algorithm: str
    params: str
    epsilon: float
    claimed: float
    accounted: float
    keeps_claim: bool
    neighbours: str
    where: str
    event: str
    n: int
    count: int
    of: int
    other: int
    other_of: int
    bound: float
    refutable: float
    verdict: str
    on: str = ""
    columns: str = ""
    table: str = ""
    neighbour: str = ""
    loss: float = math.nan

    @property
    def is_alarming(self) -> bool:
        """Whether what calls itself sound was convicted, or a training of it lost more than that claims."""
        return self.keeps_claim and (self.verdict == VIOLATED or self.loss > self.claimed * (1 + ROUNDING))


@dataclass(frozen=True)
class AuditResult:
    """All that an audit found.

    Parameters
    ----------
    bounds : list of Row
        What the black box and one runs found.
    replays : list of replay.Report
        What the replays of the same algorithms found.
    laws : list of exact.Row
        What the exact laws of discrete choices found.
    """

    bounds: list[BoundRow]
    replays: list[ReplayReport]
    laws: list[worst_cases.WorstCase]

    @property
    def is_alarming(self) -> bool:
        """Whether anything that calls itself sound was convicted."""
        return (
            any(row.is_alarming for row in self.bounds)
            or any(report.keeps_claim and report.failures for report in self.replays)
            or not all(law.holds for law in self.laws)
        )


def make_black_box_row(algorithm: str, finding: PairFinding) -> BoundRow:
    """Return the row of what the black box found on a pair of tables."""
    pair, privacy, counted = finding.pair, finding.privacy, finding.counted
    return BoundRow(
        layer=BLACK_BOX,
        algorithm=algorithm,
        params=canonical(finding.params),
        epsilon=privacy.claimed_epsilon,
        claimed=finding.claimed,
        accounted=privacy.accounted(pair.neighbours),
        keeps_claim=privacy.keeps_claim,
        neighbours=pair.neighbours,
        where=pair.name,
        event=finding.event,
        n=finding.n,
        count=finding.counts[0],
        of=counted,
        other=finding.counts[1],
        other_of=counted,
        bound=finding.bound,
        refutable=finding.refutable,
        verdict=finding.verdict,
        on="neighbour" if finding.on_neighbour else "table",
        columns=_columns(pair.domain),
        table=_records(pair.table),
        neighbour=_records(pair.neighbour),
    )


def make_canary_row(algorithm: str, dataset: str, forest: BaseEstimator, run: CanaryFinding) -> BoundRow:
    """Return the row of one run."""
    privacy, trees = run.privacy, forest.get_params().get("n_estimators", 1)
    return BoundRow(
        layer=ONE_RUN,
        algorithm=algorithm,
        params=canonical(select_params(forest)),
        epsilon=privacy.claimed_epsilon,
        claimed=privacy.claimed_epsilon,
        accounted=privacy.accounted_epsilon,
        keeps_claim=privacy.keeps_claim,
        neighbours=privacy.neighbours,
        where=f"{dataset}, {trees} tree{'' if trees == 1 else 's'}, {run.canaries:,} canaries",
        event=run.rule,
        n=1,
        count=run.correct,
        of=run.guesses,
        other=run.guesses - run.correct,
        other_of=run.guesses,
        bound=run.bound,
        refutable=run.refutable,
        verdict=run.verdict,
    )


def make_release_row(broken: ReleaseFinding) -> BoundRow:
    """Return the row of what came out of a door."""
    return BoundRow(
        layer=WAY_OUT,
        algorithm=broken.algorithm,
        params=canonical(broken.params),
        epsilon=broken.epsilon,
        claimed=broken.claimed,
        accounted=broken.accounted,
        keeps_claim=True,
        neighbours=broken.neighbours,
        where=broken.where,
        event=broken.event,
        n=broken.n,
        count=broken.counts[0],
        of=broken.counted,
        other=broken.counts[1],
        other_of=broken.counted,
        bound=broken.bound,
        refutable=broken.refutable,
        verdict=broken.verdict,
        on="neighbour" if broken.on_neighbour else "table",
    )


def format_report(found: AuditResult) -> str:
    """Return what was found as text: a line for each algorithm, then the violations, to be checked by hand."""
    of_layer = {layer: [row for row in found.bounds if row.layer == layer] for layer in (BLACK_BOX, WAY_OUT, ONE_RUN)}
    parts = [
        _told_of_laws(found.laws),
        _told_of_boxes(of_layer[BLACK_BOX], {report.name: _replay(report) for report in found.replays}),
        _told_of_doors(of_layer[WAY_OUT]),
        _told_of_runs(of_layer[ONE_RUN]),
        _told_of_violations([row for row in of_layer[BLACK_BOX] if row.verdict == VIOLATED]),
    ]
    return "\n\n".join(filter(None, parts))


def _told_of_laws(laws: Sequence[worst_cases.WorstCase]) -> str:
    if not laws:
        return ""
    broken = [law for law in laws if not law.holds]
    said = f"{len(broken)} exceed it: {broken}" if broken else "none exceeds it"
    return f"Exact laws of {len(laws)} discrete choices, the largest log-ratio against the proven ε: {said}."


def _told_of_boxes(rows: list[BoundRow], replays: Mapping[str, str]) -> str:
    if not rows:
        return ""
    head = (
        f"Many trainings, up to {max(row.n for row in rows):,} on each of two neighbouring tables: the pair that\n"
        "shows most, what is claimed and accounted for its kind of neighbours, the largest exact loss of some\n"
        "trainings of a sound forest on pairs of that kind, and whether the replay of a single training holds."
    )
    return f"{head}\n\n{_grid(_worst(rows), replays, find_largest_losses(rows))}"


def _told_of_doors(rows: list[BoundRow]) -> str:
    if not rows:
        return ""
    broken = _worst([row for row in rows if row.verdict == VIOLATED])
    n_algorithms, n_kinds = (len({getattr(row, name) for row in rows}) for name in ("algorithm", "where"))
    whose = f"{n_algorithms} algorithm{'s' if n_algorithms > 1 else ''}"
    head = (
        f"Real releases of {whose}, {max(row.n for row in rows):,} from each of two tables that are\n"
        f"built to slip past mechanisms, {n_kinds} kinds of them: "
    )
    return head + (
        f"some are told apart.\n\n{_grid(broken)}" if broken else "none is told apart by more than the claim."
    )


def _told_of_runs(rows: list[BoundRow]) -> str:
    head = "One training with canaries among the rows, which are guessed to be in or out."
    return f"{head}\n\n{_grid(sorted(rows, key=_order))}" if rows else ""


def _told_of_violations(rows: list[BoundRow]) -> str:
    if not rows:
        return ""
    by_event = defaultdict(list)
    for row in _worst(rows):
        by_event[row.table, row.neighbour, row.event].append(row)
    head = f"Violations, to be checked by hand; all bounds of an algorithm hold together with {1 - FALSE_ALARMS:.1%}."
    return "\n\n".join([head, *map(_evidence, by_event.values())])


def write_results(found: AuditResult, folder: Path, name: str = "audit") -> list[Path]:
    """Write the bounds as CSV, and all that was found as JSON; returns the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / f"{name}.csv", folder / f"{name}.json"
    pd.DataFrame([asdict(row) for row in found.bounds]).to_csv(paths[0], index=False)
    _write_json(asdict(found), paths[1])
    return list(paths)


def write_summary(found: AuditResult, folder: Path, provenance: Mapping) -> list[Path]:
    """Write what a complete audit found in short, to be shown beside results, and where it comes from.

    Of the black box that is the pair of tables that shows most of each algorithm, with the largest exact loss on any of
    its pairs of that kind and the name of that pair; of the runs each; of the ways out those that are broken.
    """
    paths = folder / "summary.csv", folder / "provenance.json"
    of_layer = {layer: [row for row in found.bounds if row.layer == layer] for layer in (BLACK_BOX, ONE_RUN)}
    broken = [row for row in found.bounds if row.layer == WAY_OUT and row.verdict == VIOLATED]
    kept = [*_worst(of_layer[BLACK_BOX]), *of_layer[ONE_RUN], *_worst(broken)]
    kept.sort(key=lambda row: (row.algorithm, row.layer))
    lost = find_largest_losses(found.bounds)
    losses = [dict(zip(("loss", "loss_where"), lost.get(_kind(row), ("", "")), strict=True)) for row in kept]
    frame = pd.DataFrame([asdict(row) | loss for row, loss in zip(kept, losses, strict=True)], columns=_SUMMARY)
    frame.to_csv(paths[0], index=False, float_format="%.6g", lineterminator="\n")
    _write_json(provenance, paths[1])
    return list(paths)


def find_largest_losses(rows: Sequence[BoundRow]) -> dict[tuple[str, str, str], tuple[float, str]]:
    """Return the largest exact loss, and its pair, by layer, algorithm and kind of neighbours, where there is any."""
    found: dict = {}
    for row in rows:
        if not math.isnan(row.loss):
            found[_kind(row)] = max(found.get(_kind(row), (-math.inf, "")), (row.loss, row.where))
    return found


def _kind(row: BoundRow) -> tuple[str, str, str]:
    return row.layer, row.algorithm, row.neighbours


def _write_json(contents: Mapping, path: Path) -> None:
    text = json.dumps(json_safe(contents), indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def _replay(report: ReplayReport) -> str:
    """Return in a word what the replay of an algorithm found."""
    return "broken" if report.failures else "holds"


def _order(row: BoundRow) -> tuple:
    shown = row.bound / row.claimed if math.isfinite(row.claimed) else row.bound
    return VERDICTS.index(row.verdict), -shown, row.algorithm


def _worst(rows: list[BoundRow]) -> list[BoundRow]:
    """Return of each algorithm the row that shows most, the worst verdicts first."""
    first: dict = {}
    for row in sorted(rows, key=_order):
        first.setdefault(row.algorithm, row)
    return list(first.values())


def _grid(rows: list[BoundRow], replays: Mapping[str, str] | None = None, lost: Mapping | None = None) -> str:
    """Return rows as a table, with the largest losses and with what the replays found where these are known."""
    known = [name for name, there in (("exact loss", lost), ("replay", replays)) if there]
    cells = [("algorithm", "claims", "accounts", "shows", "verdict", *known, "by")]
    for row in rows:
        refutable = f" (up to {row.refutable:.1f})" if row.verdict == NOT_REFUTED else ""
        numbers = f"{row.claimed:.4g}", f"{row.accounted:.4g}", f">= {row.bound:.3f}"
        counts = f" ({row.count:,} of {row.of:,} right)" if row.layer == ONE_RUN else ""
        told = [_lost(row, lost)] if lost else []
        told += [replays.get(row.algorithm, "")] if replays else []
        cells.append((row.algorithm, *numbers, row.verdict + refutable, *told, f"{row.where}: {row.event}{counts}"))
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)][:-1]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(line, widths, strict=False)), line[-1]]) for line in cells
    )


def _lost(row: BoundRow, lost: Mapping) -> str:
    """Return the largest loss of an algorithm as a cell; the pair is named if it is not that of the row."""
    loss, where = lost.get(_kind(row), (math.nan, row.where))
    return "" if math.isnan(loss) else f"{loss:.3f}" + (f" ({where})" if where != row.where else "")


def _evidence(rows: list[BoundRow]) -> str:
    """Say what somebody needs who wants to see violations by one event with their own eyes."""
    first = rows[0]
    lines = [
        f"{first.where}, {first.neighbours}",
        f"  columns    {first.columns}",
        f"  table      {first.table}",
        f"  neighbour  {first.neighbour}",
        f"  event      {first.event}",
    ]
    for row in rows:
        given = ", ".join(f"{name}={value}" for name, value in json.loads(row.params).items())
        other = "table" if row.on == "neighbour" else "neighbour"
        counts = f"on the {row.on} in {row.count:,} of {row.of:,} trainings, on the {other} in {row.other:,}"
        lines += [
            f"  {row.algorithm} claims {row.claimed:g} and shows at least {row.bound:.3f}: {counts}",
            f"             epsilon={row.epsilon:g}, {given}",
        ]
    return "\n".join(lines)


def _columns(domain: Domain) -> str:
    """Return a domain in words.

    Examples
    --------
    >>> from algorithms import Nominal
    >>> _columns(Domain((Continuous("x", 0, 9), Nominal("a", ("b", "c"))), Nominal("y", tuple(range(9)))))
    'x from 0 to 9; a: b, c; y: 0, 1, ..., 8'
    """
    words = []
    for column in filter(None, (*domain.features, domain.target)):
        if isinstance(column, Continuous):
            words.append(f"{column.name} from {column.lower:g} to {column.upper:g}")
        else:
            names = list(map(str, column.categories))
            words.append(f"{column.name}: {', '.join(names if len(names) < 6 else [*names[:2], '...', names[-1]])}")
    return "; ".join(words)


def _records(records: tuple[RecordValues, ...]) -> str:
    """Return a table in a line; a record that stands several times is counted where it comes first.

    Examples
    --------
    >>> _records((("red", "no"), ("red", "no"), ("blue", "yes")))
    '2 x (red, no), (blue, yes)'
    """
    counts = Counter(records)
    words = [f"{f'{n} x ' if n > 1 else ''}({', '.join(map(str, record))})" for record, n in counts.items()]
    return ", ".join(words if len(words) < 16 else [*words[:4], "...", *words[-2:]])
