"""The README is short, and it and the pages of the published results show what ``results/reference`` holds."""

from pathlib import Path

import pytest

from plots.pages.reference_pages import make_pages

PROJECT = Path(__file__).resolve().parents[1]
LINES = (PROJECT / "README.md").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def pages():
    return make_pages()


def test_the_readme_can_be_read_in_a_minute():
    assert len(LINES) <= 160
    assert [line for line in LINES if len(line) > 200 and not line.startswith("|")] == []


def test_the_first_command_stands_on_the_first_screen():
    assert next(place for place, line in enumerate(LINES) if line.startswith("make ")) < 25


def test_every_published_run_has_a_page_and_is_in_the_index(pages):
    index = pages[PROJECT / "results" / "reference" / "README.md"]
    folders = sorted((PROJECT / "results" / "reference").glob("paper-*"))
    assert len(folders) >= 6
    for folder in folders:
        assert folder / "README.md" in pages
        assert f"({folder.name}/README.md)" in index


def test_every_page_shows_the_published_run(pages):
    for path, text in pages.items():
        assert path.read_text(encoding="utf-8") == text, f"{path.relative_to(PROJECT)}: make pages writes it anew"
