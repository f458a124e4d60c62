"""Rows drawn from noisy marginals: a private counterpart of CPPPW and ASN with a stated epsilon."""

from __future__ import annotations

import numpy as np

from algorithms.accounting.events import Event, Sequential, Spent
from algorithms.accounting.faults import Fault
from algorithms.base import SpendsEpsilon
from algorithms.data_replacement.sampler import Sampler
from algorithms.data_replacement.train_on_release import CLASSIFIERS, TrainedOnRelease
from algorithms.encoding.bins import bin_continuous, count_by_class
from algorithms.encoding.features import Continuous, Feature
from algorithms.mechanisms import laplace_vector
from algorithms.parameters import ParameterError, check_choice, check_count, check_number, parameter, with_parameters
from algorithms.released.document import Origin
from algorithms.released.marginals import ReleasedMarginals, draw_rows

MOST_DRAWN = 100_000_000
"""Most rows that are drawn: with a tiny budget the noise in the sizes of the classes asks for more than can be held."""


@with_parameters
class _HasMarginals(SpendsEpsilon):
    """The sampler, and what is trained on its rows.

    Parameters
    ----------
    epsilon : float
        Budget of the whole release, from 1e-100 to 1e100; inf draws from the exact distributions.
    sampling_ratio : float
        Rows drawn for each row of a class, by its noisy size, at least 1. Over 100,000,000 rows are refused: a tiny
        epsilon has sizes of that order.
    n_bins : int
        Public equal-width bins of a continuous attribute, at least 2; a value is drawn evenly from its bin.
    """

    sampling_ratio: float = parameter(1.0, check_number, lowest=1)
    n_bins: int = parameter(10, check_count, lowest=2)


@with_parameters
class MarginalReplacement(_HasMarginals, Sampler):
    """Draw rows from the noisy distribution of each attribute in each class, as if they were independent there.

    Attributes
    ----------
    class_counts_ : float64 array of shape (c,)
        Noisy size of each class.
    shares_ : list of float64 arrays of shape (c, v)
        For each attribute, the noisy distribution of its v categories or bins in each class.

    Notes
    -----
    A record adds 1 to one cell of each of k + 1 tables: the sizes of the classes, and for each of k attributes the
    counts by class and value. Every table gets epsilon / (k + 1), as Laplace noise on each of its cells. Negative
    counts are set to 0, and an attribute whose counts in a class are all 0 is taken to be spread evenly there. All that
    follows reads no row: the draws, and any classifier that is trained on them.

    What is lost is the dependence of attributes within a class, as in a naive Bayes classifier; to keep some of it, its
    structure would have to be bought, too.

    Privacy: epsilon-differentially private for one record added or removed, given a public domain.

    Examples
    --------
    >>> from algorithms import Domain, Nominal
    >>> domain = Domain((Continuous("x", 0, 10), Nominal("safety", ("low", "high"))), Nominal("y", ("no", "yes")))
    >>> sampler = MarginalReplacement(1.0, domain=domain, random_state=0)
    >>> released, labels = sampler.fit_resample([[1, "low"]] * 60 + [[8, "high"]] * 40, ["no"] * 60 + ["yes"] * 40)
    >>> released.shape, sampler.shares_[1].round(2)
    ((98, 2), array([[1.  , 0.  ],
           [0.01, 0.99]]))
    """

    def _replace_rows(self, matrix: np.ndarray, labels: np.ndarray, rng) -> tuple[np.ndarray, np.ndarray]:
        n_classes, cells = len(self.classes_), bin_continuous(matrix, self.domain_, self.n_bins).astype(np.int64)
        self.class_counts_ = self._add_noise(np.bincount(labels, minlength=n_classes), rng)
        if (n_drawn := self.sampling_ratio * self.class_counts_.sum()) > MOST_DRAWN:
            asked = f"the noisy sizes of the classes ask for {n_drawn:.2g} rows to be drawn"
            raise ParameterError(f"epsilon must be larger: {asked}, more than {MOST_DRAWN:,}, got {self.epsilon!r}")
        self.shares_ = []
        for column, feature in zip(cells.T, self.domain_.features, strict=True):
            n_values = self._n_values(feature)
            counts = count_by_class(column, labels, n_values, n_classes).T.ravel()
            self.shares_.append(_share_of_each_value(self._add_noise(counts, rng).reshape(n_classes, n_values)))
        return draw_rows(self.domain_, self.class_counts_, self.shares_, self.sampling_ratio, rng)

    def _add_noise(self, counts: np.ndarray, rng) -> np.ndarray:
        return np.maximum(laplace_vector(counts, 1.0, self._table_epsilon(), rng), 0.0)

    def _table_epsilon(self) -> float:
        return float(self.epsilon) / (len(self.domain_.features) + 1)

    def _n_values(self, feature: Feature) -> int:
        return self.n_bins if isinstance(feature, Continuous) else len(feature.categories)

    def _released(self, origin: Origin) -> ReleasedMarginals:
        return ReleasedMarginals(origin, self.class_counts_.copy(), tuple(table.copy() for table in self.shares_))

    def _claim_and_ledger(self) -> tuple[float, Event, tuple[Fault, ...]]:
        share, k = self._table_epsilon(), len(self.domain_.features)
        tables = Sequential("attribute", (Spent("laplace", "counts by class and value", share, 1.0),), times=k)
        return self.epsilon, Sequential("release", (Spent("laplace", "class counts", share, 1.0), tables)), ()


@with_parameters
class DPMarginalsClassifier(_HasMarginals, TrainedOnRelease):
    """A classifier that is trained on rows drawn from noisy marginals: private, unlike CPPPW and ASN.

    Notes
    -----
    Privacy: epsilon-differentially private for one record added or removed, given a public domain.

    Examples
    --------
    >>> from algorithms import Domain, Nominal
    >>> domain = Domain((Continuous("x", 0, 10),), Nominal("y", ("no", "yes")))
    >>> X, y = [[1], [2], [8], [9]] * 50, ["no", "no", "yes", "yes"] * 50
    >>> DPMarginalsClassifier(2.0, domain=domain, random_state=0).fit(X, y).predict([[1.5], [8.5]])
    array(['no', 'yes'], dtype='<U3')
    """

    SAMPLER = MarginalReplacement
    classifier: str = parameter("c45", check_choice, choices=CLASSIFIERS)


def _share_of_each_value(counts: np.ndarray) -> np.ndarray:
    """Divide each row by its sum; a row of zeros becomes an even distribution."""
    sums = counts.sum(axis=1, keepdims=True)
    return np.divide(counts, sums, out=np.full_like(counts, 1 / counts.shape[1]), where=sums > 0)
