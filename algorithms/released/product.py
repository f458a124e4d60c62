"""Released naive Bayes and forest of which one corrects the other: what both say of a class is multiplied."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from algorithms.released.document import Origin, Release, to_plain_data
from algorithms.released.field import ROUNDING, SMALLEST, Field
from algorithms.released.forest import COUNTS, ReleasedForest
from algorithms.released.naive_bayes import ReleasedNaiveBayes, shares_of_logs


@dataclass(frozen=True, eq=False)
class ReleasedProduct(Release):
    """A naive Bayes classifier and a forest that have left together."""

    KIND = "product"

    origin: Origin
    bayes: ReleasedNaiveBayes
    forest: ReleasedForest
    weight: float  #: power to which the ratios of naive Bayes are raised, in (0, 1]

    def predict_proba(self, X) -> np.ndarray:
        """Return the share of each class: float64 array of shape (n, c)."""
        shares, posterior = self.forest.predict_proba(X), self.bayes.predict_proba(X)
        return multiply_shares(shares, posterior, self.bayes.log_sizes, self.weight)

    def predict(self, X) -> np.ndarray:
        """Predict the class of each row."""
        return self.forest.classes[np.argmax(self.predict_proba(X), axis=1)]

    def to_contents(self) -> dict:
        """Return what both hold, and the weight."""
        return {
            "bayes": self.bayes.to_contents(),
            "forest": self.forest.to_contents(),
            "weight": to_plain_data(self.weight),
        }

    @classmethod
    def from_contents(cls, origin: Origin, contents: Field) -> ReleasedProduct:
        """Return the classifier that ``contents`` was made of: no share of its forest is 0, which has no logarithm."""
        fields = contents.entries("bayes", "forest", "weight")
        weight = fields["weight"].number(lowest=SMALLEST, highest=1)
        bayes = ReleasedNaiveBayes.from_contents(origin, fields["bayes"])
        forest = ReleasedForest.from_contents(origin, fields["forest"])
        parts = fields["forest"].entries("classes", "combines", "n_bins", "trees")
        if forest.combines != COUNTS:
            parts["combines"].refuse(f"must be {COUNTS!r}: others have no shares")
        for i, tree in enumerate(forest.trees):
            answers = parts["trees"].at(i).entries(*tree._fields)["answer"]
            is_none = (tree.answer < SMALLEST) | (tree.answer > 1 + ROUNDING)
            answers.refuse_where(is_none, f"must be a share, from {SMALLEST:g} to 1")
        return cls(origin, bayes, forest, weight)


def multiply_shares(shares: np.ndarray, posterior: np.ndarray, log_sizes: np.ndarray, weight: float) -> np.ndarray:
    """Multiply the shares of a forest by what naive Bayes says beyond the sizes of the classes, which both know.

    Parameters
    ----------
    shares : float64 array of shape (n, c)
        Shares of the classes by the forest, above 0.
    posterior : float64 array of shape (n, c)
        Shares by naive Bayes.
    log_sizes : float64 array of shape (c,)
        Logarithm of the sizes of the classes that it went out from.
    weight : float
        Power to which its ratios are raised, in (0, 1].

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
    with np.errstate(divide="ignore"):  # of a class that naive Bayes rules out
        logs = np.log(shares) + weight * (np.log(posterior) - log_sizes)
    return shares_of_logs(logs)
