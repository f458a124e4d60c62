"""Metrics of one's own: files ``metric/NAME.yaml`` of the catalogue, each an import path and what is known of it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field, field_validator, model_validator

from documents import search_path
from documents.document import Document, parse_document
from documents.file_state import find_state
from documents.yaml_files import shorten_path
from experiments.config.estimators import import_target, read_target_file
from experiments.config.paths import CONF
from experiments.errors import BadInput
from experiments.metrics.metric import Margin, Metric, MetricRange, Needs

if TYPE_CHECKING:
    from experiments.metrics.scoring import Fitted

FOLDER = CONF / "metric"


class OwnMetric(Document):
    """What the file of a metric says beside ``_target_``, a function of what is so and of what was predicted."""

    task: Literal["classification", "regression"]  #: what it is a metric of
    better: Literal["higher", "lower"]  #: which of two values is the better one
    low: float  #: the smallest value; ``-.inf`` where there is no bound
    high: float  #: the largest value; ``.inf`` where there is no bound
    margin: float | str  #: what counts as no difference: a number, or a share of the metric such as ``5 %``
    #: What the function takes as its second argument; probabilities have a column for each class.
    needs: Literal["predictions", "probabilities"] = "predictions"
    two_classes: bool = False  #: whether it is defined for two classes only
    per_cent: bool = False  #: whether it is printed in per cent
    parameters: dict[str, Any] = {}  #: further arguments of the function, by name
    target: str = Field("", exclude=True)

    @field_validator("margin")
    @classmethod
    def _check_margin(cls, margin: float | str) -> float | str:
        if not read_margin(margin).size > 0:
            raise ValueError(f"write a number above 0, or a share such as 5 %, got {margin!r}")
        return margin

    @model_validator(mode="after")
    def _check_range(self) -> OwnMetric:
        if not self.low < self.high:
            raise ValueError(f"low must lie below high, got {self.low} and {self.high}")
        return self

    def describe(self, name: str) -> Metric:
        """Return what is known of the metric."""
        limits, margin = MetricRange(self.low, self.high), read_margin(self.margin)
        meaning = _read_first_sentence(self.target)
        return Metric(name, limits, margin, self.better == "lower", self.per_cent, meaning)

    @property
    def asks(self) -> Needs:
        """What the metric asks of a model and of a data set."""
        return Needs(self.needs == "probabilities", self.two_classes)

    def score(self, model: Fitted, actual: np.ndarray) -> float:
        """Return the metric of what a model said and what is so."""
        from sklearn.metrics import make_scorer

        from experiments.metrics.scoring import FittedClassifier, score_quietly

        method = "predict_proba" if self.asks.probabilities and isinstance(model, FittedClassifier) else "predict"
        scorer = make_scorer(import_function(self.target), response_method=method, **self.parameters)
        return score_quietly(scorer, model, actual, {})


def read_margin(text: float | str) -> Margin:
    """Return a margin as a file gives it; one of size 0 if it is none.

    Examples
    --------
    >>> read_margin(0.01), read_margin("5 %").is_share, read_margin("some").size
    (Margin(size=0.01, is_share=False, floor=-inf), True, 0.0)
    """
    if isinstance(text, float | int):
        return Margin(float(text))
    share = re.fullmatch(r"(\d+(?:\.\d+)?) ?%", text.strip())
    return Margin(float(share[1]) / 100 if share else 0.0, is_share=True)


def _read_first_sentence(target: str) -> str:
    text = inspect.getdoc(import_function(target)) or "its function says nothing of itself"
    sentence = " ".join(text.split("\n\n")[0].split()).rstrip(".")
    return sentence.removeprefix("Return ").removeprefix("the ")


def list_own() -> list[str]:
    """Return the names of the metrics that have files."""
    return list(search_path.list_files(FOLDER))


def find_own(name: str) -> OwnMetric | None:
    """Return what the file of a metric says; None if it has none, BadInput if it or its function cannot be read."""
    path = find_own_file(name)
    return None if path is None else _read_file(path, find_state(path))


def find_own_file(name: str) -> Path | None:
    """Return the file of a metric; None if it has none."""
    return search_path.find_file(FOLDER, name)


@cache
def _read_file(path: Path, state: tuple[int, int] | None) -> OwnMetric:
    entry = read_target_file(path, "the metric's function")
    target = entry.pop("_target_")
    read = parse_document(OwnMetric, entry, path).model_copy(update={"target": target})
    try:
        import_function(target)
    except BadInput as error:  # here, where the file is known that names the function
        raise BadInput(f"{shorten_path(path)}: {error}") from error
    return read


@cache
def import_function(path: str) -> Callable:
    """Import a function by its path; it is BadInput if there is none."""
    found = import_target(path)
    if not callable(found):
        raise BadInput(f"_target_: {path} is no function of the true and the predicted values")
    return found
