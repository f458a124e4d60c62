"""How pages are rendered: one base template, one stylesheet, one script; only pictures may lie beside a page."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from experiments.judge.verdict import SIGN_OF
from plots.answers import describe_sign
from plots.labels import SYMBOLS, TONES


def render_template(template: str, **values: object) -> str:
    """Return a page made of one of ``plots/pages/templates``; equal values give equal bytes."""
    return _make_environment().get_template(template).render(**values)


@cache
def _make_environment() -> Environment:
    """Return what holds for all templates, once: with it goes what was compiled of them, half of what a page takes."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.globals |= {"symbols": SYMBOLS, "tones": TONES, "sign_of": SIGN_OF, "describe_sign": describe_sign}
    return environment
