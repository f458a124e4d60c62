"""The page of a published run as Markdown, ``results/reference/paper-N/README.md``: what a reader wants first.

All else is in the files beside it and on the page that ``make report`` writes.
"""

from __future__ import annotations

from experiments.config.paper import Paper, Speaker
from experiments.judge.verdict import ONLY_UNDER_READING
from plots.figures.ranks import RanksFigure
from plots.labels import SYMBOLS
from plots.markdown import format_table
from plots.rows.claim_rows import COMPUTED, ClaimRow, Forest, list_forests
from plots.rows.number_rows import NumberRow
from plots.rows.strips import Strip, draw_in_text
from plots.rows.text_rows import (
    NumberGroup,
    describe_facts,
    describe_finding,
    describe_readings,
    draw_bar,
    group_numbers,
    list_shown_answers,
    name_claim_reason,
    name_number_reason,
    name_paper,
    trim_unit,
)
from plots.runs.run_folder import KEPT, PaperRun, name_target
from plots.tables.decision import NO_METHOD, DecisionTable

NOTICE = "<!-- Written by `make pages` from the files beside it: changes by hand are lost. -->"
_STRIPS = (
    "In a strip ● is our effect at the setting that decides (that refutes the claim, else the weakest), ─ its 95 % "
    "interval, │ no effect and ░ what counts as no difference. To the right lies what the claim says; ◂ and ▸ run off "
    "the axis."
)


def describe_paper(run: PaperRun) -> str:
    """Return the page of a published paper: promise, answers, finding, the picture that decides, claims and numbers.

    Parameters
    ----------
    run : PaperRun
        As from `plots.runs.published_run.read_published`.
    """
    head = [
        NOTICE,
        f"# {name_paper(run.paper)}",
        _describe_source(run),
        f"**It promises:** {run.paper.promise}" if run.paper.promise else "",
        format_answers(run),
        f"**What came out:** {finding}" if (finding := describe_finding(run)) else "",
        *_list_notes(run),
        _show_picture(run),
    ]
    claims = _format_forests(run, Speaker.PAPER)
    sections = {
        "Which one to take": [*_format_decisions(run), *_format_ranks(run)],
        "Its claims": [_STRIPS, *claims] if claims else [],
        "Claims of our own": _format_forests(run, Speaker.OURS),
        "Its printed numbers": [*map(_format_numbers, group_numbers(run)), *_list_notes_on_numbers(run)],
        "More": [_link_files(run)],
    }
    parts = list(filter(None, head))
    for title, texts in sections.items():
        if any(texts):
            parts += [f"## {title}", *filter(None, texts)]
    return "\n\n".join(parts) + "\n"


def format_answers(run: PaperRun) -> str:
    """Return the answers of a run as a Markdown table; of what nothing is counted, the words alone."""
    body = []
    for answer in list_shown_answers(run):
        counts = f"`{draw_bar(answer.counts)}`<br>{answer.tally}" if answer.counts else ""
        body.append([f"**{answer.question}**", answer.words, counts, answer.reason])
    return format_table(["question", "answer", "counts", "why"], body) if body else ""


def _describe_source(run: PaperRun) -> str:
    facts = run.provenance
    revision = facts["git"]["revision"][:7] if facts.get("git") else "unknown"
    return (
        f"*{run.paper.citation.rstrip('.')}.* Run of {facts['written'][:10]}, {run.coverage[1]:,} cells, "
        f"{run.paper.repeats} repeats, revision {revision}; `{name_target(str(run.paper.number))}` runs it again."
    )


def _list_notes(run: PaperRun) -> list[str]:
    """Return what must be said of the data, and that a run is not complete if so."""
    return [*(note for note in run.write_notes()[:1] if run.is_partial), *run.write_notes_on_data()]


def _show_picture(run: PaperRun) -> str:
    """Return the picture that decides: what the finding names, or of a comparison the first ranks."""
    ranks = [part.id for part in _list_ranks(run.paper)]
    named = run.paper.finding.picture if run.paper.finding else next(iter(ranks), None)
    if named is None or not (run.folder / "figures" / f"{named}.svg").is_file():
        return ""
    title = next(part.title for part in run.paper.figures if part.id == named)
    return f"![{title}](figures/{named}.svg)"


def _list_notes_on_numbers(run: PaperRun) -> list[str]:
    return [*run.write_notes_on_chance(), describe_facts(run)]


def _format_forests(run: PaperRun, speaker: Speaker) -> list[str]:
    tables = []
    for forest in list_forests(run, speaker):
        format_rows = _format_computed if forest.unit == COMPUTED else _format_tested
        tables.append(format_rows(run.paper, forest))
    return tables


def _format_tested(paper: Paper, forest: Forest) -> str:
    body = []
    for row in forest.rows:
        effect = f"{trim_unit(row.effect, forest.unit)} ({row.interval})" if row.interval else row.effect
        body.append([SYMBOLS[row.sign], _describe_claim(paper, row), _draw(row.strip, "│"), effect, row.held])
    return format_table(["", "claim", forest.unit, "effect (95 % interval)", "settings proven"], body)


def _format_computed(paper: Paper, forest: Forest) -> str:
    """Return claims that are decided by computing: why takes the place of an effect."""
    body = []
    for row in forest.rows:
        why = "" if row.verdict == ONLY_UNDER_READING else row.reason
        body.append([SYMBOLS[row.sign], _describe_claim(paper, row), why])
    return format_table(["", "claim, decided by computing", "why"], body)


def _describe_claim(paper: Paper, row: ClaimRow) -> str:
    return "<br>".join([f"{row.text}{_put_behind(name_claim_reason(paper, row))}", *describe_readings(row)])


def _put_behind(reason: str) -> str:
    return f" *({reason})*" if reason else ""


def _format_numbers(group: NumberGroup) -> str:
    """Return printed numbers beside ours; the strips draw our intervals, and where there are none, they are written."""
    has_strips = any(row.strip for _, row in group.rows)
    body = []
    for words, row in group.rows:
        strip = [_draw(row.strip, "×")] if has_strips else []
        ours = row.ours if has_strips else _format_ours(row)
        body.append([SYMBOLS[row.sign], f"{words}{_put_behind(name_number_reason(row))}", *strip, row.printed, ours])
    axis = [f"× printed, ● ours ({group.unit})"] if has_strips else []
    return format_table(["", group.shared or "number", *axis, "printed", "ours"], body)


def _format_ours(row: NumberRow) -> str:
    is_exact = row.interval == f"{row.ours} to {row.ours}"
    return f"{row.ours} ({row.interval})" if row.interval and not is_exact else row.ours


def _draw(strip: Strip | None, mark: str) -> str:
    return f"`{draw_in_text(strip, mark)}`" if strip else ""


def _format_decisions(run: PaperRun) -> list[str]:
    return [_format_decision(run, part) for part in run.paper.tables if isinstance(part, DecisionTable)]


def _format_decision(run: PaperRun, part: DecisionTable) -> str:
    """Return which method to take in each situation; by how much it leads is in the table's file."""
    shown = part.describe(run.paper, run.read_frame(part))
    drawn = {figure.id for figure in run.paper.figures}
    body = []
    for situation, (answer, evidence) in shown["rows"]:
        text = evidence["ours"] if answer["ours"] == NO_METHOD else evidence["ours"].partition("; ")[0]
        name = evidence["link"]
        link = _link_file(f"figures/{name}.svg" if name in drawn else f"tables/{name}.csv") if name else ""
        body.append([situation, answer["ours"], f"{text} {link}".rstrip()])
    return f"{shown['explanation']}\n\n{format_table(['situation', 'take', 'evidence'], body)}"


def _list_ranks(paper: Paper) -> list[RanksFigure]:
    """Return the ranks that say which method to take, or the first if none does."""
    ranks = [part for part in paper.figures if isinstance(part, RanksFigure)]
    return [part for part in ranks if part.advises] or ranks[:1]


def _format_ranks(run: PaperRun) -> list[str]:
    return [_format_standings(run, part) for part in _list_ranks(run.paper)]


def _format_standings(run: PaperRun, part: RanksFigure) -> str:
    """Return mean ranks, and how sure it is that the first is better on further data sets."""
    shown = part.describe(run.paper, run.read_frame(part))
    heads, body = shown["heads"][:3], [row[:3] for row in shown["standings"]]
    return f"{part.title}:\n\n{format_table(heads, body)}"


def _link_files(run: PaperRun) -> str:
    """Return links to what the folder holds, and where the rest is shown."""
    parts = {
        "Tables": [f"tables/{part.id}.csv" for part in run.paper.tables],
        "Figures": [f"figures/{part.id}.svg" for part in run.paper.figures],
        "Files": [pattern for pattern in KEPT if "*" not in pattern],
    }
    lines = []
    for what, paths in parts.items():
        there = [path for path in paths if (run.folder / path).is_file()]
        if there:
            lines.append(f"- {what}: {', '.join(map(_link_file, there))}")
    return (
        "\n".join(lines)
        + "\n- `make report` makes a page of them: with every setting, reading, account of privacy and cost.\n\n"
        "[All papers](../README.md) · [What the signs mean](../../../docs/verdicts.md) · "
        "[What we learned](../../../docs/results.md)"
    )


def _link_file(path: str) -> str:
    """Return a link to a file, named without folder and, of tables and figures, without its ending.

    Examples
    --------
    >>> _link_file("tables/table-1.csv"), _link_file("numbers.csv")
    ('[table-1](tables/table-1.csv)', '[numbers.csv](numbers.csv)')
    """
    folder, _, name = path.rpartition("/")
    return f"[{name.rpartition('.')[0] if folder else name}]({path})"
