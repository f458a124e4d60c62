"""The report's front page and its page of all claims: what a reader learns from them, and how briefly."""

import html
import json
import re
import shutil

import pytest
import yaml

from experiments.config.finding import Sign
from experiments.config.paper import Speaker
from experiments.config.papers import read_paper
from experiments.config.paths import REFERENCE
from experiments.questions.printed import read_numbers_of
from plots.pages import report
from plots.pages.report import build_report
from tests.browser import column, opened
from tests.published_report import published_papers, published_run, published_runs

pytestmark = pytest.mark.long

MOST_WORDS = 1000
NO_DRAWINGS = "document.querySelectorAll('svg').forEach((one) => one.remove())"
PAPERS = [name for name in published_papers() if name.isdigit()]


def read_text(path):
    """Return the words of a page without its marks; those of a script or style do not count."""
    text = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def read_rows(index):
    """Return the words of each row of the table of papers, by the paper's number."""
    table = index.read_text(encoding="utf-8").partition('id="papers"')[2].partition("</tbody>")[0]
    rows = {}
    for row in table.split("<tr>")[2:]:
        text = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", row)).split())
        rows[text.partition(".")[0]] = text
    return rows


def report_changed(tmp_path, name, file="paper.yaml", change=lambda text: text):
    """Return the front page of a report on one paper, of whose published run one file is changed."""
    run = shutil.copytree(REFERENCE / f"paper-{name}", tmp_path / f"paper-{name}")
    text = (run / file).read_text(encoding="utf-8")
    changed = change(text)
    assert changed != text
    (run / file).write_text(changed, encoding="utf-8")
    return build_report(tmp_path, [name])


def drop_keys(*keys):
    def change(text):
        kept = {key: value for key, value in yaml.safe_load(text).items() if key not in keys}
        return yaml.safe_dump(kept, allow_unicode=True, sort_keys=False)

    return change


@pytest.mark.parametrize("name", PAPERS)
def test_a_row_gives_the_three_answers_and_the_finding(published, name):
    run, row = published_run(name), read_rows(published / "index.html")[name]
    assert row.startswith(f"{name}. {run.paper.title.partition(':')[0]} ")
    assert all(answer.words in row for answer in run.answers) and run.answers[-1].reason in row
    assert row.endswith(run.finding)


@pytest.mark.parametrize("name", PAPERS)
def test_what_a_row_counts_is_the_papers_own(published, name):
    run = published_run(name)
    signs = [claim.verdict.sign for claim in run.claims if speaker_of(run, claim) == Speaker.PAPER]
    assert f"{signs.count('holds')} of {len(signs)} hold" in read_rows(published / "index.html")[name]


def test_an_answer_that_is_counted_has_a_bar_and_a_plain_one_its_sign(published):
    index = (published / "index.html").read_text(encoding="utf-8")
    row = index.partition('<th scope="row"><a href="paper-2.html">')[2].partition("</tr>")[0]
    _, _, claims, private, _ = row.split("<td ")
    answer = published_run("2").answers[1]
    n_holding, n_failing = answer.counts[Sign.HOLDS], answer.counts[Sign.FAILS]
    assert f'<span class="answer "><a href="paper-2.html#claims">{answer.words}</a></span>' in claims
    assert f'<span class="good" style="flex-grow: {n_holding}"></span>' in claims
    assert f'<span class="v bad">✗ {n_failing} {Sign.FAILS.describe(n_failing)}</span>' in claims
    assert "✓" not in claims
    assert '<span class="answer bad"><a href="paper-2.html#privacy">✗ no</a></span>' in private
    assert 'class="bar"' not in private and 'class="others"' not in private


def speaker_of(run, claim):
    return run.paper.speaker_of(run.paper.claims_by_id[claim.id])


def test_data_that_stand_in_for_others_are_named(published):
    rows = read_rows(published / "index.html")
    assert [name for name, row in rows.items() if "is not available:" in row] == ["3"]


def test_a_sentence_that_does_not_fit_its_run_says_so(published, tmp_path):
    name, claim = next(
        (name, claim.id)
        for name, run in published_runs().items()
        for claim in run.claims
        if claim.verdict == "refuted" and run.paper.finding.claims.get(claim.id) == Sign.FAILS
    )
    index = report_changed(tmp_path, name, "claims.json", lambda text: text.replace('"refuted"', '"reproduced"'))
    assert f"does not fit the run that is shown: claim {claim}: it says that this fails" in read_text(index)
    assert "does not fit" not in read_text(published / "index.html")


def test_a_paper_without_a_finding_shows_what_it_claims(tmp_path):
    row = read_rows(report_changed(tmp_path, "2", change=drop_keys("finding")))["2"]
    assert row.endswith(f"It claims: {published_run('2').paper.promise}")


def test_a_paper_without_any_sentence_is_shown(tmp_path):
    row = read_rows(report_changed(tmp_path, "2", change=drop_keys("finding", "promise")))["2"]
    assert row.endswith(published_run("2").answers[-1].reason), "the reason of the answer before it"


def test_what_is_not_run_says_so_and_is_listed(monkeypatch, tmp_path):
    monkeypatch.setattr(report, "find_reference", lambda _: tmp_path / "nothing")
    index, paper = build_report(tmp_path, ["2", "benchmark"]), read_paper("2")
    row = read_rows(index)["2"]
    assert "INCOMPLETE: not run; dp-replica run paper=2 runs it." in row and row.count(" not run not run not run ") == 1
    assert "INCOMPLETE: not run; dp-replica run paper=benchmark runs it." in read_text(index)
    assert "<svg" not in index.read_text()
    listed = (index.parent / "claims.html").read_text(encoding="utf-8")
    n_numbers = len(read_numbers_of(paper))
    assert listed.count("<tr data-paper=") == n_numbers + len(paper.claims)
    assert listed.count('data-verdict="not run"') > n_numbers, "a few are decided without a run"


def test_one_picture_says_which_method_to_take(published, tmp_path):
    index = (published / "index.html").read_text(encoding="utf-8")
    section = index.partition("Which private method to take</h2>")[2]
    assert section.count("<svg") == 1 and "take thrifty (ours)" in section and 'href="paper-benchmark.html"' in section
    alone = build_report(tmp_path, ["2"])
    assert "Which private method" not in alone.read_text(encoding="utf-8")


def test_every_claim_and_number_of_every_paper_is_listed(published):
    listed = (published / "claims.html").read_text(encoding="utf-8")
    assert listed.count("<tr data-paper=") == sum(
        len(run.claims) + len(run.numbers) for run in published_runs().values()
    )
    for name, run in published_runs().items():
        for claim in run.claims:
            assert f'href="paper-{name}.html#claim-{claim.id}"' in listed


@pytest.mark.parametrize("name", PAPERS)
def test_a_reading_stands_with_the_claim_that_it_reads(published, name):
    said = read_text(published / "claims.html")
    readings = [claim for claim in published_run(name).paper.claims if claim.reading_of]
    assert readings
    for claim in readings:
        text = published_run(name).paper.claims_by_id[claim.reading_of].text
        assert " ".join(f"{text} — another reading: {claim.text}".split()) in said


@pytest.mark.system
def test_the_front_page_is_short(browser, published):
    with opened(browser, published / "index.html") as tab:
        tab.page.evaluate(NO_DRAWINGS)
        assert 300 < len(tab.page.locator("body").inner_text().split()) <= MOST_WORDS


@pytest.mark.system
def test_the_front_page_is_short_with_many_sweeps(browser, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "render_page", lambda *_: "")  # nobody opens the pages of papers here
    for number in range(30):
        folder = tmp_path / "sweeps" / f"car-nursery-rfdpp_gini-majority-epsilon-{number}"
        folder.mkdir(parents=True)
        varies = "data set (car, nursery), algorithm (rfdpp_gini, majority), ε (6 values)"
        sweep = {"identity": "x", "varies": varies, "incomplete": False}
        facts = {"sweep": sweep, "written": f"2024-01-{number + 1:02}", "command": "dp-replica dataset=car"}
        (folder / "provenance.json").write_text(json.dumps(facts), encoding="utf-8")
        (folder / "report.html").touch()
    with opened(browser, build_report(tmp_path, published_papers())) as tab:
        tab.page.evaluate(NO_DRAWINGS)
        text = tab.page.locator("body").inner_text()
        assert "epsilon-29" in text and "15 older ones" in text and len(text.split()) <= MOST_WORDS


@pytest.mark.system
def test_papers_sort_by_what_came_out(browser, published):
    with opened(browser, published / "index.html") as tab:
        tab.page.locator("#papers th button").nth(1).click()
        keys = tab.page.locator("#papers tbody td:nth-child(2)").evaluate_all(
            "all => all.map((one) => one.dataset.key)"
        )
        assert keys[-1] == "", "what cannot be read of paper 1 stays last"
        shares = list(map(float, keys[:-1]))
        assert shares == sorted(shares) and shares[0] < shares[-1]


@pytest.mark.system
def test_claims_are_found_by_their_words_and_by_what_came_out(browser, published):
    with opened(browser, published / "claims.html") as tab:
        page, claims = tab.page, [claim for run in published_runs().values() for claim in run.claims]
        n_claims = len(claims)
        shown = page.locator("#claims tbody tr:visible")
        assert shown.count() == n_claims
        page.get_by_label("Search").fill("Nursery  RDT")
        texts = [text.lower() for text in shown.all_inner_texts()]
        assert 0 < len(texts) < n_claims and all("nursery" in text and "rdt" in text for text in texts)
        assert page.locator("output").inner_text().startswith(f"{len(texts)} of {n_claims} claims, ")
        page.get_by_label("Search").fill("")
        page.locator("[name=sign]").select_option("depends")
        page.locator("[name=whose]").select_option("the paper's")
        depending = [
            claim for run in published_runs().values() for claim in run.claims if claim.verdict.shown == "depends"
        ]
        assert 0 < shown.count() <= len(depending)
        assert set(column(page, "claims", 3)) == {"the paper's"}
        assert all(text.startswith("◐") for text in column(page, "claims", 2))
        page.locator("[name=paper]").select_option(index=2)
        of_2 = [claim for claim in published_run("2").claims if claim in depending]
        assert shown.count() == sum(speaker_of(published_run("2"), claim) == Speaker.PAPER for claim in of_2)
        page.get_by_label("Search").press("Enter")
        assert page.url.partition("#")[0].endswith("claims.html"), "nothing is sent"


@pytest.mark.system
def test_an_address_holds_what_is_asked_for_and_how_tables_are_sorted(browser, published):
    with opened(browser, published / "claims.html") as tab:
        page, shown = tab.page, tab.page.locator("#claims tbody tr:visible")
        page.locator("[name=sign]").select_option("fails")
        page.get_by_label("Search").fill("ε = 1")
        page.locator("#claims th button").first.click()
        page.locator("#claims th button").first.click()
        address, texts = page.url, shown.all_inner_texts()
        assert len(texts) > 3 and column(page, "claims", 1)[0].startswith("6.")
        page.get_by_label("Search").fill("")
        page.locator("[name=sign]").select_option("")
        assert shown.count() > len(texts)
        page.evaluate("address => { location.href = address; }", address)
        page.wait_for_function(
            "n => document.querySelectorAll('#claims tbody tr:not([hidden])').length === n", arg=len(texts)
        )
        assert shown.all_inner_texts() == texts
        page.reload()
        assert shown.all_inner_texts() == texts and page.get_by_label("Search").input_value() == "ε = 1"
        page.evaluate("location.hash = 'sign=nonsense&claims=nonsense'")
        page.wait_for_function("document.querySelector('[name=sign]').value === ''")


@pytest.mark.system
def test_claims_sort_by_their_sign(browser, published):
    with opened(browser, published / "claims.html") as tab:
        tab.page.locator("#claims th button").nth(1).click()
        signs = [text[0] for text in column(tab.page, "claims", 2)]
        assert len(set(signs)) >= 5
        assert [sign for i, sign in enumerate(signs) if sign not in signs[:i]] == list(dict.fromkeys(signs))
        assert signs == sorted(signs, key="✓≈◔◐?✗".index)


@pytest.mark.system
def test_how_many_rows_are_shown_is_read_aloud(browser, published):
    with opened(browser, published / "claims.html") as tab:
        assert tab.page.locator("output").get_attribute("aria-live") == "polite"
        total = json.dumps(sum(len(run.numbers) for run in published_runs().values()))
        assert tab.page.locator("output").inner_text().endswith(f", {total} of {total} numbers and facts")


@pytest.mark.system
def test_without_a_script_all_rows_are_shown_and_no_form(browser, published):
    with opened(browser, published / "claims.html", java_script_enabled=False) as tab:
        rows = tab.page.locator("#claims tbody tr, #numbers tbody tr")
        assert rows.count() > 200 and rows.last.is_visible() and not tab.page.locator("form").is_visible()
