"""``do=bands``: measure anew what ``do=check`` accepts."""

from __future__ import annotations

from experiments.config.request import SweepRequest
from experiments.regression_check.bands import accepted_of, join_bands, of_algorithm, plan_of, write
from experiments.regression_check.watch import cells
from experiments.run.run_studies import run_studies
from experiments.store import provenance


def run_command(request: SweepRequest) -> int:
    """Make the bands of some papers, or of all; returns the exit code."""
    algorithm = next(iter(request.list_choices("algorithm")), None)
    plans = {name: plan_of(name) for name in request.list_papers()}
    made, codes = {}, []
    for name, (paper, check) in plans.items():
        part = of_algorithm(check, algorithm) if algorithm else check
        repeats = range(check.repeats, check.repeats + check.accepted)
        table, code = run_studies(cells(paper, part, repeats), request)
        codes.append(code)
        if not code:
            facts = provenance.gather([], table["dataset"].unique(), check.accepted) | {"command": "make bands"}
            accepted = accepted_of(paper, part, table)
            made[name] = join_bands(name, check, accepted, facts) if algorithm else (accepted, facts)
    for name, (accepted, facts) in made.items():  # at the end: writing one would make the next one's tree dirty
        write(name, accepted, facts)
    return max(codes)
