"""Lines of a user's own code: which of them called a mechanism, and which let out what no mechanism has protected.

Where a released model is another though all draws agree, the training is followed line by line three times, every
mechanism giving what it gave before: on the table, on its neighbour, and on the table with another seed. If the seed
makes a difference, noise was drawn outside of the mechanisms, and the first line that holds a number which the other
seed does not give has drawn it. If not, a number without noise is released, and the line is the one that put it into
the model.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from experiments.audit.replay.reachable_state import list_reachable

MOST_STEPS = 20_000
"""Lines that are followed of one training; what comes later is not told apart."""
Modules = frozenset[str]


def find_calling_line(modules: Modules) -> str:
    """Return the innermost line of some modules that is being run, as ``file:line``; nothing if there is none.

    Examples
    --------
    >>> find_calling_line(frozenset({"elsewhere"}))
    ''
    """
    frame = inspect.currentframe() if modules else None
    while frame is not None:
        if frame.f_globals.get("__name__") in modules:
            return _name_line(frame, frame.f_lineno)
        frame = frame.f_back
    return ""


def _name_line(frame: FrameType, line: int) -> str:
    """Return a line by the name of its module: the folder that it lies in is that of one machine."""
    return f"{frame.f_globals['__name__'].replace('.', '/')}.py:{line}"


class Step(NamedTuple):
    """What a line left behind: the numbers in its variables, and those that the model holds."""

    line: str
    numbers: frozenset[str]
    held: frozenset[str]


class LineRecorder:
    """Records what each line of some modules leaves behind while a model is trained, in the order of the run."""

    def __init__(self, modules: Modules, model: Any):
        self.steps: list[Step] = []
        self._modules, self._model = modules, model
        self._last_lines: dict[int, int] = {}

    @contextmanager
    def following(self) -> Iterator[None]:
        """Follow what is run; whoever followed it before goes on afterwards."""
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            yield
        finally:
            sys.settrace(before)

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Callable | None:
        if frame.f_globals.get("__name__") not in self._modules:
            return None
        self._last_lines[id(frame)] = frame.f_lineno
        return self._step

    def _step(self, frame: FrameType, event: str, argument: Any) -> Callable | None:
        """Note what the line before has left, now that another begins or the function returns."""
        if len(self.steps) >= MOST_STEPS:
            return None
        variables = [value for value in frame.f_locals.values() if value is not self._model]
        held = list_numbers(vars(self._model).items())
        numbers = held | list_numbers(("", value) for value in variables)
        self.steps.append(Step(_name_line(frame, self._last_lines[id(frame)]), numbers, held))
        self._last_lines[id(frame)] = frame.f_lineno
        return self._step


def list_numbers(parts: Iterable[tuple[str, Any]]) -> frozenset[str]:
    """Return the numbers and arrays that can be reached from some values, as text, but for a seed and what draws.

    Examples
    --------
    >>> sorted(list_numbers([("counts_", [np.array([1]), 2.5]), ("random_state", 7)]))
    ['2.5', "<i8 (1,) '0100000000000000'"]
    """
    numbers: set[str] = set()
    for name, value in parts:
        if name == "random_state" or isinstance(value, np.random.Generator | np.random.RandomState):
            continue
        try:
            numbers |= {text for _, text in list_reachable(value)}
        except (TypeError, RecursionError):  # a frame of rows, say: nothing that noise was added to
            continue
    return frozenset(numbers)


def find_drawing_line(steps: list[Step], other_seed: list[Step]) -> str:
    """Return the first line that holds a number, with a fraction or in an array of such, which another seed changes."""
    for step, other in zip(steps, other_seed, strict=False):
        if any(map(_has_fractions, step.numbers - other.numbers)):
            return step.line
    return ""


def _has_fractions(text: str) -> bool:
    """Return whether a text stands for floating-point numbers: seeds and rows that are drawn are whole ones.

    Examples
    --------
    >>> [_has_fractions(text) for text in ("np.float64(0.5)", "0.25", "17", "<f8 (1,) '00'", "<i8 (1,) '00'", "'a.b'")]
    [True, True, False, True, False, False]
    """
    if text.startswith("<"):
        return text.startswith("<f")
    return "." in text and not text.startswith(("'", '"'))


def find_releasing_line(steps: list[Step], on_neighbour: list[Step], released: frozenset[str]) -> str:
    """Return the line that put a number into the model which the neighbour changes and which is released.

    ``released`` is what is released of the training on the table that is not of the one on its neighbour; where nothing
    of it is held, all that differs counts.
    """
    if not steps or not on_neighbour:
        return ""
    differing = steps[-1].held - on_neighbour[-1].held
    wanted = (differing & released) or differing
    return next((step.line for step in steps if step.held & wanted), "")
