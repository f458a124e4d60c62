"""What may notice a mutant: the replay and the exact laws, tests that name privacy, the black box, all tests, the bands.

Each layer is asked in a copy of the project, in a process of its own. What raises where nothing did is noticed, too.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutants import Mutant, mutated

PROJECT = Path(__file__).resolve().parents[2]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv*", ".cache", ".*_cache", "data", "reference", "audit")

PRIVACY_TESTS = (
    "tests/test_monotone.py",
    "tests/test_mechanisms.py",
    "tests/test_accounting.py",
    "tests/test_noise_is_used_once.py",
    "tests/test_parts.py",
    "tests/test_secure.py",
    "tests/test_released.py",
    "tests/test_domain.py",
    "tests/test_audit_replay.py",
    "tests/test_moments.py",
    "tests/test_audit_exact.py",
    "tests/test_independent_account.py",
    "tests/test_scores.py::test_no_record_moves_a_score_by_more_than_the_sensitivity",
    "tests/test_scores.py::test_no_record_moves_the_score_of_numbers_by_more_than_its_sensitivity",
    "tests/test_thrifty.py::test_score_and_errors_grow_by_0_to_1_with_a_record",
    "tests/test_thrifty.py::test_a_question_costs_its_epsilon_where_a_record_comes_or_goes_and_more_where_one_is_replaced",
    "tests/test_release.py::test_no_record_costs_more_than_is_booked",
    "tests/test_rdt.py::test_a_record_more_moves_one_count_of_one_leaf_of_each_tree_by_one",
    "tests/test_rdt.py::test_no_two_nodes_or_draws_of_a_tree_share_a_key",
    "tests/test_rdt.py::test_leaves_without_records_have_noise_of_their_own_and_it_follows_the_law",
)
"""Tests that are about privacy, and run without compilation. Those that compare digits are not among them."""

ASKED_FIRST = {
    "algorithms/secure.py": ("tests/test_secure.py", "tests/test_parts.py"),
    "algorithms/mechanisms.py": ("tests/test_mechanisms.py", "tests/test_monotone.py"),
    "algorithms/accounting.py": ("tests/test_accounting.py",),
    "algorithms/base.py": ("tests/test_secure.py", "tests/test_released.py"),
    "algorithms/trust.py": ("tests/test_accounting.py",),
    "algorithms/forests": ("tests/test_accounting.py", "tests/test_noise_is_used_once.py", "tests/test_secure.py"),
    "algorithms/regression": ("tests/test_moments.py", "tests/test_audit_replay.py"),
    "algorithms/release": ("tests/test_accounting.py", "tests/test_audit_replay.py"),
    "algorithms/reading.py": ("tests/test_domain.py",),
    "algorithms/domain.py": ("tests/test_domain.py",),
    "algorithms/clipping.py": ("tests/test_domain.py", "tests/test_audit_replay.py"),
}
"""By the source that was changed, for speed alone: the others follow."""

UNSEEN_BY_BLACK_BOX = tuple(f"algorithms/{name}.py" for name in ("secure", "trust", "accounting", "base", "reading"))
"""Noise by OpenDP, accounts, releases, and cells that no table of its has: it trains in compiled code, with numpy."""

TRAININGS = 10_000


@contextmanager
def copy_with(mutant: Mutant | None) -> Iterator[Path]:
    """Copy the project to a folder of its own, with a mutant in it or as it is."""
    with TemporaryDirectory() as folder:
        copy = Path(folder) / PROJECT.name
        shutil.copytree(PROJECT, copy, ignore=LEFT_OUT)
        if mutant is not None:
            path = copy / mutant.file
            path.write_text(mutated(mutant, path.read_text(encoding="utf-8")), encoding="utf-8")
        yield copy


def ran(copy: Path, *words: str, is_compiled: bool) -> subprocess.CompletedProcess:
    """Run Python in a copy."""
    data = os.environ.get("DPREPLICA_DATA") or str(PROJECT.parent / "shared" / "data")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment |= {"PYTHONPATH": str(copy), "DPREPLICA_DATA": data, "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {} if is_compiled else {"NUMBA_DISABLE_JIT": "1"}
    return subprocess.run([sys.executable, *words], cwd=copy, env=environment, capture_output=True, text=True)


def _said(done: subprocess.CompletedProcess) -> str:
    """Return what a program of `in_copy` noticed; that it raised is noticed, too."""
    if done.returncode:
        return f"raised: {done.stderr.strip().splitlines()[-1][:120]}" if done.stderr.strip() else "raised"
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""


def replay(copy: Path, algorithms: tuple[str, ...]) -> str:
    """Ask the replay of some algorithms, and the exact laws: what of the audit needs no training."""
    return _said(ran(copy, "-m", "tests.mutants.in_copy", "replay", *algorithms, is_compiled=False))


def bands(copy: Path, algorithms: tuple[str, ...]) -> str:
    """Ask the settings that `make check` watches of some algorithms."""
    return _said(ran(copy, "-m", "tests.mutants.in_copy", "watched", *algorithms, is_compiled=True))


def black_box(copy: Path, algorithm: str) -> str:
    """Ask the audit of one algorithm, many trainings included; another one may show more."""
    words = [f"algorithm={algorithm}", f"n={TRAININGS}", "jobs=1", "results=results/mutant"]
    done = ran(copy, "-m", "experiments.audit", *words, is_compiled=True)
    return f"black box: {algorithm}" if done.returncode else ""


def privacy_tests(copy: Path, file: str) -> str:
    """Ask the tests that name privacy; returns the first that fails."""
    first = next((tests for source, tests in ASKED_FIRST.items() if file.startswith(source)), ())
    return _first_failure(ran(copy, *PYTEST, *dict.fromkeys((*first, *PRIVACY_TESTS)), is_compiled=False))


def all_tests(copy: Path) -> str:
    """Ask all tests, compiled; returns the first that fails."""
    return _first_failure(ran(copy, *PYTEST, "--deselect=tests/test_mutants.py", is_compiled=True))


PYTEST = ("-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider")


def _first_failure(done: subprocess.CompletedProcess) -> str:
    if done.returncode == 0:
        return ""
    failed = re.search(r"^(?:FAILED|ERROR) (\S+?)(?:\[| |$)", done.stdout, flags=re.MULTILINE)
    return failed[1] if failed else "pytest could not run"
