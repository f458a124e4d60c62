"""What the first fit costs where nothing has been compiled: processor seconds, in a process with an empty cache.

Processor seconds, since these stay the same on a busy machine. The start of Python, the imports and the rows do not
count: the row "second start" is the same fit in another process, with the machine code on disk.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence

import datasets
from experiments.speed.measurement import Measurement, configure, run_apart

KINDS = ("rdt", "edprf", "thrifty_tree", "diffpets", "rfdpp_gini", "diffprf", "diffprfs_ig")
N_ROWS = 100


def measure_cold_starts() -> list[Measurement]:
    """Measure the first fit of each kind of forest, and of all kinds in one process."""
    measurements = []
    for kind in KINDS:
        seconds, _ = _measure_twice(kind)
        measurements.append(Measurement(f"first fit of {configure(kind).what}", seconds, 6, "s"))
    first, second = _measure_twice(*KINDS)
    measurements.append(Measurement("first fits of all kinds, one after the other", first, 25, "s"))
    return [*measurements, Measurement("the same on a second start", second, 2, "s")]


def _measure_twice(*kinds: str) -> tuple[float, float]:
    """Return the processor seconds of first fits with an empty cache, and then with the machine code on disk."""
    with tempfile.TemporaryDirectory() as folder:
        first, second = (run_apart(measure_here, kinds, NUMBA_CACHE_DIR=folder) for _ in range(2))
        return first, second


def measure_here(kinds: Sequence[str]) -> float:
    """Return the processor seconds that first fits of some kinds take in this process, a few rows of Adult each."""
    data = datasets.load("adult")
    rows, target = data.frame[:N_ROWS], data.target.to_numpy()[:N_ROWS]
    models = [configure(kind, epsilon=1.0, domain=data.domain).model for kind in kinds]
    start = time.process_time()
    for model in models:
        model.fit(rows, target)
    return time.process_time() - start
