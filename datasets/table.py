"""The canonical table: one form and one fingerprint, whatever file or server the rows came from."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import product

import numpy as np

from algorithms.encoding import later_pandas as pd
from algorithms.encoding.cells import read_number
from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous, Feature, Nominal

MISSING = "?"  # the mark in UCI's original files; UCI's own CSV files leave the cell empty instead

# Parsers differ in the last bit of a decimal number and Excel stores 14.96 with noise in the 15th digit. No file of a
# pinned data set has more than nine meaningful decimals, so rounding there makes the doubles of all sources equal.
# A table of one's own has one source, and may have any numbers: they are taken as they are written.
DECIMALS = 9


def read_text(file, columns=None, **options) -> pd.DataFrame:
    """Read an original text file; only an empty cell and ``?`` are missing values.

    Parameters
    ----------
    file : path or binary file
        Where to read.
    columns : list of str, optional
        Names of the columns of a file without a header row.
    **options
        Passed on to `pandas.read_csv`.
    """
    if columns is not None:
        options |= {"names": columns, "header": None}
    return pd.read_csv(file, keep_default_na=False, na_values=["", MISSING], low_memory=False, **options)


def complete_product(attributes: dict, label: Callable[..., str]) -> str:
    """Return the text of a file that has one line for every combination of values, judged by a rule.

    Parameters
    ----------
    attributes : dict
        The values of every attribute; the last attribute changes fastest.
    label : callable
        Gets the position of each value and returns the class.

    Examples
    --------
    >>> print(complete_product({"sky": ("dry", "wet"), "wind": ("no",)}, lambda sky, wind: "stay" if sky else "go"))
    dry,no,go
    wet,no,stay
    <BLANKLINE>
    """
    lines = []
    for positions in product(*(range(len(values)) for values in attributes.values())):
        values = [names[position] for names, position in zip(attributes.values(), positions, strict=True)]
        lines.append(",".join([*values, label(*positions)]) + "\n")
    return "".join(lines)


def align_columns(frame: pd.DataFrame, domain: Domain) -> pd.DataFrame:
    """Give the columns of a downloaded frame the names of the domain.

    Names are compared without case, blanks and punctuation. Servers rename columns now and then, so where they do not
    match the columns are taken in order: the fingerprint catches a wrong guess.

    Examples
    --------
    >>> domain = Domain.from_mapping({"features": {"marital-status": ["single"]}, "target": {"pay": ["a", "b"]}})
    >>> list(align_columns(pd.DataFrame({"Pay": ["a"], "marital_status": ["single"]}), domain).columns)
    ['pay', 'marital-status']
    """
    wanted = {_plain_name(name): name for name in _column_names(domain)}
    if set(wanted) <= {_plain_name(name) for name in frame.columns}:
        return frame.rename(columns=lambda name: wanted.get(_plain_name(name), name))
    return frame.rename(columns=dict(zip(frame.columns, wanted.values(), strict=False)))


def keep_rows_with(frame: pd.DataFrame, values: Mapping[str, str]) -> pd.DataFrame:
    """Return the rows that have a certain value in each of some columns; a column that is not there decides nothing.

    Examples
    --------
    >>> wines = pd.DataFrame({"color": ["red", "white", "red"], "alcohol": [9.4, 8.8, 9.8]})
    >>> keep_rows_with(wines, {"color": "red", "country": "PT"})["alcohol"].tolist()
    [9.4, 9.8]
    """
    for column, value in values.items():
        if column in frame:
            frame = frame[frame[column] == value]
    return frame


def merge_classes(frame: pd.DataFrame, target: str, classes: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Return a frame in which some labels of the target are counted as one class, by its name.

    Examples
    --------
    >>> frame = pd.DataFrame({"grade": ["A", "B", "C", "B"]})
    >>> merge_classes(frame, "grade", {"passed": ["A", "B"]})["grade"].tolist()
    ['passed', 'passed', 'C', 'passed']
    """
    names = {label: name for name, labels in classes.items() for label in labels}
    labels = clean_labels(frame[target])
    return frame.assign(**{target: labels.map(names).fillna(labels)}) if names else frame


def keep_rows_within(table: pd.DataFrame, domain: Domain) -> pd.DataFrame:
    """Return the rows of a canonical table whose numbers all lie between their declared bounds.

    Examples
    --------
    >>> domain = Domain.from_mapping({"features": {"mm": {"lower": 0, "upper": 15}}, "target": {"a": ["x", "y"]}})
    >>> keep_rows_within(pd.DataFrame({"mm": [58.9, 5.1], "a": ["x", "y"]}), domain)
        mm  a
    0  5.1  y
    """
    return table[find_rows_within(table, domain)].reset_index(drop=True)


def find_rows_within(table: pd.DataFrame, domain: Domain) -> np.ndarray:
    """Return which rows of a canonical table have all their numbers between their declared bounds."""
    is_within = np.ones(len(table), dtype=bool)
    for feature in (*domain.features, domain.target):
        if isinstance(feature, Continuous):
            is_within &= table[feature.name].between(feature.lower, feature.upper).to_numpy()
    return is_within


def convert_columns(
    frame: pd.DataFrame, domain: Domain, drop_missing: bool = False, is_exact: bool = False
) -> pd.DataFrame:
    """Return the features and the target in the order and the types of the domain.

    Continuous columns become float64. Nominal columns become plain strings without blanks around them; a missing
    value becomes ``?`` where that is a declared category.

    Parameters
    ----------
    frame : DataFrame
        Any frame that has the columns of the domain.
    domain : Domain
        With a target.
    drop_missing : bool
        Leave out rows that have a missing value.
    is_exact : bool
        Take numbers as they are written, see `read_exactly`, and not rounded, see `read_rounded`.

    Examples
    --------
    >>> bounds = {"lower": 0, "upper": 99}
    >>> domain = Domain.from_mapping({"features": {"vote": ["y", "n", "?"]}, "target": {"age": bounds}})
    >>> convert_columns(pd.DataFrame({"age": ["31", "?", 50], "vote": [" y", "n", None]}), domain, drop_missing=True)
      vote   age
    0    y  31.0
    1    ?  50.0
    """
    features = (*domain.features, domain.target)
    if absent := [feature.name for feature in features if feature.name not in frame.columns]:
        raise ValueError(f"no column {absent[0]!r} among {', '.join(map(str, frame.columns[:6]))}, ...")
    columns = {feature.name: _convert_column(frame[feature.name], feature, is_exact) for feature in features}
    table = pd.DataFrame(columns, copy=False)  # a table may be large
    return table.dropna(ignore_index=True) if drop_missing else table


def declare_categories(table: pd.DataFrame, domain: Domain) -> pd.DataFrame:
    """Give the nominal columns that a canonical table has the type ``category``, with the categories that are declared.

    Examples
    --------
    >>> domain = Domain.from_mapping({"features": {"vote": ["y", "n"]}})
    >>> declare_categories(pd.DataFrame({"vote": ["n", "n"]}), domain)["vote"].cat.codes.tolist()
    [1, 1]
    """
    types = {
        feature.name: pd.CategoricalDtype(feature.categories)
        for feature in (*domain.features, domain.target)
        if isinstance(feature, Nominal) and feature.name in table
    }
    return table.astype(types)


def hash_table(table: pd.DataFrame) -> str:
    """Return the SHA-256 of names, order and values of a canonical table, as 64 hexadecimal digits.

    Examples
    --------
    >>> hash_table(pd.DataFrame({"a": [1.0, 2.0]}))[:8] == hash_table(pd.DataFrame({"a": [2.0, 1.0]}))[:8]
    False
    """
    digest = hashlib.sha256()
    for name in table.columns:
        column = table[name]
        digest.update(f"\x1d{name}\x1e{len(column)}\x1e".encode())
        if column.dtype == np.float64:
            digest.update(np.ascontiguousarray(column.to_numpy(), dtype="<f8"))
        else:
            codes, categories = pd.factorize(column)
            digest.update("\x1f".join(categories).encode())
            digest.update(codes.astype("<i4"))
    return digest.hexdigest()


def clean_labels(column: pd.Series, missing: str | None = None) -> pd.Series:
    """Return a column as plain strings without blanks around them, and with one mark for every missing value.

    Examples
    --------
    >>> clean_labels(pd.Series([" y", 1.0, "?", None])).tolist()
    ['y', '1', None, None]
    """
    # Cleaning each distinct value once is a hundred times quicker than cleaning every cell.
    codes, values = pd.factorize(column)
    cleaned = [*(clean_label(value, missing) for value in values), missing]  # code -1, a missing value, is the last
    return pd.Series(np.array(cleaned, dtype=object)[codes], dtype=object)  # not the str type of pandas 3


def clean_label(value, missing: str | None = None) -> str | None:
    """Return a label as a plain string, or the mark of a missing value.

    Examples
    --------
    >>> clean_label(" yes "), clean_label(3.0), clean_label("?")
    ('yes', '3', None)
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # a column of 0 and 1 becomes decimals in a parser that met an empty cell
    text = str(value).strip()
    return missing if text in ("", MISSING) else text


def find_numbers(column: pd.Series) -> np.ndarray:
    """Return which cells of a column read as numbers.

    Examples
    --------
    >>> find_numbers(pd.Series(["14.96", " 7 ", "?", "clerk", None])).tolist()
    [True, True, False, False, False]
    """
    return ~np.isnan(_to_floats(pd.to_numeric(column, errors="coerce")))


def read_exactly(column: pd.Series) -> np.ndarray:
    """Return a column as float64, each number the nearest to what is written; what is no number becomes NaN.

    Examples
    --------
    >>> read_exactly(pd.Series(["1.25e-13", "9780140449136", "-0", "?"])).tolist()
    [1.25e-13, 9780140449136.0, 0.0, nan]
    """
    read = pd.to_numeric(column, errors="coerce")
    values = _to_floats(read)
    if column.dtype.kind == "O" and read.dtype.kind == "f":
        values = _read_each_exactly(column, values)
    return values + 0.0  # makes -0.0 and 0.0 the same bytes


def read_rounded(column: pd.Series) -> np.ndarray:
    """Return a column as float64, rounded so that all sources agree; what is no number becomes NaN.

    Whole numbers stay as they are, which rounding large ones would change.

    Examples
    --------
    >>> read_rounded(pd.Series(["14.960000000000001", "9988754659", "-0", "?"])).tolist()
    [14.96, 9988754659.0, 0.0, nan]
    """
    values = _to_floats(pd.to_numeric(column, errors="coerce"))
    return np.where(values == np.rint(values), values, np.round(values, DECIMALS)) + 0.0


def round_numbers(table: pd.DataFrame) -> pd.DataFrame:
    """Return a canonical table as it was once made of a table of one's own: with all numbers rounded to nine decimals.

    Examples
    --------
    >>> round_numbers(pd.DataFrame({"mol": [1.25e-13, 0.5], "a": ["x", "y"]}))["mol"].tolist()
    [0.0, 0.5]
    """
    numbers = table.select_dtypes(np.float64)
    return table.assign(**{name: np.round(numbers[name], DECIMALS) + 0.0 for name in numbers})


def _column_names(domain: Domain) -> list[str]:
    return [*domain.names, domain.target.name]


def _plain_name(name) -> str:
    return re.sub(r"[^a-z0-9]", "", str(name).lower())


def _to_floats(read: pd.Series) -> np.ndarray:
    return read.to_numpy(dtype=np.float64, na_value=np.nan)


def _read_each_exactly(column: pd.Series, values: np.ndarray) -> np.ndarray:
    """Return numbers as Python reads them where pandas, of which some versions miss the last bit, has found some."""
    is_number = ~np.isnan(values)
    cells, exact = column.to_numpy(dtype=object)[is_number], values.copy()
    try:
        exact[is_number] = cells.astype(np.float64)
    except (ValueError, TypeError, OverflowError):  # pandas takes a little more for a number than Python does
        exact[is_number] = list(map(_read_cell_exactly, cells, values[is_number]))
    return exact


def _read_cell_exactly(cell: object, value: float) -> float:
    read = read_number(cell)
    return value if read is None or np.isnan(read) else read


def _convert_column(column: pd.Series, feature: Feature, is_exact: bool) -> pd.Series:
    if isinstance(feature, Continuous):
        return pd.Series(read_exactly(column) if is_exact else read_rounded(column))
    missing = MISSING if MISSING in feature.categories else None
    if isinstance(column.dtype, pd.CategoricalDtype) and missing is None:
        return _clean_categories(column)
    return clean_labels(column, missing)


def _clean_categories(column: pd.Series) -> pd.Series:
    """Return a column of categories with cleaned names, of which several may become one; see `clean_labels`."""
    names, codes = np.unique([clean_label(name) or "" for name in column.cat.categories], return_inverse=True)
    codes = np.append(codes, -1)[column.cat.codes]
    cleaned = pd.Categorical.from_codes(codes, pd.Index(names, dtype=object))
    return pd.Series(cleaned).cat.remove_categories([""] if "" in names else [])
