"""``do=check``: does this code still give what it gave?"""

from __future__ import annotations

from experiments.config.paper import Paper
from experiments.errors import BadInput
from experiments.regression_check.bands import (
    Accepted,
    find_differences,
    format_report,
    list_watched_papers,
    read_accepted,
    read_watched_paper,
)
from experiments.regression_check.order_statistics import FALSE_ALARMS, MOST_TESTS
from experiments.regression_check.watch import WatchList, make_watched_cells
from experiments.request import SweepRequest
from experiments.run.executors.executor import make_executor
from experiments.run.run_studies import run_studies


def run_command(request: SweepRequest) -> int:
    """Check some papers, or all; returns the exit code: 0 as it was, 1 something is not or could not be checked."""
    papers = {name: read_watched_paper(name) for name in request.list_choices("paper") or list_watched_papers()}
    n_tests = sum(watched.n_tests for _, watched in papers.values())
    if n_tests > MOST_TESTS:
        raise BadInput(
            f"{n_tests} bands and claims are watched; more than {MOST_TESTS} raise more than one false alarm in "
            f"{1 / FALSE_ALARMS:,.0f}: watch fewer under check: in the files of the papers"
        )
    accepted = {name: read_accepted(name, watched) for name, (_, watched) in papers.items()}
    codes = []
    for name, (paper, watched) in papers.items():
        codes.append(_check_paper(name, paper, watched, accepted[name], request))
    return max(codes)


def _check_paper(name: str, paper: Paper, watched: WatchList, accepted: Accepted, request: SweepRequest) -> int:
    cells = make_watched_cells(paper, watched, range(watched.repeats))
    executor, results = make_executor(request.config["executor"]), str(request.config["results"])
    table, code = run_studies(cells, request.results_folder, executor, results)
    differences = find_differences(paper, watched, accepted, table)
    print(format_report(name, watched, accepted, differences))
    return 1 if differences else code
