"""Where results come from: code, versions, machine, data, seeds, command."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from threadpoolctl import threadpool_info

import datasets
from algorithms.installation import IS_CHECKOUT, PROGRAM, ROOT
from experiments.cells import code_version

SEEDS = (
    "A cell's seed is numpy.random.SeedSequence over the SHA-256 of its identity (data set, algorithm, parameters, "
    "epsilon, repeat, protocol); a split's is the SHA-256 of the data's fingerprint, the repeat and test_size, so that "
    "repeat r of every algorithm sees the same rows."
)


def gather_facts(arguments: list[str], names: Iterable[str], repeats: int) -> dict:
    """Return the command, code, seeds and data sets that are needed to run the same again."""
    data = {name: _describe_data(name) for name in sorted(set(names))}
    command = describe_command(arguments)
    return {**command, "repeats": repeats, "seeds": SEEDS, "data": data}


def describe_command(arguments: Sequence[str]) -> dict:
    """Return what was run, when, on which code, and where."""
    return {
        "command": f"{PROGRAM} {shlex.join(arguments)}".rstrip(),
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "git": _read_revision(),
        "versions": {"python": platform.python_version(), **_read_versions()},
        "machine": _describe_machine(),
    }


def _read_versions() -> dict[str, str]:
    libraries = code_version.list_libraries()
    return {name: libraries[name].split()[-1] for name in code_version.LIBRARIES}


def _read_revision() -> dict | None:
    """Return revision and whether tracked files differ from it; None outside a checkout."""
    if not IS_CHECKOUT:  # the folder of an environment may lie in a repository of somebody else
        return None
    try:
        revision = _run_git("git", "rev-parse", "HEAD")
        return {"revision": revision, "dirty": bool(_run_git("git", "status", "--porcelain", "--untracked-files=no"))}
    except (OSError, subprocess.CalledProcessError):
        return None


def _run_git(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def _describe_machine() -> dict:
    """Return what could make another machine give other digits: its arithmetic, and who does it."""
    return {
        "processor": _name_processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(terse=True),
        "mathematics": " ".join(platform.libc_ver()),  # exp and log of compiled code
        "linear_algebra": _list_linear_algebra(),
    }


def _list_linear_algebra() -> list[str]:
    names = set()
    for library in threadpool_info():
        if library["user_api"] == "blas":
            names.add(f"{library['internal_api']} {library['version']} {library.get('architecture')}")
    return sorted(names)


def _name_processor() -> str:
    try:  # Linux: platform.processor() is empty or just the architecture there
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _describe_data(name: str) -> dict:
    try:
        return datasets.load(name).provenance
    except datasets.DataUnavailable as error:
        return {"unavailable": " ".join(str(error).split()), "fingerprint": datasets.fingerprint(name)}
