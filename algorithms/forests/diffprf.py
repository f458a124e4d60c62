"""DiffPRF, without the s: a private random forest on nominal features (Patil & Singh, 2014).

It is the ancestor of DiffPRFs, with the s, which stands in ``diffprfs.py`` and has its rules and continuous features.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from algorithms.accounting.events import Event
from algorithms.accounting.faults import DIFFPRF_EXACT_CHOICES, Fault
from algorithms.forests.diffprfs import DiffPRFsClassifier, DiffPRFsPlan
from algorithms.forests.engine.depth import average_children
from algorithms.forests.forest import NominalColumns
from algorithms.parameters import check_choice, check_flag


class DiffPRFClassifier(NominalColumns, DiffPRFsClassifier):
    """DiffPRF, a private random forest on nominal features; continuous ones are put into public bins.

    Parameters
    ----------
    epsilon : float, default=1.0
        Budget B of the whole forest, in (0, inf]; inf grows the noise-free forest.
    n_estimators : int, default=10
        Number of trees T, at least 1.
    max_depth : int, default=5
        Depth d at which growing stops, at least 1; the sound variant may stop before.
    max_features : int or None, default=None
        Features drawn at each node, from 1 to the number of features; None is the square root of their number,
        rounded up.
    criterion : {None, "information_gain", "gini", "max"}, default=None
        Split score, as in `DiffPRFsClassifier`: None is information gain for the paper's variant and the max operator
        for the sound one, which refuses information gain.
    variant : {"paper", "sound"}, default="paper"
        "paper" is the algorithm as described, faults included; "sound" is epsilon-differentially private for one record
        added or removed, given a public domain.
    stop_below : {"noise", "zero"}, default="noise"
        A node is a leaf if its noisy count, shared out to the classes of its children, is below the noise (as printed:
        with a small budget this makes the root a leaf, and the forest predicts the largest class), or only if the
        noisy count is not positive.
    level_budget : {"uniform", "linear"}, default="uniform"
        How a tree's budget is divided over its levels: evenly, or growing linearly from the root to the leaves, which
        is DiffPRF_linear (a baseline of paper 4).
    author_code : bool, default=False
        Reading of published code that looks like the authors' own: the best feature is taken, not drawn, and leaves
        are labelled without noise; only the counts are noisy.
    sampling : {None, "bootstrap", "disjoint", "all"}, default=None
        Rows of a tree. None is "bootstrap" for the paper's variant and "disjoint" for the sound one. Trees on disjoint
        rows spend B each; those on all rows share it. The sound variant refuses "bootstrap".
    n_bins : int, default=5
        Public equal-width bins of a continuous column, at least 2.
    domain : Domain or None, default=None
        Public description of the columns and classes; None infers it from the rows, warns, and is not private.
    n_jobs : int or None, default=None
        Threads that grow trees.
    noise : {"numpy", "opendp"}, default="numpy"
        What draws the noise: "opendp" is for a release, see ``algorithms.opendp_noise``.
    random_state : int, RandomState or None, default=None
        Source of all randomness; in a release, of what may be public alone.

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
    >>> forest = DiffPRFClassifier(epsilon=200.0, max_depth=2, n_estimators=3, domain=domain, random_state=0).fit(X, y)
    >>> forest.predict([[0, 1], [1, 0]])
    array(['no', 'yes'], dtype='<U3')
    """

    READINGS: ClassVar = {"stop_below": "noise", "author_code": False}
    _INTERVAL_WEIGHT: ClassVar = None  # all columns are nominal: what draws intervals is not compiled

    def __init__(
        self,
        epsilon=1.0,
        *,
        n_estimators=10,
        max_depth=5,
        max_features=None,
        criterion=None,
        variant="paper",
        stop_below="noise",
        level_budget="uniform",
        author_code=False,
        sampling=None,
        n_bins=5,
        domain=None,
        n_jobs=None,
        noise="numpy",
        random_state=None,
    ):
        super().__init__(
            epsilon,
            n_estimators=n_estimators,
            max_depth=max_depth,
            max_features=max_features,
            criterion=criterion,
            variant=variant,
            stop_below=stop_below,
            sampling=sampling,
            n_bins=n_bins,
            domain=domain,
            n_jobs=n_jobs,
            noise=noise,
            random_state=random_state,
        )
        self.level_budget = level_budget
        self.author_code = author_code

    def check_parameters(self, n_features: int) -> None:
        """Raise ``ParameterError`` if the parameters cannot work for so many features."""
        check_choice("level_budget", self.level_budget, ("uniform", "linear"))
        check_flag("author_code", self.author_code)
        super().check_parameters(n_features)

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
