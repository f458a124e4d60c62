"""The documentation holds: links lead somewhere, commands compose, code runs, the site is whole and offline."""

import importlib.util
import re
import runpy
import shlex
import signal
import subprocess
import sys
from fnmatch import fnmatchcase
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest

import algorithms
from documents import search_path
from experiments.command_line import find_command, translate_words
from experiments.judge.verdict import Verdict
from tests.browser import DESKTOP, TELEPHONE, fits, opened
from tests.shared_folders import once_for_all_workers

PROJECT = Path(__file__).resolve().parents[1]
OWN = [PROJECT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES = [*OWN, *sorted((PROJECT / "docs").rglob("*.md")), *sorted((PROJECT / "results").rglob("*.md"))]
TEXTS = {path.relative_to(PROJECT).as_posix(): path.read_text(encoding="utf-8") for path in PAGES}
FOLDERS = ("algorithms/", "conf/", "datasets/", "experiments/", "plots/", "tests/", "docs/", ".ci/", ".github/")
FOLDERS += ("examples/", "results/reference", "results/bands", "results/reported")
DRY_RUN = "dry_run=true"
OUR_WORDS = [
    "cell",
    "study",
    "repeat",
    "reading",
    "margin (δ)",
    "sound variant",
    "account",
    "fault",
    "band",
    "substitute",
]
GENERATED = (
    *("docs/paper-keys.md", "docs/dataset-keys.md", "docs/data-sets.md"),
    *("docs/calibration.md", "docs/results.md"),
)
TABLES_OF_ALL = ("docs/paper-keys.md", "docs/dataset-keys.md", "docs/calibration.md")
"""Generated pages that are mostly tables, to look things up in: they are as long as there are rows."""


def fenced_blocks(text, language):
    blocks = re.findall(r"^```([\w{}]*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    return [block for name, block in blocks if name == language]


def code_spans(text):
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))


def shell_commands():
    """Every line of a block without a language is a command for the shell."""
    blocks = [block for text in TEXTS.values() for block in fenced_blocks(text, "")]
    lines = [line for block in blocks for line in block.splitlines()]
    return sorted(set(filter(None, lines)))


SWEEPS = [line for line in shell_commands() if line.startswith(("python -m experiments ", "dp-replica "))]


@pytest.mark.parametrize("page", TEXTS)
def test_every_link_and_picture_is_there(page):
    targets = re.findall(r"\]\((?![a-z]+:)([^)#\s]+)", TEXTS[page])
    assert [target for target in targets if not (PROJECT / page).parent.joinpath(target).exists()] == []


@pytest.mark.parametrize("page", TEXTS)
def test_every_file_that_is_named_is_there(page):
    named = [span for span in code_spans(TEXTS[page]) if span.startswith(FOLDERS) and " " not in span]
    patterns = [re.sub(r"\bN\b|\bNAME\b|coin|small", "*", name) for name in named]
    assert [name for name in patterns if "*" not in name and not (PROJECT / name).exists()] == []


def test_every_make_target_is_there():
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z%-]+):", makefile, flags=re.MULTILINE))
    spans = [span for text in TEXTS.values() for span in code_spans(text)]
    commands = [command for command in [*spans, *shell_commands()] if command.startswith("make ")]
    words = [word for command in commands for word in shlex.split(command, comments=True)[1:] if "=" not in word]
    named = {re.sub(r"^reproduce-paper-.$", "reproduce-paper-%", word) for word in words}
    assert {"demo", "test", "docs", "audit", "reproduce-paper-%"} <= named <= targets


def test_every_command_line_is_a_make_target_or_a_module():
    strange = []
    for line in shell_commands():
        words = shlex.split(line, comments=True)
        is_module = words[:2] == ["python", "-m"] and importlib.util.find_spec(words[2])
        if words and words[0] not in ("make", "dp-replica") and not is_module:
            strange.append(line)
    assert strange == []


@pytest.mark.parametrize("line", SWEEPS)
def test_every_sweep_composes(line, tmp_path, monkeypatch, capfd):
    program = ["dp-replica"] if line.startswith("dp-replica ") else ["python", "-m", "experiments"]
    words = [word for word in translate_words(shlex.split(line)[len(program) :]) if word != DRY_RUN]
    is_run = find_command(words) == "reproduce"
    how = [f"results={tmp_path}", DRY_RUN] if is_run else ["--cfg", "job"]
    monkeypatch.setattr(sys, "argv", ["experiments", *words, *how])
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")
    monkeypatch.setenv(search_path.VARIABLE, "")  # so that a line's --config-dir ends with it
    code = 0
    try:  # in this process: a new one would spend seconds on imports
        runpy.run_module("experiments", run_name="__main__")
    except SystemExit as ended:
        code = ended.code
    printed = capfd.readouterr()
    if "make peers" in printed.err:
        pytest.skip("the environment of the peers is not there")
    assert code == 0, printed.err
    assert " to run" in printed.err if is_run else re.search(r"^\w+: ", printed.out, flags=re.MULTILINE)


@pytest.mark.parametrize("page", ["docs/algorithms.md", "docs/install.md", "docs/releasing.md"])
def test_the_code_runs(page, tmp_path, monkeypatch):
    pytest.importorskip("opendp")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(17, 91, 60), "sex": rng.choice(["Female", "Male"], 60)})
    columns = (algorithms.Continuous("age", 17, 90), algorithms.Nominal("sex", ("Female", "Male")))
    domain = algorithms.Domain(columns, algorithms.Nominal("income", ("<=50K", ">50K")))
    names = {"X": X, "y": rng.choice(["<=50K", ">50K"], 60), "domain": domain}
    blocks = fenced_blocks(TEXTS[page], "python")
    assert blocks
    for block in blocks:
        exec(block, names)
    model = names.get("forest", names.get("model"))
    rows = names["car"].frame if "car" in names else X
    assert len(model.predict(rows)) == len(rows)


def test_pages_are_short():
    lengths = {page: len(text.splitlines()) for page, text in TEXTS.items() if page.startswith("docs/")}
    assert {
        page: length
        for page, length in lengths.items()
        if length > 130 and page not in (*TABLES_OF_ALL, "docs/tutorial.md", "docs/results.md")  # a chapter a paper
    } == {}


def test_the_glossary_has_the_ten_words_of_our_own_and_those_of_the_field():
    ours, theirs = TEXTS["docs/glossary.md"].split("\n## ")[1:]
    words = re.findall(r"^\| \*\*(.+?)\*\* \|", ours, flags=re.MULTILINE)
    assert words == OUR_WORDS
    words_of_field = set(re.findall(r"^\| \*\*(.+?)\*\* \|", theirs, flags=re.MULTILINE))
    assert {"ε", "neighbouring tables", "sensitivity", "ledger", "release", "audit", "peer", "claim"} <= words_of_field


def test_verdicts_begin_with_the_four_signs_and_every_kind_of_verdict():
    table = TEXTS["docs/verdicts.md"].split("\n\n")[2]
    rows = re.findall(r"^\| (.) \*\*(\w+)\*\* \|.*\| (.+) \|$", table, flags=re.MULTILINE)
    assert [row[:2] for row in rows] == [("✓", "holds"), ("✗", "fails"), ("◐", "depends"), ("?", "open")]
    signs = {reason: sign for _, sign, reasons in rows for reason in reasons.split("; ")}
    assert signs == {verdict.value: verdict.sign.value for verdict in Verdict}


def test_the_picture_of_the_rooms_has_every_room():
    picture = (PROJECT / "docs" / "pictures" / "rooms.svg").read_text(encoding="utf-8")
    names = [name for text in re.findall(r'class="name"[^>]*>([^<]+)<', picture) for name in text.split(", ")]
    rooms = {path.parent.name for path in (PROJECT / "experiments").glob("*/__init__.py")} - {"peers"}
    modules = {path.stem for path in (PROJECT / "experiments").glob("[a-z]*.py")}
    assert sorted(names) == sorted(rooms | modules | {"plots", "datasets", "documents", "algorithms"})


def test_the_api_pages_have_every_room_and_every_public_name():
    objects = [name for text in TEXTS.values() for block in fenced_blocks(text, "{public}") for name in block.split()]
    rooms = {f"experiments.{path.parent.name}" for path in (PROJECT / "experiments").glob("*/__init__.py")}
    assert rooms - {"experiments.commands"} | {"datasets", "documents", "plots"} <= set(objects)
    public = {name: getattr(algorithms, name).__module__ for name in algorithms.__all__}
    listed = {name for name, module in public.items() if any(fnmatchcase(module, pattern) for pattern in objects)}
    assert public.keys() <= listed | {name.rpartition(".")[2] for name in objects}


class SitePage(HTMLParser):
    """What a browser loads to show a page, where its links lead, and what can be linked to in it."""

    def __init__(self):
        super().__init__()
        self.loaded, self.links, self.ids = [], [], set()

    def handle_starttag(self, tag, attrs):
        values = {name: value or "" for name, value in attrs}
        self.ids |= {values.get("id"), values.get("name")}
        if tag in ("script", "img", "iframe", "source", "video"):
            sets = values.get("srcset", "").split(",")
            self.loaded += [values.get("src", ""), *(one.split()[0] for one in sets if one.strip())]
        if tag == "link" and values.get("rel") not in ("canonical", "next", "prev", "search", "index"):
            self.loaded.append(values.get("href", ""))
        if tag == "a" and "href" in values:
            self.links.append(values["href"])


def list_pages(site):
    return [path for path in site.rglob("*.html") if "_static" not in path.parts]  # the theme has a template there


@cache
def read_page(path):
    page = SitePage()
    page.feed(path.read_text(encoding="utf-8"))
    return page


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    def build(folder):  # in one process: more of them read the same modules again, beside the other tests
        command = [sys.executable, "-m", "sphinx", "-b", "html", "-c", "docs", "-W", "--keep-going", "-q"]
        command += ["-d", str(folder / "read"), ".", str(folder / "site")]
        done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    return once_for_all_workers(tmp_path_factory, "site", build) / "site"


@pytest.mark.system
def test_the_site_has_every_page_and_asks_the_network_for_nothing(site):
    assert [page for page in TEXTS if not (site / page).with_suffix(".html").is_file()] == []
    for path in list_pages(site):
        loaded = list(filter(None, read_page(path).loaded))
        assert [address for address in loaded if "//" in address] == []
        files = [unquote(re.split("[?#]", address)[0]) for address in loaded if not address.startswith("data:")]
        assert [file for file in files if not (path.parent / file).is_file()] == []
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert not re.search(r"(url\(|@import )\s*['\"]?(https?:)?//", styles)


@pytest.mark.system
def test_every_link_of_the_site_leads_to_a_page_and_a_place_in_it(site):
    broken = []
    for path in list_pages(site):
        for link in read_page(path).links:
            name, _, place = unquote(link).partition("#")
            target = path.parent / name if name else path
            if re.match("[a-z]+:", link):
                continue
            if not target.is_file() or (place and target.suffix == ".html" and place not in read_page(target).ids):
                broken.append((path.relative_to(site).as_posix(), link))
    assert broken == []


@pytest.mark.system
@pytest.mark.parametrize("name", sorted(path.stem for path in (PROJECT / "docs" / "gallery").glob("*.py")))
def test_every_example_shows_its_picture(site, name):
    page = read_page(site / "docs" / "auto_gallery" / f"{name}.html")
    assert [address for address in page.loaded if f"sphx_glr_{name}_001" in address]


@pytest.mark.system
def test_the_site_is_searched_from_disk(browser, site):
    with opened(browser, site / "index.html") as tab:
        tab.page.wait_for_url("**/README.html")
        assert tab.page.locator("h1").inner_text().startswith("DP-Replica")
        tab.page.goto(f"{(site / 'search.html').as_uri()}?q=permute-and-flip")
        found = tab.page.locator("#search-results li a")
        found.first.wait_for()
        assert "Paper 4" in " ".join(found.all_inner_texts())
        found.first.click()
        tab.page.locator("h1").wait_for()


@pytest.mark.system
@pytest.mark.parametrize("page", ["README", "docs/api/algorithms", "docs/auto_gallery/attack"])
def test_pages_of_the_site_fit_a_desk_and_a_telephone(browser, site, page):
    tab = browser()
    tab.open(site / f"{page}.html", site)
    assert fits(tab.page, DESKTOP["width"])
    tab.show_as_on_a_telephone()
    assert fits(tab.page, TELEPHONE["width"])
    assert tab.wrong == []
