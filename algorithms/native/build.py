"""Builds the kernels: ``python algorithms/native/build.py folder workshop`` leaves the extension module in the folder.

CMake and Ninja compile only what has changed. Without a C++ compiler, that of the package ziglang is taken. Beside the
module that a checkout imports lies the hash of the code that it was built of.

A workshop has three parts. ``sources`` is a copy of the code: what is compiled is what was hashed, although somebody
may edit it meanwhile, and an edited file is newer than what was compiled of it, whatever time it had. ``build`` belongs
to CMake, which keeps for ever what it has found once: its own place, and a wrong compiler too. It begins anew unless
``built-by`` holds what CMake is asked: that is not there after an attempt to configure in vain, or a compile that
somebody has interrupted, which may go on.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parent
BUILT = HERE / f"kernels{sysconfig.get_config_var('EXT_SUFFIX')}"
BUILT_FROM = BUILT.with_suffix(".built-from")
ZIG = f"{sys.executable} -m ziglang"


def build_kernels(folder: Path, workshop: Path, build_type: str = "Release") -> str:
    """Compile the kernels into a folder; the workshop keeps what the next time needs not be compiled again.

    Of another type than CMake knows, they are built by the flags of ``CXXFLAGS`` alone.

    Returns
    -------
    str
        The hash of the code that they were built of, see `hash_sources`.

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
        "CMAKE_LIBRARY_OUTPUT_DIRECTORY": workshop / "build",
    }
    if not has_compiler():
        environment["CXX"] = f"{ZIG} c++ -mcpu=baseline"  # for any processor of this kind
        settings["CMAKE_CXX_ARCHIVE_CREATE"] = f"{ZIG} ar qc <TARGET> <OBJECTS>"
        settings["CMAKE_CXX_ARCHIVE_FINISH"] = f"{ZIG} ranlib <TARGET>"
    built_from = _copy_sources(workshop / "sources")
    _run_cmake(workshop, settings, environment)
    arriving = folder / f"{BUILT.name}.new"
    shutil.copy(workshop / "build" / BUILT.name, arriving)
    arriving.replace(folder / BUILT.name)  # at once: other processes may be about to import it
    return built_from


def _copy_sources(copies: Path) -> str:
    """Copy the code into a workshop, and return its hash. The time of a file stays where its contents do."""
    contents = _read_sources()
    for path in filter(Path.is_file, copies.rglob("*")):
        if path.relative_to(copies) not in contents:
            path.unlink()
    for name, content in contents.items():
        copy = copies / name
        if not (copy.is_file() and copy.read_bytes() == content):
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(content)
    return _hash(contents)


def _run_cmake(workshop: Path, settings: dict[str, object], environment: dict[str, str]) -> None:
    """Configure, in an empty folder unless that was done in just these words, and compile."""
    build, note = workshop / "build", workshop / "built-by"
    words = ["cmake", "-S", workshop / "sources" / HERE.name, "-B", build, "-G", "Ninja"]
    words += [f"-D{name}={value}" for name, value in settings.items()]
    asked = "\n".join([*map(str, words), *_describe_tools(environment)])
    is_ready = note.is_file() and note.read_text(encoding="utf-8") == asked
    note.unlink(missing_ok=True)
    if not is_ready:
        if build.exists():
            shutil.rmtree(build)
        _run(*words, environment=environment)
    try:
        _run("cmake", "--build", build, environment=environment)
    except RuntimeError:  # it has come to its end: what could be compiled is as good as ever
        note.write_text(asked, encoding="utf-8")
        raise
    note.write_text(asked, encoding="utf-8")


def _describe_tools(environment: dict[str, str]) -> list[str]:
    """Return what else decides what CMake finds: variables, the compilers behind their names, what is linked in."""
    variables = [f"{name}={environment.get(name, '')}" for name in ("CXX", "CXXFLAGS", "LDFLAGS")]
    return [*variables, *map(os.path.realpath, _find_compilers()), sys.version, version("nanobind"), version("numpy")]


def is_built() -> bool:
    """Return whether the module of the checkout was built of just this code."""
    try:
        return BUILT.is_file() and BUILT_FROM.read_text(encoding="utf-8") == hash_sources()
    except OSError:
        return False


def hash_sources() -> str:
    """Hash the code that the kernels are built of, NumPy's version with it: they contain its distributions."""
    return _hash(_read_sources())


def _hash(contents: dict[Path, bytes]) -> str:
    digest = hashlib.sha256(version("numpy").encode())
    for name, content in contents.items():
        digest.update(f"\0{name.as_posix()}\0".encode() + content)
    return digest.hexdigest()


def _read_sources() -> dict[Path, bytes]:
    """Return the contents of all files that the kernels are built of, by their names in ``algorithms``."""
    paths = [*SOURCES.rglob("*.h"), *SOURCES.rglob("*.cpp"), HERE / "CMakeLists.txt"]
    return {path.relative_to(SOURCES): path.read_bytes() for path in sorted(paths)}


def has_compiler() -> bool:
    """Return whether this machine has a C++ compiler; that of ziglang does not count."""
    return bool(_find_compilers())


def _find_compilers() -> list[str]:
    found = map(shutil.which, (os.environ.get("CXX") or "c++", "g++", "clang++"))
    return [path for path in found if path is not None]


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
