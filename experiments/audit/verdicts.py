"""All results of an audit, and one verdict of each algorithm, with its reason: what all layers say together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from experiments.audit.bounds import exceeds
from experiments.audit.laws.worst_cases import WorstCase
from experiments.audit.outcomes import (
    BLACK_BOX,
    NOT_AUDITED,
    NOT_REFUTED,
    NOTHING_CLAIMED,
    ONE_RUN,
    OUTCOMES,
    UNPROVEN,
    VIOLATED,
    WAY_OUT,
    BoundRow,
    Unaudited,
    select_worst,
)
from experiments.audit.replay.replay_audit import ReplayReport

CLAIMS_ONLY = (
    "it only claims an ε. Give it released_(), all that it would publish, and it is attacked; draw its noise from "
    "algorithms.mechanisms, and it is replayed"
)


@dataclass(frozen=True)
class AuditResult:
    """All results of an audit."""

    bounds: list[BoundRow]  #: of the black box, of real releases and of canaries
    replays: list[ReplayReport]
    laws: list[WorstCase]
    claims_only: list[str] = field(default_factory=list)  #: algorithms that claim an ε and offer nothing to be attacked
    unaudited: list[Unaudited] = field(default_factory=list)
    epsilon: float = 1.0  #: what algorithms were to claim

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
    """Return a verdict and its reason."""
    claims = [row for row in rows if math.isfinite(row.claimed)]
    if rows and not claims:
        return NOTHING_CLAIMED, f"measured ε ≥ {rows[0].bound:.2f}"
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
    """Return in words what was measured of a claim, and where if it is broken.

    Examples
    --------
    >>> parts = {"algorithm": "mine", "params": "{}", "epsilon": 1.0, "claimed": 1.0, "accounted": 1.0, "event": "e"}
    >>> parts |= {"keeps_claim": True, "neighbours": "", "where": "a tie", "count": 9, "of": 9, "other": 0}
    >>> row = BoundRow("black box", n=20_000, other_of=9, bound=0.4, refutable=2.0, verdict="not refuted", **parts)
    >>> _describe_bound(row)
    'nothing above 0.40 in 20,000 trainings'
    """
    how = {
        BLACK_BOX: f"{row.n:,} trainings",
        WAY_OUT: f"{row.n:,} releases",
        ONE_RUN: f"one training on {row.where}",
    }[row.layer]
    if row.verdict != VIOLATED:
        return f"nothing above {row.bound:.2f} in {how}"
    where = f"in {how}" if row.layer == ONE_RUN else f"on “{row.where}”, {how}"
    return f"measured ε ≥ {row.bound:.2f} where {row.claimed:g} is claimed, {where}"
