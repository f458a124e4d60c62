"""The kernels are compiled where their code has changed; without a compiler, Python runs and says so."""

import os
import re
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest

import algorithms
from algorithms.forests import rdt
from algorithms.installation import ROOT
from algorithms.native import is_plain

pytestmark = pytest.mark.skipif(is_plain(), reason="the Python runs here")

PROGRAM = """
import numpy as np
from algorithms.forests.forest import _sort_rows
from algorithms.native import is_plain
ordered = np.zeros(7, dtype=np.uint32)
_sort_rows(np.array([2, 0, 2]), np.zeros(3, dtype=np.uint32), ordered)
print(ordered[:3].tolist(), is_plain())
"""
KERNEL = "algorithms/forests/forest.h"


@pytest.fixture
def copy(tmp_path):
    """The package somewhere else, compiled kernels included, with what there is to compile them again from."""
    shutil.copytree(ROOT / "algorithms", tmp_path / "algorithms", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def run(folder, **environment):
    """Return what a program prints that calls a kernel of a copy, and what is said."""
    environment = os.environ | {"PYTHONPATH": str(folder), "DPREPLICA_PLAIN": "0"} | environment
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_copy_compiles_nothing_that_is_compiled(copy):
    before = time.time()
    assert run(copy) == ("[0, 2, 2] False", "")
    assert not [path for path in (copy / "algorithms").rglob("*.so") if path.stat().st_mtime > before]


def test_plain_python_runs_where_somebody_asks_for_it(copy):
    assert run(copy, DPREPLICA_PLAIN="1") == ("[0, 2, 2] True", "")


def make_quick_to_compile(copy):
    """Leave a copy only the kernels that the program imports, and none that is optimized: all of them take a minute."""
    with open(copy / "algorithms/native/CMakeLists.txt", "a", encoding="utf-8") as file:
        for target in ("kernels", "nanobind-static"):
            file.write(f"target_compile_options({target} PRIVATE -O0)\n")
            headers_once = "UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0"
            file.write(f"set_target_properties({target} PROPERTIES {headers_once})\n")
    module = copy / "algorithms/native/module.cpp"
    for path in (copy / "algorithms").rglob("*.cpp"):
        if path.stem not in ("clipping", "forest", "predictor", "module", "stopping"):
            path.unlink()
            edited = re.sub(
                rf"^.*\bbind_{path.stem}\(\);\n", "", module.read_text(encoding="utf-8"), flags=re.MULTILINE
            )
            module.write_text(edited.replace("    bind_thrifty();\n", ""), encoding="utf-8")


@pytest.mark.long
@pytest.mark.system
def test_a_kernel_that_was_edited_is_compiled_once_and_its_code_runs(copy):
    make_quick_to_compile(copy)
    edit(copy / KERNEL, "end[0] = end[1] = end[2] = end[3] = row;", "end[0] = end[1] = end[2] = end[3] = row + 1;")
    found, said = run(copy)  # by two processes at once: see test_building
    assert found == "[1, 3, 3] False" and said.count("Compiling the kernels") == 1
    assert run(copy) == ("[1, 3, 3] False", "")


def test_without_a_compiler_python_runs_and_says_what_to_install(copy, tmp_path):
    edit(copy / KERNEL, "end[0] = end[1] = end[2] = end[3] = row;", "end[0] = end[1] = end[2] = end[3] = row + 1;")
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    out, said = run(copy, PATH=str(nothing), CXX="")
    assert out == "[0, 2, 2] True", "the old kernel is not taken for the new one"
    assert "there is no C++ compiler: install one, or `pip install ziglang`" in said
    assert "plain Python runs, some hundred times slower" in said


def test_an_error_of_a_kernel_is_that_of_the_python():
    many = np.full(40, 2)  # columns of two values each
    plan = rdt.RDTPlan(30, 1.0, many, np.ones(40, dtype=bool), np.zeros(40), np.ones(40), 2)
    rows = rdt.TrainingRows(np.zeros((1, 40)), np.zeros(1, dtype=np.int64))
    with pytest.raises(algorithms.ParameterError, match="over 1,000,000 nodes"):
        rdt.grow_in_full(plan, rows, np.arange(1, dtype=np.uint32), np.random.default_rng(0))
