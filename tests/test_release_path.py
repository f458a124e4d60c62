"""Attacks on the way out: those that broke it once must succeed where it is broken again, and fail where it is not."""

import json
import math
import sys
from collections import Counter
from dataclasses import asdict

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from algorithms import Continuous, DiffPETsClassifier, Domain, Nominal, ThriftyTreeClassifier, base
from algorithms.accounting.events import REPLACED
from algorithms.released.forest import ReleasedForest
from experiments.audit import audit_tasks
from experiments.audit.attacks import release_path
from experiments.audit.attacks.release_path import list_release_pairs
from experiments.audit.observe.any_estimator import ANSWER, ANSWERS, EstimatorOnTable
from experiments.audit.outcomes import BoundRow
from experiments.audit.subjects import Subject
from experiments.errors import BadInput
from tests.command_line import exit_code
from tests.plain_python import found_by

pytestmark = pytest.mark.long

PLACES = "first in order, places known"
RELEASES = 64
"""With three pairs of tables at most, what happens always on one table and never on the other shows an ε of 1.08, which
takes 100 releases where an algorithm has all of its pairs, as in the audit."""
MORE_RELEASES = 96
"""Of a broken door: it is found though up to 9 of the 48 releases that are counted are otherwise. One in fifty is,
where noise has a part in the event that is chosen."""
SOUND = {"variant": "sound"}
PLANTED = {
    "RowsBySeed": (SOUND, PLACES),
    "ReadsListsAsOneArray": ({}, "too few cells"),
    "RefusesToTrain": ({}, "a missing number"),
}
KEPT = {
    "EDPRFClassifier": (SOUND, [PLACES, "text among numbers", "an undeclared class"]),
    "ThriftyTreeClassifier": ({}, ["too few cells", "a missing number", "an unreadable cell", "the only record"]),
    "ThriftyBayesClassifier": ({"max_features": 2}, ["too few cells", "an unreadable cell", "the only record"]),
    "BayesFirst": ({}, ["too few cells", "an unreadable cell", "the only record"]),
    "ThriftyTreeRegressor": ({}, ["an unreadable cell", "infinity"]),
    "ThriftyRegressor": ({}, ["too few cells", "infinity", "the only record"]),
    "FunctionalMechanismRegressor": (SOUND, ["infinity", "a number beyond all floats"]),
    "DPCRegressor": ({}, ["replaced by one that cannot be read"]),
}


def attack_all():
    """Print what came out of the doors that are asked for (JSON)."""
    found = []
    for asked in json.load(sys.stdin):
        subject = Subject(asked["name"], asked["target"], asked["params"])
        doors = [door for door in list_release_pairs(subject) if door.name in asked["doors"]]
        broken = [release_path.attack_pair(subject, 1.0, door, len(doors), asked["n"]) for door in doors]
        found += map(asdict, filter(None, broken))
    print(json.dumps(found))


@pytest.fixture(scope="module")
def found():
    asked = [("tests.planted", name, params, [door], MORE_RELEASES) for name, (params, door) in PLANTED.items()]
    modules = {"BayesFirst": "tests.combined"}
    asked += [
        (modules.get(name, "algorithms"), name, params, doors, RELEASES) for name, (params, doors) in KEPT.items()
    ]
    asked = [
        {"name": name, "target": f"{module}.{name}", "params": params, "doors": doors, "n": n}
        for module, name, params, doors, n in asked
    ]
    return [BoundRow(**data) for data in found_by("test_release_path", "attack_all", asked=asked)]


@pytest.mark.parametrize("name", PLANTED)
def test_a_door_that_is_broken_again_is_found(name, found):
    (broken,) = (one for one in found if one.algorithm == name)
    assert (broken.where, broken.verdict) == (PLANTED[name][1], "violated"), broken
    assert broken.bound > 1.0 and broken.count > 0.8 * broken.of and broken.other == 0


@pytest.mark.parametrize("name", KEPT)
def test_a_door_that_holds_is_not_refuted(name, found):
    kept = [one for one in found if one.algorithm == name]
    assert sorted(one.where for one in kept) == sorted(KEPT[name][1])
    for one in kept:
        assert one.verdict == "not refuted" and one.refutable > 1.0, one


def test_a_broken_door_is_an_alarm_of_the_command(found, tmp_path, monkeypatch, capsys):
    """What releases show stands with the other bounds; the exit code says that something sound broke its claim."""
    (broken,) = (one for one in found if one.algorithm == "RowsBySeed")
    held = [one for one in found if one.algorithm == "EDPRFClassifier"]
    monkeypatch.setattr(audit_tasks, "replay_in_processes", lambda subjects, jobs: [])
    codes, told = [], []
    for doors in ([*held, broken], held):
        monkeypatch.setattr(
            audit_tasks, "attack_in_processes", lambda subjects, epsilon, jobs, doors=doors: iter(doors)
        )
        monkeypatch.setattr(audit_tasks.BlackBox, "rows", lambda box, tell: iter(()))
        codes.append(exit_code("do=audit", "algorithm=edprf_sound", "trainings=1000", f"results={tmp_path}"))
        told.append(capsys.readouterr().out)
    assert codes == [1, 0]
    assert "some break their claim" in told[0] and PLACES in told[0] and "none breaks its claim" in told[1]


def test_neighbours_differ_in_one_record():
    for target in ("algorithms.EDPRFClassifier", "algorithms.FunctionalMechanismRegressor"):
        doors = list_release_pairs(Subject("any", target, {}))
        assert len({door.name for door in doors}) == len(doors) >= 12
        for door in doors:
            (X, y), (more_X, more_y) = door.table, door.neighbour
            if door.neighbours == REPLACED:
                assert len(X) == len(more_X) and X[:-1] == more_X[:-1] and list(y) == list(more_y)
                continue
            assert len(X) == len(y) == len(more_X) - 1 == len(more_y) - 1
            rest = [more_y[1:], more_y[:-1]][door.name != PLACES]
            assert list(rest) == list(y)


# What is seen of any estimator.

DOMAIN = Domain((Continuous("x", 0, 1),), Nominal("y", (0, 1)))


class Refuses(ThriftyTreeClassifier):
    def fit(self, X, y):
        if len(X) > 3:
            raise RuntimeError("four rows")
        return super().fit(X, y)


def test_a_fit_that_raises_is_an_outcome_and_so_is_what_it_says():
    observer = EstimatorOnTable(Refuses(1.0, domain=DOMAIN), ([[0.1]] * 4, [0, 1, 0, 1]), [[0.1]], 0)
    seen = observer.observe(0, 5)
    assert (
        len(np.unique(seen.codes[ANSWERS])) == 1 and observer.describe_side(ANSWERS, 3, 0) == "RuntimeError: four rows"
    )
    fewer = EstimatorOnTable(Refuses(1.0, domain=DOMAIN), ([[0.1]] * 3, [0, 1, 0]), [[0.1]], 0).observe(0, 5)
    assert not np.isin(fewer.codes[ANSWERS], seen.codes[ANSWERS]).any()


def test_an_attack_that_could_see_nothing_is_an_error(monkeypatch):
    """A release that never comes, whatever the table, would pass for one that tells nothing."""
    monkeypatch.setattr(ReleasedForest, "predict", lambda self, X: 1 / 0)
    subject = Subject("thrifty_tree", "algorithms.ThriftyTreeClassifier", {})
    door = next(door for door in list_release_pairs(subject) if door.name == "infinity")
    with pytest.raises(RuntimeError, match="no release of thrifty_tree came from the usual table of 'infinity'"):
        release_path.attack_pair(subject, 1.0, door, 1, release_path.RELEASES)


def test_what_has_no_account_cannot_be_refuted():
    observer = EstimatorOnTable(LogisticRegression(), ([[0.1], [0.9]], [0, 1]), [[0.1]], 0)
    with pytest.raises(BadInput, match="has no account"):
        _ = observer.privacy


def test_each_training_has_a_seed_of_its_own_and_the_same_one_again():
    tree = ThriftyTreeClassifier(0.5, domain=DOMAIN)
    observer = EstimatorOnTable(tree, ([[0.1], [0.9]] * 3, [0, 1] * 3), [[0.1], [0.9]], 7)
    seen, again = observer.observe(0, 30), observer.observe(10, 5)
    assert len(np.unique(seen.codes[ANSWERS])) > 1
    assert np.array_equal(seen.codes[ANSWERS][10:15], again.codes[ANSWERS])
    model = tree.set_params(random_state=7).fit([[0.1], [0.9]] * 3, [0, 1] * 3)
    assert observer.describe_side(ANSWER, 0, 0) == str(model.predict([[0.1]])[0])


def test_it_takes_any_estimator():
    observer = EstimatorOnTable(LogisticRegression(), ([[0.1], [0.9]] * 3, [0, 1] * 3), [[0.1]], 0)
    seen = observer.observe(0, 2)
    assert Counter(seen.codes[ANSWER].ravel().tolist()).most_common(1)[0][1] == 2
    shares = np.hstack(list(seen.numbers.values()))
    assert math.isclose(np.nansum(shares[0]), 1.0) and np.isnan(shares[0, 2:]).all()


# The search for a seed.

SEEDS = range(2**11)


def seeds_behind(cut, n_trees):
    """Return the seeds of which the first tree's first cut would be this one, by trying them all."""
    return [seed for seed in SEEDS if first_cut(seed, n_trees) == cut]


def first_cut(seed, n_trees):
    root = np.random.SeedSequence(np.random.RandomState(seed).randint(2**31 - 1))
    rng = np.random.default_rng(root.spawn(n_trees + 1)[1])
    rng.random()  # chooses the only feature
    return rng.random()


def released_cut(**given):
    forest = DiffPETsClassifier(1.0, n_estimators=2, max_depth=1, variant="sound", domain=DOMAIN, noise="opendp")
    release = forest.set_params(**given).fit([[0.1], [0.9]] * 20, [0, 1] * 20).release()
    return release.trees[0].cut[0]


def test_no_seed_is_behind_what_is_released(monkeypatch):
    """Even where the usual draw would be of a seed that was tried."""
    monkeypatch.setattr(base, "check_random_state", lambda seed: np.random.RandomState(7))
    assert seeds_behind(released_cut(), 2) == []
    assert seeds_behind(released_cut(random_state=7), 2) == [7]


def test_the_search_finds_a_seed_that_was_given_which_decides_nothing_secret():
    assert seeds_behind(released_cut(random_state=1234), 2) == [1234]  # tests/test_parts.py: it places no row
