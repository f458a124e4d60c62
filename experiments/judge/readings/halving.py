"""Run many readings a little, and those that lead somewhere more.

Successive halving (Jamieson and Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization",
AISTATS 2016) gives all arms a small budget, drops the worse ones, and doubles the budget of the rest. Theirs drops half
of the arms each time; here one is dropped only where it is clear that it is not among the best, so that a set of the
best can still be stated. What is dropped follows from the cells alone, never from their order or number at once.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from typing import TypeVar

from experiments.cells.cell import Cell
from experiments.store.record import Record

Name = TypeVar("Name", bound=Hashable)
Result = TypeVar("Result")
Race = Generator[list[Cell], Mapping[str, Record], Result]
"""Asks for cells, is sent the records that there are by key, asks for more, and returns what came out."""


def list_stages(first: int, last: int) -> list[int]:
    """Return the numbers of repeats after which readings are looked at: doubled each time.

    Examples
    --------
    >>> list_stages(2, 10), list_stages(4, 3)
    ([2, 4, 8, 10], [3])
    """
    stages = []
    while first < last:
        stages.append(first)
        first *= 2
    return [*stages, last]


def find_hopeless(bounds: Sequence[tuple[float, float]]) -> list[int]:
    """Return the positions of those that are clearly worse than another: even their least loss is beyond its largest.

    Examples
    --------
    >>> find_hopeless([(0.0, 2.0), (1.0, 3.0), (2.5, 9.0)])
    [2]
    """
    reach = min((high for _, high in bounds), default=0.0)
    return [place for place, (low, _) in enumerate(bounds) if low > reach]


def run_races(
    races: Mapping[Name, Race[Result]], run: Callable[[dict[Name, list[Cell]]], Mapping[str, Record]]
) -> dict[Name, Result]:
    """Run several races side by side, what all of them ask for at once; return what came out of each."""
    results: dict[Name, Result] = {}
    asked = {name: next(race) for name, race in races.items()}
    while asked:
        records, further = run(asked), {}
        for name in asked:
            try:
                further[name] = races[name].send(records)
            except StopIteration as end:
                results[name] = end.value
        asked = further
    return {name: results[name] for name in races}
