"""The cell: the unit that is run, stored, resumed and retried.

A cell has two names. Its *identity* says what was asked for: data set, algorithm with its parameters, ε, repeat and
protocol. The seed comes from that alone, so rewriting code without changing a rule changes no digit. Its *key* adds
everything else that determines the value: the rows, their public domain, the code and the versions of the libraries.
Results are stored under the key; `current` says which of them would be found today, and what a key cannot know.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import shlex
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from algorithms.parameters import ParameterError, check_epsilon
from documents.large_numbers import TOO_LARGE, find_too_large
from experiments.cells import code_version
from experiments.config import estimators
from experiments.config.protocol import DEFAULT_PROTOCOL, Mark, Protocol
from experiments.errors import BadInput


@dataclass(frozen=True, eq=False)
class Cell:
    """One run of one algorithm with one budget on one split of one data set.

    Examples
    --------
    >>> cell = Cell("car", "majority", {}, math.inf, 0)
    >>> cell.identity
    '{"algorithm":"majority","dataset":"car","epsilon":"inf","params":{},"protocol":{"evaluate_on":"test","test_size":0.3},"repeat":0}'
    >>> cell.seed == Cell("car", "majority", {}, math.inf, 0).seed
    True
    """

    dataset: str  #: a file in ``conf/dataset``
    algorithm: str  #: as results name it
    params: dict  #: all that are set, defaults of ``conf/algorithm`` included
    epsilon: float  #: infinity for no noise; an algorithm without a budget is run all the same, under this label
    #: From 0. The split depends on it, but not on the algorithm: repeat r of every algorithm sees the same rows.
    repeat: int
    protocol: Protocol = DEFAULT_PROTOCOL  #: as `read_protocol` returns it
    #: What is measured beside what is measured always. It is part of neither identity nor key: a cell that lacks a
    #: metric is run again, with the same seed.
    metrics: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        """What was asked for, as canonical JSON; not kept, since a million of them would take 300 MB."""
        return f'{self._setting[:-1]},"repeat":{self.repeat}}}'  # the last key in order, so that the rest is shared

    @cached_property
    def key(self) -> str:
        """SHA-256 over everything that determines the value of this cell, as 64 hexadecimal digits."""
        return _hash_texts(self.identity, self._behind)

    @property
    def setting_key(self) -> str:
        """The same over all but the repeat: one key for the cells that are averaged."""
        return _hash_texts(self._setting, self._behind)

    def repeats(self, which: Iterable[int]) -> list[Cell]:
        """Return the cells that differ from this one in their repeat alone; they share what follows from the rest."""
        shared = {**vars(self), "_setting": self._setting, "_behind": self._behind}
        shared.pop("key", None)  # cached, and different in each repeat
        cells = []
        for repeat in which:
            cell = object.__new__(Cell)  # dataclasses.replace would take half of the planning
            cell.__dict__.update(shared, repeat=repeat)
            cells.append(cell)
        return cells

    @property
    def seed(self) -> int:
        """Random state of the algorithm, 32 bits, from the identity alone; with common noise from a part of it.

        An algorithm that takes no ε is the same model at every ε, so it has the seed of ε = ∞.
        """
        if self.protocol.common_noise:
            words = self._identity_of_noise
        else:
            words = (self if estimators.takes_epsilon(self.algorithm) else replace(self, epsilon=math.inf)).identity
        entropy = int.from_bytes(hashlib.sha256(words.encode()).digest())
        return int(np.random.SeedSequence(entropy).generate_state(1)[0])

    @property
    def name(self) -> str:
        """The cell as the words of the command line that runs its setting."""
        words = [f"dataset={self.dataset} algorithm={self.algorithm} epsilon={self.epsilon!r}"]
        for name, value in sorted(self.params.items()):
            words.append(f"algorithm.{name}={_format_word(value)}")
        for name, value in self.protocol.list_changed().items():
            words.append(f"protocol.{name}={_format_word(value)}")
        if self.metrics:
            words.append(shlex.quote(f"metrics=[{','.join(self.metrics)}]"))
        return " ".join(words)

    @property
    def _identity_of_noise(self) -> str:
        """What all algorithms of a repeat have in common, as canonical JSON."""
        return format_canonical(
            {
                "dataset": self.dataset,
                "epsilon": self.epsilon,
                "protocol": self.protocol.list_asked(),
                "repeat": self.repeat,
            }
        )

    @cached_property
    def _setting(self) -> str:
        return format_canonical(
            {
                "dataset": self.dataset,
                "algorithm": self.algorithm,
                "params": self.params,
                "epsilon": self.epsilon,
                "protocol": self.protocol.list_asked(),
            }
        )

    @cached_property
    def _behind(self) -> str:
        measured = format_canonical(self.protocol.select(Mark.MEASURED))
        return f"{measured}\0{code_version.describe_version(self.dataset, self.algorithm)}"


def format_canonical(value: Any) -> str:
    """Return JSON that is the same for the same value: keys sorted, no blanks, infinity as the text ``"inf"``.

    Examples
    --------
    >>> format_canonical({"b": 1, "a": [math.inf, None]})
    '{"a":["inf",null],"b":1}'
    """
    return _encode_strictly(value, _CANONICAL)


def format_json(value: Any) -> str:
    """Return JSON on one line, keys in their order: infinity as the text ``"inf"``, NaN as null.

    Examples
    --------
    >>> print(format_json({"what": "ε", "b": math.inf, "a": math.nan}))
    {"what": "ε", "b": "inf", "a": null}
    """
    return _encode_strictly(value, _ON_ONE_LINE)


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
_ON_ONE_LINE = json.JSONEncoder(allow_nan=False, ensure_ascii=False)


def _encode_strictly(value: Any, encoder: json.JSONEncoder) -> str:
    try:
        return encoder.encode(value)
    except (ValueError, TypeError):  # infinities are rare, and looking for them first costs most of the time
        return encoder.encode(json_safe(value))


def json_safe(value: Any, digits: int | None = None) -> Any:
    """Return a value that strict JSON can hold, numbers with so many digits, or all.

    Examples
    --------
    >>> json_safe({"a": (math.inf, math.nan, 1 / 3)}, digits=3)
    {'a': ['inf', None, 0.333]}
    """
    if isinstance(value, Mapping):
        return {str(name): json_safe(inner, digits) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [json_safe(inner, digits) for inner in value]
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value if digits is None else float(f"{value:.{digits}g}")


def read_epsilon(value: Any) -> float:
    """Return a budget as a float; BadInput if an estimator would refuse it, or it is a text too large for a number."""
    if isinstance(value, str) and (word := find_too_large(value)):
        raise BadInput(f"epsilon: {TOO_LARGE.format(word)}")
    with suppress(ValueError):
        value = float(value) if isinstance(value, str) else value
    try:
        return check_epsilon(value)
    except ParameterError as error:
        raise BadInput(str(error)) from None


def _hash_texts(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _format_word(value: Any) -> str:
    """Return a parameter's value as the shell and Hydra's command line read it."""
    if isinstance(value, Mapping):
        entries = [f"{name}:{inner}" for name, inner in value.items()]
        return shlex.quote("{" + ",".join(entries) + "}")
    if isinstance(value, str) and not re.fullmatch(r"[\w./-]+", value):
        value = "'" + value.replace("'", "\\'") + "'"
    return shlex.quote("null" if value is None else str(value).lower() if isinstance(value, bool) else str(value))
