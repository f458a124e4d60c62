"""Publish finished runs in ``results/reference``, and write the Markdown pages that show them.

``do=reference paper=2`` publishes ``results/paper-2`` after ``make reproduce-paper-2``. Runs that are not complete are
refused. Of a run the files `run_folder.KEPT` are kept: they are small, and they show the whole run but its cells and
bitmaps.

Every call then rewrites the pages: ``results/reference/README.md``, a ``README.md`` beside the files of each paper, and
the table of verdicts in the project's ``README.md``; ``make pages`` rewrites these alone.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from experiments.config.paper import Paper, PaperFigure, PaperTable, Speaker
from experiments.config.paths import REFERENCE, ROOT
from experiments.judge.readings.sentences import describe_curve, describe_ranking
from experiments.judge.verdict import REPRODUCED
from plots import audit_bounds
from plots.labels import OF_NUMBERS, SIGNS, format_comparison, label_name, label_result
from plots.markdown import format_table
from plots.pages.claim_rows import format_chance
from plots.pages.cost_rows import COST_HEADS, list_costs
from plots.pages.summary import summarise_run
from plots.privacy import count_keeping_claim, describe_data_faults, describe_privacy
from plots.run_folder import KEPT, PaperRun, copy_files, name_target

_NOTICE = "<!-- Written by `make pages` from the files beside it: changes by hand are lost. -->"
_NEEDS_NO_RUN = "exact"  # the statistic of numbers that are counted in a data set


def count_verdicts(paper: Paper, numbers: pd.DataFrame) -> str:
    """Return how many printed measurements got which verdict, and which printed facts of data sets are wrong."""
    is_fact = numbers["statistic"] == _NEEDS_NO_RUN
    facts, verdicts = numbers[is_fact], numbers[~is_fact]["verdict"].value_counts()
    tally = "; ".join(f"{SIGNS[verdict]} {verdict}: {verdicts.get(verdict, 0)}" for verdict in OF_NUMBERS)
    parts = [f"Printed numbers: {tally if len(verdicts) else 'none survive'}."]
    differing = [
        f"{label_name(paper, row['dataset'])} {row['metric']}: {row['printed']:g} / {row['mean']:g}"
        for row in facts[facts["verdict"] != REPRODUCED].to_dict("records")
    ]
    if len(facts):
        agreeing = f"Facts of the data sets: {len(facts) - len(differing)} of {len(facts)} agree"
        parts.append("; ".join([agreeing, *differing]) + ".")
    return "\n\n".join(parts)


def format_maxima(paper: Paper, numbers: pd.DataFrame) -> str:
    """Return every printed maximum with ours and the setting where ours is reached; nothing if none is printed."""
    maxima = []
    for row in numbers[numbers["statistic"] == "max"].to_dict("records"):
        comparison = format_comparison(row, "mean", int(row["decimals"]))
        maxima.append(f"{label_result(paper, row)}: {comparison} ({row['reason']})")
    return "; ".join(maxima) + "." if maxima else ""


def format_claims(run: PaperRun) -> str:
    """Return the verdicts on claims as a Markdown table."""
    body = []
    for claim in run.claims:
        speaker = run.paper.speaker_of(run.paper.claims_by_id[claim["id"]])
        verdict = f"{SIGNS[claim['verdict']]} {claim['verdict']}: {claim['reason']}"
        repeats = "" if claim["repeats"] is None else str(claim["repeats"])
        body.append([claim["text"], speaker.value, verdict, repeats, format_chance(claim["rerun_probability"])])
    return format_table(["claim", "whose", "verdict", "runs it took", "seen again by ten further runs"], body)


def format_readings(run: PaperRun) -> list[str]:
    """Return which reading of a text explains best what it prints, and under which readings its claims hold."""
    sentences = []
    for question, rows in run.list_rankings():
        title = question.title.removesuffix("?")
        sentences.append(f"{title}? {describe_ranking(rows)}.")
    for claim, rows in run.list_curves():
        sentences.append(f"*{claim.text}* {describe_curve(rows)}.")
    return sentences


def format_further_rows(run: PaperRun) -> list[str]:
    """Return what splits that were crossed with draws of the noise say of each claim."""
    sentences = []
    for claim in run.claims:
        if said := run.describe_further_rows(claim["id"]):
            sentences.append(f"- *{claim['text']}* {said[0].upper()}{said[1:]}.")
    return ["\n".join(sentences)] if sentences else []


def format_costs(run: PaperRun) -> list[str]:
    """Return what fits take, a table for each data set that was fitted."""
    tables = []
    for sentence, body in list_costs(run.paper, run.costs):
        tables.append(f"{sentence}\n\n{format_table(COST_HEADS, body)}")
    return tables


def format_accounts(run: PaperRun) -> str:
    """Return what fitted models account for, and what the audit measured, as a Markdown table."""
    body = []
    for row in run.privacy:
        words = describe_privacy(run.paper, row)
        bounds = [measured["bound"] for measured in audit_bounds.list_bounds(run.audit, row["algorithm"])]
        faults = [fault["name"] for fault in words["faults"]]
        account = [words["algorithm"], words["sound"], words["paid"], words["neighbours"]]
        body.append([*account, "; ".join(faults), "; ".join(bounds)])
    heads = ["algorithm", "keeps its claim", "accounts for", "neighbours", "steps not covered", "the audit shows ε"]
    return format_table(heads, body)


def format_data_faults(run: PaperRun) -> str:
    """Return on which data sets no account strictly holds, and why; nothing if there are none."""
    reasons = describe_data_faults(run.paper, run.privacy)
    if not reasons:
        return ""
    head = "Strictly, no account above holds where bounds follow the rows; that is no fault of the algorithms:"
    return "\n".join([head, "", *(f"- {reason}" for reason in reasons)])


def format_figures(run: PaperRun) -> str:
    """Return the figures of a run, the published ones of its readings included, as Markdown images."""
    titles = {part.id: part.title for part in run.paper.figures}
    for question in run.paper.readings:
        titles[f"readings-{question.id}"] = question.title
    for claim in run.paper.claims:
        titles[f"curve-{claim.id}"] = f"Under every reading: {claim.text}"
    images = []
    for name, title in titles.items():
        if (run.folder / "figures" / f"{name}.svg").is_file():
            images.append(f"![{title}](figures/{name}.svg)")
    return "\n\n".join(images)


def describe_run(run: PaperRun) -> str:
    """Return when and with what code a run was made."""
    facts = run.provenance
    revision = facts["git"]["revision"][:7] if facts.get("git") else "unknown"
    return (
        f"Published run of {facts['written'][:10]}, {run.coverage[1]:,} cells, {run.paper.repeats} repeats, "
        f"revision {revision}. `{name_target(str(run.paper.number))}` runs it again. This folder has every table and "
        "figure, as CSV, too."
    )


def describe_paper(folder: Path) -> str:
    """Return the page of a published paper: verdicts, printed numbers beside ours, claims, readings, accounts, figures.

    Parameters
    ----------
    folder : Path
        Of the published run, such as ``results/reference/paper-2``.
    """
    run = PaperRun.read(folder)
    paper, numbers = run.paper, run.numbers
    has_verdicts = len(numbers) > 0 or len(run.claims) > 0
    tables: dict[str, list[PaperTable]] = {}
    for part in paper.tables:
        tables.setdefault(part.section, []).append(part)
    sections = {
        "Which one to take": _format_parts(run, tables.get("Which one to take", ())),
        "Verdicts": [
            count_verdicts(paper, numbers) if has_verdicts else "",
            *run.write_notes_on_chance(),
            *run.write_notes_on_data(),
            *run.list_advice(),
        ],
        "Comparisons": _format_parts(run, (*tables.get("Comparisons", ()), *paper.figures)),
        "Printed numbers": [*_format_parts(run, tables.get("Printed numbers", ())), format_maxima(paper, numbers)],
        "Claims": [format_claims(run)] if run.claims else [],
        "Time and memory": format_costs(run),
        "Further rows": format_further_rows(run),
        "Readings": format_readings(run),
        "Privacy": [format_accounts(run), format_data_faults(run)] if run.privacy else [],
        "Figures": [format_figures(run)],
    }
    heading = f"# {_name_paper(paper)}\n\n*{paper.citation.rstrip('.')}.* {describe_run(run)}"
    links = "[All papers](../README.md) · [What the verdicts mean](../../../docs/verdicts.md)"
    links += " · [What we learned](../../../docs/results.md)"
    parts = [_NOTICE, heading, summarise_run(run), links]
    for title, texts in sections.items():
        if any(texts):
            parts += [f"## {title}", *filter(None, texts)]
    return "\n\n".join(parts) + "\n"


def _format_parts(run: PaperRun, parts: Sequence[PaperTable | PaperFigure]) -> list[str]:
    return [part.format_markdown(run.paper, run.read_frame(part)) for part in parts]


def _name_paper(paper: Paper) -> str:
    return f"Paper {paper.number}. {paper.title}" if isinstance(paper.number, int) else paper.title


def format_verdicts(folder: Path, link: str) -> str:
    """Return the verdicts on all published papers as a Markdown table, under each title what came out in a sentence.

    Parameters
    ----------
    folder : Path
        Of all published runs.
    link : str
        How the reader gets from the page that holds the table into that folder, such as ``results/reference/``.
    """
    body = []
    for kept in sorted(folder.glob("paper-[0-9]*")):
        run = PaperRun.read(kept)
        verdicts = run.numbers[run.numbers["statistic"] != _NEEDS_NO_RUN]["verdict"]
        name = f"[{run.paper.number}. {run.paper.title}]({link}{kept.name}/README.md)<br>{summarise_run(run)}"
        tallies = [_tally(list(verdicts)) or "none survive"]
        tallies += [_tally(run.list_verdicts(speaker)) or "none" for speaker in Speaker]
        body.append([name, *tallies, *_count_algorithms(run)])
    heads = ["paper", "printed numbers", "claims of the paper", "our readings of them", "claims of our own"]
    return format_table([*heads, "algorithms that keep the ε they claim", "convicted by the audit"], body)


def _count_algorithms(run: PaperRun) -> list[str]:
    """Return how many algorithms keep the ε they claim and how many are convicted, the paper's own ones apart."""
    own: list[dict] = []
    others: list[dict] = []
    for row in run.privacy:
        (own if row["algorithm"] in run.paper.own else others).append(row)
    kept, convicted = [], []
    for whose, rows in {"its own": own, "others": others}.items():
        is_claiming = any(row["keeps_claim"] is not None for row in rows)
        kept.append(f"{whose}: {count_keeping_claim(rows) if is_claiming else 'no ε claimed'}")
        convicted += [f"{whose}: {audit_bounds.count_violations(run.audit, rows)}"] if is_claiming else []
    return ["<br>".join(kept), "<br>".join(convicted)]


def _tally(verdicts: list[str]) -> str:
    return ", ".join(f"{sign} {verdicts.count(name)} {name}" for name, sign in SIGNS.items() if name in verdicts)


def describe_index(folder: Path) -> str:
    """Return the page that lists all published papers with their verdicts."""
    heavy = " [The same with peers that take long](paper-benchmark-heavy/README.md)."
    heavy = heavy if (folder / "paper-benchmark-heavy").is_dir() else ""
    return f"""{_NOTICE}

# Published results

One folder for each paper, and for the benchmark of all methods. A page beside each run shows it; the files behind
it are CSV, JSON and SVG. `make reference` makes all of them anew, `make pages` only these pages.

{format_verdicts(folder, "")}

- [Benchmark](paper-benchmark/README.md): every method, on data sets that nothing was chosen on and others, and what
  soundness costs.{heavy}
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
    folder, readme = root / "results" / "reference", root / "README.md"
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


def publish_run(name: str, results: Path = ROOT / "results") -> None:
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
        sys.exit(f"{run} holds no finished run: {name_target(name)} first")
    facts = json.loads((run / "provenance.json").read_text(encoding="utf-8"))
    _refuse_uncommitted(facts, name_target(name))
    if PaperRun.read(run).is_short or _lacks_cells(run):
        sys.exit(f"{run} is not complete: {name_target(name)} first")
    shutil.rmtree(kept, ignore_errors=True)
    copy_files(run, kept, KEPT)


def _lacks_cells(folder: Path) -> bool:
    """Return whether a number, table or figure of a run lacks cells."""
    of_readings = (path for path in (folder / "readings.csv", folder / "curves.csv") if path.is_file())
    for path in (folder / "numbers.csv", *of_readings, *folder.glob("figures/*.csv"), *folder.glob("tables/*.csv")):
        part = pd.read_csv(path)
        if "n" in part and (part["n"] < part["n_expected"]).any():
            return True
    return False


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
    copy_files(results, REFERENCE, (audit_bounds.SUMMARY, "audit/provenance.json"))


def _refuse_uncommitted(provenance: Mapping, command: str) -> None:
    if not provenance["git"] or provenance["git"]["dirty"]:
        sys.exit(f"this is a run of code that is not committed: commit, then {command}")
