"""What a training run paid for its privacy: a ledger of events that compose to an epsilon.

Steps that see the same rows add up (`Sequential`), steps that see disjoint rows cost as much as the dearest of them
(`Parallel`), a step that reads the rows without noise costs infinity (`Unpaid`). The ledger belongs to the fitted
model, as its ``privacy_``: a clone or a refit starts a new one.

Which tables are neighbours matters: ``ADDED_OR_REMOVED`` or ``REPLACED``. Every mechanism is calibrated for one of them
and every event says what it costs under either. To replace a record is to remove one and to add one, so it costs at
most twice as much (group privacy); what is calibrated for a replaced record may cost anything where one is added,
through the number of rows, for instance, unless another sensitivity is known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Protocol

import numpy as np

ADDED_OR_REMOVED = "one record added or removed"
REPLACED = "one record replaced"
RELATIONS = (ADDED_OR_REMOVED, REPLACED)
"""Which tables can count as neighbours."""


class Event(Protocol):
    """Anything that costs privacy."""

    @property
    def neighbours(self) -> str:
        """The relation that the mechanisms in it are calibrated for."""
        ...

    @property
    def epsilon(self) -> float:
        """Cost between tables that are neighbours by this relation."""
        ...

    def epsilon_under(self, neighbours: str) -> float:
        """Cost between tables that are neighbours by the given relation."""
        ...

    def to_lines(self) -> list[str]:
        """Describe the event for a reader, indented like a tree."""
        ...


@dataclass(frozen=True)
class Spent:
    """A mechanism that is called once for every record; in a tree, by the node of a level that the record is in.

    Parameters
    ----------
    mechanism : str
        Which mechanism, for example ``"laplace"``.
    purpose : str
        What it protects.
    epsilon : float
        Its cost.
    sensitivity : float
        The sensitivity it was told.
    neighbours : {ADDED_OR_REMOVED, REPLACED}
        The relation that sensitivity is meant for, and the cost with it.
    other_sensitivity : float or None
        The sensitivity under the other relation, where it is known.

    Notes
    -----
    Under the other relation the answer moves by ``other_sensitivity`` at most, so that the cost is the same share of
    epsilon as this is of the sensitivity: the scale of the noise stays as it is. Where it is not known, a replaced
    record costs twice epsilon: it leaves, then another comes. In a tree these may be two nodes, which pay epsilon each,
    or one node, which pays twice. The other way round nothing follows: a mean over n rows may be private if n is the
    same, and not if it is not.

    Examples
    --------
    >>> count = Spent("laplace", "a count", 0.5, 1.0)
    >>> count.epsilon_under(ADDED_OR_REMOVED), count.epsilon_under(REPLACED)
    (0.5, 1.0)
    >>> mean = Spent("laplace", "a mean of n numbers", 0.5, 0.01, REPLACED)
    >>> mean.epsilon_under(ADDED_OR_REMOVED), mean.epsilon_under(REPLACED)
    (inf, 0.5)
    >>> Spent("laplace", "a sum of numbers from -1 to 1", 0.5, 2.0, REPLACED, 1.0).epsilon_under(ADDED_OR_REMOVED)
    0.25
    """

    mechanism: str
    purpose: str
    epsilon: float
    sensitivity: float
    neighbours: str = ADDED_OR_REMOVED
    other_sensitivity: float | None = None

    def epsilon_under(self, neighbours: str) -> float:
        """Cost between tables that are neighbours by the given relation."""
        if check_relation(neighbours) == self.neighbours:
            return self.epsilon
        if self.other_sensitivity is not None:
            return self.epsilon * self.other_sensitivity / self.sensitivity
        return 2 * self.epsilon if neighbours == REPLACED else math.inf

    def to_lines(self) -> list[str]:
        """Describe the event."""
        return [f"{self.mechanism}: {self.purpose} (sensitivity {self.sensitivity:g}) costs {self.epsilon:.4g}"]


@dataclass(frozen=True)
class Unpaid:
    """A step that reads the protected rows without noise."""

    purpose: str

    neighbours = ADDED_OR_REMOVED

    @property
    def epsilon(self) -> float:
        """Infinity: no finite budget covers it."""
        return math.inf

    def epsilon_under(self, neighbours: str) -> float:
        """Infinity, whatever the relation."""
        return math.inf

    def to_lines(self) -> list[str]:
        """Describe the event."""
        return [f"unpaid: {self.purpose} costs inf"]


class _Composed:
    """Base of the events that are made of others."""

    parts: tuple[Event, ...]

    def epsilon_under(self, neighbours: str) -> float:
        """Cost between tables that are neighbours by the given relation."""
        raise TypeError(f"{type(self).__name__} does not say what it costs")

    @property
    def neighbours(self) -> str:
        """One record replaced if any part is calibrated for it: the others cost at most twice as much then."""
        return REPLACED if any(part.neighbours == REPLACED for part in self.parts) else ADDED_OR_REMOVED

    @property
    def epsilon(self) -> float:
        """Cost under the relation that the parts are calibrated for."""
        return self.epsilon_under(self.neighbours)


@dataclass(frozen=True)
class Sequential(_Composed):
    """Steps on the same rows: their costs add up, under either relation.

    Examples
    --------
    >>> level = Sequential("level", (Spent("laplace", "class counts", 0.1, 1.0),), times=3)
    >>> round(level.epsilon, 9)
    0.3
    >>> print("\\n".join(level.to_lines()))
    3 x level, on the same rows, costs 0.3
      laplace: class counts (sensitivity 1) costs 0.1
    """

    name: str
    parts: tuple[Event, ...]
    times: int = 1

    def epsilon_under(self, neighbours: str) -> float:
        """Sum over the parts, as often as they happen."""
        return self.times * math.fsum(part.epsilon_under(neighbours) for part in self.parts) if self.times else 0.0

    def to_lines(self) -> list[str]:
        """Describe the events."""
        return _describe_parts(self, "on the same rows")


@dataclass(frozen=True)
class Parallel(_Composed):
    """Steps on disjoint rows, ``times`` parts like each that is listed: one record is in one part only.

    Notes
    -----
    A record that is added or removed touches one part, so that the dearest counts. This needs the other records to stay
    where they are: each goes to its part by its own value, or by a draw of its own.

    A record that is replaced may stay in its part, which then pays for a replaced record, or move, as one of another
    value does: then one part pays for a record that leaves and another for one that comes. The dearest of these counts.
    Where parts are drawn, the draw can be taken to stay with the place of the record in the table, whose value changes:
    it does not move then, and what is said here is only an upper bound.

    Examples
    --------
    >>> cells = Parallel("cell", (Spent("laplace", "its count", 0.5, 1.0),), times=3)
    >>> cells.epsilon_under(ADDED_OR_REMOVED), cells.epsilon_under(REPLACED)
    (0.5, 1.0)
    """

    name: str
    parts: tuple[Event, ...]
    times: int = 1

    def epsilon_under(self, neighbours: str) -> float:
        """Largest cost of the parts that one record touches."""
        dearest = max(part.epsilon_under(neighbours) for part in self.parts)
        if neighbours != REPLACED:
            return dearest
        one_more = sorted((part.epsilon_under(ADDED_OR_REMOVED) for part in self.parts), reverse=True)
        dearest_two = [cost for cost in one_more for _ in range(min(self.times, 2))][:2]
        return max(dearest, sum(dearest_two)) if len(dearest_two) == 2 else dearest

    def to_lines(self) -> list[str]:
        """Describe the events."""
        return _describe_parts(self, "on disjoint rows")


@dataclass(frozen=True)
class Bootstrapped(_Composed):
    """A step on n rows drawn with replacement from n: a record may be in the sample more than once.

    Parameters
    ----------
    part : Event
        The step, with its cost for one record of the sample more or less.
    n_rows : int
        Number of records that are drawn, and drawn from.

    Notes
    -----
    Compare the samples from n records and from those and one more. The added record is drawn w ~ Binomial(n + 1,
    1 / (n + 1)) times; with the other draws shared, the samples differ by g = w + abs(1 - w) records. The outputs'
    probabilities then differ by at most the factor E[exp(g e)] one way and 1 / E[exp(-g e)] the other, e being the cost
    of the part; the larger of the two is the cost. It is about 1.74 e for a small e, not e.

    Where a record is replaced, n stays and all draws are shared: the samples differ by w ~ Binomial(n, 1 / n) replaced
    records. With e the cost of the part for one of them, the factors are E[exp(w e)] = (1 + (exp(e) - 1) / n)^n one way
    and 1 / E[exp(-w e)] the other, which is never larger. That is e for a small e: a record stands in the sample once
    on average.
    """

    part: Event
    n_rows: int

    @property
    def parts(self) -> tuple[Event, ...]:
        """The step alone."""
        return (self.part,)

    def epsilon_under(self, neighbours: str) -> float:
        """Cost for one record of the table, not of the sample."""
        epsilon, n = self.part.epsilon_under(neighbours), self.n_rows
        if math.isinf(epsilon):
            return math.inf
        if neighbours == REPLACED:
            never = math.log1p(-1 / n) if n > 1 else -math.inf
            return float(n * np.logaddexp(never, epsilon - math.log(n)))
        w = np.arange(0, n + 2)
        differing = w + np.abs(1 - w)
        log_p = _log_binomial(w, n + 1, 1 / (n + 1))
        more = np.logaddexp.reduce(log_p + differing * epsilon)
        fewer = -np.logaddexp.reduce(log_p - differing * epsilon)
        return float(max(more, fewer))

    def to_lines(self) -> list[str]:
        """Describe the events."""
        sample = f"on a bootstrap sample of {self.n_rows} rows, where a record may be more than once"
        return [f"{sample}, costs {self.epsilon:.4g}", *("  " + line for line in self.part.to_lines())]


def _log_binomial(k: np.ndarray, n: int, p: float) -> np.ndarray:
    """Return log P(Binomial(n, p) = k); scipy.stats has it too, but takes a second to import."""
    from scipy.special import gammaln  # a release, which has no bootstrap, is read without SciPy

    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return ways + k * np.log(p) + (n - k) * np.log1p(-p)


def check_relation(neighbours: str) -> str:
    """Return a relation of neighbouring tables as it is; raise a ``ValueError`` if it is none of ``RELATIONS``."""
    if neighbours not in RELATIONS:
        raise ValueError(f"neighbours must be {ADDED_OR_REMOVED!r} or {REPLACED!r}, got {neighbours!r}")
    return neighbours


def drop_unpaid(event: Event) -> Event | None:
    """Return an event without the steps that have no noise, None if nothing is left."""
    if isinstance(event, Unpaid):
        return None
    if isinstance(event, Bootstrapped):
        part = drop_unpaid(event.part)
        return replace(event, part=part) if part else None
    if isinstance(event, Sequential | Parallel):
        parts = tuple(filter(None, map(drop_unpaid, event.parts)))
        return replace(event, parts=parts) if parts else None
    return event


def _describe_parts(event: Sequential | Parallel, how: str) -> list[str]:
    times = f"{event.times} x " if event.times != 1 else ""
    head = f"{times}{event.name}, {how}, costs {event.epsilon:.4g}"
    return [head, *("  " + line for part in event.parts for line in part.to_lines())]


_EVENTS = {cls.__name__: cls for cls in (Spent, Unpaid, Sequential, Parallel, Bootstrapped)}


def event_to_dict(event: Event) -> dict:
    """Return an event as what JSON can hold; an infinite number becomes the word "inf".

    Examples
    --------
    >>> tree = Sequential("tree", (Spent("laplace", "counts", math.inf, 1.0),))
    >>> event_to_dict(tree)["parts"][0]["epsilon"], event_from_dict(event_to_dict(tree)) == tree
    ('inf', True)
    """
    return {"event": type(event).__name__} | {
        field.name: to_json_value(getattr(event, field.name)) for field in fields(event)
    }


def to_json_value(value) -> str | float | int | list | dict | None:
    """Return a field of an event as what JSON can hold; an infinite number becomes the word "inf"."""
    if isinstance(value, tuple):
        return [event_to_dict(part) for part in value]
    if isinstance(value, str | None):
        return value
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else str(float(value))
    return int(value) if isinstance(value, int | np.integer) else event_to_dict(value)


def event_from_dict(data: Mapping) -> Event:
    """Return the event that `event_to_dict` turned into this; if it is none, that is a ``ValueError``."""
    given = dict(data)
    if (kind := given.pop("event", None)) not in _EVENTS:
        raise ValueError(f"event must be one of {', '.join(_EVENTS)}, got {kind!r}")
    for name in {"epsilon", "sensitivity", "other_sensitivity"} & given.keys():
        given[name] = None if given[name] is None else float(given[name])
    if "parts" in given:
        given["parts"] = tuple(map(event_from_dict, given["parts"]))
    if "part" in given:
        given["part"] = event_from_dict(given["part"])
    return _EVENTS[kind](**given)
