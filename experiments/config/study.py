"""A study: a grid of cells, how their rows are split, and the parts of it that tables, figures and claims speak of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Literal
from typing import Protocol as Interface

from pydantic import PrivateAttr, model_validator

from documents.document import Document, ListOf, OneOrMore, Scalar
from experiments.config.protocol import Protocol
from experiments.config.setting import is_among, make_setting_key
from experiments.errors import BadInput, suggest_name

Where = dict[str, OneOrMore[Scalar]]
"""A part of a study: values of its axes ``dataset``, ``algorithm``, ``epsilon`` and ``params.<name>``."""

Center = Literal["mean", "median"]


class PaperError(BadInput):
    """A paper's description contradicts itself; the message says where."""


class Study(Document):
    """A grid of cells: every combination of its values, times the paper's repeats."""

    dataset: OneOrMore[str]
    """Data sets: files of conf/dataset."""
    algorithm: OneOrMore[str]
    """Algorithms: files of conf/algorithm."""
    params: dict[str, OneOrMore[Scalar]] = {}
    """Parameters of the algorithms with their values; each is an axis of the study."""
    epsilon: OneOrMore[float] = (math.inf,)
    """Privacy budgets; ``.inf`` is no noise."""
    depends: dict[str, dict[str, dict[Any, Any]]] = {}
    """Parameters that follow an axis, ``{parameter: {axis: {value: given}}}``, every value of the axis named once.
    Algorithms without the parameter do without it; it is no axis, so nothing else names it."""
    protocol: Protocol = Protocol()
    """How rows are split and which are evaluated."""
    metrics: ListOf[str] = ()
    """What is measured beside what always is (of classes accuracy, precision and recall of each; of numbers ``mse``,
    ``unit_mse`` and ``r2``): names of scikit-learn's scorers, errors by their own names (``rmse``), or files of
    ``metric/``."""

    _name: str = PrivateAttr("")

    @property
    def name(self) -> str:
        """The study's key in the paper."""
        return self._name

    @property
    def protocol_options(self) -> dict[str, Any]:
        """The options of the protocol that the study sets."""
        return self.protocol.model_dump(exclude_unset=True)

    def axes(self, where: Mapping[str, Any] | None = None) -> dict[str, list]:
        """Return the values of every axis of the part of the study in ``where``, named as the long table's columns are.

        PaperError if ``where`` names an axis or a value that the study does not have.

        Examples
        --------
        >>> study = Study(dataset="car", algorithm="rdt", epsilon=1.0, params={"max_depth": [3, 4]})
        >>> study.axes({"params.max_depth": 4})
        {'dataset': ['car'], 'algorithm': ['rdt'], 'params.max_depth': [4], 'epsilon': [1.0]}
        """
        axes = self._list_axes()
        for name, wanted in (where or {}).items():
            axes[name] = self._narrow(name, axes.get(name), wanted)
        return axes

    def axis(self, name: str, where: Mapping[str, Any] | None = None) -> list:
        """Return the values of one axis, in the study's order; PaperError if there is no such axis."""
        return self._select_axis(name, self.axes(where))

    def varying_axes(self, where: Mapping[str, Any] | None = None) -> list[str]:
        """Return the axes that have several values."""
        return [name for name, values in self.axes(where).items() if len(values) > 1]

    def settings(self, by: Sequence[str], where: Mapping[str, Any] | None = None) -> list[tuple]:
        """Return every combination of the values of the axes ``by``, in the study's order."""
        axes = self.axes(where)
        return list(product(*(self._select_axis(name, axes) for name in by)))

    def count_settings(self, where: Mapping[str, Any] | None = None) -> int:
        """Return how many settings a part of the study has."""
        return math.prod(map(len, self.axes(where).values()))

    def _list_axes(self) -> dict[str, list]:
        axes: dict[str, list] = {"dataset": list(self.dataset), "algorithm": list(self.algorithm)}
        for name, values in self.params.items():
            axes[f"params.{name}"] = list(values)
        axes["epsilon"] = list(map(float, self.epsilon))
        return axes

    def _select_axis(self, name: str, axes: Mapping[str, list]) -> list:
        if name not in axes:
            raise PaperError(f"study {self.name!r} has no axis {name!r}; {suggest_name(name, axes)}")
        return axes[name]

    def _narrow(self, name: str, values: list | None, wanted: Any) -> list:
        several = list(wanted) if isinstance(wanted, list | tuple) else [wanted]
        kept = [value for value in values or () if is_among(value, several)]
        if not kept:
            value = several[0] if len(several) == 1 else several
            has = "nothing" if values is None else values
            raise PaperError(f"study {self.name!r} has no {name} = {value!r}; it has {name}: {has}")
        return kept

    @model_validator(mode="after")
    def _check_distinct(self) -> Study:
        for axis, values in Study._list_axes(self).items():  # what a file says
            if len(set(make_setting_key(values))) < len(values):
                raise ValueError(f"{axis} names a value twice: {values}")
        return self


class StudyPart(Document):
    """A study, or a part of it."""

    study: str
    """One of the paper's studies."""
    where: Where = {}
    """Which part of the study: values of its axes."""


class Curve(StudyPart):
    """Settings of a study that differ along one axis only."""

    along: str
    """The axis along which the curve runs; all others have one value."""


class HasStudies(Interface):
    """A paper, as its parts know it."""

    def study(self, name: str, user: str) -> Study:
        """Return a study by its name; PaperError says that ``user`` asks for one that is not there."""
