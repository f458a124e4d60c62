"""What a training run paid for its privacy: a ledger of events that compose to an epsilon.

Neighbouring tables differ by one record added or removed, unless ``Privacy.neighbours`` says otherwise. Steps that see
the same rows add up (`Sequential`), steps that see disjoint rows cost as much as the dearest of them (`Parallel`), a
step that reads the rows without noise costs infinity (`Unpaid`). The ledger belongs to the fitted model, as its
``privacy_``: a clone or a refit starts a new one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.special import gammaln

from algorithms.domain import Domain


class Event(Protocol):
    """Anything that costs privacy."""

    @property
    def epsilon(self) -> float:
        """Cost between neighbouring tables."""
        ...

    def lines(self) -> list[str]:
        """Describe the event for a reader, indented like a tree."""
        ...


@dataclass(frozen=True)
class Spent:
    """One call of a mechanism.

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
    """

    mechanism: str
    purpose: str
    epsilon: float
    sensitivity: float

    def lines(self) -> list[str]:
        """Describe the event."""
        return [f"{self.mechanism}: {self.purpose} (sensitivity {self.sensitivity:g}) costs {self.epsilon:.4g}"]


@dataclass(frozen=True)
class Unpaid:
    """A step that reads the protected rows without noise."""

    purpose: str

    @property
    def epsilon(self) -> float:
        """Infinity: no finite budget covers it."""
        return math.inf

    def lines(self) -> list[str]:
        """Describe the event."""
        return [f"unpaid: {self.purpose} costs inf"]


@dataclass(frozen=True)
class Sequential:
    """Steps on the same rows: their costs add up.

    Examples
    --------
    >>> level = Sequential("level", (Spent("laplace", "class counts", 0.1, 1.0),), times=3)
    >>> round(level.epsilon, 9)
    0.3
    >>> print("\\n".join(level.lines()))
    3 x level, on the same rows, costs 0.3
      laplace: class counts (sensitivity 1) costs 0.1
    """

    name: str
    parts: tuple[Event, ...]
    times: int = 1

    @property
    def epsilon(self) -> float:
        """Sum over the parts, as often as they happen."""
        return self.times * math.fsum(part.epsilon for part in self.parts) if self.times else 0.0

    def lines(self) -> list[str]:
        """Describe the events."""
        return _described(self, "on the same rows")


@dataclass(frozen=True)
class Parallel:
    """Steps on disjoint rows: the dearest counts."""

    name: str
    parts: tuple[Event, ...]
    times: int = 1

    @property
    def epsilon(self) -> float:
        """Largest cost among the parts."""
        return max(part.epsilon for part in self.parts)

    def lines(self) -> list[str]:
        """Describe the events."""
        return _described(self, "on disjoint rows")


@dataclass(frozen=True)
class Bootstrapped:
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
    """

    part: Event
    n_rows: int

    @property
    def epsilon(self) -> float:
        """Cost for one record of the table, not of the sample."""
        if math.isinf(self.part.epsilon):
            return math.inf
        w = np.arange(0, self.n_rows + 2)
        differing = w + np.abs(1 - w)
        log_p = _log_binomial(w, self.n_rows + 1, 1 / (self.n_rows + 1))
        more = np.logaddexp.reduce(log_p + differing * self.part.epsilon)
        fewer = -np.logaddexp.reduce(log_p - differing * self.part.epsilon)
        return float(max(more, fewer))

    def lines(self) -> list[str]:
        """Describe the events."""
        sample = f"on a bootstrap sample of {self.n_rows} rows, where a record may be more than once"
        return [f"{sample}, costs {self.epsilon:.4g}", *("  " + line for line in self.part.lines())]


def _log_binomial(k: np.ndarray, n: int, p: float) -> np.ndarray:
    """Return log P(Binomial(n, p) = k); scipy.stats has it too, but takes a second to import."""
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return ways + k * np.log(p) + (n - k) * np.log1p(-p)


def _without_unpaid(event: Event) -> Event | None:
    """Return an event without the steps that have no noise, None if nothing is left."""
    if isinstance(event, Unpaid):
        return None
    if isinstance(event, Bootstrapped):
        part = _without_unpaid(event.part)
        return replace(event, part=part) if part else None
    if isinstance(event, Sequential | Parallel):
        parts = tuple(filter(None, map(_without_unpaid, event.parts)))
        return replace(event, parts=parts) if parts else None
    return event


def _described(event: Sequential | Parallel, how: str) -> list[str]:
    times = f"{event.times} x " if event.times != 1 else ""
    head = f"{times}{event.name}, {how}, costs {event.epsilon:.4g}"
    return [head, *("  " + line for part in event.parts for line in part.lines())]


@dataclass(frozen=True)
class Fault:
    """A step for which the claimed privacy does not hold.

    Parameters
    ----------
    name : str
        A short name, for example ``"exact nominal splits"``.
    why : str
        What goes wrong, in a sentence.
    source : str
        Where the paper does it.
    """

    name: str
    why: str
    source: str


ADDED_OR_REMOVED = "one record added or removed"
REPLACED = "one record replaced"

INFERRED_DOMAIN = Fault(
    "inferred domain",
    "bounds, categories and class labels were taken from the rows",
    "the caller gave no domain",
)


@dataclass(frozen=True)
class Privacy:
    """What is claimed of a fitted model, and what its ledger says.

    Parameters
    ----------
    claimed_epsilon : float
        The ``epsilon`` that the model was asked for; infinite where none is claimed.
    ledger : Event
        Everything it spent.
    faults : tuple of Fault
        Steps that the claim does not cover.
    neighbours : str
        Which tables count as neighbours.
    """

    claimed_epsilon: float
    ledger: Event
    faults: tuple[Fault, ...] = ()
    neighbours: str = ADDED_OR_REMOVED

    @classmethod
    def under(
        cls,
        domain: Domain,
        claimed_epsilon: float,
        ledger: Event,
        faults: tuple[Fault, ...] = (),
        *,
        neighbours: str = ADDED_OR_REMOVED,
    ) -> Privacy:
        """Return the account of a model trained with a domain; one that is not public is a fault of its own."""
        faults = tuple(faults) if domain.is_public else (*faults, INFERRED_DOMAIN)
        return cls(float(claimed_epsilon), ledger, faults, neighbours)

    @property
    def accounted_epsilon(self) -> float:
        """Cost by the ledger; infinite if any step was unpaid or the domain was inferred."""
        return math.inf if INFERRED_DOMAIN in self.faults else self.ledger.epsilon

    @property
    def noisy_epsilon(self) -> float:
        """Cost of the steps that have noise, as if those without had not been taken: a lower bound of what was spent.

        Examples
        --------
        >>> tree = Sequential("tree", (Spent("laplace", "count", 0.1, 1.0), Unpaid("labels")), times=3)
        >>> privacy = Privacy(0.1, tree)
        >>> privacy.accounted_epsilon, round(privacy.noisy_epsilon, 9)
        (inf, 0.3)
        """
        noisy = _without_unpaid(self.ledger)
        return noisy.epsilon if noisy else 0.0

    @property
    def is_sound(self) -> bool:
        """Whether the claim is finite, free of faults, and covers what was spent."""
        within = self.accounted_epsilon <= self.claimed_epsilon * (1 + 1e-9)
        return not self.faults and math.isfinite(self.claimed_epsilon) and within

    def __str__(self) -> str:
        claimed = (
            "no epsilon claimed" if math.isinf(self.claimed_epsilon) else f"claimed epsilon {self.claimed_epsilon:g}"
        )
        soundness = "sound" if self.is_sound else "not sound"
        head = f"{claimed}, accounted {self.accounted_epsilon:g} ({self.neighbours}); {soundness}"
        faults = [f"fault: {fault.name}: {fault.why} ({fault.source})" for fault in self.faults]
        return "\n".join([head, *faults, *self.ledger.lines()])
