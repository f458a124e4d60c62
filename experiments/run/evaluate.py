"""How one cell is run: load, split, fit, measure."""

from __future__ import annotations

import json
import time
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd

import datasets
from algorithms.accounting.events import RELATIONS
from datasets import Dataset
from experiments.cells.cell import Cell, canonical, is_fixed
from experiments.config import estimators
from experiments.run.leakage import of_release
from experiments.run.splits import OPTIONS, domain_of, split_rows
from experiments.store.record import Measured


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
    data = datasets.load(cell.dataset)
    split = _split(cell, data)
    train, test = _sides(split)
    asked = train if cell.protocol["evaluate_on"] == "train" else test
    domain = domain_of(data.domain, cell.protocol)
    estimator = estimators.make(
        cell.algorithm, cell.params, epsilon=cell.epsilon, domain=domain, random_state=cell.seed
    )
    as_declared = "domain" in estimators.accepts(estimators.target(cell.algorithm))
    started = time.perf_counter()
    if hasattr(estimator, "fit_summary"):
        estimator.fit_summary(_summary(_Pass(split, estimator.design(domain), estimator)))
    else:
        estimator.fit(train.frame if as_declared else train.matrix, train.target)
    fit_seconds = time.perf_counter() - started
    predicted = np.asarray(estimator.predict(asked.frame if as_declared else asked.matrix))
    measure = _classification if data.task == "classification" else _regression
    metrics = measure(data, asked, predicted) | _published(estimator)
    if cell.protocol["leakage"]:
        metrics |= of_release(estimator.make_sampler(), (train.frame, train.target), (test.frame, test.target))
    return Measured(metrics, fit_seconds, _details(estimator))


def _split(cell: Cell, data: Dataset) -> _Split:
    """Return the split of a cell; whatever is asked on it, and in every repeat if it is fixed, it is the same one."""
    protocol = {name: cell.protocol[name] for name in OPTIONS}
    return _Split(cell.dataset, 0 if is_fixed(protocol, data.n_train is not None) else cell.repeat, canonical(protocol))


class _Split(NamedTuple):
    """All that determines which rows are trained on and which are asked; the protocol as canonical JSON."""

    dataset: str
    repeat: int
    protocol: str


# Cells of one repeat follow each other in a worker, so a few splits are enough; each of Adult's takes 10 MB.
@lru_cache(maxsize=4)
def _sides(asked: _Split) -> tuple[_Rows, _Rows]:
    train, test = split_rows(datasets.load(asked.dataset), asked.repeat, json.loads(asked.protocol))
    return _side(asked.dataset, train), _side(asked.dataset, test)


@dataclass(frozen=True)
class _Pass:
    """One reading of the training rows of a split: the same for every estimator of the same design."""

    split: _Split
    design: Hashable
    reader: object = field(compare=False)


@lru_cache(maxsize=8)
def _summary(asked: _Pass):
    train, _ = _sides(asked.split)
    return asked.reader.summarise(train.frame, train.target)


def _side(name: str, rows: np.ndarray) -> _Rows:
    data = datasets.load(name)
    matrix, target, codes = _encoded(name)
    frame = data.frame.iloc[rows].reset_index(drop=True)
    return _Rows(frame, matrix[rows], target[rows], None if codes is None else codes[rows])


@lru_cache(maxsize=4)
def _encoded(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    data = datasets.load(name)
    matrix, _ = data.domain.encode(data.frame)
    if data.task != "classification":
        return matrix, data.target.to_numpy(dtype=np.float64), None
    target = data.target.to_numpy().astype(str)  # fixed width: scikit-learn sorts it ten times as fast as objects
    return matrix, target, _class_codes(data, target)


def _class_codes(data: Dataset, labels: np.ndarray) -> np.ndarray:
    """Return the position of each label among the declared classes, -1 for a stranger."""
    values, inverse = np.unique(labels.astype(str), return_inverse=True)
    position = {str(label): i for i, label in enumerate(data.domain.target.categories)}
    return np.array([position.get(value, -1) for value in values], dtype=np.int64)[inverse]


def _classification(data: Dataset, asked: _Rows, predicted: np.ndarray) -> dict[str, float]:
    codes = _class_codes(data, predicted)
    labels = data.domain.target.categories
    hits = np.bincount(asked.codes[codes == asked.codes], minlength=len(labels))
    n_predicted = np.bincount(codes[codes >= 0], minlength=len(labels))
    n_actual = np.bincount(asked.codes, minlength=len(labels))
    metrics = {"accuracy": float(hits.sum() / len(codes))}
    for i, label in enumerate(labels):
        metrics[f"precision_{label}"] = float(hits[i] / n_predicted[i]) if n_predicted[i] else float("nan")
        metrics[f"recall_{label}"] = float(hits[i] / n_actual[i]) if n_actual[i] else float("nan")
    return metrics


def _regression(data: Dataset, asked: _Rows, predicted: np.ndarray) -> dict[str, float]:
    errors = asked.target - predicted
    spread = asked.target - asked.target.mean()
    mse, variance = float(errors @ errors / len(errors)), float(spread @ spread / len(errors))
    bounds = data.domain.target
    unit_mse = mse / (bounds.upper - bounds.lower) ** 2
    return {"mse": mse, "unit_mse": unit_mse, "r2": 1 - mse / variance if variance else float("nan")}


def _published(estimator) -> dict[str, float]:
    """Return what a fitted estimator says of its own noise."""
    said = {f"noise_scale_{part}": float(scale) for part, scale in getattr(estimator, "noise_scales_", {}).items()}
    chosen = {name: f"{name}_" for name in ("beta", "sampling_ratio")}
    return said | {name: float(getattr(estimator, own)) for name, own in chosen.items() if hasattr(estimator, own)}


def _details(estimator) -> dict:
    details = {}
    if (privacy := getattr(estimator, "privacy_", None)) is not None:
        details["privacy"] = {
            "claimed_epsilon": privacy.claimed_epsilon,
            "accounted_epsilon": privacy.accounted_epsilon,
            "noisy_epsilon": privacy.noisy_epsilon,
            "keeps_claim": privacy.keeps_claim,
            "neighbours": privacy.neighbours,
            "accounted": {relation: privacy.accounted(relation) for relation in RELATIONS},
            "faults": [{"name": fault.name, "why": fault.why, "source": fault.source} for fault in privacy.faults],
        }
    if clipped := getattr(estimator, "clipped_", None):
        details["clipped"] = dict(clipped)
    return details
