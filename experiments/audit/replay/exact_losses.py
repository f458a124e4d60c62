"""Exact privacy losses of whole releases: how much likelier was all that a training drew than on a neighbouring table?

A training is recorded on one table (`recorder`) and repeated on its neighbour: each mechanism gives again what it gave.
Its law is a closed form that knows nothing of the samplers, so that the log of how much likelier each outcome was on
the first table is exact, and so is their sum, the privacy loss of the training. ε-differential privacy says that no
loss exceeds ε (Dwork & Roth, 2014, section 2.3).

It is the loss of all that mechanisms gave, with the public draws, the features and cuts of nodes and the parts that
rows go to: what is released of that shows no more. Where the neighbour would ask something else the loss is infinite.

Compiled code cannot be recorded: this runs in plain Python, in processes of its own (`sample_losses_in_processes`).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone

from algorithms.forests.forest import PrivateForest
from experiments.audit.laws import exponential_law, permute_and_flip_law
from experiments.audit.neighbouring_tables import Records, TablePair, split_targets
from experiments.audit.plain_python import require_plain_python, run_in_plain_python
from experiments.audit.replay.recorder import (
    CallRecorder,
    MechanismCall,
    RunsDiverged,
    include_modules,
    pair_calls,
    recording_calls,
)

# Laws: MechanismCall -> logarithm of the probability, or of the density, of its outcome.


def _log_exponential(call: MechanismCall) -> float:
    epsilon, _, measure = call.parameters
    law = exponential_law(call.protected[np.newaxis], _read_score_sensitivity(call), epsilon, np.array(measure))
    return float(law[0, call.outcome])


def _log_permute_and_flip(call: MechanismCall) -> float:
    law = permute_and_flip_law(call.protected[np.newaxis], _read_score_sensitivity(call), call.parameters[0])
    return float(law[0, call.outcome])


def _read_score_sensitivity(call: MechanismCall) -> float:
    """Return the sensitivity of a score, half of that of the call for a monotone choice."""
    sensitivity = call.parameters[1]
    return sensitivity / 2 if call.is_monotone else sensitivity


def _log_laplace(call: MechanismCall) -> float:
    epsilon, sensitivity, _ = call.parameters
    distances = np.abs(np.ravel(call.outcome) - call.protected)
    return float(len(distances) * math.log(epsilon / (2 * sensitivity)) - distances.sum() * (epsilon / sensitivity))


def _log_sup_norm(call: MechanismCall) -> float:
    """Return the log-density of a point of the cube [-1, 1]^m times a radius of Gamma(m + 1)."""
    epsilon, sensitivity, _ = call.parameters
    m, distance = len(call.protected), float(np.abs(call.outcome - call.protected).max())
    return m * math.log(epsilon / (2 * sensitivity)) - math.lgamma(m + 1) - distance * (epsilon / sensitivity)


LOG_LIKELIHOODS: dict[str, Callable[[MechanismCall], float]] = {
    "exponential": _log_exponential,
    "permute_and_flip": _log_permute_and_flip,
    "laplace": _log_laplace,
    "laplace_vector": _log_laplace,
    "laplace_of": _log_laplace,
    "sup_norm_vector": _log_sup_norm,
}
"""By the name of each mechanism in ``algorithms.mechanisms``."""


def compute_call_loss(call: MechanismCall, other: MechanismCall) -> float:
    """Return how much likelier an outcome is in one call than in another of the same mechanism, as a logarithm.

    Examples
    --------
    >>> calls = [MechanismCall("laplace", np.array([n]), (0.5, 1.0, None), 9.0, is_choice=False) for n in (3.0, 2.0)]
    >>> compute_call_loss(*calls)
    0.5
    """
    if call.parameters == other.parameters and np.array_equal(call.protected, other.protected):
        return 0.0
    if math.inf in (call.parameters[0], other.parameters[0]):
        return math.inf  # there is no noise, and a change
    log_likelihood = LOG_LIKELIHOODS[call.mechanism]
    return log_likelihood(call) - log_likelihood(other)


# Losses of an estimator.


def sample_losses(estimator: BaseEstimator, pair: TablePair, n: int, first: int = 0) -> np.ndarray:
    """Train an estimator n times on the neighbour of a pair, in plain Python, and return what each training loses.

    That is the log of how much likelier the training is on the neighbour than on the table: float64 (n,). Noise comes
    from ``algorithms.mechanisms``; ``domain`` and ``random_state`` are set here. The same numbers, of which ``first``
    is that of the first training, give the same trainings.
    """
    require_plain_python("losses need", "or call sample_losses_in_processes")
    include_modules([type(estimator).__module__])
    model = clone(estimator).set_params(domain=pair.domain)
    neighbour, table = align_tables(pair)
    train_on_neighbour = _prepare_run(model, *split_targets(pair.domain, neighbour))
    train_on_table = _prepare_run(model, *split_targets(pair.domain, table))
    return np.array([_sample_loss(train_on_neighbour, train_on_table, first + i) for i in range(n)])


RecordedRun = Callable[[CallRecorder, int], object]  #: trains an estimator on a table: (recorder, seed) -> anything


def _prepare_run(model: BaseEstimator, X: pd.DataFrame, y: list) -> RecordedRun:
    """Return what trains an estimator on a table; of a forest, rows are read once, which takes longest."""
    if not isinstance(model, PrivateForest):
        return lambda recorder, seed: clone(model).set_params(random_state=seed).fit(X, y)
    table, grow, sample = model.prepare(X, y)
    n_trees = model.count_trees()

    def grow_trees(recorder: CallRecorder, seed: int) -> list:
        sampling, *growing = np.random.default_rng(seed).spawn(n_trees + 1)
        samples = recorder.record_sampling(sample)(len(table.labels), n_trees, sampling)
        return [grow(table, rows, rng) for rows, rng in zip(samples, growing, strict=True)]

    return grow_trees


def _sample_loss(likely_run: RecordedRun, other_run: RecordedRun, seed: int) -> float:
    first = CallRecorder(seed=seed)
    with recording_calls(first):
        likely_run(first, seed)
    second = CallRecorder(first)
    try:
        with recording_calls(second):
            other_run(second, seed)
    except RunsDiverged:
        return math.inf
    if len(second.calls) != len(first.calls):
        return math.inf
    return math.fsum(itertools.starmap(compute_call_loss, pair_calls(first, second)))


def align_tables(pair: TablePair) -> tuple[Records, Records]:
    """Return neighbour and table with what they share first, so that public draws of rows are the same for both.

    The order of the rows is no secret that a forest keeps: that it tells nothing is the black box's to check.

    Examples
    --------
    >>> from experiments.audit.neighbouring_tables import CLASSIFICATION_PAIRS
    >>> [records[-2:] for records in align_tables(CLASSIFICATION_PAIRS[-1])]
    [(('red', 'small', 'no'), ('red', 'small', 'yes')), (('red', 'small', 'no'), ('red', 'small', 'no'))]
    """
    shared = tuple((Counter(pair.table) & Counter(pair.neighbour)).elements())
    return shared + pair.gained_records, shared + pair.lost_records


def sample_losses_in_processes(
    requests: Sequence[tuple[BaseEstimator, TablePair, int]], jobs: int = 1
) -> list[np.ndarray]:
    """Return the losses of estimators on pairs, each in so many trainings, from processes in plain Python."""
    return list(run_in_plain_python(sample_losses, requests, jobs))
