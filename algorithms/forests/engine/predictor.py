"""Sending rows down a grown tree."""

from __future__ import annotations

import numpy as np

from algorithms.forests.engine.tree import BELOW, BY_VALUE, EQUALS, LEAF, is_among
from algorithms.jit import compiled

BLOCK = 256
"""Rows that descend in step: enough to hide the wait for memory, few enough to stay in the first cache."""


@compiled
def find_leaves(nodes, matrix):
    """Find the leaf of every row.

    Parameters
    ----------
    nodes : structured array of node_type
        A tree.
    matrix : float64 array of shape (n, k), C order
        Rows as the tree was grown on (encoded, and binned if it was).

    Returns
    -------
    uint32 array of shape (n,)
        Index of the leaf of each row in ``nodes``.
    """
    n_nodes = nodes.shape[0]
    feature, child = np.empty((2, n_nodes), dtype=np.uint32)
    cut, decides = np.empty(n_nodes), np.empty(n_nodes, dtype=np.uint8)
    for i in range(n_nodes):
        node = nodes[i]
        is_leaf = node.decides == LEAF
        feature[i] = 0 if is_leaf else node.feature
        child[i] = i if is_leaf else node.child
        cut[i] = np.inf if is_leaf else node.cut
        decides[i] = BELOW if is_leaf else node.decides
    return descend_tree(feature, child, cut, decides, nodes[n_nodes - 1].depth, matrix)


@compiled
def descend_tree(feature, child, cut, decides, depth, matrix):
    """Let every row take ``depth`` steps from node 0; a leaf is its own first child and cuts at infinity.

    All rows of a block take one step before any takes the next: without a branch to mispredict or a step to wait for,
    this was 1.4 (depth 5) to 3.4 times (depth 15) as fast as row by row.
    """
    at = np.zeros(matrix.shape[0], dtype=np.uint32)
    for start in range(0, matrix.shape[0], BLOCK):
        rows, here = matrix[start : start + BLOCK], at[start : start + BLOCK]
        for _ in range(depth):
            for j in range(here.shape[0]):
                i = here[j]
                value = rows[j, feature[i]]
                if decides[i] == BELOW:
                    here[j] = child[i] + np.uint32(value > cut[i])
                elif decides[i] == EQUALS:
                    here[j] = child[i] + np.uint32(value != cut[i])
                elif decides[i] == BY_VALUE:
                    here[j] = child[i] + np.uint32(value)
                else:
                    here[j] = child[i] + np.uint32(not is_among(value, cut[i]))
    return at


@compiled
def add_votes(nodes, matrix, votes):
    """Let one tree vote for every row: add 1 to ``votes[row, label of its leaf]``."""
    leaves = find_leaves(nodes, matrix)
    for row in range(matrix.shape[0]):
        votes[row, nodes[leaves[row]].label] += 1.0


@compiled
def add_values(nodes, matrix, sums):
    """Let one regression tree predict every row: add the value of its leaf to ``sums[row, 0]``."""
    leaves = find_leaves(nodes, matrix)
    for row in range(matrix.shape[0]):
        sums[row, 0] += nodes[leaves[row]].value
