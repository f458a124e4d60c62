"""``make check``: does this code still give what it gave?"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping

from experiments.commands.common import exit_with, parsed, run_studies
from experiments.errors import BadInput
from experiments.regression_check.bands import Accepted, plan_of, read
from experiments.regression_check.differences import find_differences, format_report
from experiments.regression_check.order_statistics import FALSE_ALARMS, MOST_TESTS
from experiments.regression_check.watch import Check, cells


def command(arguments: list[str]) -> int:
    """Check some papers, or all; returns the exit code: 0 as it was, 1 something is not or could not be checked."""
    options = parsed("check", arguments)
    plans = {name: plan_of(name) for name in options.papers}
    if (n_tests := sum(check.n_tests for _, check in plans.values())) > MOST_TESTS:
        raise BadInput(
            f"{n_tests} bands and claims are watched; more than {MOST_TESTS} raise more than one false alarm in "
            f"{1 / FALSE_ALARMS:,.0f}: watch fewer under check: in conf/paper/*.yaml"
        )
    accepted = {name: read(name, check) for name, (_, check) in plans.items()}
    return max([_check_paper(name, *plans[name], accepted[name], options) for name in plans])


def _check_paper(name: str, paper: Mapping, check: Check, accepted: Accepted, options: Namespace) -> int:
    table, code = run_studies(cells(paper, check, range(check.repeats)), options)
    found = find_differences(paper, check, accepted, table)
    print(format_report(name, check, accepted, found))
    return 1 if found else code


if __name__ == "__main__":
    exit_with(command)
