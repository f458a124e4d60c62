"""Lower bounds of ε from the audit, to be set beside what is claimed: from ``audit/summary.csv`` beside the runs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.audit.outcomes import OUTCOMES, VIOLATED
from experiments.config.paper import Paper
from experiments.config.paths import REFERENCE
from plots.labels import label_name

SUMMARY = "audit/summary.csv"
SUMMARIES_OF_OWN = "audit/summary-*.csv"
_TEXTS = ("layer", "algorithm", "neighbours", "where", "event", "verdict", "reason")


def find_audit(results: Path) -> Path | None:
    """Return where the audit of some results lies: among them, else the published one; None if there is neither."""
    for parent in (results, REFERENCE):
        if (parent / SUMMARY).is_file():
            return parent
    return None


def read_bounds(results: Path) -> pd.DataFrame:
    """Return the summary of the audit of some results, a row for each bound; none if there is no audit.

    What was measured of a user's own algorithms, each audited by itself, is added to that.
    """
    folder = find_audit(results)
    paths = [*([folder / SUMMARY] if folder else []), *sorted(results.glob(SUMMARIES_OF_OWN))]
    if not paths:
        return pd.DataFrame(columns=["algorithm"])
    return pd.concat([pd.read_csv(path, dtype=dict.fromkeys(_TEXTS, str), keep_default_na=False) for path in paths])


def name_audit(results: Path) -> str:
    """Return in words which audit `read_bounds` reads; nothing if there is none."""
    folder = find_audit(results)
    if folder is None:
        return ""
    path = folder / "audit" / "provenance.json"
    provenance = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    words = [f"the {'published' if folder == REFERENCE else 'latest'} audit"]
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

    Examples
    --------
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
