"""What a release says of where it comes from: the domain and its class labels, and the account of a sound fit."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from algorithms.accounting.events import RELATIONS, Parallel, Sequential, Spent
from algorithms.accounting.privacy import Privacy
from algorithms.encoding.cells import DomainError
from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous, Nominal
from algorithms.released.field import DEEPEST, ROUNDING, SMALLEST, Field, ReleaseError

EVENTS = tuple(event.__name__ for event in (Spent, Sequential, Parallel))
"""What a sound fit books: neither a step without noise nor a bootstrap, which reads the number of rows, is among it."""

MOST_TIMES = 10**9
"""Most times that a step may be taken."""


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


def read_account(field: Field) -> dict:
    """Return the account that ``accounting.privacy.Privacy.as_dict`` wrote, as it is, once nothing in it is wrong.

    What it claims is above 0, no step costs less than 0, all together cost no more than the claim, and what is said of
    the ledger is what follows from it, up to rounding.
    """
    parts = field.entries(
        "claimed_epsilon",
        "neighbours",
        "accounted",
        "keeps_claim",
        "is_sound",
        "faults",
        "data_faults",
        "trust",
        "ledger",
    )
    claimed = parts["claimed_epsilon"].number(lowest=SMALLEST)
    parts["neighbours"].one_of(RELATIONS)
    _check_trust(parts["trust"])
    for name in ("faults", "data_faults"):
        if parts[name].items():
            parts[name].refuse("must be empty: what has faults does not leave")
    _check_event(parts["ledger"], DEEPEST)
    privacy = Privacy.from_dict(field.value)
    if not privacy.keeps_claim:
        cost = privacy.accounted_epsilon
        parts["claimed_epsilon"].refuse(f"must be {cost:g} or more, which the ledger costs, and is {claimed:g}")
    for name in ("keeps_claim", "is_sound"):
        if not parts[name].flag():
            parts[name].refuse("must be true: all else of the account says so")
    for relation, accounted in parts["accounted"].entries(*RELATIONS).items():
        cost = privacy.accounted(relation)
        said = math.inf if accounted.value == "inf" else accounted.number(lowest=0)
        if not math.isclose(said, cost, rel_tol=ROUNDING):
            accounted.refuse(f"must be {cost:g}, which the ledger costs")
    return field.value


def _check_trust(field: Field) -> None:
    trust = field.entries("noise", "secret", "public", "against", "holds")
    for name in ("noise", "against"):
        trust[name].text()
    for name in ("secret", "public"):
        for each in trust[name].items():
            each.text()
    if not trust["holds"].flag():
        trust["holds"].refuse("must be true: what protects from nobody does not leave")


def _check_event(field: Field, deepest: int) -> None:
    """Check a step, or steps of which some stand in others."""
    kind = field.named().get("event", Field(None, f"{field.path}.event")).one_of(EVENTS)
    if kind == Spent.__name__:
        return _check_spent(field)
    if not deepest:
        field.refuse(f"must not be deeper than {DEEPEST} steps")
    event = field.entries("event", "name", "parts", "times")
    event["name"].text()
    event["times"].whole(lowest=0, highest=MOST_TIMES)
    for part in event["parts"].items(fewest=kind == Parallel.__name__):
        _check_event(part, deepest - 1)


def _check_spent(field: Field) -> None:
    spent = field.entries("event", "mechanism", "purpose", "epsilon", "sensitivity", "neighbours", "other_sensitivity")
    for name in ("mechanism", "purpose"):
        spent[name].text()
    spent["epsilon"].number(lowest=0)
    spent["sensitivity"].number(lowest=SMALLEST)
    spent["neighbours"].one_of(RELATIONS)
    if spent["other_sensitivity"].value is not None:
        spent["other_sensitivity"].number(lowest=0)
