"""Kinds of claims, tables and figures, found by name.

They are documents of `claims` and `exhibits`. A folder that a user adds has kinds of its own in ``claims/NAME.py``,
``tables/NAME.py`` and ``figures/NAME.py``; its file is called like the kind, so that only what a paper uses is
imported. Who judges or shows a kind is found by its document, in upper rooms.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module, util
from pathlib import Path
from typing import Any, get_args

from documents import search_path
from documents.document import Document
from documents.yaml_files import DocumentError, shorten_path
from experiments.config import own_kinds
from experiments.config.kinds import claims, exhibits
from experiments.edge import keep_prints_apart
from experiments.errors import BadInput, one_line, suggest_name

_OURS = {
    "claims": (claims, claims.Claim),
    "tables": (exhibits, exhibits.PaperTable),
    "figures": (exhibits, exhibits.PaperFigure),
}
"""By section of a paper's file, the module whose classes are its kinds in the project, and what they derive from."""


@cache
def _list_built_in(section: str) -> Mapping[str, type[Document]]:
    module, base = _OURS[section]
    classes = [one for one in vars(module).values() if inspect.isclass(one) and issubclass(one, base)]
    return {name: one for one in classes if (name := name_kind(one))}


def name_kind(document: type[Document]) -> str:
    """Return the kind that a class of documents is; nothing of a class that kinds extend.

    Examples
    --------
    >>> name_kind(exhibits.GridTable), name_kind(exhibits.PaperTable)
    ('grid', '')
    """
    field = document.model_fields.get("kind")
    return next(iter(get_args(field.annotation)), "") if field else ""


def is_built_in(document: type[Document]) -> bool:
    """Return whether a class of documents comes with the project."""
    return document.__module__ in (claims.__name__, exhibits.__name__)


def _find_modules(section: str) -> dict[str, tuple[str, Path]]:
    """Return module and file of each kind of a section in added folders; DocumentError if two have one name."""
    added = search_path.list_added()
    _look_into(added)
    return _list_modules(section, added)


@cache
def _list_modules(section: str, added: tuple[Path, ...]) -> dict[str, tuple[str, Path]]:
    """Return the same; the folders are those that are looked into."""
    modules: dict[str, tuple[str, Path]] = {}
    package = f"{own_kinds.__name__}.{section}"
    found = util.find_spec(package)
    for folder in (found.submodule_search_locations or []) if found else []:
        for path in sorted(Path(folder).glob("[!_]*.py")):
            ours = _list_built_in(section).get(path.stem)
            first = modules[path.stem][1] if path.stem in modules else Path(inspect.getfile(ours)) if ours else path
            if not first.samefile(path):
                stand = f"stands in {shorten_path(first)} and in {shorten_path(path)}"
                raise DocumentError(f"the kind {path.stem!r} of {section} {stand}; rename yours")
            modules[path.stem] = (f"{package}.{path.stem}", path)
    return modules


def _look_into(added: tuple[Path, ...]) -> None:
    """Let the kinds of added folders be imported, and no longer those of other folders."""
    folders = list(map(str, added))
    if own_kinds.__path__ != folders:
        own_kinds.__path__[:] = folders
        for name in [name for name in sys.modules if name.startswith(f"{own_kinds.__name__}.")]:
            del sys.modules[name]
        _import_kind.cache_clear()


def list_kinds(section: str) -> tuple[str, ...]:
    """Return the names of all kinds of a section, sorted.

    Examples
    --------
    >>> list_kinds("tables")
    ('attributes', 'by_kind', 'datasets', 'decision', 'grid', 'span')
    """
    return tuple(sorted({*_list_built_in(section), *_find_modules(section)}))


def find_kind(section: str, name: str) -> type[Document]:
    """Return the document of a kind; ValueError suggests the nearest kind if there is none."""
    modules = _find_modules(section)
    if name in modules:
        return _import_kind(*modules[name])
    if name in _list_built_in(section):
        return _list_built_in(section)[name]
    raise ValueError(f"kind {name!r} is not known; {suggest_name(str(name), list_kinds(section))}")


@cache
def _import_kind(name: str, path: Path) -> type[Document]:
    """Return the class of a kind; BadInput if its file has none, or cannot be imported."""
    search_path.make_importable()
    try:
        with keep_prints_apart():
            module = import_module(name)
    except Exception as error:  # whatever the module of a user raises
        raise BadInput(f"{shorten_path(path)} cannot be imported ({one_line(error)})") from error
    for value in vars(module).values():
        if not (inspect.isclass(value) and issubclass(value, Document)):
            continue
        if value.__module__ == module.__name__ and "kind" in inspect.get_annotations(value):
            return value
    raise BadInput(f"{shorten_path(path)} has no class with a field kind")


def parse_entry(section: str, default: str | None, contents: Any) -> Document:
    """Return a claim, table or figure as an object of its kind; ValueError if it has no known kind, or not its keys."""
    if isinstance(contents, Document):
        return contents
    kind = contents.get("kind", default) if isinstance(contents, Mapping) else None
    if not isinstance(kind, str):
        raise ValueError(f"write a mapping with a kind: {', '.join(list_kinds(section))}")
    return find_kind(section, kind).model_validate(dict(contents))


def parser_of(section: str, default: str | None = None) -> Callable[[Any], Document]:
    """Return the function that turns what a file says of one entry into an object of its kind."""
    return partial(parse_entry, section, default)
