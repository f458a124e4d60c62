"""What is run in a copy of the project with a mutant in it: prints what was noticed, nothing if nothing was.

``python -m tests.mutants.in_copy NAME...`` asks the settings of `make check` in which algorithms of these names are.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace

from algorithms import PrivacyLeakWarning
from experiments.audit import laws
from experiments.audit.replay import replay_audit
from experiments.audit.subjects import list_subjects
from experiments.regression_check.bands import find_differences, read_accepted, read_watched_paper
from experiments.regression_check.watch import make_watched_cells
from experiments.run import evaluate
from experiments.store.long_table import long_table
from experiments.store.record import Record

PAPERS = ("3", "1", "4", "5", "2")
"""Those that `make check` watches, the quick ones first."""


def replayed(names: Sequence[str]) -> str:
    """Replay algorithms, then ask the exact laws; as in the audit, what confesses its faults is no alarm."""
    warnings.simplefilter("ignore", PrivacyLeakWarning)
    subjects = {subject.name: subject for subject in list_subjects()}
    for name in names:
        report = replay_audit.replay_subject(subjects[name])
        if report.keeps_claim and report.failures:
            return f"replay: {', '.join(sorted(report.broken_rules))}"
    broken = [law for law in laws.find_worst_cases((1.0,)) if not law.holds]
    return f"exact laws: {broken[0].score}" if broken else ""


def watched(names: Sequence[str]) -> str:
    """Run what is watched of these algorithms, paper after paper, until something is not as it was."""
    for name in PAPERS:
        paper, watch_list = read_watched_paper(name)
        accepted = read_accepted(name, watch_list)
        touched = [number for number in watch_list.numbers if set(number.where["algorithm"]) & set(names)]
        if not touched:
            continue
        watch_list = replace(watch_list, numbers=touched, claims=[])
        studies = make_watched_cells(paper, watch_list, range(watch_list.repeats))
        every = [cell for cells in studies.values() for cell in cells]
        records = {cell.key: Record("done", evaluate.evaluate_cell(cell)) for cell in every}
        differences = find_differences(paper, watch_list, accepted, long_table(studies, records))
        if differences:
            return f"paper {name}: {differences[0].what}"
    return ""


def watched_algorithms() -> set[str]:
    """Return the names of the algorithms that `make check` watches."""
    watch_lists = [read_watched_paper(name)[1] for name in PAPERS]
    return {name for watch_list in watch_lists for number in watch_list.numbers for name in number.where["algorithm"]}


if __name__ == "__main__":
    print(watched(sys.argv[1:]))
