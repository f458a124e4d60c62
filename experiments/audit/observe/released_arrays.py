"""Many trainings of an estimator that says itself what it would publish: ``released_()``, as arrays.

That is all an attacker would hold, so nothing else is looked at: every number of it, and whether all of it together is
what another training gave.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from experiments.audit.observe.any_estimator import EstimatorOnTable, ModelAnswers, hash_text
from experiments.audit.observe.observed_model import Observation
from experiments.errors import BadInput, one_line

EVERYTHING = "everything that is released"
MOST_NUMBERS = 16
"""Numbers that are looked at one by one, the first ones."""


class ReleaseOfArrays(EstimatorOnTable):
    """An estimator with ``released_()`` on a table, ready to be trained many times: an `Observer`."""

    def observe(self, first: int, n: int) -> Observation:
        """Train n times, training number ``first`` and those that follow it."""
        texts, numbers = [], np.full((n, MOST_NUMBERS), np.nan)
        for place in range(n):
            answer = self._answer(first + place)
            self._answers[first + place] = answer
            texts.append(hash_text(answer.all_rows))
            for j, number in answer.numbers.items():
                numbers[place, j] = number
        sides = {f"released number {j}": numbers[:, [j]] for j in range(MOST_NUMBERS)}
        return Observation({EVERYTHING: np.array(texts)[:, np.newaxis]}, sides)

    def _answer(self, training: int) -> ModelAnswers:
        try:
            arrays = read_arrays(self._train(training).released_())
        except BadInput:
            raise
        except Exception as error:  # whatever it is, somebody sees that no model came
            message = one_line(error)
            return ModelAnswers(message, message, error=message)
        text = "; ".join(str(array.tolist()) for array in arrays)
        numbers = np.concatenate([np.empty(0), *map(_list_numbers, arrays)])
        return ModelAnswers(text, text, dict(enumerate(numbers[:MOST_NUMBERS].tolist())))


def read_arrays(released: Any) -> list[np.ndarray]:
    """Return what an estimator released, a list or a mapping of arrays, as a list of arrays.

    Raises
    ------
    BadInput
        If it is something else.

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


def _list_numbers(array: np.ndarray) -> np.ndarray:
    return array.ravel().astype(np.float64) if array.dtype.kind in "biuf" else np.empty(0)
