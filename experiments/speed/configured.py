"""Algorithms of the catalogue as they are configured, and what a row says of one that is timed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from experiments.config import estimators

_READINGS = ("cut", "continuous", "nominal_split")
"""Readings on which the time of a fit depends: a row names those that its algorithm has."""


class Configured(NamedTuple):
    """An algorithm as it is timed."""

    what: str
    model: Any


def configure(name: str, *, epsilon: float = math.inf, domain: Any = None, **changed: Any) -> Configured:
    """Build an algorithm from its file in the catalogue, and say what is not as configured.

    Changed are parameters that are to have other values than the file, or the class where the file is silent, gives
    them.

    Examples
    --------
    >>> what, model = configure("diffpets", n_estimators=10, max_depth=8)
    >>> what
    'diffpets (cut=value), but max_depth=8'
    >>> model.cut, model.max_depth
    ('value', 8)
    >>> configure("extra_trees").what
    'extra_trees'
    """
    given = {"epsilon": epsilon, "domain": domain, "random_state": 0}
    usual = estimators.make_estimator(name, estimators.merge_parameters(name), **given).get_params()
    model = estimators.make_estimator(name, estimators.merge_parameters(name, changed), **given)
    other = {key: value for key, value in changed.items() if value != usual[key]}
    words = ", ".join(f"{key}={value}" for key, value in other.items())
    return Configured(_name_readings(name, model, other) + (f", but {words}" if words else ""), model)


def _name_readings(name: str, model: Any, other: Mapping[str, Any]) -> str:
    """Return a name with the configured readings of the printed algorithm; a sound variant follows none."""
    has_readings = getattr(model, "variant", None) == "paper"
    keys = [key for key in _READINGS if has_readings and hasattr(model, key) and key not in other]
    return f"{name} ({', '.join(f'{key}={getattr(model, key)}' for key in keys)})" if keys else name
