"""C4.5 for numeric attributes (Quinlan, 1993), the decision tree of paper 5.

The paper turns every category into a number before it trains, so no test has more than two branches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from algorithms.released.classifier import BinaryTree

_FEWEST, _MOST = 2, 25
"""Rows that each side of a cut needs: a tenth of the average of a class, but not less, nor more, than these."""
_SLACK = 0.1  # errors that a subtree must save to stay, as in Quinlan's program
_NOTHING = 1e-9  # bits; what rounding leaves of a gain of 0
_DECIMALS = 10  # to which gain ratios are compared, so that rounding breaks no tie: the first one wins


class _Cut(NamedTuple):
    feature: int
    at: float


class C45Classifier(ClassifierMixin, BaseEstimator):
    """C4.5: cuts by gain ratio, then pessimistic pruning.

    A node is cut where the gain ratio is largest: the fall of the classes' entropy over the entropy of the cut itself.
    Of each attribute that is a middle between two neighbouring values; of the attributes' best cuts, only those compete
    whose gain is at least the average. A subtree becomes a leaf if that is expected to make no more errors: of e errors
    among n rows, n times the upper limit of a confidence interval for their share.

    Parameters
    ----------
    prune : bool, default=True
        Whether to prune. The paper says "a method of post-pruning"; pessimistic is C4.5's own.
    confidence : float, default=0.25
        Chance that the share of errors lies above the limit, C4.5's CF, in (0, 1).

    Attributes
    ----------
    classes_ : array of shape (c,)
        Class labels, sorted.
    tree_ : BinaryTree
        The tree.

    Notes
    -----
    Left out of Quinlan's program: attributes with several branches, missing values, and the pruning that puts the
    largest branch in the place of its parent. Rows are rounded to 32 bits, as scikit-learn's trees do.

    References
    ----------
    Quinlan (1993): C4.5: Programs for Machine Learning, sections 2.2 to 2.4 and 4.2.

    Examples
    --------
    >>> tree = C45Classifier().fit([[1.0], [2.0], [8.0], [9.0]], ["no", "no", "yes", "yes"])
    >>> tree.tree_.cut[0], tree.predict([[4.0], [6.0]])
    (5.0, array(['no', 'yes'], dtype='<U3'))
    """

    def __init__(self, *, prune=True, confidence=0.25):
        self.prune = prune
        self.confidence = confidence

    def fit(self, X, y):
        """Grow the tree on X, an array of shape (n, k), and y of shape (n,), and prune it."""
        X, y = validate_data(self, X, y, dtype=np.float32)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        tree, counts = _grow(X.astype(np.float64), np.eye(len(self.classes_))[codes])
        self.tree_ = _prune(tree, counts, self.confidence) if self.prune else tree
        return self

    def predict(self, X) -> np.ndarray:
        """Return the class of each row of X, an array of shape (n, k): array of shape (n,)."""
        check_is_fitted(self)
        return self.classes_[self.tree_.classify(validate_data(self, X, dtype=np.float32, reset=False))]


def _grow(rows: np.ndarray, classes: np.ndarray) -> tuple[BinaryTree, np.ndarray]:
    """Return the tree that is not pruned, a parent before its children, and the rows of each class in each node.

    Parameters
    ----------
    rows : float64 array of shape (n, k)
        Training rows.
    classes : float64 array of shape (n, c)
        1 at the class of each row.
    """
    feature, cut, children, counts = [], [], [], []
    waiting = [(np.arange(len(rows)), -1, 0)]
    while waiting:
        members, parent, side = waiting.pop()
        node = len(feature)
        if parent >= 0:
            children[parent][side] = node
        best = _find_cut(rows[members], classes[members])
        feature.append(best.feature if best else -1)
        cut.append(best.at if best else 0.0)
        children.append([-1, -1])
        counts.append(classes[members].sum(axis=0))
        if best:
            is_left = rows[members, best.feature] <= best.at
            waiting += [(members[~is_left], node, 1), (members[is_left], node, 0)]
    left, right = np.array(children, dtype=np.int64).T
    of_class = np.array(counts)
    labels = of_class.argmax(axis=1)
    return BinaryTree(np.array(feature, dtype=np.int64), np.array(cut), left.copy(), right.copy(), labels), of_class


def _find_cut(rows: np.ndarray, classes: np.ndarray) -> _Cut | None:
    """Return the cut of a node, None for a leaf."""
    n, total = len(rows), classes.sum(axis=0)
    fewest = int(np.clip(0.1 * n / len(total), _FEWEST, _MOST))
    if n < 2 * fewest or total.max() == n:
        return None
    order = np.argsort(rows, axis=0, kind="stable")
    values = np.take_along_axis(rows, order, axis=0)
    below = np.cumsum(classes[order], axis=0)[fewest - 1 : n - fewest]  # rows of each class up to each position
    before, after = values[fewest - 1 : n - fewest], values[fewest : n - fewest + 1]
    size = np.arange(fewest, n - fewest + 1)[:, np.newaxis] / n
    inside = size * _entropy(below) + (1 - size) * _entropy(total - below)
    gain = _entropy(total[np.newaxis]) - inside
    ratio = np.round(gain / _entropy(np.stack([size, 1 - size], axis=-1)), _DECIMALS)
    ratio[(before == after) | (gain <= _NOTHING)] = -np.inf
    best, features = ratio.argmax(axis=0), np.arange(rows.shape[1])
    ratios, gains = ratio[best, features], gain[best, features]
    is_cut = np.isfinite(ratios)
    if not is_cut.any():
        return None
    competes = is_cut & (gains >= gains[is_cut].mean() - _NOTHING)
    chosen = int(np.argmax(np.where(competes, ratios, -np.inf)))
    return _Cut(chosen, float((before[best[chosen], chosen] + after[best[chosen], chosen]) / 2))


def _entropy(counts: np.ndarray) -> np.ndarray:
    """Return the entropy in bits along the last axis of counts, or of shares."""
    shares = counts / counts.sum(axis=-1, keepdims=True)
    return -(shares * np.log2(shares, out=np.zeros_like(shares), where=shares > 0)).sum(axis=-1)


def expect_errors(n_errors: np.ndarray, n_rows: np.ndarray, confidence: float = 0.25) -> np.ndarray:
    """Return the errors to expect of a leaf that makes some on its training rows.

    ``n_rows`` times the share of errors at which so few, or fewer, have the chance ``confidence``: the upper limit of
    Clopper and Pearson.

    Parameters
    ----------
    n_errors, n_rows : arrays of shape (m,)
        Of each leaf, the errors below the rows.
    confidence : float, default=0.25
        In (0, 1).

    Examples
    --------
    >>> expect_errors(np.array([0, 1]), np.array([6, 16])).round(2)  # Quinlan prints 1.24 and 2.51, interpolated
    array([1.24, 2.55])
    """
    return n_rows * betaincinv(n_errors + 1, n_rows - n_errors, 1 - confidence)


def _prune(tree: BinaryTree, counts: np.ndarray, confidence: float) -> BinaryTree:
    """Return the tree with subtrees made leaves, from the leaves to the root, where that costs no errors."""
    n_rows = counts.sum(axis=1)
    as_leaf = expect_errors(n_rows - counts.max(axis=1), n_rows, confidence)
    left, right, expected = tree.left.copy(), tree.right.copy(), as_leaf.copy()
    for node in np.flatnonzero(tree.left >= 0)[::-1]:  # children have higher numbers than their parents
        below = expected[left[node]] + expected[right[node]]
        if as_leaf[node] <= below + _SLACK:
            left[node] = right[node] = -1
        else:
            expected[node] = below
    return _keep_reached(tree._replace(left=left, right=right))


def _keep_reached(tree: BinaryTree) -> BinaryTree:
    """Return the tree without the nodes that no row reaches from the root."""
    is_kept = np.zeros(len(tree.left), dtype=bool)
    is_kept[0] = True
    for node in range(len(tree.left)):
        if is_kept[node] and tree.left[node] >= 0:
            is_kept[[tree.left[node], tree.right[node]]] = True
    number = np.cumsum(is_kept) - 1
    left, right = (np.where(side >= 0, number[side], -1)[is_kept] for side in (tree.left, tree.right))
    feature = np.where(left >= 0, tree.feature[is_kept], -1)
    return BinaryTree(feature, np.where(left >= 0, tree.cut[is_kept], 0.0), left, right, tree.label[is_kept])
