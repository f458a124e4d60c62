"""Runs that are published in ``results/reference``: published, read, and compared with the prose of today.

``do=reference paper=2`` publishes ``results/paper-2`` after ``make reproduce-paper-2``. Runs that are not complete are
refused. Of a run the files `run_folder.KEPT` are kept: they are small, and they show the whole run but its cells and
bitmaps.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pandas as pd

from algorithms.installation import name_command
from experiments.config.papers import name_paper_file, read_paper
from experiments.config.paths import REFERENCE, ROOT
from plots import audit_bounds
from plots.runs.paper_run import PaperRun
from plots.runs.run_folder import KEPT, copy_files, name_target


def read_published(folder: Path) -> PaperRun:
    """Read a published run, with the promise and the finding that the file of the paper has today.

    A sentence may be written better without running anything again; the run then says whether it bears it out.
    """
    run = PaperRun.read(folder)
    written = read_paper(str(run.paper.number))
    return replace(run, paper=run.paper.model_copy(update={"promise": written.promise, "finding": written.finding}))


def list_published(folder: Path = REFERENCE) -> list[PaperRun]:
    """Return all published runs, the papers before the benchmarks."""
    return [read_published(path) for path in sorted(folder.glob("paper-*"))]


def list_drifts(folder: Path = REFERENCE) -> list[str]:
    """Return where a finding takes for granted what its published run does not bear out, a line for each.

    Examples
    --------
    >>> list_drifts()
    []
    """
    lines = []
    for run in list_published(folder):
        file = name_paper_file(str(run.paper.number))
        lines += [f"{file}: the finding no longer fits its published run: {misfit}" for misfit in run.misfits]
    return lines


def publish_run(name: str, results: Path = ROOT / "results") -> None:
    """Copy the summaries of a complete run, of a paper's number or ``benchmark``, into ``results/reference``.

    Raises
    ------
    SystemExit
        If the run is missing, not complete, or of code that is not committed.
    """
    run, kept = results / f"paper-{name}", REFERENCE / f"paper-{name}"
    if not (run / "numbers.csv").is_file():
        sys.exit(f"{run} holds no finished run: {name_target(name)} first")
    facts = json.loads((run / "provenance.json").read_text(encoding="utf-8"))
    _refuse_uncommitted(facts, name_target(name))
    if PaperRun.read(run).is_short or _lacks_cells(run):
        sys.exit(f"{run} is not complete: {name_target(name)} first")
    shutil.rmtree(kept, ignore_errors=True)
    copy_files(run, kept, KEPT)
    _forget_folder(kept / "provenance.json")


def publish_audit(results: Path = ROOT / "results") -> None:
    """Copy the summary of a complete audit into ``results/reference``.

    Raises
    ------
    SystemExit
        If there is no complete audit, or it is of code that is not committed.
    """
    if not (results / audit_bounds.SUMMARY).is_file():
        sys.exit(f"{results / audit_bounds.SUMMARY} is missing: {name_command('audit')} first")
    facts = json.loads((results / "audit" / "provenance.json").read_text(encoding="utf-8"))
    _refuse_uncommitted(facts, name_command("audit"))
    copy_files(results, REFERENCE, (audit_bounds.SUMMARY, "audit/provenance.json"))
    _forget_folder(REFERENCE / "audit" / "provenance.json")


def _forget_folder(path: Path) -> None:
    """Leave out of a published command where its results lay: that is of one machine alone."""
    facts = json.loads(path.read_text(encoding="utf-8"))
    words = [word for word in shlex.split(facts["command"]) if not word.startswith("results=")]
    path.write_text(json.dumps(facts | {"command": shlex.join(words)}, indent=2, ensure_ascii=False) + "\n", "utf-8")


def _lacks_cells(folder: Path) -> bool:
    """Return whether a number, table or figure of a run lacks cells."""
    of_readings = (path for path in (folder / "readings.csv", folder / "curves.csv") if path.is_file())
    for path in (folder / "numbers.csv", *of_readings, *folder.glob("figures/*.csv"), *folder.glob("tables/*.csv")):
        part = pd.read_csv(path)
        if "n" in part and (part["n"] < part["n_expected"]).any():
            return True
    return False


def _refuse_uncommitted(provenance: Mapping, command: str) -> None:
    if not provenance["git"] or provenance["git"]["dirty"]:
        sys.exit(f"this is a run of code that is not committed: commit, then {command}")
