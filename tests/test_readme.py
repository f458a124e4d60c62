"""The README and the pages of the published results are short, and show what ``results/reference`` holds."""

import re
from collections import Counter
from pathlib import Path

import pytest

from experiments.config.papers import read_paper
from plots import style
from plots.labels import SYMBOLS
from plots.pages import printed_picture, reference_pages
from plots.pages.html import name_anchor
from plots.pages.reference_pages import make_pages, replace_block
from tests.command_line import exit_code
from tests.words import list_words

PROJECT = Path(__file__).resolve().parents[1]
REFERENCE = PROJECT / "results" / "reference"
README = (PROJECT / "README.md").read_text(encoding="utf-8")
LINES = README.splitlines()
FOLDERS = sorted(REFERENCE.glob("paper-*"))


@pytest.fixture(scope="module")
def pages():
    return make_pages()


@pytest.fixture(scope="module")
def published():
    return reference_pages.list_published()


def plant_finding(monkeypatch, **keys):
    """Write another finding into the file of paper 2."""

    def read_with_finding(name):
        paper = read_paper(name)
        return paper.replaced(finding={"text": "It holds."} | keys) if name == "2" else paper

    monkeypatch.setattr(reference_pages, "read_paper", read_with_finding)


def test_the_readme_can_be_read_in_three_minutes():
    by_hand = replace_block(README, "verdicts", "")
    assert len(list_words(by_hand)) <= 750
    assert [line for line in by_hand.splitlines() if len(line) > 200 and not line.startswith("|")] == []


def test_the_answers_come_first_then_the_picture_of_all_numbers_then_the_commands():
    table, picture, command = (
        next(place for place, line in enumerate(LINES) if line.startswith(start))
        for start in ("<!-- verdicts -->", "![", "dp-replica ")
    )
    assert table < 8 and table < picture < command < 40 and f"/{printed_picture.NAME}.svg)" in LINES[picture]


@pytest.mark.long
def test_the_sentence_stands_below_the_name_of_the_paper(pages, published):
    """On a phone the first column is what is seen of a wide table."""
    for run in published:
        if run.is_of_paper:
            assert f"/README.md)<br>{run.outcome} |" in pages[PROJECT / "README.md"]


def test_every_sign_of_a_paper_has_its_number_in_the_table(pages, published):
    rows = re.findall(r"^\| \[\d\. .* \|$", pages[PROJECT / "README.md"], flags=re.MULTILINE)
    runs = [run for run in published if run.is_of_paper]
    for row, run in zip(rows, runs, strict=True):
        numbers, claims, _ = row.split(" | ")[1].replace("&nbsp;", " ").split("<br>")
        for text, answer in ((numbers, run.answers[0]), (claims, run.answers[1])):
            counted = {SYMBOLS[sign]: str(n) for sign, n in answer.counts.items()}
            shown = dict(re.findall(r"(\S) (\d+)", text))
            assert shown == ({"✓": "0"} | counted if counted else {})


def test_the_picture_has_every_printed_number_that_has_one_of_ours(published):
    runs = [run for run in published if run.is_of_paper]
    panels = printed_picture.list_panels(runs)
    expected = {run.short_heading: n for run in runs if (n := int(run.measured["mean"].notna().sum()))}
    drawn = Counter()
    for panel in panels:
        drawn[panel.title] += len(panel.numbers)
    assert drawn == expected and sum(drawn.values()) > 100
    figure = printed_picture.draw_panels(panels)
    for axes, panel in zip(figure.axes, panels, strict=False):
        diagonal, *series = axes.get_lines()
        assert (diagonal.get_xdata() == diagonal.get_ydata()).all()
        marks = [mark for line in series for mark in line.get_xydata().tolist()]
        assert sorted(marks) == sorted(panel.numbers[["printed", "mean"]].to_numpy().tolist())
        assert len({(line.get_marker(), line.get_fillstyle(), line.get_color()) for line in series}) == len(series)


def test_the_picture_is_that_of_the_published_numbers(published):
    panels = printed_picture.list_panels(published)
    drawn = style.render_figure(printed_picture.NAME, lambda: printed_picture.draw_panels(panels), ("svg",))["svg"]
    assert (REFERENCE / f"{printed_picture.NAME}.svg").read_bytes() == drawn, "make pages draws it anew"


def test_what_the_picture_lacks_is_named(published):
    runs = [run for run in published if run.is_of_paper]
    missing = printed_picture.describe_picture(runs)["missing"]
    assert missing == ["paper 1, which prints no legible result", "3 that are not implemented"]
    assert printed_picture.describe_picture(runs[:1])["n_drawn"] == 0


def test_a_row_of_the_table_is_read_at_a_glance(pages):
    for text in (pages[PROJECT / "README.md"], pages[REFERENCE / "README.md"]):
        rows = re.findall(r"^\| (\[\d\. .*) \|$", text, flags=re.MULTILINE)
        assert len(rows) == 6
        assert {row: n for row in rows if (n := len(list_words(row.replace("|", " ")))) > 45} == {}


def test_the_page_of_a_run_is_short(pages, published):
    assert [run.folder for run in published] == FOLDERS
    for run in published:
        # a row of nine words for each printed number, and a line for each claim and reading
        most = 1500 + 9 * max(len(run.numbers) - 50, 0) + 40 * len(run.claims)
        assert len(list_words(pages[run.folder / "README.md"])) <= most, run.folder.name


def test_nothing_that_is_missing_is_written(pages):
    for path, text in pages.items():
        words = {word.strip("().,:;*").lower() for word in list_words(text)}
        assert not words & {"nan", "none:", "null", "inf"} and not re.search(r"(?<!=)\bNone\b", text), path


def test_every_publishing_has_a_page_and_is_in_the_index(pages):
    index = pages[REFERENCE / "README.md"]
    assert len(FOLDERS) >= 6
    for folder in FOLDERS:
        assert folder / "README.md" in pages
        assert f"({folder.name}/README.md)" in index


def test_every_page_shows_the_publishing(pages):
    for path, text in pages.items():
        written = path.read_text(encoding="utf-8")
        assert written == text, f"{path.relative_to(PROJECT)}: make pages writes it anew"


def test_what_a_page_links_to_is_there(pages):
    for path, text in pages.items():
        for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", text):
            assert (path.parent / target).is_file(), f"{path.relative_to(PROJECT)}: {target}"


def test_what_a_page_links_to_inside_of_another_is_a_heading_of_it(pages):
    n_links = 0
    for path, text in pages.items():
        for target, anchor in re.findall(r"\]\(([^)#:\s]*\.md|)#([^)]+)\)", text):
            other = pages.get((path.parent / target).resolve() if target else path)
            if other is not None:
                headings = [name_anchor(heading) for heading in re.findall(r"^#+ (.*)$", other, flags=re.MULTILINE)]
                assert headings.count(anchor) == 1, f"{path.relative_to(PROJECT)}: {target}#{anchor}"
                n_links += 1
    assert n_links > 500


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_picture_that_is_published_is_linked(pages, folder):
    page = pages[folder / "README.md"]
    assert [path.name for path in folder.glob("figures/*.svg") if f"(figures/{path.name})" not in page] == []


def test_a_link_to_a_line_leads_to_what_it_names(pages):
    n_links = 0
    for folder in FOLDERS:
        page = pages.get(folder / "evidence.md", "")
        for entry in re.findall(r"^#{3,4} \w+ (\S+)\n(.*?)(?=^#|\Z)", page, flags=re.MULTILINE | re.DOTALL):
            (target, line), *_ = re.findall(r"Its entry: \[[^\]]*\]\(([^)#]+)#L(\d+)\)", entry[1])
            text = (folder / target).read_text(encoding="utf-8").splitlines()[int(line) - 1]
            assert entry[0] in text, f"{folder.name}: {entry[0]}"
            n_links += 1
    assert n_links > 600


def test_every_algorithm_says_what_became_of_it(pages):
    page = pages[REFERENCE / "algorithms.md"]
    sections = {text.partition("\n")[0]: text for text in page.split("\n## ")[1:]}
    assert {"rfdpp_gini", "rdt", "fm", "thrifty", "random_forest"} <= set(sections)
    assert "proposes it: ? [grows-with-epsilon](paper-2/evidence.md#claim-grows-with-epsilon)" in sections["rfdpp_gini"]
    assert "compares with it" in sections["rdt"] and "| broken: measured ε ≥ " in sections["rfdpp_gini"]
    assert re.search(r"`thrifty` is \d+ of \d+, with a mean rank of ", sections["thrifty"])


def test_the_page_of_a_paper_answers_before_it_shows(pages):
    page = pages[REFERENCE / "paper-2" / "README.md"]
    numbers, claims, _ = reference_pages.read_published(REFERENCE / "paper-2").answers
    parts = ("It promises:", numbers.words, claims.words, "What came out:", "figure-1.svg", "## Its claims", "## Its")
    places = [page.index(part) for part in parts]
    assert places == sorted(places)
    assert "| ✗ | depth d = 10, ε = 0.05" not in page and "| ✗ | Adult, depth d = 10, ε = 0.05 | `" in page


def test_what_must_be_said_of_the_data_is_said_before_the_claims(pages):
    page = pages[REFERENCE / "paper-3" / "README.md"]
    assert page.index("stands in for it") < page.index("stand in the training rows") < page.index("## Its claims")


def test_what_readings_and_new_rows_say_stands_in_the_row_of_the_claim(pages, published):
    n_lines = 0
    for run in published:
        lines = pages[run.folder / "README.md"].splitlines()
        for plot in run.claim_plots:
            for row in filter(lambda row: row.lines_below, plot.rows):
                assert any(all(f"<br>{text}" in line for text in row.lines_below) for line in lines), row.id
                n_lines += len(row.lines_below)
    assert n_lines > 20


def test_a_benchmark_says_which_one_to_take_and_has_the_long_tables_in_files(pages):
    page = pages[REFERENCE / "paper-benchmark" / "README.md"]
    assert "![Private classifiers" in page.split("## ")[0] and "[kinds](tables/kinds.csv)" in page
    assert "| thrifty (ours), sound | 1.52 |" in page and "it prints none" not in page


def test_a_finding_is_that_of_the_paper_today_and_its_verdicts_are_those_of_the_run(monkeypatch):
    plant_finding(monkeypatch, numbers={"max-adult": "holds"}, text="By {max-adult} off.")
    run = reference_pages.read_published(REFERENCE / "paper-2")
    off = float(re.fullmatch(r"By ([\d.]+) percentage points off\.", run.finding)[1])
    difference = run.numbers.set_index("id").loc["max-adult", "difference"]
    assert off == pytest.approx(100 * abs(difference), rel=0.06) and run.misfits == []


def test_pages_are_not_written_where_prose_has_drifted(monkeypatch, capsys):
    plant_finding(monkeypatch, numbers={"max-adult": "open"}, privacy="holds")
    monkeypatch.setattr(reference_pages, "rewrite_pages", lambda: pytest.fail("a page was written"))
    assert exit_code("do=reference", "pages_only=true") == 2
    head = "error: conf/paper/2.yaml: the finding no longer fits its published run"
    assert capsys.readouterr().err.splitlines() == [
        f"{head}: number max-adult: it says that this is open; here it holds",
        f"{head}: privacy: it says that this holds; here it fails",
    ]
    run = reference_pages.read_published(REFERENCE / "paper-2")
    assert run.outcome.startswith("The sentence that was written about it no longer fits: number max-adult")
