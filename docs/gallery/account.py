"""
Train a private model and read its account
==========================================

A private model has a budget, ε. A small ε protects each row better and costs accuracy. This example shows how much, and
where the budget of a fit went.
"""

# %%
# Nursery has 12,960 applications for a place in a nursery school, and what became of each. The task is to predict that.
# ``load`` also gives the *domain*: the columns with the values that they may have. A domain must be public, because a
# private algorithm may not learn it from the rows.

from sklearn.model_selection import train_test_split

from dp_replica import datasets

nursery = datasets.load("nursery")
parts = train_test_split(nursery.frame, nursery.target, test_size=0.3, random_state=0)
X_train, X_test, y_train, y_test = parts
print(nursery.domain.target)

# %%
# The thrifty tree is sound: its account covers all that it takes from the rows. It is a classifier like those of
# scikit-learn, and takes ``epsilon`` and ``domain``.

from dp_replica.algorithms import ThriftyTreeClassifier

tree = ThriftyTreeClassifier(epsilon=1.0, domain=nursery.domain, random_state=0).fit(X_train, y_train)
print(f"{tree.score(X_test, y_test):.3f} of the test rows are right")

# %%
# After the fit, ``privacy_`` is its account: each step, what it asked of the rows, and what that costs. The sum may not
# exceed what the algorithm claims.

print(tree.privacy_)

# %%
# Now the budget changes. Each fit draws noise, so each ε is tried ten times: one run says little. The line is the mean,
# the band reaches from the worst run to the best.

import matplotlib.pyplot as plt
import numpy as np

budgets = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0]
accuracies = np.zeros((len(budgets), 10))
for i, epsilon in enumerate(budgets):
    for seed in range(10):
        tree = ThriftyTreeClassifier(epsilon=epsilon, domain=nursery.domain, random_state=seed)
        accuracies[i, seed] = tree.fit(X_train, y_train).score(X_test, y_test)

majority = (y_test == y_train.mode()[0]).mean()
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.fill_between(budgets, accuracies.min(axis=1), accuracies.max(axis=1), alpha=0.2)
axes.plot(budgets, accuracies.mean(axis=1), marker="o", label="thrifty tree, mean of ten runs")
axes.axhline(majority, color="gray", linestyle="--", label="always the most frequent class")
axes.set(xscale="log", xlabel="ε", ylabel="accuracy", title="Nursery: what a budget buys")
axes.legend()
plt.show()

# %%
# Below ε = 0.1 accuracy falls fast, and one run may differ much from the next. :doc:`/docs/algorithms` says which model
# to take. Noise of this example comes from numpy, so that it can be repeated; :doc:`/docs/releasing` has the noise for
# a model that you publish.
