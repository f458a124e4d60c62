"""Peers of the package interpret: DP-EBM, differentially private boosting of additive models."""

from __future__ import annotations

from algorithms.encoding.features import Nominal
from algorithms.parameters import ParameterError, check_count
from experiments.peers.base import PeerRegressor, PeerWithDelta, PeerWithProbabilities


class DPEBM(PeerWithDelta):
    """interpret's DP-EBM: noisy additive models, boosted by random cuts, one attribute at a time.

    Parameters
    ----------
    max_rounds : int, default=300
        Rounds of boosting over all attributes, at least 1.
    """

    model_name = "dp_ebm"
    why_finite = "DP-EBM has no run without noise"

    def __init__(self, epsilon=1.0, *, delta=1e-7, max_rounds=300, domain=None, random_state=None):
        super().__init__(epsilon, delta=delta, domain=domain, random_state=random_state)
        self.max_rounds = max_rounds

    def check_parameters(self, n_features):
        """Check the parameters."""
        super().check_parameters(n_features)
        check_count("max_rounds", self.max_rounds)

    def _model_parameters(self):
        parameters = {"delta": float(self.delta), "max_rounds": int(self.max_rounds)}
        return parameters | {"n_classes": self._count_classes(), "n_categories": self._count_categories()}

    def _lay_out(self, matrix):
        return self._scale_numbers(matrix)


class DPEBMClassifier(DPEBM, PeerWithProbabilities):
    """interpret's ``DPExplainableBoostingClassifier``, for two classes.

    Its errors are those of `Peer`.

    Notes
    -----
    Privacy: (epsilon, delta) for one record added or removed, as the package claims; its compiled code was not read
    here. It would list the categories and classes that occur in the rows; public rows of a weight of 1e-9, one for
    each category, make that list public.

    The package: H. Nori, R. Caruana, Z. Bu, J. H. Shen, J. Kulkarni, "Accuracy, interpretability, and differential
    privacy via explainable boosting", ICML 2021.
    """

    def check_parameters(self, n_features):
        """Check the parameters, and that there are two classes."""
        super().check_parameters(n_features)
        target = getattr(self.domain or getattr(self, "domain_", None), "target", None)
        if isinstance(target, Nominal) and len(target.categories) > 2:
            raise ParameterError(
                f"Only binary classification is supported. DP-EBM has two classes, {target.name!r} has "
                f"{len(target.categories)}: take a method for more, such as MSTClassifier (mst_boosting)"
            )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class DPEBMRegressor(DPEBM, PeerRegressor):
    """interpret's ``DPExplainableBoostingRegressor``.

    Its errors are those of `Peer`.

    Notes
    -----
    Privacy: (epsilon, delta) for one record added or removed, as the package claims; its compiled code was not read
    here.

    Source: as for `DPEBMClassifier`.
    """
