"""Kernels check what they are given: what would be read or written somewhere else is refused, with what and where."""

from types import SimpleNamespace

import numpy as np
import pytest

import algorithms
from algorithms import Continuous, Domain, Nominal
from algorithms.data_replacement import c45
from algorithms.encoding.clipping import clip_compiled
from algorithms.forests import edprf, rdt, thrifty_regressor
from algorithms.forests.engine import lazy, predictor
from algorithms.forests.engine.tree import AMONG, BELOW, BY_VALUE
from algorithms.forests.forest import _sort_rows
from algorithms.native import is_plain
from algorithms.regression import design, moments, objective
from tests import fuzz

pytestmark = pytest.mark.skipif(is_plain(), reason="the Python runs here")

DOMAIN = Domain((Continuous("a", 0, 1), Nominal("b", (0, 1, 2))), Nominal("y", (0, 1)))
ROWS = np.column_stack([np.linspace(0, 1, 60), np.arange(60) % 3])
LABELS = np.arange(60) // 7 % 2


def grown(forest, **parameters):
    """Return a grower with its plan, the table and the rows of a tree, and such a tree with its rows to descend."""
    model, growing = (forest(5.0, domain=DOMAIN, random_state=0, **parameters) for _ in range(2))
    table, grow, _ = growing.prepare(ROWS, LABELS)  # which forgets a fit
    model.fit(ROWS, LABELS)
    return SimpleNamespace(
        model=model, table=table, grow=grow, rows=np.arange(60, dtype=np.uint32), matrix=model.rows_to_descend(ROWS)
    )


def changed(array, place, value):
    """Return a copy with another value in a place; a field of a record is named in the place."""
    copy = array.copy()
    if isinstance(place, tuple):
        copy[place[0]][place[1]] = value
    else:
        copy[place] = value
    return copy


FOREST = grown(algorithms.DiffPETsClassifier, variant="sound", max_depth=3)
TREE = FOREST.model.trees_[0]
BY_VALUES = grown(algorithms.EDPRFClassifier, max_depth=3)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("child", 0), 0, "node 0 asks column .* from 0 on"),
        (("child", 0), -7, "node 0 .* from -7 on"),
        (("child", 0), 2**30, "not all of them behind it in a tree of"),
        (("feature", 0), 2, "node 0 asks column 2 of 2"),
        (("feature", 0), -3, "node 0 asks column -3"),
        (("depth", 0), 99, "the depth of node 0 is 99"),
        (("depth", len(TREE) - 1), 31, "deeper than any that grows"),
        (("label", slice(None)), 2, "the label of a leaf 0 is 2, not one of the 2"),
        (("label", slice(None)), -1, "the label of a leaf 0 is -1"),
    ],
)
def test_a_tree_that_leads_out_of_itself_is_refused(place, value, message):
    with pytest.raises(ValueError, match=message):
        predictor.add_votes(changed(TREE, place, value), FOREST.matrix, np.zeros((60, 2)))


@pytest.mark.parametrize("value", [3, -1, 1e300])
def test_a_value_without_a_child_is_refused(value):
    tree = np.zeros(4, dtype=TREE.dtype)
    tree[0]["decides"], tree[0]["child"], tree["depth"][1:] = BY_VALUE, 1, 1
    predictor.find_leaves(tree, np.full((1, 1), 2.0))
    with pytest.raises(ValueError, match=r"is none of the 3 categories, or bins"):
        predictor.find_leaves(tree, np.full((1, 1), float(value)))
    tree[0]["decides"] = AMONG
    with pytest.raises(ValueError, match=r"is none of the 63 categories"):
        predictor.find_leaves(tree, np.full((1, 1), 70.0 if value == 3 else float(value)))


def test_a_forest_that_is_asked_with_more_bins_than_it_has_is_refused():
    forest = BY_VALUES.model
    more = BY_VALUES.matrix + 5
    with pytest.raises(ValueError, match=r"none of the \d+ categories"):
        lazy.add_votes_on_demand(forest.n_cuts_, forest.trees_[0], more, np.zeros((60, 2)))


def test_arrays_that_do_not_fit_are_refused():
    matrix, leaf = FOREST.matrix, TREE[-1:].copy()
    leaf["depth"] = 0
    with pytest.raises(ValueError, match=r"rows of the sums: there are 59, not 60"):
        predictor.add_votes(TREE, matrix, np.zeros((59, 2)))
    with pytest.raises(ValueError, match="a tree needs a node"):
        predictor.find_leaves(TREE[:0], matrix)
    with pytest.raises(ValueError, match="the first share of node 0 is -1"):
        predictor.add_shares(leaf, matrix, np.zeros((60, 1)))
    with pytest.raises(ValueError, match="columns of the sums: there are 0"):
        predictor.add_values(leaf, matrix, np.zeros((60, 0)))
    with pytest.raises(ValueError, match=r"n_cuts: there are 1, not 2"):
        lazy.add_votes_on_demand(np.zeros(1, dtype=np.int64), TREE, matrix, np.zeros((60, 2)))
    keyed = leaf.copy()
    keyed["key"], keyed["label"] = 5, 31
    with pytest.raises(ValueError, match=r"levels of a path: there are 30, not 31 or more"):
        lazy.add_votes_on_demand(np.zeros(2, dtype=np.int64), keyed, matrix, np.zeros((60, 2)))
    with pytest.raises(ValueError, match="numbers to clip: there are 3, not 2"):
        clip_compiled(np.zeros(3), 0.0, 1.0, np.zeros(2))
    with pytest.raises(ValueError, match="drawn row 1 is 3, not one of the 3"):
        _sort_rows(np.array([0, 3, 1]), np.zeros(3, dtype=np.uint32), np.zeros(7, dtype=np.uint32))
    with pytest.raises(ValueError, match="rows that are counted: there are 30, not 3"):
        _sort_rows(np.array([0, 2, 1]), np.full(3, 9, dtype=np.uint32), np.zeros(7, dtype=np.uint32))
    with pytest.raises(ValueError, match="lines: there are 1, not 2"):
        design._read_table(np.zeros((1, 3)), np.ones((3, 2)), 1.0, 0.0, np.zeros((3, 2)), np.zeros(2, dtype=np.int64))
    with pytest.raises(ValueError, match="the group of value 1 is 4, not one of the 2"):
        moments.add_noise_by_group(np.zeros(2), np.array([0, 4]), np.ones(2), np.random.default_rng(0))
    with pytest.raises(ValueError, match="sensitivities: there are 1, not 2"):
        objective.add_noise(np.zeros(2), np.ones(1), np.ones(2), np.random.default_rng(0))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"codes": lambda table: changed(table.codes, (1, 5), 3)}, r"column 1: code 5 is 3, not one of the 3"),
        ({"codes": lambda table: table.codes.astype(np.int64)}, "codes: no array of the type"),
        ({"codes": lambda table: np.asfortranarray(table.codes)}, "codes: no array of the type, dimensions and order"),
        ({"labels": lambda table: changed(table.labels, 9, 2)}, "label 9 is 2, not one of the 2"),
        ({"labels": lambda table: table.labels[:-1].copy()}, "labels: there are 59, not 60"),
        ({"labels": lambda table: table.labels.astype(np.int64)}, "labels: no array of the type"),
        ({"n_codes": lambda table: table.n_codes + 1}, "levels: not one for each code"),
        ({"n_codes": lambda table: table.n_codes[:1].copy()}, "columns of a table: there are 1, not 2"),
        ({"n_classes": lambda table: 0}, "no class, or over 65,536"),
        ({"n_classes": lambda table: 2**16 + 1}, "no class, or over 65,536"),
    ],
)
@pytest.mark.parametrize("forest", [FOREST, BY_VALUES])
def test_a_table_with_codes_or_labels_out_of_their_range_is_refused(changes, message, forest):
    table = forest.table
    forest.grow(table, forest.rows, np.random.default_rng(0))
    wrong = table._replace(**{name: change(table) for name, change in changes.items()})
    with pytest.raises(ValueError, match=message):
        forest.grow(wrong, forest.rows, np.random.default_rng(0))


def test_codes_that_somebody_can_write_into_are_checked_each_time():
    table = FOREST.table._replace(codes=FOREST.table.codes.copy())
    FOREST.grow(table, FOREST.rows, np.random.default_rng(0))
    table.codes[0, 0] = table.n_codes[0]
    with pytest.raises(ValueError, match="column 0: code 0 is"):
        FOREST.grow(table, FOREST.rows, np.random.default_rng(0))
    with pytest.raises(ValueError, match="read-only"):
        FOREST.table.codes[0, 0] = 0


def test_rows_and_plans_that_a_table_has_not_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="row 0 is 60"):
        FOREST.grow(FOREST.table, np.array([60], dtype=np.uint32), rng)
    plan = BY_VALUES.grow.args[0]
    with pytest.raises(ValueError, match="split_epsilon: there are 1, not 3 or more"):
        edprf.grow_tree(
            plan._replace(split_epsilon=plan.split_epsilon[:1].copy()), BY_VALUES.table, BY_VALUES.rows, rng
        )
    with pytest.raises(ValueError, match="max_depth 0 is 99999, not one of the 31"):
        edprf.grow_tree(plan._replace(max_depth=99_999), BY_VALUES.table, BY_VALUES.rows, rng)
    tree = grown(algorithms.ThriftyTreeClassifier)
    with pytest.raises(ValueError, match="targets: there are 0, not 60"):
        thrifty_regressor.grow_tree(tree.grow.args[0], tree.table, tree.rows, rng)


@pytest.mark.parametrize("k", [32_768, 70_000])
def test_random_trees_ask_any_of_many_columns(k):
    """A node kept its column in 16 bits."""
    plan = rdt.RDTPlan(3, 1.0, np.full(k, 2), np.ones(k, dtype=bool), np.zeros(k), np.ones(k), 2)
    rows = rdt.TrainingRows(np.random.default_rng(0).random((20, k)), np.arange(20) % 2)
    tree = rdt.grow_lazily(plan, rows, np.arange(20, dtype=np.uint32), np.random.default_rng(5))
    plain = rdt.grow_lazily.__wrapped__(plan, rows, np.arange(20, dtype=np.uint32), np.random.default_rng(5))
    assert (tree.nodes["feature"] == plain.nodes["feature"]).all() and tree.nodes["feature"].max() >= k // 2
    assert (tree.noisy_counts == plain.noisy_counts).all()


def test_random_trees_refuse_what_is_not_theirs():
    plan = rdt.RDTPlan(4, 1.0, np.array([2, 3]), np.array([True, False]), np.zeros(2), np.ones(2), 2)
    rows, numbers = rdt.TrainingRows(ROWS, LABELS), np.arange(60, dtype=np.uint32)
    tree = rdt.grow_lazily(plan, rows, numbers, np.random.default_rng(0))
    for wrong, message in (
        ((plan, rows._replace(labels=LABELS + 1)), "label 7 is 2, not one of the 2"),
        ((plan, rows._replace(matrix=ROWS + 5)), "a value of .* is none of the 3 categories"),
        ((plan._replace(lower=np.zeros(1)), rows), "columns of the plan: there are 1, not 2"),
        ((plan._replace(n_children=np.array([1, 3])), rows), "has no children"),
    ):
        with pytest.raises(ValueError, match=message):
            rdt.grow_lazily(*wrong, numbers, np.random.default_rng(0))
    asks = int(np.flatnonzero(tree.nodes["feature"] >= 0)[0])
    leaf = int(np.flatnonzero(tree.nodes["child"] == 0)[0])
    for nodes, message in (
        (changed(tree.nodes, ("feature", asks), 2), "the column of node 0 is 2"),
        (changed(tree.nodes, ("child", asks), len(tree.nodes)), "not all of them behind it"),
        (changed(tree.nodes, ("child", leaf), 999), f"the counts of node {leaf} is 999"),
        (tree.nodes.astype(np.dtype([("cut", "f8"), ("child", "i4"), ("feature", "i2")])), "not of the type"),
    ):
        with pytest.raises(ValueError, match=message):
            rdt.add_counts(plan, tree._replace(nodes=nodes), ROWS, np.zeros((60, 2)))
    with pytest.raises(ValueError, match="classes of the sums: there are 1, not 2 or more"):
        rdt.add_counts(plan, tree, ROWS, np.zeros((60, 1)))


def test_a_cut_that_leaves_a_side_empty_does_not_come_again_for_ever():
    """Between neighbouring float64 numbers no other is the middle; C4.5 rounds its rows to float32."""
    low, high = 1 + 2.0**-52, 1 + 2.0**-51
    columns, codes = np.array([[low] * 30 + [high] * 30]), np.repeat([0, 1], 30)
    logs = c45._multiply_by_log(60)
    with pytest.raises(ValueError, match="all rows on one side"):
        c45._cut_nodes(columns, codes, np.argsort(columns, axis=1), 2, logs)
    for order, message in (
        (np.zeros((1, 60), dtype=np.int64), "has not every row once"),
        (np.zeros((1, 59), int), "59"),
    ):
        with pytest.raises(ValueError, match=message):
            c45._cut_nodes(columns, codes, order, 2, logs)
    with pytest.raises(ValueError, match="the class of row 30 is 1, not one of the 1"):
        c45._cut_nodes(columns, codes, np.argsort(columns, axis=1), 1, logs)


def test_every_step_of_some_odd_cases_answers_or_refuses(capsys):
    outcomes, failed = fuzz.run_cases(1, range(3 * len(fuzz.ESTIMATORS)))
    assert failed == [] and outcomes["stopped"] == 0
    assert outcomes["answered"] > 3 * len(fuzz.ESTIMATORS) < outcomes["refused"]


def test_a_case_is_the_same_again():
    assert fuzz.run_case(3, 11) == fuzz.run_case(3, 11)


def test_below_is_what_a_cut_is_compared_with():
    """What stands at a cut goes left, and NaN, which no table has, too: nothing is read out of place."""
    tree = np.zeros(3, dtype=TREE.dtype)
    tree[0]["decides"], tree[0]["child"], tree[0]["cut"], tree["depth"][1:] = BELOW, 1, 0.5, 1
    assert predictor.find_leaves(tree, np.array([[0.5], [0.6], [np.nan]])).tolist() == [1, 2, 1]
