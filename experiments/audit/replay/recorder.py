"""Record every mechanism call of one training run, and replay the outcomes in another run.

What is random and not a mechanism, such as the features of a node, comes from the same stream both times. To keep it
aligned, mechanisms draw from a generator of their own. Noise that is a function of a key is aligned by key; an answer
that was not given is that of a node without rows. Below such a node nothing is left to keys here: all is grown.

Compiled code cannot be recorded: this takes plain Python.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from algorithms import mechanisms
from algorithms.forests.engine import lazy
from algorithms.forests.forest import SAMPLINGS
from algorithms.installation import name_package
from algorithms.opendp_noise import is_secure
from experiments.audit.replay.leaks import find_calling_line

ANOTHER_SEED = 2
MAXIMUM = "sup_norm_vector"
"""The mechanism whose sensitivity is about the entry that changes most, not about all changes together."""


@dataclass(frozen=True, eq=False)
class MechanismCall:
    """One call of a mechanism."""

    mechanism: str  #: its name in ``algorithms.mechanisms``
    protected: np.ndarray  #: float64 (r,): numbers, or the score of each candidate
    parameters: tuple[float, float, tuple | None]  #: epsilon, sensitivity and base measure, if there is one
    outcome: Any  #: what it gave
    is_choice: bool  #: whether it chooses among candidates by their scores, and does not release numbers
    is_monotone: bool = False  #: whether it is told that a record moves all scores one way: half of the noise will do
    line: str = ""  #: of a user's own code that it comes from, as ``file:line``

    @property
    def description(self) -> str:
        """The mechanism, the number of candidates or values, and epsilon, as words."""
        how = ", monotone," if self.is_monotone else ""
        return f"{self.mechanism}{how} of {len(self.protected)} with epsilon {self.parameters[0]:.6g}"

    def measure_change(self, other: MechanismCall) -> float:
        """Return the largest change of a score that can be chosen, or the change of all numbers, in their norm.

        A monotone choice sees differences of scores only, with noise for those that move one way: its change is from
        the score that fell most to the one that rose most.
        """
        can_be_chosen = np.maximum(self._base_measure(), other._base_measure()) > 0
        is_moved = can_be_chosen & (self.protected != other.protected)
        changes = other.protected[is_moved] - self.protected[is_moved]
        if self.is_monotone:
            return float(changes.max(initial=0.0) - changes.min(initial=0.0))
        sizes = np.abs(changes)
        if self.is_choice or self.mechanism == MAXIMUM:
            return float(sizes.max(initial=0.0))
        return math.fsum(sizes)

    def _base_measure(self) -> np.ndarray:
        measure = self.parameters[2]
        return np.array(measure) if measure else np.ones_like(self.protected)

    def compute_cost(self, change: float) -> float:
        """Return how much epsilon a change of what is protected costs."""
        epsilon, sensitivity, _ = self.parameters
        if change == 0 or math.isinf(epsilon):
            return math.inf if change else 0.0
        return epsilon * (max(1.0, change / sensitivity) if self.is_choice else change / sensitivity)


@dataclass(frozen=True)
class Violation:
    """What a proof of privacy does not allow."""

    kind: str  #: the rule, see `replay_audit`
    pair: str = field(default="", kw_only=True)  #: of tables between which it was seen
    what: str  #: was seen
    words: str  #: for a reader
    line: str = ""  #: ``file:line`` if that is in a user's own code

    @property
    def reason(self) -> str:
        """What is wrong, and where."""
        return f"{self.words}, {self.line}" if self.line else self.words


class RunsDiverged(Exception):
    """The run on the neighbouring table asks for something else, in ``line``: nothing can be compared from here on."""

    def __init__(self, what: str, line: str = ""):
        super().__init__(what)
        self.line = line


class CallRecorder:
    """Records the mechanism calls of one run; given the recorder of a first run, it repeats the outcomes of that run.

    Those that are drawn have a seed. Calls are traced back to lines of ``own_modules``, which are a user's.
    """

    def __init__(
        self, first: CallRecorder | None = None, seed: int = ANOTHER_SEED, own_modules: frozenset[str] = frozenset()
    ):
        self.first, self.own_modules = first, own_modules
        self.calls: list[MechanismCall] = []  # in the order of the run, without those that have a key
        self.keyed_calls: dict[int, MechanismCall] = {}  # those whose noise is a function of a key, by that key
        self.samples: list[list[np.ndarray]] = []  # the rows of each tree of each forest, in the order of the run
        self.violations: list[Violation] = []
        self._n_rows = 0
        self._stream_starts: set[str] = set()
        self._rng = np.random.default_rng(seed)
        self._is_inside = False

    def record_mechanism(self, mechanism: Callable) -> Callable:
        """Return a stand-in for a mechanism, whose calls are recorded, and answered as in the first run."""
        signature = _read_signature(mechanism)
        names = tuple(signature.parameters)

        def stand_in(*args, **kwargs):
            if self._is_inside:  # one mechanism may call another
                return mechanism(*args, **kwargs)
            if kwargs:
                arguments = signature.bind(*args, **kwargs).arguments
            else:  # the same, in a tenth of the time
                arguments = dict(zip(names[: len(args)], args, strict=True))
            if "rng" in arguments:
                self._check_stream(arguments["rng"])
                arguments["rng"] = self._rng
            self._is_inside = True
            try:
                return self._answer_call(mechanism, arguments)
            finally:
                self._is_inside = False

        return stand_in

    def _check_stream(self, rng: np.random.Generator) -> None:
        """Note where a call would begin to draw: two that begin at the same number would draw the same noise."""
        if is_secure(rng):  # its noise comes from elsewhere
            return
        begins_at = repr(rng.bit_generator.state)
        if begins_at in self._stream_starts:
            self._note_shared_noise("two calls draw the same numbers")
        self._stream_starts.add(begins_at)
        rng.random()  # the mechanism would have taken some

    def _note_shared_noise(self, what: str) -> None:
        line = find_calling_line(self.own_modules)
        self.violations.append(Violation("noise", what, "two answers share their noise", line))

    def _answer_call(self, mechanism: Callable, arguments: dict) -> Any:
        name = next(name for name in arguments if name not in ("key", "rng"))
        measure = tuple(np.asarray(arguments["measure"]).tolist()) if "measure" in arguments else None
        parameters = float(arguments["epsilon"]), float(arguments["sensitivity"]), measure
        protected = np.atleast_1d(np.array(arguments[name], dtype=np.float64))
        is_monotone = bool(arguments.get("monotone", False))
        line = find_calling_line(self.own_modules)
        call = MechanismCall(mechanism.__name__, protected, parameters, None, name == "quality", is_monotone, line)
        if "key" in arguments:
            outcome = self._answer_by_key(mechanism, arguments, name)
            self._record_key(int(arguments["key"]), replace(call, outcome=outcome))
            return outcome
        outcome = mechanism(**arguments) if self.first is None else self._repeat_outcome(self.first, call)
        self.calls.append(replace(call, outcome=outcome))
        return outcome

    def _answer_by_key(self, mechanism: Callable, arguments: dict, name: str) -> Any:
        if self.first is None:
            return mechanism(**arguments)
        first_call = self.first.keyed_calls.get(int(arguments["key"]))
        if first_call is None:
            # A leaf that the first run did not grow held no rows: its answer is that of a count of 0.
            return mechanism(**(arguments | {name: 0.0}))
        return first_call.outcome

    def _record_key(self, key: int, call: MechanismCall) -> None:
        """Record a call by its key: another one of the same key would have the same noise."""
        if key in self.keyed_calls and not np.array_equal(self.keyed_calls[key].protected, call.protected):
            self._note_shared_noise("two answers have the noise of one key")
        self.keyed_calls[key] = call

    def _repeat_outcome(self, first: CallRecorder, call: MechanismCall) -> Any:
        place, first_calls = len(self.calls), first.calls
        expected = first_calls[place].description if place < len(first_calls) else "nothing more"
        if call.description != expected:
            raise RunsDiverged(f"call {place + 1} is {call.description}, not {expected}", call.line)
        return first_calls[place].outcome

    def record_sampling(self, sampling: Callable) -> Callable:
        """Return a stand-in for a way of drawing the rows of trees; where rows differ, it repeats the first run's."""

        def stand_in(n_rows: int, n_trees: int, rng: np.random.Generator) -> list[np.ndarray]:
            if is_secure(rng):  # it draws from the operating system, never twice the same
                rng = np.random.default_rng(0)
            self._n_rows = n_rows
            samples = list(sampling(n_rows, n_trees, rng))
            if self.first is not None:
                samples = self._repeat_samples(self.first, samples)
            elif not are_equal_arrays(samples, samples[:1] * n_trees):
                again = list(sampling(n_rows, n_trees, np.random.default_rng(ANOTHER_SEED)))
                if are_equal_arrays(samples, again):
                    what = "rows are given to trees by their position"
                    self.violations.append(Violation("sampling", what, what))
            self.samples.append(samples)
            return samples

        return stand_in

    def _repeat_samples(self, first: CallRecorder, samples: list[np.ndarray]) -> list[np.ndarray]:
        if len(self.samples) == len(first.samples):
            raise RunsDiverged(f"a forest more than {len(first.samples)} draws its rows")
        n_shared = min(self._n_rows, first._n_rows)
        first_samples = _list_shared_rows(first.samples[len(self.samples)], n_shared)
        if are_equal_arrays(_list_shared_rows(samples, n_shared), first_samples):
            return samples
        what = "records other than the one that differs are in other trees, or as often"
        self.violations.append(Violation("sampling", what, "one record moves others from tree to tree"))
        extra = np.arange(n_shared, self._n_rows, dtype=np.uint32)
        return [np.concatenate([rows, extra]) for rows in first_samples]

    @property
    def repeats_rows(self) -> bool:
        """Whether a record is in the sample of a tree more than once."""
        return any(len(np.unique(rows)) < len(rows) for samples in self.samples for rows in samples)


def _list_shared_rows(samples: list[np.ndarray], n_shared: int) -> list[np.ndarray]:
    return [rows[rows < n_shared] for rows in samples]


def are_equal_arrays(arrays: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> bool:
    """Tell whether two lists hold the same arrays."""
    return len(arrays) == len(others) and all(map(np.array_equal, arrays, others))


def pair_calls(first: CallRecorder, second: CallRecorder) -> Iterator[tuple[MechanismCall, MechanismCall]]:
    """Yield the calls of both runs as far as the shorter one went, those that have keys by these.

    A call by a key that only one run made protects nothing in the other.
    """
    yield from zip(first.calls, second.calls, strict=False)
    for key in sorted(first.keyed_calls.keys() | second.keyed_calls.keys()):
        call = first.keyed_calls.get(key) or _empty_call(second.keyed_calls[key])
        other = second.keyed_calls.get(key) or _empty_call(first.keyed_calls[key])
        yield call, other


def _empty_call(call: MechanismCall) -> MechanismCall:
    """Return the same call about nothing."""
    return replace(call, protected=np.zeros_like(call.protected))


@contextmanager
def recording_calls(recorder: CallRecorder) -> Iterator[None]:
    """Put a recorder between the estimators and their mechanisms, wherever these were imported by name."""
    stand_ins = {mechanism: recorder.record_mechanism(mechanism) for mechanism in _list_mechanisms()}
    stand_ins[lazy.has_no_rows] = lambda counts: False  # nothing is left to keys
    places = _find_places(frozenset(stand_ins))
    samplings = dict(SAMPLINGS)
    try:
        for module, name, function in places:
            setattr(module, name, stand_ins[function])
        for name, sampling in samplings.items():
            SAMPLINGS[name] = recorder.record_sampling(sampling)
        with np.errstate(over="ignore"):  # keys are mixed modulo 2^64
            yield
    finally:
        SAMPLINGS.update(samplings)
        for module, name, function in places:
            setattr(module, name, function)


_read_signature = cache(inspect.signature)


@cache
def _list_mechanisms() -> tuple[Callable, ...]:
    functions = []
    for function in vars(mechanisms).values():
        if inspect.isfunction(function) and {"epsilon", "sensitivity"} <= _read_signature(function).parameters.keys():
            functions.append(function)
    return tuple(functions)


@cache
def _find_places(functions: frozenset[Callable]) -> list[tuple[ModuleType, str, Callable]]:
    """Return (module, name, function) of these functions in the modules of algorithms, and of what is audited."""
    places: list[tuple[ModuleType, str, Callable]] = []
    for module_name, module in sorted(sys.modules.items()):
        if name_package(module_name) not in _PACKAGES:
            continue
        for name, value in vars(module).items():
            if inspect.isfunction(value) and value in functions:
                places.append((module, name, value))
    return places


_PACKAGES = {name_package(mechanisms.__name__)}


def include_modules(names: Iterable[str]) -> None:
    """Record also what modules have imported that are none of ours, such as that of an estimator's class."""
    _PACKAGES.update(map(name_package, names))
    _find_places.cache_clear()  # what the module imports may be new
