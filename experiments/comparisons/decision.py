"""Which methods qualify in a situation of a decision table, and how they rank among themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.base import PrivateEstimator
from experiments.comparisons.comparison import NOT_COMPARED, AlgorithmComparison
from experiments.comparisons.data_kinds import UNKNOWN, list_kinds_of
from experiments.config import estimators
from experiments.config.kinds.exhibits import DecisionTable, Situation
from experiments.config.paper import Paper
from experiments.store.long_table import distinct_privacy_reports, is_claim_only
from experiments.store.study_rows import select_rows

NOT_HERE = "its files are missing, so that its kind is unknown"  #: why a data set decides nothing
_RELATIONS = {"added_or_removed": ADDED_OR_REMOVED, "replaced": REPLACED}
_SLACK = 1e-9
_COLUMNS = ["situation", "algorithm", "dataset", "rank", "lead", *NOT_COMPARED, "n", "n_expected", "excluded"]


def rank_qualified(paper: Paper, decision: DecisionTable, table: pd.DataFrame) -> pd.DataFrame:
    """Rank the methods that come into question in each situation.

    For each situation the rows of `AlgorithmComparison.compare_algorithms`, of the methods and data sets that come into
    question, and a row for each method that does not, with the reason in ``excluded``, as for each data set whose kind
    is unknown. Of a kind that no data set is of, the methods have a row without a rank.
    """
    frames = []
    for line in decision.lines:
        frames.append(_rank_in_situation(paper, decision, line, table).assign(situation=line.situation))
    return pd.concat(frames, ignore_index=True)[_COLUMNS]


def _rank_in_situation(paper: Paper, decision: DecisionTable, line: Situation, table: pd.DataFrame) -> pd.DataFrame:
    part = line.select_part(decision.sets)
    study, where = paper.study(line.study, decision.id), part.narrow(paper)
    rows = select_rows(table, study, line.metric, where)
    reasons = {name: explain_exclusion(line, name, rows) for name in study.axis("algorithm", where)}
    kept = [name for name, reason in reasons.items() if not reason]
    sets, unknown = _select_sets(paper, decision, line)
    left_out = [(name, "", reason) for name, reason in reasons.items()]
    left_out += [("", name, NOT_HERE) for name in unknown]
    listed = pd.DataFrame(left_out, columns=["algorithm", "dataset", "excluded"])
    listed = listed.assign(verdict="", n=0, n_expected=0).reindex(columns=_COLUMNS)
    if not kept or not sets:
        return listed
    narrowed = part.replaced(sets=None, where={**where, "algorithm": kept, "dataset": sets})
    found = AlgorithmComparison(paper, narrowed).compare_algorithms(table).assign(excluded="")
    return pd.concat([found, listed[listed["excluded"] != ""]])


def _select_sets(paper: Paper, decision: DecisionTable, line: Situation) -> tuple[list[str], list[str]]:
    """Return the data sets of the kind that a situation is about, and those whose kind is unknown."""
    study = paper.study(line.study, decision.id)
    sets = study.axis("dataset", line.select_part(decision.sets).narrow(paper))
    if line.data is None:
        return sets, []
    kinds = {name: list_kinds_of(study, name) for name in sets}
    of_kind, unknown = ([name for name in sets if kind in kinds[name]] for kind in (line.data, UNKNOWN))
    return of_kind, unknown


def explain_exclusion(line: Situation, algorithm: str, table: pd.DataFrame) -> str:
    """Return why an algorithm does not come into question by rows of the long table; nothing if it does."""
    if not estimators.takes_epsilon(algorithm):
        return "not private"
    if line.release and not _has_release(algorithm):
        return "its model cannot be published"
    rows = table[table["algorithm"] == algorithm]
    if rows.empty:
        return "it was not run"
    reports = distinct_privacy_reports(rows.get("privacy", ()))
    claims = [report for report in reports if not is_claim_only(report)]
    if not claims:
        return "" if line.unchecked else "nobody checked its ε"
    return "" if all(_keeps(line, report) for report in claims) else "does not keep this ε"


def _keeps(line: Situation, report: Mapping[str, Any]) -> bool:
    if line.neighbours is None:
        return bool(report["keeps_claim"])
    paid = float(report["accounted"][_RELATIONS[line.neighbours]])
    return paid <= float(report["claimed_epsilon"]) * (1 + _SLACK)


def _has_release(algorithm: str) -> bool:
    """Return whether an algorithm says what may leave of its models."""
    estimator = estimators.import_class(estimators.find_target(algorithm))
    return issubclass(estimator, PrivateEstimator) and estimator._released is not PrivateEstimator._released
