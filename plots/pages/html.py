"""How pages are rendered, as HTML and as Markdown: one folder of templates, one stylesheet, one script.

Only pictures may lie beside a page of HTML: one is drawn in the page itself and follows light and dark.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from experiments.catalogue.places import Place
from experiments.config.finding import AccountSign, FinerSign
from experiments.config.paths import ROOT
from experiments.judge.paper_answer import count_signs
from experiments.judge.verdict import Verdict
from plots.answers import draw_bar, format_tally
from plots.drawing.svg import embed_svg
from plots.labels import SYMBOLS, TONES
from plots.strips import draw_in_text
from plots.text_table import escape_cell


def render_template(template: str, **values: object) -> str:
    """Return a page made of one of ``plots/pages/templates``; equal values give equal bytes."""
    return _make_environment().get_template(template).render(**values)


def link_place(place: Place, to_root: str) -> str:
    """Return a link of Markdown to a line of a file of the checkout; ``to_root`` leads there from the page.

    Examples
    --------
    >>> link_place(Place(ROOT / "conf" / "paper" / "2.yaml", 14), "../")
    '[2.yaml:14](../conf/paper/2.yaml#L14)'
    """
    if not place.file.is_relative_to(ROOT):
        return f"`{place}`"
    return f"[{place.file.name}:{place.line}]({to_root}{place.file.relative_to(ROOT).as_posix()}#L{place.line})"


def name_anchor(heading: str) -> str:
    """Return what a code host and the site call a heading of Markdown in an address.

    Examples
    --------
    >>> name_anchor("vote-privatree-0.1")
    'vote-privatree-01'
    """
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def format_fact(value: Any) -> str:
    """Return a fact of a provenance as text."""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)


@cache
def _make_environment() -> Environment:
    """Return what holds for all templates, once: with it goes what was compiled of them, half of what a page takes."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=select_autoescape(["html.j2"]),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.globals |= {
        "symbols": SYMBOLS,
        "tones": TONES,
        "unaudited": AccountSign.UNAUDITED,
        "within": FinerSign.WITHIN,
        "in_part": FinerSign.IN_PART,
        "sign_of": {verdict.value: verdict.shown for verdict in Verdict},
    }
    environment.globals |= {used.__name__: used for used in (count_signs, draw_bar, draw_in_text, format_tally)}
    environment.filters |= {"cell": escape_cell, "linked": link_place, "anchor": name_anchor}
    return environment


_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')


def read_svg(path: Path, name: str) -> str:
    """Read a picture as part of the page; see `embed_svg`."""
    return embed_svg(path.read_text(encoding="utf-8"), name)


def measure_picture(path: Path) -> tuple[int, int]:
    """Return width and height of a figure: a page that knows them keeps its place free until it is loaded."""
    width, height = _SIZE.search(path.read_text(encoding="utf-8")).groups()  # type: ignore[union-attr]  # always there
    return round(float(width)), round(float(height))
