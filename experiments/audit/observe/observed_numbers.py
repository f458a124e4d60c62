"""Many trainings of what shows numbers alone: coefficients of a regression, or rows in place of the training rows."""

from __future__ import annotations

import itertools
from copy import copy

import numpy as np
from sklearn.base import clone

from algorithms.data_replacement.dp_marginals import MarginalReplacement
from algorithms.data_replacement.sampler import Sampler, number_categories
from algorithms.encoding.bins import bin_continuous
from algorithms.native import compiled, has_twin
from algorithms.regression.polynomial import PrivatePolynomialRegressor
from experiments.audit.neighbouring_tables import RecordValues, TablePair, split_targets
from experiments.audit.observe.trainings import Observation, Observer, RandomStream, begin_training

EVIDENCE = "log-likelihood ratio of the known noise"
DECIMALS = 9


def release_coefficients(add_noise, laid_out, stream, key, first, released):
    """Fill every row of ``released`` with noisy coefficients, each from the stream of its own training."""
    rng, state, rest = stream
    for i in range(released.shape[0]):
        begin_training(state, rest, key, first + i)
        released[i] = add_noise(*laid_out, rng)


class RegressionOnTable(Observer):
    """A regression, its moments computed once for a table, with noise for every training.

    Seen are M and b as released (the printed M averaged with its transpose). The weights are a function of them that
    hides a good part. Beside each coefficient stands the log-likelihood ratio of the two tables, in which all count
    together.
    """

    def __init__(
        self, regressor: PrivatePolynomialRegressor, pair: TablePair, records: tuple[RecordValues, ...], key: int
    ):
        regressor = clone(regressor).set_params(domain=pair.domain, random_state=0)
        summary, *both = (
            regressor.summarise(*split_targets(pair.domain, table)) for table in (records, pair.table, pair.neighbour)
        )
        self._objectives = [summary.objective for summary in both]
        self._budget = regressor.budget(summary.design)
        self._laid_out = self._budget.lay_out(summary.objective)
        self.privacy = regressor.fit_summary(summary).privacy_
        self._names, self._key = regressor.monomials_, np.uint64(key)

    def observe(self, first: int, n: int) -> Observation:
        """Train n times, training number ``first`` and those that follow it."""
        stream, released = RandomStream(self._key), np.empty((n, len(self._laid_out[0])))
        add_noise = self._budget.add_noise
        release = compiled(release_coefficients) if has_twin(add_noise) else release_coefficients
        release(add_noise, self._laid_out, stream.parts, self._key, first, released)
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
        ratios = self._budget.log_ratio(released, *self._objectives)
        return ratios.round(DECIMALS)[:, np.newaxis]


class ReleaseOnTable(Observer):
    """A sampler that releases rows many times.

    Seen are the number of released rows of each class, and how near the nearest released row comes to the differing
    record; of noisy marginals the noisy tables that all rows are drawn from, where the record is.
    """

    def __init__(self, sampler: Sampler, pair: TablePair, records: tuple[RecordValues, ...], key: int):
        self._sampler, self._key = clone(sampler).set_params(domain=pair.domain, random_state=0), key
        X, y = split_targets(pair.domain, records)
        self._sampler.fit_resample(X, y)
        self.privacy = self._sampler.privacy_
        self._rows = self._sampler.read_training_rows(X, y)
        record, row = pair.differing_records[0], pair.domain.encode(pair.probe_rows().iloc[:1])[0]
        self._classes = self._sampler.classes_.tolist()
        self._label, self._record = self._classes.index(record[-1]), number_categories(row, pair.domain)[0]
        if isinstance(self._sampler, MarginalReplacement):
            self._cells = bin_continuous(row, pair.domain, self._sampler.n_bins)[0].astype(np.int64)

    def observe(self, first: int, n: int) -> Observation:
        """Train n times, training number ``first`` and those that follow it."""
        stream, sampler = RandomStream(self._key), copy(self._sampler)  # a sampler keeps what it released last
        releases = [self._observe_release(sampler, stream.start_training(first + i)) for i in range(n)]
        return Observation({}, {side: np.array([[release[side]] for release in releases]) for side in releases[0]})

    def _observe_release(self, sampler: Sampler, rng: np.random.Generator) -> dict[str, float]:
        matrix, positions = self._rows
        rows, labels = sampler._replace_rows(matrix, positions, rng)
        if isinstance(sampler, MarginalReplacement):
            return self._observe_tables(sampler)
        counts = np.bincount(labels, minlength=len(self._classes))
        numbers = {}
        for name, count in zip(self._classes, counts, strict=True):
            numbers[f"released rows of {name!r}"] = float(count)
        nearest = np.abs(rows - self._record).max(axis=1).min()
        numbers["distance from the record to the nearest released row"] = float(nearest)
        return numbers

    def _observe_tables(self, sampler: MarginalReplacement) -> dict[str, float]:
        numbers = {"noisy size of the record's class": float(sampler.class_counts_[self._label])}
        for name, table, cell in zip(sampler.domain_.names, sampler.shares_, self._cells, strict=True):
            numbers[f"noisy share of the record's {name} in its class"] = float(table[self._label, cell])
        return numbers
