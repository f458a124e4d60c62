"""Algorithms of ``conf/algorithm``, by what of the package they use."""

from __future__ import annotations

RFDPP, DIFFPETS_CLASSIFIER = ("rfdpp_gini_sound",), ("diffpets_sound",)
DIFFPETS = ("diffpets_sound", "diffpets_regressor_sound")
DIFFPRF = ("diffprf_sound", "diffprf_linear_sound")
DIFFPRFS = ("diffprfs_gini_sound", "diffprfs_max_sound", *DIFFPRF)
EDPRF, PRIVATREE = ("edprf_sound",), ("privatree_sound",)
BDPT, DPGDF = ("bdpt_sound",), ("dpgdf_sound",)
"""Sound variants of one algorithm."""

COUNTING = (*RFDPP, *EDPRF, *DIFFPETS, *DIFFPRFS)
"""Sound forests that count the rows of a tree."""
LABELLING = (*RFDPP, *DIFFPETS_CLASSIFIER, *DIFFPRFS, *PRIVATREE, *DPGDF, "thrifty_tree")
"""Forests that draw the label of a leaf by permute-and-flip, with what all forests share."""
BINNED = ("edprf_sound", "thrifty_tree_regressor", *RFDPP, *DIFFPRFS, *PRIVATREE, *BDPT)
"""Those on public bins of equal width, but for the marginals."""

PRINTED_DIFFPETS = (
    "diffpets",
    "diffpets_noisy_labels",
    "diffpets_information_gain",
    "diffpets_information_gain_log2",
    "diffpets_regressor",
    "diffpets_regressor_mean",
)
PRINTED_DIFFPRF = ("diffprf", "diffprf_unstopped", "diffprf_linear", "diffprf_linear_unstopped")
PRINTED_DIFFPRFS = ("diffprfs_ig", "diffprfs_max", "diffprfs_ig_unstopped", "diffprfs_max_unstopped")
PRINTED_EDPRF = ("edprf", "tradition", "tradition_pf_split", "tradition_pf_leaf", "pfdpdt")
BOOTSTRAPPED = ("rfdpp_gini", *PRINTED_DIFFPETS, *PRINTED_DIFFPRF, *PRINTED_DIFFPRFS)
LABELLED_BY_COUNTS = (
    *("rfdpp_gini", "diffpets_noisy_labels", "tradition", "tradition_pf_split"),
    *(*PRINTED_DIFFPRF, *PRINTED_DIFFPRFS),
)
"""Printed forests; the last with Laplace noise on the class counts of a leaf."""

PRINTED_REGRESSIONS = ("fm", "fm_ball", "diff_lr", "diff_lr_ball", "dpba", "dpc", "fm_code")
SOUND_REGRESSIONS = ("fm_sound", "diff_lr_sound", "dpba_sound", "dpc_sound")
PARTED_REGRESSIONS = ("dpba", "diff_lr", "diff_lr_ball")
REGRESSIONS = (*SOUND_REGRESSIONS, *PRINTED_REGRESSIONS)
MARGINALS, BAYES, MEANS, PAIRS = ("dp_marginals",), ("thrifty_bayes",), ("thrifty_means",), ("thrifty_pairs",)
TAIL = ("thrifty_regressor",)
COMBINED = ("thrifty",)
"""On the tables of the audit nothing comes before its forest: tests show its mutants, see `tests.combined`."""

LAPLACE = (
    *("tradition", "tradition_pf_split", "privatree", "bdpt"),
    *(*PRIVATREE, *PRINTED_REGRESSIONS, *COUNTING, *BOOTSTRAPPED),
)
VECTORS = (
    *(*MARGINALS, *BAYES, *PAIRS, *BDPT, "bdpt", "diffpets_regressor_sound", "thrifty_tree", "thrifty_tree_regressor"),
    *LABELLED_BY_COUNTS,
)
EXPONENTIAL = (
    *(*RFDPP, *BDPT, *DIFFPETS, *DIFFPRFS, *BOOTSTRAPPED),
    *("tradition", "tradition_pf_leaf", "bdpt", "dpgdf"),
)
FLIPS = (
    *("thrifty_tree_regressor", "privatree", "dpgdf", "edprf", "tradition_pf_split", "tradition_pf_leaf", "pfdpdt"),
    *(*BAYES, *PAIRS, *EDPRF, *LABELLING),
)
DISJOINT = (*EDPRF, *RFDPP, *DIFFPETS, *DIFFPRFS, "edprf", "tradition", "tradition_pf_split", "tradition_pf_leaf")
ON_DEMAND = (*EDPRF, *DIFFPRFS)
KEPT = (
    *("thrifty_tree", "thrifty_tree_regressor", "rdt"),
    *(*MARGINALS, *BAYES, *MEANS, *PAIRS, *COMBINED),
    *(*PRIVATREE, *BDPT, *DPGDF, *COUNTING, *REGRESSIONS),
)
"""Those that keep what they claim."""
EVERY = (*KEPT, *BOOTSTRAPPED, *PRINTED_EDPRF, "privatree", "bdpt", "dpgdf", "cpppw", "asn")
