"""Papers as documents: what their files may say, and how an error names its place."""

import json
import re
from copy import deepcopy
from functools import cache

import pytest
import yaml

from documents.document import Document
from documents.yaml_files import DocumentError, parse_yaml
from experiments.config.kinds import find_kind, is_built_in, list_kinds, name_kind, parse_entry
from experiments.config.kinds.exhibits import GridTable
from experiments.config.paper import parse_paper
from experiments.config.papers import read_paper
from experiments.config.paths import PAPERS
from experiments.config.study import PaperError
from experiments.questions.paper_questions import resolve_paper
from tests.command_line import exit_code
from tests.papers import make_paper

FILES = sorted(PAPERS.glob("*.yaml"))


def list_documents(value, location=()):
    """Yield every document of a paper with its place."""
    if isinstance(value, Document):
        yield location, value
        value = {name: getattr(value, name) for name in type(value).model_fields if name in value.model_fields_set}
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from list_documents(inner, (*location, name))
    if isinstance(value, tuple | list):
        for position, inner in enumerate(value):
            yield from list_documents(inner, (*location, position))


@cache
def list_keys():
    """Return one place of every key of every class of documents that some paper has: its file, and where it stands."""
    keys = {}
    for file in FILES:
        paper = parse_paper(parse_yaml(file.read_text(encoding="utf-8")), file)
        for location, document in list_documents(paper):
            for name in type(document).model_fields:
                if name in document.model_fields_set:
                    keys.setdefault((type(document), name), (file, (*location, name)))
    return list(keys.values())


def cut_out(contents, location):
    """Return the part of a paper in which a place is: one of its studies, tables, claims, with nothing before it.

    The errors of what is missing are reported, too; to write and read all of a paper for each of its keys takes long.
    """
    if not location:
        return contents
    part, *inside = location
    inner = cut_out(contents[part], inside[:1]) if inside else contents[part]
    return [{}] * part + [inner] if isinstance(part, int) else {part: inner}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_key_that_is_misspelt_is_refused_with_its_line_and_the_nearest_name(file, tmp_path):
    contents = parse_yaml(file.read_text(encoding="utf-8"))
    for place in [place for known, place in list_keys() if known == file]:
        check_misspelt(contents, place, tmp_path / "misspelt.yaml")


def check_misspelt(contents, location, written):
    """Check the refusal of a paper with a wrong letter in one key."""
    *around, name = location
    contents = json.loads(json.dumps(cut_out(contents, around)))  # parts that YAML anchors share become several
    part = contents
    for step in around:
        part = part[step]
    wrong = name[:-1] + "_" + name[-1]
    part[wrong] = part.pop(name)
    text = yaml.dump(contents, Dumper=yaml.CSafeDumper, sort_keys=False)
    written.write_text(text, encoding="utf-8")
    with pytest.raises(DocumentError) as refusal:
        parse_paper(parse_yaml(text), written)
    if name == "kind":
        place = f"{'.'.join(map(str, around))}: "
        assert any(place in line and "kind" in line.partition(place)[2] for line in str(refusal.value).splitlines())
        return
    (report,) = [line for line in str(refusal.value).splitlines() if "unknown key" in line]
    file_and_line, _, found = report.strip().partition(": ")
    place = "".join(f"{'.'.join(map(str, around))}: " if around else "")
    assert found == f"{place}unknown key {wrong!r}; did you mean {name!r}?"
    line = int(file_and_line.rpartition(":")[2])
    assert re.match(rf"[\s-]*{wrong}:", text.splitlines()[line - 1])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_paper_is_the_same_after_it_is_written_and_read_again(file):
    paper = read_paper(file.stem)
    mapping = paper.to_mapping()
    assert parse_paper(mapping) == paper
    assert parse_paper(deepcopy(yaml.safe_load(yaml.safe_dump(mapping)))) == paper
    assert parse_paper(mapping | {"title": "Another"}) != paper


def test_all_errors_are_reported_at_once():
    claim = {"id": "c", "text": "", "kind": "printed", "number": ["x"]}
    study = {"dataset": "car", "algoritm": "rdt"}
    with pytest.raises(DocumentError) as refusal:
        parse_paper({"number": 0, "tilte": "T", "studies": {"s": study}, "claims": [claim], "repeats": 0})
    first, *reports = [line.strip() for line in str(refusal.value).splitlines()]
    assert first == f"{len(reports)} errors:"
    assert set(reports) == {
        "the key 'title' is missing",
        "unknown key 'tilte'; did you mean 'title'?",
        "studies.s: the key 'algorithm' is missing",
        "studies.s: unknown key 'algoritm'; did you mean 'algorithm'?",
        "claims.0: the key 'numbers' is missing",
        "claims.0: unknown key 'number'; did you mean 'numbers'?",
        "repeats: input should be greater than or equal to 1, got 0",
    }


def test_what_cannot_be_run_is_reported_at_once():
    above = {"text": "", "kind": "above", "better": "rdt", "worse": "majority", "metric": "accuracy", "within": []}
    claims = [above | {"id": "first", "study": "flor"}, above | {"id": "second", "study": "floor"}]
    with pytest.raises(PaperError) as refusal:
        resolve_paper(make_paper(claims=claims))
    assert [line.strip().partition(": ")[0] for line in str(refusal.value).splitlines()] == [
        "2 errors:",
        "claim 'first'",
        "claim 'second'",
    ]


@pytest.mark.parametrize("section", ["claims", "tables", "figures"])
def test_kinds_are_found_by_their_names(section):
    assert len(list_kinds(section)) > 5
    for name in list_kinds(section):
        kind = find_kind(section, name)
        assert is_built_in(kind) and name_kind(kind) == name
    with pytest.raises(ValueError, match=f"kind '{list_kinds(section)[0]}s' is not known; did you mean"):
        find_kind(section, list_kinds(section)[0] + "s")


def test_an_entry_has_the_class_of_its_kind():
    keys = {"id": "t", "title": "T", "study": "s", "rows": "dataset", "columns": "epsilon", "metric": "accuracy"}
    table = parse_entry("tables", None, keys | {"kind": "grid"})
    assert isinstance(table, GridTable) and parse_entry("tables", None, table) is table


@pytest.mark.parametrize("contents", [None, "grid", ["grid"], {}, {"kind": None}, {"kind": ["grid"]}, {"kind": 3}])
def test_an_entry_without_a_kind_is_refused(contents):
    kinds = ", ".join(list_kinds("tables"))
    with pytest.raises(DocumentError, match=rf"tables\.0: write a mapping with a kind: {kinds}"):
        make_paper(tables=[contents])
    with pytest.raises(DocumentError, match=r"tables\.0: kind 'gird' is not known; did you mean 'grid'\?"):
        make_paper(tables=[{"kind": "gird"}])


def test_ids_are_told_apart():
    claim = {"id": "c", "text": "", "kind": "printed", "numbers": ["x"]}
    with pytest.raises(DocumentError, match="two claims have the id 'c'"):
        make_paper(claims=[claim, claim])


@pytest.mark.parametrize("contents", [None, [], "paper"])
def test_a_file_that_holds_no_paper_is_refused(contents):
    with pytest.raises(DocumentError, match="must be a mapping of keys"):
        parse_paper(contents)


SPOKEN = """\
number: spoken
title: Spoken
repeats: 20
studies:
  floor: {dataset: [car], algorithm: [rdt, majority], epsilon: [0.5, 1.0]}
claims:
  - id: first
    text: "RDT is better, by its mean accuracy."
    says: "RDT ist besser."
    translation: "RDT is better."
    source: "page 5"
    read_as: "the share of a leaf is half of the budget"
    kind: above
    study: floor
    better: rdt
    worse: majority
    metric: accuracy
    within: [epsilon]
  - id: second
    reading_of: first
    text: "the share of a leaf is all of the budget"
    leaves_open: "nothing is said of the share of a leaf"
    kind: below
    study: floor
    better: rdt
    worse: majority
    metric: accuracy
    within: [epsilon]
choices:
  algorithms:
    rdt: {max_depth: [null, 4]}
  words: {max_depth: "of some depth"}
coverage:
  - {at: "page 5", says: "RDT is better", judged_by: [first]}
  - {at: "page 6", says: "RDT is simple", why_not: "no run could tell"}
"""


@pytest.mark.parametrize(
    ("cut", "put", "said"),
    [
        (
            '    says: "RDT ist besser."\n',
            "",
            "7: claims.0: says is missing: a claim has the paper's words and their place,",
        ),
        (
            '    source: "page 5"\n',
            "",
            "7: claims.0: source is missing: a claim has the paper's words and their place,",
        ),
        (
            '    leaves_open: "nothing is said of the share of a leaf"\n',
            "",
            "19: claims.1: leaves_open is missing: the words",
        ),
        (
            '    read_as: "the share of a leaf is half of the budget"\n',
            "",
            "6: claims: claim 'first' has other readings: say",
        ),
        (
            '  words: {max_depth: "of some depth"}\n',
            "",
            "29: choices: words.max_depth is missing: the words of the text",
        ),
        (", judged_by: [first]", "", "34: coverage.0: write either judged_by, what judges it, or why_not, why nothing"),
        ("judged_by: [first]", "judged_by: []", "34: coverage.0: write either judged_by, what judges it, or why_not"),
        ("[first]}", "[first], why_not: 'no'}", "34: coverage.0: write either judged_by, what judges it, or why_not"),
    ],
)
def test_a_paper_without_the_words_of_its_text_is_refused_in_one_line_before_anything_runs(
    cut, put, said, tmp_path, capsys
):
    assert cut in SPOKEN
    file = tmp_path / "own" / "paper" / "spoken.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(SPOKEN.replace(cut, put), encoding="utf-8")
    results = tmp_path / "results"
    assert exit_code("--config-dir", tmp_path / "own", "paper=spoken", f"results={results}") == 2
    stdout, stderr = capsys.readouterr()
    assert stderr.startswith(f"error: {file}:{said}") and len(stderr.splitlines()) == 1
    assert stdout == "" and not results.exists()


def test_a_paper_with_the_words_of_its_text_is_resolved():
    questions = resolve_paper(parse_paper(parse_yaml(SPOKEN)))
    assert [claim.reading_of for claim in questions.claims] == [None, "first"]


def test_what_judges_a_passage_must_be_there():
    table = {"id": "t", "title": "T", "kind": "grid", "study": "floor", "rows": "algorithm", "columns": "epsilon"}
    given = parse_yaml(SPOKEN) | {"tables": [table | {"metric": "accuracy"}]}
    passages = [{"at": "p. 5", "says": "S", "judged_by": names} for names in (["first", "t"], ["frist"], ["nothing"])]
    with pytest.raises(PaperError) as refusal:
        resolve_paper(parse_paper(given | {"coverage": passages}))
    _, *reports = [line.strip() for line in str(refusal.value).splitlines()]
    what = "coverage, p. 5: the paper has no claim, printed number, table or figure"
    assert reports[0] == f"{what} 'frist'; did you mean 'first'?"
    assert len(reports) == 2 and reports[1].startswith(f"{what} 'nothing'; ")
