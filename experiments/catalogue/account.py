"""What a class says of itself, and what an algorithm claims and accounts for: found without anybody's data.

The docstring of an estimator has the form of numpydoc: summary, parameters, privacy. Words are turned into those of a
command line: ``null`` for None, no quotes around choices, no marks of markup. What derives from ours has an account
after each fit: it is fitted to a small made-up table, at ε = 1, with the parameters of its file. Of everything else
counts what its docstring says of privacy.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import math
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from algorithms import Domain
from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.accounting.privacy import Privacy
from algorithms.base import PrivateEstimator
from experiments.audit.subjects import CLASS_TARGET, FEATURES, GRID, NUMBER_TARGET
from experiments.config import estimators
from experiments.errors import one_line

_OTHER = {ADDED_OR_REMOVED: REPLACED, REPLACED: ADDED_OR_REMOVED}
_ROUNDING = 1e-9
_SECTION = re.compile(r"^(\S[^\n]*)\n-{3,}[ \t]*$", flags=re.MULTILINE)
_ENTRY = re.compile(r"^(?=\S)", flags=re.MULTILINE)
_DEFAULT = re.compile(r",?\s*(?:optional|\(?default\b.*)$", flags=re.DOTALL)
_ROLE = re.compile(r":[a-z:]+:`~?([^`<]+?)\s*(?:<[^`]*>)?`")
_LINK = re.compile(r"`([^`<]+?)\s*<[^`>]+>`_+")
_WORDS = {"None": "null", "True": "true", "False": "false"}


@dataclass(frozen=True)
class ParameterText:
    """What a docstring says of a parameter: its type or range, and what it decides."""

    values: str = ""
    meaning: str = ""


@dataclass(frozen=True)
class ClassText:
    """What a class says of itself: its first paragraph, parameters (of base classes, too), what it notes on privacy."""

    summary: str = ""
    parameters: dict[str, ParameterText] = field(default_factory=dict)
    privacy: str = ""


def read_class_text(estimator: type) -> ClassText:
    """Return what the docstring of a class says; of base classes, only what they say of parameters.

    Examples
    --------
    >>> from algorithms import RDTClassifier
    >>> text = read_class_text(RDTClassifier)
    >>> text.summary
    'RDT, random decision trees whose leaf counts are noisy.'
    >>> text.parameters["n_estimators"]
    ParameterText(values='int', meaning='Number of trees t, at least 1.')
    """
    parameters: dict[str, ParameterText] = {}
    for base in reversed(estimator.__mro__):
        parameters |= dict(_read_parameters(_split_sections(base).get("Parameters", "")))
    sections = _split_sections(estimator)
    paragraphs = map(str.strip, re.split(r"\n\s*\n", sections.get("Notes", "")))
    privacy = next(filter(re.compile("Privacy[:,]").match, paragraphs), "")
    summary = sections.get("", "").partition("\n\n")[0]
    return ClassText(_clean_markup(summary), parameters, _clean_markup(privacy.partition(":")[2]))


def _clean_markup(text: str) -> str:
    r"""Return a text of a docstring as one line, without its marks.

    Examples
    --------
    >>> _clean_markup("A **big** ``forest``, as `fit`\n says; see :class:`~sklearn.tree.X`, or None.")
    'A big forest, as fit says; see sklearn.tree.X, or null.'
    """
    text = _LINK.sub(r"\1", _ROLE.sub(r"\1", text))
    text = re.sub(r"\*\*(?=\S)([^*]+)\*\*|`+([^`]+)`+", lambda found: found[1] or found[2], text)
    return _say_as_typed(" ".join(text.split()))


def _say_as_typed(text: str) -> str:
    """Return a text with the values of Python as they are typed on a command line."""
    return re.sub(r"\b(None|True|False)\b(?!\s+of\b)", lambda found: _WORDS[found[1]], text)


def _split_sections(described: type) -> dict[str, str]:
    """Return the sections of a class's own docstring by heading; what stands before the first has none."""
    docstring = vars(described).get("__doc__") or ""
    first, *rest = _SECTION.split(inspect.cleandoc(docstring))
    return {"": first, **dict(zip(map(str.strip, rest[::2]), rest[1::2], strict=True))}


def _read_parameters(section: str) -> Iterator[tuple[str, ParameterText]]:
    for entry in filter(str.strip, _ENTRY.split(section)):
        head, _, body = entry.partition("\n")
        names, _, values = head.partition(" : ")
        values = _DEFAULT.sub("", values).replace('"', "").replace("'", "")
        meaning = _clean_markup(re.split(r"\n\s*\n|\n\s*\.\. ", body, maxsplit=1)[0])
        for name in names.split(","):
            yield name.strip().lstrip("*"), ParameterText(_clean_markup(values), meaning)


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
