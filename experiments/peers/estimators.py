"""The peers as estimators of this project: rows are read under the public domain, and fitted in another environment.

What a peer would otherwise take from the rows (bounds, categories, class labels) it is told from the domain: numbers
and targets are scaled to [0, 1] by their declared bounds, categories and classes become their position. Warnings of the
peer that it had to look at the rows are errors.
"""

from __future__ import annotations

import math

import numpy as np

from algorithms.accounting.events import REPLACED, Sequential, Spent, Unpaid
from algorithms.accounting.faults import Fault
from algorithms.accounting.privacy import Privacy
from algorithms.accounting.trust import OTHERS
from algorithms.base import PrivateClassifier, PrivateEstimator, PrivateRegressor
from algorithms.encoding.features import Continuous, Nominal
from algorithms.parameters import ParameterError, check_count, check_epsilon, check_number
from experiments.peers import process

_BY_POSITION = Fault(
    "rows dealt out by position",
    "a count in a leaf that changes by one costs ε: a record that is replaced changes two, and one that is added or "
    "removed moves others from tree to tree, as rows go to trees by their position",
    "diffprivlib 0.6.6, models/forest.py, RandomForestClassifier.fit and _FittingTree.fit",
)
_LOWER_BOUND_ONLY = Fault(
    "sensitivity of squares",
    "the noise of an attribute's sum of squares is scaled by its lower bound alone, as seen from a noisy mean: the "
    "nearer that mean is to the bound, the less noise there is (issue 105 of its repository)",
    "diffprivlib 0.6.6, models/linear_regression.py, _construct_regression_obj",
)
_MEANS_TWICE = Fault(
    "budget of the means",
    "the means of the attributes and that of the target are given a share ε / (k + 1) together and take it each",
    "diffprivlib 0.6.6, models/linear_regression.py, fit and _preprocess_data",
)


class _Peer(PrivateEstimator):
    """A peer: its rows are scaled here, and its model is fitted and asked in another environment.

    Attributes
    ----------
    model_ : bytes
        The fitted model, as its environment reads it.
    fit_seconds_ : float
        Wall-clock time of its ``fit`` in the worker: without the pipe, and without the start of the process.
    """

    @staticmethod
    def packages() -> dict[str, str]:
        """Return the versions of the packages that determine the result and are not those of this environment."""
        return process.read_pinned_versions()

    @staticmethod
    def lacks() -> str | None:
        """Return why no peer can be run on this machine, in one line; None if they can."""
        return process.explain_missing()

    def check_parameters(self, n_features: int) -> None:
        """Check the parameters, as far as can be told without rows.

        Raises
        ------
        ParameterError
            If one has a value that the peer cannot work with.
        """
        check_epsilon(self.epsilon)

    def _fit(self, model: str, X: np.ndarray, y: np.ndarray, **parameters) -> None:
        seed = int(self.seed().generate_state(1)[0] >> 1)  # of 31 bits
        parameters = {"epsilon": float(self.epsilon), "seed": seed} | parameters
        answer, arrays = process.ask_worker({"do": "fit", "model": model, "parameters": parameters}, X=X, y=y)
        self.model_, self.fit_seconds_ = arrays["model"].tobytes(), answer["fit_seconds"]

    def _predict_scaled(self, X: np.ndarray) -> np.ndarray:
        model = np.frombuffer(self.model_, dtype=np.uint8)
        _, arrays = process.ask_worker({"do": "predict"}, X=X, model=model)
        return arrays["predicted"]

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

    def _count_categories(self) -> list[int]:
        n_categories = []
        for feature in self.domain_.features:
            n_categories.append(len(feature.categories) if isinstance(feature, Nominal) else 0)
        return n_categories


class DiffprivlibForestClassifier(_Peer, PrivateClassifier):
    """diffprivlib's ``RandomForestClassifier``: random cuts, rows dealt out to the trees, labels by permute-and-flip.

    Parameters
    ----------
    epsilon : float, default=1.0
        What diffprivlib is asked for; infinity is no noise.
    n_estimators : int, default=10
        Trees.
    max_depth : int, default=5
        Levels of splits.
    domain : Domain
        Declared columns and class labels; categories are cut by their position.
    random_state : int, RandomState or None, default=None
        Seed of its generator.

    Notes
    -----
    Privacy: 2 epsilon for one record replaced, and (2 `n_estimators` - 1) epsilon for one added or removed, given a
    public domain; the package names no neighbours. Its leaves are labelled by ``PermuteAndFlip`` with
    ``monotonic=True``, which pays for one count that grows or shrinks; `privacy_` has the rest.

    The package: N. Holohan, S. Braghin, P. Mac Aonghusa, K. Levacher, "Diffprivlib: the IBM differential privacy
    library", 2019.

    Raises
    ------
    BadInput
        At ``fit`` and ``predict``, if `.venv-peers` is missing.
    PeerError
        If diffprivlib refuses, or its process dies.
    """

    def __init__(self, epsilon=1.0, *, n_estimators=10, max_depth=5, domain=None, random_state=None):
        self.epsilon = epsilon
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.domain = domain
        self.random_state = random_state

    def check_parameters(self, n_features):
        """Check the parameters; a tree has all of its nodes, so its depth is limited."""
        super().check_parameters(n_features)
        check_count("n_estimators", self.n_estimators)
        check_count("max_depth", self.max_depth, highest=16, of="every node is built")

    def fit(self, X, y):
        """Fit in the other environment."""
        matrix, labels = self.read_training_rows(X, y)
        self.check_parameters(matrix.shape[1])
        size = {"n_estimators": int(self.n_estimators), "max_depth": int(self.max_depth)}
        self._fit("diffprivlib_forest", self._scale_to_unit_cube(matrix), labels, n_classes=len(self.classes_), **size)
        # its sensitivity is the number of counts that a record changes; each costs epsilon
        n_moved = 2.0 * self.n_estimators - 1
        ledger = Spent("permute-and-flip", "labels of leaves", 2 * float(self.epsilon), 2.0, REPLACED, n_moved)
        self.privacy_ = Privacy.under(
            self.domain_, self.epsilon, ledger, (_BY_POSITION,), neighbours=REPLACED, trust=OTHERS
        )
        return self

    def predict(self, X):
        """Predict the class of each row."""
        positions = self._predict_scaled(self._scale_to_unit_cube(self.read_rows(X)))
        return self.classes_[positions]


class DiffprivlibLinearRegression(_Peer, PrivateRegressor):
    """diffprivlib's ``LinearRegression``: the functional mechanism around noisy means, solved as it comes out.

    Parameters
    ----------
    epsilon : float, default=1.0
        What diffprivlib is asked for; infinity is no noise.
    domain : Domain
        Declared columns and bounds of the target; categories are numbers by their position.
    random_state : int, RandomState or None, default=None
        Seed of its generator.

    Notes
    -----
    Privacy: none for any finite epsilon, in its version 0.6.6; `privacy_` says why.

    The package: N. Holohan, S. Braghin, P. Mac Aonghusa, K. Levacher, "Diffprivlib: the IBM differential privacy
    library", 2019. It does not repair an objective without a minimum, so that its predictions may be of any size.

    Raises
    ------
    BadInput
        At ``fit`` and ``predict``, if `.venv-peers` is missing.
    PeerError
        If diffprivlib refuses, or its process dies.
    """

    def __init__(self, epsilon=1.0, *, domain=None, random_state=None):
        self.epsilon = epsilon
        self.domain = domain
        self.random_state = random_state

    def fit(self, X, y):
        """Fit in the other environment."""
        matrix, target = self.read_training_rows(X, y)
        self.check_parameters(matrix.shape[1])
        self._fit("diffprivlib_linear", self._scale_to_unit_cube(matrix), target)
        share, n_rows = float(self.epsilon) / (matrix.shape[1] + 1), len(matrix)
        spent = (
            Spent("truncated laplace", "means of the attributes", share, 1 / n_rows, REPLACED),
            Spent("truncated laplace", "mean of the target", share, 1 / n_rows, REPLACED),
            Spent("laplace", "coefficients of the objective", share * matrix.shape[1], 1.0, REPLACED),
            Unpaid("what the noise of the squares lacks"),
        )
        faults = (_LOWER_BOUND_ONLY, _MEANS_TWICE)
        self.privacy_ = Privacy.under(
            self.domain_, self.epsilon, Sequential("fit", spent), faults, neighbours=REPLACED, trust=OTHERS
        )
        return self

    def predict(self, X):
        """Predict the target of each row, in its own unit."""
        return self.in_unit_of_target(self._predict_scaled(self._scale_to_unit_cube(self.read_rows(X))))


class _DPEBM(_Peer):
    """interpret's DP-EBM: noisy additive models, boosted by random cuts, one attribute at a time.

    It claims an (epsilon, delta), not an epsilon, so there is no ``privacy_``: the ledgers of this project have no
    delta.
    """

    def check_parameters(self, n_features):
        """Check the parameters; DP-EBM has no run without noise, and its classes are two."""
        super().check_parameters(n_features)
        if math.isinf(self.epsilon):
            raise ParameterError("epsilon must be finite: DP-EBM has no run without noise")
        check_number("delta", self.delta, above=0, below=1)
        check_count("max_rounds", self.max_rounds)

    def _fit_ebm(self, matrix: np.ndarray, target: np.ndarray, n_classes: int | None) -> None:
        parameters = {"delta": float(self.delta), "max_rounds": int(self.max_rounds), "n_classes": n_classes}
        self._fit("dp_ebm", self._scale_numbers(matrix), target, n_categories=self._count_categories(), **parameters)


class DPEBMClassifier(_DPEBM, PrivateClassifier):
    """interpret's ``DPExplainableBoostingClassifier``, for two classes.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget, finite.
    delta : float, default=1e-7
        Should be less than one by the number of rows.
    max_rounds : int, default=300
        Rounds of boosting over all attributes.
    domain : Domain
        Declared columns and class labels.
    random_state : int, RandomState or None, default=None
        Seed of its generator.

    Notes
    -----
    Privacy: (epsilon, delta) for one record added or removed, as the package claims; its compiled code was not read
    here. It would list the categories and classes that occur in the rows; public rows of a weight of 1e-9, one for
    each category, make that list public.

    The package: H. Nori, R. Caruana, Z. Bu, J. H. Shen, J. Kulkarni, "Accuracy, interpretability, and differential
    privacy via explainable boosting", ICML 2021.

    Raises
    ------
    ParameterError
        If there are more than two classes.
    BadInput
        At ``fit`` and ``predict``, if `.venv-peers` is missing.
    PeerError
        If interpret refuses, or its process dies.
    """

    def __init__(self, epsilon=1.0, *, delta=1e-7, max_rounds=300, domain=None, random_state=None):
        self.epsilon = epsilon
        self.delta = delta
        self.max_rounds = max_rounds
        self.domain = domain
        self.random_state = random_state

    def check_parameters(self, n_features):
        """Check the parameters, and that there are two classes."""
        super().check_parameters(n_features)
        target = getattr(self.domain or getattr(self, "domain_", None), "target", None)
        if isinstance(target, Nominal) and len(target.categories) > 2:
            raise ParameterError(
                f"Only binary classification is supported. DP-EBM has two classes, {target.name!r} has "
                f"{len(target.categories)}"
            )

    def fit(self, X, y):
        """Fit in the other environment."""
        matrix, labels = self.read_training_rows(X, y)
        self.check_parameters(matrix.shape[1])
        self._fit_ebm(matrix, labels, len(self.classes_))
        return self

    def predict(self, X):
        """Predict the class of each row."""
        positions = self._predict_scaled(self._scale_numbers(self.read_rows(X)))
        return self.classes_[positions]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class DPEBMRegressor(_DPEBM, PrivateRegressor):
    """interpret's ``DPExplainableBoostingRegressor``.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget, finite.
    delta : float, default=1e-7
        Should be less than one by the number of rows.
    max_rounds : int, default=300
        Rounds of boosting over all attributes.
    domain : Domain
        Declared columns and bounds of the target.
    random_state : int, RandomState or None, default=None
        Seed of its generator.

    Notes
    -----
    Privacy, source and errors: as for `DPEBMClassifier`.
    """

    def __init__(self, epsilon=1.0, *, delta=1e-7, max_rounds=300, domain=None, random_state=None):
        self.epsilon = epsilon
        self.delta = delta
        self.max_rounds = max_rounds
        self.domain = domain
        self.random_state = random_state

    def fit(self, X, y):
        """Fit in the other environment."""
        matrix, target = self.read_training_rows(X, y)
        self.check_parameters(matrix.shape[1])
        self._fit_ebm(matrix, target, None)
        return self

    def predict(self, X):
        """Predict the target of each row, in its own unit."""
        return self.in_unit_of_target(self._predict_scaled(self._scale_numbers(self.read_rows(X))))
