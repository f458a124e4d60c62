"""Faults: steps of the printed algorithms for which the claimed privacy does not hold, by paper.

Results and audits know a fault by its name, so the same mistake has the same name wherever a paper makes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A step for which the claimed privacy does not hold.

    Parameters
    ----------
    name : str
        A short name, for example ``"exact nominal splits"``.
    why : str
        What goes wrong, in a sentence.
    source : str
        Where the paper does it.
    """

    name: str
    why: str
    source: str


INFERRED_DOMAIN = Fault(
    "inferred domain",
    "ranges, categories and classes were read from the rows",
    "the caller gave no domain",
)
CLAIMS_ONLY = Fault(
    "claims only",
    "nobody checked the ε that is claimed: there is no account of what was spent",
    "an estimator without privacy_",
)


def bounds_from_rows(numbers: Sequence[str], categories: Sequence[str] = ()) -> Fault:
    """Return the fault of a declared domain, whatever was trained with it, of which a part follows the rows.

    Parameters
    ----------
    numbers, categories : sequence of str
        Columns whose bounds, and columns whose categories, follow the rows.

    Examples
    --------
    >>> bounds_from_rows(["y", "z"]).why
    'ε holds only if the ranges of y and z are taken as public: they follow the rows'
    >>> bounds_from_rows(["y"], ["job"]).why
    'ε holds only if the ranges of y and the categories of job are taken as public: they follow the rows'
    """
    parts = [f"the ranges of {join_names(numbers)}"] if numbers else []
    parts += [f"the categories of {join_names(categories)}"] if categories else []
    why = f"ε holds only if {' and '.join(parts)} are taken as public: they follow the rows"
    return Fault("bounds from the rows", why, "the data set's declared domain")


def join_names(names: Sequence[str], noun: str = "columns") -> str:
    """Return names as a sentence has them, the first ones of many; the noun is what they are names of.

    Examples
    --------
    >>> join_names(["x"]), join_names(["x", "y", "z"]), join_names(["a", "b", "c", "d", "e", "f", "g"])
    ('x', 'x, y and z', 'a, b, c, d and 3 more columns')
    """
    shown = list(names) if len(names) <= 6 else [*names[:4], f"{len(names) - 4} more {noun}"]
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


# Name and reason of what several papers do.
_BOOTSTRAP = ("bootstrap", "a record drawn twice counts twice, and the noise is for one")
_INTERVAL_ENDS = ("interval ends from the rows", "intervals end at values of the rows")
_EXACT_LEAVES = ("exact leaves", "leaf labels carry no noise")
_SENSITIVITY_FROM_ROWS = (
    "sensitivity from the rows",
    "the sensitivity of information gain follows from the exact number of rows",
)
_SENSITIVITY_OF_A_COUNT = (
    "sensitivity of a noisy count",
    "the sensitivity of the Gini index is that of a noisy number of rows, which may be too large",
)

# DiffPETs (paper 1).
DIFFPETS_EXACT_STOP = Fault(
    "exact stop condition",
    "whether a node holds one class, or little error, is read without noise",
    "Algorithm 2, stop condition and line 1",
)
DIFFPETS_CUTS_FROM_ROWS = Fault(
    "cuts from the rows",
    "cuts are values of the rows of the node",
    "Algorithm 2, line 5; section 1.4: a value of the feature at random",
)
DIFFPETS_UNUSED_COUNT = Fault(
    "unused count",
    "half of the ε of each level pays for a count that nothing uses",
    "section 2.2: noise on the number of records of every node",
)
DIFFPETS_BOOTSTRAP = Fault(*_BOOTSTRAP, "Algorithm 1, line 4")
DIFFPETS_EXACT_LEAVES = Fault(*_EXACT_LEAVES, "Algorithm 2, line 2: noise on the number of records alone")
DIFFPETS_SENSITIVITY_FROM_ROWS = Fault(
    *_SENSITIVITY_FROM_ROWS,
    "section 2.3.1: ln(|D| + 1) + 1 / ln 2",
)
DIFFPETS_GAIN_SENSITIVITY = Fault(
    "sensitivity too small",
    "the sensitivity of information gain takes ln for log2, which is more",
    "section 2.3.1",
)

# RFDPP-Gini (paper 2).
RFDPP_EXACT_PURITY = Fault(
    "exact purity test",
    "whether all labels of a node agree is read without noise",
    "Algorithm 3, stop condition and step 3.2 (1)",
)
RFDPP_EXACT_COMPARISON = Fault(
    "exact final comparison",
    "the best feature and cut are compared without noise",
    "Algorithm 3, step 3.2 (6)",
)
RFDPP_EXACT_NOMINAL_SPLITS = Fault(
    "exact nominal splits",
    "nominal splits carry no noise",
    "the reading nominal_noise='none': step 3.2 (6) of Algorithm 3 names no noise; sections 1, 3.2.1 and 5 do",
)
RFDPP_EXACT_THRESHOLD = Fault(
    "exact Gini threshold",
    "whether the Gini index of a node is small is read without noise",
    "Algorithm 1, stop condition: the reading min_gini",
)
RFDPP_SENSITIVITY_FROM_ROWS = Fault(
    "sensitivity from the rows",
    "the sensitivity of information gain follows from the exact number of rows",
    "section 5 compares with information gain: criterion='information_gain'",
)
RFDPP_INTERVAL_ENDS = Fault(
    *_INTERVAL_ENDS,
    "Algorithm 3, step 3.2 (5): R, the intervals of values that occur",
)
RFDPP_BOOTSTRAP = Fault(*_BOOTSTRAP, "Algorithm 3, step 3.1")
RFDPP_UNUSED_COUNT = Fault(
    "unused count",
    "half of the ε of each level pays for a count that nothing uses",
    "Algorithm 3, step 3.2 (2); section 3.2.1",
)
RFDPP_EXACT_LEAVES = Fault(*_EXACT_LEAVES, "Algorithm 3, step 3.2 (1), in the reading leaf='exact'")
RFDPP_BUDGET_SPENT_TWICE = Fault(
    "budget spent more than once",
    "trees, levels or leaves spend the whole ε each",
    "section 3.2.1 divides it: readings of tree_budget, level_budget or leaf, not the text",
)

# DiffPRFs and DiffPRF (baselines of papers 1 and 4).
_DIFFPRFS = "Patil & Singh (2014) and Mu et al. (2016), as later papers tell it: "
DIFFPRFS_BOOTSTRAP = Fault(*_BOOTSTRAP, _DIFFPRFS + "rows with replacement")
DIFFPRFS_INTERVAL_ENDS = Fault(
    *_INTERVAL_ENDS,
    _DIFFPRFS + "intervals between the values of a continuous feature",
)
DIFFPRFS_SENSITIVITY_FROM_ROWS = Fault(
    *_SENSITIVITY_FROM_ROWS,
    _DIFFPRFS + "log2(N + 1) + 1 / ln 2 for N rows",
)
DIFFPRF_EXACT_CHOICES = Fault(
    "exact choices",
    "neither the choice of the best feature nor leaf labels carry noise",
    "published code that looks like the authors' own, which is the reading author_code",
)

# pfDPDT and eDPRF (paper 4), RDT (baseline of papers 1 and 4).
PFDPDT_EXACT_PURITY = Fault(
    "exact purity test",
    "whether all labels of a node agree is read without noise",
    "pfDPDT (Algorithm 5), condition for a leaf: one label only",
)
EDPRF_BOOTSTRAP = Fault(*_BOOTSTRAP, "a forest before eDPRF, in the reading sampling='bootstrap' of the tradition")
RDT_HEIGHT_FROM_ROWS = Fault(
    "height from the rows",
    "the height of the trees follows from the exact number of rows",
    "Jagannathan et al. (2009), the rule for the height, which max_depth=None takes",
)

# PrivaTree (Vos et al., arXiv 2305.15394).
PRIVATREE_BUDGET_FROM_ROWS = Fault(
    "budget from the rows",
    "how leaves and splits share ε follows from the exact number of rows",
    "corollary 4 of the appendix",
)
PRIVATREE_SENSITIVITY_OF_A_COUNT = Fault(*_SENSITIVITY_OF_A_COUNT, "the program of the tables, choice of a split")
PRIVATREE_BUDGET_SPENT_TWICE = Fault(
    "budget spent more than once",
    "the histogram of each column spends the whole ε of its level",
    "the reading splits='histograms'",
)
PRIVATREE_QUANTILES = Fault(
    "cuts from the rows",
    "continuous columns are cut at quantiles of the rows, which carry no noise",
    "the column PrivaTree* of the tables: its program, use_private_quantiles=False",
)
PRIVATREE_EXACT_STOP = Fault(
    "exact stop condition",
    "whether all labels of a node agree is read without noise",
    "the reading splits='histograms'",
)

# BDPT and DPGDF, rivals of PrivaTree.
BDPT_GROUPS_FROM_ROWS = Fault(
    "cuts from the rows",
    "numbers are put together by which values the rows have",
    "the program of PrivaTree's tables, before BDPT grows; the tables' head says that BDPT leaks numeric splits",
)
BDPT_SENSITIVITY_OF_A_COUNT = Fault(
    *_SENSITIVITY_OF_A_COUNT, "the program of PrivaTree's tables, choice of a split of BDPT"
)
DPGDF_SENSITIVITY_OF_A_LEAF = Fault(
    "sensitivity of a leaf's own rows",
    "the sensitivity of a label falls with the lead of its class: no ε bounds what a record changes",
    "the program of PrivaTree's tables, leaves of DPGDF",
)

# Polynomial regression (paper 3).
TARGET_IN_ITS_OWN_UNIT = Fault(
    "target in its own unit",
    "the noise is for targets in [-1, 1], and the target has its own unit",
    "the reading target_scaling='none'; paper 3, section 3.2 derives its sensitivities for scaled values",
)

# CPPPW and ASN (paper 5).
CPPPW_RATIO_FROM_ROWS = Fault(
    "ratio from the rows",
    "the number of released rows is chosen on the training rows, without noise",
    "section 2, step 4",
)
SCALE_FROM_ROWS = Fault(
    "scale from the rows",
    "the noise is scaled by the standard deviations of the training rows",
    "the reading scale='standard'; paper 5, section 2, step 2 prints a covariance of I",
)


def copied_rows(source: str) -> Fault:
    """Return the fault of a paper that releases noisy copies of its training rows."""
    why = "each released row is a training row with Gaussian noise, which keeps no finite ε"
    return Fault("copied rows", why, source)


def exact_labels(source: str) -> Fault:
    """Return the fault of a paper that releases the labels of its training rows."""
    return Fault("exact labels", "labels, and so the sizes of the classes, carry no noise", source)
