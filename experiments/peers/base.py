"""What all peers share: rows are read under the public domain, and fitted in another environment.

What a peer would otherwise take from the rows (bounds, categories, class labels) it is told from the domain: numbers
and targets are scaled to [0, 1] by their declared bounds, categories and classes become their position, or one column
each. Warnings of the peer that it had to look at the rows are errors.
"""

from __future__ import annotations

import numpy as np

from algorithms.base import PrivateClassifier, PrivateEstimator, PrivateRegressor
from algorithms.encoding.features import Continuous, Nominal
from algorithms.parameters import check_epsilon
from experiments.peers import process


class Peer(PrivateEstimator):
    """A peer: its rows are scaled here, and its model is fitted and asked in another environment.

    Attributes
    ----------
    environment : Environment
        Where it is fitted.
    model_ : bytes
        The fitted model, as its environment reads it.
    fit_seconds_ : float
        Wall-clock time of its ``fit`` in the worker: without the pipe, and without the start of the process.
    """

    environment = process.PEERS

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
        """Check the parameters, as far as can be told without rows.

        Raises
        ------
        ParameterError
            If one has a value that the peer cannot work with.
        """
        check_epsilon(self.epsilon)

    def _fit(self, model: str, matrix: np.ndarray, y: np.ndarray, **parameters) -> None:
        seed = int(self.seed().generate_state(1)[0] >> 1)  # of 31 bits
        parameters = {"epsilon": float(self.epsilon), "seed": seed} | parameters
        words = {"do": "fit", "model": model, "parameters": parameters}
        answer, arrays = process.ask_worker(self.environment, words, X=self._lay_out(matrix), y=y)
        self.model_, self.fit_seconds_ = arrays["model"].tobytes(), answer["fit_seconds"]

    def _ask_model(self, method: str, X) -> np.ndarray:
        matrix = self._lay_out(self.read_rows(X))
        model = np.frombuffer(self.model_, dtype=np.uint8)
        _, arrays = process.ask_worker(self.environment, {"do": method}, X=matrix, model=model)
        return arrays["predicted"]

    def _lay_out(self, matrix: np.ndarray) -> np.ndarray:
        """Return rows as the peer takes them, in ``fit`` and ``predict`` alike."""
        return self._scale_to_unit_cube(matrix)

    def _scale_numbers(self, matrix: np.ndarray) -> np.ndarray:
        """Scale numbers to [0, 1] by their bounds; the positions of categories stay."""
        lower, upper = np.zeros(matrix.shape[1]), np.ones(matrix.shape[1])
        for j, feature in enumerate(self.domain_.features):
            if isinstance(feature, Continuous):
                lower[j], upper[j] = feature.lower, feature.upper
        return (matrix - lower) / (upper - lower)

    def _scale_to_unit_cube(self, matrix: np.ndarray) -> np.ndarray:
        """Scale all columns to [0, 1], the positions of categories, too."""
        return self._scale_numbers(matrix) / np.maximum(np.array(self._count_categories()) - 1, 1)

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
