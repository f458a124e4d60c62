"""How one cell is run: load, split, fit, measure."""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import datasets
from algorithms.accounting.events import RELATIONS
from algorithms.accounting.privacy import Privacy
from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Nominal
from datasets import Dataset
from experiments.cells.cell import Cell
from experiments.cells.code_version import list_own_versions
from experiments.config import estimators
from experiments.config.protocol import Protocol
from experiments.errors import BadInput
from experiments.metrics.find import ask_needs
from experiments.metrics.metric import STANDARD_ERROR
from experiments.metrics.scores import (
    collect_shares,
    number_classes,
    score_asked,
    score_classes,
    score_numbers,
)
from experiments.metrics.scoring import FittedClassifier, FittedRegressor
from experiments.run.splits import Sides, domain_of, list_splits, take_ranges
from experiments.store.accounts import read_account
from experiments.store.record import Measured

_N_FOLDS = 10
N_KEPT = 4
"""Data sets of which a process keeps the encoded features and the target."""
_LARGE = 5_000_000
"""Values in a table, from which on a process keeps only one of its splits."""


@dataclass(frozen=True, eq=False)
class _Rows:
    """One side of a split: the target with the position of each class; the features in the form that is asked for."""

    data: Dataset
    rows: np.ndarray
    groups: str | None
    target: np.ndarray
    codes: np.ndarray | None

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The features as declared, without the column of their groups if they have any."""
        frame = self.data.frame.iloc[self.rows].reset_index(drop=True)
        return frame if self.groups is None else frame.drop(columns=self.groups)

    @cached_property
    def matrix(self) -> np.ndarray:
        """The same as numbers."""
        matrix = _encode_features(self.data)[self.rows]
        if self.groups is None:
            return matrix
        return np.delete(matrix, self.data.domain.names.index(self.groups), axis=1)


def evaluate_cell(cell: Cell) -> Measured:
    """Run one cell.

    Examples
    --------
    >>> measured = evaluate_cell(Cell("car", "majority", {}, float("inf"), 0))
    >>> round(measured.metrics["accuracy"], 4), measured.metrics["recall_unacc"]
    (0.6994, 1.0)
    """
    data, n_folds = datasets.load(cell.dataset), cell.protocol.folds
    if n_folds is None:
        return _evaluate_split(cell, data, 0, cell.seed)
    seeds = np.random.SeedSequence(cell.seed).generate_state(n_folds)
    return average_folds([_evaluate_split(cell, data, fold, int(seed)) for fold, seed in enumerate(seeds)])


def load_rows(dataset: str, algorithms: Iterable[str]) -> None:
    """Read a data set in the forms that algorithms ask for: whoever is forked from this process then has them, too."""
    data = datasets.load(dataset)
    _encode_target(data)
    if not all("domain" in estimators.list_parameters(estimators.find_target(name)) for name in algorithms):
        _encode_features(data)


def average_folds(runs: Sequence[Measured]) -> Measured:
    """Return what a cross-validation gave, from what each fold did: means, and the standard errors of these.

    Each metric has its standard error over folds beside it, ``<metric>_se``; both are NaN if it is undefined in a fold.
    The seconds of a fit are the mean, and the account is the largest of the models'. It is BadInput if a class is named
    as another with ``_se`` behind it: then a metric of the one would be the standard error of the other.

    Examples
    --------
    >>> average_folds([Measured({"accuracy": 0.5}, 1.0), Measured({"accuracy": 0.75}, 3.0)]).metrics
    {'accuracy': 0.625, 'accuracy_se': 0.125}
    """
    metrics: dict[str, float] = {}
    for name in runs[0].metrics:
        if (beside := f"{name}{STANDARD_ERROR}") in runs[0].metrics:
            raise BadInput(f"{beside} would be a metric and the standard error of {name}: give its class another name")
        values = np.array([run.metrics[name] for run in runs])
        metrics[name] = float(values.mean())
        metrics[beside] = float(values.std(ddof=1) / math.sqrt(len(runs)))
    dearest = max(runs, key=lambda run: run.details.get("privacy", {}).get("accounted_epsilon", 0.0))
    reasons: dict[str, str] = {}
    for run in runs:
        reasons = run.details.get("undefined", {}) | reasons
    details = dearest.details | ({"undefined": reasons} if reasons else {})
    fit_seconds = float(np.mean([run.fit_seconds for run in runs]))
    return Measured(metrics, fit_seconds, details, sum(run.seconds for run in runs))


def _evaluate_split(cell: Cell, data: Dataset, fold: int, seed: int) -> Measured:
    """Fit one model on the training rows of a split and measure it."""
    began = time.perf_counter()
    split = _find_split(cell, data, fold)
    train, test = _take_sides(split)
    evaluated = test if cell.protocol.evaluate_on == "test" else train
    domain = domain_of(data.domain, cell.protocol)
    if cell.protocol.ranges == "training_rows":
        domain = take_ranges(domain, train.matrix)
    estimator = estimators.make_estimator(
        cell.algorithm, cell.params, epsilon=cell.epsilon, domain=domain, random_state=seed
    )
    as_declared = "domain" in estimators.list_parameters(estimators.find_target(cell.algorithm))
    started = time.perf_counter()
    if hasattr(estimator, "fit_summary"):
        estimator.fit_summary(_summarise_rows(_Pass(split, estimator.design(domain), estimator)))
    else:
        estimator.fit(train.frame if as_declared else train.matrix, train.target)
    fit_seconds = time.perf_counter() - started
    rows = evaluated.frame if as_declared else evaluated.matrix
    is_of_folds = cell.protocol.evaluate_on == "folds"
    asked_model = _OfOtherFolds(estimator, train.target, cell.repeat) if is_of_folds else _Whole(estimator)
    predicted = asked_model.predict(rows)
    _check_predictions(predicted, evaluated)
    metrics = _score_predictions(data, evaluated, predicted)
    asked, reasons = _score_asked(cell, asked_model, rows, domain, evaluated.target, predicted)
    metrics |= asked
    metrics |= _collect_published(estimator)
    if cell.protocol.leakage:
        from experiments.run.leakage import measure_leakage  # which few cells need

        metrics |= measure_leakage(estimator.make_sampler(), (train.frame, train.target), (test.frame, test.target))
    # a metric that is no number fails here, not in the store
    numbers = {name: float(value) for name, value in metrics.items()}
    details = _collect_details(estimator, domain) | ({"undefined": reasons} if reasons else {})
    if own := list_own_versions(cell.metrics):
        details["own_metrics"] = own
    return Measured(numbers, fit_seconds, details, time.perf_counter() - began)


@dataclass(frozen=True)
class _Whole:
    """A model that was trained on all training rows."""

    estimator: Any

    def predict(self, rows: Any) -> np.ndarray:
        """Return its prediction for each row."""
        return np.asarray(self.estimator.predict(rows))

    def collect_shares(self, rows: Any, classes: np.ndarray) -> np.ndarray | None:
        """Return the probabilities that it gives each row, see `scores.collect_shares`."""
        return collect_shares(self.estimator, rows, classes)


@dataclass(frozen=True)
class _OfOtherFolds:
    """Models of the training rows without a fold, each of which is asked about the rows of its fold alone."""

    estimator: Any
    target: np.ndarray
    repeat: int

    def predict(self, rows: Any) -> np.ndarray:
        """Return the prediction for each row."""
        from sklearn.model_selection import cross_val_predict  # which few cells need

        return cross_val_predict(self.estimator, rows, self.target, cv=self._make_folds())

    def collect_shares(self, rows: Any, classes: np.ndarray) -> np.ndarray | None:
        """Return the probabilities of each row, see `scores.collect_shares`.

        The models are those of `predict`, trained again. ``cross_val_predict`` would number the classes for them, which
        declare theirs by name.
        """
        from sklearn.base import clone  # which few cells need

        shares = np.zeros((len(self.target), len(classes)))
        for others, fold in self._make_folds().split(shares, self.target):
            model = clone(self.estimator).fit(_select(rows, others), self.target[others])
            if (given := collect_shares(model, _select(rows, fold), classes)) is None:
                return None
            shares[fold] = given
        return shares

    def _make_folds(self) -> Any:
        """Return the folds, which are the same for every setting."""
        from sklearn.model_selection import StratifiedKFold  # which few cells need

        return StratifiedKFold(_N_FOLDS, shuffle=True, random_state=self.repeat)


def _select(rows: Any, places: np.ndarray) -> Any:
    return rows.iloc[places] if isinstance(rows, pd.DataFrame) else rows[places]


def _find_split(cell: Cell, data: Dataset, fold: int) -> _Split:
    """Return the split of a cell; whichever side is evaluated, and in every repeat if it is fixed, it is the same."""
    is_fixed = cell.protocol.is_fixed(data.n_train is not None)
    return _Split(data, 0 if is_fixed else cell.repeat, cell.protocol.of_split(), fold)


class _Split(NamedTuple):
    """All that determines which rows are training rows and which are test rows."""

    data: Dataset
    repeat: int
    protocol: Protocol
    fold: int


@lru_cache(maxsize=1)
def _draw_folds(data: Dataset, repeat: int, protocol: Protocol) -> list[Sides]:
    """Return all folds of a repeat: a cell takes one after the other."""
    return list_splits(data, repeat, protocol)


# Cells of one repeat follow each other in a worker, so a few splits are enough; each of Adult's takes 10 MB.
@lru_cache(maxsize=4)
def _take_sides(split: _Split) -> tuple[_Rows, _Rows]:
    protocol, data = split.protocol, split.data
    if data.frame.size > _LARGE:
        _take_sides.cache_clear()
    if protocol.folds is None:
        ((train, test),) = list_splits(data, split.repeat, protocol)
    else:
        train, test = _draw_folds(data, split.repeat, protocol)[split.fold]
    return _take_rows(data, train, protocol.groups), _take_rows(data, test, protocol.groups)


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


def _take_rows(data: Dataset, rows: np.ndarray, groups: str | None) -> _Rows:
    target, codes = _encode_target(data)
    return _Rows(data, rows, groups, target[rows], None if codes is None else codes[rows])


@lru_cache(maxsize=N_KEPT)
def _encode_features(data: Dataset) -> np.ndarray:
    matrix, _ = data.domain.encode(data.frame)
    return matrix


@lru_cache(maxsize=N_KEPT)
def _encode_target(data: Dataset) -> tuple[np.ndarray, np.ndarray | None]:
    if data.task != "classification":
        return data.target.to_numpy(dtype=np.float64), None
    target = data.target.to_numpy().astype(str)  # fixed width: scikit-learn sorts it ten times as fast as objects
    return target, number_classes(data.domain.target.categories, target)


def _check_predictions(predicted: np.ndarray, evaluated: _Rows) -> None:
    """Refuse what is no prediction: an estimator may be anybody's."""
    if predicted.shape != evaluated.target.shape:
        raise BadInput(f"predict gave an array of shape {predicted.shape} for {len(evaluated.target)} rows")
    if evaluated.codes is None and np.isnan(predicted.astype(np.float64)).any():
        raise BadInput(f"predict gave values that are no numbers, in {np.isnan(predicted.astype(float)).sum()} rows")


def _score_asked(
    cell: Cell,
    model: _Whole | _OfOtherFolds,
    rows: Any,
    domain: Domain,
    actual: np.ndarray,
    predicted: np.ndarray,
) -> tuple[dict[str, float], dict[str, str]]:
    """Return the metrics that the cell asks for, and why those are undefined that are."""
    if not cell.metrics:
        return {}, {}
    if not isinstance(domain.target, Nominal):
        return score_asked(cell.metrics, FittedRegressor(predicted.astype(np.float64)), actual)
    classes = np.array(list(map(str, domain.target.categories)))
    needs_shares = any(ask_needs(name).probabilities for name in cell.metrics)
    shares = model.collect_shares(rows, classes) if needs_shares else None
    return score_asked(cell.metrics, FittedClassifier(classes, predicted.astype(str), shares), actual)


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
