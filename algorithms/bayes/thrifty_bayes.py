"""Thrifty Bayes: a private naive Bayes classifier that pays for the counts of a few well-chosen features. Ours.

A tree divides its rows until too few are left to tell many classes apart. Naive Bayes looks at one feature at a time,
always in all rows. What costs there is that every record is in the counts of every feature. So of a wide table, those
features that say most of the class are chosen first, and only they are counted.

Its constants were chosen by mean accuracy on the sets that ``conf/tuning.yaml`` lists under ``chosen_on``, epsilon from
0.1 to 5, with splits that no published study uses (seeds from 1000; on Adult, within the rows to train on). The
choice is flat: half or twice as much of any of them costs one point on average, or less; half of the bins costs 1.4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from algorithms.accounting.events import Event, Sequential, Spent
from algorithms.base import ClassifierByShares, SpendsEpsilon
from algorithms.encoding.bins import MOST_BINS, code_columns, count_by_class, count_codes
from algorithms.encoding.rows import Rows
from algorithms.mechanisms import laplace_vector, permute_and_flip
from algorithms.parameters import check_count, parameter, with_parameters
from algorithms.released.document import Origin
from algorithms.released.naive_bayes import ReleasedNaiveBayes, compute_posterior

FEATURES_AT_1 = 10.0
"""How many features are counted at epsilon = 1; their number grows as the root of epsilon."""

CHOICE_SHARE = 0.2
"""Of epsilon: the choice of features, where there are more of them than are counted."""

CAUTION = 0.5
"""Records, times the epsilon of their count, added to both sides of a ratio: where noise is large, it says little."""


class BayesPlan(NamedTuple):
    """What is counted, and what may be spent on it."""

    n_counted: int  #: features
    choice_epsilon: float  #: of choosing one feature; 0 where all are counted
    count_epsilon: float  #: of counting one feature


def plan_counts(epsilon: float, n_features: int, max_features: int | None) -> BayesPlan:
    """Divide epsilon evenly over the features that are counted; a wide table pays for their choice first.

    Parameters
    ----------
    epsilon : float
        Budget, in (0, inf].
    n_features : int
        Columns of the table, at least 1.
    max_features : int or None
        Features that are counted; None for ten times the root of epsilon, rounded up, or all if they are fewer.

    Examples
    --------
    >>> plan_counts(1.0, 4, None)
    BayesPlan(n_counted=4, choice_epsilon=0.0, count_epsilon=0.25)
    >>> plan_counts(1.0, 60, None)
    BayesPlan(n_counted=10, choice_epsilon=0.02, count_epsilon=0.08)
    """
    wanted = FEATURES_AT_1 * math.sqrt(epsilon) if max_features is None else max_features
    n_counted = math.ceil(min(wanted, n_features))
    if n_counted == n_features:
        return BayesPlan(n_features, 0.0, epsilon / n_features)
    return BayesPlan(n_counted, CHOICE_SHARE * epsilon / n_counted, (1 - CHOICE_SHARE) * epsilon / n_counted)


def choose_features(tables: Sequence[np.ndarray], plan: BayesPlan, rng) -> list[int]:
    """Choose the features to be counted, one after the other, by permute-and-flip.

    The score of a feature is how many records the largest class of each of its codes would get right. A record added
    raises the largest count of one code by 0 or 1: scores are monotone, with sensitivity 1.

    Parameters
    ----------
    tables : sequence of k int64 arrays of shape (v, c)
        Exact counts of each feature.
    plan : BayesPlan
        How many to choose, and what each choice may cost.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    list of int
        Numbers of the features, ascending.
    """
    left = list(range(len(tables)))
    if plan.n_counted == len(left):
        return left
    scores = np.array([table.max(axis=1).sum() for table in tables], dtype=np.float64)
    chosen = [
        left.pop(permute_and_flip(scores[left], 1.0, plan.choice_epsilon, rng, True)) for _ in range(plan.n_counted)
    ]
    return sorted(chosen)


def combine_sizes(noisy: Sequence[np.ndarray]) -> np.ndarray:
    """Return the size of each class, at least 1: the mean of what the features say, weighed by the inverse variance.

    The sum over the v codes of a feature has v times the variance of one noisy count.

    Parameters
    ----------
    noisy : sequence of float64 arrays of shape (v, c)
        Noisy counts of each feature.

    Examples
    --------
    >>> combine_sizes([np.array([[6.0, -3.0]]), np.array([[5.0, 1.0], [4.0, 2.0]])])
    array([7., 1.])
    """
    weights = np.array([1 / len(table) for table in noisy])
    sums = np.array([table.sum(axis=0) for table in noisy])
    return np.maximum(weights @ sums / weights.sum(), 1.0)


def log_ratios(noisy: np.ndarray, scale: float) -> np.ndarray:
    """Return by what a code makes each class more likely: log of its count by that of a feature that says nothing.

    Counts below 0 are 0. Both counts get more records, the same number, so that a ratio is nearer to 1 the larger the
    noise is beside them: every class is then as likely as over all codes.

    Parameters
    ----------
    noisy : float64 array of shape (v, c)
        Noisy counts of a feature.
    scale : float
        Scale of their noise, at least 0.

    Examples
    --------
    >>> np.exp(log_ratios(np.array([[29.0, 9.0], [9.0, 29.0]]), 0.0)).round(2)
    array([[1.5, 0.5],
           [0.5, 1.5]])
    >>> np.exp(log_ratios(np.array([[29.0, 9.0], [9.0, 29.0]]), 160.0)).round(2)
    array([[1.1, 0.9],
           [0.9, 1.1]])
    """
    counts = np.maximum(noisy, 0.0)
    of_codes, of_classes = counts.sum(axis=1, keepdims=True), counts.sum(axis=0)
    more = 1.0 + CAUTION * scale
    return np.log((counts + more) / (of_codes * of_classes / max(counts.sum(), 1.0) + more))


@with_parameters
class ThriftyBayesClassifier(SpendsEpsilon, ClassifierByShares):
    """Differentially private naive Bayes on the counts of a few features that were chosen with noise.

    Parameters
    ----------
    epsilon : float
        Budget, from 1e-100 to 1e100; inf is the noise-free model, of all features unless ``max_features`` is given.
    n_bins : int
        Public equal-width bins of a continuous column, from 2 to 65,536. There are finer cuts towards the point of its
        range that is nearest to zero, see ``algorithms.encoding.bins.public_cuts``.
    max_features : int or None
        Features that are counted, from 1 to k; None for ten times the root of epsilon, rounded up, or all if fewer.

    Attributes
    ----------
    features_ : int64 array of shape (m,)
        Columns that were counted.
    log_sizes_ : float64 array of shape (c,)
        Logarithm of the noisy size of each class.
    log_ratios_ : list of m float64 arrays of shape (v, c)
        What each of the v codes of a column adds to the logarithm for each class.

    Notes
    -----
    A record adds 1 to one of the counts by code and class of every feature. If there are more features than are to be
    counted, permute-and-flip first chooses that many, one after the other, each by how many records the largest class
    of each of its codes gets right; all choices together cost a fifth of epsilon. The rest is divided evenly over the
    counts of the chosen features, as Laplace noise on each cell. How many they are follows from epsilon, the number of
    columns and ``max_features``, never from the rows.

    All that follows reads no row. Sizes of the classes are means over the features. A class is predicted for the
    largest product of its size and, for each feature, the ratio of the count of the row's code in that class to what it
    would be if code and class were independent. To both are added one record and half the scale of the noise.

    Privacy: epsilon-differentially private for one record added or removed, given a public domain. m choices by
    monotone scores of sensitivity 1 cost e each; the counts of each of m features, of which a record moves one by 1,
    cost d; and m e + m d = epsilon, where e is 0 without choices. All three are fixed before any row is seen.

    Sources: Vaidya, Shafiq, Basu & Hong (2013) for naive Bayes from noisy counts; McKenna & Sheldon (2020) for the
    choices.

    Examples
    --------
    >>> from algorithms import Domain, Nominal
    >>> domain = Domain((Nominal("a", (0, 1)), Nominal("b", (0, 1))), Nominal("y", ("no", "yes")))
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 25, ["no", "no", "yes", "yes"] * 25
    >>> model = ThriftyBayesClassifier(epsilon=1.0, domain=domain, random_state=0).fit(X, y)
    >>> model.predict([[0, 1], [1, 0]])
    array(['no', 'yes'], dtype='<U3')
    >>> model.privacy_.keeps_claim, model.privacy_.accounted_epsilon
    (True, 1.0)
    """

    draws_only_noise = True
    n_bins: int = parameter(16, check_count, lowest=2, highest=MOST_BINS)
    max_features: int | None = parameter(None)

    def check_parameters(self, n_features: int) -> None:
        """Raise ``ParameterError`` if the parameters cannot work for so many features."""
        super().check_parameters(n_features)
        if self.max_features is not None:
            check_count("max_features", self.max_features, highest=n_features, of="number of features")

    def fit(self, X, y):
        """Choose features, count them by class y, turn the noisy counts into ratios, and return the classifier.

        Rows, errors and warnings are those of ``read_training_rows``; a parameter out of its range is a
        ``ParameterError``.
        """
        rows = self.training_rows(X, y)
        n_features = len(rows.features) - 1
        self.check_parameters(n_features)
        plan, rng = plan_counts(float(self.epsilon), n_features, self.max_features), self.generator(self.seed())
        tables = self._count_features(rows)
        chosen = choose_features(tables, plan, rng)
        noisy = [self._add_noise(tables[j], plan, rng) for j in chosen]
        self.features_ = np.array(chosen, dtype=np.int64)
        self.log_sizes_ = np.log(combine_sizes(noisy))
        self.log_ratios_ = [log_ratios(table, 1 / plan.count_epsilon) for table in noisy]
        self.privacy_ = self.account(self.epsilon, self._ledger(plan))
        return self

    def _count_features(self, rows: Rows) -> list[np.ndarray]:
        """Count the records of each code of each feature in each class; they are read a block at a time."""
        n_classes = len(self.classes_)
        sizes = [count_codes(feature, self.n_bins) for feature in self.domain_.features]
        tables = [np.zeros((size, n_classes), dtype=np.int64) for size in sizes]
        for block in rows.blocks():
            matrix, labels = self.split_target(block)
            codes = code_columns(matrix, self.domain_, self.n_bins)
            for j, table in enumerate(tables):
                table += count_by_class(codes[:, j], labels, len(table), n_classes)
        self._note_clipped(rows.clipped)
        return tables

    def _add_noise(self, table: np.ndarray, plan: BayesPlan, rng) -> np.ndarray:
        return laplace_vector(table.ravel(), 1.0, plan.count_epsilon, rng).reshape(table.shape)

    def _ledger(self, plan: BayesPlan) -> Event:
        counted = Spent("laplace", "counts by code and class", plan.count_epsilon, 1.0)
        counts = Sequential("feature", (counted,), times=plan.n_counted)
        if not plan.choice_epsilon:
            return counts
        chosen = Spent("permute_and_flip, monotone", "which feature is counted", plan.choice_epsilon, 1.0)
        return Sequential("model", (Sequential("choice", (chosen,), times=plan.n_counted), counts))

    def predict_proba(self, X) -> np.ndarray:
        """Return the posterior of each class, as naive Bayes has it: float64 array of shape (n, c)."""
        return self.share_rows(self.read_rows(X))

    def share_rows(self, matrix: np.ndarray) -> np.ndarray:
        """Return the same of rows that are encoded: float64 array of shape (n, k)."""
        codes = code_columns(matrix, self.domain_, self.n_bins)
        return compute_posterior(self.log_sizes_, self.log_ratios_, codes[:, self.features_])

    def _released(self, origin: Origin) -> ReleasedNaiveBayes:
        ratios = tuple(table.copy() for table in self.log_ratios_)
        return ReleasedNaiveBayes(
            origin, self.classes_.copy(), self.n_bins, self.features_.copy(), self.log_sizes_.copy(), ratios
        )
