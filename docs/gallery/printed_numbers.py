"""
Printed numbers beside ours
===========================

Every paper has a published run. This example reads one file of it and draws what paper 2 prints against what came out.
"""

# %%
# ``numbers.csv`` has one row for each printed number: where it is printed, the mean of our runs with its interval, and
# the verdict. Paper 2 is about RFDPP-Gini, a random forest. Its Table 2 has accuracies on Adult.

import pandas as pd

from dp_replica.experiments.config.paths import ROOT

numbers = pd.read_csv(ROOT / "results" / "reference" / "paper-2" / "numbers.csv")
depths = numbers.query("dataset == 'adult' and metric == 'accuracy' and epsilon == 0.05")
depths = depths.assign(depth=depths["params.max_depth"].astype(int)).round(3)
shown = ["depth", "printed", "mean", "prediction_low", "prediction_high", "verdict"]
print(depths[shown].to_string(index=False))

# %%
# A printed number holds if it lies where a run of ours would fall: between ``prediction_low`` and ``prediction_high``.
# These bounds hold the noise of their runs and of ours. Here every printed number fails: the file says *refuted*.

import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
reach = [depths["mean"] - depths["prediction_low"], depths["prediction_high"] - depths["mean"]]
axes.errorbar(depths["depth"], depths["mean"], yerr=reach, fmt="o", capsize=4, label="ours, and where a run would fall")
axes.plot(depths["depth"], depths["printed"], "x", color="black", markersize=8, label="printed")
axes.set(xlabel="depth of the trees", ylabel="accuracy", title="Paper 2: RFDPP-Gini on Adult, ε = 0.05")
axes.legend(loc="lower left")
plt.show()

# %%
# The deeper the trees, the smaller the share of ε that a count gets. Our numbers get worse with depth, the printed ones
# do not.

difference = 100 * (depths["printed"] - depths["mean"])
print(f"At depth 3 the print is {difference.iloc[0]:.0f} points above our mean, at depth 10 {difference.iloc[-1]:.0f}.")

# %%
# :doc:`/results/reference/paper-2/README` has all numbers and claims of the paper.
