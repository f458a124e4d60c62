"""Where results come from: code, versions, machine, data, seeds, command."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

import datasets
from algorithms.installation import IS_CHECKOUT, PROGRAM, ROOT
from documents import search_path
from experiments.cells import code_version
from experiments.config import estimators

DISTRIBUTION = "dp-replica"
SEEDS = (
    "A cell's seed is numpy.random.SeedSequence over the SHA-256 of its identity (data set, algorithm, parameters, "
    "epsilon, repeat, protocol); a split's is the SHA-256 of the data's fingerprint, the repeat and test_size, so that "
    "repeat r of every algorithm sees the same rows."
)


def gather_facts(
    arguments: Sequence[str], names: Iterable[str], repeats: int, algorithms: Iterable[str] = ()
) -> dict[str, Any]:
    """Return the command, code, seeds, data sets and packages of peers that are needed to run the same again."""
    data = {name: _describe_data(name) for name in sorted(set(names))}
    command = describe_command(arguments)
    peers: dict[str, str] = {}
    for algorithm in sorted(algorithms):
        peers |= estimators.list_packages(algorithm)
    facts = {**command, "repeats": repeats, "seeds": SEEDS, "data": data}
    return facts | ({"versions_of_peers": peers} if peers else {})


def describe_command(arguments: Sequence[str]) -> dict:
    """Return what was run, when, on which code, and where.

    ``git`` is of this project's checkout; where there is none, ``no_git`` says why. ``own_git`` is of each other
    repository that the command was run in, or that holds a folder which was added to the catalogue.
    """
    git: dict | str = "it is installed, not a checkout: versions has its own"
    if IS_CHECKOUT:
        git = _read_revision(ROOT)
    ours = _find_top(ROOT) if IS_CHECKOUT else None
    tops = {_find_top(folder) for folder in (Path.cwd(), *search_path.list_added())} - {ours, None}
    own_git = [{"folder": top.name, **_describe_git(_read_revision(top))} for top in sorted(filter(None, tops))]
    return {
        "command": f"{PROGRAM} {shlex.join(arguments)}".rstrip(),
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        **_describe_git(git),
        **({"own_git": own_git} if own_git else {}),
        "versions": {"python": platform.python_version(), **_read_versions()},
        "machine": _describe_machine(),
    }


def _describe_git(found: dict | str) -> dict[str, Any]:
    """Return what is known of a repository, or why nothing is."""
    return {"git": None, "no_git": found} if isinstance(found, str) else {"git": found}


def _read_versions() -> dict[str, str]:
    libraries = code_version.list_libraries()
    versions = {name: libraries[name].split()[-1] for name in code_version.LIBRARIES}
    with suppress(PackageNotFoundError):  # a checkout that nobody has installed
        versions = {DISTRIBUTION: version(DISTRIBUTION), **versions}
    return versions


def _read_revision(folder: Path) -> dict | str:
    """Return the revision of a repository, and whether tracked files differ from it; a sentence where there is none."""
    try:
        revision = _run_git(folder, "rev-parse", "HEAD")
        return {"revision": revision, "dirty": bool(_run_git(folder, "status", "--porcelain", "--untracked-files=no"))}
    except OSError as error:
        return f"git cannot be run ({error.strerror})"
    except subprocess.CalledProcessError as error:
        reason = next(iter(error.stderr.splitlines()), "it gives no reason")
        return f"git does not read it: {reason.replace(str(folder), folder.name)}"


def _find_top(folder: Path) -> Path | None:
    """Return the folder of the repository that a folder lies in; None if it lies in none."""
    folder = folder.resolve()
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), None)


def _run_git(folder: Path, *words: str) -> str:
    """Ask git about a folder, whatever repository its variables name: hooks and rebases set those of another one."""
    environment = {}
    for name, value in os.environ.items():
        if not name.startswith("GIT_") or name.startswith("GIT_CONFIG_"):  # which says whom git trusts in a container
            environment[name] = value
    done = subprocess.run(
        ["git", *words], cwd=folder, check=True, capture_output=True, text=True, errors="replace", env=environment
    )
    return done.stdout.strip()


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
