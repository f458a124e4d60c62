"""An estimator that does nothing, to measure what the harness itself costs."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class NothingClassifier(ClassifierMixin, BaseEstimator):
    """Predict the first label of the training rows for every row; it learns nothing and no accuracy is claimed."""

    def fit(self, X, y):
        """Remember one label."""
        self.label_ = y[0]
        return self

    def predict(self, X):
        """Return the same label for every row."""
        return np.full(len(X), self.label_)
