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
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from algorithms.parameters import ParameterError, check_epsilon
from documents.large_numbers import TOO_LARGE, find_too_large
from experiments.cells import code_version
from experiments.config import estimators
from experiments.config.setting import keep_entries
from experiments.errors import BadInput, suggest_name

PROTOCOL: dict[str, Any] = {
    "test_size": 0.3,
    "evaluate_on": "test",
    "rows": "all",
    "split": "random",
    "train_rows": None,
    "test_rows": None,
    "draw": 0,
    "common_noise": False,
    "folds": None,
    "groups": None,
    "ranges": "declared",
    "leakage": False,
}
"""The options of a protocol, with their defaults; `config.paper.Protocol` says what each of them does."""

#: Choices of the options that are words or flags.
_CHOICES = {
    "evaluate_on": ("test", "train", "folds"),
    "rows": ("all", "balanced"),
    "split": ("random", "in_order"),
    "common_noise": (False, True),
    "ranges": ("declared", "training_rows"),
    "leakage": (False, True),
}

#: Options that came after results were published: at their default they are not part of the identity, so that the seeds
#: of these results stay.
_LATER = ("rows", "split", "train_rows", "test_rows", "draw", "common_noise", "folds", "groups", "ranges")

#: Options that say what else is measured of the same run: part of the key, not of the identity.
_MEASURED = ("leakage",)


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
    protocol: dict = field(default_factory=lambda: dict(PROTOCOL))  #: as `read_protocol` returns it
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
        if self.protocol["common_noise"]:
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
        for name, value in self.protocol.items():
            if value != PROTOCOL[name]:
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
                "protocol": self._protocol_asked,
                "repeat": self.repeat,
            }
        )

    @property
    def _protocol_asked(self) -> dict[str, Any]:
        """The options that are part of the identity."""
        protocol = {}
        for name, value in self.protocol.items():
            is_default_of_later = name in _LATER and value == PROTOCOL[name]
            if name not in _MEASURED and not is_default_of_later:
                protocol[name] = value
        return protocol

    @cached_property
    def _setting(self) -> str:
        return format_canonical(
            {
                "dataset": self.dataset,
                "algorithm": self.algorithm,
                "params": self.params,
                "epsilon": self.epsilon,
                "protocol": self._protocol_asked,
            }
        )

    @cached_property
    def _behind(self) -> str:
        measured = format_canonical(keep_entries(self.protocol, _MEASURED))
        return f"{measured}\0{code_version.describe_version(self.dataset, self.algorithm)}"


def format_canonical(value: Any) -> str:
    """Return JSON that is the same for the same value: keys sorted, no blanks, infinity as the text ``"inf"``.

    Examples
    --------
    >>> format_canonical({"b": 1, "a": [math.inf, None]})
    '{"a":["inf",null],"b":1}'
    """
    try:
        return _strict_json(value)
    except (ValueError, TypeError):  # infinities are rare, and looking for them first costs most of the time
        return _strict_json(json_safe(value))


_strict_json = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False).encode


def json_safe(value: Any) -> Any:
    """Return a value that strict JSON can hold: infinity becomes ``"inf"``, NaN becomes null."""
    if isinstance(value, Mapping):
        return {str(name): json_safe(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return list(map(json_safe, value))
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


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


def read_protocol(given: Mapping | None) -> dict:
    """Return a protocol with its defaults filled in; BadInput for an unknown name or an impossible value."""
    for name in given or {}:
        if name not in PROTOCOL:
            raise BadInput(f"unknown protocol option {name!r}; {suggest_name(name, PROTOCOL)}")
    protocol = PROTOCOL | dict(given or {})
    size = protocol["test_size"]
    if isinstance(size, bool) or not isinstance(size, int | float) or not 0 < size < 1:
        raise BadInput(f"protocol.test_size must lie between 0 and 1, got {size!r}")
    for name, choices in _CHOICES.items():
        if protocol[name] not in choices:
            raise BadInput(f"protocol.{name} must be {' or '.join(map(_format_word, choices))}, got {protocol[name]!r}")
    draw = protocol["draw"]
    if isinstance(draw, bool) or not isinstance(draw, int) or draw < 0:
        raise BadInput(f"protocol.draw must be a whole number from 0, got {draw!r}")
    _check_numbers_of_rows(protocol)
    _check_folds(protocol)
    # a share of test rows means nothing beside their number or beside folds, so it must not tell cells apart
    is_of_no_use = protocol["train_rows"] is not None or protocol["folds"] is not None
    return protocol | {"test_size": float(PROTOCOL["test_size"] if is_of_no_use else size)}


def _check_folds(protocol: Mapping) -> None:
    folds, groups = protocol["folds"], protocol["groups"]
    if folds is not None and (isinstance(folds, bool) or not isinstance(folds, int) or folds < 2):
        raise BadInput(f"protocol.folds must be a whole number from 2, got {folds!r}")
    if groups is not None and not isinstance(groups, str):
        raise BadInput(f"protocol.groups must be the name of a column, got {groups!r}")
    if folds is not None and protocol["evaluate_on"] == "folds":
        raise BadInput("protocol.folds tests on the rows that were left out: leave out protocol.evaluate_on=folds")
    if groups is not None and protocol["split"] == "in_order":
        raise BadInput("protocol.groups does not go with protocol.split=in_order: rows are split by one of the two")
    for name in ("folds", "groups"):
        if protocol[name] is not None and protocol["train_rows"] is not None:
            raise BadInput(f"protocol.{name} does not go with numbers of rows")


def _check_numbers_of_rows(protocol: Mapping) -> None:
    sizes = [protocol["train_rows"], protocol["test_rows"]]
    if sizes == [None, None]:
        return
    train, test = map(_rows_by_class, sizes)
    numbers = [*train.values(), *test.values()]
    if train.keys() != test.keys() or set(map(type, numbers)) != {int} or min(numbers) < 1:
        raise BadInput(
            "protocol.train_rows and protocol.test_rows must both be numbers of rows, or both name the same classes "
            f"with a number for each, such as {{unacc:1000,acc:300}}; got {sizes[0]!r} and {sizes[1]!r}"
        )
    for name in ("rows", "split"):
        if protocol[name] != PROTOCOL[name]:
            raise BadInput(f"protocol.{name}={protocol[name]} does not go with numbers of rows")


def is_fixed(protocol: Mapping, has_official_split: bool) -> bool:
    """Return whether all repeats have one split: the official one, or one in order.

    Examples
    --------
    >>> is_fixed(PROTOCOL, True), is_fixed(PROTOCOL | {"train_rows": 6000, "test_rows": 3000}, True)
    (True, False)
    >>> is_fixed(PROTOCOL | {"folds": 5}, True)
    False
    """
    if protocol["train_rows"] is not None:
        return False
    is_in_order = protocol["split"] == "in_order" and protocol["rows"] == "all"
    return is_in_order or (has_official_split and protocol["folds"] is None)


def _rows_by_class(size: int | Mapping) -> Mapping:
    """Return numbers of rows by class; a number of rows of all classes together has the key None."""
    return size if isinstance(size, Mapping) else {None: size}


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
