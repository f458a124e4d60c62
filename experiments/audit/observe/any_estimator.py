"""Many trainings of any estimator through its own ``fit``: what it answers, or that it refuses to.

The slowest way to look, and the only one that needs nothing but scikit-learn's interface: for other people's
implementations, and for a release, where what counts is all that comes out of the door. A fit that raises is an
outcome like any other, and so is what it says.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier

from algorithms.accounting.privacy import Privacy
from algorithms.released.forest import VOTES
from algorithms.released.numbers import ReleasedNumbers
from experiments.audit.observe.observed_model import Observation
from experiments.errors import BadInput

ANSWERS, ANSWER = "answers to all rows, tree by tree", "answer to the record"
NUMBER = "number of the answer to the record,"
MOST_NUMBERS = 4
"""Shares of classes that are looked at, the first ones."""


class EstimatorOnTable:
    """An estimator on a table, ready to be trained many times: an `Observer`.

    Parameters
    ----------
    estimator : estimator
        Without a fit; where a seed decides its noise, each training has one of its own.
    table : tuple
        Rows and targets, in any container that ``fit`` takes.
    probes : frame or array of shape (p, k)
        Public rows that every trained model is asked about, the differing record first.
    key : int
        Key of the run.
    sees : function
        model -> what is asked: the model itself, or its release.
    """

    def __init__(self, estimator: BaseEstimator, table: tuple, probes, key: int, sees: Callable = lambda model: model):
        self._estimator, self._table, self._probes, self._key, self._sees = estimator, table, probes, key, sees
        self._said: dict[tuple[str, int], str] = {}

    @property
    def privacy(self) -> Privacy:
        """What the estimator says of itself after a fit.

        Raises
        ------
        BadInput
            If it says nothing.
        """
        model = self._trained(0)
        if not hasattr(model, "privacy_"):
            raise BadInput(f"{type(model).__name__} has no account, privacy_, of an epsilon that could be refuted")
        return model.privacy_

    def observe(self, first: int, n: int) -> Observation:
        """Train n times, training number ``first`` and those that follow it."""
        seen = [self._one(first + i) for i in range(n)]
        self._said |= {(side, first + i): one[side] for i, one in enumerate(seen) for side in (ANSWERS, ANSWER)}
        codes = {side: np.array([[_code_of(one[side])] for one in seen]) for side in (ANSWERS, ANSWER)}
        numbers = {
            f"{NUMBER} {j}": np.array([[one["numbers"].get(j, np.nan)] for one in seen]) for j in range(MOST_NUMBERS)
        }
        return Observation(codes, numbers)

    def _one(self, training: int) -> dict:
        try:
            model = self._sees(self._trained(training))
            if isinstance(model, ReleasedNumbers):
                return self._numbers_of(model)
            answers = np.asarray(model.predict(self._probes))
        except Exception as error:  # whatever it is, somebody sees that no model came
            said = f"{type(error).__name__}: {error}"
            return {ANSWERS: said, ANSWER: said, "numbers": {}, "raised": said}
        if not is_classifier(self._estimator):
            return {ANSWERS: "numbers", ANSWER: "a number", "numbers": {0: float(answers[0])}}
        shares = model.predict_proba(self._probes)[0].tolist() if hasattr(model, "predict_proba") else []
        every = model.find_answers(self._probes)[:, :, 0] if getattr(model, "combines", "") == VOTES else answers
        return {ANSWERS: str(every.tolist()), ANSWER: str(answers[0]), "numbers": dict(enumerate(shares))}

    def _numbers_of(self, release: ReleasedNumbers) -> dict:
        numbers = np.concatenate([np.ravel(values) for values in release.numbers.values()])
        return {ANSWERS: "numbers", ANSWER: "numbers", "numbers": dict(enumerate(numbers.tolist()))}

    def raised(self) -> str:
        """Return what a training raises, if it does: where every one does, nothing else is seen."""
        return self._one(0).get("raised", "")

    def _trained(self, training: int) -> BaseEstimator:
        model = clone(self._estimator)
        if getattr(model, "noise", "numpy") != "opendp":
            model.set_params(random_state=(self._key + training) % 2**31)
        return model.fit(*self._table)

    def words(self, side: str, training: int, part: int) -> str:
        """Say what a side of the model was in one training that was observed."""
        return self._said[side, training]


def _code_of(said: str) -> int:
    return int.from_bytes(hashlib.sha256(said.encode()).digest()[:7], "little")
