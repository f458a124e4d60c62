"""Printed precisions and recalls, beside every confusion matrix that there is."""

import itertools
import math

import numpy as np
import pytest

from experiments.judge.numbers.confusion_matrix import feasibility


def matrices(sizes):
    """Every confusion matrix with so many rows of each class."""
    n_classes = len(sizes)
    lines = [
        [line for line in itertools.product(range(size + 1), repeat=n_classes) if sum(line) == size] for size in sizes
    ]
    return itertools.product(*lines)


def shares(matrix):
    """Precisions and recalls, or None where a class is never predicted."""
    table = np.array(matrix)
    if (table.sum(axis=0) == 0).any():
        return None
    return table.diagonal() / table.sum(axis=0), table.diagonal() / table.sum(axis=1)


def rounds_to(measured, printed, decimals):
    return all(np.abs(m - p).max() <= 0.5 * 10.0**-decimals + 1e-9 for m, p in zip(measured, printed, strict=True))


def by_enumeration(printed, sizes, decimals):
    """Whether any matrix rounds to what is printed."""
    every = (shares(matrix) for matrix in matrices(sizes))
    return any(measured is not None and rounds_to(measured, printed, decimals) for measured in every)


@pytest.mark.parametrize(("sizes", "n"), [((7, 4), 150), ((12, 9), 100), ((3, 3, 2), 60)])
@pytest.mark.parametrize("decimals", [1, 2])
def test_feasible_is_what_some_matrix_rounds_to(sizes, n, decimals):
    """Half of the tables are rounded from a matrix, half have one number changed."""
    rng = np.random.default_rng(decimals)
    answers = []
    for i in range(n):
        lines = [rng.multinomial(size, rng.dirichlet(np.ones(len(sizes)))) for size in sizes]
        measured = shares(lines)
        if measured is None:
            continue
        printed = np.round(measured, decimals)
        if i % 2:
            printed[rng.integers(2), rng.integers(len(sizes))] = rng.integers(0, 10**decimals + 1) / 10**decimals
        found = feasibility(*printed.tolist(), sizes, decimals=decimals)
        assert found.is_feasible == by_enumeration(printed, sizes, decimals)
        answers.append(found.is_feasible)
        if found.is_feasible:
            assert rounds_to(shares(found.matrix), printed, decimals)
            assert found.matrix.sum(axis=1).tolist() == list(sizes) and (found.matrix >= 0).all()
    assert {True, False} == set(answers)


def by_exact_enumeration(printed, sizes, decimals):
    """The same for two classes of any size, in whole numbers: 2 · 10^d · |hits - share · rows| <= rows."""
    unit = 10**decimals

    def is_rounded(share, hits, rows):
        return 2 * np.abs(unit * hits - round(share * unit) * rows) <= rows

    precisions, recalls = printed
    every = [np.arange(size + 1) for size in sizes]
    fitting = [hits[is_rounded(share, hits, size)] for share, hits, size in zip(recalls, every, sizes, strict=True)]
    first, second = np.meshgrid(*fitting, indexing="ij")
    taken = first + sizes[1] - second, second + sizes[0] - first
    fits = np.minimum(*taken) > 0
    for asked in zip(precisions, (first, second), taken, strict=True):
        fits &= is_rounded(*asked)
    return fits.any()


@pytest.mark.parametrize(("sizes", "decimals"), [((210, 84), 3), ((2254, 746), 3), ((800, 750), 4), ((40, 200), 2)])
def test_two_classes_of_the_size_of_a_test_set(sizes, decimals):
    """Tables rounded from a matrix, with its last decimals changed by one here and there."""
    rng = np.random.default_rng(0)
    answers = []
    for i in range(40):
        hits = [rng.integers(size // 2, size) for size in sizes]
        lines = [[hits[0], sizes[0] - hits[0]], [sizes[1] - hits[1], hits[1]]]
        changed = np.round(shares(lines), decimals) + (i % 2) * rng.integers(-1, 2, (2, 2)) / 10**decimals
        printed = np.clip(np.round(changed, decimals), 0, 1)
        answers.append(feasibility(*printed.tolist(), sizes, decimals=decimals).is_feasible)
        assert answers[-1] == by_exact_enumeration(printed, sizes, decimals)
    assert {True, False} == set(answers)


@pytest.mark.parametrize("seed", range(5))
def test_with_ranges_of_rows_every_size_in_them_is_tried(seed):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        printed = rng.integers(0, 11, (2, 2)) / 10
        sizes = list(itertools.product(range(2, 5), range(1, 6)))
        assert feasibility(*printed.tolist(), [(2, 4), (1, 5)], decimals=1).is_feasible == any(
            by_enumeration(printed, size, 1) for size in sizes
        )
        assert feasibility(*printed.tolist(), [(2, 4), (1, 5)], decimals=1, n_total=6).is_feasible == any(
            by_enumeration(printed, size, 1) for size in sizes if sum(size) == 6
        )


@pytest.mark.parametrize("sizes", [(6, 5), (3, 2, 3)])
def test_the_precision_of_every_matrix_lies_in_the_range_of_its_recalls(sizes):
    """And of two classes, whose recalls leave nothing open, the range is no wider than the recalls' last decimal."""
    for matrix in matrices(sizes):
        if (measured := shares(matrix)) is None:
            continue
        precision, recall = measured
        exact = feasibility([0.5] * len(sizes), recall.tolist(), sizes, decimals=12).precision_range
        for value, (low, high) in zip(precision, exact, strict=True):
            assert low - 1e-9 <= value <= high + 1e-9
            if len(sizes) == 2 and value:
                assert high - low < 1e-9


def test_table_4_of_paper_5_contradicts_itself():
    """210 and 84 test rows: 94.6 % and 93.8 % recall force precisions of 97.4 and 87.4 %, not 95.3 and 94.1 %."""
    for precision, recall in (([0.953, 0.941], [0.946, 0.938]), ([0.943, 0.933], [0.931, 0.922])):
        hits = [210 * recall[0], 84 * recall[1]]
        forced = [hits[0] / (hits[0] + 84 - hits[1]), hits[1] / (hits[1] + 210 - hits[0])]
        found = feasibility(precision, recall, [210, 84])
        assert not found.is_feasible
        for value, printed, (low, high) in zip(forced, precision, found.precision_range, strict=True):
            assert low < value < high < low + 0.003
            assert not low <= printed <= high
    assert [
        round(100 * sum(pair) / 2, 1) for pair in feasibility([0.953, 0.941], [0.946, 0.938], [210, 84]).precision_range
    ] == [97.4, 87.4]


def test_no_test_set_at_all_gives_table_4():
    """Each precision gives a ratio of the classes, and the two ratios differ."""
    for precision, recall in (([0.953, 0.941], [0.946, 0.938]), ([0.943, 0.933], [0.931, 0.922])):
        of_first = (1 / precision[0] - 1) * recall[0] / (1 - recall[1])
        of_second = (1 - recall[0]) / ((1 / precision[1] - 1) * recall[1])
        assert abs(of_first - of_second) > 0.1
        assert not feasibility(precision, recall, [(1, 10_000), (1, 10_000)]).is_feasible
    assert not feasibility([0.953, 0.941], [0.946, 0.938], [(1, 293), (1, 293)], n_total=294).is_feasible


def test_a_half_may_be_rounded_either_way():
    assert feasibility([0.2, 0.8], [0.5, 0.5], [2, 8], decimals=1).is_feasible, "1 of 5 and 4 of 5"
    assert feasibility([1.0, 1.0], [1.0, 1.0], [3, 3]).matrix.tolist() == [[3, 0], [0, 3]]
    for printed in (0.2, 0.3):  # 1 of 4 is 0.25
        assert feasibility([printed, 1.0], [1.0, 0.4], [1, 5], decimals=1).is_feasible
    assert not feasibility([0.4, 1.0], [1.0, 0.4], [1, 5], decimals=1).is_feasible


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5], [0.5], [1]), "each of at least 2 classes"),
        (([0.5, 0.5], [0.5], [1, 1]), "got 2, 1 and 2"),
        (([0.5, 95.3], [0.5, 0.5], [1, 1]), r"lie in \[0, 1\], got 95.3"),
        (([0.5, math.nan], [0.5, 0.5], [1, 1]), r"lie in \[0, 1\], got nan"),
        (([0.5, 0.5], [0.5, 0.5], [0, 1]), "got 0"),
        (([0.5, 0.5], [0.5, 0.5], [1, (5, 4)]), r"got \(5, 4\)"),
    ],
)
def test_bad_tables_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        feasibility(*arguments)
