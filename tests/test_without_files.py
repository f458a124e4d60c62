"""A paper runs where most of its data sets cannot be had: it says which, and why, and judges what is left."""

import csv
import json
from functools import partial

import pytest
import yaml

import datasets
from datasets import download, source
from experiments.config.paths import ROOT
from experiments.peers import process
from plots.pages import paper_results
from plots.pages.drawings import draw_exhibits
from tests.command_line import exit_code
from tests.load_anew import forget_tables

CLAIMS = yaml.safe_load((ROOT / "conf" / "paper" / "6.yaml").read_text(encoding="utf-8"))["claims"]


def read_rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


@pytest.fixture
def no_files(monkeypatch, tmp_path):
    """A machine without original files, cache and network: of six data sets it has the one that is embedded."""
    monkeypatch.setattr(source, "list_folders", list)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def refuse(entry, reader):
        raise datasets.DataUnavailable(f"{entry.name}: no network; {source.describe_remedy(entry)}")

    monkeypatch.setattr(download, "fetch_table", refuse)
    monkeypatch.setattr(paper_results, "draw_exhibits", partial(draw_exhibits, endings=("svg",)))
    forget_tables()
    yield
    forget_tables()


@pytest.mark.long
def test_it_runs_where_only_one_table_is_and_names_what_is_missing(no_files, tmp_path, capfd):
    assert exit_code("paper=6", "repeats=1", f"results={tmp_path}", "executor.jobs=1") == 1, "data sets are missing"
    said = " ".join(capfd.readouterr().err.split())
    for name, folder in [("adult_pooled", "adult"), ("mushroom_complete", "mushroom"), ("vote_complete", "congvote")]:
        assert f"{name}: no network; put the original" in said
        assert f"into data/{folder}/" in said

    numbers = read_rows(tmp_path / "paper-6" / "numbers.csv")
    assert list(numbers) == list(read_rows(ROOT / "results" / "reported" / "paper-6.csv"))
    without_rows = {name: row["verdict"] for name, row in numbers.items() if not name.startswith("nursery")}
    assert set(without_rows.values()) == {"not run"}
    assert (numbers["nursery-rows"]["verdict"], numbers["nursery-features"]["verdict"]) == ("reproduced", "reproduced")
    for name in ("nursery-tree-0.01", "nursery-privatree-1"):
        assert (float(numbers[name]["mean"]), numbers[name]["verdict"]) == (1, "undecided"), "one repeat, no interval"
    of_peer = {numbers[f"nursery-diffprivlib-{epsilon}"]["verdict"] for epsilon in ("0.01", "1")}
    assert of_peer == {"not run" if process.explain_missing() else "undecided"}

    claims = json.loads((tmp_path / "paper-6" / "claims.json").read_text(encoding="utf-8"))["claims"]
    verdicts = {claim["id"]: claim["verdict"] for claim in claims}
    assert list(verdicts) == [claim["id"] for claim in CLAIMS]
    of_runs = {verdicts[claim["id"]] for claim in CLAIMS if claim["kind"] != "exact"}
    assert of_runs <= {"undecided", "not run"}
