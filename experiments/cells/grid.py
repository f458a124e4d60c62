"""From what was asked for to cells: every combination of values, checked before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

from documents.search_path import name_stored
from experiments.cells.cell import Cell, format_canonical, read_epsilon
from experiments.config import estimators
from experiments.config.data import find_entry
from experiments.config.protocol import Protocol, read_protocol
from experiments.config.setting import is_among, is_same_value
from experiments.errors import BadInput, one_line, suggest_name
from experiments.metrics.find import ask_needs, select_extra
from experiments.metrics.metric import STANDARD_ERROR

if TYPE_CHECKING:
    from datasets.entry import CatalogueEntry

REPEATS = 10
"""Runs of a setting where nobody says how many."""


def expand_grid(
    values: Mapping[str, list],
    repeats: int,
    overrides: Mapping[str, Mapping] | None = None,
    protocol: Mapping | None = None,
    depends: Mapping[str, Mapping] | None = None,
    metrics: Sequence[str] = (),
) -> list[list[Cell]]:
    """Return the cells of every combination of values, one list of repeats for each; BadInput if one cannot be run.

    ``values`` are those of ``dataset``, ``algorithm``, ``epsilon``, ``params.<name>`` and ``protocol.<name>``;
    ``protocol`` has what does not vary. By algorithm, ``overrides`` replace parameters of ``conf/algorithm``;
    ``values`` and ``depends`` replace both. The latter are parameters that follow one of the values, ``{parameter:
    {name: {value: given}}}`` for every value of that name; algorithms without the parameter do without. Of ``metrics``,
    what always is measured need not be named.

    Examples
    --------
    >>> settings = expand_grid({"dataset": ["car"], "algorithm": ["majority"], "epsilon": [0.1, 1]}, repeats=3)
    >>> [[(cell.epsilon, cell.repeat) for cell in cells] for cells in settings]
    [[(0.1, 0), (0.1, 1), (0.1, 2)], [(1.0, 0), (1.0, 1), (1.0, 2)]]
    >>> pairs = {"n_estimators": {"epsilon": {0.1: 5, 1: 20}}}
    >>> forests = {"dataset": ["car"], "algorithm": ["random_forest"], "epsilon": [0.1, 1.0]}
    >>> [cells[0].params["n_estimators"] for cells in expand_grid(forests, repeats=1, depends=pairs)]
    [5, 20]
    """
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
        raise BadInput(f"repeats must be a whole number, at least 1, got {repeats!r}")
    _check_depends(values, depends or {})
    settings, extra = [], {}
    protocols: dict[str, Protocol] = {}  # which many settings share
    for dataset in values["dataset"]:
        find_entry(dataset)  # before anything is asked of one that is not there
        extra[dataset] = select_extra(dataset, metrics)
    stored = {repr(name): name_stored(name) for name in values["algorithm"]}  # each asks the catalogue
    for point in product(*values.values()):
        chosen = dict(zip(values, point, strict=True))
        algorithm = stored[repr(chosen["algorithm"])]
        varied = _select_prefix(chosen, "protocol.")
        if (words := repr(varied)) not in protocols:
            protocols[words] = read_protocol({**(protocol or {}), **varied})
        chosen_params = (
            (overrides or {}).get(algorithm, {}),
            _select_prefix(chosen, "params."),
            _follow_axes(chosen, depends or {}),
        )
        cell = Cell(
            dataset=chosen["dataset"],
            algorithm=algorithm,
            params=estimators.merge_parameters(algorithm, *chosen_params),
            epsilon=read_epsilon(chosen["epsilon"]),
            repeat=0,
            protocol=protocols[words],
            metrics=extra[chosen["dataset"]],
        )
        for name in metrics:
            if name.endswith(STANDARD_ERROR) and cell.protocol.folds is None:
                raise BadInput(
                    f"metrics: {name!r} is a standard error over folds: set protocol.folds=5, or another number"
                )
        check_cell(cell)
        settings.append(cell.repeats(range(repeats)) if repeats > 1 else [cell])  # which asks for no key
    return settings


def check_cell(cell: Cell) -> None:
    """Refuse, as BadInput, parameters that an algorithm does not accept on a data set, as can be told without rows.

    An estimator with a method ``check_parameters(n_features)`` is asked; it raises a ValueError.
    """
    from sklearn.base import is_classifier, is_regressor  # which estimators import, too, but not all that imports this

    entry = find_entry(cell.dataset)
    task, domain = entry.task, entry.domain
    _check_protocol(cell, entry)
    try:
        estimator = estimators.make_estimator(
            cell.algorithm, cell.params, epsilon=cell.epsilon, domain=domain, random_state=0
        )
        if hasattr(estimator, "check_parameters"):
            estimator.check_parameters(len(domain.features))
        wrong = is_regressor(estimator) if task == "classification" else is_classifier(estimator)
    except (ValueError, TypeError) as error:
        raise BadInput(f"algorithm {cell.algorithm!r} on {cell.dataset!r}: {' '.join(str(error).split())}") from error
    except Exception as error:  # a constructor may be anybody's
        raise BadInput(f"algorithm {cell.algorithm!r} on {cell.dataset!r}: {one_line(error)}") from error
    if cell.protocol.leakage and not hasattr(estimator, "make_sampler"):
        raise BadInput(f"protocol.leakage: algorithm {cell.algorithm!r} releases no rows")
    if wrong:
        raise BadInput(f"algorithm {cell.algorithm!r} cannot be run on {cell.dataset!r}: that is a {task} task")
    for name in cell.metrics:
        if ask_needs(name).probabilities and not hasattr(estimator, "predict_proba"):
            raise BadInput(
                f"metrics: {name!r} needs probabilities, and algorithm {cell.algorithm!r} gives none (predict_proba)"
            )


def _check_protocol(cell: Cell, entry: CatalogueEntry) -> None:
    """Refuse a protocol that a data set does not go with."""
    protocol, task = cell.protocol, entry.task
    if (groups := protocol.groups) is not None:
        columns = [feature.name for feature in entry.domain.features]
        if groups not in columns:
            raise BadInput(
                f"protocol.groups: {cell.dataset!r} has no column {groups!r}; {suggest_name(groups, columns)}"
            )
        if len(columns) == 1:
            raise BadInput(
                f"protocol.groups: {groups!r} is the only column of {cell.dataset!r}, and would be no feature"
            )
    if protocol.train_rows is not None:
        _check_numbers_of_rows(cell, entry, task)
    if protocol.folds is not None and protocol.folds > entry.rows:
        raise BadInput(f"protocol.folds={protocol.folds}: {cell.dataset!r} has {entry.rows} rows")
    for name, value in protocol.list_changed().items():
        if name in ("rows", "split", "groups") and entry.n_train is not None and protocol.folds is None:
            raise BadInput(f"protocol.{name}={value}: {cell.dataset!r} has an official split")
    if protocol.rows == "balanced" and task != "classification":
        raise BadInput(f"protocol.rows=balanced: {cell.dataset!r} has no classes, it is a regression")


def _check_numbers_of_rows(cell: Cell, entry: CatalogueEntry, task: str) -> None:
    train_rows, test_rows = cell.protocol.train_rows, cell.protocol.test_rows
    if isinstance(train_rows, Mapping):
        classes = list(map(str, entry.domain.target.categories)) if task == "classification" else []
        for name in train_rows:
            if name not in classes:
                hint = suggest_name(name, classes) if classes else "it is a regression"
                raise BadInput(f"protocol.train_rows: {cell.dataset!r} has no class {name!r}; {hint}")
    elif isinstance(train_rows, int) and isinstance(test_rows, int) and train_rows + test_rows > entry.rows:
        n_rows = train_rows + test_rows
        raise BadInput(
            f"protocol.train_rows and protocol.test_rows ask for {n_rows} rows; {cell.dataset!r} has {entry.rows}"
        )


def _check_depends(values: Mapping[str, list], depends: Mapping[str, Mapping]) -> None:
    """Check that every dependent parameter is one of some algorithm and follows every value of one axis."""
    if not isinstance(depends, Mapping):
        raise BadInput(f"depends: write {{parameter: {{axis: {{value: given, ...}}}}}}, got {depends!r}")
    accepted: set[str] = set()
    for algorithm in values["algorithm"]:
        accepted |= estimators.list_parameters(estimators.find_target(algorithm))
    for parameter, rule in depends.items():
        where = f"depends.{parameter}"
        if not isinstance(rule, Mapping) or len(rule) != 1 or not isinstance(next(iter(rule.values())), Mapping):
            raise BadInput(f"{where}: write {{axis: {{value: given, ...}}}} with one axis, got {rule!r}")
        if f"params.{parameter}" in values:
            raise BadInput(f"{where}: {parameter} is an axis in params too; name it in one of the two")
        if parameter not in accepted:
            hint = suggest_name(parameter, accepted - set(estimators.GIVEN))
            raise BadInput(f"{where}: no algorithm of the study has a parameter {parameter!r}; {hint}")
        ((axis, given),) = rule.items()
        if axis not in values:
            raise BadInput(f"{where}: there is no axis {axis!r} to follow; {suggest_name(axis, values)}")
        for value in values[axis]:
            if sum(is_same_value(key, value) for key in given) != 1:
                raise BadInput(f"{where}: {axis} = {value!r} must be named once; it names {list(given)}")
        for key in given:
            if not is_among(key, values[axis]):
                raise BadInput(f"{where}: {axis} = {key!r} is not run by the study; it has {values[axis]}")


def _follow_axes(chosen: Mapping, depends: Mapping[str, Mapping]) -> dict:
    """Return the dependent parameters of one combination of values."""
    accepted = estimators.list_parameters(estimators.find_target(chosen["algorithm"]))
    parameters = {}
    for parameter, rule in depends.items():
        ((axis, given),) = rule.items()
        if parameter in accepted:
            parameters[parameter] = next(value for key, value in given.items() if is_same_value(key, chosen[axis]))
    return parameters


def _select_prefix(chosen: Mapping, prefix: str) -> dict:
    return {name.removeprefix(prefix): value for name, value in chosen.items() if name.startswith(prefix)}


def order_values(values: Mapping[str, list]) -> dict[str, list]:
    """Return the values of axes, each once, numbers from the smallest on; a BadInput if an ε is no positive number.

    Examples
    --------
    >>> order_values({"algorithm": ["rdt", "majority", "rdt"], "epsilon": [1, "inf", 0.1, 1.0]})
    {'algorithm': ['rdt', 'majority'], 'epsilon': [0.1, 1.0, inf]}
    """
    ordered = {}
    for name, given in values.items():
        read = list(map(read_epsilon, given)) if name == "epsilon" else given
        distinct = list({format_canonical(value): value for value in read}.values())
        ordered[name] = sorted(distinct) if are_numbers(distinct) else distinct
    return ordered


def are_numbers(values: Sequence) -> bool:
    """Return whether all values of an axis are numbers.

    >>> are_numbers([1, 0.5]), are_numbers([True, False]), are_numbers([3, None])
    (True, False, False)
    """
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
