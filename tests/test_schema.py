"""The schema of a paper's file: current, true of every paper, and as strict as the classes that it is made from."""

import json

import jsonschema
import pytest
import yaml

from experiments.config.papers import PAPERS
from experiments.config.schema import KEYS_FILE, SCHEMA_FILE, format_keys_page, format_schema, make_paper_schema

FILES = sorted(PAPERS.glob("*.yaml"))


def test_the_schema_and_the_page_of_keys_are_current():
    assert SCHEMA_FILE.read_text(encoding="utf-8") == format_schema(), "make pages"
    assert KEYS_FILE.read_text(encoding="utf-8") == format_keys_page(), "make pages"


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_every_paper_obeys_the_schema_and_names_it_to_editors(file):
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# yaml-language-server: $schema=schema.json\n")
    jsonschema.validate(yaml.safe_load(text), make_paper_schema())


@pytest.mark.parametrize(
    "path", [(), ("studies", "grid"), ("studies", "grid", "protocol"), ("tables", 0), ("figures", 0), ("claims", 0)]
)
def test_a_misspelt_key_breaks_the_schema(path):
    paper = yaml.safe_load((PAPERS / "2.yaml").read_text(encoding="utf-8"))
    part = paper
    for key in path:
        part = part[key]
    key = next(iter(part))
    part[key + "s"] = part.pop(key)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(paper, make_paper_schema())


def test_the_page_explains_every_key():
    pages = json.loads(format_schema())
    undocumented = [name for name, field in pages["properties"].items() if not field.get("description")]
    assert undocumented == []
