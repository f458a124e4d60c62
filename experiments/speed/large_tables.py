"""Ten million rows, beside scikit-learn and pandas: ``do=speed part=large``.

A synthetic table, drawn by a seed: eight columns of numbers, two of four categories each, as numbers in a row (800 MB),
and a target that follows some of them. Ours and scikit-learn's fit it once each in one process, on one core, after a
fit of a few rows; where scikit-learn takes many minutes, both have fewer rows, and the row says so. Times
are processor seconds, which stay the same on a busy machine. Peaks are those of the whole process, interpreter, rows
and target included, by the size of the encoded table.

The same rows are then read from files, each in a process of its own: at first, and again from the cache.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import yaml

from algorithms import Continuous, Domain, Nominal
from datasets.own_tables.opened_file import ROWS, SILENTLY, open_parquet
from datasets.own_tables.own_table import read_own_table
from experiments.processes import ONE_THREAD
from experiments.speed.measurement import Configured, Measurement, configure, read_status, run_apart

N_ROWS = 10_000_000
N_ROWS_OF_TREES = 1_000_000
N_NUMBERS, N_CATEGORIES = 8, 4
_FEW = 20_000  # rows of a first fit
_HIGHEST = 3.0  # target
_MEGABYTE = 1 << 20


class Comparison(NamedTuple):
    """Ours, what scikit-learn has for the same work, and how many rows both have."""

    ours: Configured
    theirs: Configured
    n_rows: int
    aim: float


def compare_fits() -> dict[str, Comparison]:
    """Return what is compared, by the name of ours."""
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeRegressor

    depth = {"max_depth": 12}
    bayes = Configured("GaussianNB", GaussianNB())
    numbers = Configured("DecisionTreeRegressor(max_depth=12)", DecisionTreeRegressor(**depth, random_state=0))
    forest, shallow = {"n_estimators": 10, "max_depth": 5}, {"max_features": 1}
    return {
        "fm": Comparison(configure("fm", epsilon=1.0), configure("linear_regression"), N_ROWS, 0.25),
        "rdt": Comparison(
            configure("rdt", epsilon=1.0, **forest), configure("extra_trees", **forest, **shallow), N_ROWS, 0.25
        ),
        "thrifty_bayes": Comparison(configure("thrifty_bayes", epsilon=1.0), bayes, N_ROWS, 1.0),
        "thrifty_tree": Comparison(
            configure("thrifty_tree", epsilon=1.0, **depth), configure("decision_tree", **depth), N_ROWS_OF_TREES, 0.1
        ),
        "thrifty_tree_regressor": Comparison(
            configure("thrifty_tree_regressor", epsilon=1.0, **depth), numbers, N_ROWS_OF_TREES, 0.15
        ),
    }


def measure_fits() -> list[Measurement]:
    """Compare times of fits."""
    measurements = []
    for name, (ours, theirs, n_rows, aim) in compare_fits().items():
        taken = run_apart(measure_fit, [name, n_rows, True], **ONE_THREAD)
        what = f"{n_rows:,} rows: {ours.what} / {theirs.what}"
        measurements.append(Measurement(what, taken["ours"] / taken["theirs"], aim))
    return measurements


def measure_large_fits() -> list[Measurement]:
    """Measure what ours takes of all rows, and the peak memory by the size of the encoded table."""
    measurements = []
    for name, (ours, *_) in compare_fits().items():
        taken = run_apart(measure_fit, [name, N_ROWS, False], **ONE_THREAD)
        measurements.append(Measurement(f"{ours.what}, processor time", taken["ours"], unit="s"))
        measurements.append(Measurement(f"{ours.what}, peak memory / encoded table", taken["peak"], 3))
    return measurements


def measure_fit(asked: list) -> dict[str, float]:
    """Fit a table in this process.

    Parameters
    ----------
    asked : list of str, int and bool
        A key of `compare_fits`, how many rows there are, and whether scikit-learn's is fitted, too.

    Returns
    -------
    dict
        Processor seconds of "ours" and, if it was fitted, "theirs"; "peak" memory of ours by the encoded table.

    Examples
    --------
    >>> sorted(measure_fit(["fm", 1000, True]))
    ['ours', 'peak', 'theirs']
    """
    name, n_rows, with_theirs = asked
    (_, ours), (_, theirs), *_ = compare_fits()[name]
    X, y, domain = generate_table(n_rows, hasattr(ours, "predict_proba"))
    ours.set_params(domain=domain).fit(X[:_FEW], y[:_FEW])
    taken = {"ours": time_processor(lambda: ours.fit(X, y))}
    taken["peak"] = read_status("VmHWM") * _MEGABYTE / X.nbytes
    if with_theirs:
        taken["theirs"] = time_processor(lambda: theirs.fit(X, y))
    return taken


def generate_table(n_rows: int, is_classification: bool) -> tuple[np.ndarray, np.ndarray, Domain]:
    """Return encoded rows, their target, and what is declared of them.

    Examples
    --------
    >>> X, y, domain = generate_table(100, True)
    >>> X.shape, np.unique(y).tolist(), domain.features[8]
    ((100, 10), [0, 1], Nominal(name='c8', categories=(0, 1, 2, 3)))
    """
    rng, n_columns = np.random.default_rng(0), N_NUMBERS + 2
    X = np.empty((n_rows, n_columns))
    for j in range(n_columns):
        X[:, j] = rng.random(n_rows) if j < N_NUMBERS else rng.integers(0, N_CATEGORIES, n_rows)
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.2 * X[:, N_NUMBERS] + 0.3 * rng.standard_normal(n_rows)
    features: list = [Continuous(f"x{j}", 0, 1) for j in range(N_NUMBERS)]
    features += [Nominal(f"c{j}", tuple(range(N_CATEGORIES))) for j in range(N_NUMBERS, n_columns)]
    if is_classification:
        return X, (y > _HIGHEST / 2).astype(np.int64), Domain(features, Nominal("y", (0, 1)))
    return X, np.clip(y, 0, _HIGHEST), Domain(features, Continuous("y", 0, _HIGHEST))


def time_processor(run: Callable[[], object]) -> float:
    """Return the processor seconds that a call takes in this process."""
    start = time.process_time()
    run()
    return time.process_time() - start


def measure_reading() -> list[Measurement]:
    """Read the table from CSV and from Parquet, with a domain and without, beside pandas and DuckDB."""
    measurements = []
    with tempfile.TemporaryDirectory() as folder:
        run_apart(write_files, [folder, N_ROWS])
        for suffix, their_name, aim in (("csv", "pandas.read_csv", 3), ("parquet", "DuckDB's frame", math.inf)):
            theirs = run_apart(read_with_others, f"{folder}/rows.{suffix}", **ONE_THREAD)
            for kind in ("declared", "open"):
                cache = {"XDG_CACHE_HOME": f"{folder}/cache"}
                path = f"{folder}/{kind}-{suffix}.yaml"
                first, again = (run_apart(read_own, path, **ONE_THREAD, **cache) for _ in range(2))
                what = f"{suffix}, with{'' if kind == 'declared' else 'out'} a domain"
                measurements += [
                    Measurement(f"{what} / {their_name}", first["seconds"] / theirs, aim),
                    Measurement(f"{what}, from the cache / {their_name}", again["seconds"] / theirs, 1),
                    Measurement(f"{what}, peak memory / encoded table", first["peak"], 3),
                ]
    return measurements


def write_files(asked: list) -> None:
    """Write the table into a folder as CSV and as Parquet, and YAML files that do and do not declare a domain.

    Parameters
    ----------
    asked : list of str and int
        The folder, and how many rows there are.
    """
    import duckdb

    folder, n_rows = asked
    X, y, domain = generate_table(n_rows, True)
    words = [f"word {number}" for number in range(N_CATEGORIES)]
    columns: dict[str, Any] = {}
    for feature, values in zip(domain.features, X.T, strict=True):
        is_number = isinstance(feature, Continuous)
        columns[feature.name] = np.round(values, 6) if is_number else _take_words(values, words)
    frame = pd.DataFrame(columns | {"y": _take_words(y, ["no", "yes"])}, copy=False)
    with duckdb.connect() as database:
        database.execute(SILENTLY)
        rows = database.from_df(frame)
        rows.write_csv(f"{folder}/rows.csv", header=True)
        rows.write_parquet(f"{folder}/rows.parquet")
    features = {
        feature.name: {"lower": 0, "upper": 1} if isinstance(feature, Continuous) else words
        for feature in domain.features
    }
    declared = {"domain": {"features": features, "target": {"y": ["no", "yes"]}}}
    for suffix in ("csv", "parquet"):
        entry = {"file": f"rows.{suffix}", "task": "classification", "target": "y"}
        for kind, contents in (("open", entry), ("declared", entry | declared)):
            text = yaml.safe_dump(contents, sort_keys=False)
            Path(f"{folder}/{kind}-{suffix}.yaml").write_text(text, encoding="utf-8")


def _take_words(codes: np.ndarray, words: list[str]) -> pd.Categorical:
    return pd.Categorical.from_codes(codes.astype(np.int8), words)


def read_own(path: str) -> dict[str, float]:
    """Read a table of one's own in this process; return processor seconds, and the peak by the encoded table."""
    tables = []
    seconds = time_processor(lambda: tables.append(read_own_table(Path(path))))
    n_rows, n_columns = tables[0].rows.shape
    return {"seconds": seconds, "peak": read_status("VmHWM") * _MEGABYTE / (8 * n_rows * (n_columns - 1))}


def read_with_others(path: str) -> float:
    """Return the processor seconds in which pandas reads CSV, or DuckDB makes a frame of Parquet."""
    if path.endswith(".csv"):
        return time_processor(lambda: pd.read_csv(path))
    with open_parquet(Path(path), threads=1) as database:
        return time_processor(lambda: database.table(ROWS).df())


TABLES = {
    "fit alone, one core, ε = 1, a synthetic table of 10 columns": (measure_fits,),
    f"the same, all {N_ROWS:,} rows": (measure_large_fits,),
    f"reading these {N_ROWS:,} rows, processor time": (measure_reading,),
}
"""What is printed: a table for each title."""
