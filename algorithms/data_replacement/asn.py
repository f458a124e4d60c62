"""ASN: Gaussian noise on every attribute of every training row (Agrawal & Srikant, 2000; baseline of paper 5)."""

from __future__ import annotations

import numpy as np

from algorithms.data_replacement.sampler import NoisyCopies
from algorithms.data_replacement.train_on_release import TrainedOnRelease
from algorithms.parameters import check_number


class AdditiveGaussianNoise(NoisyCopies):
    """Add Gaussian noise to every attribute of every row; labels stay as they are.

    Parameters
    ----------
    sigma : float, default=1.0
        Standard deviation of the noise, at least 0, in units of ``scale``; 0 releases the rows as they are.
    scale : {None, "standard"}, default=None
        Unit of the noise for each attribute: that of the attribute itself, as printed, or its standard deviation in the
        training rows.
    domain : Domain or None, default=None
        Public description of the columns and classes; None infers it from the rows, and warns.
    random_state : int, RandomState or None, default=None
        Source of all randomness.

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

    def __init__(self, sigma=1.0, *, scale=None, domain=None, random_state=None):
        self.sigma = sigma
        self.scale = scale
        self.domain = domain
        self.random_state = random_state

    def check_parameters(self, n_features: int) -> None:
        """Raise ``ParameterError`` if the parameters cannot work for so many features."""
        super().check_parameters(n_features)
        check_number("sigma", self.sigma, lowest=0)

    def _source_rows(self, labels: np.ndarray, rng) -> np.ndarray:
        return np.arange(len(labels))

    @property
    def noise_scale(self) -> float:
        """Standard deviation of the noise, in the unit of each attribute."""
        return self.sigma


class ASNClassifier(TrainedOnRelease):
    """ASN: a classifier that is trained on rows with Gaussian noise; with ``sigma=0`` on the rows as they are.

    Parameters
    ----------
    classifier : {"c45", "back_propagation", "svm", "c45_unpruned", "cart_pruned", "cart_leaf_2"}, default="c45"
        What is trained, C4.5 by default, see ``algorithms.data_replacement.train_on_release``.
    classifier_scale : {"standard", None}, default="standard"
        Whether the classifier sees attributes in units of their standard deviation in the released rows, or as they
        are. Not stated in the paper.
    sigma : float, default=1.0
        Standard deviation of the noise, at least 0, in units of ``scale``; 0 leaves the rows as they are.
    scale : {None, "standard"}, default=None
        Unit of the noise for each attribute: that of the attribute itself, as printed, or its standard deviation in the
        training rows.
    domain : Domain or None, default=None
        Public description of the columns and classes; None infers it from the rows, and warns.
    random_state : int, RandomState or None, default=None
        Source of all randomness.

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

    def __init__(
        self,
        classifier="c45",
        *,
        classifier_scale="standard",
        sigma=1.0,
        scale=None,
        domain=None,
        random_state=None,
    ):
        self.classifier = classifier
        self.classifier_scale = classifier_scale
        self.sigma = sigma
        self.scale = scale
        self.domain = domain
        self.random_state = random_state

    def make_sampler(self) -> AdditiveGaussianNoise:
        """Return the sampler that ``fit`` uses, unfitted."""
        return AdditiveGaussianNoise(self.sigma, scale=self.scale, domain=self.domain, random_state=self.random_state)
