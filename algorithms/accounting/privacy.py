"""What is claimed of a fitted model, what its ledger says it cost, and the faults that no ledger can count.

It is the ``privacy_`` of every fitted estimator.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from algorithms.accounting.events import (
    ADDED_OR_REMOVED,
    RELATIONS,
    REPLACED,
    Event,
    check_relation,
    drop_unpaid,
    event_from_dict,
    event_to_dict,
    to_json_value,
)
from algorithms.accounting.faults import INFERRED_DOMAIN, Fault, bounds_from_rows
from algorithms.accounting.trust import EXPERIMENT, Trust
from algorithms.encoding.domain import Domain


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
    neighbours : {ADDED_OR_REMOVED, REPLACED}
        Which tables count as neighbours in the claim.
    trust : Trust
        What draws the noise, and against whom the promise holds with it.
    data_faults : tuple of Fault
        What is wrong with the declared domain: the algorithm keeps its claim all the same, this fit does not.
    """

    claimed_epsilon: float
    ledger: Event
    faults: tuple[Fault, ...] = ()
    neighbours: str = ADDED_OR_REMOVED
    trust: Trust = EXPERIMENT
    data_faults: tuple[Fault, ...] = ()

    @classmethod
    def under(
        cls,
        domain: Domain,
        claimed_epsilon: float,
        ledger: Event,
        faults: tuple[Fault, ...] = (),
        *,
        neighbours: str = ADDED_OR_REMOVED,
        trust: Trust = EXPERIMENT,
    ) -> Privacy:
        """Return the account of a model trained with a domain; one that is not public is a fault of its own.

        Declared bounds or categories that follow the rows are a fault of the data, not of the algorithm.
        """
        faults = tuple(faults) if domain.is_public else (*faults, INFERRED_DOMAIN)
        data_faults = ()
        if domain.bounds_from_rows:
            data_faults = (bounds_from_rows(domain.numbers_from_rows, domain.categories_from_rows),)
        return cls(float(claimed_epsilon), ledger, faults, neighbours, trust, data_faults)

    @property
    def accounted_epsilon(self) -> float:
        """Cost by the ledger; infinite if any step was unpaid or the domain was inferred."""
        return self.accounted(self.neighbours)

    def accounted(self, neighbours: str) -> float:
        """Return the cost by the ledger between tables that are neighbours by the given relation.

        Examples
        --------
        >>> from algorithms.accounting.events import Spent
        >>> privacy = Privacy(0.5, Spent("laplace", "a count", 0.5, 1.0))
        >>> privacy.accounted(ADDED_OR_REMOVED), privacy.accounted(REPLACED)
        (0.5, 1.0)
        """
        return math.inf if INFERRED_DOMAIN in self.faults else self.ledger.epsilon_under(check_relation(neighbours))

    @property
    def noisy_epsilon(self) -> float:
        """Cost of the steps that have noise, as if those without had not been taken: a lower bound of what was spent.

        Examples
        --------
        >>> from algorithms.accounting.events import Sequential, Spent, Unpaid
        >>> tree = Sequential("tree", (Spent("laplace", "count", 0.1, 1.0), Unpaid("labels")), times=3)
        >>> privacy = Privacy(0.1, tree)
        >>> privacy.accounted_epsilon, round(privacy.noisy_epsilon, 9)
        (inf, 0.3)
        """
        noisy = drop_unpaid(self.ledger)
        return noisy.epsilon_under(self.neighbours) if noisy else 0.0

    @property
    def keeps_claim(self) -> bool:
        """Whether the algorithm keeps its claim, were its noise secret and its domain what anybody would have declared.

        The claim is finite, has no faults, and covers all.
        """
        within = self.accounted_epsilon <= self.claimed_epsilon * (1 + 1e-9)
        return not self.faults and math.isfinite(self.claimed_epsilon) and within

    @property
    def is_sound(self) -> bool:
        """Whether this fit keeps its claim: the algorithm does, its noise protects from who knows the seed, and no
        bounds follow the rows.

        Examples
        --------
        >>> from algorithms.accounting.events import Spent
        >>> from algorithms.accounting.trust import RELEASE
        >>> count = Spent("laplace", "a count", 0.5, 1.0)
        >>> Privacy(0.5, count).is_sound, Privacy(0.5, count).keeps_claim, Privacy(0.5, count, trust=RELEASE).is_sound
        (False, True, True)
        """
        return self.keeps_claim and not self.data_faults and self.trust.holds

    def as_dict(self) -> dict:
        """Return all of this as what JSON can hold, the ledger too; see `from_dict` for the way back.

        Examples
        --------
        >>> from algorithms.accounting.events import Spent
        >>> Privacy(0.5, Spent("laplace", "a count", 0.5, 1.0)).as_dict()["accounted"]
        {'one record added or removed': 0.5, 'one record replaced': 1.0}
        """
        return {
            "claimed_epsilon": to_json_value(self.claimed_epsilon),
            "neighbours": self.neighbours,
            "accounted": {relation: to_json_value(self.accounted(relation)) for relation in RELATIONS},
            "keeps_claim": self.keeps_claim,
            "is_sound": self.is_sound,
            "faults": [dict(vars(fault)) for fault in self.faults],
            "data_faults": [dict(vars(fault)) for fault in self.data_faults],
            "trust": asdict(self.trust),
            "ledger": event_to_dict(self.ledger),
        }

    @classmethod
    def from_dict(cls, data: Mapping) -> Privacy:
        """Return the account that ``as_dict`` turned into this; what follows from the ledger is computed anew."""
        faults, data_faults = (tuple(Fault(**fault) for fault in data[name]) for name in ("faults", "data_faults"))
        trust = Trust(**{name: tuple(v) if isinstance(v, list) else v for name, v in data["trust"].items()})
        ledger = event_from_dict(data["ledger"])
        return cls(float(data["claimed_epsilon"]), ledger, faults, data["neighbours"], trust, data_faults)

    def __str__(self) -> str:
        claimed = (
            "no epsilon claimed" if math.isinf(self.claimed_epsilon) else f"claimed epsilon {self.claimed_epsilon:g}"
        )
        soundness = "sound" if self.is_sound else "an experiment" if self.keeps_claim else "not sound"
        other = ADDED_OR_REMOVED if self.neighbours == REPLACED else REPLACED
        costs = [f"{self.accounted(relation):g} ({relation})" for relation in (self.neighbours, other)]
        head = f"{claimed}, accounted {', '.join(costs)}; {soundness}"
        faults = [f"fault: {fault.name}: {fault.why} ({fault.source})" for fault in self.faults]
        faults += [f"fault of the data: {fault.name}: {fault.why} ({fault.source})" for fault in self.data_faults]
        return "\n".join([head, str(self.trust), *faults, *self.ledger.to_lines()])

    def _repr_html_(self) -> str:
        """Return what a notebook shows of it: the same lines, and the ledger to be opened."""
        lines = [html.escape(line) for line in str(self).splitlines()]
        n_head = len(lines) - len(self.ledger.to_lines())
        head, ledger = "<br>".join(lines[:n_head]), "\n".join(lines[n_head:])
        return f"<div>{head}<details><summary>ledger</summary><pre>{ledger}</pre></details></div>"
