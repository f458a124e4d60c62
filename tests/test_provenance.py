"""Where results are from: git is asked about the folder that is meant, and what it does not say has a reason."""

import subprocess
from importlib.metadata import version

import pytest

from documents import search_path
from experiments.config.paths import ROOT
from experiments.store import provenance


def make_repository(folder):
    """Make a repository with a commit and return its revision."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "a.py").write_text("x = 1\n", encoding="utf-8")
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "a.py"], [*who, "commit", "-q", "-m", "first"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return provenance._run_git(folder, "rev-parse", "HEAD")


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """Nothing is added, and the command runs in no repository."""
    for variable in search_path.describe_environment():
        monkeypatch.setenv(variable, "")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


def test_variables_of_a_hook_do_not_name_another_repository(tmp_path, monkeypatch):
    expected = provenance.describe_command([])["git"]
    other = make_repository(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "other"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "nowhere"))
    found = provenance.describe_command([])
    assert found["git"] == expected and expected["revision"] != other
    assert "no_git" not in found and "own_git" not in found


def test_an_installed_package_has_its_version_and_the_repository_of_its_user(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "IS_CHECKOUT", False)
    revision = make_repository(tmp_path / "theirs")
    (tmp_path / "theirs" / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "theirs" / "deep")
    found = provenance.describe_command(["paper=mine"])
    assert (found["git"], found["no_git"]) == (None, "it is installed, not a checkout: versions has its own")
    assert found["versions"]["dp-replica"] == version("dp-replica")
    assert found["own_git"] == [{"folder": "theirs", "git": {"revision": revision, "dirty": False}}]
    (tmp_path / "theirs" / "a.py").write_text("x = 2\n", encoding="utf-8")
    assert provenance.describe_command([])["own_git"][0]["git"]["dirty"]


def test_the_repository_of_an_added_folder_is_named_beside_our_own(tmp_path, monkeypatch):
    revision = make_repository(tmp_path / "theirs")
    monkeypatch.setenv(search_path.VARIABLE, str(tmp_path / "theirs"))
    found = provenance.describe_command([])
    assert found["own_git"] == [{"folder": "theirs", "git": {"revision": revision, "dirty": False}}]
    assert found["git"]["revision"] == provenance._run_git(ROOT, "rev-parse", "HEAD") != revision


def test_where_git_says_nothing_there_is_a_reason(tmp_path, monkeypatch):
    (tmp_path / "empty" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "empty")
    (found,) = provenance.describe_command([])["own_git"]
    assert found["git"] is None and found["no_git"].startswith("git does not read it: fatal: not a git repository")
    assert str(tmp_path) not in found["no_git"]
    monkeypatch.setenv("PATH", str(tmp_path))
    assert provenance.describe_command([])["no_git"] == "git cannot be run (No such file or directory)"
