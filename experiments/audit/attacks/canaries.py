"""Canaries: hide records among the rows of a paper's configuration, train once, and guess which of them were there.

Each of some thousand canaries, drawn evenly from the public domain, is put among the rows or left out by a coin. Who
knows all rows, all canaries and the released model guesses the coins. If training keeps its ε, no guesser does better
than e^ε / (1 + e^ε) on average, and a single fit with many canaries bounds ε from below (Steinke, Nasr, Jagielski,
2023; see `outcomes.bound_epsilon_by_guesses`).

How much of ε that shows depends on whether a record can be seen alone. RDT's leaves have noisy counts, from which the
known rows can be subtracted: with one tree the bound is nearly tight; over t trees the noise of each is t times larger,
and few canaries are lucky in all of them. A tree that cuts only at values it holds betrays a canary that is alone on a
side, without noise: that refutes any ε. Labels alone, from trees whose leaves hold dozens of known rows, tell next to
nothing: a small bound there says that nobody could guess, not that ε is small.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import datasets
from algorithms.accounting.events import ADDED_OR_REMOVED
from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous, Nominal
from algorithms.forests import rdt
from algorithms.forests.engine.lazy import add_votes_on_demand
from algorithms.forests.engine.predictor import add_votes, find_leaves
from algorithms.forests.engine.tree import AMONG, BELOW, BY_VALUE, LEAF, is_among
from algorithms.forests.forest import PrivateForestClassifier
from experiments.audit.observe.trainings import RandomStream, derive_key
from experiments.audit.outcomes import FALSE_ALARMS, ONE_RUN, BoundRow, Refutation, bound_epsilon_by_guesses, make_row
from experiments.config.protocol import DEFAULT_PROTOCOL
from experiments.errors import BadInput
from experiments.run.splits import split_rows

SHARE = 0.1  #: share of the canaries on either end that are guessed at where no likelihood says how sure a guess is


class CanaryTraining(NamedTuple):
    """Training rows, canaries among them, and the forest that was trained on both: all that the attacker knows."""

    forest: PrivateForestClassifier
    rows: np.ndarray  #: float64 (n, k), as the trees see them
    labels: np.ndarray  #: int (n,), positions of their classes
    canaries: np.ndarray  #: float64 (m, k)
    canary_labels: np.ndarray  #: int (m,)


def audit_one_run(
    forest: PrivateForestClassifier, dataset: str, canaries: int, key: str = "", algorithm: str = ""
) -> BoundRow:
    """Train a forest once on a data set with canaries in it, at least 10, and bound its ε from below.

    Its ``domain`` and ``random_state`` are set here; training rows are those of repeat 0 of the usual protocol. In the
    row, counts are of right and of wrong guesses, and ``refutable`` is the bound if every coin were guessed right. It
    is BadInput if the forest is none whose classes can be guessed by, or claims nothing of records added or removed.
    """
    if not isinstance(forest, PrivateForestClassifier):
        raise BadInput(f"the attack on one run takes a private forest that votes, not {type(forest).__name__}")
    rng = RandomStream(derive_key(key, dataset, canaries)).start_training(0)
    training, is_in = _train_with_canaries(forest, datasets.load(dataset), canaries, rng)
    privacy = training.forest.privacy_
    if privacy.neighbours != ADDED_OR_REMOVED:
        raise BadInput(f"one run is about {ADDED_OR_REMOVED}; {type(forest).__name__} claims {privacy.neighbours}")
    rule, guesses = _guess_coins(training)
    n_guesses = int((guesses != 0).sum())
    n_right = int((guesses == np.where(is_in, 1, -1)).sum())
    bound = bound_epsilon_by_guesses(n_right, n_guesses, FALSE_ALARMS)
    largest = bound_epsilon_by_guesses(canaries, canaries, FALSE_ALARMS)
    found = Refutation(rule, 1, n_right, n_guesses, n_guesses - n_right, n_guesses, bound, largest)
    where = name_run(dataset, forest.get_params().get("n_estimators", 1), canaries)
    return make_row(ONE_RUN, algorithm, forest, privacy, found, neighbours=privacy.neighbours, where=where)


def name_run(dataset: str, trees: int, canaries: int) -> str:
    """Return what one run is called where its bound stands.

    >>> name_run("mushroom", 5, 1000)
    'mushroom, 5 trees, 1,000 canaries'
    """
    return f"{dataset}, {trees} tree{'' if trees == 1 else 's'}, {canaries:,} canaries"


def _train_with_canaries(
    forest: PrivateForestClassifier, data: datasets.Dataset, m: int, rng: np.random.Generator
) -> tuple[CanaryTraining, np.ndarray]:
    """Return the trained forest and the coins, which the attacker does not know."""
    train, _ = split_rows(data, 0, DEFAULT_PROTOCOL)
    frame, target = data.frame.iloc[train], data.target.iloc[train].to_numpy()
    canaries, canary_target = _draw_canaries(data.domain, m, rng)
    is_in = rng.random(m) < 0.5
    seed = int(rng.integers(2**31 - 1))
    forest.set_params(domain=data.domain, random_state=seed)
    forest.fit(pd.concat([frame, canaries[is_in]]), np.concatenate([target, canary_target[is_in]]))
    known = []
    for X, y in ((frame, target), (canaries, canary_target)):
        known += [forest.rows_to_descend(X), np.searchsorted(forest.classes_, y)]
    return CanaryTraining(forest, *known), is_in


def _draw_canaries(domain: Domain, m: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Draw records evenly from a public domain."""
    columns = {}
    for feature in domain.features:
        if isinstance(feature, Continuous):
            columns[feature.name] = feature.lower + rng.random(m) * (feature.upper - feature.lower)
        else:
            categories = np.array(feature.categories, dtype=object)
            columns[feature.name] = categories[rng.integers(len(categories), size=m)]
    assert isinstance(domain.target, Nominal)  # only classifiers are audited so
    classes = np.array(domain.target.categories)
    return pd.DataFrame(columns), classes[rng.integers(len(classes), size=m)]


def _guess_coins(training: CanaryTraining) -> tuple[str, np.ndarray]:
    """Return how coins are guessed, in words, and the guesses: 1 for in, -1 for out, 0 for none."""
    trees = training.forest.trees_
    if isinstance(training.forest, rdt.RDTClassifier):
        ratios = np.sum([_compare_counts(training, tree) for tree in trees], axis=0)
        return "by the noisy count of its class in its leaves, less the known rows", _guess_surest(ratios)
    if getattr(training.forest, "variant", "paper") == "paper":
        is_betrayed = _find_betrayed(training)
        if is_betrayed.any():
            return "in, if a split that was made could not have been made without it", is_betrayed.astype(int)
    matches = np.sum([_match_labels(training, nodes) for nodes in trees], axis=0)
    return "by the labels of the leaves in which it would be alone", _guess_extremes(matches)


def _compare_counts(training: CanaryTraining, tree: rdt.RandomTree) -> np.ndarray:
    """Return the log-likelihood ratios by a tree's noisy counts; 0 where another canary would share the count."""
    plan, m = training.forest.plan_, len(training.canaries)
    noisy = np.zeros((m, plan.n_classes))
    rdt.add_counts(plan, tree, training.canaries, noisy)
    row_keys = _list_count_keys(plan, tree, training.rows, training.labels)
    canary_keys = _list_count_keys(plan, tree, training.canaries, training.canary_labels)
    keys, n_rows = np.unique(row_keys, return_counts=True)
    places = np.minimum(np.searchsorted(keys, canary_keys), len(keys) - 1)
    n_known = np.where(keys[places] == canary_keys, n_rows[places], 0)
    excess = noisy[np.arange(m), training.canary_labels] - n_known
    ratios = plan.epsilon * (np.abs(excess) - np.abs(excess - 1))
    return np.where(_is_unique(canary_keys), ratios, 0.0)


def _list_count_keys(plan: Any, tree: rdt.RandomTree, rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return a key of the leaf and class in which each row counts."""
    leaves = rdt.leaf_keys(plan, tree.key, rows)
    return leaves * np.uint64(plan.n_classes) + labels.astype(np.uint64)


def _is_unique(values: np.ndarray) -> np.ndarray:
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return counts[places] == 1


def _guess_surest(ratios: np.ndarray) -> np.ndarray:
    """Guess at as many of the surest canaries as promises the best bound, by their likelihood ratios."""
    order = np.argsort(-np.abs(ratios), kind="stable")
    expected = np.cumsum(1 / (1 + np.exp(-np.abs(ratios[order]))))
    sizes = np.unique(np.linspace(1, len(ratios), 200).astype(int))
    bounds = [bound_epsilon_by_guesses(int(expected[size - 1]), int(size), FALSE_ALARMS) for size in sizes]
    best = sizes[np.argmax(bounds)]
    guesses = np.zeros(len(ratios), dtype=np.int64)
    guesses[order[:best]] = np.sign(ratios[order[:best]])
    return guesses


def _find_betrayed(training: CanaryTraining) -> np.ndarray:
    """Tell which canaries the trees betray: bool array of shape (m,)."""
    n = len(training.rows)
    rows = np.concatenate([training.rows, training.canaries])
    labels = np.concatenate([training.labels, training.canary_labels])
    is_betrayed = np.zeros(len(training.canaries), dtype=bool)
    for nodes in training.forest.trees_:
        for suspects in _list_suspects(nodes, rows, labels):
            if len(suspects) == 1 and suspects[0] >= n:
                is_betrayed[suspects[0] - n] = True
    return is_betrayed


def _list_suspects(nodes: np.ndarray, rows: np.ndarray, labels: np.ndarray) -> Iterator[np.ndarray]:
    """Yield sets of rows of which at least one must have been there, for the nodes of a printed tree to be as they are.

    A node that was split after an exact test held more than the one class that most rows here have. A cut in two has
    rows on its left side; one at a value that a row here has was drawn from the values present.
    """
    members = {0: np.arange(len(rows))}
    for i, node in enumerate(nodes):
        here = members.pop(i, np.empty(0, dtype=np.int64))
        if node["decides"] == LEAF or not len(here):
            continue
        values = rows[here, node["feature"]]
        if node["exact"]:
            yield here[labels[here] != np.bincount(labels[here]).argmax()]
        if node["decides"] == BY_VALUE:
            for value in np.unique(values):
                members[node["child"] + int(value)] = here[values == value]
            continue
        at_cut = values == node["cut"]
        if node["decides"] == AMONG:
            at_cut = np.array([is_among(value, node["cut"]) for value in values])
        goes_left = values <= node["cut"] if node["decides"] == BELOW else at_cut
        yield here[at_cut if at_cut.any() else goes_left]
        members[node["child"]], members[node["child"] + 1] = here[goes_left], here[~goes_left]


def _match_labels(training: CanaryTraining, nodes: np.ndarray) -> np.ndarray:
    """Return 1 for a canary whose class is the label of a leaf in which no other row can be, less what chance gives."""
    n_classes, m = len(training.forest.classes_), len(training.canaries)
    votes = np.zeros((m, n_classes))
    if nodes["key"].any():
        add_votes_on_demand(training.forest.n_cuts_, nodes, training.canaries, votes)
    else:
        add_votes(nodes, training.canaries, votes)
    leaves = find_leaves(nodes, training.canaries)
    is_alone = _is_unique(leaves) & ~np.isin(leaves, find_leaves(nodes, training.rows))
    return np.where(is_alone, votes[np.arange(m), training.canary_labels] - 1 / n_classes, 0.0)


def _guess_extremes(scores: np.ndarray) -> np.ndarray:
    """Guess that the canaries of the highest scores are in and those of the lowest are not; ties get no guess."""
    guesses, g = np.zeros(len(scores), dtype=np.int64), math.ceil(SHARE * len(scores))
    ordered = np.sort(scores)
    guesses[scores > max(ordered[-g - 1], 0.0)] = 1
    guesses[scores < min(ordered[g], 0.0)] = -1
    return guesses
