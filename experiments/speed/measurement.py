"""A measurement beside what is aimed at, and tables of them on the terminal; and what a command takes."""

from __future__ import annotations

import math
import resource
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from algorithms.installation import PREFIX
from experiments.processes import make_environment


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


class Taken(NamedTuple):
    """What a command took: seconds by the clock, of the processor, and the peak memory of its largest process in MB."""

    seconds: float
    processor_seconds: float
    megabytes: float


def run_on_store(folder: str, *words: str) -> Taken:
    """Run a command with its results in a folder, and return what it took; processor seconds without workers'."""
    program = f"import atexit; from {__name__} import tell_what_it_took; atexit.register(tell_what_it_took); "
    program += f"from {PREFIX}experiments.command_line import main; main()"
    command = [sys.executable, "-c", program, *words, f"results={folder}"]
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=make_environment())
    return Taken(time.perf_counter() - started, *map(float, done.stderr.split()[-2:]))


def tell_what_it_took() -> None:
    """Print the processor seconds of this process and the peak memory of the largest one, itself or a worker, in MB."""
    own, workers = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = max(read_status("VmHWM"), workers.ru_maxrss / 1024)
    print(own.ru_utime + own.ru_stime, peak, file=sys.stderr)


def read_status(name: str) -> float:
    """Read an entry of Linux's account of this process in MB; ``ru_maxrss`` would begin at the peak of its parent."""
    _, _, rest = Path("/proc/self/status").read_text().partition(f"\n{name}:")
    return int(rest.split()[0]) / 1024


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
