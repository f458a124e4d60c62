"""The options of a protocol: what of a cell they are part of, and what is refused of a file and the command line."""

import json
import math
import pickle

import pytest

from documents.document import parse_document
from documents.yaml_files import DocumentError, parse_yaml
from experiments.cells import code_version
from experiments.cells.cell import Cell
from experiments.cells.current import StoredSetting
from experiments.cells.grid import expand_grid
from experiments.cells.study_cells import cells_of_studies
from experiments.config.paper import Paper
from experiments.config.paths import CONF
from experiments.config.protocol import DEFAULT_PROTOCOL, Protocol, read_protocol
from experiments.config.study import Study
from experiments.errors import BadInput

BY_CLASS = {"train_rows": {"unacc": 1000, "acc": 300}, "test_rows": {"acc": 84, "unacc": 210}}
IN_ORDER_BY_FOLDS = {"folds": 5, "test_size": 0.2, "split": "in_order"}
GROUPS_BY_FOLDS = {"folds": 3, "groups": "doors", "rows": "balanced"}
MANY = {
    **{"test_size": 0.25, "evaluate_on": "train", "rows": "balanced", "split": "in_order", "draw": 1},
    **{"common_noise": True, "leakage": True, "ranges": "training_rows"},
}
OF_MANY = {name: value for name, value in MANY.items() if name != "leakage"}
OF_NUMBERS = {"train_rows": 600, "test_rows": 300}


# Pinned: if this fails, every published number changes, or no stored cell is found any more.
@pytest.mark.parametrize(
    ("options", "asked", "seed", "key", "setting_key"),
    [
        ({}, {}, 233752109, "22354f0f6812", "a4d7dd5f977d"),
        ({"test_size": 0.25}, {"test_size": 0.25}, 499123872, "c2b1e1bc772d", "c73c12426a19"),
        ({"evaluate_on": "train"}, {"evaluate_on": "train"}, 1823584556, "6b8c881f90cb", "ef7432af78d7"),
        ({"rows": "balanced"}, {"rows": "balanced"}, 3437477436, "054ac3cfcc24", "ec235974da25"),
        ({"split": "in_order"}, {"split": "in_order"}, 3124908028, "4467e0f32988", "04fd9ee15a95"),
        (OF_NUMBERS, OF_NUMBERS, 1494221903, "ee47c15698c0", "1dfd00c8363a"),
        (OF_NUMBERS | {"test_size": 0.5}, OF_NUMBERS, 1494221903, "ee47c15698c0", "1dfd00c8363a"),
        (BY_CLASS, BY_CLASS, 201670893, "851761955e04", "51ce0b0a766c"),
        ({"draw": 2}, {"draw": 2}, 2322792420, "f3212e7c991a", "785fa994d3af"),
        ({"common_noise": True}, {"common_noise": True}, 3510298186, "2a6cbac04c80", "8f585103851d"),
        ({"leakage": True}, {}, 3758680898, "c35b72236df8", "a6531a3addbb"),
        ({"folds": 5}, {"folds": 5}, 3274634243, "1ff95b2de049", "d6c836b8e1be"),
        (IN_ORDER_BY_FOLDS, {"folds": 5, "split": "in_order"}, 3703849235, "b1d5770f195f", "b5c1d7f34ded"),
        ({"groups": "doors"}, {"groups": "doors"}, 3453781159, "19a96dd65b10", "28854be325b5"),
        (GROUPS_BY_FOLDS, GROUPS_BY_FOLDS, 3903789747, "949866b514ec", "54ca6cd6b229"),
        ({"ranges": "training_rows"}, {"ranges": "training_rows"}, 2410957355, "24fa78117fcf", "770890e29998"),
        (MANY, OF_MANY, 1008920621, "d6bba26e6fd2", "e0659f0f5010"),
    ],
)
def test_identity_seed_and_key_of_every_option_never_change(options, asked, seed, key, setting_key, monkeypatch):
    monkeypatch.setattr(code_version, "describe_version", lambda dataset, algorithm: "version")
    grid = {"dataset": ["car"], "algorithm": ["rdt"], "epsilon": [0.5], "params.max_depth": [3]}
    if "leakage" in options:
        grid = {"dataset": ["car"], "algorithm": ["cpppw"], "epsilon": [0.5]}
    ((_, cell),) = expand_grid(grid, repeats=2, protocol=options)
    assert json.loads(cell.identity)["protocol"] == {"test_size": 0.3, "evaluate_on": "test"} | asked
    assert (cell.seed, cell.key[:12], cell.setting_key[:12]) == (seed, key, setting_key)


BOTH = "train_rows and test_rows must both be numbers of rows, or both name the same classes; got "
SIZE = "write a number of rows, or one for each class as in {unacc:1000,acc:300}; got "
OF_ROWS = {"train_rows": 10, "test_rows": 10}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"tst_size": 0.3}, ": unknown key 'tst_size'; did you mean 'test_size'?"),
        ({"test_size": 0}, ".test_size: input should be greater than 0, got 0"),
        ({"test_size": 1.0}, ".test_size: input should be less than 1, got 1.0"),
        ({"test_size": math.nan}, ".test_size: input should be less than 1, got nan"),
        ({"test_size": True}, ".test_size: input should be a valid number, got True"),
        ({"test_size": "0.3"}, ".test_size: input should be a valid number, got '0.3'"),
        ({"evaluate_on": "tset"}, ".evaluate_on: input should be 'test', 'train' or 'folds', got 'tset'"),
        ({"rows": "some"}, ".rows: input should be 'all' or 'balanced', got 'some'"),
        ({"split": None}, ".split: input should be 'random' or 'in_order', got None"),
        ({"common_noise": 1}, ".common_noise: input should be a valid boolean, got 1"),
        ({"leakage": "no"}, ".leakage: input should be a valid boolean, got 'no'"),
        ({"ranges": 3}, ".ranges: input should be 'declared' or 'training_rows', got 3"),
        ({"draw": -1}, ".draw: input should be greater than or equal to 0, got -1"),
        ({"draw": True}, ".draw: input should be a valid integer, got True"),
        ({"folds": 1}, ".folds: input should be greater than or equal to 2, got 1"),
        ({"folds": 2.5}, ".folds: input should be a valid integer, got 2.5"),
        ({"groups": 3}, ".groups: input should be a valid string, got 3"),
        ({"train_rows": 1000}, f": {BOTH}1000 and None"),
        ({"train_rows": {"acc": 3}, "test_rows": {"unacc": 3}}, f": {BOTH}{{'acc': 3}} and {{'unacc': 3}}"),
        ({"train_rows": {"acc": 3}, "test_rows": 3}, f": {BOTH}{{'acc': 3}} and 3"),
        ({"train_rows": {}, "test_rows": 3}, f".train_rows: {SIZE}{{}}"),
        ({"train_rows": 0, "test_rows": 3}, f".train_rows: {SIZE}0"),
        ({"train_rows": 3, "test_rows": 2.5}, f".test_rows: {SIZE}2.5"),
        ({"train_rows": True, "test_rows": 3}, f".train_rows: {SIZE}True"),
        ({"train_rows": {"acc": 0}, "test_rows": {"acc": 3}}, f".train_rows: {SIZE}{{'acc': 0}}"),
        (OF_ROWS | {"rows": "balanced"}, ": rows=balanced does not go with numbers of rows"),
        (OF_ROWS | {"split": "in_order"}, ": split=in_order does not go with numbers of rows"),
        (OF_ROWS | {"folds": 5}, ": folds=5 does not go with numbers of rows"),
        (OF_ROWS | {"groups": "doors"}, ": groups=doors does not go with numbers of rows"),
        (
            {"folds": 5, "evaluate_on": "folds"},
            ": folds tests on the rows that were left out: leave out evaluate_on=folds",
        ),
        (
            {"groups": "doors", "split": "in_order"},
            ": groups does not go with split=in_order: rows are split by one of the two",
        ),
    ],
)
def test_what_an_option_cannot_be_is_refused_of_a_file_and_of_the_command_line_in_the_same_words(options, says):
    with pytest.raises(BadInput) as of_command_line:
        expand_grid({"dataset": ["car"], "algorithm": ["majority"], "epsilon": [1.0]}, 1, protocol=options)
    study = {"dataset": "car", "algorithm": "majority", "protocol": options}
    with pytest.raises(DocumentError) as of_file:
        parse_document(Paper, {"number": 0, "title": "T", "studies": {"grid": study}})
    assert str(of_command_line.value) == f"protocol{says}"
    assert str(of_file.value) == f"studies.grid.protocol{says}"


@pytest.mark.parametrize(
    ("dataset", "options", "says"),
    [
        ("adult", {"rows": "balanced"}, "protocol.rows=balanced: 'adult' has an official split"),
        ("adult", {"split": "in_order"}, "protocol.split=in_order: 'adult' has an official split"),
        ("adult", {"groups": "age"}, "protocol.groups=age: 'adult' has an official split"),
        ("ccpp", {"rows": "balanced"}, "protocol.rows=balanced: 'ccpp' has no classes, it is a regression"),
        ("car", {"folds": 2000}, "protocol.folds=2000: 'car' has 1728 rows"),
        ("car", {"groups": "dors"}, "protocol.groups: 'car' has no column 'dors'; did you mean 'doors'?"),
        (
            "car",
            {"train_rows": 1700, "test_rows": 30},
            "protocol.train_rows and protocol.test_rows ask for 1730 rows; 'car' has 1728",
        ),
        (
            "car",
            {"train_rows": {"ac": 3}, "test_rows": {"ac": 3}},
            "protocol.train_rows: 'car' has no class 'ac'; did you mean 'acc'?",
        ),
        (
            "ccpp",
            {"train_rows": {1: 3}, "test_rows": {1: 3}},
            "protocol.train_rows: 'ccpp' has no class '1'; it is a regression",
        ),
        ("car", {"leakage": True}, "protocol.leakage: algorithm 'majority' releases no rows"),
    ],
)
def test_what_a_data_set_or_an_algorithm_does_not_go_with_is_refused_in_one_line(dataset, options, says):
    with pytest.raises(BadInput) as of_command_line:
        expand_grid({"dataset": [dataset], "algorithm": ["majority"], "epsilon": [1.0]}, 1, protocol=options)
    study = Study.model_validate({"dataset": dataset, "algorithm": "majority", "protocol": options})
    with pytest.raises(BadInput) as of_file:
        cells_of_studies(Paper(number=0, title="T", studies={"grid": study}))
    assert (str(of_command_line.value), str(of_file.value)) == (says, f"study 'grid': {says}")


def test_the_settings_of_the_command_line_are_the_options_with_their_defaults():
    settings = parse_yaml((CONF / "do" / "reproduce.yaml").read_text(encoding="utf-8"))
    assert settings["protocol"] == dict(DEFAULT_PROTOCOL)


def test_options_given_at_their_defaults_are_options_left_out():
    given = Protocol(**dict(DEFAULT_PROTOCOL))
    assert given == DEFAULT_PROTOCOL and hash(given) == hash(DEFAULT_PROTOCOL)
    assert pickle.loads(pickle.dumps(read_protocol(BY_CLASS))) == read_protocol(BY_CLASS)


def test_classes_that_yaml_reads_as_numbers_are_named_by_their_digits():
    protocol = read_protocol({"train_rows": {0: 20, 1: 30}, "test_rows": {0: 2, 1: 3}})
    assert protocol.train_rows == {"0": 20, "1": 30}
    assert list(protocol.list_asked()["test_rows"]) == ["0", "1"]


def test_a_stored_setting_with_an_option_that_is_not_known_here_is_not_current():
    asked = {
        "dataset": "car",
        "algorithm": "majority",
        "params": {},
        "protocol": Cell("car", "rdt", {}, 1.0, 0).protocol.list_asked(),
    }
    assert StoredSetting.find(asked, 1.0).cell is not None
    assert StoredSetting.find(asked | {"protocol": {"of_tomorrow": True}}, 1.0).cell is None
