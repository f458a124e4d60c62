"""What a fitted estimator says of its privacy: ours keep a ledger, others may claim an ε that nobody checked."""

from __future__ import annotations

import math
from typing import Any

from algorithms.accounting.events import ADDED_OR_REMOVED, RELATIONS, Unpaid
from algorithms.accounting.faults import CLAIMS_ONLY
from algorithms.accounting.privacy import Privacy
from algorithms.encoding.domain import Domain
from experiments.config import estimators
from experiments.errors import BadInput

_ACCOUNT = ("accounted_epsilon", "noisy_epsilon", "keeps_claim", "neighbours", "accounted", "faults", "data_faults")
"""What an account has beside ``claimed_epsilon``."""


def read_account(estimator: Any, domain: Domain | None = None) -> Privacy | None:
    """Return the account of a fitted estimator; None if it claims nothing.

    Its ``privacy_`` is taken as it is if it has all that an account has. If it has no more than ``claimed_epsilon``, or
    if there is none and the constructor took an ε, that ε is a claim which nothing stands behind; it is BadInput if
    that is no number. Columns of the domain that it was fitted to whose bounds follow the rows are noted.
    """
    privacy = getattr(estimator, "privacy_", None)
    if privacy is None:
        kind: type = type(estimator)
        return _claim(estimator.epsilon, ADDED_OR_REMOVED, domain) if estimators.takes_budget(kind) else None
    if isinstance(privacy, Privacy) or all(hasattr(privacy, name) for name in ("claimed_epsilon", *_ACCOUNT)):
        return privacy
    claimed, neighbours = getattr(privacy, "claimed_epsilon", None), getattr(privacy, "neighbours", ADDED_OR_REMOVED)
    return _claim(claimed, neighbours, domain)


def is_claim_only(privacy: Privacy) -> bool:
    """Return whether an account is no more than a claim."""
    return CLAIMS_ONLY in privacy.faults


def _claim(epsilon: Any, neighbours: Any, domain: Domain | None) -> Privacy | None:
    if isinstance(epsilon, bool) or not isinstance(epsilon, int | float) or not epsilon > 0:
        raise BadInput(f"an estimator's privacy_.claimed_epsilon must be a positive number, got {epsilon!r}")
    if neighbours not in RELATIONS:
        raise BadInput(f"an estimator's privacy_.neighbours must be one of {', '.join(RELATIONS)}, got {neighbours!r}")
    if math.isinf(epsilon):
        return None
    ledger, faults = Unpaid("whatever it does, of which it keeps no account"), (CLAIMS_ONLY,)
    if domain is None:
        return Privacy(float(epsilon), ledger, faults, neighbours)
    return Privacy.under(domain, float(epsilon), ledger, faults, neighbours=neighbours)
