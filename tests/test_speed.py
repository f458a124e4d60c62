"""What the speed bench measures is what is configured, and its rows say what is not."""

from itertools import chain

import numpy as np
import pytest

import datasets
from datasets.own_tables.own_table import read_own_table
from experiments.config import estimators
from experiments.speed import large_tables
from experiments.speed.measurement import configure
from experiments.speed.ratios import compare_forests

TIMED = ["diffpets", "rfdpp_gini", "edprf", "rdt", "fm", "dpba", "diffpets_sound", "extra_trees", "random_forest"]


def parameters(model):
    return {key: value for key, value in model.get_params().items() if key not in ("domain", "random_state", "epsilon")}


def forests_compared():
    return compare_forests(datasets.load("adult").domain)


@pytest.mark.parametrize("name", TIMED)
def test_an_algorithm_is_timed_as_its_file_configures_it(name):
    what, model = configure(name)
    usual = estimators.make_estimator(name, estimators.merge_parameters(name))
    assert what.split(" (")[0] == name and type(model) is type(usual)
    assert parameters(model) == parameters(usual)


def test_a_row_says_what_is_not_as_configured_and_only_that():
    what, model = configure("rdt", n_estimators=10, max_depth=7)  # the file says ten trees
    assert (what, model.n_estimators, model.max_depth) == ("rdt, but max_depth=7", 10, 7)
    assert configure("diffpets", cut="value", sampling=None).what == "diffpets (cut=value)"  # the class does
    assert configure("diffpets", cut="record").what == "diffpets, but cut=record"


def test_a_row_names_the_reading_that_the_file_configures(tmp_path, monkeypatch):
    (tmp_path / "algorithm").mkdir()
    (tmp_path / "algorithm" / "of_records.yaml").write_text("_target_: algorithms.DiffPETsClassifier\ncut: record\n")
    monkeypatch.setenv("DPREPLICA_CATALOGUE", str(tmp_path))
    what, model = configure("of_records")
    assert (what, model.cut) == ("of_records (cut=record)", "record")


def test_a_sound_variant_follows_no_reading():
    assert configure("diffpets_sound").what == "diffpets_sound"


def test_the_row_of_diffpets_measures_the_configured_cut_on_the_work_of_scikit_learn():
    ((ours, theirs, _),) = [row for row in forests_compared() if "diffpets" in row[0].what]
    size = "max_depth=10, max_features=5"
    assert ours.what == f"diffpets (cut=value), but n_estimators=25, {size}, levels=below_root, sampling=all"
    assert theirs.what == f"extra_trees, but {size}"
    assert ours.model.cut == estimators.make_estimator("diffpets", estimators.merge_parameters("diffpets")).cut
    assert ours.model.n_estimators == theirs.model.n_estimators


def test_every_row_of_forests_names_all_in_which_it_differs():
    for configured in chain.from_iterable(row[:2] for row in forests_compared()):
        name, _, words = configured.what.partition(", but ")
        name = name.split(" (")[0]
        usual = parameters(estimators.make_estimator(name, estimators.merge_parameters(name)))
        differs = {f"{key}={value}" for key, value in parameters(configured.model).items() if value != usual[key]}
        assert set(words.split(", ")) == differs


def test_ten_million_rows_are_fitted_as_configured_or_the_row_says_what_is_not():
    compared = large_tables.compare_fits()
    assert set(compared) == {"fm", "rdt", "thrifty_bayes", "thrifty_tree", "thrifty_tree_regressor"}
    assert [row.ours.what for row in compared.values()] == [
        *("fm", "rdt, but max_depth=5", "thrifty_bayes", "thrifty_tree", "thrifty_tree_regressor")
    ]
    assert compared["rdt"].theirs.what == "extra_trees, but n_estimators=10, max_depth=5, max_features=1"
    for name, (ours, theirs, _, _) in compared.items():
        X, y, domain = large_tables.generate_table(2000, hasattr(ours.model, "predict_proba"))
        taken = large_tables.measure_fit([name, 2000, True])
        assert domain.encode(X)[1] == {} and set(taken) == {"ours", "theirs", "peak"} and min(taken.values()) >= 0
        assert hasattr(theirs.model, "predict_proba") is hasattr(ours.model, "predict_proba")
        assert (len(np.unique(y)) == 2) is hasattr(ours.model, "predict_proba")


def test_all_files_of_the_large_table_hold_the_same_rows(tmp_path):
    large_tables.write_files([str(tmp_path), 3000])
    paths = [tmp_path / f"{kind}-{suffix}.yaml" for kind in ("declared", "open") for suffix in ("csv", "parquet")]
    tables = [read_own_table(path) for path in paths]
    assert len({table.fingerprint for table in tables}) == 1 and len(tables[0].rows) == 3000
    assert not tables[0].domain.bounds_from_rows and tables[2].domain.bounds_from_rows
    read = large_tables.read_own(str(paths[0]))
    assert read["seconds"] >= 0 and read["peak"] > 1  # of the interpreter, beside which these rows are small
    assert large_tables.read_with_others(str(tmp_path / "rows.csv")) > 0
    assert large_tables.read_with_others(str(tmp_path / "rows.parquet")) > 0
