"""Choosing an event: what outcome tells the two tables apart best? Asked of trainings that the bound will not use.

Three kinds are tried. A single outcome of a side of the model, in at least so many of its parts ("the root of
at least 1 of 3 trees is ..."). A number beyond a threshold, in every part or in any. And evidence: the log-likelihood
ratio of all that is seen, estimated from counts of outcomes and of numbers in bins, beyond a threshold. The last is
nearly always as good as any, but only the others can be checked by hand. Numbers may count by what they are worth
beside a given outcome: a noisy value says more of a leaf in which the differing record ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from experiments.audit.bounds import bound_epsilon_by_counts
from experiments.audit.observe.observed_model import Observation, Observer

BINS, FEW = 60, 7
"""Bins of a number when its likelihood ratio is estimated: many, or few where it says little and a bin may say less."""
THRESHOLDS = 120
"""Thresholds that are tried for each score."""
OUTCOMES = 3
"""Single outcomes that are tried for each side and direction."""
STRIDE = 1_000_003
"""Codes of outcomes are multiplied by it before the number of a bin is added: an odd number above any of those."""
RARE = 5.0
"""Pseudo-count of an outcome on either table, so that rare ones say little."""
READABLE = 0.97
"""An event that can be checked by hand is preferred if its bound is at least this share of the best one."""


@dataclass(frozen=True)
class EventScore:
    """A number for each training; an event is a score of at least, or below, a threshold.

    Parameters
    ----------
    of : function
        Observation -> float64 array (n,).
    words : function
        (threshold, whether it is "at least") -> str.
    is_readable : bool
        Whether somebody could tell by looking at a model.
    """

    of: Callable[[Observation], np.ndarray]
    words: Callable[[float, bool], str]
    is_readable: bool


@dataclass(frozen=True)
class DistinguishingEvent:
    """An event, and on which table it is thought more likely.

    Parameters
    ----------
    score : Score
        What is looked at.
    threshold : float
        Where the event begins.
    at_least : bool
        Whether the score is to be at least the threshold, or below it.
    """

    score: EventScore
    threshold: float
    at_least: bool

    def count(self, seen: Observation) -> int:
        """Count the trainings in which it happens."""
        values = self.score.of(seen)
        happens = values >= self.threshold if self.at_least else values < self.threshold
        return int(np.count_nonzero(happens))

    def __str__(self) -> str:
        return self.score.words(self.threshold, self.at_least)


def choose_event(
    likely: Observation,
    other: Observation,
    observers: tuple[Observer, Observer],
    counting: int,
    alpha: float,
    enough: float,
) -> DistinguishingEvent:
    """Choose the event that bounds ε best from below, from trainings on two tables.

    Parameters
    ----------
    likely, other : Observation
        Trainings on the table where the event is to be more likely, and on the other one; equally many. Half of them
        make the scores, the other half choose among these.
    observers : tuple of Observer
        What was trained on either, to put outcomes in words. Their training 0 is the first that is given here.
    counting : int
        Trainings on each table that will count the event.
    alpha : float
        Chance of a wrong bound that will be used.
    enough : float
        A readable event whose bound exceeds this is preferred to any that is not readable.
    """
    half = len(likely) // 2
    learnt = likely[:half], other[:half]
    left, right = likely[half:], other[half:]
    found = [_best_event(score, left, right, counting, alpha) for score in _scores(*learnt, observers)]
    (best, _), event = max(found, key=lambda one: one[0])
    if readable := [one for one in found if one[1].score.is_readable]:
        (bound, _), simple = max(readable, key=lambda one: one[0])
        if bound >= READABLE * best or bound > enough:
            return simple
    return event


def _best_event(
    score: EventScore, left: Observation, right: Observation, counting: int, alpha: float
) -> tuple[tuple[float, int], DistinguishingEvent]:
    """Return the best of a score's events, and its worth: the bound, and the difference of counts where that is 0."""
    n = len(left)
    values, others = np.sort(score.of(left)), np.sort(score.of(right))
    both = np.concatenate([values, others])
    thresholds = np.unique(np.quantile(both, np.linspace(0, 1, THRESHOLDS), method="higher"))
    below, others_below = np.searchsorted(values, thresholds), np.searchsorted(others, thresholds)
    counts = np.concatenate([n - below, below]), np.concatenate([n - others_below, others_below])
    # So many will be counted, give or take a standard error: else the best of many events is a rare one by chance.
    likely = np.maximum(counts[0] - np.sqrt(counts[0]), 0) * counting // n
    unlikely = np.minimum((counts[1] + np.sqrt(counts[1])) * counting // n, counting)
    bounds = bound_epsilon_by_counts(likely, unlikely, counting, alpha)
    difference = counts[0] - counts[1]
    best = int(np.lexsort((difference, bounds))[-1])
    which, place = divmod(best, len(thresholds))
    return (float(bounds[best]), int(difference[best])), DistinguishingEvent(
        score, float(thresholds[place]), which == 0
    )


def _scores(left: Observation, right: Observation, observers: tuple[Observer, Observer]) -> Iterator[EventScore]:
    """Make the scores that are worth trying, from some trainings on either table."""
    for side, codes in left.codes.items():
        for code in _Ratios.of(codes, right.codes[side]).most_telling(OUTCOMES):
            yield _of_outcome(side, code, (codes, right.codes[side]), observers)
    numbers = {}
    for side, values in left.numbers.items():
        if len(ends := _bin_ends(values, right.numbers[side])):
            numbers[side] = ends
            yield from _of_number(side, values.shape[1])
    coarse = {side: ends[:: BINS // FEW] for side, ends in numbers.items()}
    for bins in (numbers, coarse) if numbers else (numbers,):
        yield from _evidences(bins, left, right)


def _evidences(numbers: dict, left: Observation, right: Observation) -> Iterator[EventScore]:
    """Make the scores of evidence: of each side or none, with all numbers in the given bins."""
    for side in [None, *left.codes]:
        for in_order in (False, True) if _n_parts(left) > 1 else (False,):
            if side or numbers:
                yield _evidence(side, numbers, left, right, in_order)
        if side and numbers:
            yield _joint_evidence(side, numbers, left, right)


def _n_parts(seen: Observation) -> int:
    return next(iter((seen.codes | seen.numbers).values())).shape[1]


@dataclass(frozen=True)
class _Ratios:
    """Log-likelihood ratios of outcomes, estimated from counts.

    Parameters
    ----------
    codes : int64 array of shape (m,)
        The outcomes that were seen, ascending.
    ratios : float64 array of shape (m,)
        Log of how much more often each was seen on the first table.
    counts, others : int64 arrays of shape (m,)
        How often each was seen.
    """

    codes: np.ndarray
    ratios: np.ndarray
    counts: np.ndarray
    others: np.ndarray

    @classmethod
    def of(cls, left: np.ndarray, right: np.ndarray) -> _Ratios:
        codes, places = np.unique(np.concatenate([left.ravel(), right.ravel()]), return_inverse=True)
        counts = np.bincount(places[: left.size], minlength=len(codes))
        others = np.bincount(places[left.size :], minlength=len(codes))
        return cls(codes, np.log((counts + RARE) / (others + RARE)), counts, others)

    def __call__(self, codes: np.ndarray) -> np.ndarray:
        """Sum the ratios of what the parts of each training are: float64 array of shape (n,); 0 for anything new."""
        places = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return np.where(self.codes[places] == codes, self.ratios[places], 0.0).sum(axis=1)

    def most_telling(self, n: int) -> list[int]:
        """Return the outcomes whose frequencies differ most, in either direction, by how surely they do."""
        sureness = self.ratios * np.sqrt(self.counts + self.others)
        order = np.argsort(sureness)
        return [int(code) for code in self.codes[np.unique(np.concatenate([order[:n], order[-n:]]))]]


def _bin_ends(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return where bins of a number begin, so that each holds equally many; none if the number never varies."""
    both = np.concatenate([left.ravel(), right.ravel()])
    known = both[~np.isnan(both)]
    if not len(known):
        return known
    ends = np.unique(np.quantile(known, np.linspace(0, 1, BINS + 1)[1:-1], method="nearest"))
    return ends if known.min() < known.max() else ends[:0]


def _binned(values: np.ndarray, ends: np.ndarray) -> np.ndarray:
    # A value that many trainings have, such as a bound, is an end: it gets a bin of its own.
    return np.where(
        np.isnan(values), -1, np.searchsorted(ends, values, "left") + np.searchsorted(ends, values, "right")
    )


def _of_number(side: str, n_parts: int) -> Iterator[EventScore]:
    """Make the scores of a number: the number itself, or its smallest and its largest in the parts of the model."""
    reductions = [(np.min, "", "")]
    if n_parts > 1:
        reductions = [(np.min, " in every tree", " in some tree"), (np.max, " in some tree", " in every tree")]
    for reduce, where_at_least, where_below in reductions:

        def of(seen: Observation, reduce: Callable = reduce) -> np.ndarray:
            numbers = seen.numbers[side]  # what does not exist is below all else
            return reduce(np.where(np.isnan(numbers), -np.inf, numbers), axis=1)

        def words(threshold: float, at_least: bool, wheres: tuple = (where_below, where_at_least)) -> str:
            return f"{side} {'>=' if at_least else '<'} {threshold:.6g}{wheres[at_least]}"

        yield EventScore(of, words, is_readable=True)


def _of_outcome(side: str, code: int, seen: tuple[np.ndarray, ...], observers: tuple[Observer, ...]) -> EventScore:
    """Make the score that counts in how many parts a side of the model has one outcome."""
    n_parts = seen[0].shape[1]

    def words(threshold: float, at_least: bool) -> str:
        examples = ((one, np.argwhere(codes == code)) for one, codes in zip(observers, seen, strict=True))
        what = next(one.words(side, *map(int, found[0])) for one, found in examples if len(found))
        if n_parts == 1:
            return f"{side} {'is' if at_least else 'is not'}: {what}"
        return f"{side} is, in {'at least' if at_least else 'fewer than'} {threshold:g} of {n_parts} trees: {what}"

    return EventScore(lambda these: (these.codes[side] == code).sum(axis=1).astype(np.float64), words, is_readable=True)


def _evidence(side: str | None, numbers: dict, left: Observation, right: Observation, in_order: bool) -> EventScore:
    """Make the score that sums the log-likelihood ratios of a side, if any, and of all numbers.

    Parts of a model that are drawn alike share their ratios, unless their order is to count.
    """

    def outcomes(seen: Observation) -> list[np.ndarray]:
        both = [_binned(seen.numbers[name], ends) for name, ends in numbers.items()]
        both += [seen.codes[side]] if side else []
        return [column for codes in both for column in codes.T[:, :, np.newaxis]] if in_order else both

    ratios = [_Ratios.of(*codes) for codes in zip(outcomes(left), outcomes(right), strict=True)]
    names = [side] if side else []
    names += ["all numbers"] if len(numbers) > 1 else list(numbers)

    def of(seen: Observation) -> np.ndarray:
        return sum(ratio(codes) for ratio, codes in zip(ratios, outcomes(seen), strict=True))

    def words(threshold: float, at_least: bool) -> str:
        order = ", tree by tree," if in_order else ""
        return f"evidence of {' and '.join(names)}{order} {'>=' if at_least else '<'} {threshold:.4g}"

    return EventScore(of, words, is_readable=False)


def _joint_evidence(side: str, numbers: dict, left: Observation, right: Observation) -> EventScore:
    """Make the score that sums the log-likelihood ratios of a side and, given what that is, of each number."""

    def beside(seen: Observation) -> list[np.ndarray]:
        # Outcomes are hashes: another one for each bin, with whole numbers that wrap around.
        return [seen.codes[side] * STRIDE + _binned(seen.numbers[name], ends) for name, ends in numbers.items()]

    alone = _Ratios.of(left.codes[side], right.codes[side])
    joint = [_Ratios.of(*codes) for codes in zip(beside(left), beside(right), strict=True)]

    def of(seen: Observation) -> np.ndarray:
        # log P(number | side) = log P(number, side) - log P(side)
        whole = sum(ratio(codes) for ratio, codes in zip(joint, beside(seen), strict=True))
        return whole - (len(joint) - 1) * alone(seen.codes[side])

    def words(threshold: float, at_least: bool) -> str:
        what = "all numbers" if len(numbers) > 1 else next(iter(numbers))
        return f"evidence of {side} and, given that, {what} {'>=' if at_least else '<'} {threshold:.4g}"

    return EventScore(of, words, is_readable=False)
