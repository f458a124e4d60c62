"""A sweep as a paper with one study: what varies in it, and how it and all in it is called."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from documents.document import ListOf
from documents.search_path import name_chosen
from experiments.cells.cell import Cell
from experiments.cells.grid import are_numbers
from experiments.config import estimators
from experiments.config.paper import Paper
from experiments.config.setting import drop_entries
from experiments.config.study import Study
from experiments.judge.words import name_setting
from plots.labels import label_name, label_value

_NAMED = 3  # as many data sets or algorithms stand in a name; of more, their number does
_LONGEST_PART = 40


class SweptStudy(Study):
    """Every combination of the values of some axes, among which options of the protocol may be."""

    swept: dict[str, list]
    """The values of ``dataset``, ``algorithm``, ``epsilon`` and what else was given, ``params.<name>`` and
    ``protocol.<name>``, as from `grid.order_values`: 1 and 1.0 may be two of one axis."""

    def _list_axes(self) -> dict[str, list]:
        return {name: list(values) for name, values in self.swept.items()}


class Sweep(Paper):
    """What a command line asks for; its title is what does not vary."""

    shown: ListOf[str] = ()
    """The metrics that are shown."""

    @property
    def axes(self) -> dict[str, list]:
        """The values of each axis."""
        return self.studies["sweep"].swept  # type: ignore[attr-defined]  # as `make_sweep` has it

    @property
    def varying(self) -> list[str]:
        """The axes with several values."""
        return [name for name, values in self.axes.items() if len(values) > 1]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each axis has."""
        return tuple(map(len, self.axes.values()))

    def number_settings(self, names: Iterable[str]) -> np.ndarray:
        """Return the numbers of all settings as an array along all axes that vary, in the order of their ``names``."""
        names, axes = list(names), self.axes
        order = [list(axes).index(name) for name in [*names, *(name for name in axes if name not in names)]]
        numbers = np.arange(math.prod(self.shape)).reshape(self.shape).transpose(order)
        return numbers.reshape([len(axes[name]) for name in names])

    def name_setting(self, number: int) -> str:
        """Return the setting of a number by what varies; of one that is alone its data set and algorithm."""
        places = dict(zip(self.axes, np.unravel_index(number, self.shape), strict=True))
        names = self.varying or ["dataset", "algorithm"]
        return name_setting({name: self.axes[name][places[name]] for name in names}, self.labels)

    def describe_varying(self) -> str:
        """Return what varies, in words; of many values, how many there are. Nothing of one setting."""
        words = []
        for name in self.varying:
            texts = [label_value(self, value) for value in self.axes[name]]
            is_short = len(texts) <= _NAMED
            words.append(f"{label_name(self, name)} ({', '.join(texts) if is_short else f'{len(texts)} values'})")
        return ", ".join(words)


def make_sweep(axes: Mapping[str, list], repeats: int, fixed: str, shown: Sequence[str]) -> Sweep:
    """Return a sweep with so many runs of each setting; ``fixed`` is what `describe_fixed` returns of it."""
    study = SweptStudy(dataset=tuple(axes["dataset"]), algorithm=tuple(axes["algorithm"]), swept=dict(axes))
    described = {"number": "sweep", "title": fixed, "repeats": repeats, "studies": {"sweep": study}}
    return Sweep.model_validate({**described, "labels": _make_labels(axes), "shown": list(shown)})


def describe_fixed(axes: Mapping[str, list], cells: Sequence[Cell]) -> str:
    """Return what does not vary, as a heading has it; ``cells`` are those of some setting.

    Options of the protocol are named that were given one value beside the lists, if it is not the usual one.
    """
    fixed = {name: values[0] for name, values in axes.items() if len(values) == 1}
    if not any(map(estimators.takes_epsilon, axes["algorithm"])):
        fixed.pop("epsilon", None)
    changed = {f"protocol.{name}": value for name, value in cells[0].protocol.list_changed().items()}
    runs = "1 run" if len(cells) == 1 else f"{len(cells)} repeats"
    setting = name_setting({**fixed, **drop_entries(changed, axes)}, _make_labels(axes))
    return ", ".join(filter(None, [setting, runs]))


def identify_sweep(settings: Sequence[Sequence[Cell]], metrics: Sequence[str]) -> str:
    """Return a SHA-256 of settings in any order and of metrics, whatever the code and the number of repeats."""
    asked = sorted({cells[0].repeats([0])[0].identity for cells in settings})
    asked += [f"metrics {','.join(metrics)}"] if metrics else []
    return hashlib.sha256("\0".join(asked).encode()).hexdigest()


def name_sweep(axes: Mapping[str, list]) -> str:
    """Return a readable name: data sets, algorithms, and the names of what else varies.

    >>> name_sweep({"dataset": ["car"], "algorithm": ["rdt", "edprf_sound"], "epsilon": [0.1, 1]})
    'car-rdt-edprf_sound-epsilon'
    """
    parts = [_join_values(axes["dataset"], "data-sets"), _join_values(axes["algorithm"], "algorithms")]
    others = drop_entries(axes, ("dataset", "algorithm"))
    parts += [name.rpartition(".")[2] for name, values in others.items() if len(values) > 1]
    return re.sub(r"[^\w.+-]+", "_", "-".join(parts)).lstrip(".")


def find_numeric_axis(sweep: Sweep) -> str | None:
    """Return the axis along which lines are drawn: ε if it varies, else the first of numbers; None if there is none."""
    if "epsilon" in sweep.varying:
        return "epsilon"
    for name in sweep.varying:
        if are_numbers(sweep.axes[name]) and all(map(math.isfinite, sweep.axes[name])):
            return name
    return None


def _make_labels(axes: Mapping[str, list]) -> dict[str, str]:
    return {name: name_chosen(name) for name in axes["algorithm"]}


def _join_values(values: Sequence[Any], what: str) -> str:
    joined = "-".join(map(str, values))
    return joined if len(values) <= _NAMED and len(joined) <= _LONGEST_PART else f"{len(values)}-{what}"
