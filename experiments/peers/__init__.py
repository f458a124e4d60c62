"""Other people's implementations of private learning, run in environments of their own beside the papers' methods.

Their packages need versions of scikit-learn that ours does not have, or are large, so they are installed in
``.venv-peers`` (``make peers``) and ``.venv-peers-jax`` (``make peers-jax``), where worker processes fit them. Here
they look like any other estimator.
"""

from experiments.peers.from_diffprivlib import (
    DiffprivlibForestClassifier,
    DiffprivlibLinearRegression,
    DiffprivlibLogisticRegression,
    DiffprivlibNaiveBayes,
    DiffprivlibTreeClassifier,
)
from experiments.peers.from_interpret import DPEBMClassifier, DPEBMRegressor
from experiments.peers.from_jax_privacy import DPSGDClassifier, DPSGDRegressor
from experiments.peers.from_private_pgm import MSTClassifier, MSTRegressor

__all__ = [
    "DPEBMClassifier",
    "DPEBMRegressor",
    "DPSGDClassifier",
    "DPSGDRegressor",
    "DiffprivlibForestClassifier",
    "DiffprivlibLinearRegression",
    "DiffprivlibLogisticRegression",
    "DiffprivlibNaiveBayes",
    "DiffprivlibTreeClassifier",
    "MSTClassifier",
    "MSTRegressor",
]
