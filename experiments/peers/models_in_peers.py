"""What is fitted in ``.venv-peers``: models of diffprivlib and interpret, and the arguments of their ``fit``.

Like `worker`, which loads this file there, it imports nothing of this project.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

#: Weight of the public rows that name every category: too little to move a sum, and all that the peer asks of a weight.
_PUBLIC_WEIGHT = 1e-9


def make_diffprivlib_forest(X: np.ndarray, y: np.ndarray, *, n_classes: int, **given) -> tuple:
    """Return diffprivlib's forest and what its ``fit`` is given: rows in the unit cube, classes by their position."""
    bounds, classes = _unit_cube(X.shape[1]), np.arange(n_classes)
    return _make_diffprivlib("RandomForestClassifier", bounds=bounds, classes=classes, **given), {"X": X, "y": y}


def make_diffprivlib_tree(X: np.ndarray, y: np.ndarray, *, n_classes: int, **given) -> tuple:
    """Return diffprivlib's tree and what its ``fit`` is given: rows in the unit cube, classes by their position."""
    bounds, classes = _unit_cube(X.shape[1]), np.arange(n_classes)
    return _make_diffprivlib("DecisionTreeClassifier", bounds=bounds, classes=classes, **given), {"X": X, "y": y}


def make_diffprivlib_linear(X: np.ndarray, y: np.ndarray, **given) -> tuple:
    """Return diffprivlib's linear regression and what its ``fit`` is given: rows in the unit cube, target in [0, 1]."""
    bounds = {"bounds_X": _unit_cube(X.shape[1]), "bounds_y": (0.0, 1.0)}
    return _make_diffprivlib("LinearRegression", **bounds, **given), {"X": X, "y": y}


def make_diffprivlib_bayes(X: np.ndarray, y: np.ndarray, *, n_classes: int, **given) -> tuple:
    """Return diffprivlib's naive Bayes and what its ``fit`` is given: the rows, and a public one of each class.

    It lists the classes that it finds, so that the class of a single record would show.
    """
    model = _make_diffprivlib("GaussianNB", bounds=_unit_cube(X.shape[1]), **given)
    return model, _with_every_class(X, y, n_classes, 0.5)


def make_diffprivlib_logistic(X: np.ndarray, y: np.ndarray, *, n_classes: int, **given) -> tuple:
    """Return diffprivlib's logistic regression and what its ``fit`` is given: the rows, and a public one of each class.

    The rows lie in the unit ball, one of their columns a constant: with ``fit_intercept`` the intercept would not be
    regularized, and the mechanism is proven for objectives that are strongly convex in all coefficients. What is proven
    is of the objective's minimum, hence the low tolerance. A public row of zeros moves no coefficient.
    """
    proven = {"data_norm": 1.0, "fit_intercept": False, "tol": 1e-8, "max_iter": 10_000}
    return _make_diffprivlib("LogisticRegression", **proven, **given), _with_every_class(X, y, n_classes, 0.0)


def _make_diffprivlib(name: str, *, seed: int, **given):
    from diffprivlib import models
    from diffprivlib.accountant import BudgetAccountant

    accountant = BudgetAccountant()  # the default one is shared by all models of the process, and kept with each
    return getattr(models, name)(random_state=seed, accountant=accountant, **given)


def _with_every_class(X: np.ndarray, y: np.ndarray, n_classes: int, value: float) -> dict:
    """Append a public row of each class, of the same value everywhere."""
    public = np.full((n_classes, X.shape[1]), value)
    return {"X": np.vstack([X, public]), "y": np.append(y, np.arange(n_classes))}


def make_dp_ebm(
    X: np.ndarray,
    y: np.ndarray,
    *,
    epsilon: float,
    delta: float,
    seed: int,
    max_rounds: int,
    n_categories: Sequence[int],
    n_classes: int | None,
) -> tuple:
    """Return interpret's DP-EBM and what its ``fit`` is given: the rows, and public ones that name every category.

    Numbers and the target of a regression lie in [0, 1]; categories and classes come as their position.
    """
    from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor

    parameters = {
        "feature_types": ["nominal" if n else "continuous" for n in n_categories],
        "privacy_bounds": np.column_stack(_unit_cube(X.shape[1])),
        "epsilon": epsilon,
        "delta": delta,
        "max_rounds": max_rounds,
        "random_state": seed,
        "n_jobs": 1,
    }
    if n_classes is None:
        model = DPExplainableBoostingRegressor(**parameters, privacy_target_min=0.0, privacy_target_max=1.0)
    else:
        model = DPExplainableBoostingClassifier(**parameters)
    public, labels = _public_rows(n_categories, n_classes or 1)
    weights = np.repeat([1.0, _PUBLIC_WEIGHT], [len(X), len(public)])
    return model, {"X": np.vstack([X, public]), "y": np.append(y, labels), "sample_weight": weights}


def _unit_cube(n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(n_columns), np.ones(n_columns)


def _public_rows(n_categories: Sequence[int], n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return as many rows as it takes to name every category and every class: which occur is no longer to be seen.

    DP-EBM lists categories and classes as it finds them in the rows, so that one that a single record has would show.

    Examples
    --------
    >>> _public_rows([0, 3, 2], 2)
    (array([[0., 0., 0.],
           [0., 1., 1.],
           [0., 2., 0.]]), array([0, 1, 0]))
    """
    n_rows = max(*n_categories, n_classes)
    columns = [np.arange(n_rows) % n if n else np.zeros(n_rows) for n in n_categories]
    return np.column_stack(columns).astype(np.float64), np.arange(n_rows) % n_classes


#: What can be asked for, by name: a function that returns an estimator and the arguments of its ``fit``.
MODELS = {
    "diffprivlib_bayes": make_diffprivlib_bayes,
    "diffprivlib_forest": make_diffprivlib_forest,
    "diffprivlib_linear": make_diffprivlib_linear,
    "diffprivlib_logistic": make_diffprivlib_logistic,
    "diffprivlib_tree": make_diffprivlib_tree,
    "dp_ebm": make_dp_ebm,
}
