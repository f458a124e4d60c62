"""Released classifiers that were trained on released rows: a tree, a net, a support vector machine, or one class."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from algorithms.encoding.features import Nominal
from algorithms.released.document import Origin, Release, to_array, to_plain_data


class OneClass(NamedTuple):
    """Always the same class."""

    position: np.ndarray  #: int64 (): of the class

    def classify(self, rows: np.ndarray) -> np.ndarray:
        """Return the position of the class of each row."""
        return np.full(len(rows), self.position)


class BinaryTree(NamedTuple):
    """A tree of cuts; m nodes, the root first."""

    feature: np.ndarray  #: int64 (m,)
    cut: np.ndarray  #: float64 (m,): a value up to it goes left
    left: np.ndarray  #: int64 (m,): first child, -1 in a leaf
    right: np.ndarray  #: int64 (m,)
    label: np.ndarray  #: int64 (m,): position of the most frequent class

    def classify(self, rows: np.ndarray) -> np.ndarray:
        """Return the position of the class of each row."""
        rows = rows.astype(np.float32)  # as it was trained
        at, every = np.zeros(len(rows), dtype=np.int64), np.arange(len(rows))
        while (is_inside := self.left[at] >= 0).any():
            goes_left = rows[every, self.feature[at]] <= self.cut[at]
            at = np.where(is_inside, np.where(goes_left, self.left[at], self.right[at]), at)
        return self.label[at]


class HiddenLayer(NamedTuple):
    """A net with one hidden layer of hyperbolic tangents; h of them, o outputs."""

    hidden_weights: np.ndarray  #: float64 (k, h)
    hidden_offsets: np.ndarray  #: float64 (h,)
    weights: np.ndarray  #: float64 (h, o): o is 1 for two classes
    offsets: np.ndarray  #: float64 (o,)

    def classify(self, rows: np.ndarray) -> np.ndarray:
        """Return the position of the class of each row: of the largest output, or whether the only one is positive."""
        outputs = np.tanh(rows @ self.hidden_weights + self.hidden_offsets) @ self.weights + self.offsets
        return (outputs[:, 0] > 0).astype(np.int64) if outputs.shape[1] == 1 else outputs.argmax(axis=1)


class SupportVectors(NamedTuple):
    """A support vector machine with a Gaussian kernel: every two of c classes are compared, s vectors."""

    vectors: np.ndarray  #: float64 (s, k): released rows, class after class
    n_of_class: np.ndarray  #: int64 (c,): vectors of each class
    weights: np.ndarray  #: float64 (c - 1, s)
    offsets: np.ndarray  #: float64 (c (c - 1) / 2,): of the pairs of classes in order
    gamma: np.ndarray  #: float64 ()

    def classify(self, rows: np.ndarray) -> np.ndarray:
        """Return the position of the class of each row: of the one that wins most comparisons, the first on a tie."""
        distances = (rows**2).sum(axis=1)[:, np.newaxis] + (self.vectors**2).sum(axis=1) - 2 * rows @ self.vectors.T
        kernel = np.exp(-self.gamma * distances)
        n_classes, ends = len(self.n_of_class), np.cumsum(self.n_of_class)
        members = [slice(end - n, end) for n, end in zip(self.n_of_class, ends, strict=True)]
        votes = np.zeros((len(rows), n_classes))
        for offset, (i, j) in zip(self.offsets, combinations(range(n_classes), 2), strict=True):
            of_i = kernel[:, members[i]] @ self.weights[j - 1, members[i]]
            of_j = kernel[:, members[j]] @ self.weights[i, members[j]]
            is_i = of_i + of_j + offset > 0
            votes[:, i] += is_i
            votes[:, j] += ~is_i
        return votes.argmax(axis=1)


RULES = {rule.__name__: rule for rule in (OneClass, BinaryTree, HiddenLayer, SupportVectors)}
WHOLE_NUMBERS = {"position", "feature", "left", "right", "label", "n_of_class"}
"""Fields that hold positions or numbers of things."""


@dataclass(frozen=True, eq=False)
class ReleasedClassifier(Release):
    """A classifier that has left, trained on rows that were drawn from what was paid for."""

    KIND = "classifier"

    origin: Origin
    classes: np.ndarray  #: (c,): class labels
    mean: np.ndarray  #: float64 (k,): what is taken from an attribute, of the released rows; 0 where it stays as it is
    scale: np.ndarray  #: float64 (k,): what it is then divided by; 1 where it stays as it is
    rule: OneClass | BinaryTree | HiddenLayer | SupportVectors  #: what was trained

    def predict(self, X) -> np.ndarray:
        """Predict the class of each row."""
        counts_from_1 = [isinstance(feature, Nominal) for feature in self.origin.domain.features]
        rows = self.origin.domain.encode(X)[0] + counts_from_1
        return self.classes[self.rule.classify((rows - self.mean) / self.scale)]

    def to_contents(self) -> dict:
        """Return classes, units and the rule."""
        return {
            "classes": to_plain_data(self.classes),
            "mean": to_plain_data(self.mean),
            "scale": to_plain_data(self.scale),
            "rule": type(self.rule).__name__,
            "of_rule": {name: to_plain_data(value) for name, value in self.rule._asdict().items()},
        }

    @classmethod
    def from_contents(cls, origin: Origin, contents: dict) -> ReleasedClassifier:
        """Return the classifier that ``contents`` was made of."""
        rule = RULES[contents["rule"]](
            **{
                name: to_array(value, np.int64 if name in WHOLE_NUMBERS else np.float64)
                for name, value in contents["of_rule"].items()
            }
        )
        classes, mean, scale = np.array(contents["classes"]), to_array(contents["mean"]), to_array(contents["scale"])
        return cls(origin, classes, mean, scale, rule)
