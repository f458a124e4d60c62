"""Kinds of claims, tables and figures: one class in one file each, found by name.

``conf/kinds.yaml`` says in which packages they are. The file of a kind is called like the kind, so that reading a paper
imports only what it uses, and a new kind is one new file.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module, util
from pathlib import Path
from typing import Any

from algorithms.installation import PREFIX
from documents.document import Document
from documents.yaml_files import parse_yaml
from experiments.config.paths import CONF
from experiments.errors import suggest_name


@cache
def find_packages() -> Mapping[str, list[str]]:
    """Return the packages of each part of a paper: its claims, tables and figures."""
    packages = parse_yaml((CONF / "kinds.yaml").read_text(encoding="utf-8"))
    return {part: [f"{PREFIX}{package}" for package in own] for part, own in packages.items()}


@cache
def _find_modules(part: str) -> dict[str, str]:
    """Return the module of each kind of a part."""
    modules = {}
    for package in find_packages()[part]:
        found = util.find_spec(package)
        for folder in (found.submodule_search_locations or []) if found else []:
            modules.update({path.stem: f"{package}.{path.stem}" for path in Path(folder).glob("[!_]*.py")})
    return modules


def list_kinds(part: str) -> tuple[str, ...]:
    """Return the names of all kinds of a part, sorted.

    Examples
    --------
    >>> list_kinds("tables")
    ('attributes', 'by_kind', 'datasets', 'decision', 'grid', 'span')
    """
    return tuple(sorted(_find_modules(part)))


@cache
def find_kind(part: str, name: str) -> type[Document]:
    """Return the document that the file of a kind defines; ValueError suggests the nearest kind if there is none."""
    if name not in list_kinds(part):
        raise ValueError(f"kind {name!r} is not known; {suggest_name(str(name), list_kinds(part))}")
    module = import_module(_find_modules(part)[name])
    for value in vars(module).values():
        if not (inspect.isclass(value) and issubclass(value, Document)):
            continue
        if value.__module__ == module.__name__ and "kind" in inspect.get_annotations(value):
            return value
    raise ImportError(f"{module.__name__} has no class with a field kind")


def parse_part(part: str, default: str | None, contents: Any) -> Document:
    """Return a claim, table or figure as an object of its kind; ValueError if it has no known kind, or not its keys."""
    if isinstance(contents, Document):
        return contents
    kind = contents.get("kind", default) if isinstance(contents, Mapping) else None
    if not isinstance(kind, str):
        raise ValueError(f"write a mapping with a kind: {', '.join(list_kinds(part))}")
    return find_kind(part, kind).model_validate(dict(contents))


def parser_of(part: str, default: str | None = None) -> Callable[[Any], Document]:
    """Return the function that turns what a file says of one part into an object of its kind."""
    return partial(parse_part, part, default)
