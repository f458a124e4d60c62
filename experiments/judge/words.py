"""A share, a value, an effect, a setting in words: each has one text, whoever says it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from numbers import Real
from types import MappingProxyType
from typing import Any

from experiments.config.setting import drop_entries
from experiments.metrics.find import is_in_per_cent

MISSING = "—"

_NAMES = {"epsilon": "ε", "dataset": "data set"}
_NO_LABELS: Mapping[str, str] = MappingProxyType({})


def format_share(share: float) -> str:
    """Return a share or a probability in per cent: in whole ones, with digits near 0 and 100; a dash for a missing one.

    It is rounded down, so that it stands on the same side of a threshold as the number itself, and what is not all, or
    not nothing, never reads so.

    Examples
    --------
    >>> [format_share(share) for share in (0.946, 0.9996, 0.0496, 0.0004, 3e-8, 0.29, 1, 0, math.nan)]
    ['94 %', '99.96 %', '4 %', '0.04 %', 'below 0.01 %', '29 %', '100 %', '0 %', '—']
    """
    if math.isnan(share):
        return MISSING
    if 0 < share < 1e-4:
        return "below 0.01 %"
    if 0.9999 < share < 1:
        return "above 99.99 %"
    from_end = round(min(share, 1 - share), 12) or 1  # to the nearer of 0 and 1, which have no digits themselves
    decimals = 0 if from_end >= 0.01 else 1 if from_end >= 0.001 else 2
    steps = math.floor(round(share * 10 ** (2 + decimals), 6))  # 0.29 is 28.999999999999996 %
    return f"{steps / 10**decimals:.{decimals}f} %"


def count_runs(n: int) -> str:
    """Return a number of runs."""
    return "1 run" if n == 1 else f"{n:,} runs"


def format_value(metric: str, value: float) -> str:
    """Return a value of a metric with four digits, in per cent where papers print it so.

    Examples
    --------
    >>> format_value("accuracy", 0.81234), format_value("accuracy", 0.9950), format_value("mse", 0.00123456)
    ('81.23 %', '99.5 %', '0.001235')
    """
    return f"{100 * value:.4g} %" if is_in_per_cent(metric) else f"{value:.4g}"


def format_difference(metric: str, difference: float, form: str = ".3g") -> str:
    """Return a difference, in points where the metric is printed in per cent.

    Examples
    --------
    >>> format_difference("accuracy", 0.0123), format_difference("accuracy", 0.01), format_difference("mse", -0.5)
    ('1.23 points', '1 point', '−0.5')
    >>> format_difference("accuracy", 0.0123, "+.1f")
    '+1.2 points'
    """
    if not is_in_per_cent(metric):
        return _format_signed(difference, form)
    points = _format_signed(100 * difference, form)
    return f"{points} point" if points == "1" else f"{points} points"


def format_effect(metric: str, effect: Mapping[str, Any]) -> str:
    """Return an effect with its interval, in points where the metric is printed in per cent.

    It has ``effect``, ``low`` and ``high``; a single run has no interval.

    Examples
    --------
    >>> format_effect("accuracy", {"effect": 0.0125, "low": -0.001, "high": 0.026})
    '+1.25 points (−0.10 to +2.60)'
    >>> format_effect("mse", {"effect": -0.00123, "low": -2e-7, "high": 0.0})
    '−0.00123 (−2e-07 to +0)'
    >>> format_effect("accuracy", {"effect": 0.0125, "low": math.nan, "high": math.nan})
    '+1.25 points'
    """
    form, scale = ("+.2f", 100) if is_in_per_cent(metric) else ("+.3g", 1)
    center = format_difference(metric, effect["effect"], form)
    if math.isnan(effect["low"]):
        return center
    low, high = (_format_signed(scale * effect[name], form) for name in ("low", "high"))
    return f"{center} ({low} to {high})"


def _format_signed(number: float, form: str) -> str:
    """Return a number with a minus that is as wide as a plus."""
    return re.sub("^-", "−", f"{number:{form}}")


def find_label(name: str, labels: Mapping[str, str] = _NO_LABELS) -> str:
    """Return the readable name of an axis, a data set, an algorithm or a metric: its label, if it has one.

    Examples
    --------
    >>> find_label("dataset"), find_label("params.max_depth"), find_label("rdt", {"rdt": "RDT"})
    ('data set', 'max_depth', 'RDT')
    """
    return labels.get(name, _NAMES.get(name, name.removeprefix("params.").removeprefix("protocol.")))


def name_value(value: Any, labels: Mapping[str, str] = _NO_LABELS) -> str:
    """Return a value of an axis.

    Examples
    --------
    >>> [name_value(value) for value in (3.0, 0.05, math.inf, "adult", True, None)]
    ['3', '0.05', 'no noise', 'adult', 'True', 'none']
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        text = "none" if value is None else str(value)
        return labels.get(text, text)
    return "no noise" if math.isinf(value) else format(value, "g")


def name_setting(setting: Mapping[str, Any], labels: Mapping[str, str] = _NO_LABELS) -> str:
    """Return values of some axes; those of data sets and algorithms speak for themselves.

    Files of bands have texts of their own, see `experiments.config.setting.describe_setting`.

    Examples
    --------
    >>> name_setting({"dataset": "car", "params.max_depth": 3.0, "params.scale": None, "epsilon": 1.0})
    'car, max_depth = 3, scale = none, ε = 1'
    >>> name_setting({"dataset": "adult", "epsilon": math.inf}, {"adult": "Adult"})
    'Adult, no noise'
    """
    words = []
    for name, value in setting.items():
        text = name_value(value, labels)
        is_plain = name in ("dataset", "algorithm") or (name, text) == ("epsilon", "no noise")
        words.append(text if is_plain else f"{find_label(name, labels)} = {text}")
    return ", ".join(filter(None, words))


def describe_place(place: Mapping[str, Any], labels: Mapping[str, str] = _NO_LABELS) -> str:
    """Return a setting that a claim speaks of, and the ``part`` of the claim that is meant, as a name.

    Examples
    --------
    >>> describe_place({"dataset": "car", "part": "step 2"}), describe_place({})
    ('car, step 2', 'its one setting')
    """
    words = [name_setting(drop_entries(place, ("part",)), labels), place.get("part", "")]
    return ", ".join(filter(None, words)) or "its one setting"


def describe_where(place: Mapping[str, Any]) -> str:
    """Return the same as words behind a verb, with a blank before them; nothing where there is one setting alone.

    Examples
    --------
    >>> "fails" + describe_where({"dataset": "car", "epsilon": 1.0, "part": "step 2"})
    'fails on car at ε = 1, step 2'
    >>> describe_where({"params.max_depth": 3, "epsilon": math.inf}), describe_where({})
    (' at max_depth = 3 without noise', '')
    """
    words, values = [], []
    for name, value in drop_entries(place, ("part",)).items():
        text = name_setting({name: value})
        if name in ("dataset", "algorithm"):
            words.append(f"on {text}")
        elif text != "no noise":
            values.append(text)
    words += [f"at {' and '.join(values)}"] if values else []
    words += ["without noise"] if place.get("epsilon") == math.inf else []
    where = " ".join(words)
    return (f" {where}" if where else "") + (f", {place['part']}" if place.get("part") else "")
