"""What a node may be split by: class counts behind every value, scores of every cut, random features."""

from __future__ import annotations

import numpy as np

from algorithms.forests.engine.scores import GINI, class_term, join_terms, side_score
from algorithms.forests.engine.tree import BY_VALUE, is_among, is_on_left, rows_of, rows_of_class
from algorithms.jit import compilable, compiled, inlined, uncounted


@compiled
def class_counts(growth, i):
    """Count the records of each class in node ``i``: float64 array of shape (c,), as noisy counts are."""
    runs = growth.runs
    counts = np.empty(runs.shape[1] - 1)
    for c in range(counts.shape[0]):
        counts[c] = runs[i, c + 1] - runs[i, c]
    return counts


@compiled
def sum_counts(counts):
    """Sum class counts: a loop, since ``counts.sum()`` is compiled anew for every kind of array."""
    n = 0.0
    for count in counts:
        n += count
    return n


@compiled
def is_pure(counts):
    """Tell whether at most one class is present. This is an exact look at the rows: using it costs privacy."""
    n_present = 0
    for count in counts:
        n_present += count > 0
    return n_present <= 1


@compiled
def draw_below(n, rng):
    """Draw one of the whole numbers 0, ..., n - 1 with a uniform number."""
    return int(rng.random() * n)


@compiled
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


@compiled
def count_by_code(growth, table, i, feature):
    """Count the records of node ``i`` by code of a feature and class: int64 array of shape (codes, c).

    The halves of a long run are counted side by side: of a frequent code, each addition would wait for the last.
    """
    growth, table = uncounted((growth, table))
    codes, rows, runs, n_codes = table.codes, growth.rows, growth.runs, table.n_codes[feature]
    has_long = 4 * n_codes < runs[i, -1] - runs[i, 0]
    counts = np.zeros((n_codes, runs.shape[1] - 1), dtype=np.int64)
    of_half = np.zeros(n_codes if has_long else 0, dtype=np.int64)
    for c in range(counts.shape[1]):
        start, end = np.uint64(runs[i, c]), np.uint64(runs[i, c + 1])
        is_long = np.uint64(4 * n_codes) < end - start
        n_half = (end - start) // np.uint64(2) if is_long else np.uint64(0)
        for position in range(start, start + n_half):
            counts[codes[feature, rows[position]], c] += 1
            of_half[codes[feature, rows[position + n_half]]] += 1
        for position in range(start + n_half + n_half, end):  # the last of an odd number, or all
            counts[codes[feature, rows[position]], c] += 1
        for code in range(n_codes if is_long else 0):
            counts[code, c] += of_half[code]
            of_half[code] = 0
    return counts


@inlined
def count_within(growth, table, i, feature, lowest, highest, counts):
    """Count the records of node ``i`` whose code of a feature lies in a range, ends included, by class: ``counts``."""
    column = table.codes[feature]
    low, span = np.uint64(lowest), np.uint64(max(highest - lowest + 1, 0))
    for c in range(counts.shape[0]):
        n = 0
        for row in rows_of_class(growth, i, c):
            n += (np.uint64(column[row]) - low) < span  # one comparison: below the range the difference wraps around
        counts[c] = n


@compiled
def sum_within(growth, table, i, feature, lowest, highest):
    """Return number and summed target of the records of node ``i`` whose code of a feature lies in a range."""
    column, targets = table.codes[feature], table.targets
    low, span = np.uint64(lowest), np.uint64(max(highest - lowest + 1, 0))
    n, total = 0, 0.0
    for row in rows_of(growth, i):
        is_within = (np.uint64(column[row]) - low) < span
        n += is_within
        total += is_within * targets[row]
    return n, total


@compiled
def sum_targets(growth, targets, i):
    """Return the sum of the targets in node ``i`` and that of their squares."""
    total, squares = 0.0, 0.0
    for row in rows_of(growth, i):
        total += targets[row]
        squares += targets[row] * targets[row]
    return total, squares


@compilable
def most_codes(table):
    """Return the largest number of codes of a feature: a loop, for the reason of `sum_counts`."""
    most = 0
    for n in table.n_codes:
        most = max(most, n)
    return most


@compiled
def draw_present_code(growth, table, i, feature, seen, rng):
    """Draw one of the codes of a feature that occur in node ``i``, each with the same chance, whatever its records.

    A uniform number says how many codes are passed by, in the order in which the rows of the node first show them.
    ``seen`` is room for one flag per code, all False before and after.
    """
    growth, table = uncounted((growth, table))
    column, rows, n_codes = table.codes[feature], rows_of(growth, i), table.n_codes[feature]
    has_few = n_codes <= 4 * rows.shape[0]  # else a pass over all flags takes longer than one over the rows
    n_ahead = draw_below(mark_codes(column, rows, seen, n_codes if has_few else 0), rng)
    code = column[rows[0]]
    for row in rows:
        code = column[row]
        n_ahead -= seen[code]
        seen[code] = False
        if n_ahead < 0:
            break
    if has_few:
        for other in range(n_codes):
            seen[other] = False
    else:
        for row in rows:
            seen[column[row]] = False
    return np.int64(code)


@inlined
def mark_codes(column, rows, seen, n_codes):
    """Set the flags of the codes of some rows, and count these: among ``n_codes`` flags or, of none, row by row."""
    n_seen, start, step = 0, 0, max(4 * n_codes, 512)
    while n_seen < n_codes and start < rows.shape[0]:  # mostly, a few rows have all codes of a column of few
        for row in rows[start : start + step]:
            seen[column[row]] = True  # without a look at the flag, for which the next rows would wait
        start, n_seen = start + step, 0
        for code in range(n_codes):
            n_seen += seen[code]
    if n_codes == 0:
        for row in rows:
            n_seen += not seen[column[row]]
            seen[column[row]] = True
    return n_seen


@inlined
def count_by_present_code(growth, table, i, feature):
    """Count as ``count_by_code``, but only codes that occur in the node.

    Returns
    -------
    codes : int64 array of shape (p,)
        The codes present, ascending.
    counts : int64 array of shape (p, c)
        Their records by class.
    """
    n_rows = growth.runs[i, -1] - growth.runs[i, 0]
    if table.n_codes[feature] <= 4 * n_rows:
        by_code = count_by_code(growth, table, i, feature)
        present = np.empty(by_code.shape[0], dtype=np.int64)
        n_present = 0
        for code in range(by_code.shape[0]):
            n = 0
            for c in range(by_code.shape[1]):
                n += by_code[code, c]
                by_code[n_present, c] = by_code[code, c]
            present[n_present] = code
            n_present += n > 0
        return present[:n_present], by_code[:n_present]
    # A column of many values in a small node: sorting its rows is cheaper than a pass over all its codes.
    keys = sorted_by_code(growth, table, i, feature)
    present = np.empty(n_rows, dtype=np.int64)
    counts = np.zeros((n_rows, growth.runs.shape[1] - 1), dtype=np.int64)
    n_present = 0
    for key in keys:
        code, row = key >> 32, key & 0xFFFFFFFF
        if n_present == 0 or present[n_present - 1] != code:
            present[n_present] = code
            n_present += 1
        counts[n_present - 1, table.labels[row]] += 1
    return present[:n_present], counts[:n_present]


@compiled
def sorted_by_code(growth, table, i, feature):
    """Sort the rows of node ``i`` by their code: int64 array of ``code << 32 | row``."""
    growth, table = uncounted((growth, table))
    codes, rows, start = table.codes, growth.rows, growth.runs[i, 0]
    keys = np.empty(growth.runs[i, -1] - start, dtype=np.int64)
    for j in range(keys.shape[0]):
        row = rows[start + j]
        keys[j] = (np.int64(codes[feature, row]) << 32) | row
    if keys.shape[0] < 64:
        sort_few(keys)
        return keys
    # Radix sort, a byte of the code at a time: two to eight times as fast as comparing.
    other = np.empty(keys.shape[0], dtype=np.int64)
    shift = 32
    while (table.n_codes[feature] - 1) >> (shift - 32) > 0:
        ends = np.zeros(257, dtype=np.int64)
        for key in keys:
            ends[((key >> shift) & 0xFF) + 1] += 1
        for digit in range(256):
            ends[digit + 1] += ends[digit]
        for key in keys:
            digit = (key >> shift) & 0xFF
            other[ends[digit]] = key
            ends[digit] += 1
        keys, other = other, keys
        shift += 8
    return keys


@compiled
def sort_few(keys):
    """Sort a few numbers in place; Numba's own way, for any number of them, takes ten times as long to compile."""
    for j in range(1, keys.shape[0]):
        key, hole = keys[j], j
        while hole > 0 and keys[hole - 1] > key:
            keys[hole] = keys[hole - 1]
            hole -= 1
        keys[hole] = key


@compiled
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
    n_splits = max(counts.shape[0] - 1, 0)
    sums = np.zeros((6, n_splits))
    left, right, n_left, n_right, below, above = sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]
    n, n_all = 0, sum_counts(totals)
    for j in range(n_splits):
        for c in range(counts.shape[1]):
            n += counts[j, c]
        n_left[j], n_right[j] = n, n_all - n
    for c in range(counts.shape[1]):  # class by class: short inner loops over classes are several times slower
        n_below = 0
        for j in range(n_splits):
            n_below += counts[j, c]
            below[j], above[j] = n_below, totals[c] - n_below
        add_class_terms(score, left, below, n_left)
        add_class_terms(score, right, above, n_right)
    for j in range(n_splits):
        left[j] += right[j]
    return left


@compiled
def add_class_terms(score, sums, counts, n):
    """Add the terms of one class to the scores of many sides with ``n`` records, ``counts`` of them of that class."""
    if score == GINI:  # a loop of its own, without a choice: processors divide four or eight numbers at once
        for j in range(sums.shape[0]):
            sums[j] += class_term(GINI, counts[j], n[j])
    else:
        for j in range(sums.shape[0]):
            sums[j] = join_terms(score, sums[j], class_term(score, counts[j], n[j]))


@compiled
def copy_into(target, start, values):
    """Copy values into a longer array."""
    for j in range(values.shape[0]):
        target[start + j] = values[j]


@inlined
def split_score(score, left, totals):
    """Score one split in two from the class counts of its left side and of the node."""
    n_left, n_all = 0.0, 0.0
    for c in range(totals.shape[0]):
        n_left += left[c]
        n_all += totals[c]
    on_left, on_right = 0.0, 0.0
    for c in range(totals.shape[0]):
        on_left = join_terms(score, on_left, class_term(score, float(left[c]), n_left))
        on_right = join_terms(score, on_right, class_term(score, float(totals[c] - left[c]), n_all - n_left))
    return on_left + on_right


@compiled
def equals_scores(score, counts, totals):
    """Score every split "code == value against the rest": float64 array of shape (codes,)."""
    scores = np.empty(counts.shape[0])
    for j in range(counts.shape[0]):
        scores[j] = split_score(score, counts[j], totals)
    return scores


@compiled
def public_splits(table, features):
    """Number the public splits of some features: a nominal one by its values, a continuous one at each of its cuts.

    Returns
    -------
    int64 array of shape (features + 1,)
        Splits ``ends[j]``, ..., ``ends[j + 1] - 1`` are those of feature j.
    """
    ends = np.zeros(features.shape[0] + 1, dtype=np.int64)
    for j, feature in enumerate(features):
        ends[j + 1] = ends[j] + (table.n_codes[feature] - 1 if table.is_continuous[feature] else 1)
    return ends


@compiled
def count_up_to(ascending, value):
    """Count the numbers up to a value: for `np.searchsorted` Numba compiles six functions."""
    low, high = 0, ascending.shape[0]
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def first_numbers(n):
    """Return 0, ..., n - 1: for `np.arange` Numba compiles four functions."""
    numbers = np.empty(n, dtype=np.int64)
    for k in range(n):
        numbers[k] = k
    return numbers


@compiled
def public_split(features, ends, number):
    """Return the feature of a split and, if it is continuous, the largest code on the left."""
    j = count_up_to(ends, number) - 1
    return features[j], number - ends[j]


@compiled
def by_value_score(score, counts):
    """Score the split that makes one child of every code."""
    total = 0.0
    for j in range(counts.shape[0]):
        total += side_score(score, counts[j])
    return total


@compiled
def sum_by_class(counts):
    """Sum records by code and class over the codes: float64 array of shape (c,)."""
    totals = np.zeros(counts.shape[1])
    for j in range(counts.shape[0]):
        for c in range(counts.shape[1]):
            totals[c] += counts[j, c]
    return totals


@compiled
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
            for k in range(left.shape[0]):
                left[k] += counts[j, k]
            found = split_score(score, left, totals)
            if found > best:
                best, best_code = found, code
    return best, best_code


@compiled
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


@compiled
def divides_rows(counts, nominal_split, code):
    """Tell from its records by code and class whether a split puts the rows of a node into more than one child.

    ``nominal_split`` is how the split decides, None where it sends one code left.
    """
    if nominal_split is None:
        return 0 < sum_counts(counts[code]) < sum_counts(sum_by_class(counts))
    n_rows, n_left, n_most = 0.0, 0.0, 0.0
    for j in range(counts.shape[0]):
        n = sum_counts(counts[j])
        n_rows += n
        n_most = max(n_most, n)
        if is_on_left(j, nominal_split, code):
            n_left += n
    return n_most < n_rows if nominal_split == BY_VALUE else 0 < n_left < n_rows
