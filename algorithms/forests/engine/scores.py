"""Split scores: how well a split separates the classes, or the targets of a regression. Larger is better.

All are weighted by counts, which is what gives them a sensitivity: adding or removing one record changes a score by at
most the number stated here (PAPERS: split scores; checked by brute force in the tests).
"""

from __future__ import annotations

import math

import numpy as np

GINI, INFORMATION_GAIN, MAX_OPERATOR = 0, 1, 2
CODES = {"gini": GINI, "information_gain": INFORMATION_GAIN, "max": MAX_OPERATOR}


def score_sensitivity(score: int, n_rows: int) -> float:
    """Return the largest change of a score when one record is added or removed.

    Parameters
    ----------
    score : int
        GINI, INFORMATION_GAIN or MAX_OPERATOR.
    n_rows : int
        Bound on the number of records in a node; only information gain depends on it.

    Examples
    --------
    >>> score_sensitivity(GINI, 100), score_sensitivity(MAX_OPERATOR, 100)
    (2.0, 1.0)
    >>> round(score_sensitivity(INFORMATION_GAIN, 1023), 4)
    11.4427
    """
    if score == GINI:
        return 2.0
    if score == MAX_OPERATOR:
        return 1.0
    return math.log2(n_rows + 1) + 1 / math.log(2)


def class_term(score, count, n):
    """Return what one class adds to the score of a child with ``n`` records, ``count`` of them of that class.

    Parameters
    ----------
    score : int
        GINI: ``count (count / n - 1)``; INFORMATION_GAIN: ``count log2(count / n)``; MAX_OPERATOR: ``count``.
    count, n : float
        Records; 0 of a class add nothing.
    """
    if count == 0:
        return 0.0
    if score == GINI:
        return count * (count / n - 1.0)
    if score == INFORMATION_GAIN:
        return count * math.log2(count / n)
    return count


def join_terms(score, some, more):
    """Join the terms of two classes: the larger one for the max operator, else their sum."""
    return max(some, more) if score == MAX_OPERATOR else some + more


def side_score(score, counts):
    """Return the share of one child in a score, from its class counts.

    Parameters
    ----------
    score : int
        GINI: ``-n (1 - sum_c (n_c / n)^2)``; INFORMATION_GAIN: ``-n H`` in bits; MAX_OPERATOR: ``max_c n_c``.
    counts : int array of shape (c,)
        Records of each class in the child.

    Returns
    -------
    float
        0 for a child without records. The score of a split is the sum over its children.

    Examples
    --------
    >>> side_score(GINI, np.array([2, 2])), side_score(INFORMATION_GAIN, np.array([2, 2]))
    (-2.0, -4.0)
    >>> side_score(MAX_OPERATOR, np.array([3, 1]))
    3.0
    """
    n = float(np.cumsum(counts)[-1])  # one after the other, as the noise of counts asks for
    total = 0.0
    for count in counts:
        total = join_terms(score, total, class_term(score, float(count), n))
    return total


def mean_gini_sensitivity(n_rows):
    """Return the most by which one record more changes the mean Gini impurity of the children of a split.

    Children are weighted by their share of the rows, and there may be any number of classes: an added record that makes
    a pure child of all rows impure changes it most.

    Parameters
    ----------
    n_rows : float
        Rows of the node before, at least 1: the number is 1 - (n / (n + 1))² - (1 / (n + 1))². Whatever the rows, it
        is at most that of one row.

    Examples
    --------
    >>> mean_gini_sensitivity(1.0), mean_gini_sensitivity(3.0)
    (0.5, 0.375)
    """
    return 2.0 * n_rows / ((n_rows + 1.0) * (n_rows + 1.0))  # to square by ``**`` rounds not everywhere alike


SSE_SENSITIVITY = 1.0
"""Largest change of ``squared_error_score`` when one record with a target in [0, 1] is added or removed."""


def squared_error_score(n, total, n_left, left, squares):
    """Score a split of a regression: minus the sum of squared errors around the means of the two sides.

    Parameters
    ----------
    n, total : float
        Number and summed target of the records in the node.
    n_left, left : float
        The same of the left side.
    squares : float
        Sum of the squared targets in the node.

    Examples
    --------
    >>> squared_error_score(4.0, 2.0, 2.0, 2.0, 2.0)  # targets 1, 1 on the left, 0, 0 on the right
    0.0
    """
    n_right, right = n - n_left, total - left
    explained = 0.0
    if n_left > 0:
        explained += left * left / n_left
    if n_right > 0:
        explained += right * right / n_right
    return explained - squares
