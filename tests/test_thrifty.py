"""The thrifty tree against a slow reference tree, its score by brute force, and what its branches spend."""

import math

import numpy as np
import pytest

import datasets
from algorithms import ThriftyTreeClassifier
from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.forests.engine.tree import LEAF
from algorithms.forests.thrifty_tree import question_score
from experiments.audit.laws.mechanism_laws import permute_and_flip_law
from experiments.audit.laws.worst_cases import (
    SCORES,
    DiscreteChoice,
    find_score_changes,
    find_worst_case,
    make_split_choice,
)
from tests.reference_trees import (
    BELOW,
    BY_VALUE,
    COLUMNS,
    CONTINUOUS,
    SEED,
    TABLES,
    assert_same_trees,
    class_counts,
    divide,
    flip,
    flipped_leaf,
    forest,
    gini,
    noisy,
    public_bins,
    table,
)

N_BINS = 6


def question(*sides):
    """The mean of two measures of a split, each of which grows by 0 to 1 with a record."""
    largest = sum(max(class_counts(side)) for side in sides)
    halved = (gini(*sides) + 2 * sum(map(len, sides))) / 2
    return (largest + halved) / 2


def reference_tree(sample, epsilon, depth, rng):
    """As the docstring tells it; ``left`` is what the path to a node has not spent."""
    start = [(public_bins(values, N_BINS), label) for values, label in sample]
    enough = math.inf if math.isinf(epsilon) else 50
    first = {"rows": start, "depth": 0, "open": list(range(len(COLUMNS))), "left": epsilon, "counting": epsilon / 20}
    nodes = [first]
    for node in nodes:
        rows, counting = node["rows"], node["counting"]
        errors = node["noisy_count"] = noisy(len(rows) - max(class_counts(rows)), counting, rng)
        left = math.inf if math.isinf(epsilon) else node["left"] - counting
        is_worth_it = node is first or (errors > 25 / left and errors > 1 / counting)
        if node["depth"] == depth or not node["open"] or not is_worth_it:
            end = flipped_leaf(rows, left, rng)
            node |= end | {"paid": counting + end["paid"]}
            continue
        splits = []
        for f in node["open"]:
            if f in CONTINUOUS:
                splits += [(f, BELOW, cut, divide(rows, BELOW, f, cut)) for cut in range(N_BINS - 1)]
            else:
                sides = [[row for row in rows if row[0][f] == value] for value in range(COLUMNS[f])]
                splits.append((f, BY_VALUE, None, sides))
        asking = min(enough / max(errors, 1), left / 2)
        f, decides, cut, sides = splits[flip([question(*split[-1]) for split in splits], 1, asking, rng, monotone=True)]
        node |= {"decides": decides, "feature": f, "cut": cut, "n_children": len(sides), "paid": counting + asking}
        left = math.inf if math.isinf(epsilon) else left - asking
        others = [other for other in node["open"] if other != f or decides == BELOW]
        counting = min(enough / max(errors, 1), left / 10)
        common = {"depth": node["depth"] + 1, "open": others, "left": left, "counting": counting}
        nodes += [{"rows": side} | common for side in sides]
    return nodes


@TABLES
@pytest.mark.parametrize("epsilon", [math.inf, 900.0, 60.0, 9.0])
def test_it_is_the_reference_tree(seed, epsilon):
    X, y = table(seed, n=300)
    _, stream = np.random.SeedSequence(np.random.RandomState(SEED).randint(2**31 - 1)).spawn(2)
    sample = list(zip(X.tolist(), y, strict=True))
    model = forest(ThriftyTreeClassifier, epsilon, n_estimators=None, max_features=None, n_bins=N_BINS).fit(X, y)
    assert_same_trees(model, [reference_tree(sample, epsilon, 4, np.random.default_rng(stream))])


# Its score and its count, on all tables of up to six records.

GINI = make_split_choice("gini")


def of_question(tables):
    parts = make_split_choice("max").quality(tables), GINI.quality(tables)
    return question_score(*parts, tables.sum(axis=1, keepdims=True))


QUESTION = DiscreteChoice("question", 1.0, GINI.types, of_question)
ERRORS = DiscreteChoice(
    "errors", 1.0, ("class 0", "class 1", "class 2"), lambda t: t.sum(axis=1, keepdims=True) - t.max(1)[:, None]
)


def one_sided(quality, sensitivity, epsilon):
    return permute_and_flip_law(quality, sensitivity / 2, epsilon)


def test_the_score_is_that_of_the_reference():
    def rows(cells):
        return [(None, c) for c, n in enumerate(cells) for _ in range(n)]

    tables = np.random.default_rng(0).integers(0, 4, size=(20, 12))
    cells = tables.reshape(-1, 2, 2, 3)
    by_a = [question(*map(rows, one.sum(axis=1))) for one in cells]
    assert of_question(tables)[:, 0] == pytest.approx(by_a, rel=1e-12)


@pytest.mark.parametrize("what", [QUESTION, ERRORS], ids=lambda choice: choice.name)
def test_score_and_errors_grow_by_0_to_1_with_a_record(what):
    lowest, highest = find_score_changes(what, ADDED_OR_REMOVED)
    assert 0 <= lowest < 0.1 and highest == pytest.approx(1.0, abs=1e-12)


def test_a_question_costs_its_epsilon_where_a_record_comes_or_goes_and_more_where_one_is_replaced():
    for epsilon in (0.1, 1.0, 3.0):
        row = find_worst_case("permute_and_flip", QUESTION, ADDED_OR_REMOVED, epsilon, law=one_sided)
        assert row.holds and row.tightness > 0.8
    assert not find_worst_case("permute_and_flip", QUESTION, REPLACED, 1.0, law=one_sided).holds
    assert set(SCORES) >= {"gini", "max"}


# What it spends.


def spent_above(nodes):
    """What the nodes above each one have paid, by walking down."""
    above = np.zeros(len(nodes))
    waiting = [(0, 0.0)]
    inner = np.flatnonzero(nodes["decides"] != LEAF)
    ends = dict(zip(inner, [*nodes["child"][inner][1:], len(nodes)], strict=True))
    while waiting:
        i, paid = waiting.pop()
        above[i] = paid
        if i in ends:
            waiting += [(child, paid + nodes["epsilon"][i]) for child in range(nodes["child"][i], ends[i])]
    return above


@pytest.mark.parametrize("name", ["nursery", "car", "adult", "congvote"])
@pytest.mark.parametrize("epsilon", [0.1, 3.0])
def test_every_path_spends_the_budget_and_the_root_little_where_it_has_many_errors(name, epsilon):
    if not datasets.is_available(name):
        pytest.skip(f"{name} is not there")
    data = datasets.load(name)
    model = ThriftyTreeClassifier(epsilon, domain=data.domain, random_state=0).fit(data.frame, data.target)
    (nodes,) = model.trees_
    total = spent_above(nodes) + nodes["epsilon"]
    is_leaf = nodes["decides"] == LEAF
    np.testing.assert_allclose(total[is_leaf], epsilon, rtol=1e-12)
    assert not is_leaf[0] and (total <= epsilon * (1 + 1e-12)).all()
    n_errors = len(data.target) - data.target.value_counts().max()
    if n_errors * epsilon > 500:
        assert nodes["epsilon"][0] < epsilon * 0.05 + 1.2 * 50 / n_errors
    assert model.privacy_.keeps_claim and model.privacy_.accounted_epsilon == pytest.approx(epsilon, rel=1e-12)


def test_branches_end_where_the_budget_does():
    data = datasets.load("nursery")
    sizes = []
    for epsilon in (0.02, 0.2, 2.0, 20.0):
        model = ThriftyTreeClassifier(epsilon, domain=data.domain, random_state=0).fit(data.frame, data.target)
        sizes.append(len(model.trees_[0]))
        assert not model.trees_[0]["exact"].any() and not model.trees_[0]["key"].any()
    assert sizes == sorted(sizes) and sizes[-1] > 20 * sizes[0]
