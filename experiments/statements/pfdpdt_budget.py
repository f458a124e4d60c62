"""How pfDPDT divides the budget of a tree (paper 4: equations 17 and 18, Figure 3), in exact fractions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from experiments.statements.finding import Finding


def split_epsilon(level: int, max_depth: int, epsilon: float = 1.0) -> Fraction:
    """Return what a split costs at a level, the root being level 1: equation 17.

    Examples
    --------
    >>> split_epsilon(level=1, max_depth=3)
    Fraction(2, 11)
    """
    harmonic = sum(Fraction(1, i) for i in range(1, int(max_depth) + 1))  # s_t
    return Fraction(epsilon) / harmonic / (int(max_depth) - int(level) + 1)


def leaf_epsilon(level: int, max_depth: int, epsilon: float = 1.0) -> Fraction:
    """Return what a leaf has at a level, all that the splits above it have left: equation 18.

    Examples
    --------
    >>> leaf_epsilon(level=2, max_depth=3)
    Fraction(9, 11)
    """
    return Fraction(epsilon) - sum(split_epsilon(above, max_depth, epsilon) for above in range(1, int(level)))


def every_path_costs_epsilon(
    deepest: int = 30, split: Callable[..., Fraction] = split_epsilon, leaf: Callable[..., Fraction] = leaf_epsilon
) -> Finding:
    """Decide whether the splits and the leaf of every path cost ε_tree together, as the proof of Theorem 3 says.

    The leaf of the longest path is asked for more: it must have what equation 17 gives its level, or else the shares
    of all levels would not be the ones of Figure 3.
    """
    for max_depth in range(1, deepest + 1):
        for level in range(1, max_depth + 1):
            spent = sum(split(above, max_depth) for above in range(1, level)) + leaf(level, max_depth)
            if spent != 1:
                place = f"a leaf at level {level} of treeDepth {max_depth}"
                return Finding(False, f"the path to {place} costs {float(spent):.4g} of ε_tree")
        if leaf(max_depth, max_depth) != split(max_depth, max_depth):
            return Finding(False, f"a leaf at level {max_depth} of treeDepth {max_depth} lacks the share of its level")
    return Finding(True, f"every path costs exactly ε_tree, for every treeDepth up to {deepest}")
