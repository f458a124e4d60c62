"""Released naive Bayes and forest of which one corrects the other: what both say of a class is multiplied."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from algorithms.released.document import Origin, Release, to_plain_data
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
    def from_contents(cls, origin: Origin, contents: dict) -> ReleasedProduct:
        """Return the classifier that ``contents`` was made of."""
        bayes = ReleasedNaiveBayes.from_contents(origin, contents["bayes"])
        model = cls(origin, bayes, ReleasedForest.from_contents(origin, contents["forest"]), contents["weight"])
        model.check()
        return model

    def check(self) -> None:
        """Raise a ``ValueError`` unless the forest has shares, of classes, and the weight is one."""
        if self.forest.combines != COUNTS or self.forest.classes is None:
            raise ValueError(f"a forest of {self.forest.combines!r} has no shares of classes")
        if not (isinstance(self.weight, float) and 0 < self.weight <= 1):
            raise ValueError(f"{self.weight!r} is no weight")


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
