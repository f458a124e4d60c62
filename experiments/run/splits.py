"""Which rows of a data set are training rows and which are test rows in a repeat."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from algorithms import Continuous, Domain, Nominal
from datasets import Dataset
from experiments.cells.cell import format_canonical
from experiments.config.protocol import Protocol

Sides = tuple[np.ndarray, np.ndarray]
"""Positions of training rows and of test rows, both ascending."""


def list_splits(data: Dataset, repeat: int, protocol: Protocol) -> list[Sides]:
    """Return the splits of a repeat, from 0: one, or one for each fold of a cross-validation.

    Folds are those of scikit-learn's splitters, of all rows, an official split or not: ``StratifiedKFold`` of classes
    and ``KFold`` of numbers, shuffled by a seed that follows from the rows and the repeat; with groups
    ``StratifiedGroupKFold`` and ``GroupKFold``; in order ``TimeSeriesSplit``, which tests on rows after the training
    rows. The protocol is as `read_protocol` returns it.
    """
    if protocol.folds is None:
        return [split_rows(data, repeat, protocol)]
    kept = _choose_rows(data, repeat, protocol)
    groups = None if protocol.groups is None else _number_groups(data, protocol.groups)
    words = f"{data.fingerprint} {repeat} {protocol.folds} folds {protocol.groups}"
    splitter = _make_splitter(data.task, protocol, _seed_stream(words))
    classes = _number_classes(data)[kept]
    found = splitter.split(np.empty((len(kept), 0)), classes, None if groups is None else groups[kept])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class with fewer rows than folds: some folds have none of it
        return [(kept[train], kept[test]) for train, test in found]


def _make_splitter(task: str, protocol: Protocol, rng: np.random.Generator) -> Any:
    from sklearn import model_selection  # slow to import, and few cells need it

    n_folds = protocol.folds
    if protocol.split == "in_order":
        return model_selection.TimeSeriesSplit(n_folds)
    name = "GroupKFold" if protocol.groups is not None else "KFold"
    name = name if task == "regression" else f"Stratified{name}"
    return getattr(model_selection, name)(n_folds, shuffle=True, random_state=int(rng.integers(2**32)))


def split_rows(data: Dataset, repeat: int, protocol: Protocol) -> Sides:
    """Return the positions of the training and the test rows of a repeat that has no folds; see `list_splits`.

    Notes
    -----
    An official split is the same in every repeat, and so is one in order. Otherwise rows are drawn anew in each repeat
    from a stream of random numbers that depends on the rows, the repeat and the sizes only, so that repeat r of every
    algorithm sees the same split. Classes are split one by one; one with two rows (Nursery's ``recommend``) gives
    one to each side, one with a single row gives it to the training side: a class that was never seen could not be
    predicted. Where numbers of rows are given, they are drawn from all rows, an official split or not.
    """
    if protocol.train_rows is not None:
        return _draw_numbers(data, repeat, protocol.train_rows, protocol.test_rows)
    n = len(data.target)
    if data.n_train is not None:
        return np.arange(data.n_train), np.arange(data.n_train, n)
    kept, test_size = _choose_rows(data, repeat, protocol), protocol.test_size
    if protocol.groups is not None:
        return _split_groups(data, repeat, protocol.groups, test_size, kept)
    if protocol.split == "in_order":
        n_test = min(max(round(len(kept) * test_size), 1), len(kept) - 1)
        return kept[:-n_test], kept[-n_test:]
    rng, groups = _seed_stream(f"{data.fingerprint} {repeat} {test_size!r}"), _number_classes(data)
    is_test = np.zeros(n, dtype=bool)
    for group in range(groups.max() + 1):
        members = rng.permutation(kept[groups[kept] == group])
        n_test = min(max(round(len(members) * test_size), 1), len(members) - 1)
        is_test[members[:n_test]] = True
    return kept[~is_test[kept]], kept[is_test[kept]]


def _choose_rows(data: Dataset, repeat: int, protocol: Protocol) -> np.ndarray:
    """Return the positions of the rows that take part, ascending: of each class as many as the smallest, or all."""
    if protocol.rows != "balanced":
        return np.arange(len(data.target))
    groups, rng = _number_classes(data), _seed_stream(f"{data.fingerprint} {repeat} balanced")
    smallest = np.bincount(groups).min()
    drawn = [rng.permutation(np.flatnonzero(groups == group))[:smallest] for group in range(groups.max() + 1)]
    return np.sort(np.concatenate(drawn))


def _number_groups(data: Dataset, column: str) -> np.ndarray:
    """Return a number for the group of each row: rows with the same value, or all without one, are a group."""
    return pd.factorize(data.frame[column], use_na_sentinel=False)[0]


def _split_groups(data: Dataset, repeat: int, column: str, test_size: float, kept: np.ndarray) -> Sides:
    """Split so that rows of one group are on one side; the share of test rows is one of groups."""
    from sklearn.model_selection import GroupShuffleSplit  # slow to import, and few cells need it

    groups = _number_groups(data, column)
    rng = _seed_stream(f"{data.fingerprint} {repeat} {test_size!r} {column}")
    splitter = GroupShuffleSplit(1, test_size=test_size, random_state=int(rng.integers(2**32)))
    ((train, test),) = splitter.split(kept, groups=groups[kept])
    return kept[np.sort(train)], kept[np.sort(test)]


def domain_of(domain: Domain, protocol: Protocol) -> Domain:
    """Return the public domain that algorithms get: the classes that the protocol names, and no column of groups.

    Examples
    --------
    >>> domain = Domain((Nominal("safety", ("low", "high")),), Nominal("class", ("unacc", "acc", "good")))
    >>> protocol = Protocol(train_rows={"acc": 300, "unacc": 1000}, test_rows={"acc": 100, "unacc": 300})
    >>> domain_of(domain, protocol).target.categories
    ('unacc', 'acc')
    """
    if protocol.groups is not None:
        domain = replace(domain, features=tuple(one for one in domain.features if one.name != protocol.groups))
    named = protocol.train_rows
    if not isinstance(named, Mapping):
        return domain
    kept = tuple(label for label in domain.target.categories if str(label) in named)
    return replace(domain, target=Nominal(domain.target.name, kept))


def take_ranges(domain: Domain, matrix: np.ndarray) -> Domain:
    """Return a domain whose columns of numbers have the ranges of some encoded rows, and are named as taken from rows.

    A column with one value has no range, and keeps its declared one.

    Examples
    --------
    >>> domain = Domain((Continuous("age", 0, 150), Nominal("sex", ("f", "m"))))
    >>> taken = take_ranges(domain, np.array([[17.0, 0.0], [90.0, 1.0]]))
    >>> taken.features[0], taken.bounds_from_rows
    (Continuous(name='age', lower=17.0, upper=90.0), ('age',))
    """
    features, from_rows = list(domain.features), list(domain.bounds_from_rows)
    for j, feature in enumerate(domain.features):
        if not isinstance(feature, Continuous) or not len(matrix):
            continue
        lower, upper = float(matrix[:, j].min()), float(matrix[:, j].max())
        if lower < upper:
            features[j] = replace(feature, lower=lower, upper=upper)
            from_rows += [feature.name] if feature.name not in from_rows else []
    return replace(domain, features=tuple(features), bounds_from_rows=tuple(from_rows))


def _draw_numbers(data: Dataset, repeat: int, train_rows: Any, test_rows: Any) -> tuple[np.ndarray, np.ndarray]:
    """Draw so many rows for each side, of all rows or of each class that is named."""
    rng = _seed_stream(f"{data.fingerprint} {repeat} {format_canonical([train_rows, test_rows])}")
    if not isinstance(train_rows, Mapping):
        order = rng.permutation(len(data.target))
        return np.sort(order[:train_rows]), np.sort(order[train_rows : train_rows + test_rows])
    labels = data.target.to_numpy().astype(str)
    train, test = [], []
    for label in sorted(train_rows):
        members = rng.permutation(np.flatnonzero(labels == label))
        n_train, n_drawn = train_rows[label], train_rows[label] + test_rows[label]
        if len(members) < n_drawn:
            raise ValueError(f"class {label!r} has {len(members)} rows, of which the protocol asks for {n_drawn}")
        train.append(members[:n_train])
        test.append(members[n_train:n_drawn])
    return np.sort(np.concatenate(train)), np.sort(np.concatenate(test))


def _number_classes(data: Dataset) -> np.ndarray:
    """Return a number for the class of each row, in order of appearance; all rows of a regression have one."""
    if data.task != "classification":
        return np.zeros(len(data.target), dtype=np.int64)
    return pd.factorize(data.target)[0]


def _seed_stream(words: str) -> np.random.Generator:
    return np.random.default_rng(int.from_bytes(hashlib.sha256(words.encode()).digest()))
