"""Selections that go without the 2 in their exponent: their law, and that they hold for what they are used on, alone.

All tables of up to six records are enumerated by ``experiments.audit.laws``, which shares no code with the
samplers.
"""

import numpy as np
import pytest
from scipy import stats

from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.mechanisms import exponential, permute_and_flip
from experiments.audit.laws import (
    LABEL_CHOICE,
    LAWS,
    SCORES,
    DiscreteChoice,
    find_score_changes,
    find_worst_case,
    make_split_choice,
)

SELECTIONS = pytest.mark.parametrize("mechanism", ["exponential", "permute_and_flip"])
MONOTONE = pytest.mark.parametrize(
    "choice", [LABEL_CHOICE, *map(make_split_choice, SCORES)], ids=lambda choice: choice.name
)
MARGIN = DiscreteChoice(
    "margin", 1.0, ("class 0", "class 1"), lambda t: np.stack([t[:, 0] - t[:, 1], t[:, 1] - t[:, 0]], axis=1)
)
"""Scores that move apart."""


def one_sided(mechanism):
    return lambda quality, sensitivity, epsilon: LAWS[mechanism](quality, sensitivity / 2, epsilon)


def draw(mechanism, quality, sensitivity, epsilon, rng, monotone):
    if mechanism == "exponential":
        return exponential(quality, np.ones(len(quality)), sensitivity, epsilon, rng, monotone)
    return permute_and_flip(quality, sensitivity, epsilon, rng, monotone)


@SELECTIONS
def test_a_monotone_selection_follows_the_one_sided_law(mechanism):
    rng, quality = np.random.default_rng(0), np.array([0.0, 1.0, 3.0])
    drawn = np.bincount([draw(mechanism, quality, 2.0, 1.0, rng, True) for _ in range(20_000)], minlength=3)
    expected = np.exp(one_sided(mechanism)(quality[np.newaxis], 2.0, 1.0)[0]) * 20_000
    assert stats.chisquare(drawn, expected).pvalue > 1e-4
    other = np.exp(LAWS[mechanism](quality[np.newaxis], 2.0, 1.0)[0]) * 20_000
    assert stats.chisquare(drawn, other).pvalue < 1e-30


@SELECTIONS
def test_it_is_the_selection_with_half_the_sensitivity_draw_by_draw(mechanism):
    quality = np.random.default_rng(1).normal(size=12)
    for seed in range(50):
        some, others = np.random.default_rng(seed), np.random.default_rng(seed)
        assert draw(mechanism, quality, 2.0, 3.0, some, True) == draw(mechanism, quality, 1.0, 3.0, others, False)


@MONOTONE
def test_an_added_record_moves_all_scores_one_way(choice):
    low, high = find_score_changes(choice, ADDED_OR_REMOVED)
    assert (low == 0 or high == 0) and max(-low, high) <= choice.sensitivity * (1 + 1e-12)


@MONOTONE
@SELECTIONS
@pytest.mark.parametrize("epsilon", [0.1, 3.0])
def test_no_record_that_comes_or_goes_costs_more_than_epsilon(mechanism, choice, epsilon):
    row = find_worst_case(mechanism, choice, ADDED_OR_REMOVED, epsilon, law=one_sided(mechanism))
    assert row.holds and row.tightness > 0.3


@SELECTIONS
def test_labels_by_permute_and_flip_lose_nothing_and_the_exponential_mechanism_something(mechanism):
    row = find_worst_case(mechanism, LABEL_CHOICE, ADDED_OR_REMOVED, 1.0, law=one_sided(mechanism))
    assert (row.tightness > 1 - 1e-9) == (mechanism == "permute_and_flip")


@SELECTIONS
def test_it_does_not_hold_for_other_scores_or_neighbours(mechanism):
    assert not find_worst_case(mechanism, MARGIN, ADDED_OR_REMOVED, 1.0, law=one_sided(mechanism)).holds
    assert not find_worst_case(mechanism, LABEL_CHOICE, REPLACED, 1.0, law=one_sided(mechanism)).holds
