"""Sending rows down a grown tree."""

from __future__ import annotations

import numpy as np

from algorithms.forests.engine.tree import BELOW, BY_VALUE, EQUALS, LEAF, is_among
from algorithms.native import compiled


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
    leaves = np.zeros(matrix.shape[0], dtype=np.uint32)
    for row in range(matrix.shape[0]):
        while nodes[leaves[row]].decides != LEAF:
            leaves[row] = find_child(nodes[leaves[row]], matrix[row])
    return leaves


def find_child(node, values):
    """Return the child of a node to which a row with such values goes."""
    value = values[node.feature]
    if node.decides == BELOW:
        return node.child + int(value > node.cut)
    if node.decides == EQUALS:
        return node.child + int(value != node.cut)
    if node.decides == BY_VALUE:
        return node.child + int(value)
    return node.child + int(not is_among(value, node.cut))


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
