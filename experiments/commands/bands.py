"""``make bands``: measure anew what `make check` accepts."""

from __future__ import annotations

from experiments.commands.common import exit_with, parsed, run_studies
from experiments.regression_check.bands import accepted_of, join_bands, of_algorithm, plan_of, write
from experiments.regression_check.watch import cells
from experiments.store import provenance


def command(arguments: list[str]) -> int:
    """Make the bands of some papers, or of all; returns the exit code."""
    options = parsed("bands", arguments, algorithm="make only its bands anew, and keep the others")
    plans = {name: plan_of(name) for name in options.papers}
    made, codes = {}, []
    for name, (paper, check) in plans.items():
        part = of_algorithm(check, options.algorithm) if options.algorithm else check
        asked = cells(paper, part, range(check.repeats, check.repeats + check.accepted))
        table, code = run_studies(asked, options)
        codes.append(code)
        if not code:
            facts = provenance.gather([], table["dataset"].unique(), check.accepted) | {"command": "make bands"}
            accepted = accepted_of(paper, part, table)
            made[name] = join_bands(name, check, accepted, facts) if options.algorithm else (accepted, facts)
    for name, (accepted, facts) in made.items():  # at the end: writing one would make the next one's tree dirty
        write(name, accepted, facts)
    return max(codes)


if __name__ == "__main__":
    exit_with(command)
