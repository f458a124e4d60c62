"""A tree, and how it grows, level by level.

While it grows, the rows of a node lie next to each other in ``Growth.rows``, class after class, so that counting its
classes is a subtraction. Nodes are appended in breadth-first order: a grower visits node 0, 1, 2, ... until none is
left. What is released afterwards is an array of the nodes alone: it holds nothing that was not drawn by a mechanism of
the algorithm.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from algorithms.forests.engine.records import define_records
from algorithms.forests.engine.table import Table
from algorithms.released.forest import BELOW, BY_VALUE, EQUALS, LEAF

AMONG = 4
"""How a node of a tree that never leaves may decide, too: codes among those of the cut go left, see `is_among`."""

MOST_GROUPED = 53
"""Most codes of a column that can be put into two groups: as many as a float64 has bits for."""


class Node(np.void):
    """A node of a tree, see ``node_type``."""


node_type = define_records(
    Node,
    [
        ("decides", np.int8),
        ("depth", np.int16),
        ("feature", np.int32),  # column that is asked, -1 in a leaf
        ("cut", np.float64),  # threshold (BELOW), category (EQUALS) or categories (AMONG)
        ("child", np.int32),  # first child; the others follow it; of a leaf that has shares, the first node with one
        ("label", np.int32),  # class that a leaf votes for; levels of splits below, where there is a key
        ("value", np.float64),  # mean of a leaf, from 0 to 1, share of a class, or n of a leaf of shares, else NaN
        ("noisy_count", np.float64),  # noisy number of rows, or of errors, where it is asked for, else NaN
        ("epsilon", np.float64),  # budget paid to the mechanisms in this node
        ("exact", np.bool_),  # a decision of this node read the rows without paying
        ("key", np.uint64),  # what lies below a node that was not grown follows from it, see ``lazy``; else 0
    ],
)


NEW_NODE = np.zeros(1, dtype=node_type)[0]
NEW_NODE.decides = LEAF
NEW_NODE.feature = NEW_NODE.child = -1
NEW_NODE.cut = NEW_NODE.value = NEW_NODE.noisy_count = np.nan


class Growth(NamedTuple):
    """A tree while it grows."""

    nodes: list  #: a record of node_type for each node
    runs: list  #: for each node an int64 array (c + 1,): where the rows of each class begin in ``rows``, and the end
    parents: list  #: for each node the number of its parent, -1 for the root
    rows: np.ndarray  #: uint32: the rows of this tree


def plant_tree(table: Table, rows):
    """Begin a tree that consists of a root with all its rows."""
    labels = table.labels[rows]
    growth = Growth([], [], [], rows[np.argsort(labels, kind="stable")])
    _append_node(growth, -1, add_up(np.bincount(labels, minlength=table.n_classes)))
    return growth


def add_up(sizes):
    """Return where each of some runs begins if they follow one another, and where the last one ends.

    Examples
    --------
    >>> add_up([3, 0, 2])
    array([0, 3, 3, 5])
    """
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _append_node(growth, parent, runs):
    node = NEW_NODE.copy()
    node.depth = growth.nodes[parent].depth + 1 if parent >= 0 else 0
    growth.nodes.append(node)
    growth.runs.append(runs)
    growth.parents.append(parent)


def rows_of(growth, i):
    """Return the rows of node ``i`` as a view."""
    return growth.rows[growth.runs[i][0] : growth.runs[i][-1]]


def make_leaf(growth, i):
    """Take away what node ``i`` asks; the nodes below stay, where nothing leads to them."""
    node = growth.nodes[i]
    node.decides, node.feature, node.cut, node.child = LEAF, -1, np.nan, -1


def unused_features(growth, i, n_features):
    """Return the features that no BY_VALUE node above node ``i`` has used up: int64 array."""
    is_unused = np.ones(n_features, dtype=np.bool_)
    above = growth.parents[i]
    while above >= 0:
        if growth.nodes[above].decides == BY_VALUE:
            is_unused[growth.nodes[above].feature] = False
        above = growth.parents[above]
    return np.flatnonzero(is_unused)


def is_among(value, codes):
    """Tell whether a code is one of some codes, given as the sum of 2^j over these codes j."""
    return int(codes) >> int(value) & 1 == 1


def is_on_left(value, decides, code):
    """Tell whether a code is on the left of a split in two."""
    if decides == AMONG:
        return is_among(value, code)
    return (code if decides == EQUALS else 0) <= value <= code


def split_in_two(growth, table, i, feature, decides, code, cut):
    """Give node ``i`` two children: left the rows whose code is at most, equals, or is among ``code``.

    ``cut`` is what the released tree compares raw values with.
    """
    codes = table.codes[feature, rows_of(growth, i)].astype(np.int64)
    goes_right = np.array([not is_on_left(value, decides, code) for value in codes], dtype=np.int64)
    growth.nodes[i].cut = cut
    _divide_rows(growth, table, i, feature, decides, goes_right, 2)


def split_by_value(growth, table, i, feature):
    """Give node ``i`` one child for every code that ``feature`` can take."""
    codes = table.codes[feature, rows_of(growth, i)]
    _divide_rows(growth, table, i, feature, BY_VALUE, codes, table.n_codes[feature])


def _divide_rows(growth, table, i, feature, decides, which, n_children):
    """Append the children of node ``i``; ``which`` says for each of its rows to which of them it goes."""
    rows, node = rows_of(growth, i), growth.nodes[i]
    node.decides, node.feature, node.child = decides, feature, len(growth.nodes)
    counts = np.zeros((n_children, table.n_classes), dtype=np.int64)
    np.add.at(counts, (which, table.labels[rows]), 1)
    starts = growth.runs[i][0] + add_up(counts)
    for k in range(n_children):
        _append_node(growth, i, starts[k * table.n_classes : (k + 1) * table.n_classes + 1])
    rows[:] = rows[np.argsort(which, kind="stable")]  # classes stay in their order


def split_by_kind(growth, table, i, feature, code, cut):
    """Split node ``i`` in two below a cut if ``feature`` is continuous, else by value."""
    if table.is_continuous[feature]:
        split_in_two(growth, table, i, feature, BELOW, code, cut)
    else:
        split_by_value(growth, table, i, feature)


def take_nodes(growth):
    """Return the nodes alone, which is all that leaves the training."""
    return np.array(growth.nodes, dtype=node_type)
