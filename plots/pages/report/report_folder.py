"""The report on all papers: ``results/report``, a front page, a page of all claims and a page for each paper.

A paper without a run in the folder of results is shown as it was published in ``results/reference``, and named as not
run if it was not. The newest sweeps are copied into it. The report needs no file outside: it can be moved and zipped.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from plots.pages import paper_page
from plots.pages.report.claims_page import render_claims_page
from plots.pages.report.front_page import MOST_SWEEPS, render_front_page
from plots.pages.report.paper_entry import PaperEntry
from plots.runs.run_folder import KEPT, PaperRun, copy_files
from plots.sweeps.sweep_folder import FILES, list_sweeps


def build_report(results: Path, names: Sequence[str]) -> Path:
    """Write the report on some papers and return its first page.

    Parameters
    ----------
    results : Path
        Folder of this machine's runs; the report takes the place of an earlier one in ``results/report``.
    names : sequence of str
        The papers, in order.

    Raises
    ------
    BadInput
        If there is no such paper, or a run lacks a file.
    """
    entries, sweeps = [PaperEntry.find(name, results) for name in names], list_sweeps(results)
    pages = {
        "index.html": render_front_page(entries, _list_links(entries, "index.html"), sweeps),
        "claims.html": render_claims_page(entries, _list_links(entries, "claims.html")),
    }
    for entry in entries:
        if entry.run:
            pages[entry.href] = _render_entry(entry, entry.run, entries)
    folder = results / "report"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for entry in entries:
        if entry.run:
            copy_files(entry.run.folder, folder / f"paper-{entry.name}", (*KEPT, "figures/*.png", "figures/*.pdf"))
    for swept, _ in sweeps[:MOST_SWEEPS]:
        copy_files(swept, folder / "sweeps" / swept.name, FILES)
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "index.html"


def _render_entry(entry: PaperEntry, run: PaperRun, entries: Sequence[PaperEntry]) -> str:
    links = _list_links(entries, entry.href)
    return paper_page.render_page(run, entry.notes, base=f"paper-{entry.name}/", links=links)


def _list_links(entries: Sequence[PaperEntry], here: str) -> list[dict]:
    pages = {"index.html": "All papers", "claims.html": "All claims"}
    for entry in entries:
        if entry.run:
            pages[entry.href] = entry.title
    return [{"href": href, "text": text, "is_here": href == here} for href, text in pages.items()]
