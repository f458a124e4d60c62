"""Printed numbers whose setting (ε, depth, data set) the paper does not state.

A table of kind ``span`` holds such numbers: for each of its ``algorithms`` one, which some setting of its ``studies``
should give. All settings that could be meant are run. An algorithm of which no description is available is named in
the paper's ``not_implemented``, with the reason: it keeps its row, which stays empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from experiments.config.paper import Study
from experiments.config.setting import describe_setting, keep_entries
from experiments.store.study_rows import group_by_setting, select_rows


class SettingValues(NamedTuple):
    """The results of one setting that a number without its setting may mean.

    Parameters
    ----------
    where : str
        The study and what varies in it, in words.
    values : float64 array of shape (n_repeats,)
        The metric of each repeat.
    """

    where: str
    values: np.ndarray


def collect_settings(studies: Sequence[Study], algorithm: str, metric: str, table: pd.DataFrame) -> list[SettingValues]:
    """Return every setting of an algorithm that studies have cells for.

    Parameters
    ----------
    studies : sequence of Study
        Those whose settings may be meant; ones that do not run the algorithm give nothing.
    algorithm, metric : str
        What is printed.
    table : DataFrame
        The long table.
    """
    settings = []
    for study, where in list_parts(studies, algorithm):
        varying = study.varying_axes(where)
        rows = select_rows(table, study, metric, where)
        for setting, values in group_by_setting(rows, list(study.axes(where)), metric):
            words = describe_setting(keep_entries(setting, varying))
            settings.append(SettingValues(", ".join(filter(None, [study.name, words])), values))
    return settings


def count_expected_cells(studies: Sequence[Study], algorithm: str, repeats: int) -> int:
    """Return how many cells the settings of an algorithm should have, repeats included."""
    return sum(repeats * study.count_settings(where) for study, where in list_parts(studies, algorithm))


def list_parts(studies: Sequence[Study], algorithm: str) -> list[tuple[Study, Mapping[str, str]]]:
    """Return the parts of studies that an algorithm runs in."""
    return [(study, {"algorithm": algorithm}) for study in studies if algorithm in study.axis("algorithm")]
