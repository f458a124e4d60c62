"""Classifiers that see released rows only, and those of paper 5 among them, as far as scikit-learn has them."""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from algorithms.base import PrivateClassifier
from algorithms.data_replacement.c45 import C45Classifier
from algorithms.data_replacement.sampler import Sampler, number_categories
from algorithms.parameters import check_choice, parameter, with_parameters
from algorithms.released.classifier import BinaryTree, HiddenLayer, OneClass, ReleasedClassifier, SupportVectors
from algorithms.released.document import Origin


def c45(n_rows: int, seed: int) -> C45Classifier:
    """Return C4.5, with its own pessimistic pruning: the paper prunes afterwards and does not say how."""
    return C45Classifier()


def c45_unpruned(n_rows: int, seed: int) -> C45Classifier:
    """Return C4.5 as it is before pruning."""
    return C45Classifier(prune=False)


def cart_pruned(n_rows: int, seed: int) -> DecisionTreeClassifier:
    """Return a tree that cuts by the fall of the entropy itself, pruned by cost and complexity.

    A leaf has to save log2(n) bits on n rows, about the length of its description. That is our own choice, and a severe
    one: a tree that learns from much noise is a single leaf.
    """
    return DecisionTreeClassifier(criterion="entropy", ccp_alpha=np.log2(n_rows) / n_rows, random_state=seed)


def cart_leaf_2(n_rows: int, seed: int) -> DecisionTreeClassifier:
    """Return the same tree with two rows or more in each leaf, not pruned."""
    return DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=seed)


def back_propagation(n_rows: int, seed: int) -> MLPClassifier:
    """Return a net with one hidden layer of 5 that descends 1,000 times by 0.1 of the gradient over all rows.

    Hidden units are hyperbolic tangents, the default of the Matlab 7 that the paper names.
    """
    return MLPClassifier(
        (5,),
        activation="tanh",
        solver="sgd",
        learning_rate_init=0.1,
        max_iter=1000,
        n_iter_no_change=1000,  # the number of iterations is given, so nothing stops them
        batch_size=n_rows,
        momentum=0.0,
        alpha=0.0,
        random_state=seed,
    )


def svm(n_rows: int, seed: int) -> SVC:
    """Return a support vector machine with a Gaussian kernel and the paper's C and γ; nothing is random in it."""
    return SVC(C=1000.0, gamma=1 / 256, cache_size=500)


CLASSIFIERS = {make.__name__: make for make in (c45, back_propagation, svm, c45_unpruned, cart_pruned, cart_leaf_2)}
"""Classifiers, each a function of the number of released rows and a seed: the paper's three, then readings of its tree.
"""


def _rule_of_c45(classifier: C45Classifier) -> BinaryTree:
    return classifier.tree_


def _rule_of_cart(classifier: DecisionTreeClassifier) -> BinaryTree:
    tree = classifier.tree_
    labels = tree.value[:, 0].argmax(axis=1)
    return BinaryTree(
        tree.feature.copy(), tree.threshold.copy(), tree.children_left.copy(), tree.children_right.copy(), labels
    )


def _rule_of_net(classifier: MLPClassifier) -> HiddenLayer:
    (hidden_weights, weights), (hidden_offsets, offsets) = classifier.coefs_, classifier.intercepts_
    return HiddenLayer(hidden_weights.copy(), hidden_offsets.copy(), weights.copy(), offsets.copy())


def _rule_of_svm(classifier: SVC) -> SupportVectors:
    weights, offsets = classifier.dual_coef_.copy(), classifier.intercept_.copy()
    if len(classifier.classes_) == 2:  # scikit-learn turns the sign of two classes around, so that 1 is positive
        weights, offsets = -weights, -offsets
    vectors, n_of_class = classifier.support_vectors_.copy(), classifier.n_support_.astype(np.int64)
    return SupportVectors(vectors, n_of_class, weights, offsets, np.array(classifier.gamma))


def _rule_of_one_class(classifier: DummyClassifier) -> OneClass:
    return OneClass(np.array(np.argmax(classifier.class_prior_)))


RULE_OF = {
    C45Classifier: _rule_of_c45,
    DecisionTreeClassifier: _rule_of_cart,
    MLPClassifier: _rule_of_net,
    SVC: _rule_of_svm,
    DummyClassifier: _rule_of_one_class,
}
"""What a trained classifier has learnt, in the form of ``algorithms.released.classifier``."""


@with_parameters
class TrainedOnRelease(PrivateClassifier):
    """Base of the classifiers that are trained on what a sampler releases; test rows are not changed.

    A subclass has a sampler, and all of its parameters.

    Parameters
    ----------
    classifier : {"c45", "back_propagation", "svm", "c45_unpruned", "cart_pruned", "cart_leaf_2"}
        What is trained, C4.5 by default, see ``algorithms.data_replacement.train_on_release``.
    classifier_scale : {"standard", None}
        Whether the classifier sees attributes in units of their standard deviation in the released rows, or as they
        are. Not stated in paper 5.

    Attributes
    ----------
    classifier_ : scikit-learn estimator
        What was trained.
    privacy_ : accounting.privacy.Privacy
        That of the release: training adds nothing to it.
    """

    SAMPLER: ClassVar[type[Sampler]]
    """What releases the rows."""

    classifier: str = parameter("c45", check_choice, is_positional=True, choices=CLASSIFIERS)
    classifier_scale: str | None = parameter("standard", check_choice, choices=("standard", None))

    def make_sampler(self) -> Sampler:
        """Return the sampler that ``fit`` uses, unfitted."""
        return self.SAMPLER(**{name: getattr(self, name) for name in self.SAMPLER().get_params()})

    def check_parameters(self, n_features: int) -> None:
        """Raise ``ParameterError`` if the parameters cannot work for so many features."""
        super().check_parameters(n_features)
        self.make_sampler().check_parameters(n_features)

    def fit(self, X, y):
        """Replace the training rows X and their class labels y, train on what replaces them, and return the classifier.

        Rows, errors and warnings are those of ``read_training_rows``; a parameter out of its range is a
        ``ParameterError``.
        """
        self.read_training_rows(X, y)
        self.check_parameters(self.n_features_in_)
        sampler = self.make_sampler().set_params(domain=self.domain_)
        released, labels = sampler.fit_resample(X, y)
        rows = np.ascontiguousarray(released)  # the order in memory decides how means are rounded
        self.classifier_ = self._make_classifier(labels)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # 1,000 iterations are the paper's rule
            self.classifier_.fit(rows, labels)
        self.privacy_ = sampler.privacy_
        return self

    def predict(self, X) -> np.ndarray:
        """Return the class of each row: array of shape (n,)."""
        rows = self.read_rows(X)  # first, so that an unfitted classifier says so
        return self.classifier_.predict(number_categories(rows, self.domain_))

    def _released(self, origin: Origin) -> ReleasedClassifier:
        *scaler, classifier = self.classifier_ if isinstance(self.classifier_, Pipeline) else [self.classifier_]
        n_features, classes = len(self.domain_.features), self.classifier_.classes_
        mean, scale = (scaler[0].mean_, scaler[0].scale_) if scaler else (np.zeros(n_features), np.ones(n_features))
        return ReleasedClassifier(
            origin, classes.copy(), mean.copy(), scale.copy(), RULE_OF[type(classifier)](classifier)
        )

    def _make_classifier(self, labels: np.ndarray) -> BaseEstimator:
        if len(np.unique(labels)) < 2:  # a support vector machine refuses a single class
            return DummyClassifier()
        seed = int(self.seed().generate_state(1)[0])
        classifier = CLASSIFIERS[self.classifier](len(labels), seed)
        return make_pipeline(StandardScaler(), classifier) if self.classifier_scale == "standard" else classifier
