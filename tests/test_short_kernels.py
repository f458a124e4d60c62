"""Short functions in place of numpy's, which take longer to compile or to run: each gives what numpy gives."""

import numpy as np
import pytest

from algorithms.forests.engine.candidates import count_up_to, draw_below, first_numbers
from algorithms.forests.forest import SAMPLINGS, _sort_rows


@pytest.mark.parametrize("ascending", [[], [0], [2, 2, 2], [0, 0, 1, 3, 3, 7], list(range(40))])
def test_counting_up_to_a_value_is_searchsorted(ascending):
    for dtype in (np.int64, np.float64):
        numbers = np.array(ascending, dtype=dtype)
        for value in np.arange(-1, 42).astype(dtype):
            assert count_up_to(numbers, value) == np.searchsorted(numbers, value, side="right")


@pytest.mark.parametrize("n", [0, 1, 17])
def test_the_first_numbers_are_arange(n):
    assert np.array_equal(first_numbers(n), np.arange(n)) and first_numbers(n).dtype == np.int64


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
