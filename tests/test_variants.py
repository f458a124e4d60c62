"""Variants of an algorithm: chosen by ``FILE:VARIANT`` or by an older name, and stored under that; one's own, too."""

import json

import pandas as pd
import pytest

from documents import search_path
from documents.composed_yaml import read_as_composed, read_heading
from documents.variants import name_place
from documents.yaml_files import DocumentError
from experiments.cells.grid import expand_grid
from experiments.cells.study_cells import cells_of_studies
from experiments.config import estimators
from experiments.config.paper import parse_paper
from experiments.errors import BadInput
from experiments.questions.printed import read_reported
from experiments.skeletons.writing import check_name
from tests.command_line import exit_code

FOREST = """# My forest.
_target_: sklearn.ensemble.RandomForestClassifier
n_estimators: 5
max_depth: 4
_variants_:
  deep:
    max_depth: 9
  plain: {_without_: [max_depth]}
  old:
    _what_: >-
      The old one.
      It is extremely randomised.
    _stored_as_: forest_old
    _kind_: baseline
    _target_: sklearn.ensemble.ExtraTreesClassifier
"""
ONLY = "_target_: sklearn.dummy.DummyClassifier\n_only_variants_: true\n_variants_: {a: {strategy: prior}, b: {}}\n"


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder of one's own with a file that has variants."""
    folder = tmp_path / "own"
    (folder / "algorithm").mkdir(parents=True)
    for variable in search_path.describe_environment():
        monkeypatch.setenv(variable, "")
    (folder / "algorithm" / "forest.yaml").write_text(FOREST, encoding="utf-8")
    search_path.use_folders([folder])
    return folder / "algorithm"


def identities(names):
    values = {"dataset": ["car"], "algorithm": names, "epsilon": [1.0]}
    return [cells[0].identity for cells in expand_grid(values, repeats=1)]


def test_every_older_name_is_a_variant_of_one_file_and_has_the_cells_that_it_had():
    places = search_path.list_files(search_path.ALGORITHMS)
    older = {name: name_place(place) for name, place in places.items() if name != name_place(place)}
    assert len(older) == 47 and all(":" in name for name in older.values())
    for name, chosen in older.items():
        assert search_path.find_file(search_path.ALGORITHMS, name) == search_path.find_file(
            search_path.ALGORITHMS, chosen
        )
        assert estimators.merge_parameters(name) == estimators.merge_parameters(chosen)
    assert identities(["edprf:sound"]) == identities(["edprf_sound"])
    assert json.loads(identities(["edprf:sound"])[0])["algorithm"] == "edprf_sound"


def test_a_file_says_what_its_variants_change(own):
    assert [name for name in estimators.list_algorithms() if name.startswith("forest")] == [
        "forest",
        "forest:deep",
        "forest:plain",
        "forest_old",
    ]
    assert estimators.merge_parameters("forest:deep") == {"n_estimators": 5, "max_depth": 9}
    assert estimators.merge_parameters("forest:plain") == {"n_estimators": 5}
    assert estimators.merge_parameters("forest:old") == {"n_estimators": 5, "max_depth": 4}
    assert estimators.find_target("forest_old").endswith("ExtraTreesClassifier")
    assert read_heading(own / "forest.yaml:old") == "The old one. It is extremely randomised."
    assert "_variants_" not in read_as_composed(own / "forest.yaml")
    (plain, deep, old) = map(json.loads, identities(["forest", "forest:deep", "forest:old"]))
    assert [cell["algorithm"] for cell in (plain, deep, old)] == ["forest", "forest:deep", "forest_old"]


def test_a_sweep_over_variants_is_named_so_that_a_file_can_be(own, tmp_path, capsys):
    words = ("--config-dir", own.parent, "dataset=car", f"results={tmp_path}", "repeats=1", "output=table")
    assert exit_code(*words, "algorithm=forest:deep,forest_old") == 0
    assert {"forest:deep", "forest:old"} <= set(capsys.readouterr().out.split())
    (folder,) = (tmp_path / "sweeps").iterdir()
    assert folder.name == "car-forest_deep-forest_old"
    assert list(pd.read_csv(folder / "table.csv")["algorithm"].unique()) == ["forest:deep", "forest_old"]
    for word in ("algorithm=forest:deep", "algorithm='forest:deep'"):
        assert exit_code(*words, word, "dry_run=true") == 0
        assert "1 cells: 1 in " in capsys.readouterr().err, "the cell of the sweep"


def test_all_of_an_own_file_is_listed_and_described(own, capsys):
    assert exit_code("list", "algorithms", "kind=own", "--config-dir", own.parent) == 0
    text = capsys.readouterr().out
    assert "  forest        My forest.\n  forest:deep   forest with max_depth=9\n" in text and "old" not in text.split()
    assert exit_code("describe", "algorithm=forest_old", "--config-dir", own.parent) == 0
    assert capsys.readouterr().out.startswith("forest:old: The old one. It is extremely randomised.\n")
    assert exit_code("--cfg", "job", "algorithm=forest:deep", "algorithm.n_jobs=1", "--config-dir", own.parent) == 0
    assert "  n_estimators: 5\n  max_depth: 9\n  n_jobs: 1\n" in capsys.readouterr().out


def test_a_paper_and_its_printed_numbers_may_name_variants_either_way(tmp_path):
    paper = """
number: mine
title: Mine
labels: {"edprf:sound": sound}
algorithms: {"edprf:sound": {n_estimators: 3}}
studies: {all: {dataset: car, algorithm: [edprf, "edprf:sound"], epsilon: 1}}
claims:
  - {id: c, text: T, own: true, kind: above, study: all, metric: accuracy, better: edprf:sound,
     worse: edprf, within: [dataset]}
"""
    texts = paper, paper.replace("edprf:sound", "edprf_sound")
    papers = []
    for i, text in enumerate(texts):
        (tmp_path / f"{i}.yaml").write_text(text, encoding="utf-8")
        papers.append(parse_paper(read_as_composed(tmp_path / f"{i}.yaml")))
    assert papers[0].to_mapping() == papers[1].to_mapping()
    keys = [[cell.key for cell in cells_of_studies(one)["all"]] for one in papers]
    assert keys[0] == keys[1]
    printed = tmp_path / "printed.csv"
    head = "id,table,dataset,algorithm,metric,statistic,value,decimals,source\n"
    printed.write_text(f"{head}n,t,car,edprf:sound,accuracy,mean,0.7,2,T\nm,t,car,,rows,exact,9,0,T\n")
    assert read_reported(printed)["algorithm"].tolist()[0] == "edprf_sound"


def test_a_file_may_be_nothing_but_what_its_variants_have_in_common(own):
    (own / "floor.yaml").write_text(ONLY, encoding="utf-8")
    assert {"floor:a", "floor:b"} <= set(estimators.list_algorithms()) and "floor" not in estimators.list_algorithms()
    assert estimators.merge_parameters("floor:a") == {"strategy": "prior"}
    assert exit_code("dataset=car", "algorithm=floor", "--config-dir", own.parent) == 2
    with pytest.raises(BadInput, match="unknown algorithm 'floor'"):
        estimators.find_target("floor")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("edprf:sond", "did you mean 'edprf:sound'?"),
        ("edprf_sond", "did you mean 'edprf_sound'?"),
        ("edprf,edprf:sond", "unknown algorithm 'edprf:sond'; there are edprf, edprf:sound"),
        ("mst", "unknown algorithm 'mst'; there are mst:boosting, mst:tree"),
    ],
)
def test_a_misspelt_variant_is_answered_with_what_there_is(words, hint, tmp_path, capsys):
    assert exit_code("dataset=car", f"algorithm={words}", f"results={tmp_path}") == 2
    assert hint in capsys.readouterr().err


def test_an_older_name_is_taken(own):
    (own / "edprf_sound.yaml").write_text("_target_: sklearn.dummy.DummyClassifier\n", encoding="utf-8")
    with pytest.raises(DocumentError, match=r"'edprf_sound' stands in conf/algorithm/edprf.yaml:sound and in "):
        search_path.use_folders([own.parent])
    with pytest.raises(BadInput, match="there is a algorithm of that name"):
        (own / "edprf_sound.yaml").unlink()
        check_name("algorithm", "edprf_sound")


@pytest.mark.parametrize(
    ("variants", "error"),
    [
        ("[a, b]", "_variants_: write NAME: {parameter: value}, got ['a', 'b']"),
        ("{a b: {}}", "_variants_: 'a b' is no name: choose letters, digits"),
        ("{a: {_stored_as_: x}, b: {_stored_as_: x}}", "_variants_: two have _stored_as_: x"),
        ("{a: 3}", "_variants_.a: write parameter: value, got 3"),
    ],
)
def test_variants_that_cannot_be_read_are_refused_in_one_line(own, variants, error):
    text = f"_target_: sklearn.dummy.DummyClassifier\n_variants_: {variants}\n"
    (own / "bad.yaml").write_text(text, encoding="utf-8")
    assert "bad" in estimators.list_algorithms()
    with pytest.raises(BadInput) as refused:
        estimators.find_target("bad")
    assert str(refused.value) == f"{own / 'bad.yaml'} cannot be read: {refused.value.args[0].partition(': ')[2]}"
    assert error in str(refused.value)


def test_a_variant_leaves_out_only_what_is_there(own):
    text = "_target_: sklearn.dummy.DummyClassifier\n_variants_: {a: {_without_: [strategy]}}\n"
    (own / "bad.yaml").write_text(text, encoding="utf-8")
    assert estimators.merge_parameters("bad") == {}
    with pytest.raises(BadInput, match=r"_variants_\.a: _without_ names 'strategy', which the file does not set"):
        estimators.find_target("bad:a")


def test_shells_complete_variants(monkeypatch, capsys):
    assert exit_code("-sc", "install=bash", program="dp-replica") == 0
    assert capsys.readouterr().out.startswith("COMP_WORDBREAKS=${COMP_WORDBREAKS//:}\n")
    for typed in ("edprf:s", "edprf_s"):
        monkeypatch.setenv("COMP_LINE", f"dp-replica algorithm={typed}")
        assert exit_code("-sc", "query=bash", program="dp-replica") == 0
        assert capsys.readouterr().out.split() == [f"algorithm={typed}ound"]
