"""How one cell is run: load, split, fit, measure."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Hashable
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone

import datasets
from algorithms.accounting.events import RELATIONS
from algorithms.accounting.privacy import Privacy
from algorithms.encoding.domain import Domain
from algorithms.installation import name_in_checkout
from datasets import Dataset
from experiments.cells.cell import Cell, format_canonical, is_fixed
from experiments.config import estimators
from experiments.errors import BadInput
from experiments.run.metrics import number_classes, score_classes, score_numbers
from experiments.run.splits import OPTIONS, domain_of, split_rows
from experiments.store.accounts import read_account
from experiments.store.record import Measured

_N_FOLDS = 10
_N_UNTIMED_ROWS = 20


@dataclass(frozen=True, eq=False)
class _Rows:
    """One side of a split: as declared, as numbers, and the target with the position of each class."""

    frame: pd.DataFrame
    matrix: np.ndarray
    target: np.ndarray
    codes: np.ndarray | None


def evaluate_cell(cell: Cell) -> Measured:
    """Run one cell.

    Examples
    --------
    >>> measured = evaluate_cell(Cell("car", "majority", {}, float("inf"), 0))
    >>> round(measured.metrics["accuracy"], 4), measured.metrics["recall_unacc"]
    (0.6994, 1.0)
    """
    began = time.perf_counter()
    data = datasets.load(cell.dataset)
    split = _find_split(cell, data)
    train, test = _take_sides(split)
    evaluated = test if cell.protocol["evaluate_on"] == "test" else train
    domain = domain_of(data.domain, cell.protocol)
    estimator = estimators.make_estimator(
        cell.algorithm, cell.params, epsilon=cell.epsilon, domain=domain, random_state=cell.seed
    )
    as_declared = "domain" in estimators.list_parameters(estimators.find_target(cell.algorithm))
    loading = time.perf_counter()
    _load_machine_code(cell, estimator, train.frame if as_declared else train.matrix, train.target)
    started = time.perf_counter()
    began += started - loading
    if hasattr(estimator, "fit_summary"):
        estimator.fit_summary(_summarise_rows(_Pass(split, estimator.design(domain), estimator)))
    else:
        estimator.fit(train.frame if as_declared else train.matrix, train.target)
    fit_seconds = time.perf_counter() - started
    rows = evaluated.frame if as_declared else evaluated.matrix
    if cell.protocol["evaluate_on"] == "folds":
        from sklearn.model_selection import StratifiedKFold, cross_val_predict  # which few cells need

        folds = StratifiedKFold(_N_FOLDS, shuffle=True, random_state=cell.repeat)  # the same for every setting
        predicted = cross_val_predict(estimator, rows, train.target, cv=folds)
    else:
        predicted = np.asarray(estimator.predict(rows))
    _check_predictions(predicted, evaluated)
    metrics = _score_predictions(data, evaluated, predicted)
    metrics |= _collect_published(estimator)
    if cell.protocol["leakage"]:
        from experiments.run.leakage import measure_leakage  # which few cells need

        metrics |= measure_leakage(estimator.make_sampler(), (train.frame, train.target), (test.frame, test.target))
    numbers = {
        name: float(value) for name, value in metrics.items()
    }  # a metric that is none fails here, not in the store
    return Measured(numbers, fit_seconds, _collect_details(estimator, domain), time.perf_counter() - began)


def _load_machine_code(cell: Cell, estimator: Any, rows: pd.DataFrame | np.ndarray, target: np.ndarray) -> None:
    """Fit and predict a few rows before the clock runs, once in a process for each kind: compiling does not count.

    Machine code depends on the types of the arguments and on which rule grows a tree, not on a number.
    """
    words = {name: value for name, value in cell.params.items() if isinstance(value, str | bool | None)}
    kind = (cell.dataset, cell.algorithm, format_canonical(words))
    if kind in _loaded or not name_in_checkout(type(estimator).__module__).startswith("algorithms."):
        return
    _loaded.add(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            few = rows[:_N_UNTIMED_ROWS]
            clone(estimator).fit(few, target[:_N_UNTIMED_ROWS]).predict(few)
        except Exception:  # the fit of all rows says what is wrong; a few may be too few
            return


_loaded: set[tuple[str, str, str]] = set()


def _find_split(cell: Cell, data: Dataset) -> _Split:
    """Return the split of a cell; whichever side is evaluated, and in every repeat if it is fixed, it is the same."""
    protocol = {name: cell.protocol[name] for name in OPTIONS}
    return _Split(
        cell.dataset, 0 if is_fixed(protocol, data.n_train is not None) else cell.repeat, format_canonical(protocol)
    )


class _Split(NamedTuple):
    """All that determines which rows are training rows and which are test rows; the protocol as canonical JSON."""

    dataset: str
    repeat: int
    protocol: str


# Cells of one repeat follow each other in a worker, so a few splits are enough; each of Adult's takes 10 MB.
@lru_cache(maxsize=4)
def _take_sides(split: _Split) -> tuple[_Rows, _Rows]:
    train, test = split_rows(datasets.load(split.dataset), split.repeat, json.loads(split.protocol))
    return _take_rows(split.dataset, train), _take_rows(split.dataset, test)


@dataclass(frozen=True)
class _Pass:
    """One reading of the training rows of a split: the same for every estimator of the same design."""

    split: _Split
    design: Hashable
    reader: Any = field(compare=False)


@lru_cache(maxsize=8)
def _summarise_rows(of_split: _Pass) -> Any:
    train, _ = _take_sides(of_split.split)
    return of_split.reader.summarise(train.frame, train.target)


def _take_rows(name: str, rows: np.ndarray) -> _Rows:
    data = datasets.load(name)
    matrix, target, codes = _encode_table(name)
    frame = data.frame.iloc[rows].reset_index(drop=True)
    return _Rows(frame, matrix[rows], target[rows], None if codes is None else codes[rows])


@lru_cache(maxsize=4)
def _encode_table(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    data = datasets.load(name)
    matrix, _ = data.domain.encode(data.frame)
    if data.task != "classification":
        return matrix, data.target.to_numpy(dtype=np.float64), None
    target = data.target.to_numpy().astype(str)  # fixed width: scikit-learn sorts it ten times as fast as objects
    return matrix, target, number_classes(data.domain.target.categories, target)


def _check_predictions(predicted: np.ndarray, evaluated: _Rows) -> None:
    """Refuse what is no prediction: an estimator may be anybody's."""
    if predicted.shape != evaluated.target.shape:
        raise BadInput(f"predict gave an array of shape {predicted.shape} for {len(evaluated.target)} rows")
    if evaluated.codes is None and np.isnan(predicted.astype(np.float64)).any():
        raise BadInput(f"predict gave values that are no numbers, in {np.isnan(predicted.astype(float)).sum()} rows")


def _score_predictions(data: Dataset, evaluated: _Rows, predicted: np.ndarray) -> dict[str, float]:
    declared = data.domain.target
    if data.task != "classification":
        return score_numbers(declared, evaluated.target, predicted)
    assert evaluated.codes is not None  # a classification has them
    return score_classes(declared.categories, evaluated.codes, number_classes(declared.categories, predicted))


def _collect_published(estimator: Any) -> dict[str, float]:
    """Return what a fitted estimator publishes of its own noise."""
    scales = getattr(estimator, "noise_scales_", {})
    published = {f"noise_scale_{part}": float(scale) for part, scale in scales.items()}
    if hasattr(estimator, "monomials_"):
        published["monomials"] = float(len(estimator.monomials_))
    for name in ("beta", "sampling_ratio"):
        if hasattr(estimator, f"{name}_"):
            published[name] = float(getattr(estimator, f"{name}_"))
    return published


def _collect_details(estimator: Any, domain: Domain) -> dict:
    details = {}
    if (privacy := read_account(estimator, domain)) is not None:
        details["privacy"] = _describe_privacy(privacy)
    if clipped := getattr(estimator, "clipped_", None):
        details["clipped"] = dict(clipped)
    return details


def _describe_privacy(privacy: Privacy) -> dict:
    """Return what a cell keeps of an account: not the ledger, which may be larger than all else."""
    return {
        "claimed_epsilon": privacy.claimed_epsilon,
        "accounted_epsilon": privacy.accounted_epsilon,
        "noisy_epsilon": privacy.noisy_epsilon,
        "keeps_claim": privacy.keeps_claim,
        "neighbours": privacy.neighbours,
        "accounted": {relation: privacy.accounted(relation) for relation in RELATIONS},
        "faults": list(map(asdict, privacy.faults)),
        "data_faults": list(map(asdict, privacy.data_faults)),
    }
