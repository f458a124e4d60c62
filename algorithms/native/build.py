"""Builds the kernels: ``python algorithms/native/build.py folder workshop`` leaves the extension module in the folder.

CMake and Ninja compile only what has changed. Without a C++ compiler, that of the package ziglang is taken.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

HERE = Path(__file__).resolve().parent


def build(folder: Path, workshop: Path) -> None:
    """Compile the kernels into a folder; the workshop keeps what the next time needs not be compiled again.

    Raises
    ------
    RuntimeError
        With what the compiler said, if it failed, or what to install, if there is none.
    """
    import nanobind
    import numpy as np

    (library,) = (Path(np.__file__).parent / "random" / "lib").glob("*npyrandom*")
    settings = {
        "CMAKE_BUILD_TYPE": "Release",
        "Python_EXECUTABLE": sys.executable,
        "nanobind_DIR": nanobind.cmake_dir(),
        "NUMPY_INCLUDE": np.get_include(),
        "NUMPY_RANDOM_LIBRARY": library,
        "CMAKE_LIBRARY_OUTPUT_DIRECTORY": folder,
    }
    if "ziglang" in _make_environment().get("CXX", ""):  # it has the other programs of a compiler, too
        settings["CMAKE_CXX_ARCHIVE_CREATE"] = f"{sys.executable} -m ziglang ar qc <TARGET> <OBJECTS>"
        settings["CMAKE_CXX_ARCHIVE_FINISH"] = f"{sys.executable} -m ziglang ranlib <TARGET>"
    words = [f"-D{name}={value}" for name, value in settings.items()]
    _run("cmake", "-S", HERE, "-B", workshop, "-G", "Ninja", *words)
    _run("cmake", "--build", workshop)


def _run(*words: object) -> None:
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, env=_make_environment(), check=False)
    if done.returncode:
        raise RuntimeError(f"{done.stdout}{done.stderr}")


def _make_environment() -> dict[str, str]:
    """Return an environment in which programs of this Python's packages are found, and a compiler."""
    folders = [sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)]
    environment = os.environ | {"PATH": os.pathsep.join(folders)}
    if not environment.get("CXX") and not any(map(shutil.which, ("c++", "g++", "clang++"))):
        if importlib.util.find_spec("ziglang") is None:
            raise RuntimeError("there is no C++ compiler: install one, or `pip install ziglang`")
        environment["CXX"] = f"{sys.executable} -m ziglang c++ -mcpu=baseline"  # for any processor of this kind
    return environment


if __name__ == "__main__":
    build(*map(Path, sys.argv[1:]))
