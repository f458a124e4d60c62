"""What attacks found: bounds of ε from counts, each as a row, what it says of a claim, and what could not be attacked.

How far apart must two probabilities be, given how often an event was seen on either side? An algorithm that is
ε-differentially private gives every event on neighbouring tables probabilities p and q with p <= e^ε q. Seen k times in
n trainings on one table and l times in n on the other, the event bounds p from below and q from above (Clopper and
Pearson, 1934; they hold whatever p, q and n are), and log(p / q) bounds ε from below.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta
from sklearn.base import BaseEstimator

from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.accounting.privacy import Privacy
from experiments.cells.cell import format_canonical
from experiments.store.accounts import is_claim_only

BLACK_BOX, WAY_OUT, ONE_RUN, REPLAY = "black box", "way out", "one run", "replay"
VIOLATED, TIGHTLY_KEPT, NOT_REFUTED, NOTHING_CLAIMED = "violated", "tight", "not refuted", "nothing claimed"
UNPROVEN, NOT_AUDITED = "unproven", "not audited"

OUTCOMES = {
    VIOLATED: "broken",
    UNPROVEN: "unproven",
    TIGHTLY_KEPT: "withstood, barely",
    NOT_REFUTED: "withstood",
    NOTHING_CLAIMED: "no ε is claimed",
    NOT_AUDITED: "not audited",
}
"""As files name them, and as a reader is told. Unproven is what no attack has broken and what its own account, or the
replay of it, does not back."""
VERDICTS = (VIOLATED, TIGHTLY_KEPT, NOT_REFUTED, NOTHING_CLAIMED)
"""Those of a single bound, from the worst to the best."""
FALSE_ALARMS = 1e-3
"""Largest chance that any of the bounds of one algorithm, in all its pairs and both directions, exceeds its true ε."""
ROUNDING = 1e-9
TIGHT = 0.95  #: A bound of at least this share of the claim leaves nothing to be found


def exceeds(epsilon: float, limit: float) -> bool:
    """Return whether an ε is larger than a limit, such as a claim, by more than rounding."""
    return epsilon > limit * (1 + ROUNDING)


def round_down(bound: float, decimals: int = 2) -> str:
    """Return what was measured at least: a bound that is rounded up was not measured.

    Examples
    --------
    >>> round_down(6.24613), round_down(0.29), round_down(8.0)
    ('6.24', '0.29', '8.00')
    """
    return f"{math.floor(bound * 10**decimals * (1 + ROUNDING)) / 10**decimals:.{decimals}f}"


def round_up(bound: float) -> str:
    """Return what nothing was measured above, with two decimals.

    Examples
    --------
    >>> round_up(0.974), round_up(0.07), round_up(0.4)
    ('0.98', '0.07', '0.40')
    """
    return f"{math.ceil(bound * 100 * (1 - ROUNDING)) / 100:.2f}"


def bound_probability_below(k: ArrayLike, n: int, alpha: float) -> np.ndarray:
    """Bound the probability of what was seen k times of n, above the bound but with a chance of at most ``alpha``.

    Examples
    --------
    >>> round(float(bound_probability_below(10, 10, 0.05)), 4), float(bound_probability_below(0, 10, 0.05))
    (0.7411, 0.0)
    """
    k = np.asarray(k)
    return np.where(k > 0, beta.ppf(alpha, np.maximum(k, 1), n - k + 1), 0.0)


def bound_probability_above(k: ArrayLike, n: int, alpha: float) -> np.ndarray:
    """Bound a probability from above; see `bound_probability_below`."""
    k = np.asarray(k)
    return np.where(k < n, beta.ppf(1 - alpha, k + 1, np.maximum(n - k, 1)), 1.0)


def bound_epsilon_by_counts(k: ArrayLike, other: ArrayLike, n: int, alpha: float) -> Any:
    """Bound ε from below by how often an event was seen in n trainings on each of two neighbouring tables.

    It was seen k times where it is more likely; the bound is 0 where the counts tell nothing. It is wrong with a chance
    ``alpha``, half of which goes to each of the two probabilities.

    Examples
    --------
    >>> [round(float(bound_epsilon_by_counts(k, other, 1000, 0.05)), 3) for k, other in ((500, 180), (180, 500))]
    [0.825, 0.0]
    """
    p, q = bound_probability_below(k, n, alpha / 2), bound_probability_above(other, n, alpha / 2)
    return np.log(np.maximum(p / q, 1.0))


def find_largest_bound(n: int, alpha: float) -> float:
    """Return the largest bound that n trainings on each table can give: an event seen always there and never here."""
    return float(bound_epsilon_by_counts(n, 0, n, alpha))


def bound_epsilon_by_guesses(correct: int, guesses: int, alpha: float) -> float:
    """Bound ε from below by guesses at which of independently included records were there, after a single training.

    Of ``guesses``, ``correct`` were right; records without a guess do not count. The bound is wrong with a chance of
    ``alpha``.

    Notes
    -----
    If training is ε-differentially private for one record added or removed, the number of right guesses is dominated by
    Binomial(guesses, e^ε / (1 + e^ε)), given which records were guessed at (Steinke, Nasr, Jagielski: Privacy auditing
    with one (1) training run, NeurIPS 2023, the main theorem with δ = 0). So a bound of the share of right guesses from
    below, by Clopper and Pearson, is e^ε / (1 + e^ε) for the ε that bounds the true one.

    Examples
    --------
    >>> round(bound_epsilon_by_guesses(731, 1000, 0.05), 3), bound_epsilon_by_guesses(500, 1000, 0.05)
    (0.881, 0.0)
    """
    share = float(bound_probability_below(correct, guesses, alpha)) if guesses else 0.0
    return math.log(share / (1 - share)) if share > 0.5 else 0.0


def judge_bound(bound: float, claimed: float) -> str:
    """Return what a lower bound of ε says of a claim.

    Examples
    --------
    >>> judge_bound(1.1, 1.0), judge_bound(0.97, 1.0), judge_bound(0.5, 1.0), judge_bound(3.0, math.inf)
    ('violated', 'tight', 'not refuted', 'nothing claimed')
    """
    if math.isinf(claimed):
        return NOTHING_CLAIMED
    if bound > claimed:
        return VIOLATED
    return TIGHTLY_KEPT if bound >= TIGHT * claimed else NOT_REFUTED


def read_claim(privacy: Privacy, neighbours: str) -> float | None:
    """Return what an algorithm claims for a relation of two tables, None where its claim says nothing of that.

    Examples
    --------
    >>> from algorithms.accounting.events import Spent
    >>> privacy = Privacy(0.5, Spent("laplace", "a count", 0.5, 1.0))
    >>> read_claim(privacy, ADDED_OR_REMOVED), read_claim(privacy, REPLACED)
    (0.5, 1.0)
    """
    if privacy.neighbours == neighbours:
        return privacy.claimed_epsilon
    # One record replaced is one removed and another added; a claim about the former says nothing of the latter.
    return 2 * privacy.claimed_epsilon if (privacy.neighbours, neighbours) == (ADDED_OR_REMOVED, REPLACED) else None


@dataclass(frozen=True)
class Refutation:
    """What an attack counted, and how far that bounds ε; `BoundRow` says what its fields are."""

    event: str
    n: int
    count: int
    of: int
    other: int
    other_of: int
    bound: float
    refutable: float
    on: str = ""


@dataclass(frozen=True)
class BoundRow:
    """One bound of one algorithm: a line of ``audit.csv``."""

    layer: str  #: "black box", "way out" or "one run"
    algorithm: str
    params: str  #: of what was trained, as canonical JSON
    epsilon: float  #: that it was given
    claimed: float  #: for these neighbours
    accounted: float  #: by its own ledger
    keeps_claim: bool  #: whether it calls itself sound: by its account, or because it claims an ε without any account
    neighbours: str  #: in what the tables differ
    where: str  #: the pair of tables, or the data set
    event: str  #: what happens more often on one of them, or how was guessed
    n: int  #: trainings on each table
    count: int  #: how often it happened where it is more likely, or how many of the guesses were right
    of: int  #: how many trainings, or guesses, that is of
    other: int  #: how often it happened on the other table, or how many guesses were wrong
    other_of: int
    bound: float  #: ε is at least so much
    refutable: float  #: the largest bound that was possible
    verdict: str  #: one of ``VERDICTS``
    on: str = ""  #: where the event is more likely: "table" or "neighbour"
    columns: str = ""  #: the tables in words, to be checked by hand
    table: str = ""
    neighbour: str = ""
    loss: float = math.nan  #: the largest of some trainings on these tables, of a forest that calls itself sound

    @property
    def is_alarming(self) -> bool:
        """Whether an algorithm that calls itself sound violates its claim, or a training of it lost more than that."""
        return self.keeps_claim and (self.verdict == VIOLATED or exceeds(self.loss, self.claimed))

    @property
    def kind(self) -> tuple[str, str, str]:
        """Layer, algorithm and kind of neighbours."""
        return self.layer, self.algorithm, self.neighbours

    @property
    def rank(self) -> tuple[int, float, str]:
        """What rows are sorted by, those that show most first."""
        shown = self.bound / self.claimed if math.isfinite(self.claimed) else self.bound
        return VERDICTS.index(self.verdict), -shown, self.algorithm


@dataclass(frozen=True)
class Unaudited:
    """A part of an audit that an algorithm could not be put through: what was left out, and why, or what was raised."""

    algorithm: str
    layer: str
    reason: str
    has_failed: bool = True


def make_row(
    layer: str,
    algorithm: str,
    estimator: BaseEstimator,
    privacy: Privacy,
    found: Refutation,
    *,
    neighbours: str,
    where: str,
    **tables: Any,
) -> BoundRow:
    """Return the row of what an attack on an estimator found; a claim that says nothing of the relation is the account.

    What is claimed of a record replaced is twice the ε of a claim about one added or removed.
    """
    accounted = privacy.accounted(neighbours)
    claimed = read_claim(privacy, neighbours) or accounted
    return BoundRow(
        layer=layer,
        algorithm=algorithm,
        params=format_canonical(_select_params(estimator)),
        epsilon=privacy.claimed_epsilon,
        claimed=claimed,
        accounted=accounted,
        keeps_claim=privacy.keeps_claim or is_claim_only(privacy),
        neighbours=neighbours,
        where=where,
        verdict=judge_bound(found.bound, claimed),
        **vars(found),
        **tables,
    )


def _select_params(estimator: BaseEstimator) -> dict:
    """Return the parameters of an estimator that decide what is trained, without its ε, its domain and its seed."""
    left_out = ("epsilon", "domain", "random_state", "n_jobs")
    return {name: value for name, value in estimator.get_params(deep=False).items() if name not in left_out}


def select_worst(rows: Iterable[BoundRow]) -> list[BoundRow]:
    """Return of each algorithm the row that shows most, the worst verdicts first."""
    worst: dict[str, BoundRow] = {}
    for row in sorted(rows, key=lambda row: row.rank):
        worst.setdefault(row.algorithm, row)
    return list(worst.values())


def select_violations(rows: Iterable[BoundRow]) -> list[BoundRow]:
    """Return the rows of algorithms that claim less than they show."""
    return [row for row in rows if row.verdict == VIOLATED]


def find_largest_losses(rows: Iterable[BoundRow]) -> dict[tuple[str, str, str], tuple[float, str]]:
    """Return the largest exact loss, and its pair, by layer, algorithm and kind of neighbours, where there is any."""
    largest: dict = {}
    for row in rows:
        if not math.isnan(row.loss):
            largest[row.kind] = max(largest.get(row.kind, (-math.inf, "")), (row.loss, row.where))
    return largest
