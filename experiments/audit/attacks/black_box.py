"""Black box: train many times on neighbouring tables, and look for an event that tells them apart more than e^ε allows.

Half of the trainings, but no more than 100,000, choose an event for each pair and direction, the others count it. So
the bound holds whatever was chosen, and all bounds of an algorithm hold together with a probability of 99.9 %. The
method is that of Ding, Wang, Wang, Zhang, Kifer: Detecting violations of differential privacy (2018), with Clopper and
Pearson's intervals as in Jagielski, Ullman, Oprea (2020), here on the whole released model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone, is_classifier

from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.accounting.privacy import Privacy
from algorithms.base import PrivateEstimator
from algorithms.data_replacement.sampler import Sampler
from algorithms.data_replacement.train_on_release import TrainedOnRelease
from algorithms.forests.edprf import PFDPDTClassifier
from algorithms.forests.forest import PrivateForest
from algorithms.regression.polynomial import PrivatePolynomialRegressor
from experiments.audit import neighbouring_tables
from experiments.audit.attacks.distinguishing_events import choose_event
from experiments.audit.bounds import FALSE_ALARMS, bound_epsilon_by_counts, find_largest_bound
from experiments.audit.neighbouring_tables import TablePair, split_targets
from experiments.audit.observe.any_estimator import CannotFit, EstimatorOnTable
from experiments.audit.observe.observed_forests import ForestOnTable
from experiments.audit.observe.observed_model import Observation, Observer, join_observations
from experiments.audit.observe.observed_regressions import RegressionOnTable
from experiments.audit.observe.observed_releases import ReleaseOnTable
from experiments.audit.observe.random_streams import derive_key
from experiments.audit.observe.released_arrays import ReleaseOfArrays
from experiments.audit.outcomes import NOT_REFUTED, NOTHING_CLAIMED, TIGHTLY_KEPT, VIOLATED

BLOCK, SLOW_BLOCK = 2_500, 50
"""Trainings that a thread does at a time, in compiled code and of fits that take longer; what comes out does not depend
on it."""
CHOOSING = 100_000
"""Trainings that choose an event, at most: more of them choose no better, and are worth more where they count."""
RELEASES_TAKE, FITS_TAKE = 10, 100
"""A tiny forest takes compiled code a few dozen microseconds, a release of rows some hundred, a fit that goes through
scikit-learn's interface, or to another process, some thousand."""
TIGHT = 0.95
"""A bound of at least this share of the claim leaves nothing to be found."""
ENOUGH = 1.05
"""Share of the claim beyond which an event that can be checked by hand is convincing."""


@dataclass(frozen=True)
class Refutation:
    """The event that bounds ε best, and how far it does.

    Parameters
    ----------
    event : str
        In words.
    on_neighbour : bool
        Whether the event is more likely on the neighbour than on the table.
    n : int
        Trainings on each table.
    counted : int
        How many of these count the event.
    counts : tuple of int
        How often it happened in these where it is more likely, and on the other table.
    bound : float
        ε is at least this.
    refutable : float
        The largest bound that n trainings could have given.
    """

    event: str
    on_neighbour: bool
    n: int
    counted: int
    counts: tuple[int, int]
    bound: float
    refutable: float


@dataclass(frozen=True)
class Unfitted:
    """A pair of tables to neither of which an estimator can be fitted, and what it raises."""

    pair: TablePair
    why: str


@dataclass(frozen=True)
class PairFinding(Refutation):
    """The `Refutation` of an algorithm on one pair of tables, with what the algorithm claims.

    Parameters
    ----------
    pair : TablePair
        The tables.
    params : dict
        Of what was trained.
    privacy : Privacy
        What the algorithm says of itself.
    claimed : float
        The ε that its claim gives for the relation of the pair: twice the ε where a record replaced is to be compared
        with a claim about one added or removed.
    """

    pair: TablePair
    params: dict
    privacy: Privacy
    claimed: float

    @property
    def verdict(self) -> str:
        """What the bound says of the claim."""
        return judge_bound(self.bound, self.claimed)


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


def list_pairs(estimator: BaseEstimator) -> Sequence[TablePair]:
    """Return the pairs of tables that an estimator can be trained on; none if the audit cannot observe it.

    Examples
    --------
    >>> from algorithms import RDTClassifier
    >>> list_pairs(RDTClassifier())[0].name
    'alone in its leaf'
    """
    if isinstance(estimator, PrivateForest):
        return (
            neighbouring_tables.CLASSIFICATION_PAIRS
            if is_classifier(estimator)
            else neighbouring_tables.REGRESSION_PAIRS
        )
    if isinstance(estimator, PrivatePolynomialRegressor):
        return (
            neighbouring_tables.MOMENT_PAIRS if estimator.variant == "sound" else neighbouring_tables.COEFFICIENT_PAIRS
        )
    if isinstance(estimator, Sampler | TrainedOnRelease):
        return neighbouring_tables.RELEASE_PAIRS
    if not isinstance(estimator, PrivateEstimator) and not hasattr(estimator, "released_"):
        return ()
    return (
        neighbouring_tables.CLASSIFICATION_PAIRS if is_classifier(estimator) else neighbouring_tables.REGRESSION_PAIRS
    )


def count_trainings(estimator: BaseEstimator, n: int) -> int:
    """Return how many trainings there are for an estimator that takes longer than one in a compiled loop.

    Examples
    --------
    >>> from algorithms import DPMarginalsClassifier, RDTClassifier
    >>> count_trainings(RDTClassifier(), 1000), count_trainings(DPMarginalsClassifier(), 1000)
    (1000, 100)
    """
    if isinstance(estimator, PrivateForest | PrivatePolynomialRegressor):
        return n
    return n // (RELEASES_TAKE if isinstance(estimator, Sampler | TrainedOnRelease) else FITS_TAKE)


def resize_estimator(estimator: BaseEstimator, pair: TablePair, given: Collection[str] = ()) -> BaseEstimator:
    """Set the size of a forest to that which a pair asks for, all features being candidates.

    Parameters
    ----------
    estimator : estimator
        It is changed.
    pair : TablePair
        The pair.
    given : collection of str
        Parameters that stay as they are.
    """
    # some count levels of nodes; the others have at least one of splits
    levels = pair.splits + 1 if _counts_levels_of_nodes(estimator) else max(pair.splits, 1)
    size = {"n_estimators": pair.trees, "max_depth": levels, "max_features": len(pair.domain.features)}
    accepted = estimator.get_params().keys() - set(given)
    return estimator.set_params(**{name: value for name, value in size.items() if name in accepted})


def _counts_levels_of_nodes(estimator: BaseEstimator) -> bool:
    """Return whether the depth of a forest is its number of levels of nodes, not of splits."""
    params = estimator.get_params(deep=False)
    is_printed = params.get("variant") != "sound"
    return isinstance(estimator, PFDPDTClassifier) or (is_printed and params.get("levels") == "with_root")


def select_params(estimator: BaseEstimator) -> dict:
    """Return the parameters of an estimator that decide what is trained, without its ε, its domain and its seed."""
    left_out = ("epsilon", "domain", "random_state", "n_jobs")
    return {name: value for name, value in estimator.get_params(deep=False).items() if name not in left_out}


def make_observer(estimator: BaseEstimator, pair: TablePair, records: tuple, key: int) -> Observer:
    """Return an estimator on a table, ready to be trained many times."""
    if isinstance(estimator, PrivateForest):
        return ForestOnTable(estimator, pair, records, key)
    if isinstance(estimator, PrivatePolynomialRegressor):
        return RegressionOnTable(estimator, pair, records, key)
    if isinstance(estimator, Sampler | TrainedOnRelease):
        sampler = estimator.make_sampler() if isinstance(estimator, TrainedOnRelease) else estimator
        return ReleaseOnTable(sampler, pair, records, key)
    return _observe_any(estimator, pair, records, key)


def _observe_any(estimator: BaseEstimator, pair: TablePair, records: tuple, key: int) -> Observer:
    """Return an observer of what an estimator's own ``fit`` gives: all that it says it would publish, or answers."""
    rows, targets = split_targets(pair.domain, records)
    if "domain" in estimator.get_params(deep=False):
        table, estimator = (rows, targets), clone(estimator).set_params(domain=pair.domain)
    else:  # as in a cell: the numbers that the domain makes of the rows
        table = pair.domain.encode(rows)[0], targets
    if hasattr(estimator, "released_"):
        return ReleaseOfArrays(estimator, (table[0], np.asarray(targets)), (), key)
    return EstimatorOnTable(estimator, table, pair.probe_rows(), key)


def ignore_trainings(n: int) -> None:
    """Do nothing, where nobody wants to know of trainings that are done."""


def audit_pairs(
    make: Callable[[TablePair], BaseEstimator],
    pairs: Sequence[TablePair],
    n: int,
    key: str = "",
    jobs: int = 1,
    tell: Callable[[int], None] = ignore_trainings,
) -> Iterator[PairFinding | Unfitted]:
    """Audit an algorithm on several pairs of tables.

    Parameters
    ----------
    make : function
        Returns the estimator for a pair.
    pairs : sequence of TablePair
        The pairs; all bounds hold together.
    n : int
        Trainings on each table, at least 1,000, divided by the number of trees that a pair asks for, times its worth.
    key : str
        Whatever else the random numbers shall depend on.
    jobs : int
        Threads that train.
    tell : function
        Is told of trainings that are done, how many.

    Yields
    ------
    PairFinding or Unfitted
        For each pair, the better one of both directions.
    """
    alpha = FALSE_ALARMS / (2 * len(pairs))
    for pair in pairs:
        estimator = make(pair)
        on_neighbour = make_observer(estimator, pair, pair.neighbour, derive_key(key, pair.name, 0))
        on_table = make_observer(estimator, pair, pair.table, derive_key(key, pair.name, 1))
        try:
            privacy = read_privacy((on_neighbour, on_table))
        except CannotFit as error:
            yield Unfitted(pair, str(error))
            continue
        claimed = read_claim(privacy, pair.neighbours)
        if claimed is not None:
            n_trainings = n * pair.worth // pair.trees
            refutation = find_refutation((on_neighbour, on_table), n_trainings, alpha, claimed, jobs, tell)
            params = select_params(estimator)
            yield PairFinding(**vars(refutation), pair=pair, params=params, privacy=privacy, claimed=claimed)


def read_privacy(observers: Sequence[Observer]) -> Privacy:
    """Return what an algorithm claims, on the first of some tables that it can be fitted to.

    Raises
    ------
    CannotFit
        If there is none.
    """
    *first, last = observers
    for observer in first:
        with suppress(CannotFit):
            return observer.privacy
    return last.privacy


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


def find_refutation(
    observers: tuple[Observer, Observer],
    n: int,
    alpha: float,
    claimed: float,
    jobs: int = 1,
    tell: Callable[[int], None] = ignore_trainings,
) -> Refutation:
    """Look for the event that bounds ε best: some of the trainings choose it in either direction, the others count it.

    Parameters
    ----------
    observers : tuple of Observer
        The algorithm on the neighbour and on the table.
    n : int
        Trainings on each.
    alpha : float
        Chance of a wrong bound, in each direction.
    claimed : float
        What is to be refuted.
    jobs : int
        Threads that train.
    tell : function
        Is told of trainings that are done, how many.
    """
    choosing = min(n // 2, CHOOSING)
    counting = n - choosing
    seen, counted = [], []
    for observer in observers:
        seen.append(observe_in_threads(observer, 0, choosing, jobs, tell))
        counted.append(observe_in_threads(observer, choosing, counting, jobs, tell))
    refutations = []
    for likely, other in ((0, 1), (1, 0)):
        event = choose_event(
            seen[likely], seen[other], (observers[likely], observers[other]), counting, alpha, ENOUGH * claimed
        )
        counts = event.count(counted[likely]), event.count(counted[other])
        bound = float(bound_epsilon_by_counts(*counts, counting, alpha))
        largest = find_largest_bound(counting, alpha)
        refutations.append(Refutation(str(event), likely == 0, n, counting, counts, bound, largest))
    return max(refutations, key=lambda refutation: refutation.bound)


def observe_in_threads(
    observer: Observer, first: int, n: int, jobs: int = 1, tell: Callable[[int], None] = ignore_trainings
) -> Observation:
    """Train n times in threads; compiled code lets them run side by side."""
    block = SLOW_BLOCK if isinstance(observer, EstimatorOnTable) else BLOCK

    def observe(start: int) -> Observation:
        size = min(block, first + n - start)
        observation = observer.observe(start, size)
        tell(size)
        return observation

    starts = range(first, first + n, block)
    return join_observations(Parallel(n_jobs=jobs, prefer="threads")(map(delayed(observe), starts)))
