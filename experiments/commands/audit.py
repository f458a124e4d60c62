"""``do=audit``: which algorithms keep the ε that they claim?"""

from __future__ import annotations

from collections.abc import Sequence

from documents.search_path import name_family
from experiments.audit.audit_tasks import AuditPlan, run_audit
from experiments.audit.report import AuditResult, format_report, write_results, write_summary
from experiments.cells import inputs
from experiments.cells.cell import read_epsilon
from experiments.config import estimators
from experiments.edge import keep_prints_apart
from experiments.errors import BadInput, print_to_stderr
from experiments.request import SweepRequest
from experiments.store import provenance


def run_command(request: SweepRequest) -> int:
    """Audit what is asked for; returns the exit code."""
    plan = _read_plan(request)
    with keep_prints_apart():
        found, missing = run_audit(plan)
    print(format_report(found))
    folder = request.results_folder / "audit"
    paths = write_results(found, folder, plan.name)
    if not any(map(estimators.is_built_in, map(name_family, plan.algorithms))) and not plan.params:
        paths += write_summary(found, folder, _gather_facts(found, request.arguments), plan.name)
    for path in paths:
        print_to_stderr(f"  {path}")
    for line in missing:
        print_to_stderr(line)
    has_failed = missing or any(gap.has_failed for gap in found.unaudited)
    return 1 if has_failed or found.is_alarming else 0


def _gather_facts(found: AuditResult, arguments: Sequence[str]) -> dict:
    """Return where an audit is from, with the files that code of a user has read for it."""
    read = {name: inputs.list_read(name) for name, version in found.versions.items() if version}
    facts = provenance.describe_command(arguments)
    return facts | ({"read": {name: files for name, files in read.items() if files}} if any(read.values()) else {})


def _read_plan(request: SweepRequest) -> AuditPlan:
    params = {}
    for name, values in request.values.items():
        if name == "algorithm":
            continue
        if len(values) > 1:
            raise BadInput(f"{name} can have one value in do=audit, got {values}")
        params[name.removeprefix("algorithm.")] = values[0]
    config = request.config
    return AuditPlan(
        algorithms=tuple(request.list_choices("algorithm")),
        params=params,
        epsilon=read_epsilon(config["epsilon"]),
        trainings=config["trainings"],
        dataset=request.choices["dataset"],
        canaries=config["canaries"],
        jobs=config["executor"]["jobs"],
    )
