"""Every page of the report can be read and used: by its names, its colours, its keys, a narrow screen and on paper."""

import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from plots.labels import SYMBOLS
from plots.sweeps.sweep_folder import write_sweep
from tests.browser import fits, open_all, opened
from tests.made_up_sweeps import run_sweep
from tests.published_report import published_papers

pytestmark = pytest.mark.system

PAGES = ("index", "claims", *(f"paper-{name}" for name in published_papers()))
NARROW = 400
#: What a key can reach: those that are shown.
INTERACTIVE = """[...document.querySelectorAll("a[href], button, select, input, textarea, summary, [tabindex='0']")]
  .filter((one) => one.checkVisibility({visibilityProperty: true}) && !one.disabled)"""
#: Words whose colour is that of a sign, outside of bars and drawings; in these another word says it.
COLOURED = """(() => {
  const signs = ["--good", "--bad", "--mixed", "--open"].map((name) => {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.color = `var(${name})`;
    const colour = getComputedStyle(probe).color;
    probe.remove();
    return colour;
  });
  const texts = [];
  for (const one of document.querySelectorAll("body *")) {
    const isColoured = (node) => signs.includes(getComputedStyle(node).color);
    if (one.closest("svg, [aria-hidden=true], .alarm, script, style") || !isColoured(one)) continue;
    if (isColoured(one.parentElement)) continue;
    texts.push(one.getAttribute("aria-label") ?? one.textContent.trim());
  }
  return texts;
})()"""
#: Makes the engine quick: it asks for the place of each part of a drawing, though none is checked but for what a key
#: can reach.
HURRY = """(() => {
  const seen = "title, desc, a, [tabindex], [role]";
  for (const one of document.querySelectorAll("svg > *")) {
    if (!one.matches(seen) && !one.querySelector(seen)) one.remove();
  }
})()"""
#: Of rows alike in all but their words, and in how wide something is drawn, two stay: they have the same colours,
#: roles and names, which the engine works out for each word anew, and the same keys. A word that is missing is no word.
THIN = """(() => {
  const kept = /^(class|style|open|hidden|aria-hidden|data-name|tabindex|disabled|inert|contenteditable|role|lang)$/;
  const shapeOf = (one) => one.outerHTML.replace(/>[^<]*[^<\\s][^<]*/g, ">w").replace(/[\\d.]+%/g, "")
    .replace(/ ([-a-z]+)="[^"]*"/g, (all, name) => kept.test(name) || all.endsWith('=""') ? all : ` ${name}`);
  const seen = new Map();
  for (const one of document.querySelectorAll("tbody tr, li, details")) {
    if (!seen.has(one.parentElement)) seen.set(one.parentElement, {});
    const shapes = seen.get(one.parentElement), shape = shapeOf(one);
    shapes[shape] = (shapes[shape] ?? 0) + 1;
    if (shapes[shape] > 2) one.remove();
  }
})()"""
#: Notes what gets the focus, and how that shows.
FOCUS = """(() => {
  window.reached = [];
  document.addEventListener("focusin", ({target}) => {
    const style = getComputedStyle(target);
    const isShown = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
    reached.push([Number(target.dataset.reach), isShown ? "" : target.outerHTML.slice(0, 100)]);
  });
})()"""
SIGN = re.compile(f"[{re.escape(''.join(SYMBOLS.values()))}]\\s+\\S*\\w")


@pytest.fixture(scope="module", params=PAGES)
def path(request, published):
    return published / f"{request.param}.html"


@pytest.fixture(scope="module")
def shown(browser, path):
    """A tab of its own, which opens a page once for all tests that leave it as it is."""
    with opened(browser, path, color_scheme="light") as tab:
        yield tab


@pytest.fixture
def page(shown):
    """The page, on a screen and in the light."""
    shown.page.emulate_media(color_scheme="light", media="screen")
    return shown.page


def find_faults(page, **options):
    """Return what axe-core finds wrong in a page; what a drawing consists of is no text to it."""
    page.evaluate(HURRY)
    page.evaluate(THIN)
    found = Axe().run(page, context={"exclude": ["svg *"]}, options={"resultTypes": ["violations"], **options})
    return found.generate_report() if found.violations_count else ""


def find_unreadable(page):
    """Return the words of too little contrast; nothing is left of what is closed."""
    page.locator("details:not([open]) > :not(summary)").evaluate_all("all => all.forEach((one) => one.remove())")
    return find_faults(page, runOnly=["color-contrast"])


def test_an_engine_finds_nothing(browser, path):
    """Names and roles, the order of headings, landmarks: all rules of axe-core but one, best practices included."""
    with opened(browser, path) as tab:
        assert find_faults(tab.page, rules={"color-contrast": {"enabled": False}}) == ""


def test_words_can_be_read_in_the_light_and_in_the_dark(browser, path):
    with opened(browser, path) as tab:
        for scheme in ("light", "dark"):
            tab.page.emulate_media(color_scheme=scheme)
            assert find_unreadable(tab.page) == "", scheme


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        ("color-contrast", "document.querySelector('main p').style.color = '#aaaaaa'"),
        ("color-contrast", "[...document.querySelectorAll('tbody tr *')].at(-1).style.color = '#aaaaaa'"),
        ("heading-order", "document.querySelector('h1').outerHTML += '<h4>deeper</h4>'"),
        ("link-name", "document.querySelector('main a').textContent = ''"),
        ("landmark-one-main", "document.querySelector('main').outerHTML = '<p>nothing</p>'"),
        ("link-name", "[...document.querySelectorAll('tbody tr a')].at(-1).textContent = ''"),
        ("aria-required-attr", "[...document.querySelectorAll('tbody tr')].at(-2).setAttribute('role', 'heading')"),
        ("region", "document.body.insertAdjacentHTML('beforeend', '<p>outside of every landmark</p>')"),
    ],
)
def test_the_engine_finds_what_is_planted(browser, published, rule, fault):
    find = find_unreadable if rule == "color-contrast" else find_faults
    with opened(browser, published / ("claims.html" if "tbody" in fault else "index.html")) as tab:
        tab.page.evaluate(fault)
        assert f"Rule Violated:\n{rule} - " in find(tab.page)


def test_each_key_reaches_the_next_and_shows_where_it_is(browser, path):
    with opened(browser, path) as tab:
        page = tab.page
        page.evaluate(THIN)
        reachable = page.evaluate(f"{INTERACTIVE}.map((one, i) => (one.dataset.reach = i))")
        page.evaluate(FOCUS)
        for _ in reachable:
            page.keyboard.press("Tab")
        reached, unseen = zip(*page.evaluate("reached"), strict=True)
        assert list(reached) == reachable
        assert list(filter(None, unseen)) == []


def test_a_narrow_screen_need_not_be_moved_sideways(browser, path):
    with opened(browser, path) as tab:
        tab.show_as_on_a_telephone(NARROW)
        page = tab.page
        open_all(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW == page.evaluate("innerWidth")


def test_no_sign_is_told_by_its_colour_alone(page):
    assert [text for text in page.evaluate(COLOURED) if not SIGN.match(text)] == []


def test_nothing_shows_an_empty_value(page):
    words = page.evaluate("""(() => {
      const body = document.body.cloneNode(true);
      for (const one of body.querySelectorAll("script, style, svg, pre")) one.remove();
      return body.textContent;
    })()""")
    assert re.findall(r".{0,40}(?<![=\w])(?:nan|NaN|None)\b.{0,40}", words) == []


def test_paper_is_white_whatever_the_screen(page):
    page.emulate_media(color_scheme="dark", media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    bars = page.locator(".bar").evaluate_all("all => all.map((one) => getComputedStyle(one).printColorAdjust)")
    assert set(bars) <= {"exact"}, "else browsers leave their colours out"


def test_on_paper_stands_what_matters(page):
    words = "document.body.innerText"
    on_screen = page.evaluate(words).split()
    page.emulate_media(media="print")
    assert page.locator("nav:visible, form:visible").count() == 0
    navigation = page.evaluate(
        """[...document.querySelectorAll("nav, form")].map((one) => one.textContent).join(" ")"""
    )
    on_paper = page.evaluate(words).split()
    missing = sorted(set(on_screen) - set(on_paper) - set(navigation.split()))
    assert missing == [], json.dumps(missing, ensure_ascii=False)
    cut = page.locator(".scroll:visible").evaluate_all(
        "all => all.filter((one) => getComputedStyle(one).overflowX !== 'visible').map((one) => one.className)"
    )
    assert cut == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_a_sweep_can_be_read(browser, tmp_path, scheme, without_pdf):
    axes = {"dataset": ["car", "nursery"], "algorithm": ["rdt", "majority"], "epsilon": [0.1, 1]}
    run = run_sweep(lambda cell: None if cell.repeat == 2 else {"accuracy": min(cell.epsilon, 0.9)}, **axes)
    write_sweep(run, "x", {"command": "run"}, tmp_path)
    with opened(browser, tmp_path / "report.html") as tab:
        tab.page.emulate_media(color_scheme=scheme)
        assert find_faults(tab.page) == ""
        assert "INCOMPLETE: car, rdt, ε = 0.1: 2 of 3 runs" in tab.page.locator("body").inner_text()
        tab.show_as_on_a_telephone(NARROW)
        assert fits(tab.page, NARROW)
