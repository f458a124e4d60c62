"""Curves of results: a mean with its interval at each value of a setting, a line for each value of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from experiments.cells.grid import are_numbers
from experiments.errors import BadInput, suggest_name
from experiments.metrics.find import find_metric
from experiments.python_api import refuses_bad_input
from experiments.python_api.results import ABOUT_RUNS
from experiments.stats import mean_interval
from experiments.store.study_rows import match_column
from plots.drawing import panel
from plots.labels import NO_LABELS, label_axis, label_name, label_values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

"""Beside no paper, names stand as they are."""


@refuses_bad_input
def plot_curves(
    frame: pd.DataFrame,
    x: str = "epsilon",
    by: str = "algorithm",
    *,
    metric: str | None = None,
    axes: Axes | None = None,
) -> Axes:
    """Draw results as curves: the mean over repeats at each value of ``x``, a line for each value of ``by``.

    Parameters
    ----------
    frame : DataFrame
        Results as from `load_results` or `run`, of one setting but for the columns ``x`` and ``by``.
    x, by : str
        Columns of settings, such as ``"epsilon"``, ``"algorithm"``, ``"dataset"`` or ``"params.max_depth"``.
    metric : str, optional
        What is drawn; ``accuracy`` or ``mse``, whichever there is, if left out.
    axes : matplotlib Axes, optional
        Where to draw; a figure of its own if left out.

    Returns
    -------
    matplotlib Axes
        With the 95 % interval of each mean as a bar.

    Raises
    ------
    BadInput
        If a column or metric is not there, or a point would mix settings: another column has several values.

    Examples
    --------
    >>> rows = [("rdt", 0.1, 0, 0.5), ("rdt", 0.1, 1, 0.6), ("rdt", 1.0, 0, 0.8), ("rdt", 1.0, 1, 0.9)]
    >>> frame = pd.DataFrame(rows, columns=["algorithm", "epsilon", "repeat", "value"]).assign(metric="accuracy")
    >>> axes = plot_curves(frame)
    >>> axes.get_xlabel(), axes.get_ylabel(), len(axes.lines) > 0
    ('ε', 'accuracy (%)', True)
    """
    if not isinstance(frame, pd.DataFrame) or "metric" not in frame or frame["metric"].isna().all():
        raise BadInput(
            "there are no results to draw: give a frame as from run or load_results, with cells that are done"
        )
    metric = metric or next((name for name in ("accuracy", "mse") if (frame["metric"] == name).any()), None)
    rows = _select_rows(frame, x, by, metric)
    xs, lines = _order(rows[x]), _order(rows[by])
    drawn_on = axes if axes is not None else _make_axes()
    drawn, every = [], []
    for i, (value, text) in enumerate(zip(lines, label_values(NO_LABELS, by, lines), strict=True)):
        series = _summarise(rows[match_column(rows[by], value)], x, xs)
        every.append(series)
        look = panel.choose_look(value, i, lines)
        drawn.append(panel.PanelLine(text, look if are_numbers(xs) else look | {"linewidth": 0}, series))
    limits = panel.Limits()
    handles, _ = panel.draw_panel(drawn_on, drawn, range(len(xs)), limits, are_apart=not are_numbers(xs))
    drawn_on.set_xticks(range(len(xs)), label_values(NO_LABELS, x, xs))
    drawn_on.set_xlabel(label_name(NO_LABELS, x))
    drawn_on.set_ylabel(label_axis(NO_LABELS, str(metric)))
    panel.dress_panel(drawn_on, xs, limits, None)
    points = pd.concat(every)
    line = label_name(NO_LABELS, by)
    handles += panel.make_explanations(points, [], line)
    legend = {"handles": handles, "title": line, "frameon": False, "handlelength": 3.2}
    drawn_on.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), alignment="left", **legend)
    return drawn_on


def _make_axes() -> Axes:
    """Return axes of a figure of their own, by pyplot, which a notebook shows by itself."""
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(figsize=(8.4, 5.0), layout="constrained")
    return axes


def _select_rows(frame: pd.DataFrame, x: str, by: str, metric: str | None) -> pd.DataFrame:
    """Return the rows of a metric; BadInput where a point would mix settings."""
    for name in (x, by, "metric", "value"):
        if name not in frame.columns:
            raise BadInput(f"there is no column {name!r}; {suggest_name(name, frame.columns)}")
    if x == by:
        raise BadInput(f"x and by are both {x!r}: choose two columns")
    rows = frame[(frame["metric"] == metric) & frame["value"].notna()]
    if rows.empty:
        raise BadInput(f"there is no metric {metric!r}; {suggest_name(str(metric), frame['metric'].dropna().unique())}")
    for name in rows.columns.difference([x, by, *ABOUT_RUNS]):
        within = rows.groupby([x, by], dropna=False)[name].nunique(dropna=False)
        if (within > 1).any():
            values = ", ".join(map(str, rows[name].unique()[:4]))
            raise BadInput(f"{name} has several values ({values}) at one point: choose one, or draw it by {name}")
    if "repeat" in rows and rows.duplicated([x, by, "repeat"]).any():
        raise BadInput("a point has one repeat twice: choose rows that are current, or of one version")
    return rows


def _order(values: pd.Series) -> list:
    """Return the values of an axis, a missing one as None and first, numbers from the smallest on."""
    distinct = values.dropna().drop_duplicates().tolist()
    return [None] * bool(values.isna().any()) + (sorted(distinct) if are_numbers(distinct) else distinct)


def _summarise(rows: pd.DataFrame, x: str, xs: list) -> pd.DataFrame:
    points = []
    bounds = find_metric(rows["metric"].iloc[0]).range
    for value in xs:
        interval = mean_interval(rows.loc[match_column(rows[x], value), "value"].to_numpy(), bounds)
        points.append({"mean": interval.center, "ci_low": interval.low, "ci_high": interval.high, "n": interval.n})
    return pd.DataFrame(points).assign(metric=rows["metric"].iloc[0], printed=float("nan"))
