"""Audits beside runs: which there are, what each is called, and what it says of the algorithms that were run.

A row of ``audit/summary*.csv`` has the version of its algorithm. What it measured is shown and counts only of models of
that version: an audit of other code or settings neither clears nor condemns.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.audit.of_runs import describe_standing, select_counting
from experiments.audit.outcomes import OUTCOMES, VIOLATED, exceeds, round_down, round_up
from experiments.audit.subjects import find_configured_version
from experiments.cells.current import Standing, compare_versions
from experiments.cells.inputs import have_changed
from experiments.config.paper import Paper
from experiments.config.paths import REFERENCE
from experiments.config.setting import drop_entries
from experiments.store.json_files import read_json
from plots.labels import label_name
from plots.runs.run_folder import name_damage

SUMMARY = "audit/summary.csv"
_SUMMARIES_OF_OWN = "audit/summary-*.csv"
_TEXTS = ("layer", "algorithm", "neighbours", "where", "event", "verdict", "reason", "version")


def _find_summaries(results: Path) -> dict[Path, str]:
    """Return the summaries of audits beside some results, and whose each is.

    Where none of all algorithms is among the results, that is the published one. Each audit of a user's own algorithms
    has one of its own.
    """
    found = {}
    for parent, whose in ((results, "the latest audit"), (REFERENCE, "the published audit")):
        if (parent / SUMMARY).is_file():
            found[parent / SUMMARY] = "the published audit" if parent == REFERENCE else whose
            break
    return found | dict.fromkeys(sorted(results.glob(_SUMMARIES_OF_OWN)), "an audit")


def read_bounds(results: Path, run: Mapping[str, Collection[str]] | None = None) -> pd.DataFrame:
    """Return what audits measured beside some results, a row for each bound; none if there is no audit.

    Parameters
    ----------
    results : Path
        The folder of results; where no audit of all algorithms lies in it, the published one is read.
    run : mapping of str to collection of str, optional
        The versions of each algorithm that were run, and nothing else is read; all that was audited if left out. Of an
        algorithm without a version it is what its file says today.

    Returns
    -------
    DataFrame
        The columns of the summaries, with ``audit``, which one it is in words, and ``standing``, a `Standing`.
    """
    frames = []
    for path, whose in _find_summaries(results).items():
        remedy = "auditing again writes it"
        with name_damage(path, remedy):
            frame = pd.read_csv(path, dtype=dict.fromkeys(_TEXTS, str), keep_default_na=False)
            _ = frame["algorithm"], frame["verdict"], frame[["bound", "claimed"]].astype(float)
        if run is not None:  # a version is a hash of all code behind an algorithm
            frame = frame[frame["algorithm"].isin(list(run))]
        origin = path.with_name(path.name.replace("summary", "provenance")).with_suffix(".json")
        with name_damage(origin, remedy):
            provenance = read_json(origin) if origin.is_file() else {}
        of_ours = provenance if path.name == Path(SUMMARY).name else drop_entries(provenance, ["git"])
        versions = frame.get("version", pd.Series("", index=frame.index, dtype=str))
        audited = list(zip(frame["algorithm"], versions, strict=True))
        standings = {version: _find_standing(*version, run or {}, provenance) for version in dict.fromkeys(audited)}
        known = [standings[version] for version in audited]
        frames.append(frame.assign(audit=name_source(whose, of_ours), standing=known))
    return pd.concat(frames) if frames else pd.DataFrame(columns=["algorithm", "audit", "standing"])


def _find_standing(
    algorithm: str, audited: str, run: Mapping[str, Collection[str]], provenance: Mapping[str, Any]
) -> Standing:
    if audited and have_changed(algorithm, provenance.get("read", {}).get(algorithm, {})):
        return Standing.CHANGED
    return compare_versions(audited, run.get(algorithm) or [find_configured_version(algorithm)] if audited else [])


def name_source(whose: str, provenance: Mapping[str, Any]) -> str:
    """Return whose results some are, of which day and at which revision of the code, as far as that is known."""
    words = [whose]
    if provenance.get("written"):
        words.append(f"of {provenance['written'][:10]}")
    if provenance.get("git"):
        words.append(f"at revision {provenance['git']['revision'][:7]}")
    return " ".join(words)


def name_audits(audit: pd.DataFrame, algorithms: Collection[str]) -> str:
    """Return in words which audits measured some algorithms as they were run; nothing if none did.

    Examples
    --------
    >>> rows = [("rdt", "audit A", Standing.CURRENT), ("fm", "audit B", Standing.CHANGED)]
    >>> name_audits(pd.DataFrame(rows, columns=["algorithm", "audit", "standing"]), ["rdt", "fm"])
    'audit A'
    """
    rows = select_counting(audit)
    of_audits = rows[rows["algorithm"].isin(algorithms)].groupby("audit", sort=False)["algorithm"].unique()
    if len(of_audits) < 2:
        return next(iter(of_audits.index), "")
    return " and ".join(f"{name} ({', '.join(names)})" for name, names in of_audits.items())


def list_bounds(audit: pd.DataFrame, algorithm: str) -> list[dict[str, str]]:
    """Return what was measured of an algorithm: each bound with its verdict, and where it was found.

    Where the audit gave one verdict of all that it did, with the reason, that comes first, and bounds have none. Of an
    audit that does not count it says why.
    """
    of_algorithm = audit[audit["algorithm"] == algorithm]
    rows = select_counting(of_algorithm).to_dict("records")
    verdicts = list(dict.fromkeys(filter(None, map(_format_verdict, rows))))
    bounds = [{"bound": verdict, "where": ""} for verdict in verdicts]
    for row in rows:
        where = f"{row['layer']}, {row['where']}: {row['event']}"
        if not verdicts:
            bounds.append({"bound": format_bound(row), "where": where})
        elif row["n"]:
            bounds.append({"bound": f"ε ≥ {round_down(row['bound'])} was measured", "where": where})
    if len(of_algorithm) and (why := describe_standing(audit, algorithm)):
        bounds.append({"bound": why, "where": "; ".join(dict.fromkeys(of_algorithm["audit"]))})
    return bounds


def _format_verdict(row: Mapping[str, Any]) -> str:
    """Return what an audit says of an algorithm, with its reason; nothing of one that gave none.

    >>> _format_verdict({"verdict": "not refuted", "reason": "nothing above 0.40 in 9 trainings, where 1 is claimed"})
    'withstood: nothing above 0.40 in 9 trainings, where 1 is claimed'
    """
    reason = row.get("reason")
    return f"{OUTCOMES[row['verdict']]}: {reason}" if isinstance(reason, str) and reason else ""


def describe_bounds(paper: Paper, audit: pd.DataFrame, algorithms: Iterable[str]) -> str:
    """Return in a sentence what was measured of the algorithms of a table or figure; nothing if nothing was."""
    asked = list(algorithms)
    rows_of: dict[str, list] = {algorithm: [] for algorithm in asked}
    for row in select_counting(audit[audit["algorithm"].isin(asked)]).to_dict("records"):
        rows_of[row["algorithm"]].append(row)
    bounds = []
    for algorithm in asked:
        if rows := rows_of[algorithm]:
            bounds.append(f"{label_name(paper, algorithm)} {_format_briefly(max(rows, key=rate_bound))}")
    return f"What attacks measured at most: {'; '.join(bounds)}." if bounds else ""


def format_bound(row: Mapping[str, Any]) -> str:
    """Return a bound as it is read.

    Examples
    --------
    >>> format_bound({"bound": 8.4591, "claimed": 1.0, "verdict": "violated"})
    'broken: an attack measured ε ≥ 8.45 where 1 is claimed'
    >>> format_bound({"bound": 0.4, "claimed": 1.0, "verdict": "not refuted"})
    'withstood: nothing above 0.40 was measured where 1 is claimed'
    >>> format_bound({"bound": 0.974, "claimed": 1.0, "verdict": "tight"})
    'withstood, barely: nothing above 0.98 was measured where 1 is claimed'
    >>> format_bound({"bound": 8.4591, "claimed": math.inf, "verdict": "nothing claimed"})
    'no ε is claimed: an attack measured ε ≥ 8.45'
    """
    if not math.isfinite(row["claimed"]):
        return f"no ε is claimed: an attack measured ε ≥ {round_down(row['bound'])}"
    is_broken = row["verdict"] == VIOLATED
    found = f"an attack measured ε ≥ {round_down(row['bound'])}"
    if not is_broken:
        found = f"nothing above {round_up(row['bound'])} was measured"
    return f"{OUTCOMES[row['verdict']]}: {found} where {row['claimed']:g} is claimed"


def format_account(times_label: float | None, rows: Iterable[Mapping[str, Any]]) -> str:
    """Return what an algorithm accounts for as it was run, and as it was attacked if only that keeps its claim.

    An attack may give what a run takes from its rows, as the height of a tree: then the two accounts differ.

    Examples
    --------
    >>> format_account(math.inf, [{"keeps_claim": True}])
    'no finite ε as it was run; the claimed ε as it was attacked'
    >>> format_account(math.inf, [{"keeps_claim": False}]), format_account(None, [])
    ('no finite ε', '')
    """
    as_run, kept = format_times_label(times_label), [row.get("keeps_claim", False) for row in rows]
    if times_label is None or not exceeds(times_label, 1) or not kept or not all(kept):
        return as_run
    return f"{as_run} as it was run; {format_times_label(1.0)} as it was attacked"


def format_times_label(times: float | None) -> str:
    """Return what an algorithm accounts for, beside the ε that it claims; nothing where it claims none.

    >>> format_times_label(1.0), format_times_label(1.89), format_times_label(math.inf), format_times_label(None)
    ('the claimed ε', 'up to 1.89 × the claimed ε', 'no finite ε', '')
    """
    if times is None:
        return ""
    if math.isinf(times):
        return "no finite ε"
    return f"up to {times:.3g} × the claimed ε" if exceeds(times, 1) else "the claimed ε"


def _format_briefly(row: Mapping[str, Any]) -> str:
    """Return a bound in few words, to stand beside others."""
    if verdict := _format_verdict(row):
        return f"({verdict})"
    if not math.isfinite(row["claimed"]):
        return f"ε ≥ {round_down(row['bound'])} where none is claimed"
    return f"ε ≥ {round_down(row['bound'])} where {row['claimed']:g} is claimed ({OUTCOMES[row['verdict']]})"


def rate_bound(row: Mapping[str, Any]) -> tuple[bool, float]:
    """Return what bounds are sorted by: those that break a claim are the largest, then those that come near to it."""
    return row["verdict"] == VIOLATED, row["bound"] / row["claimed"]
