"""C4.5 beside a slow one that counts one row at a time, a closed form, and bounds that are found by search."""

import math
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from algorithms.data_replacement.c45 import C45Classifier, expect_errors


def entropy(labels):
    return -sum(p * math.log2(p) for p in (labels.count(one) / len(labels) for one in set(labels)))


def grow(rows, labels, n_classes):
    """A tree as nested tuples (feature, cut, left, right, label, counts), grown from the definitions."""
    counts = [labels.count(label) for label in range(n_classes)]
    leaf = (None, None, None, None, counts.index(max(counts)), counts)
    n, fewest = len(rows), int(min(max(0.1 * len(rows) / n_classes, 2), 25))
    best_of = []
    for feature in range(len(rows[0])):
        found = []
        values = sorted({row[feature] for row in rows})
        for low, high in pairwise(values):
            left = [label for row, label in zip(rows, labels, strict=True) if row[feature] <= low]
            right = [label for row, label in zip(rows, labels, strict=True) if row[feature] > low]
            gain = entropy(labels) - len(left) / n * entropy(left) - len(right) / n * entropy(right)
            if min(len(left), len(right)) >= fewest and gain > 1e-9:
                found.append((gain / entropy([0] * len(left) + [1] * len(right)), gain, (low + high) / 2))
        if found:
            ratio, gain, cut = max(found, key=lambda one: round(one[0], 10))  # the first of those that tie
            best_of.append((ratio, gain, feature, cut))
    average = sum(one[1] for one in best_of) / max(len(best_of), 1)
    best_of = [one for one in best_of if one[1] >= average - 1e-9]
    if not best_of:
        return leaf
    _, _, feature, cut = max(best_of, key=lambda one: round(one[0], 10))
    sides = [[i for i in range(n) if (rows[i][feature] <= cut) is side] for side in (True, False)]
    below = [grow([rows[i] for i in side], [labels[i] for i in side], n_classes) for side in sides]
    return (feature, cut, *below, *leaf[4:])


def errors(counts):
    return errors_among(sum(counts), sum(counts) - max(counts))


@cache
def errors_among(n, wrong):
    """Errors to expect of a leaf: the share at which so few have a chance of a quarter, found by halving."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        chances = (math.comb(n, k) * middle**k * (1 - middle) ** (n - k) for k in range(wrong + 1))
        low, high = (middle, high) if math.fsum(chances) > 0.25 else (low, middle)
    return n * low


def prune(node):
    """Return the pruned tree and the errors that it expects."""
    feature, cut, left, right, label, counts = node
    if feature is None:
        return node, errors(counts)
    (left, of_left), (right, of_right) = prune(left), prune(right)
    if errors(counts) <= of_left + of_right + 0.1:
        return (None, None, None, None, label, counts), errors(counts)
    return (feature, cut, left, right, label, counts), of_left + of_right


def nested(tree, node=0):
    if tree.left[node] < 0:
        return int(tree.label[node])
    below = (nested(tree, child) for child in (tree.left[node], tree.right[node]))
    return (int(tree.feature[node]), pytest.approx(float(tree.cut[node])), *below)


def stripped(node):
    feature, cut, left, right, label, _ = node
    return label if feature is None else (feature, cut, stripped(left), stripped(right))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("decimals", [0, 6])
def test_it_is_the_tree_of_a_slow_one(n_classes, decimals):
    sizes = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        rows = np.float32(rng.normal(0, 2, (120, 3)).round(decimals)).astype(float)
        codes = (np.abs(rows[:, 0] + rows[:, 1] + rng.normal(0, 1, 120)) % n_classes).astype(int)
        slow = grow(rows.tolist(), codes.tolist(), n_classes)
        assert stripped(slow) == nested(C45Classifier(prune=False).fit(rows, codes).tree_)
        pruned = C45Classifier().fit(rows, codes)
        assert stripped(prune(slow)[0]) == nested(pruned.tree_)
        sizes.append(len(pruned.tree_.left))
    assert max(sizes) > 5


def test_a_leaf_without_errors_expects_some_in_closed_form():
    n = np.array([1, 2, 6, 9, 100])
    assert expect_errors(np.zeros(5), n) == pytest.approx(n * (1 - 0.25 ** (1 / n)))


def test_what_is_known_is_learnt_and_what_is_noise_is_pruned():
    rng = np.random.default_rng(0)
    rows = rng.random((400, 4))
    boxes = (rows[:, 0] > 0.5) & (rows[:, 1] > 0.3)
    found = C45Classifier().fit(rows, boxes)
    new = rng.random((1000, 4))
    assert (found.predict(new) == (new[:, 0] > 0.5) & (new[:, 1] > 0.3)).mean() > 0.95
    noise = rng.random(2000) < 0.2
    sizes = [len(C45Classifier(prune=prune).fit(rng.random((2000, 4)), noise).tree_.left) for prune in (True, False)]
    assert sizes[0] < sizes[1] / 2


def test_it_is_an_estimator():
    check_estimator(C45Classifier())
