"""``do=check``: does this code still give what it gave?"""

from __future__ import annotations

from collections.abc import Mapping

from experiments.config.request import SweepRequest
from experiments.errors import BadInput
from experiments.regression_check.bands import Accepted, plan_of, read
from experiments.regression_check.differences import find_differences, format_report
from experiments.regression_check.order_statistics import FALSE_ALARMS, MOST_TESTS
from experiments.regression_check.watch import Check, cells
from experiments.run.run_studies import run_studies


def run_command(request: SweepRequest) -> int:
    """Check some papers, or all; returns the exit code: 0 as it was, 1 something is not or could not be checked."""
    plans = {name: plan_of(name) for name in request.list_papers()}
    if (n_tests := sum(check.n_tests for _, check in plans.values())) > MOST_TESTS:
        raise BadInput(
            f"{n_tests} bands and claims are watched; more than {MOST_TESTS} raise more than one false alarm in "
            f"{1 / FALSE_ALARMS:,.0f}: watch fewer under check: in conf/paper/*.yaml"
        )
    accepted = {name: read(name, check) for name, (_, check) in plans.items()}
    codes = []
    for name, (paper, check) in plans.items():
        codes.append(_check_paper(name, paper, check, accepted[name], request))
    return max(codes)


def _check_paper(name: str, paper: Mapping, check: Check, accepted: Accepted, request: SweepRequest) -> int:
    table, code = run_studies(cells(paper, check, range(check.repeats)), request)
    differences = find_differences(paper, check, accepted, table)
    print(format_report(name, check, accepted, differences))
    return 1 if differences else code
