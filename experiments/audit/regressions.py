"""Many releases of the coefficients of a regression: its moments once for a table, noise for every training."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from algorithms.accounting import Privacy
from algorithms.compiled import compiled
from algorithms.regression.objective import add_noise, coefficients
from algorithms.regression.polynomial import PrivatePolynomialRegressor
from experiments.audit.observation import Observation
from experiments.audit.pairs import Pair, Record, training_rows
from experiments.audit.streams import Stream, begin

EVIDENCE = "log-likelihood ratio of the known noise"
DECIMALS = 9


@compiled
def release(values, sensitivity, epsilon, rng, state, rest, key, first, released):
    """Fill every row of ``released`` with noisy coefficients, each from the stream of its own training."""
    for i in range(released.shape[0]):
        begin(state, rest, key, first + i)
        released[i] = add_noise(values, sensitivity, epsilon, rng)


class RegressionOnTable:
    """A regression on one of the tables of a pair, ready to be trained many times: an `Observer`.

    Seen are M and b as released, M averaged with its transpose. The weights are a function of them that hides a good
    part. Beside each coefficient stands the log-likelihood ratio of the two tables, in which all count together.

    Parameters
    ----------
    regressor : PrivatePolynomialRegressor
        An estimator without a fit; its ``random_state`` is not used.
    pair : Pair
        Both tables: the likelihood ratio asks for the exact coefficients of each.
    records : tuple of Record
        The table that is trained on.
    key : int
        Key of the run.
    """

    def __init__(self, regressor: PrivatePolynomialRegressor, pair: Pair, records: tuple[Record, ...], key: int):
        regressor = clone(regressor).set_params(domain=pair.domain, random_state=0)
        own, *both = (self._coefficients(regressor, pair, rows) for rows in (records, pair.neighbour, pair.table))
        self._values, self._sensitivity, self._epsilon = own
        self._centers = [values for values, _, _ in both]
        X, y = training_rows(pair.domain, records)
        self.privacy: Privacy = regressor.fit(X, y).privacy_
        self._names, self._key = regressor.monomials_, np.uint64(key)

    @staticmethod
    def _coefficients(regressor, pair: Pair, records: tuple[Record, ...]) -> tuple[np.ndarray, ...]:
        summary = regressor.summarise(*training_rows(pair.domain, records))
        budget = regressor._budget(summary.design)
        return coefficients(summary.objective, budget.quadratic, budget.linear)

    def observe(self, first: int, n: int) -> Observation:
        """Train n times, training number ``first`` and those that follow it."""
        stream, released = Stream(self._key), np.empty((n, len(self._values)))
        release(
            self._values,
            self._sensitivity,
            self._epsilon,
            stream.generator,
            stream.state,
            stream.rest,
            self._key,
            first,
            released,
        )
        d = len(self._names)
        M = released[:, : d * d].reshape(n, d, d)
        released[:, : d * d] = ((M + M.transpose(0, 2, 1)) / 2).reshape(n, d * d)
        places = [i * d + j for i in range(d) for j in range(i, d)] + [d * d + i for i in range(d)]
        numbers = {name: released[:, [place]] for name, place in zip(self._sides(), places, strict=True)}
        return Observation({}, numbers | {EVIDENCE: self._evidence(released)})

    def _evidence(self, released: np.ndarray) -> np.ndarray:
        """Return how much more likely the neighbour makes each release, as if no entry of M had been averaged.

        Rounded to 9 decimals: beyond both tables' coefficients the ratio is constant but for its last bits, and these
        tell the tables apart, which is the leak of floating-point noise that Mironov (2012) found. It is not looked for
        here: the generator is for experiments, see ``algorithms.mechanisms``.
        """
        of_neighbour, of_table = (np.abs(released - center) for center in self._centers)
        return ((of_table - of_neighbour) @ (self._epsilon / self._sensitivity)).round(DECIMALS)[:, np.newaxis]

    def words(self, side: str, training: int, part: int) -> str:
        """Say what a side of the model is in one training; there is none but numbers."""
        raise KeyError(side)

    def _sides(self) -> list[str]:
        quadratic = [f"{a} · {b} of M" for i, a in enumerate(self._names) for b in self._names[i:]]
        return [f"released coefficient {name}" for name in [*quadratic, *(f"{name} of b" for name in self._names)]]
