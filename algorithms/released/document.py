"""A release as a document: JSON on the way out, JSON on the way in, nothing that could run."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

from algorithms.accounting.privacy import Privacy
from algorithms.encoding.domain import Domain

FORMAT = "dp-replica release 1"
"""Says what a file is; a change of its layout changes the number."""

KINDS = {
    "forest": "forest.ReleasedForest",
    "regression": "regression.ReleasedRegression",
    "classifier": "classifier.ReleasedClassifier",
    "marginals": "marginals.ReleasedMarginals",
    "naive_bayes": "naive_bayes.ReleasedNaiveBayes",
    "numbers": "numbers.ReleasedNumbers",
    "product": "product.ReleasedProduct",
}


class ReleaseError(ValueError):
    """A model must not leave, or a file is no release."""


@dataclass(frozen=True)
class Origin:
    """Where a release comes from: all of it public."""

    algorithm: str  #: class of the estimator
    parameters: dict  #: of its constructor, without the domain, the seed and the number of threads
    domain: Domain
    privacy: (
        dict  #: the account of the fit, as ``accounting.privacy.Privacy.as_dict`` writes and ``from_dict`` reads it
    )


class Release(ABC):
    """What leaves of a fitted model: what was paid for, what is public, and nothing else.

    Those that predict take rows X as a frame or an array of shape (n, k), columns as the domain declares them, and
    return an array of shape (n,). Values beyond the declared bounds are clipped; a wrong number of columns, a missing
    value, or a category that was not declared is a ``DomainError``.

    Attributes
    ----------
    origin : Origin
        The algorithm, its parameters, the domain, and the account.
    """

    KIND: str
    origin: Origin

    @abstractmethod
    def to_contents(self) -> dict:
        """Return all that the release holds beside its origin, as what JSON can hold."""

    @classmethod
    @abstractmethod
    def from_contents(cls, origin: Origin, contents: dict) -> Release:
        """Return the release that ``contents`` was made of."""

    def to_json(self) -> str:
        """Return the release as JSON; `from_json` is the way back.

        Raises
        ------
        ReleaseError
            If the domain has a category, or a name, that JSON cannot hold.
        """
        domain = self.origin.domain
        named = [*domain.features, *([domain.target] if domain.target else [])]
        if not all(isinstance(column.name, str) for column in named):
            raise ReleaseError("a release cannot hold columns whose names are no text")
        if any(isinstance(c, tuple) for column in named for c in getattr(column, "categories", ())):
            raise ReleaseError("a release cannot hold categories of several values")
        document = {
            "format": FORMAT,
            "kind": self.KIND,
            "algorithm": self.origin.algorithm,
            "parameters": {name: to_plain_data(value) for name, value in self.origin.parameters.items()},
            "domain": {key: to_plain_data(value) for key, value in domain.to_mapping().items()},
            "privacy": self.origin.privacy,
            "contents": self.to_contents(),
        }
        return json.dumps(document, ensure_ascii=False, allow_nan=False)

    def save(self, path) -> None:
        """Write the release to a file."""
        Path(path).write_text(self.to_json() + "\n", encoding="utf-8")


def from_json(text: str) -> Release:
    """Return the release that ``to_json`` wrote.

    Raises
    ------
    ReleaseError
        If the text is no release.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReleaseError(f"this is no release: not JSON ({error})") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ReleaseError(f"this is no release: its format is not {FORMAT!r}")
    try:
        return _read_document(document)
    except Exception as error:  # whatever is wrong with it, it cannot be used
        raise ReleaseError(f"this release is damaged: {type(error).__name__}: {' '.join(str(error).split())}") from None


def _read_document(document: dict) -> Release:
    module, name = KINDS[document["kind"]].split(".")
    Privacy.from_dict(document["privacy"])  # is one
    domain = Domain.from_mapping(document["domain"])
    origin = Origin(document["algorithm"], document["parameters"], domain, document["privacy"])
    return getattr(import_module(f"{__package__}.{module}"), name).from_contents(origin, document["contents"])


def load_release(path) -> Release:
    """Read a release from a file.

    Raises
    ------
    ReleaseError
        If the file is no release.
    OSError
        If it cannot be read.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ReleaseError(f"this is no release: not text ({error})") from None
    return from_json(text)


def to_plain_data(value) -> str | float | int | list | dict | None:
    """Return a value as what JSON can hold: arrays as lists, NaN as None.

    Raises
    ------
    ReleaseError
        For anything else.

    Examples
    --------
    >>> to_plain_data(np.array([[0.5, np.nan], [1.0, 2.0]])), to_plain_data({"a": ("b", np.int64(3))})
    ([[0.5, None], [1.0, 2.0]], {'a': ['b', 3]})
    """
    if isinstance(value, np.ndarray | np.generic):
        return to_plain_data(value.tolist())
    if isinstance(value, list | tuple):
        return [to_plain_data(each) for each in value]
    if isinstance(value, dict):
        return {str(key): to_plain_data(each) for key, each in value.items()}
    if isinstance(value, float) and math.isnan(value):
        return None
    if value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise ReleaseError(f"a release cannot hold {value!r}, which JSON has no form for")


def check_classes(classes: np.ndarray, domain: Domain) -> None:
    """Raise a ``ValueError`` unless the class labels of a model are those of its domain, in their order."""
    if not np.array_equal(classes, domain.target.labels()):
        raise ValueError("the classes are not those of the domain")


def to_array(values, dtype=np.float64) -> np.ndarray:
    """Return an array of what `to_plain_data` made of one; None is NaN.

    Examples
    --------
    >>> to_array([[0.5, None], [1.0, 2.0]])
    array([[0.5, nan],
           [1. , 2. ]])
    """
    if dtype != np.float64:
        return np.array(values, dtype=dtype)
    return np.array(values, dtype=object).astype(np.float64)
