"""The words for what became of a setting from one set of results, a, to another, b."""

BEYOND, WITHIN, EQUAL, FEW = "beyond noise", "within noise", "equal", "too few repeats"
ONLY_IN_A, ONLY_IN_B, APART = "only in a", "only in b", "no repeat in common"
CHANGES = (BEYOND, FEW, WITHIN, EQUAL, APART, ONLY_IN_A, ONLY_IN_B)
"""In the order in which a reader wants them."""
