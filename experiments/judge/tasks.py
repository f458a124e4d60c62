"""Tasks that judge or draw: pure functions of what they hold, so that anything may run them, in any order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

T = TypeVar("T")


class RunTasks(Protocol):
    """Runs tasks and returns what each gives, in their order."""

    def __call__(self, tasks: Iterable[Callable[[], T]], /) -> list[T]:
        """Run them."""


def run_here(tasks: Iterable[Callable[[], T]]) -> list[T]:
    """Run tasks one after the other, in this process.

    Examples
    --------
    >>> from functools import partial
    >>> run_here([partial(pow, 2, 3), partial(pow, 2, 4)])
    [8, 16]
    """
    return [task() for task in tasks]
