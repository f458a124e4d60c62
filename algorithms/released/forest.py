"""Released trees: questions, answers of leaves, and noisy counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from algorithms.encoding.bins import bin_continuous
from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Nominal
from algorithms.released.document import Origin, Release, check_classes, to_array, to_plain_data

LEAF, BELOW, EQUALS, BY_VALUE = 0, 1, 2, 3
"""How a node decides: not at all; value <= cut goes left; value == cut goes left; one child for every code."""

VOTES, COUNTS, MEAN = "votes", "counts", "mean"
"""What trees have in their leaves, and how it is put together: a label, and the most frequent one is predicted; class
counts, or a label's weight, which are summed; a number on the scale [0, 1], of which the mean is taken."""


class ReleasedTree(NamedTuple):
    """A tree, node by node, the root first; m nodes."""

    decides: np.ndarray  #: int8 (m,)
    feature: np.ndarray  #: int32 (m,): column that is asked, -1 in a leaf
    cut: np.ndarray  #: float64 (m,): threshold, or category, NaN where there is none
    child: np.ndarray  #: int32 (m,): first child, the others follow it; -1 in a leaf
    answer: (
        np.ndarray
    )  #: float64 (m, w): what a leaf says, NaN elsewhere; w is the number of classes for COUNTS, else 1
    noisy_count: np.ndarray  #: float64 (m,): of rows, or of the errors of a thrifty tree, if released, else NaN

    def find_answers(self, matrix: np.ndarray) -> np.ndarray:
        """Return what the leaf of every row says: float64 array of shape (n, w)."""
        at, every = np.zeros(len(matrix), dtype=np.int64), np.arange(len(matrix))
        while (is_inside := self.decides[at] != LEAF).any():
            values, decides, cut = matrix[every, self.feature[at]], self.decides[at], self.cut[at]
            step = np.select([decides == BELOW, decides == EQUALS], [values > cut, values != cut], values)
            at = np.where(is_inside, self.child[at] + step.astype(np.int64), at)
        return self.answer[at]

    def check(self, domain: Domain, width: int, n_labels: int | None, n_bins: int | None) -> None:
        """Raise a ``ValueError`` unless every way down ends in a leaf that says ``width`` numbers, or a label."""
        n_nodes, is_leaf = len(self.decides), self.decides == LEAF
        if not n_nodes or any(len(column) != n_nodes for column in self) or self.answer.shape[1:] != (width,):
            raise ValueError("the columns of a tree do not fit together")
        if not np.isin(self.decides, (LEAF, BELOW, EQUALS, BY_VALUE)).all() or np.isnan(self.answer[is_leaf]).any():
            raise ValueError("a node of a tree neither asks nor answers")
        if n_labels and not np.isin(self.answer[is_leaf], np.arange(n_labels)).all():
            raise ValueError("a leaf says a class that there is not")
        inner = np.flatnonzero(~is_leaf)
        if not ((self.feature[inner] >= 0) & (self.feature[inner] < len(domain.features))).all():
            raise ValueError("a node asks for a column that there is not")
        n_codes = np.array([len(f.categories) if isinstance(f, Nominal) else n_bins or 2 for f in domain.features])
        n_children = np.where(self.decides[inner] == BY_VALUE, n_codes[self.feature[inner]], 2)
        if not ((self.child[inner] > inner) & (self.child[inner] + n_children <= n_nodes)).all():
            raise ValueError("a node has children that there are not")


DTYPES = {"decides": np.int8, "feature": np.int32, "child": np.int32}


@dataclass(frozen=True, eq=False)
class ReleasedForest(Release):
    """A forest that has left."""

    KIND = "forest"

    origin: Origin
    classes: np.ndarray | None  #: (c,): class labels, sorted; None for a regression
    combines: str  #: VOTES, COUNTS or MEAN: what the trees have in their leaves
    n_bins: int | None  #: equal-width bins that continuous columns are put into; None where trees compare their values
    trees: tuple[ReleasedTree, ...]

    def predict_proba(self, X) -> np.ndarray:
        """Return the share of each class, of votes, weights or noisy counts: float64 array of shape (n, c)."""
        answers = self.find_answers(X)
        if self.combines == VOTES:
            return (answers == np.arange(len(self.classes))).mean(axis=0)
        return shares_of(answers.sum(axis=0))

    def predict(self, X) -> np.ndarray:
        """Predict the class of each row, or a number in the unit of the target."""
        if self.combines != MEAN:
            return self.classes[np.argmax(self.predict_proba(X), axis=1)]
        bounds = self.origin.domain.target
        return bounds.lower + self.find_answers(X)[:, :, 0].mean(axis=0) * (bounds.upper - bounds.lower)

    def find_answers(self, X) -> np.ndarray:
        """Return what every tree says of every row: float64 array of shape (trees, n, w).

        Labels are positions in ``classes``, numbers are on the scale [0, 1]; w is the number of classes for COUNTS,
        else 1.
        """
        rows, _ = self.origin.domain.encode(X)
        if self.n_bins is not None:
            rows = bin_continuous(rows, self.origin.domain, self.n_bins)
        return np.stack([tree.find_answers(rows) for tree in self.trees])

    def to_contents(self) -> dict:
        """Return classes, bins and trees."""
        return {
            "classes": to_plain_data(self.classes),
            "combines": self.combines,
            "n_bins": to_plain_data(self.n_bins),
            "trees": [{name: to_plain_data(column) for name, column in tree._asdict().items()} for tree in self.trees],
        }

    @classmethod
    def from_contents(cls, origin: Origin, contents: dict) -> ReleasedForest:
        """Return the forest that ``contents`` was made of."""
        trees = tuple(
            ReleasedTree(**{name: to_array(column, DTYPES.get(name, np.float64)) for name, column in tree.items()})
            for tree in contents["trees"]
        )
        classes = None if contents["classes"] is None else np.array(contents["classes"])
        forest = cls(origin, classes, contents["combines"], contents["n_bins"], trees)
        forest.check()
        return forest

    def check(self) -> None:
        """Raise a ``ValueError`` if rows could not find their way down the trees, or what these say is of no use."""
        if self.combines not in (VOTES, COUNTS, MEAN) or not self.trees:
            raise ValueError(f"a forest of {len(self.trees)} trees combines {self.combines!r}")
        if not (self.n_bins is None or (isinstance(self.n_bins, int) and self.n_bins > 0)):
            raise ValueError(f"there cannot be {self.n_bins!r} bins")
        if self.classes is not None:
            check_classes(self.classes, self.origin.domain)
        n_classes = 1 if self.classes is None else self.classes.size
        width = n_classes if self.combines == COUNTS else 1
        for tree in self.trees:
            tree.check(self.origin.domain, width, n_classes if self.combines == VOTES else None, self.n_bins)


def shares_of(sums: np.ndarray) -> np.ndarray:
    """Return noisy class counts as shares: moved up to 0 where one is negative, even where none is left.

    Parameters
    ----------
    sums : float64 array of shape (n, c)
        Summed noisy counts of the trees.

    Examples
    --------
    >>> shares_of(np.array([[3.0, 1.0], [-1.0, 1.0], [0.0, 0.0]]))
    array([[0.75, 0.25],
           [0.  , 1.  ],
           [0.5 , 0.5 ]])
    """
    sums = sums - np.minimum(sums.min(axis=1, keepdims=True), 0)
    total = sums.sum(axis=1, keepdims=True)
    return np.divide(sums, total, out=np.full_like(sums, 1 / sums.shape[1]), where=total > 0)
