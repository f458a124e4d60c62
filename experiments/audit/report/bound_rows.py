"""All results of an audit: each bound of ε as a row, the replays, and the worst cases of exact laws."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sklearn.base import BaseEstimator

from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous, Nominal
from experiments.audit.attacks.black_box import PairFinding, Refutation, select_params
from experiments.audit.attacks.canaries import CanaryFinding
from experiments.audit.attacks.release_path import ReleaseFinding
from experiments.audit.laws.worst_cases import WorstCase
from experiments.audit.neighbouring_tables import RecordValues
from experiments.audit.outcomes import NOT_REFUTED, NOTHING_CLAIMED, TIGHTLY_KEPT, VIOLATED
from experiments.audit.replay.replay_audit import ReplayReport
from experiments.cells.cell import format_canonical
from experiments.store.accounts import is_claim_only

BLACK_BOX, WAY_OUT, ONE_RUN, REPLAY = "black box", "way out", "one run", "replay"
ROUNDING = 1e-9
VERDICTS = (VIOLATED, TIGHTLY_KEPT, NOT_REFUTED, NOTHING_CLAIMED)
"""From the worst to the best."""


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
        Whether it calls itself sound: by its account, or because it claims an ε without any account.
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
        """Whether an algorithm that calls itself sound violates its claim, or a training of it lost more than that."""
        return self.keeps_claim and (self.verdict == VIOLATED or exceeds_claim(self.loss, self.claimed))

    @property
    def kind(self) -> tuple[str, str, str]:
        """Layer, algorithm and kind of neighbours."""
        return self.layer, self.algorithm, self.neighbours

    @property
    def rank(self) -> tuple[int, float, str]:
        """What rows are sorted by, those that show most first."""
        shown = self.bound / self.claimed if math.isfinite(self.claimed) else self.bound
        return VERDICTS.index(self.verdict), -shown, self.algorithm


def exceeds_claim(epsilon: float, claimed: float) -> bool:
    """Return whether an ε is larger than one that is claimed, by more than rounding."""
    return epsilon > claimed * (1 + ROUNDING)


@dataclass(frozen=True)
class Unaudited:
    """A part of an audit that an algorithm could not be put through.

    Parameters
    ----------
    algorithm : str
        Its name.
    layer : str
        As of a `BoundRow`.
    reason : str
        What was left out, and why.
    has_failed : bool
        Whether it was tried.
    """

    algorithm: str
    layer: str
    reason: str
    has_failed: bool = True


@dataclass(frozen=True)
class AuditResult:
    """All results of an audit.

    Parameters
    ----------
    bounds : list of BoundRow
        Of the black box, of real releases and of canaries.
    replays : list of ReplayReport
        Of the same algorithms.
    laws : list of WorstCase
        Of discrete choices.
    claims_only : list of str
        Algorithms that claim an ε and offer nothing to be attacked.
    unaudited : list of Unaudited
        What could not be done.
    epsilon : float
        What algorithms were to claim.
    """

    bounds: list[BoundRow]
    replays: list[ReplayReport]
    laws: list[WorstCase]
    claims_only: list[str] = field(default_factory=list)
    unaudited: list[Unaudited] = field(default_factory=list)
    epsilon: float = 1.0

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


def make_black_box_row(algorithm: str, finding: PairFinding) -> BoundRow:
    """Return the row of what many trainings on a pair of tables show."""
    pair, privacy = finding.pair, finding.privacy
    return BoundRow(
        layer=BLACK_BOX,
        algorithm=algorithm,
        params=format_canonical(finding.params),
        epsilon=privacy.claimed_epsilon,
        claimed=finding.claimed,
        accounted=privacy.accounted(pair.neighbours),
        keeps_claim=privacy.keeps_claim or is_claim_only(privacy),
        neighbours=pair.neighbours,
        where=pair.name,
        verdict=finding.verdict,
        columns=_describe_domain(pair.domain),
        table=_describe_records(pair.table),
        neighbour=_describe_records(pair.neighbour),
        **_columns_of_refutation(finding),
    )


def make_canary_row(algorithm: str, dataset: str, forest: BaseEstimator, finding: CanaryFinding) -> BoundRow:
    """Return the row of what one training with canaries shows."""
    privacy, trees = finding.privacy, forest.get_params().get("n_estimators", 1)
    return BoundRow(
        layer=ONE_RUN,
        algorithm=algorithm,
        params=format_canonical(select_params(forest)),
        epsilon=privacy.claimed_epsilon,
        claimed=privacy.claimed_epsilon,
        accounted=privacy.accounted_epsilon,
        keeps_claim=privacy.keeps_claim,
        neighbours=privacy.neighbours,
        where=f"{dataset}, {trees} tree{'' if trees == 1 else 's'}, {finding.canaries:,} canaries",
        event=finding.rule,
        n=1,
        count=finding.correct,
        of=finding.guesses,
        other=finding.guesses - finding.correct,
        other_of=finding.guesses,
        bound=finding.bound,
        refutable=finding.refutable,
        verdict=finding.verdict,
    )


def make_release_row(finding: ReleaseFinding) -> BoundRow:
    """Return the row of what many releases from a pair of tables show."""
    return BoundRow(
        layer=WAY_OUT,
        algorithm=finding.algorithm,
        params=format_canonical(finding.params),
        epsilon=finding.epsilon,
        claimed=finding.claimed,
        accounted=finding.accounted,
        keeps_claim=True,
        neighbours=finding.neighbours,
        where=finding.where,
        verdict=finding.verdict,
        **_columns_of_refutation(finding),
    )


def make_unmeasured_row(algorithm: str, layer: str, epsilon: float, verdict: str) -> BoundRow:
    """Return the row of an algorithm that no attack could be made on, so that a summary of bounds names it."""
    numbers: dict[str, Any] = dict.fromkeys(("n", "count", "of", "other", "other_of", "bound", "refutable"), 0)
    texts: dict[str, Any] = dict.fromkeys(("neighbours", "where", "event"), "")
    claim: dict[str, Any] = dict.fromkeys(("epsilon", "claimed", "accounted"), epsilon)
    given: dict[str, Any] = {
        "algorithm": algorithm,
        "layer": layer,
        "params": "{}",
        "keeps_claim": False,
        "verdict": verdict,
    }
    return BoundRow(**numbers, **texts, **claim, **given)


def _columns_of_refutation(refutation: Refutation) -> dict[str, Any]:
    count, other = refutation.counts
    return {
        "event": refutation.event,
        "n": refutation.n,
        "count": count,
        "of": refutation.counted,
        "other": other,
        "other_of": refutation.counted,
        "bound": refutation.bound,
        "refutable": refutation.refutable,
        "on": "neighbour" if refutation.on_neighbour else "table",
    }


def select_worst(rows: Iterable[BoundRow]) -> list[BoundRow]:
    """Return of each algorithm the row that shows most, the worst verdicts first."""
    worst: dict[str, BoundRow] = {}
    for row in sorted(rows, key=lambda row: row.rank):
        worst.setdefault(row.algorithm, row)
    return list(worst.values())


def select_violations(rows: Iterable[BoundRow]) -> list[BoundRow]:
    """Return the rows of algorithms that claim less than they show."""
    return [row for row in rows if row.verdict == VIOLATED]


def find_largest_losses(rows: Sequence[BoundRow]) -> dict[tuple[str, str, str], tuple[float, str]]:
    """Return the largest exact loss, and its pair, by layer, algorithm and kind of neighbours, where there is any."""
    largest: dict = {}
    for row in rows:
        if not math.isnan(row.loss):
            largest[row.kind] = max(largest.get(row.kind, (-math.inf, "")), (row.loss, row.where))
    return largest


def _describe_domain(domain: Domain) -> str:
    """Return a domain in words.

    Examples
    --------
    >>> _describe_domain(Domain((Continuous("x", 0, 9), Nominal("a", ("b", "c"))), Nominal("y", tuple(range(9)))))
    'x from 0 to 9; a: b, c; y: 0, 1, ..., 8'
    """
    words = []
    for column in (*domain.features, domain.target):
        if isinstance(column, Continuous):
            words.append(f"{column.name} from {column.lower:g} to {column.upper:g}")
        elif isinstance(column, Nominal):
            names = list(map(str, column.categories))
            words.append(f"{column.name}: {', '.join(names if len(names) < 6 else [*names[:2], '...', names[-1]])}")
    return "; ".join(words)


def _describe_records(records: tuple[RecordValues, ...]) -> str:
    """Return a table in a line; a record that stands several times is counted where it comes first.

    Examples
    --------
    >>> _describe_records((("red", "no"), ("red", "no"), ("blue", "yes")))
    '2 x (red, no), (blue, yes)'
    """
    words = []
    for record, n in Counter(records).items():
        values = f"({', '.join(map(str, record))})"
        words.append(f"{n} x {values}" if n > 1 else values)
    return ", ".join(words if len(words) < 16 else [*words[:4], "...", *words[-2:]])
