"""Choose the event that tells two tables apart best, from trainings that the bound will not use.

Three kinds are tried. A single outcome of a side of the model, in at least so many of its parts ("the root of
at least 1 of 3 trees is ..."). A number beyond a threshold, in every part or in any. And evidence: the log-likelihood
ratio of all that is seen, estimated from counts of outcomes and of numbers in bins, beyond a threshold. The last is
nearly always as good as any, but only the others can be checked by hand. Numbers may count by what they are worth
beside a given outcome: a noisy value says more of a leaf in which the differing record ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

import numpy as np
import pandas as pd

from experiments.audit.observe.trainings import Observation, Observer
from experiments.audit.outcomes import bound_epsilon_by_counts

BINS, FEW = 60, 7
"""Bins of a number when its likelihood ratio is estimated: many, or few where it says little and a bin may say less."""
THRESHOLDS = 120  #: thresholds that are tried for each score
OUTCOMES = 3  #: single outcomes that are tried for each side and direction
STRIDE = 1_000_003
"""Codes of outcomes are multiplied by it before the number of a bin is added: an odd number above any of those."""
RARE = 5.0  #: pseudo-count of an outcome on either table, so that rare ones say little
_SIGNS = {True: ">=", False: "<"}  #: of a threshold, by whether an event is at least that
READABLE = 0.97
"""An event that can be checked by hand is preferred if its bound is at least this share of the best one."""


class EventScore(NamedTuple):
    """A number for each training; an event is a score of at least, or below, a threshold."""

    compute: Callable[[Observation], np.ndarray]  #: float64 (n,)
    describe: Callable[[float, bool], str]  #: (threshold, whether it is "at least") -> the event in words
    is_readable: bool  #: whether somebody could tell by looking at a model


@dataclass(frozen=True)
class DistinguishingEvent:
    """A score of at least, or below, a threshold, and what it promised when it was chosen."""

    score: EventScore
    threshold: float
    at_least: bool
    bound: float
    difference: int  #: how much more often it was seen where it is more likely

    def count(self, seen: Observation) -> int:
        """Count the trainings in which it happens."""
        values = self.score.compute(seen)
        happens = values >= self.threshold if self.at_least else values < self.threshold
        return int(np.count_nonzero(happens))

    def __str__(self) -> str:
        return self.score.describe(self.threshold, self.at_least)


Observers = tuple[Observer, Observer]
Outcomes = tuple[np.ndarray, np.ndarray]
"""Codes or numbers of a side: where the event is to be more likely, and on the other table."""


def choose_event(
    likely: Observation, other: Observation, observers: Observers, counting: int, alpha: float, enough: float
) -> DistinguishingEvent:
    """Choose the event that bounds ε best from below, from as many trainings where it is to be likely as on the other.

    Half of them make the scores, the other half choose among these; so many trainings on each table will count the
    event, with a chance ``alpha`` of a wrong bound. What was trained on either, the observers, puts outcomes in words:
    their training 0 is the first that is given here. A readable event whose bound is more than enough is preferred to
    any that is not readable.
    """
    half = likely.shape[0] // 2
    some, others = slice(None, half), slice(half, None)
    events = []
    for score in _list_scores(likely.select(some), other.select(some), observers):
        events.append(_choose_threshold(score, likely.select(others), other.select(others), counting, alpha))
    by_rank = attrgetter("bound", "difference")
    best = max(events, key=by_rank)
    readable = max((event for event in events if event.score.is_readable), key=by_rank, default=best)
    return readable if readable.bound >= READABLE * best.bound or readable.bound > enough else best


def _choose_threshold(
    score: EventScore, left: Observation, right: Observation, counting: int, alpha: float
) -> DistinguishingEvent:
    n = left.shape[0]
    values, others = np.sort(score.compute(left)), np.sort(score.compute(right))
    quantiles = np.linspace(0, 1, THRESHOLDS)
    thresholds = np.unique(np.quantile(np.concatenate([values, others]), quantiles, method="higher"))
    below, others_below = np.searchsorted(values, thresholds), np.searchsorted(others, thresholds)
    counts = np.concatenate([n - below, below])
    other_counts = np.concatenate([n - others_below, others_below])
    # So many will be counted, give or take a standard error: else the best of many events is a rare one by chance.
    likely = np.maximum(counts - np.sqrt(counts), 0) * counting // n
    unlikely = np.minimum((other_counts + np.sqrt(other_counts)) * counting // n, counting)
    bounds = bound_epsilon_by_counts(likely, unlikely, counting, alpha)
    differences = counts - other_counts
    best = int(np.lexsort((differences, bounds))[-1])
    which, place = divmod(best, len(thresholds))
    return DistinguishingEvent(score, float(thresholds[place]), which == 0, float(bounds[best]), int(differences[best]))


BinEnds = dict[str, np.ndarray]  #: where the bins of each number begin


def _list_scores(left: Observation, right: Observation, observers: Observers) -> Iterator[EventScore]:
    """Make the scores that are worth trying, from some trainings on either table."""
    has_parts = left.shape[1] > 1
    for side, codes in left.codes.items():
        for code in _OutcomeRatios.estimate(codes, right.codes[side]).find_most_telling(OUTCOMES):
            yield _score_outcome(side, code, (codes, right.codes[side]), observers)
    fine: BinEnds = {}
    for side, values in left.numbers.items():
        ends = _find_bin_ends(values, right.numbers[side])
        if len(ends):
            fine[side] = ends
            every, some = (" in every tree", " in some tree") if has_parts else ("", "")
            yield _score_number(side, np.min, every, some)
            if has_parts:
                yield _score_number(side, np.max, some, every)
    yield from _list_evidence_scores(fine, left, right)
    if fine:
        coarse = {side: ends[:: BINS // FEW] for side, ends in fine.items()}
        yield from _list_evidence_scores(coarse, left, right)


def _list_evidence_scores(bin_ends: BinEnds, left: Observation, right: Observation) -> Iterator[EventScore]:
    """Make the scores of evidence: of each side or none, with all numbers in the given bins."""
    has_parts = left.shape[1] > 1
    for side in [None, *left.codes]:
        if side or bin_ends:
            yield _score_evidence(side, bin_ends, left, right, in_order=False)
            if has_parts:
                yield _score_evidence(side, bin_ends, left, right, in_order=True)
        if side and bin_ends:
            yield _score_joint_evidence(side, bin_ends, left, right)


class _OutcomeRatios(NamedTuple):
    """Log-likelihood ratios of outcomes, estimated from counts."""

    codes: np.ndarray  #: int64 (m,): the outcomes that were seen, ascending
    ratios: np.ndarray  #: float64 (m,): log of how much more often each was seen on the first table
    n_seen: np.ndarray  #: int64 (m,): how often each was seen on both

    @classmethod
    def estimate(cls, left: np.ndarray, right: np.ndarray) -> _OutcomeRatios:
        places, codes = pd.factorize(np.concatenate([left.ravel(), right.ravel()]), sort=True)
        counts = np.bincount(places[: left.size], minlength=len(codes))
        others = np.bincount(places[left.size :], minlength=len(codes))
        return cls(codes, np.log((counts + RARE) / (others + RARE)), counts + others)

    def sum_ratios(self, codes: np.ndarray) -> np.ndarray:
        """Sum the ratios of what the parts of each training are: float64 array of shape (n,); 0 for anything new.

        Examples
        --------
        >>> none = np.empty((0, 1), dtype=np.int64)
        >>> _OutcomeRatios.estimate(none, none).sum_ratios(np.array([[3], [4]]))
        array([0., 0.])
        """
        if not len(self.codes):  # nothing was seen: few trainings, and all of them with another number of parts
            return np.zeros(len(codes))
        places = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return np.where(self.codes[places] == codes, self.ratios[places], 0.0).sum(axis=1)

    def find_most_telling(self, n: int) -> list[int]:
        """Return the outcomes whose frequencies differ most, in either direction, by how surely they do."""
        sureness = self.ratios * np.sqrt(self.n_seen)
        order = np.argsort(sureness)
        most_telling = np.unique(np.concatenate([order[:n], order[-n:]]))
        return self.codes[most_telling].tolist()


def _find_bin_ends(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return where bins of a number begin, so that each holds equally many; none if the number never varies."""
    numbers = np.concatenate([left.ravel(), right.ravel()])
    numbers = numbers[~np.isnan(numbers)]
    if not len(numbers):
        return numbers
    ends = np.unique(np.quantile(numbers, np.linspace(0, 1, BINS + 1)[1:-1], method="nearest"))
    return ends if numbers.min() < numbers.max() else ends[:0]


def _find_bins(values: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the bin of each value; a value that many trainings have, such as a bound, is an end with its own bin."""
    n_below = np.searchsorted(ends, values)
    is_end = ends.take(n_below, mode="clip") == values
    return np.where(np.isnan(values), -1, 2 * n_below + is_end)


def _score_number(side: str, reduce: Callable, where_at_least: str, where_below: str) -> EventScore:
    """Make the score of a number, of several parts of the model its smallest or its largest."""

    def compute(seen: Observation) -> np.ndarray:
        numbers = seen.numbers[side]  # what does not exist is below all else
        return reduce(np.where(np.isnan(numbers), -np.inf, numbers), axis=1)

    def describe(threshold: float, at_least: bool) -> str:
        return f"{side} {_SIGNS[at_least]} {threshold:.6g}{where_at_least if at_least else where_below}"

    return EventScore(compute, describe, is_readable=True)


def _score_outcome(side: str, code: int, seen: Outcomes, observers: Observers) -> EventScore:
    """Make the score that counts in how many parts a side of the model has one outcome."""
    n_parts = seen[0].shape[1]

    def compute(observation: Observation) -> np.ndarray:
        return (observation.codes[side] == code).sum(axis=1).astype(np.float64)

    def describe(threshold: float, at_least: bool) -> str:
        outcome = _describe_outcome(side, code, seen, observers)
        if n_parts == 1:
            return f"{side} {'is' if at_least else 'is not'}: {outcome}"
        return f"{side} is, in {'at least' if at_least else 'fewer than'} {threshold:g} of {n_parts} trees: {outcome}"

    return EventScore(compute, describe, is_readable=True)


def _describe_outcome(side: str, code: int, seen: Outcomes, observers: Observers) -> str:
    """Return in words what the first training with an outcome shows."""
    for observer, codes in zip(observers, seen, strict=True):
        places = np.argwhere(codes == code)
        if len(places):
            training, part = places[0].tolist()
            return observer.describe_side(side, training, part)
    raise KeyError(f"no training has the outcome {code} of {side}")


def _score_evidence(
    side: str | None, bin_ends: BinEnds, left: Observation, right: Observation, in_order: bool
) -> EventScore:
    """Make the score that sums the log-likelihood ratios of a side, if any, and of all numbers.

    Parts of a model that are drawn alike share their ratios, unless their order is to count.
    """

    def list_outcomes(seen: Observation) -> list[np.ndarray]:
        outcomes = [_find_bins(seen.numbers[name], ends) for name, ends in bin_ends.items()]
        if side:
            outcomes.append(seen.codes[side])
        if not in_order:
            return outcomes
        columns = []
        for codes in outcomes:
            columns += np.split(codes, codes.shape[1], axis=1)
        return columns

    names = [side] if side else []
    names += ["all numbers"] if len(bin_ends) > 1 else list(bin_ends)
    return _score_sum(f"{' and '.join(names)}{', tree by tree,' if in_order else ''}", list_outcomes, left, right)


def _score_joint_evidence(side: str, bin_ends: BinEnds, left: Observation, right: Observation) -> EventScore:
    """Make the score that sums the log-likelihood ratios of a side and, given what that is, of each number."""

    def list_outcomes(seen: Observation) -> list[np.ndarray]:
        # Outcomes are hashes: another one for each bin, with whole numbers that wrap around.
        codes = seen.codes[side] * STRIDE
        return [*(codes + _find_bins(seen.numbers[name], ends) for name, ends in bin_ends.items()), seen.codes[side]]

    what = "all numbers" if len(bin_ends) > 1 else next(iter(bin_ends))
    # log P(number | side) = log P(number, side) - log P(side)
    return _score_sum(f"{side} and, given that, {what}", list_outcomes, left, right, times_last=1 - len(bin_ends))


def _score_sum(
    name: str,
    list_outcomes: Callable[[Observation], list[np.ndarray]],
    left: Observation,
    right: Observation,
    times_last: int = 1,
) -> EventScore:
    """Make the score that sums the log-likelihood ratios of outcomes, (n, parts) each, the last so many times."""
    ratios = list(map(_OutcomeRatios.estimate, list_outcomes(left), list_outcomes(right)))

    def compute(seen: Observation) -> np.ndarray:
        sums = [ratio.sum_ratios(codes) for ratio, codes in zip(ratios, list_outcomes(seen), strict=True)]
        return sum(sums[:-1]) + times_last * sums[-1]

    def describe(threshold: float, at_least: bool) -> str:
        return f"evidence of {name} {_SIGNS[at_least]} {threshold:.4g}"

    return EventScore(compute, describe, is_readable=False)
