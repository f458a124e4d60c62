"""Black box: train many times on neighbouring tables, and look for an event that tells them apart more than e^ε allows.

Half of the trainings, but no more than 100,000, choose an event for each pair and direction, the others count it. So
the bound holds whatever was chosen, and all bounds of an algorithm hold together with a probability of 99.9 %. The
method is that of Ding, Wang, Wang, Zhang, Kifer: Detecting violations of differential privacy (2018), with Clopper and
Pearson's intervals as in Jagielski, Ullman, Oprea (2020), here on the whole released model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier

from algorithms.accounting.privacy import Privacy
from algorithms.base import PrivateEstimator
from algorithms.data_replacement.sampler import Sampler
from algorithms.data_replacement.train_on_release import TrainedOnRelease
from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous, Nominal
from algorithms.forests.edprf import PFDPDTClassifier
from algorithms.forests.forest import PrivateForest
from algorithms.regression.polynomial import PrivatePolynomialRegressor
from algorithms.threads import map_in_threads
from experiments.audit import neighbouring_tables
from experiments.audit.attacks.distinguishing_events import choose_event
from experiments.audit.neighbouring_tables import RecordValues, TablePair, split_targets
from experiments.audit.observe.any_estimator import CannotFit, EstimatorOnTable, ReleaseOfArrays
from experiments.audit.observe.observed_forests import ForestOnTable
from experiments.audit.observe.observed_numbers import RegressionOnTable, ReleaseOnTable
from experiments.audit.observe.trainings import Observation, Observer, derive_key, join_observations
from experiments.audit.outcomes import (
    BLACK_BOX,
    FALSE_ALARMS,
    BoundRow,
    Refutation,
    Unaudited,
    bound_epsilon_by_counts,
    find_largest_bound,
    make_row,
    read_claim,
)

BLOCK, SLOW_BLOCK = 2_500, 50
"""Trainings that a thread does at a time, in compiled code and of fits that take longer; what comes out does not depend
on it."""
CHOOSING = 100_000
"""Trainings that choose an event, at most: more of them choose no better, and are worth more where they count."""
RELEASES_TAKE, FITS_TAKE = 10, 100
"""A tiny forest takes compiled code a few dozen microseconds, a release of rows some hundred, a fit that goes through
scikit-learn's interface, or to another process, some thousand."""
ENOUGH = 1.05  #: share of the claim beyond which an event that can be checked by hand is convincing

Observe = Callable[[Observer, int, int], Observation]
"""(observer, number of the first training, how many) -> what they released."""


def list_pairs(estimator: BaseEstimator) -> Sequence[TablePair]:
    """Return the pairs of tables that an estimator can be trained on; none if the audit cannot observe it."""
    tables = neighbouring_tables
    if isinstance(estimator, PrivatePolynomialRegressor):
        return tables.MOMENT_PAIRS if estimator.variant == "sound" else tables.COEFFICIENT_PAIRS
    if isinstance(estimator, Sampler | TrainedOnRelease):
        return tables.RELEASE_PAIRS
    if isinstance(estimator, PrivateEstimator) or hasattr(estimator, "released_"):
        return tables.CLASSIFICATION_PAIRS if is_classifier(estimator) else tables.REGRESSION_PAIRS
    return ()


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
    """Change a forest to the size that a pair asks for, all features being candidates, but for parameters ``given``."""
    # some count levels of nodes; the others have at least one of splits
    levels = pair.splits + 1 if _counts_levels_of_nodes(estimator) else max(pair.splits, 1)
    size = {"n_estimators": pair.trees, "max_depth": levels, "max_features": len(pair.domain.features)}
    accepted = estimator.get_params().keys() - set(given)
    return estimator.set_params(**{name: value for name, value in size.items() if name in accepted})


def _counts_levels_of_nodes(estimator: BaseEstimator) -> bool:
    params = estimator.get_params(deep=False)
    is_printed = params.get("variant") != "sound"
    return isinstance(estimator, PFDPDTClassifier) or (is_printed and params.get("levels") == "with_root")


def make_observer(estimator: BaseEstimator, pair: TablePair, records: tuple[RecordValues, ...], key: int) -> Observer:
    """Return an estimator on one of the tables of a pair, ready to be trained many times; ``key`` is that of the run.

    Of any estimator, what its own ``fit`` gives is observed: all that it says it would publish, or answers.
    """
    if isinstance(estimator, PrivateForest):
        return ForestOnTable(estimator, pair, records, key)
    if isinstance(estimator, PrivatePolynomialRegressor):
        return RegressionOnTable(estimator, pair, records, key)
    if isinstance(estimator, Sampler | TrainedOnRelease):
        sampler = estimator.make_sampler() if isinstance(estimator, TrainedOnRelease) else estimator
        return ReleaseOnTable(sampler, pair, records, key)
    rows, targets = split_targets(pair.domain, records)
    if "domain" in estimator.get_params(deep=False):
        table, estimator = (rows, targets), clone(estimator).set_params(domain=pair.domain)
    else:  # as in a cell: the numbers that the domain makes of the rows
        table = pair.domain.encode(rows)[0], targets
    if hasattr(estimator, "released_"):
        return ReleaseOfArrays(estimator, (table[0], np.asarray(targets)), (), key)
    return EstimatorOnTable(estimator, table, pair.probe_rows(), key)


def observe_in_threads(
    observer: Observer, first: int, n: int, jobs: int = 1, tell: Callable[[int], object] = lambda n: None
) -> Observation:
    """Train n times in threads, ``tell`` being told of trainings that are done; compiled code runs side by side."""
    block = SLOW_BLOCK if isinstance(observer, EstimatorOnTable) else BLOCK

    def observe(start: int) -> Observation:
        size = min(block, first + n - start)
        observation = observer.observe(start, size)
        tell(size)
        return observation

    starts = range(first, first + n, block)
    return join_observations(map_in_threads(jobs, observe, starts))


def audit_pairs(
    make: Callable[[TablePair], BaseEstimator],
    pairs: Sequence[TablePair],
    n: int,
    key: str = "",
    observe: Observe = observe_in_threads,
    algorithm: str = "",
) -> Iterator[BoundRow | Unaudited]:
    """Audit an algorithm on several pairs of tables, whose bounds hold together; ``make`` returns it for a pair.

    Yields for each pair the better one of both directions, or what a fit raises, if it does on both tables. There are n
    trainings on each table, at least 1,000, divided by the number of trees that a pair asks for, times its worth. The
    key is whatever else the random numbers shall depend on.
    """
    alpha = FALSE_ALARMS / (2 * len(pairs))
    for pair in pairs:
        estimator = make(pair)
        sides = enumerate((pair.neighbour, pair.table))
        on_neighbour, on_table = (
            make_observer(estimator, pair, records, derive_key(key, pair.name, side)) for side, records in sides
        )
        try:
            privacy = read_privacy((on_neighbour, on_table))
        except CannotFit as error:
            yield Unaudited(algorithm, BLACK_BOX, str(error))
            continue
        claimed = read_claim(privacy, pair.neighbours)
        if claimed is not None:
            n_trainings = n * pair.worth // pair.trees
            found = find_refutation((on_neighbour, on_table), n_trainings, alpha, claimed, observe)
            yield make_row(BLACK_BOX, algorithm, estimator, privacy, found, **_describe_pair(pair))


def read_privacy(observers: Sequence[Observer]) -> Privacy:
    """Return what an algorithm claims, on the first of some tables that it can be fitted to; `CannotFit` if on none."""
    *first, last = observers
    for observer in first:
        with suppress(CannotFit):
            return observer.privacy
    return last.privacy


def find_refutation(
    observers: tuple[Observer, Observer], n: int, alpha: float, claimed: float, observe: Observe = observe_in_threads
) -> Refutation:
    """Look for the event that bounds ε best, to refute a claim: some trainings choose it, the others count it.

    The algorithm is trained n times on the neighbour, which is the first observer's, and on the table; ``alpha`` is the
    chance of a wrong bound, in each direction.
    """
    choosing = min(n // 2, CHOOSING)
    counting = n - choosing
    seen, counted = [], []
    for observer in observers:
        seen.append(observe(observer, 0, choosing))
        counted.append(observe(observer, choosing, counting))
    largest = find_largest_bound(counting, alpha)
    refutations = []
    for likely, other, on in ((0, 1, "neighbour"), (1, 0, "table")):
        event = choose_event(
            seen[likely], seen[other], (observers[likely], observers[other]), counting, alpha, ENOUGH * claimed
        )
        count, others = event.count(counted[likely]), event.count(counted[other])
        bound = float(bound_epsilon_by_counts(count, others, counting, alpha))
        refutations.append(Refutation(str(event), n, count, counting, others, counting, bound, largest, on))
    return max(refutations, key=lambda refutation: refutation.bound)


def describe_difference(pair: TablePair) -> str:
    """Return both tables of a pair in a line: the records of one, and in what its neighbour differs.

    Examples
    --------
    >>> describe_difference(neighbouring_tables.CLASSIFICATION_PAIRS[0])
    '8 x (red, small, no); its neighbour has (blue, large, yes) more'
    """
    table, gained, lost = map(_describe_records, (pair.table, pair.gained_records, pair.lost_records))
    if not gained:
        return f"{table}; its neighbour lacks {lost}"
    return f"{table}; its neighbour has {gained} {f'in place of {lost}' if lost else 'more'}"


def _describe_pair(pair: TablePair) -> dict[str, str]:
    return {
        "neighbours": pair.neighbours,
        "where": pair.name,
        "columns": _describe_domain(pair.domain),
        "table": _describe_records(pair.table),
        "neighbour": _describe_records(pair.neighbour),
    }


def _describe_domain(domain: Domain) -> str:
    """Return a domain in words, of many categories some.

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
