"""The documentation holds: links lead somewhere, commands compose, code runs, the site is whole and offline."""

import importlib.util
import re
import runpy
import shlex
import signal
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import algorithms
from documents import search_path
from experiments.command_line import chosen_command, translate_words
from experiments.judge.verdict import SIGN_OF

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
GENERATED = ("docs/paper-keys.md", "docs/dataset-keys.md", "docs/data-sets.md")


def fenced_blocks(text, language):
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
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
    is_run = chosen_command(words) == "reproduce"
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
    assert " to run" in printed.err if is_run else "results:" in printed.out


@pytest.mark.parametrize("page", ["docs/algorithms.md", "docs/releasing.md"])
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
    assert len(model.predict(X)) == 60


def test_pages_are_short():
    lengths = {page: len(text.splitlines()) for page, text in TEXTS.items() if page.startswith("docs/")}
    assert {
        page: length
        for page, length in lengths.items()
        if length > 130 and page not in ("docs/paper-keys.md", "docs/dataset-keys.md", "docs/tutorial.md")
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
    assert signs == {kind: sign.value for kind, sign in SIGN_OF.items()}


def test_what_is_written_by_hand_has_at_most_17_000_words():
    lengths = {page: len(text.split()) for page, text in TEXTS.items() if page not in GENERATED}
    lengths = {
        page: n for page, n in lengths.items() if page.startswith("docs/") or page in ("README.md", "CONTRIBUTING.md")
    }
    assert sum(lengths.values()) <= 17_000, lengths


def test_the_picture_of_the_rooms_has_every_room():
    picture = (PROJECT / "docs" / "pictures" / "rooms.svg").read_text(encoding="utf-8")
    names = [name for text in re.findall(r'class="name"[^>]*>([^<]+)<', picture) for name in text.split(", ")]
    rooms = {path.parent.name for path in (PROJECT / "experiments").glob("*/__init__.py")} - {"peers"}
    modules = {path.stem for path in (PROJECT / "experiments").glob("[a-z]*.py")}
    assert sorted(names) == sorted(rooms | modules | {"plots", "datasets", "documents", "algorithms"})


def test_the_api_pages_have_every_room_and_every_public_name():
    objects = [line.removeprefix("::: ") for text in TEXTS.values() for line in text.splitlines() if line[:4] == "::: "]
    rooms = {f"experiments.{path.parent.name}" for path in (PROJECT / "experiments").glob("*/__init__.py")}
    assert rooms - {"experiments.commands"} | {"datasets", "documents", "plots"} <= set(objects)
    assert set(algorithms.__all__) <= {name.rpartition(".")[2] for name in objects}


class Loaded(HTMLParser):
    """What a browser loads to show a page."""

    def __init__(self):
        super().__init__()
        self.addresses = []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag in ("script", "img", "iframe", "source"):
            self.addresses.append(values.get("src") or "")
        if tag == "link" and values.get("rel") != "canonical":
            self.addresses.append(values.get("href") or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.system
def test_the_site_has_every_page_and_asks_the_network_for_nothing(site):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > len(TEXTS)
    for page in pages:
        loaded = Loaded()
        loaded.feed(page.read_text(encoding="utf-8"))
        assert [address for address in loaded.addresses if "//" in address] == []
        missing = [address for address in loaded.addresses if address and not (page.parent / address).is_file()]
        assert missing == [] or page.name == "404.html"  # whose addresses are those of a server
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert not re.search(r"(url\(|@import )['\"]?https?:", styles)
    assert "mermaid" not in "".join(path.read_text(encoding="utf-8") for path in pages)
