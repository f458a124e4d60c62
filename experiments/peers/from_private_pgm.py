"""Peers that train on synthetic rows: MST with the package private-pgm (``mbi``), and scikit-learn's learners."""

from __future__ import annotations

import numpy as np

from algorithms.encoding.features import Nominal
from algorithms.parameters import ParameterError, check_choice, check_count
from experiments.peers import process
from experiments.peers.base import PeerClassifier, PeerRegressor, PeerWithDelta

MOST_BOOSTED = 255
"""Categories of a column that scikit-learn's boosted trees take at most: a byte numbers them, and what is missing."""


class MST(PeerWithDelta):
    """A learner of scikit-learn on synthetic rows of MST.

    Parameters
    ----------
    n_bins : int, default=16
        Bins of equal width that a number is cut into, from 1 to 256.
    random_state : int, RandomState or None, default=None
        Seed of the noise, the synthetic rows and the learner.
    """

    environment = process.JAX
    model_name = "mst"
    why_finite = "MST divides it between what it measures"

    def __init__(self, epsilon=1.0, *, delta=1e-7, learner="tree", n_bins=16, domain=None, random_state=None):
        super().__init__(epsilon, delta=delta, domain=domain, random_state=random_state)
        self.learner = learner
        self.n_bins = n_bins

    def check_parameters(self, n_features):
        """Check the parameters, and that no column has too many categories to be boosted."""
        super().check_parameters(n_features)
        check_choice("learner", self.learner, ("tree", "boosting"))
        check_count("n_bins", self.n_bins, highest=256, of="a pair of attributes has its square of cells")
        if self.learner == "boosting":
            self._check_categories()

    def _check_categories(self) -> None:
        domain = self.domain or getattr(self, "domain_", None)
        for feature in domain.features if domain else ():
            n = len(feature.categories) if isinstance(feature, Nominal) else 0
            if n > MOST_BOOSTED:
                most = f"at most {MOST_BOOSTED} categories"
                raise ParameterError(
                    f"learner='boosting' takes columns of {most}, {feature.name!r} has {n}: take learner='tree'"
                )

    def _model_parameters(self):
        n_categories, n_classes = self._count_categories(), self._count_classes()
        return {
            "delta": float(self.delta),
            "learner": self.learner,
            "sizes": [n or int(self.n_bins) for n in (*n_categories, n_classes)],
            "is_nominal": [n > 0 for n in n_categories],
            "is_class": n_classes is not None,
        }

    def _lay_out(self, matrix):
        """Return positions of categories, and of bins of equal width between the declared bounds."""
        is_nominal = np.array(self._count_categories()) > 0
        return np.where(is_nominal, matrix, self._bin(self._scale_numbers(matrix))).astype(np.int64)

    def _bin(self, shares: np.ndarray) -> np.ndarray:
        return np.minimum(np.floor(shares * self.n_bins), self.n_bins - 1)


class MSTClassifier(MST, PeerClassifier):
    """A decision tree, or boosted trees, of scikit-learn, trained on synthetic rows of MST.

    Its errors are those of `Peer`.

    Parameters
    ----------
    learner : {"tree", "boosting"}, default="tree"
        ``DecisionTreeClassifier`` with 5 levels, or ``HistGradientBoostingClassifier`` as it comes, which takes columns
        of at most 255 categories.

    Notes
    -----
    Privacy: (epsilon, delta) for one record added or removed, given a public domain: a third each of a
    zero-concentrated budget for single columns, the choice of a tree of pairs, and the pairs. As many rows are drawn as
    the noisy counts say. The graphical model, its fit and its rows are private-pgm's (``mbi``); its wheel has no
    mechanisms, so what is measured follows the authors' ``mechanisms/mst.py``, in `models_in_jax`.

    The method: R. McKenna, G. Miklau, D. Sheldon, "Winning the NIST contest: a scalable and general approach to
    differentially private synthetic data", Journal of Privacy and Confidentiality 11(3), 2021.
    """


class MSTRegressor(MST, PeerRegressor):
    """A regression tree, or boosted trees, of scikit-learn, trained on synthetic rows of MST.

    Its errors are those of `Peer`.

    Parameters
    ----------
    learner : {"tree", "boosting"}, default="tree"
        As of `MSTClassifier`: ``DecisionTreeRegressor``, or ``HistGradientBoostingRegressor`` as it comes.
    n_bins : int, default=16
        Bins of equal width that a number, the target included, is cut into, from 1 to 256; the middle of its bin is
        learnt.

    Notes
    -----
    Privacy: (epsilon, delta) for one record added or removed, given a public domain, as of `MSTClassifier`.

    Source: as for `MSTClassifier`.
    """

    def _lay_out_target(self, target):
        return self._bin(target).astype(np.int64)
