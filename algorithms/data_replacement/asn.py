"""ASN: Gaussian noise on every attribute of every training row (Agrawal & Srikant, 2000; baseline of paper 5)."""

from __future__ import annotations

import numpy as np

from algorithms.data_replacement.sampler import HasScale, NoisyCopies
from algorithms.data_replacement.train_on_release import TrainedOnRelease
from algorithms.parameters import check_number, parameter, with_parameters


@with_parameters
class _HasSigma(HasScale):
    """The sampler, and what is trained on its rows.

    Parameters
    ----------
    sigma : float
        Standard deviation of the noise, at least 0, in units of ``scale``; 0 releases the rows as they are.
    """

    sigma: float = parameter(1.0, check_number, is_positional=True, lowest=0)


@with_parameters
class AdditiveGaussianNoise(_HasSigma, NoisyCopies):
    """Add Gaussian noise to every attribute of every row; labels stay as they are.

    Notes
    -----
    Privacy: none is claimed with an epsilon, and none holds; ``privacy_`` lists why. The original's own measure is the
    width of an interval around the released value, ``experiments.run.leakage.interval_width``.

    Examples
    --------
    >>> from algorithms import Continuous, Domain, Nominal
    >>> domain = Domain((Continuous("x", 0, 10),), Nominal("y", ("no", "yes")))
    >>> sampler = AdditiveGaussianNoise(0.5, domain=domain, random_state=0)
    >>> released, labels = sampler.fit_resample([[1], [8]], ["no", "yes"])
    >>> released.round(2), labels
    (array([[1.02],
           [8.75]]), array(['no', 'yes'], dtype='<U3'))
    """

    SOURCES = (
        "paper 5, section 3.2.2: noise of N(0, σ²) on every attribute (Agrawal & Srikant, 2000)",
        "the same: the label is no attribute",
    )

    def _source_rows(self, labels: np.ndarray, rng) -> np.ndarray:
        return np.arange(len(labels))

    @property
    def noise_scale(self) -> float:
        """Standard deviation of the noise, in the unit of each attribute."""
        return self.sigma


@with_parameters
class ASNClassifier(_HasSigma, TrainedOnRelease):
    """ASN: a classifier that is trained on rows with Gaussian noise; with ``sigma=0`` on the rows as they are.

    Notes
    -----
    Privacy: none is claimed with an epsilon, and none holds; ``privacy_`` lists why.

    Examples
    --------
    >>> from algorithms import Continuous, Domain, Nominal
    >>> domain = Domain((Continuous("x", 0, 10),), Nominal("y", ("no", "yes")))
    >>> X, y = [[1], [2], [8], [9]] * 20, ["no", "no", "yes", "yes"] * 20
    >>> ASNClassifier(domain=domain, random_state=0).fit(X, y).predict([[1.5], [8.5]])
    array(['no', 'yes'], dtype='<U3')
    """

    SAMPLER = AdditiveGaussianNoise
