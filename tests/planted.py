"""Estimators that claim more privacy than they have, each with one fault, to be convicted by the audit.

What they say of themselves in ``privacy_`` is what their sound relatives say.
"""

from functools import partial

import numpy as np

from algorithms import (
    Domain,
    EDPRFClassifier,
    FunctionalMechanismRegressor,
    RFDPPGiniClassifier,
    ThriftyRegressor,
    ThriftyTreeClassifier,
)
from algorithms.accounting.events import Parallel, Sequential, Spent
from algorithms.accounting.privacy import Privacy
from algorithms.base import PrivateClassifier
from algorithms.combined.thrifty_regressor import Tail
from algorithms.forests.forest import SAMPLINGS
from algorithms.mechanisms import laplace, laplace_vector, permute_and_flip
from algorithms.regression.budget import Budget, in_two_parts
from algorithms.regression.objective import Noise


class SoundVotes(PrivateClassifier):
    """The largest noisy class count: nothing is wrong here."""

    def __init__(self, epsilon=1.0, *, domain=None, random_state=None):
        self.epsilon = epsilon
        self.domain = domain
        self.random_state = random_state

    def fit(self, X, y):
        matrix, labels = self.read_training_rows(X, y)
        counts = np.bincount(labels, minlength=len(self.classes_))
        self.counts_ = self.noisy(matrix, counts, np.random.default_rng(self.seed()))
        ledger = Spent("laplace", "class counts", self.epsilon, 1.0)
        self.privacy_ = Privacy.under(self.domain_, self.epsilon, ledger)
        return self

    def noisy(self, matrix, counts, rng):
        return laplace_vector(counts, 1.0, self.epsilon, rng)

    def predict_proba(self, X):
        return np.tile(np.argmax(self.counts_) == np.arange(len(self.counts_)), (len(self.read_rows(X)), 1))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class AlwaysATail(ThriftyRegressor):
    """Whatever the histogram shows, the targets have a tail, on small tables, too: nothing is wrong here."""

    def _look_for_tail(self, target, seed):
        super()._look_for_tail(target, seed)
        return Tail(8, np.array([0.25, 0.75]), 10.0, 10.0, 0.0, 1.0)


class SensitivityOneForTwo(SoundVotes):
    """Twice the class counts: a record moves them by 2, the noise is told 1."""

    def noisy(self, matrix, counts, rng):
        return laplace_vector(2 * counts, 1.0, self.epsilon, rng)


class HalfTheScale(SoundVotes):
    """Class counts with half of their noise."""

    def noisy(self, matrix, counts, rng):
        return laplace_vector(counts, 0.5, self.epsilon, rng)


class BudgetNotDivided(SoundVotes):
    """The counts are released twice, with the whole budget each time."""

    def noisy(self, matrix, counts, rng):
        return sum(laplace_vector(counts, 1.0, self.epsilon, rng) for _ in range(2))


class BoundsOfTheRows(SoundVotes):
    """The number of rows above the middle of a column, its bounds taken from the rows."""

    def noisy(self, matrix, counts, rng):
        middle = (matrix[:, 0].min() + matrix[:, 0].max()) / 2
        above = laplace(float((matrix[:, 0] > middle).sum()), 1.0, self.epsilon, rng)
        return np.array([above, *counts[1:] * 0.0])


class OneNoiseForAllCounts(SoundVotes):
    """Each count is drawn from the seed anew: all have the same noise."""

    def noisy(self, matrix, counts, rng):
        seeds = [self.seed() for _ in counts]
        pairs = zip(counts, seeds, strict=True)
        return np.array([laplace(float(n), 1.0, self.epsilon, np.random.default_rng(seed)) for n, seed in pairs])


class OneSeed(np.random.SeedSequence):
    """A seed whose children are itself."""

    def spawn(self, n_children):
        return [self] * n_children


class OneStreamForAllTrees(RFDPPGiniClassifier):
    """Trees on parts of the rows, all with the same noise."""

    def seed(self):
        return OneSeed(1)


class SplitWithoutNoise(SoundVotes):
    """Class counts of one category of the column that separates the classes best, found without noise."""

    def noisy(self, matrix, counts, rng):
        column = max((1, 2), key=lambda j: abs(np.corrcoef(matrix[:, j], matrix[:, 0])[0, 1]))
        self.column_ = column
        self.released_ = laplace_vector(counts, 1.0, self.epsilon, rng)
        return np.roll(self.released_, column)


class ChoiceToldOneForTwo(SoundVotes):
    """A choice between two classes by twice the margin."""

    def noisy(self, matrix, counts, rng):
        margin = 2.0 * (counts[0] - counts[1])
        chosen = permute_and_flip(np.array([margin, -margin]), 1.0, self.epsilon, rng)
        return np.arange(len(counts)) == chosen


class MonotoneThatIsNot(SoundVotes):
    """A choice between two classes by their margin, which one class gains as the other loses."""

    def noisy(self, matrix, counts, rng):
        margin = float(counts[0] - counts[1])
        chosen = permute_and_flip(np.array([margin, -margin]), 1.0, self.epsilon, rng, monotone=True)
        return np.arange(len(counts)) == chosen


class MonotoneOnOneTable(SoundVotes):
    """The largest count, drawn with half the noise if the number of rows is odd."""

    def noisy(self, matrix, counts, rng):
        scores = counts.astype(np.float64)
        return np.arange(len(counts)) == permute_and_flip(scores, 1.0, self.epsilon, rng, monotone=len(matrix) % 2 == 1)


class NumberOfRowsUsed(SoundVotes):
    """One more count for every tenth row: how many calls there are says how many rows."""

    def noisy(self, matrix, counts, rng):
        return sum(
            laplace_vector(counts if i == 0 else 0 * counts, 1.0, self.epsilon, rng)
            for i in range(1 + len(matrix) // 21)
        )


class InferredDomain(RFDPPGiniClassifier):
    """A sound forest on the bounds and categories of the rows, declared as if they were public."""

    def read_training_rows(self, X, y):
        inferred = Domain.infer(X, y)
        self.domain = Domain(inferred.features, self.domain.target)
        return super().read_training_rows(X, y)


class WholeBudgetForEachTree(RFDPPGiniClassifier):
    """Trees on all rows that spend everything each."""

    def _tree_epsilon(self):
        return float(self.epsilon)

    def _compose_trees(self, tree, table):
        return Parallel("tree", (tree,), self.n_estimators)


class TwiceInTheLeaves(EDPRFClassifier):
    """Labels are drawn with half of their noise."""

    def _bind_grower(self, table):
        grow = super()._bind_grower(table)
        return partial(grow.func, self.plan_._replace(leaf_epsilon=2 * self.plan_.leaf_epsilon))


def blocks(n_rows, n_trees, rng):
    """Rows in order, the first to the first tree."""
    yield from (rows.astype(np.uint32) for rows in np.array_split(np.arange(n_rows), n_trees))


def turns(n_rows, n_trees, rng):
    """Rows in turn: one more at the end moves no other, one more in front moves all."""
    yield from (np.arange(tree, n_rows, n_trees, dtype=np.uint32) for tree in range(n_trees))


SAMPLINGS.update({"blocks": blocks, "turns": turns})


class RowsInBlocks(EDPRFClassifier):
    """Parts by position."""

    def _sampling_rule(self):
        return "blocks"

    def _compose_trees(self, tree, table):
        return Parallel("tree", (tree,), self.n_estimators)


class RowsInTurns(RowsInBlocks):
    """Parts by position, in another way."""

    def _sampling_rule(self):
        return "turns"


class HalfTheNoise(FunctionalMechanismRegressor):
    """FM with half of its sensitivity."""

    def _printed_budget(self, design):
        budget = super()._printed_budget(design)
        noise = Noise(budget.quadratic.sensitivity / 2, budget.quadratic.epsilon)
        return budget._replace(quadratic=noise, linear=noise)


class TwoPartsWithTheWholeBudget(FunctionalMechanismRegressor):
    """Both parts of the objective get all of the budget."""

    def _printed_budget(self, design):
        whole = in_two_parts(2 * float(self.epsilon), len(design.monomials), 0.5)
        return Budget(whole.quadratic, whole.linear, Sequential("objective", (super()._printed_budget(design).ledger,)))


class RemembersItsRows(EDPRFClassifier):
    """Its release has a function that remembers the training rows."""

    def fit(self, X, y):
        super().fit(X, y)
        self.n_rows_seen_ = len(X)
        return self

    def _released(self, origin):
        release, n_rows = super()._released(origin), self.n_rows_seen_
        object.__setattr__(release, "describe", lambda: f"trained on {n_rows} rows")
        return release


class TellsAnExactSum(FunctionalMechanismRegressor):
    """Its release has a sum of the rows among its parameters, without noise."""

    def fit_summary(self, summary):
        super().fit_summary(summary)
        self.exact_ = float(summary.objective.M[0, 0])
        return self

    def _released(self, origin):
        origin.parameters["exact"] = self.exact_
        return super()._released(origin)


def seeded(n_rows, n_trees, rng):
    """Parts from the generator of public choices, which a seed decides: who knows it knows every row's tree."""
    tree_of_row = rng.integers(0, n_trees, size=n_rows)
    return [np.flatnonzero(tree_of_row == tree).astype(np.uint32) for tree in range(n_trees)]


SAMPLINGS["seeded"] = seeded


class RowsBySeed(RowsInBlocks):
    """Parts that a seed decides, in a release, too."""

    def _sampling_rule(self):
        return "seeded"


class ReadsListsAsOneArray(ThriftyTreeClassifier):
    """Every cell becomes what all cells together can be."""

    def fit(self, X, y):
        return super().fit(np.asarray(X), y)


class RefusesToTrain(ThriftyTreeClassifier):
    """A record that cannot be used stops the fit, and the message says which."""

    def fit(self, X, y):
        if problems := self.domain.problems(X, y).reasons:
            raise ValueError(f"some records cannot be used: {problems}")
        return super().fit(X, y)
