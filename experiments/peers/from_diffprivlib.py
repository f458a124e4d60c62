"""Peers of the package diffprivlib, with what its code, version 0.6.6, shows of the epsilon that it is asked for."""

from __future__ import annotations

import math

import numpy as np

from algorithms.accounting.events import ADDED_OR_REMOVED, RELATIONS, REPLACED, Event, Sequential, Spent, Unpaid
from algorithms.accounting.faults import Fault
from algorithms.accounting.privacy import Privacy
from algorithms.accounting.trust import OTHERS
from algorithms.parameters import ParameterError, check_choice, check_count
from experiments.peers.base import Peer, PeerRegressor, PeerWithProbabilities

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
_CLASS_CHANGES = Fault(
    "a record that changes its class",
    "counts, sums and squares of a class pay for one record each, and one that is replaced may leave a class and enter "
    "another",
    "diffprivlib 0.6.6, models/naive_bayes.py, _update_mean_variance and _noisy_class_counts",
)


class Diffprivlib(Peer):
    """A model of diffprivlib, with an account of what its code spends.

    The package: N. Holohan, S. Braghin, P. Mac Aonghusa, K. Levacher, "Diffprivlib: the IBM differential privacy
    library", 2019. It names no neighbours, but for logistic regression.
    """

    neighbours = REPLACED

    def _keep_account(self, n_rows):
        ledger, faults = self._account_for(n_rows, len(self.domain_.features))
        self.privacy_ = Privacy.under(
            self.domain_, self.epsilon, ledger, faults, neighbours=self.neighbours, trust=OTHERS
        )

    def _model_parameters(self):
        return {"n_classes": self._count_classes()}

    def _account_for(self, n_rows: int, n_features: int) -> tuple[Event, tuple[Fault, ...]]:
        """Return what a fit spent, and the steps that its claim does not cover."""
        raise NotImplementedError


class DiffprivlibTreeClassifier(Diffprivlib, PeerWithProbabilities):
    """diffprivlib's ``DecisionTreeClassifier``: random cuts, and all rows in one tree.

    Categories are cut by their position. Its errors are those of `Peer`.

    Parameters
    ----------
    max_depth : int, default=5
        Levels of splits, from 1 to 16.

    Notes
    -----
    Privacy: epsilon for one record added or removed, given a public domain; 2 epsilon for one replaced. The cuts are
    drawn without the rows; a record is in one leaf, whose label ``PermuteAndFlip`` draws with ``monotonic=True`` for
    one count that grows or shrinks. A leaf without rows takes each label with the same chance, as the mechanism would.
    """

    model_name = "diffprivlib_tree"
    neighbours = ADDED_OR_REMOVED

    def __init__(self, epsilon=1.0, *, max_depth=5, domain=None, random_state=None):
        super().__init__(epsilon, domain=domain, random_state=random_state)
        self.max_depth = max_depth

    def check_parameters(self, n_features):
        """Check the parameters; a tree has all of its nodes, so its depth is limited."""
        super().check_parameters(n_features)
        check_count("max_depth", self.max_depth, highest=16, of="every node is built")

    def _model_parameters(self):
        return super()._model_parameters() | {"max_depth": int(self.max_depth)}

    def _account_for(self, n_rows, n_features):
        return Spent("permute-and-flip", "labels of leaves", float(self.epsilon), 1.0), ()


class DiffprivlibForestClassifier(DiffprivlibTreeClassifier):
    """diffprivlib's ``RandomForestClassifier``: random cuts, rows dealt out to the trees, labels by permute-and-flip.

    Categories are cut by their position. Its errors are those of `Peer`.

    Parameters
    ----------
    n_estimators : int, default=10
        Trees, at least 1.

    Notes
    -----
    Privacy: 2 epsilon for one record replaced, and (2 `n_estimators` - 1) epsilon for one added or removed, given a
    public domain; the package names no neighbours. Its leaves are labelled by ``PermuteAndFlip`` with
    ``monotonic=True``, which pays for one count that grows or shrinks; `privacy_` has the rest.
    """

    model_name = "diffprivlib_forest"
    neighbours = REPLACED

    def __init__(self, epsilon=1.0, *, n_estimators=10, max_depth=5, domain=None, random_state=None):
        super().__init__(epsilon, max_depth=max_depth, domain=domain, random_state=random_state)
        self.n_estimators = n_estimators

    def check_parameters(self, n_features):
        """Check the parameters; a tree has all of its nodes, so its depth is limited."""
        super().check_parameters(n_features)
        check_count("n_estimators", self.n_estimators)

    def _model_parameters(self):
        return super()._model_parameters() | {"n_estimators": int(self.n_estimators)}

    def _account_for(self, n_rows, n_features):
        # its sensitivity is the number of counts that a record changes; each costs epsilon
        n_moved = 2.0 * self.n_estimators - 1
        ledger = Spent("permute-and-flip", "labels of leaves", 2 * float(self.epsilon), 2.0, REPLACED, n_moved)
        return ledger, (_BY_POSITION,)


class DiffprivlibNaiveBayes(Diffprivlib, PeerWithProbabilities):
    """diffprivlib's ``GaussianNB``: noisy counts, means and variances of each class, a third of the budget each.

    Categories are numbers by their position. Its errors are those of `Peer`.

    Notes
    -----
    Privacy: 2 epsilon for one record replaced, given a public domain, and none for one added or removed: the counts of
    the classes are made to sum up to the exact number of rows. `privacy_` has the rest. The package names no
    neighbours. It would list the classes that occur; a public row of each, in the middle of the bounds, makes that list
    public.
    """

    model_name = "diffprivlib_bayes"

    def _account_for(self, n_rows, n_features):
        third = 2 * float(self.epsilon) / 3  # a record that changes its class is in two
        spent = (
            Spent("geometric", "counts of the classes", third, 2.0, REPLACED),
            Spent("truncated laplace", "sums of the attributes in each class", third, 2.0, REPLACED),
            Spent("bounded laplace", "squares of the attributes in each class", third, 2.0, REPLACED),
        )
        return Sequential("fit", spent), (_CLASS_CHANGES,)


class DiffprivlibLogisticRegression(Diffprivlib, PeerWithProbabilities):
    """diffprivlib's ``LogisticRegression``: a noisy vector in the objective, one class against the rest.

    Its errors are those of `Peer`.

    Parameters
    ----------
    epsilon : float, default=1.0
        Privacy budget, from 1e-100 to 1e100; infinity is no noise.
    neighbours : {"one record replaced", "one record added or removed"}, default="one record replaced"
        What epsilon is meant for. diffprivlib is asked for epsilon or, for one record added or removed, for 2 epsilon.

    Notes
    -----
    Privacy: epsilon for the neighbours that `neighbours` names, given a public domain.

    Numbers become [-1, 1] by their bounds, categories ones and zeros, a constant takes the part of the intercept, and
    all is divided by the root of the number of attributes and one: so the norm of a row is at most 1, whatever the
    rows. With this norm the package's noise is that of algorithm 2 of Chaudhuri, Monteleoni and Sarwate, for one record
    replaced, whose proof has two terms: the gradient moves by at most 2, which costs ε' = ε - 2 ln(1 + c / (n Λ)), and
    the Jacobian's two rank-one steps cost the rest. A record added or removed moves the gradient by 1 and takes one
    rank-one step: half of both. The number of rows has no other part: n times the objective has n nowhere. The proof is
    about the exact minimum, which L-BFGS comes close to.

    With its own intercept (``fit_intercept=True``) that proof would not hold: the intercept is not regularized, and the
    curvature is taken to be a quarter of the norm, not of its square. So it is not asked for one.

    The mechanism: K. Chaudhuri, C. Monteleoni, A. Sarwate,
    "Differentially private empirical risk minimization", JMLR 12, 2011. It would list the classes that occur; a public
    row of zeros of each class, which moves no coefficient, makes that list public.

    Raises
    ------
    ParameterError
        If `neighbours` is none of the two, or there is one class only.
    """

    model_name = "diffprivlib_logistic"

    def __init__(self, epsilon=1.0, *, neighbours=REPLACED, domain=None, random_state=None):
        super().__init__(epsilon, domain=domain, random_state=random_state)
        self.neighbours = neighbours

    def check_parameters(self, n_features):
        """Check the parameters."""
        super().check_parameters(n_features)
        check_choice("neighbours", self.neighbours, RELATIONS)

    def _model_parameters(self):
        if len(self.classes_) < 2:
            raise ParameterError(
                f"diffprivlib's LogisticRegression needs two classes, and the domain declares one class of "
                f"{self.domain_.target.name!r}: declare the others, too, or take DiffprivlibNaiveBayes"
            )
        return super()._model_parameters() | {"epsilon": self._asked_epsilon}

    @property
    def _asked_epsilon(self) -> float:
        return float(self.epsilon) * (2 if self.neighbours == ADDED_OR_REMOVED else 1)

    def _account_for(self, n_rows, n_features):
        where = "coefficients of all classes"
        return Spent("objective perturbation", where, self._asked_epsilon, 2.0, REPLACED, 1.0), ()

    def _lay_out(self, matrix):
        """Return rows with a norm of at most 1, the constant last."""
        constant = np.ones((len(matrix), 1))
        return np.hstack([self._spread_to_columns(matrix), constant]) / math.sqrt(matrix.shape[1] + 1)


class DiffprivlibLinearRegression(Diffprivlib, PeerRegressor):
    """diffprivlib's ``LinearRegression``: the functional mechanism around noisy means, solved as it comes out.

    Categories are numbers by their position. It does not repair an objective without a minimum, so that its predictions
    may be of any size. Its errors are those of `Peer`.

    Notes
    -----
    Privacy: none for any finite epsilon, in its version 0.6.6: the noise of the squares is too small, and each mean
    takes what all of them are given; `privacy_` has the rest.
    """

    model_name = "diffprivlib_linear"

    def _model_parameters(self):
        return {}

    def _account_for(self, n_rows, n_features):
        share = float(self.epsilon) / (n_features + 1)
        spent = (
            Spent("truncated laplace", "means of the attributes", share, 1 / n_rows, REPLACED),
            Spent("truncated laplace", "mean of the target", share, 1 / n_rows, REPLACED),
            Spent("laplace", "coefficients of the objective", share * n_features, 1.0, REPLACED),
            Unpaid("what the noise of the squares lacks"),
        )
        return Sequential("fit", spent), (_LOWER_BOUND_ONLY, _MEANS_TWICE)
