"""A table of runs that are given, by whatever program made them: checked, and brought into the form of a long table.

Each row is one run of one setting. Columns are ``dataset``, ``algorithm``, ``epsilon``, parameters by their names or as
``params.<name>``, ``repeat`` and metrics; those of axes that have one value in a study may be missing. ``study`` is
needed only where rows would fit several. ``status`` says of a run without a value why it has none.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from documents.search_path import name_stored
from experiments.config.paper import Paper
from experiments.config.setting import is_among, is_same_value, make_setting_key
from experiments.config.study import Study
from experiments.errors import BadInput, suggest_name
from experiments.judge.words import name_setting
from experiments.metrics.find import find_metric
from experiments.store.results import SettingKey, place_settings
from experiments.store.runs_file import UNDEFINED
from experiments.store.study_rows import is_of_study

_DONE, _LOST = "done", ("failed", "missing")
_BLANK = object()  # of a cell without a value
_UNKNOWN = object()  # of a value that no study has
_SLACK = 1e-9  # by which a share may leave its range, as numbers are rounded


def arrange_given(
    frame: pd.DataFrame, name: str, paper: Paper, asked: Mapping[SettingKey, Mapping[str, str]]
) -> pd.DataFrame:
    """Return the long table that a table of given runs is.

    Parameters
    ----------
    frame : pd.DataFrame
        The table as it was read; rows have the numbers 0, 1, ...
    name : str
        What errors call it.
    paper : Paper
        Whose studies the runs are of.
    asked : mapping
        The settings whose runs decide, with the metrics that are asked for and who asks, as from `list_asked`.

    Raises
    ------
    BadInput
        If a column is missing, a row is of no study, a run stands there twice or a run or a value is missing.
    """
    table = _GivenTable(frame, name, paper, {metric for metrics in asked.values() for metric in metrics})
    rows = table.find_axes()
    rows.insert(0, "study", table.find_studies(rows))
    rows["repeat"] = table.read_repeats()
    rows["status"] = table.read_status()
    for study in paper.studies.values():
        table.check_repeats(rows, study)
    return pd.concat([rows, table.read_metrics(rows, asked)], axis=1)


class _GivenTable:
    """A table as it was read, and the paper that it is about."""

    def __init__(self, frame: pd.DataFrame, name: str, paper: Paper, metrics: Collection[str]) -> None:
        self.name, self.paper = name, paper
        parameters = {axis for study in paper.studies.values() for axis in study.axes() if axis.startswith("params.")}
        plain = {}
        for axis in sorted(parameters):
            short = axis.removeprefix("params.")
            if axis in frame.columns and short in frame.columns and short not in metrics:
                raise BadInput(f"{name} has both columns {short!r} and {axis!r}: one of them is enough")
            plain[short] = axis
        self.frame = frame.rename(columns={short: axis for short, axis in plain.items() if axis not in frame.columns})

    @property
    def has_studies(self) -> bool:
        """Whether rows say which studies they are of."""
        return "study" in self.frame.columns

    def fail(self, place: int, reason: str) -> BadInput:
        """Return the error that a row is wrong, by its number below the header."""
        return BadInput(f"{self.name}, row {place + 1} below the header: {reason}")

    # Which setting of which study a row is a run of.

    def find_axes(self) -> pd.DataFrame:
        """Return the columns of axes, with the values as the paper's file has them."""
        known: dict[str, list] = {}
        for study in self._list_named_studies():
            for axis, values in study.axes().items():
                if axis in self.frame.columns:
                    known.setdefault(axis, [])
                elif len(values) > 1:
                    short = axis.removeprefix("params.")
                    raise BadInput(f"{self.name}: the column {short!r} is missing, which study {study.name!r} varies")
        for study in self.paper.studies.values():
            for axis in known:
                known[axis] += [value for value in study.axes().get(axis, ()) if not is_among(value, known[axis])]
        columns = {axis: self._match_values(axis, values) for axis, values in known.items()}
        return pd.DataFrame(columns, index=self.frame.index, dtype=object)  # as texts, None would become NaN

    def _list_named_studies(self) -> list[Study]:
        """Return the studies that rows name, or all where no row does."""
        if not self.has_studies:
            return list(self.paper.studies.values())
        named = {name for text in self.frame["study"].dropna().astype(str) for name in text.split("+")}
        return [study for name, study in self.paper.studies.items() if name in named]

    def _match_values(self, axis: str, known: Sequence[Any]) -> np.ndarray:
        codes, distinct = pd.factorize(self.frame[axis], use_na_sentinel=False)
        values = np.empty(len(distinct), dtype=object)
        for place, given in enumerate(distinct):
            values[place] = _match_value(name_stored(given) if axis == "algorithm" else given, known)
        found = values[codes]
        is_unknown = np.array([value is _UNKNOWN for value in values], dtype=bool)[codes]
        is_of_others = axis.startswith("params.") and self.has_studies  # a row may tell what its study does not vary
        if is_unknown.any() and not is_of_others:
            place = int(is_unknown.argmax())
            given, what = self.frame[axis].iloc[place], axis.removeprefix("params.")
            if axis in ("dataset", "algorithm"):
                raise self.fail(place, f"unknown {axis} {str(given)!r}; {suggest_name(str(given), map(str, known))}")
            raise self.fail(place, f"no study has {what} = {given}; there are {', '.join(map(str, known))}")
        return found

    def find_studies(self, rows: pd.DataFrame) -> np.ndarray:
        """Return the studies that each row is of, and put values that a study does not vary into its blank cells."""
        studies = self.paper.studies
        tells = not self.has_studies and len(studies) > 1
        columns = {axis: _Column.of(cells) for axis, cells in rows.items()}
        fits = {name: _is_setting_of(columns, study, len(self.frame), tells) for name, study in studies.items()}
        named = self._read_named_studies(fits) if self.has_studies else self._guess_studies(fits)
        for name, study in studies.items():
            is_own = is_of_study(pd.DataFrame({"study": named}), name)
            for axis, values in study.axes().items():
                if axis not in rows.columns:
                    rows[axis] = np.full(len(rows), _BLANK, dtype=object)
                if len(values) == 1:
                    is_blank = np.array([cell is _BLANK for cell in rows[axis]], dtype=bool)
                    rows.loc[is_own & is_blank, axis] = values[0]
        for axis in rows.columns:
            rows[axis] = [None if cell in (_BLANK, _UNKNOWN) else cell for cell in rows[axis]]
        return named

    def _read_named_studies(self, fits: Mapping[str, np.ndarray]) -> np.ndarray:
        named = self.frame["study"].map(lambda cell: "" if pd.isna(cell) else str(cell)).to_numpy(object)
        for text in dict.fromkeys(named):
            first = int((named == text).argmax())
            for name in text.split("+"):
                if name not in fits:
                    what = f"unknown study {name!r}" if name else "the cell of the column study is empty"
                    raise self.fail(first, f"{what}; {suggest_name(name, fits)}")
                is_wrong = (named == text) & ~fits[name]
                if is_wrong.any():
                    place = int(is_wrong.argmax())
                    raise self.fail(place, f"{self._describe_cells(place)} is no setting of study {name!r}")
        return named

    def _guess_studies(self, fits: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the one study that each row fits."""
        names, columns = list(fits), np.column_stack(list(fits.values()))
        n_fitting = columns.sum(axis=1)
        if (n_fitting != 1).any():
            place = int((n_fitting != 1).argmax())
            fitting = [name for name, is_fit in zip(names, columns[place], strict=True) if is_fit]
            if fitting:
                which, all_of_them = " and ".join(fitting), "+".join(fitting)
                raise self.fail(place, f"it fits the studies {which}: add the column study ({all_of_them} is both)")
            raise self.fail(place, f"it is a setting of no study: {self._describe_cells(place)}")
        return np.array(names, dtype=object)[columns.argmax(axis=1)]

    def _describe_cells(self, place: int) -> str:
        """Return what a row says of its setting, before it is known to be one."""
        axes = dict.fromkeys(axis for study in self.paper.studies.values() for axis in study.axes())
        row = self.frame.iloc[place]
        words = []
        for axis in axes:
            if axis in row and not pd.isna(row[axis]):
                is_plain = axis in ("dataset", "algorithm")
                words.append(str(row[axis]) if is_plain else f"{axis.removeprefix('params.')} = {row[axis]}")
        return ", ".join(words)

    # Which run it is.

    def read_repeats(self) -> np.ndarray:
        """Return the numbers of the repeats, from 0 whatever the table begins with."""
        if "repeat" not in self.frame.columns:
            raise BadInput(f"{self.name}: the column 'repeat' is missing, by which runs of one setting are told apart")
        numbers = pd.to_numeric(self.frame["repeat"], errors="coerce").to_numpy(np.float64)
        is_wrong = ~np.isfinite(numbers) | (numbers != np.floor(numbers))
        if is_wrong.any():
            place = int(is_wrong.argmax())
            raise self.fail(place, f"repeat is {_show_cell(self.frame['repeat'].iloc[place])}, no whole number")
        return np.unique(numbers, return_inverse=True)[1]

    def check_repeats(self, rows: pd.DataFrame, study: Study) -> None:
        """Check that each setting of a study has each repeat once, up to its last."""
        found = np.flatnonzero(is_of_study(rows, study.name))
        if not len(found):
            return
        labels = self.frame["repeat"].to_numpy()
        of_study, repeats = rows.iloc[found], rows["repeat"].to_numpy()
        for places in place_settings(of_study, list(study.axes())).values():
            places = found[places]
            known: dict[int, int] = {}
            for place in places:
                repeat = int(repeats[place])
                if repeat in known:
                    where, first = self._describe_setting(rows, place, study), known[repeat] + 1
                    raise self.fail(int(place), f"repeat {labels[place]} of {where} stands in row {first} already")
                known[repeat] = int(place)
            if len(places) <= max(known):
                gap = next(repeat for repeat in range(max(known)) if repeat not in known)
                lacking, last = labels[int((repeats == gap).argmax())], known[max(known)]
                where = f"{self._describe_setting(rows, last, study)} has repeat {labels[last]} but not {lacking}"
                raise self.fail(last, f"{where}: all settings need the same ones; a crashed run has the status failed")

    def _describe_setting(self, rows: pd.DataFrame, place: int, study: Study) -> str:
        return name_setting({axis: rows[axis].iloc[place] for axis in study.axes()})

    # What it gave.

    def read_status(self) -> np.ndarray:
        """Return what became of each run: done, failed, missing or undefined."""
        if "status" not in self.frame.columns:
            return np.full(len(self.frame), _DONE, dtype=object)
        status = self.frame["status"].map(lambda cell: _DONE if pd.isna(cell) else str(cell).strip() or _DONE)
        known = (_DONE, *_LOST, UNDEFINED)
        is_wrong = ~status.isin(known).to_numpy()
        if is_wrong.any():
            place = int(is_wrong.argmax())
            raise self.fail(place, f"unknown status {status.iloc[place]!r}; {suggest_name(status.iloc[place], known)}")
        return status.to_numpy(object)

    def read_metrics(self, rows: pd.DataFrame, asked: Mapping[SettingKey, Mapping[str, str]]) -> pd.DataFrame:
        """Return the metrics that are asked for; lost runs have none, whatever stands in their cells."""
        is_asked = self._find_asked(rows, asked)
        is_lost, is_undefined = rows["status"].isin(_LOST).to_numpy(), (rows["status"] == UNDEFINED).to_numpy()
        columns = {}
        for metric, (who, is_own) in is_asked.items():
            if metric not in self.frame.columns:
                if is_own.any():
                    raise BadInput(f"{self.name}: the column {metric!r} is missing, which {who} asks for")
                continue
            values = pd.to_numeric(self.frame[metric], errors="coerce").to_numpy(np.float64).copy()
            self._check_values(metric, values, is_own & ~is_lost, is_undefined)
            values[is_lost] = math.nan
            columns[metric] = values
        rows["status"] = np.where(is_undefined, _DONE, rows["status"].to_numpy(object))
        return pd.DataFrame(columns, index=rows.index)

    def _find_asked(
        self, rows: pd.DataFrame, asked: Mapping[SettingKey, Mapping[str, str]]
    ) -> dict[str, tuple[str, np.ndarray]]:
        """Return of each metric who asks for it, and of which rows."""
        found: dict[str, tuple[str, np.ndarray]] = {}
        places: dict[tuple, dict[tuple[str, ...], np.ndarray]] = {}
        for setting, metrics in asked.items():
            grid = setting.study, setting.axes
            if grid not in places:
                of_study = np.flatnonzero(is_of_study(rows, setting.study))
                placed = place_settings(rows.iloc[of_study], setting.axes) if len(of_study) else {}
                places[grid] = {values: of_study[inner] for values, inner in placed.items()}
            for metric, who in metrics.items():
                _, is_own = found.setdefault(metric, (who, np.zeros(len(rows), dtype=bool)))
                is_own[places[grid].get(setting.values, [])] = True
        return found

    def _check_values(self, metric: str, values: np.ndarray, is_run: np.ndarray, is_undefined: np.ndarray) -> None:
        limits = find_metric(metric).range
        is_missing = np.isnan(values) & is_run & ~is_undefined
        is_outside = is_run & ((values < limits.low - _SLACK) | (values > limits.high + _SLACK) | np.isinf(values))
        if not (is_missing | is_outside).any():
            return
        place = int((is_missing | is_outside).argmax())
        given = _show_cell(self.frame[metric].iloc[place])
        if is_missing[place]:
            ways = f"a run that crashed has the status failed, one whose {metric} has no value {UNDEFINED}"
            raise self.fail(place, f"{metric} is {given}: {ways}")
        if np.isinf(values[place]):
            raise self.fail(place, f"{metric} is {given}: no mean can be taken of it")
        raise self.fail(place, f"{metric} is {given}, and it lies between {limits.low:g} and {limits.high:g}")


def _match_value(given: Any, known: Iterable[Any]) -> Any:
    """Return the value of an axis that a cell has; programs write true in several ways."""
    for value in known:
        is_word = isinstance(value, bool) and str(given).casefold() == str(value).casefold()
        if is_word or is_same_value(given, value):
            return value
    return _BLANK if pd.isna(given) else _UNKNOWN


def _is_setting_of(columns: Mapping[Any, _Column], study: Study, n_rows: int, tells: bool) -> np.ndarray:
    """Return which rows may be runs of a study; if parameters tell studies apart, those that it has not are empty."""
    is_fit, axes = np.ones(n_rows, dtype=bool), study.axes()
    for axis in {*columns, *axes}:
        values = axes.get(axis)
        if axis not in columns:
            is_fit &= values is None or len(values) == 1
        elif values is not None:
            is_fit &= columns[axis].has_one_of([*values, _BLANK] if len(values) == 1 else values)
        elif tells:
            is_fit &= columns[axis].has_one_of([_BLANK])
    return is_fit


class _Column(NamedTuple):
    """The cells of an axis by the names of their values: there are few, and many studies ask for them."""

    names: tuple[str, ...]
    places: np.ndarray  #: of the name of each cell

    @classmethod
    def of(cls, cells: pd.Series) -> _Column:
        objects = cells.to_numpy(dtype=object)
        identities = np.fromiter(map(id, objects), dtype=np.intp, count=len(objects))
        _, firsts, places = np.unique(identities, return_index=True, return_inverse=True)
        return cls(tuple(_name_value(objects[first]) for first in firsts), places)

    def has_one_of(self, values: Collection[Any]) -> np.ndarray:
        """Return which cells have one of some values; no value at all is a blank cell."""
        wanted = set(map(_name_value, values))
        return np.array([name in wanted for name in self.names], dtype=bool)[self.places]


def _name_value(value: Any) -> str:
    return "" if value is _BLANK or value is None else make_setting_key([value])[0]


def _show_cell(cell: Any) -> str:
    return "empty" if pd.isna(cell) else str(cell)
