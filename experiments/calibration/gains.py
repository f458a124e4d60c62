"""Runs whose gain has a known mean: what a test of claims may meet.

A family draws accuracies of two algorithms, or of one beside a printed number. The mean of the gain is exactly what is
asked for, whatever its tails.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from experiments.config.kinds.claims import AboveClaim, BetweenClaim
from experiments.judge.evidence.claim_group import ClaimRule
from experiments.questions.claims import find_rule

POINT = 0.01
"""One point of a percentage; also δ."""

_SPREAD = 3 * POINT  # of the families that have no number of test rows
_RIVAL = 0.7  # the other algorithm of these: its runs are all alike, as a paired test sees differences alone
_LOSS = 40 * POINT  # what a collapse costs

Draw = Callable[[np.random.Generator, tuple[int, ...], float], np.ndarray]
"""Draws the levels that a claim compares, along the first axis, so that the mean gain is what is given."""

_ABOVE = AboveClaim(
    id="above", text="", own=True, kind="above", study="", within=(), metric="accuracy", better="a", worse="b"
)


def claim_above(gain: float) -> ClaimRule:
    """Return the claim that one of two algorithms has more."""
    return find_rule(_ABOVE)


class GainFamily(NamedTuple):
    """How the runs of a setting vary."""

    name: str
    draw: Draw
    #: Whether the error rates are promised for it.
    is_promised: bool = True
    #: What is claimed, by the mean gain.
    claim: Callable[[float], ClaimRule] = claim_above

    def draw_settings(
        self, rng: np.random.Generator, shape: tuple[int, int, int], gain: float, correlation: float
    ) -> np.ndarray:
        """Return levels by claim, setting and run, the shape that is given.

        ``correlation``: of two settings of a claim. A run of each is, with a chance of its square root, that of all.
        """
        drawn = self.draw(rng, shape, gain)
        if not correlation:
            return drawn
        common = self.draw(rng, (shape[0], 1, shape[2]), gain)
        return np.where(rng.random(shape) < math.sqrt(correlation), common, drawn)


def draw_normal(rng: np.random.Generator, shape: tuple[int, ...], gain: float, spread: float = _SPREAD) -> np.ndarray:
    """Draw differences that are normal."""
    return _stack(gain + spread * rng.standard_normal(shape))


def _stack(gains: np.ndarray) -> np.ndarray:
    return np.stack([np.full(gains.shape, _RIVAL), _RIVAL + gains])


def _draw_scaled(
    draw: Callable[[np.random.Generator, tuple[int, ...]], np.ndarray],
    sign: int,
    rng: np.random.Generator,
    shape: tuple[int, ...],
    gain: float,
) -> np.ndarray:
    """Draw differences from a law with mean 0 and standard deviation 1, as it is or mirrored."""
    return _stack(gain + sign * _SPREAD * draw(rng, shape))


def _draw_half_normal(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return (np.abs(rng.standard_normal(shape)) - math.sqrt(2 / math.pi)) / math.sqrt(1 - 2 / math.pi)


def _draw_exponential(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.standard_exponential(shape) - 1


def _draw_t(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.standard_t(4, shape) / math.sqrt(2)


def _draw_gamma(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return (rng.standard_gamma(0.5, shape) - 0.5) / math.sqrt(0.5)


def _draw_lognormal(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return (np.exp(rng.standard_normal(shape)) - math.exp(0.5)) / math.sqrt((math.e - 1) * math.e)


def _draw_two_accuracies(
    n_rows: int, accuracy: float, rng: np.random.Generator, shape: tuple[int, ...], gain: float
) -> np.ndarray:
    """Draw the shares of test rows that two algorithms get right."""
    rival = rng.binomial(n_rows, accuracy - max(gain, 0.0), shape)
    return np.stack([rival, rng.binomial(n_rows, accuracy + min(gain, 0.0), shape)]) / n_rows


def _draw_accuracy(
    n_rows: int, accuracy: float, sign: int, rng: np.random.Generator, shape: tuple[int, ...], gain: float
) -> np.ndarray:
    """Draw an accuracy beside a rival that has the same in every run; mirrored, the rival is the one that varies."""
    constant = np.full(shape, accuracy)
    varying = rng.binomial(n_rows, accuracy + sign * gain, shape) / n_rows
    return np.stack([constant, varying] if sign > 0 else [varying, constant])


def _draw_rare_row(
    n_rows: int, chance: float, rng: np.random.Generator, shape: tuple[int, ...], gain: float
) -> np.ndarray:
    """Draw accuracies in which one test row is wrong now and then, and all others are right."""
    return 1 - rng.binomial(1, chance, shape)[np.newaxis] / n_rows


def _claim_printed(n_rows: int, chance: float, sign: int, gain: float) -> ClaimRule:
    """Return the claim that these lie above, or below, a printed number that they are near on average."""
    end = 1 - chance / n_rows - sign * gain
    low, high = (end, math.inf) if sign > 0 else (-math.inf, end)
    claim = BetweenClaim(
        id="between", text="", own=True, kind="between", study="", within=(), metric="accuracy", low=low, high=high
    )
    return find_rule(claim)


def _draw_collapses(chance: float, rng: np.random.Generator, shape: tuple[int, ...], gain: float) -> np.ndarray:
    """Draw normal differences, some of which lose 40 points."""
    usual = chance * _LOSS / (1 - chance) + POINT * rng.standard_normal(shape)
    return _stack(gain + np.where(rng.random(shape) < chance, -_LOSS, usual))


def _name_tail(sign: int) -> str:
    return "tail above" if sign > 0 else "tail below"


def _list_skewed() -> list[GainFamily]:
    families = []
    for name, draw, is_promised in (
        ("half-normal", _draw_half_normal, True),
        ("exponential", _draw_exponential, True),
        ("gamma, shape 1/2", _draw_gamma, False),
        ("lognormal", _draw_lognormal, False),
    ):
        for sign in (-1, 1):
            families.append(GainFamily(f"{name}, {_name_tail(sign)}", partial(_draw_scaled, draw, sign), is_promised))
    return families


def _list_accuracies() -> list[GainFamily]:
    families = []
    for n_rows, accuracy in ((20, 0.9), (20, 0.98), (100, 0.9), (1000, 0.9)):
        name = f"accuracies of {100 * accuracy:.0f} %, {n_rows:,} rows"
        families.append(GainFamily(name, partial(_draw_two_accuracies, n_rows, accuracy)))
    for n_rows, sign in ((20, 1), (20, -1), (100, 1), (1000, -1)):
        name = f"accuracy of 95 %, {n_rows:,} rows, {'beside' if sign > 0 else 'as rival of'} a constant"
        families.append(GainFamily(name, partial(_draw_accuracy, n_rows, 0.95, sign)))
    return families


def _list_rare_rows() -> list[GainFamily]:
    families = []
    for n_rows, chance, sign in (
        (20, 0.2, 1),
        (20, 0.2, -1),
        (20, 0.1, 1),
        (20, 0.05, 1),
        (100, 0.2, 1),
        (100, 0.05, 1),
        (1000, 0.5, 1),
    ):
        side = "above" if sign > 0 else "below"
        name = f"1 of {n_rows:,} rows wrong with chance {chance:g}, {side} a printed number"
        draw, claim = partial(_draw_rare_row, n_rows, chance), partial(_claim_printed, n_rows, chance, sign)
        families.append(GainFamily(name, draw, claim=claim))
    return families


FAMILIES = (
    GainFamily("normal", draw_normal),
    GainFamily("t, 4 degrees of freedom", partial(_draw_scaled, _draw_t, 1)),
    *_list_skewed(),
    *_list_accuracies(),
    *_list_rare_rows(),
)
COLLAPSES = tuple(
    GainFamily(f"{100 * chance:.0f} % of runs lose 40 points", partial(_draw_collapses, chance), False)
    for chance in (0.01, 0.03, 0.05, 0.1)
)
