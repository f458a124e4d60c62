"""What an SVG of matplotlib's needs beside the drawing: a name and words for who cannot see it, fonts, dark colours.

Text stays text, so that it can be found, copied and read aloud. It was laid out in DejaVu Sans; Verdana, which Windows
and macOS have, is as wide, and other fonts are narrower, so that no text grows into another. A reader who prefers dark
pages gets the dark colour of each light one by a rule of the file itself: a program that knows no such rule draws the
light ones, background included.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.sax.saxutils import escape

_DRAWN_IN, _FONTS = "'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif"


def dress_svg(svg: str, description: str, on_dark: Mapping[str, str]) -> str:
    """Return an SVG with a description, fonts that are everywhere, and dark colours for a reader who prefers them.

    Examples
    --------
    >>> svg = '<svg version="1.1"><title>T</title><path style="fill: #ffffff"/></svg>'
    >>> print(dress_svg(svg, "a < b", {"#ffffff": "#000000", "#1f2328": "#eeeeee"}))
    <svg role="img" version="1.1"><title>T</title>
    <desc>a &lt; b</desc>
    <style>@media screen and (prefers-color-scheme: dark) {
    [style*="fill: #ffffff"] {fill: #000000 !important}
    }</style><path style="fill: #ffffff"/></svg>
    """
    rules = []
    for light, dark in on_dark.items():
        for use in ("fill", "stroke"):
            if f"{use}: {light}" in svg:
                rules.append(f'[style*="{use}: {light}"] {{{use}: {dark} !important}}')
    style = "\n".join(["@media screen and (prefers-color-scheme: dark) {", *rules, "}"])
    added = f"</title>\n<desc>{escape(description)}</desc>\n<style>{style}</style>"
    named = svg.replace("<svg ", '<svg role="img" ', 1).replace("</title>", added, 1)
    return named.replace(_DRAWN_IN, _FONTS)


def embed_svg(svg: str, name: str) -> str:
    """Return an SVG as part of a page: with ids of its own by its name, and as wide as the page lets it be."""
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    for before in (' id="', "url(#", 'href="#'):
        svg = svg.replace(before, f"{before}{name}-")
    return re.sub(r'(<svg [^>]*?)width="[^"]*pt" ', r"\1", re.sub(r'(<svg [^>]*?)height="[^"]*pt" ', r"\1", svg))
