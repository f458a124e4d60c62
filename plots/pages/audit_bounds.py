"""The privacy that an audit measured, to be set beside what is claimed: from ``audit/summary.csv`` beside the runs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from experiments.config.paths import REFERENCE
from plots.labels import label

SUMMARY = "audit/summary.csv"
VIOLATED = "violated"
_TEXTS = ("layer", "algorithm", "neighbours", "where", "event", "verdict")


def folder(results: Path) -> Path | None:
    """Return where the audit of some results lies: among them, else the published one; None if there is neither."""
    return next((parent for parent in (results, REFERENCE) if (parent / SUMMARY).is_file()), None)


def read(results: Path) -> pd.DataFrame:
    """Return what `experiments.audit.report` wrote of the audit of some results in short; nothing if there is none."""
    if (found := folder(results)) is None:
        return pd.DataFrame(columns=["algorithm"])
    return pd.read_csv(found / SUMMARY, dtype=dict.fromkeys(_TEXTS, str), keep_default_na=False)


def source(results: Path) -> str:
    """Return of which audit `read` tells; nothing if there is none."""
    if (found := folder(results)) is None:
        return ""
    path = found / "audit" / "provenance.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    said = [f"the {'published' if found == REFERENCE else 'latest'} audit"]
    said += [f"of {known['written'][:10]}"] if known.get("written") else []
    return " ".join(said + ([f"at revision {known['git']['revision'][:7]}"] if known.get("git") else []))


def words(audit: pd.DataFrame, algorithm: str) -> list[dict[str, str]]:
    """Return what was measured of an algorithm, a bound with its verdict and where it was found; nothing if nothing."""
    return [
        {"bound": _bound(row), "where": f"{row['layer']}, {row['where']}: {row['event']}"}
        for row in audit[audit["algorithm"] == algorithm].to_dict("records")
    ]


def sentence(paper: Mapping, audit: pd.DataFrame, algorithms: Iterable[str]) -> str:
    """Return in a sentence what was measured of the algorithms of a table or figure; nothing if nothing was."""
    said = []
    for algorithm in algorithms:
        rows = audit[audit["algorithm"] == algorithm].to_dict("records")
        if rows:
            said.append(f"{label(paper, algorithm)} {_bound(max(rows, key=_shown))}")
    what = "Privacy measured by the audit, of each algorithm the lower bound of ε that says most"
    return f"{what}: {'; '.join(said)}." if said else ""


def tally(audit: pd.DataFrame, privacy: list[dict]) -> str:
    """Return how many of the algorithms that claim an ε were measured to exceed it, of those that were audited.

    Parameters
    ----------
    audit : DataFrame
        As from `read`.
    privacy : list of dict
        As from `plots.pages.privacy.sums`.

    Examples
    --------
    >>> audit = pd.DataFrame({"algorithm": ["a", "b", "b"], "verdict": ["tight", "tight", "violated"]})
    >>> tally(audit, [{"algorithm": name, "keeps_claim": True} for name in "abc"])
    '1 of 2'
    """
    claiming = {row["algorithm"] for row in privacy if row["keeps_claim"] is not None}
    audited = audit[audit["algorithm"].isin(claiming)]
    if not len(audited):
        return "none audited"
    return f"{audited.loc[audited['verdict'] == VIOLATED, 'algorithm'].nunique()} of {audited['algorithm'].nunique()}"


def _shown(row: Mapping) -> tuple[bool, float]:
    return row["verdict"] == VIOLATED, row["bound"] / row["claimed"]


def _bound(row: Mapping) -> str:
    """Return a bound as it is read.

    Examples
    --------
    >>> _bound({"bound": 8.4591, "claimed": 1.0, "verdict": "violated"})
    '≥ 8.46 where 1 is claimed (violated)'
    >>> _bound({"bound": 8.4591, "claimed": math.inf, "verdict": "nothing claimed"})
    '≥ 8.46 (nothing claimed)'
    """
    claim = f" where {row['claimed']:g} is claimed" if math.isfinite(row["claimed"]) else ""
    return f"≥ {row['bound']:.2f}{claim} ({row['verdict']})"
