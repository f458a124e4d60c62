"""What fitted models said of their privacy, summed up for each algorithm, with what an audit says of it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from algorithms.accounting.faults import CLAIMS_ONLY
from experiments.audit.subjects import find_version
from experiments.config.finding import Sign
from experiments.config.paper import Paper
from experiments.store.long_table import distinct_privacy_reports, is_claim_only
from plots.audits import find_violated, find_withstanding, list_bounds
from plots.labels import SYMBOLS, AccountSign, AnySign, label_name

_ROUNDING = 1e-9


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


def describe_privacy(paper: Paper, row: Mapping[str, Any], audit: pd.DataFrame) -> dict[str, Any]:
    """Return a row of `sum_up_privacy` as it is read, with what the audit measured of the algorithm."""
    sign = find_account_sign(row, audit)
    return {
        "algorithm": label_name(paper, row["algorithm"]),
        "sound": CLAIMS_ONLY.name if is_claim_only(row) else _SOUND[sign],
        "paid": _format_times_label(row["times_label"]),
        "neighbours": ", ".join(row["neighbours"]),
        "faults": row["faults"],
        "measured": list_bounds(audit, row["algorithm"]),
    }


_SOUND: dict[AnySign | None, str] = {
    Sign.HOLDS: "yes",
    Sign.FAILS: "no",
    AccountSign.UNAUDITED: f"{SYMBOLS[AccountSign.UNAUDITED]} {AccountSign.UNAUDITED}",
    None: "claims no ε",
}


def find_account_sign(row: Mapping[str, Any], audit: pd.DataFrame) -> AnySign | None:
    """Return whether an algorithm keeps the ε that it claims, as far as anybody has looked; None without a claim.

    Its own account speaks against it alone: for it speaks only an audit of the code and settings that were run.

    Examples
    --------
    >>> nothing = pd.DataFrame(columns=["algorithm", "standing"])
    >>> find_account_sign({"algorithm": "rdt", "keeps_claim": True}, nothing).value
    'own account, not audited'
    """
    if row["keeps_claim"] is None:
        return None
    if not row["keeps_claim"] or row["algorithm"] in find_violated(audit):
        return Sign.FAILS
    return Sign.HOLDS if row["algorithm"] in find_withstanding(audit) else AccountSign.UNAUDITED


def describe_data_faults(paper: Paper, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return why no account strictly holds on some data sets, a text for each."""
    faults = [fault for row in rows for fault in row.get("data_faults", {}).items()]
    return list(dict.fromkeys(f"on {label_name(paper, name)} {'; '.join(reasons)}" for name, reasons in faults))


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


def _format_times_label(times: float | None) -> str:
    """Return what an algorithm accounts for, beside the ε that it claims; nothing where it claims none.

    >>> _format_times_label(1.0), _format_times_label(1.89), _format_times_label(math.inf), _format_times_label(None)
    ('the claimed ε', 'up to 1.89 × the claimed ε', 'no finite ε', '')
    """
    if times is None:
        return ""
    if math.isinf(times):
        return "no finite ε"
    return "the claimed ε" if times <= 1 + _ROUNDING else f"up to {times:.3g} × the claimed ε"


def _compute_times_label(report: Mapping[str, Any]) -> float:
    accounted = report["accounted_epsilon"]
    return accounted / report["claimed_epsilon"] if _is_finite(accounted) else math.inf


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
