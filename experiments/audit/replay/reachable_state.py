"""Everything that can be reached from an object: what leaves with it, whether meant to or not.

A release is compared between neighbouring tables by all of this, not by what it prints: by what closures remember, by
the arrays that an array is a view of, by the state of generators. What cannot be looked into to the end is an error.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

_PLAIN = (type(None), bool, int, float, complex, str, bytes)


def list_reachable(thing: Any, path: str = "release") -> Iterator[tuple[str, str]]:
    """Yield all plain values that can be reached from an object, each with the way there.

    Raises
    ------
    TypeError
        For an object that cannot be looked into.

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


Parts = Iterable[tuple[str, Any]]
"""What an object holds, each part with how it is reached from there."""


def _list_parts(thing: Any) -> Parts:
    """Return what an object holds."""
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
