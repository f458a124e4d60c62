"""The numbers behind one table or figure: means or medians with intervals beside what the paper prints."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from experiments.config.selection import PaperError, axes, center_of, setting_key, settings, study_of
from experiments.judge.numbers import selected
from experiments.judge.verdict import is_in_per_cent
from experiments.stats import CENTERS, center_interval
from experiments.store.study_rows import rows_of_study, rows_without_metric


def summarise(paper: Mapping, item: Mapping, table: pd.DataFrame, numbers: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return one row per combination of the axes ``by``, whether or not a cell answers it.

    Parameters
    ----------
    paper, item : mapping
        The paper, and the table or figure of it.
    table : DataFrame
        The long table.
    numbers : DataFrame
        Verdicts on the printed numbers.
    by : list of str
        The two axes of the table or figure.

    Returns
    -------
    DataFrame
        The axes, metric, mean or median (see `ours`), ci_low, ci_high, n, n_expected, printed, decimals, verdict, note.
        Where the item lists several metrics, ``by`` has ``metric`` as its last.

    Raises
    ------
    PaperError
        If an axis that is not in ``by`` has several values, so that a point would mix settings.
    """
    if isinstance(item["metric"], list):
        parts = [summarise(paper, {**item, "metric": one}, table, numbers, by[:-1]) for one in item["metric"]]
        return pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)
    study, where, metric = study_of(paper, item), item.get("where"), item["metric"]
    mixed = [name for name, values in axes(study, where).items() if len(values) > 1 and name not in by]
    if mixed:
        raise PaperError(f"{item['id']}: {', '.join(mixed)} varies within a point; fix it with where")
    cells = rows_of_study(table, study, metric, where)
    values = {setting_key(key): group[metric].to_numpy() for key, group in cells.groupby(by, sort=False)}
    hollow = rows_without_metric(table, study, metric, where)
    n_hollow = {setting_key(key): len(group) for key, group in hollow.groupby(by, sort=False)} if len(hollow) else {}
    printed = _printed(paper, item, numbers, by)
    repeats, center = int(paper["repeats"]), center_of(paper, item, metric)
    rows = []
    for point in settings(study, by, where):
        interval = center_interval(center, values.get(setting_key(point), ()))
        without = n_hollow.get(setting_key(point), 0)
        said = [
            note_missing_cells(interval.n, repeats - without),
            *([f"undefined in {without} runs"] if without else []),
        ]
        rows.append(
            dict(zip(by, point, strict=True))
            | {"metric": metric, center: interval.center, "ci_low": interval.low, "ci_high": interval.high}
            | {"n": interval.n, "n_expected": repeats - without}
            | printed.get(setting_key(point), {"printed": float("nan"), "decimals": float("nan"), "verdict": ""})
            | {"note": "; ".join(filter(None, said))}
        )
    return pd.DataFrame(rows)


def with_unplaced(paper: Mapping, item: Mapping, series: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
    """Add to a figure of algorithms the numbers that the paper prints for them without a setting, as ``unplaced``.

    The column is left out where there are none.
    """
    spans = [one["id"] for one in paper.get("tables", ()) if item["study"] in one.get("studies", ())]
    if item["lines"] != "algorithm" or not spans or numbers.empty:
        return series
    meant = numbers[numbers["table"].isin(spans) & (numbers["metric"] == item["metric"])]
    if not meant["algorithm"].isin(series["algorithm"]).any():
        return series
    return series.assign(unplaced=series["algorithm"].map(dict(zip(meant["algorithm"], meant["printed"], strict=True))))


def ours(series: pd.DataFrame) -> str:
    """Return the name of the column that stands for the repeats, ``mean`` or ``median``.

    Examples
    --------
    >>> ours(pd.DataFrame({"epsilon": [1.0], "median": [0.5]}))
    'median'
    """
    return next(name for name in CENTERS if name in series)


def shortfall(series: pd.DataFrame) -> str:
    """Return the note on what is missing of a whole table or figure.

    Examples
    --------
    >>> shortfall(pd.DataFrame({"n": [10, 7], "n_expected": [10, 10]})), shortfall(pd.DataFrame({"x": [], "y": []}))
    ('INCOMPLETE: 17 of 20 cells', 'INCOMPLETE: data set not available')
    """
    if "n" not in series:  # drawn from the rows of a data set, not from cells
        return "" if len(series) else "INCOMPLETE: data set not available"
    return note_missing_cells(int(series["n"].sum()), int(series["n_expected"].sum()))


def decimals_of(series: pd.DataFrame) -> int:
    """Return how many decimals to show: as many as the paper prints, else two, three of R², three digits of an error.

    Examples
    --------
    >>> decimals_of(pd.DataFrame({"metric": ["mse", "mse"], "mean": [0.0123, 0.5], "decimals": [math.nan, math.nan]}))
    4
    """
    printed, sizes = series["decimals"].dropna(), series[ours(series)].abs()
    if len(printed):
        return int(printed.max())
    if is_in_per_cent(metric := series["metric"].iloc[0]) or not (sizes > 0).any():
        return 2
    if metric == "r2":
        return 3
    # an exact fit leaves errors of 1e-30, of which no reader wants thirty decimals
    return min(max(0, 2 - math.floor(math.log10(sizes[sizes > 0].min()))), 6)


def _printed(paper: Mapping, item: Mapping, numbers: pd.DataFrame, by: list[str]) -> dict[tuple, dict]:
    """Map points to what the paper prints there; only numbers of the same study speak of the same cells."""
    study, where = study_of(paper, item), item.get("where")
    studies = {one["id"]: one.get("study") for one in [*paper.get("tables", ()), *paper.get("figures", ())]}
    found = {}
    for number in numbers.to_dict("records"):
        if number["statistic"] != "mean" or number["metric"] != item["metric"]:
            continue
        part = selected(number, study, where) if studies[number["table"]] == item["study"] else None
        points = settings(study, by, part) if part is not None else []
        if len(points) == 1:
            found[setting_key(points[0])] = {name: number[name] for name in ("printed", "decimals", "verdict")}
    return found


def note_missing_cells(n: int, expected: int) -> str:
    """Return the note on missing cells; nothing when all are there.

    Examples
    --------
    >>> note_missing_cells(3, 10), note_missing_cells(10, 10)
    ('INCOMPLETE: 3 of 10 cells', '')
    """
    return "" if n >= expected else f"INCOMPLETE: {n} of {expected} cells"
