"""The thrifty forest: one thrifty tree where the budget is small, and several where it is large. Ours.

One tree that may spend much fits its rows too closely: on Adult it gets 84.5 % right at epsilon = 10 and 83.2 at 100.
Several trees that share the budget, each on all rows, disagree where each has learnt noise, and agree elsewhere. But
half of a small budget buys a much worse tree. So there are as many trees as the root of epsilon, by a constant: one up
to epsilon = 5, two at 10, six at 100.

Every leaf says how likely each class is, so that rows can be ranked. On thirteen tuning sets that costs a single tree
0.04 points of accuracy on average over five epsilons, and raises the mean area under the curve from 83 to 90 % at
epsilon = 1. From four trees on, each question is chosen among a random half of the columns, since trees that have
little noise are much alike. For numbers, only trees without any are: at epsilon = 100 half of the columns makes errors
larger by a sixth to a quarter on average, mostly on one set of eight.

Its constants were chosen like those of the tree (`algorithms.forests.thrifty_tree`), by mean accuracy, and for
numbers by the logarithm of the squared error, at epsilon from 2 to infinity. For classes the choice is flat: at
epsilon = 10 two, three or four trees differ by 0.2 points, at 100 six or ten by 0.1. At epsilon = 10, where a table's
labels follow from its columns, one tree is one or two points better than the two.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from algorithms.accounting.events import Event
from algorithms.accounting.faults import Fault
from algorithms.forests.engine.predictor import add_shares, find_leaves
from algorithms.forests.engine.tree import LEAF
from algorithms.forests.forest import ManyTrees, released_tree
from algorithms.forests.thrifty_regressor import ThriftyTreesRegressor
from algorithms.forests.thrifty_tree import ThriftyTrees, ThriftyTreesClassifier
from algorithms.parameters import check_count, parameter, with_parameters
from algorithms.released.document import Origin
from algorithms.released.forest import COUNTS, ReleasedForest, ReleasedTree

FOR_ONE = 2.5
"""Epsilon by whose multiples the number of trees grows, as their root."""

MOST_TREES = 30
"""More of them cost time, and hardly differ."""


def buy_trees(epsilon: float) -> int:
    """Return how many trees a budget buys: the root of epsilon / 2.5, rounded, from 1 to 30.

    Examples
    --------
    >>> [buy_trees(epsilon) for epsilon in (0.1, 5.0, 10.0, 20.0, 100.0, 1e3, math.inf)]
    [1, 1, 2, 3, 6, 20, 30]
    """
    return max(round(min(math.sqrt(epsilon / FOR_ONE), MOST_TREES)), 1)


@with_parameters
class ThriftyForest(ThriftyTrees, ManyTrees):
    """As many thrifty trees as the budget buys.

    Parameters
    ----------
    max_depth : int
        Levels of splits at most, at least 1. Branches end where the budget does, mostly before.
    n_estimators : int or None
        Number of trees, at least 1; None for the root of epsilon / 2.5, rounded, from 1 to 30.
    """

    max_depth = 24
    n_estimators: int | None = parameter(None, check_count)

    def count_trees(self) -> int:
        """Return how many trees are grown: it follows from the parameters, never from the rows."""
        return buy_trees(float(self.epsilon)) if self.n_estimators is None else self.n_estimators


@with_parameters
class ThriftyForestClassifier(ThriftyForest, ThriftyTreesClassifier):
    """Differentially private thrifty trees, as many as the budget buys, which say how likely each class is.

    Notes
    -----
    T trees on all rows have epsilon / T each; up to epsilon = 5 there is one. They grow as `ThriftyTreeClassifier`
    does, with three differences. A leaf spends all that is left on Laplace noise for its class counts, once more, and
    says of each class which share it would have of all counts, negative ones as 0, if each had (1 + 2 b) / c records
    more, of c classes and noise of scale b; trees are averaged. From four trees on, a node looks at a random half of
    the features that it could ask for, rounded up. And where the noise of a node's counts has a scale of at most 1/4,
    as it has without privacy, it becomes a leaf if it is expected to err no more often than the leaves below it, by
    Wilson's upper bound, 1.2 standard errors, of the errors of each (C4.5).

    Privacy: epsilon-differentially private for one record added or removed, given a public domain. How many trees there
    are and which features a node looks at follows from the parameters and from chance alone; a tree is
    epsilon / T-differentially private by the argument of `ThriftyTreeClassifier`, in which a leaf with a budget of e
    left spends it on noise of scale 1 / e for class counts, of which a record changes one by 1; to prune reads nothing
    but what was released; and T trees on the same rows cost T times as much as one. The grown trees, noisy numbers
    included, may be published.

    Examples
    --------
    >>> from algorithms import Domain, Nominal
    >>> domain = Domain((Nominal("a", (0, 1)), Nominal("b", (0, 1))), Nominal("y", ("no", "yes")))
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 25, ["no", "no", "yes", "yes"] * 25
    >>> forest = ThriftyForestClassifier(epsilon=10.0, domain=domain, random_state=0).fit(X, y)
    >>> forest.predict([[0, 1], [1, 0]]), len(forest.trees_)
    (array(['no', 'yes'], dtype='<U3'), 2)
    >>> forest.privacy_.keeps_claim, forest.privacy_.accounted_epsilon
    (True, 10.0)
    """

    def predict_proba(self, X) -> np.ndarray:
        """Return the mean of the trees' shares of each class: float64 array of shape (n, c)."""
        return self.share_rows(self.read_rows(X))

    def share_rows(self, matrix: np.ndarray) -> np.ndarray:
        """Return the same of rows that are encoded: float64 array of shape (n, k)."""
        return self._sum_over_trees(matrix, len(self.classes_), add_shares) / len(self.trees_)

    def share_rows_left_out(self, matrix: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Return the same of training rows, each as if no leaf had counted it, see `add_shares_left_out`."""
        add = partial(add_shares_left_out, labels)
        return self._sum_over_trees(matrix, len(self.classes_), add) / len(self.trees_)

    def _released(self, origin: Origin) -> ReleasedForest:
        trees = tuple(release_shares(nodes, len(self.classes_)) for nodes in self.trees_)
        return ReleasedForest(origin, self.classes_.copy(), COUNTS, None, trees)

    def _ledger_and_faults(self, table) -> tuple[Event, tuple[Fault, ...]]:
        below = "splits and counts of a path, and the counts of its leaf with the rest"
        return self._any_path(table, "class counts of the root", "laplace and permute_and_flip", below), ()


def add_shares_left_out(labels: np.ndarray, nodes: np.ndarray, matrix: np.ndarray, sums: np.ndarray) -> None:
    """Add for every row the shares of its leaf in a tree, less one record of its own class.

    What a tree is worth on other rows must not be asked of rows that it knows by heart. A leaf that a row has to itself
    says nothing of the row without it. This is leave-one-out as far as numbers go: the questions above the leaf stay,
    though the row may have helped to choose them. It takes nothing but the row and what was released. Each class keeps
    1 / c records, of those that it was given more, so that no share is 0.

    Parameters
    ----------
    labels : int64 array of shape (n,)
        Classes of the rows.
    nodes : structured array of node_type
        The tree, whose leaves have shares.
    matrix : float64 array of shape (n, k), C order
        Rows as the tree was grown on.
    sums : float64 array of shape (n, c)
        What is added to.
    """
    leaves, rows = nodes[find_leaves(nodes, matrix)], np.arange(len(labels))
    shares = nodes["value"][leaves["child"][:, np.newaxis] + np.arange(sums.shape[1])]
    counts = shares * leaves["value"][:, np.newaxis]
    counts[rows, labels] = np.maximum(counts[rows, labels] - 1.0, 1.0 / sums.shape[1])
    sums += counts / counts.sum(axis=1, keepdims=True)


def find_shares(nodes: np.ndarray) -> int:
    """Return where the shares of the leaves begin, behind all nodes that rows come to.

    The nodes of the shares have the form of leaves themselves, without a child.
    """
    starts = nodes["child"][nodes["decides"] == LEAF]
    return int(starts[starts >= 0].min())


def release_shares(nodes: np.ndarray, n_classes: int) -> ReleasedTree:
    """Return of a tree whose leaves have shares what was paid for: questions, noisy counts, and these shares."""
    end = find_shares(nodes)
    tree = released_tree(nodes[:end], "value")
    is_leaf = tree.decides == LEAF
    answer = np.full((end, n_classes), np.nan)
    answer[is_leaf] = nodes["value"][end:].reshape(-1, n_classes)  # leaf after leaf
    return tree._replace(child=np.where(is_leaf, -1, tree.child), answer=answer)


@with_parameters
class ThriftyForestRegressor(ThriftyForest, ThriftyTreesRegressor):
    """Differentially private thrifty regression trees, as many as the budget buys, of which the mean is predicted.

    Notes
    -----
    With one tree, up to epsilon = 5, this is `ThriftyTreeRegressor`, but for its depth. T trees on all rows have
    epsilon / T each, and grow as that one does. Without noise, of four or more, a node looks at a random half of the
    features that it could ask for, rounded up.

    Privacy: epsilon-differentially private for one record added or removed, given a public domain. How many trees there
    are and which features a node looks at follows from the parameters and from chance alone; a tree is
    epsilon / T-differentially private, see `ThriftyTreeRegressor`; and T trees on the same rows cost T times as much as
    one. The grown trees, noisy numbers included, may be published.

    Examples
    --------
    >>> from algorithms import Continuous, Domain
    >>> domain = Domain((Continuous("x", 0, 10),), Continuous("y", 0, 100))
    >>> X, y = [[i % 10 + 0.5] for i in range(5000)], [(i % 10 - 5) ** 2 for i in range(5000)]
    >>> forest = ThriftyForestRegressor(epsilon=10.0, domain=domain, random_state=0).fit(X, y)
    >>> forest.predict([[0.5], [5.5]]).round(), len(forest.trees_)
    (array([25.,  0.]), 2)
    >>> forest.privacy_.keeps_claim, forest.privacy_.accounted_epsilon
    (True, 10.0)
    """
