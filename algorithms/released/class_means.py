"""Released class means, and how near a row is to each of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous
from algorithms.released.document import Origin, Release, to_plain_data
from algorithms.released.field import Field
from algorithms.released.naive_bayes import shares_of_logs
from algorithms.released.origin import read_classes

WITHIN = 0.3
"""Variance of a coordinate within a class, on the scale from -1 to 1, by which distances become shares."""


@dataclass(frozen=True, eq=False)
class ReleasedClassMeans(Release):
    """A mean of each class that has left."""

    KIND = "class_means"

    origin: Origin
    classes: np.ndarray  #: (c,): class labels, sorted
    means: np.ndarray  #: float64 (c, m): of the m coordinates of rows, see `place_rows`

    @property
    def log_sizes(self) -> np.ndarray:
        """Zeros: all classes are taken to be as frequent."""
        return np.zeros(len(self.classes))

    def predict_proba(self, X) -> np.ndarray:
        """Return the share of each class: float64 array of shape (n, c)."""
        matrix, _ = self.origin.domain.encode(X)
        return share_by_distance(place_rows(matrix, self.origin.domain), self.means)

    def predict(self, X) -> np.ndarray:
        """Predict the class of each row."""
        return self.classes[np.argmax(self.predict_proba(X), axis=1)]

    def to_contents(self) -> dict:
        """Return classes and means."""
        return {"classes": to_plain_data(self.classes), "means": to_plain_data(self.means)}

    @classmethod
    def from_contents(cls, origin: Origin, contents: Field) -> ReleasedClassMeans:
        """Return the means that ``contents`` was made of: each class has one for every coordinate."""
        fields = contents.entries("classes", "means")
        classes = read_classes(fields["classes"], origin.domain)
        means = fields["means"].numbers(len(classes), count_coordinates(origin.domain), lowest=-1.0, highest=1.0)
        return cls(origin, classes, means)


def count_coordinates(domain: Domain) -> int:
    """Return how many coordinates `place_rows` gives a row.

    Examples
    --------
    >>> from algorithms import Nominal
    >>> count_coordinates(Domain((Continuous("x", 0, 8), Nominal("a", (0, 1)), Nominal("b", (0, 1, 2)))))
    5
    """
    return sum(_count_of(feature) for feature in domain.features)


def _count_of(feature) -> int:
    if isinstance(feature, Continuous) or len(feature.categories) == 2:
        return 1
    return len(feature.categories)


def place_rows(matrix: np.ndarray, domain: Domain) -> np.ndarray:
    """Return rows, as ``domain.encode`` returns them, as points whose coordinates are from -1 to 1.

    A number is scaled by its declared bounds. A nominal column with two categories is -1 or 1; one with more has a
    coordinate for each, which is 1 where it is the row's own and -1 elsewhere; with a single one, it is 1.

    Returns
    -------
    float64 array of shape (n, m)

    Examples
    --------
    >>> from algorithms import Nominal
    >>> domain = Domain((Continuous("x", 0, 8), Nominal("a", (0, 1)), Nominal("b", (0, 1, 2))))
    >>> place_rows(np.array([[0.0, 1.0, 0.0], [6.0, 0.0, 2.0]]), domain)
    array([[-1. ,  1. ,  1. , -1. , -1. ],
           [ 0.5, -1. , -1. , -1. ,  1. ]])
    """
    points = np.empty((len(matrix), count_coordinates(domain)))
    first = 0
    for column, feature in zip(matrix.T, domain.features, strict=True):
        places = slice(first, first := first + _count_of(feature))
        if isinstance(feature, Continuous):
            lower, upper = float(feature.lower), float(feature.upper)
            points[:, places] = 2.0 * ((column[:, np.newaxis] - lower) / (upper - lower)) - 1.0
        elif len(feature.categories) == 2:
            points[:, places] = 2.0 * column[:, np.newaxis] - 1.0
        else:
            points[:, places] = np.where(column[:, np.newaxis] == np.arange(len(feature.categories)), 1.0, -1.0)
    return points


def share_by_distance(points: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return the share of each class by how near its mean is to each point: float64 array of shape (n, c).

    All classes are taken to be as frequent, and to spread as normal distributions of variance `WITHIN` in every
    direction: the share is in proportion to exp(-distance² / (2 `WITHIN`)).

    Parameters
    ----------
    points : float64 array of shape (n, m)
        Rows, see `place_rows`.
    means : float64 array of shape (c, m)
        Of the classes.

    Examples
    --------
    >>> share_by_distance(np.array([[0.0], [1.0]]), np.array([[-0.3], [0.3]])).round(3)
    array([[0.5  , 0.5  ],
           [0.119, 0.881]])
    """
    nearness = np.einsum("nm,cm->nc", points, means) - 0.5 * (means**2).sum(axis=1)  # no BLAS: alike on any machine
    return shares_of_logs(nearness / WITHIN)
