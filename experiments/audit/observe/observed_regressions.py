"""Many releases of the coefficients of a regression: its moments once for a table, noise for every training."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache

import numpy as np
from sklearn.base import clone

from algorithms.accounting.privacy import Privacy
from algorithms.jit import compiled
from algorithms.regression.polynomial import PrivatePolynomialRegressor, Summary
from experiments.audit.neighbouring_tables import RecordValues, TablePair, split_targets
from experiments.audit.observe.observed_model import Observation
from experiments.audit.observe.random_streams import RandomStream, begin_training

EVIDENCE = "log-likelihood ratio of the known noise"
DECIMALS = 9


@cache
def compile_releases(add_noise: Callable) -> Callable:
    """Return the loop that releases coefficients with a kind of noise; it holds that, and so can be kept on disk."""

    def release_coefficients(values, told, other, rng, state, rest, key, first, released):
        """Fill every row of ``released`` with noisy coefficients, each from the stream of its own training."""
        for i in range(released.shape[0]):
            begin_training(state, rest, key, first + i)
            released[i] = add_noise(values, told, other, rng)

    return compiled(release_coefficients)


class RegressionOnTable:
    """A regression on one of the tables of a pair, ready to be trained many times: an `Observer`.

    Seen are M and b as released (the printed M averaged with its transpose). The weights are a function of them that
    hides a good part. Beside each coefficient stands the log-likelihood ratio of the two tables, in which all count
    together.

    Parameters
    ----------
    regressor : PrivatePolynomialRegressor
        An estimator without a fit; its ``random_state`` is not used.
    pair : TablePair
        Both tables: the likelihood ratio asks for the exact coefficients of each.
    records : tuple of RecordValues
        The table that is trained on.
    key : int
        Key of the run.
    """

    def __init__(
        self, regressor: PrivatePolynomialRegressor, pair: TablePair, records: tuple[RecordValues, ...], key: int
    ):
        regressor = clone(regressor).set_params(domain=pair.domain, random_state=0)
        summary = _summarise(regressor, pair, records)
        self._table_objective = _summarise(regressor, pair, pair.table).objective
        self._neighbour_objective = _summarise(regressor, pair, pair.neighbour).objective
        self._budget = regressor.budget(summary.design)
        self._laid_out = self._budget.lay_out(summary.objective)
        self.privacy: Privacy = regressor.fit_summary(summary).privacy_
        self._names, self._key = regressor.monomials_, np.uint64(key)

    def observe(self, first: int, n: int) -> Observation:
        """Train n times, training number ``first`` and those that follow it."""
        stream, released = RandomStream(self._key), np.empty((n, len(self._laid_out[0])))
        compile_releases(self._budget.add_noise)(
            *self._laid_out,
            stream.generator,
            stream.state,
            stream.rest,
            self._key,
            first,
            released,
        )
        M, b = self._budget.assemble(released)
        numbers = {}
        for i, j in itertools.combinations_with_replacement(range(len(self._names)), 2):
            numbers[f"released coefficient {self._names[i]} · {self._names[j]} of M"] = M[:, i, [j]]
        for i, name in enumerate(self._names):
            numbers[f"released coefficient {name} of b"] = b[:, [i]]
        numbers[EVIDENCE] = self._compare_likelihoods(released)
        return Observation({}, numbers)

    def _compare_likelihoods(self, released: np.ndarray) -> np.ndarray:
        """Return how much more likely the neighbour makes each release.

        Rounded to 9 decimals: beyond both tables' coefficients the ratio is constant but for its last bits, and these
        tell the tables apart, which is the leak of floating-point noise that Mironov (2012) found. It is not looked for
        here: the generator is for experiments, see ``algorithms.mechanisms``.
        """
        ratios = self._budget.log_ratio(released, self._table_objective, self._neighbour_objective)
        return ratios.round(DECIMALS)[:, np.newaxis]

    def describe_side(self, side: str, training: int, part: int) -> str:
        """Refuse to describe a side of the model: all of it is numbers."""
        raise KeyError(side)


def _summarise(regressor: PrivatePolynomialRegressor, pair: TablePair, records: tuple[RecordValues, ...]) -> Summary:
    return regressor.summarise(*split_targets(pair.domain, records))
