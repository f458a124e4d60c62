"""Split scores, of classes and of numbers: their values from the textbook, their sensitivity by brute force."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from algorithms.forests.engine.candidates import below_scores, by_value_score, equals_scores
from algorithms.forests.engine.scores import CODES, SSE_SENSITIVITY, score_sensitivity, squared_error_score

N_CLASSES = 3


def textbook_gini(children):
    return -sum(sum(child) * (1 - sum((n / sum(child)) ** 2 for n in child)) for child in children if sum(child))


def textbook_information(children):
    return -sum(sum(child) * stats.entropy(child, base=2) for child in children if sum(child))


def textbook_max(children):
    return sum(max(child) for child in children)


TEXTBOOK = {"gini": textbook_gini, "information_gain": textbook_information, "max": textbook_max}
SCORES = pytest.mark.parametrize("name", sorted(TEXTBOOK))


def tables(n_records, n_cells):
    """Every way to put so many records into the cells."""
    for bars in itertools.combinations(range(n_records + n_cells - 1), n_cells - 1):
        ends = (-1, *bars, n_records + n_cells - 1)
        yield tuple(stop - start - 1 for start, stop in itertools.pairwise(ends))


def score_of(name, cells):
    return by_value_score(CODES[name], np.array(cells, dtype=np.int64).reshape(-1, N_CLASSES))


def test_all_scores_are_tested():
    assert set(TEXTBOOK) == set(CODES)


@SCORES
@pytest.mark.parametrize("n_children", [1, 2, 3])
def test_one_child_for_every_value(name, n_children):
    rng = np.random.default_rng(0)
    for _ in range(50):
        counts = rng.integers(0, 9, size=(n_children, N_CLASSES))
        assert score_of(name, counts) == pytest.approx(TEXTBOOK[name](counts.tolist()), abs=1e-9)


@SCORES
def test_one_value_against_the_rest_and_all_values_below_a_cut(name):
    rng = np.random.default_rng(1)
    for n_values in (1, 2, 5):
        counts = rng.integers(0, 9, size=(n_values, N_CLASSES))
        totals = counts.sum(axis=0)
        equals = [TEXTBOOK[name]([row.tolist(), (totals - row).tolist()]) for row in counts]
        below = [
            TEXTBOOK[name]([counts[:j].sum(axis=0).tolist(), counts[j:].sum(axis=0).tolist()])
            for j in range(1, n_values)
        ]
        assert equals_scores(CODES[name], counts, totals).tolist() == pytest.approx(equals, abs=1e-9)
        assert below_scores(CODES[name], counts, totals).tolist() == pytest.approx(below, abs=1e-9)


@SCORES
@pytest.mark.parametrize(("n_children", "n_most"), [(1, 8), (2, 6), (3, 5)])
def test_no_record_moves_a_score_by_more_than_the_sensitivity(name, n_children, n_most):
    n_cells = n_children * N_CLASSES
    known = {cells: score_of(name, cells) for n in range(n_most + 2) for cells in tables(n, n_cells)}
    for n in range(n_most + 1):
        largest = max(
            abs(known[cells] - known[(*cells[:i], cells[i] + 1, *cells[i + 1 :])])
            for cells in tables(n, n_cells)
            for i in range(n_cells)
        )
        assert largest <= score_sensitivity(CODES[name], n) + 1e-9
        if name == "max":
            assert largest == 1


@pytest.mark.parametrize("name", ["gini", "information_gain"])
def test_the_sensitivity_is_no_larger_than_it_must_be(name):
    """One record of another class beside n of one class comes as near to the bound as one likes."""
    shares = []
    for n in (10, 1_000, 100_000):
        change = abs(score_of(name, (n, 0, 0)) - score_of(name, (n, 1, 0)))
        shares.append(change / score_sensitivity(CODES[name], n))
    assert shares == sorted(shares)
    assert 0.9999 < shares[-1] <= 1


def test_information_gain_is_in_bits():
    assert score_of("information_gain", (2, 2, 0)) == -4.0
    assert score_sensitivity(CODES["information_gain"], 7) == pytest.approx(3 + 1 / math.log(2))


# Numbers.


def squared_error_of(left, right):
    """The score of the engine from the targets of the two sides."""
    targets = np.concatenate([left, right])
    return squared_error_score(len(targets), targets.sum(), len(left), np.sum(left), (targets**2).sum())


def textbook_squared_error(left, right):
    return -sum(np.sum((side - np.mean(side)) ** 2) for side in (left, right) if len(side))


@pytest.mark.parametrize("n_left", [0, 1, 2, 17])
@pytest.mark.parametrize("n_right", [0, 1, 5])
def test_the_score_of_numbers_is_minus_the_summed_squared_errors_of_the_sides(n_left, n_right):
    rng = np.random.default_rng(2)
    for _ in range(20):
        left, right = rng.uniform(size=n_left), rng.uniform(size=n_right)
        assert squared_error_of(left, right) == pytest.approx(textbook_squared_error(left, right), abs=1e-12)
    equal = np.full(n_left, 0.3), np.full(n_right, 0.8)
    assert squared_error_of(*equal) == pytest.approx(0, abs=1e-12)


def changes(left, right, added):
    """How far one more record moves the score, on either side."""
    before = squared_error_of(left, right)
    return (
        abs(squared_error_of(np.append(left, added), right) - before),
        abs(squared_error_of(left, np.append(right, added)) - before),
    )


def test_no_record_moves_the_score_of_numbers_by_more_than_its_sensitivity():
    """Every table of up to seven targets from {0, 1/2, 1}, and random ones, of which some are near the ends."""
    assert SSE_SENSITIVITY == 1.0
    levels = [0.0, 0.5, 1.0]
    largest = 0.0
    for n_left, n_right in itertools.product(range(8), range(3)):
        sides = (itertools.combinations_with_replacement(levels, n) for n in (n_left, n_right))
        for left, right in itertools.product(*map(list, sides)):
            for added in levels:
                largest = max(largest, *changes(np.array(left), np.array(right), added))
    assert largest == pytest.approx(7 / 8)  # seven targets at one end, and one at the other
    rng = np.random.default_rng(3)
    for _ in range(3000):
        shape = rng.choice([0.05, 0.5, 1.0, 3.0])
        left, right = (rng.beta(shape, rng.choice([0.05, 1.0]), size=rng.integers(30)) for _ in range(2))
        assert max(changes(left, right, rng.choice([0.0, rng.uniform(), 1.0]))) <= SSE_SENSITIVITY


def test_the_sensitivity_of_the_score_of_numbers_is_no_larger_than_it_must_be():
    """A 1 beside n zeros moves the score by n / (n + 1), which comes as near to 1 as one likes but never reaches it."""
    for n in (1, 10, 1_000, 100_000):
        change, elsewhere = changes(np.zeros(n), np.empty(0), 1.0)
        assert change == pytest.approx(n / (n + 1), rel=1e-9) and change < SSE_SENSITIVITY
        assert elsewhere == 0
