"""The README is short, and it and the pages of the published results show what ``results/reference`` holds."""

from pathlib import Path

import pytest

from plots.pages.reference_pages import make_pages

PROJECT = Path(__file__).resolve().parents[1]
LINES = (PROJECT / "README.md").read_text(encoding="utf-8").splitlines()
PAGES = make_pages()


def test_the_readme_can_be_read_in_a_minute():
    assert len(LINES) <= 160
    assert [line for line in LINES if len(line) > 200 and not line.startswith("|")] == []


def test_the_first_command_stands_on_the_first_screen():
    assert next(place for place, line in enumerate(LINES) if line.startswith("make ")) < 25


def test_every_published_run_has_a_page_and_is_in_the_index():
    index = PAGES[PROJECT / "results" / "reference" / "README.md"]
    folders = sorted((PROJECT / "results" / "reference").glob("paper-*"))
    assert len(folders) >= 6
    for folder in folders:
        assert folder / "README.md" in PAGES
        assert f"({folder.name}/README.md)" in index


@pytest.mark.parametrize("path", sorted(PAGES), ids=lambda path: path.relative_to(PROJECT).as_posix())
def test_a_page_shows_the_published_run(path):
    assert path.read_text(encoding="utf-8") == PAGES[path], "make pages writes it anew"
