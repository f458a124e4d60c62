"""A wheel in an environment of its own, used from an empty folder outside the checkout; the checkout's second name."""

import ast
import importlib
import json
import os
import re
import runpy
import shlex
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
import venv
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from algorithms.installation import ROOT
from experiments.cells.cell import format_canonical
from experiments.command_line import read_options, translate_words
from experiments.config import estimators
from experiments.errors import BadInput
from experiments.store.database import Store
from tests import forks, pages
from tests.published_report import published_papers
from tests.shared_folders import once_for_all_workers
from tests.test_plots import digests

RESULTS = ("results/reported", "results/bands", "results/reference")
LOCKS = ("requirements-peers.lock", "requirements-peers-jax.lock")
FILES = ("CITATION.cff", "LICENSE", "MANIFEST.in", "README.md", "pyproject.toml", *LOCKS, "setup.py")
IMPORTED = (*(f"dp_replica.{module}" for module in forks.COMMANDS), *forks.LIBRARIES)
PROGRAM = "from dp_replica.experiments.command_line import main; main()"
IN_FOLDER = "import os, sys; os.chdir(sys.argv[1])"
LINES = f"""
{IN_FOLDER}
import json
from dp_replica.documents import search_path
from dp_replica.experiments.command_line import main
failed = []
for words in json.load(sys.stdin):
    os.environ[search_path.VARIABLE] = ""
    sys.argv[1:] = words
    try:
        main()
    except SystemExit as ended:
        if ended.code:
            failed.append((words, ended.code))
if failed:
    sys.exit(f"ended with a code: {{failed}}")
"""
FEW = 20
AUDIT = f"""
from dp_replica.experiments.audit import audit_tasks
from dp_replica.experiments.audit.attacks import release_path
audit_tasks.FEWEST["trainings"] = release_path.RELEASES = {FEW}
{PROGRAM}
"""
"""Here it comes to its end; by how many trainings it finds something is in test_audit_of_own and test_release_path."""
CELLS = ("dataset=car", "algorithm=rdt,majority", "repeats=1", "executor.jobs=1")


@cache
def read_setup():
    """Return what setup.py defines; setuptools comes with it."""
    return SimpleNamespace(**runpy.run_path(str(ROOT / "setup.py")))


def call(*command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)


def install(folder):
    """Make a wheel of a copy of the checkout, and an environment with it."""
    copy = folder / "copy"
    left_out = shutil.ignore_patterns("__pycache__", "store.*", "*.egg-info")
    for name in ("conf", *RESULTS, *read_setup().PACKAGES, *read_setup().OTHERS):
        shutil.copytree(ROOT / name, copy / name, ignore=left_out)
    for name in FILES:
        shutil.copy(ROOT / name, copy / name)
    # what pip asks of the project, without two more processes of pip
    built = call(sys.executable, "-c", "from setuptools.build_meta import build_wheel; build_wheel('..')", cwd=copy)
    assert built.returncode == 0, built.stderr
    venv.create(folder / "environment", symlinks=True)
    (wheel,) = folder.glob("*.whl")
    offline = ("--no-deps", "--no-index", "--quiet", "--disable-pip-version-check")
    python = folder / "environment" / "bin" / "python"
    done = call(sys.executable, "-m", "pip", "--python", python, "install", *offline, wheel)
    assert done.returncode == 0, done.stderr
    # Dependencies come from here, but nothing of the checkout: a .pth file of a folder runs no .pth files in it.
    packages = Path(sysconfig.get_path("purelib", vars={"base": folder / "environment"}))
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """An environment with a wheel of the checkout, and an empty folder in which it runs programs.

    Most of our commands are forked from a process that has imported them there.
    """
    python = once_for_all_workers(tmp_path_factory, "installed", install) / "environment" / "bin" / "python"
    folder = tmp_path_factory.mktemp("used")
    empty = folder / "empty"
    empty.mkdir()
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "DPREPLICA_DATA")}
    own = {"XDG_CACHE_HOME": str(folder / "cache")}
    begin = partial(forks.start_server, modules=IMPORTED, folder=folder, python=python, environment=kept | own)
    origin = forks.Client(once_for_all_workers(tmp_path_factory, "from installed", begin), empty, kept | own)

    def start(program, *words):
        return call(python.with_name(program), *words, cwd=empty, env=kept | own)

    def run(*words, folder=empty):
        code = AUDIT if "audit" in words else PROGRAM
        return origin.run_code(code, python.with_name("dp-replica"), *words, folder=folder)

    program = python.with_name("dp-replica")
    return SimpleNamespace(start=start, run=run, run_code=origin.run_code, folder=empty, program=program)


def can_be_another_user():
    return hasattr(os, "getuid") and os.getuid() == 0 and shutil.which("setpriv") is not None


def change(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def read_store(folder):
    """Return key and metrics of every cell."""
    with Store(folder / "store.sqlite") as store:
        cells = [cell for batch in store.rows(100) for cell in batch]
    return sorted((*map(cell.get, ("key", "algorithm", "status")), format_canonical(cell["metrics"])) for cell in cells)


@pytest.mark.system
def test_nothing_but_its_own_name_can_be_imported(installed):
    code = "import dp_replica.algorithms as a; print(a.DiffPETsClassifier.__module__)"
    done = installed.run_code(code, "python")
    assert done.stdout.strip() == "dp_replica.algorithms.forests.diffpets", done.stderr
    code = """
import sys
for name in sys.argv[1:]:
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        print(error)
"""
    done = installed.start("python", "-c", code, *read_setup().PACKAGES)
    assert done.stdout.splitlines() == [f"No module named '{name}'" for name in read_setup().PACKAGES], done.stderr
    assert {path.name for path in installed.folder.iterdir()} <= {"results"}


@pytest.mark.system
def test_every_algorithm_and_every_kind_is_found(installed):
    program = """
from dp_replica.experiments.config import estimators, kinds
from dp_replica.experiments.config.papers import read_paper
from dp_replica.experiments.config.paths import list_papers
from dp_replica import datasets
for name in estimators.list_algorithms():
    estimators.import_class(estimators.find_target(name))
for name in list_papers():
    read_paper(name)
for name in kinds.list_kinds("claims"):
    kinds.find_kind("claims", name)
print(len(estimators.list_algorithms()), len(list_papers()), "car" in datasets.names())
"""
    done = installed.run_code(program, "python")
    assert done.stdout.split()[::2] == [str(len(estimators.list_algorithms())), "True"], done.stderr


@pytest.mark.system
def test_a_cell_has_the_same_key_and_the_same_digits_as_in_the_checkout(installed, tmp_path, commands):
    done = installed.run("run", *CELLS)
    assert done.returncode == 0, done.stderr
    here = commands.run_module("experiments", *CELLS, f"results={tmp_path}")
    assert here.returncode == 0, here.stderr
    cells = read_store(installed.folder / "results")
    assert cells == read_store(tmp_path) and [cell[2] for cell in cells] == ["done", "done"]


@pytest.mark.system
def test_the_report_shows_what_was_published_as_in_the_checkout(installed, published):
    """The same bytes in another process, whose strings have other hashes, from files in another place."""
    old = installed.folder / "of_nobody" / "report" / "old.html"  # where no sweep was run
    old.parent.mkdir(parents=True)
    old.write_text("", encoding="utf-8")
    done = installed.run("report", f"paper={','.join(published_papers())}", "results=of_nobody")
    assert done.returncode == 0, done.stderr
    assert "The published run" in (old.parent / "index.html").read_text(encoding="utf-8")
    assert digests(old.parent) == digests(published), "and nothing old stays"


@pytest.mark.system
def test_a_table_and_an_estimator_of_ones_own_are_run_audited_and_reported(installed):
    folder = installed.folder
    rows = [f"{20 + i},{('cook', 'clerk')[i % 2]},{('well', 'badly')[i % 3 % 2]}" for i in range(60)]
    lines = ["age,job,sleeps", *rows]
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    own = ("--config-dir", "mine", "executor.jobs=1")
    said = {}
    for words in (
        ("describe", "people.csv", "target=sleeps", "to=mine"),
        ("new", "algorithm", "my_method", "to=mine"),
        ("new", "paper", "my_paper", "to=mine"),
        ("run", *own, "repeats=1", "dataset=people", "algorithm=my_method"),
        ("run", *own, "repeats=1", "most_repeats=1", "paper=my_paper"),
        ("audit", *own, "algorithm=my_method,asn", f"trainings={FEW}"),
        ("report", "--config-dir", "mine", "paper=my_paper"),
    ):
        done = installed.run(*words)
        assert done.returncode == 0, (words, done.stderr)
        said[words[0]] = done.stdout
        if words[:2] == ("new", "algorithm"):  # each count takes noise in thousands of releases
            change(folder / "mine" / "algorithm" / "my_method.yaml", "n_bins: 10", "n_bins: 2")
    assert "asn        inf" in said["audit"]
    audited = json.loads((folder / "results" / "audit" / "audit-my_method-asn.json").read_text(encoding="utf-8"))
    assert [replay["name"] for replay in audited["replays"]] == ["my_method", "asn"]
    page = (folder / "results" / "report" / "paper-my_paper.html").read_text(encoding="utf-8")
    assert "The title of the paper" in page and "Table 1. Accuracy on Car" in page


@pytest.mark.system
def test_python_gives_runs_results_papers_and_a_project_of_ones_own(installed):
    code = """
import dp_replica as dr
frame = dr.run("car", ["rdt", "majority"], [0.1, 1], repeats=2, jobs=1, results="of_python")
assert dr.load_results("of_python").equals(frame), "results"
assert dr.plot_curves(frame).get_ylabel() == "accuracy (%)"
assert set(dr.compare(frame, frame)["verdict"]) == {"equal"}
assert dr.load_paper(2).answers and "<details" in dr.load_paper(2)._repr_html_()
print(dr.__version__)
"""
    done = installed.run_code(code, "-c")
    assert done.returncode == 0 and re.fullmatch(r"[0-9.]+\n", done.stdout), done.stderr
    for words in (
        ("new", "notebooks", "lessons"),
        ("new", "project", "ours"),
        ("bands", "--config-dir", "ours", "paper=ours", "executor.jobs=1"),
        ("results", "dataset=car", "output=csv", "results=of_python"),
    ):
        done = installed.run(*words)
        assert done.returncode == 0, (words, done.stderr)
        if words[:2] == ("new", "project"):  # fewer runs give wider bands
            change(installed.folder / "ours" / "paper" / "ours.yaml", "accepted: 200 ", "accepted: 80 ")
    assert len(list((installed.folder / "lessons").glob("*.ipynb"))) >= 6
    ours = installed.folder / "ours"
    text = (ours / "ours.py").read_text(encoding="utf-8")
    assert "from dp_replica.algorithms" in text and "\nfrom algorithms" not in text
    for program, *words in list_steps(ours):
        assert program == installed.program.name
        done = installed.run(*words, folder=ours)
        assert done.returncode == 0, (words, done.stderr)
    assert (ours / "results" / "report" / "index.html").is_file()


def list_steps(project):
    """Return what the workflow and the image of a project run once all is installed, but its tests."""
    workflow = yaml.safe_load((project / ".github" / "workflows" / "check.yml").read_text(encoding="utf-8"))
    steps = [shlex.split(step["run"]) for step in workflow["jobs"]["check"]["steps"] if "run" in step]
    assert [step[0] for step in steps] == ["pip", "pytest", *["dp-replica"] * 3]
    (image,) = re.findall(r"^CMD (.*)$", (project / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [*steps[2:], json.loads(image)]


@pytest.mark.system
@pytest.mark.parametrize("page", [page for page in pages.TEXTS if pages.typed_words(page, "", "sh")])
def test_what_a_page_says_to_type_is_known(installed, page, tmp_path):
    """Nothing long is run: what comes of it is tested in the checkout."""
    pages.write_files(page, tmp_path)
    lines = list(map(pages.stop_early, pages.typed_words(page, "", "sh")))
    done = installed.run_code(LINES, installed.program, tmp_path, asked=json.dumps(lines))
    assert done.returncode == 0 and done.stdout + done.stderr, done.stderr


@pytest.mark.system
@pytest.mark.parametrize("page", pages.list_programs())
def test_what_a_page_shows_of_python_runs(installed, page, tmp_path):
    if page == "docs/releasing.md":
        pytest.importorskip("opendp")
    code = f"{IN_FOLDER}\n{pages.list_programs()[page]}"
    one_core = {"LOKY_MAX_CPU_COUNT": "1"} if page != "docs/python.md" else {}  # there, processes are started
    done = installed.run_code(code, "python", tmp_path, MPLBACKEND="agg", **one_core)
    assert done.returncode == 0, done.stderr


@pytest.mark.system
@pytest.mark.parametrize("command", ["bands", "hunt", "reference"])
def test_what_changes_the_project_is_refused_in_a_line(installed, command):
    done = installed.run(command)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2
    assert line.startswith(f"error: {command} changes files of the project: run it in a")


@pytest.mark.system
@pytest.mark.skipif(not can_be_another_user(), reason="only root can be another user, by setpriv of util-linux")
def test_another_user_without_a_home_runs_it_where_nothing_can_be_written(installed, tmp_path, reachable_folder):
    """That user may read everything, as it would a folder of all users; it writes into one of its own alone."""
    kept, own = "-all,+dac_read_search", reachable_folder
    os.chown(own, 12345, 12345)
    user = (
        "setpriv",
        "--reuid=12345",
        "--regid=12345",
        "--clear-groups",
        f"--inh-caps={kept}",
        f"--ambient-caps={kept}",
    )
    environment = {"PATH": "/usr/bin:/bin", "TMPDIR": str(own)}

    def run(program, *words, **options):
        command = (*user, installed.program.with_name(program), *words)
        return call(*command, cwd=installed.folder, env=environment, **options)

    done = run("dp-replica", *CELLS, f"results={own}/results")
    assert done.returncode == 0, done.stderr
    assert installed.run("run", *CELLS, f"results={tmp_path}").returncode == 0
    assert read_store(own / "results") == read_store(tmp_path)
    assert stat.S_IMODE((own / "dp-replica-12345").stat().st_mode) == 0o700
    shutil.copytree(own / "results", installed.folder / "shut")
    refused = [[*CELLS, f"results={installed.folder}/{name}"] for name in ("theirs", "shut")]
    lines = json.dumps([["report", "paper=1", f"results={own}/results"], *refused])
    done = run("python", "-c", LINES, installed.folder, input=lines)
    theirs, shut, failed = done.stderr.splitlines()  # not that matplotlib makes a folder in each process
    assert (own / "results" / "report" / "index.html").is_file()
    assert failed == f"ended with a code: {[(words, 2) for words in refused]}"
    assert "cannot be written to (Permission denied); choose another with results=" in theirs
    assert not (installed.folder / "theirs").exists()
    assert shut.startswith(f"error: {installed.folder}/shut/sweeps cannot be written to (Permission denied); choose")


@pytest.fixture
def reachable_folder():
    """A folder that other users get to: those above pytest's are shut."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.mark.system
def test_it_names_itself_as_it_is_typed(installed):
    for done in (installed.run(), installed.start("dp-replica", "--help"), installed.run("describe", "algorithm=rdt")):
        said = done.stdout + done.stderr
        assert " dp-replica dataset=car" in said and "python -m experiments" not in said


@pytest.mark.system
def test_what_is_there_is_described_and_listed_without_a_word_of_a_checkout(installed):
    described = installed.run("describe", "algorithm=dp_ebm,edprf,random_forest", "dataset=car,adult")
    listed = [installed.run("list", what) for what in ("algorithms", "datasets", "papers")]
    for done in (described, *listed):
        assert done.returncode == 0, done.stderr
        assert (
            re.findall(r"\bmake [a-z]+|conf/|docs/|checkout|python -m experiments", done.stdout.replace("makes", ""))
            == []
        )
        assert "dp-replica " in done.stdout
    (command,) = re.findall(r"python -m (pydoc dp_replica\.algorithms\.\w+)", described.stdout)
    full = installed.start("python", "-m", *command.split())
    assert "treeDepth, the number of levels of nodes" in full.stdout, full.stderr


def test_a_checkout_has_the_same_modules_under_a_second_name():
    for name in ("algorithms", "algorithms.forests.rdt", "datasets.readers.car", "experiments.config.kinds"):
        spec = importlib.import_module(name).__spec__
        assert importlib.import_module(f"dp_replica.{name}") is sys.modules[name]
        assert sys.modules[name].__spec__ is spec
    for name in ("numpy", "nothing"):
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(f"dp_replica.{name}")


@pytest.mark.parametrize(
    ("line", "moved"),
    [
        ("from algorithms.base import x", "from dp_replica.algorithms.base import x"),
        ("import os, datasets", "import os, dp_replica.datasets as datasets"),
        ("import plots.style as style", "import dp_replica.plots.style as style"),
        (
            "if a:  # é\n    é = 1; from plots import (\n        b)",
            "if a:  # é\n    é = 1; from dp_replica.plots import (\n        b)",
        ),
        ('"from plots import b"; import plotsy', '"from plots import b"; import plotsy'),
    ],
)
def test_imports_are_moved_and_nothing_else(line, moved):
    assert read_setup().move_imports(line) == moved
    assert read_setup().move_imports(moved) == moved


@pytest.mark.parametrize("line", ["import plots.style", "from  plots import a"])
def test_an_import_that_cannot_be_moved_ends_the_build(line):
    with pytest.raises(SystemExit, match="import"):
        read_setup().move_imports(line)


def test_no_text_names_a_module_of_ours_to_import():
    """What is imported by a name in text would not be found below another name."""
    texts = []
    for package in read_setup().PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
                    texts.append(ast.unparse(node.args[0]).lstrip("f'"))
    assert texts and list(filter(read_setup().is_ours, texts)) == []


def test_a_first_word_names_the_command():
    assert translate_words(["-m", "paper=2"]) == ["-m", "paper=2"]
    assert translate_words(["audit", "algorithm=rdt"]) == ["do=audit", "algorithm=rdt"]
    with pytest.raises(BadInput, match="one command at a time"):
        read_options(["report", "do=check"])
