"""One printed number, the question that it is, and the verdict on it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from experiments.judge.verdict import Verdict
from experiments.judge.words import format_difference, name_setting
from experiments.metrics.find import find_metric, is_in_per_cent
from experiments.metrics.metric import MetricRange
from experiments.stats import Interval
from experiments.store.results import Results, SettingKey

NO_INTERVAL = Interval(0, math.nan, math.nan, math.nan)
STATISTICS = ("mean", "max", "exact", "formula", "some", "fitted")


@dataclass(frozen=True)
class PrintedNumber:
    """One number that a paper prints."""

    id: str
    #: The table or figure that prints it, which names its study.
    table: str
    #: What it measures; of a formula, the function of `experiments.statements` that gives it.
    metric: str
    #: One of `STATISTICS`: a mean of one setting, the largest mean of several, a counted fact, the value of a printed
    #: formula, the number of a setting that the paper does not state, or one whose formula is lost, so that ours was
    #: fitted to it.
    statistic: str
    #: As printed, but a fraction for metrics that are printed in per cent.
    value: float
    #: Of the printed text.
    decimals: int
    source: str
    #: Columns of the file that select cells: ``dataset``, ``algorithm``, ``epsilon``, ``params.<name>``; a blank is a
    #: setting that is not stated.
    setting: Mapping[str, Any]
    #: Every number of runs that it may be a mean of, where that differs from the paper's other numbers.
    runs: tuple[int, ...] = ()

    @property
    def dataset(self) -> str:
        """The data set that it is measured on."""
        return self.setting["dataset"]

    @property
    def algorithm(self) -> Any:
        """The algorithm that it is a result of; blank for facts of a data set."""
        return self.setting.get("algorithm")

    @property
    def slack(self) -> float:
        """How far it may be from what was rounded to it."""
        return half_digit(self.metric, self.decimals) * (1 + 1e-9)

    @property
    def bounds(self) -> MetricRange:
        """The range of its metric."""
        return find_metric(self.metric).range


def half_digit(metric: str, decimals: int) -> float:
    """Return half a unit of the last printed digit, on the scale of the files.

    Examples
    --------
    >>> f"{half_digit('accuracy', 3):.1e}", half_digit("mse", 0)
    ('5.0e-06', 0.5)
    """
    return 0.5 * 10.0 ** -(decimals + (2 if is_in_per_cent(metric) else 0))


def is_blank(value: Any) -> bool:
    """Return whether a column of the file is empty: the setting is not stated."""
    return value is None or (isinstance(value, float) and math.isnan(value))


@dataclass(frozen=True)
class NumberVerdict:
    """The verdict on a printed number."""

    verdict: Verdict
    reason: str
    #: Repeats that there should be.
    n_expected: int
    #: Our mean with its 95 % interval.
    mean: Interval = field(default=NO_INTERVAL)
    #: Where the paper's mean would fall.
    predicted: Interval = field(default=NO_INTERVAL)
    #: The two-sided chance of a printed value at least as far out, in [0, 1]; NaN where none is known.
    chance: float = math.nan
    #: By number m of runs that it may be a mean of, the verdict if it is; empty where it is no mean of runs.
    by_runs: Mapping[int, Verdict] = field(default_factory=dict)
    #: Whether more repeats of ours could decide it.
    needs_repeats: bool = False

    def to_row(self, number: PrintedNumber) -> dict:
        """Return the row of ``numbers.csv``."""
        identity = {"id": number.id, "table": number.table, **number.setting}
        printed = {"metric": number.metric, "statistic": number.statistic, "printed": number.value}
        return {
            **identity,
            **printed,
            "decimals": number.decimals,
            "mean": self.mean.center,
            "ci_low": self.mean.low,
            "ci_high": self.mean.high,
            "n": self.mean.n,
            "n_expected": self.n_expected,
            "prediction_low": self.predicted.low,
            "prediction_high": self.predicted.high,
            "detects": longer_side(self.predicted) + half_digit(number.metric, number.decimals),
            "difference": self.mean.center - number.value,
            "chance": self.chance,
            "verdict": self.verdict,
            "reason": self.reason,
            "verdicts_by_runs": format_by_runs(self.by_runs),
            "source": number.source,
        }


class AskedSetting(NamedTuple):
    """A setting that a printed number is or may be of, and whose repeats answer."""

    #: Values of axes; of a number without its setting those that vary.
    values: dict[str, Any]
    key: SettingKey

    @property
    def words(self) -> str:
        """The study and the values, the same of every algorithm."""
        return ", ".join(filter(None, [self.key.study, name_setting(self.values)]))


class FoundSetting(NamedTuple):
    """A setting with the metric of each of its repeats, one at least."""

    asked: AskedSetting
    values: np.ndarray


def find_values(settings: Sequence[AskedSetting], metric: str, results: Results) -> list[FoundSetting]:
    """Return those of some settings that have results, with these."""
    found = [FoundSetting(asked, results.find(asked.key, metric).measured) for asked in settings]
    return [setting for setting in found if len(setting.values)]


@dataclass(frozen=True)
class NumberQuestion:
    """A printed number, and what decides whether it is reproduced."""

    number: PrintedNumber
    #: The verdict, where no run is needed for it.
    known: NumberVerdict | None = None
    #: Of a number without its setting, the questions of all of its table that have the same one.
    together: tuple[NumberQuestion, ...] = ()
    #: What it is a mean of, or the maximum over, or may be a mean of.
    settings: tuple[AskedSetting, ...] = ()
    #: δ, the smallest difference that matters; of means.
    resolution: float = math.nan
    #: Every number m of runs that it may be a mean of, ascending.
    printed_repeats: tuple[int, ...] = (1,)
    #: Repeats after which it is looked at, and looked at again; the second is 0 where there are no more.
    repeats: int = 1
    last_look: int = 0


def format_by_runs(by_runs: Mapping[int, Verdict]) -> str:
    """Return the verdicts by number of runs averaged as ``numbers.csv`` has them.

    Examples
    --------
    >>> format_by_runs({1: Verdict.TOO_COARSE, 10: Verdict.REFUTED})
    '1: print too coarse; 10: refuted'
    """
    return "; ".join(f"{m}: {verdict}" for m, verdict in by_runs.items())


def read_by_runs(text: str) -> dict[int, Verdict]:
    """Return the verdicts that `format_by_runs` wrote.

    Examples
    --------
    >>> read_by_runs("1: print too coarse; 10: refuted") == {1: "print too coarse", 10: "refuted"}, read_by_runs("")
    (True, {})
    """
    by_runs = {}
    for part in text.split("; ") if text else []:
        m, _, verdict = part.partition(": ")
        by_runs[int(m)] = Verdict(verdict)
    return by_runs


def describe_runs(*numbers: int) -> str:
    """Return what a printed number is taken for, by the numbers of runs that it may be a mean of.

    Examples
    --------
    >>> describe_runs(1), describe_runs(10), describe_runs(1, 4, 10)
    ('a single printed run', 'a mean of 10 printed runs', 'a single printed run or a mean of 4 or 10')
    """
    several = [str(m) for m in numbers if m > 1]
    words = " or ".join(filter(None, [", ".join(several[:-1]), *several[-1:]]))
    if 1 not in numbers:
        return f"a mean of {words} printed runs"
    return f"a single printed run or a mean of {words}" if several else "a single printed run"


def longer_side(interval: Interval) -> float:
    """Return how far an interval reaches from its center, on the side where it reaches farther."""
    return max(interval.high - interval.center, interval.center - interval.low)


def describe_difference(number: PrintedNumber, ours: float) -> str:
    """Return by how much ours differs from a printed number, with as many decimals as it is printed.

    Examples
    --------
    >>> printed = PrintedNumber("n", "t", "accuracy", "mean", 0.84, 2, "p. 1", {})
    >>> describe_difference(printed, 0.8279), describe_difference(printed, 0.85)
    ('ours is 1.21 points lower', 'ours is 1.00 points higher')
    """
    difference = ours - number.value
    size = format_difference(number.metric, abs(difference), f".{number.decimals}f")
    return f"ours is {size} {'lower' if difference < 0 else 'higher'}"
