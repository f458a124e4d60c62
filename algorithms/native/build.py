"""Builds the kernels: ``python algorithms/native/build.py folder workshop`` leaves the extension module in the folder.

CMake and Ninja compile only what has changed. Without a C++ compiler, that of the package ziglang is taken. Beside the
module that a checkout imports lies the hash of the code that it was built of.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILT = HERE / f"kernels{sysconfig.get_config_var('EXT_SUFFIX')}"
BUILT_FROM = BUILT.with_suffix(".built-from")
ZIG = f"{sys.executable} -m ziglang"


def build_kernels(folder: Path, workshop: Path, build_type: str = "Release") -> None:
    """Compile the kernels into a folder; the workshop keeps what the next time needs not be compiled again.

    Of another type than CMake knows, they are built by the flags of ``CXXFLAGS`` alone.

    Raises
    ------
    RuntimeError
        With what the compiler said, if it failed, or what to install, if there is none.
    """
    if not has_compiler() and importlib.util.find_spec("ziglang") is None:
        raise RuntimeError("there is no C++ compiler: install one, or `pip install ziglang`")
    import nanobind
    import numpy as np

    (library,) = (Path(np.__file__).parent / "random" / "lib").glob("*npyrandom*")
    environment = _make_environment()
    settings = {
        "CMAKE_BUILD_TYPE": build_type,
        "Python_EXECUTABLE": sys.executable,
        "nanobind_DIR": nanobind.cmake_dir(),
        "NUMPY_INCLUDE": np.get_include(),
        "NUMPY_RANDOM_LIBRARY": library,
        "CMAKE_LIBRARY_OUTPUT_DIRECTORY": folder,
    }
    if not has_compiler():
        environment["CXX"] = f"{ZIG} c++ -mcpu=baseline"  # for any processor of this kind
        settings["CMAKE_CXX_ARCHIVE_CREATE"] = f"{ZIG} ar qc <TARGET> <OBJECTS>"
        settings["CMAKE_CXX_ARCHIVE_FINISH"] = f"{ZIG} ranlib <TARGET>"
    words = [f"-D{name}={value}" for name, value in settings.items()]
    _run("cmake", "-S", HERE, "-B", workshop, "-G", "Ninja", *words, environment=environment)
    _run("cmake", "--build", workshop, environment=environment)


def is_built() -> bool:
    """Return whether the module of the checkout was built of just this code."""
    try:
        return BUILT.is_file() and BUILT_FROM.read_text(encoding="utf-8") == hash_sources()
    except OSError:
        return False


@functools.cache
def hash_sources() -> str:
    """Hash the code that the kernels are built of."""
    digest = hashlib.sha256()
    for path in sorted([*HERE.parent.rglob("*.h"), *HERE.parent.rglob("*.cpp"), HERE / "CMakeLists.txt"]):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def has_compiler() -> bool:
    """Return whether this machine has a C++ compiler; that of ziglang does not count."""
    return any(map(shutil.which, (os.environ.get("CXX") or "c++", "g++", "clang++")))


def _make_environment() -> dict[str, str]:
    """Return an environment in which programs of this Python's packages are found."""
    folders = [sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)]
    return os.environ | {"PATH": os.pathsep.join(folders)}


def _run(*words: object, environment: dict[str, str]) -> None:
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise RuntimeError(f"{done.stdout}{done.stderr}")


if __name__ == "__main__":
    build_kernels(*map(Path, sys.argv[1:]))
