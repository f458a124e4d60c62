"""A measurement beside what is aimed at, and tables of them on the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from rich.console import Console
from rich.table import Table


class Measurement(NamedTuple):
    """A row of a table.

    Parameters
    ----------
    what : str
        What was measured; ``ours / theirs`` where it is a ratio.
    value : float
        The measurement.
    aim : float
        The most that it should be; infinite where nothing is aimed at.
    unit : str
        Of both; nothing for a ratio.
    """

    what: str
    value: float
    aim: float = math.inf
    unit: str = ""


def print_table(title: str, measurements: Iterable[Measurement]) -> None:
    """Print measurements as a table.

    Examples
    --------
    >>> print_table("speed", [Measurement("fit / LinearRegression", 0.2517, 0.3), Measurement("start", 1.0, unit="s")])
    ... # doctest: +NORMALIZE_WHITESPACE, +ELLIPSIS
                   speed
    ...
    │ fit / LinearRegression │    0.252 │ <= 0.3 │
    │ start                  │      1 s │        │
    ...
    """
    table = Table("what", "measured", "aim", title=title)
    for row in measurements:
        aim = "" if math.isinf(row.aim) else f"<= {row.aim:g} {row.unit}"
        table.add_row(row.what, f"{row.value:.3g} {row.unit}", aim.rstrip())
    Console().print(table)
