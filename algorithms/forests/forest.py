"""What all private forests share: reading the rows, drawing the samples, growing trees side by side, voting."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from algorithms import opendp_noise
from algorithms.accounting.events import Bootstrapped, Event, Parallel, Sequential
from algorithms.accounting.faults import Fault
from algorithms.base import ClassifierByShares, PaperOrSound, PrivateRegressor, SpendsEpsilon
from algorithms.encoding.bins import bin_continuous
from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous
from algorithms.forests.engine.predictor import add_values, add_votes
from algorithms.forests.engine.table import Table, make_table
from algorithms.forests.engine.tree import MOST_GROUPED
from algorithms.mechanisms import laplace_vector, permute_and_flip
from algorithms.native import compiled
from algorithms.parameters import ParameterError, check_choice, check_count, check_jobs, parameter, with_parameters
from algorithms.released.document import Origin
from algorithms.released.forest import LEAF, MEAN, VOTES, ReleasedForest, ReleasedTree
from algorithms.threads import count_threads, map_in_threads

MAX_DEPTH = 30
"""Deepest tree that is grown."""

MAX_SOUND_DEPTH = 16
"""Deepest tree of a sound variant, which grows every node: whether one holds rows must not show."""


def label_leaf(growth, i, counts, epsilon, rng):
    """Label a leaf with the largest of its noisy class counts (Laplace, sensitivity 1); returns these counts."""
    noisy = laplace_vector(counts, 1.0, epsilon, rng)
    growth.nodes[i].label = np.argmax(noisy)
    growth.nodes[i].epsilon += epsilon
    return noisy


def draw_label(growth, i, counts, epsilon, rng):
    """Draw the label of a leaf by permute-and-flip: its class counts are monotone, with sensitivity 1.

    The largest of the counts with one-sided noise of scale 1 / epsilon: no noisy maximum needs less.
    """
    growth.nodes[i].label = permute_and_flip(counts, 1.0, epsilon, rng, True)
    growth.nodes[i].epsilon += epsilon


def check_two_groups(domain: Domain, given: str, instead: str) -> None:
    """Raise ``ParameterError`` if a column has more categories than can be put into two groups.

    Parameters
    ----------
    domain : Domain
        The columns.
    given, instead : str
        The parameter that asks for groups, with its value, and what to write instead.
    """
    for feature in domain.features:
        n = 0 if isinstance(feature, Continuous) else len(feature.categories)
        if n > MOST_GROUPED:
            most = f"at most {MOST_GROUPED} categories"
            raise ParameterError(f"{given} is for columns of {most}, {feature.name!r} has {n}: take {instead}")


@with_parameters
class PrivateForest(SpendsEpsilon):
    """Base of the private forests; a subclass says how one tree grows and what that costs.

    It is a subclass of `ManyTrees` or of `OneTree`, and implements ``_bind_grower`` and ``_ledger_and_faults``.

    Parameters
    ----------
    max_depth : int
        Levels of splits, at least 1.

    Attributes
    ----------
    trees_ : list of structured arrays
        One array of nodes (``engine.tree.node_type``) for each tree.
    privacy_ : accounting.privacy.Privacy
        What is claimed and what was spent.
    """

    max_depth: int = parameter(5, check_count, highest=MAX_DEPTH)
    n_estimators: int
    n_jobs: int | None
    classes_: np.ndarray

    def check_parameters(self, n_features: int) -> None:
        """Raise ``ParameterError`` if the parameters cannot work for so many features."""
        super().check_parameters(n_features)
        if getattr(self, "max_features", None) is not None:
            self.check_max_features(n_features)

    def check_max_features(self, n_features: int) -> None:
        """Raise ``ParameterError`` unless ``max_features`` is a number of features."""
        check_count("max_features", self.max_features, highest=n_features, of="number of features")

    def fit(self, X, y):
        """Grow the forest of rows X and labels, or targets, y, and return it.

        Rows, errors and warnings are those of ``read_training_rows``; a parameter out of its range is a
        ``ParameterError``.
        """
        table, grow, sample = self.prepare(X, y)
        generators = map(self.generator, self.seed().spawn(self.count_trees() + 1))
        samples = sample(len(table.labels), self.count_trees(), next(generators))
        n_threads = count_threads(self.n_jobs, self.count_trees())
        self.trees_ = map_in_threads(n_threads, partial(grow, table), samples, generators)
        self.privacy_ = self.account(self.epsilon, *self._ledger_and_faults(table))
        return self

    def prepare(self, X, y) -> tuple[Table, partial, Callable]:
        """Do all of ``fit`` that is not random; parameters and errors are those of ``fit``.

        Returns
        -------
        table : Table
            The rows as the trees are grown on.
        grow : partial of a function
            (table, rows, rng) -> nodes: grows one tree. What is bound is the plan of the trees.
        sample : function
            (n_rows, n_trees, rng) -> iterable: draws the rows of each tree.
        """
        matrix, target = self.read_training_rows(X, y)
        self.check_parameters(matrix.shape[1])
        self._learn_bins(matrix)
        table = self._lay_out_rows(self._put_into_bins(matrix), target)
        return table, self._bind_grower(table), SAMPLINGS[self._sampling_rule()]

    def count_trees(self) -> int:
        """Return how many trees are grown."""
        return self.n_estimators

    def rows_to_descend(self, X) -> np.ndarray:
        """Turn rows into what the nodes of the trees ask for: float64 array of shape (n, k), C order."""
        return np.ascontiguousarray(self.as_fitted()._bin_rows_to_predict(self.read_rows(X)))

    def _sum_over_trees(self, matrix: np.ndarray, width: int, add: Callable) -> np.ndarray:
        """Sum over the trees what ``add(nodes, matrix, sums)`` adds for each row: float64 array (n, width)."""
        matrix = np.ascontiguousarray(self._bin_rows_to_predict(matrix))
        sums = np.zeros((len(matrix), width))
        for nodes in self.trees_:
            add(nodes, matrix, sums)
        return sums

    def _bin_rows_to_predict(self, matrix: np.ndarray) -> np.ndarray:
        return self._put_into_bins(matrix)

    def _learn_bins(self, matrix: np.ndarray) -> None:
        """Set what `_put_into_bins` needs of the training rows: nothing where bins are public."""

    def _put_into_bins(self, matrix: np.ndarray) -> np.ndarray:
        n_bins = self._n_bins()
        return matrix if n_bins is None else bin_continuous(matrix, self.domain_, n_bins)

    def _lay_out_rows(self, matrix: np.ndarray, target: np.ndarray) -> Table:
        """Lay out the rows that the trees are grown on."""
        n_threads = count_threads(self.n_jobs, matrix.shape[1])
        return make_table(matrix, self.domain_, target, self._n_bins(), n_threads=n_threads)

    def _bind_grower(self, table: Table) -> partial:
        """Return a function (table, rows, rng) -> nodes that grows one tree: a rule with its plan bound."""
        raise TypeError(f"{type(self).__name__} does not say how its trees grow")

    def _ledger_and_faults(self, table: Table) -> tuple[Event, tuple[Fault, ...]]:
        """Return what the forest just grown has spent, and the steps that its claim does not cover."""
        raise TypeError(f"{type(self).__name__} does not say what its trees cost")

    def _sampling_rule(self) -> str:
        """Return how the rows of the trees are drawn, a key of ``SAMPLINGS``."""
        return "all"

    def _n_bins(self) -> int | None:
        """Return the number of public bins of a continuous column, or None where trees need its exact values."""
        return None

    def _released(self, origin: Origin) -> ReleasedForest:
        is_regression = isinstance(self.domain_.target, Continuous)
        classes = None if is_regression else self.classes_.copy()
        answer = "value" if is_regression else "label"
        trees = tuple(released_tree(nodes, answer) for nodes in self.trees_)
        return ReleasedForest(origin, classes, MEAN if is_regression else VOTES, self._n_bins(), trees)

    def _compose_trees(self, tree: Event, table: Table) -> Event:
        """Return what the whole forest costs, given what one tree costs on the rows that it is grown on."""
        if self._sampling_rule() == "disjoint":
            return Parallel("tree", (tree,), self.count_trees())
        rows = Bootstrapped(tree, max(len(table.labels), 1)) if self._sampling_rule() == "bootstrap" else tree
        return Sequential("tree", (rows,), self.count_trees())


def released_tree(nodes: np.ndarray, answer: str) -> ReleasedTree:
    """Return of a grown tree what was paid for: questions, noisy counts, and the ``answer`` field of its leaves."""
    answers = np.where(nodes["decides"] == LEAF, nodes[answer].astype(np.float64), np.nan)[:, np.newaxis].copy()
    columns = (nodes[name].copy() for name in ("decides", "feature", "cut", "child"))
    return ReleasedTree(*columns, answers, nodes["noisy_count"].copy())


class PrivateForestClassifier(PrivateForest, ClassifierByShares):
    """Base of the private forests whose trees vote for a class."""

    def predict_proba(self, X) -> np.ndarray:
        """Return the share of trees that vote for each class: float64 array of shape (n, c)."""
        matrix = self.read_rows(X)  # first, so that an unfitted forest says so
        return self._sum_over_trees(matrix, len(self.classes_), add_votes) / len(self.trees_)


class PrivateForestRegressor(PrivateForest, PrivateRegressor):
    """Base of the private forests whose trees predict a number."""

    def predict(self, X) -> np.ndarray:
        """Return the mean of the trees' predictions, in the unit of the target: float64 array of shape (n,)."""
        matrix = self.read_rows(X)
        return self.in_unit_of_target(self._sum_over_trees(matrix, 1, add_values)[:, 0] / len(self.trees_))


@with_parameters
class ManyTrees(PrivateForest):
    """A forest of as many trees as one likes.

    Parameters
    ----------
    epsilon : float
        Budget B of the whole forest, from 1e-100 to 1e100; inf grows the noise-free forest.
    n_estimators : int
        Number of trees T, at least 1.
    n_jobs : int or None
        Threads that grow trees.
    """

    n_estimators: int = parameter(10, check_count)
    n_jobs: int | None = parameter(None, check_jobs, comes_last=True)


@with_parameters
class OneTree(PrivateForest):
    """A forest of one tree, which has all rows.

    Parameters
    ----------
    epsilon : float
        Budget of the tree, from 1e-100 to 1e100; inf grows the noise-free tree.
    """

    n_estimators, n_jobs = 1, None


@with_parameters
class FullTree(PaperOrSound, OneTree):
    """One tree whose branches all have the full depth.

    Parameters
    ----------
    max_depth : int
        Levels of splits d, from 1 to 16: every branch has all of them, whatever its rows. The tables have 4.
    variant : {"paper", "sound"}
        "paper" is the algorithm of the program, faults included; "sound" is epsilon-differentially private for one
        record added or removed, given a public domain.
    """

    max_depth: int = parameter(4, check_count, highest=MAX_SOUND_DEPTH, of="every node is grown")


@with_parameters
class TwoVariants(PaperOrSound, ManyTrees):
    """A forest with two variants, and a choice of the rows of its trees.

    Parameters
    ----------
    sampling : {None, "bootstrap", "disjoint", "all"}
        Rows of a tree. None is "bootstrap" for the paper's variant and "disjoint" for the sound one. Trees on disjoint
        rows spend B each; those on all rows share it. The sound variant refuses "bootstrap".
    """

    sampling: str | None = parameter(None, comes_last=True)

    def check_parameters(self, n_features: int) -> None:
        """Raise ``ParameterError`` if the parameters cannot work for so many features."""
        super().check_parameters(n_features)
        if self.variant == "sound":
            check_count("max_depth", self.max_depth, highest=MAX_SOUND_DEPTH, of="the sound variant grows every node")
        allowed = (None, "disjoint", "all") + (("bootstrap",) if self.variant == "paper" else ())
        check_choice("sampling", self.sampling, allowed)

    def _sampling_rule(self) -> str:
        return self.sampling or ("bootstrap" if self.variant == "paper" else "disjoint")

    def _tree_epsilon(self) -> float:
        """Return what one tree may spend: everything if no other tree sees its rows."""
        return float(self.epsilon) / (1 if self._sampling_rule() == "disjoint" else self.n_estimators)


@with_parameters
class BinsWhereSound(PaperOrSound, PrivateForest):
    """A forest whose sound variant cuts continuous columns between public bins.

    Parameters
    ----------
    n_bins : int
        Public equal-width bins of a continuous column in the sound variant, at least 2.
    """

    n_bins: int = parameter(32, check_count, comes_last=True, lowest=2)

    def _n_bins(self) -> int | None:
        return self.n_bins if self.variant == "sound" else None


@with_parameters
class NominalColumns(PrivateForest):
    """A forest whose columns are all nominal: a continuous one is put into public bins, each a category like any other.

    Parameters
    ----------
    n_bins : int
        Public equal-width bins of a continuous column, at least 2.
    """

    n_bins: int = parameter(5, check_count, comes_last=True, lowest=2)

    def _n_bins(self) -> int | None:
        return self.n_bins

    def _lay_out_rows(self, matrix: np.ndarray, target: np.ndarray) -> Table:
        return super()._lay_out_rows(matrix, target)._replace(is_continuous=np.zeros(matrix.shape[1], dtype=bool))


@compiled
def _sort_rows(drawn, times, ordered):
    """Sort n rows that were drawn out of n: into the first n places of ``ordered``.

    The kernel counts them in ``times``, which holds n zeros, and writes up to four places beyond the n.
    """
    ordered[: drawn.shape[0]] = np.sort(drawn)


def _draw_sample(n_rows, rng):
    drawn = rng.integers(0, max(n_rows, 1), size=n_rows)  # of no rows, none
    times, ordered = np.zeros(n_rows, dtype=np.uint32), np.empty(n_rows + 4, dtype=np.uint32)
    _sort_rows(drawn, times, ordered)
    return ordered[:n_rows]


def _draw_with_replacement(n_rows, n_trees, rng):
    # Each when it is asked for: the first trees grow meanwhile.
    return (_draw_sample(n_rows, rng) for _ in range(n_trees))


def _draw_disjoint_parts(n_rows, n_trees, rng):
    # Every record draws its tree by itself: one record more changes nothing for the others.
    is_secret = opendp_noise.is_secure(rng)
    tree_of_row = (
        opendp_noise.draw_secret_parts(n_rows, n_trees) if is_secret else rng.integers(0, n_trees, size=n_rows)
    )
    return [np.flatnonzero(tree_of_row == tree).astype(np.uint32) for tree in range(n_trees)]


def _take_all_rows(n_rows, n_trees, rng):
    rows = np.arange(n_rows).astype(np.uint32)
    return [rows for _ in range(n_trees)]


SAMPLINGS = {"bootstrap": _draw_with_replacement, "disjoint": _draw_disjoint_parts, "all": _take_all_rows}
"""How the rows of a tree are drawn: each returns a list with the rows of every tree, a repeated row standing twice."""
