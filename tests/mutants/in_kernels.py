"""All mutants of the kernels in one copy of the project: compiled once, and each is there where a variable says so."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.config import estimators
from tests.mutants import DOOR, Mutant, layers, mutated

VARIABLE = "DPREPLICA_MUTANT"
SWITCH = f"""\
#pragma once
#include <cstdlib>

namespace dp_replica {{
inline const int MUTANT = std::getenv("{VARIABLE}") ? std::atoi(std::getenv("{VARIABLE}")) : 0;
}}
"""
TESTS = ("tests/test_twins.py", "tests/test_secure.py")
"""Those that compare kernels with the Python; the latter those of releases, whose noise OpenDP draws."""
SHORT, OF_RELEASES = "on_numbers or many_classes", "compiled or release or seed"
"""What is asked first, for speed alone."""
WIDTHS = "tests/test_widths.py"
"""Those of large tables."""


def switched(mutant: Mutant, number: int, source: str) -> str:
    """Return a source in which a mutant is there if it is asked for by its number.

    Raises
    ------
    ValueError
        If its text does not stand there exactly once.

    Examples
    --------
    >>> mutant = Mutant("less noise", "noise", "a.h", "x + noise", "x", "There is no noise.", ("rdt",))
    >>> switched(mutant, 7, "y = x + noise;")
    'y = (dp_replica::MUTANT == 7 ? (x) : (x + noise));'
    """
    is_there = f"dp_replica::MUTANT == {number}"
    both = f"({is_there} ? ({mutant.wrong}) : ({mutant.right}))"
    if mutant.right.endswith(";"):
        both = f"{{ if ({is_there}) {{ {mutant.wrong} }} else {{ {mutant.right} }} }}"
    return mutated(mutant._replace(wrong=both), source)


def list_switched(mutants: Sequence[Mutant], project: Path) -> dict[str, str]:
    """Return the sources of a project with mutants, numbered from 1, by file.

    Raises
    ------
    ValueError
        If a text does not stand in its file exactly once.
    """
    sources = {}
    for number, mutant in enumerate(mutants, start=1):
        source = sources.get(mutant.file) or (project / mutant.file).read_text(encoding="utf-8")
        sources[mutant.file] = switched(mutant, number, source)
    return {
        file: source.replace("#pragma once\n", '#pragma once\n#include "native/mutant.h"\n', 1)
        for file, source in sources.items()
    }


def put_in(mutants: Sequence[Mutant], copy: Path) -> None:
    """Put mutants into a copy, and compile it.

    Raises
    ------
    ValueError
        If a text does not stand in its file exactly once, or the compiler refuses a mutant.
    """
    (copy / "algorithms/native/mutant.h").write_text(SWITCH, encoding="utf-8")
    for file, source in list_switched(mutants, copy).items():
        (copy / file).write_text(source, encoding="utf-8")
    done = layers.compiled(copy, "-c", "import sys; from algorithms.native import is_plain; sys.exit(is_plain())")
    if done.returncode:
        raise ValueError(f"mutants of kernels are not compiled:\n{done.stderr[-2000:]}")


def ask_twins(copy: Path, mutant: Mutant | None = None, number: int = 0) -> str:
    """Return the first test that fails where a mutant is there: some that are quick, then all."""
    if mutant is None:
        return _run_tests(copy, 0, *TESTS)
    if mutant.kind == DOOR:
        return _run_tests(copy, number, TESTS[1], "-k", OF_RELEASES) or _run_tests(copy, number, *TESTS)
    first = estimators.find_target(mutant.algorithms[0]).rpartition(".")[2]
    return _run_tests(copy, number, TESTS[0], "-k", f"{first} or {SHORT}") or _run_tests(copy, number, *TESTS)


def ask_widths(copy: Path, mutant: Mutant | None = None, number: int = 0) -> str:
    """Return the first test of large tables that fails where a mutant is there."""
    return _run_tests(copy, number, WIDTHS)


def _run_tests(copy: Path, number: int, *words: str) -> str:
    done = layers.compiled(copy, "-m", "pytest", *layers.OPTIONS, *words, **{VARIABLE: str(number)})
    return layers.first_failure(done.stdout) if done.returncode else ""
