"""What the text of a paper leaves open, as factors whose product are the readings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, NamedTuple

from experiments.cells.grid import expand_grid
from experiments.config import estimators
from experiments.config.paper import Paper
from experiments.config.protocol import read_protocol
from experiments.config.setting import is_same_value
from experiments.config.study import PaperError
from experiments.errors import BadInput
from experiments.judge.words import name_setting
from experiments.questions.preflight import run_checks


class Factor(NamedTuple):
    """One point that the text leaves open."""

    #: Of the parameter or the option of the protocol.
    name: str
    #: What the text admits, the most literal one first.
    values: tuple
    #: Those whose parameter it is; none of an option of the protocol.
    algorithms: tuple[str, ...]


@dataclass(frozen=True)
class Choice:
    """One reading: a value of every factor."""

    #: In the order of the factors.
    picked: tuple[tuple[Factor, Any], ...]

    @property
    def is_literal(self) -> bool:
        """Whether it takes the first value everywhere."""
        return all(is_same_value(value, factor.values[0]) for factor, value in self.picked)

    @property
    def values(self) -> dict[str, Any]:
        """The values by name; parameters of the same name of two algorithms have the algorithm before them."""
        names = [factor.name for factor, _ in self.picked]
        named = {}
        for factor, value in self.picked:
            is_shared = names.count(factor.name) > 1
            named[f"{factor.algorithms[0]}.{factor.name}" if is_shared else factor.name] = value
        return {name: "null" if value is None else value for name, value in named.items()}

    @property
    def words(self) -> str:
        """The values in words."""
        return name_setting(self.values)

    @property
    def protocol(self) -> dict[str, Any]:
        """The options of the protocol."""
        return {factor.name: value for factor, value in self.picked if not factor.algorithms}

    def params(self, algorithm: str) -> dict[str, Any]:
        """Return the parameters of one algorithm."""
        return {factor.name: value for factor, value in self.picked if algorithm in factor.algorithms}


def list_factors(paper: Paper, algorithms: Iterable[str], settled: Collection[str] = ()) -> list[Factor]:
    """Return what the text leaves open of some algorithms, those that matter, and of the protocol.

    A parameter that two algorithms have with the same values is read alike in both; what is settled is not open here,
    because the study has it as an axis.
    """
    users: dict[tuple, list[str]] = {}
    for algorithm in algorithms:
        for name, values in paper.choices.algorithms.get(algorithm, {}).items():
            if name not in settled:
                users.setdefault((name, tuple(values)), []).append(algorithm)
    factors = [Factor(name, values, tuple(names)) for (name, values), names in users.items()]
    return factors + [Factor(name, tuple(values), ()) for name, values in paper.choices.protocol.items()]


def narrow_factors(
    factors: Sequence[Factor],
    params: Mapping[str, Sequence],
    protocol: Mapping[str, Sequence],
    algorithms: tuple[str, ...],
) -> list[Factor]:
    """Return factors with the values that a question gives in their place, and those that it adds."""
    open_points = {(factor.name, factor.algorithms): factor for factor in factors}
    for values, users in ((params, algorithms), (protocol, ())):
        for name, admitted in values.items():
            open_points[name, users] = Factor(name, tuple(admitted), users)
    of_protocol = [factor for factor in open_points.values() if not factor.algorithms]
    return [factor for factor in open_points.values() if factor.algorithms] + of_protocol


def list_readings(factors: Sequence[Factor]) -> list[Choice]:
    """Return every combination of the values of factors, the literal one first."""
    combined = product(*(factor.values for factor in factors))
    return [Choice(tuple(zip(factors, values, strict=True))) for values in combined]


def leave_out_literal(paper: Paper, algorithm: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters without those that the algorithm has anyway: the literal reading is the paper's own cells."""
    literal = _find_literal(paper, algorithm, params)
    return {name: value for name, value in params.items() if not is_same_value(literal[name], value)}


def _find_literal(paper: Paper, algorithm: str, parameters: Iterable[str]) -> dict[str, Any]:
    """Return the values that parameters of an algorithm have in a paper where nobody chooses."""
    given = estimators.merge_parameters(algorithm, paper.algorithms.get(algorithm, {}))
    declared = estimators.read_signature(estimators.find_target(algorithm)).parameters
    return {name: given[name] if name in given else declared[name].default for name in parameters}


def check_choices(paper: Paper) -> None:
    """Check that choices can be run, and their first values are what is run anyway; PaperError has a line for each."""
    checks: list[Callable[[], object]] = []
    for name, values in paper.choices.protocol.items():
        checks.append(partial(_check_option, name, values))
    for algorithm, parameters in paper.choices.algorithms.items():
        for name, values in parameters.items():
            checks.append(partial(_check_parameter, paper, algorithm, name, values))
    for name in paper.choices.curves:
        checks.append(partial(paper.claim, name, "choices.curves"))
    run_checks(checks)


def _check_option(name: str, values: Sequence) -> None:
    for value in values:
        try:
            read_protocol({name: value}, "choices.protocol")
        except BadInput as error:
            raise PaperError(str(error)) from error


def _check_parameter(paper: Paper, algorithm: str, name: str, values: Sequence) -> None:
    where = f"choices.algorithms.{algorithm}.{name}"
    users = [study for study in paper.studies.values() if algorithm in study.algorithm]
    if not users:
        raise PaperError(f"choices.algorithms: no study runs {algorithm!r}")
    axes = {axis: of_axis[:1] for axis, of_axis in users[0].axes({"algorithm": algorithm}).items()}
    for value in values:
        try:
            expand_grid(axes | {f"params.{name}": [value]}, 1, paper.algorithms)
        except ValueError as error:
            raise PaperError(f"{where}: {error}") from error
    literal = _find_literal(paper, algorithm, [name])[name]
    if not is_same_value(values[0], literal):
        raise PaperError(f"{where}: the first value must be what the paper runs anyway, {literal!r}; got {values[0]!r}")
