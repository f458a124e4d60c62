"""Write all pages that show the published runs, as Markdown.

They are the table of verdicts in the project's ``README.md``, ``results/reference/README.md``, and a ``README.md``
beside the files of each paper: what a reader wants first; all else is in those files and on the page that
``make report`` writes. ``make pages`` rewrites them, and so does whatever publishes a run.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from experiments.config.paths import ROOT
from plots.figures.ranks import RanksFigure
from plots.pages.html import render_template
from plots.runs.paper_run import PaperRun
from plots.runs.publishing import list_published
from plots.runs.run_folder import KEPT, name_target
from plots.tables.decision import NO_METHOD, DecisionTable

_NOTICE = "<!-- Written by `make pages` from the files beside it: changes by hand are lost. -->"


def make_pages(root: Path = ROOT) -> dict[Path, str]:
    """Return the text of each page that shows the published runs, by its path."""
    folder, readme = root / "results" / "reference", root / "README.md"
    runs = list_published(folder)
    to_folder = f"{folder.relative_to(root).as_posix()}/"
    table = _render_verdicts(runs, to_folder, "docs/verdicts.md")
    studies, verdicts = (
        [run for run in runs if not run.is_of_paper],
        _render_verdicts(runs, "", "../../docs/verdicts.md"),
    )
    index = render_template("published_index.md.j2", notice=_NOTICE, verdicts=verdicts, studies=studies)
    pages = {readme: replace_block(readme.read_text(encoding="utf-8"), "verdicts", table)}
    pages[folder / "README.md"] = f"{index}\n"
    for run in runs:
        pages[run.folder / "README.md"] = describe_paper(run)
    return pages


def rewrite_pages(root: Path = ROOT) -> None:
    """Write all pages that show the published runs."""
    for path, text in make_pages(root).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


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


def describe_paper(run: PaperRun) -> str:
    """Return the page of a published paper: promise, answers, finding, the picture that decides, claims and numbers."""
    ranks = [part for part in run.paper.figures if isinstance(part, RanksFigure)]
    ranks = [part for part in ranks if part.advises] or ranks[:1]  # those that say which method to take, or the first
    first = run.paper.finding.picture if run.paper.finding else next((part.id for part in ranks), None)
    shown = [part for part in run.paper.figures if part.id == first and run.find_picture(part.id).is_file()]
    git = run.provenance.get("git")
    page = render_template(
        "published.md.j2",
        notice=_NOTICE,
        run=run,
        revision=git["revision"][:7] if git else "unknown",
        target=name_target(str(run.paper.number)),
        picture=next(iter(shown), None),
        decisions=[_describe_decision(run, part) for part in run.paper.tables if isinstance(part, DecisionTable)],
        ranks=[_describe_ranks(run, part) for part in ranks],
        files=list(_link_files(run)),
    )
    return f"{page}\n"


def _render_verdicts(runs: list[PaperRun], to_folder: str, to_verdicts: str) -> str:
    """Return what came out of each paper, in a row that is read in ten seconds; the links lead to its folder."""
    papers = [run for run in runs if run.is_of_paper]
    return render_template("verdicts.md.j2", runs=papers, to_folder=to_folder, to_verdicts=to_verdicts)


def _describe_decision(run: PaperRun, part: DecisionTable) -> tuple[str, list[list[str]]]:
    """Return which method to take in each situation; by how much it leads is in the table's file."""
    shown = part.describe(run.paper, run.read_frame(part))
    drawn = {figure.id for figure in run.paper.figures}
    body = []
    for situation, (answer, evidence) in shown["rows"]:
        text = evidence["ours"] if answer["ours"] == NO_METHOD else evidence["ours"].partition("; ")[0]
        name = evidence["link"]
        link = _link_file(f"figures/{name}.svg" if name in drawn else f"tables/{name}.csv") if name else ""
        body.append([situation, answer["ours"], f"{text} {link}".rstrip()])
    return shown["explanation"], body


def _describe_ranks(run: PaperRun, part: RanksFigure) -> tuple[str, list[str], list[list[str]]]:
    """Return mean ranks, and how sure it is that the first is better on further data sets."""
    shown = part.describe(run.paper, run.read_frame(part))
    return part.title, shown["heads"][:3], [row[:3] for row in shown["standings"]]


def _link_files(run: PaperRun) -> Iterator[tuple[str, list[str]]]:
    """Yield links to what the folder holds, by what it is."""
    parts = {
        "Tables": [f"tables/{part.id}.csv" for part in run.paper.tables],
        "Figures": [f"figures/{part.id}.svg" for part in run.paper.figures],
        "Files": [pattern for pattern in KEPT if "*" not in pattern],
    }
    for what, paths in parts.items():
        if links := [_link_file(path) for path in paths if (run.folder / path).is_file()]:
            yield what, links


def _link_file(path: str) -> str:
    """Return a link to a file, named without folder and, of tables and figures, without its ending.

    Examples
    --------
    >>> _link_file("tables/table-1.csv"), _link_file("numbers.csv")
    ('[table-1](tables/table-1.csv)', '[numbers.csv](numbers.csv)')
    """
    folder, _, name = path.rpartition("/")
    return f"[{name.rpartition('.')[0] if folder else name}]({path})"
