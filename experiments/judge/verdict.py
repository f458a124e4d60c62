"""The verdicts, their signs, and how sizes and settings are said."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from experiments.config.finding import Sign
from experiments.config.setting import describe_setting, drop_entries
from experiments.metrics.find import is_in_per_cent

REPRODUCED = "reproduced"
REPRODUCED_WITHIN = "reproduced within ± δ"
"""Every part holds or is practically equal, and some are equal."""
EQUAL = "practically equal"
"""No part differs by more than δ."""
REFUTED = "refuted"
ONLY_UNDER_READING = "only under a reading"
"""Of claims: our default reading of the text refutes it, another bears it out."""
DEPENDS_ON_AVERAGE = "depends on the average"
"""Of claims: the mean says one thing, most runs say another."""
DEPENDS_ON_RUNS = "depends on how many runs were averaged"
"""Of numbers: refuted for some numbers of runs that the text allows it to be a mean of, and not for others."""
UNDECIDED = "undecided"
"""After as many repeats as were run: the effect is known within an interval only."""
TOO_COARSE = "print too coarse"
"""Of numbers: the print's own noise is so wide that no number of repeats could tell."""
SETTING_LOST = "setting lost"
"""Of numbers: printed without their setting, and some setting may have given them."""
INCONSISTENT = "inconsistent in print"
"""Of claims: what is printed contradicts itself, whatever is run."""
NOT_IMPLEMENTED = "not implemented"
NOT_RUN = "not run"
"""No cell answers."""

SIGN_OF = {
    REPRODUCED: Sign.HOLDS,
    REPRODUCED_WITHIN: Sign.HOLDS,
    ONLY_UNDER_READING: Sign.DEPENDS,
    DEPENDS_ON_AVERAGE: Sign.DEPENDS,
    DEPENDS_ON_RUNS: Sign.DEPENDS,
    REFUTED: Sign.FAILS,
    EQUAL: Sign.FAILS,
    INCONSISTENT: Sign.FAILS,
    UNDECIDED: Sign.OPEN,
    TOO_COARSE: Sign.OPEN,
    SETTING_LOST: Sign.OPEN,
    NOT_IMPLEMENTED: Sign.OPEN,
    NOT_RUN: Sign.OPEN,
}
"""The sign of each verdict. Who claims that one is better is not borne out where both are practically equal."""


def half_digit(metric: str, decimals: int) -> float:
    """Return half a unit of the last printed digit, on the scale of the files.

    Examples
    --------
    >>> f"{half_digit('accuracy', 3):.1e}", half_digit("mse", 0)
    ('5.0e-06', 0.5)
    """
    return 0.5 * 10.0 ** -(decimals + (2 if is_in_per_cent(metric) else 0))


_EFFECT_KEYS = ("part", "effect", "low", "high", "margin", "share_won", "n", "state")


def setting_of(effect: Mapping[str, Any]) -> dict[str, Any]:
    """Return the setting of a group or step of a claim, without the numbers about it.

    Examples
    --------
    >>> setting_of({"dataset": "car", "epsilon": 1.0, "effect": 0.1, "n": 10})
    {'dataset': 'car', 'epsilon': 1.0}
    """
    return drop_entries(effect, _EFFECT_KEYS)


def format_effect(metric: str, effect: Mapping[str, Any]) -> str:
    """Return an effect with its interval as text, in percentage points where the metric is printed in per cent.

    It has ``effect``, ``low`` and ``high``; a single run has no interval.

    Examples
    --------
    >>> format_effect("accuracy", {"effect": 0.0125, "low": -0.001, "high": 0.026})
    '+1.25 points (-0.10 to +2.60)'
    >>> format_effect("mse", {"effect": -0.00123, "low": -0.002, "high": 0.0})
    '-0.00123 (-0.002 to +0)'
    >>> format_effect("accuracy", {"effect": 0.0125, "low": math.nan, "high": math.nan})
    '+1.25 points'
    """
    scale, form, unit = (100, ".2f", " points") if is_in_per_cent(metric) else (1, ".3g", "")
    center, low, high = (f"{scale * effect[name]:+{form}}" for name in ("effect", "low", "high"))
    return f"{center}{unit}" if math.isnan(effect["low"]) else f"{center}{unit} ({low} to {high})"


def name_setting(setting: Mapping[str, Any]) -> str:
    """Return a setting as a reader names it. Bands know settings by `describe_setting`, which has no Greek.

    Examples
    --------
    >>> name_setting({"dataset": "car", "params.max_depth": 3, "epsilon": 1.0, "params.tree_epsilon": 0.5})
    'car, max_depth = 3, ε = 1, tree_epsilon = 0.5'
    """
    return re.sub(r"\bepsilon = ", "ε = ", describe_setting(setting))


def describe_place(effect: Mapping[str, Any]) -> str:
    """Return the setting of a group, and the part of the claim that an effect is about, as a name.

    Examples
    --------
    >>> describe_place({"dataset": "car", "part": "step 2", "effect": 0.1}), describe_place({"effect": 0.1})
    ('car, step 2', 'its one setting')
    """
    words = [name_setting(setting_of(effect)), effect.get("part", "")]
    return ", ".join(filter(None, words)) or "its one setting"


def say_where(effect: Mapping[str, Any]) -> str:
    """Return the same as words behind a verb, with a blank before them; nothing where there is one setting alone.

    Examples
    --------
    >>> "fails" + say_where({"dataset": "car", "epsilon": 1.0, "part": "step 2", "effect": 0.1})
    'fails on car at ε = 1, step 2'
    >>> say_where({"params.max_depth": 3, "epsilon": math.inf}), say_where({"effect": 0.1})
    (' at max_depth = 3 without noise', '')
    """
    words, values = [], []
    for name, value in setting_of(effect).items():
        text = name_setting({name: value})
        if name in ("dataset", "algorithm"):
            words.append(f"on {text}")
        elif text != "no noise":
            values.append(text)
    words += [f"at {' and '.join(values)}"] if values else []
    words += ["without noise"] if effect.get("epsilon") == math.inf else []
    where = " ".join(words)
    return (f" {where}" if where else "") + (f", {effect['part']}" if effect.get("part") else "")


def say_share(share: float) -> str:
    """Return a share in per cent."""
    return f"{100 * share:.0f} %"


def count_runs(n: int) -> str:
    """Return a number of runs."""
    return "1 run" if n == 1 else f"{n:,} runs"
