"""What runs gave, by the setting that they are runs of: all that a question is ever answered from."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from experiments.config.setting import make_setting_key
from experiments.store.study_rows import check_distinct, is_of_study


class SettingKey(NamedTuple):
    """The name of a setting of a study, whose repeats are its cells; equal however its values were stored."""

    study: str
    axes: tuple[str, ...]
    #: One value of each, see `make_setting_key`.
    values: tuple[str, ...]


class Runs(NamedTuple):
    """The runs of one setting that were tried, as far as one metric goes: arrays with an entry for each."""

    #: Ascending.
    repeats: np.ndarray
    #: The metric; NaN where the run failed, or where it is undefined.
    values: np.ndarray
    #: Whether the run is done and has no such metric: a class that is never predicted has no precision.
    is_undefined: np.ndarray

    @property
    def measured(self) -> np.ndarray:
        """The values that there are, in the order of their repeats."""
        return self.values[np.isfinite(self.values)]

    @property
    def n_attempted(self) -> int:
        """Repeats 0, 1, ... up to this one were tried."""
        return int(self.repeats[-1]) + 1 if len(self.repeats) else 0


class Results:
    """A long table of all cells that were tried, looked up by setting and metric.

    Rows of a study are sorted once, whoever asks for them. Of studies that did not change, what was sorted ``before``
    is kept.
    """

    def __init__(
        self, table: pd.DataFrame, before: Results | None = None, changed_studies: Container[str] = ()
    ) -> None:
        self._table = table
        self._rows: dict[tuple, tuple[pd.DataFrame, dict[tuple[str, ...], np.ndarray]]] = {}
        self._columns: dict[tuple, tuple[np.ndarray, np.ndarray]] = {}
        if before is not None:
            self._rows |= {study: rows for study, rows in before._rows.items() if study[0] not in changed_studies}
            self._columns |= {known: of for known, of in before._columns.items() if known[0] in self._rows}

    def find(self, setting: SettingKey, metric: str) -> Runs:
        """Return the runs of a setting; PaperError if two rows are the same setting and repeat of the study."""
        study = setting.study, setting.axes
        if study not in self._rows:
            self._rows[study] = self._sort_study(*study)
        rows, places = self._rows[study]
        if (study, metric) not in self._columns:
            self._columns[study, metric] = _read_metric(rows, metric)
        values, is_undefined = self._columns[study, metric]
        found = places.get(setting.values, _NOWHERE)
        return Runs(rows["repeat"].to_numpy()[found] if len(found) else found, values[found], is_undefined[found])

    def find_all(self, settings: Iterable[SettingKey], metric: str) -> list[Runs]:
        """Return the runs of each of some settings."""
        return [self.find(setting, metric) for setting in settings]

    def _sort_study(self, name: str, axes: tuple[str, ...]) -> tuple[pd.DataFrame, dict]:
        """Return the rows of a study by repeat, and where those of each setting stand."""
        if not {"study", "repeat", *axes} <= set(self._table.columns):
            return pd.DataFrame(), {}
        rows = self._table[is_of_study(self._table, name)].sort_values("repeat", kind="stable", ignore_index=True)
        check_distinct(rows, name, [*axes, "repeat"])
        return rows, place_settings(rows, axes)


def place_settings(rows: pd.DataFrame, axes: Sequence[str]) -> dict[tuple[str, ...], np.ndarray]:
    """Return where the rows of each setting stand, by its values as in `SettingKey`."""
    places: dict[tuple[str, ...], np.ndarray] = {}
    for values, found in rows.groupby(list(axes), dropna=False, sort=False).indices.items():
        setting = values if isinstance(values, tuple) else (values,)
        places[make_setting_key(None if pd.isna(value) else value for value in setting)] = np.sort(found)
    return places


_NOWHERE = np.empty(0, dtype=np.intp)


def _read_metric(rows: pd.DataFrame, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a metric of some rows, NaN where it is none, and whether that is since it is undefined."""
    if metric not in rows.columns:
        return np.full(len(rows), np.nan), np.zeros(len(rows), dtype=bool)
    values = pd.to_numeric(rows[metric], errors="coerce").to_numpy(np.float64)
    if "status" not in rows.columns:
        return values, np.zeros(len(rows), dtype=bool)
    return values, np.isnan(values) & (rows["status"] == "done").to_numpy()
