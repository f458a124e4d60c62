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
        i, values = 0, matrix[row]
        while (node := nodes[i]).decides != LEAF:
            i = find_child(node, values)
        leaves[row] = i
    return leaves


def find_child(node, values):
    """Return the child of a node to which a row with such values goes."""
    value, decides = values[node.feature], node.decides
    if decides == BELOW:
        return node.child + int(value > node.cut)
    if decides == EQUALS:
        return node.child + int(value != node.cut)
    if decides == BY_VALUE:
        return node.child + int(value)
    return node.child + int(not is_among(value, node.cut))


@compiled
def add_votes(nodes, matrix, votes):
    """Let one tree vote for every row: add 1 to ``votes[row, label of its leaf]``."""
    leaves = find_leaves(nodes, matrix)
    for row in range(matrix.shape[0]):
        votes[row, nodes[leaves[row]].label] += 1.0


@compiled
def add_shares(nodes, matrix, sums):
    """Let one tree say of every row how likely each class is: add the shares of its leaf, see ``tree.node_type``."""
    leaves = find_leaves(nodes, matrix)
    for row in range(matrix.shape[0]):
        first = nodes[leaves[row]].child
        for c in range(sums.shape[1]):
            sums[row, c] += nodes[first + c].value


@compiled
def add_values(nodes, matrix, sums):
    """Let one regression tree predict every row: add the value of its leaf to ``sums[row, 0]``."""
    leaves = find_leaves(nodes, matrix)
    for row in range(matrix.shape[0]):
        sums[row, 0] += nodes[leaves[row]].value
