"""Other people's implementations of private learning, run in an environment of their own beside the papers' methods.

Their packages need versions of scikit-learn that ours does not have, so they are installed in ``.venv-peers`` (``make
peers``), where a worker process fits them. Here they look like any other estimator.
"""

from experiments.peers.estimators import (
    DiffprivlibForestClassifier,
    DiffprivlibLinearRegression,
    DPEBMClassifier,
    DPEBMRegressor,
)

__all__ = ["DPEBMClassifier", "DPEBMRegressor", "DiffprivlibForestClassifier", "DiffprivlibLinearRegression"]
