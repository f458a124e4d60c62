"""What the steps that a record meets cost, from the ledger of fitted models."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

import datasets
from algorithms.accounting.events import Bootstrapped, Event, Parallel, Sequential, Spent
from algorithms.base import PrivateEstimator
from experiments.cells.cell import checked_epsilon
from experiments.config import estimators
from experiments.config.data import task_and_domain
from experiments.errors import BadInput

COLUMNS = ["value", "step", "mechanism", "purpose", "epsilon"]


def check(item: Mapping) -> None:
    """Check that a figure of kind ``ledger`` can be made, without reading a row.

    Raises
    ------
    BadInput
        If it cannot.
    """
    if not isinstance(item["params"], Mapping) or [*map(type, item["params"].values())] != [list]:
        raise BadInput(f"{item['id']}: params: write {{parameter: [value, ...]}}, got {item['params']!r}")
    if not all(isinstance(model, PrivateEstimator) for model in _models(item).values()):
        raise BadInput(f"{item['id']}: {item['algorithm']} keeps no ledger")


def steps(item: Mapping) -> pd.DataFrame:
    """Fit an algorithm for each value of a parameter, and read in its ledger what the steps that a record meets cost.

    Parameters
    ----------
    item : mapping
        ``dataset``, ``algorithm``, ``params`` (one parameter with a list of values) and ``epsilon``.

    Returns
    -------
    DataFrame
        ``value`` (of the parameter), ``step`` (from 1), ``mechanism``, ``purpose`` and ``epsilon``; steps without
        noise are not in it. Empty if the data set is not available.
    """
    try:
        data = datasets.load(item["dataset"])
    except datasets.DataUnavailable:
        return pd.DataFrame(columns=COLUMNS)
    rows = []
    for value, model in _models(item).items():
        ledger = model.fit(data.frame, data.target.to_numpy()).privacy_.ledger
        for step, spent in enumerate(_spent(ledger), start=1):
            rows.append((value, step, spent.mechanism, spent.purpose, spent.epsilon))
    return pd.DataFrame(rows, columns=COLUMNS)


def _spent(event: Event) -> list[Spent]:
    """Return the mechanisms that one record meets, in order: of disjoint parts, those of the dearest."""
    if isinstance(event, Spent):
        return [event]
    if isinstance(event, Bootstrapped):
        return _spent(event.part)
    if isinstance(event, Parallel):
        return _spent(max(event.parts, key=lambda part: part.epsilon))
    if isinstance(event, Sequential):
        return event.times * [spent for part in event.parts for spent in _spent(part)]
    return []


def _models(item: Mapping) -> dict:
    _, domain = task_and_domain(item["dataset"])
    ((name, values),) = item["params"].items()
    given = {"epsilon": checked_epsilon(item["epsilon"]), "domain": domain, "random_state": 0}
    algorithm = item["algorithm"]
    return {
        value: estimators.make(algorithm, estimators.parameters(algorithm, {name: value}), **given) for value in values
    }
