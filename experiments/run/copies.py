"""How many test rows stand in the training rows, features and target alike: who learns by heart is right about these.

Data sets are run as they were published, copies of rows included, because papers did. What that is worth to a model is
said beside its results.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

import datasets
from datasets import Dataset
from experiments.config.protocol import Protocol
from experiments.run.splits import list_splits

_SPLITS = 10
"""Splits that a share is the mean of: it hardly differs from one to the next."""
WORTH_SAYING = 0.01
"""Share of test rows from which on copies are worth a sentence."""


def list_copies(splits: Iterable[tuple[str, Protocol]], repeats: int) -> pd.DataFrame:
    """Return the share of copies of every data set and split: ``dataset``, ``split`` in words, ``copies``.

    The splits are names of data sets, each with a protocol; data sets that are not there are left out. Copies are the
    share, 0 to 1, of test rows that stand in the training rows: the mean over so many repeats, or over ten of them.

    Examples
    --------
    >>> list_copies([("car", Protocol()), ("car", Protocol(draw=1))], repeats=3)
      dataset                            split  copies
    0     car  30 % test rows, drawn at random     0.0
    """
    rows = []
    for name, split in dict.fromkeys((name, protocol.without_unused().of_split()) for name, protocol in splits):
        try:
            data = datasets.load(name)
        except datasets.DataUnavailable:
            continue
        share = measure_copies(data, split, min(repeats, _SPLITS))
        rows.append({"dataset": name, "split": describe_split(data, split), "copies": share})
    return pd.DataFrame(rows, columns=["dataset", "split", "copies"])


def measure_copies(data: Dataset, protocol: Protocol, repeats: int) -> float:
    """Return the share of test rows that stand in the training rows, features and target alike.

    It is the mean over so many repeats, if the protocol has more than one split.
    """
    numbers = number_rows([*(column for _, column in data.frame.items()), data.target])
    shares = []
    for repeat in range(1 if protocol.is_fixed(data.n_train is not None) else repeats):
        for train, test in list_splits(data, repeat, protocol):
            is_known = np.zeros(len(numbers), dtype=bool)
            is_known[numbers[train]] = True
            shares.append(is_known[numbers[test]].mean())
    return float(np.mean(shares))


def number_rows(columns: Sequence[pd.Series]) -> np.ndarray:
    """Return a number below n for each of n rows, the same for equal rows and no others.

    Examples
    --------
    >>> number_rows([pd.Series([1.5, 2.0, 1.5]), pd.Series(["a", "a", "a"])])
    array([0, 1, 0])
    """
    numbers = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        codes, _ = pd.factorize(column)
        numbers, _ = pd.factorize(numbers * (codes.max() + 1) + codes)  # again below n, so no product overflows
    return numbers


def describe_split(data: Dataset, protocol: Protocol) -> str:
    """Return in words which rows are test rows.

    Examples
    --------
    >>> describe_split(datasets.load("car"), Protocol(rows="balanced", test_size=0.25))
    'balanced, 25 % test rows, drawn at random'
    """
    is_in_order, has_folds = protocol.split == "in_order", protocol.folds is not None
    if protocol.train_rows is not None and protocol.test_rows is not None:
        return f"{_format_size(protocol.train_rows)} training and {_format_size(protocol.test_rows)} test rows"
    if data.n_train is not None and not has_folds:
        return "the official split"
    if has_folds:
        how = f"{protocol.folds} folds{' in order' if is_in_order else ''}"
    else:
        how = f"{100 * protocol.test_size:.3g} % test rows, {'the last ones' if is_in_order else 'drawn at random'}"
    groups = "" if protocol.groups is None else f" by {protocol.groups}"
    return f"{'balanced, ' if protocol.rows == 'balanced' else ''}{how}{groups}"


def describe_copies(copies: pd.DataFrame, labels: Mapping[str, str]) -> str:
    """Return what must be said of test rows that stand in the training rows; nothing if they are few everywhere.

    Examples
    --------
    >>> shares = {"dataset": ["wine", "car"], "split": ["30 % test rows", "30 % test rows"], "copies": [0.2799, 0.0]}
    >>> describe_copies(pd.DataFrame(shares), {"wine": "WineQuality"})
    'Test rows that also stand in the training rows (30 % test rows): 28.0 % on WineQuality.'
    """
    told = copies[copies["copies"] >= WORTH_SAYING]
    has_one_split = told["split"].nunique() == 1
    parts = []
    for row in told.to_dict("records"):
        name = labels.get(row["dataset"], row["dataset"])
        parts.append(f"{100 * row['copies']:.1f} % on {name}" + ("" if has_one_split else f" ({row['split']})"))
    said = "Test rows that also stand in the training rows"
    said += f" ({told['split'].iloc[0]})" if has_one_split else ""
    return f"{said}: {'; '.join(parts)}." if parts else ""


def _format_size(size: int | Mapping[str, int]) -> str:
    return " + ".join(f"{n:,}" for n in size.values()) if isinstance(size, Mapping) else f"{size:,}"
