"""Released classifiers that were trained on released rows: a tree, a net, a support vector machine, or one class."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous, Nominal
from algorithms.released.document import Origin, Release, to_plain_data
from algorithms.released.field import SMALLEST, Field, has_two_parents
from algorithms.released.origin import read_classes


class AttributeBounds(NamedTuple):
    """Where attributes lie in their domain: categories count from 1."""

    lower: np.ndarray  #: float64 (k,)
    upper: np.ndarray  #: float64 (k,)

    @classmethod
    def of(cls, domain: Domain) -> AttributeBounds:
        """Return the bounds of attributes as they are."""
        ends = [(f.lower, f.upper) if isinstance(f, Continuous) else (1, len(f.categories)) for f in domain.features]
        return cls(*np.array(ends, dtype=np.float64).T)

    @property
    def n_columns(self) -> int:
        """How many attributes there are."""
        return len(self.lower)

    def scaled(self, mean: np.ndarray, scale: np.ndarray) -> AttributeBounds:
        """Return the bounds of attributes as a rule sees them."""
        return AttributeBounds((self.lower - mean) / scale, (self.upper - mean) / scale)

    def exclude(self, values: np.ndarray, columns: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Tell which values of attributes lie beyond their bounds, by more than 32-bit floats may move them."""
        lower, upper = self.lower[columns], self.upper[columns]
        slack = 1e-6 * np.maximum(np.abs(lower), np.abs(upper))
        return (values < lower - slack) | (values > upper + slack)


class OneClass(NamedTuple):
    """Always the same class."""

    position: np.ndarray  #: int64 (): of the class

    @classmethod
    def from_contents(cls, rule: Field, bounds: AttributeBounds, n_classes: int) -> OneClass:
        """Return the rule that ``rule`` was made of."""
        return cls(rule.entries("position")["position"].whole_numbers(lowest=0, highest=n_classes - 1))

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

    @classmethod
    def from_contents(cls, rule: Field, bounds: AttributeBounds, n_classes: int) -> BinaryTree:
        """Return the tree that ``rule`` was made of: children lie behind their parent, so that every way down ends."""
        fields = rule.entries(*cls._fields)
        cut = fields["cut"].numbers(None)
        m = len(cut)
        if not m:
            fields["cut"].refuse("must have a node")
        least = -2  # in leaves of scikit-learn's trees; -1 in those of C4.5
        feature = fields["feature"].whole_numbers(m, lowest=least, highest=bounds.n_columns - 1)
        left, right = (fields[side].whole_numbers(m, lowest=-1, highest=m - 1) for side in ("left", "right"))
        label = fields["label"].whole_numbers(m, lowest=0, highest=n_classes - 1)
        is_leaf, ones = left < 0, np.ones(2 * m, dtype=np.int64)
        fields["feature"].refuse_where((feature < 0) != is_leaf, "must be a column, or negative in a leaf")
        fields["cut"].refuse_where(~is_leaf & bounds.exclude(cut, feature), "must lie between the bounds of its column")
        fields["right"].refuse_where((right < 0) != is_leaf, "must be a node where left is one, else -1")
        is_shared = has_two_parents(np.concatenate([left, right]), ones).reshape(2, m)
        for side, child, has_other in zip(("left", "right"), (left, right), is_shared, strict=True):
            is_wrong = ~is_leaf & ((child <= np.arange(m)) | has_other)
            fields[side].refuse_where(is_wrong, "must lie behind its parent, and have no other")
        return cls(feature, cut, left, right, label)

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

    @classmethod
    def from_contents(cls, rule: Field, bounds: AttributeBounds, n_classes: int) -> HiddenLayer:
        """Return the net that ``rule`` was made of."""
        fields = rule.entries(*cls._fields)
        hidden_offsets = fields["hidden_offsets"].numbers(None)
        h, o = len(hidden_offsets), 1 if n_classes == 2 else n_classes
        hidden_weights = fields["hidden_weights"].numbers(bounds.n_columns, h)
        return cls(hidden_weights, hidden_offsets, fields["weights"].numbers(h, o), fields["offsets"].numbers(o))

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

    @classmethod
    def from_contents(cls, rule: Field, bounds: AttributeBounds, n_classes: int) -> SupportVectors:
        """Return the machine that ``rule`` was made of."""
        fields = rule.entries(*cls._fields)
        vectors = fields["vectors"].numbers(None, bounds.n_columns)
        fields["vectors"].refuse_where(bounds.exclude(vectors), "must lie between the bounds of its column")
        n_of_class = fields["n_of_class"].whole_numbers(n_classes, lowest=0, highest=len(vectors))
        if n_of_class.sum() != len(vectors):
            fields["n_of_class"].refuse(f"must be {len(vectors)} vectors in all")
        weights = fields["weights"].numbers(n_classes - 1, len(vectors))
        offsets = fields["offsets"].numbers(n_classes * (n_classes - 1) // 2)
        return cls(vectors, n_of_class, weights, offsets, fields["gamma"].numbers(lowest=SMALLEST))

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
"""By their names, which a release has."""


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
    def from_contents(cls, origin: Origin, contents: Field) -> ReleasedClassifier:
        """Return the classifier that ``contents`` was made of: it may lack classes that no drawn row had."""
        fields = contents.entries("classes", "mean", "scale", "rule", "of_rule")
        classes, bounds = (
            read_classes(fields["classes"], origin.domain, may_lack=True),
            AttributeBounds.of(origin.domain),
        )
        mean = fields["mean"].numbers(bounds.n_columns)
        scale = fields["scale"].numbers(bounds.n_columns, lowest=SMALLEST)
        fields["mean"].refuse_where((mean != 0) & bounds.exclude(mean), "must be 0 or lie between the bounds")
        widest = np.maximum(bounds.upper - bounds.lower, 1.0)
        fields["scale"].refuse_where(scale > widest, "must be 1 or within the width of the column")
        rule = RULES[fields["rule"].one_of(RULES)]
        if (rule is OneClass) != (len(classes) == 1):
            fields["rule"].refuse(f"must {'' if len(classes) == 1 else 'not '}be {OneClass.__name__!r}")
        return cls(
            origin,
            classes,
            mean,
            scale,
            rule.from_contents(fields["of_rule"], bounds.scaled(mean, scale), len(classes)),
        )
