"""Format names and numbers for readers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from experiments.config.finding import AccountSign, AnySign, FinerSign, Sign
from experiments.config.paper import Paper
from experiments.judge.numbers.number_verdict import is_blank
from experiments.judge.verdict import Verdict
from experiments.judge.words import MISSING, find_label, name_setting, name_value
from experiments.metrics.find import is_in_per_cent
from experiments.metrics.metric import STANDARD_ERROR
from experiments.metrics.scikit_learn import find_scikit_learn

#: How each sign is written: never by its colour alone.
SYMBOLS: dict[AnySign, str] = {
    Sign.HOLDS: "✓",
    FinerSign.WITHIN: "≈",
    FinerSign.IN_PART: "◔",
    Sign.DEPENDS: "◐",
    Sign.FAILS: "✗",
    Sign.OPEN: "?",
    AccountSign.UNAUDITED: "✎",
}
#: What colour a sign has on pages and on the terminal.
TONES: dict[AnySign, str] = {
    Sign.HOLDS: "good",
    FinerSign.WITHIN: "mixed",
    FinerSign.IN_PART: "mixed",
    Sign.DEPENDS: "mixed",
    Sign.FAILS: "bad",
    Sign.OPEN: "open",
    AccountSign.UNAUDITED: "open",
}
#: What stands for a paper where there is none: names are called as the code calls them.
NO_LABELS = Paper.model_construct(number=0, title="", studies={})
# How axes call metrics whose paper has no name for them.
_METRICS = {"r2": "R²", "mse": "squared error", "unit_mse": "squared error, target in [0, 1]"}


def find_symbol(given: str) -> str:
    """Return how the sign of a verdict is written; nothing if it is no verdict.

    Examples
    --------
    >>> find_symbol("reproduced within ± δ"), find_symbol("setting lost"), find_symbol("")
    ('≈', '?', '')
    """
    return SYMBOLS[Verdict(given).shown] if given in set(Verdict) else ""


def label_name(paper: Paper, name: str) -> str:
    """Return the readable name of a column, data set, algorithm or metric; the paper's ``labels`` come first.

    Examples
    --------
    >>> study = {"dataset": "car", "algorithm": "rdt"}
    >>> paper = Paper(number=0, title="T", studies={"grid": study}, labels={"rdt": "RDT"})
    >>> label_name(paper, "rdt"), label_name(paper, "params.max_depth")
    ('RDT', 'max_depth')
    """
    return find_label(name, paper.labels)


def label_names(paper: Paper, names: Iterable[str]) -> list[str]:
    """Return the readable names of some; see `label_name`."""
    return [label_name(paper, name) for name in names]


def label_value(paper: Paper, value: Any) -> str:
    """Return a value of an axis as text; see `name_value`."""
    return name_value(value, paper.labels)


def label_choice(paper: Paper, name: str, value: str) -> str:
    """Return a choice of a reading with its value, without the names that the code has for them.

    Examples
    --------
    >>> study = {"dataset": "car", "algorithm": "rdt"}
    >>> paper = Paper(number=0, title="T", studies={"grid": study}, labels={"params.scale": "unit", "None": "raw"})
    >>> [label_choice(paper, *one) for one in (("epsilon", "inf"), ("scale", "null"), ("common_noise", "True"))]
    ['ε: no noise', 'unit: raw', 'common noise: yes']
    """
    what = find_label(name, paper.labels)
    what = paper.labels.get(f"params.{name}", what)
    words = {"inf": "no noise", "null": paper.labels.get("None", "none"), "True": "yes", "False": "no"}
    return f"{what.replace('_', ' ')}: {paper.labels.get(value, words.get(value, value.replace('_', ' ')))}"


def label_values(paper: Paper, axis: str, values: Sequence) -> list[str]:
    """Return the values of one axis as text; the ε of one axis share their number of decimals if they are of one size.

    Examples
    --------
    >>> paper = Paper(number=0, title="T", studies={"grid": {"dataset": "car", "algorithm": "rdt"}})
    >>> label_values(paper, "epsilon", [0.05, 1.0, float("inf")])
    ['0.05', '1.00', 'no noise']
    >>> label_values(paper, "epsilon", [0.1, 10.0, 1000.0])
    ['0.1', '10', '1000']
    """
    if axis == "metric":
        return [label_metric(paper, value) for value in values]
    decimals = _find_common_decimals(values) if axis == "epsilon" else None
    texts = []
    for value in values:
        is_aligned = decimals is not None and math.isfinite(value)
        texts.append(f"{value:.{decimals}f}" if is_aligned else label_value(paper, value))
    return texts


def _find_common_decimals(epsilons: Sequence[float]) -> int | None:
    """Return how many decimals show every finite ε in full; None if there is none, or they differ much in size."""
    finite = list(filter(math.isfinite, epsilons))
    if not finite or max(finite) > 100 * min(finite):
        return None
    texts = [f"{value:g}" for value in finite]
    return max((len(text.partition(".")[2]) for text in texts if "e" not in text), default=0)


def label_metric(paper: Paper, metric: str) -> str:
    """Return the readable name of a metric with its unit.

    Examples
    --------
    >>> paper = Paper(number=0, title="T", studies={"grid": {"dataset": "car", "algorithm": "rdt"}})
    >>> label_metric(paper, "accuracy"), label_metric(paper, "recall_acc"), label_metric(paper, "unit_mse")
    ('accuracy (%)', 'recall, acc (%)', 'unit_mse')
    >>> label_metric(paper, "recall_macro"), label_metric(paper, "accuracy_se")
    ('recall_macro (%)', 'standard error of accuracy (%)')
    """
    name = label_name(paper, metric)
    if (of_folds := metric.removesuffix(STANDARD_ERROR)) != metric and name == metric:
        return f"standard error of {label_metric(paper, of_folds)}"
    if find_scikit_learn(metric) is None and name.startswith(("precision_", "recall_")):
        name = name.replace("_", ", ", 1)  # of a class
    return f"{name} (%)" if is_in_per_cent(metric) else name


def label_axis(paper: Paper, metric: str) -> str:
    """Return how an axis calls a metric: as `label_metric`, but in words, too, where the paper has no name for it.

    Examples
    --------
    >>> paper = Paper(number=0, title="T", studies={"grid": {"dataset": "car", "algorithm": "rdt"}})
    >>> label_axis(paper, "recall_macro"), label_axis(paper, "r2")
    ('recall macro (%)', 'R²')
    """
    label = label_metric(paper, metric)
    return label if metric in paper.labels else _METRICS.get(metric, label.replace("_", " "))


def scale_value(metric: str, value: Any) -> Any:
    """Return a stored value, or an array of them, on the scale on which papers print the metric."""
    return 100 * value if is_in_per_cent(metric) else value


def format_number(metric: str, value: Any, decimals: int) -> str:
    """Return a stored value as printed, or a dash where there is none; of thousands nobody wants decimals.

    Examples
    --------
    >>> format_number("accuracy", 0.84162, 3), format_number("mse", 0.5, 2), format_number("accuracy", math.nan, 3)
    ('84.162', '0.50', '—')
    >>> format_number("r2", -12345.6, 3), format_number("r2", -1.5e9, 3), format_number("rows", 53940, 0)
    ('-12,346', '-1.5e+09', '53940')
    """
    if is_blank(value):
        return MISSING
    scaled = scale_value(metric, value)
    return f"{scaled:.{decimals}f}" if abs(scaled) < 1000 or not decimals else format_large(scaled)


def format_large(value: float) -> str:
    """Return a number of at least a thousand in few characters, ``-12,346`` or ``1.5e+09``."""
    return f"{value:,.0f}" if abs(value) < 1e5 else f"{value:.1e}"


def format_interval(metric: str, low: Any, high: Any, decimals: int) -> str:
    """Return an interval as text; nothing where there is none.

    Examples
    --------
    >>> format_interval("accuracy", 0.84, 0.85, 1)
    '84.0 to 85.0'
    """
    if is_blank(low) or is_blank(high):
        return ""
    return f"{format_number(metric, low, decimals)} to {format_number(metric, high, decimals)}"


def label_result(paper: Paper, row: Mapping[str, Any]) -> str:
    """Return in words what a row of ``numbers.csv`` is a number of."""
    names = [name for name in row if name in ("dataset", "epsilon") or name.startswith("params.")]
    where = name_setting({name: row[name] for name in names if not is_blank(row[name])}, paper.labels)
    if row["statistic"] == "exact":
        return f"{where}: {row['metric']}"
    if row["statistic"] == "some":
        what = f"{label_name(paper, row['algorithm'])}: {label_metric(paper, row['metric'])}"
        return f"{what}, setting not printed, ours the nearest"
    if row["statistic"] == "max":
        return f"{where}: maximum"
    return f"{where}, {label_name(paper, row['algorithm'])}: {label_metric(paper, row['metric'])}"
