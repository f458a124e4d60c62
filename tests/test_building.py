"""A kernel of other code never runs, and what spoils a build once does not spoil it for ever.

The checkout is a small one: a kernel of one number, with the code that builds and imports it.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from algorithms.installation import ROOT
from algorithms.native import is_plain
from tests.waiting import wait_for

pytestmark = [pytest.mark.system, pytest.mark.skipif(is_plain(), reason="the Python runs here")]
needs_another_user = pytest.mark.skipif(
    os.name != "posix" or (os.getuid() == 0 and shutil.which("setpriv") is None), reason="root may write everywhere"
)

CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project(small LANGUAGES CXX)
find_package(Python COMPONENTS Interpreter Development.Module REQUIRED)
file(GLOB sources CONFIGURE_DEPENDS *.cpp)
Python_add_library(kernels MODULE WITH_SOABI ${sources})
"""
MODULE = """\
#include <Python.h>
#include "../number.h"

static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "kernels"};

PyMODINIT_FUNC PyInit_kernels() {
    PyObject* module = PyModule_Create(&definition);
    PyModule_AddObject(module, "twins", Py_BuildValue("{s:i}", "number", NUMBER));
    return module;
}
"""
COPIED = ("installation.py", "native/__init__.py", "native/build.py")
PROGRAM = "from algorithms.native import _load_twins; print(_load_twins()['number'] if _load_twins() else 'plain')"
BECOME = ("setpriv", "--reuid=12345", "--regid=12345", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all")
ANOTHER_USER = BECOME if os.name == "posix" and os.getuid() == 0 else ()
"""Root may write everywhere; anybody else is kept out by the modes of files."""
PLACE = "checkout"
SLOWER = "plain Python runs, some hundred times slower"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A small checkout whose kernel is the number 1, compiled, which nobody edits."""
    folder = tmp_path_factory.mktemp("compiled") / PLACE
    (folder / "algorithms" / "native").mkdir(parents=True)
    for name in COPIED:
        shutil.copy(ROOT / "algorithms" / name, folder / "algorithms" / name)
    (folder / "algorithms" / "__init__.py").touch()
    (folder / "algorithms/native/CMakeLists.txt").write_text(CMAKE)
    (folder / "algorithms/native/module.cpp").write_text(MODULE)
    edit(folder, 1)
    assert run(folder)[0] == "1"
    return shutil.copytree(folder, folder.with_name("kept"))


@pytest.fixture
def checkout(compiled):
    """A copy of it where it was compiled: CMake, which takes longer than the compiler, has what it found there."""
    place = compiled.with_name(PLACE)
    shutil.rmtree(place, ignore_errors=True)
    return shutil.copytree(compiled, place)


def edit(folder, number):
    (folder / "algorithms/number.h").write_text(f"#define NUMBER {number}\n")


def command(folder, *user, **environment):
    environment = os.environ | {"PYTHONPATH": str(folder), "DPREPLICA_PLAIN": "0"} | environment
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([*user, sys.executable, "-B", "-c", PROGRAM], cwd=folder, env=environment, **pipes)


def run(folder, *user, **environment):
    """Return the number of the kernel that a program takes, "plain" for none, and what is said."""
    process = command(folder, *user, **environment)
    out, said = process.communicate()
    assert process.returncode == 0, said
    return out.strip(), said


def test_what_was_compiled_is_compiled_once(checkout):
    assert run(checkout) == ("1", "")


@pytest.fixture
def shared(compiled):
    """A copy that other users get to: folders of pytest are shut."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield shutil.copytree(compiled, Path(folder) / "checkout", ignore=shutil.ignore_patterns(".cache"))


@needs_another_user
def test_where_nothing_can_be_written_an_edited_kernel_is_not_the_old_one(shared):
    edit(shared, 2)
    (shared / "algorithms/native").chmod(0o555)
    out, said = run(shared, *ANOTHER_USER)
    assert out == "plain"
    (line,) = said.splitlines()
    assert SLOWER in line and "nothing can be written there" in line and str(shared) in line
    edit(shared, 1)
    assert run(shared, *ANOTHER_USER) == ("1", ""), "the code that it was built of, again"


@needs_another_user
def test_a_lock_of_another_user_is_no_traceback(shared):
    edit(shared, 2)
    (shared / ".cache").mkdir()
    (shared / ".cache/kernels.lock").touch(0o444)
    for folder in (shared / "algorithms/native", shared / ".cache"):
        folder.chmod(0o777)
    out, said = run(shared, *ANOTHER_USER)
    assert out == "plain"
    (line,) = said.splitlines()
    assert SLOWER in line and "Permission denied" in line and "kernels.lock" in line


def test_a_cache_that_cannot_be_made_is_no_traceback(checkout):
    edit(checkout, 2)
    shutil.rmtree(checkout / ".cache")
    (checkout / ".cache").touch()
    out, said = run(checkout)
    assert out == "plain" and SLOWER in said and len(said.splitlines()) == 1


@pytest.mark.parametrize("move", [shutil.move, shutil.copytree])
def test_a_checkout_elsewhere_is_compiled_again(checkout, tmp_path, move):
    edit(checkout, 2)
    assert run(checkout)[0] == "2"
    moved = tmp_path / "elsewhere"
    move(checkout, moved)
    assert run(moved) == ("2", ""), "nothing needs to be compiled yet"
    edit(moved, 3)
    assert run(moved)[0] == "3"


@pytest.mark.parametrize("wrong", [{"CXX": shutil.which("false")}, {"CXXFLAGS": "--no-such-option"}])
def test_a_wrong_compiler_is_forgotten_when_it_is_taken_back(checkout, wrong):
    edit(checkout, 2)
    out, said = run(checkout, **wrong)
    assert out == "plain" and SLOWER in said
    assert run(checkout)[0] == "2"


def test_a_compiler_that_fails_late_is_forgotten_too(checkout, tmp_path):
    """It passes what CMake tries, as one does that is too old for the code."""
    old = tmp_path / "old-compiler"
    old.write_text(f'#!/bin/sh\ncase "$*" in *module.cpp*) exit 1;; esac\nexec {shutil.which("c++")} "$@"\n')
    old.chmod(0o755)
    edit(checkout, 2)
    assert run(checkout, CXX=str(old))[0] == "plain"
    assert run(checkout)[0] == "2"


def test_an_edited_file_that_is_older_than_the_kernel_is_compiled(checkout):
    """As copies and unpacked archives are, which keep their times."""
    edit(checkout, 2)
    assert run(checkout)[0] == "2"
    edit(checkout, 3)
    os.utime(checkout / "algorithms/number.h", (1e9, 1e9))
    assert run(checkout)[0] == "3"


def test_code_that_was_taken_away_is_not_compiled(checkout):
    (checkout / "algorithms/native/more.cpp").write_text("#error not any more\n")
    assert run(checkout)[0] == "plain"
    (checkout / "algorithms/native/more.cpp").unlink()
    assert run(checkout)[0] == "1"


@pytest.fixture
def slow_compiler(tmp_path):
    """A compiler that says when it begins with the kernel, and waits for a word."""
    path, begun, go_on = (tmp_path / name for name in ("slow-compiler", "begun", "go-on"))
    wait = f"touch {begun}; while [ ! -e {go_on} ]; do sleep 0.05; done"
    path.write_text(f'#!/bin/sh\ncase "$*" in *module.cpp*) {wait};; esac\nexec {shutil.which("c++")} "$@"\n')
    path.chmod(0o755)
    return str(path), begun, go_on


def test_code_that_is_edited_while_it_is_compiled_does_not_pass_for_the_new_code(checkout, slow_compiler):
    compiler, begun, go_on = slow_compiler
    edit(checkout, 2)
    process = command(checkout, CXX=compiler)
    wait_for(begun.exists)
    edit(checkout, 3)
    go_on.touch()
    out, said = process.communicate()
    assert out.strip() == "plain" and "edited while they were compiled" in said and SLOWER in said
    assert run(checkout, CXX=compiler)[0] == "3"


def test_after_an_interrupted_compile_nothing_old_passes_for_what_was_taken_back(checkout, slow_compiler):
    compiler, begun, go_on = slow_compiler
    edit(checkout, 2)
    process = command(checkout, CXX=compiler)
    wait_for(begun.exists)
    process.kill()
    process.communicate()
    go_on.touch()
    edit(checkout, 1)
    out, said = run(checkout)
    assert out == "1" and "Compiling" in said, "who knows what the module was built of"


def test_of_two_processes_one_compiles_and_both_run_the_new_code(checkout):
    edit(checkout, 2)
    both = [command(checkout) for _ in range(2)]
    found = [process.communicate() for process in both]
    assert [out.strip() for out, _ in found] == ["2", "2"]
    assert "".join(said for _, said in found).count("Compiling the kernels") == 1
