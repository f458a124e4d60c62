"""A tree as a structured array, and how it grows, level by level.

While it grows, the rows of a node lie next to each other in ``Growth.rows``; nodes are appended in breadth-first order,
so that a grower simply visits node 0, 1, 2, ... until none is left. What is released afterwards is ``nodes`` alone: it
holds nothing that was not drawn by a mechanism of the algorithm.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from algorithms.compiled import compiled

LEAF, BELOW, EQUALS, BY_VALUE = 0, 1, 2, 3
"""How a node decides: not at all; value <= cut goes left; value == cut goes left; one child for every code."""

node_type = np.dtype(
    [
        ("decides", np.int8),
        ("depth", np.int16),
        ("feature", np.int32),  # column that is asked, -1 in a leaf
        ("cut", np.float64),  # threshold (BELOW) or category (EQUALS)
        ("child", np.int32),  # first child; the others follow it
        ("label", np.int32),  # class that a leaf votes for
        ("noisy_count", np.float64),  # noisy number of rows where the algorithm asks for it, else NaN
        ("epsilon", np.float64),  # budget paid to the mechanisms in this node
        ("exact", np.bool_),  # a decision of this node read the rows without paying
    ]
)


class Growth(NamedTuple):
    """A tree while it grows."""

    nodes: np.ndarray  # node_type (capacity,)
    spans: np.ndarray  # int64 (capacity, 2): where the rows of a node begin and end in ``rows``
    parents: np.ndarray  # int64 (capacity,): -1 for the root
    n_nodes: np.ndarray  # int64 (1,)
    rows: np.ndarray  # int32: the distinct rows of this tree, those of a node next to each other
    weights: np.ndarray  # uint16 (n,): how often each row of the table is in the sample of this tree
    buffer: np.ndarray  # int32, as long as rows: room for partitioning


@compiled
def plant(rows, weights):
    """Begin a tree that consists of a root with all its rows."""
    growth = Growth(
        np.empty(64, dtype=node_type),
        np.empty((64, 2), dtype=np.int64),
        np.empty(64, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        rows.copy(),
        weights,
        np.empty_like(rows),
    )
    _append(growth, -1, 0, rows.shape[0])
    return growth


@compiled
def _append(growth, parent, start, stop):
    i = growth.n_nodes[0]
    node = growth.nodes[i]
    node.decides = LEAF
    node.depth = growth.nodes[parent].depth + 1 if parent >= 0 else 0
    node.feature = -1
    node.cut = np.nan
    node.child = -1
    node.label = 0
    node.noisy_count = np.nan
    node.epsilon = 0.0
    node.exact = False
    growth.spans[i, 0] = start
    growth.spans[i, 1] = stop
    growth.parents[i] = parent
    growth.n_nodes[0] = i + 1


@compiled
def _with_room(growth, n_more):
    """Return the growth with room for ``n_more`` nodes."""
    n = growth.n_nodes[0]
    capacity = growth.nodes.shape[0]
    if n + n_more <= capacity:
        return growth
    capacity = max(2 * capacity, n + n_more)
    nodes = np.empty(capacity, dtype=node_type)
    nodes[:n] = growth.nodes[:n]
    spans = np.empty((capacity, 2), dtype=np.int64)
    spans[:n] = growth.spans[:n]
    parents = np.empty(capacity, dtype=np.int64)
    parents[:n] = growth.parents[:n]
    return Growth(nodes, spans, parents, growth.n_nodes, growth.rows, growth.weights, growth.buffer)


@compiled
def rows_of(growth, i):
    """Return the rows of node ``i``, each once, as a view."""
    return growth.rows[growth.spans[i, 0] : growth.spans[i, 1]]


@compiled
def unused_features(growth, i, n_features):
    """Return the features that no BY_VALUE node above node ``i`` has used up: int64 array."""
    is_unused = np.ones(n_features, dtype=np.bool_)
    above = growth.parents[i]
    while above >= 0:
        if growth.nodes[above].decides == BY_VALUE:
            is_unused[growth.nodes[above].feature] = False
        above = growth.parents[above]
    return np.flatnonzero(is_unused)


@compiled
def split_in_two(growth, table, i, feature, decides, code, cut):
    """Give node ``i`` two children: left the rows whose code is at most (BELOW) or exactly (EQUALS) ``code``.

    ``cut`` is what the released tree compares raw values with. Returns the growth, which may have moved.
    """
    growth = _with_room(growth, 2)
    start, stop = growth.spans[i]
    column = table.codes[feature]
    left, right = start, 0
    for position in range(start, stop):
        row = growth.rows[position]
        goes_left = column[row] == code if decides == EQUALS else column[row] <= code
        # Both stores are done and one is kept: a branch here would be mispredicted half of the time.
        growth.rows[left] = row
        growth.buffer[right] = row
        left += goes_left
        right += not goes_left
    growth.rows[left:stop] = growth.buffer[:right]
    node = growth.nodes[i]
    node.decides = decides
    node.feature = feature
    node.cut = cut
    node.child = growth.n_nodes[0]
    _append(growth, i, start, left)
    _append(growth, i, left, stop)
    return growth


@compiled
def split_by_value(growth, table, i, feature):
    """Give node ``i`` one child for every code that ``feature`` can take; returns the growth, which may have moved."""
    n_children = table.n_codes[feature]
    growth = _with_room(growth, n_children)
    start, stop = growth.spans[i]
    column = table.codes[feature]
    ends = np.zeros(n_children + 1, dtype=np.int64)
    for position in range(start, stop):
        ends[column[growth.rows[position]] + 1] += 1
    ends = start + np.cumsum(ends)
    node = growth.nodes[i]
    node.decides = BY_VALUE
    node.feature = feature
    node.child = growth.n_nodes[0]
    for code in range(n_children):
        _append(growth, i, ends[code], ends[code + 1])
    growth.buffer[: stop - start] = growth.rows[start:stop]
    for position in range(stop - start):
        row = growth.buffer[position]
        code = column[row]
        growth.rows[ends[code]] = row
        ends[code] += 1
    return growth


@compiled
def released(growth):
    """Return the nodes alone, which is all that leaves the training."""
    return growth.nodes[: growth.n_nodes[0]].copy()


@compiled
def add_votes(nodes, matrix, votes):
    """Let one tree vote for every row: add 1 to ``votes[row, label of its leaf]``."""
    for row in range(matrix.shape[0]):
        i = 0
        while nodes[i].decides != LEAF:
            node = nodes[i]
            value = matrix[row, node.feature]
            if node.decides == BELOW:
                i = node.child + (not value <= node.cut)
            elif node.decides == EQUALS:
                i = node.child + (value != node.cut)
            else:
                i = node.child + int(value)
        votes[row, nodes[i].label] += 1.0


def path_epsilon(nodes: np.ndarray) -> float:
    """Return the budget of the dearest path from the root to a leaf.

    Nodes of one level hold disjoint rows (parallel composition), those of one path the same rows (sequential).
    """
    spent = nodes["epsilon"].copy()
    parents = np.flatnonzero(nodes["decides"] != LEAF)
    first = nodes["child"][parents]
    last = np.append(first[1:], len(nodes))  # breadth-first: the children of the next parent follow
    for parent, start, stop in zip(parents, first, last, strict=True):
        spent[start:stop] += spent[parent]
    return float(spent[nodes["decides"] == LEAF].max())
