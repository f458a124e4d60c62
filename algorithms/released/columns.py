"""The domain of a release, and the class labels that it has."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from algorithms.encoding.cells import DomainError
from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous, Nominal
from algorithms.released.field import Field, ReleaseError


def read_domain(field: Field) -> Domain:
    """Return the domain that ``Domain.to_mapping`` wrote; none of a sound fit has bounds from the rows."""
    parts = field.entries("features", maybe=("target",))
    for feature in parts["features"].named().values():
        _check_column(feature)
    if "target" in parts:
        targets = parts["target"].named()
        if len(targets) != 1:
            parts["target"].refuse("must be one column")
        _check_column(*targets.values())
    try:
        return Domain.from_mapping(field.value)
    except DomainError as error:
        raise ReleaseError(f"this release is damaged: {field.path}: {error}") from None


def _check_column(field: Field) -> None:
    """Check bounds, or categories: what is text for a number elsewhere is none here."""
    if type(field.value) is list:
        for category in field.items(fewest=1):
            category.cell()
    else:
        for bound in field.entries("lower", "upper").values():
            bound.number()


def check_target(domain: Domain, kind: type) -> None:
    """Refuse a domain whose target is not of a kind, ``Nominal`` or ``Continuous``."""
    if not isinstance(domain.target, kind):
        Field(domain.target, "domain.target").refuse(f"must be {kind.__name__}")


def read_classes(field: Field, domain: Domain, *, may_lack: bool = False) -> np.ndarray:
    """Return the class labels of a model: those of its domain in their order, or some of them if any ``may_lack``."""
    check_target(domain, Nominal)
    try:
        declared = domain.target.labels().tolist()
    except DomainError as error:
        raise ReleaseError(f"this release is damaged: domain.target: {error}") from None
    positions = {(type(label), label): i for i, label in enumerate(declared)}
    found = [positions.get((type(each.value), each.cell()), -1) for each in field.items(fewest=1)]
    is_ascending = found[0] >= 0 and all(i < j for i, j in pairwise(found))
    if not is_ascending or not (may_lack or len(found) == len(declared)):
        field.refuse(f"must be {'some of ' if may_lack else ''}the {len(declared)} classes of the domain, in order")
    return np.array(field.value)


def count_categories(domain: Domain, n_bins: int | None) -> np.ndarray:
    """Return how many codes each column has by its categories or its bins: int64 (k,), 0 for numbers without bins."""
    return np.array([(n_bins or 0) if isinstance(f, Continuous) else len(f.categories) for f in domain.features])
