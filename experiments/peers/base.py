"""What all peers share: rows are read under the public domain, and fitted in another environment.

What a peer would otherwise take from the rows (bounds, categories, class labels) it is told from the domain: numbers
and targets are scaled to [0, 1] by their declared bounds, categories and classes become their position, or one column
each. Warnings of the peer that it had to look at the rows are errors.
"""

from __future__ import annotations

import inspect
import math
import re
from typing import Any

import numpy as np

from algorithms.base import PrivateClassifier, PrivateEstimator, PrivateRegressor
from algorithms.encoding.features import Continuous, Nominal
from algorithms.parameters import ParameterError, check_epsilon, check_number
from experiments.peers import process

_PARAMETERS = re.compile(r"\n*Parameters\n-+\n((?:.+\n?)+)")
_ENTRY = re.compile(r"^(\w+)( : .*(?:\n    .*)+)", flags=re.MULTILINE)
"""The section of a docstring that describes parameters, and each of its entries: the name, and the rest."""


class Peer(PrivateEstimator):
    """A peer: its rows are scaled here, and its model is fitted and asked in another environment.

    Parameters
    ----------
    epsilon : float, default=1.0
        What its package is asked for, from 1e-100 to 1e100; infinity is no noise.
    domain : Domain
        Declared columns, and the class labels or the bounds of the target.
    random_state : int, RandomState or None, default=None
        Seed of whatever it draws.

    Notes
    -----
    ``model_`` is the fitted model, as its environment reads it, ``fit_seconds_`` the wall-clock time of its ``fit`` in
    the worker: without the pipe, and without the start of the process. Errors are a ParameterError, where a value is
    none that the peer can work with, a BadInput, where its environment is missing, and a PeerError, where its package
    refuses or its process dies.
    """

    environment = process.PEERS
    model_name = ""  # of what is fitted, among the ``MODELS`` of its environment

    def __init_subclass__(cls, **options: Any) -> None:
        """Add the parameters that base classes describe to the docstring: each class has its own whole."""
        super().__init_subclass__(**options)
        entries: dict[str, str] = {}
        for base in reversed(cls.__mro__):
            found = _PARAMETERS.search(inspect.cleandoc(vars(base).get("__doc__") or ""))
            entries |= dict(_ENTRY.findall(found[1])) if found else {}
        described = [name + entries[name] for name in inspect.signature(cls).parameters if name in entries]
        text, heading, notes = _PARAMETERS.sub("", inspect.cleandoc(cls.__doc__ or "")).partition("\nNotes\n")
        cls.__doc__ = "\n".join([text.rstrip(), "", "Parameters", "----------", *described, heading + notes])

    def __init__(self, epsilon=1.0, *, domain=None, random_state=None):
        self.epsilon = epsilon
        self.domain = domain
        self.random_state = random_state

    @classmethod
    def packages(cls) -> dict[str, str]:
        """Return the versions of the packages that determine the result and are not those of this environment."""
        return process.read_pinned_versions(cls.environment)

    @classmethod
    def lacks(cls) -> str | None:
        """Return why this peer cannot be run on this machine, in one line; None if it can."""
        return process.explain_missing(cls.environment)

    def check_parameters(self, n_features: int) -> None:
        """Check the parameters, as far as can be told without rows."""
        check_epsilon(self.epsilon)

    def fit(self, X, y):
        """Fit in the other environment."""
        matrix, target = self.read_training_rows(X, y)
        self.check_parameters(matrix.shape[1])
        seed = int(self.seed().generate_state(1)[0] >> 1)  # of 31 bits
        parameters = {"epsilon": float(self.epsilon), "seed": seed} | self._model_parameters()
        words = {"do": "fit", "model": self.model_name, "parameters": parameters}
        arrays = {"X": self._lay_out(matrix), "y": self._lay_out_target(target)}
        answer, fitted = process.ask_worker(self.environment, words, **arrays)
        self.model_, self.fit_seconds_ = fitted["model"].tobytes(), answer["fit_seconds"]
        self._keep_account(len(matrix))
        return self

    def _keep_account(self, n_rows: int) -> None:
        """Set ``privacy_`` of a peer that has one, after a fit to so many rows."""

    def _model_parameters(self) -> dict[str, Any]:
        """Return what the model is told beside epsilon, which this may replace, and the seed."""
        return {}

    def _ask_model(self, method: str, X) -> np.ndarray:
        matrix = self._lay_out(self.read_rows(X))
        model = np.frombuffer(self.model_, dtype=np.uint8)
        _, arrays = process.ask_worker(self.environment, {"do": method}, X=matrix, model=model)
        return arrays["predicted"]

    def _lay_out(self, matrix: np.ndarray) -> np.ndarray:
        """Return rows as the peer takes them, in ``fit`` and ``predict`` alike: all columns scaled to [0, 1]."""
        return self._scale_numbers(matrix) / np.maximum(np.array(self._count_categories()) - 1, 1)

    def _lay_out_target(self, target: np.ndarray) -> np.ndarray:
        return target

    def _scale_numbers(self, matrix: np.ndarray) -> np.ndarray:
        """Scale numbers to [0, 1] by their bounds; the positions of categories stay."""
        lower, upper = np.zeros(matrix.shape[1]), np.ones(matrix.shape[1])
        for j, feature in enumerate(self.domain_.features):
            if isinstance(feature, Continuous):
                lower[j], upper[j] = feature.lower, feature.upper
        return (matrix - lower) / (upper - lower)

    def _spread_to_columns(self, matrix: np.ndarray) -> np.ndarray:
        """Scale numbers to [-1, 1] by their bounds, and give each category a column of zeros and ones."""
        scaled, columns = self._scale_numbers(matrix), []
        for j, n_categories in enumerate(self._count_categories()):
            one_hot = np.eye(n_categories)[matrix[:, j].astype(np.int64)] if n_categories else None
            columns.append(2 * scaled[:, [j]] - 1 if one_hot is None else one_hot)
        return np.hstack(columns)

    def _count_categories(self) -> list[int]:
        n_categories = []
        for feature in self.domain_.features:
            n_categories.append(len(feature.categories) if isinstance(feature, Nominal) else 0)
        return n_categories

    def _count_classes(self) -> int | None:
        """Return how many classes the domain declares; None if the target is a number."""
        return len(self.classes_) if isinstance(self, PrivateClassifier) else None


class PeerWithDelta(Peer):
    """A peer that claims an (epsilon, delta), and has no ``privacy_``: the ledgers of this project have no delta.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget, above 0 and finite.
    delta : float, default=1e-7
        In (0, 1); should be less than one by the number of rows.
    """

    why_finite = ""  # epsilon has to be, as an error says it

    def __init__(self, epsilon=1.0, *, delta=1e-7, domain=None, random_state=None):
        super().__init__(epsilon, domain=domain, random_state=random_state)
        self.delta = delta

    def check_parameters(self, n_features):
        """Check the parameters; there is no run without noise."""
        super().check_parameters(n_features)
        if math.isinf(self.epsilon):
            raise ParameterError(f"epsilon must be finite: {self.why_finite}")
        check_number("delta", self.delta, above=0, below=1)


class PeerClassifier(Peer, PrivateClassifier):
    """A peer that names the position of a class."""

    def predict(self, X):
        """Predict the class of each row."""
        positions = self._ask_model("predict", X)
        return self.classes_[positions]


class PeerWithProbabilities(PeerClassifier):
    """A peer that gives probabilities of the classes, too."""

    def predict_proba(self, X):
        """Return the probability of each class, in the order of ``classes_``, for each row."""
        return self._ask_model("predict_proba", X)


class PeerRegressor(Peer, PrivateRegressor):
    """A peer whose targets are in [0, 1]."""

    def predict(self, X):
        """Predict the target of each row, in its own unit."""
        return self.in_unit_of_target(self._ask_model("predict", X))
