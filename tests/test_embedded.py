"""Car and Nursery: rule tables that regenerate the original files byte for byte."""

import hashlib
from math import prod

import pytest

from datasets import catalogue, load, source
from datasets.readers import car, nursery
from tests.load_anew import load_anew

EMBEDDED = pytest.mark.parametrize("module", [car, nursery], ids=["car", "nursery"])


def _entry(module):
    return catalogue.read_entry(module.__name__.removeprefix("datasets.readers."))


@EMBEDDED
def test_the_original_bytes_come_back(module):
    (expected,) = _entry(module).files.values()
    assert hashlib.sha256(module.original_bytes()).hexdigest() == expected


@EMBEDDED
def test_the_file_is_a_complete_product_of_the_declared_values(module):
    entry = _entry(module)
    frame = load(entry.name).frame
    assert {feature.name: feature.categories for feature in entry.domain.features} == module.ATTRIBUTES
    assert len(frame) == len(frame.drop_duplicates()) == prod(map(len, module.ATTRIBUTES.values()))


@EMBEDDED
def test_no_file_and_no_network_are_needed(module, monkeypatch):
    monkeypatch.setattr(source, "list_folders", list)
    monkeypatch.setattr("socket.socket.connect", None)
    assert load_anew(_entry(module).name).provenance["source"] == "embedded"


@EMBEDDED
def test_bytes_equal_the_file_if_it_is_here(module):
    paths = source.original_files(_entry(module))
    if not paths:
        pytest.skip(f"{', '.join(_entry(module).files)} is not in {', '.join(map(str, source.list_folders()))}")
    assert paths[0].read_bytes() == module.original_bytes()


def test_a_changed_rule_is_refused(monkeypatch):
    monkeypatch.setattr(car, "CAR", ("0000", "0011", "0113", "0133"))
    with pytest.raises(source.DataMismatch, match=r"embedded rules is not the original car.data: expected sha256 b703"):
        load_anew("car")
