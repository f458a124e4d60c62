"""What is seen of many trainings, and one stream of random numbers that begins anew for each.

Seen is the whole released model, as codes and numbers.

To make a numpy generator takes longer than to grow a small tree, so one is made for each thread and its state is set
anew for each training. What training i draws is a function of the key of the run and of i alone: neither the number of
threads nor the size of a block changes it.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from algorithms.accounting.privacy import Privacy
from algorithms.mechanisms import mix_bits
from algorithms.native import compiled


class RandomStream:
    """A numpy generator (PCG64) that can be set to where a training begins; its key is that of the run, of 64 bits.

    ``parts`` are what draws; its own memory, uint64 (4,), which is 128 bits of state, lower half first, then its
    increment, which stays; and the memory behind it, uint64 (1,), half of a number that was drawn and not used yet.

    Examples
    --------
    >>> stream = RandomStream(derive_key("an example"))
    >>> first, other = stream.start_training(0).random(), stream.start_training(1).random()
    >>> stream.start_training(0).random() == first != other
    True
    """

    def __init__(self, key: int | np.uint64):
        self.key = np.uint64(key)
        self._bits = np.random.PCG64(0)
        # Numpy's struct pcg64_state: a pointer to the state proper, then the unused half and whether there is one.
        outer = (ctypes.c_uint64 * 2).from_address(self._bits.ctypes.state_address)
        state = np.ctypeslib.as_array((ctypes.c_uint64 * 4).from_address(outer[0]))
        self.parts = np.random.Generator(self._bits), state, np.ctypeslib.as_array(outer)[1:]
        self.start_training(0)
        if self._bits.state["state"]["state"] != int(state[0]) + (int(state[1]) << 64):
            raise RuntimeError(
                f"numpy {np.__version__} keeps the state of PCG64 elsewhere than `RandomStream` in {__name__} expects"
            )

    def start_training(self, training: int) -> np.random.Generator:
        """Return the generator, set to the beginning of a training."""
        generator, state, rest = self.parts
        begin_training(state, rest, self.key, training)
        return generator


@compiled
def begin_training(state, rest, key, training):
    """Set a generator to the beginning of a training; ``state`` and ``rest`` are those of its `RandomStream`."""
    number = np.uint64(key) ^ mix_bits(np.uint64(training))
    state[0], state[1] = mix_bits(number), mix_bits(~number)
    rest[0] = 0


def derive_key(*parts: Any) -> int:
    """Return a key of 64 bits that is a function of plain values."""
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).digest()
    return int.from_bytes(digest[:8], "little")


class Observation(NamedTuple):
    """What n trainings released, looked at from several sides.

    A model may have T parts that are drawn alike, such as trees; a side then has a column for each.
    """

    codes: dict[str, np.ndarray]  #: int64 (n, T): discrete outcomes, equal where the outcome is
    numbers: dict[str, np.ndarray]  #: float64 (n, T): NaN where there is none

    def select(self, trainings: slice) -> Observation:
        """Return what some of the trainings released."""
        return Observation(*({side: values[trainings] for side, values in sides.items()} for sides in self))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of trainings and of parts."""
        sides = self.codes or self.numbers
        return next(iter(sides.values())).shape


class Observer:
    """An algorithm on one table, ready to be trained many times."""

    privacy: Privacy  #: what the algorithm claims, as its estimator says after a fit of this table

    def observe(self, first: int, n: int) -> Observation:
        """Train n times, training number ``first`` and those that follow it; the same numbers give the same models."""
        raise NotImplementedError

    def describe_side(self, side: str, training: int, part: int) -> str:
        """Return in words what a side of the model is in one training, in one of its parts; numbers have no words."""
        raise KeyError(side)


def join_observations(observations: Sequence[Observation]) -> Observation:
    """Return one observation of all trainings, in order."""
    joined = []
    for blocks in zip(*observations, strict=True):  # codes, then numbers
        joined.append({side: np.concatenate([block[side] for block in blocks]) for side in blocks[0]})
    return Observation(*joined)
