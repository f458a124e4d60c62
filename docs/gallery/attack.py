"""
Attack an algorithm: does it keep the ε that it claims?
=======================================================

An algorithm is ε-private if one record hardly changes what comes out: no event may become more than e^ε times as
likely. So take two tables that differ in one record, train many times on each, and count an event.
"""

# %%
# The audit has pairs of tables that are built to hurt. In the first, the neighbour has one record more, which is alone
# in its leaf: nothing hides it but noise.

from dp_replica.algorithms import EDPRFClassifier, RDTClassifier
from dp_replica.experiments.audit.attacks.black_box import audit_pairs, list_pairs, resize_estimator

pair = list_pairs(EDPRFClassifier())[0]
print(pair.name)
print("in the neighbour only:", set(pair.neighbour) - set(pair.table))

# %%
# Three algorithms claim ε = 1: eDPRF as its paper describes it, our repair of it, and RDT. Each is trained 20,000 times
# on either table. Half of the trainings choose the event that tells the tables apart best, the other half count it.

subjects = {
    "eDPRF, as described": EDPRFClassifier(epsilon=1.0),
    "eDPRF, sound variant": EDPRFClassifier(epsilon=1.0, variant="sound"),
    "RDT": RDTClassifier(epsilon=1.0),
}
findings = {}
for name, estimator in subjects.items():

    def make(pair, estimator=estimator):
        """Return the algorithm, small and ready for the columns of a pair."""
        return resize_estimator(estimator.set_params(domain=pair.domain), pair)

    findings[name] = next(audit_pairs(make, [pair], n=20_000))

for name, finding in findings.items():
    print(f"{name}: {finding.count:,} against {finding.other:,} of {finding.of:,} trainings")
    print(f"    {finding.event}")

# %%
# eDPRF stops where all labels agree, and looks at the labels without noise. So the shape of the tree alone says whether
# the record was there: the root is split in every training with it, and in none without.
#
# From such counts follows a bound: ε is at least this, but for a chance of one in a thousand. So few trainings cannot
# show more than about 7. eDPRF reaches that, and would reach the limit of more trainings, too: it is not private.

import matplotlib.pyplot as plt

names = [f"{name}\nε ≥ {finding.bound:.2f}" for name, finding in findings.items()]
bounds = [finding.bound for finding in findings.values()]
colors = ["tab:red" if finding.verdict == "violated" else "tab:blue" for finding in findings.values()]
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
axes.barh(names, bounds, color=colors)
axes.axvline(1.0, color="black", linestyle="--", label="claimed")
axes.set(xlabel="ε, at least", title="What an attack measured")
axes.legend()
plt.show()

# %%
# A bound below the claim proves nothing: another pair of tables, or more trainings, may show more. ``dp-replica audit``
# attacks each algorithm on all pairs, up to a million times. :doc:`/docs/audit` says what it found.
