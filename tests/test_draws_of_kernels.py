"""Random numbers, rows and codes: each is drawn from the numbers of the generator that its law asks for."""

import numpy as np
import pytest

from algorithms import Continuous, Domain, Nominal
from algorithms.forests.engine.candidates import draw_below, draw_present_code
from algorithms.forests.engine.table import make_table
from algorithms.forests.engine.tree import plant_tree
from algorithms.forests.forest import SAMPLINGS, _sort_rows


def test_numbers_below_another_are_all_drawn_from_one_uniform_number_each():
    drawn, uniform = np.random.default_rng(3), np.random.default_rng(3)
    numbers = [draw_below(7, drawn) for _ in range(200)]
    assert numbers == [int(7 * u) for u in uniform.random(200)] and set(numbers) == set(range(7))


@pytest.mark.parametrize("drawn", [[], [0], [4] * 6, [8] * 9, [0] * 9, [3, 1, 3, 3, 0, 3, 3], [5, 4, 3, 2, 1, 0]])
def test_rows_are_sorted_however_often_one_was_drawn(drawn):
    n = len(drawn)
    ordered = np.full(n + 4, 99, dtype=np.uint32)
    _sort_rows(np.array(drawn, dtype=np.int64), np.zeros(n, dtype=np.uint32), ordered)
    assert ordered[:n].tolist() == sorted(drawn)


@pytest.mark.parametrize("n_rows", [0, 1, 2, 1000])
def test_rows_drawn_with_replacement_are_those_of_the_generator(n_rows):
    samples = list(SAMPLINGS["bootstrap"](n_rows, 3, np.random.default_rng(5)))
    rng = np.random.default_rng(5)
    for sample in samples:
        expected = np.sort(rng.integers(0, max(n_rows, 1), size=n_rows))
        assert np.array_equal(sample, expected) and sample.dtype == np.uint32
    assert len(samples) == 3


@pytest.mark.parametrize("n_rows", [1, 3, 40, 1500])
@pytest.mark.parametrize("n_values", [1, 2, 30, 400])
def test_a_code_that_rows_have_is_drawn_by_the_order_in_which_they_first_show_it(n_rows, n_values):
    rng = np.random.default_rng(n_rows * n_values)
    values = np.minimum(rng.integers(0, n_values, 3000), rng.integers(0, n_values, 3000)).astype(float)  # some are rare
    labels = rng.integers(0, 2, 3000)
    domain = Domain([Continuous("x", 0, n_values)], Nominal("y", [0, 1]))
    table = make_table(values[:, None], domain, labels)
    rows = np.sort(rng.choice(3000, n_rows, replace=False)).astype(np.uint32)
    growth = plant_tree(table, rows)
    present = list(dict.fromkeys(table.codes[0, rows[np.argsort(labels[rows], kind="stable")]].tolist()))
    drawn, uniform = np.random.default_rng(3), np.random.default_rng(3)
    codes = [draw_present_code(growth, table, 0, 0, drawn) for _ in range(50)]
    assert codes == [present[int(len(present) * u)] for u in uniform.random(50)]
