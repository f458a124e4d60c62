"""Whether algorithms that were run are private as they claim: by their own accounts, and by audits of them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import chain
from operator import itemgetter
from typing import Any

import pandas as pd

from algorithms.accounting.faults import join_names
from experiments.audit.of_runs import NO_AUDIT, describe_standing, find_violated, find_withstanding, select_counting
from experiments.audit.outcomes import round_down
from experiments.audit.subjects import find_version
from experiments.config.estimators import find_read
from experiments.config.finding import SIGNS, AccountSign, AnySign, Sign
from experiments.config.paper import Paper
from experiments.judge.paper_answer import Answer
from experiments.judge.words import find_label
from experiments.store.long_table import distinct_privacy_reports, is_claim_only


def sum_up_privacy(table: pd.DataFrame) -> list[dict]:
    """Sum up the column ``privacy`` of the long table, for each algorithm with an account.

    Each has ``algorithm``, ``neighbours`` (a list), ``keeps_claim`` and ``times_label`` (the largest ratio of accounted
    to claimed ε; both None where no finite ε is claimed, or none has an account), ``faults``, and ``data_faults``: by
    data set, why the account does not strictly hold there, whatever the algorithm does; and ``versions``, those of the
    algorithm with each of its settings, by which an audit of just these is found.
    """
    if "privacy" not in table.columns:
        return []
    rows = []
    for algorithm, part in table.groupby("algorithm", sort=True):
        reports = distinct_privacy_reports(part["privacy"])
        if reports:
            data_faults = _sum_up_data_faults(part)
            found = {"data_faults": data_faults, "versions": _list_versions(str(algorithm), part)}
            rows.append({"algorithm": algorithm, **_sum_up_reports(reports), **found})
    return rows


def _list_versions(algorithm: str, table: pd.DataFrame) -> list[str]:
    settings = table["params"].dropna().unique() if "params" in table.columns else ()
    return sorted({find_version(algorithm, json.loads(text)) for text in settings})


def _sum_up_data_faults(table: pd.DataFrame) -> dict[str, list[str]]:
    faults: dict[str, list[str]] = {}
    for name, part in table.groupby("dataset", sort=True):
        reasons: dict[str, None] = {}
        for report in distinct_privacy_reports(part["privacy"]):
            reasons.update({fault["why"]: None for fault in report.get("data_faults", ())})
        if reasons:
            faults[str(name)] = list(reasons)
    return faults


def _sum_up_reports(reports: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    faults, neighbours, claiming = {}, set(), []
    for report in reports:
        neighbours.add(report["neighbours"])
        for fault in report["faults"]:
            faults[tuple(fault.items())] = fault
        if _is_finite(report["claimed_epsilon"]) and not is_claim_only(report):
            claiming.append(report)
    return {
        "neighbours": sorted(neighbours),
        "keeps_claim": all(report["keeps_claim"] for report in claiming) if claiming else None,
        "times_label": max(map(_compute_times_label, claiming), default=None),
        "faults": list(faults.values()),
    }


def _compute_times_label(report: Mapping[str, Any]) -> float:
    accounted = report["accounted_epsilon"]
    return accounted / report["claimed_epsilon"] if _is_finite(accounted) else math.inf


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def find_account_sign(row: Mapping[str, Any], audit: pd.DataFrame) -> AnySign | None:
    """Return whether an algorithm keeps the ε that it claims, as far as anybody has looked; None without a claim.

    Its own account speaks against it alone: for it speaks only an audit of the code and settings that were run. What
    claims an ε and has no account of it is open.

    Examples
    --------
    >>> nothing = pd.DataFrame(columns=["algorithm", "standing"])
    >>> find_account_sign({"algorithm": "rdt", "keeps_claim": True}, nothing).value
    'own account, not audited'
    """
    if row["keeps_claim"] is None:
        return Sign.OPEN if is_claim_only(row) else None
    if not row["keeps_claim"] or row["algorithm"] in find_violated(audit):
        return Sign.FAILS
    return Sign.HOLDS if row["algorithm"] in find_withstanding(audit) else AccountSign.UNAUDITED


_PRIVATE: dict[AnySign, str] = {
    Sign.HOLDS: "yes",
    Sign.FAILS: "no",
    Sign.DEPENDS: "depends on the reading",
    Sign.OPEN: "it claims an ε that nobody checked",
    AccountSign.UNAUDITED: AccountSign.UNAUDITED.value,
}
"""Whether algorithms are private as claimed, where all of them come to one sign."""


def judge_privacy(paper: Paper, accounts: Iterable[Mapping[str, Any]], audit: pd.DataFrame) -> Answer:
    """Return whether the algorithms of the paper keep the ε that they claim, or all algorithms if it proposes none.

    An algorithm keeps it if its fitted models account for no more and attacks on the same code and settings measured no
    more, under each reading of it that was run; under some alone, it depends on the reading. Where nobody attacked it,
    its own account is all that there is. ``accounts`` are as from `sum_up_privacy`, ``audit`` as from
    `plots.audits.read_bounds`.
    """
    question = "Is it private as claimed?"
    by_algorithm = _group_accounts(paper, accounts)
    rows = list(chain.from_iterable(by_algorithm.values()))
    if not rows:
        return Answer(question, "not run", {})
    attacked = _describe_attack(paper, rows, audit)
    claiming = [row for row in rows if find_account_sign(row, audit)]
    if not claiming:
        return Answer(question, "it claims no ε", {}, attacked)
    signs = [sign for of_one in by_algorithm.values() if (sign := _find_sign(of_one, audit))]
    counts = {sign: signs.count(sign) for sign in SIGNS if sign in signs}
    is_about_all = not paper.own and len(signs) > 1
    if not counts.keys() & {Sign.FAILS, Sign.DEPENDS} or is_about_all:
        at_fault = dict.fromkeys(name for row in rows for name in row.get("data_faults", ()))
        reasons = [
            _describe_condition([find_label(name, paper.labels) for name in at_fault]),
            _describe_changes(paper, claiming, audit),
        ]
    else:
        reasons = [_describe_faults(claiming), attacked]
    words = _PRIVATE[signs[0]] if len(counts) == 1 and not is_about_all else _count_private(counts)
    return Answer(question, words, counts, "; ".join(filter(None, reasons)))


def _count_private(counts: Mapping[AnySign, int]) -> str:
    """Return how many algorithms are private as claimed.

    >>> _count_private({Sign.HOLDS: 1, Sign.FAILS: 1}), _count_private({Sign.FAILS: 2, AccountSign.UNAUDITED: 3})
    ('1 of 2 algorithms is', '0 of 5 algorithms are, 3 by their own account alone')
    >>> _count_private({Sign.HOLDS: 6, Sign.OPEN: 6})
    '6 of 12 algorithms are, nobody checked 6'
    """
    n_private, n_unaudited = counts.get(Sign.HOLDS, 0), counts.get(AccountSign.UNAUDITED, 0)
    words = [f"{n_private} of {sum(counts.values())} algorithms {'is' if n_private == 1 else 'are'}"]
    if n_unaudited:
        words.append(f"{n_unaudited} by {'its' if n_unaudited == 1 else 'their'} own account alone")
    if n_open := counts.get(Sign.OPEN, 0):
        words.append(f"nobody checked {n_open}")
    return ", ".join(words)


def _group_accounts(paper: Paper, accounts: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Return the accounts by algorithm: those of the paper's own and of their readings, or of all if it has none."""
    grouped: dict[str, list[Mapping[str, Any]]] = {}
    for row in accounts:
        name = row["algorithm"]
        if paper.own and name not in paper.own:
            name = find_read(name)
        if name in paper.own or not paper.own:
            grouped.setdefault(name, []).append(row)
    return grouped


def _find_sign(rows: Iterable[Mapping[str, Any]], audit: pd.DataFrame) -> AnySign | None:
    """Return whether an algorithm keeps its ε under each of its readings, under none, or under some; None without ε."""
    signs = {find_account_sign(row, audit) for row in rows} - {None}
    if len(signs) < 2:
        return next(iter(signs), None)
    if Sign.FAILS in signs:
        return Sign.DEPENDS
    return Sign.OPEN if Sign.OPEN in signs else AccountSign.UNAUDITED


def _describe_faults(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say what is the worst of what is wrong, and how much is."""
    faults = {fault["name"]: fault["why"] for row in rows for fault in row["faults"]}
    if not faults:
        return ""
    gravest = faults[min(faults, key=rank_fault)]
    return f"the gravest of {len(faults)} faults: {gravest}" if len(faults) > 1 else gravest


def _describe_attack(paper: Paper, rows: Sequence[Mapping[str, Any]], audit: pd.DataFrame) -> str:
    """Say how much an attack has measured of what is claimed, if it is more; of what claims nothing, how much."""
    exceeding, names = [], [row["algorithm"] for row in rows]
    for bound in select_counting(audit[audit["algorithm"].isin(names)]).to_dict("records"):
        if not math.isfinite(bound["claimed"]) or bound["bound"] > bound["claimed"]:
            exceeding.append(bound)
    if not exceeding:
        return ""
    worst = max(exceeding, key=itemgetter("bound"))
    whom = f" on {find_label(worst['algorithm'], paper.labels)}" if len(names) > 1 else ""
    claim = f" where {worst['claimed']:g} is claimed" if math.isfinite(worst["claimed"]) else ""
    return f"an attack{whom} measured ε ≥ {round_down(worst['bound'])}{claim}"


def _describe_changes(paper: Paper, rows: Sequence[Mapping[str, Any]], audit: pd.DataFrame) -> str:
    """Say of which algorithms there is an audit that says nothing of what was run, and why."""
    by_reason: dict[str, list[str]] = {}
    for row in rows:
        why = describe_standing(audit, row["algorithm"])
        if why and why != NO_AUDIT and find_account_sign(row, audit) == AccountSign.UNAUDITED:
            by_reason.setdefault(why, []).append(find_label(row["algorithm"], paper.labels))
    return "; ".join(f"{join_names(names, 'algorithms')}: {why}" for why, names in by_reason.items())


def _describe_condition(names: Sequence[str]) -> str:
    """Say that it holds only if the ranges of some data sets count as public."""
    if not names:
        return ""
    where = join_names(names) if len(names) < 3 else f"{len(names)} of its data sets"
    return f"if the ranges of {where} are taken as public"


class Gravity(StrEnum):
    """What a fault does to privacy, the gravest first."""

    UNBOUNDED = "no ε bounds what one record changes"
    EXCEEDED = "one record can cost more than the ε that is set aside for it"
    UNKNOWN = "nobody has worked out how much it costs"
    UNPROVEN = "how much noise there is follows from the rows, which no proof covers"
    HARMLESS = "it costs accuracy, not privacy"


_GRAVITY = {
    Gravity.UNBOUNDED: (
        *("exact stop condition", "exact purity test", "exact Gini threshold", "exact final comparison"),
        *("exact nominal splits", "exact choices", "exact leaves", "exact labels", "copied rows"),
        *("cuts from the rows", "interval ends from the rows", "height from the rows", "ratio from the rows"),
        *("scale from the rows", "sensitivity of a leaf's own rows", "inferred domain"),
    ),
    Gravity.EXCEEDED: (
        *("bootstrap", "budget spent more than once", "sensitivity too small", "target in its own unit"),
        *("sensitivity of a noisy count", "rows dealt out by position", "a record that changes its class"),
        *("budget of the means", "sensitivity of squares"),
    ),
    Gravity.UNPROVEN: ("sensitivity from the rows", "budget from the rows"),
    Gravity.HARMLESS: ("unused count",),
}
"""By the names of faults. An exact comparison, a cut or a label that is a value of the rows makes something possible on
one table that is impossible on its neighbour. The others add noise, and too little of it."""
_BY_NAME = {name: gravity for gravity, names in _GRAVITY.items() for name in names}


def find_gravity(fault: str) -> Gravity:
    """Return what a fault does to privacy, by its name; of one of a user's own nobody knows.

    Examples
    --------
    >>> find_gravity("unused count").value, find_gravity("mine").value
    ('it costs accuracy, not privacy', 'nobody has worked out how much it costs')
    """
    return _BY_NAME.get(fault, Gravity.UNKNOWN)


def rank_fault(fault: str) -> int:
    """Return the place of a fault, by its name, among those that are shown: the gravest first.

    Examples
    --------
    >>> sorted(["unused count", "bootstrap", "exact leaves"], key=rank_fault)
    ['exact leaves', 'bootstrap', 'unused count']
    """
    return list(Gravity).index(find_gravity(fault))
