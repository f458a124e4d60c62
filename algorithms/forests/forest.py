"""What all private forests share: reading the rows, drawing the samples, growing trees side by side, voting."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from joblib import Parallel as InParallel
from joblib import delayed

from algorithms.accounting import Event, Fault, Privacy
from algorithms.classifier import PrivateClassifier
from algorithms.compiled import compiled
from algorithms.forests.predictor import add_votes
from algorithms.forests.table import Table, bin_continuous, make_table
from algorithms.mechanisms import laplace_vector
from algorithms.parameters import check_count, check_epsilon

MAX_DEPTH = 30
"""Deepest tree that is grown."""


@compiled
def label_leaf(growth, i, counts, epsilon, rng):
    """Label a leaf with the largest of its noisy class counts (Laplace, sensitivity 1)."""
    growth.nodes[i].label = np.argmax(laplace_vector(counts, 1.0, epsilon, rng))
    growth.nodes[i].epsilon += epsilon


class PrivateForestClassifier(PrivateClassifier):
    """Base of the private forests; a subclass says how one tree grows and what that costs.

    A subclass has at least the constructor parameters ``n_estimators``, ``max_depth``, ``epsilon``, ``domain``,
    ``n_jobs`` and ``random_state``, and implements ``check_parameters``, ``_grower`` and ``_account``.

    Attributes
    ----------
    trees_ : list of structured arrays
        One array of nodes (``forests.tree.node_type``) for each tree.
    privacy_ : accounting.Privacy
        What is claimed and what was spent.
    """

    def check_parameters(self, n_features: int) -> None:
        """Raise ``ParameterError`` if the parameters cannot work for so many features."""
        check_epsilon(self.epsilon)
        check_count("n_estimators", self.n_estimators)
        check_count("max_depth", self.max_depth, highest=MAX_DEPTH)

    def fit(self, X, y):
        """Grow the forest.

        Parameters
        ----------
        X : DataFrame or array of shape (n, k)
            Rows; columns as the domain declares them.
        y : array of shape (n,)
            Class labels.

        Returns
        -------
        self

        Raises
        ------
        ParameterError
            For a parameter out of its range.
        DomainError
            For a category, class label or number of columns that the domain does not know, or missing values.

        Warns
        -----
        PrivacyLeakWarning
            If no domain was given.
        """
        matrix, labels = self.read_training_rows(X, y)
        self.check_parameters(matrix.shape[1])
        n_bins = self._n_bins()
        if n_bins is not None:
            matrix = bin_continuous(matrix, self.domain_, n_bins)
        table = make_table(matrix, self.domain_, labels, len(self.classes_), n_bins)
        grow = self._grower(table)
        sampling, *growing = map(np.random.default_rng, self.seed().spawn(self.n_estimators + 1))
        samples = SAMPLINGS[self._sampling()](len(labels), self.n_estimators, sampling)
        self.trees_ = InParallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(grow)(table, rows, rng) for rows, rng in zip(samples, growing, strict=True)
        )
        self.privacy_ = Privacy.under(self.domain_, self.epsilon, *self._account(table))
        return self

    def predict_proba(self, X) -> np.ndarray:
        """Return the share of trees that vote for each class: float64 array of shape (n, c)."""
        matrix = self.read_rows(X)
        if self._n_bins() is not None:
            matrix = bin_continuous(matrix, self.domain_, self._n_bins())
        matrix = np.ascontiguousarray(matrix)
        votes = np.zeros((len(matrix), len(self.classes_)))
        for nodes in self.trees_:
            add_votes(nodes, matrix, votes)
        return votes / len(self.trees_)

    def predict(self, X) -> np.ndarray:
        """Return the class that most trees vote for, the first in ``classes_`` on a tie."""
        votes = self.predict_proba(X)  # first, so that an unfitted forest says so
        return self.classes_[np.argmax(votes, axis=1)]

    def _grower(self, table: Table) -> Callable:
        """Return a function (table, rows, rng) -> nodes that grows one tree."""
        raise TypeError(f"{type(self).__name__} does not say how its trees grow")

    def _account(self, table: Table) -> tuple[Event, tuple[Fault, ...]]:
        """Return what the forest just grown has spent, and the steps that its claim does not cover."""
        raise TypeError(f"{type(self).__name__} does not say what its trees cost")

    def _sampling(self) -> str:
        """Return how the rows of the trees are drawn, a key of ``SAMPLINGS``."""
        return "bootstrap"

    def _n_bins(self) -> int | None:
        """Return the number of public bins of a continuous column, or None where trees need its exact values."""
        return None


def _bootstrap(n_rows: int, n_trees: int, rng):
    for _ in range(n_trees):
        copies = np.bincount(rng.integers(n_rows, size=n_rows), minlength=n_rows)
        yield np.repeat(np.arange(n_rows, dtype=np.uint32), copies)


def _disjoint(n_rows: int, n_trees: int, rng):
    # Every record draws its tree by itself: one record more changes nothing for the others.
    tree_of_row = rng.integers(n_trees, size=n_rows)
    for tree in range(n_trees):
        yield np.flatnonzero(tree_of_row == tree).astype(np.uint32)


def _all(n_rows: int, n_trees: int, rng):
    for _ in range(n_trees):
        yield np.arange(n_rows, dtype=np.uint32)


SAMPLINGS = {"bootstrap": _bootstrap, "disjoint": _disjoint, "all": _all}
"""How the rows of a tree are drawn: each yields the rows of one tree after the other, a repeated row standing twice."""
