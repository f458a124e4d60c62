"""A tape between an estimator and its mechanisms: what they did in one run, to be played in another.

What is random and not a mechanism, such as the features of a node, comes from the same stream both times. To keep it
aligned, mechanisms draw from a generator of their own. Noise that is a function of a key is aligned by key; an answer
that was not given is that of a node without rows. Below such a node nothing is left to keys here: all is grown.

Compiled code cannot be watched: this takes plain Python.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from algorithms import mechanisms
from algorithms.forests.engine import lazy
from algorithms.forests.forest import SAMPLINGS
from algorithms.opendp_noise import is_secure

ANOTHER_SEED = 2
MAXIMUM = "sup_norm_vector"
"""The mechanism whose sensitivity is about the entry that changes most, not about all changes together."""


@dataclass(frozen=True, eq=False)
class Call:
    """One call of a mechanism.

    Parameters
    ----------
    mechanism : str
        Its name in ``algorithms.mechanisms``.
    protected : float64 array of shape (r,)
        What it protects: numbers, or the score of each candidate.
    told : tuple
        Epsilon, sensitivity and base measure (None where there is none).
    outcome : float, int or array
        What it gave.
    is_choice : bool
        Whether it chooses among candidates by their scores, and does not release numbers.
    is_monotone : bool
        Whether it is told that a record moves all scores one way, and so may choose with half of the noise.
    """

    mechanism: str
    protected: np.ndarray
    told: tuple[float, float, tuple | None]
    outcome: object
    is_choice: bool
    is_monotone: bool = False

    @property
    def form(self) -> str:
        """The mechanism, the number of candidates or values, and epsilon, as words."""
        how = ", monotone," if self.is_monotone else ""
        return f"{self.mechanism}{how} of {len(self.protected)} with epsilon {self.told[0]:.6g}"

    def change(self, other: Call) -> float:
        """Return the largest change of a score that can be chosen, or the change of all numbers, in their norm.

        A monotone choice sees differences of scores only, with noise for those that move one way: its change is from
        the score that fell most to the one that rose most.
        """
        measures = (call.told[2] or np.ones_like(call.protected) for call in (self, other))
        entries = zip(self.protected, other.protected, *measures, strict=True)
        moved = [b - a for a, b, *measure in entries if a != b and max(measure) > 0]
        if self.is_monotone:
            return float(max(0.0, *moved) - min(0.0, *moved)) if moved else 0.0
        sizes = list(map(abs, moved))
        return float(max(sizes, default=0.0) if self.is_choice or self.mechanism == MAXIMUM else math.fsum(sizes))

    def cost(self, change: float) -> float:
        """Return what a change costs."""
        epsilon, sensitivity, _ = self.told
        if change == 0 or math.isinf(epsilon):
            return math.inf if change else 0.0
        return epsilon * (max(1.0, change / sensitivity) if self.is_choice else change / sensitivity)


class Diverged(Exception):
    """The run on the neighbouring table asks for something else: nothing can be compared from here on."""


class Tape:
    """What the mechanisms did in one run; with the tape of another run, they do the same again.

    Parameters
    ----------
    first : Tape or None
        The run whose outcomes are given; None draws them.
    seed : int
        Of what is drawn.
    """

    def __init__(self, first: Tape | None = None, seed: int = ANOTHER_SEED):
        self.first = first
        self.calls: list[Call] = []
        self.keyed: dict[int, Call] = {}
        self.samples: list[np.ndarray] = []
        self.n_rows = 0
        self.found: list[tuple[str, str]] = []
        self._begun: set[str] = set()
        self._rng = np.random.default_rng(seed)
        self._is_inside = False

    def watched(self, mechanism: Callable) -> Callable:
        """Return a mechanism that is recorded, or played from the first tape."""
        signature = _signature(mechanism)

        def stand_in(*args, **kwargs):
            if self._is_inside:  # one mechanism may call another
                return mechanism(*args, **kwargs)
            given = signature.bind(*args, **kwargs).arguments
            if "rng" in given:
                self._note_stream(given["rng"])
                given["rng"] = self._rng
            self._is_inside = True
            try:
                return self._answer(mechanism, given)
            finally:
                self._is_inside = False

        return stand_in

    def _note_stream(self, rng: np.random.Generator) -> None:
        """Note where a call would begin to draw: two that begin at the same number would draw the same noise."""
        if is_secure(rng):  # its noise comes from elsewhere
            return
        begins_at = repr(rng.bit_generator.state)
        if begins_at in self._begun:
            self.found.append(("noise", "two calls draw the same numbers"))
        self._begun.add(begins_at)
        rng.random()  # the mechanism would have taken some

    def _note_key(self, key: int, call: Call) -> None:
        """Note an answer by its key: another one of the same key would have the same noise."""
        if key in self.keyed and not np.array_equal(self.keyed[key].protected, call.protected):
            self.found.append(("noise", "two answers have the noise of one key"))
        self.keyed[key] = call

    def _answer(self, mechanism: Callable, given: dict):
        name = next(name for name in given if name not in ("key", "rng"))
        measure = tuple(np.asarray(given["measure"]).tolist()) if "measure" in given else None
        told = float(given["epsilon"]), float(given["sensitivity"]), measure
        protected = np.atleast_1d(np.array(given[name], dtype=np.float64))
        if "key" in given:
            key = int(given["key"])
            known = self.first.keyed.get(key) if self.first else None
            # A leaf that the first run did not grow held no rows: its answer is that of a count of 0.
            outcome = known.outcome if known else mechanism(**(given | ({name: 0.0} if self.first else {})))
            self._note_key(key, Call(mechanism.__name__, protected, told, outcome, is_choice=name == "quality"))
            return outcome
        is_monotone = bool(given.get("monotone", False))
        asked = Call(mechanism.__name__, protected, told, None, name == "quality", is_monotone)
        outcome = mechanism(**given) if self.first is None else self._played(asked)
        self.calls.append(replace(asked, outcome=outcome))
        return outcome

    def _played(self, asked: Call):
        at = len(self.calls)
        before = self.first.calls[at].form if at < len(self.first.calls) else "nothing more"
        if asked.form != before:
            raise Diverged(f"call {at + 1} is {asked.form}, not {before}")
        return self.first.calls[at].outcome

    def sampled(self, sampling: Callable) -> Callable:
        """Return a way of drawing the rows of trees that is recorded; it keeps to the first tape where it differs."""

        def stand_in(n_rows: int, n_trees: int, rng) -> list[np.ndarray]:
            if is_secure(rng):  # it draws from the operating system, never twice the same
                rng = np.random.default_rng(0)
            self.n_rows = n_rows
            self.samples = list(sampling(n_rows, n_trees, rng))
            if self.first is not None:
                self._keep_to_the_first()
            elif not are_equal(self.samples, self.samples[:1] * n_trees):
                again = list(sampling(n_rows, n_trees, np.random.default_rng(ANOTHER_SEED)))
                if are_equal(self.samples, again):
                    self.found.append(("sampling", "rows are given to trees by their position"))
            return self.samples

        return stand_in

    def _keep_to_the_first(self) -> None:
        n_shared = min(self.n_rows, self.first.n_rows)
        mine, theirs = ([rows[rows < n_shared] for rows in tape.samples] for tape in (self, self.first))
        if are_equal(mine, theirs):
            return
        self.found.append(("sampling", "records other than the one that differs are in other trees, or as often"))
        extra = np.arange(n_shared, self.n_rows, dtype=np.uint32)
        self.samples = [np.concatenate([rows, extra]) for rows in theirs]

    @property
    def repeats_rows(self) -> bool:
        """Whether a record is in the sample of a tree more than once."""
        return any(len(np.unique(rows)) < len(rows) for rows in self.samples)


def are_equal(some: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> bool:
    """Tell whether two lists hold the same arrays."""
    return len(some) == len(others) and all(map(np.array_equal, some, others))


@contextmanager
def watching(tape: Tape) -> Iterator[None]:
    """Put a tape between the estimators and their mechanisms, wherever these were imported by name."""
    stand_ins = {mechanism: tape.watched(mechanism) for mechanism in _mechanisms()}
    stand_ins[lazy.has_no_rows] = lambda counts: False  # nothing is left to keys
    places = _places(frozenset(stand_ins))
    samplings = dict(SAMPLINGS)
    try:
        for module, name, value in places:
            setattr(module, name, stand_ins[value])
        SAMPLINGS.update({name: tape.sampled(sampling) for name, sampling in samplings.items()})
        with np.errstate(over="ignore"):  # keys are mixed modulo 2^64
            yield
    finally:
        SAMPLINGS.update(samplings)
        for module, name, value in places:
            setattr(module, name, value)


_signature = cache(inspect.signature)


@cache
def _mechanisms() -> tuple[Callable, ...]:
    functions = [value for value in vars(mechanisms).values() if inspect.isfunction(value)]
    return tuple(f for f in functions if {"epsilon", "sensitivity"} <= inspect.signature(f).parameters.keys())


@cache
def _places(functions: frozenset[Callable]) -> list[tuple]:
    """Return (module, name, function) of these functions in the modules of algorithms, and of what is audited."""
    modules = [module for name, module in sorted(sys.modules.items()) if name.partition(".")[0] in _PACKAGES]
    found = [(m, name, value) for m in modules for name, value in vars(m).items() if inspect.isfunction(value)]
    return [place for place in found if place[2] in functions]


_PACKAGES = {"algorithms"}


def watch_class(cls: type) -> None:
    """Watch what the module of an estimator's class has imported, and that module itself."""
    _PACKAGES.add(cls.__module__.partition(".")[0])
    _places.cache_clear()  # what the module imports may be new
