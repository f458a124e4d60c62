"""What is current: versions of cells and algorithms, files that somebody's code reads, runs anew, and the export."""

import itertools
import json
import os
import sys
from dataclasses import replace

import duckdb
import pytest

from algorithms.source_walk import code_without_words
from documents import search_path
from experiments.audit.private_as_claimed import sum_up_privacy
from experiments.audit.report import AuditResult
from experiments.audit.subjects import find_configured_version, find_version, read_small
from experiments.cells import code_version, current, inputs
from experiments.cells.cell import Cell
from experiments.commands.audit import _gather_facts
from experiments.config import estimators
from experiments.run.executors.executor import Executor
from experiments.run.run_studies import Rounds
from experiments.run.runner import run_cells
from experiments.store.database import Store
from experiments.store.long_table import long_table
from experiments.store.record import Measured, Record
from tests.command_line import exit_code

READING = '''"""Always names one class, which files say."""

import importlib
import json
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

HERE = Path(__file__).parent
EARLY = json.loads((HERE / "early.json").read_text())


class Reading(ClassifierMixin, BaseEstimator):
    """Name the class of a number in files."""

    def fit(self, X, y):
        """Read."""
        late = json.loads((HERE / "late.json").read_text())
        with (HERE / "log.txt").open("a") as log:
            log.write("one more\\n")
        (HERE / "log.txt").read_text()
        self.classes_ = np.unique(y)
        self.place_ = EARLY + late + importlib.import_module("HELPER").NUMBER
        return self

    def predict(self, X):
        """Name it."""
        return np.full(len(X), self.classes_[self.place_ % len(self.classes_)])
'''
ONE = Executor(jobs=1)
NUMBERS = itertools.count()


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder with an algorithm ``reading`` in modules of names that no other test has."""
    folder, number = tmp_path / "own", next(NUMBERS)
    (folder / "algorithm").mkdir(parents=True)
    module, helper = f"reading_{number}", f"helper_of_reading_{number}"
    for name in ("early", "late"):
        (folder / f"{name}.json").write_text("0", encoding="utf-8")
    (folder / f"{helper}.py").write_text("NUMBER = 0\n", encoding="utf-8")
    (folder / f"{module}.py").write_text(READING.replace("HELPER", helper), encoding="utf-8")
    (folder / "algorithm" / "reading.yaml").write_text(f"_target_: {module}.Reading\n", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [*sys.path])
    for variable in search_path.describe_environment():
        monkeypatch.setenv(variable, "")
    search_path.use_folders([folder])
    return folder


def make_cells(n=2):
    return [Cell("car", "reading", {}, 1.0, repeat) for repeat in range(n)]


def run(store, cells=None):
    return run_cells(cells or make_cells(), store, ONE).done


# ------------------------------------------------------------------------------------------------ files that are read


@pytest.mark.parametrize("name", ["early.json", "late.json", "helper"])
def test_a_file_that_own_code_reads_makes_its_cells_run_again_when_it_changes(own, tmp_path, name):
    with Store(tmp_path / "store.sqlite") as store:
        assert (run(store), run(store)) == (2, 0)
        path = next(own.glob("helper_*.py")) if name == "helper" else own / name
        path.write_text(path.read_text(encoding="utf-8").replace("0", "1"), encoding="utf-8")
        assert current.has_outdated_files(make_cells()[0], read_details(store))
        assert run(store) == 2


def read_details(store):
    (record, *_) = store.get([make_cells()[0].key]).values()
    return record.measured.details


def test_what_is_read_is_named_from_the_folder_and_not_what_is_written_or_imported(own, tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        run(store)
        (helper,) = (path.name for path in own.glob("helper_*.py"))
        assert list(read_details(store)["read"]) == ["early.json", helper, "late.json"]


def test_comments_and_files_that_stay_the_same_change_nothing(own, tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        run(store)
        (helper,) = own.glob("helper_*.py")
        helper.write_text('"""Words."""\nNUMBER = 0  # more words\n', encoding="utf-8")
        (own / "late.json").write_text("0", encoding="utf-8")
        (own / "other.json").write_text("0", encoding="utf-8")
        assert run(store) == 0


def test_a_file_that_is_gone_makes_cells_run_again(own, tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        run(store)
        (own / "late.json").unlink()
        assert current.has_outdated_files(make_cells()[0], read_details(store))


def test_what_changed_after_it_was_read_is_not_taken_for_what_was_read(own, tmp_path):
    """A module keeps what it read on import: a file that changes later in the process is not behind its results."""
    with Store(tmp_path / "store.sqlite") as store:
        run(store)
        (own / "early.json").write_text("1", encoding="utf-8")
        assert run(store) == 2, "the file has changed"
        assert run(store) == 2, "and this process still has what it read before"


def test_code_of_ours_and_of_libraries_reads_nothing():
    assert inputs.list_read("rdt") == inputs.list_read("majority") == {}
    assert not inputs.can_read_files("thrifty", ["accuracy"])


def test_an_audit_says_which_files_own_code_had_read(own):
    estimators.import_class(estimators.find_target("reading"))
    facts = _gather_facts(AuditResult([], [], [], versions={"reading": "a-1", "rdt": "b-2"}), ["audit"])
    assert list(facts["read"]) == ["reading"] and "early.json" in facts["read"]["reading"]


# ------------------------------------------------------------------------------------------------ anew


def test_anew_runs_what_the_store_has(own, tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        run(store)
        first, second = make_cells()
        outcome = run_cells([first, second], store, ONE, anew={first.key})
        assert (outcome.done, outcome.reused, store.done()) == (1, 1, {first.key, second.key})


def test_what_cannot_be_run_here_is_not_forgotten(own, tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        run(store)
        cells = make_cells()
        run_cells(cells, store, ONE, lambda pending: {"no rows": pending}, anew={cell.key for cell in cells})
        assert store.done() == {cell.key for cell in cells}


def test_a_command_runs_each_cell_anew_once(own, tmp_path):
    rounds = Rounds(tmp_path, ONE, anew=True)
    rounds.run(make_cells(1), "")
    rounds.run(make_cells(2), "")
    assert (rounds._outcome.done, rounds._outcome.reused) == (2, 1)


def test_the_command_line_runs_anew_and_plans_it(own, tmp_path, capsys):
    words = "dataset=car", "algorithm=majority", "repeats=2", f"results={tmp_path}", "executor.jobs=1", "output=csv"
    assert exit_code(*words) == exit_code(*words) == 0
    assert "2 cells reused" in capsys.readouterr().err
    assert exit_code(*words, "anew=true", "dry_run=true") == 0
    assert "2 to run" in capsys.readouterr().err
    assert exit_code(*words, "anew=true") == 0
    assert "2 cells run" in capsys.readouterr().err
    assert exit_code(*words, "anew=often") == 2
    assert "anew must be true or false, got 'often'" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------ versions in a store

CELLS = [Cell("car", "majority", {"strategy": "prior"}, 1.0, repeat) for repeat in range(2)]


@pytest.fixture
def two_codes(tmp_path, monkeypatch):
    """A store with two cells of code that has changed since, and one of them run again."""
    with monkeypatch.context() as before:
        of_bug = [replace(cell) for cell in CELLS]
        before.setattr("experiments.cells.code_version.list_libraries", lambda: {"python": "an older one"})
        before.setattr("experiments.cells.code_version._list_code_versions", lambda algorithm: ["older code"])
        with Store(tmp_path / "store.sqlite") as store:
            for cell in of_bug:
                store.put(cell, Record("done", Measured({"accuracy": 0.25}, 0.5)))
            store.flush()
    with Store(tmp_path / "store.sqlite") as store:
        store.put(CELLS[0], Record("done", Measured({"accuracy": 0.75}, 0.5)))
    return tmp_path


def test_rows_tell_the_versions_apart_and_which_is_current(two_codes):
    with Store(two_codes / "store.sqlite") as store:
        rows = [row for batch in store.rows(2) for row in batch]
    of_first = {row["current"]: row for row in rows if row["repeat"] == 0}
    assert len(rows) == 3 and [row["current"] for row in rows].count(True) == 1
    assert (of_first[True]["metrics"], of_first[False]["metrics"]) == ({"accuracy": 0.75}, {"accuracy": 0.25})
    assert len({row["version"] for row in rows}) == 2
    assert of_first[True]["version"] == current.version_of_cell("car", "majority")


def test_the_export_has_what_is_current_and_the_rest_if_it_is_asked_for(two_codes, capsys):
    words = "do=export", f"results={two_codes}"
    assert exit_code(*words) == 0
    said = "1 cells; 2 of other code, data or libraries are left out: outdated=true writes them, too"
    assert capsys.readouterr().err.strip() == said
    path = str(two_codes / "cells.parquet")
    assert duckdb.read_parquet(path).df()["accuracy"].tolist() == [0.75]
    assert exit_code(*words, "outdated=true") == 0
    assert capsys.readouterr().err.strip() == "3 cells"
    frame = duckdb.read_parquet(path).df()
    assert sorted(zip(frame["current"], frame["accuracy"], strict=True)) == [(False, 0.25), (False, 0.25), (True, 0.75)]
    assert frame.groupby("version")["accuracy"].nunique().tolist() == [1, 1]


def test_a_cell_of_an_earlier_release_has_a_version_if_it_is_current(tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        store._find_version = lambda cell: {}
        store.put(CELLS[0], Record("done", Measured({"accuracy": 0.5}, 0.5)))
        ((row,),) = store.rows(10)
    assert (row["current"], row["version"]) == (True, current.version_of_cell("car", "majority"))


def test_a_cell_of_what_is_not_there_any_more_is_not_current(own, tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        run(store)
        search_path.use_folders([])
        code_version._list_code_versions.cache_clear()
        ((row, _),) = store.rows(10)
    assert not row["current"] and row["version"]


# ------------------------------------------------------------------------------------------- versions of algorithms


def test_the_version_of_an_algorithm_is_its_code_and_its_settings_without_its_size():
    params = estimators.merge_parameters("rdt")
    version = find_configured_version("rdt")
    assert find_version("rdt", params | dict.fromkeys(read_small("algorithms.RDTClassifier"), 7)) == version
    other = find_version("rdt", params | {"epsilon_of_what": 1})
    assert other != version and other.partition("-")[0] == version.partition("-")[0]
    assert find_configured_version("rfdpp_gini").partition("-")[0] != version.partition("-")[0]


@pytest.mark.parametrize(
    "old, new, is_same",
    [("scale = 1.0", "scale = 0.01", False), ('"""Words."""', '"""Others."""  # more', True)],
)
def test_a_change_of_code_is_another_version_and_one_of_words_is_not(monkeypatch, old, new, is_same):
    source = '"""Words."""\nscale = 1.0\n'
    versions = []
    for text in (source, source.replace(old, new)):
        current._hash_code.cache_clear()
        monkeypatch.setattr(current, "read_code", lambda path, text=text: code_without_words(text))
        versions.append(find_configured_version("rdt"))
    current._hash_code.cache_clear()
    assert (versions[0] == versions[1]) == is_same


def test_a_version_does_not_follow_how_a_python_quotes():
    assert current._QUOTES.sub("", "f'{a[\"b\"]}'") == current._QUOTES.sub("", "f\"{a['b']}\"")


def test_a_run_notes_the_versions_of_its_algorithms_with_all_their_settings():
    said = {"claimed_epsilon": 1.0, "accounted_epsilon": 1.0, "keeps_claim": True, "neighbours": "n", "faults": []}
    cells = [Cell("car", "edprf", {"variant": variant}, 1.0, 0) for variant in ("paper", "sound")]
    records = {cell.key: Record("done", Measured({"accuracy": 0.5}, 0.1, {"privacy": said})) for cell in cells}
    (row,) = sum_up_privacy(long_table({"study": cells}, records))
    assert row["versions"] == sorted(find_version("edprf", cell.params) for cell in cells)
    assert json.loads(json.dumps(row)) == row and len(row["versions"]) == 2


def test_the_hook_lets_whatever_opens_go_on(tmp_path):
    (tmp_path / "a.txt").write_text("text", encoding="utf-8")
    for path in (tmp_path / "a.txt", os.fsencode(tmp_path / "a.txt")):
        with open(path, encoding="utf-8") as file:
            assert file.read() == "text"
    with pytest.raises(FileNotFoundError):
        (tmp_path / "b.txt").read_text(encoding="utf-8")
    descriptor = os.open(tmp_path / "a.txt", os.O_RDONLY)
    with open(descriptor, encoding="utf-8") as file:
        assert file.read() == "text"
