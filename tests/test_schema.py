"""The schema of a paper's file: current, true of every paper, and as strict as the classes that it is made from."""

import json
from functools import cache

import jsonschema
import pytest

from datasets import catalogue
from documents.yaml_files import DocumentError, parse_yaml
from experiments.config.paths import PAPERS
from experiments.skeletons.schema import SCHEMA_FILE, format_generated, make_dataset_schema, make_paper_schema

FOLDERS = {PAPERS: make_paper_schema, catalogue.FOLDER: make_dataset_schema}
FILES = [file for folder in FOLDERS for file in sorted(folder.glob("*.yaml"))]


@cache
def validator(make_schema):
    """Return what validates against a schema; that this is a schema is checked once."""
    schema = make_schema()
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema)


def test_the_schema_and_the_page_of_keys_are_current():
    for path, text in format_generated().items():
        assert path.read_text(encoding="utf-8") == text, "make pages"


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_every_paper_and_data_set_obeys_its_schema_and_names_it_to_editors(file):
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# yaml-language-server: $schema=schema.json\n")
    validator(FOLDERS[file.parent]).validate(parse_yaml(text))


@pytest.mark.parametrize(
    "path", [(), ("studies", "grid"), ("studies", "grid", "protocol"), ("tables", 0), ("figures", 0), ("claims", 0)]
)
def test_a_misspelt_key_breaks_the_schema(path):
    paper = parse_yaml((PAPERS / "2.yaml").read_text(encoding="utf-8"))
    part = paper
    for key in path:
        part = part[key]
    key = next(iter(part))
    part[key + "s"] = part.pop(key)
    with pytest.raises(jsonschema.ValidationError):
        validator(make_paper_schema).validate(paper)


def test_the_page_explains_every_key():
    pages = json.loads(format_generated()[SCHEMA_FILE])
    undocumented = [name for name, field in pages["properties"].items() if not field.get("description")]
    assert undocumented == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("fingerprint:", "fingerprnt:", r"toy.yaml:\d+: unknown key 'fingerprnt'; did you mean 'fingerprint'"),
        ("task: classification", "task: clasification", "task: input should be 'classification' or 'regression', got"),
        ("rows: 1728", "rows: many", "rows: input should be a valid integer, got 'many'"),
        ("target:", "targt:", "domain: unknown key 'targt'; did you mean 'target'"),
    ],
)
def test_a_wrong_key_or_value_of_a_data_set_is_refused_with_its_line(old, new, message, tmp_path, monkeypatch):
    text = (catalogue.FOLDER / "car.yaml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "toy.yaml").write_text(text.replace(old, new), encoding="utf-8")
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path)
    with pytest.raises(DocumentError, match=message):
        catalogue.read_entry("toy")
