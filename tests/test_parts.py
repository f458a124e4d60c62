"""A record's part of the rows, in a release: nobody can know it, and no other record changes it.

The attack that this answers: with two trees on disjoint parts, whoever knows ``random_state`` could tell the part of
each row from its position. Take the first row away, and every other row had the part of the one before it. A table was
built on which one tree then sees one class on the table, and another class without its first row.
"""

import json
import math
import os

import numpy as np
import pytest
from scipy import stats

import algorithms
from algorithms import Domain, Nominal, opendp_noise
from algorithms.forests.engine.tree import EQUALS, LEAF
from algorithms.forests.forest import SAMPLINGS
from algorithms.opendp_noise import SecureGenerator
from experiments.audit.attacks.release_path import SEED, build_known_places
from experiments.audit.outcomes import bound_epsilon_by_counts
from tests.plain_python import found_by

pytestmark = pytest.mark.long

SMALLEST_P = 1e-6
N_RELEASES = 60
N_ROWS = 400
DOMAIN = Domain((Nominal("a", (0, 1)),), Nominal("y", (0, 1)))
FORESTS = {
    "EDPRFClassifier": 2,  # levels of nodes; the others have so many levels of splits
    "RFDPPGiniClassifier": 1,
    "DiffPETsClassifier": 1,
    "DiffPRFClassifier": 1,
    "DiffPRFsClassifier": 1,
}


def releases_of_class_0():
    """Print, for each forest, in how many releases tree 0 says class 0: on the table, and without its first row."""
    door = build_known_places(N_ROWS)
    counts = {}
    for name, depth in FORESTS.items():
        model = getattr(algorithms, name)(
            1.0,
            n_estimators=2,
            max_depth=depth,
            variant="sound",
            domain=door.domain,
            noise=os.environ["NOISE"],
            random_state=SEED,
        )
        tables = door.neighbour, door.table
        counts[name] = [sum(says_class_0(model.fit(*table)) for _ in range(N_RELEASES)) for table in tables]
    print(json.dumps(counts))


def says_class_0(model):
    """Whether tree 0 has that label where all rows are: they have the category 0."""
    node = model.trees_[0][0]
    while node["decides"] != LEAF:
        is_on_the_right = node["decides"] == EQUALS and node["cut"] != 0
        node = model.trees_[0][node["child"] + is_on_the_right]
    return bool(node["label"] == 0)


def counted(noise):
    return found_by("test_parts", "releases_of_class_0", NOISE=noise)


@pytest.fixture(scope="module")
def released():
    return counted("opendp")


@pytest.mark.parametrize("name", FORESTS)
def test_who_knows_the_seed_and_all_rows_but_the_first_learns_nothing_of_it(name, released):
    on_table, without_first = released[name]
    for counts in ((on_table, without_first), (without_first, on_table)):
        assert bound_epsilon_by_counts(*counts, N_RELEASES, SMALLEST_P) <= 1.0


def test_the_attack_works_where_the_seed_decides_the_parts():
    """Experiments draw from a seed, so that they can be repeated: who knows it finds the first row out."""
    for counts in counted("numpy").values():
        assert counts == [N_RELEASES, 0]


STREAM = np.random.default_rng(SEED)


def parts_of_an_experiment(n_rows, n_parts, rng=STREAM):
    """The parts of the rows as a seed decides them, one experiment after the other."""
    trees = SAMPLINGS["disjoint"](n_rows, n_parts, rng)
    drawn = np.empty(n_rows, dtype=np.int64)
    for tree, rows in enumerate(trees):
        drawn[rows] = tree
    return drawn


DRAWN = pytest.mark.parametrize(
    "draw", [opendp_noise.draw_secret_parts, parts_of_an_experiment], ids=["release", "experiment"]
)


@DRAWN
@pytest.mark.parametrize("n_parts", [2, 7])
def test_each_row_draws_its_part_by_itself(n_parts, draw):
    """Numbers of rows are binomial: parts of equal size, by a permutation, would tell how the others were drawn."""
    drawn = np.array([draw(60, n_parts) for _ in range(2000)])
    assert stats.chisquare(np.bincount(drawn.ravel(), minlength=n_parts)).pvalue > SMALLEST_P
    of_first_part = np.bincount((drawn == 0).sum(axis=1), minlength=61)
    law = stats.binom(60, 1 / n_parts).pmf(np.arange(61)) * len(drawn)
    bins = np.digitize(np.cumsum(law), np.linspace(0, len(drawn), 6)[1:-1])
    seen, expected = (np.bincount(bins, weights) for weights in (of_first_part, law))
    assert stats.chisquare(seen, expected * seen.sum() / expected.sum()).pvalue > SMALLEST_P
    for i, j in ((0, 1), (0, 59), (30, 31)):
        pairs = np.bincount(drawn[:, i] * n_parts + drawn[:, j], minlength=n_parts**2)
        assert stats.chisquare(pairs, np.full(n_parts**2, len(drawn) / n_parts**2)).pvalue > SMALLEST_P


@DRAWN
def test_parts_of_many_rows_never_come_back(draw):
    """Else a record's part were that of another: whatever the period, parts that far apart would be the same."""
    n_rows = 200_000
    is_first = (draw(n_rows, 7) == 0) - 1 / 7
    likeness = np.fft.irfft(np.abs(np.fft.rfft(is_first, 2 * n_rows)) ** 2)[:n_rows] / (is_first**2).sum()
    assert likeness[0] == pytest.approx(1) and np.abs(likeness[1:]).max() < 7 / math.sqrt(n_rows)


def test_the_secret_parts_of_many_rows_are_all_different():
    assert len(np.unique(opendp_noise.draw_secret_parts(300_000, 2**62))) == 300_000


@pytest.mark.parametrize("n_parts", [2, 3, 7])
def test_in_an_experiment_one_more_row_at_the_end_moves_no_other(n_parts):
    """Their account is that of rows that draw their parts by themselves, so that the others keep theirs."""
    for n_rows in (0, 1, 20, 60):
        some, more = (parts_of_an_experiment(n, n_parts, np.random.default_rng(5)) for n in (n_rows, n_rows + 1))
        assert np.array_equal(some, more[:-1])


@pytest.mark.parametrize("make", [np.random.default_rng, lambda seed: SecureGenerator(np.random.PCG64(seed))])
def test_no_record_is_in_two_parts_and_each_in_one(make):
    trees = SAMPLINGS["disjoint"](N_ROWS, 5, make(SEED))
    assert np.array_equal(np.sort(np.concatenate(trees)), np.arange(N_ROWS))


def test_in_a_release_no_seed_decides_the_part_of_a_row():
    """Compiled, as forests draw it: with the same seed, other parts each time; from the usual generator, the same."""
    parts = [SAMPLINGS["disjoint"](N_ROWS, 2, SecureGenerator(np.random.PCG64(SEED))) for _ in range(2)]
    assert not np.array_equal(parts[0][0], parts[1][0])
    for rows in parts:
        assert np.array_equal(np.sort(np.concatenate(rows)), np.arange(N_ROWS))
    some, others = (SAMPLINGS["disjoint"](N_ROWS, 2, np.random.default_rng(SEED)) for _ in range(2))
    assert all(map(np.array_equal, some, others))


def test_without_a_seed_what_is_public_has_128_bits_of_its_own():
    model = algorithms.ThriftyTreeClassifier(1.0, domain=DOMAIN, noise="opendp")
    roots = {model.seed().entropy for _ in range(20)}
    assert len(roots) == 20 and math.log2(max(roots)) > 100
