"""A tree as a structured array, and how it grows, level by level.

While it grows, the rows of a node lie next to each other in ``Growth.rows``, class after class, so that counting its
classes is a subtraction. Nodes are appended in breadth-first order, so that a grower simply visits
node 0, 1, 2, ... until none is left. What is released afterwards is ``nodes`` alone: it
holds nothing that was not drawn by a mechanism of the algorithm.

A split returns the growth, since it may have moved to have room. For the time of one node a grower looks at it through
``uncounted``, as ``tree``.

Arrays are copied entry by entry: an assignment to a slice would compare shapes, and what Numba says of those that do
not match takes it longer to compile than the rest of this file.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from algorithms.jit import compiled, inlined, uncounted
from algorithms.released.forest import BELOW, BY_VALUE, EQUALS, LEAF

AMONG = 4
"""How a node of a tree that never leaves may decide, too: codes among those of the cut go left, see `is_among`."""

MOST_GROUPED = 53
"""Most codes of a column that can be put into two groups: as many as a float64 has bits for."""

node_type = np.dtype(
    (
        np.record,  # so that fields are attributes in plain Python too
        [
            ("decides", np.int8),
            ("depth", np.int16),
            ("feature", np.int32),  # column that is asked, -1 in a leaf
            ("cut", np.float64),  # threshold (BELOW), category (EQUALS) or categories (AMONG)
            ("child", np.int32),  # first child; the others follow it
            ("label", np.int32),  # class that a leaf votes for; levels of splits below, where there is a key
            ("value", np.float64),  # mean that a leaf of a regression tree predicts, on the scale [0, 1], else NaN
            ("noisy_count", np.float64),  # noisy number of rows, or of errors, where it is asked for, else NaN
            ("epsilon", np.float64),  # budget paid to the mechanisms in this node
            ("exact", np.bool_),  # a decision of this node read the rows without paying
            ("key", np.uint64),  # what lies below a node that was not grown follows from it, see ``keys``; else 0
        ],
    )
)


class Growth(NamedTuple):
    """A tree while it grows."""

    nodes: np.ndarray  #: node_type (capacity,)
    runs: np.ndarray  #: int64 (capacity, c + 1): where the rows of each class of a node begin in ``rows``, and the end
    parents: np.ndarray  #: int64 (capacity,): -1 for the root
    n_nodes: np.ndarray  #: int64 (1,)
    rows: np.ndarray  #: uint32 (a signed index would be tested for being negative): the rows of this tree
    buffer: np.ndarray  #: uint32, as long as rows: room for partitioning


@compiled
def plant_tree(table, rows):
    """Begin a tree that consists of a root with all its rows."""
    growth = Growth(
        np.empty(64, dtype=node_type),
        np.empty((64, table.n_classes + 1), dtype=np.int64),
        np.empty(64, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.empty_like(rows),
        np.empty_like(rows),
    )
    runs = np.zeros(table.n_classes + 1, dtype=np.int64)
    for row in rows:
        runs[table.labels[row] + 1] += 1
    _append_node(growth, -1)
    growth.runs[0, 0] = 0
    for c in range(table.n_classes):
        runs[c + 1] += runs[c]
        growth.runs[0, c + 1] = runs[c + 1]
    for row in rows:
        growth.rows[runs[table.labels[row]]] = row
        runs[table.labels[row]] += 1
    return growth


@compiled
def _append_node(growth, parent):
    i = growth.n_nodes[0]
    node = growth.nodes[i]
    node.decides = LEAF
    node.depth = growth.nodes[parent].depth + 1 if parent >= 0 else 0
    node.feature = -1
    node.cut = np.nan
    node.child = -1
    node.label = 0
    node.value = np.nan
    node.noisy_count = np.nan
    node.epsilon = 0.0
    node.exact = False
    node.key = 0
    growth.parents[i] = parent
    growth.n_nodes[0] = i + 1


@inlined
def _with_room(growth, n_more):
    """Return the growth with room for ``n_more`` nodes: mostly it has."""
    if growth.n_nodes[0] + n_more > growth.nodes.shape[0]:
        growth = _move(growth, n_more)
    return growth


@compiled
def _move(growth, n_more):
    n = growth.n_nodes[0]
    capacity = max(2 * growth.nodes.shape[0], n + n_more)
    nodes = np.empty(capacity, dtype=node_type)
    runs = np.empty((capacity, growth.runs.shape[1]), dtype=np.int64)
    parents = np.empty(capacity, dtype=np.int64)
    for i in range(n):
        nodes[i] = growth.nodes[i]
        parents[i] = growth.parents[i]
        for c in range(runs.shape[1]):
            runs[i, c] = growth.runs[i, c]
    return Growth(nodes, runs, parents, growth.n_nodes, growth.rows, growth.buffer)


@inlined
def rows_of(growth, i):
    """Return the rows of node ``i`` as a view."""
    return growth.rows[growth.runs[i, 0] : growth.runs[i, -1]]


@inlined
def rows_of_class(growth, i, c):
    """Return the rows of class ``c`` in node ``i`` as a view."""
    return growth.rows[growth.runs[i, c] : growth.runs[i, c + 1]]


@compiled
def unused_features(growth, i, n_features):
    """Return the features that no BY_VALUE node above node ``i`` has used up: int64 array."""
    nodes, parents = growth.nodes, growth.parents
    n_uses = np.zeros(n_features, dtype=np.int64)
    above = parents[i]
    while above >= 0:
        if nodes[above].decides == BY_VALUE:
            n_uses[nodes[above].feature] += 1
        above = parents[above]
    unused, n_unused = np.empty(n_features, dtype=np.int64), 0
    for feature in range(n_features):
        unused[n_unused] = feature
        n_unused += n_uses[feature] == 0
    return unused[:n_unused]


@inlined
def is_among(value, codes):
    """Tell whether a code is one of some codes, given as the sum of 2^j over these codes j."""
    return (np.int64(codes) >> np.int64(value)) & 1 == 1


@inlined
def is_on_left(value, decides, code):
    """Tell whether a code is on the left of a split in two."""
    if decides == AMONG:
        return is_among(value, code)
    return (code if decides == EQUALS else 0) <= value <= code


@inlined
def split_in_two(growth, table, i, feature, decides, code, cut):
    """Give node ``i`` two children: left the rows whose code is at most, equals, or is among ``code``.

    ``cut`` is what the released tree compares raw values with. Returns the growth, which may have moved.
    """
    growth = _with_room(growth, 2)
    _divide_rows(growth, table.codes, i, feature, decides, code, cut)
    return growth


@compiled
def _divide_rows(tree, codes, i, feature, decides, code, cut):
    tree, codes = uncounted((tree, codes))
    column, rows, buffer = codes[feature], tree.rows, tree.buffer
    n_classes = tree.runs.shape[1] - 1
    child = tree.n_nodes[0]
    _append_node(tree, i)
    _append_node(tree, i)
    left, right = tree.runs[i, 0], 0
    for c in range(n_classes):
        tree.runs[child, c], tree.runs[child + 1, c] = left, right
        for row in rows_of_class(tree, i, c):
            goes_left = is_on_left(np.int64(column[row]), decides, code)
            # Both stores are done and one is kept: a branch here would be mispredicted half of the time.
            rows[left] = row
            buffer[right] = row
            left += goes_left
            right += not goes_left
    tree.runs[child, n_classes], tree.runs[child + 1, n_classes] = left, right
    for position in range(right):
        rows[left + position] = buffer[position]
    for c in range(n_classes + 1):
        tree.runs[child + 1, c] += left
    node = tree.nodes[i]
    node.decides = decides
    node.feature = feature
    node.cut = cut
    node.child = child


@inlined
def split_by_value(growth, table, i, feature):
    """Give node ``i`` one child for every code that ``feature`` can take; returns the growth, which may have moved."""
    growth = _with_room(growth, table.n_codes[feature])
    _deal_rows(growth, table.codes, i, feature, table.n_codes[feature])
    return growth


@compiled
def _deal_rows(tree, codes, i, feature, n_children):
    tree, codes = uncounted((tree, codes))
    column, rows, buffer = codes[feature], tree.rows, tree.buffer
    n_classes = tree.runs.shape[1] - 1
    ends = np.zeros((n_children, n_classes + 1), dtype=np.int64)  # of each run, shifted by one: where the next begins
    for c in range(n_classes):
        for row in rows_of_class(tree, i, c):
            ends[column[row], c + 1] += 1
    node = tree.nodes[i]
    node.decides = BY_VALUE
    node.feature = feature
    node.child = tree.n_nodes[0]
    start = tree.runs[i, 0]
    for code in range(n_children):
        ends[code, 0] = start
        for c in range(n_classes):
            ends[code, c + 1] += ends[code, c]
        start = ends[code, n_classes]
        for c in range(n_classes + 1):
            tree.runs[tree.n_nodes[0], c] = ends[code, c]
        _append_node(tree, i)
    first = tree.runs[i, 0]
    for position in range(first, start):
        buffer[position - first] = rows[position]
    for c in range(n_classes):
        for row in buffer[tree.runs[i, c] - first : tree.runs[i, c + 1] - first]:
            rows[ends[column[row], c]] = row
            ends[column[row], c] += 1


@inlined
def split_by_kind(growth, table, i, feature, code, cut):
    """Split node ``i`` in two below a cut if ``feature`` is continuous, else by value; returns the growth."""
    if table.is_continuous[feature]:
        return split_in_two(growth, table, i, feature, BELOW, code, cut)
    return split_by_value(growth, table, i, feature)


@compiled
def take_nodes(growth):
    """Return the nodes alone, which is all that leaves the training."""
    return growth.nodes[: growth.n_nodes[0]].copy()
