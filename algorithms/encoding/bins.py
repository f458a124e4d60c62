"""Public equal-width bins of continuous columns."""

from __future__ import annotations

import numpy as np

from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous


def bin_continuous(matrix: np.ndarray, domain: Domain, n_bins: int) -> np.ndarray:
    """Replace continuous columns by the number of their public equal-width bin.

    Parameters
    ----------
    matrix : float64 array of shape (n, k)
        Rows as ``domain.encode`` returns them.
    domain : Domain
        Its declared bounds are the ends of the bins.
    n_bins : int
        Number of bins of each continuous column, at least 1.

    Returns
    -------
    float64 array of shape (n, k)
        Bins count from 0; the upper bound itself belongs to the last bin.
    """
    binned = matrix.copy(order="F")
    for j, feature in enumerate(domain.features):
        if isinstance(feature, Continuous):
            share = (matrix[:, j] - feature.lower) / (feature.upper - feature.lower)
            binned[:, j] = np.minimum(np.floor(share * n_bins), n_bins - 1)
    return binned
