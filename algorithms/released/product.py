"""Released models of which one corrects the other: what they say of a class is multiplied, what of a number added."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous, Nominal
from algorithms.released.class_means import ReleasedClassMeans
from algorithms.released.document import Origin, Release, to_plain_data
from algorithms.released.field import ROUNDING, SMALLEST, Field
from algorithms.released.forest import COUNTS, ReleasedForest
from algorithms.released.naive_bayes import ReleasedNaiveBayes, ReleasedPairBayes, shares_of_logs
from algorithms.released.origin import check_target


@dataclass(frozen=True, eq=False)
class ReleasedProduct(Release):
    """A naive Bayes classifier and a forest that have left together."""

    KIND = "product"
    NAME: ClassVar[str] = "bayes"  #: of what comes before the forest, in a document
    PART: ClassVar[type] = ReleasedNaiveBayes

    origin: Origin
    first: ReleasedNaiveBayes | ReleasedPairBayes | ReleasedClassMeans
    forest: ReleasedForest
    weight: float  #: power to which the ratios of the first are raised, in (0, 1]

    def predict_proba(self, X) -> np.ndarray:
        """Return the share of each class: float64 array of shape (n, c)."""
        shares, posterior = self.forest.predict_proba(X), self.first.predict_proba(X)
        return multiply_shares(shares, posterior, self.first.log_sizes, self.weight)

    def predict(self, X) -> np.ndarray:
        """Predict the class of each row."""
        return self.forest.classes[np.argmax(self.predict_proba(X), axis=1)]

    def to_contents(self) -> dict:
        """Return what both hold, and the weight."""
        return {
            self.NAME: self.first.to_contents(),
            "forest": self.forest.to_contents(),
            "weight": to_plain_data(self.weight),
        }

    @classmethod
    def from_contents(cls, origin: Origin, contents: Field) -> ReleasedProduct:
        """Return the classifier that ``contents`` was made of: no share of its forest is 0, which has no logarithm."""
        fields = contents.entries(cls.NAME, "forest", "weight")
        weight = fields["weight"].number(lowest=SMALLEST, highest=1)
        first = cls.PART.from_contents(origin, fields[cls.NAME])
        forest = ReleasedForest.from_contents(origin, fields["forest"])
        parts = fields["forest"].entries("classes", "combines", "n_bins", "trees")
        if forest.combines != COUNTS:
            parts["combines"].refuse(f"must be {COUNTS!r}: others have no shares")
        for i, tree in enumerate(forest.trees):
            answers = parts["trees"].at(i).entries(*tree._fields)["answer"]
            is_none = (tree.answer < SMALLEST) | (tree.answer > 1 + ROUNDING)
            answers.refuse_where(is_none, f"must be a share, from {SMALLEST:g} to 1")
        return cls(origin, first, forest, weight)


class ReleasedPairProduct(ReleasedProduct):
    """Naive Bayes on pairs of columns and a forest that have left together."""

    KIND = "product:pairs"
    NAME, PART = "pairs", ReleasedPairBayes


class ReleasedMeansProduct(ReleasedProduct):
    """Class means and a forest that have left together."""

    KIND = "product:means"
    NAME, PART = "means", ReleasedClassMeans


PRODUCTS = {kind.PART: kind for kind in (ReleasedProduct, ReleasedPairProduct, ReleasedMeansProduct)}
"""The product of a forest with each kind of release that may come before it."""


def multiply_shares(shares: np.ndarray, posterior: np.ndarray, log_sizes: np.ndarray, weight: float) -> np.ndarray:
    """Multiply the shares of a forest by what another says beyond the sizes of the classes, which both know.

    Parameters
    ----------
    shares : float64 array of shape (n, c)
        Shares of the classes by the forest, above 0.
    posterior : float64 array of shape (n, c)
        Shares by the other.
    log_sizes : float64 array of shape (c,)
        Logarithm of the sizes of the classes that it went out from.
    weight : float
        Power to which its ratios are raised, from 0; inf for the posterior alone.

    Returns
    -------
    float64 array of shape (n, c)

    Examples
    --------
    >>> multiply_shares(np.array([[0.5, 0.5]]), np.array([[0.8, 0.2]]), np.log([10.0, 10.0]), 1.0).round(3)
    array([[0.8, 0.2]])
    >>> multiply_shares(np.array([[0.5, 0.5]]), np.array([[0.8, 0.2]]), np.log([80.0, 20.0]), 1.0).round(3)
    array([[0.5, 0.5]])
    """
    if weight == 0.0 or math.isinf(weight):
        return posterior if weight else shares
    with np.errstate(divide="ignore"):  # of a class that the other rules out
        logs = np.log(shares) + weight * (np.log(posterior) - log_sizes)
    return shares_of_logs(logs)


@dataclass(frozen=True, eq=False)
class ReleasedTail(Release):
    """Two forests that have left together: on which side of a cut a target lies, and how far from what that says."""

    KIND = "product:tail"

    origin: Origin
    means: np.ndarray  #: float64 (2,): mean target of both sides on the scale [0, 1], ascending
    sides: ReleasedForest  #: of counts, by side
    rest: ReleasedForest  #: of means, which are residuals

    def predict(self, X) -> np.ndarray:
        """Predict a number in the unit of the target, within its bounds."""
        shares = expect_target(self.sides.predict_proba(X), self.means) + self.rest.predict(X)
        bounds = self.origin.domain.target
        return bounds.lower + np.clip(shares, 0.0, 1.0) * (bounds.upper - bounds.lower)

    def to_contents(self) -> dict:
        """Return the means of the sides, and what both forests hold."""
        return {
            "means": to_plain_data(self.means),
            "sides": self.sides.to_contents(),
            "rest": self.rest.to_contents(),
        }

    @classmethod
    def from_contents(cls, origin: Origin, contents: Field) -> ReleasedTail:
        """Return the regressor that ``contents`` was made of."""
        check_target(origin.domain, Continuous)
        fields = contents.entries("means", "sides", "rest")
        means = fields["means"].numbers(2, lowest=0, highest=1)
        if means[0] >= means[1]:
            fields["means"].refuse("must ascend")
        of_sides, of_rest = domain_of_sides(origin.domain), domain_of_rest(origin.domain, means)
        sides = ReleasedForest.from_contents(replace(origin, domain=of_sides), fields["sides"])
        if sides.combines != COUNTS:
            fields["sides"].refuse(f"must be a forest of {COUNTS}: others have no shares")
        rest = ReleasedForest.from_contents(replace(origin, domain=of_rest), fields["rest"])
        return cls(origin, means, sides, rest)


def domain_of_sides(domain: Domain) -> Domain:
    """Return a domain whose target is whether one of numbers lies above a cut."""
    return replace(domain, target=Nominal(domain.target.name, (False, True)))


def domain_of_rest(domain: Domain, means: np.ndarray) -> Domain:
    """Return a domain whose target is how far one on the scale [0, 1] is from what is expected of it.

    Examples
    --------
    >>> domain = Domain((Nominal("a", (0, 1)),), Continuous("y", 0, 100))
    >>> domain_of_rest(domain, np.array([0.125, 0.75])).target
    Continuous(name='y', lower=-0.75, upper=0.875)
    """
    return replace(domain, target=Continuous(domain.target.name, -float(means[1]), 1.0 - float(means[0])))


def expect_target(shares: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return the mean of two means, weighed by shares: for each row by itself, whichever others there are.

    Parameters
    ----------
    shares : float64 array of shape (n, 2)
        Of both sides.
    means : float64 array of shape (2,)
        Mean targets of both sides.

    Examples
    --------
    >>> expect_target(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([0.25, 0.75]))
    array([0.25, 0.5 ])
    """
    return means[0] + shares[:, 1] * (means[1] - means[0])
