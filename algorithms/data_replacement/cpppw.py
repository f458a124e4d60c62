"""CPPPW: rows drawn from a Parzen estimate of each class stand in for the training rows (paper 5)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_score

from algorithms.accounting.faults import CPPPW_RATIO_FROM_ROWS
from algorithms.data_replacement.sampler import HasScale, NoisyCopies
from algorithms.data_replacement.train_on_release import TrainedOnRelease
from algorithms.parameters import check_number, parameter, with_parameters

RATIOS = tuple(ratio / 10 for ratio in range(10, 21, 2))
"""The ratios a that are chosen from: between 1 and 2, as the paper says, in steps that both of its choices lie on."""

CROSS_VALIDATED = "cross_validated"


@with_parameters
class _HasWindow(HasScale):
    """The sampler, and what is trained on its rows.

    Parameters
    ----------
    bandwidth : float
        Width h of the Gaussian window, at least 0, in units of ``scale``; 0 draws training rows as they are. The paper
        gives none but the window's covariance, I: with h = 1 that is the covariance of the noise. With attributes as
        far apart as Adult's no bandwidth fits all in their own units.
    """

    bandwidth: float = parameter(1.0, check_number, lowest=0)


@with_parameters
class ParzenReplacement(_HasWindow, NoisyCopies):
    """Draw rows from a Parzen estimate of each class, with a Gaussian window.

    Parameters
    ----------
    sampling_ratio : float
        Rows drawn for each training row of a class, a of the paper, at least 1.

    Notes
    -----
    The estimate of a class is the mean of the windows around its rows. To draw from it is to draw one of these rows,
    with replacement, and Gaussian noise of standard deviation h: a released row is a noisy copy of a training row.
    Given its source it has the same law as a row of ``AdditiveGaussianNoise`` with sigma = h. What differs is which
    rows are copied: there each once, here n_c a draws, which leave about exp(-a) of the rows out and copy others often.

    Step 3 of the paper prints the exponent of the estimate as -(x - x_n) / (2 h²), which is no number; with the window
    of step 2 it is -|x - x_n|² / (2 h²).

    Privacy: none is claimed with an epsilon, and none holds; ``privacy_`` lists why.

    Examples
    --------
    >>> from algorithms import Continuous, Domain, Nominal
    >>> domain = Domain((Continuous("x", 0, 10), Nominal("safety", ("low", "high"))), Nominal("y", ("no", "yes")))
    >>> sampler = ParzenReplacement(sampling_ratio=1.5, bandwidth=0.0, domain=domain, random_state=0)
    >>> sampler.fit_resample([[1, "low"], [2, "high"], [8, "high"]], ["no", "no", "yes"])
    (array([[1., 1.],
           [1., 1.],
           [1., 1.],
           [8., 2.],
           [8., 2.]]), array(['no', 'no', 'no', 'yes', 'yes'], dtype='<U3'))
    """

    sampling_ratio: float = parameter(1.0, check_number, is_positional=True, lowest=1)

    SOURCES = (
        "section 2, steps 3 and 4: samples of a density made of windows around the rows",
        "section 3.1.3: as many as n_0 a of one class and n_1 a of the other",
    )

    def _source_rows(self, labels: np.ndarray, rng) -> np.ndarray:
        classes = [np.flatnonzero(labels == label) for label in np.unique(labels)]
        return np.concatenate([rng.choice(rows, round(self.sampling_ratio * len(rows))) for rows in classes])

    @property
    def noise_scale(self) -> float:
        """Standard deviation of the noise, in the unit of each attribute."""
        return self.bandwidth


@with_parameters
class CPPPWClassifier(_HasWindow, TrainedOnRelease):
    """CPPPW (paper 5): a classifier that is trained on rows drawn from a Parzen estimate of each class.

    Parameters
    ----------
    sampling_ratio : float or "cross_validated"
        Rows drawn for each row of a class, at least 1; or chosen by cross-validation on the training rows, as in the
        paper, see ``choose_ratio``.

    Attributes
    ----------
    sampling_ratio_ : float
        The ratio in use.

    Notes
    -----
    Privacy: none is claimed with an epsilon, and none holds; ``privacy_`` lists why.

    Examples
    --------
    >>> from algorithms import Continuous, Domain, Nominal
    >>> domain = Domain((Continuous("x", 0, 10),), Nominal("y", ("no", "yes")))
    >>> X, y = [[1], [2], [8], [9]] * 20, ["no", "no", "yes", "yes"] * 20
    >>> CPPPWClassifier(domain=domain, random_state=0).fit(X, y).predict([[1.5], [8.5]])
    array(['no', 'yes'], dtype='<U3')
    """

    SAMPLER = ParzenReplacement
    sampling_ratio: float | str = parameter(1.0)

    def fit(self, X, y):
        """Choose the ratio if asked to, then replace the training rows and train, see ``TrainedOnRelease.fit``."""
        self.sampling_ratio_ = self.sampling_ratio
        if self.sampling_ratio != CROSS_VALIDATED:
            return super().fit(X, y)
        model = clone(self).set_params(sampling_ratio=RATIOS[0])
        folds = int(self.seed().generate_state(1)[0])
        self.sampling_ratio_ = choose_ratio(X, y, model, random_state=folds)
        super().fit(X, y)
        self.privacy_ = replace(self.privacy_, faults=(*self.privacy_.faults, CPPPW_RATIO_FROM_ROWS))
        return self

    def make_sampler(self) -> ParzenReplacement:
        """Return the sampler that ``fit`` uses, unfitted; the ratio that ``fit`` will choose is not known before."""
        sampler = super().make_sampler()
        is_chosen = self.sampling_ratio == CROSS_VALIDATED
        return sampler.set_params(sampling_ratio=getattr(self, "sampling_ratio_", RATIOS[0])) if is_chosen else sampler


def choose_ratio(X, y, classifier: TrainedOnRelease, ratios=RATIOS, *, n_folds: int = 10, random_state=None) -> float:
    """Choose the sampling ratio by cross-validation: training folds are replaced, the fold left out is not.

    Parameters
    ----------
    X : DataFrame or array of shape (n, k)
        Training rows.
    y : array of shape (n,)
        Their class labels.
    classifier : CPPPWClassifier
        Anything that has a ``sampling_ratio``; it is not changed. Its training and its release use its own
        ``random_state``, the same for every ratio.
    ratios : sequence of float, default=RATIOS
        What to choose from.
    n_folds : int, default=10
        Number of folds, with the classes in each as in y.
    random_state : int, RandomState or None, default=None
        How the rows are shuffled into folds, the same for every ratio; None shuffles them anew each time.

    Returns
    -------
    float
        The ratio of the highest mean accuracy, the smallest if several have it. What was chosen is not private.

    Examples
    --------
    >>> from algorithms import Continuous, Domain, Nominal
    >>> model = CPPPWClassifier(domain=Domain((Continuous("x", 0, 99),), Nominal("y", (0, 1))), random_state=0)
    >>> choose_ratio([[x] for x in range(100)], [int(x > 50) for x in range(100)], model, (1.0, 2.0), random_state=0)
    1.0
    """
    if random_state is None:  # scikit-learn would take numpy's global state, the same in every fork
        random_state = int(np.random.SeedSequence().generate_state(1)[0])
    folds = list(StratifiedKFold(n_folds, shuffle=True, random_state=random_state).split(np.zeros(len(y)), y))
    models = [clone(classifier).set_params(sampling_ratio=ratio) for ratio in sorted(ratios)]
    accuracies = [cross_val_score(model, X, y, cv=folds, error_score="raise").mean() for model in models]
    return models[int(np.argmax(accuracies))].sampling_ratio
