"""How pages are rendered: one base template, one stylesheet, one script; every page is whole in one file."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from plots import labels


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
    environment.globals["sign"] = lambda verdict: labels.SIGNS.get(verdict, "")
    environment.globals["tone"] = lambda verdict: labels.TONES.get(verdict, "none")
    return environment
