"""Two sets of results beside each other: what changed, by how much, and whether that is more than noise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control, ttest_rel

from experiments.comparisons.changes import APART, BEYOND, EQUAL, FEW, ONLY_IN_A, ONLY_IN_B, WITHIN
from experiments.config.protocol import DEFAULT_PROTOCOL
from experiments.errors import BadInput
from experiments.python_api import refuses_bad_input
from experiments.python_api.results import ABOUT_RUNS, load_results
from experiments.stats import ALPHA, mean_interval

_ROUNDING = 1e-12
"""Changes that differ by this share of the values are the same change, which floating point has rounded differently."""
_FOUND = ("n", "mean_a", "mean_b", "change", "low", "high", "p", "verdict")


@refuses_bad_input
def compare(a: pd.DataFrame | str | Path, b: pd.DataFrame | str | Path) -> pd.DataFrame:
    """Compare two sets of results, setting by setting: two stores, two runs, before and after a change.

    Repeats of one number have the same rows for training and test, and, of unchanged code, the same noise: they are
    compared in pairs. Of the settings that are named ``beyond noise``, one in twenty is so by chance at most, in the
    mean (Benjamini and Hochberg, 1995, of the t-tests of all settings and metrics; if these do not move against each
    other). The same change in all pairs has no spread for a t-test: then the sign test counts, which takes six or more.

    Parameters
    ----------
    a, b : DataFrame, str or Path
        Results as from `load_results` or `run`, or the folder of a store.

    Returns
    -------
    DataFrame
        A row for each setting and metric, with the columns of the setting; ``n``, how many repeats both have;
        ``mean_a`` and ``mean_b`` over these; ``change``, b less a, with the ends ``low`` and ``high`` of its 95 %
        interval; and ``verdict``: "equal" (to the last digit), "within noise", "beyond noise", "too few repeats" (a
        change in a single one), "only in a", "only in b" or "no repeat in common". Cells that failed count as not
        there.

    Raises
    ------
    BadInput
        If a store is not there, or a setting has several values of one repeat: results of several versions.

    Examples
    --------
    >>> settings = {"dataset": "car", "algorithm": "rdt", "epsilon": 1.0, "metric": "accuracy"}
    >>> before = pd.DataFrame([settings | {"repeat": i, "value": value} for i, value in enumerate((0.70, 0.71, 0.72))])
    >>> after = before.assign(value=[0.80, 0.82, 0.81])
    >>> compare(before, after)[["n", "mean_a", "mean_b", "change", "verdict"]].round(3).to_dict("records")
    [{'n': 3, 'mean_a': 0.71, 'mean_b': 0.81, 'change': 0.1, 'verdict': 'beyond noise'}]
    >>> compare(before, before)["verdict"].item()
    'equal'
    """
    left, right = (_read(results, which) for results, which in ((a, "a"), (b, "b")))
    columns = dict.fromkeys([*left.columns, *right.columns])
    names = [name for name in columns if name not in ABOUT_RUNS]
    numbers: dict[tuple, int] = {}  # of settings, whose values need not have an order
    both = [_index(results, names, which, numbers) for results, which in ((left, "a"), (right, "b"))]
    pairs = pd.concat(both, axis=1, keys=["a", "b"])
    settings = list(numbers)
    rows = [_compare_setting(settings[number], group, names) for number, group in pairs.groupby(level=0)]
    found = pd.DataFrame(rows, columns=[*names, "metric", *_FOUND])
    found["verdict"] = found["verdict"].astype(object)
    is_tested = found["p"].notna()
    if is_tested.any():
        adjusted = pd.Series(false_discovery_control(found.loc[is_tested, "p"]), index=found.index[is_tested])
        found.loc[is_tested, "verdict"] = np.where(adjusted < ALPHA, BEYOND, WITHIN)
    return found.drop(columns="p")


def _read(results: pd.DataFrame | str | Path, which: str) -> pd.DataFrame:
    frame = results if isinstance(results, pd.DataFrame) else load_results(results)
    lacking = {"dataset", "algorithm", "epsilon", "repeat", "metric", "value"} - set(frame.columns)
    if lacking:
        raise BadInput(f"{which} has no column {min(lacking)!r}: give results as from load_results, or a folder")
    rows = frame[frame["metric"].notna() & frame["value"].notna()]
    if not np.isfinite(pd.to_numeric(rows["value"], errors="coerce")).all():
        raise BadInput(f"{which} has a value that is no finite number: no mean can be taken of it")
    return rows


def _index(frame: pd.DataFrame, names: list[str], which: str, numbers: dict[tuple, int]) -> pd.Series:
    """Return the values by setting and metric, and by repeat; an option of the protocol without a column is default."""
    defaults = {f"protocol.{name}": value for name, value in vars(DEFAULT_PROTOCOL).items()}
    added = {name: defaults.get(name) for name in names if name not in frame.columns}
    settings = frame.assign(**added)[names].astype(object).where(lambda cells: cells.notna(), None)
    found = zip(*map(settings.get, names), frame["metric"], strict=True)
    keys = pd.MultiIndex.from_arrays([[numbers.setdefault(one, len(numbers)) for one in found], frame["repeat"]])
    values = pd.Series(frame["value"].to_numpy(dtype=float), index=keys)
    if values.index.has_duplicates:
        number, repeat = values.index[values.index.duplicated()][0]
        setting = list(numbers)[number]
        raise BadInput(f"{which} has repeat {repeat} of {setting[:3]} twice: leave out what is not current")
    return values


def _compare_setting(setting: tuple, group: pd.DataFrame, names: list[str]) -> dict:
    row = dict(zip([*names, "metric"], setting, strict=True))
    pairs = group.dropna()
    row |= {"n": len(pairs), "p": np.nan}
    if pairs.empty:
        is_in_a, is_in_b = group.notna().any()
        return row | {"verdict": APART if is_in_a and is_in_b else ONLY_IN_A if is_in_a else ONLY_IN_B}
    change = mean_interval((pairs["b"] - pairs["a"]).to_numpy())
    row |= {"mean_a": pairs["a"].mean(), "mean_b": pairs["b"].mean()}
    row |= {"change": change.center, "low": change.low, "high": change.high}
    if (pairs["a"] == pairs["b"]).all():
        return row | {"verdict": EQUAL}
    if len(pairs) < 2:
        return row | {"verdict": FEW}
    # the same change in all pairs has no spread for a t-test: the exact chance of so many equal signs
    spread = np.ptp(pairs["b"] - pairs["a"])
    is_constant = spread <= _ROUNDING * pairs.abs().to_numpy().max()
    return row | {"p": 2.0 ** (1 - len(pairs)) if is_constant else float(ttest_rel(pairs["b"], pairs["a"]).pvalue)}
