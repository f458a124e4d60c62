"""What is measured, how, and beside what is aimed at: algorithms as they are configured, commands, tables of it all."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from experiments.config import estimators
from experiments.processes import build_command, make_environment


class Measurement(NamedTuple):
    """A row of a table."""

    what: str  #: ``ours / theirs`` where it is a ratio
    value: float
    aim: float = math.inf  #: the most that it should be; infinite where nothing is aimed at
    unit: str = ""  #: of both; nothing for a ratio


class Taken(NamedTuple):
    """What a command took: seconds by the clock, of the processor, and the peak memory of its largest process in MB."""

    seconds: float
    processor_seconds: float
    megabytes: float


def run_on_store(folder: str, *words: str) -> Taken:
    """Run a command with its results in a folder, and return what it took; processor seconds without workers'."""
    command = build_command("experiments", *words, f"results={folder}")
    started = time.perf_counter()
    process = subprocess.Popen(
        command, env=make_environment(), process_group=0, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    peaks, has_ended = [0.0], threading.Event()
    watch = threading.Thread(target=_watch_peaks, args=(process.pid, peaks, has_ended))
    watch.start()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    has_ended.set()
    watch.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Taken(seconds, usage.ru_utime + usage.ru_stime, max(peaks))


def _watch_peaks(group: int, peaks: list[float], has_ended: threading.Event) -> None:
    """Note the peak memory of the processes of a group, again and again until the first of them has ended.

    Workers are forked by a server for which nobody waits, so that no account of children holds them.
    """
    while not has_ended.wait(0.05):
        for number in filter(str.isdecimal, os.listdir("/proc")):
            with suppress(OSError, IndexError):  # it may end meanwhile
                if os.getpgid(int(number)) == group:
                    peaks.append(read_status("VmHWM", number))


def run_apart(function: Callable, asked: Any, **variables: str) -> Any:
    """Return what a function gives in a process of its own, with variables of its environment.

    It is one of a module, and what it is asked and gives are such as JSON can hold.
    """
    code = f"import json, sys; from {function.__module__} import {function.__name__} as answer"
    code += "; print(json.dumps(answer(json.load(sys.stdin))))"
    command, environment = [sys.executable, "-c", code], make_environment(**variables)
    done = subprocess.run(
        command, env=environment, check=True, input=json.dumps(asked), stdout=subprocess.PIPE, text=True
    )
    return json.loads(done.stdout)


def time_call(run: Callable[[], object]) -> float:
    """Return the seconds that a call takes by the clock."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def read_status(name: str, process: str = "self") -> float:
    """Read an entry of Linux's account of a process in MB; ``ru_maxrss`` would begin at the peak of its parent."""
    _, _, rest = Path(f"/proc/{process}/status").read_text().partition(f"\n{name}:")
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


def print_tables(tables: Mapping[str, Iterable[Callable[[], list[Measurement]]]]) -> None:
    """Measure and print everything, by the titles of tables, a table as soon as it is complete."""
    for title, functions in tables.items():
        print_table(title, chain.from_iterable(measure() for measure in functions))


_READINGS = ("cut", "continuous", "nominal_split")
"""Readings on which the time of a fit depends: a row names those that its algorithm has."""


class Configured(NamedTuple):
    """An algorithm as it is timed."""

    what: str
    model: Any


def configure(name: str, *, epsilon: float = math.inf, domain: Any = None, **changed: Any) -> Configured:
    """Build an algorithm from its file in the catalogue, and say what is not as configured.

    Changed are parameters that are to have other values than the file, or the class where the file is silent, gives
    them.

    Examples
    --------
    >>> what, model = configure("diffpets", n_estimators=10, max_depth=8)
    >>> what
    'diffpets (cut=value), but max_depth=8'
    >>> model.cut, model.max_depth
    ('value', 8)
    """
    given = {"epsilon": epsilon, "domain": domain, "random_state": 0}
    usual = estimators.make_estimator(name, estimators.merge_parameters(name), **given).get_params()
    model = estimators.make_estimator(name, estimators.merge_parameters(name, changed), **given)
    other = {key: value for key, value in changed.items() if value != usual[key]}
    words = ", ".join(f"{key}={value}" for key, value in other.items())
    return Configured(_name_readings(name, model, other) + (f", but {words}" if words else ""), model)


def _name_readings(name: str, model: Any, other: Mapping[str, Any]) -> str:
    """Return a name with the configured readings of the printed algorithm; a sound variant follows none."""
    has_readings = getattr(model, "variant", None) == "paper"
    keys = [key for key in _READINGS if has_readings and hasattr(model, key) and key not in other]
    return f"{name} ({', '.join(f'{key}={getattr(model, key)}' for key in keys)})" if keys else name
