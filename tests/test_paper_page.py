"""The page of a paper: what its first screen says, what its rows open to, and what is loaded only when it is opened."""

import html
import math
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser

import pytest

from experiments.config.finding import Sign
from experiments.config.paper import Speaker
from experiments.config.papers import read_paper
from experiments.judge.readings.sentences import list_curve_details, list_ranking_details
from plots.labels import SYMBOLS
from plots.pages.paper_results import render_page
from plots.pages.reference_pages import describe_paper
from plots.runs.paper_run import PaperRun
from plots.runs.run_folder import KEPT
from tests.browser import DESKTOP, TELEPHONE, fits, opened
from tests.published_report import published_papers, published_run, published_runs
from tests.test_plots import PAPER, REPORTED, Page, long_table, publish

pytestmark = pytest.mark.long

MOST_WORDS, MOST_BYTES, MOST_WORDS_OF_HEAD = 3200, 2_000_000, 60
PUBLISHED = published_papers()
VOID = ("meta", "br", "img")


class Words(HTMLParser):
    """Collects the words that a page shows before anything is opened, and all that it has."""

    def __init__(self, text):
        super().__init__()
        self.visible, self.all, self._open = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self._open.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self._open.pop()[0] == tag

    def handle_data(self, data):
        tags = [tag for tag, _ in self._open]
        if {"script", "style", "svg", "title", "pre"} & set(tags):
            return
        self.all += data.split()
        if not self._is_closed():
            self.visible += data.split()

    def _is_closed(self):
        inside = [tag for tag, _ in self._open[1:]]
        for (tag, attrs), inner in zip(self._open, [*inside, ""], strict=False):
            if tag == "details" and "open" not in attrs and inner != "summary":
                return True
        return False


@cache
def read_page(path):
    """Return a page and its words, which many tests look at."""
    page = path.read_text(encoding="utf-8")
    return page, Words(page)


@pytest.fixture(params=PUBLISHED)
def name(request):
    return request.param


@pytest.fixture
def run(name):
    return published_run(name)


@pytest.fixture
def page(published, name):
    """The page of a published run, in the report on all papers."""
    return read_page(published / f"paper-{name}.html")[0]


@pytest.fixture
def words(published, name):
    """What a reader sees of it before anything is opened."""
    return read_page(published / f"paper-{name}.html")[1].visible


@pytest.fixture(scope="module")
def made_up(tmp_path_factory):
    """The page of a made-up paper, without a finding and with claims of its own and a reading."""
    folder = tmp_path_factory.mktemp("made-up")
    (folder / "reported.csv").write_text(REPORTED, encoding="utf-8")
    (claim,) = PAPER["claims"]
    reading = claim | {"id": "turned", "text": "b is above a.", "better": "b", "worse": "a", "reading_of": "up"}
    claims = [claim, reading, claim | {"id": "ours", "text": "We ask more.", "own": True}]
    publish(PAPER | {"reported": str(folder / "reported.csv"), "claims": claims}, long_table(), folder)
    return folder


def test_a_page_is_short_and_small(page, words):
    assert len(words) <= MOST_WORDS
    assert len(page.encode()) <= MOST_BYTES


def test_what_holds_for_all_claims_is_said_briefly(page, run):
    head = re.search(r'<h2 id="claims">.*?</h2>\s*<p>(.*?)</p>', page, re.DOTALL)
    assert (head is None) == (not run.claims)
    assert head is None or len(head[1].split()) <= MOST_WORDS_OF_HEAD


def test_no_sentence_has_an_empty_value(words):
    assert re.findall(r".{0,40}(?<![=\w])(?:nan|NaN|None)\b.{0,40}", " ".join(words)) == []


def test_the_first_screen_has_promise_answers_and_finding_in_this_order(words, run):
    shown = " ".join(words)
    answers = run.shown_answers
    expected = [run.paper.promise or "", *(answer.question for answer in answers), run.finding]
    places = [shown.index(" ".join(sentence.split())) for sentence in expected if sentence]
    assert places == sorted(places) and places[-1] < shown.index("Tables")
    assert ("It promises:" in shown) == bool(run.paper.promise)
    assert ("We found:" in shown) == bool(run.paper.finding)
    for answer in answers:
        for sign, n in answer.counts.items():
            assert f"{SYMBOLS[sign]} {n} {sign.describe(n)}" in shown


def change_sign(run, kind):
    """Return a run whose finding takes another sign for granted, of one claim or printed number."""
    finding = run.paper.finding
    signs = getattr(finding, kind)
    key, sign = next(iter(signs.items()))
    other = next(one for one in Sign if one != sign)
    changed = finding.model_copy(update={kind: signs | {key: other}})
    return replace(run, paper=run.paper.model_copy(update={"finding": changed}))


def test_a_finding_that_no_longer_fits_is_an_alarm(page, run):
    kinds = [kind for kind in ("claims", "numbers") if run.paper.finding and getattr(run.paper.finding, kind)]
    assert run.misfits == [] and [kind for kind in kinds if not change_sign(run, kind).misfits] == []
    assert "no longer fits" not in page


def test_an_alarm_stands_on_the_page():
    page = render_page(change_sign(published_run("6"), "claims"))
    assert '<p class="alarm">This sentence no longer fits this run: ' in page and "We found:" not in page


def test_what_is_missing_or_stands_in_is_named_at_the_top(published):
    substituted = [name for name, run in published_runs().items() if run.paper.used_instead]
    assert substituted
    partial = replace(published_run(substituted[-1]), coverage=(3, 4))
    assert partial.notes[0] == "INCOMPLETE: 3 of 4 cells"
    pages = [(partial, Words(render_page(partial)), "INCOMPLETE: 3 of 4 cells")]
    for name in substituted:
        pages.append((published_run(name), read_page(published / f"paper-{name}.html")[1], "stands in for it"))
    for run, words, note in pages:
        shown = " ".join(words.visible)
        assert -1 < shown.find(note) < shown.index(run.shown_answers[0].question)


def test_a_reading_stands_inside_of_its_claim_only(page, run):
    page = html.unescape(page)
    rows = re.findall(r'<details class="row" id="claim-([^"]+)"', page.partition('id="claims"')[2])
    for claim in run.paper.claims:
        assert page.count(f'id="claim-{claim.id}"') == 1
        assert claim.reading_of is None or claim.reading_of in rows[: rows.index(claim.id)]
        assert f">{claim.text}" in page or claim.reading_of is not None


def test_all_files_of_a_run_can_be_reached(page, run, name):
    """Nothing that a reader can see goes: every file that the report keeps is linked, or a picture of the page."""
    linked = re.findall(rf'<a href="paper-{name}/([^"]+)"', page)
    reached = {*linked, *(one.removeprefix(f"paper-{name}/") for one in Page(page).pictures)}
    files = [path for pattern in KEPT for path in run.folder.glob(pattern)]
    shown = [path for path in files if path.parent.name != "tables" or path.stem in run.paper.exhibits]  # no older ones
    assert {path.relative_to(run.folder).as_posix() for path in shown} - reached == set()


def test_our_own_claims_are_apart(made_up):
    text = (made_up / "report.html").read_text(encoding="utf-8")
    assert text.index('id="claim-up"') < text.index('id="claim-turned"') < text.index('id="own-claims"')
    assert text.index('id="own-claims"') < text.index('id="claim-ours"')
    assert PaperRun.read(made_up).list_verdicts(Speaker.OURS)
    assert "We ask more." not in " ".join(Words(text).visible)


def test_a_figure_says_what_it_shows_with_numbers_of_its_rows(run, page):
    """Beside its title, which says what is asked: on the page of the report and, of the first one, as published."""
    page = html.unescape(page)
    captions = {exhibit.id: run.sum_up(exhibit) for exhibit in run.paper.figures}
    assert [name for name, caption in captions.items() if not caption] == []
    assert [caption for caption in captions.values() if caption not in page] == []
    published = describe_paper(run)
    first = re.search(r"^!\[.*\]\(figures/(\S+)\.svg\)\n", published, re.MULTILINE)
    assert not first or not captions[first[1]] or f"\n*{captions[first[1]]}*\n" in published


def test_a_data_set_of_another_name_is_said_to_be_which_one_it_is(published):
    """Papers 4 and 6 call two sets Diabetes, and paper 6 calls a part of CongVote Vote."""
    assert "Vote is Vote (complete rows) (vote_complete)" in published_run("6").names_of_data
    labels = [read_paper(name).labels for name in ("4", "6")]
    assert labels[0]["diabetes_prediction"] != labels[1]["pima"]
    for name in PUBLISHED:
        run = published_run(name)
        assert run.names_of_data in html.unescape(read_page(published / f"paper-{name}.html")[0])
        assert not run.names_of_data or "In the [list of data sets](" in describe_paper(run)


def test_our_own_studies_call_data_sets_as_the_list_does_and_no_paper_says_diabetes_alone():
    names = {name: published_run(name).names_of_data for name in PUBLISHED}
    assert {name: names[name] for name in ("3", "4", "benchmark", "benchmark-heavy")} == dict.fromkeys(
        ("3", "4", "benchmark", "benchmark-heavy"), ""
    )
    for paper in (published_run(name).paper for name in PUBLISHED):
        texts = [claim.text for claim in paper.claims] + [exhibit.title for exhibit in (*paper.tables, *paper.figures)]
        assert not [text for text in texts if re.search(r"(?<!Pima )Diabetes(?! prediction)", text)]


def test_what_a_caption_says_is_what_its_rows_say():
    run = published_run("2")
    (exhibit,) = (exhibit for exhibit in run.paper.figures if exhibit.id == "figure-1")
    frame = run.read_frame(exhibit)
    private = frame[frame["epsilon"] < math.inf].pivot(index="epsilon", columns="params.max_depth", values="mean")
    best, spread = private.idxmax(), private.max() - private.min()
    depth = spread.idxmax()
    (most,) = best.value_counts().index[:1]
    low, high = 100 * private[depth].min(), 100 * private[depth].max()
    caption = run.sum_up(exhibit)
    most_at = f"{(best == most).sum()} of 8 values"
    assert caption.startswith(f"Of those with noise, ε = {most:.2f} has the highest mean accuracy at {most_at}")
    assert (
        f"differ most at depth d = {depth}: {high:.1f} % (ε = {private[depth].idxmax():.2f}) and {low:.1f} % ("
        in caption
    )
    assert f"(ε = {private[depth].idxmin():.2f}). Of 14 printed numbers " in caption


def test_what_captions_of_other_kinds_say_is_what_their_rows_say():
    """Of a fit, a ledger and a curve of one metric against another."""
    fit, ledger, tradeoff = (
        (run, exhibit, run.read_frame(exhibit))
        for run, exhibit in (
            (published_run(name), published_run(name).paper.exhibits[figure])
            for name, figure in (("3", "figure-1"), ("4", "figure-3"), ("5", "relinking-car"))
        )
    )
    run, exhibit, frame = fit
    curves = frame[frame["line"] != "rows"].pivot(index="x", columns="line", values="y")
    apart = (curves["fm"] - curves["polynomial_regression"]).abs()
    assert f" = {apart.idxmax():.3g}: " in run.sum_up(exhibit)
    assert f"{curves['fm'][apart.idxmax()]:.3g} (FM-on-PR at ε = 0.1)" in run.sum_up(exhibit)
    run, exhibit, frame = ledger
    ends = frame[frame["purpose"] == "label of a leaf"]["epsilon"]
    assert f"the dearest step (label of a leaf) costs {ends.min():.3g} to {ends.max():.3g}" in run.sum_up(exhibit)
    assert "cost ε = 1 together" in run.sum_up(exhibit) and frame.groupby("value")["epsilon"].sum().round(9).eq(1).all()
    run, exhibit, frame = tradeoff
    best, lowest = frame.loc[frame["y"].idxmax()], frame.loc[frame["x"].idxmin()]
    said = run.sum_up(exhibit)
    assert f"The highest accuracy is {100 * best['y']:.1f} % (CPPPW" in said and f"h = {best['value']:g})" in said
    assert f"is {lowest['x']:.3g} (ASN" in said and said.endswith(f"accuracy = {100 * lowest['y']:.1f} %.")


@pytest.mark.system
@pytest.mark.parametrize("name", PUBLISHED)
def test_the_first_screen_is_one_screen(browser, published, name):
    with opened(browser, published / f"paper-{name}.html") as tab:
        page = tab.page
        for part in (".answers", ".first .sentence"):
            for shown in page.locator(part).all():
                box = shown.bounding_box()
                assert box["y"] + box["height"] <= DESKTOP["height"]
        picture = page.locator(".first figure svg, .first > div[id]").first.bounding_box()  # or the table that decides
        seen = min(picture["height"] / 2, 600)  # of ranks of many methods the comparisons below may be further down
        assert picture["y"] + seen <= DESKTOP["height"]


@pytest.mark.system
@pytest.mark.parametrize("screen", [DESKTOP, TELEPHONE], ids=["desktop", "telephone"])
def test_the_settings_of_a_claim_open_and_fit(browser, made_up, screen):
    with opened(browser, made_up / "report.html") as tab:
        page = tab.page
        if screen is TELEPHONE:
            tab.show_as_on_a_telephone()
        rows = page.locator("#claim-up > .inside > .settings li")
        assert rows.count() == 6 and not rows.first.is_visible()
        page.locator("#claim-up > summary").click()
        assert rows.last.is_visible() and "runs as claimed" in rows.last.inner_text()
        assert page.locator("#claim-turned > summary").is_visible()
        assert fits(page, screen["width"])
        above = page.locator("#claim-up > summary .zero").bounding_box()["x"]
        for row in rows.all():
            if screen is DESKTOP:
                assert row.locator(".zero").bounding_box()["x"] == pytest.approx(above, abs=1), "they share an axis"
            strip, dot = (row.locator(name).bounding_box() for name in (".strip", ".dot, .beyond"))
            assert strip["x"] - 8 <= dot["x"] and dot["x"] + dot["width"] <= strip["x"] + strip["width"] + 8


@pytest.mark.system
def test_a_picture_is_loaded_when_its_section_is_opened(browser, published):
    with opened(browser, published / "paper-2.html") as tab:
        page, asked = tab.page, []
        page.on("request", lambda request: asked.append(request.url))
        page.reload()
        page.wait_for_load_state("networkidle")
        assert [url for url in asked if url.endswith(".svg")] == []
        page.locator("summary", has=page.locator("h2", has_text="Figures")).click()
        picture = page.locator("#figures img").first
        picture.scroll_into_view_if_needed()
        page.wait_for_function("one => one.complete && one.naturalWidth > 0", arg=picture.element_handle())
        assert any(url.endswith("paper-2/figures/figure-2.svg") for url in asked)


@pytest.mark.system
@pytest.mark.parametrize("way", ["click", "key"])
def test_a_line_is_hidden_and_shown_again_from_the_legend(browser, made_up, way):
    with opened(browser, made_up / "report.html") as tab:
        entries = tab.page.locator(".first figure svg [role=button]")
        assert entries.count() >= 2
        first = entries.first
        drawn = (
            f".first figure svg [id^='{first.get_attribute('id').removesuffix('text')}']:not([role=button], [id$=key])"
        )

        def act():
            first.click() if way == "click" else first.press("Enter")
            return {shown.evaluate("one => getComputedStyle(one).display") for shown in tab.page.locator(drawn).all()}

        others = tab.page.locator(".first figure svg [id*='line-1-']").all()
        assert tab.page.locator(drawn).count() >= 2 and len(others) >= 4
        assert act() == {"none"} and first.get_attribute("aria-pressed") == "false"
        assert all(other.evaluate("one => getComputedStyle(one).display") != "none" for other in others)
        assert "none" not in act() and first.get_attribute("aria-pressed") == "true"


@pytest.mark.system
def test_a_drawing_follows_light_and_dark(browser, made_up):
    with opened(browser, made_up / "report.html") as tab:
        ground = tab.page.locator(".first figure svg path").first
        found = {}
        for scheme in ("light", "dark"):
            tab.page.emulate_media(color_scheme=scheme)
            found[scheme] = ground.evaluate("one => getComputedStyle(one).fill")
        assert found == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 27)"}


@pytest.mark.system
def test_a_link_opens_what_it_leads_to(browser, published):
    with opened(browser, published / "paper-2.html", java_script_enabled=False) as tab:
        assert not tab.page.locator("#privacy-table").is_visible()
        tab.page.locator("nav a", has_text="Privacy").click()
        assert tab.page.locator("#privacy-table").is_visible()


@pytest.mark.system
def test_an_address_opens_what_it_names(browser, published):
    with opened(browser, published / "paper-2.html") as tab:
        page, inside = tab.page, "document.querySelector(':target').open"
        for name in ("claim-grows-with-epsilon-ends", "number-max-adult"):
            shown = page.locator(f"[id='{name}'] > .inside > dl", has_text="run it again")
            assert not shown.is_visible()
            page.evaluate("name => { location.hash = name; }", name)
            shown.wait_for(state="visible")
            assert page.evaluate(inside) and page.locator(f"a[href='#{name}']").count() == 1
        page.reload()
        page.wait_for_function(inside)
        page.evaluate("location.hash = 'privacy-table'")
        page.locator("#privacy-table").wait_for(state="visible")


def test_what_is_opened_leads_to_words_code_entry_and_command(page, run):
    page = html.unescape(page)
    for evidence in (*run.traces.claims.values(), *run.traces.numbers.values()):
        assert f"<code>{evidence.entry}</code>" in page or "exact" in set(run.numbers["statistic"])
        assert all(f"<code>{place}</code>" in page for place in evidence.code.values())
        assert all(f"<pre>{command}</pre>" in page for command in evidence.commands)


@pytest.mark.system
def test_on_paper_stand_our_own_claims_too(browser, made_up):
    with opened(browser, made_up / "report.html") as tab:
        assert "We ask more." not in tab.page.locator("main").inner_text()
        tab.page.emulate_media(media="print")
        assert tab.page.locator("#claim-ours > summary").bounding_box()["height"] > 0


def test_what_readings_give_is_told_in_full(published):
    n_told = 0
    for name, run in published_runs().items():
        page = html.unescape((published / f"paper-{name}.html").read_text(encoding="utf-8"))
        told = [line for _, rows in run.list_rankings() for line in list_ranking_details(rows)]
        told += [line for _, rows in run.list_curves() for line in list_curve_details(rows)]
        assert [line for line in told if f"<li>{line}.</li>" not in page] == [], name
        n_told += len(told)
    assert n_told > 10


def test_the_finding_of_a_partial_run_says_so(published):
    run = published_run("2")
    partial = render_page(replace(run, coverage=(run.coverage[0] - 1, run.coverage[1])))
    assert "So far, after a part of its runs: " in partial
    assert "So far" not in read_page(published / "paper-2.html")[0]
