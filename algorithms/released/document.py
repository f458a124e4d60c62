"""A release as a document: JSON on the way out, JSON on the way in, nothing that could run."""

from __future__ import annotations

import hashlib
import json
import math
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

from algorithms.encoding.domain import Domain
from algorithms.released.field import Field, ReleaseError
from algorithms.released.origin import read_account, read_domain
from algorithms.whole_files import write_text

FORMAT = "dp-replica release 2"
"""Says what a file is; a change of its layout changes the number."""

FORMAT_WITHOUT_CHECKSUM = "dp-replica release 1"
"""That of older files, which are read with the same checks of their fields."""

SEALED = re.compile(rf'\{{"format": "{FORMAT}", "sha256": "([0-9a-f]{{64}})", (.*\}})(?:\r?\n)?', re.DOTALL)
"""A file as `seal_document` writes it."""

MODULES = ("forest", "regression", "classifier", "marginals", "naive_bayes", "class_means", "numbers", "product")
"""Those that have kinds of releases. A kind is named like its module; a further one of a module after a colon."""


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
    def from_contents(cls, origin: Origin, contents: Field) -> Release:
        """Return the release that ``contents`` was made of; a ``ReleaseError`` if it can be that of none."""

    def to_json(self) -> str:
        """Return the release as JSON; `from_json` is the way back.

        Raises
        ------
        ReleaseError
            If JSON cannot hold it, a category or a name for instance, or `from_json` would refuse it.
        """
        domain = self.origin.domain
        named = [*domain.features, *([domain.target] if domain.target else [])]
        if not all(isinstance(column.name, str) for column in named):
            raise ReleaseError("a release cannot hold columns whose names are no text")
        if any(isinstance(c, tuple) for column in named for c in getattr(column, "categories", ())):
            raise ReleaseError("a release cannot hold categories of several values")
        document = {
            "kind": self.KIND,
            "algorithm": self.origin.algorithm,
            "parameters": {name: to_plain_data(value) for name, value in self.origin.parameters.items()},
            "domain": {key: to_plain_data(value) for key, value in domain.to_mapping().items()},
            "privacy": self.origin.privacy,
            "contents": self.to_contents(),
        }
        text = seal_document(document)
        try:
            from_json(text)
        except ReleaseError as error:
            raise ReleaseError(f"a release cannot hold this model, since nobody could read it: {error}") from None
        return text

    def save(self, path) -> None:
        """Write the release to a file."""
        write_text(path, self.to_json() + "\n")


def seal_document(document: dict) -> str:
    """Return the text of a file: its format, the checksum of all that follows, and that.

    The checksum is the SHA-256 of the JSON object that is left when these two are taken out. It finds what changed on
    the way, not who changed it.
    """
    try:
        body = json.dumps(document, ensure_ascii=False, allow_nan=False)
        return f'{{"format": "{FORMAT}", "sha256": "{_hash_text(body)}", {body[1:]}'
    except UnicodeEncodeError as error:
        raise ReleaseError(f"a release cannot hold text that is no Unicode ({error})") from None


def from_json(text: str) -> Release:
    """Return the release that ``to_json`` wrote.

    Raises
    ------
    ReleaseError
        If the text is no release, or one that was damaged: the message says where.
    """
    document = _open_document(text)
    try:
        return _read_document(Field(document, ""))
    except ReleaseError:
        raise
    except Exception as error:  # whatever else is wrong with it, it cannot be used
        raise ReleaseError(f"this release is damaged: {type(error).__name__}: {' '.join(str(error).split())}") from None


def _open_document(text: str) -> dict:
    """Return what a text holds beside its format and its checksum, if that is right."""
    if sealed := SEALED.fullmatch(text):
        body = "{" + sealed[2]
        if _hash_text(body) != sealed[1]:
            raise ReleaseError("this release is damaged: its checksum is of other contents; copy the file once more")
        return _parse_json(body)
    document = _parse_json(text)
    known = document.pop("format", None) if isinstance(document, dict) else None
    if known == FORMAT:
        raise ReleaseError("this release is damaged: it does not stand as it was written; copy the file once more")
    if known != FORMAT_WITHOUT_CHECKSUM:
        raise ReleaseError(f"this is no release: its format is not {FORMAT!r}")
    return document


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _parse_json(text: str):
    try:
        return json.loads(text, object_pairs_hook=_name_once)
    except ReleaseError:
        raise
    except (ValueError, RecursionError) as error:
        raise ReleaseError(f"this is no release: not JSON ({error})") from None


def _name_once(pairs: list[tuple[str, object]]) -> dict:
    """Return an object of JSON, in which a name that stands twice would hide what stood there first."""
    if len(named := dict(pairs)) < len(pairs):
        raise ReleaseError("this release is damaged: a name stands twice in one object")
    return named


def _read_document(document: Field) -> Release:
    fields = document.entries("kind", "algorithm", "parameters", "domain", "privacy", "contents")
    kind = _find_kind(fields["kind"])
    parameters = {name: value.cells() for name, value in fields["parameters"].named().items()}
    domain, privacy = read_domain(fields["domain"]), read_account(fields["privacy"])
    origin = Origin(fields["algorithm"].text(), parameters, domain, privacy)
    return kind.from_contents(origin, fields["contents"])


def _find_kind(field: Field) -> type[Release]:
    """Return the class of a kind, of which only the module is loaded that a file may name."""
    name, colon, _ = str(field.value).partition(":")
    if not colon or name not in MODULES:
        name = field.one_of(MODULES)
    offered = vars(import_module(f"{__package__}.{name}")).values()
    kinds = {cls.KIND: cls for cls in offered if isinstance(cls, type) and issubclass(cls, Release) and cls != Release}
    return kinds[field.one_of(kinds)]


def load_release(path) -> Release:
    """Read a release from a file.

    Time and memory grow with the size of the file, whatever stands in it.

    Raises
    ------
    ReleaseError
        If the file is no release, or one that was damaged: the message says where.
    OSError
        If it cannot be read.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8")
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
