"""Write all pages that show the published runs.

They are the table of verdicts in the project's ``README.md``, ``results/reference/README.md``, and a ``README.md``
beside the files of each paper. ``make pages`` rewrites them, and so does whatever publishes a run.
"""

from __future__ import annotations

from pathlib import Path

from experiments.config.paths import ROOT
from plots.pages.published_page import NOTICE, describe_paper
from plots.pages.verdict_table import explain_signs, format_verdicts
from plots.runs.published_run import list_published
from plots.runs.run_folder import PaperRun


def describe_index(runs: list[PaperRun]) -> str:
    """Return the page that lists all published papers with what came out."""
    studies = [run for run in runs if not _is_of_paper(run)]
    others = "\n".join(f"- [{run.paper.title}]({run.folder.name}/README.md)" for run in studies)
    return f"""{NOTICE}

# Published results

One folder for each paper, and for the benchmarks of all methods. A page in each shows what came out; the files beside
it are CSV, JSON and SVG. `make reference` makes all of them anew, `make pages` only these pages.

{_format_papers(runs, "", "../../docs/verdicts.md")}

{others}
- [What we learned](../../docs/results.md) from six papers.
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
    runs = list_published(folder)
    table = _format_papers(runs, f"{folder.relative_to(root).as_posix()}/", "docs/verdicts.md")
    pages = {readme: replace_block(readme.read_text(encoding="utf-8"), "verdicts", table)}
    pages[folder / "README.md"] = describe_index(runs)
    for run in runs:
        pages[run.folder / "README.md"] = describe_paper(run)
    return pages


def rewrite_pages(root: Path = ROOT) -> None:
    """Write all pages that show the published runs."""
    for path, text in make_pages(root).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _format_papers(runs: list[PaperRun], to_folder: str, to_verdicts: str) -> str:
    table = format_verdicts([run for run in runs if _is_of_paper(run)], to_folder)
    return f"{table}\n\n{explain_signs(to_verdicts)}"


def _is_of_paper(run: PaperRun) -> bool:
    return isinstance(run.paper.number, int)
