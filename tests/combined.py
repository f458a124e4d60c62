"""Thrifty with each of the parts that may come first, whatever the columns: for tables that would not have it."""

from unittest import mock

from algorithms import ThriftyBayesClassifier, ThriftyClassifier, ThriftyMeansClassifier, ThriftyPairsClassifier
from algorithms.combined import thrifty_classifier
from experiments.audit.subjects import Subject


class BayesFirst(ThriftyClassifier):
    """Naive Bayes, a forest where the budget pays for one, and a vote."""

    FIRST = ThriftyBayesClassifier

    def fit(self, X, y):
        with mock.patch.object(thrifty_classifier, "choose_first", lambda *_: self.FIRST):
            return super().fit(X, y)


class PairsFirst(BayesFirst):
    """Pairs of nominal columns, a forest, and a vote."""

    FIRST = ThriftyPairsClassifier


class MeansFirst(BayesFirst):
    """Means of the classes, a forest, and a vote."""

    FIRST = ThriftyMeansClassifier


COMBINED = [Subject(cls.__name__, f"tests.combined.{cls.__name__}", {}) for cls in (BayesFirst, PairsFirst, MeansFirst)]
