"""The papers and this software as sources: the page that lists them, with entries for BibTeX.

What it lists of papers stands in their files, under ``publication``; what it says of the software in `CITATION.cff`.
"""

from __future__ import annotations

from typing import Any

from documents.publication import Publication, format_bibtex_entry
from documents.yaml_files import parse_yaml
from experiments.config.paper import Paper
from experiments.config.papers import read_paper
from experiments.config.paths import ROOT, list_papers

SOURCES_FILE = ROOT / "docs" / "sources.md"
_CITATION = ROOT / "CITATION.cff"
_HEAD = """\
# The papers, and how to cite

DP-Replica runs the experiments of the papers below again. This page says who wrote them, where they appeared, and
which part of each text was at hand when its file `conf/paper/N.yaml` was written. Texts in Chinese were read in
Chinese. What a text leaves open, or what was missing of it, is a choice of ours: [Readings](readings.md) says how such
choices are tried out. [The data sets](data-sets.md) lists the sources and licences of the data. `make pages` writes
this page from the files of the papers and from `CITATION.cff`.
"""
_CITING = """\
## Cite

Please cite the software, and each paper whose algorithm you use. If you report a result of DP-Replica about a paper,
name its revision, too.

- The *version* is the number of a release, as `dp-replica --version` prints it. There has been no release yet: all
  [changes](../CHANGELOG.md) are changes of version {version}. The software has no DOI.
- A *revision* is a commit of the code's Git repository. Each published page names the revision that its run was made
  with, and `provenance.json` beside it has the whole commit and the versions of all libraries. Two revisions of one
  version may give different results; what a later revision changed of a published result, the
  [regression check](regression-check.md) finds.
"""


def format_sources_page() -> str:
    """Return the page of the documentation that lists the papers as sources, and how to cite them and the software."""
    papers = [read_paper(name) for name in list_papers()]
    published = [(paper, paper.publication) for paper in papers if paper.publication]
    entries = [format_software_bibtex(), *(publication.format_bibtex() for _, publication in published)]
    sections = [_describe_paper(paper, publication) for paper, publication in published]
    citing = _CITING.format(version=read_citation()["version"])
    return "\n".join([_HEAD, *sections, citing, "```bibtex", "\n\n".join(entries), "```", ""])


def read_citation() -> dict[str, Any]:
    """Return what ``CITATION.cff`` says."""
    return parse_yaml(_CITATION.read_text(encoding="utf-8"))


def format_software_bibtex(revision: str = "name it here") -> str:
    """Return the entry for BibTeX of this software, as ``CITATION.cff`` describes it, at the revision of a run.

    Examples
    --------
    >>> print(format_software_bibtex("0123456").splitlines()[-2])
      note = {Revision of the run: 0123456},
    """
    facts = read_citation()
    names = " and ".join(f"{{{author['name']}}}" for author in facts["authors"])
    fields = {"author": names, "title": f"{{{facts['title']}}}", "version": facts["version"]}
    fields |= {"note": f"Revision of the run: {revision}"}
    return format_bibtex_entry("software", "dp-replica", fields)


def _describe_paper(paper: Paper, publication: Publication) -> str:
    """Return the section of one paper."""
    address = publication.address
    shown = f"doi:{publication.doi}" if publication.doi else address
    lines = [
        f"## Paper {paper.number}: {paper.short_title}",
        "",
        f"{'; '.join(publication.authors)}: *{publication.title}*. {publication.place}. [{shown}]({address})",
        "",
        f"- Language: {publication.language}." + ("" if publication.doi else " Its DOI was not at hand."),
        f"- Text at hand: {publication.text_at_hand}.",
        f"- [What came out](../results/reference/paper-{paper.number}/README.md), and"
        f" [what became of each of its sentences](../results/reference/paper-{paper.number}/coverage.md).",
        "",
    ]
    return "\n".join(lines)
