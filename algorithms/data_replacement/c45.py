"""C4.5 for numeric attributes (Quinlan, 1993), the decision tree of paper 5.

The paper turns every category into a number before it trains, so no test has more than two branches.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from algorithms.fitting import FittedAtOnce
from algorithms.native import compiled
from algorithms.released.classifier import BinaryTree

_FEWEST, _MOST = 2, 25
"""Rows that each side of a cut needs: a tenth of the average of a class, but not less, nor more, than these."""
_SLACK = 0.1  # errors that a subtree must save to stay, as in Quinlan's program
_NOTHING = 1e-9  # bits; what rounding leaves of a gain of 0
_ROUND = 1e10  # gain ratios are compared to ten decimals, so that rounding breaks no tie: the first one wins


class C45Classifier(ClassifierMixin, FittedAtOnce):
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
    >>> float(tree.tree_.cut[0]), tree.predict([[4.0], [6.0]])
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
        tree, counts = _grow(X.astype(np.float64), codes, len(self.classes_))
        self.tree_ = _prune(tree, counts, self.confidence) if self.prune else tree
        return self

    def predict(self, X) -> np.ndarray:
        """Return the class of each row of X, an array of shape (n, k): array of shape (n,)."""
        return self.classes_[self.tree_.classify(validate_data(self, X, dtype=np.float32, reset=False))]


def _grow(rows: np.ndarray, codes: np.ndarray, n_classes: int) -> tuple[BinaryTree, np.ndarray]:
    """Return the tree that is not pruned, a parent before its children, and the rows of each class in each node.

    Parameters
    ----------
    rows : float64 array of shape (n, k)
        Training rows.
    codes : int64 array of shape (n,)
        The class of each row, from 0.
    n_classes : int
        Number of classes.
    """
    columns = np.ascontiguousarray(rows.T)
    order = np.argsort(columns, axis=1)  # once: a node has a slice of it, where each attribute is sorted
    feature, cut, left, right, counts = _cut_nodes(columns, codes, order, n_classes, _multiply_by_log(len(rows)))
    return BinaryTree(feature, cut, left, right, counts.argmax(axis=1)), counts.astype(np.float64)


def _multiply_by_log(n: int) -> np.ndarray:
    """Return i log2 i for i from 0 to n: entropies of counts are sums of these."""
    numbers = np.arange(n + 1.0)
    return numbers * np.log2(np.maximum(numbers, 1.0))


@compiled
def _cut_nodes(columns, codes, order, n_classes, logs):
    """Return the feature and the cut of each node, its children, and its rows of each class; sorts ``order`` anew."""
    most = 2 * order.shape[1] - 1
    feature, cut, counts = np.empty(most, np.int64), np.empty(most), np.zeros((most, n_classes), np.int64)
    children = np.full((2, most), -1)
    n_nodes, waiting = 0, [(0, order.shape[1], -1, 0)]
    while waiting:
        start, stop, parent, side = waiting.pop()
        node = n_nodes
        n_nodes += 1
        if parent >= 0:
            children[side, parent] = node
        members = order[:, start:stop]
        for row in members[0]:
            counts[node, codes[row]] += 1
        feature[node], cut[node] = _find_cut(columns, codes, members, counts[node], logs)
        if feature[node] >= 0:
            middle = start + _divide(members, columns[feature[node]], cut[node])
            waiting.append((middle, stop, node, 1))
            waiting.append((start, middle, node, 0))
    left, right = children[0, :n_nodes].copy(), children[1, :n_nodes].copy()
    return feature[:n_nodes].copy(), cut[:n_nodes].copy(), left, right, counts[:n_nodes].copy()


def _find_cut(columns, codes, members, total, logs):
    """Return the feature that a node is cut by, and where; -1 and 0 for a leaf."""
    n_features, n = members.shape
    fewest = int(min(max(0.1 * n / total.shape[0], _FEWEST), _MOST))
    cuts, gains, ratios = np.zeros(n_features), np.zeros(n_features), np.full(n_features, -np.inf)
    if n >= 2 * fewest and total.max() < n:
        for f in range(n_features):
            cuts[f], gains[f], ratios[f] = _best_of_feature(columns[f], codes, members[f], total, fewest, logs)
    is_cut = np.isfinite(ratios)
    if not is_cut.any():
        return -1, 0.0
    ratios[gains < gains[is_cut].mean() - _NOTHING] = -np.inf
    chosen = int(ratios.argmax())
    return chosen, cuts[chosen]


def _best_of_feature(values, codes, members, total, fewest, logs):
    """Return the cut of one feature with the largest gain ratio, its gain and the ratio; -inf where there is none.

    ``members`` are the node's rows by their value. Entropies are here in bits times rows.
    """
    n, of_all = members.shape[0], _sum_entropy(total, logs)
    below, above = np.zeros_like(total), total.copy()
    cut, best_gain, best_ratio = 0.0, 0.0, -np.inf
    after = values[members[0]]
    for i in range(n - fewest):
        below[codes[members[i]]] += 1
        above[codes[members[i]]] -= 1
        before, after = after, values[members[i + 1]]
        if i + 1 < fewest or before == after:
            continue
        gain = (of_all - _sum_entropy(below, logs) - _sum_entropy(above, logs)) / n
        of_cut = (logs[n] - logs[i + 1] - logs[n - i - 1]) / n
        if gain <= _NOTHING:
            continue
        ratio = np.rint(gain / of_cut * _ROUND) / _ROUND
        if ratio > best_ratio:
            cut, best_gain, best_ratio = (before + after) / 2, gain, ratio
    return cut, best_gain, best_ratio


def _sum_entropy(counts, logs):
    """Return the entropy in bits of some counts, times their sum."""
    n, entropy = 0, 0.0
    for count in counts:
        n += count
        entropy -= logs[count]
    return entropy + logs[n]


def _divide(members, values, cut):
    """Put the rows up to a cut first, each attribute's in their order; return how many these are."""
    for of_attribute in members:
        is_left = values[of_attribute] <= cut
        of_attribute[:] = np.concatenate([of_attribute[is_left], of_attribute[~is_left]])
    return np.count_nonzero(values[members[0]] <= cut)


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
