"""Mean ranks of algorithms over data sets, and the difference of ranks that is more than chance (Nemenyi's test)."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd
from scipy.stats import friedmanchisquare, studentized_range

from experiments.config.selection import PaperError, axes, axis, study_of
from experiments.stats import ALPHA
from experiments.store.study_rows import rows_of_study

LOWER_IS_BETTER = ("mse", "unit_mse")


def ranks(paper: Mapping, item: Mapping, table: pd.DataFrame) -> pd.DataFrame:
    """Rank the algorithms of a study.

    Parameters
    ----------
    paper, item : mapping
        The paper, and a figure of it with ``study`` and ``metric``.
    table : DataFrame
        The long table.

    Returns
    -------
    DataFrame
        One row per algorithm and data set, and one with an empty ``dataset`` for all of them: ``rank``, 1 for the best,
        of medians over repeats, mean over all other axes; ``n`` and ``n_expected`` (cells). A data set of which some
        setting has no result ranks nobody.
    """
    study, metric = study_of(paper, item), item["metric"]
    found, repeats = axes(study, item.get("where")), int(paper["repeats"])
    rows = rows_of_study(table, study, metric, item.get("where"))
    by = [name for name in found if name != "algorithm"]
    n_others = math.prod(len(found[name]) for name in by if name != "dataset")
    of_sets, counts = pd.DataFrame(), {}
    if len(rows):
        medians = rows.groupby([*by, "algorithm"])[metric].median().unstack("algorithm")
        placed = medians.reindex(columns=found["algorithm"]).dropna().rank(axis=1, ascending=metric in LOWER_IS_BETTER)
        of_sets = placed.groupby("dataset").filter(lambda part: len(part) == n_others).groupby("dataset").mean()
        counts = rows.groupby(["dataset", "algorithm"]).size()
    out = [
        {"algorithm": algorithm, "dataset": dataset, "rank": _at(of_sets, dataset, algorithm)}
        | {"n": int(counts.get((dataset, algorithm), 0)), "n_expected": n_others * repeats}
        for algorithm in found["algorithm"]
        for dataset in found["dataset"]
    ]
    out += [
        {"algorithm": algorithm, "dataset": "", "rank": of_sets[algorithm].mean() if algorithm in of_sets else math.nan}
        | {"n": 0, "n_expected": 0}
        for algorithm in found["algorithm"]
    ]
    return pd.DataFrame(out)


def _at(of_sets: pd.DataFrame, dataset: str, algorithm: str) -> float:
    is_there = algorithm in of_sets and dataset in of_sets.index
    return float(of_sets.loc[dataset, algorithm]) if is_there else math.nan


def critical_difference(n_algorithms: int, n_datasets: int) -> float:
    """Return the difference of mean ranks that chance exceeds once in twenty, if all algorithms were equal.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)  # Demsar (2006), section 3.2.2, with its q = 2.569
    1.25
    """
    q = studentized_range.ppf(1 - ALPHA, n_algorithms, math.inf) / math.sqrt(2)
    return float(q * math.sqrt(n_algorithms * (n_algorithms + 1) / (6 * n_datasets)))


def friedman_p(found: pd.DataFrame) -> float:
    """Return the p-value of "all algorithms are equal", over the data sets that rank them; NaN of too few."""
    wide = found[found["dataset"] != ""].pivot(index="dataset", columns="algorithm", values="rank").dropna()
    if len(wide) < 2 or wide.shape[1] < 3:
        return math.nan
    return float(friedmanchisquare(*(wide[name] for name in wide)).pvalue)


def check(paper: Mapping, item: Mapping) -> None:
    """Check that there is something to rank.

    Raises
    ------
    PaperError
        If there is not.
    """
    if len(axis(study_of(paper, item), "algorithm", item.get("where"))) < 2:
        raise PaperError(f"{item['id']}: one algorithm alone has no rank")
