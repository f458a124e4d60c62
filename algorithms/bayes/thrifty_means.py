"""Thrifty means: the class whose noisy mean is nearest. For tables of many classes whose columns say little each. Ours.

A tree, or counts by column, pays for every column that it looks at. The mean of a class over all columns is one answer,
a vector: with `sup_norm_vector` the noise of its numbers is 2.4 times smaller than independent noise would be. And
a record is in one class, so that every class has the whole budget. What a mean cannot tell is where a class has several
places, or where two columns decide together.

Its constants were chosen by mean accuracy on the sets with many classes that ``conf/tuning.yaml`` lists under
``chosen_on``, epsilon from 0.1 to 2, with seeds from 1000. A variance of each column, of all classes together, was
tried and is worse up to epsilon = 2 (by 13 points on MNIST in Blocks at epsilon = 1): it takes a tenth of the budget,
and gives most weight to columns with much noise. So were ranks by public cuts (much worse on Texture, much better on
Spambase, which has two classes), and the sizes of the classes (worse by 1 to 4 points).
"""

from __future__ import annotations

import numpy as np

from algorithms.accounting.events import Event, Parallel, Spent
from algorithms.base import ClassifierByShares, SpendsEpsilon
from algorithms.encoding.rows import Rows
from algorithms.mechanisms import sup_norm_spread, sup_norm_vector
from algorithms.parameters import with_parameters
from algorithms.released.class_means import ReleasedClassMeans, count_coordinates, place_rows, share_by_distance
from algorithms.released.document import Origin

GRID = 2.0**20
"""Coordinates are rounded to multiples of 1 / this, so that sums are exact, of up to 2^32 records."""

LEAST_BETWEEN = 0.015
"""Variance of the means of the classes in a coordinate that is taken for granted, so that none is shrunk to nothing."""


def shrink_means(sums: np.ndarray, sizes: np.ndarray, deviation: float) -> np.ndarray:
    """Return the mean of each class, moved towards the mean of all as far as it may be noise.

    With a variance b of the means of the classes in a coordinate, less what noise adds to it, and noise of variance v
    in a mean, it keeps b / (b + v) of its way from the mean of all.

    Parameters
    ----------
    sums : float64 array of shape (c, m)
        Noisy sums of the coordinates within each class.
    sizes : float64 array of shape (c,)
        Noisy sizes of the classes.
    deviation : float
        Standard deviation of this noise.

    Returns
    -------
    float64 array of shape (c, m)
        From -1 to 1.

    Examples
    --------
    >>> shrink_means(np.array([[4.0], [-2.0]]), np.array([10.0, 10.0]), 0.0)
    array([[ 0.4],
           [-0.2]])
    >>> shrink_means(np.array([[4.0], [-2.0]]), np.array([10.0, 10.0]), 3.0).round(3)
    array([[0.143],
           [0.057]])
    """
    sizes = np.maximum(sizes, 1.0)[:, np.newaxis]
    means = np.clip(sums / sizes, -1.0, 1.0)
    noise = np.minimum(deviation / sizes, 1.0) ** 2
    of_all = (sizes * means).sum(axis=0) / sizes.sum()
    seen = (sizes * (means - of_all) ** 2).sum(axis=0) / sizes.sum()
    between = np.maximum(seen - (sizes * noise).sum() / sizes.sum(), LEAST_BETWEEN)
    return np.clip(of_all + (means - of_all) * between / (between + noise), -1.0, 1.0)


@with_parameters
class ThriftyMeansClassifier(SpendsEpsilon, ClassifierByShares):
    """Differentially private classifier that predicts the class whose noisy mean is nearest.

    Parameters
    ----------
    epsilon : float
        Budget, from 1e-100 to 1e100, with ``noise="opendp"`` from 2^-25; inf is the noise-free nearest mean.

    Attributes
    ----------
    means_ : float64 array of shape (c, m)
        Mean of each class in the m coordinates of rows, from -1 to 1.
    log_sizes_ : float64 array of shape (c,)
        Zeros: all classes are taken to be as frequent.

    Notes
    -----
    A row is a point: numbers are scaled to [-1, 1] by their public bounds, a nominal column with two categories is -1
    or 1, and one with v > 2 categories has v coordinates, 1 for the row's own and -1 for others. For every class the
    sums of all m coordinates and the number of its records are released with the noise of `sup_norm_vector`. All that
    follows reads no row. A mean is the ratio of both; it is moved towards the mean of all classes as far as the noise
    says (`shrink_means`). The share of a class is in proportion to exp(-distance² / 0.6).

    Privacy: epsilon-differentially private for one record added or removed, given a public domain. A record is in one
    class, whose m + 1 numbers it moves by at most 1 each: the sensitivity in the maximum norm is 1, and
    `sup_norm_vector` is told so. The vectors of other classes stay as they are, so that by parallel composition all
    of them cost epsilon together. Coordinates are rounded to multiples of 2^-20 before they are added up, so that this
    holds in floating point, too.

    Sources: Hardt & Talwar (2010) for the noise; Tibshirani, Hastie, Narasimhan & Chu (2002) for the nearest shrunken
    mean.

    Examples
    --------
    >>> from algorithms import Domain, Nominal
    >>> domain = Domain((Nominal("a", (0, 1)), Nominal("b", (0, 1))), Nominal("y", ("no", "yes")))
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 25, ["no", "no", "yes", "yes"] * 25
    >>> model = ThriftyMeansClassifier(epsilon=1.0, domain=domain, random_state=0).fit(X, y)
    >>> model.predict([[0, 1], [1, 0]])
    array(['no', 'yes'], dtype='<U3')
    >>> model.privacy_.keeps_claim, model.privacy_.accounted_epsilon
    (True, 1.0)
    """

    draws_only_noise = True

    def fit(self, X, y):
        """Add up the rows of each class y with noise, and return the classifier.

        Rows, errors and warnings are those of ``read_training_rows``; a parameter out of its range is a
        ``ParameterError``.
        """
        rows = self.training_rows(X, y)
        self.check_parameters(len(rows.features) - 1)
        rng, epsilon = self.generator(self.seed()), float(self.epsilon)
        noisy = np.array([sup_norm_vector(sums, 1.0, epsilon, rng) for sums in self._add_up(rows)])
        self.means_ = shrink_means(noisy[:, :-1], noisy[:, -1], sup_norm_spread(noisy.shape[1]) / epsilon)
        self.log_sizes_ = np.zeros(len(self.classes_))
        self.privacy_ = self.account(self.epsilon, self._ledger())
        return self

    def _add_up(self, rows: Rows) -> np.ndarray:
        """Add up coordinates, and count records, within each class: float64 (c, m + 1); a block of rows at a time."""
        sums = np.zeros((len(self.classes_), count_coordinates(self.domain_) + 1))
        for block in rows.blocks():
            matrix, labels = self.split_target(block)
            sums[:, -1] += np.bincount(labels, minlength=len(sums))
            for i, coordinate in enumerate(np.rint(place_rows(matrix, self.domain_) * GRID).T):
                sums[:, i] += np.bincount(labels, coordinate, minlength=len(sums)) / GRID
        self._note_clipped(rows.clipped)
        return sums

    def _ledger(self) -> Event:
        spent = Spent("sup_norm_vector", "sums of coordinates, and number of records", float(self.epsilon), 1.0)
        return Parallel("class", (spent,), times=len(self.classes_))

    def predict_proba(self, X) -> np.ndarray:
        """Return the share of each class, by how near its mean is: float64 array of shape (n, c)."""
        return self.share_rows(self.read_rows(X))

    def share_rows(self, matrix: np.ndarray) -> np.ndarray:
        """Return the same of rows that are encoded: float64 array of shape (n, k)."""
        return share_by_distance(place_rows(matrix, self.domain_), self.means_)

    def _released(self, origin: Origin) -> ReleasedClassMeans:
        return ReleasedClassMeans(origin, self.classes_.copy(), self.means_.copy())
