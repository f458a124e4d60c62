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

from experiments.config.paper import Paper
from experiments.config.paths import REFERENCE, ROOT
from experiments.config.substitutes import describe_substitutes
from experiments.judge.readings.ranking import describe_ranking
from experiments.judge.verdict import REPRODUCED
from plots import audit_bounds, privacy
from plots.labels import OF_NUMBERS, SIGNS, format_number, label_name, label_result
from plots.run_folder import KEPT, PaperRun, copy_files, name_target


def format_counts(paper: Paper, numbers: pd.DataFrame) -> str:
    """Return how many measurements got which verdict, and which counted facts differ."""
    facts = numbers[numbers["statistic"] == "exact"]
    means = numbers[numbers["statistic"] != "exact"]["verdict"].value_counts()
    said = "; ".join(f"{SIGNS[verdict]} {verdict}: {means.get(verdict, 0)}" for verdict in OF_NUMBERS)
    differing = facts[facts["verdict"] != REPRODUCED].to_dict("records")
    named = [
        f"{label_name(paper, row['dataset'])} {row['metric']}: {row['printed']:g} / {row['mean']:g}"
        for row in differing
    ]
    judged = f"Printed numbers: {said if len(means) else 'none survive'}."
    agree = f"Facts of the data sets: {len(facts) - len(named)} of {len(facts)} agree"
    return "\n\n".join([judged, *(["; ".join([agree, *named]) + "."] if len(facts) else [])])


def format_maxima(paper: Paper, numbers: pd.DataFrame) -> list[str]:
    """Return a line for every printed maximum, with the setting where ours is reached."""
    lines = []
    for row in numbers[numbers["statistic"] == "max"].to_dict("records"):
        decimals = int(row["decimals"])
        printed, ours = (format_number(row["metric"], row[name], decimals) for name in ("printed", "mean"))
        lines.append(f"{label_result(paper, row)}: {printed} / {ours} {SIGNS[row['verdict']]} ({row['reason']})")
    return lines


def format_claims(claims: list[dict]) -> str:
    """Return the verdicts on claims as a Markdown table."""
    lines = ["| claim | verdict |", "|---|---|"]
    lines += [f"| {claim['text']} | {claim['verdict']}: {claim['reason']} |" for claim in claims]
    return "\n".join(lines)


def readme_block(number_of_paper: str) -> str:
    """Return what the README says of a paper, from the published run in ``results/reference``."""
    run = PaperRun.read(REFERENCE / f"paper-{number_of_paper}")
    paper, numbers = run.paper, run.numbers
    parts = [*paper.figures, *paper.tables]
    texts = [part.format_markdown(paper, run.read_frame(part)) for part in parts]
    maxima = format_maxima(paper, numbers)
    largest = ["; ".join(maxima) + "."] if maxima else []
    judged = []
    if len(numbers) or run.claims:
        judged = [format_counts(paper, numbers), *largest, format_claims(run.claims)]
    substitutes = describe_substitutes(paper.labels, paper.used_instead)
    blocks = [*judged[:1], *substitutes, *run.list_advice(), *filter(None, texts), *judged[1:], *explain_readings(run)]
    return "\n\n".join(blocks)


def explain_readings(run: PaperRun) -> list[str]:
    """Return which reading explains best what is printed, question by question."""
    titles = {question.id: question.title.removesuffix("?") for question in run.paper.readings}
    groups = run.readings.groupby("question", sort=False) if len(run.readings) else ()
    return [f"{titles[name]}? Of {len(rows)} readings: {describe_ranking(rows)}." for name, rows in groups]


def verdicts_block() -> str:
    """Return the verdicts on all papers as a Markdown table, from the published runs."""
    lines = ["| paper | printed numbers | claims | algorithms that keep the ε they claim | convicted by the audit |"]
    lines.append("|---|---|---|---|---|")
    for kept in sorted(REFERENCE.glob("paper-[0-9]*")):
        run = PaperRun.read(kept)
        means = run.numbers[run.numbers["statistic"] != "exact"]["verdict"]
        found = [_tally(list(means)) or "none survive", _tally([claim["verdict"] for claim in run.claims])]
        found += [privacy.count_keeping_claim(run.privacy), audit_bounds.count_violations(run.audit, run.privacy)]
        lines.append(" | ".join([f"| {run.paper.number}. {run.paper.title}", *found]) + " |")
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
        sys.exit(f"{run} holds no finished run: {name_target(number_of_paper)} first")
    facts = json.loads((run / "provenance.json").read_text(encoding="utf-8"))
    _refuse_uncommitted(facts, name_target(number_of_paper))
    parts = [pd.read_csv(path) for path in [run / "numbers.csv", *run.glob("figures/*.csv"), *run.glob("tables/*.csv")]]
    if PaperRun.read(run).is_short or any((part["n"] < part["n_expected"]).any() for part in parts if "n" in part):
        sys.exit(f"{run} is not complete: {name_target(number_of_paper)} first")
    shutil.rmtree(kept, ignore_errors=True)
    copy_files(run, kept, KEPT)
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
    copy_files(results, REFERENCE, (audit_bounds.SUMMARY, "audit/provenance.json"))
    readme = ROOT / "README.md"
    readme.write_text(with_block(readme.read_text(encoding="utf-8"), "verdicts", verdicts_block()), encoding="utf-8")


def _refuse_uncommitted(provenance: Mapping, command: str) -> None:
    if not provenance["git"] or provenance["git"]["dirty"]:
        sys.exit(f"this is a run of code that is not committed: commit, then {command}")
