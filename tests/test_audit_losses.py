"""Exact losses of whole trainings, and the search for the tables on which they prove most.

Laws stand beside formulas written here; losses beside what follows from their being logarithms of likelihood ratios:
on average over trainings, exp(-loss) is 1. Trainings run in two processes without compilation.
"""

import math
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest

from algorithms import Continuous, EDPRFClassifier, FunctionalMechanismRegressor, RDTClassifier
from algorithms.accounting.events import ADDED_OR_REMOVED, RELATIONS, REPLACED
from experiments.audit import audit_tasks, hunt, neighbouring_tables, table_templates
from experiments.audit.attacks.black_box import list_pairs, resize_estimator
from experiments.audit.audit_tasks import AuditPlan
from experiments.audit.hunt import (
    compute_provable_epsilon,
    improve_template,
    list_sound_forests,
    list_starts,
    vary_template,
)
from experiments.audit.outcomes import BoundRow, bound_epsilon_by_counts, find_largest_losses, read_claim
from experiments.audit.replay.exact_losses import (
    align_tables,
    compute_call_loss,
    sample_losses,
    sample_losses_in_processes,
)
from experiments.audit.replay.recorder import MechanismCall
from experiments.audit.report import AuditResult, format_report, write_summary
from experiments.audit.table_templates import (
    TableTemplate,
    load_searched_pairs,
    read_entries,
)
from experiments.errors import BadInput
from tests.planted import HalfTheScale, SoundVotes, TwiceInTheLeaves

pytestmark = pytest.mark.long

TIE = TableTemplate((1,), 2, (((0, 0), 6), ((0, 1), 5)), gained=(0, 1), splits=0)
SWAP = replace(TIE, lost=(0, 0))
SEARCHED = sorted({entry["algorithm"] for entry in read_entries() if entry["worth"] <= 1})
"""Names of all sound forests, as a test shows; to ask the forests takes a fit of each."""
SMALL = 5
"""Trainings on each pair."""
AGAIN = 200
"""Trainings where an average is taken."""
ONE_COLUMN = TIE.build_pair()
AVERAGED = {
    "thrifty_tree": neighbouring_tables.CLASSIFICATION_PAIRS[5],
    "edprf_sound": neighbouring_tables.CLASSIFICATION_PAIRS[7],
    "rfdpp_gini_sound": neighbouring_tables.CLASSIFICATION_PAIRS[4],
    "diffpets_regressor_sound": neighbouring_tables.REGRESSION_PAIRS[0],
    "thrifty_tree_regressor": neighbouring_tables.REGRESSION_PAIRS[0],
    "diffprfs_max_sound": neighbouring_tables.CLASSIFICATION_PAIRS[-1],
}
PLANTED = {
    "sound votes": (SoundVotes(1.0), ONE_COLUMN),
    "half the scale": (HalfTheScale(1.0), ONE_COLUMN),
    "sound labels": (EDPRFClassifier(1.0, n_estimators=1, max_depth=1, variant="sound"), ONE_COLUMN),
    "twice in the leaves": (TwiceInTheLeaves(1.0, n_estimators=1, max_depth=1, variant="sound"), ONE_COLUMN),
    "a regression": (FunctionalMechanismRegressor(1.0, variant="sound"), neighbouring_tables.MOMENT_PAIRS[1]),
    "not sound": (EDPRFClassifier(1.0, n_estimators=1, max_depth=2), neighbouring_tables.CLASSIFICATION_PAIRS[0]),
}


sound_forests = cache(list_sound_forests)


def forest(name, pair):
    return resize_estimator(sound_forests()[name].build(epsilon=hunt.EPSILON), pair, sound_forests()[name].params)


def tables_of(name):
    return (*list_pairs(sound_forests()[name].build(epsilon=hunt.EPSILON)), *load_searched_pairs(name))


@pytest.fixture(scope="module")
def lost():
    """Losses by what was trained: on all pairs of the sound forests, more of some, and of planted ones."""
    every = [(name, pair) for name in sound_forests() for pair in tables_of(name)]
    asked = {(name, pair.name): (forest(name, pair), pair, SMALL) for name, pair in every}
    asked |= {name: (forest(name, pair), pair, AGAIN) for name, pair in AVERAGED.items()}
    asked |= {name: (*planted, 60) for name, planted in PLANTED.items()}
    return dict(zip(asked, sample_losses_in_processes(list(asked.values()), jobs=2), strict=True))


# Laws.


def loss_between(mechanism, values, others, told, outcome, monotone=False):
    some, more = (MechanismCall(mechanism, np.array(v, float), told, outcome, True, monotone) for v in (values, others))
    return compute_call_loss(some, more)


def softmax(quality, weight):
    return np.array(weight) * np.exp(quality) / (np.array(weight) * np.exp(quality)).sum()


@pytest.mark.parametrize("monotone, rate", [(False, 0.25), (True, 0.5)])
def test_choices_lose_what_the_closed_forms_say(monotone, rate):
    told, weight = (1.0, 2.0, (1.0, 3.0, 0.5)), (1.0, 3.0, 0.5)
    some, other = np.array([1.0, 2.0, 4.0]), np.array([1.5, 2.0, 3.0])
    for outcome in range(3):
        expected = math.log(softmax(rate * some, weight)[outcome] / softmax(rate * other, weight)[outcome])
        assert loss_between("exponential", some, other, told, outcome, monotone) == pytest.approx(expected)
    # Of two, the worse one is drawn with half of exp(-rate gap).
    expected = math.log((1 - math.exp(-rate * 3) / 2) / (1 - math.exp(-rate * 1) / 2))
    lost = loss_between("permute_and_flip", [1.0, 4.0], [1.0, 2.0], (1.0, 2.0, None), 1, monotone)
    assert lost == pytest.approx(expected)
    lost = loss_between("permute_and_flip", [1.0, 4.0], [1.0, 2.0], (1.0, 2.0, None), 0, monotone)
    assert lost == pytest.approx(-2 * rate)


def test_numbers_lose_what_the_closed_forms_say():
    told, outcome = (0.5, 2.0, None), np.array([1.0, 5.0])
    for mechanism in ("laplace_vector", "laplace_of"):
        lost = loss_between(mechanism, [1.0, 3.0], [2.0, 7.0], told, outcome)
        assert lost == pytest.approx(0.25 * ((1 + 2) - (0 + 2)))
    assert loss_between("sup_norm_vector", [1.0, 3.0], [2.0, 9.0], told, outcome) == pytest.approx(0.25 * (4 - 2))
    assert loss_between("laplace", [3.0], [3.0], (math.inf, 1.0, None), 3.0) == 0
    assert loss_between("laplace", [3.0], [2.0], (math.inf, 1.0, None), 3.0) == math.inf


def test_a_law_that_is_told_another_budget_counts_that_too():
    some = MechanismCall("laplace", np.array([3.0]), (1.0, 1.0, None), 3.0, False)
    other = replace(some, parameters=(0.5, 1.0, None))
    assert compute_call_loss(some, other) == pytest.approx(math.log(2))  # half of the density, at the middle


# Losses of trainings.


@pytest.mark.parametrize("name", SEARCHED)
def test_no_training_of_a_sound_forest_loses_more_than_it_claims(name, lost):
    for pair in tables_of(name):
        privacy = hunt._read_privacy(sound_forests()[name].build(epsilon=hunt.EPSILON))
        seen = lost[name, pair.name]
        assert len(seen) == SMALL and np.abs(seen).max() <= read_claim(privacy, pair.neighbours) * (1 + 1e-9)
        assert read_claim(privacy, pair.neighbours) == privacy.accounted(pair.neighbours)


@pytest.mark.parametrize("name", [*AVERAGED, "sound votes", "half the scale", "a regression"])
def test_on_average_the_neighbour_is_as_likely_as_it_must_be(name, lost):
    ratios = np.exp(-lost[name])
    assert abs(ratios.mean() - 1) <= 4 * ratios.std() / math.sqrt(len(ratios))
    assert ratios.std() > 0


def test_losses_of_planted_faults_exceed_their_claim_and_those_of_sound_ones_do_not(lost):
    assert np.abs(lost["sound votes"]).max() == pytest.approx(1.0)
    assert np.abs(lost["half the scale"]).max() == pytest.approx(2.0)
    assert 0.95 <= np.abs(lost["sound labels"]).max() <= 1 + 1e-9
    assert np.abs(lost["twice in the leaves"]).max() >= 1.85
    assert np.abs(lost["a regression"]).max() <= 1 + 1e-9
    assert np.isinf(lost["not sound"]).any()  # an exact stop: the neighbour would ask something else


def test_tables_are_laid_out_alike():
    for pair in (*neighbouring_tables.CLASSIFICATION_PAIRS, *neighbouring_tables.REGRESSION_PAIRS):
        neighbour, table = align_tables(pair)
        assert sorted(map(str, neighbour)) == sorted(map(str, pair.neighbour))
        assert sorted(map(str, table)) == sorted(map(str, pair.table))
        assert neighbour[: len(neighbour) - 1] == table[: len(neighbour) - 1]


def test_compiled_code_is_refused():
    with pytest.raises(BadInput, match="DPREPLICA_PLAIN"):
        sample_losses(RDTClassifier(), ONE_COLUMN, 1)
    with pytest.raises(BadInput, match="DPREPLICA_PLAIN=1 dp-replica hunt"):
        hunt.hunt_pairs([], 1)
    assert sample_losses_in_processes([]) == []


# The search.


def test_what_can_be_proved_is_what_the_law_allows():
    p, loss = 0.2, 0.8
    rest = -math.log((1 - p * math.exp(-loss)) / (1 - p))
    sample = np.repeat([loss, rest], [2_000, 8_000])
    counts = 1_000 * p, 1_000 * p * math.exp(-loss)
    exact = float(bound_epsilon_by_counts(*counts, 1_000, 0.01))
    assert 0.9 * exact <= compute_provable_epsilon(sample, 1_000, 0.01) <= exact
    assert compute_provable_epsilon(-sample, 1_000, 0.01) > 0  # the other way round
    assert compute_provable_epsilon(np.zeros(100)) == 0.0


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("is_regression", [False, True])
def test_a_walk_of_templates_stays_among_neighbours(relation, is_regression):
    rng = np.random.default_rng(0)
    for start in list_starts(is_regression, relation):
        template = start
        for _ in range(100):
            template = vary_template(template, rng)
            pair = template.build_pair()
            assert template.is_valid and pair.neighbours == relation == template.neighbours
            assert len(pair.neighbour) == template.n_records
            assert isinstance(pair.domain.target, Continuous) == is_regression
            assert TableTemplate.from_entry(template.to_entry()) == template


def test_a_search_finds_a_better_pair_and_the_same_one_again():
    def worth(template, least):
        return float(template.n_records == 40) + min(template.n_records, 40) / 100

    ends = [improve_template(TIE, worth, 1.4, 200, np.random.default_rng(5)) for _ in range(2)]
    assert ends[0] == ends[1] and worth(ends[0], 0) > worth(TIE, 0)
    best, other = hunt.choose_starts([TIE, ends[0], SWAP], worth, 2)
    assert best == ends[0] and other in (TIE, SWAP)


def test_templates_that_are_no_neighbours_are_refused():
    no_claim = replace(TIE, epsilon=0.0), replace(TIE, epsilon=math.inf)
    for wrong in (replace(TIE, gained=(0, 2)), replace(SWAP, lost=SWAP.gained), replace(TIE, columns=()), *no_claim):
        assert not wrong.is_valid
    with pytest.raises(ValueError, match="no pair of neighbouring tables"):
        TableTemplate.from_entry(TIE.to_entry() | {"gained": [0, 7]})


def test_what_was_found_loads_and_is_about_every_sound_forest():
    entries = read_entries()
    found = [(entry["algorithm"], "lost" in entry) for entry in entries if entry["algorithm"] in sound_forests()]
    assert sorted(found) == sorted(product(sound_forests(), (False, True)))
    assert {entry["algorithm"] for entry in entries} - set(sound_forests()) == {"privatree", "vaidya_bayes"}
    for entry in entries:
        assert (0 < entry["worth"] <= 1) == (entry["algorithm"] in sound_forests())
        template = TableTemplate.from_entry(entry)
        said = ("algorithm", "note", "worth")
        assert template.to_entry() == {key: value for key, value in entry.items() if key not in said}
    for name in sound_forests():
        more, other = load_searched_pairs(name)
        assert (more.neighbours, other.neighbours) == (ADDED_OR_REMOVED, REPLACED)
        for pair in (more, other):
            X, y = neighbouring_tables.split_targets(pair.domain, pair.neighbour)
            pair.domain.rows(X, y).matrix()
            assert len(pair.neighbour) - len(pair.table) == (pair is more)
    assert load_searched_pairs("rfdpp_gini") == ()


def test_the_file_is_as_it_is_written_notes_included(tmp_path, monkeypatch):
    file, written = table_templates.SEARCHED_PAIRS, tmp_path / "pairs.yaml"
    written.write_bytes(file.read_bytes())
    monkeypatch.setattr(table_templates, "SEARCHED_PAIRS", written)
    read_entries.cache_clear()
    try:
        table_templates.keep_entries([])
        assert any("note" in entry for entry in read_entries())
    finally:
        read_entries.cache_clear()
    assert written.read_bytes() == file.read_bytes()


def test_what_is_found_anew_takes_the_place_of_what_was(tmp_path, monkeypatch):
    monkeypatch.setattr(table_templates, "SEARCHED_PAIRS", tmp_path / "pairs.yaml")
    read_entries.cache_clear()
    try:
        assert read_entries() == []
        table_templates.keep_entries(
            {"algorithm": "b", "worth": worth, **kept.to_entry()} for worth, kept in ((0.5, TIE), (0.7, SWAP))
        )
        table_templates.keep_entries(
            {"algorithm": name, "worth": worth, **TIE.to_entry()} for name, worth in (("a", 0.1), ("b", 0.6))
        )
        assert [(one["algorithm"], one["worth"]) for one in read_entries()] == [("a", 0.1), ("b", 0.6), ("b", 0.7)]
        at_budgets = [replace(TIE, epsilon=epsilon).to_entry() for epsilon in (0.1, 0.01)]
        table_templates.keep_entries({"algorithm": "b", "worth": 2.0, **entry} for entry in at_budgets)
        (_, *found) = read_entries()
        assert [entry.get("epsilon") for entry in found] == [0.01, 0.1, None, None]
        assert [pair.name for pair in load_searched_pairs("b")][1:3] == [
            "searched, a record more, at ε = 0.1",
            "searched, a record more",
        ]
    finally:
        read_entries.cache_clear()


# What is told of them.


def row(**given):
    kept = {"layer": "black box", "algorithm": "a", "params": "{}", "epsilon": 1.0, "claimed": 1.0, "accounted": 1.0}
    kept |= {"keeps_claim": True, "neighbours": ADDED_OR_REMOVED, "where": "here", "event": "it rains", "n": 10}
    kept |= {"count": 4, "of": 5, "other": 3, "other_of": 5, "bound": 0.5, "refutable": 2.0, "verdict": "not refuted"}
    return BoundRow(**(kept | given))


def test_the_largest_loss_is_shown_with_its_pair(tmp_path):
    rows = [row(loss=0.6), row(where="there", loss=0.7, bound=0.4), row(algorithm="b", keeps_claim=False)]
    assert find_largest_losses(rows) == {("black box", "a", ADDED_OR_REMOVED): (0.7, "there")}
    found = AuditResult(rows, [], [], versions={"a": "a-1"})
    lines = format_report(found).splitlines()
    assert any("exact loss" in line for line in lines) and any("0.700 (there)" in line for line in lines)
    summary, _ = write_summary(found, tmp_path, {})
    header, first, second = summary.read_text().splitlines()
    assert header.endswith(",verdict,loss,loss_where,reason,version")
    measured = "nothing above 0.50 in 10 trainings, where 1 is claimed"
    assert first.endswith(f',not refuted,0.7,there,"{measured}",a-1')
    assert second.endswith(f',unproven,,,"{measured}; its own account does not back its claim",')


def test_a_loss_above_a_sound_claim_is_an_alarm():
    assert not AuditResult([row(loss=1.0)], [], []).is_alarming
    assert AuditResult([row(loss=1.1)], [], []).is_alarming


def test_the_command_samples_losses_of_sound_forests_only(monkeypatch):
    asked = []

    def many(trainings, jobs):
        asked.extend(trainings)
        return [np.array([-0.3, 0.1]) for _ in trainings]

    monkeypatch.setattr(audit_tasks, "sample_losses_in_processes", many)
    tasks = audit_tasks.plan_tasks(AuditPlan(("rdt", "rfdpp_gini", "fm"), trainings=2000))
    boxes = [task for task in tasks if isinstance(task, audit_tasks.BlackBox)]
    random_trees = row(algorithm="rdt", where="first in order")
    rows = [random_trees, row(algorithm="rfdpp_gini", keeps_claim=False), row(algorithm="fm")]
    losses_ = [one.loss for one in audit_tasks.add_largest_losses(rows, boxes)]
    assert losses_[0] == 0.3 and np.isnan(losses_[1:]).all()
    assert len(asked) == len(neighbouring_tables.CLASSIFICATION_PAIRS) + 2 and {n for *_, n in asked} == {40}
