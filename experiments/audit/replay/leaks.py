"""What no mechanism has protected: all that can be reached from a release, and the line of a user's code it is from.

A release is compared between neighbouring tables by everything that can be reached from it, whether meant to leave or
not, and not by what it prints: by what closures remember, by the arrays that an array is a view of, by the state of
generators. What cannot be looked into to the end is an error.

Where a released model is another though all draws agree, the training is followed line by line three times, every
mechanism giving what it gave before: on the table, on its neighbour, and on the table with another seed. If the seed
makes a difference, noise was drawn outside of the mechanisms, and the first line that holds a number which the other
seed does not give has drawn it. If not, a number without noise is released, and the line is the one that put it into
the model.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

MOST_STEPS = 20_000  #: lines that are followed of one training; what comes later is not told apart
Modules = frozenset[str]
_PLAIN = (type(None), bool, int, float, complex, str, bytes)


def list_reachable(thing: Any, path: str = "release") -> Iterator[tuple[str, str]]:
    """Yield all plain values that can be reached from an object, with the way there; TypeError where one is closed.

    Examples
    --------
    >>> def counter(rows):
    ...     return lambda: len(rows)
    >>> list(list_reachable({"n": 3, "count": counter([7, 8])}))[:3]
    [("release['n']", '3'), ("release['count'].rows[0]", '7'), ("release['count'].rows[1]", '8')]
    >>> list(list_reachable(np.arange(4)[:1]))[1]  # the view remembers the rest
    ('release.base', "<i8 (4,) '0000000000000000010000000000000002000000000000000300000000000000'")
    """
    return _walk_object(thing, path, {})


def _walk_object(thing: Any, path: str, seen: dict[int, object]) -> Iterator[tuple[str, str]]:
    if type(thing) in _PLAIN or isinstance(thing, np.generic):
        yield path, repr(thing)
    elif isinstance(thing, type | types.ModuleType):
        yield path, thing.__name__
    elif id(thing) not in seen:
        seen[id(thing)] = thing  # kept, so that nothing else gets its number
        if type(thing) is np.ndarray and thing.dtype != object:
            yield path, f"{thing.dtype.str} {thing.shape} {np.ascontiguousarray(thing).tobytes().hex()!r}"
        for name, part in _list_parts(thing):
            yield from _walk_object(part, f"{path}{name}", seen)


Parts = Iterable[tuple[str, Any]]  #: what an object holds, each part with how it is reached from there


def _list_parts(thing: Any) -> Parts:
    if type(thing) is np.ndarray:
        return _list_parts_of_array(thing)
    if type(thing) is dict:
        return _label_parts("[{!r}]", thing.items())
    if isinstance(thing, tuple) and hasattr(thing, "_fields"):
        return _label_parts(".{}", zip(thing._fields, thing, strict=True))
    if type(thing) in (list, tuple):
        return _label_parts("[{}]", enumerate(thing))
    if type(thing) in (set, frozenset):
        return _label_parts("[{}]", enumerate(sorted(thing, key=repr)))
    if isinstance(thing, types.FunctionType):
        return _list_parts_of_function(thing)
    if isinstance(thing, types.MethodType):
        return _list_attributes(thing, "__self__", "__func__")
    if isinstance(thing, types.BuiltinFunctionType):
        return _list_attributes(thing, "__name__", "__self__")
    if type(thing) is functools.partial:
        return _list_attributes(thing, "func", "args", "keywords")
    if isinstance(thing, np.random.Generator):
        return [(".bit_generator", thing.bit_generator.state)]
    return _list_parts_of_object(thing)


def _label_parts(label: str, parts: Iterable[tuple[Any, Any]]) -> Parts:
    for key, part in parts:
        yield label.format(key), part


def _list_attributes(thing: Any, *names: str) -> Parts:
    for name in names:
        yield f".{name}", getattr(thing, name)


def _list_parts_of_array(array: np.ndarray) -> Parts:
    if array.dtype == object:
        yield from _label_parts("[{}]", enumerate(array.ravel().tolist()))
    if array.base is not None:
        yield ".base", array.base


def _list_parts_of_function(function: types.FunctionType) -> Parts:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield f".{name}", cell.cell_contents
    yield from _list_attributes(function, "__defaults__", "__kwdefaults__", "__dict__")


def _list_parts_of_object(thing: Any) -> Parts:
    """Return the attributes of an object whose class keeps nothing elsewhere."""
    for cls in type(thing).__mro__:
        keeps_elsewhere = cls.__module__ in ("builtins", "numpy") or vars(cls).get("__slots__")
        if cls is not object and keeps_elsewhere:
            raise TypeError(f"cannot look into {type(thing).__name__}")
    if not hasattr(thing, "__dict__"):
        raise TypeError(f"cannot look into {type(thing).__name__}")
    return _label_parts(".{}", vars(thing).items())


# Lines.


def find_calling_line(modules: Modules) -> str:
    """Return the innermost line of some modules that is being run, as ``file:line``; nothing if there is none."""
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
        of_class = [value for value in frame.f_locals.values() if type(value) is type(self._model)]
        self._model = next(iter(of_class), self._model)  # a fit may be done on a copy, see ``algorithms.fitting``
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
