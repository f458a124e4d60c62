"""RDT: private random decision trees (Jagannathan, Pillaipakkamnatt, Wright, 2009).

Trees are drawn without looking at the rows; only the class counts of the leaves are. A full tree is far too large to
hold (up to 11,110,659,840 leaves at height 11 on Mushroom), so all that is random in it, questions and noise, is a
function of the key of a node: the nodes that training rows reach are grown by ``fit``, any other when ``predict`` comes
to it. Both give the answers of the full tree. In a release noise is no function of a key: ``fit`` draws that of all
leaves.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from algorithms.accounting.events import Event, Sequential, Spent, Unpaid
from algorithms.accounting.faults import RDT_HEIGHT_FROM_ROWS, Fault
from algorithms.encoding.features import Nominal
from algorithms.forests.engine.lazy import check_size, child_key, feature_of
from algorithms.forests.engine.records import define_records
from algorithms.forests.forest import MAX_DEPTH, ManyTrees, PrivateForestClassifier
from algorithms.mechanisms import laplace_of, laplace_vector, mix_bits, uniform_of
from algorithms.native import compiled
from algorithms.parameters import check_count, parameter, with_parameters
from algorithms.released.document import Origin
from algorithms.released.forest import BELOW, BY_VALUE, COUNTS, LEAF, ReleasedForest, ReleasedTree, shares_of


class RandomNode(np.void):
    """A node of a random tree, see ``question_type``."""


question_type = define_records(
    RandomNode,
    [
        ("cut", np.float64),  # threshold of a continuous feature, else NaN
        ("child", np.int32),  # first child, the others follow; of a leaf its row of counts, -1 where no row ended
        ("feature", np.int32),  # column that is asked, -1 in a leaf
    ],
)
"""A node in 16 bytes: random trees are large, and all else about their nodes follows from the key."""


class RDTPlan(NamedTuple):
    """What is public of a tree, and its budget."""

    max_depth: int
    epsilon: float  #: of a leaf
    n_children: np.ndarray  #: int64 (k,): one for each category of a nominal column, 2 of a continuous one
    is_continuous: np.ndarray  #: bool (k,)
    lower: np.ndarray  #: float64 (k,): where the public range of a continuous column begins
    width: np.ndarray  #: float64 (k,): its length
    n_classes: int


UNASKED, EXHAUSTED = -1, -2
"""Features of leaves while a tree grows: no row has needed a question there yet; or no feature is left to ask."""

BLOCK = 256
"""Rows that go down together: the order in which they ask numbers the nodes."""


class TrainingRows(NamedTuple):
    """The training rows as they are: a random tree asks for values one by one, so that codes would not pay."""

    matrix: np.ndarray  #: float64 (n, k), C order: as ``Domain.encode`` returns them
    labels: np.ndarray  #: int64 (n,)


class RandomTree(NamedTuple):
    """A tree as far as training rows have reached."""

    key: np.uint64  #: of the root
    nodes: np.ndarray  #: question_type (m,)
    noisy_counts: np.ndarray  #: float64 (l, c): class counts with noise of leaves, those in which training rows ended


def draw_question(plan, key, unused):
    """Return the random question of a node: a feature that the path has left, and a cut if it is continuous."""
    feature = feature_of(key, unused)
    if not plan.is_continuous[feature]:
        return feature, np.nan
    return feature, plan.lower[feature] + uniform_of(key ^ np.uint64(2)) * plan.width[feature]


def noisy_leaf(plan, key, counts):
    """Return the class counts of a leaf with noise."""
    of_classes = range(plan.n_classes)
    return np.array([laplace_of(mix_bits(key) + np.uint64(c), float(counts[c]), 1.0, plan.epsilon) for c in of_classes])


@compiled
def grow_lazily(plan, data, rows, rng):
    """Grow the nodes of a random tree that rows reach, and count the classes in its leaves; ``rows`` are all rows."""
    nodes, keys, _, at = grow_where_rows_go(plan, data.matrix, rng)
    return with_counts(plan, data, rows, at, nodes, keys)


@compiled
def grow_in_full(plan, data, rows, rng):
    """Grow all nodes of a random tree, and count the classes in all its leaves, with noise that no key tells.

    It is grown before it sees a row: the order of nodes that rows ask for would tell of them.
    """
    nodes, keys, parents, _ = grow_where_rows_go(plan, data.matrix[:0], rng)
    nodes = in_full(plan, nodes, keys, parents, rng)
    at = find_leaves(nodes, data.matrix[rows])
    return RandomTree(keys[0], nodes, all_noisy_counts(plan, data, rows, at, nodes, rng))


def grow_where_rows_go(plan, matrix, rng):
    """Return the nodes of a random tree that rows reach, their keys and parents, and the node where each row ends.

    A node without a question gets one when the first row comes. Rows go down a block at a time, all rows of a block a
    step each before any takes the next.
    """
    nodes, keys, parents = [make_leaf()], [np.uint64(rng.integers(0, 2**63 - 1))], [-1]
    at = np.zeros(matrix.shape[0], dtype=np.uint32)
    for start in range(0, matrix.shape[0], BLOCK):
        for _ in range(plan.max_depth):
            for row in range(start, min(start + BLOCK, matrix.shape[0])):
                node = nodes[at[row]]
                if node.feature == UNASKED:
                    branch_node(plan, nodes, keys, parents, at[row])
                if node.feature >= 0:
                    at[row] = find_child(node, matrix[row])
    return nodes, keys, parents, at


def make_leaf():
    """Return a leaf in which no row has ended yet."""
    node = np.zeros(1, dtype=question_type)[0]
    node.feature, node.cut, node.child = UNASKED, np.nan, -1
    return node


def find_child(node, values):
    """Return the child of a node to which a row with such values goes."""
    value = values[node.feature]
    return node.child + int(value if np.isnan(node.cut) else value > node.cut)


def branch_node(plan, nodes, keys, parents, i):
    """Ask a node for the first time and append its children."""
    unused = np.ones(plan.is_continuous.shape[0], dtype=np.bool_)
    above = parents[i]
    while above >= 0:
        unused[nodes[above].feature] = plan.is_continuous[nodes[above].feature]
        above = parents[above]
    node = nodes[i]
    if not unused.any():
        node.feature = EXHAUSTED
        return
    node.feature, node.cut = draw_question(plan, keys[i], unused)
    node.child = len(nodes)
    for which in range(plan.n_children[node.feature]):
        nodes.append(make_leaf())
        keys.append(child_key(keys[i], which))
        parents.append(i)


def with_counts(plan, data, rows, at, nodes, keys):
    """Return the grown tree with the noisy class counts of the leaves in which rows have ended."""
    n_leaves = 0
    for i in at:
        if nodes[i].child < 0:
            nodes[i].child = n_leaves
            n_leaves += 1
    counts = count_classes(plan, data, rows, at, nodes, n_leaves)
    noisy_counts = np.empty(counts.shape)
    for key, node in zip(keys, nodes, strict=True):
        if node.feature < 0:
            node.feature = -1
            if node.child >= 0:
                noisy_counts[node.child] = noisy_leaf(plan, key, counts[node.child])
    return RandomTree(keys[0], np.array(nodes, dtype=question_type), noisy_counts)


def count_classes(plan, data, rows, at, nodes, n_leaves):
    """Count the records in each leaf by class, ``at`` being the leaf of each row: int64 array of shape (leaves, c)."""
    counts = np.zeros((n_leaves, plan.n_classes), dtype=np.int64)
    for leaf, row in zip(at, rows, strict=True):
        counts[nodes[leaf].child, data.labels[row]] += 1
    return counts


def in_full(plan, nodes, keys, parents, rng):
    """Return the nodes of the full tree under a root, a level after the other.

    Each node has a key of its own: a cut gives the key that it was drawn from away, and tells of no other then.
    """
    i = 0
    while i < len(nodes):
        check_size(len(nodes))
        if nodes[i].feature == UNASKED and depth_of(parents, i) < plan.max_depth:
            first = len(nodes)
            branch_node(plan, nodes, keys, parents, i)
            for child in range(first, len(nodes)):
                keys[child] = np.uint64(rng.integers(0, 2**63 - 1))
        i += 1
    return np.array(nodes, dtype=question_type)


def depth_of(parents, i):
    """Return how many nodes are above a node."""
    depth = 0
    while parents[i] >= 0:
        i = parents[i]
        depth += 1
    return depth


def all_noisy_counts(plan, data, rows, at, nodes, rng):
    """Count the classes in all leaves of a full tree, with noise of the generator instead of noise of keys."""
    n_leaves = 0
    for node in nodes:
        if node.feature < 0:
            node.feature, node.child = -1, n_leaves
            n_leaves += 1
    counts = count_classes(plan, data, rows, at, nodes, n_leaves).ravel().astype(np.float64)
    return laplace_vector(counts, 1.0, plan.epsilon, rng).reshape((n_leaves, plan.n_classes))


@compiled
def add_counts(plan, tree, matrix, sums):
    """Add the noisy class counts of every row's leaf, growing what no training row has reached."""
    leaves = find_leaves(tree.nodes, matrix)
    nodes, noisy_counts = tree.nodes, tree.noisy_counts
    nothing = np.zeros(plan.n_classes, dtype=np.int64)
    for row in range(matrix.shape[0]):
        leaf = nodes[leaves[row]].child
        noisy = noisy_leaf(plan, leaf_key(plan, tree.key, matrix[row]), nothing) if leaf < 0 else noisy_counts[leaf]
        sums[row, : plan.n_classes] += noisy


def find_leaves(nodes, matrix):
    """Find the node at which every row ends: uint32 array of shape (n,)."""
    leaves = np.zeros(matrix.shape[0], dtype=np.uint32)
    for row in range(matrix.shape[0]):
        while nodes[leaves[row]].feature >= 0:
            leaves[row] = find_child(nodes[leaves[row]], matrix[row])
    return leaves


def leaf_key(plan, root, values):
    """Return the key of a row's leaf in the full tree, from the key of its root."""
    key = np.uint64(root)
    unused = np.ones(values.shape[0], dtype=np.bool_)
    for _ in range(plan.max_depth):
        if not unused.any():
            break
        feature, cut = draw_question(plan, key, unused)
        unused[feature] = plan.is_continuous[feature]
        key = child_key(key, int(values[feature] > cut) if plan.is_continuous[feature] else int(values[feature]))
    return key


@compiled
def leaf_keys(plan, root, matrix):
    """Return the keys of the leaves of some rows: uint64 array of shape (n,)."""
    keys = np.empty(matrix.shape[0], dtype=np.uint64)
    for row in range(matrix.shape[0]):
        keys[row] = leaf_key(plan, root, matrix[row])
    return keys


@with_parameters
class RDTClassifier(ManyTrees, PrivateForestClassifier):
    """RDT, random decision trees whose leaf counts are noisy.

    Parameters
    ----------
    n_estimators : int
        Number of trees t, at least 1.
    max_depth : int or None
        Height h of a tree, at least 1. None is the rule of its authors, min(k / 2, log_b(n) - 1) rounded down, for k
        features, n rows and b values of a feature on average (a continuous one counts 2); at least 1.

    Attributes
    ----------
    plan_ : Plan
        What is public of the trees, their height included, and the budget of a leaf.
    trees_ : list of RandomTree
        Key, nodes and noisy class counts of each tree, as far as training rows have reached, or all of it where OpenDP
        draws.

    Notes
    -----
    Every tree sees all rows. A node asks a random feature that its path has not used up: a nominal one makes a child
    for every public category, a continuous one is cut at random in its public range and may come back. Each class
    count of each leaf, empty ones too, gets Laplace noise of scale t / B; the forest adds the noisy counts of its
    trees and predicts the largest.

    Privacy: predictions, however many, are epsilon-differentially private for one record added or removed, given a
    public domain and a given height (the rule for the height reads the number of rows). The stored trees are not to
    be published, since which nodes they hold shows where there are rows; in a release they are grown in full.
    ``epsilon=inf`` gives exact counts.

    Examples
    --------
    >>> from algorithms import Domain, Nominal
    >>> domain = Domain((Nominal("a", (0, 1)), Nominal("b", (0, 1))), Nominal("y", ("no", "yes")))
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 25, ["no", "no", "yes", "yes"] * 25
    >>> forest = RDTClassifier(epsilon=5.0, max_depth=2, domain=domain, random_state=0).fit(X, y)
    >>> forest.predict([[0, 1], [1, 0]])
    array(['no', 'yes'], dtype='<U3')
    >>> forest.privacy_.keeps_claim, forest.privacy_.accounted_epsilon
    (True, 5.0)
    """

    max_depth: int | None = parameter(None, check_count, highest=MAX_DEPTH)

    def predict_proba(self, X) -> np.ndarray:
        """Return the summed noisy counts of the trees, moved to 0 where negative, as shares: float64 array (n, c)."""
        matrix = self.read_rows(X)
        return shares_of(self._sum_over_trees(matrix, len(self.classes_), partial(add_counts, self.plan_)))

    def _released(self, origin: Origin) -> ReleasedForest:
        trees = tuple(self._released_tree(tree) for tree in self.trees_)
        return ReleasedForest(origin, self.classes_.copy(), COUNTS, None, trees)

    def _released_tree(self, tree: RandomTree) -> ReleasedTree:
        """Return the questions and noisy counts of a tree that was grown in full."""
        nodes, is_leaf = tree.nodes, tree.nodes["feature"] < 0
        decides = np.where(is_leaf, LEAF, np.where(np.isnan(nodes["cut"]), BY_VALUE, BELOW)).astype(np.int8)
        answers = np.full((len(nodes), self.plan_.n_classes), np.nan)
        answers[is_leaf] = tree.noisy_counts[nodes["child"][is_leaf]]
        child = np.where(is_leaf, -1, nodes["child"])
        return ReleasedTree(
            decides, nodes["feature"].copy(), nodes["cut"].copy(), child, answers, np.full(len(nodes), np.nan)
        )

    def read_training_rows(self, X, y) -> tuple[np.ndarray, np.ndarray]:
        """Turn what ``fit`` is given into numbers, as every classifier does, in the order in which trees ask for them.

        A block of rows at a time, so that a large table is not in memory in another order, too.
        """
        rows = self.training_rows(X, y)
        matrix, labels = np.empty((len(rows), len(rows.features) - 1)), np.empty(len(rows), dtype=np.int64)
        n = 0
        for block in rows.blocks():
            here = slice(n, n + len(block))
            matrix[here], labels[here] = self.split_target(block)
            n += len(block)
        self._note_clipped(rows.clipped)
        return matrix[:n], labels[:n]

    def _lay_out_rows(self, matrix, target) -> TrainingRows:
        return TrainingRows(np.ascontiguousarray(matrix), target)

    def _bind_grower(self, table):
        features = self.domain_.features
        ranges = [(0, 1) if isinstance(f, Nominal) else (f.lower, f.upper) for f in features]
        lower, upper = np.array(ranges, dtype=np.float64).T
        n_children = np.array([len(f.categories) if isinstance(f, Nominal) else 2 for f in features])
        self.plan_ = RDTPlan(
            max_depth=self.max_depth or own_height(len(table.labels), n_children),
            epsilon=float(self.epsilon) / self.n_estimators,
            n_children=n_children,
            is_continuous=np.array([not isinstance(f, Nominal) for f in features]),
            lower=lower.copy(),
            width=upper - lower,
            n_classes=len(self.classes_),
        )
        return partial(grow_in_full if self.is_secure() else grow_lazily, self.plan_)

    def _ledger_and_faults(self, table) -> tuple[Event, tuple[Fault, ...]]:
        counts = Spent("laplace", "class counts of a leaf", self.plan_.epsilon, 1.0)
        trees = self._compose_trees(counts, table)
        if self.max_depth is not None:
            return trees, ()
        return Sequential("forest", (trees, Unpaid("number of rows"))), (RDT_HEIGHT_FROM_ROWS,)


def own_height(n_rows: int, n_children: np.ndarray) -> int:
    """Return the height that RDT's authors take: min(k / 2, log_b(n) - 1) rounded down, and at least 1.

    Parameters
    ----------
    n_rows : int
        Number n of training rows.
    n_children : int array of shape (k,)
        Number of values of each feature; b is their mean.

    Examples
    --------
    >>> own_height(5000, np.array([4] * 22)), own_height(60, np.array([2] * 12)), own_height(1, np.array([1]))
    (5, 4, 1)
    """
    b = max(n_children.mean(), 2)
    levels = math.floor(math.log(n_rows, b) + 1e-9)  # a power of b has a logarithm of 2.9999999999999996 otherwise
    return min(max(min(len(n_children) // 2, levels - 1), 1), MAX_DEPTH)
