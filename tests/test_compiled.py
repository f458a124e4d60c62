"""The cache of machine code: another source, another folder."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import algorithms

PROGRAM = """
import numpy as np
from algorithms import jit, mechanisms
print(jit._CACHE_NAME)
print(mechanisms.laplace(1.0, 1.0, np.inf, np.random.default_rng(0)))
"""


@pytest.fixture
def copy(tmp_path):
    """The package somewhere else; its first file is emptied, so that importing one module imports only that."""
    source = Path(algorithms.__file__).parent
    shutil.copytree(source, tmp_path / "algorithms", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "algorithms" / "__init__.py").write_text("")
    return tmp_path


def run(folder, **environment):
    """Compile and call one function in a process of its own: the folder of the cache, and the result."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        env=kept | {"PYTHONPATH": str(folder)} | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    name, result = done.stdout.split()
    return Path(environment.get("NUMBA_CACHE_DIR", folder / ".cache")) / name, float(result)


def machine_code(folder):
    return sorted(folder.rglob("*.nbc"))


def test_machine_code_is_kept_and_an_edit_anywhere_in_the_package_makes_it_anew(copy):
    cache, result = run(copy)
    assert result == 1.0
    assert machine_code(cache)
    written = {path: path.stat().st_mtime_ns for path in machine_code(cache)}
    assert run(copy) == (cache, 1.0)
    assert {path: path.stat().st_mtime_ns for path in machine_code(cache)} == written, "nothing is compiled twice"

    with (copy / "algorithms" / "forests" / "scores.py").open("a") as file:
        file.write("# another source\n")
    mechanisms = copy / "algorithms" / "mechanisms.py"
    mechanisms.write_text(mechanisms.read_text().replace("        return value\n", "        return value + 1\n"))
    other, result = run(copy)
    assert other != cache and result == 2.0


def test_a_folder_from_the_environment_and_no_compilation_at_all(copy):
    elsewhere = copy / "elsewhere"
    cache, result = run(copy, NUMBA_CACHE_DIR=str(elsewhere))
    assert result == 1.0
    assert machine_code(cache) and not (copy / ".cache").exists()
    assert run(copy, NUMBA_DISABLE_JIT="1")[1] == 1.0
    assert not (copy / ".cache").exists()
