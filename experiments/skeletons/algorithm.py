"""A private classifier of one's own: naive Bayes from noisy counts. Change it into yours, from the docstring on.

``algorithms.check_private_estimator`` says whether yours keeps what all private estimators keep.
"""

import numpy as np

from dp_replica.algorithms.accounting.events import Sequential, Spent
from dp_replica.algorithms.base import PrivateClassifier
from dp_replica.algorithms.encoding.bins import bin_continuous
from dp_replica.algorithms.encoding.features import Continuous
from dp_replica.algorithms.mechanisms import laplace_vector
from dp_replica.algorithms.parameters import check_count, check_epsilon
from dp_replica.algorithms.released.numbers import ReleasedNumbers


class NoisyBayesClassifier(PrivateClassifier):
    """Naive Bayes: how often each value occurs in each class, counted with noise.

    Parameters
    ----------
    epsilon : float
        Privacy budget.
    n_bins : int
        Into how many bins of equal width a column of numbers is cut, between its declared bounds.
    domain : Domain
        Declared bounds and categories; the harness gives that of the data set.
    noise : {"numpy", "opendp"}
        Who draws the noise: numpy in experiments, OpenDP for a release.
    random_state : int
        Seed; the harness gives one to each cell.

    Notes
    -----
    Privacy: epsilon-differentially private for one record added or removed, given a public domain. A record is counted
    once in the table of class counts, and once in the table of each of the k features: it changes one cell of a table
    by 1, so the sensitivity of a table is 1. Each of the k + 1 tables gets Laplace noise with epsilon / (k + 1), which
    is epsilon in all (sequential composition). Bins and categories come from the declared domain, and predictions from
    the noisy tables alone.
    """

    def __init__(self, epsilon=1.0, *, n_bins=10, domain=None, noise="numpy", random_state=None):
        self.epsilon = epsilon
        self.n_bins = n_bins
        self.domain = domain
        self.noise = noise
        self.random_state = random_state

    def fit(self, X, y):
        """Count with noise."""
        epsilon, n_bins = check_epsilon(self.epsilon), check_count("n_bins", self.n_bins, lowest=2)
        matrix, labels = self.read_training_rows(X, y)
        # all randomness comes from here, so that a seed repeats a run and OpenDP can take numpy's place
        rng = self.generator(self.seed())
        n_classes, n_features = len(self.classes_), len(self.domain_.features)
        share = epsilon / (n_features + 1)
        class_counts = np.bincount(labels, minlength=n_classes)
        self.class_counts_ = laplace_vector(class_counts, 1.0, share, rng)
        self.value_counts_ = []
        cells = bin_continuous(matrix, self.domain_, n_bins).astype(np.int64)
        for column, feature in zip(cells.T, self.domain_.features, strict=True):
            n_values = n_bins if isinstance(feature, Continuous) else len(feature.categories)
            counts = np.bincount(labels * n_values + column, minlength=n_classes * n_values)
            noisy = laplace_vector(counts, 1.0, share, rng)
            self.value_counts_.append(noisy.reshape(n_classes, n_values))
        # the ledger says what was spent on what: the audit holds it against the calls above
        tables = Sequential("feature", (Spent("laplace", "counts by class and value", share, 1.0),), times=n_features)
        ledger = Sequential("fit", (Spent("laplace", "class counts", share, 1.0), tables))
        self.privacy_ = self.account(epsilon, ledger)
        return self

    def predict(self, X):
        """Predict the class under which the values of a row are likeliest."""
        cells = bin_continuous(self.read_rows(X), self.domain_, self.n_bins).astype(np.int64)
        scores = np.tile(np.log(np.maximum(self.class_counts_, 1.0)), (len(cells), 1))
        for column, counts in zip(cells.T, self.value_counts_, strict=True):
            likely = np.maximum(counts, 1.0)  # noise may leave a count below zero
            scores += np.log(likely / likely.sum(axis=1, keepdims=True)).T[column]
        return self.classes_[scores.argmax(axis=1)]

    def _released(self, origin):
        """Return what may leave, each number of which was paid for."""
        tables = {f"values_{i}": counts.copy() for i, counts in enumerate(self.value_counts_)}
        return ReleasedNumbers(origin, {"class_counts": self.class_counts_.copy(), **tables})
