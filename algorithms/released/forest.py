"""Released trees: questions, answers of leaves, and noisy counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from algorithms.encoding.bins import bin_continuous
from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous
from algorithms.released.document import Origin, Release, to_plain_data
from algorithms.released.field import LARGEST, ROUNDING, Field, has_two_parents
from algorithms.released.origin import count_categories, read_classes

LEAF, BELOW, EQUALS, BY_VALUE = 0, 1, 2, 3
"""How a node decides: not at all; value <= cut goes left; value == cut goes left; one child for every code."""

VOTES, COUNTS, MEAN = "votes", "counts", "mean"
"""What trees have in their leaves, and how it is put together: a label, and the most frequent one is predicted; class
counts, or a label's weight, which are summed; a number on the scale [0, 1], of which the mean is taken."""

MOST_BINS = 2**31 - 1
"""Most bins of a column: children have their numbers in 32 bits."""


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

    @classmethod
    def from_contents(cls, tree: Field, domain: Domain, n_bins: int | None, answers: Answers) -> ReleasedTree:
        """Return the tree that ``tree`` was made of: every way down ends in a leaf, and every leaf says something."""
        fields = tree.entries(*cls._fields)
        decides = fields["decides"].whole_numbers(None, lowest=LEAF, highest=BY_VALUE, dtype=np.int8)
        n_nodes, n_columns = len(decides), len(domain.features)
        if not n_nodes:
            fields["decides"].refuse("must have a node")
        self = cls(
            decides,
            fields["feature"].whole_numbers(n_nodes, lowest=-1, highest=n_columns - 1, dtype=np.int32),
            fields["cut"].numbers(n_nodes, may_lack=True),
            fields["child"].whole_numbers(n_nodes, lowest=-1, highest=n_nodes - 1, dtype=np.int32),
            fields["answer"].numbers(
                n_nodes, answers.width, lowest=answers.lowest, highest=answers.highest, may_lack=True
            ),
            fields["noisy_count"].numbers(n_nodes, may_lack=True),
        )
        self._check_leaves(fields, answers)
        self._check_cuts(fields, domain, n_bins)
        self._check_children(fields, count_categories(domain, n_bins))
        return self

    def _check_leaves(self, fields: dict[str, Field], answers: Answers) -> None:
        is_leaf = self.decides == LEAF
        fields["feature"].refuse_where((self.feature < 0) != is_leaf, "must be a column, or -1 in a leaf")
        fields["child"].refuse_where((self.child < 0) != is_leaf, "must be a node, or -1 in a leaf")
        is_silent = np.isnan(self.answer)
        fields["answer"].refuse_where(is_silent == is_leaf[:, np.newaxis], "must be a number in a leaf, null elsewhere")
        if answers.is_whole:
            is_label = is_silent | (self.answer == np.floor(self.answer))
            fields["answer"].refuse_where(~is_label, "must be the number of a class")

    def _check_cuts(self, fields: dict[str, Field], domain: Domain, n_bins: int | None) -> None:
        """Values are compared with a cut between the bounds, a category or a bin with one of them."""
        n_codes = count_categories(domain, n_bins)[self.feature]
        is_of_codes = (self.decides == EQUALS) | (self.decides == BY_VALUE)
        fields["decides"].refuse_where(is_of_codes & (n_codes == 0), "must be 1 where numbers have no bins")
        has_cut = (self.decides == BELOW) | (self.decides == EQUALS)
        fields["cut"].refuse_where(np.isnan(self.cut) == has_cut, "must be a number where a node compares, else null")
        bounds = np.array([(f.lower, f.upper) if isinstance(f, Continuous) else (0, 0) for f in domain.features])
        lower, upper = bounds[self.feature].T
        slack = ROUNDING * (upper - lower)
        lower, upper = np.where(n_codes, 0, lower - slack), np.where(n_codes, n_codes - 1, upper + slack)
        is_outside = has_cut & ((self.cut < lower) | (self.cut > upper))
        fields["cut"].refuse_where(is_outside, "must lie between the bounds of its column")
        is_none = (self.decides == EQUALS) & (self.cut != np.floor(self.cut))
        fields["cut"].refuse_where(is_none, "must be the number of a category or a bin")

    def _check_children(self, fields: dict[str, Field], n_codes: np.ndarray) -> None:
        """Children lie behind their parent, so that no way down has an end that is none, and have no other."""
        inner = np.flatnonzero(self.decides != LEAF)
        n_children = np.where(self.decides[inner] == BY_VALUE, n_codes[self.feature[inner]], 2)
        is_wrong = np.zeros(len(self.decides), dtype=bool)
        is_wrong[inner] = (self.child[inner] <= inner) | (self.child[inner] + n_children > len(self.decides))
        fields["child"].refuse_where(is_wrong, "must lie behind its parent, and all its siblings within the tree")
        is_wrong[inner] = has_two_parents(self.child[inner], n_children)
        fields["child"].refuse_where(is_wrong, "must not be a child of another node, nor may its siblings")


class Answers(NamedTuple):
    """What the leaves of a tree may say."""

    width: int  #: how many numbers a leaf has
    lowest: float
    highest: float
    is_whole: bool  #: whether these are labels

    @classmethod
    def of(cls, combines: str, n_classes: int) -> Answers:
        """Return what leaves may say that are put together as VOTES, COUNTS or MEAN."""
        if combines == VOTES:
            return cls(1, 0, n_classes - 1, True)
        return cls(n_classes, -LARGEST, LARGEST, False) if combines == COUNTS else cls(1, 0.0, 1.0, False)


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
    def from_contents(cls, origin: Origin, contents: Field) -> ReleasedForest:
        """Return the forest that ``contents`` was made of."""
        fields = contents.entries("classes", "combines", "n_bins", "trees")
        is_regression = isinstance(origin.domain.target, Continuous)
        combines = fields["combines"].one_of((MEAN,) if is_regression else (VOTES, COUNTS))
        if is_regression and fields["classes"].value is not None:
            fields["classes"].refuse("must be null where a number is predicted")
        classes = None if is_regression else read_classes(fields["classes"], origin.domain)
        has_bins = fields["n_bins"].value is not None
        n_bins = fields["n_bins"].whole(lowest=1, highest=MOST_BINS) if has_bins else None
        answers = Answers.of(combines, 0 if classes is None else len(classes))
        trees = fields["trees"].items(fewest=1)
        trees = tuple(ReleasedTree.from_contents(tree, origin.domain, n_bins, answers) for tree in trees)
        return cls(origin, classes, combines, n_bins, trees)


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
