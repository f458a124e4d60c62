"""Publish finished runs in ``results/reference``, and write the Markdown pages that show them.

``python -m plots.reference 2`` publishes ``results/paper-2`` after ``make reproduce-paper-2``; the name ``audit``
publishes the audit after ``make audit``. Runs that are not complete are refused. Of a run the files `run_folder.KEPT`
are kept: they are small, and they show the whole run but its cells and bitmaps.

Every call then rewrites the pages: ``results/reference/README.md``, a ``README.md`` beside the files of each paper, and
the table of verdicts in the project's ``README.md``. Without names nothing is published; only the pages are rewritten.
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

_NOTICE = "<!-- Written by `python -m plots.reference` from the files beside it: changes by hand are lost. -->"
_NEEDS_NO_RUN = "exact"  # the statistic of numbers that are counted in a data set


def format_grid_table(paper: Mapping, item: Mapping, series: pd.DataFrame) -> str:
    """Return a table of a paper as Markdown; each cell holds the printed number, ours, and the sign of the verdict.

    Parameters
    ----------
    paper, item : mapping
        The paper, and the table of it, of kind ``grid``.
    series : DataFrame
        The CSV file of that table. Cells without a printed number stay empty.
    """
    rows, columns = grid_values(paper, item)
    records = {setting_key((row[item["rows"]], row[item["columns"]])): row for row in series.to_dict("records")}
    body = []
    for name, row in zip(axis_labels(paper, item["rows"], rows), rows, strict=True):
        texts = [_format_comparison(records[setting_key((row, column))], ours=ours(series)) for column in columns]
        body.append([f"**{name}**", *texts])
    heads = [corner(paper, item), *axis_labels(paper, item["columns"], columns)]
    return f"{item['title']}: paper / ours\n\n{format_table(heads, body)}"


def format_table(heads: list[str], body: list[list[str]]) -> str:
    """Return rows of texts as a Markdown table.

    Examples
    --------
    >>> print(format_table(["a", "b"], [["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = [f"| {' | '.join(row)} |" for row in [heads, *body]]
    return "\n".join([lines[0], "|---" * len(heads) + "|", *lines[1:]])


def _format_comparison(row: Mapping, decimals: int = 2, ours: str = "mean") -> str:
    if pd.isna(row["printed"]):
        return ""
    printed, measured = (number(row["metric"], row[name], decimals) for name in ("printed", ours))
    return f"{printed} / {measured} {SIGNS[row['verdict']]}"


def count_verdicts(paper: Mapping, numbers: pd.DataFrame) -> str:
    """Return how many printed measurements got which verdict, and which printed facts of data sets are wrong."""
    is_fact = numbers["statistic"] == _NEEDS_NO_RUN
    facts, verdicts = numbers[is_fact], numbers[~is_fact]["verdict"].value_counts()
    tally = "; ".join(f"{SIGNS[verdict]} {verdict}: {verdicts.get(verdict, 0)}" for verdict in OF_NUMBERS)
    parts = [f"Printed numbers: {tally if len(verdicts) else 'none survive'}."]
    differing = [
        f"{label(paper, row['dataset'])} {row['metric']}: {row['printed']:g} / {row['mean']:g}"
        for row in facts[facts["verdict"] != REPRODUCED].to_dict("records")
    ]
    if len(facts):
        agreeing = f"Facts of the data sets: {len(facts) - len(differing)} of {len(facts)} agree"
        parts.append("; ".join([agreeing, *differing]) + ".")
    return "\n\n".join(parts)


def format_maxima(paper: Mapping, numbers: pd.DataFrame) -> str:
    """Return every printed maximum with ours and the setting where ours is reached; nothing if none is printed."""
    maxima = [
        f"{describe(paper, row)}: {_format_comparison(row, int(row['decimals']))} ({row['reason']})"
        for row in numbers[numbers["statistic"] == "max"].to_dict("records")
    ]
    return "; ".join(maxima) + "." if maxima else ""


def format_claims(claims: list[dict]) -> str:
    """Return the verdicts on claims as a Markdown table."""
    return format_table(
        ["claim", "verdict"], [[claim["text"], f"{claim['verdict']}: {claim['reason']}"] for claim in claims]
    )


def format_readings(run: Run) -> list[str]:
    """Return for each question of a paper which reading of its text explains best what it prints."""
    titles = {question["id"]: question["title"].removesuffix("?") for question in run.paper.get("readings", ())}
    groups = run.readings.groupby("question", sort=False) if len(run.readings) else ()
    return [f"{titles[name]}? Of {len(rows)} readings: {sentence(rows)}." for name, rows in groups]


def format_accounts(run: Run) -> str:
    """Return what fitted models account for, and what the audit measured, as a Markdown table."""
    body = []
    for row in run.privacy:
        words = privacy.words(run.paper, row)
        bounds = "; ".join(measured["bound"] for measured in audit_bounds.words(run.audit, row["algorithm"]))
        faults = "; ".join(fault["name"] for fault in words["faults"])
        body.append([words[name] for name in ("algorithm", "sound", "paid", "neighbours")] + [faults, bounds])
    heads = ["algorithm", "keeps its claim", "accounts for", "neighbours", "steps not covered", "the audit shows ε"]
    return format_table(heads, body)


def format_figures(run: Run) -> str:
    """Return the figures of a run, the published ones of its readings included, as Markdown images."""
    titles = {item["id"]: item["title"] for item in run.paper.get("figures", ())}
    titles |= {f"readings-{question['id']}": question["title"] for question in run.paper.get("readings", ())}
    names = [name for name in titles if (run.folder / "figures" / f"{name}.svg").is_file()]
    return "\n\n".join(f"![{titles[name]}](figures/{name}.svg)" for name in names)


def format_printed_tables(run: Run) -> list[str]:
    """Return the tables of a run that have printed numbers; the others would bury the verdicts."""
    forms = {"grid": format_grid_table, "span": span.markdown}
    tables = [(item, run.frame(item)) for item in run.paper["tables"] if item["kind"] in forms]
    return [forms[item["kind"]](run.paper, item, frame) for item, frame in tables if frame["printed"].notna().any()]


def describe_run(run: Run) -> str:
    """Return when and with what code a run was made."""
    facts = run.provenance
    revision = facts["git"]["revision"][:7] if facts.get("git") else "unknown"
    return (
        f"Published run of {facts['written'][:10]}, {run.coverage[1]:,} cells, {run.paper['repeats']} repeats, "
        f"revision {revision}. `{target_of(str(run.paper['number']))}` runs it again. This folder has every table and "
        "figure, as CSV, too."
    )


def describe_paper(folder: Path) -> str:
    """Return the page of a published paper: verdicts, printed numbers beside ours, claims, readings, accounts, figures.

    Parameters
    ----------
    folder : Path
        Of the published run, such as ``results/reference/paper-2``.
    """
    run = Run.read(folder)
    paper, numbers = run.paper, run.numbers
    has_verdicts = len(numbers) > 0 or len(run.claims) > 0
    costs = [item for item in paper.get("figures", ()) if item.get("kind") == "soundness"]
    sections = {
        "Verdicts": [count_verdicts(paper, numbers) if has_verdicts else "", *sentences(paper), *run.advice()],
        "What soundness costs": [soundness.markdown(paper, item, run.frame(item)) for item in costs],
        "Printed numbers": [*format_printed_tables(run), format_maxima(paper, numbers)],
        "Claims": [format_claims(run.claims)] if run.claims else [],
        "Readings": format_readings(run),
        "Privacy": [format_accounts(run)] if run.privacy else [],
        "Figures": [format_figures(run)],
    }
    heading = f"# {_name_paper(paper)}\n\n*{paper['citation'].rstrip('.')}.* {describe_run(run)}"
    links = "[All papers](../README.md) · [What the verdicts mean](../../../docs/verdicts.md)"
    links += " · [What we learned](../../../docs/results.md)"
    parts = [_NOTICE, heading, links]
    for title, texts in sections.items():
        if any(texts):
            parts += [f"## {title}", *filter(None, texts)]
    return "\n\n".join(parts) + "\n"


def _name_paper(paper: Mapping) -> str:
    return f"Paper {paper['number']}. {paper['title']}" if str(paper["number"]).isdigit() else f"{paper['title']}"


def format_verdicts(folder: Path, link: str) -> str:
    """Return the verdicts on all published papers as a Markdown table.

    Parameters
    ----------
    folder : Path
        Of all published runs.
    link : str
        How the reader gets from the page that holds the table into that folder, such as ``results/reference/``.
    """
    body = []
    for kept in sorted(folder.glob("paper-[0-9]*")):
        run = Run.read(kept)
        verdicts = run.numbers[run.numbers["statistic"] != _NEEDS_NO_RUN]["verdict"]
        name = f"[{run.paper['number']}. {run.paper['title']}]({link}{kept.name}/README.md)"
        tallies = [_tally(list(verdicts)) or "none survive", _tally([claim["verdict"] for claim in run.claims])]
        kept_claims, convicted = privacy.tally(run.privacy), audit_bounds.tally(run.audit, run.privacy)
        body.append([name, *tallies, kept_claims, convicted])
    heads = ["paper", "printed numbers", "claims", "algorithms that keep the ε they claim", "convicted by the audit"]
    return format_table(heads, body)


def _tally(verdicts: list[str]) -> str:
    return ", ".join(f"{sign} {verdicts.count(name)} {name}" for name, sign in SIGNS.items() if name in verdicts)


def describe_index(folder: Path) -> str:
    """Return the page that lists all published papers with their verdicts."""
    return f"""{_NOTICE}

# Published results

One folder for each paper, and one for the benchmark of all methods. A page beside each run shows it; the files behind
it are CSV, JSON and SVG. `make reference` makes all of them anew, `python -m plots.reference` only these pages.

{format_verdicts(folder, "")}

- [Benchmark](paper-benchmark/README.md): every method on every data set, and what soundness costs.
- [What we learned](../../docs/results.md) from the five papers, and [what the verdicts mean](../../docs/verdicts.md).
- `audit/summary.csv`: what the [audit](../../docs/audit.md) measured of each algorithm's privacy.
"""


def replace_block(text: str, name: str, block: str) -> str:
    """Return a text with what stands between its markers ``<!-- name -->`` and ``<!-- /name -->`` replaced.

    Examples
    --------
    >>> print(replace_block("a\\n<!-- x -->\\nold\\n<!-- /x -->\\nb", "x", "new"))
    a
    <!-- x -->
    new
    <!-- /x -->
    b
    """
    before, _, rest = text.partition(f"<!-- {name} -->\n")
    _, _, after = rest.partition(f"<!-- /{name} -->")
    return f"{before}<!-- {name} -->\n{block}\n<!-- /{name} -->{after}"


def make_pages(root: Path = ROOT) -> dict[Path, str]:
    """Make all pages that show the published runs.

    Returns
    -------
    dict of Path to str
        The text of each page, by its path: the project's README with the table of verdicts, the index, and the page of
        each paper.
    """
    folder, readme = root / REFERENCE.relative_to(ROOT), root / "README.md"
    table = format_verdicts(folder, f"{folder.relative_to(root).as_posix()}/")
    pages = {readme: replace_block(readme.read_text(encoding="utf-8"), "verdicts", table)}
    pages[folder / "README.md"] = describe_index(folder)
    for run in sorted(folder.glob("paper-*")):
        pages[run / "README.md"] = describe_paper(run)
    return pages


def rewrite_pages(root: Path = ROOT) -> None:
    """Write all pages that show the published runs."""
    for path, text in make_pages(root).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def publish_paper(name: str, results: Path = ROOT / "results") -> None:
    """Copy the summaries of a complete run into ``results/reference``.

    Parameters
    ----------
    name : str
        Number of the paper, or ``benchmark``.
    results : Path
        Folder that holds the run.

    Raises
    ------
    SystemExit
        If the run is missing, not complete, or of code that is not committed.
    """
    run, kept = results / f"paper-{name}", REFERENCE / f"paper-{name}"
    if not (run / "numbers.csv").is_file():
        sys.exit(f"{run} holds no finished run: {target_of(name)} first")
    facts = json.loads((run / "provenance.json").read_text(encoding="utf-8"))
    _refuse_uncommitted(facts, target_of(name))
    paths = [run / "numbers.csv", *run.glob("figures/*.csv"), *run.glob("tables/*.csv")]
    counted = [part for part in map(pd.read_csv, paths) if "n" in part]
    if Run.read(run).is_short or any((part["n"] < part["n_expected"]).any() for part in counted):
        sys.exit(f"{run} is not complete: {target_of(name)} first")
    shutil.rmtree(kept, ignore_errors=True)
    copy(run, kept, KEPT)


def publish_audit(results: Path = ROOT / "results") -> None:
    """Copy the summary of a complete audit into ``results/reference``.

    Raises
    ------
    SystemExit
        If there is no complete audit, or it is of code that is not committed.
    """
    if not (results / audit_bounds.SUMMARY).is_file():
        sys.exit(f"{results / audit_bounds.SUMMARY} is missing: make audit first")
    _refuse_uncommitted(json.loads((results / "audit" / "provenance.json").read_text(encoding="utf-8")), "make audit")
    copy(results, audit_bounds.REFERENCE, (audit_bounds.SUMMARY, "audit/provenance.json"))


def _refuse_uncommitted(provenance: Mapping, command: str) -> None:
    if not provenance["git"] or provenance["git"]["dirty"]:
        sys.exit(f"this is a run of code that is not committed: commit, then {command}")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        publish_audit() if name == "audit" else publish_paper(name)
    rewrite_pages()
