"""The papers and the data as sources: what is cited is complete, and the same wherever it stands."""

import html
import re

import pytest

from documents.document import parse_document
from documents.publication import EXAMPLE, Publication, format_bibtex_entry
from documents.yaml_files import DocumentError
from experiments.catalogue.sources import SOURCES_FILE, format_software_bibtex, format_sources_page, read_citation
from experiments.config.papers import read_paper
from experiments.config.paths import list_papers

LANGUAGES = {"zh": "Chinese", "en": "English"}


def read_publications():
    return [read_paper(name).publication for name in list_papers()]


def test_the_page_is_that_of_today():
    assert SOURCES_FILE.read_text(encoding="utf-8") == format_sources_page(), "make pages writes it anew"


def test_every_paper_can_be_found_and_says_what_was_at_hand():
    page = format_sources_page()
    for publication in read_publications():
        assert f"]({publication.address})" in page and f"{publication.text_at_hand}." in page


def test_citation_names_the_papers_as_their_files_do():
    cited = read_citation()["references"]
    assert list(map(describe_reference, cited)) == list(map(describe_publication, read_publications()))


def describe_reference(entry):
    authors = tuple(f"{author['family-names']}, {author['given-names']}" for author in entry["authors"])
    pages = f"{entry['start']}-{entry['end']}" if "start" in entry else None
    numbers = [entry.get(key) for key in ("year", "volume", "issue")]
    (language,) = entry["languages"]
    where = [entry.get("doi"), entry.get("url"), LANGUAGES[language]]
    return [authors, entry["title"], entry["journal"], *numbers, pages, *where]


def describe_publication(one):
    numbers = [one.year, one.volume, one.issue]
    return [one.authors, one.title, one.venue, *numbers, one.pages, one.doi, one.url, one.language]


def test_pages_of_the_report_cite_the_software_at_their_revision_and_their_paper(published):
    for name, publication in zip(list_papers(), read_publications(), strict=True):
        page = html.unescape((published / f"paper-{name}.html").read_text(encoding="utf-8"))
        assert '<a href="#cite">Cite</a>' in page
        _, _, cited = page.partition('<div id="cite">')
        assert publication.format_bibtex() in cited
        assert re.search(r"@software{dp-replica,.*Revision of the run: [0-9a-f]{7}}", cited, flags=re.DOTALL)
    front = html.unescape((published / "index.html").read_text(encoding="utf-8"))
    assert format_software_bibtex() in front and "Revision of the run: name it here" in front


def test_entries_for_bibtex_have_keys_of_their_own():
    keys = [publication.format_bibtex().splitlines()[0] for publication in read_publications()]
    assert len(set(keys)) == len(keys) == 6


def test_a_sign_that_tex_reads_is_escaped_and_an_empty_field_left_out():
    entry = format_bibtex_entry("article", "key", {"journal": "Science & Art", "doi": None})
    assert entry == "@article{key,\n  journal = {Science \\& Art},\n}"


@pytest.mark.parametrize(
    ("change", "message"),
    [({"doi": None}, "write its doi, or the url"), ({"doi": "10.1/a b"}, "doi"), ({"pages": "3–4"}, "pages")],
)
def test_a_paper_that_nobody_could_find_is_refused(change, message):
    with pytest.raises(DocumentError, match=message):
        parse_document(Publication, vars(EXAMPLE) | change)
