"""Checks of constructor parameters, in one place and in one tone."""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Iterable, Mapping


class ParameterError(ValueError):
    """A constructor parameter has a value that the algorithm cannot work with."""


def check_epsilon(epsilon) -> float:
    """Return the budget as a float; it must be positive, infinity means no noise.

    Examples
    --------
    >>> check_epsilon(1)
    1.0
    >>> check_epsilon(float("nan"))
    Traceback (most recent call last):
    algorithms.parameters.ParameterError: epsilon must be a positive number (inf for no noise), got nan
    """
    if not isinstance(epsilon, numbers.Real) or isinstance(epsilon, bool) or math.isnan(epsilon) or epsilon <= 0:
        raise ParameterError(f"epsilon must be a positive number (inf for no noise), got {epsilon!r}")
    return float(epsilon)


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


def check_jobs(n_jobs) -> None:
    """Raise unless ``n_jobs`` is a number of threads as joblib understands it: None is one, -1 all processors.

    Examples
    --------
    >>> check_jobs(0)
    Traceback (most recent call last):
    algorithms.parameters.ParameterError: n_jobs must be a whole number other than 0 (-1 for all processors), got 0
    """
    is_number = isinstance(n_jobs, numbers.Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and not (is_number and n_jobs != 0):
        raise ParameterError(f"n_jobs must be a whole number other than 0 (-1 for all processors), got {n_jobs!r}")


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


def check_readings(estimator, printed: Mapping) -> None:
    """Raise unless the parameters of a sound variant that stand for readings of the text have their printed values.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> check_readings(SimpleNamespace(splits="histograms"), {"splits": "scores"})
    Traceback (most recent call last):
    algorithms.parameters.ParameterError: splits='histograms' is a reading of the text; 'sound' has none, only 'scores'
    """
    for name, value in printed.items():
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
