"""Publish a finished run: its summaries and figures go to ``results/reference``, its verdicts into the README.

``do=reference paper=2`` after ``make reproduce-paper-2``, or ``audit=true`` after ``make audit``. Runs that are not
complete are refused. What is kept, `run_folder.KEPT`, is small and enough to show the run in full: everything but its
cells and bitmaps.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from experiments.config.paths import REFERENCE, ROOT
from experiments.config.selection import setting_key
from experiments.config.substitutes import sentences
from experiments.judge.readings import sentence
from experiments.judge.series import ours
from experiments.judge.verdict import REPRODUCED
from plots.figures import soundness
from plots.labels import OF_NUMBERS, SIGNS, axis_labels, label, number
from plots.pages import audit_bounds, privacy
from plots.run_folder import KEPT, Run, copy, target_of
from plots.tables import span
from plots.tables.grid_table import corner, grid_values
from plots.terminal import describe


def grid(paper: Mapping, item: Mapping, series: pd.DataFrame) -> str:
    """Return a table of the paper as Markdown, from the CSV of that table.

    A cell says printed / ours and the sign of the verdict; where no printed number survives it is empty.
    """
    rows, columns = grid_values(paper, item)
    found = {setting_key((row[item["rows"]], row[item["columns"]])): row for row in series.to_dict("records")}
    lines = [" | ".join([f"| {corner(paper, item)}", *axis_labels(paper, item["columns"], columns)]) + " |"]
    lines.append("|---" * (1 + len(columns)) + "|")
    for name, row in zip(axis_labels(paper, item["rows"], rows), rows, strict=True):
        cells = [_cell(found[setting_key((row, column))], ours=ours(series)) for column in columns]
        lines.append(" | ".join([f"| **{name}**", *cells]) + " |")
    return f"{item['title']}: paper / ours\n\n" + "\n".join(lines)


def _cell(row: Mapping, decimals: int = 2, ours: str = "mean") -> str:
    if pd.isna(row["printed"]):
        return ""
    printed, found = (number(row["metric"], row[name], decimals) for name in ("printed", ours))
    return f"{printed} / {found} {SIGNS[row['verdict']]}"


def counts(paper: Mapping, numbers: pd.DataFrame) -> str:
    """Return how many measurements got which verdict, and which counted facts differ."""
    facts = numbers[numbers["statistic"] == "exact"]
    means = numbers[numbers["statistic"] != "exact"]["verdict"].value_counts()
    said = "; ".join(f"{SIGNS[verdict]} {verdict}: {means.get(verdict, 0)}" for verdict in OF_NUMBERS)
    differing = facts[facts["verdict"] != REPRODUCED].to_dict("records")
    named = [
        f"{label(paper, row['dataset'])} {row['metric']}: {row['printed']:g} / {row['mean']:g}" for row in differing
    ]
    audit_bounds = f"Printed numbers: {said if len(means) else 'none survive'}."
    agree = f"Facts of the data sets: {len(facts) - len(named)} of {len(facts)} agree"
    return "\n\n".join([audit_bounds, *(["; ".join([agree, *named]) + "."] if len(facts) else [])])


def maxima(paper: Mapping, numbers: pd.DataFrame) -> list[str]:
    """Return a line for every printed maximum, with the setting where ours is reached."""
    return [
        f"{describe(paper, row)}: {_cell(row, int(row['decimals']))} ({row['reason']})"
        for row in numbers[numbers["statistic"] == "max"].to_dict("records")
    ]


def claims_table(claims: list[dict]) -> str:
    """Return the verdicts on claims as a Markdown table."""
    lines = ["| claim | verdict |", "|---|---|"]
    lines += [f"| {claim['text']} | {claim['verdict']}: {claim['reason']} |" for claim in claims]
    return "\n".join(lines)


def readme_block(number_of_paper: str) -> str:
    """Return what the README says of a paper, from the published run in ``results/reference``."""
    kept = REFERENCE / f"paper-{number_of_paper}"
    run = Run.read(kept)
    paper, numbers = run.paper, run.numbers
    forms = {"grid": grid, "span": span.markdown}
    costs = [item for item in paper.get("figures", ()) if item.get("kind") == "soundness"]
    studies = [soundness.markdown(paper, item, run.frame(item)) for item in costs]
    tables = [(forms[item["kind"]], item, run.frame(item)) for item in paper["tables"] if item["kind"] in forms]
    # The tables without printed numbers stay in the folder: here they would bury the verdicts.
    grids = [form(paper, item, series) for form, item, series in tables if series["printed"].notna().any()]
    largest = ["; ".join(maxima(paper, numbers)) + "."] if maxima(paper, numbers) else []
    judged = [counts(paper, numbers), *largest, claims_table(run.claims)] if len(numbers) or run.claims else []
    said = [*judged[:1], *sentences(paper), *run.advice(), *studies, *grids, *judged[1:], *explained(run)]
    return "\n\n".join(said)


def explained(run: Run) -> list[str]:
    """Return which reading explains best what is printed, question by question."""
    asked = {question["id"]: question["title"] for question in run.paper.get("readings", ())}
    groups = run.readings.groupby("question", sort=False) if len(run.readings) else ()
    return [f"{asked[name].removesuffix('?')}? Of {len(rows)} readings: {sentence(rows)}." for name, rows in groups]


def verdicts_block() -> str:
    """Return the verdicts on all papers as a Markdown table, from the published runs."""
    lines = ["| paper | printed numbers | claims | algorithms that keep the ε they claim | convicted by the audit |"]
    lines.append("|---|---|---|---|---|")
    for kept in sorted((REFERENCE).glob("paper-[0-9]*")):
        run = Run.read(kept)
        means = run.numbers[run.numbers["statistic"] != "exact"]["verdict"]
        found = [_tally(list(means)) or "none survive", _tally([claim["verdict"] for claim in run.claims])]
        found += [privacy.tally(run.privacy), audit_bounds.tally(run.audit, run.privacy)]
        lines.append(" | ".join([f"| {run.paper['number']}. {run.paper['title']}", *found]) + " |")
    return "\n".join(lines)


def _tally(verdicts: list[str]) -> str:
    return ", ".join(f"{sign} {verdicts.count(name)} {name}" for name, sign in SIGNS.items() if name in verdicts)


def with_block(readme: str, name: str, block: str) -> str:
    """Return the README with the text between its markers ``<!-- name -->`` and ``<!-- /name -->`` replaced.

    Examples
    --------
    >>> print(with_block("a\\n<!-- x -->\\nold\\n<!-- /x -->\\nb", "x", "new"))
    a
    <!-- x -->
    new
    <!-- /x -->
    b
    """
    before, _, rest = readme.partition(f"<!-- {name} -->\n")
    _, _, after = rest.partition(f"<!-- /{name} -->")
    return f"{before}<!-- {name} -->\n{block}\n<!-- /{name} -->{after}"


def publish_reference(number_of_paper: str, results: Path = ROOT / "results") -> None:
    """Copy the summaries of a complete run and put its verdicts into the README.

    Raises
    ------
    SystemExit
        If the run is missing, not complete, or of code that is not committed.
    """
    run, kept = results / f"paper-{number_of_paper}", REFERENCE / f"paper-{number_of_paper}"
    if not (run / "numbers.csv").is_file():
        sys.exit(f"{run} holds no finished run: {target_of(number_of_paper)} first")
    facts = json.loads((run / "provenance.json").read_text(encoding="utf-8"))
    _refuse_uncommitted(facts, target_of(number_of_paper))
    parts = [pd.read_csv(path) for path in [run / "numbers.csv", *run.glob("figures/*.csv"), *run.glob("tables/*.csv")]]
    if Run.read(run).is_short or any((part["n"] < part["n_expected"]).any() for part in parts if "n" in part):
        sys.exit(f"{run} is not complete: {target_of(number_of_paper)} first")
    shutil.rmtree(kept, ignore_errors=True)
    copy(run, kept, KEPT)
    readme = ROOT / "README.md"
    text = with_block(readme.read_text(encoding="utf-8"), f"paper-{number_of_paper}", readme_block(number_of_paper))
    readme.write_text(with_block(text, "verdicts", verdicts_block()), encoding="utf-8")


def publish_audit(results: Path = ROOT / "results") -> None:
    """Copy what `make audit` found in short, and say in the README how many algorithms it convicts.

    Raises
    ------
    SystemExit
        If there is no complete audit, or it is of code that is not committed.
    """
    if not (results / audit_bounds.SUMMARY).is_file():
        sys.exit(f"{results / audit_bounds.SUMMARY} is missing: make audit first")
    _refuse_uncommitted(json.loads((results / "audit" / "provenance.json").read_text(encoding="utf-8")), "make audit")
    copy(results, audit_bounds.REFERENCE, (audit_bounds.SUMMARY, "audit/provenance.json"))
    readme = ROOT / "README.md"
    readme.write_text(with_block(readme.read_text(encoding="utf-8"), "verdicts", verdicts_block()), encoding="utf-8")


def _refuse_uncommitted(provenance: Mapping, command: str) -> None:
    if not provenance["git"] or provenance["git"]["dirty"]:
        sys.exit(f"this is a run of code that is not committed: commit, then {command}")
