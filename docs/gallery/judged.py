"""
Is it true? A paper and its verdicts
====================================

A paper says that its algorithm is private and more accurate. This example reads what became of one, number by number
and claim by claim, and judges a claim of its own on runs that are made here.
"""

# %%
# ``dr.load_paper`` reads the results that come with DP-Replica, or those of a run of yours:
# ``dr.load_paper("results/paper-2")``. Three answers sum a paper up.

import dp_replica as dr

paper = dr.load_paper(2)
print(paper.heading)
for answer in paper.answers:
    print(f"{answer.question:28}{answer.words}")

# %%
# Each claim has a verdict, and in ``reason`` why. A claim that holds under one reading of the text and fails under
# another depends on the reading, and says on which.

shown = ["above-diffprfs-ig", "above-diffprfs-ig-unstopped"]
for _, claim in paper.verdicts.query("id in @shown").iterrows():
    print(f"- {claim['text']}\n  {claim['verdict']} ({claim['runs']:.0f} runs at most)\n")

# %%
# Each printed number against ours: what comes out lies on the diagonal. ``paper.draw("figure-1")`` draws the paper's
# own figures, ``paper.tables`` has its tables.

import matplotlib.pyplot as plt

numbers = paper.numbers[paper.numbers["metric"] == "accuracy"]
figure, axes = plt.subplots(figsize=(6, 6), layout="constrained")
for verdict, rows in numbers.groupby("verdict"):
    axes.plot(100 * rows["mean"], 100 * rows["printed"], "o", label=verdict)
axes.plot([60, 100], [60, 100], color="gray", linewidth=1)
axes.set(xlabel="ours, accuracy (%)", ylabel="printed (%)", title=paper.short_heading)
axes.legend()
plt.show()

# %%
# Runs of any program can be judged. Here are some of ours, and a paper of one claim, as a file: that a random forest
# without privacy is more accurate on Car than the most frequent class.

import tempfile
from pathlib import Path

folder = Path(tempfile.mkdtemp())
(folder / "claim.yaml").write_text(
    """
number: car
title: One claim about Car
repeats: 20
studies:
  forest: {dataset: [car], algorithm: [random_forest, majority], epsilon: [.inf]}
claims:
  - id: better
    text: A random forest is more accurate than the most frequent class.
    says: It learns something.
    source: this example
    kind: above
    study: forest
    better: random_forest
    worse: majority
    within: [dataset]
    metric: accuracy
""",
    encoding="utf-8",
)
runs = dr.run("car", ["random_forest", "majority"], float("inf"), repeats=20, results=folder)
judged = dr.judge(runs, folder / "claim.yaml")
print(judged.verdicts[["text", "verdict", "reason"]].to_string(index=False))

# %%
# :doc:`/docs/papers` says how a paper is written down, and :doc:`/docs/verdicts` what a verdict means.
