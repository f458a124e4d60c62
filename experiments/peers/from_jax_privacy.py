"""Peers of the package jax-privacy: a small network, fitted by DP-SGD."""

from __future__ import annotations

from algorithms.parameters import check_count, check_number
from experiments.peers import process
from experiments.peers.base import PeerClassifier, PeerRegressor, PeerWithDelta


class DPSGD(PeerWithDelta):
    """A network with one hidden layer, by DP-SGD: numbers become [-1, 1] by their bounds, each category is a column.

    Parameters
    ----------
    n_hidden : int, default=16
        Units of the hidden layer, at least 1.
    n_steps : int, default=100
        Steps, by Adam, at least 1.
    sampling : float, default=0.1
        Chance of a row to be in a batch, independent of all others (Poisson sampling), in (0, 1).
    learning_rate : float, default=0.03
        Of Adam, above 0.
    clip : float, default=1.0
        Norm that the gradient of a row is clipped to, above 0.
    random_state : int, RandomState or None, default=None
        Seed of the first weights, the batches and the noise.
    """

    environment = process.JAX
    model_name = "dp_sgd"
    why_finite = "the noise of DP-SGD is calibrated to it"

    def __init__(
        self,
        epsilon=1.0,
        *,
        delta=1e-7,
        n_hidden=16,
        n_steps=100,
        sampling=0.1,
        learning_rate=0.03,
        clip=1.0,
        domain=None,
        random_state=None,
    ):
        super().__init__(epsilon, delta=delta, domain=domain, random_state=random_state)
        self.n_hidden = n_hidden
        self.n_steps = n_steps
        self.sampling = sampling
        self.learning_rate = learning_rate
        self.clip = clip

    def check_parameters(self, n_features):
        """Check the parameters."""
        super().check_parameters(n_features)
        check_count("n_hidden", self.n_hidden)
        check_count("n_steps", self.n_steps)
        check_number("sampling", self.sampling, above=0, below=1)
        check_number("learning_rate", self.learning_rate, above=0)
        check_number("clip", self.clip, above=0)

    def _model_parameters(self):
        parameters = {name: float(getattr(self, name)) for name in ("delta", "sampling", "learning_rate", "clip")}
        sizes = {"n_hidden": int(self.n_hidden), "n_steps": int(self.n_steps), "n_classes": self._count_classes()}
        return parameters | sizes

    def _lay_out(self, matrix):
        return self._spread_to_columns(matrix)


class DPSGDClassifier(DPSGD, PeerClassifier):
    """A network with one hidden layer, fitted by jax-privacy's DP-SGD, for any number of classes.

    Its errors are those of `Peer`.

    Notes
    -----
    Privacy: (epsilon, delta) for one record added or removed, given a public domain. Batches, clipping and noise are
    jax-privacy's, the noise multiplier is calibrated by Google's ``dp_accounting`` (privacy loss distributions). The
    sum of a batch is divided by nothing, so that the weights do not depend on the number of rows. The package calls
    its plan of execution subject to change; the lock pins it.

    The method: M. Abadi, A. Chu, I. Goodfellow, H. B. McMahan, I. Mironov, K. Talwar, L. Zhang, "Deep learning with
    differential privacy", CCS 2016. The digits of a network depend on the processor, too.
    """


class DPSGDRegressor(DPSGD, PeerRegressor):
    """A network with one hidden layer, fitted by jax-privacy's DP-SGD to the square of the error.

    Its errors are those of `Peer`.

    Notes
    -----
    Privacy: (epsilon, delta) for one record added or removed, given a public domain, as of `DPSGDClassifier`.

    Source: as for `DPSGDClassifier`.
    """
