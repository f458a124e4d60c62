"""Many trainings of a forest on a tiny table, in one loop that calls the forest's own sampling and grower.

The loop runs in C++, as ``algorithms/native/audit/observed_forests.h`` has it, where both of these are there, too.

What is seen of a tree is what it does with the rows that occur in either of two neighbouring tables: the questions on
their way and the label at the end, the noisy counts and the value that a differing record meets. A cut of a
continuous column counts by its place among the values of these rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.base import clone, is_classifier

from algorithms.encoding.features import Continuous, Nominal
from algorithms.forests import rdt
from algorithms.forests.engine.lazy import label_below, public_cuts
from algorithms.forests.engine.predictor import find_child
from algorithms.forests.engine.tree import BY_VALUE, EQUALS, LEAF, is_on_left
from algorithms.forests.forest import SAMPLINGS, PrivateForest
from algorithms.mechanisms import mix_bits
from algorithms.native import compiled, has_twin
from experiments.audit.neighbouring_tables import RecordValues, TablePair, split_targets
from experiments.audit.observe.trainings import Observation, Observer, RandomStream, begin_training

QUESTION, LABEL, WAY, TREE = 0, 1, 2, 3
SIDES = ("root", "label where the record ends", "way of the record", "tree")
SAMPLINGS_IN_CPP = ("bootstrap", "disjoint", "all")


def train_forests(grow, sampling, plan, table, n_trees, probes, classes, stream, key, first, codes, numbers):
    """Train a forest once for every row of ``codes`` and ``numbers``, and note there what is seen of each tree.

    ``grow`` is (plan, table, rows, rng) -> tree, and ``sampling`` a key of ``SAMPLINGS``; ``probes``, float64 (p, k),
    are rows as the trees see them, the differing record first; ``classes`` positions of those whose counts are noted;
    ``codes``, int64 (n, n_trees, 4), has a place for each of ``SIDES``; ``numbers`` is float64 (n, n_trees, m).
    """
    rng, state, rest = stream
    for i in range(codes.shape[0]):
        begin_training(state, rest, key, first + i)
        samples = list(SAMPLINGS[sampling](len(table.labels), n_trees, rng))  # all before the first tree
        for t in range(n_trees):
            tree = grow(plan, table, samples[t], rng)
            note = note_random_tree if isinstance(tree, rdt.RandomTree) else note_tree
            note(tree, plan, table, probes, classes, codes[i, t], numbers[i, t])


@compiled
def note_tree(nodes, plan, table, probes, classes, codes, numbers):
    """Note what a tree does with the probes.

    Numbers are the noisy counts on the way of each record that differs, then its value: those of the second only from
    where it leaves the first.
    """
    deepest = find_deepest(plan)
    asked, first_way = np.empty(deepest + 1, dtype=np.int64), np.full(deepest + 1, -1)
    n_numbers = deepest + 2
    n_differing = numbers.shape[0] // n_numbers
    tree = np.uint64(0)
    for p in range(probes.shape[0]):
        i, way = follow_row(nodes, probes, p)
        label = nodes[i].label
        if nodes[i].key != 0:
            label = label_below(public_cuts(table), nodes, probes[p], table.n_classes, asked)
            for depth in range(nodes[i].depth, deepest):
                if asked[depth] >= 0:
                    way = mix_bits(way ^ np.uint64(BY_VALUE + 4 * asked[depth]))
        if p < n_differing:
            note_numbers(nodes, probes[p], first_way, numbers[p * n_numbers : (p + 1) * n_numbers])
        if p == 0:
            codes[QUESTION] = number_first_question(nodes, asked, probes)
            codes[LABEL] = label
            codes[WAY] = np.int64(mix_bits(way ^ np.uint64(label)) >> np.uint64(1))
        tree = mix_bits(tree ^ mix_bits(way ^ np.uint64(label)))
    codes[TREE] = np.int64(tree >> np.uint64(1))


def find_deepest(plan):
    """Return the level below which no tree of a plan grows; a sound one goes by its reach."""
    return max(plan.max_depth, plan.reach.most) if hasattr(plan, "reach") else plan.max_depth


def follow_row(nodes, probes, p):
    """Return the node at which a probe ends, and a number for the questions on its way."""
    way, i = np.uint64(0), 0
    while nodes[i].decides != LEAF:
        way = mix_bits(way ^ np.uint64(number_question(nodes[i], probes)))
        i = find_child(nodes[i], probes[p])
    return i, way


def note_numbers(nodes, values, first_way, numbers):
    """Note the noisy counts on the way of a row, and its value, but not those of nodes on a way that was noted before.

    ``first_way``, with the node of each level, is filled by the first row.
    """
    i, is_first = 0, first_way[0] < 0
    while True:
        depth = nodes[i].depth
        is_new = is_first or first_way[depth] != i
        if is_first:
            first_way[depth] = i
        if is_new:
            numbers[depth] = nodes[i].noisy_count
        if nodes[i].decides == LEAF:
            if is_new:
                numbers[-1] = nodes[i].value
            return
        i = find_child(nodes[i], values)


def number_question(node, probes):
    """Return a number for what a node asks; cuts between the same values of the probes are the same question."""
    below, at = 0, 0
    if node.decides != BY_VALUE:
        for p in range(probes.shape[0]):
            below += probes[p, node.feature] < node.cut
            at += probes[p, node.feature] == node.cut
    return node.decides + 4 * (node.feature + 1024 * (below + 1024 * at))


def number_first_question(nodes, asked, probes):
    """Return the number of the root's question, -1 if it asks none; ``asked`` is what lies below a root with a key."""
    if nodes[0].decides != LEAF:
        return number_question(nodes[0], probes)
    return BY_VALUE + 4 * asked[0] if nodes[0].key != 0 and asked[0] >= 0 else -1


def note_random_tree(tree, plan, table, probes, classes, codes, numbers):
    """Note the noisy counts of some classes where the record ends; the questions of a random tree read no row."""
    sums = np.zeros((1, plan.n_classes))
    rdt.add_counts(plan, tree, probes[:1], sums)
    for j in range(classes.shape[0]):
        numbers[j] = sums[0, classes[j]]


class ForestOnTable(Observer):
    """A forest on one of the tables of a pair, ready to be trained many times."""

    def __init__(self, forest: PrivateForest, pair: TablePair, records: tuple[RecordValues, ...], key: int):
        self._forest, self._pair = clone(forest).set_params(domain=pair.domain), pair
        X, y = split_targets(pair.domain, records)
        self.privacy = clone(self._forest).set_params(random_state=0).fit(X, y).privacy_
        self._table, self._grow, self._sample = self._forest.prepare(X, y)
        self._is_random = isinstance(self._forest, rdt.RDTClassifier)
        self._probes = self._forest.rows_to_descend(pair.probe_rows())
        self._classes = _locate_classes(self._forest, pair)
        self._key = np.uint64(key)

    def observe(self, first: int, n: int) -> Observation:
        """Train n times, training number ``first`` and those that follow it."""
        stream, n_trees = RandomStream(self._key), self._forest.count_trees()
        grow, sampling = self._grow.func, self._forest._sampling_rule()
        train: Callable = compiled(train_forests) if has_twin(grow) and sampling in SAMPLINGS_IN_CPP else train_forests
        names, classes = self._name_numbers(), np.array(list(self._classes.values()), dtype=np.int64)
        codes = np.zeros((n, n_trees, len(SIDES)), dtype=np.int64)
        numbers = np.full((n, n_trees, len(names)), np.nan)
        asked = self._table, n_trees, self._probes, classes, stream.parts, self._key, first
        train(grow, sampling, *self._grow.args, *asked, codes, numbers)
        observation = Observation({}, dict(zip(names, np.moveaxis(numbers, 2, 0), strict=True)))
        if not self._is_random:
            observation.codes.update(zip(SIDES, np.moveaxis(codes, 2, 0), strict=True))
        return observation

    def grow_trees(self, training: int) -> list:
        """Return the trees of one training, drawn from its stream as ``fit`` draws them from its own."""
        rng = RandomStream(self._key).start_training(training)
        samples = list(self._sample(len(self._table.labels), self._forest.count_trees(), rng))
        return [self._grow(self._table, rows, rng) for rows in samples]

    def describe_side(self, side: str, training: int, part: int) -> str:
        """Return in words what a side of the model is in one training."""
        nodes = self.grow_trees(training)[part]
        questions, label = self._follow_way(nodes, self._probes[0])
        if side == "root":
            return f"a split by {questions[0]}" if questions else "a leaf"
        if side == "label where the record ends":
            return label
        if side == "way of the record":
            return _describe_way(questions, label)
        ways = []
        for values, probe in zip(self._pair.probe_rows().to_numpy(), self._probes, strict=True):
            way = _describe_way(*self._follow_way(nodes, probe))
            ways.append(f"({', '.join(map(str, values))}): {way}")
        return "; ".join(ways)

    @np.errstate(over="ignore")  # keys are mixed modulo 2^64
    def _follow_way(self, nodes: np.ndarray, row: np.ndarray) -> tuple[list[str], str]:
        questions, i = [], 0
        while nodes["decides"][i] != LEAF:
            questions.append(self._describe_question(nodes["decides"][i], nodes["feature"][i], nodes["cut"][i]))
            i = find_child(nodes[i], row)
        label, plan = nodes["label"][i], self._grow.args[0]
        if nodes["key"][i]:
            features = np.empty(find_deepest(plan), dtype=np.int64)
            label = label_below(public_cuts(self._table), nodes, row, self._table.n_classes, features)
            below = features[nodes["depth"][i] :]
            questions += [self._describe_question(BY_VALUE, feature, 0) for feature in below[below >= 0]]
        return questions, repr(self._forest.classes_.tolist()[label]) if is_classifier(self._forest) else "a number"

    def _describe_question(self, decides: int, feature: int, cut: float) -> str:
        column = self._forest.domain_.features[feature]
        if decides == BY_VALUE:
            return column.name
        if decides == EQUALS and isinstance(column, Nominal):
            return f"{column.name} = {column.categories[int(cut)]}"
        if decides == EQUALS:  # a category that numbers were made to
            return f"{column.name} in its group {int(cut) + 1}"
        if isinstance(column, Nominal):  # some go left: AMONG, or those up to a cut
            named = (str(category) for j, category in enumerate(column.categories) if is_on_left(j, decides, int(cut)))
            return f"{column.name} in {', '.join(named)}"
        values = self._probes[:, feature]
        if (values == cut).any():
            return f"{column.name} <= {self._in_unit(column, cut):g}"
        low, high = values[values < cut].max(initial=-np.inf), values[values > cut].min(initial=np.inf)
        return f"{column.name} between {self._in_unit(column, low):g} and {self._in_unit(column, high):g}"

    def _in_unit(self, column: Continuous, cut: float) -> float:
        """Return a cut as a value of its column, where trees may know the column's bins only."""
        n_bins = self._forest._n_bins()
        cut = cut if n_bins is None else column.lower + (cut + 1) / n_bins * (column.upper - column.lower)
        return min(max(cut, column.lower), column.upper)

    def _name_numbers(self) -> list[str]:
        if self._is_random:
            return [f"noisy count of {name!r} where the record ends" for name in self._classes]
        names = []
        for whose in ("the", "the other")[: len(self._pair.differing_records)]:
            for level in range(find_deepest(self._grow.args[0]) + 1):
                names.append(f"noisy count on level {level} of {whose} record's way")
            names.append(f"value where {whose} record ends")
        return names


def _describe_way(questions: list[str], label: str) -> str:
    """Return a way through a tree in words.

    Examples
    --------
    >>> _describe_way(["size", "colour = red"], "'yes'"), _describe_way([], "'no'")
    ("size, colour = red, then 'yes'", "'no' at once")
    """
    return f"{', '.join(questions)}, then {label}" if questions else f"{label} at once"


def _locate_classes(forest: PrivateForest, pair: TablePair) -> dict:
    if not is_classifier(forest):
        return {}
    classes = forest.classes_.tolist()
    return {record[-1]: classes.index(record[-1]) for record in pair.differing_records}
