"""``soundness``: what soundness costs, or gains: sound variants beside the printed algorithms at equal claimed ε."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from experiments.config.kinds.exhibits import SoundnessFigure
from experiments.metrics.find import is_error
from experiments.stats import center_interval
from experiments.store.long_table import distinct_privacy_reports
from experiments.store.study_rows import match_column, select_rows
from plots import style
from plots.exhibits.views import FigureView
from plots.labels import MISSING, label_axis, label_names, scale_value

_COLUMNS = 2  # panels beside one another
_LONGEST_NAME = 14  # characters of a line of an algorithm's name
_LONGEST_KEY = 60  # characters of a line of the legend
_MEAN: dict[str, Any] = {"marker": "D", "markersize": 7, "linestyle": "none", "markeredgecolor": style.PAPER}
_TEXT = "number: the ε that the printed one accounts for\n(sound: that of the other, if not as claimed)"


class SoundnessView(FigureView[SoundnessFigure], of=SoundnessFigure):
    """What the sound variants of algorithms gain or lose, and what the printed ones really pay."""

    def make_frame(self, table: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
        """Compare each sound variant with the printed algorithm, on the same splits.

        One row per pair, ε and data set, and one with an empty ``dataset`` for the mean over the data sets if all have
        an answer: ``printed`` and ``sound`` (algorithms); ``epsilon``; ``gain``, ``low`` and ``high``, center over
        repeats of the sound metric less the printed one, of errors log2(printed error / sound error), so that more is
        better, with its 95 % interval; ``accounted``, the largest ε that the printed one accounts for between tables
        that are ``neighbours`` as it means them, infinite where a step has no noise; ``noisy``, the same over its noisy
        steps alone; ``sound_accounted``, what the sound one accounts for between the same neighbours; ``n`` and
        ``n_expected`` (pairs of cells).
        """
        study = self.paper.study(self.exhibit.study, self.exhibit.id)
        rows = select_rows(table, study, self.exhibit.metric, self.exhibit.where)
        records = []
        for printed, sound in self.exhibit.pairs.items():
            for epsilon in study.axis("epsilon", self.exhibit.where):
                at_epsilon = rows[match_column(rows["epsilon"], epsilon)]
                pair = {"printed": printed, "sound": sound, "epsilon": epsilon}
                records += self._compare(at_epsilon, pair, study.axis("dataset", self.exhibit.where))
        return pd.DataFrame(records)

    def draw(self, frame: pd.DataFrame) -> style.Figure:
        """Draw a panel for each ε, a line for each pair."""
        epsilons, pairs = frame["epsilon"].unique(), list(frame["printed"].unique())
        n_columns = min(_COLUMNS, len(epsilons))
        n_rows = math.ceil(len(epsilons) / n_columns)
        drawn = style.make_figure(style.WIDTH, 3.0 + (0.6 + 0.52 * len(pairs)) * n_rows)
        grid = drawn.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False)
        panels = grid.ravel()[: len(epsilons)]
        for axes in grid.ravel()[len(epsilons) :]:
            axes.remove()
        for axes, epsilon in zip(panels, epsilons, strict=True):
            at_epsilon = frame[frame["epsilon"] == epsilon]
            for place, printed in enumerate(pairs):
                _draw_pair(axes, place, at_epsilon[at_epsilon["printed"] == printed], self.exhibit.metric)
            _dress_panel(axes, epsilon, self.exhibit.metric)
        names = [textwrap.fill(name, _LONGEST_NAME) for name in label_names(self.paper, pairs)]
        panels[0].set_yticks(range(len(pairs)), names)
        panels[0].set_ylim(len(pairs) - 0.5, -0.65)
        for axes in panels[-n_columns:]:
            axes.tick_params(axis="x", labelbottom=True)
        words = textwrap.fill(f"along the bottom: {self._name_unit()}", _LONGEST_KEY)
        unit = style.make_key(words, linestyle="none")
        style.write_shortfall(panels[0], frame, pad=22)
        n_sets = frame.loc[frame["dataset"] != "", "dataset"].nunique()
        style.add_legend(drawn, "outside lower left", handles=[*_make_keys(n_sets), unit])
        style.write_title(drawn, panels[n_columns - 1], self.exhibit.title)
        return drawn

    def sum_up(self, frame: pd.DataFrame) -> str:
        """Say how often the sound variant gains in the mean over the data sets, and where it loses and gains most."""
        means = frame[(frame["dataset"] == "") & frame["gain"].notna()]
        if means.empty:
            return ""
        ends = []
        for word, row in (("the least is", means["gain"].idxmin()), ("the most", means["gain"].idxmax())):
            one = means.loc[row]
            (name,) = label_names(self.paper, [one["printed"]])
            ends.append(f"{word} {self._format_gain(one['gain'])} ({name}, ε = {one['epsilon']:g})")
        n_gains = int((means["gain"] > 0).sum())
        gained = f"gains in {n_gains} of {len(means)} pairs of an algorithm and an ε"
        return f"In the mean over the data sets the sound variant {gained}: {', '.join(ends)}."

    def _format_gain(self, gain: float) -> str:
        if is_error(self.exhibit.metric):
            return f"an error divided by {2**gain:.2g}"
        return f"{scale_value(self.exhibit.metric, gain):+.1f} points".replace("-", "−")

    def _compare(self, rows: pd.DataFrame, pair: Mapping[str, Any], sets: Sequence[str]) -> list[dict]:
        """Compare a pair at one ε: on each data set, and in the mean over them."""
        privacy = _sum_up_privacy(_read_reports(rows, pair["printed"]), _read_reports(rows, pair["sound"]))
        center = self.paper.center_of(self.exhibit.metric)
        records = []
        for dataset in sets:
            gain = self._measure_gain(rows[rows["dataset"] == dataset], pair["printed"], pair["sound"], center)
            records.append({**pair, "dataset": dataset, **gain, **privacy, "n_expected": self.paper.repeats})
        mean = float(np.mean([record["gain"] for record in records]))  # NaN where a data set has no answer
        over_all = {"dataset": "", "gain": mean, "low": math.nan, "high": math.nan, "n": 0}
        return [*records, {**pair, **over_all, **privacy, "n_expected": 0}]

    def _measure_gain(self, rows: pd.DataFrame, printed: str, sound: str, center: str) -> dict[str, Any]:
        wide = rows.pivot(index="repeat", columns="algorithm", values=self.exhibit.metric)
        wide = wide.reindex(columns=[printed, sound]).dropna()
        gains = np.log2(wide[printed] / wide[sound]) if is_error(self.exhibit.metric) else wide[sound] - wide[printed]
        interval = center_interval(center, gains.to_numpy())
        return {"gain": interval.center, "low": interval.low, "high": interval.high, "n": interval.n}

    def _name_unit(self) -> str:
        if is_error(self.exhibit.metric):
            return f"{label_axis(self.paper, self.exhibit.metric)}: printed / sound, more than 1 is a gain"
        return f"{label_axis(self.paper, self.exhibit.metric).removesuffix(' (%)')}: sound less printed, in points"


def _read_reports(rows: pd.DataFrame, algorithm: str) -> list[dict]:
    return distinct_privacy_reports(rows[rows["algorithm"] == algorithm].get("privacy", ()))


def _sum_up_privacy(printed: list[dict], sound: list[dict]) -> dict[str, Any]:
    """Return the most that both account for, between neighbours as the printed one means them."""
    neighbours = printed[0]["neighbours"] if printed else ""
    same = [float(report["accounted"][neighbours]) for report in sound] if printed else []
    largest = pd.DataFrame(printed, columns=["accounted_epsilon", "noisy_epsilon"]).astype(float).max()
    return {
        "accounted": largest["accounted_epsilon"],
        "noisy": largest["noisy_epsilon"],
        "neighbours": neighbours,
        "sound_accounted": max(same, default=math.nan),
    }


def _draw_pair(axes: style.Axes, place: int, rows: pd.DataFrame, metric: str) -> None:
    single, (mean,) = rows[rows["dataset"] != ""], rows[rows["dataset"] == ""].to_dict("records")
    gains, low, high = scale_value(metric, single[["gain", "low", "high"]].to_numpy()).T
    places = place + np.linspace(-0.22, 0.22, len(single)) if len(single) > 1 else [place]
    axes.hlines(places, low, high, colors=style.QUALITATIVE[4], linewidth=0.9, alpha=0.6)
    axes.plot(gains, places, marker="o", markersize=3.2, linestyle="none", color=style.QUALITATIVE[4], zorder=3)
    color = style.QUALITATIVE[2] if mean["gain"] >= 0 else style.QUALITATIVE[1]
    axes.plot([scale_value(metric, mean["gain"])], [place], color=color, zorder=4, **_MEAN)
    words: dict[str, Any] = {"ha": "right", "va": "center"}
    words["bbox"] = {"facecolor": style.PAPER, "edgecolor": "none", "pad": 0.5}
    axes.text(0.995, place - 0.36, _format_paid(mean), transform=axes.get_yaxis_transform(), **words)


def _dress_panel(axes: style.Axes, epsilon: float, metric: str) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator, SymmetricalLogLocator

    axes.axvline(0, color=style.INK, linewidth=0.9, zorder=1)
    axes.set_title(f"claimed ε = {epsilon:g}")
    style.dress_axes(axes, "x")
    if is_error(metric):  # logarithmic beyond a factor of two: a data set may gain thousands
        axes.set_xscale("symlog", linthresh=1.0)
        axes.xaxis.set_major_locator(SymmetricalLogLocator(base=10, linthresh=1.0))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{2**x:g}" if x >= 0 else f"1/{2**-x:g}"))
    else:
        axes.xaxis.set_major_locator(MaxNLocator(3))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:+g}" if x else "0"))


def _format_paid(row: Mapping[str, Any]) -> str:
    """Return what the printed one accounts for, and the sound one where that is not what it claims."""
    if math.isnan(row["accounted"]):
        return MISSING
    noisy = f"; {row['noisy']:.3g} with noise" if math.isfinite(row["noisy"]) else ""
    printed = f"∞{noisy}" if math.isinf(row["accounted"]) else f"{row['accounted']:.3g}"
    is_other = row["sound_accounted"] > row["epsilon"] * (1 + 1e-9)
    return printed + (f"; sound {row['sound_accounted']:.3g}" if is_other else "")


def _make_keys(n_sets: int) -> list[Any]:
    dot: dict[str, Any] = {"color": style.QUALITATIVE[4], "marker": "o", "markersize": 3.2, "linewidth": 0.9}
    return [
        style.make_key(f"mean over {n_sets} data sets: a gain", color=style.QUALITATIVE[2], **_MEAN),
        style.make_key("a loss", color=style.QUALITATIVE[1], **_MEAN),
        style.make_key("one data set, 95 % interval", **dot),
        style.make_key(_TEXT, linestyle="none"),
    ]
