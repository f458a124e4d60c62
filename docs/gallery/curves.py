"""
What does a budget buy? Six methods on one table
================================================

A sweep runs every combination of some settings, several times each, and keeps every finished run. This example sets six
private methods beside each other, and asks whether the best of them is really better.
"""

# %%
# ``dr.run`` is the command ``dp-replica run``: data sets, algorithms and budgets, by the names of the catalogue. Repeat
# 3 has the same training rows for all methods. The runs are kept in a folder, here one that is thrown away; give
# ``results="results"`` and the next call, or the command line, goes on from there.

import tempfile

import dp_replica as dr

methods = ["thrifty", "thrifty_tree", "rdt", "privatree:sound", "rfdpp_gini:sound", "edprf:sound"]
budgets = [0.1, 0.3, 1, 3, 10]
frame = dr.run("nursery", methods, budgets, repeats=5, results=tempfile.mkdtemp())
frame = frame[frame["metric"] == "accuracy"]
print(frame[["algorithm", "epsilon", "repeat", "value"]].head())

# %%
# A point is the mean of five runs, its bar the 95 % interval of that mean.

import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(9, 5), layout="constrained")
dr.plot_curves(frame, x="epsilon", by="algorithm", axes=axes)
axes.set_title("Nursery: six private classifiers")
plt.show()

# %%
# Two methods are compared in pairs of runs on the same rows. ``dr.compare`` takes two tables of the same settings, so
# each method is given the same name first. A change that is called *beyond noise* is so by chance in one of twenty
# cases at most, all budgets together.

first = frame[frame["algorithm"] == "thrifty"].assign(algorithm="a method")
second = frame[frame["algorithm"] == "rdt"].assign(algorithm="a method")
settings = ["dataset", "algorithm", "epsilon", "repeat", "metric", "value"]
changes = dr.compare(first[settings], second[settings])
shown = ["epsilon", "n", "mean_a", "mean_b", "change", "low", "high", "verdict"]
print(changes[shown].round(3).to_string(index=False))

# %%
# :doc:`/docs/python` has all that Python can ask for, and :doc:`/docs/algorithms` which method to take.
