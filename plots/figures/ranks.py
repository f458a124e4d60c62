"""``ranks``: mean ranks of algorithms over data sets, with the difference of ranks that is more than chance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from experiments.config.paper import Paper, PaperError, PaperFigure, ShownPart
from experiments.judge.preflight import check_metrics
from experiments.judge.verdict import is_error
from experiments.stats import ALPHA
from experiments.store.study_rows import select_rows
from plots.labels import label_name, label_names
from plots.series import note_shortfall

if TYPE_CHECKING:
    import matplotlib.figure


class RanksFigure(ShownPart, PaperFigure):
    """Mean ranks of the algorithms of a study over its data sets, beside Nemenyi's critical difference."""

    kind: Literal["ranks"]
    metric: str
    """The metric that ranks them."""
    advises: bool = False
    """Whether the first algorithm is the one to take: the figure must hold none that is not private as it says."""

    def check(self, paper: Paper) -> None:
        """Check that there is something to rank.

        Raises
        ------
        PaperError
            If there is not.
        """
        if len(paper.study(self.study, self.id).axis("algorithm", self.where)) < 2:
            raise PaperError(f"{self.id}: one algorithm alone has no rank")
        check_metrics(paper, self.id, self.study, self.where, [self.metric])

    def make_frame(self, paper: Paper, table: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
        """Rank the algorithms.

        Returns
        -------
        DataFrame
            One row per algorithm and data set, and one with an empty ``dataset`` for all of them: ``rank``, 1 for the
            best, of medians over repeats, mean over all other axes; ``n`` and ``n_expected`` (cells). A data set of
            which some setting has no result ranks nobody.
        """
        study = paper.study(self.study, self.id)
        axes = study.axes(self.where)
        by = [name for name in axes if name != "algorithm"]
        n_others = math.prod(len(axes[name]) for name in by if name != "dataset")
        rows = select_rows(table, study, self.metric, self.where)
        counts = rows.groupby(["dataset", "algorithm"]).size() if len(rows) else {}
        ranks = self._rank(rows, by, axes["algorithm"], n_others) if len(rows) else pd.DataFrame()
        records = []
        for algorithm in axes["algorithm"]:
            for dataset in axes["dataset"]:
                rank = _find_rank(ranks, dataset, algorithm)
                n = int(counts.get((dataset, algorithm), 0))
                expected = n_others * paper.repeats
                records.append(
                    {"algorithm": algorithm, "dataset": dataset, "rank": rank, "n": n, "n_expected": expected}
                )
        for algorithm in axes["algorithm"]:
            mean = ranks[algorithm].mean() if algorithm in ranks else math.nan
            records.append({"algorithm": algorithm, "dataset": "", "rank": mean, "n": 0, "n_expected": 0})
        return pd.DataFrame(records)

    def draw(self, paper: Paper, frame: pd.DataFrame) -> matplotlib.figure.Figure:
        """Draw the mean rank of each algorithm, and its rank on each data set."""
        from plots import style

        means = _select_means(frame)
        single = frame[frame["dataset"] != ""].dropna(subset=["rank"])
        n_sets = single["dataset"].nunique()
        drawn = style.make_figure(9.2, 1.9 + 0.42 * len(means))
        axes = drawn.add_subplot()
        ticks: dict[str, Any] = {"marker": "|", "markersize": 9, "linestyle": "none", "markeredgewidth": 2}
        for place, row in enumerate(means.to_dict("records")):
            own = single[single["algorithm"] == row["algorithm"]]["rank"]
            axes.plot(own, [place] * len(own), color=style.QUALITATIVE[4], **ticks)
            axes.plot([row["rank"]], [place], marker="o", markersize=7, linestyle="none", color=style.QUALITATIVE[0])
        axes.set_yticks(range(len(means)), label_names(paper, means["algorithm"]))
        axes.invert_yaxis()
        axes.set_xlim(0.8, len(means) + 0.2)
        p = compute_friedman_p(frame)
        chance = "" if math.isnan(p) else f"; all equal: p = {p:.2g} (Friedman)"
        axes.set_xlabel(f"mean rank over {n_sets} data sets, 1 is best{chance}")
        style.dress_axes(axes, "x")
        if n_sets > 1:
            best, difference = float(means["rank"].iloc[0]), critical_difference(len(means), n_sets)
            axes.axvspan(best, best + difference, color=style.QUALITATIVE[0], alpha=0.10, linewidth=0, zorder=0)
            words = "shaded: not told from the best (Nemenyi, 5 %); ticks: single data sets"
            axes.annotate(words, (1, 1.01), xycoords="axes fraction", ha="right", fontsize=9, color=style.INK)
        style.write_shortfall(axes, frame, pad=18)
        style.write_title(drawn, axes, self.title)
        return drawn

    def advise(self, paper: Paper, frame: pd.DataFrame) -> str:
        """Say which algorithm to take: the best mean rank, with those that are not told from it.

        A run that is not complete gives no advice, and says so; a figure that does not advise says nothing.
        """
        if not self.advises:
            return ""
        if note := note_shortfall(frame):
            return f"{note}; no advice"
        best, *others = _select_means(frame).to_dict("records")
        n_sets = frame.loc[frame["dataset"] != "", "dataset"].nunique()
        limit = best["rank"] + (critical_difference(len(others) + 1, n_sets) if n_sets > 1 else math.inf)
        near = []
        for row in others:
            if row["rank"] <= limit:
                near.append(f"{label_name(paper, row['algorithm'])} ({row['rank']:.2f})")
        close = f"not told from it (Nemenyi, 5 %): {', '.join(near)}" if near else "every other is significantly worse"
        name = label_name(paper, best["algorithm"])
        return f"{self.title}: take {name}, mean rank {best['rank']:.2f} over {n_sets} data sets; {close}."

    def _rank(self, rows: pd.DataFrame, by: list[str], algorithms: list[str], n_others: int) -> pd.DataFrame:
        """Return the mean rank of each algorithm on each data set all of whose settings have results."""
        medians = rows.groupby([*by, "algorithm"])[self.metric].median().unstack("algorithm")
        ranks = medians.reindex(columns=algorithms).dropna().rank(axis=1, ascending=is_error(self.metric))
        complete = ranks.groupby("dataset").filter(lambda part: len(part) == n_others)
        return complete.groupby("dataset").mean()


def critical_difference(n_algorithms: int, n_datasets: int) -> float:
    """Return the difference of mean ranks that chance exceeds once in twenty, if all algorithms were equal.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)  # Demsar (2006), section 3.2.2, with its q = 2.569
    1.25
    """
    from scipy.stats import studentized_range  # slow to import

    q = studentized_range.ppf(1 - ALPHA, n_algorithms, math.inf) / math.sqrt(2)
    return float(q * math.sqrt(n_algorithms * (n_algorithms + 1) / (6 * n_datasets)))


def compute_friedman_p(frame: pd.DataFrame) -> float:
    """Return the p-value of "all algorithms are equal", over the data sets that rank them; NaN of too few."""
    from scipy.stats import friedmanchisquare

    single = frame[frame["dataset"] != ""]
    wide = single.pivot(index="dataset", columns="algorithm", values="rank").dropna()
    if len(wide) < 2 or wide.shape[1] < 3:
        return math.nan
    return float(friedmanchisquare(*wide.to_numpy().T).pvalue)


def _select_means(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["dataset"] == ""].sort_values("rank", kind="stable")


def _find_rank(ranks: pd.DataFrame, dataset: str, algorithm: str) -> float:
    is_there = algorithm in ranks and dataset in ranks.index
    return float(ranks.loc[dataset, algorithm]) if is_there else math.nan
