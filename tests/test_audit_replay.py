"""The replay of every private estimator on neighbouring tables: what it must find, and what it must not.

Estimators are those of ``conf/algorithm``: a new one is replayed here without a line being added. All run in one
process without compilation.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.regression.budget import share_of_quadratic
from experiments.audit.neighbouring_tables import build_replay_pairs, make_arrays
from experiments.audit.replay import replay_audit
from experiments.audit.replay.recorder import MAXIMUM, MechanismCall
from experiments.audit.subjects import GRID, Subject, list_subjects
from experiments.config import estimators
from experiments.errors import BadInput
from tests.combined import COMBINED

pytestmark = pytest.mark.long

SOUND_FOREST = {"variant": "sound"}
PLANTED = {  # what must be seen of each fault
    "SensitivityOneForTwo": ({}, {"sensitivity", "account", "claim"}),
    "ChoiceToldOneForTwo": ({}, {"sensitivity", "account", "claim"}),
    "MonotoneOnOneTable": ({}, {"calls"}),
    "MonotoneThatIsNot": ({}, {"sensitivity"}),
    "BudgetNotDivided": ({}, {"account", "claim"}),
    "BoundsOfTheRows": ({}, {"sensitivity", "account", "claim"}),
    "OneNoiseForAllCounts": ({}, {"noise"}),
    "OneStreamForAllTrees": (SOUND_FOREST, {"noise"}),
    "SplitWithoutNoise": ({}, {"release"}),
    "NumberOfRowsUsed": ({}, {"calls"}),
    "InferredDomain": (SOUND_FOREST, {"sensitivity", "calls"}),
    "WholeBudgetForEachTree": (SOUND_FOREST | {"sampling": "all"}, {"account", "claim"}),
    "RowsInBlocks": (SOUND_FOREST, {"sampling"}),
    "RowsInTurns": (SOUND_FOREST, {"sampling"}),
    "RemembersItsRows": (SOUND_FOREST, {"release"}),
    "TellsAnExactSum": (SOUND_FOREST, {"release"}),
    "HalfTheNoise": ({}, {"account", "claim"}),
    "TwoPartsWithTheWholeBudget": ({}, {"account", "claim"}),
}
READINGS = [  # faults that the configured readings do not have
    Subject("author_code", "algorithms.DiffPRFClassifier", {"author_code": True, "criterion": "gini"}),
    Subject("public features", "algorithms.DiffPRFClassifier", {"criterion": "max"}),
    Subject("inferred", "algorithms.RFDPPGiniClassifier", SOUND_FOREST | {"domain": None}),
    Subject("all rows", "algorithms.DiffPETsClassifier", SOUND_FOREST | {"sampling": "all"}),
    Subject("no misdeed", "tests.planted.SoundVotes", {}),
    Subject("leaves drawn in advance", "algorithms.RDTClassifier", {"noise": "opendp"}),
    Subject("nothing left to keys", "algorithms.EDPRFClassifier", SOUND_FOREST | {"noise": "opendp"}),
    Subject("a release", "algorithms.ThriftyTreeClassifier", {"noise": "opendp"}),
    Subject("all features counted", "algorithms.ThriftyBayesClassifier", {"max_features": None}),
    *COMBINED,
    Subject("always a tail", "tests.planted.AlwaysATail", {}),
    Subject("labels by noisy counts", "algorithms.EDPRFClassifier", SOUND_FOREST | {"leaf": "noisy_counts"}),
    Subject("noisy histograms", "algorithms.PrivaTreeClassifier", {"splits": "histograms"}),
    Subject("categories by weight", "algorithms.DPGDFClassifier", {"mechanism": "exponential"}),
    Subject("splits by weight", "algorithms.PFDPDTClassifier", SOUND_FOREST | {"split": "exponential"}),
]
EVERY = list_subjects()


@pytest.fixture(scope="module")
def reports(request):
    """Reports by name, from one child process: of the estimators that some test which was asked for is about."""
    planted = [Subject(name, f"tests.planted.{name}", params) for name, (params, _) in PLANTED.items()]
    asked = {item.callspec.id for item in request.session.items if hasattr(item, "callspec")}
    subjects = [subject for subject in (*EVERY, *READINGS, *planted) if subject.name in asked]
    return {report.name: report for report in replay_audit.replay_in_processes(subjects)}


SHOWN_BY = {
    "exact purity test": {"calls"},
    "exact stop condition": {"calls"},
    "exact final comparison": {"calls", "sensitivity", "release"},
    "exact nominal splits": {"calls", "sensitivity", "release"},
    "interval ends from the rows": {"calls", "told"},
    "cuts from the rows": {"calls", "sensitivity", "release"},
    "sensitivity from the rows": {"told"},
    "sensitivity too small": set(),
    "sensitivity of a noisy count": set(),
    "sensitivity of a leaf's own rows": {"told", "sensitivity"},
    "budget from the rows": {"calls"},
    "bootstrap": {"sampling", "sensitivity", "claim"},
    "exact leaves": {"no noise"},
    "exact choices": {"no noise"},
    "copied rows": {"release"},
    "exact labels": {"release"},
    "scale from the rows": {"release"},
    "ratio from the rows": {"release"},
    "inferred domain": {"calls", "told", "sensitivity", "release"},
    "unused count": set(),
    "height from the rows": set(),
    "budget spent more than once": set(),
    "target in its own unit": set(),
}
"""By which rules a replay can show a confessed fault: a step that reads the rows changes what follows.

A count that nothing uses is paid for and no leak; the height of RDT takes more columns to move by one record; where
RFDPP-Gini or PrivaTree spends more than it says, it has diverged before; information gain moves most where a class is
new. The ledger of a target in its own unit has what it costs, more than is claimed. `test_privatree` has the law where
a sensitivity is that of a noisy count.
"""
LONGEST = {name: math.sqrt(3) for name in ("fm_ball", "diff_lr_ball", "fm:signed_ball", "diff_lr:signed_ball")}
LONGEST |= {name: math.sqrt(3) + 1 for name in ("fm:ball_intercept", "diff_lr:ball_intercept")}
"""How long in L1 the d regressors of a record may be at most, of those told more than they need: in the box it is d.

As in the box, they are told the printed sensitivities, 2d² of M and 4d of b. In the ball three attributes lie in
[0, 1/√3], and an intercept is 1: a record of length s moves M by s² and b by 2s. The corner with the largest target
attains this.
"""


def share_of_the_ledger(name):
    """What the dearest record costs, of what a ledger says that is meant for the box."""
    length, d = LONGEST[name], 4 if name.endswith("intercept") else 3
    share = share_of_quadratic(d, "proportional" if name.startswith("fm") else "optimal")
    return share * (length / d) ** 2 + (1 - share) * length / d


each = pytest.mark.parametrize("subject", [*EVERY, *READINGS], ids=lambda subject: subject.name)


def test_every_private_estimator_in_every_variant_is_replayed():
    targets = {estimators.find_target(name) for name in estimators.list_algorithms()}
    private = {target for target in targets if target.startswith("algorithms.")}
    assert private == {subject.target for subject in EVERY} and len(EVERY) >= 34
    for target in private:
        if "variant" in estimators.list_parameters(target):
            assert {"paper", "sound"} <= {s.params.get("variant", "paper") for s in EVERY if s.target == target}


@each
def test_sound_estimators_pass_and_the_others_show_what_they_confess(subject, reports):
    report = reports[subject.name]
    if math.isinf(report.claimed_epsilon) and not report.faults:  # noise-free by its file: nothing is claimed
        assert report.broken_rules == {"no noise"}
        return
    shown = {fault: SHOWN_BY[fault] for fault in report.faults}
    assert report.broken_rules <= set().union(*shown.values(), {"claim"} if shown else set()), report.failures
    for fault, kinds in shown.items():
        assert not kinds or kinds & report.broken_rules, f"{fault} was not seen"
    assert bool(report.faults) != report.keeps_claim


@each
def test_the_dearest_record_costs_what_the_ledger_says(subject, reports):
    """Where the account is finite, for its own relation and the other; a bootstrap's is about the law of its draws."""
    report = reports[subject.name]
    if "bootstrap" in report.faults or math.isinf(report.accounted[report.neighbours]):
        assert not report.keeps_claim
        return
    for relation, accounted in report.accounted.items():
        assert report.composed[relation] <= accounted * (1 + 1e-9)
    assert report.n_calls >= 1
    share = share_of_the_ledger(subject.name) if subject.name in LONGEST else 1.0
    dearest = share * report.accounted[ADDED_OR_REMOVED]
    assert report.composed[ADDED_OR_REMOVED] == pytest.approx(dearest, rel=1e-9)
    if subject.name not in LONGEST:
        assert report.composed[REPLACED] > report.accounted[REPLACED] / 4


@pytest.mark.parametrize("name", PLANTED)
def test_planted_faults_are_convicted(name, reports):
    report = reports[name]
    assert report.broken_rules & PLANTED[name][1], report.failures
    assert report.keeps_claim and not report.faults  # as it says itself


def test_the_tables_are_neighbours():
    change_of_size = {"added": 1, "removed": -1, "replaced": 0}
    for pair in build_replay_pairs():
        how = pair.name.partition(":")[0]
        assert len(pair.neighbour) - len(pair.table) == change_of_size[how]
        assert pair.neighbours == (REPLACED if how == "replaced" else ADDED_OR_REMOVED)
        X, y = make_arrays(pair.table)
        assert X.shape == (len(y), GRID.shape[1])


def test_what_a_change_costs():
    def call(protected, told, is_choice):
        return MechanismCall("a mechanism", np.array(protected), told, None, is_choice)

    one, other = call([1.0, 2.0], (0.5, 2.0, None), False), call([2.0, 2.5], (0.5, 2.0, None), False)
    assert one.measure_change(other) == 1.5 and one.compute_cost(1.5) == 0.5 * 1.5 / 2 and one.compute_cost(0) == 0
    one, other = call([1.0, 2.0], (0.5, 2.0, None), True), call([2.0, 2.5], (0.5, 2.0, None), True)
    assert one.measure_change(other) == 1.0 and one.compute_cost(1.0) == 0.5 and one.compute_cost(3.0) == 0.75
    one, other = call([1.0, -math.inf], (0.5, 2.0, (1, 0)), True), call([1.0, 7.0], (0.5, 2.0, (1, 0)), True)
    assert one.measure_change(other) == 0  # the second cannot be chosen
    one, other = (
        replace(call(of, (0.5, 1.0, None), True), is_monotone=True) for of in ([1.0, 2.0, 3.0], [2.0, 1.5, 3.0])
    )
    assert one.measure_change(other) == 1.5 == other.measure_change(one)  # one rose by 1, one fell by 0.5
    one, other = (replace(call(of, (0.5, 1.0, None), True), is_monotone=True) for of in ([1.0, 2.0], [1.5, 3.0]))
    assert one.measure_change(other) == 1.0 == other.measure_change(one)
    assert call([1.0], (math.inf, 1.0, None), False).compute_cost(0.1) == math.inf
    one, other = (
        MechanismCall(MAXIMUM, np.array(of), (0.5, 2.0, None), None, False) for of in ([1.0, 2.0], [2.0, 2.5])
    )
    assert one.measure_change(other) == 1.0 and one.compute_cost(1.0) == 0.25


def test_compiled_code_is_refused():
    with pytest.raises(BadInput, match="DPREPLICA_PLAIN"):
        replay_audit.replay_subject(EVERY[0])
