"""The exact audit: its laws against enumeration, quadrature and the samplers; what it finds and whom it convicts."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

from algorithms import mechanisms
from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.forests.engine.scores import CODES
from experiments.audit.laws import (
    LABEL_CHOICE,
    LAWS,
    SCORES,
    DiscreteChoice,
    exponential_law,
    find_score_changes,
    find_worst_case,
    find_worst_cases,
    list_small_tables,
    make_split_choice,
    noisy_maximum_law,
    permute_and_flip_law,
)

QUALITIES = [(0, 1, 3), (2, 2, 0, 1), (-4, -4), (5,)]
SETTINGS = [(1.0, 0.5), (2.0, 3.0)]  # sensitivity, epsilon
MARGIN = DiscreteChoice(
    "margin", 1.0, ("class 0", "class 1"), lambda t: np.stack([t[:, 0] - t[:, 1], t[:, 1] - t[:, 0]], axis=1)
)
"""Scores that move apart: an added record takes one up and the other down."""


# Laws.


def flipped(quality, rate):
    """Permute-and-flip as its authors print it: every order of the candidates, each accepted or not."""
    law = np.zeros(len(quality))
    orders = list(itertools.permutations(range(len(quality))))
    for order in orders:
        none_yet = 1 / len(orders)
        for i in order:
            accepted = math.exp(rate * (quality[i] - max(quality)))
            law[i] += none_yet * accepted
            none_yet *= 1 - accepted
    return law


def largest_noisy(quality, rate):
    """The largest of some numbers with Laplace noise, by adaptive quadrature."""
    noise = stats.laplace(scale=1 / rate)

    def density(x, i):
        return noise.pdf(x - quality[i]) * math.prod(noise.cdf(x - q) for j, q in enumerate(quality) if j != i)

    ends = [min(quality) - 60 / rate, *sorted(set(quality)), max(quality) + 60 / rate]
    parts = itertools.pairwise(ends)
    return [
        sum(integrate.quad(density, *part, args=(i,), epsabs=1e-13, epsrel=1e-11)[0] for part in parts)
        for i, parts in zip(range(len(quality)), itertools.tee(parts, len(quality)), strict=True)
    ]


@pytest.mark.parametrize("quality", QUALITIES)
@pytest.mark.parametrize(("sensitivity", "epsilon"), SETTINGS)
def test_the_laws_are_those_of_the_definitions(quality, sensitivity, epsilon):
    def law(of):
        return np.exp(of(np.array([quality]), sensitivity, epsilon)[0])

    rate = epsilon / (2 * sensitivity)
    weights = np.exp(rate * np.array(quality))
    assert law(exponential_law) == pytest.approx(weights / weights.sum(), rel=1e-12)
    assert law(permute_and_flip_law) == pytest.approx(flipped(quality, rate), rel=1e-12)
    assert law(noisy_maximum_law) == pytest.approx(largest_noisy(quality, epsilon / sensitivity), rel=1e-9)


SAMPLERS = {
    "exponential": lambda q, s, e, rng: mechanisms.exponential(q, np.ones(len(q)), s, e, rng),
    "permute_and_flip": mechanisms.permute_and_flip,
    "laplace_vector": lambda q, s, e, rng: np.argmax(mechanisms.laplace_vector(q, s, e, rng)),
}


@pytest.mark.parametrize("mechanism", LAWS)
@pytest.mark.parametrize("quality", [(0.0, 1.0, 3.0), (2.0, 2.0, 0.0)])
def test_the_samplers_draw_from_the_laws(mechanism, quality):
    rng, quality = np.random.default_rng(0), np.array(quality)
    drawn = np.bincount([SAMPLERS[mechanism](quality, 1.0, 0.8, rng) for _ in range(20_000)], minlength=3)
    expected = np.exp(LAWS[mechanism](quality[np.newaxis].astype(int), 1.0, 0.8)[0]) * 20_000
    assert stats.chisquare(drawn, expected).pvalue > 1e-4


def test_laws_are_normalised_on_every_table():
    tables, *_ = list_small_tables(3, 6, REPLACED)
    for law in LAWS.values():
        assert np.exp(law(tables, 1.0, 3.0)).sum(axis=1) == pytest.approx(1, rel=1e-12)


# Tables.


def test_all_tables_and_all_pairs_are_there():
    for relation, moves in (
        (ADDED_OR_REMOVED, {(1, 0, 0), (0, 1, 0), (0, 0, 1)}),
        (REPLACED, set(itertools.permutations((1, -1, 0)))),
    ):
        counts, *pairs = list_small_tables(3, 4, relation)
        assert len(counts) == math.comb(4 + 3, 3) == len(set(map(tuple, counts)))
        found = {tuple(sorted(map(tuple, counts[list(pair)]))) for pair in zip(*pairs, strict=True)}
        expected = {
            tuple(sorted((tuple(one), tuple(other))))
            for one, other in itertools.combinations(counts, 2)
            if {tuple(one - other), tuple(other - one)} & moves
        }
        assert found == expected and len(found) == len(pairs[0])


def test_scores_are_those_of_the_textbook():
    table = np.zeros((1, 12), dtype=int)
    table[0, [0, 1, 3, 8]] = 2, 1, 1, 2  # (a, b, class): (0, 0, 0) twice, (0, 0, 1), (0, 1, 0), (1, 0, 2) twice

    def of(children, side):
        return sum(side(child) for child in children)

    def gini(child):
        return -sum(child) * (1 - sum((n / sum(child)) ** 2 for n in child))

    def information(child):
        return -sum(child) * stats.entropy(child, base=2)

    by_a, by_b = [(3, 1), (2,)], [(2, 1, 2), (1,)]
    for name, side in (("gini", gini), ("information_gain", information), ("max", max)):
        assert make_split_choice(name).quality(table)[0] == pytest.approx([of(by_a, side), of(by_b, side)], rel=1e-12)

    def squares(targets):
        return -sum((y - np.mean(targets)) ** 2 for y in targets)

    expected = [of([(0, 0, 0.5, 0), (1, 1)], squares), of([(0, 0, 0.5, 1, 1), (0,)], squares)]
    assert make_split_choice("squared_error").quality(table)[0] == pytest.approx(expected, rel=1e-12)
    assert set(SCORES) == {*CODES, "squared_error"}


# The audit.


@pytest.fixture(scope="module")
def found():
    return {(row.mechanism, row.score, row.neighbours): row for row in find_worst_cases((1.0,))}


def test_no_choice_of_the_package_pays_more_than_it_is_given(found):
    assert len(found) == 2 * (3 + 2 * 4)
    for (_, _, relation), row in found.items():
        assert row.holds and row.largest > 0.2
        if relation == ADDED_OR_REMOVED:
            assert row.largest <= row.epsilon


def test_scores_and_counts_move_one_way_so_that_choices_pay_half(found):
    """What is left unused: the factor 2 of the exponent, wherever a record is added or removed."""
    for choice in (LABEL_CHOICE, *map(make_split_choice, SCORES)):
        low, high = find_score_changes(choice, ADDED_OR_REMOVED)
        assert min(abs(low), high) == 0 and max(-low, high) <= choice.sensitivity
        assert max(map(abs, find_score_changes(choice, REPLACED))) <= choice.sensitivity
    for (mechanism, _, relation), row in found.items():
        if mechanism != "laplace_vector" and relation == ADDED_OR_REMOVED:
            assert row.largest <= row.epsilon / 2 + 1e-12


@pytest.mark.parametrize(
    ("key", "tightness"),
    [
        (("permute_and_flip", "class counts", ADDED_OR_REMOVED), 0.5),
        (("permute_and_flip", "max", ADDED_OR_REMOVED), 0.5),
        (("permute_and_flip", "max", REPLACED), 1.0),
    ],
)
def test_some_pay_that_to_the_digit(found, key, tightness):
    assert found[key].tightness == pytest.approx(tightness, rel=1e-12)


def test_a_noisy_maximum_pays_nearly_all_and_nearly_twice_where_a_record_is_replaced(found):
    assert 0.95 < found["laplace_vector", "class counts", ADDED_OR_REMOVED].tightness < 1
    assert 1.7 < found["laplace_vector", "class counts", REPLACED].tightness < 2


def test_the_evidence_can_be_checked_by_hand():
    """The two tables of a row give its ratio, in whole numbers: with epsilon = 2 ln 2 every weight is a power of 2."""
    epsilon = 2 * math.log(2)
    for relation, size in ((ADDED_OR_REMOVED, 1), (REPLACED, 0)):
        row = find_worst_case("exponential", LABEL_CHOICE, relation, epsilon)
        assert sum(row.neighbour.values()) - sum(row.table.values()) == size
        shares = []
        for table in (row.table, row.neighbour):
            weights = [Fraction(2) ** table.get(name, 0) for name in LABEL_CHOICE.types]
            shares.append(weights[row.outcome] / sum(weights))
        assert row.largest == pytest.approx(abs(math.log(shares[0] / shares[1])), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_scores_that_move_apart_pay_all_of_it(epsilon):
    """There is no slack in the mechanisms themselves: permute-and-flip loses nothing, the exponential one little."""
    for mechanism in ("exponential", "permute_and_flip"):
        assert find_worst_case(mechanism, MARGIN, ADDED_OR_REMOVED, epsilon).holds
    assert find_worst_case("permute_and_flip", MARGIN, ADDED_OR_REMOVED, epsilon).tightness > 0.87
    assert find_worst_case("exponential", MARGIN, ADDED_OR_REMOVED, 3.0).tightness > 0.99


# Planted faults.


@pytest.mark.parametrize("mechanism", ["exponential", "permute_and_flip"])
def test_a_sensitivity_of_1_for_2_is_convicted(mechanism):
    doubled = DiscreteChoice("twice the margin", 1.0, MARGIN.types, lambda tables: 2 * MARGIN.quality(tables))
    assert not find_worst_case(mechanism, doubled, ADDED_OR_REMOVED, 1.0).holds
    assert find_worst_case(mechanism, replace(doubled, sensitivity=2.0), ADDED_OR_REMOVED, 1.0).holds


def test_the_gini_index_with_a_sensitivity_of_1_is_convicted_where_a_record_is_replaced():
    """Where one is added it is not: that is the unused half."""
    wrong = replace(make_split_choice("gini"), sensitivity=1.0)
    assert not find_worst_case("permute_and_flip", wrong, REPLACED, 1.0).holds
    assert find_worst_case("permute_and_flip", wrong, ADDED_OR_REMOVED, 1.0).holds


@pytest.mark.parametrize("mechanism", ["exponential", "permute_and_flip"])
def test_a_missing_2_in_the_exponent_is_convicted(mechanism):
    def without_2(quality, sensitivity, epsilon):
        return LAWS[mechanism](quality, sensitivity, 2 * epsilon)

    assert not find_worst_case(mechanism, MARGIN, ADDED_OR_REMOVED, 1.0, law=without_2).holds
    assert not find_worst_case(mechanism, LABEL_CHOICE, REPLACED, 1.0, law=without_2).holds


def test_the_one_sided_permute_and_flip_holds_for_counts_until_a_record_is_replaced():
    def one_sided(quality, sensitivity, epsilon):
        return permute_and_flip_law(quality, sensitivity / 2, epsilon)

    added = find_worst_case("permute_and_flip", LABEL_CHOICE, ADDED_OR_REMOVED, 1.0, law=one_sided)
    assert added.holds and added.tightness == pytest.approx(1.0, rel=1e-12)
    assert not find_worst_case("permute_and_flip", LABEL_CHOICE, REPLACED, 1.0, law=one_sided).holds


def test_half_the_noise_on_counts_is_convicted():
    def halved(counts, sensitivity, epsilon):
        return noisy_maximum_law(counts, sensitivity / 2, epsilon)

    for relation in (ADDED_OR_REMOVED, REPLACED):
        assert find_worst_case("laplace_vector", LABEL_CHOICE, relation, 1.0).holds
        assert not find_worst_case("laplace_vector", LABEL_CHOICE, relation, 1.0, law=halved).holds
