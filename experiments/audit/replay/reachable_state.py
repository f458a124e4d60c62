"""Everything that can be reached from an object: what leaves with it, whether meant to or not.

A release is compared between neighbouring tables by all of this, not by what it prints: by what closures remember, by
the arrays that an array is a view of, by the state of generators. What cannot be looked into to the end is an error.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator

import numpy as np

_PLAIN = (type(None), bool, int, float, complex, str, bytes)


def list_reachable(thing, path: str = "release") -> Iterator[tuple[str, str]]:
    """Yield all that can be reached from an object, each with the way there.

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
    return _atoms(thing, path, {})


def _atoms(thing, path: str, seen: dict[int, object]) -> Iterator[tuple[str, str]]:
    if type(thing) in _PLAIN or isinstance(thing, np.generic):
        yield path, repr(thing)
    elif isinstance(thing, type | types.ModuleType):
        yield path, thing.__name__
    elif id(thing) not in seen:
        seen[id(thing)] = thing  # kept, so that nothing else gets its number
        if type(thing) is np.ndarray and thing.dtype != object:
            yield path, f"{thing.dtype.str} {thing.shape} {np.ascontiguousarray(thing).tobytes().hex()!r}"
        for name, part in _parts(thing):
            yield from _atoms(part, f"{path}{name}", seen)


def _parts(thing) -> Iterator[tuple[str, object]]:
    """Yield what an object holds, each part with how it is reached from there."""
    if type(thing) is np.ndarray:
        if thing.dtype == object:
            yield from ((f"[{i}]", part) for i, part in enumerate(thing.ravel().tolist()))
        if thing.base is not None:
            yield ".base", thing.base
    elif type(thing) is dict:
        yield from ((f"[{key!r}]", part) for key, part in thing.items())
    elif isinstance(thing, tuple) and hasattr(thing, "_fields"):
        yield from zip(map(".{}".format, thing._fields), thing, strict=True)
    elif type(thing) in (list, tuple):
        yield from ((f"[{i}]", part) for i, part in enumerate(thing))
    elif type(thing) in (set, frozenset):
        yield from ((f"[{i}]", part) for i, part in enumerate(sorted(thing, key=repr)))
    elif isinstance(thing, types.FunctionType):
        yield from _parts_of_function(thing)
    elif isinstance(thing, types.MethodType):
        yield from ((".__self__", thing.__self__), (".__func__", thing.__func__))
    elif isinstance(thing, types.BuiltinFunctionType):
        yield from ((".__name__", thing.__name__), (".__self__", thing.__self__))
    elif type(thing) is functools.partial:
        yield from ((".func", thing.func), (".args", thing.args), (".keywords", thing.keywords))
    elif isinstance(thing, np.random.Generator):
        yield ".bit_generator", thing.bit_generator.state
    else:
        yield from _parts_of_object(thing)


def _parts_of_function(function: types.FunctionType) -> Iterator[tuple[str, object]]:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    yield from ((f".{name}", cell.cell_contents) for name, cell in cells)
    for name in ("__defaults__", "__kwdefaults__", "__dict__"):
        yield f".{name}", getattr(function, name)


def _parts_of_object(thing) -> Iterator[tuple[str, object]]:
    """Yield the attributes of an object whose class keeps nothing elsewhere."""
    own = [cls for cls in type(thing).__mro__ if cls is not object]
    keeps_elsewhere = any(cls.__module__ in ("builtins", "numpy") or vars(cls).get("__slots__") for cls in own)
    if keeps_elsewhere or not hasattr(thing, "__dict__"):
        raise TypeError(f"cannot look into {type(thing).__name__}")
    yield from ((f".{name}", part) for name, part in vars(thing).items())
