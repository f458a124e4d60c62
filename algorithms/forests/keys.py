"""Parts of a tree that hold no rows, drawn only when somebody asks for them.

A full tree has more nodes than memory, nearly all of them without rows. What a mechanism would draw there does not
depend on any row, so it need not be drawn in advance: it is a function of the key of the node, a random number, and
keys of children follow from that of their parent. Predictions are those of the full tree, and asking again gives the
same answer.
"""

from __future__ import annotations

import numpy as np

from algorithms.compiled import compiled, inlined
from algorithms.forests.predictor import find_leaves
from algorithms.forests.tree import BY_VALUE
from algorithms.mechanisms import mixed, uniform_of


@inlined
def has_no_rows(counts):
    """Tell from its class counts whether what lies below a node is left to keys."""
    return counts.sum() == 0


@compiled
def feature_of(key, unused):
    """Return a feature that the path has left, each with the same chance; ``unused`` is a bool array of shape (k,)."""
    available = np.flatnonzero(unused)
    return available[int(uniform_of(key ^ np.uint64(1)) * available.shape[0])]


@compiled
def child_key(key, which):
    """Return the key of a child."""
    return mixed(key + np.uint64(which + 3))


@compiled
def add_votes_on_demand(max_depth, nodes, matrix, votes):
    """Let one tree of nominal splits vote for every row; where a node is a key, grow the row's path below it.

    There every unused feature and every class has the same chance, as for any mechanism whose scores are all equal.

    Parameters
    ----------
    max_depth : int
        Levels of nodes, the root being the first.
    nodes : structured array of node_type
        A tree.
    matrix : float64 array of shape (n, k), C order
        Rows, binned.
    votes : float64 array of shape (n, c)
        1 is added for the class of each row.
    """
    leaves = find_leaves(nodes, matrix)
    asked = np.empty(max_depth, dtype=np.int64)
    for row in range(matrix.shape[0]):
        leaf = nodes[leaves[row]]
        label = leaf.label if leaf.key == 0 else label_below(max_depth, nodes, matrix[row], votes.shape[1], asked)
        votes[row, label] += 1.0


@compiled
def label_below(max_depth, nodes, values, n_classes, asked):
    """Return the label of a row whose path ends in a key.

    ``asked``, an int array with room for every level, is filled with the features that the path asks in the full tree,
    the root's first, and -1 behind them.
    """
    unused = np.ones(values.shape[0], dtype=np.bool_)
    asked[:] = -1
    i = 0
    while nodes[i].decides == BY_VALUE:
        asked[nodes[i].depth] = nodes[i].feature
        unused[nodes[i].feature] = False
        i = nodes[i].child + int(values[nodes[i].feature])
    key = nodes[i].key
    for depth in range(nodes[i].depth, max_depth - 1):
        if not unused.any():
            break
        feature = feature_of(key, unused)
        asked[depth] = feature
        unused[feature] = False
        key = child_key(key, int(values[feature]))
    return int(uniform_of(key ^ np.uint64(2)) * n_classes)
