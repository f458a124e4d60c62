"""YAML files: what they say, and where in them it stands; nothing larger is imported, as every start reads some."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from algorithms.installation import ROOT

Location = tuple[int | str, ...]
"""Where a value stands in a file: keys, and positions in lists from 0."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""That of libyaml, eight times as fast, where PyYAML was built with it."""


class DocumentError(ValueError):
    """A document says what it may not say; the message has a line for each error."""


def parse_yaml(text: str) -> Any:
    """Return what a YAML text says, in plain values.

    Raises
    ------
    yaml.YAMLError
        If it is no YAML.

    Examples
    --------
    >>> parse_yaml("id: table-1")
    {'id': 'table-1'}
    """
    return yaml.load(text, Loader=_LOADER)


def find_lines(file: Path) -> dict[Location, int]:
    """Return the line, from 1, of every key and list entry of a YAML file; none of a file that cannot be read."""
    lines: dict[Location, int] = {}
    with suppress(OSError):
        _collect_lines(yaml.compose(file.read_text(encoding="utf-8"), Loader=_LOADER), (), lines)
    return lines


def name_place(location: Location, lines: Mapping[Location, int], file: Path | None) -> str:
    """Return where a value stands, as an error names it: ``conf/paper/2.yaml:14: studies.grid``.

    Examples
    --------
    >>> name_place(("figures", 0, "x"), {("figures", 0): 7}, ROOT / "conf" / "paper" / "2.yaml")
    'conf/paper/2.yaml:7: figures.0.x'
    """
    line = find_line(location, lines)
    words = [shorten_path(file) + (f":{line}" if line else "")] if file else []
    words += [".".join(map(str, location))] if location else []
    return ": ".join(words)


def find_line(location: Location, lines: Mapping[Location, int]) -> int | None:
    """Return the line of a value, or of the nearest part around it that is in the file."""
    for length in range(len(location), 0, -1):
        if location[:length] in lines:
            return lines[location[:length]]
    return None


def shorten_path(file: Path) -> str:
    """Return a file as an error names it: relative to the checkout if it is in it.

    Examples
    --------
    >>> shorten_path(ROOT / "conf" / "config.yaml"), shorten_path(Path("/elsewhere/paper/mine.yaml"))
    ('conf/config.yaml', '/elsewhere/paper/mine.yaml')
    """
    return str(file.relative_to(ROOT) if file.is_relative_to(ROOT) else file)


def _collect_lines(node: yaml.Node | None, location: Location, lines: dict[Location, int]) -> None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inner = (*location, key.value)
            lines[inner] = key.start_mark.line + 1
            _collect_lines(value, inner, lines)
    elif isinstance(node, yaml.SequenceNode):
        for position, entry in enumerate(node.value):
            inner = (*location, position)
            lines[inner] = entry.start_mark.line + 1
            _collect_lines(entry, inner, lines)
