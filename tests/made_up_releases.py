"""Small releases of every kind, written by hand, of which fields another value is another model, and sealed files."""

import hashlib
import json
import math
import re

import numpy as np

from algorithms import Continuous, Domain, Nominal
from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED, Parallel, Sequential, Spent
from algorithms.accounting.privacy import Privacy
from algorithms.accounting.trust import RELEASE
from algorithms.released.class_means import ReleasedClassMeans
from algorithms.released.classifier import BinaryTree, HiddenLayer, OneClass, ReleasedClassifier, SupportVectors
from algorithms.released.document import FORMAT, Origin
from algorithms.released.forest import (
    BELOW,
    BY_VALUE,
    COUNTS,
    EQUALS,
    LEAF,
    MEAN,
    VOTES,
    ReleasedForest,
    ReleasedTree,
)
from algorithms.released.marginals import ReleasedMarginals
from algorithms.released.naive_bayes import ReleasedNaiveBayes, ReleasedNormalBayes, ReleasedPairBayes
from algorithms.released.numbers import ReleasedNumbers
from algorithms.released.product import (
    ReleasedMeansProduct,
    ReleasedPairProduct,
    ReleasedProduct,
    ReleasedTail,
    domain_of_rest,
    domain_of_sides,
)
from algorithms.released.regression import ReleasedRegression

FEATURES = (Continuous("x", -1, 7), Nominal("a", ("u", "v", "w")), Nominal("b", (0, 1)))
CLASSES = Domain(FEATURES, Nominal("y", ("no", "yes", "maybe")))
TWO_CLASSES = Domain(FEATURES, Nominal("y", (False, True)))
NUMBERS = Domain((Continuous("x", -1, 7), Continuous("z", 0, 2)), Continuous("y", -2, 20))
LABELS, TWO_LABELS = CLASSES.target.labels(), TWO_CLASSES.target.labels()

LEDGER = Sequential(
    "model",
    (
        Sequential("level", (Spent("exponential", "a cut", 0.125, 1.0),), times=2),
        Parallel("leaf", (Spent("laplace", "class counts", 0.75, 1.0, ADDED_OR_REMOVED, 2.0),), times=4),
    ),
)
OF_MEANS = Sequential("objective", (Spent("laplace", "coefficients", 2.0, 3.0, REPLACED),))


def sealed(document):
    """Return a document as a file whose checksum is right, NaN and infinite numbers in it or not."""
    body = json.dumps({name: value for name, value in document.items() if name not in ("format", "sha256")})
    return f'{{"format": "{FORMAT}", "sha256": "{hashlib.sha256(body.encode()).hexdigest()}", {body[1:]}'


def probes(release):
    """Return rows of all that a domain has, the bounds and beyond."""
    values = []
    for column in release.origin.domain.features:
        if isinstance(column, Continuous):
            values.append([*np.linspace(column.lower, column.upper, 6), column.lower - 1, column.upper + 1])
        else:
            values.append(column.categories)
    n = math.lcm(*map(len, values)) * 5
    return [[column[(i * (j + 1) + i // 7) % len(column)] for j, column in enumerate(values)] for i in range(n)]


def origin(domain, ledger=LEDGER, **parameters):
    privacy = Privacy(1.0 if ledger is LEDGER else 2.0, ledger, neighbours=ledger.neighbours, trust=RELEASE)
    parameters = {"epsilon": 1.0, "noise": "opendp", "variant": None, "prune": True, "n_trees": 2} | parameters
    return Origin("MadeUp", parameters, Domain.from_mapping(domain.to_mapping()), privacy.as_dict())


def tree(nodes, width=1):
    """Return a tree of a list of nodes: (decides, feature, cut, child) or the answers of a leaf."""
    nan = math.nan
    asked = [node if isinstance(node, tuple) else (LEAF, -1, nan, -1) for node in nodes]
    decides, feature, cut, child = zip(*asked, strict=True)
    answers = [[nan] * width if isinstance(node, tuple) else node for node in nodes]
    counts = [20.5, *([nan] * (len(nodes) - 1))]
    return ReleasedTree(
        np.array(decides, dtype=np.int8),
        np.array(feature, dtype=np.int32),
        np.array(cut),
        np.array(child, dtype=np.int32),
        np.array(answers),
        np.array(counts),
    )


def of_votes():
    nan = math.nan
    by_value = [(BY_VALUE, 0, nan, 1), (BELOW, 1, 1.0, 5), [0.0], [2.0], (EQUALS, 0, 2.0, 7)]
    by_value += [[1.0], [2.0], (BY_VALUE, 1, nan, 9), [0.0], [2.0], [1.0], [0.0]]
    return tree(by_value), tree([(EQUALS, 2, 1.0, 1), [2.0], [1.0]])


def of_counts(one=1.0):
    inner = [(BELOW, 0, 2.5, 1), (BELOW, 0, -0.25, 3), (BY_VALUE, 2, math.nan, 5)]
    leaves = [[4.5, 0.5, 2.25], [0.125, 8.0, 3.5], [1.0, 2.0, 30.0], [6.0, 1.5, 0.75]]
    leaves, root = ([[n / one for n in leaf] for leaf in each] for each in (leaves, [[1.5, 2.5, 0.5]]))
    return (tree([*inner, *leaves], 3), tree(root, 3))


def of_means():
    return (tree([(BELOW, 1, 0.75, 1), [0.25], (BELOW, 0, 3.5, 3), [0.5], [1.0]]),)


def naive_bayes(at):
    rng = np.random.default_rng(0)
    ratios = tuple(np.round(rng.normal(size=(n, 3)), 2) for n in (3, 2))
    return ReleasedNaiveBayes(at, LABELS, 2, np.array([1, 2]), np.log([30.0, 20.0, 10.0]).round(3), ratios)


def pair_bayes(at):
    ratios = np.round(np.random.default_rng(1).normal(size=(6, 3)), 2)
    return ReleasedPairBayes(at, LABELS, np.array([[1, 2]]), np.log([30.0, 20.0, 10.0]).round(3), (ratios,))


def class_means(at):
    return ReleasedClassMeans(at, LABELS, np.random.default_rng(2).uniform(-1, 1, (3, 5)).round(2))


def classifier(rule, domain=CLASSES, labels=LABELS):
    return ReleasedClassifier(origin(domain), labels, np.array([3.0, 2.0, 1.5]), np.array([2.0, 0.75, 0.5]), rule)


def layer(o):
    rng = np.random.default_rng(o)
    return HiddenLayer(*(np.round(rng.normal(size=shape), 2) for shape in ((3, 2), (2,), (2, o), (o,))))


def vectors():
    rng = np.random.default_rng(4)
    weights, offsets = np.round(rng.normal(size=(2, 4)), 2), np.array([0.25, -0.5, 0.125])
    rows = np.array([[-1.5, 1.25, 1.0], [0.5, -1.25, -1.0], [1.75, 0.25, 0.5], [-0.25, 1.25, -0.75]])
    return SupportVectors(rows, np.array([2, 1, 1]), weights, offsets, np.array(0.5))


def binary():
    feature, cut = np.array([0, 2, -1, 1, -2, -1, -1]), np.array([0.25, -0.5, 0.0, 1.25, -2.0, 0.0, 0.0])
    left, right = np.array([1, 3, -1, 5, -1, -1, -1]), np.array([2, 4, -1, 6, -1, -1, -1])
    return BinaryTree(feature, cut, left, right, np.array([0, 1, 2, 1, 1, 0, 1]))


def marginals():
    shares = (
        [[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]],
        [[0.5, 0.25, 0.25]] * 3,
        [[0.25, 0.75], [0.625, 0.375], [0.5, 0.5]],
    )
    at = origin(CLASSES, sampling_ratio=1.0, n_bins=2)
    return ReleasedMarginals(at, np.array([12.25, 0.0, 7.5]), tuple(map(np.array, shares)))


def product(kind, first):
    at = origin(CLASSES)
    return kind(at, first(at), ReleasedForest(at, LABELS, COUNTS, None, of_counts(32.0)), 0.5)


def tail():
    means = np.array([0.125, 0.75])
    of_sides = tree([(BELOW, 1, 0.5, 1), [0.875, 0.125], [0.25, 0.75]], 2)
    sides = ReleasedForest(origin(domain_of_sides(NUMBERS)), np.array([False, True]), COUNTS, None, (of_sides,))
    rest = ReleasedForest(origin(domain_of_rest(NUMBERS, means)), None, MEAN, None, of_means())
    return ReleasedTail(origin(NUMBERS), means, sides, rest)


def regression():
    powers = np.array([[1, 0], [0, 1], [2, 0], [1, 1], [0, 2], [0, 0]])
    weights = np.array([0.5, -1.25, 2.0, 0.75, 1.5, -0.25])
    return ReleasedRegression(origin(NUMBERS, OF_MEANS), weights, powers, "ball")


def normal_bayes():
    sizes, shares = np.log([40.5, 20.0, 10.0]), (np.log([[0.5, 0.2, 0.1], [0.25, 0.6, 0.1], [0.25, 0.2, 0.8]]),)
    shares += (np.log([[0.5, 0.75, 0.3], [0.5, 0.25, 0.7]]),)
    return ReleasedNormalBayes(
        origin(CLASSES), LABELS, sizes, shares, np.array([[-0.5, 0.25, 0.75]]), np.array([[0.25, 0.5, 1.0]])
    )


MADE_UP = {
    "forest of votes": lambda: ReleasedForest(origin(CLASSES), LABELS, VOTES, 4, of_votes()),
    "forest of counts": lambda: ReleasedForest(origin(CLASSES), LABELS, COUNTS, None, of_counts()),
    "forest of means": lambda: ReleasedForest(origin(NUMBERS), None, MEAN, None, of_means()),
    "naive Bayes": lambda: naive_bayes(origin(CLASSES)),
    "normal naive Bayes": normal_bayes,
    "pairs naive Bayes": lambda: pair_bayes(origin(CLASSES)),
    "class means": lambda: class_means(origin(CLASSES)),
    "product": lambda: product(ReleasedProduct, naive_bayes),
    "product of pairs": lambda: product(ReleasedPairProduct, pair_bayes),
    "product of means": lambda: product(ReleasedMeansProduct, class_means),
    "tail": tail,
    "regression": regression,
    "marginals": marginals,
    "binary tree": lambda: classifier(binary()),
    "layer of two classes": lambda: classifier(layer(1), TWO_CLASSES, TWO_LABELS),
    "layer of three classes": lambda: classifier(layer(3)),
    "support vectors": lambda: classifier(vectors()),
    "one class": lambda: classifier(OneClass(np.array(0)), labels=LABELS[1:2]),
    "numbers": lambda: ReleasedNumbers(origin(CLASSES), {"counts": np.array([[3.5, -1.0]]), "mean": np.array(0.5)}),
}
"""A release of every kind, and of every rule and form of leaves, by name."""


# Of which fields another value is another model, and why the file cannot tell.


def number(lowest=-1e100, highest=1e100):
    return lambda old, new: type(new) in (int, float) and lowest <= new <= highest


def whole(lowest, highest):
    return lambda old, new: type(new) is int and lowest <= new <= highest


def one_of(*values):
    return lambda old, new: any(type(new) in (int, float, str) and new == value for value in values)


def each(is_right=lambda old, new: new in old):
    """A list of as many, each of them right; as it is called here, of the same in another order."""
    return lambda old, new: type(new) is list and len(new) == len(old) and all(is_right(old, one) for one in new)


def fewer_or_more(old, new):
    return type(new) is list and len(new) > 0 and all(one in old for one in new)


def swapped(old, new):
    return type(new) is dict and new.keys() == old.keys() and all(one in old.values() for one in new.values())


def numbers_by_name(old, new):
    return not re.search("null|true|false|NaN|Infinity|e[+]?[3-9]|[0-9]{40}", json.dumps(new))


def anything(old, new):
    return True


A_DECLARATION = {r"domain(\.(features|target).*)?": anything}  # of a column is for its owner to make
A_LARGER_CLAIM = {r"privacy\.claimed_epsilon": number(1.0)}  # holds where a smaller one does
LABEL, ANOTHER_TREE = one_of(0, 1, 2), {r"contents(\.forest)?\.trees": fewer_or_more}  # a vote more or less
MEAN_AND_SCALE = {  # any place within the bounds, any width within theirs
    r"contents\.mean\[0\]": number(-1, 7),
    r"contents\.mean\[1\]": number(0, 3),
    r"contents\.mean\[2\]": number(0, 2),
    r"contents\.scale\[\d\]": number(1e-100, 8),
    r"contents\.(mean|scale)": each(),
}
LAYER = MEAN_AND_SCALE | {r"contents\.of_rule\.\w+(\[\d\])*": lambda old, new: number()(old, new) or each()(old, new)}
BAYES = {
    r"contents\.log_sizes\[\d\]": number(0, 745),
    r"contents\.log_ratios\[\d\]\[\d\]\[\d\]": number(-745, 745),
    r"contents\.(log_sizes|log_ratios\[\d\](\[\d\])?)": each(),
}
A_WEIGHT = {r"contents\.weight": number(1e-100, 1)}
OTHERS = {
    "forest of votes": A_DECLARATION
    | A_LARGER_CLAIM
    | ANOTHER_TREE
    | {
        r"contents\.n_bins": whole(1, 2**31 - 1),  # there are nodes enough for fewer of them
        r"contents\.trees\[\d\]\.decides\[\d+\]": whole(1, 2),  # up to a code, or equal to it
        r"contents\.trees\[\d\]\.feature\[\d+\]": whole(0, 2),  # another column that has such a code
        r"contents\.trees\[0\]\.cut\[1\]": number(0, 2),
        r"contents\.trees\[0\]\.cut\[4\]": one_of(0, 1, 2, 3),
        r"contents\.trees\[1\]\.cut\[0\]": one_of(0, 1),
        r"contents\.trees\[\d\]\.answer\[\d+\]\[0\]": LABEL,
        r"contents\.trees\[\d\]\.(decides|feature|answer)": each(lambda old, new: new in (0, 1, 2) or new in old),
    },
    "forest of counts": ANOTHER_TREE
    | {
        r"contents\.trees\[\d\]\.cut\[\d\]": number(-1, 7),
        r"contents\.trees\[\d\]\.answer\[\d\]\[\d\]": number(),
        r"contents\.trees\[\d\]\.(cut|answer(\[\d\])?)": each(),
    },
    "forest of means": {
        r"contents\.n_bins": whole(1, 2**31 - 1),  # cuts are then among bins, not among values
        r"contents\.trees\[0\]\.feature\[\d\]": whole(0, 1),
        r"contents\.trees\[0\]\.cut\[\d\]": number(-1, 7),
        r"contents\.trees\[0\]\.answer\[\d\]\[0\]": number(0, 1),
        r"contents\.trees\[0\]\.(feature|answer)": each(lambda old, new: new in (0, 1) or new in old),
    },
    "naive Bayes": BAYES,
    "normal naive Bayes": {
        r"contents\.log_sizes\[\d\]": number(0, 745),
        r"contents\.log_shares\[\d\]\[\d\]\[\d\]": number(-745, 0),
        r"contents\.means\[\d\]\[\d\]": number(-1, 1),
        r"contents\.deviations\[\d\]\[\d\]": number(0.001, 1),
        r"contents\.(log_sizes|log_shares\[\d\](\[\d\])?|(means|deviations)\[\d\])": each(),
    },
    "pairs naive Bayes": BAYES,
    "class means": {
        r"contents\.means\[\d\]\[\d\]": number(-1, 1),
        r"contents\.means(\[\d\])?": each(),
    },
    "product of pairs": A_WEIGHT,
    "product of means": A_WEIGHT,
    "product": ANOTHER_TREE
    | A_WEIGHT
    | {
        r"contents\.forest\.trees\[\d\]\.answer\[\d\]\[\d\]": number(1e-100, 1),
        r"contents\.forest\.trees\[\d\]\.answer(\[\d\])?": each(),
    },
    "tail": {
        r"contents\.means\[0\]": number(0, 0.75),
        r"contents\.means\[1\]": number(0.125, 1),
        r"contents\.sides\.trees\[0\]\.answer\[\d\]\[\d\]": number(),
        r"contents\.rest\.n_bins": whole(1, 2**31 - 1),  # cuts are then among bins, not among values
        r"contents\.sides\.n_bins": whole(1, 2**31 - 1),
        r"contents\.(sides|rest)\.trees\[0\]\.feature\[\d\]": whole(0, 1),
        r"contents\.(sides|rest)\.trees\[0\]\.cut\[\d\]": number(-1, 7),
        r"contents\.rest\.trees\[0\]\.answer\[\d\]\[0\]": number(0, 1),
        r"contents\.sides\.trees\[0\]\.answer\[\d\]": each(),
        r"contents\.(sides|rest)\.trees\[0\]\.(feature|answer)": each(lambda old, new: new in (0, 1) or new in old),
    },
    "regression": {
        r"contents\.weights\[\d\]": number(),
        r"contents\.weights": each(),
        r"contents\.scaling": one_of("box", "unit", "signed_ball"),
    },
    "marginals": {
        r"parameters\.sampling_ratio": number(1e-100),
        r"parameters": lambda old, new: new["sampling_ratio"] in (1, 2),
        r"contents\.class_counts\[\d\]": number(0, 1e8),
        r"contents\.(class_counts|shares(\[\d\]){0,2})": each(),  # shares of one cell alone add up to 1 no more
    },
    "binary tree": MEAN_AND_SCALE
    | {
        r"contents\.of_rule\.feature\[\d\]": whole(0, 2),
        r"contents\.of_rule\.cut\[\d\]": number(-2, 2),
        r"contents\.of_rule\.label\[\d\]": LABEL,
        r"contents\.of_rule\.(feature|cut|right|label)": each(lambda old, new: new in (0, 1, 2) or new in old),
        r"contents\.of_rule": swapped,  # left and right
    },
    "layer of two classes": LAYER,
    "layer of three classes": LAYER,
    "support vectors": MEAN_AND_SCALE
    | {
        r"contents\.of_rule\.vectors\[\d\]\[\d\]": number(-2, 2),
        r"contents\.of_rule\.weights\[\d\]\[\d\]": number(),
        r"contents\.of_rule\.offsets\[\d\]": number(),
        r"contents\.of_rule\.gamma": number(1e-100),
        r"contents\.of_rule\.(vectors|weights(\[\d\])?|n_of_class|offsets)": each(),
    },
    "one class": {r"contents\.classes\[0\]": one_of("maybe", "no", "yes")},
    "numbers": {r"contents(\.\w+)?(\[\d\])*": numbers_by_name},
}
