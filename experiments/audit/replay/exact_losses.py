"""Exact privacy losses of whole releases: how much likelier was all that a training drew than on a neighbouring table?

A training is recorded on one table (`recorder`) and played on its neighbour: every mechanism gives again what it gave.
Its law is a closed form that knows nothing of the samplers, so that the log of how much likelier each outcome was on
the first table is exact, and so is their sum, the privacy loss of the training. ε-differential privacy says that no
loss exceeds ε (Dwork & Roth, 2014, section 2.3).

It is the loss of all that mechanisms gave, with the public draws, the features and cuts of nodes and the parts that
rows go to: what is released of that shows no more. Where the neighbour would ask something else the loss is infinite.

Compiled code cannot be watched: this runs in plain Python, in processes of its own (`sampled`).
"""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numba
import numpy as np
from sklearn.base import BaseEstimator, clone

from algorithms.forests.forest import PrivateForest
from experiments.audit.laws.exact_laws import exponential_law, permute_and_flip_law
from experiments.audit.neighbouring_tables import Pair, Record, training_rows
from experiments.audit.replay.recorder import Call, Diverged, Tape, watch_class, watching
from experiments.audit.replay.replay_audit import by_key
from experiments.config.paths import ROOT
from experiments.errors import BadInput

# Laws: Call -> logarithm of the probability, or of the density, of its outcome.


def _of_exponential(call: Call) -> float:
    epsilon, sensitivity, measure = call.told
    law = exponential_law(call.protected[np.newaxis], _least(call, sensitivity), epsilon, np.array(measure))
    return float(law[0, call.outcome])


def _of_permute_and_flip(call: Call) -> float:
    epsilon, sensitivity, _ = call.told
    return float(permute_and_flip_law(call.protected[np.newaxis], _least(call, sensitivity), epsilon)[0, call.outcome])


def _least(call: Call, sensitivity: float) -> float:
    return sensitivity / 2 if call.is_monotone else sensitivity


def _of_laplace(call: Call) -> float:
    epsilon, sensitivity, _ = call.told
    distances = np.abs(np.ravel(call.outcome) - call.protected)
    return float(len(distances) * math.log(epsilon / (2 * sensitivity)) - distances.sum() * (epsilon / sensitivity))


def _of_sup_norm(call: Call) -> float:
    """Return the log-density of a point of the cube [-1, 1]^m times a radius of Gamma(m + 1)."""
    epsilon, sensitivity, _ = call.told
    m, distance = len(call.protected), float(np.abs(call.outcome - call.protected).max())
    return m * math.log(epsilon / (2 * sensitivity)) - math.lgamma(m + 1) - distance * (epsilon / sensitivity)


LAWS: dict[str, Callable[[Call], float]] = {
    "exponential": _of_exponential,
    "permute_and_flip": _of_permute_and_flip,
    "laplace": _of_laplace,
    "laplace_vector": _of_laplace,
    "laplace_of": _of_laplace,
    "sup_norm_vector": _of_sup_norm,
}
"""By the name of each mechanism in ``algorithms.mechanisms``."""


def loss_of_call(call: Call, other: Call) -> float:
    """Return how much likelier an outcome is in one call than in another, as a logarithm.

    Parameters
    ----------
    call, other : Call
        The same mechanism with the same outcome, on one table and on its neighbour.

    Examples
    --------
    >>> calls = [Call("laplace", np.array([n]), (0.5, 1.0, None), 9.0, is_choice=False) for n in (3.0, 2.0)]
    >>> loss_of_call(*calls)
    0.5
    """
    if call.told == other.told and np.array_equal(call.protected, other.protected):
        return 0.0
    if math.inf in (call.told[0], other.told[0]):
        return math.inf  # there is no noise, and a change
    law = LAWS[call.mechanism]
    return law(call) - law(other)


def loss_of_run(first: Tape, second: Tape) -> float:
    """Return the privacy loss of a run that was recorded, given the tape on which it was played to the neighbour."""
    couples = [*zip(first.calls, second.calls, strict=True), *by_key(first, second)]
    return math.fsum(loss_of_call(*couple) for couple in couples)


# Losses of an estimator.


def losses(estimator: BaseEstimator, pair: Pair, n: int, first: int = 0) -> np.ndarray:
    """Train an estimator on the neighbour of a pair, in plain Python, and return what each training loses.

    Parameters
    ----------
    estimator : estimator
        Its noise comes from ``algorithms.mechanisms``; ``domain`` and ``random_state`` are set here.
    pair : Pair
        The tables.
    n : int
        Trainings.
    first : int
        Number of the first; the same numbers give the same trainings.

    Returns
    -------
    float64 array of shape (n,)
        Log of how much likelier each training is on the neighbour than on the table.

    Raises
    ------
    BadInput
        If Numba compiles in this process.
    """
    if not numba.config.DISABLE_JIT:
        raise BadInput("losses need plain Python: set NUMBA_DISABLE_JIT=1, or call exact_losses.sampled")
    watch_class(type(estimator))
    model = clone(estimator).set_params(domain=pair.domain)
    runs = [_run_of(model, *training_rows(pair.domain, records)) for records in aligned(pair)]
    return np.array([_loss(*runs, first + i) for i in range(n)])


Run = Callable[[Tape, int], object]
"""Trains an estimator on a table: (tape, seed) -> anything."""


def _run_of(model: BaseEstimator, X, y) -> Run:
    """Return what trains an estimator on a table; of a forest, rows are read once, which takes longest."""
    if not isinstance(model, PrivateForest):
        return lambda tape, seed: clone(model).set_params(random_state=seed).fit(X, y)
    table, grow, sample = model.prepare(X, y)

    def run(tape: Tape, seed: int) -> list:
        sampling, *growing = np.random.default_rng(seed).spawn(model.n_estimators + 1)
        samples = tape.sampled(sample)(len(table.labels), model.n_estimators, sampling)
        return [grow(table, rows, rng) for rows, rng in zip(samples, growing, strict=True)]

    return run


def _loss(likely: Run, other: Run, seed: int) -> float:
    first = Tape(seed=seed)
    with watching(first):
        likely(first, seed)
    second = Tape(first)
    try:
        with watching(second):
            other(second, seed)
    except Diverged:
        return math.inf
    return loss_of_run(first, second) if len(second.calls) == len(first.calls) else math.inf


def aligned(pair: Pair) -> tuple[tuple[Record, ...], tuple[Record, ...]]:
    """Return neighbour and table with what they share first, so that public draws of rows are the same for both.

    The order of the rows is no secret that a forest keeps: that it tells nothing is the black box's to check.

    Examples
    --------
    >>> from experiments.audit.neighbouring_tables import CLASSES
    >>> [records[-2:] for records in aligned(CLASSES[-1])]
    [(('red', 'small', 'no'), ('red', 'small', 'yes')), (('red', 'small', 'no'), ('red', 'small', 'no'))]
    """
    shared = tuple((Counter(pair.table) & Counter(pair.neighbour)).elements())
    lost = tuple((Counter(pair.table) - Counter(pair.neighbour)).elements())
    return shared + pair.differing[:1], shared + lost


@dataclass(frozen=True)
class Trainings:
    """Trainings whose losses are asked for: parameters of `losses`."""

    estimator: BaseEstimator
    pair: Pair
    n: int


def sampled(asked: Sequence[Trainings], jobs: int = 1) -> list[np.ndarray]:
    """Return the losses of several estimators on their pairs, from processes in plain Python.

    Parameters
    ----------
    asked : sequence of Trainings
        What is asked for.
    jobs : int
        Processes.

    Returns
    -------
    list of float64 arrays
        In the same order, see `losses`.
    """
    if not asked:
        return []
    jobs = min(jobs, len(asked))
    with ThreadPoolExecutor(jobs) as pool:
        parts = list(pool.map(_in_a_process, [list(asked[job::jobs]) for job in range(jobs)]))
    return [parts[i % jobs][i // jobs] for i in range(len(asked))]


def _in_a_process(asked: list[Trainings]) -> list[np.ndarray]:
    done = subprocess.run(
        [sys.executable, "-m", "experiments.audit.replay.exact_losses"],
        input=pickle.dumps(asked),
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
    )
    return pickle.loads(done.stdout)


def main() -> None:
    """Sample what stands on standard input (a pickled list of `Trainings`), and write the losses (pickled)."""
    asked = pickle.load(sys.stdin.buffer)
    sys.stdout.buffer.write(pickle.dumps([losses(one.estimator, one.pair, one.n) for one in asked]))


if __name__ == "__main__":
    main()
