"""Printed numbers without their setting: all settings that could be meant are run, and asked together.

A table of kind ``span`` holds such numbers: for each of its ``algorithms`` one, which some setting of its ``studies``
should give. An algorithm of which no description is available is named in the paper's ``not_implemented``, with the
reason: it keeps its row, which stays empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from experiments.config.selection import PaperError, axes, axis, setting_words, size, study_of
from experiments.errors import suggestion
from experiments.store.study_rows import rows_of_study


class Tried(NamedTuple):
    """One setting that was run.

    Parameters
    ----------
    where : str
        The study and what varies in it, in words.
    values : float64 array
        The metric, one value per repeat.
    """

    where: str
    values: np.ndarray


def reason_against(paper: Mapping, algorithm: str) -> str:
    """Return why an algorithm of a paper is not implemented; nothing if it is.

    Examples
    --------
    >>> reason_against({"not_implemented": {"tpdprf": "never described"}}, "tpdprf")
    'not implemented: never described'
    """
    reason = (paper.get("not_implemented") or {}).get(algorithm, "")
    return f"not implemented: {reason}" if reason else ""


def tried(paper: Mapping, item: Mapping, algorithm: str, table: pd.DataFrame) -> list[Tried]:
    """Return every setting of an algorithm that the studies of a span table have cells for."""
    found = []
    for study, where in _parts(paper, item, algorithm):
        by = list(axes(study, where))
        rows = rows_of_study(table, study, item["metric"], where)
        varying = [name for name in by if len(axis(study, name, where)) > 1]
        for key, group in rows.groupby(by, sort=True) if len(rows) else ():
            setting = dict(zip(by, key, strict=True))
            words = setting_words({name: setting[name] for name in varying})
            found.append(Tried(", ".join(filter(None, [study["name"], words])), group[item["metric"]].to_numpy()))
    return found


def expected(paper: Mapping, item: Mapping, algorithm: str) -> int:
    """Return how many cells the settings of an algorithm should have, repeats included."""
    return sum(size(study, int(paper["repeats"]), where) for study, where in _parts(paper, item, algorithm))


def check(paper: Mapping, item: Mapping) -> None:
    """Check that a span table names algorithms that its studies run, or that are said not to be implemented.

    Raises
    ------
    PaperError
        If it does not.
    """
    for algorithm in item["algorithms"]:
        parts = _parts(paper, item, algorithm)
        if reason_against(paper, algorithm):
            if parts:
                raise PaperError(f"{item['id']}: {algorithm} is run, and said not to be implemented")
        elif len(parts) < len(item["studies"]):
            known = [*(paper.get("not_implemented") or {}), *axis(_studies(paper, item)[0], "algorithm")]
            raise PaperError(f"{item['id']}: not all of its studies run {algorithm!r}; {suggestion(algorithm, known)}")


def _parts(paper: Mapping, item: Mapping, algorithm: str) -> list[tuple[Mapping, dict]]:
    studies = _studies(paper, item)
    return [(study, {"algorithm": algorithm}) for study in studies if algorithm in axis(study, "algorithm")]


def _studies(paper: Mapping, item: Mapping) -> list[Mapping]:
    return [study_of(paper, {"id": item["id"], "study": name}) for name in item["studies"]]
