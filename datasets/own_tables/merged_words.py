"""Words of a table that stand for a declared category: those that differ in case alone, and those that are listed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from algorithms.encoding import later_pandas as pd
from algorithms.encoding.features import Nominal
from datasets import table
from datasets.entry import OwnEntry
from datasets.notation.spelling import map_distinct


def merge_words(own: OwnEntry, frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table in which words have the names of the categories that they stand for.

    Parameters
    ----------
    own : OwnEntry
        What its file says: ``merge`` and ``fold_case``.
    frame : DataFrame
        The table, perhaps without some of the declared columns.

    Examples
    --------
    >>> entry = {"file": "a.csv", "task": "classification", "fold_case": True, "merge": {"city": {"Rome": ["Roma"]}}}
    >>> domain = {"features": {"city": ["Rome", "Paris"]}, "target": {"rich": ["no", "yes"]}}
    >>> own = OwnEntry.model_validate(entry | {"domain": domain})
    >>> merge_words(own, pd.DataFrame({"city": ["ROMA", "paris", "Oslo", None]}))["city"].tolist()
    ['Rome', 'Paris', 'Oslo', None]
    """
    if own.domain is None or not (own.fold_case or own.merge):
        return frame
    columns = {}
    for feature in (*own.domain.features, own.domain.target):
        merged = own.merge.get(feature.name, {})
        if isinstance(feature, Nominal) and feature.name in frame and (own.fold_case or merged):
            columns[feature.name] = _merge_column(frame[feature.name], feature, merged, own.fold_case)
    return frame.assign(**columns)


def _merge_column(cells: pd.Series, feature: Nominal, merged: Mapping, fold_case: bool) -> pd.Series:
    fold = str.casefold if fold_case else str
    listed = {table.clean_label(word): name for name, words in merged.items() for word in words}
    names = {fold(word): name for word, name in (listed | {name: name for name in feature.categories}).items()}

    def find_name(value: object) -> object:
        word = table.clean_label(value)
        return value if word is None else names.get(fold(word), value)

    spelled: np.ndarray = map_distinct(cells, find_name, None)
    return pd.Series(spelled, index=cells.index, dtype=object)
