"""Pictures of a page: one drawn in the page itself, which follows light and dark; the others files beside it."""

from __future__ import annotations

import re
from pathlib import Path

from plots import style

_PALETTES = {"s": style.SEQUENTIAL, "q": style.QUALITATIVE, "fig": (style.INK, style.GRID, style.ALARM, "#ffffff")}
# The variable of each colour of a figure.
_ROLES = {colour: f"{role}{i}" for role, palette in _PALETTES.items() for i, colour in enumerate(palette)}
_COLOUR = re.compile("|".join(_ROLES))
_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')


def read_svg(path: Path, name: str) -> str:
    """Make an SVG file part of the page; see `embed_svg`."""
    return embed_svg(path.read_text(encoding="utf-8"), name)


def embed_svg(svg: str, name: str) -> str:
    """Make a picture part of the page: ids of its own by its name, colours as variables that follow light and dark."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    for before in (' id="', "url(#", 'href="#'):
        svg = svg.replace(before, f"{before}{name}-")
    svg = re.sub(r'(<svg [^>]*?)width="[^"]*pt" ', r"\1", re.sub(r'(<svg [^>]*?)height="[^"]*pt" ', r"\1", svg))
    return _COLOUR.sub(lambda found: f"var(--{_ROLES[found[0]]}, {found[0]})", svg)


def measure_picture(path: Path) -> tuple[int, int]:
    """Return width and height of a figure: a page that knows them keeps its place free until it is loaded."""
    width, height = _SIZE.search(path.read_text(encoding="utf-8")).groups()  # type: ignore[union-attr]  # always there
    return round(float(width)), round(float(height))
