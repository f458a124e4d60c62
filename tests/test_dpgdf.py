"""DPGDF against a slow reference tree, its splits by brute force, and the law of a leaf as programmed."""

import itertools
import math

import numpy as np
import pytest

from algorithms import Continuous, Domain, DPGDFClassifier, Nominal, ParameterError
from algorithms.accounting.events import ADDED_OR_REMOVED
from algorithms.forests.engine.tree import LEAF
from experiments.audit.attacks.black_box import make_observer
from experiments.audit.laws import (
    DiscreteChoice,
    exponential_law,
    find_worst_case,
    list_small_tables,
    permute_and_flip_law,
)
from experiments.audit.neighbouring_tables import TablePair
from tests.reference_trees import (
    COLUMNS,
    CONTINUOUS,
    EQUALS,
    NOMINAL,
    TABLES,
    as_rows,
    assert_same_trees,
    class_counts,
    divide,
    draw_exponential,
    flip,
    flipped_leaf,
    forest,
    mean_impurity,
    samples_and_streams,
    table,
)

N_SPLITS = sum(COLUMNS[f] for f in NOMINAL)
ONE_TREE = {"n_estimators": None, "max_features": None}


def leaf_by_lead(rows, epsilon, rng):
    counts = sorted(class_counts(rows), reverse=True)
    scores = [1 if count == counts[0] else 0 for count in class_counts(rows)]
    lead = (counts[0] - counts[1]) * epsilon if counts[0] > counts[1] else 0
    sensitivity = math.exp(-min(lead, 690))
    return {"label": draw_exponential(scores, [1] * 3, sensitivity, epsilon, rng, monotone=True), "paid": epsilon}


def by_flips(scores, epsilon, rng):
    return flip(scores, 0.5, epsilon, rng)


def by_weights(scores, epsilon, rng):
    return draw_exponential(scores, [1] * len(scores), 0.5, epsilon, rng)


def left_to_ask(node):
    """Every category of every nominal column that no node above was split by."""
    return [(f, c) for f in NOMINAL for c in range(COLUMNS[f]) if (f, c) not in node["used"]]


def reference_tree(rows, epsilon, depth, rng, draw, end):
    nodes = [{"rows": rows, "depth": 0, "used": []}]
    for node in nodes:
        splits = left_to_ask(node)
        if node["depth"] == depth or not splits:
            node |= end(node["rows"], epsilon / 2, rng)
            continue
        sides = [divide(node["rows"], EQUALS, f, c) for f, c in splits]
        drawn = draw([-round(mean_impurity(two), 12) for two in sides], epsilon / 2 / depth, rng)
        f, c = splits[drawn]
        node |= {"decides": EQUALS, "feature": f, "cut": c, "paid": epsilon / 2 / depth}
        nodes += [{"rows": side, "depth": node["depth"] + 1, "used": [*node["used"], (f, c)]} for side in sides[drawn]]
    return nodes


@TABLES
@pytest.mark.parametrize("epsilon", [900.0, 60.0, 9.0, 0.5])
@pytest.mark.parametrize(
    ("parameters", "draw", "end"),
    [
        ({}, by_flips, leaf_by_lead),
        ({"mechanism": "exponential"}, by_weights, leaf_by_lead),
        ({"variant": "sound"}, by_flips, flipped_leaf),
    ],
    ids=["paper", "exponential", "sound"],
)
def test_it_is_the_reference_tree(seed, epsilon, parameters, draw, end):
    X, y = table(seed, n=300)
    sample, rng = samples_and_streams(X, y, "all")[0]
    model = forest(DPGDFClassifier, epsilon, **ONE_TREE, max_depth=3, **parameters).fit(X, y)
    assert_same_trees(model, [reference_tree(sample, epsilon, 3, rng, draw, end)])


@pytest.mark.parametrize("variant", ["paper", "sound"])
@pytest.mark.parametrize("depth", [4, 12])
def test_without_noise_every_split_is_the_best_that_its_path_has_left(variant, depth):
    X, y = table(1, n=400)
    (nodes,) = forest(DPGDFClassifier, math.inf, **ONE_TREE, max_depth=depth, variant=variant).fit(X, y).trees_
    held, used = {0: as_rows(X, y)}, {0: []}
    for i, node in enumerate(nodes):
        splits = left_to_ask({"used": used[i]})
        assert (node["decides"] == LEAF) == (node["depth"] == min(depth, N_SPLITS))
        if node["decides"] == LEAF:
            counts = class_counts(held[i])
            assert counts[node["label"]] == max(counts)
            continue
        asked = (node["feature"], int(node["cut"]))
        assert node["decides"] == EQUALS and asked in splits
        sides = divide(held[i], EQUALS, *asked)
        best = min(mean_impurity(divide(held[i], EQUALS, f, c)) for f, c in splits)
        assert mean_impurity(sides) == pytest.approx(best, abs=1e-12)
        for k in (0, 1):
            held[node["child"] + k], used[node["child"] + k] = sides[k], [*used[i], asked]
    assert max(nodes["depth"]) == min(depth, N_SPLITS)


@pytest.mark.parametrize("variant", ["paper", "sound"])
def test_numbers_are_not_looked_at(variant):
    X, y = table(0, n=200)
    other = X.copy()
    other[:, CONTINUOUS] = np.random.default_rng(0).uniform(0, 5, size=(200, len(CONTINUOUS)))
    first, second = (forest(DPGDFClassifier, 5.0, **ONE_TREE, variant=variant).fit(rows, y) for rows in (X, other))
    assert first.trees_[0].tobytes() == second.trees_[0].tobytes()
    assert (first.predict(X) == first.predict(other)).all()


def test_numbers_alone_are_refused_in_a_line():
    domain = Domain((Continuous("x", 0, 1), Continuous("z", 0, 1)), Nominal("y", (0, 1)))
    message = r"^DPGDFClassifier leaves numbers out, and needs a nominal column: this domain has none$"
    with pytest.raises(ParameterError, match=message):
        DPGDFClassifier(1.0, domain=domain).fit([[0.5, 0.5]] * 4, [0, 1, 0, 1])


# Privacy.


@pytest.mark.parametrize("n_classes", [2, 3])
def test_no_record_moves_a_mean_impurity_by_more_than_a_half(n_classes):
    """All tables of up to eight records; n rows bound it by 1 - (n / (n + 1))² - (1 / (n + 1))², as BDPT has it."""
    counts, first, second = list_small_tables(2 * n_classes, 8 if n_classes == 2 else 6, ADDED_OR_REMOVED)
    impurities = mean_impurities(counts, n_classes)
    changes = np.abs(impurities[first] - impurities[second])
    assert changes.max() == pytest.approx(0.5)
    rows = counts[first].sum(axis=1)
    assert changes[rows == 0].max() == 0
    for n in range(1, rows.max() + 1):
        assert changes[rows == n].max() == pytest.approx(1 - (n / (n + 1)) ** 2 - (1 / (n + 1)) ** 2)


def mean_impurities(counts, n_classes):
    sides = counts.reshape(-1, 2, n_classes).astype(float)
    n = np.maximum(sides.sum(axis=2), 1)
    return (sides.sum(axis=2) - (sides**2).sum(axis=2) / n).sum(axis=1) / np.maximum(counts.sum(axis=1), 1)


def of_two_columns(tables):
    """Minus the mean impurity by each of two columns of two categories; of two classes."""
    cells = tables.reshape(-1, 2, 2, 2)
    by_column = [cells.sum(axis=2), cells.sum(axis=1)]
    return -np.column_stack([mean_impurities(sides.reshape(len(tables), 4), 2) for sides in by_column])


SPLITS = DiscreteChoice(
    "categories", 0.5, tuple(f"{a}{b}{y}" for a in "01" for b in "01" for y in "01"), of_two_columns
)


@pytest.mark.parametrize("mechanism", ["permute_and_flip", "exponential"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_a_split_costs_its_epsilon_at_most(mechanism, epsilon):
    law = {"permute_and_flip": permute_and_flip_law, "exponential": exponential_law}[mechanism]
    worst = find_worst_case(mechanism, SPLITS, ADDED_OR_REMOVED, epsilon, law=law)
    assert 0.2 * epsilon < worst.largest <= epsilon


def chance_of_other_label(lead, epsilon):
    """As programmed, of two classes with a lead of one."""
    return 1 / (1 + math.exp(epsilon * math.exp(lead * epsilon))) if lead else 0.5


def loss_of_leaf(lead, epsilon):
    return math.log(chance_of_other_label(lead, epsilon) / chance_of_other_label(lead + 1, epsilon))


def test_a_leaf_as_programmed_costs_more_than_its_epsilon_and_more_the_more_rows_it_has():
    """Of epsilon 1, of which a leaf has a half."""
    losses = [loss_of_leaf(lead, 0.5) for lead in range(11)]
    assert losses[0] == pytest.approx(0.4947, abs=1e-3) and losses[0] < 0.5
    assert losses[4] == pytest.approx(2.374, abs=1e-3) and losses[10] == pytest.approx(48.1, abs=0.1)
    assert all(more > 1.5 * fewer for fewer, more in itertools.pairwise(losses[3:]))
    assert loss_of_leaf(1000, 0.01) > loss_of_leaf(600, 0.01) > 0.01, "at any epsilon, with rows enough"


@pytest.mark.parametrize("lead", [0, 1, 3])
def test_the_law_of_a_leaf_is_that_of_the_tree(lead):
    """4,000 trees, grown as the audit does, which are those that ``fit`` grows from the same streams (test_audit)."""
    domain = Domain([Nominal("a", (0, 1))], Nominal("y", (0, 1)))
    rows = ((0, 0),) * 2 + ((0, 1),) * (2 + lead)
    pair = TablePair("one more", domain, rows, (*rows, (0, 1)))
    observer = make_observer(DPGDFClassifier(1.0, max_depth=1, domain=domain), pair, pair.table, 0)
    trees = [observer.grow_trees(training)[0] for training in range(4000)]
    others = np.mean([nodes["label"][1 if nodes["cut"][0] == 0 else 2] == 0 for nodes in trees])
    chance = chance_of_other_label(lead, 0.5)
    assert abs(others - chance) < 4 * math.sqrt(chance * (1 - chance) / 4000)


def test_where_splits_run_out_a_path_ends_and_costs_less():
    domain = Domain((Nominal("a", (0, 1)), Nominal("b", (0, 1))), Nominal("y", (0, 1)))
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5
    model = DPGDFClassifier(2.0, max_depth=8, variant="sound", domain=domain, random_state=0).fit(X, y)
    (nodes,) = model.trees_
    assert set(nodes["depth"][nodes["decides"] == LEAF]) == {4} and len(nodes) == 31
    assert model.privacy_.keeps_claim and model.privacy_.accounted_epsilon == pytest.approx(4 * 2 / 16 + 1, rel=1e-12)
