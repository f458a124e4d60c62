"""What pages of the site lead to where they name a line of a file: the file, shown with that line marked.

On a code host ``../algorithms/forests/rdt.py#L359`` opens the line. The site would offer the file as a download; so it
gets a page of each file that is linked like this, and the link leads to the line in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

FOLDER = "code"
_LINK = re.compile(r"\[([^\]\n]+)\]\(((?:\.\./)*)([\w./-]+\.(?:py|yaml|csv|h|cpp))((?:#L\d+)?)\)")
_LANGUAGES = {".py": "python", ".yaml": "yaml", ".h": "cpp", ".cpp": "cpp"}


def setup(app: Sphinx) -> dict:
    """Register what follows with Sphinx."""
    app.connect("source-read", lambda app, page, text: text.__setitem__(0, link_lines(text[0])))
    app.connect("html-collect-pages", _make_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def link_lines(text: str) -> str:
    """Return the text of a page in which links to code, and to lines of any file, lead to the page of the file.

    Examples
    --------
    >>> print(link_lines("[rdt.py:359](../algorithms/forests/rdt.py#L359)"))
    <a class="reference internal" href="../code/algorithms/forests/rdt.py.html#L-359">rdt.py:359</a>
    >>> print(link_lines("[its numbers](figures/figure-1.csv)"))
    [its numbers](figures/figure-1.csv)
    """
    return _LINK.sub(lambda link: _link(*link.groups()) if _leads_to_code(link) else link[0], text)


def _leads_to_code(link: re.Match) -> bool:
    return bool(link[4]) or link[3].endswith(".py")


def _link(label: str, to_root: str, path: str, line: str) -> str:
    target = f"{to_root}{FOLDER}/{path}.html{line.replace('#L', '#L-')}"
    return f'<a class="reference internal" href="{target}">{escape(label)}</a>'


def _make_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    root = Path(app.srcdir)
    for path in sorted({file for page in app.env.found_docs for file in _list_files(app, page)}):
        shown = app.builder.highlighter.highlight_block(
            (root / path).read_text(encoding="utf-8"), _LANGUAGES.get(Path(path).suffix, "none"), linespans="L"
        )
        yield (
            f"{FOLDER}/{path}",
            {"title": path, "parents": [], "body": f"<h1>{escape(path)}</h1>\n{shown}"},
            "page.html",
        )


def _list_files(app: Sphinx, page: str) -> Iterator[str]:
    """Yield the files of the checkout that a page leads to, from its text as it lies on the disk."""
    source = Path(app.env.doc2path(page))
    if source.suffix == ".md":
        for link in _LINK.finditer(source.read_text(encoding="utf-8")):
            if _leads_to_code(link):
                path = (source.parent / link[2] / link[3]).resolve()
                yield path.relative_to(Path(app.srcdir).resolve()).as_posix()
