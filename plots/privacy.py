"""What fitted models said of their privacy, summed up for each algorithm, and what the audit measured of it.

Lower bounds of ε from the audit come from ``audit/summary.csv`` beside the runs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from algorithms.accounting.faults import CLAIMS_ONLY
from experiments.audit.outcomes import OUTCOMES, VIOLATED
from experiments.config.paper import Paper
from experiments.config.paths import REFERENCE
from experiments.store.long_table import distinct_privacy_reports
from plots.labels import label_name

SUMMARY = "audit/summary.csv"
_SUMMARIES_OF_OWN = "audit/summary-*.csv"
_TEXTS = ("layer", "algorithm", "neighbours", "where", "event", "verdict", "reason")


def _find_audit(results: Path) -> Path | None:
    """Return where the audit of some results lies: among them, else the published one; None if there is neither."""
    for parent in (results, REFERENCE):
        if (parent / SUMMARY).is_file():
            return parent
    return None


def read_bounds(results: Path) -> pd.DataFrame:
    """Return the summary of the audit of some results, a row for each bound; none if there is no audit.

    What was measured of a user's own algorithms, each audited by itself, is added to that.
    """
    folder = _find_audit(results)
    paths = [*([folder / SUMMARY] if folder else []), *sorted(results.glob(_SUMMARIES_OF_OWN))]
    if not paths:
        return pd.DataFrame(columns=["algorithm"])
    return pd.concat([pd.read_csv(path, dtype=dict.fromkeys(_TEXTS, str), keep_default_na=False) for path in paths])


def name_audit(results: Path) -> str:
    """Return in words which audit `read_bounds` reads; nothing if there is none."""
    folder = _find_audit(results)
    if folder is None:
        return ""
    path = folder / "audit" / "provenance.json"
    provenance = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return name_source(f"the {'published' if folder == REFERENCE else 'latest'} audit", provenance)


def name_source(whose: str, provenance: Mapping[str, Any]) -> str:
    """Return whose results some are, of which day and at which revision of the code, as far as that is known."""
    words = [whose]
    if provenance.get("written"):
        words.append(f"of {provenance['written'][:10]}")
    if provenance.get("git"):
        words.append(f"at revision {provenance['git']['revision'][:7]}")
    return " ".join(words)


def list_bounds(audit: pd.DataFrame, algorithm: str) -> list[dict[str, str]]:
    """Return what was measured of an algorithm: each bound with its verdict, and where it was found.

    Where the audit gave one verdict of all that it did, with the reason, that comes first, and bounds have none.
    """
    rows = audit[audit["algorithm"] == algorithm].to_dict("records")
    verdicts = list(dict.fromkeys(filter(None, map(_format_verdict, rows))))
    bounds = [{"bound": verdict, "where": ""} for verdict in verdicts]
    for row in rows:
        where = f"{row['layer']}, {row['where']}: {row['event']}"
        if not verdicts:
            bounds.append({"bound": format_bound(row), "where": where})
        elif row["n"]:
            bounds.append({"bound": f"ε ≥ {row['bound']:.2f} was measured", "where": where})
    return bounds


def _format_verdict(row: Mapping[str, Any]) -> str:
    """Return what an audit says of an algorithm, with its reason; nothing of one that gave none.

    >>> _format_verdict({"verdict": "not refuted", "reason": "nothing above 0.40 in 20,000 trainings"})
    'withstood: nothing above 0.40 in 20,000 trainings'
    """
    reason = row.get("reason")
    return f"{OUTCOMES[row['verdict']]}: {reason}" if isinstance(reason, str) and reason else ""


def describe_bounds(paper: Paper, audit: pd.DataFrame, algorithms: Iterable[str]) -> str:
    """Return in a sentence what was measured of the algorithms of a table or figure; nothing if nothing was."""
    asked = list(algorithms)
    rows_of: dict[str, list] = {algorithm: [] for algorithm in asked}
    for row in audit[audit["algorithm"].isin(asked)].to_dict("records"):
        rows_of[row["algorithm"]].append(row)
    bounds = []
    for algorithm in asked:
        if rows := rows_of[algorithm]:
            bounds.append(f"{label_name(paper, algorithm)} {_format_briefly(max(rows, key=_rate_bound))}")
    return f"What attacks measured at most: {'; '.join(bounds)}." if bounds else ""


def format_bound(row: Mapping[str, Any]) -> str:
    """Return a bound as it is read.

    Examples
    --------
    >>> format_bound({"bound": 8.4591, "claimed": 1.0, "verdict": "violated"})
    'broken: an attack measured ε ≥ 8.46 where 1 is claimed'
    >>> format_bound({"bound": 0.4, "claimed": 1.0, "verdict": "not refuted"})
    'withstood: nothing above 0.40 was measured where 1 is claimed'
    >>> format_bound({"bound": 0.974, "claimed": 1.0, "verdict": "tight"})
    'withstood, barely: nothing above 0.97 was measured where 1 is claimed'
    >>> format_bound({"bound": 8.4591, "claimed": math.inf, "verdict": "nothing claimed"})
    'no ε is claimed: an attack measured ε ≥ 8.46'
    """
    if not math.isfinite(row["claimed"]):
        return f"no ε is claimed: an attack measured ε ≥ {row['bound']:.2f}"
    is_broken = row["verdict"] == VIOLATED
    found = "an attack measured ε ≥ {:.2f}" if is_broken else "nothing above {:.2f} was measured"
    return f"{OUTCOMES[row['verdict']]}: {found.format(row['bound'])} where {row['claimed']:g} is claimed"


def _format_briefly(row: Mapping[str, Any]) -> str:
    """Return a bound in few words, to stand beside others."""
    if verdict := _format_verdict(row):
        return f"({verdict})"
    if not math.isfinite(row["claimed"]):
        return f"ε ≥ {row['bound']:.2f} where none is claimed"
    return f"ε ≥ {row['bound']:.2f} where {row['claimed']:g} is claimed ({OUTCOMES[row['verdict']]})"


def _rate_bound(row: Mapping[str, Any]) -> tuple[bool, float]:
    return row["verdict"] == VIOLATED, row["bound"] / row["claimed"]


_ROUNDING = 1e-9


def sum_up_privacy(table: pd.DataFrame) -> list[dict]:
    """Sum up the column ``privacy`` of the long table, for each algorithm with an account.

    Each has ``algorithm``, ``neighbours`` (a list), ``keeps_claim`` and ``times_label`` (the largest ratio of accounted
    to claimed ε; both None where no finite ε is claimed, or none has an account), ``faults``, and ``data_faults``: by
    data set, why the account does not strictly hold there, whatever the algorithm does.
    """
    if "privacy" not in table.columns:
        return []
    rows = []
    for algorithm, part in table.groupby("algorithm", sort=True):
        reports = distinct_privacy_reports(part["privacy"])
        if reports:
            data_faults = _sum_up_data_faults(part)
            rows.append({"algorithm": algorithm, **_sum_up_reports(reports), "data_faults": data_faults})
    return rows


def describe_privacy(paper: Paper, row: Mapping[str, Any], audit: pd.DataFrame) -> dict[str, Any]:
    """Return a row of `sum_up_privacy` as it is read, with what the audit measured of the algorithm."""
    sound = {True: "yes", False: "no", None: "claims no ε"}[row["keeps_claim"]]
    return {
        "algorithm": label_name(paper, row["algorithm"]),
        "sound": CLAIMS_ONLY.name if is_claim_only(row) else sound,
        "paid": _format_times_label(row["times_label"]),
        "neighbours": ", ".join(row["neighbours"]),
        "faults": row["faults"],
        "measured": list_bounds(audit, row["algorithm"]),
    }


def is_claim_only(row: Mapping[str, Any]) -> bool:
    """Return whether an algorithm claims an ε without any account of it; ``row`` as from `sum_up_privacy`.

    Examples
    --------
    >>> is_claim_only({"faults": [{"name": "claims only"}]}), is_claim_only({"faults": []})
    (True, False)
    """
    return any(fault["name"] == CLAIMS_ONLY.name for fault in row.get("faults", ()))


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
