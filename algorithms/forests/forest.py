"""What all private forests share: reading the rows, drawing the samples, growing trees side by side, voting."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from joblib import Parallel as InParallel
from joblib import delayed
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_array, check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from algorithms import accounting
from algorithms.compiled import compiled
from algorithms.domain import Domain, DomainError, Nominal
from algorithms.forests.predictor import add_votes
from algorithms.forests.table import Table, bin_continuous, make_table
from algorithms.mechanisms import laplace_vector
from algorithms.parameters import check_count, check_epsilon


@compiled
def label_leaf(growth, i, counts, epsilon, rng):
    """Label a leaf with the largest of its noisy class counts (Laplace, sensitivity 1)."""
    growth.nodes[i].label = np.argmax(laplace_vector(counts, 1.0, epsilon, rng))
    growth.nodes[i].epsilon += epsilon


class PrivateForestClassifier(ClassifierMixin, BaseEstimator):
    """Base of the private forests; a subclass says how one tree grows and what that costs.

    A subclass has at least the constructor parameters ``n_estimators``, ``max_depth``, ``epsilon``, ``domain``,
    ``n_jobs`` and ``random_state``, and implements ``check_parameters``, ``_grower`` and ``_privacy``.

    Attributes
    ----------
    classes_ : array of shape (c,)
        The declared class labels, sorted.
    domain_ : Domain
        The domain in use: the given one, or one inferred from the rows.
    trees_ : list of structured arrays
        One array of nodes (``forests.tree.node_type``) for each tree.
    clipped_ : dict
        How many training values lay outside the declared bounds, by column.
    privacy_ : accounting.Privacy
        What is claimed and what was spent.
    """

    def check_parameters(self, n_features: int) -> None:
        """Raise ``ParameterError`` if the parameters cannot work for so many features."""
        check_epsilon(self.epsilon)
        check_count("n_estimators", self.n_estimators)
        check_count("max_depth", self.max_depth)

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
        matrix, labels = self._training_rows(X, y)
        self.check_parameters(matrix.shape[1])
        n_bins = self._n_bins()
        if n_bins is not None:
            matrix = bin_continuous(matrix, self.domain_, n_bins)
        table = make_table(matrix, self.domain_, labels, len(self.classes_), n_bins)
        grow = self._grower(table)
        seeds = np.random.SeedSequence(check_random_state(self.random_state).randint(2**31 - 1))
        sampling, *growing = [np.random.default_rng(seed) for seed in seeds.spawn(self.n_estimators + 1)]
        samples = SAMPLINGS[self._sampling()](len(labels), self.n_estimators, sampling)
        self.trees_ = InParallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(grow)(table, rows, rng) for rows, rng in zip(samples, growing, strict=True)
        )
        self.privacy_ = self._privacy(table)
        if not self.domain_.is_public:
            faults = (*self.privacy_.faults, accounting.INFERRED_DOMAIN)
            self.privacy_ = accounting.Privacy(self.privacy_.claimed_epsilon, self.privacy_.ledger, faults)
        return self

    def predict_proba(self, X) -> np.ndarray:
        """Return the share of trees that vote for each class: float64 array of shape (n, c)."""
        check_is_fitted(self)
        matrix, _ = self.domain_.encode(self._columns(X, reset=False))
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

    def _privacy(self, table: Table) -> accounting.Privacy:
        """Return what is claimed and spent by the forest just grown."""
        raise TypeError(f"{type(self).__name__} does not say what its trees cost")

    def _sampling(self) -> str:
        """Return how the rows of the trees are drawn, a key of ``SAMPLINGS``."""
        return "bootstrap"

    def _n_bins(self) -> int | None:
        """Return the number of public bins of a continuous column, or None where trees need its exact values."""
        return None

    def _columns(self, X, reset: bool):
        """Check the shape and names of X as scikit-learn does, without forcing categories into numbers."""
        if not hasattr(X, "columns"):
            X = check_array(X, dtype=None, ensure_all_finite="allow-nan", estimator=self)
        validate_data(self, X, reset=reset, skip_check_array=True)
        return X

    def _training_rows(self, X, y) -> tuple[np.ndarray, np.ndarray]:
        X = self._columns(X, reset=True)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        if self.domain is None:
            check_classification_targets(y)
            self.domain_ = Domain.infer(X, y)
        elif isinstance(getattr(self.domain, "target", None), Nominal):
            self.domain_ = self.domain
        else:
            raise DomainError("the domain of a classifier must declare its class labels: target=Nominal(...)")
        self.classes_ = np.unique(np.array(self.domain_.target.categories))
        labels, _ = Nominal(self.domain_.target.name, tuple(self.classes_.tolist())).encode(y)
        matrix, self.clipped_ = self.domain_.encode(X)
        return matrix, labels

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # with a finite budget a small table is mostly noise
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags


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
