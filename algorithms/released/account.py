"""The account of a fit as it stands in a release: of a sound fit, and what it says follows from its ledger."""

from __future__ import annotations

import math

from algorithms.accounting.events import RELATIONS, Parallel, Sequential, Spent
from algorithms.accounting.privacy import Privacy
from algorithms.released.field import DEEPEST, ROUNDING, SMALLEST, Field

EVENTS = tuple(event.__name__ for event in (Spent, Sequential, Parallel))
"""What a sound fit books: neither a step without noise nor a bootstrap, which reads the number of rows, is among it."""

MOST_TIMES = 10**9
"""Most times that a step may be taken."""


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
