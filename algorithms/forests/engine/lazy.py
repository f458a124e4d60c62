"""Parts of a tree that hold no rows, drawn only when somebody asks for them.

A full tree has more nodes than memory, nearly all of them without rows. What a mechanism would draw there does not
depend on any row, so it need not be drawn in advance: it is a function of the key of the node, a random number, and
keys of children follow from that of their parent. Predictions are those of the full tree, and asking again gives the
same answer.

A function of a key will not do for a release: who has seen many answers might find the key. There nothing is left to
keys, the full tree is grown.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from algorithms.forests.engine.predictor import find_leaves
from algorithms.forests.engine.tree import BY_VALUE, LEAF
from algorithms.forests.forest import MAX_DEPTH
from algorithms.mechanisms import mix_bits, uniform_of
from algorithms.native import compiled
from algorithms.opendp_noise import is_secure
from algorithms.parameters import ParameterError

MOST_NODES = 2**20
"""Nodes of a tree that is grown in full although most of them hold no rows."""


def has_no_rows(counts):
    """Tell from its class counts whether what lies below a node is left to keys."""
    return counts.sum() == 0


def is_left_to_key(growth, counts, rng):
    """Tell whether what lies below a node with such class counts is left to its key: never in a release."""
    if is_secure(rng):
        check_size(len(growth.nodes))
        return False
    return has_no_rows(counts)


def check_size(n_nodes):
    """Refuse to grow a tree in full that has too many nodes."""
    if n_nodes > MOST_NODES:
        raise ParameterError("noise='opendp' draws the whole tree in advance, over 1,000,000 nodes: lower max_depth")


def leave_to_key(node, levels_below, epsilon, rng):
    """Draw the key of a node, in place of so many levels of splits and the labels below, which cost epsilon."""
    node.key = rng.integers(1, 2**63 - 1)
    node.label = levels_below
    node.epsilon += epsilon


def feature_of(key, unused):
    """Return a feature that the path has left, each with the same chance; ``unused`` is a bool array of shape (k,)."""
    available = np.flatnonzero(unused)
    return available[int(uniform_of(key ^ np.uint64(1)) * len(available))]


def cut_of(key, n_cuts):
    """Return the largest code on the left of a cut, each of so many with the same chance."""
    return int(uniform_of(mix_bits(key)) * n_cuts)


def child_key(key, which):
    """Return the key of a child."""
    return mix_bits(key + np.uint64(which + 3))


def public_cuts(table):
    """Return how many public cuts a continuous column has, and 0 for a nominal one: int64 array of shape (k,)."""
    return table.is_continuous * (table.n_codes - 1)


@compiled
def add_votes_on_demand(n_cuts, nodes, matrix, votes):
    """Let one tree vote for every row; where a node is a key, grow the row's path below it.

    There every unused feature has the same chance, and so has every cut of a continuous one and every class, as for any
    mechanism whose scores are all equal.

    Parameters
    ----------
    n_cuts : int64 array of shape (k,)
        Public cuts of a continuous column, 0 of a nominal one.
    nodes : structured array of node_type
        A tree.
    matrix : float64 array of shape (n, k), C order
        Rows, binned.
    votes : float64 array of shape (n, c)
        1 is added for the class of each row.
    """
    leaves = find_leaves(nodes, matrix)
    path_features = np.empty(MAX_DEPTH, dtype=np.int64)
    for row in range(matrix.shape[0]):
        leaf = nodes[leaves[row]]
        label = leaf.label if leaf.key == 0 else label_below(n_cuts, nodes, matrix[row], votes.shape[1], path_features)
        votes[row, label] += 1.0


def label_below(n_cuts, nodes, values, n_classes, path_features):
    """Return the label of a row whose path ends in a key.

    ``path_features``, an int array with room for every level, is filled with the features that the path asks in the
    full tree, the root's first, and -1 behind them.
    """
    unused = np.ones(values.shape[0], dtype=np.bool_)
    path_features[:] = -1
    i = 0
    while nodes[i].decides != LEAF:
        node = nodes[i]
        path_features[node.depth] = node.feature
        if node.decides == BY_VALUE:
            unused[node.feature] = False
            i = node.child + int(values[node.feature])
        else:
            i = node.child + int(values[node.feature] > node.cut)
    key = nodes[i].key
    for level in range(nodes[i].label):
        if not unused.any():
            break
        feature = feature_of(key, unused)
        path_features[nodes[i].depth + level] = feature
        which = int(values[feature])
        if n_cuts[feature] > 0:
            which = int(which > cut_of(key, n_cuts[feature]))
        else:
            unused[feature] = False
        key = child_key(key, which)
    return int(uniform_of(key ^ np.uint64(2)) * n_classes)


class GrownOnDemand:
    """A forest whose sound variant leaves nodes without rows to keys; stands before the base.

    Attributes
    ----------
    n_cuts_ : int array of shape (k,)
        Public cuts of a continuous column, 0 of a nominal one; set by ``_bind_grower``.
    """

    variant: str
    n_cuts_: np.ndarray
    classes_: np.ndarray
    trees_: list[np.ndarray]

    def predict_proba(self, X) -> np.ndarray:
        """Return the share of trees that vote for each class: float64 array of shape (n, c)."""
        if self.variant == "paper":
            return super().predict_proba(X)
        matrix = self.read_rows(X)
        add = partial(add_votes_on_demand, self.n_cuts_)
        return self._sum_over_trees(matrix, len(self.classes_), add) / len(self.trees_)
