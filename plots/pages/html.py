"""How pages are rendered, as HTML and as Markdown: one folder of templates, one stylesheet, one script.

Only pictures may lie beside a page of HTML.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from experiments.judge.verdict import SIGN_OF
from plots.answers import count_signs, describe_sign
from plots.labels import SYMBOLS, TONES
from plots.markdown import escape_cell
from plots.rows.strips import draw_in_text


def render_template(template: str, **values: object) -> str:
    """Return a page made of one of ``plots/pages/templates``; equal values give equal bytes."""
    return _make_environment().get_template(template).render(**values)


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
    environment.globals |= {"symbols": SYMBOLS, "tones": TONES, "sign_of": SIGN_OF}
    environment.globals |= {"count_signs": count_signs, "describe_sign": describe_sign, "draw_in_text": draw_in_text}
    environment.filters["cell"] = escape_cell
    return environment
