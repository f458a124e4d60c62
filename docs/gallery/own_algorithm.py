"""
Your own algorithm in one file
==============================

An algorithm is a class with ``fit`` and ``predict``, as scikit-learn has them. This example writes one, sets it beside
two of ours, and attacks it.
"""

# %%
# *One question*: guess the class from a single column. Each value of the column has counts of the classes, and each
# count gets Laplace noise. One record is in one count, so noise of scale 1 / ε makes the table of counts ε-private.
# Columns, values and classes come from the domain, never from the rows.

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class OneQuestion(ClassifierMixin, BaseEstimator):
    """Predict the class that is most frequent, by noisy counts, for a value of one column."""

    def __init__(self, column, epsilon=1.0, *, domain=None, random_state=None):
        self.column = column
        self.epsilon = epsilon
        self.domain = domain
        self.random_state = random_state

    def fit(self, X, y):
        """Count the classes for each value of the column, with noise."""
        self.classes_ = np.array(self.domain.target.categories)
        feature = next(feature for feature in self.domain.features if feature.name == self.column)
        self.values_ = np.array(feature.categories)
        is_value = np.asarray(X[self.column])[:, None] == self.values_
        is_class = np.asarray(y)[:, None] == self.classes_
        counts = is_value.T.astype(float) @ is_class
        rng = np.random.default_rng(self.random_state)
        self.noisy_counts_ = counts + rng.laplace(0, 1 / self.epsilon, counts.shape)
        return self

    def predict(self, X):
        """Look each value up."""
        answers = dict(zip(self.values_, self.classes_[self.noisy_counts_.argmax(axis=1)], strict=True))
        return np.array([answers[value] for value in X[self.column]])

    def released_(self):
        """Return all that would be published; the audit attacks exactly that."""
        return {"noisy_counts": self.noisy_counts_}


# %%
# Beside it stand two sound algorithms of ours, on the applications to a nursery school. Health decides most of these.

from sklearn.model_selection import train_test_split

from dp_replica import datasets
from dp_replica.algorithms import ThriftyBayesClassifier, ThriftyTreeClassifier

nursery = datasets.load("nursery")
parts = train_test_split(nursery.frame, nursery.target, test_size=0.3, random_state=0)
X_train, X_test, y_train, y_test = parts
models = {
    "one question: health": OneQuestion("health", domain=nursery.domain),
    "thrifty Bayes": ThriftyBayesClassifier(domain=nursery.domain),
    "thrifty tree": ThriftyTreeClassifier(domain=nursery.domain),
}
budgets = [0.1, 0.3, 1.0, 3.0, 10.0]
means = {name: [] for name in models}
for name, model in models.items():
    for epsilon in budgets:
        runs = []
        for seed in range(10):
            fitted = model.set_params(epsilon=epsilon, random_state=seed).fit(X_train, y_train)
            runs.append(fitted.score(X_test, y_test))
        means[name].append(np.mean(runs))

# %%
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for name, accuracies in means.items():
    axes.plot(budgets, accuracies, marker="o", label=name)
axes.set(xscale="log", xlabel="ε", ylabel="accuracy, mean of ten runs", title="Nursery")
axes.legend()
plt.show()

# %%
# Does it keep its ε? The audit needs no word about what is inside: it trains on two tables that differ in one record,
# and looks at what ``released_`` returns.

from dp_replica.experiments.audit.attacks.black_box import find_refutation, list_pairs, make_observer

pair = list_pairs(models["one question: health"])[0]
model = OneQuestion(pair.domain.features[0].name, epsilon=1.0, domain=pair.domain)
on_neighbour = make_observer(model, pair, pair.neighbour, key=0)
on_table = make_observer(model, pair, pair.table, key=1)
refutation = find_refutation((on_neighbour, on_table), n=2_000, alpha=0.001, claimed=1.0)
print(f"An attack of {refutation.n:,} trainings measured ε ≥ {refutation.bound:.2f} where 1 is claimed.")

# %%
# In a folder of yours, with a YAML file of one line beside it, the class is found by every command, stored, judged and
# audited like ours: see :doc:`/docs/extending`.
