"""Many releases of rows in place of the training rows: how many of each class, how near to the differing record."""

from __future__ import annotations

from copy import copy

import numpy as np
from sklearn.base import clone

from algorithms.accounting.privacy import Privacy
from algorithms.data_replacement.dp_marginals import MarginalReplacement
from algorithms.data_replacement.sampler import Sampler, number_categories
from algorithms.encoding.bins import bin_continuous
from experiments.audit.neighbouring_tables import RecordValues, TablePair, split_targets
from experiments.audit.observe.observed_model import Observation
from experiments.audit.observe.random_streams import RandomStream


class ReleaseOnTable:
    """A sampler on one of the tables of a pair, ready to release many times: an `Observer`.

    Seen are the number of released rows of each class, and how near the nearest released row comes to the differing
    record; of noisy marginals the noisy tables that all rows are drawn from, where the record is.

    Parameters
    ----------
    sampler : Sampler
        An estimator without a fit; its ``random_state`` is not used.
    pair : TablePair
        Where the record comes from.
    records : tuple of RecordValues
        The table.
    key : int
        Key of the run.
    """

    def __init__(self, sampler: Sampler, pair: TablePair, records: tuple[RecordValues, ...], key: int):
        self._sampler, self._key = clone(sampler).set_params(domain=pair.domain, random_state=0), key
        X, y = split_targets(pair.domain, records)
        self._sampler.fit_resample(X, y)
        self.privacy: Privacy = self._sampler.privacy_
        self._rows = self._sampler.read_training_rows(X, y)
        record, row = pair.differing_records[0], pair.domain.encode(pair.probe_rows().iloc[:1])[0]
        self._classes = self._sampler.classes_.tolist()
        self._label, self._record = self._classes.index(record[-1]), number_categories(row, pair.domain)[0]
        if isinstance(self._sampler, MarginalReplacement):
            self._cells = bin_continuous(row, pair.domain, self._sampler.n_bins)[0].astype(np.int64)

    def observe(self, first: int, n: int) -> Observation:
        """Release n times, release number ``first`` and those that follow it."""
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

    def describe_side(self, side: str, training: int, part: int) -> str:
        """Refuse to describe a side of the release: all of it is numbers."""
        raise KeyError(side)
