"""A regression on one feature, to be looked at: the rows, and the curves fitted to all of them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

import datasets
from algorithms import Domain
from experiments.cells.cell import checked_epsilon
from experiments.config import estimators
from experiments.config.data import task_and_domain
from experiments.errors import BadInput, suggestion

POINTS = "rows"
_SHOWN, _STEPS = 400, 200


def check(item: Mapping) -> None:
    """Check that an illustration can be made, without reading a row.

    Raises
    ------
    BadInput
        If it cannot.
    """
    _models(item)


def curves(item: Mapping) -> pd.DataFrame:
    """Fit algorithms to one feature of a data set.

    Parameters
    ----------
    item : mapping
        ``dataset``, ``feature``, ``algorithm`` (a list), ``params`` and ``epsilon``.

    Returns
    -------
    DataFrame
        ``line`` (``rows`` for a sample of the rows, else the algorithm), ``x`` and ``y``; empty if the data set is not
        available. Fits see all rows, and their noise comes from a fixed seed.

    Raises
    ------
    BadInput
        As `check`.
    """
    models = _models(item)
    try:
        data = datasets.load(item["dataset"])
    except datasets.DataUnavailable:
        return pd.DataFrame(columns=["line", "x", "y"])
    column, target = data.frame[[item["feature"]]], data.target.to_numpy(dtype=np.float64)
    drawn = np.sort(np.random.default_rng(0).permutation(len(target))[:_SHOWN])
    shown = column.iloc[drawn, 0].to_numpy(dtype=np.float64)
    parts = [(POINTS, shown, target[drawn])]
    along = np.linspace(shown.min(), shown.max(), _STEPS)
    for name, model in models.items():
        fitted = model.fit(column, target)
        parts.append((name, along, fitted.predict(pd.DataFrame({item["feature"]: along}))))
    return pd.concat([pd.DataFrame({"line": line, "x": x, "y": y}) for line, x, y in parts], ignore_index=True)


def _models(item: Mapping) -> dict:
    _, domain = task_and_domain(item["dataset"])
    if item["feature"] not in domain.names:
        hint = suggestion(item["feature"], domain.names)
        raise BadInput(f"{item['id']}: {item['dataset']} has no feature {item['feature']!r}; {hint}")
    feature = domain.features[domain.names.index(item["feature"])]
    given = {"domain": Domain((feature,), domain.target), "epsilon": checked_epsilon(item["epsilon"])}
    return {
        name: estimators.make(name, estimators.parameters(name, item["params"]), **given, random_state=0)
        for name in item["algorithm"]
    }
