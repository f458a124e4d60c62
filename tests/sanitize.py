"""``make sanitize``: do kernels read or write where they should not? Twins and a fuzz, under sanitizers of g++.

The kernels are compiled again, by g++ with its address and undefined-behaviour sanitizers, in a workshop of their own,
and run in a copy of the project: the checkout and its kernels stay as they are.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from algorithms.native.build import BUILT_FROM, build_kernels, hash_sources
from tests.mutants import layers

COMPILER = "g++"
FLAGS = "-fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1"
CHECKED_LIBRARY = "-D_GLIBCXX_ASSERTIONS"  # a span or a vector is asked for what it has
LIBRARIES = ("libasan.so", "libstdc++.so")
"""Python is linked with neither: they must be there before it, so that what is allocated and thrown is seen."""
OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",  # Python keeps much to its end
    "UBSAN_OPTIONS": "print_stacktrace=1",
}
TWINS = ("tests/test_twins.py", "tests/test_draws_of_kernels.py", "tests/test_native.py")
PROCESSES = 2
CASES = 1200
HELP = """\
Compile the kernels with sanitizers, and run what calls them: the tests of twins, then a fuzz of all estimators.

  python -m tests.sanitize              all of it: up to ten minutes on two cores
  python -m tests.sanitize cases=2000   a longer fuzz
  python -m tests.sanitize seed=7       another one

Exit code: 0 nothing was found, 1 something was, 2 it cannot be run here."""


def main(words: list[str]) -> int:
    """Build, run, and print one line; returns the exit code."""
    if {"-h", "--help"} & set(words):
        print(HELP)
        return 0
    if shutil.which(COMPILER) is None:
        print(f"The sanitizers are those of {COMPILER}, which is not installed", file=sys.stderr)
        return 2
    given = {"seed": "0", "cases": str(CASES)} | dict(word.split("=") for word in words)
    fuzz = ("-m", "tests.fuzz", *(f"{name}={value}" for name, value in given.items()))
    twins = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", str(PROCESSES), "-m", "not system", *TWINS)
    start, failed = time.monotonic(), []
    with layers.copy_with(None) as copy:
        report_progress("compiling the kernels with sanitizers")
        environment = build_in(copy)
        for name, command in (("twins", twins), ("fuzz", fuzz)):
            report_progress(f"{name}: {' '.join(command)}")
            if layers.compiled(copy, *command, **environment, shown=True).returncode:
                failed.append(name)
    what = f"{' and '.join(failed)} failed, see above" if failed else f"twins and {given['cases']} cases, no report"
    print(f"sanitizers: {what}; {time.monotonic() - start:.0f} s")
    return int(bool(failed))


def build_in(copy: Path) -> Mapping[str, str]:
    """Compile the kernels of a copy with sanitizers; returns the environment in which they run."""
    os.environ |= {"CXX": COMPILER, "CXXFLAGS": f"{FLAGS} {CHECKED_LIBRARY}"}
    folder = copy / "algorithms" / "native"
    build_kernels(folder, layers.PROJECT / ".cache" / "sanitized", "Sanitized")
    (folder / BUILT_FROM.name).write_text(hash_sources(), encoding="utf-8")
    return OPTIONS | {"LD_PRELOAD": ":".join(map(find_library, LIBRARIES))}


def find_library(name: str) -> str:
    """Return where the compiler has a library."""
    done = subprocess.run([COMPILER, f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def report_progress(what: str) -> None:
    """Print what begins."""
    print(f"sanitizers: {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
