"""Where nothing of the user's can be written: caches go to a temporary folder that is the user's alone, or nowhere."""

import os
import tempfile
from pathlib import Path

import pytest

from algorithms import installation
from algorithms.installation import find_temporary_cache, find_user_cache, lead_caches_away


@pytest.fixture
def no_home(tmp_path, monkeypatch):
    """A home below a file, where nobody can write, and an empty folder for temporary files."""
    (tmp_path / "file").write_text("")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    for variable in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "MPLCONFIGDIR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    installation._make_folder_of_process.cache_clear()
    yield tmp_path / "temporary"
    installation._make_folder_of_process.cache_clear()


def test_a_home_that_can_be_written_has_the_cache(no_home, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_user_cache() == tmp_path / ".cache" / "dp-replica"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    assert find_user_cache() == tmp_path / "elsewhere" / "dp-replica"
    lead_caches_away()
    assert "MPLCONFIGDIR" not in os.environ and list(no_home.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="users have no number here")
def test_without_one_it_is_a_temporary_folder_of_the_user_alone(no_home):
    expected = no_home / f"dp-replica-{os.getuid()}"
    assert find_user_cache() == find_user_cache() == expected
    assert expected.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="users have no number here")
def test_no_home_at_all_is_as_good(no_home, monkeypatch):
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as where the user has no entry, either
    assert find_user_cache() == no_home / f"dp-replica-{os.getuid()}"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="users have no number here")
@pytest.mark.parametrize("planted", ["open to others", "a link", "of another user"])
def test_code_that_somebody_may_have_planted_is_not_run(planted, no_home, tmp_path, monkeypatch):
    name = f"dp-replica-{os.getuid()}"
    if planted == "a link":
        (tmp_path / "theirs").mkdir(mode=0o700)
        (no_home / name).symlink_to(tmp_path / "theirs")
    elif planted == "open to others":
        (no_home / name).mkdir()
        (no_home / name).chmod(0o777)
    else:
        user = os.getuid() + 1
        monkeypatch.setattr(os, "getuid", lambda: user)
        (no_home / f"dp-replica-{user}").mkdir(mode=0o700)
    found = find_temporary_cache()
    assert found == find_temporary_cache() and found.name not in (name, f"dp-replica-{os.getuid()}")
    assert found.parent == no_home and found.stat().st_mode & 0o777 == 0o700


def test_matplotlib_is_told_of_a_folder_unless_it_was_before(no_home, monkeypatch):
    monkeypatch.setenv("MPLCONFIGDIR", "mine")
    lead_caches_away()
    assert os.environ["MPLCONFIGDIR"] == "mine"
    monkeypatch.delenv("MPLCONFIGDIR")
    lead_caches_away()
    assert Path(os.environ["MPLCONFIGDIR"]) == find_user_cache() / "matplotlib"
