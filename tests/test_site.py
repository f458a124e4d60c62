"""The report on all papers, as files and as a browser shows it: the system's own, without the network."""

import html
import math
import re
import shutil

import pandas as pd
import pytest
import yaml

from experiments.config import paths
from experiments.errors import BadInput
from experiments.questions import printed
from plots.pages.readings import write_rankings
from plots.pages.report import build_report
from plots.runs.paper_run import PaperRun
from tests.browser import DESKTOP, TELEPHONE, column, fits, open_all, opened
from tests.command_line import exit_code
from tests.papers import fill_words, make_paper
from tests.test_plots import PAPER, REPORTED, Page, long_table, publish, without

pytestmark = pytest.mark.long

#: In the order in which a column that has them all is sorted.
ORDERED = [
    "-1.5e+09",
    "−2",
    "0.05 (0 to 1)",
    "84.0 (83 to 85)",
    "85.98 ± 0.2",
    "1,728",
    "no noise",
    "depth 3",
    "depth 10",
]


def make_up(folder):
    """Write a project of three papers: 7 ran here in part, 8 is published, 9 has not run; returns its results."""
    (folder / "conf/paper").mkdir(parents=True)
    (folder / "reported.csv").write_text(REPORTED, encoding="utf-8")
    for number in (7, 8, 9):
        paper = PAPER | {"number": number, "title": f"Trees & <forests> {number}", "reported": "reported.csv"}
        question = {"id": "tables", "title": "Table 2 <again>", "repeats": 4, "table": "table-2"}
        paper |= {"readings": [question]}
        (folder / f"conf/paper/{number}.yaml").write_text(yaml.safe_dump(fill_words(paper)), encoding="utf-8")
        paper |= {"figures": []} if number == 8 else {}  # those of one are looked at: to draw takes as long as all else
        runs = {7: ("results", without(long_table(), 3)), 8: ("results/reference", long_table(1))}
        if number in runs:
            parent, table = runs[number]
            run = folder / parent / f"paper-{number}"
            run.mkdir(parents=True)
            facts = '{"written": "2026-11-21T17:40:47+00:00", "git": {"revision": "0123456789", "dirty": true}}'
            (run / "provenance.json").write_text(facts, encoding="utf-8")
            publish(paper | {"reported": str(folder / "reported.csv")}, table, run)
    ranking = [_rank(place, text) for place, text in enumerate(["—", *reversed(ORDERED)], start=1)]
    write_rankings(make_paper(**paper), {"tables": pd.DataFrame(ranking)}, folder / "results/paper-7")
    return folder / "results"


def _rank(place, text):
    facts = {"question": "tables", "unit": "points", "rank": place, "reading": text, "distance": float(place)}
    facts |= {"kind": "reading", "low": place - 0.5, "high": place + 0.5, "in_set": place < 3, "p_set": 1.0 / place}
    facts |= {"uncorrected": place + 0.1, "noise_floor": 0.3, "first_half": place, "second_half": place}
    facts |= {"halves": "a | b", "keeps_epsilon": "no", "dropped_after": math.nan, "choice.text": text}
    return facts | {"times_label": 1.5, "unpaid": place == 2, "n": 4, "n_expected": 4, "n_full": 8}


@pytest.fixture(scope="module")
def made_up(tmp_path_factory):
    """A report on made-up papers, away from all else."""
    project = tmp_path_factory.mktemp("project")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "PAPERS", project / "conf/paper")
        patch.setattr(printed, "ROOT", project)
        patch.setattr(paths, "REFERENCE", project / "results/reference")
        index = build_report(make_up(project), ["7", "8", "9"])
    return shutil.move(index.parent, tmp_path_factory.mktemp("elsewhere") / "report")


@pytest.fixture(params=["made_up", "published"])
def report(request):
    return request.getfixturevalue(request.param)


def test_every_paper_is_named_and_said_to_be_what_it_is(made_up):
    index = html.unescape((made_up / "index.html").read_text(encoding="utf-8"))
    for said in (
        "This machine's run of 2026-11-21 at revision 0123456 with uncommitted changes.",
        "INCOMPLETE: 117 of 120 cells",
        "The published run of 2026-11-21",
        "Complete: all 120 cells.",
        "INCOMPLETE: not run; dp-replica run paper=9 runs it.",
        "9. Trees & <forests> 9",
    ):
        assert said in index
    pages = {"index.html", "claims.html", "paper-7.html", "paper-8.html"}
    assert {path.name for path in made_up.glob("*.html")} == pages
    rows = {row.partition(".")[0]: row for row in index.partition("<tbody>")[2].split('<th scope="row">')[1:]}
    assert [row.count("not run") for row in rows.values()][:2] == [0, 0] and rows["9"].count(">not run<") == 3
    assert "INCOMPLETE: 117 of 120 cells" in (made_up / "paper-7.html").read_text(encoding="utf-8")


def test_every_claim_and_number_is_listed(made_up):
    listed = (made_up / "claims.html").read_text(encoding="utf-8")
    rows = re.findall(r'<tr data-paper="(\d)[^"]*" data-sign="(\w+)" data-verdict="([^"]+)"', listed)
    assert len(rows) == 3 * (1 + 4), "a claim, three numbers and a fact of each paper"
    assert {(sign, verdict) for paper, sign, verdict in rows if paper == "9"} == {("open", "not run")}


def test_links_lead_somewhere_wherever_the_report_lies(report):
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in report.glob("*.html")}
    assert len(pages) > 1
    for path, page in pages.items():
        assert page.open == [] and page.fetched == [] and len(page.ids) == len(set(page.ids))
        assert all((path.parent / picture).is_file() for picture in page.pictures)
        for link in set(re.findall(r'<a href="([^"]+)"', path.read_text(encoding="utf-8"))):
            name, _, anchor = link.partition("#")
            target = path.parent / name if name else path
            assert target.is_file(), link
            assert "/" not in name or name.startswith((f"{path.stem}/", "sweeps/")), "of its own paper"
            assert not anchor or anchor in pages[target].ids, link


def test_no_page_names_a_path_of_a_machine(published):
    """That equal results give equal bytes, and nothing old stays: `test_installed.py`, from another place."""
    assert all(b"/tmp" not in path.read_bytes() for path in published.glob("*.html"))


def test_a_run_of_few_repeats_looks_partial(published, tmp_path):
    shutil.copytree(paths.REFERENCE / "paper-2", tmp_path / "paper-2")
    paper = yaml.safe_load((tmp_path / "paper-2/paper.yaml").read_text(encoding="utf-8"))
    (tmp_path / "paper-2/paper.yaml").write_text(yaml.safe_dump(paper | {"repeats": 1}), encoding="utf-8")
    build_report(tmp_path, ["2"])
    for name in ("index.html", "paper-2.html"):
        assert f"INCOMPLETE: 1 of {paper['repeats']} repeats" in (tmp_path / "report" / name).read_text(
            encoding="utf-8"
        )
        assert "INCOMPLETE" not in (published / name).read_text(encoding="utf-8")


def test_what_cannot_be_shown_is_said_in_one_line(tmp_path, capsys):
    with pytest.raises(BadInput, match="unknown paper 'x'; known are 1, "):
        build_report(tmp_path, ["x"])
    shutil.copytree(paths.REFERENCE / "paper-2", tmp_path / "paper-2")
    (tmp_path / "paper-2/privacy.json").unlink()
    assert exit_code("do=report", "paper=2", f"results={tmp_path}") == 2
    assert re.fullmatch("error: .*paper-2/privacy.json is missing; .*\n", capsys.readouterr().err)


def test_the_command_says_what_to_open(tmp_path, capsys):
    assert exit_code("do=report", "paper=2,3", f"results={tmp_path}") == 0
    index = tmp_path / "report" / "index.html"
    assert capsys.readouterr().out == f"open {index}\n"
    assert "paper-3.html" in index.read_text(encoding="utf-8")


def test_a_run_reads_back_as_it_was_written(made_up):
    run = PaperRun.read(made_up / "paper-7")
    assert run.paper.studies == make_paper(**PAPER).studies and run.coverage == (117, 120)
    assert all(isinstance(found.place["epsilon"], float) for found in run.claims[0].settings)
    table = run.paper.tables[1]
    printed = run.read_frame(table).set_index(["params.max_depth", "epsilon"])["printed"]
    assert printed.dropna().to_dict() == {(3, 0.05): 0.80012, (4, 1.0): 0.95, (4, math.inf): 0.8}
    assert (run.privacy[0]["times_label"], run.privacy[0]["keeps_claim"]) == (25, False)


@pytest.mark.system
def test_pages_open_and_fit(browser, report):
    for path in sorted(report.glob("*.html")):
        with opened(browser, path) as tab:
            page = tab.page
            assert page.locator("h1").is_visible()
            assert fits(page, DESKTOP["width"])
            assert page.locator("table thead th:not(:has(button))").count() == 0
            tab.show_as_on_a_telephone()
            assert page.locator("h1").is_visible()
            assert fits(page, TELEPHONE["width"])
            targets = page.locator("nav a, .files a, th button, select")
            heights = targets.evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")
            assert min(filter(None, heights)) >= 40
            assert page.locator("td").first.evaluate("cell => parseFloat(getComputedStyle(cell).fontSize)") >= 14


@pytest.mark.system
def test_columns_sort_by_click(browser, made_up):
    with opened(browser, made_up / "paper-7.html") as tab:
        page = tab.page
        open_all(page)
        rank, reading = (page.locator("#table-of-readings-tables th").nth(i) for i in (0, 1))
        reading.locator("button").click()
        assert column(page, "table-of-readings-tables", 2) == [*ORDERED, "—"]
        assert reading.get_attribute("aria-sort") == "ascending"
        reading.locator("button").click()
        assert column(page, "table-of-readings-tables", 2) == [*reversed(ORDERED), "—"]
        assert reading.get_attribute("aria-sort") == "descending"
        rank.locator("button").click()
        assert column(page, "table-of-readings-tables", 1)[:3] == ["1", "2", "3"]
        assert reading.get_attribute("aria-sort") is None
        page.locator("#number-table th button").first.click()
        assert [text[0] for text in column(page, "number-table", 1)] == ["✓", "✓", "?"]
        page.locator("#number-table th button").first.click()
        assert [text[0] for text in column(page, "number-table", 1)] == ["?", "✓", "✓"]
        page.locator("#table-of-table-2 th button").nth(1).click()
        shown = [float(text.split()[0]) for text in column(page, "table-of-table-2", 2)]
        assert shown == sorted(shown)


@pytest.mark.system
def test_columns_sort_by_keyboard(browser, made_up):
    with opened(browser, made_up / "claims.html") as tab:
        page = tab.page
        while page.evaluate("document.activeElement.closest('#numbers thead') === null"):
            page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")  # from the paper over the sign to what is printed
        page.keyboard.press("Enter")
        page.keyboard.press("Space")
        assert page.evaluate("document.activeElement.closest('th').getAttribute('aria-sort')") == "descending"
        texts = [text.partition("\n")[0] for text in column(page, "numbers", 3)]
        assert texts == sorted(texts, reverse=True) and texts[0] == "Car: rows"


@pytest.mark.system
def test_the_list_shows_what_is_asked_for(browser, made_up):
    with opened(browser, made_up / "claims.html") as tab:
        page = tab.page
        assert page.locator("output").inner_text() == "3 of 3 claims, 12 of 12 numbers and facts"
        page.locator("select[name=paper]").select_option(index=1)
        page.locator("select[name=verdict]").select_option("undecided")
        assert page.locator("output").inner_text() == "1 of 3 claims, 1 of 12 numbers and facts"
        assert column(page, "numbers", 4) == ["95.000"]


@pytest.mark.system
def test_light_and_dark_differ(browser, report):
    seen = []
    with opened(browser, report / "index.html") as tab:
        for scheme in ("light", "dark"):
            tab.page.emulate_media(color_scheme=scheme)
            style = "getComputedStyle(document.body)"
            seen.append(tab.page.evaluate(f"[{style}.backgroundColor, {style}.color]"))
    assert not set(seen[0]) & set(seen[1])


@pytest.mark.system
def test_without_a_script_the_tables_are_there(browser, made_up):
    for name, table in (("index.html", "papers"), ("claims.html", "claims"), ("paper-7.html", "number-table")):
        with opened(browser, made_up / name, java_script_enabled=False) as tab:
            page = tab.page
            open_all(page)
            assert page.locator(f"#{table} tbody tr").first.is_visible()
            assert page.locator(f"#{table} tbody tr").last.is_visible()
            assert page.locator("form").count() == 0 or not page.locator("form").is_visible()
            assert page.locator("th button").count() == 0
