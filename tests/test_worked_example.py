"""The worked example runs from its own folder, and every number and claim of its paper gets a verdict."""

import csv
import json
from pathlib import Path

import pandas as pd
import pytest
import yaml

import datasets
from datasets import download, source
from documents import search_path
from experiments.peers import process
from tests.command_line import exit_code

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "privatree"
PAPER = yaml.safe_load((EXAMPLE / "paper" / "privatree.yaml").read_text(encoding="utf-8"))


def read_rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


@pytest.fixture
def its_folder(monkeypatch):
    """The catalogue with the example's folder, as --config-dir adds it."""
    monkeypatch.setenv(search_path.VARIABLE, str(EXAMPLE))


@pytest.fixture
def no_files(monkeypatch, tmp_path):
    """A machine without original files, cache and network: of the four data sets it has the one in the folder."""
    monkeypatch.setattr(source, "list_folders", list)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def refuse(entry, reader):
        raise datasets.DataUnavailable(f"{entry.name}: no network; {source.describe_remedy(entry)}")

    monkeypatch.setattr(download, "fetch_table", refuse)
    datasets.load.cache_clear()
    yield
    datasets.load.cache_clear()


@pytest.mark.long
def test_it_runs_where_only_its_own_table_is_and_names_what_is_missing(no_files, tmp_path, capfd):
    words = ("--config-dir", EXAMPLE, "paper=privatree", "repeats=1", f"results={tmp_path}", "executor.jobs=1")
    assert exit_code(*words) == 1, "three data sets are missing"
    said = " ".join(capfd.readouterr().err.split())
    for name, entry in [("adult_pooled", "adult"), ("mushroom_complete", "mushroom"), ("vote_complete", "congvote")]:
        assert f"{name}: no network; put the original" in said
        assert f"into data/{entry}/" in said

    numbers = read_rows(tmp_path / "paper-privatree" / "numbers.csv")
    assert list(numbers) == list(read_rows(EXAMPLE / "paper" / "privatree.csv"))
    without_rows = {name: row["verdict"] for name, row in numbers.items() if not name.startswith("nursery")}
    assert set(without_rows.values()) == {"not run"}
    assert (numbers["nursery-rows"]["verdict"], numbers["nursery-features"]["verdict"]) == ("reproduced", "reproduced")
    for name in ("nursery-tree-0.01", "nursery-tree-1"):
        assert (float(numbers[name]["mean"]), numbers[name]["verdict"]) == (1, "undecided"), "one repeat, no interval"
    of_peer = {numbers[f"nursery-diffprivlib-{epsilon}"]["verdict"] for epsilon in ("0.01", "1")}
    assert of_peer == {"not run" if process.explain_missing() else "undecided"}

    claims = json.loads((tmp_path / "paper-privatree" / "claims.json").read_text(encoding="utf-8"))["claims"]
    verdicts = {claim["id"]: claim["verdict"] for claim in claims}
    assert list(verdicts) == [claim["id"] for claim in PAPER["claims"]]
    assert set(verdicts.values()) <= {"undecided", "not run"}


def test_its_two_classes_of_nursery_are_those_of_the_original_rows(its_folder):
    ours, original = datasets.load("nursery_two_classes"), datasets.load("nursery")
    pd.testing.assert_frame_equal(ours.frame, original.frame)
    assert ((original.target == "not_recom") == (ours.target == "not_recom")).all()
    assert ours.target.value_counts().to_dict() == {"other": 8640, "not_recom": 4320}


def test_its_printed_numbers_all_name_their_table_and_page():
    rows = read_rows(EXAMPLE / "paper" / "privatree.csv")
    tables = {"table-4": "Table IV, page 2", "table-6": "Table VI, page 4", "table-7": "Table VII, page 5"}
    assert [row["id"] for row in rows.values() if not row["source"].startswith(f"{tables[row['table']]} of")] == []
