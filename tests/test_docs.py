"""The documentation holds: links lead somewhere, commands compose, code runs, the site is whole and offline."""

import os
import re
import runpy
import shlex
import shutil
import signal
import subprocess
import sys
from fnmatch import fnmatchcase
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

import algorithms
from documents import search_path
from experiments.command_line import list_commands
from experiments.config.finding import SIGNS, AccountSign
from experiments.judge.verdict import Verdict
from plots.labels import SYMBOLS
from tests import pages
from tests.browser import DESKTOP, TELEPHONE, fits, opened
from tests.command_line import exit_code
from tests.pages import PROJECT, TEXTS, fenced_blocks
from tests.shared_folders import once_for_all_workers

FOLDERS = ("algorithms/", "conf/", "datasets/", "experiments/", "plots/", "tests/", "docs/", ".ci/", ".github/")
FOLDERS += ("examples/", "results/reference", "results/bands", "results/reported")
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
    *("docs/paper-keys.md", "docs/dataset-keys.md", "docs/data-sets.md", "docs/sources.md"),
    *("docs/calibration.md", "docs/results.md"),
)
TABLES_OF_ALL = ("docs/paper-keys.md", "docs/dataset-keys.md", "docs/calibration.md")
"""Generated pages that are mostly tables, to look things up in: they are as long as there are rows."""


def code_spans(text):
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))


def shell_commands():
    """Every line of a block without a language, or of one in ``sh``, is a command for the shell."""
    return sorted({line for page in TEXTS for line in pages.shell_lines(page, "", "sh")})


COMMANDS = {shlex.join(words): words for page in TEXTS for words in pages.typed_words(page, "")}


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


def test_every_command_line_is_typed_alike_in_a_checkout_and_where_it_is_installed():
    others = {
        line.partition("#")[0].rstrip() for line in shell_commands() if line.split()[0] not in ("make", pages.PROGRAM)
    }
    assert others == {"pip install .", "source .venv/bin/activate"}
    of_checkouts = {page for page, text in TEXTS.items() if "python -m experiments" in text}
    assert of_checkouts == {"CHANGELOG.md"}, "it was a name of the program"


@pytest.mark.long
@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_composes(line, tmp_path, monkeypatch, capfd):
    words = pages.stop_early(COMMANDS[line])
    is_planned = pages.DRY_RUN in words
    how = [f"results={tmp_path}"] if is_planned else []
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
    assert (code or 0) == 0, printed.err
    assert " to run" in printed.err if is_planned else printed.out


@pytest.mark.parametrize(
    "page", [page for page in pages.list_programs() if page.endswith(".md") and page != "docs/python.md"]
)
def test_the_code_runs(page, tmp_path, monkeypatch):
    pytest.importorskip("opendp")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "shown"}
    exec(pages.list_programs()[page], names)
    if model := names.get("forest", names.get("model")):
        rows = names["car"].frame if "car" in names else names.get("X_test", names["X"])
        assert len(model.predict(rows)) == len(rows)


def table_rows(page, *cells):
    """The rows of a page's tables in which each cell is as its pattern says; of a cell what stands in the group."""
    pattern = "".join(rf"\| {cell} " for cell in cells)
    return re.findall(rf"^{pattern}(?:\| .*)?\|$", TEXTS[page], flags=re.MULTILINE)


def test_the_page_of_commands_has_the_line_of_each():
    assert dict(table_rows("docs/commands.md", "`([a-z]+)`", "(.+?)")) == list_commands()


def test_the_line_of_a_command_is_one_line_of_its_help(capsys):
    assert exit_code("--help") == 0
    printed = capsys.readouterr().out.splitlines()
    for word, line in list_commands().items():
        assert re.fullmatch(r"[A-Z][^.]+[.?]", line) and f"  {word:<9}  {line}" in printed, word


BASH = """
eval "$(dp-replica -sc install=bash)"
for COMP_LINE in "$@"; do
  COMP_WORDS=($COMP_LINE) COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_POINT=${#COMP_LINE}
  hydra_bash_completion
  echo "${COMPREPLY[@]}"
done
"""


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_a_shell_completes_what_the_page_says(tmp_path):
    rows = table_rows("docs/commands.md", "`(dp-replica [^`]+)`", "(`.+?`)")
    assert len(rows) >= 5
    pages.write(tmp_path / "mine" / "dataset" / "people.yaml", "file: people.csv\n")
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    where = os.environ | {"PATH": programs, "PYTHONPATH": str(PROJECT), search_path.VARIABLE: ""}
    words = ["bash", "--norc", "-c", BASH, "bash", *(typed for typed, _ in rows)]
    done = subprocess.run(words, cwd=tmp_path, env=where, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [completed.replace("`", "").replace(",", "") for _, completed in rows]


@pytest.mark.long
def test_the_page_on_python_runs_in_a_folder_of_its_own(tmp_path, monkeypatch, capfd):
    for module in ("results", "runs", "papers"):  # where `results` lies
        monkeypatch.setattr(f"experiments.python_api.{module}.resolve_path", lambda path: tmp_path / str(path))
    names = {}
    for block in fenced_blocks(TEXTS["docs/python.md"], "python"):
        exec(block, names)
    assert len(names["frame"]["key"].unique()) == 30 and set(names["changes"]["verdict"]) == {"equal", "only in a"}
    assert "Do its claims hold?" in capfd.readouterr().out and names["model"].privacy_.data_faults == ()


def test_pages_are_short():
    lengths = {page: len(text.splitlines()) for page, text in TEXTS.items() if page.startswith("docs/")}
    assert {
        page: length
        for page, length in lengths.items()
        if length > 130
        and page not in (*TABLES_OF_ALL, "docs/tutorial.md", "docs/results.md", "docs/sources.md")  # chapters a paper
    } == {}


SLANG = re.compile(r"\b(?:its|the|below) print\b|(?<!inconsistent )\bin print\b|\bhangs? on\b|\bas first read\b")
"""Words for a printed number, and turns of phrase, that stopped readers."""


@pytest.mark.parametrize("page", [page for page in TEXTS if fnmatchcase(page, "docs/*.md") and "/api/" not in page])
def test_a_page_begins_with_a_sentence_and_has_no_slang(page):
    text = re.sub(r"<!--.*?-->\n*", "", TEXTS[page], flags=re.DOTALL)
    _, first, *_ = text.split("\n\n")
    if first.startswith("## "):
        _, _, first, *_ = text.split("\n\n")
    assert re.match(r"[A-Z*`].*[.:]$", first, flags=re.DOTALL) and "```" not in first, first
    assert SLANG.findall(text) == []


def test_the_glossary_has_the_ten_words_of_our_own_and_those_of_the_field():
    ours, theirs = TEXTS["docs/glossary.md"].split("\n## ")[1:]
    words = re.findall(r"^\| \*\*(.+?)\*\* \|", ours, flags=re.MULTILINE)
    assert words == OUR_WORDS
    words_of_field = set(re.findall(r"^\| \*\*(.+?)\*\* \|", theirs, flags=re.MULTILINE))
    assert {"ε", "neighbouring tables", "sensitivity", "ledger", "release", "audit", "peer", "claim"} <= words_of_field


def test_verdicts_begin_with_the_signs_and_every_kind_of_verdict():
    _, _, rest = TEXTS["docs/verdicts.md"].partition("## Signs\n\n")
    table = rest.partition("\n\n")[0]
    rows = re.findall(r"^\| (.) \*\*(.+?)\*\* \|.*\| (.+) \|$", table, flags=re.MULTILINE)
    assert [row[:2] for row in rows] == [(SYMBOLS[sign], sign.value) for sign in SIGNS if sign not in AccountSign]
    signs = {reason: sign for _, sign, reasons in rows for reason in reasons.split("; ")}
    assert signs == {verdict.value: verdict.shown.value for verdict in Verdict}


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
        if "_modules" in path.parts:  # the code: its links back are made for names that a page may have from elsewhere
            continue
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
