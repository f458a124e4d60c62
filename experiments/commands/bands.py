"""``do=bands``: measure anew what ``do=check`` accepts."""

from __future__ import annotations

from experiments.config.paths import find_own_file, name_paper_command
from experiments.errors import require_checkout
from experiments.regression_check.bands import (
    join_accepted,
    list_watched_papers,
    measure_accepted,
    read_watched_paper,
    write_accepted,
)
from experiments.regression_check.watch import make_watched_cells
from experiments.request import SweepRequest
from experiments.run.executors.executor import make_executor
from experiments.run.run_studies import run_studies
from experiments.store import provenance


def run_command(request: SweepRequest) -> int:
    """Make the bands of some papers, or of all; returns the exit code."""
    names = request.list_choices("paper") or list_watched_papers()
    if any(find_own_file(name) is None for name in names):
        require_checkout("bands")
    algorithm = next(iter(request.list_choices("algorithm")), None)
    papers = {name: read_watched_paper(name) for name in names}
    executor, measured, codes = make_executor(request.config["executor"]), {}, []
    for name, (paper, watched) in papers.items():
        part = watched.select_algorithm(algorithm) if algorithm else watched
        repeats = range(watched.repeats, watched.repeats + watched.accepted)
        cells = make_watched_cells(paper, part, repeats)
        table, code = run_studies(cells, request.results_folder, executor, str(request.config["results"]))
        codes.append(code)
        if not code:
            facts = provenance.gather_facts([], table["dataset"].unique(), watched.accepted)
            facts["command"] = name_paper_command("bands", name)
            accepted = measure_accepted(paper, part, table)
            measured[name] = join_accepted(name, watched, accepted, facts) if algorithm else (accepted, facts)
    for name, (accepted, facts) in measured.items():  # at the end: writing one would make the next one's tree dirty
        write_accepted(name, accepted, facts)
    return max(codes)
