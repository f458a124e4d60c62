"""Kinds of data sets, by rules on what is declared of them and, of long tails, on their rows.

A data set may be of several kinds, or of none. Data sets of benchmarks are public: looking at their rows costs nothing
here, and nothing that is trained learns what was seen.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.stats import skew

import datasets
from algorithms import Continuous
from datasets import Dataset
from experiments.config.protocol import Protocol
from experiments.config.study import Study
from experiments.run.splits import split_rows

_MOST_ROWS_OF_SMALL = 1500
_LEAST_CLASSES_OF_MANY = 6
_LEAST_COLUMNS_OF_WIDE = 30
_SKEWED = 2.0  # skewness from which on a column of numbers has a long tail; an exponential distribution has 2
_SHARE_SKEWED = 0.25


class DataFacts(NamedTuple):
    """What the rules ask of a data set: how many training rows, classes (0 of a regression) and columns it has."""

    n_train: int
    n_classes: int
    n_numbers: int
    n_nominal: int
    n_skewed: int  #: columns of numbers whose skewness is beyond 2, upwards or downwards

    @property
    def n_columns(self) -> int:
        """Columns without the target."""
        return self.n_numbers + self.n_nominal


class _KindRule(NamedTuple):
    """A kind of data: its title in a table, its rule in words, and whether a data set is of it."""

    title: str
    words: str
    holds: Callable[[DataFacts], bool]


#: The kinds in the order of a table.
KINDS = {
    "small": _KindRule(
        "small table",
        f"at most {_MOST_ROWS_OF_SMALL:,} training rows",
        lambda of: of.n_train <= _MOST_ROWS_OF_SMALL,
    ),
    "classes": _KindRule(
        "many classes", f"at least {_LEAST_CLASSES_OF_MANY}", lambda of: of.n_classes >= _LEAST_CLASSES_OF_MANY
    ),
    "tails": _KindRule(
        "long tails",
        f"at least a quarter of all columns are numbers whose skewness is beyond ± {_SKEWED:g}",
        lambda of: of.n_skewed >= _SHARE_SKEWED * of.n_columns,
    ),
    "wide": _KindRule(
        "wide table",
        f"at least {_LEAST_COLUMNS_OF_WIDE} columns",
        lambda of: of.n_columns >= _LEAST_COLUMNS_OF_WIDE,
    ),
    "nominal": _KindRule("mostly nominal", "more than half of the columns", lambda of: of.n_nominal > of.n_numbers),
    "numbers": _KindRule("mostly numbers", "more than half of the columns", lambda of: of.n_numbers > of.n_nominal),
}

UNKNOWN = "unknown"  #: instead of kinds, of a data set whose files are not here: what it is left out of must name it


def list_kinds_of(study: Study, dataset: str) -> list[str]:
    """Return the kinds that a data set is of, as a study splits it; ``[UNKNOWN]`` if its files are not here.

    Examples
    --------
    >>> list_kinds_of(Study(dataset="car", algorithm="rdt"), "car")
    ['small', 'nominal']
    """
    try:
        facts = _count_facts(datasets.load(dataset), study.protocol)
    except datasets.DataUnavailable:
        return [UNKNOWN]
    return [name for name, kind in KINDS.items() if kind.holds(facts)]


@cache
def _count_facts(loaded: Dataset, protocol: Protocol) -> DataFacts:
    train, _ = split_rows(loaded, 0, protocol)
    return count_facts(loaded, len(train))


def count_facts(loaded: Dataset, n_train: int) -> DataFacts:
    """Return what the rules ask of a data set of which so many rows are trained on."""
    numbers = [feature.name for feature in loaded.domain.features if isinstance(feature, Continuous)]
    columns = [loaded.frame[name].to_numpy(dtype=float) for name in numbers]
    return DataFacts(
        n_train=n_train,
        n_classes=loaded.target.nunique() if loaded.task == "classification" else 0,
        n_numbers=len(numbers),
        n_nominal=loaded.frame.shape[1] - len(numbers),
        n_skewed=[_is_skewed(column) for column in columns].count(True),
    )


def _is_skewed(column: np.ndarray) -> bool:
    return bool(np.ptp(column) > 0) and abs(float(skew(column))) > _SKEWED
