"""Many trainings of any estimator through its own ``fit``: what it answers, or that it refuses to.

The slowest way to look, and the only one that needs nothing but scikit-learn's interface: for other people's
implementations, and for a release, where what counts is all that comes out of it. A fit that raises is an outcome like
any other, and so is its message.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier

from algorithms.accounting.privacy import Privacy
from algorithms.released.forest import VOTES
from algorithms.released.numbers import ReleasedNumbers
from experiments.audit.observe.trainings import Observation, Observer
from experiments.errors import BadInput, one_line
from experiments.store.accounts import read_account

ANSWERS, ANSWER = "answers to all rows, tree by tree", "answer to the record"
EVERYTHING = "everything that is released"


class ModelAnswers(NamedTuple):
    """What one training gave: the answers of a model, or the error that was raised instead."""

    texts: Mapping[str, str]  #: by side
    numbers: Mapping[int, float] = {}  #: by place
    error: str = ""


class CannotFit(BadInput):
    """An estimator raises where it is fitted to a table of the audit; the message is its own, in a line."""


class ClaimsNothing(BadInput):
    """An estimator claims no ε that could be refuted."""


class EstimatorOnTable(Observer):
    """An estimator on a table, ready to be trained many times.

    Where a seed decides its noise, each training has one of its own. The table has rows and targets in any containers
    that ``fit`` takes. Probes, a frame or an array (p, k), are public rows that every trained model is asked about, or
    what it publishes, the differing record first.
    """

    sides: tuple[str, ...] = ANSWERS, ANSWER
    number, n_numbers = "number of the answer to the record, {}", 4
    """The name of those that are looked at one by one, and how many there are: the shares of the first classes."""

    def __init__(
        self, estimator: BaseEstimator, table: tuple, probes: Any, key: int, publish: Callable = lambda model: model
    ):
        self._estimator, self._table, self._probes, self._key = estimator, table, probes, key
        self._publish = publish
        self._answers: dict[int, ModelAnswers] = {}

    @property
    def privacy(self) -> Privacy:  # type: ignore[override] # a fit may raise
        """What the estimator says of itself after a fit; else `CannotFit` or `ClaimsNothing` is raised."""
        try:
            model = self._train(0)
        except Exception as error:  # it may be anybody's
            raise CannotFit(one_line(error)) from error
        privacy = read_account(model)
        if privacy is None:
            raise ClaimsNothing(f"{type(model).__name__} has no account, privacy_, of an epsilon that could be refuted")
        return privacy

    def observe(self, first: int, n: int) -> Observation:
        """Train n times, training number ``first`` and those that follow it."""
        answers = [self._answer(training) for training in range(first, first + n)]
        self._answers.update(enumerate(answers, start=first))
        codes, numbers = {}, {}
        for side in self.sides:
            codes[side] = np.array([[_hash_text(answer.texts[side])] for answer in answers])
        for j in range(self.n_numbers):
            numbers[self.number.format(j)] = np.array([[answer.numbers.get(j, np.nan)] for answer in answers])
        return Observation(codes, numbers)

    def _answer(self, training: int) -> ModelAnswers:
        try:
            return self._ask(self._train(training))
        except Exception as error:  # whatever it is, somebody sees that no model came
            message = self._describe_error(error)
            return ModelAnswers(dict.fromkeys(self.sides, message), error=message)

    def _describe_error(self, error: Exception) -> str:
        return f"{type(error).__name__}: {error}"

    def _ask(self, model: Any) -> ModelAnswers:
        model = self._publish(model)
        if isinstance(model, ReleasedNumbers):
            numbers = np.concatenate([np.ravel(values) for values in model.numbers.values()])
            return ModelAnswers(dict.fromkeys(self.sides, "numbers"), dict(enumerate(numbers.tolist())))
        answers = np.asarray(model.predict(self._probes))
        if not is_classifier(self._estimator):
            return ModelAnswers({ANSWERS: "numbers", ANSWER: "a number"}, {0: float(answers[0])})
        shares = model.predict_proba(self._probes)[0].tolist() if hasattr(model, "predict_proba") else []
        record = str(answers[0])
        if getattr(model, "combines", "") == VOTES:
            answers = model.find_answers(self._probes)[:, :, 0]
        return ModelAnswers({ANSWERS: str(answers.tolist()), ANSWER: record}, dict(enumerate(shares)))

    def find_error(self) -> str:
        """Return what a training raises, if it does: where every one does, nothing else is seen."""
        return self._answer(0).error

    def _train(self, training: int) -> BaseEstimator:
        model = clone(self._estimator)
        if getattr(model, "noise", "numpy") != "opendp" and "random_state" in model.get_params(deep=False):
            model.set_params(random_state=(self._key + training) % 2**31)
        return model.fit(*self._table)

    def describe_side(self, side: str, training: int, part: int) -> str:
        """Return in words what a side of the model is in one training."""
        return self._answers[training].texts[side]


class ReleaseOfArrays(EstimatorOnTable):
    """An estimator that says itself what it would publish, ``released_()``, as arrays.

    That is all an attacker would hold, so nothing else is looked at: every number of it, and whether all of it together
    is what another training gave.
    """

    sides = (EVERYTHING,)
    number, n_numbers = "released number {}", 16

    def _ask(self, model: Any) -> ModelAnswers:
        arrays = read_arrays(model.released_())
        text = "; ".join(str(array.tolist()) for array in arrays)
        numbers = [array.ravel().astype(np.float64) for array in arrays if array.dtype.kind in "biuf"]
        first = np.concatenate([np.empty(0), *numbers])[: self.n_numbers]
        return ModelAnswers({EVERYTHING: text}, dict(enumerate(first.tolist())))

    def _describe_error(self, error: Exception) -> str:
        if isinstance(error, BadInput):  # what ``released_`` gives is nothing that could be looked at
            raise error
        return one_line(error)


def _hash_text(text: str) -> int:
    """Return a number that is the same for the same text, and for hardly any other."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "little")


def read_arrays(released: Any) -> list[np.ndarray]:
    """Return what an estimator released, a list or a mapping of arrays, as a list; BadInput if it is neither.

    Examples
    --------
    >>> read_arrays({"counts": [3.5, 4.0], "classes": ["a", "b"]})
    [array([3.5, 4. ]), array(['a', 'b'], dtype='<U1')]
    """
    if isinstance(released, Mapping):
        released = list(released.values())
    if not isinstance(released, Sequence) or isinstance(released, str):
        raise BadInput(f"released_() must give a list or a mapping of arrays, got {type(released).__name__}")
    return list(map(np.asarray, released))
