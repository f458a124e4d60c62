"""Which private trees show values of numeric columns (paper 6, head of its tables): values are moved, answers compared.

Two tables differ in every number by less than the width of a public bin, so that each row stays in its bin. A tree that
reads nothing but bins is the same on both, noise or not; one that cuts at values of the rows answers otherwise for
numbers between the old values and the new ones. Noise is switched off: what is compared are the cuts.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from algorithms import Continuous, Domain, Nominal
from experiments.config.estimators import make_estimator, merge_parameters
from experiments.run.splits import take_ranges
from experiments.statements.finding import Finding

_N_ROWS, _N_BINS, _MOVE = 200, 10, 0.002
_DOMAIN = Domain((Continuous("x", 0, 1), Nominal("z", ("a", "b"))), Nominal("y", ("no", "yes")))


def values_are_kept(algorithm: str, ranges: str = "declared") -> Finding:
    """Decide whether a tree is the same on both tables, told the range of a column as ``protocol.ranges`` says."""
    share = _find_share_of_changed_answers(algorithm, ranges)
    moved = f"where each number moves by {_MOVE:g} of the column's range within its bin"
    return Finding(share == 0, f"{100 * share:.3g} % of answers change {moved}")


def values_are_shown(algorithm: str, ranges: str = "declared") -> Finding:
    """Decide the opposite of `values_are_kept`."""
    kept, reason = values_are_kept(algorithm, ranges)
    return Finding(not kept, reason)


def _find_share_of_changed_answers(algorithm: str, ranges: str) -> float:
    x, z, y = _make_rows()
    probes = pd.DataFrame({"x": np.linspace(0, 1, 10_001)})
    params, answers = merge_parameters(algorithm), []
    for values in (x, x + _MOVE):
        rows = pd.DataFrame({"x": values, "z": z})
        domain = take_ranges(_DOMAIN, _DOMAIN.encode(rows)[0]) if ranges == "training_rows" else _DOMAIN
        model = make_estimator(algorithm, params, epsilon=math.inf, domain=domain, random_state=0).fit(rows, y)
        answers.append([model.predict(probes.assign(z=category)) for category in ("a", "b")])
    before, after = answers
    return float(np.mean(np.concatenate(before) != np.concatenate(after)))


def _make_rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return numbers that stay in their bin if they are moved, categories, and classes that follow from the numbers."""
    rng = np.random.default_rng(0)
    bins = np.arange(_N_ROWS) % _N_BINS
    x = (bins + rng.uniform(0.1, 0.9, _N_ROWS)) / _N_BINS
    return x, rng.choice(["a", "b"], _N_ROWS), np.where(x < 0.33, "no", "yes")
