"""Hooks for MkDocs: pages that lie outside of ``docs``, and links that work both in the repository and on the site.

In the repository a page links to others by their paths there. The site has the pages of ``docs`` at its top, the README
as ``index.md``, and the published results where they are in the repository. So each link is followed in the repository
and written anew for the site.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

_ROOT = Path(__file__).resolve().parents[1]
_PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "CITATION.cff": "CITATION.cff",
}
_RESULTS = ("README.md", "paper-*/README.md", "paper-*/figures/*.svg")
_LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)")
_SOURCES = {site: source for source, site in _PAGES.items()}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the README, the other pages at the top of the project, and the published results."""
    reference = _ROOT / "results" / "reference"
    results = [path.relative_to(_ROOT).as_posix() for pattern in _RESULTS for path in sorted(reference.glob(pattern))]
    for source in [*_PAGES, *results]:
        files.append(File.generated(config, to_site_path(source), abs_src_path=str(_ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Write every relative link anew for the site."""
    source = to_repository_path(page.file.src_uri)

    def rewrite_link(match: re.Match) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[1]))
        if not (_ROOT / target).exists():
            raise PluginError(f"{source}: the link to {match[1]} leads nowhere")
        here = posixpath.dirname(page.file.src_uri)
        return f"]({posixpath.relpath(to_site_path(target), here or '.')}"

    return _LINK.sub(rewrite_link, markdown)


def to_site_path(source: str) -> str:
    """Return where a file of the repository is on the site.

    Examples
    --------
    >>> to_site_path("README.md"), to_site_path("docs/sweeps.md"), to_site_path("results/reference/README.md")
    ('index.md', 'sweeps.md', 'results/reference/README.md')
    """
    if PurePosixPath(source).is_relative_to("docs"):
        return PurePosixPath(source).relative_to("docs").as_posix()
    return _PAGES.get(source, source)


def to_repository_path(page: str) -> str:
    """Return which file of the repository a page of the site is made from.

    Examples
    --------
    >>> to_repository_path("index.md"), to_repository_path("api/plots.md"), to_repository_path("results/x/README.md")
    ('README.md', 'docs/api/plots.md', 'results/x/README.md')
    """
    if page in _SOURCES:
        return _SOURCES[page]
    return page if page.startswith("results/") else f"docs/{page}"
