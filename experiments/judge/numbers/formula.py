"""Printed numbers that a printed formula gives: ``statistic = formula``, which no run decides.

Their metric names a function of `experiments.judge.statements`, their setting its arguments.
"""

from __future__ import annotations

import math
from typing import Any

from experiments.config.paper import PaperError
from experiments.errors import BadInput
from experiments.judge.numbers.number_verdict import NumberVerdict, format_difference, slack_of
from experiments.judge.numbers.printed import PrintedNumber, is_blank
from experiments.judge.statements.finding import find_function
from experiments.judge.verdict import REFUTED, REPRODUCED
from experiments.stats import Interval


def judge_formula(number: PrintedNumber) -> NumberVerdict:
    """Judge a number by its formula: it must be what the formula's value is rounded to.

    Raises
    ------
    PaperError
        If its metric names no function, or its setting not the arguments.
    """
    given: dict[str, Any] = {}
    for name, value in number.setting.items():
        if not is_blank(value) and name not in ("dataset", "algorithm"):
            given[name.removeprefix("params.")] = value
    try:
        value = float(find_function(number.metric, given)(**given))
    except BadInput as error:
        raise PaperError(f"printed number {number.id!r}: {error}") from None
    computed = Interval(1, value, math.nan, math.nan)
    if abs(value - number.value) > slack_of(number):
        return NumberVerdict(REFUTED, f"computed, {format_difference(number, value)}", 1, computed)
    return NumberVerdict(REPRODUCED, f"computed, {value:.4f}", 1, computed)
