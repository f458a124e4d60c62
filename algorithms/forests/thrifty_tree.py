"""The thrifty tree: one private decision tree that pays for a question only as much as the question needs. Ours.

A forest divides its rows, or its budget, over its trees; a single tree keeps both. This one saves, too: where a node
has many errors, a small part of the budget finds a good question all the same, so that most of it is left for the nodes
below, which have few. How deep a branch goes follows from what is left and from how many errors, counted with noise, a
question could still mend. All that it decides by has been paid for, so that the whole tree may be published.

Its constants, and what it asks, were chosen by mean accuracy on the seventeen classification sets that
``conf/tuning.yaml`` lists under ``chosen_on``, epsilon from 0.1 to 5, with splits that no published study uses (seeds
from 1000; on Adult, within the rows to train on). The choice is flat: half as much of any of them, or half as much
again, costs less than a point on average, but for half of `TOO_FEW`, which costs a point and a half.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from algorithms.accounting.events import Event, Sequential, Spent
from algorithms.accounting.faults import Fault
from algorithms.encoding.bins import public_cuts
from algorithms.encoding.features import Continuous
from algorithms.forests.engine.candidates import class_counts, count_by_code, draw_features, public_split
from algorithms.forests.engine.table import Table, fix_codes, make_table
from algorithms.forests.engine.tree import (
    BELOW,
    EQUALS,
    LEAF,
    NEW_NODE,
    add_up,
    make_leaf,
    plant_tree,
    split_by_value,
    split_in_two,
    take_nodes,
    unused_features,
)
from algorithms.forests.forest import (
    SAMPLINGS,
    OneTree,
    PrivateForest,
    PrivateForestClassifier,
    draw_label,
    label_leaf,
)
from algorithms.mechanisms import laplace_vector, permute_and_flip
from algorithms.native import compiled
from algorithms.parameters import check_count, parameter, with_parameters

ENOUGH = 50.0
"""What a question, or a count, is worth: its epsilon times the errors of the node that it is asked for."""

TOO_FEW = 25.0
"""A node with fewer errors than this, times the epsilon that it has left, is a leaf."""

ROOT_SHARE, COUNT_SHARE, QUESTION_SHARE = 0.05, 0.1, 0.5
"""Of epsilon: the count of the root. Of what is left: the most that a count below the root, or a question, may cost."""

SHRINKAGE = 4.0
"""Records, times the epsilon of their count, added to both classes of a ratio: where noise is large, it says little."""

SPREAD = 1 / 3
"""Where the largest class has less than this of a node's records, its question is to keep the classes apart."""

CHILD_COST = 1.0
"""Records, times the epsilon that is left, that a child after the second must mend: its label is noisy, too."""

EXACT = 0.25
"""Scale of the noise up to which the counts of a node are as good as exact."""

CAUTION = 1.2
"""By how many standard errors more often than its own rows a leaf is expected to err on others."""


class ThriftyPlan(NamedTuple):
    """What the tree may spend, of classes or of numbers."""

    max_depth: int
    epsilon: float
    root_epsilon: float  #: of the count of the root, or the look at it
    enough: float  #: infinite without noise
    draws_labels: bool  #: a leaf draws its label, and does not say how likely each class is
    asks_half: bool  #: a node looks at a random half of the features only, so that many trees differ


class Seen(NamedTuple):
    """What a node knows of its rows, with noise."""

    errors: float  #: records that are not of the largest class
    n: float  #: records
    largest: int  #: the largest class
    is_spread: bool  #: no class has as much as `SPREAD` of the records
    weight: float  #: of its records where classes are balanced: how many times as large the second class is, at most 1
    counts: np.ndarray  #: of the classes
    epsilon: float  #: of these counts
    left: float  #: of epsilon, for the node and what is below


@compiled
def grow_tree(plan, table, rows, rng):
    """Grow the tree: count the classes of a node; ask a question if it may pay, else label it with what is left.

    The root is asked a question whatever its counts, since a tree that asks nothing need not be grown.
    """
    growth = plant_tree(table, rows)
    known = []
    i = 0
    while i < len(growth.nodes):
        counts = class_counts(growth, i)
        seen = count_classes(growth, i, counts, plan, rng)
        known.append(seen)
        node = growth.nodes[i]
        unused = features_to_ask(growth, i, table.codes.shape[0], plan, rng)
        is_worth_asking = i == 0 or seen.errors > TOO_FEW / seen.left
        if node.depth == plan.max_depth or unused.shape[0] == 0 or not is_worth_asking:
            if plan.draws_labels:
                draw_label(growth, i, counts, seen.left, rng)
            else:
                known[i] = seen._replace(counts=label_leaf(growth, i, counts, seen.left, rng), epsilon=seen.left)
        else:
            epsilon = min(plan.enough / max(seen.errors, 1.0), QUESTION_SHARE * seen.left)
            feature, option = draw_question(growth, table, i, unused, counts, seen, epsilon, rng)
            node.epsilon += epsilon
            split_by_option(growth, table, i, feature, option)
        i += 1
    if not plan.draws_labels:
        prune_tree(growth, known)
        note_shares(growth, known)
    return take_nodes(growth)


def count_classes(growth, i, counts, plan, rng):
    """Count the records of each class with noise; what a node knows of its rows follows from that.

    The errors are the sum over the other classes, in which the noise of many cancels out, and at least the second class
    if that stands out of the noise.
    """
    node = growth.nodes[i]
    if i == 0:
        left, epsilon = plan.epsilon, plan.root_epsilon
    else:
        left = plan.epsilon - paid_above(growth, i) if plan.epsilon < np.inf else np.inf
        errors_above = growth.nodes[growth.parents[i]].noisy_count
        epsilon = min(plan.enough / max(errors_above, 1.0), COUNT_SHARE * left)
    noisy = laplace_vector(counts, 1.0, epsilon, rng)
    largest = np.argmax(noisy)
    others, second = 0.0, 0.0
    for c in range(noisy.shape[0]):
        if c != largest:
            others += noisy[c]
            if noisy[c] > 1.0 / epsilon:
                second = max(second, noisy[c])
    errors = max(others, second)
    is_spread = noisy[largest] < SPREAD * max(noisy[largest] + errors, 1.0)
    node.noisy_count, node.epsilon = errors, epsilon
    if not plan.draws_labels:  # where it is pruned, it is a leaf of these counts
        node.label = largest
    more = SHRINKAGE / epsilon
    weight = (second + more) / max(noisy[largest] + more, second + more, 1.0)
    left = left - epsilon if left < np.inf else left
    return Seen(errors, noisy[largest] + others, largest, is_spread, weight, noisy, epsilon, left)


def share_out(noisy, epsilon):
    """Return how likely each class is by its noisy count, moved towards an even share as far as noise may have; and n.

    The shares are those of n records, by which they are counts again.

    Parameters
    ----------
    noisy : float64 array of shape (c,)
        Counts of the classes, with Laplace noise.
    epsilon : float
        Of the noise.

    Examples
    --------
    >>> for epsilon in (np.inf, 0.25):
    ...     shares, n = share_out(np.array([8.0, 1.0, -3.0]), epsilon)
    ...     print(shares.round(3), n)
    [0.833 0.133 0.033] 10.0
    [0.611 0.222 0.167] 18.0
    """
    more = 1.0 + 2.0 / epsilon  # records, shared evenly by the classes
    n = 0.0
    for count in noisy:
        n += max(count, 0.0)
    n += more
    return (np.maximum(noisy, 0.0) + more / noisy.shape[0]) / n, n


def prune_tree(growth, known):
    """Make leaves of nodes that are expected to err as little as the leaves below them, where counts are near exact.

    As in C4.5, with the counts that nodes were released with, so that it costs nothing. A tree without noise asks until
    every leaf has one class only, and so learns its rows by heart; noise has stopped any other before.
    """
    below = np.zeros(len(known))
    for i in range(len(known) - 1, -1, -1):
        node, errors = growth.nodes[i], expected_errors(known[i].errors, known[i].n)
        if node.decides != LEAF and 1.0 / known[i].epsilon <= EXACT and errors <= below[i]:
            make_leaf(growth, i)
        if node.decides != LEAF:
            errors = below[i]
        if i > 0:
            below[growth.parents[i]] += errors


def note_shares(growth, known):
    """Append for every leaf a node for each class, of whose share it is the value; the leaf has the first as child.

    The value of the leaf itself is how many records they are shares of.
    """
    depth = growth.nodes[-1].depth
    for i in range(len(known)):
        if growth.nodes[i].decides == LEAF:
            shares, n = share_out(known[i].counts, known[i].epsilon)
            growth.nodes[i].child, growth.nodes[i].value = len(growth.nodes), n
            for share in shares.tolist():
                node = NEW_NODE.copy()
                node.depth, node.value = depth, share
                growth.nodes.append(node)


def expected_errors(errors, n):
    """Return how many of n other records a leaf is expected to get wrong at most, see `CAUTION`.

    The upper end of Wilson's interval (1927) for the share of its errors; C4.5 (Quinlan, 1993, chapter 4) has the exact
    one.

    Examples
    --------
    >>> round(expected_errors(0.0, 1.0), 2), round(expected_errors(0.0, 100.0), 2), round(expected_errors(9.0, 20.0), 2)
    (0.59, 1.42, 11.65)
    """
    n = max(n, 1.0)
    share, square = min(max(errors / n, 0.0), 1.0), CAUTION * CAUTION
    error = math.sqrt(share / n - share * share / n + square / (4.0 * n * n))
    return n * (share + square / (2.0 * n) + CAUTION * error) / (1.0 + square / n)


def features_to_ask(growth, i, n_features, plan, rng):
    """Return the features that node ``i`` looks at."""
    unused = unused_features(growth, i, n_features)
    return draw_features(unused, (unused.shape[0] + 1) // 2, rng) if plan.asks_half else unused


def paid_above(growth, i):
    """Return what the nodes above node ``i`` have paid."""
    paid = 0.0
    above = growth.parents[i]
    while above >= 0:
        paid += growth.nodes[above].epsilon
        above = growth.parents[above]
    return paid


def draw_question(growth, table, i, features, totals, seen, epsilon, rng):
    """Draw a feature and one of its options by permute-and-flip, see `score_options`; `separation` is not monotone."""
    ends = add_up([count_options(table, feature) for feature in features])
    quality = np.empty(ends[-1])
    for j, feature in enumerate(features):
        counts = count_by_code(growth, table, i, feature)
        quality[ends[j] : ends[j + 1]] = score_options(table.is_continuous[feature], counts, totals, seen)
    return public_split(features, ends, permute_and_flip(quality, 1.0, epsilon, rng, not seen.is_spread))


def count_options(table, feature):
    """Count the ways to split by a feature.

    A continuous one is cut below any code but the last. A nominal one gives each category a child, which is option 0,
    or, if it has more than two, sets one category against all others.
    """
    n_codes = table.n_codes[feature]
    if table.is_continuous[feature]:
        return n_codes - 1
    return n_codes + 1 if n_codes > 2 else 1


def score_options(is_continuous, counts, totals, seen):
    """Score all options of a feature by their children, see `score_children`: float64 array of shape (options,).

    Parameters
    ----------
    is_continuous : bool
        Whether it is cut between codes.
    counts : int64 array of shape (codes, c)
        Records of the node by code and class.
    totals : float64 array of shape (c,)
        Records of the node by class.
    seen : Seen
        What is known with noise.
    """
    if is_continuous:
        return score_sides(np.cumsum(counts, axis=0)[:-1], totals, seen)
    per_value = score_children(counts, seen) - CHILD_COST * max(counts.shape[0] - 2, 0) / seen.left
    return np.append(per_value, score_sides(counts, totals, seen) if counts.shape[0] > 2 else [])


def score_sides(lefts, totals, seen):
    """Score the splits in two whose left sides have the records ``lefts``, by split and class."""
    return np.array([score_children(np.array([left, totals - left]), seen) for left in lefts])


def score_children(children, seen):
    """Score children by what they get right, or, where no class stands out, by how they keep the classes apart."""
    if seen.is_spread:
        return separation(children)
    score = 0.0
    for counts in children:
        score += worth(counts, seen.largest, seen.weight)
    return score


def separation(children):
    """Return how many records are in the child that has most of their class, less those of the largest child.

    With many classes, even the best split lets each child name one class only, and `worth` hardly tells it from others.
    It sends most classes to one side each all the same. A split that is independent of the class separates nothing,
    since all classes have most of their records in the largest child. An added record raises both terms by 0 or 1: the
    sensitivity is 1, and it is not monotone.

    Parameters
    ----------
    children : int64 array of shape (k, c)
        Records of the children by class.

    Examples
    --------
    >>> separation(np.array([[9, 8, 1, 0], [1, 2, 9, 10]])), separation(np.array([[9, 9, 9, 9], [1, 1, 1, 1]]))
    (14.0, 0.0)
    """
    together = 0.0
    for most in children.max(axis=0).tolist():
        together += most
    return together - float(children.sum(axis=1).max())


def worth(counts, largest, weight):
    """Return what a child is worth: the mean of its largest count and of its largest count where classes are balanced.

    The first is how many records it would get right, and stands out best of noise. It sees no difference between splits
    that leave the largest class of every child the same. The second does: records of class ``largest`` count less, so
    that the node itself is undecided. An added record raises each by 0 to 1, and so their mean: it is monotone, with
    sensitivity 1, and so is a sum over children, of which the record is in one.

    Parameters
    ----------
    counts : int64 array of shape (c,)
        Records of the child by class.
    largest : int
        Largest class of the node, as seen with noise.
    weight : float
        What a record of that class counts, in [0, 1].

    Examples
    --------
    >>> worth(np.array([60, 30]), 0, 0.25), worth(np.array([60, 0]), 0, 0.25)  # of a node of 120 and 30
    (45.0, 37.5)
    """
    of_balanced = counts.tolist()
    most = max(of_balanced)
    of_balanced[largest] *= weight
    return 0.5 * (most + max(of_balanced))


def split_by_option(growth, table, i, feature, option):
    """Split node ``i`` by an option of a feature, see `count_options`; returns the growth, which may have moved.

    Trees compare values, not codes: a cut is the upper end of the last code on the left.
    """
    if table.is_continuous[feature]:
        decides, code, cut = BELOW, option, table.levels[table.first_level[feature] + option]
    elif option > 0:
        decides, code, cut = EQUALS, option - 1, float(option - 1)
    else:
        return split_by_value(growth, table, i, feature)
    return split_in_two(growth, table, i, feature, decides, code, cut)


def join_tables(tables: Sequence[Table]) -> Table:
    """Return the table of some rows after the other; public cuts or bins give all of them the same codes."""
    codes = np.concatenate([table.codes for table in tables], axis=1)
    labels, targets = (np.concatenate([getattr(table, name) for table in tables]) for name in ("labels", "targets"))
    return fix_codes(tables[0]._replace(codes=codes, labels=labels, targets=targets))


MANY_TREES = 4
"""From as many on, a node looks at a random half of its features: with less noise, trees would hardly differ."""


@with_parameters
class ThriftyTrees(PrivateForest):
    """What thrifty trees for classes and for numbers share: how the budget is divided, and the account of it.

    Parameters
    ----------
    max_depth : int
        Levels of splits at most, at least 1. Branches end where the budget does, mostly before.
    """

    max_depth = 12

    GROW: ClassVar[Callable]
    CONSTANTS: ClassVar[tuple[float, float]]
    """The part of epsilon that the root has; and what is enough for a node, where there is noise."""
    DRAWS_LABELS: ClassVar[bool] = False
    """Leaves draw labels, and do not say how likely each class is."""

    def prepare(self, X, y) -> tuple[Table, partial, Callable]:
        """Do all of ``fit`` that is not random, as every forest does; rows are read and coded a block at a time."""
        rows = self.training_rows(X, y)
        self.check_parameters(len(rows.features) - 1)
        table = join_tables([self._code_rows(*self.split_target(block)) for block in rows.blocks()])
        self._note_clipped(rows.clipped)
        return table, self._bind_grower(table), SAMPLINGS[self._sampling_rule()]

    def _code_rows(self, matrix: np.ndarray, target: np.ndarray) -> Table:
        return self._lay_out_rows(self._put_into_bins(matrix), target)

    def _make_plan(self) -> ThriftyPlan:
        n_trees, (root_share, enough) = self.count_trees(), self.CONSTANTS
        epsilon = float(self.epsilon) / n_trees
        enough = math.inf if math.isinf(epsilon) else enough
        return ThriftyPlan(self.max_depth, epsilon, root_share * epsilon, enough, self.DRAWS_LABELS, self._asks_half())

    def _asks_half(self) -> bool:
        """Tell whether nodes look at a random half of their features only: without it, many trees would be alike."""
        return self.count_trees() >= MANY_TREES

    def _bind_grower(self, table):
        return partial(self.GROW, self._make_plan())

    def _any_path(self, table, in_root: str, mechanism: str, below: str) -> Event:
        """Return what all trees cost, of which a path pays for the noise in the root, and then spends the rest."""
        plan = self._make_plan()
        rest = plan.epsilon if math.isinf(plan.epsilon) else plan.epsilon - plan.root_epsilon
        steps = (Spent("laplace", in_root, plan.root_epsilon, 1.0), Spent(mechanism, below, rest, 1.0))
        return self._compose_trees(Sequential("any path", steps), table)


@with_parameters
class ThriftyTreesClassifier(ThriftyTrees, PrivateForestClassifier):
    """Thrifty trees for classes.

    Parameters
    ----------
    n_bins : int
        Public equal-width bins of a continuous column, between which it is cut; at least 2. There are finer cuts
        towards the point of its range that is nearest to zero, see ``algorithms.encoding.bins.public_cuts``.
    """

    GROW, CONSTANTS = staticmethod(grow_tree), (ROOT_SHARE, ENOUGH)
    n_bins: int = parameter(100, check_count, lowest=2)

    def _lay_out_rows(self, matrix, target):
        empty = np.empty(0)
        features = self.domain_.features
        cuts = [public_cuts(f, self.n_bins) if isinstance(f, Continuous) else empty for f in features]
        return make_table(matrix, self.domain_, target, cuts=cuts)

    def _ledger_and_faults(self, table) -> tuple[Event, tuple[Fault, ...]]:
        below = "splits and counts of a path, and its label with the rest"
        return self._any_path(table, "class counts of the root", "laplace and permute_and_flip", below), ()


@with_parameters
class ThriftyTreeClassifier(ThriftyTreesClassifier, OneTree):
    """One differentially private decision tree that spends on every question only what it needs.

    Notes
    -----
    A node first counts its classes with Laplace noise. Its errors are the records that are not of the largest class,
    and at least those of the second, if its noisy count is above the scale of the noise. It is a leaf if it has fewer
    errors than 25 / (what is left of epsilon). Otherwise permute-and-flip draws a split: a continuous feature at one of
    its public cuts; or a nominal one that the path has not used up, with a child for every category or one category
    against all others. That costs 50 / errors, at most half of what is left; the count in each child costs 50 / errors,
    at most a tenth of what is left. A leaf spends all that is left on its label, by permute-and-flip over the class
    counts.

    Splits are scored by `worth`, the mean of two kinds of largest count in each child. The second of them weighs the
    node's largest class by its ratio to the second, (second + 4 b) / (largest + 4 b), where b is the scale of the noise
    of the counts. Where no class has a third of the records, they are scored by `separation` instead: how many records
    go the way that most of their class goes, less those of the largest child. A child for every category loses 1 /
    (what is left) for each child after the second.

    Privacy: epsilon-differentially private for one record added or removed, given a public domain. A node with a budget
    of e left spends, by induction, e on the records below it: a leaf e on its counts and its label; any other node
    c + s on its counts and its split, and e - c - s in each of its children, which hold disjoint records. What it
    spends, which score it takes, the weight and what a child loses follow from results that are released with noise,
    never from the records, and no path spends more than epsilon. A record changes one class count of a node by 1, so
    that Laplace noise of scale 1 / c on each costs c. Counts and `worth` are monotone with sensitivity 1, so that
    selections by them go without the 2 in their exponent; those by `separation`, which moves by 1 either way, have it.
    The grown tree, noisy numbers included, may be published.

    Examples
    --------
    >>> from algorithms import Domain, Nominal
    >>> domain = Domain((Nominal("a", (0, 1)), Nominal("b", (0, 1))), Nominal("y", ("no", "yes")))
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 25, ["no", "no", "yes", "yes"] * 25
    >>> tree = ThriftyTreeClassifier(epsilon=1.0, domain=domain, random_state=0).fit(X, y)
    >>> tree.predict([[0, 1], [1, 0]])
    array(['no', 'yes'], dtype='<U3')
    >>> tree.privacy_.keeps_claim, tree.privacy_.accounted_epsilon
    (True, 1.0)
    """

    DRAWS_LABELS = True
