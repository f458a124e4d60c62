"""Names and numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from experiments.judge.verdict import (
    INCONSISTENT,
    NOT_REPRODUCED,
    NOT_RUN,
    NOT_TESTABLE,
    ONLY_UNDER_READING,
    REPRODUCED,
    is_in_per_cent,
)

MISSING = "—"
SIGNS = {
    REPRODUCED: "✓",
    ONLY_UNDER_READING: "◐",
    NOT_REPRODUCED: "✗",
    INCONSISTENT: "≠",
    NOT_TESTABLE: "?",
    NOT_RUN: "—",
}
OF_NUMBERS = (REPRODUCED, NOT_REPRODUCED, NOT_TESTABLE, NOT_RUN)  # the others are verdicts on claims


def label(paper: Mapping, name: str) -> str:
    """Return the readable name of a column, data set, algorithm or metric; the paper's ``labels`` come first.

    Examples
    --------
    >>> label({"labels": {"rdt": "RDT"}}, "rdt"), label({}, "params.max_depth")
    ('RDT', 'max_depth')
    """
    return (paper.get("labels") or {}).get(name, name.removeprefix("params."))


def value_label(paper: Mapping, value) -> str:
    """Return a value of an axis as text.

    Examples
    --------
    >>> [value_label({}, value) for value in (3.0, 0.05, 1.0, float("inf"), "adult", True)]
    ['3', '0.05', '1', 'no noise', 'adult', 'True']
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return label(paper, str(value))
    return "no noise" if math.isinf(value) else f"{value:g}"


def axis_labels(paper: Mapping, name: str, values: list) -> list[str]:
    """Return the values of one axis as text; the ε of one axis share their number of decimals if they are of one size.

    Examples
    --------
    >>> axis_labels({}, "epsilon", [0.05, 1.0, float("inf")])
    ['0.05', '1.00', 'no noise']
    >>> axis_labels({}, "epsilon", [0.1, 10.0, 1000.0])
    ['0.1', '10', '1000']
    """
    if name == "metric":
        return [metric_label(paper, value) for value in values]
    numbers = [value for value in values if name == "epsilon" and math.isfinite(value)]
    if not numbers or max(numbers) > 100 * min(numbers):
        return [value_label(paper, value) for value in values]
    finite = [f"{value:g}" for value in numbers]
    decimals = max((len(text.partition(".")[2]) for text in finite if "e" not in text), default=0)
    return [f"{value:.{decimals}f}" if math.isfinite(value) else "no noise" for value in values]


def metric_label(paper: Mapping, metric: str) -> str:
    """Return the readable name of a metric with its unit.

    Examples
    --------
    >>> metric_label({}, "accuracy"), metric_label({}, "recall_acc"), metric_label({}, "unit_mse")
    ('accuracy (%)', 'recall, acc (%)', 'unit_mse')
    """
    name = label(paper, metric)
    return f"{name.replace('_', ', ', 1)} (%)" if is_in_per_cent(metric) else name


def scaled(metric: str, value: float) -> float:
    """Return a stored value on the scale on which papers print it."""
    return 100 * value if is_in_per_cent(metric) else value


def number(metric: str, value: float, decimals: int) -> str:
    """Return a stored value as printed, or a dash where there is none; of thousands nobody wants decimals.

    Examples
    --------
    >>> number("accuracy", 0.84162, 3), number("mse", 0.5, 2), number("accuracy", float("nan"), 3)
    ('84.162', '0.50', '—')
    >>> number("r2", -12345.6, 3), number("r2", -1.5e9, 3), number("rows", 53940, 0)
    ('-12,346', '-1.5e+09', '53940')
    """
    if _absent(value):
        return MISSING
    shown = scaled(metric, value)
    return f"{shown:.{decimals}f}" if abs(shown) < 1000 or not decimals else large(shown)


def large(value: float) -> str:
    """Return a number of at least a thousand in few characters.

    Examples
    --------
    >>> large(-12345.6), large(1.5e9)
    ('-12,346', '1.5e+09')
    """
    return f"{value:,.0f}" if abs(value) < 1e5 else f"{value:.1e}"


def interval(metric: str, low: float, high: float, decimals: int) -> str:
    """Return an interval as text; nothing where there is none.

    Examples
    --------
    >>> interval("accuracy", 0.84, 0.85, 1)
    '84.0 to 85.0'
    """
    if _absent(low) or _absent(high):
        return ""
    return f"{number(metric, low, decimals)} to {number(metric, high, decimals)}"


def setting(paper: Mapping, row: Mapping) -> str:
    """Return the setting of a printed number in words.

    Examples
    --------
    >>> setting({}, {"dataset": "adult", "params.max_depth": 3.0, "epsilon": float("inf")})
    'adult, max_depth = 3, no noise'
    """
    words = []
    for name, value in row.items():
        if name == "dataset":
            words.append(value_label(paper, value))
        elif (name == "epsilon" or name.startswith("params.")) and not _absent(value):
            text = value_label(paper, value)
            words.append(text if text == "no noise" else f"{label(paper, name)} = {text}")
    return ", ".join(words)


def _absent(value) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
