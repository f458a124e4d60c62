"""What an algorithm claims and accounts for, in a sentence: found without anybody's data.

What derives from ours has an account after each fit: it is fitted to a small made-up table, at ε = 1, with the
parameters of its file. Of everything else counts what its docstring says of privacy.
"""

from __future__ import annotations

import contextlib
import io
import math
import warnings

import numpy as np

from algorithms import Domain
from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.accounting.privacy import Privacy
from algorithms.base import PrivateEstimator
from experiments.audit.subjects import CLASS_TARGET, FEATURES, GRID, NUMBER_TARGET
from experiments.catalogue.docstrings import read_class_text
from experiments.config import estimators
from experiments.errors import one_line

_OTHER = {ADDED_OR_REMOVED: REPLACED, REPLACED: ADDED_OR_REMOVED}
_ROUNDING = 1e-9


def describe_privacy(name: str, task: str) -> str:
    """Return what an algorithm claims, accounts for and under which neighbours, and the faults.

    Examples
    --------
    >>> describe_privacy("majority", "classification")
    'claims no ε: it has no such parameter'
    >>> print(describe_privacy("diff_lr", "regression"))
    claims ε and accounts for ε, for one record replaced (0.5 ε for one record added or removed), given a public domain
    """
    estimator = estimators.import_class(estimators.find_target(name))
    if math.isinf(estimators.own_epsilon(name).get("epsilon", 0.0)):
        return "claims no ε: its file sets epsilon to inf, so that it runs without noise"
    said = read_class_text(estimator).privacy
    if issubclass(estimator, PrivateEstimator) and not estimators.list_packages(name):
        try:
            account = _fit_small(name, task)
        except Exception as error:  # whatever the code of a user raises
            return f"{said} (no account: its fit on a small table ended with {one_line(error)})".strip()
        return _describe_account(account)
    if said:
        return said
    if estimators.takes_epsilon(name):
        return "claims ε; nothing here says what it accounts for: its class has no account and no note on privacy"
    return "claims no ε: it has no such parameter"


def _fit_small(name: str, task: str) -> Privacy:
    """Return the account of a fit on a table of 90 rows, each kind of column included."""
    domain = Domain(FEATURES, CLASS_TARGET if task == "classification" else NUMBER_TARGET)
    parameters = estimators.merge_parameters(name)
    model = estimators.make_estimator(name, parameters, epsilon=1.0, domain=domain, random_state=0)
    rows = np.tile(GRID, (3, 1))
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        model.fit(rows, np.arange(len(rows)) % 3)
    return model.privacy_


def _describe_account(account: Privacy) -> str:
    faults = f"; faults: {', '.join(fault.name for fault in account.faults)}" if account.faults else ""
    if math.isinf(account.claimed_epsilon):
        return f"claims no ε, and none holds{faults}"
    spent = _format_multiple(account.accounted_epsilon)
    if not account.keeps_claim:
        where = "" if math.isinf(account.accounted_epsilon) else " on a small table"
        return f"claims ε, accounts for {spent}{where}, for {account.neighbours}{faults}"
    other = _OTHER[account.neighbours]
    beside = f"{_format_multiple(account.accounted(other))} for {other}"
    return f"claims ε and accounts for {spent}, for {account.neighbours} ({beside}), given a public domain"


def _format_multiple(epsilon: float) -> str:
    """Return a multiple of the ε that is claimed.

    Examples
    --------
    >>> _format_multiple(1.0), _format_multiple(2.0), _format_multiple(math.inf)
    ('ε', '2 ε', 'no finite ε')
    """
    if math.isinf(epsilon):
        return "no finite ε"
    return "ε" if abs(epsilon - 1) <= _ROUNDING else f"{epsilon:.3g} ε"
