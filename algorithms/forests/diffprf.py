"""DiffPRF, without the s: a private random forest on nominal features (Patil & Singh, 2014).

It is the ancestor of DiffPRFs, with the s, which stands in ``diffprfs.py`` and has its rules and continuous features.
"""

from __future__ import annotations

import math

import numpy as np

from algorithms.accounting.events import Event
from algorithms.accounting.faults import DIFFPRF_EXACT_CHOICES, Fault
from algorithms.forests.diffprfs import DiffPRFsClassifier, DiffPRFsPlan
from algorithms.forests.engine.depth import average_children
from algorithms.forests.forest import NominalColumns
from algorithms.parameters import check_choice, check_flag, parameter, with_parameters


@with_parameters
class DiffPRFClassifier(NominalColumns, DiffPRFsClassifier):
    """DiffPRF, a private random forest on nominal features; continuous ones are put into public bins.

    Parameters
    ----------
    variant : {"paper", "sound"}
        "paper" is the algorithm as described, faults included; "sound" is epsilon-differentially private for one record
        added or removed, given a public domain.
    level_budget : {"uniform", "linear"}
        How a tree's budget is divided over its levels: evenly, or growing linearly from the root to the leaves, which
        is DiffPRF_linear (a baseline of paper 4).
    author_code : bool
        Reading of published code that looks like the authors' own: the best feature is taken, not drawn, and leaves
        are labelled without noise; only the counts are noisy.

    Notes
    -----
    It is DiffPRFs on columns that are all nominal: every split makes a child for each category, or bin, and uses the
    feature up. Every tree gets B / T, and every level an even share of it, B / (T (d + 1)), or a linear one: half for
    the noisy count of the node, half for its split or its leaf.

    Privacy: the epsilon-differential privacy claimed for it does not hold: rows are drawn with replacement;
    ``privacy_`` lists the faults. With the max operator or Gini the accounted epsilon is finite. Variant "sound" holds
    for the reasons given for `DiffPRFsClassifier`.

    The original text was not available; the rule is what later papers say of it.

    Examples
    --------
    >>> from algorithms import Domain, Nominal
    >>> domain = Domain((Nominal("a", (0, 1)), Nominal("b", (0, 1))), Nominal("y", ("no", "yes")))
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 25, ["no", "no", "yes", "yes"] * 25
    >>> forest = DiffPRFClassifier(epsilon=200.0, max_depth=2, n_estimators=3, domain=domain, random_state=0)
    >>> forest.fit(X, y).predict([[0, 1], [1, 0]])
    array(['no', 'yes'], dtype='<U3')
    """

    n_estimators, n_bins = 10, 5
    level_budget: str = parameter("uniform", check_choice, choices=("uniform", "linear"))
    author_code: bool = parameter(False, check_flag, is_reading=True)

    def _make_plan(self, table) -> DiffPRFsPlan:
        plan = super()._make_plan(table)
        exact = np.full(self.max_depth + 1, math.inf)
        return plan._replace(split_epsilon=exact, leaf_epsilon=exact) if self.author_code else plan

    def _average_children(self) -> float:
        return average_children(self.domain_, self.n_bins)

    def _level_shares(self, levels: int) -> np.ndarray:
        if self.level_budget == "uniform":
            return super()._level_shares(levels)
        parts = np.arange(1, levels + 2)
        return parts / parts.sum()

    def _ledger_and_faults(self, table) -> tuple[Event, tuple[Fault, ...]]:
        ledger, faults = super()._ledger_and_faults(table)
        return ledger, (*faults, DIFFPRF_EXACT_CHOICES) if self.author_code else faults
