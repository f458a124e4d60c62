"""What a node may be split by: class counts behind every value, scores of every cut, random features."""

from __future__ import annotations

import numpy as np

from algorithms.forests.engine.scores import class_term, join_terms, side_score
from algorithms.forests.engine.tree import BY_VALUE, add_up, is_among, is_on_left, rows_of


def class_counts(growth, i):
    """Count the records of each class in node ``i``: float64 array of shape (c,), as noisy counts are."""
    return np.diff(growth.runs[i]).astype(np.float64)


def sum_counts(counts):
    """Sum class counts one after the other: with noise they are no whole numbers, and the order shows in a digit."""
    total = 0.0
    for count in counts.tolist():
        total += count
    return total


def is_pure(counts):
    """Tell whether at most one class is present. This is an exact look at the rows: using it costs privacy."""
    return np.count_nonzero(counts > 0) <= 1


def draw_below(n, rng):
    """Draw one of the whole numbers 0, ..., n - 1 with a uniform number."""
    return int(rng.random() * n)


def draw_features(available, m, rng):
    """Draw ``m`` of the available features without replacement, all of them if there are fewer.

    Parameters
    ----------
    available : int64 array
        Features to draw from.
    m : int
        How many are wanted.
    rng : numpy.random.Generator
        Source of randomness; one uniform number is taken for each drawn feature.
    """
    pool = available.copy()
    m = min(m, pool.shape[0])
    for drawn in range(m):
        other = drawn + draw_below(pool.shape[0] - drawn, rng)
        pool[drawn], pool[other] = pool[other], pool[drawn]
    return pool[:m]


def count_by_code(growth, table, i, feature):
    """Count the records of node ``i`` by code of a feature and class: int64 array of shape (codes, c)."""
    rows = rows_of(growth, i)
    counts = np.zeros((table.n_codes[feature], table.n_classes), dtype=np.int64)
    np.add.at(counts, (table.codes[feature, rows], table.labels[rows]), 1)
    return counts


def count_within(growth, table, i, feature, lowest, highest):
    """Count the records of node ``i`` whose code of a feature lies in a range, ends included, by class: as floats."""
    rows = rows_of(growth, i)
    codes = table.codes[feature, rows].astype(np.int64)
    is_within = (lowest <= codes) & (codes <= highest)
    return np.bincount(table.labels[rows[is_within]], minlength=table.n_classes).astype(np.float64)


def sum_within(growth, table, i, feature, lowest, highest):
    """Return number and summed target of the records of node ``i`` whose code of a feature lies in a range."""
    n, total = 0, 0.0
    for row in rows_of(growth, i):
        if lowest <= int(table.codes[feature, row]) <= highest:
            n += 1
            total += table.targets[row]
    return n, total


def sum_targets(growth, targets, i):
    """Return the sum of the targets in node ``i`` and that of their squares."""
    total, squares = 0.0, 0.0
    for row in rows_of(growth, i):
        total += targets[row]
        squares += targets[row] * targets[row]
    return total, squares


def draw_present_code(growth, table, i, feature, rng):
    """Draw one of the codes of a feature that occur in node ``i``, each with the same chance, whatever its records.

    A uniform number says which, in the order in which the rows of the node first show them.
    """
    present = list(dict.fromkeys(table.codes[feature, rows_of(growth, i)].tolist()))
    return present[draw_below(len(present), rng)]


def count_by_present_code(growth, table, i, feature):
    """Count as ``count_by_code``, but only codes that occur in the node.

    Returns
    -------
    codes : int64 array of shape (p,)
        The codes present, ascending.
    counts : int64 array of shape (p, c)
        Their records by class.
    """
    counts = count_by_code(growth, table, i, feature)
    present = np.flatnonzero(counts.sum(axis=1))
    return present, counts[present]


def below_scores(score, counts, totals):
    """Score every split "code <= cut" between two neighbouring rows of a count table.

    Parameters
    ----------
    score : int
        Which score, see ``scores``.
    counts : int64 array of shape (p, c)
        Records by code (ascending) and class.
    totals : float64 array of shape (c,)
        Records of the node by class.

    Returns
    -------
    float64 array of shape (max(p - 1, 0),)
        Entry j belongs to the split that sends the codes 0, ..., j left.
    """
    below = np.cumsum(counts, axis=0)[:-1]
    return np.array([split_score(score, left, totals) for left in below])


def split_score(score, left, totals):
    """Score one split in two from the class counts of its left side and of the node."""
    n_left, n_all = sum_counts(left), sum_counts(totals)
    on_left, on_right = 0.0, 0.0
    for c in range(totals.shape[0]):
        on_left = join_terms(score, on_left, class_term(score, float(left[c]), n_left))
        on_right = join_terms(score, on_right, class_term(score, float(totals[c] - left[c]), n_all - n_left))
    return on_left + on_right


def equals_scores(score, counts, totals):
    """Score every split "code == value against the rest": float64 array of shape (codes,)."""
    return np.array([split_score(score, of_value, totals) for of_value in counts])


def public_splits(table, features):
    """Number the public splits of some features: a nominal one by its values, a continuous one at each of its cuts.

    Returns
    -------
    int64 array of shape (features + 1,)
        Splits ``ends[j]``, ..., ``ends[j + 1] - 1`` are those of feature j.
    """
    return add_up([table.n_codes[feature] - 1 if table.is_continuous[feature] else 1 for feature in features])


def public_split(features, ends, number):
    """Return the feature of a split and, if it is continuous, the largest code on the left."""
    j = np.searchsorted(ends, number, side="right") - 1
    return features[j], number - ends[j]


def by_value_score(score, counts):
    """Score the split that makes one child of every code."""
    total = 0.0
    for of_code in counts:
        total += side_score(score, of_code)
    return total


def sum_by_class(counts):
    """Sum records by code and class over the codes: float64 array of shape (c,)."""
    totals = np.zeros(counts.shape[1])
    for of_code in counts:
        totals += of_code
    return totals


def best_groups(score, counts):
    """Find the best split of the codes of a feature in two groups; returns its score and the codes on the left.

    Codes go left one by one, those with the smallest share of one class first, for each class but the first. Of two
    classes that finds the best of all groups (Breiman, Friedman, Olshen and Stone, 1984, theorem 4.5), of more a good
    one.

    Parameters
    ----------
    score : int
        Which score, see ``scores``.
    counts : float64 array of shape (codes, c)
        Records by code, at most ``MOST_GROUPED``, and class.

    Returns
    -------
    score : float
    code : int
        The sum of 2^j over the codes j on the left.
    """
    totals = sum_by_class(counts)
    best, best_code = -np.inf, 0
    for c in range(1, counts.shape[1]):
        left, code = np.zeros(counts.shape[1]), 0
        for _ in range(counts.shape[0] - 1):
            j = next_code(counts, c, code)
            code += 1 << j
            left += counts[j]
            found = split_score(score, left, totals)
            if found > best:
                best, best_code = found, code
    return best, best_code


def next_code(counts, c, codes):
    """Return the code with the smallest share of class ``c`` that is not among ``codes``; no rows are a share of 0."""
    chosen, smallest = -1, np.inf
    for j in range(counts.shape[0]):
        if not is_among(j, codes):
            n = sum_counts(counts[j])
            share = counts[j, c] / n if n > 0 else 0.0
            if share < smallest:
                chosen, smallest = j, share
    return chosen


def divides_rows(counts, decides, code):
    """Tell from its records by code and class whether a split puts the rows of a node into more than one child."""
    n_rows = counts.sum(axis=1)
    if decides == BY_VALUE:
        return n_rows.max() < n_rows.sum()
    n_left = n_rows[[is_on_left(j, decides, code) for j in range(len(n_rows))]].sum()
    return 0 < n_left < n_rows.sum()
