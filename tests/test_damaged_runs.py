"""A file of a run that somebody cut, emptied or edited is named in one line, with the way out: never a traceback."""

import re
import shutil

import pytest

from experiments.config.paths import REFERENCE
from experiments.errors import BadInput
from experiments.questions.commands import AskedCells
from experiments.run.executors.executor import Executor
from experiments.run.executors.task_runner import TaskRunner
from plots.pages.drawings import redraw
from plots.pages.paper_results import render_page
from plots.runs import evidence
from plots.runs.paper_run import PaperRun
from tests.command_line import exit_code

pytestmark = pytest.mark.long

NAME = "paper-2"
DAMAGES = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "no text": lambda content: b"\xff\xfe\x00" * 50,
    "without its first line": lambda content: content.partition(b"\n")[2],
    "with other names": lambda content: re.sub(rb"verdict|metric|mean", b"renamed", content),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    for name in (NAME, "audit"):
        shutil.copytree(REFERENCE / name, folder / name)
    return folder


def list_files(results):
    """The files of a run and of an audit that are read, of its tables and figures one each."""
    run = results / NAME
    found = [*run.glob("*.json"), *run.glob("*.csv"), *run.glob("*.yaml"), *results.glob("audit/*")]
    return [*sorted(found), *(next(iter(sorted(run.glob(f"{kind}/*.csv")))) for kind in ("tables", "figures"))]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_named_with_the_way_out(damage, results, monkeypatch):
    monkeypatch.setattr(evidence, "_ask_cells", lambda paper: AskedCells({}, {}, {}))  # of today's code, not of the run
    named = []
    for path in list_files(results):
        content = path.read_bytes()
        if DAMAGES[damage](content) == content:
            continue
        path.write_bytes(DAMAGES[damage](content))
        try:
            render_page(PaperRun.read(results / NAME))
        except BadInput as error:
            named.append(path.name)
            assert str(path) in str(error) or f"{path.parent}: " in str(error)
            assert re.search(r"; (running the paper|auditing) again writes it", str(error))
        finally:
            path.write_bytes(content)
    if damage in ("empty", "no text"):
        assert named == [path.name for path in list_files(results)]
    assert "claims.json" in named, "each of these damages shows there"
    render_page(PaperRun.read(results / NAME))


def test_a_figure_that_cannot_be_drawn_names_its_file(results):
    path = results / NAME / "figures" / "figure-1.csv"
    content = path.read_text(encoding="utf-8")
    path.write_text(content.replace("mean", "average"), encoding="utf-8")
    with pytest.raises(BadInput, match=r"figures/figure-1\.csv is not as it was written .*; running the paper again"):
        redraw(PaperRun.read(results / NAME), TaskRunner(Executor(jobs=1)))
    path.write_text(content, encoding="utf-8")


def test_claims_of_another_paper_are_refused(results, capsys):
    path = results / NAME / "claims.json"
    content = path.read_bytes()
    shutil.copyfile(REFERENCE / "paper-4" / "claims.json", path)
    assert exit_code("do=redraw", f"results={results}") == 2
    path.write_bytes(content)
    stdout, stderr = capsys.readouterr()
    assert stdout == "" and len(stderr.splitlines()) == 1
    assert "claims.json has the claim" in stderr and "and paper.yaml does not" in stderr
