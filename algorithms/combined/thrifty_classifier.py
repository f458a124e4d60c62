"""Thrifty: the classifier that we recommend. Thrifty Bayes where there are many classes, then the thrifty forest. Ours.

With many classes and a small budget a tree cannot tell them apart: it halves its rows four times before it can name
each of ten, and each leaf has few records of each. Naive Bayes looks at all records for every feature, but never gets
better than its independent features are. So a table of many classes pays first for naive Bayes, and with all that the
budget has beyond that for trees, which correct it. How many classes there are, and the budget, is public.

Its constants were chosen like those of the tree (`algorithms.forests.thrifty_tree`), by mean accuracy on the five
sets there with at least six classes, epsilon from 0.25 to 20. The choice is flat: with half as much for naive Bayes,
or with a weight of the root of 1 / epsilon, the mean is lower by up to two points at epsilon = 1, and by one at most
from 2 on; with 14 features for each ten it is higher by 1.6 points at epsilon = 0.25, by 0.7 at 1, and no different
from 2 on. Single sets differ more: of those with ten classes naive Bayes is 28 points ahead of a tree on one, 8
behind on another, at epsilon = 1. Tried, and worse: the answer of naive Bayes as one more column of a tree, trees of
disjoint columns that are multiplied, and naive Bayes without the columns that a path has asked for.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from algorithms.accounting.events import Sequential
from algorithms.base import ClassifierByShares, SpendsEpsilon
from algorithms.bayes.thrifty_bayes import ThriftyBayesClassifier
from algorithms.forests.thrifty_forest import ThriftyForestClassifier
from algorithms.parameters import check_count, check_jobs, parameter, with_parameters
from algorithms.released.document import Origin, Release
from algorithms.released.product import ReleasedProduct, multiply_shares

FOR_BAYES = 1.0
"""Epsilon that naive Bayes gets before anything else does, where there are many classes."""


class Parts(NamedTuple):
    """What the parts of the classifier may spend, and how much naive Bayes counts beside a forest."""

    bayes_epsilon: float  #: 0 without naive Bayes
    forest_epsilon: float  #: 0 without trees
    weight: float  #: power to which the ratios of naive Bayes are raised


def divide_budget(epsilon: float, n_classes: int, many_classes: int) -> Parts:
    """Divide a budget by the number of classes.

    Examples
    --------
    >>> divide_budget(1.0, 2, 6), divide_budget(0.5, 10, 6)
    (Parts(bayes_epsilon=0.0, forest_epsilon=1.0, weight=0.0), Parts(bayes_epsilon=0.5, forest_epsilon=0.0, weight=1.0))
    >>> divide_budget(4.0, 10, 6)
    Parts(bayes_epsilon=1.0, forest_epsilon=3.0, weight=0.25)
    """
    if n_classes < many_classes or math.isinf(epsilon):
        return Parts(0.0, epsilon, 0.0)
    return Parts(min(epsilon, FOR_BAYES), max(epsilon - FOR_BAYES, 0.0), min(1.0 / epsilon, 1.0))


class ForestInCompany(ThriftyForestClassifier):
    """A thrifty forest of which even a single tree says how likely each class is, since it does not decide alone."""

    def _votes_alone(self) -> bool:
        return False


@with_parameters
class ThriftyClassifier(SpendsEpsilon, ClassifierByShares):
    """Differentially private classifier that takes what suits the number of classes and the budget.

    Parameters
    ----------
    epsilon : float
        Budget, from 1e-100 to 1e100; inf is the noise-free forest.
    many_classes : int
        From as many classes on, naive Bayes is paid for first; at least 2.
    n_jobs : int or None
        Threads that grow trees.

    Attributes
    ----------
    bayes_ : ThriftyBayesClassifier or None
        Naive Bayes, where there are many classes.
    forest_ : ThriftyForestClassifier or None
        The forest, unless naive Bayes had the whole budget.
    weight_ : float
        Power to which what naive Bayes says is raised, beside a forest; 0 without naive Bayes.

    Notes
    -----
    With fewer classes than ``many_classes``, or without noise, this is `ThriftyForestClassifier`. With as many or
    more, it is `ThriftyBayesClassifier` up to epsilon = 1. Beyond that, naive Bayes has 1 and the forest the rest;
    the leaves of this forest have shares of all classes even if it is one tree. What naive Bayes says of a class is
    its posterior, divided by the size of the class, to the power of 1 / epsilon: the more the trees may spend, the
    less they need it. The class is predicted that has the largest product of this and of its share by the forest.

    Privacy: epsilon-differentially private for one record added or removed, given a public domain. Which parts there
    are, what each may spend and how much it counts follows from epsilon, the number of declared classes and
    ``many_classes``, never from the rows. Each part is private as its docstring says; both see the same rows, so that
    their budgets add up, to epsilon; and what is predicted follows from the two alone.

    Examples
    --------
    >>> from algorithms import Domain, Nominal
    >>> digits = tuple(range(10))
    >>> domain = Domain((Nominal("a", digits), Nominal("b", (0, 1))), Nominal("y", digits))
    >>> X, y = [[i % 10, i % 2] for i in range(2000)], [i % 10 for i in range(2000)]
    >>> model = ThriftyClassifier(epsilon=2.0, domain=domain, random_state=0).fit(X, y)
    >>> model.predict([[3, 1], [8, 0]])
    array([3, 8])
    >>> model.bayes_.epsilon, model.forest_.epsilon, model.privacy_.accounted_epsilon
    (1.0, 1.0, 2.0)
    """

    many_classes: int = parameter(6, check_count, lowest=2)
    n_jobs: int | None = parameter(None, check_jobs, comes_last=True)

    def fit(self, X, y):
        """Fit the parts to rows X and labels y, and return the classifier.

        Rows, errors and warnings are those of ``read_training_rows``; a parameter out of its range is a
        ``ParameterError``.
        """
        rows = self.training_rows(X, y)
        self.check_parameters(len(rows.features) - 1)
        parts = divide_budget(float(self.epsilon), len(self.classes_), self.many_classes)
        forest = ForestInCompany if parts.bayes_epsilon else ThriftyForestClassifier
        first, second = self.seed().spawn(2)
        self.bayes_ = self._fit_part(ThriftyBayesClassifier(parts.bayes_epsilon), first, X, y)
        self.forest_ = self._fit_part(forest(parts.forest_epsilon, n_jobs=self.n_jobs), second, X, y)
        fitted = [part for part in (self.bayes_, self.forest_) if part is not None]
        self._note_clipped(getattr(fitted[0], "clipped_", {}))
        ledgers = tuple(part.privacy_.ledger for part in fitted)
        self.weight_ = parts.weight
        self.privacy_ = self.account(self.epsilon, ledgers[0] if len(ledgers) == 1 else Sequential("model", ledgers))
        return self

    def _fit_part(self, part, seed: np.random.SeedSequence, X, y):
        """Fit a part that has a budget, with a seed of its own; else return None."""
        if not part.epsilon:
            return None
        state = None if self.random_state is None else int(seed.generate_state(1)[0])
        return part.set_params(domain=self.domain_, noise=self.noise, random_state=state).fit(X, y)

    def predict_proba(self, X) -> np.ndarray:
        """Return the share of each class: float64 array of shape (n, c)."""
        self.rows(X)  # first, so that an unfitted classifier says so
        if self.bayes_ is None or self.forest_ is None:
            return (self.bayes_ or self.forest_).predict_proba(X)
        shares, posterior = self.forest_.predict_proba(X), self.bayes_.predict_proba(X)
        return multiply_shares(shares, posterior, self.bayes_.log_sizes_, self.weight_)

    def _released(self, origin: Origin) -> Release:
        if self.bayes_ is None or self.forest_ is None:
            return (self.bayes_ or self.forest_)._released(origin)
        return ReleasedProduct(origin, self.bayes_._released(origin), self.forest_._released(origin), self.weight_)
