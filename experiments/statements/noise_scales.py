"""Sensitivity and noise of a tree of means beside those of a noisy objective (paper 1, sections 1.5, 2.3 and 4).

The functional mechanism adds noise to the coefficients of the objective of linear regression, whose sensitivity with d
attributes is 2 (d + 1)²; Diff-LR tells its quadratic part, 2 d², from its linear one, 4 d.
"""

from __future__ import annotations

from experiments.statements.finding import Finding


def sensitivity_is_lower(printed: float, features: int) -> Finding:
    """Decide whether a printed sensitivity is below those of FM and of both parts of Diff-LR.

    Examples
    --------
    >>> sensitivity_is_lower(2, 11).reason
    '2 where that of FM is 288, and those of the parts of Diff-LR are 242 and 44, with d = 11'
    """
    fm, quadratic, linear = 2 * (features + 1) ** 2, 2 * features**2, 4 * features
    reason = f"{printed:g} where that of FM is {fm}, and those of the parts of Diff-LR are {quadratic} and {linear}"
    return Finding(printed < min(fm, quadratic, linear), f"{reason}, with d = {features}")


def noise_is_lower(printed: float, features: int, n_estimators: int, max_depth: int, parts: int = 1) -> Finding:
    """Decide whether the Laplace noise of a leaf has a smaller scale than that of a coefficient of FM.

    A leaf has ε₂ = ε / (2 t (h + 1)), Algorithm 1, or an equal part of it where several mechanisms share it.

    Examples
    --------
    >>> noise_is_lower(2, 11, 10, 6).reason
    'Lap(280/ε) on a leaf, Lap(288/ε) on a coefficient of FM, with d = 11, t = 10, h = 6'
    """
    of_leaf, of_fm = printed * 2 * n_estimators * (max_depth + 1) * parts, 2 * (features + 1) ** 2
    reason = f"Lap({of_leaf:g}/ε) on a leaf, Lap({of_fm}/ε) on a coefficient of FM"
    return Finding(of_leaf < of_fm, f"{reason}, with d = {features}, t = {n_estimators}, h = {max_depth}")
