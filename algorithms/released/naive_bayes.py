"""Released naive Bayes, of codes, pairs of codes, or categories and normal numbers, and how each has a posterior."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from algorithms.encoding.bins import MOST_BINS, code_columns, count_codes
from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous
from algorithms.released.document import Origin, Release, to_plain_data
from algorithms.released.field import Field
from algorithms.released.origin import read_classes

LARGEST_LOG = 745.0
"""No logarithm of a 64-bit float is larger, nor smaller than minus this, but for those of 0 and of infinity."""

LEAST_DEVIATION = 1e-3
"""Standard deviation of a continuous column, scaled to [-1, 1], below which its density is not taken to be narrower."""


@dataclass(frozen=True, eq=False)
class ReleasedNaiveBayes(Release):
    """A naive Bayes classifier that has left."""

    KIND = "naive_bayes"

    origin: Origin
    classes: np.ndarray  #: (c,): class labels, sorted
    n_bins: int  #: of equal width of a continuous column, see ``algorithms.encoding.bins.code_columns``
    features: np.ndarray  #: int64 (m,): columns that are looked at
    log_sizes: np.ndarray  #: float64 (c,): logarithm of the noisy size of each class, at least 0
    log_ratios: tuple[np.ndarray, ...]  #: float64 (v, c) for each of these columns: what its v codes add for each class

    def predict_proba(self, X) -> np.ndarray:
        """Return the posterior of each class: float64 array of shape (n, c)."""
        matrix, _ = self.origin.domain.encode(X)
        codes = code_columns(matrix, self.origin.domain, self.n_bins)
        return compute_posterior(self.log_sizes, self.log_ratios, codes[:, self.features])

    def predict(self, X) -> np.ndarray:
        """Predict the class of each row."""
        return self.classes[np.argmax(self.predict_proba(X), axis=1)]

    def to_contents(self) -> dict:
        """Return classes, bins, columns, sizes and ratios."""
        return {
            "classes": to_plain_data(self.classes),
            "n_bins": to_plain_data(self.n_bins),
            "features": to_plain_data(self.features),
            "log_sizes": to_plain_data(self.log_sizes),
            "log_ratios": to_plain_data(self.log_ratios),
        }

    @classmethod
    def from_contents(cls, origin: Origin, contents: Field) -> ReleasedNaiveBayes:
        """Return the classifier that ``contents`` was made of: each code of its columns has a ratio for every class."""
        fields = contents.entries("classes", "n_bins", "features", "log_sizes", "log_ratios")
        classes, columns = read_classes(fields["classes"], origin.domain), origin.domain.features
        n_bins = fields["n_bins"].whole(lowest=2, highest=MOST_BINS)
        features = fields["features"].whole_numbers(None, lowest=0, highest=len(columns) - 1)
        if not len(features) or (np.diff(features) <= 0).any():
            fields["features"].refuse("must be columns in order, each once")
        tables = fields["log_ratios"].items()
        if len(tables) != len(features):
            fields["log_ratios"].refuse(f"must be a list of {len(features)}")
        sizes = fields["log_sizes"].numbers(len(classes), lowest=0, highest=LARGEST_LOG)
        ratios = tuple(
            table.numbers(count_codes(columns[j], n_bins), len(classes), lowest=-LARGEST_LOG, highest=LARGEST_LOG)
            for table, j in zip(tables, features, strict=True)
        )
        return cls(origin, classes, n_bins, features, sizes, ratios)


@dataclass(frozen=True, eq=False)
class ReleasedPairBayes(Release):
    """A naive Bayes classifier of pairs of nominal columns that has left."""

    KIND = "naive_bayes:pairs"

    origin: Origin
    classes: np.ndarray  #: (c,): class labels, sorted
    pairs: np.ndarray  #: int64 (m, 2): columns that are looked at together
    log_sizes: np.ndarray  #: float64 (c,): logarithm of the noisy size of each class, at least 0
    log_ratios: tuple[np.ndarray, ...]  #: float64 (v, c) for each pair: what its v codes add for each class

    def predict_proba(self, X) -> np.ndarray:
        """Return the posterior of each class: float64 array of shape (n, c)."""
        matrix, _ = self.origin.domain.encode(X)
        return compute_posterior(self.log_sizes, self.log_ratios, code_pairs(matrix, self.origin.domain, self.pairs))

    def predict(self, X) -> np.ndarray:
        """Predict the class of each row."""
        return self.classes[np.argmax(self.predict_proba(X), axis=1)]

    def to_contents(self) -> dict:
        """Return classes, pairs, sizes and ratios."""
        return {
            "classes": to_plain_data(self.classes),
            "pairs": to_plain_data(self.pairs),
            "log_sizes": to_plain_data(self.log_sizes),
            "log_ratios": to_plain_data(self.log_ratios),
        }

    @classmethod
    def from_contents(cls, origin: Origin, contents: Field) -> ReleasedPairBayes:
        """Return the classifier that ``contents`` was made of: each code of its pairs has a ratio for every class."""
        fields = contents.entries("classes", "pairs", "log_sizes", "log_ratios")
        classes, columns = read_classes(fields["classes"], origin.domain), origin.domain.features
        pairs = fields["pairs"].whole_numbers(None, 2, lowest=0, highest=len(columns) - 1)
        is_number = np.array([isinstance(column, Continuous) for column in columns])
        fields["pairs"].refuse_where(is_number[pairs], "must be a nominal column")
        used = [column for pair in pairs.tolist() for column in {*pair}]
        if len({*used}) < len(used) or (pairs[:, 0] > pairs[:, 1]).any():
            fields["pairs"].refuse("must be pairs of columns in their order, none of them in two")
        tables = fields["log_ratios"].items(1)
        if len(tables) != len(pairs):
            fields["log_ratios"].refuse(f"must be a list of {len(pairs)}")
        sizes = fields["log_sizes"].numbers(len(classes), lowest=0, highest=LARGEST_LOG)
        ratios = tuple(
            table.numbers(count_pair_codes(origin.domain, pair), len(classes), lowest=-LARGEST_LOG, highest=LARGEST_LOG)
            for table, pair in zip(tables, pairs, strict=True)
        )
        return cls(origin, classes, pairs, sizes, ratios)


@dataclass(frozen=True, eq=False)
class ReleasedNormalBayes(Release):
    """A naive Bayes classifier of categories, and of numbers with normal distributions, that has left."""

    KIND = "naive_bayes:normal"

    origin: Origin
    classes: np.ndarray  #: (c,): class labels, sorted
    log_sizes: np.ndarray  #: float64 (c,): logarithm of the noisy size of each class, at least 0
    log_shares: tuple[np.ndarray, ...]  #: float64 (v, c) for each nominal column: logarithms of shares within a class
    means: np.ndarray  #: float64 (m, c): of the m continuous columns, scaled to [-1, 1]
    deviations: np.ndarray  #: float64 (m, c), at least `LEAST_DEVIATION`

    def predict_proba(self, X) -> np.ndarray:
        """Return the posterior of each class: float64 array of shape (n, c)."""
        domain = self.origin.domain
        matrix, _ = domain.encode(X)
        return compute_normal_posterior(domain, self.log_sizes, self.log_shares, self.means, self.deviations, matrix)

    def predict(self, X) -> np.ndarray:
        """Predict the class of each row."""
        return self.classes[np.argmax(self.predict_proba(X), axis=1)]

    def to_contents(self) -> dict:
        """Return classes, sizes, shares, means and deviations."""
        return {
            "classes": to_plain_data(self.classes),
            "log_sizes": to_plain_data(self.log_sizes),
            "log_shares": to_plain_data(self.log_shares),
            "means": to_plain_data(self.means),
            "deviations": to_plain_data(self.deviations),
        }

    @classmethod
    def from_contents(cls, origin: Origin, contents: Field) -> ReleasedNormalBayes:
        """Return the classifier that ``contents`` was made of: each column has its numbers for every class."""
        fields = contents.entries("classes", "log_sizes", "log_shares", "means", "deviations")
        classes = read_classes(fields["classes"], origin.domain)
        nominal, continuous = split_columns(origin.domain)
        tables = fields["log_shares"].items()
        if len(tables) != len(nominal):
            fields["log_shares"].refuse(f"must be a list of {len(nominal)}")
        features, n_classes = origin.domain.features, len(classes)
        shares = tuple(
            table.numbers(len(features[j].categories), n_classes, lowest=-LARGEST_LOG, highest=0.0)
            for table, j in zip(tables, nominal, strict=True)
        )
        sizes = fields["log_sizes"].numbers(n_classes, lowest=0, highest=LARGEST_LOG)
        of_columns = len(continuous), n_classes
        means = fields["means"].numbers(*of_columns, lowest=-1.0, highest=1.0)
        deviations = fields["deviations"].numbers(*of_columns, lowest=LEAST_DEVIATION, highest=1.0)
        return cls(origin, classes, sizes, shares, means, deviations)


def count_pair_codes(domain: Domain, pair: Sequence[int]) -> int:
    """Return how many codes a pair of nominal columns has: one for each two of their categories.

    A column that is paired with itself has its own: nobody could be in any of the others.

    Examples
    --------
    >>> from algorithms import Nominal
    >>> domain = Domain((Nominal("a", (0, 1)), Nominal("b", (0, 1, 2))))
    >>> count_pair_codes(domain, (0, 1)), count_pair_codes(domain, (1, 1))
    (6, 3)
    """
    return math.prod(len(domain.features[j].categories) for j in {*map(int, pair)})


def code_pairs(matrix: np.ndarray, domain: Domain, pairs: Sequence[Sequence[int]]) -> np.ndarray:
    """Number the categories of pairs of nominal columns, in rows as ``domain.encode`` returns them.

    Returns
    -------
    int64 array of shape (n, m)
        Codes from 0 to ``count_pair_codes(domain, pair) - 1``.

    Examples
    --------
    >>> from algorithms import Nominal
    >>> domain = Domain((Nominal("a", (0, 1)), Nominal("b", (0, 1, 2))))
    >>> code_pairs(np.array([[0.0, 2.0], [1.0, 0.0]]), domain, [(0, 1)])
    array([[2],
           [3]])
    """
    codes = np.empty((len(matrix), len(pairs)), dtype=np.int64, order="F")
    for i, (first, second) in enumerate(pairs):
        codes[:, i] = matrix[:, second]
        if first != second:
            codes[:, i] += len(domain.features[second].categories) * matrix[:, first].astype(np.int64)
    return codes


def split_columns(domain: Domain) -> tuple[list[int], list[int]]:
    """Return the places of the nominal columns, and of the continuous ones.

    Examples
    --------
    >>> from algorithms import Nominal
    >>> split_columns(Domain((Continuous("x", 0, 1), Nominal("a", (0, 1)), Nominal("b", (0, 1)))))
    ([1, 2], [0])
    """
    numeric = [isinstance(feature, Continuous) for feature in domain.features]
    places = range(len(numeric))
    return [j for j in places if not numeric[j]], [j for j in places if numeric[j]]


def scale_numbers(matrix: np.ndarray, domain: Domain) -> np.ndarray:
    """Return the continuous columns of rows, as ``domain.encode`` returns them, scaled to [-1, 1] by their bounds.

    Examples
    --------
    >>> scale_numbers(np.array([[0.0], [6.0], [8.0]]), Domain((Continuous("x", 0, 8),))).ravel()
    array([-1. ,  0.5,  1. ])
    """
    _, continuous = split_columns(domain)
    lower, upper = (
        np.array([float(getattr(domain.features[j], end)) for j in continuous]) for end in ("lower", "upper")
    )
    return 2.0 * ((matrix[:, continuous] - lower) / (upper - lower)) - 1.0


def compute_normal_posterior(
    domain: Domain,
    log_sizes: np.ndarray,
    log_shares: Sequence[np.ndarray],
    means: np.ndarray,
    deviations: np.ndarray,
    matrix: np.ndarray,
) -> np.ndarray:
    """Multiply the size of each class by the shares of categories and the densities of numbers.

    Parameters
    ----------
    domain : Domain
        The columns.
    log_sizes, log_shares, means, deviations
        As for `ReleasedNormalBayes`.
    matrix : float64 array of shape (n, k)
        Rows as ``domain.encode`` returns them.

    Returns
    -------
    float64 array of shape (n, c)
        The share of each class.

    Examples
    --------
    >>> domain, one = Domain((Continuous("x", 0, 8),)), np.array([[1.0, 1.0]])
    >>> rows = np.array([[4.0], [8.0]])
    >>> compute_normal_posterior(domain, np.zeros(2), [], np.array([[-0.5, 0.5]]), one, rows).round(3)
    array([[0.5  , 0.5  ],
           [0.269, 0.731]])
    """
    nominal, _ = split_columns(domain)
    logs = np.tile(log_sizes, (len(matrix), 1))
    for shares, j in zip(log_shares, nominal, strict=True):
        logs += shares[matrix[:, j].astype(np.int64)]
    for numbers, mean, deviation in zip(scale_numbers(matrix, domain).T, means, deviations, strict=True):
        logs -= 0.5 * ((numbers[:, np.newaxis] - mean) / deviation) ** 2 + np.log(deviation)
    return shares_of_logs(logs)


def compute_posterior(log_sizes: np.ndarray, log_ratios: Sequence[np.ndarray], codes: np.ndarray) -> np.ndarray:
    """Multiply the size of each class by what every code says of it, and return the shares of the products.

    Parameters
    ----------
    log_sizes, log_ratios
        As for `ReleasedNaiveBayes`.
    codes : int64 array of shape (n, m)
        Codes of the columns that are looked at.

    Returns
    -------
    float64 array of shape (n, c)

    Examples
    --------
    >>> ratios = np.log(np.array([[3.0, 0.5], [1.0, 1.0]]))
    >>> compute_posterior(np.log(np.array([10.0, 20.0])), [ratios], np.array([[0], [1]])).round(3)
    array([[0.75 , 0.25 ],
           [0.333, 0.667]])
    """
    logs = np.tile(log_sizes, (len(codes), 1))
    for ratios, column in zip(log_ratios, codes.T, strict=True):
        logs += ratios[column]
    return shares_of_logs(logs)


def shares_of_logs(logs: np.ndarray) -> np.ndarray:
    """Return the shares of products whose logarithms are given: float64 arrays of shape (n, c).

    Examples
    --------
    >>> shares_of_logs(np.log(np.array([[30.0, 10.0]])) - 5000).round(3)
    array([[0.75, 0.25]])
    """
    products = np.exp(logs - logs.max(axis=1, keepdims=True))
    return products / products.sum(axis=1, keepdims=True)
