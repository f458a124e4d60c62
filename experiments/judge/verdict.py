"""The verdicts, their signs, and how sizes and settings are said."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from operator import attrgetter
from typing import Any

from experiments.config.finding import Sign
from experiments.config.setting import describe_setting, drop_entries
from experiments.metrics.find import is_in_per_cent


class Verdict(StrEnum):
    """What is found of a claim or of a printed number, the most telling first; each has a sign.

    Examples
    --------
    >>> Verdict("in part").sign.value, Verdict.REFUTED == "refuted"
    ('depends', True)
    """

    sign: Sign
    #: How little is known of a printed number, where that does not speak against it.
    doubt: int

    #: Of claims: as claimed in each setting. Of numbers: where ours predict it.
    REPRODUCED = "reproduced", Sign.HOLDS, 0
    #: Of numbers: outside of what ours predict, by less than δ.
    REPRODUCED_WITHIN = "reproduced within ± δ", Sign.HOLDS, 1
    REFUTED = "refuted", Sign.FAILS
    #: Of claims: in no setting is there a difference that matters.
    EQUAL = "practically equal", Sign.FAILS
    #: Of claims: what is printed contradicts itself, whatever is run.
    INCONSISTENT = "inconsistent in print", Sign.FAILS
    #: Of claims: as claimed in some settings, in the others there is no difference that matters.
    IN_PART = "in part", Sign.DEPENDS
    #: Of claims: the natural readings of the text come to different verdicts.
    DEPENDS_ON_READING = "depends on the reading", Sign.DEPENDS
    #: Of numbers: it depends on how many runs the printed one is a mean of.
    DEPENDS_ON_RUNS = "depends on how many runs were averaged", Sign.DEPENDS
    #: After as many repeats as were run: the effect is known within an interval only.
    UNDECIDED = "undecided", Sign.OPEN, 4
    #: Of numbers: the print's own noise is so wide that no number of repeats could tell.
    TOO_COARSE = "print too coarse", Sign.OPEN, 2
    #: Of numbers: printed without their setting, and some setting may have given them.
    SETTING_LOST = "setting lost", Sign.OPEN, 3
    NOT_IMPLEMENTED = "not implemented", Sign.OPEN, 6
    #: No cell answers.
    NOT_RUN = "not run", Sign.OPEN, 5

    def __new__(cls, words: str, sign: Sign = Sign.OPEN, doubt: int = -1) -> Verdict:
        """Return the verdict of some words."""
        verdict = str.__new__(cls, words)
        verdict._value_ = words
        verdict.sign, verdict.doubt = sign, doubt
        return verdict

    @property
    def finer(self) -> str:
        """The verdict where it says more than its sign; else nothing."""
        return "" if self in (Verdict.REPRODUCED, Verdict.REFUTED, Verdict.UNDECIDED) else self.value


OUTSIDE = (Verdict.REFUTED, Verdict.REPRODUCED_WITHIN)
"""Of printed numbers: they lie outside of what ours predict."""


def find_least_known(verdicts: Iterable[str]) -> Verdict:
    """Return the verdict, of some that do not speak against a paper, about which least is known.

    Examples
    --------
    >>> find_least_known(["reproduced", "undecided", "print too coarse"]).value
    'undecided'
    """
    return max(map(Verdict, verdicts), key=attrgetter("doubt"))


def half_digit(metric: str, decimals: int) -> float:
    """Return half a unit of the last printed digit, on the scale of the files.

    Examples
    --------
    >>> f"{half_digit('accuracy', 3):.1e}", half_digit("mse", 0)
    ('5.0e-06', 0.5)
    """
    return 0.5 * 10.0 ** -(decimals + (2 if is_in_per_cent(metric) else 0))


_EFFECT_KEYS = ("part", "effect", "low", "high", "margin", "share_won", "n")


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
