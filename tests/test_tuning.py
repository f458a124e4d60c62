"""``conf/tuning.yaml``: every data set of the catalogue is on one side, and none on both."""

from collections import Counter

import pytest

from datasets import catalogue, tuning

SIDES = {"chosen_on": tuning.read_division().chosen_on, "held_out": tuning.read_division().held_out}
LISTED = [
    (name, task) for sets in SIDES.values() for task in ("classification", "regression") for name in getattr(sets, task)
]
NAMES = sorted(path.stem for path in catalogue.FOLDER.glob("*.yaml"))


def test_no_data_set_is_listed_twice():
    counts = Counter(name for name, _ in LISTED)
    assert [name for name, count in counts.items() if count > 1] == []


@pytest.mark.parametrize(("name", "task"), LISTED)
def test_a_listed_data_set_is_in_the_catalogue_under_its_task(name, task):
    assert catalogue.read_entry(name).task == task


@pytest.mark.parametrize("name", NAMES)
def test_every_data_set_is_on_a_side(name):
    assert tuning.find_side(name) in SIDES, f"write {name} into conf/tuning.yaml, on one side"


def test_no_original_file_is_on_both_sides():
    """As files are pinned by their SHA-256, the same rows under two names would show here."""
    files = {side: set() for side in SIDES}
    for name in NAMES:
        files[tuning.find_side(name)] |= set(catalogue.read_entry(name).files.values())
    assert files["chosen_on"] and files["held_out"]
    assert not files["chosen_on"] & files["held_out"]


def test_what_is_made_of_a_listed_set_is_on_its_side_and_what_is_unknown_on_none(monkeypatch):
    assert tuning.find_side("diamonds_cleaned") == tuning.find_side("ihepc_2007h1") == "chosen_on"
    same_rows = ["adult_pooled", "mushroom_complete", "nursery_two_classes", "vote_complete"]
    assert {tuning.find_side(name) for name in same_rows} == {"chosen_on"}
    lists = {side: sets.model_copy(update={"classification": ("car",)}) for side, sets in SIDES.items()}
    division = tuning.read_division().model_copy(
        update={"chosen_on": lists["chosen_on"], "held_out": lists["held_out"]}
    )
    monkeypatch.setattr(tuning, "read_division", lambda: division)
    assert tuning.find_side("letter") is None
