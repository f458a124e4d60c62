"""What the slow reference trees are made of: plain lists, written from the papers, next to no code of the engine.

A reference tree takes the same random numbers in the same order as the engine: a uniform number for each drawn feature,
one for each random cut, one for each exponential mechanism, one for each cut inside an interval, a Laplace number for
each noisy count, an exponential one for each candidate of permute-and-flip. So the trees must be identical, with noise
and without.
"""

import itertools
import math

import numpy as np
import pytest

from algorithms import Continuous, Domain, Nominal

N_CLASSES = 3
COLUMNS = [(0.0, 5.0), 3, (-40.0, 40.0), 4, 2]  # (lower, upper) of a continuous column, or its number of categories
CONTINUOUS = [f for f, column in enumerate(COLUMNS) if isinstance(column, tuple)]
NOMINAL = [f for f in range(len(COLUMNS)) if f not in CONTINUOUS]
DOMAIN = Domain(
    [Continuous(f"f{i}", *c) if isinstance(c, tuple) else Nominal(f"f{i}", range(c)) for i, c in enumerate(COLUMNS)],
    Nominal("y", range(N_CLASSES)),
)
LEAF, BELOW, EQUALS, BY_VALUE, AMONG = range(5)
SEED, N_TREES, DEPTH, M = 11, 3, 4, 3

TABLES = pytest.mark.parametrize("seed", [0, 1, 2])
EPSILONS = pytest.mark.parametrize("epsilon", [math.inf, 900.0, 60.0])
SOUND_EPSILONS = pytest.mark.parametrize("epsilon", [math.inf, 60.0, 2.0])  # with the last, few rows last few levels


def columns_and_signal(seed, n):
    """Mixed columns, some values more than once, and a number that depends on them."""
    rng = np.random.default_rng(seed)
    columns = [rng.uniform(*c, n).round(1) if isinstance(c, tuple) else rng.integers(c, size=n) for c in COLUMNS]
    signal = columns[0] + columns[1] + columns[2] / 20 + 2 * (columns[3] == 2) + rng.normal(0, 0.7, n)
    return np.column_stack(columns), signal


def table(seed, n=70):
    X, signal = columns_and_signal(seed, n)
    return X, np.digitize(signal, np.quantile(signal, [0.4, 0.75]))


def forest(estimator, epsilon, **parameters):
    parameters = {"n_estimators": N_TREES, "max_depth": DEPTH, "max_features": M, "domain": DOMAIN} | parameters
    return estimator(
        epsilon, random_state=SEED, **{name: value for name, value in parameters.items() if value is not None}
    )


def samples_and_streams(X, y, sampling):
    """The rows (values, label) of every tree and its random stream, as the forest draws them from ``random_state``."""
    n, rows = len(y), as_rows(X, y)
    seeds = np.random.SeedSequence(np.random.RandomState(SEED).randint(2**31 - 1)).spawn(N_TREES + 1)
    first, *streams = map(np.random.default_rng, seeds)
    if sampling == "bootstrap":
        drawn = [sorted(first.integers(n, size=n)) for _ in range(N_TREES)]
    elif sampling == "disjoint":
        tree_of_row = first.integers(N_TREES, size=n)
        drawn = [np.flatnonzero(tree_of_row == t) for t in range(N_TREES)]
    else:
        drawn = [range(n)] * N_TREES
    return [([rows[i] for i in numbers], stream) for numbers, stream in zip(drawn, streams, strict=True)]


# A sample is a list of rows, a row is (values, label).


def as_rows(X, y):
    """Plain numbers: those of NumPy take several times as long to compare one by one."""
    return list(zip(X.tolist(), y.tolist() if isinstance(y, np.ndarray) else y, strict=True))


def class_counts(rows):
    labels = [label for _, label in rows]
    return [labels.count(c) for c in range(N_CLASSES)]


def gini(*sides):
    total = 0.0
    for counts in map(class_counts, sides):
        n, part = sum(counts), 0.0
        for count in counts:
            part += count * (count / n - 1) if count else 0
        total += part
    return total


def mean_impurity(sides):
    """Of the children of a split, each weighted by its share of the rows; 0 without rows."""
    n = sum(map(len, sides))
    return sum(len(side) / n * (1 - sum((c / len(side)) ** 2 for c in class_counts(side))) for side in sides if side)


def draw_features(pool, m, rng):
    pool = list(pool)
    for i in range(min(m, len(pool))):
        j = i + int(rng.random() * (len(pool) - i))
        pool[i], pool[j] = pool[j], pool[i]
    return pool[:m]


def draw_exponential(quality, lengths, sensitivity, epsilon, rng, *, monotone=False):
    best, apart = max(quality), sensitivity if monotone else 2 * sensitivity
    factor = [1.0 if q == best else math.exp(max(epsilon * (q - best) / apart, -800)) for q in quality]
    reached = list(itertools.accumulate(f * length for f, length in zip(factor, lengths, strict=True)))
    threshold = rng.random() * reached[-1]
    return next(i for i, r in enumerate(reached) if r > threshold)


def noisy(exact, epsilon, rng, sensitivity=1):
    return exact if math.isinf(epsilon) else exact + rng.laplace(0, sensitivity / epsilon)


def flip(scores, sensitivity, epsilon, rng, *, monotone=False):
    """Permute-and-flip by its noise: the largest score plus exponential noise."""
    noise = [rng.standard_exponential() for _ in scores]
    if math.isinf(epsilon):
        best = [i for i, score in enumerate(scores) if score == max(scores)]
        return max(best, key=lambda i: noise[i])
    apart = sensitivity if monotone else 2 * sensitivity
    noisy = [score + apart / epsilon * e for score, e in zip(scores, noise, strict=True)]
    return noisy.index(max(noisy))


def flipped_leaf(rows, epsilon, rng):
    return {"label": flip(class_counts(rows), 1, epsilon, rng, monotone=True), "paid": epsilon}


def counted(sample, epsilon, n_children, most, rng):
    """How a sound tree begins: a twentieth of its budget for its number of rows, then as many levels as these last.

    Returns the noisy number, what it cost, the number of levels, and what is left to spend.
    """
    count = noisy(len(sample), epsilon / 20, rng)
    return count, epsilon / 20, levels_of(count, epsilon, n_children, most), epsilon * 19 / 20


def levels_of(count, epsilon, n_children, most):
    """How many levels of splits leave 5 / epsilon rows to a leaf, but at least 1 if any are asked for."""
    levels = min(most, 1)
    while levels < most and 5 * n_children ** (levels + 1) <= max(count, 1) * epsilon:
        levels += 1
    return levels


def leaf(rows, epsilon, rng):
    counts = [noisy(count, epsilon, rng) for count in class_counts(rows)]
    return {"label": counts.index(max(counts)), "paid": epsilon}


def divide(rows, decides, f, cut):
    """Both sides of a split in two; AMONG some values, these are the digits of 1 in the cut, written in base two."""
    left_of = {
        BELOW: lambda value: value <= cut,
        EQUALS: lambda value: value == cut,
        AMONG: lambda value: format(int(cut), "b")[::-1][int(value) : int(value) + 1] == "1",
    }[decides]
    is_left = [left_of(values[f]) for values, _ in rows]
    return [row for row, left in zip(rows, is_left, strict=True) if left], [
        row for row, left in zip(rows, is_left, strict=True) if not left
    ]


def public_bins(values, n_bins):
    binned = list(values)
    for f in CONTINUOUS:
        lower, upper = COLUMNS[f]
        binned[f] = min(int((values[f] - lower) / (upper - lower) * n_bins), n_bins - 1)
    return binned


ALL_BITS = 2**64 - 1


def splitmix64(state):
    """The next number of SplitMix64 (Steele, Lea, Flood, 2014), by its published constants."""
    z = (state + 0x9E3779B97F4A7C15) & ALL_BITS
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & ALL_BITS
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & ALL_BITS
    return z ^ (z >> 31)


def uniform_of_key(key):
    return ((splitmix64(key) >> 12) + 0.5) / 2**52


def assert_same_trees(forest, reference_trees):
    """Every node the same, its noisy count and value too where the reference knows them."""
    assert len(forest.trees_) == len(reference_trees)
    n_inner = 0
    for nodes, expected in zip(forest.trees_, reference_trees, strict=True):
        assert len(nodes) == len(expected)
        n_inner += sum("decides" in node for node in expected)
        next_child = 1
        for node, known in zip(nodes, expected, strict=True):
            assert node["depth"] == known["depth"]
            assert node["decides"] == known.get("decides", 0)
            assert node["epsilon"] == pytest.approx(known["paid"], rel=1e-12)
            for name in {"noisy_count", "value"} & set(known):
                assert node[name] == pytest.approx(known[name], rel=1e-9, abs=1e-9, nan_ok=True)
            if "decides" not in known:
                assert (node["feature"], node["child"], node["label"]) == (-1, -1, known.get("label", 0))
                continue
            assert (node["feature"], node["child"]) == (known["feature"], next_child)
            assert known["decides"] == BY_VALUE or node["cut"] == pytest.approx(known["cut"], rel=1e-12)
            next_child += known.get("n_children", 2)
    assert n_inner >= 5, "trees without splits compare nothing"


def assert_paths_spend(nodes, epsilon):
    """Every path from the root to a leaf spends ε, and no part of one more."""
    spent, is_leaf = nodes["epsilon"].copy(), nodes["decides"] == LEAF
    inner = np.flatnonzero(~is_leaf)
    for i, end in zip(inner, [*nodes["child"][inner][1:], len(nodes)], strict=True):
        spent[nodes["child"][i] : end] += spent[i]
    np.testing.assert_allclose(spent[is_leaf], epsilon, rtol=1e-12)
    assert (spent <= epsilon * (1 + 1e-12)).all()
