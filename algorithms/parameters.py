"""Constructor parameters: how a class declares them, and the checks of their values, in one tone."""

from __future__ import annotations

import difflib
import inspect
import math
import numbers
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

LEAST_EPSILON, MOST_EPSILON = 1e-100, 1e100
"""The finite budgets between which a floating-point number holds every scale of noise, its square, and what is composed
of parts of a budget."""


class ParameterError(ValueError):
    """A constructor parameter has a value that the algorithm cannot work with."""


@dataclass(frozen=True)
class Declared:
    """A parameter of a constructor, as the body of a class declares it by `parameter`."""

    default: Any
    check: Callable | None
    limits: Mapping[str, Any]
    is_positional: bool
    comes_last: bool
    is_reading: bool


def parameter(
    default, check: Callable | None = None, *, is_positional=False, comes_last=False, is_reading=False, **limits
) -> Any:
    """Declare a parameter of the constructor, in a class that `with_parameters` decorates, whose docstring says more.

    Parameters
    ----------
    default : object
        What it is where nothing is given. Where that is None, None is not checked.
    check : function, optional
        One of this module, which takes the name, the value, and the limits.
    is_positional : bool, default=False
        Whether it may be given without its name.
    comes_last : bool, default=False
        Whether it stands behind all that subclasses declare: the farther, the more classes have it.
    is_reading : bool, default=False
        Whether it stands for a reading of the text, of which the default is the most literal; "sound" accepts no other.
    **limits
        What else the check is told.
    """
    return Declared(default, check, limits, is_positional, comes_last, is_reading)


def with_parameters(cls):
    """Give a class a constructor that keeps its parameters, as scikit-learn asks for, and describe all of them.

    A class has the parameters of its base classes, and those that it declares. It may describe one anew that a base
    class declares; and ``n_bins = 96`` in its body is another default.

    Examples
    --------
    >>> @with_parameters
    ... class Binned:
    ...     '''One that has bins.
    ...
    ...     Parameters
    ...     ----------
    ...     n_bins : int
    ...         Bins, at least 2.
    ...     '''
    ...     n_bins: int = parameter(10, check_count, lowest=2)
    >>> @with_parameters
    ... class Finer(Binned):
    ...     '''One that has more of them.'''
    ...     n_bins = 96
    >>> Finer().n_bins, Finer(n_bins=7).n_bins
    (96, 7)
    >>> print(Finer.__doc__)
    One that has more of them.
    <BLANKLINE>
    Parameters
    ----------
    n_bins : int, default=96
        Bins, at least 2.
    """
    body = dict(vars(cls))
    own = {name: value for name, value in body.items() if isinstance(value, Declared)}
    for name, inherited in list_declared(cls).items():
        if name in body and name not in own:
            own[name] = replace(inherited, default=body[name])
    cls._declared = own
    for name, declared in own.items():
        setattr(cls, name, declared.default)
    _give_constructor(cls)
    _complete_docstring(cls)
    return cls


def list_declared(cls: type) -> dict[str, Declared]:
    """Return what a class and its base classes declare, by name, each parameter as the nearest of them does."""
    every: dict[str, Declared] = {}
    for base in reversed(cls.__mro__):
        every |= vars(base).get("_declared", {})
    return every


def _give_constructor(cls) -> None:
    every = list_declared(cls)
    names = [name for name in every if not every[name].comes_last]
    for base in cls.__mro__:
        names += [name for name in vars(base).get("_declared", ()) if every[name].comes_last and name not in names]
    names.sort(key=lambda name: not every[name].is_positional)  # the others stay in their order
    listed = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    for name in names:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if every[name].is_positional else inspect.Parameter.KEYWORD_ONLY
        listed.append(inspect.Parameter(name, kind, default=every[name].default))
    signature = inspect.Signature(listed)

    def __init__(self, *args, **kwargs):
        given = signature.bind(self, *args, **kwargs)
        given.apply_defaults()
        vars(self).update((name, value) for name, value in given.arguments.items() if name != "self")

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    cls.__init__ = __init__


def _complete_docstring(cls) -> None:
    """Describe all parameters in a class's docstring, each as the nearest class does, with the default that it has."""
    if not cls.__doc__:  # `python -OO` leaves docstrings out
        return
    summary, *sections = re.split(r"\n\n(?=\w+\n-{3,}\n)", inspect.cleandoc(cls.__doc__))
    own = sections.pop(0) if sections and sections[0].startswith("Parameters\n") else ""
    entries = re.split(r"\n(?=\S)", own)[2:]  # after the heading and its line
    cls._described = {entry.partition(" : ")[0]: entry for entry in entries}
    described: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        described |= vars(base).get("_described", {})
    lines = ["Parameters", "----------"]
    for name, known in inspect.signature(cls).parameters.items():
        head, _, meaning = described[name].partition("\n")
        default = f'"{known.default}"' if isinstance(known.default, str) else known.default
        lines += [f"{head}, default={default}", meaning]
    cls.__doc__ = "\n\n".join([summary, "\n".join(lines), *sections])


def check_declared(estimator) -> None:
    """Raise ``ParameterError`` for a parameter that its declaration does not allow."""
    for name, declared in list_declared(type(estimator)).items():
        value = getattr(estimator, name)
        if declared.check and not (value is None and declared.default is None):
            declared.check(name, value, **declared.limits)


def check_epsilon(epsilon) -> float:
    """Return the budget as a float, from ``LEAST_EPSILON`` to ``MOST_EPSILON``; infinity means no noise.

    Examples
    --------
    >>> check_epsilon(1)
    1.0
    >>> check_epsilon(float("nan"))
    Traceback (most recent call last):
    algorithms.parameters.ParameterError: epsilon must be a positive number (inf for no noise), got nan
    >>> check_epsilon(1e-300)
    Traceback (most recent call last):
    algorithms.parameters.ParameterError: epsilon must be from 1e-100 to 1e+100 (or inf for no noise), got 1e-300
    """
    if not isinstance(epsilon, numbers.Real) or isinstance(epsilon, bool) or not epsilon > 0:
        raise ParameterError(f"epsilon must be a positive number (inf for no noise), got {epsilon!r}")
    try:
        budget = float(epsilon)
    except OverflowError:  # of a whole number
        budget = math.nan
    if not (LEAST_EPSILON <= budget <= MOST_EPSILON or epsilon == math.inf):
        limits = f"from {LEAST_EPSILON:g} to {MOST_EPSILON:g} (or inf for no noise)"
        raise ParameterError(f"epsilon must be {limits}, got {epsilon!r}")
    return budget


def check_count(name: str, value, lowest: int = 1, highest: int | None = None, of: str = "") -> int:
    """Return a whole number from ``lowest`` to ``highest``; ``of`` names what the upper end is.

    Examples
    --------
    >>> check_count("max_features", 9, highest=8, of="number of features")
    Traceback (most recent call last):
    algorithms.parameters.ParameterError: max_features must be at most 8 (number of features), got 9
    """
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise ParameterError(f"{name} must be a whole number, got {value!r}")
    if value < lowest:
        raise ParameterError(f"{name} must be at least {lowest}, got {value}")
    if highest is not None and value > highest:
        raise ParameterError(f"{name} must be at most {highest}{f' ({of})' if of else ''}, got {value}")
    return int(value)


def check_jobs(name: str, n_jobs) -> None:
    """Raise unless a value is a number of threads as joblib understands it: None is one, -1 all processors.

    Examples
    --------
    >>> check_jobs("n_jobs", 0)
    Traceback (most recent call last):
    algorithms.parameters.ParameterError: n_jobs must be a whole number other than 0 (-1 for all processors), got 0
    """
    is_number = isinstance(n_jobs, numbers.Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and not (is_number and n_jobs != 0):
        raise ParameterError(f"{name} must be a whole number other than 0 (-1 for all processors), got {n_jobs!r}")


def check_flag(name: str, value) -> bool:
    """Return True or False.

    Examples
    --------
    >>> check_flag("author_code", "yes")
    Traceback (most recent call last):
    algorithms.parameters.ParameterError: author_code must be True or False, got 'yes'
    """
    if not isinstance(value, bool):
        raise ParameterError(f"{name} must be True or False, got {value!r}")
    return value


def check_number(
    name: str,
    value,
    lowest: float = -math.inf,
    above: float = -math.inf,
    highest: float = math.inf,
    below: float = math.inf,
) -> float:
    """Return a finite number from ``lowest`` to ``highest``, more than ``above`` and less than ``below``.

    Examples
    --------
    >>> check_number("sigma", -1, lowest=0)
    Traceback (most recent call last):
    algorithms.parameters.ParameterError: sigma must be at least 0, got -1
    >>> check_number("gamma", 1.5, above=0, highest=1)
    Traceback (most recent call last):
    algorithms.parameters.ParameterError: gamma must be at most 1, got 1.5
    """
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or not math.isfinite(value):
        raise ParameterError(f"{name} must be a finite number, got {value!r}")
    for keeps, bound in (
        (value >= lowest, f"at least {lowest:g}"),
        (value > above, f"above {above:g}"),
        (value <= highest, f"at most {highest:g}"),
        (value < below, f"below {below:g}"),
    ):
        if not keeps:
            raise ParameterError(f"{name} must be {bound}, got {value}")
    return float(value)


def check_choice(name: str, value, choices: Iterable):
    """Return the value if it is one of the choices; else name them and the nearest.

    Examples
    --------
    >>> check_choice("variant", "papre", ("paper", "sound"))
    Traceback (most recent call last):
    algorithms.parameters.ParameterError: variant must be one of 'paper', 'sound', got 'papre'; did you mean 'paper'?
    """
    choices = tuple(choices)
    if value in choices:
        return value
    nearest = find_nearest(value, choices)
    hint = f"; did you mean {nearest!r}?" if nearest else ""
    raise ParameterError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}{hint}")


def list_readings(cls: type) -> dict[str, Any]:
    """Return the parameters of a class that stand for readings of the text, with their most literal value."""
    return {name: declared.default for name, declared in list_declared(cls).items() if declared.is_reading}


def check_readings(estimator) -> None:
    """Raise unless the parameters of a sound variant that stand for readings of the text have their printed values.

    Examples
    --------
    >>> from algorithms import PrivaTreeClassifier
    >>> check_readings(PrivaTreeClassifier(splits="histograms"))
    Traceback (most recent call last):
    algorithms.parameters.ParameterError: splits='histograms' is a reading of the text; 'sound' has none, only 'scores'
    """
    for name, value in list_readings(type(estimator)).items():
        given = getattr(estimator, name)
        if given != value:
            raise ParameterError(f"{name}={given!r} is a reading of the text; 'sound' has none, only {value!r}")


def suggest_name(name: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """Return a hint for somebody who has misspelt a name: the nearest of those that there are, or all of them.

    Parameters
    ----------
    name : str
        What was written.
    names : iterable of str
        What could have been meant.
    cutoff : float, default=0.6
        From 0 to 1: how alike two names must be to be near.

    Examples
    --------
    >>> suggest_name("max_dept", ["epsilon", "max_depth"])
    "did you mean 'max_depth'?"
    >>> suggest_name("colour", ["epsilon", "max_depth"])
    'known are epsilon, max_depth'
    """
    names = sorted(names)
    nearest = find_nearest(name, names, cutoff)
    return f"did you mean {nearest!r}?" if nearest else f"known are {', '.join(names) or 'none'}"


def find_nearest(value, choices: Iterable, cutoff: float = 0.6) -> str | None:
    """Return the choice that reads most like a value, None if none is near.

    Examples
    --------
    >>> find_nearest("papre", ("paper", "sound")), find_nearest("loud", ("paper", "sound"))
    ('paper', 'sound')
    >>> find_nearest(7, ("paper", "sound"))
    """
    near = difflib.get_close_matches(str(value), list(map(str, choices)), n=1, cutoff=cutoff)
    return near[0] if near else None
