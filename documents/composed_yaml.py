"""YAML files as Hydra reads them when it composes a configuration, only faster.

OmegaConf, with which Hydra reads, has rules of its own: 1e-3 is a number, a date is text, a key may not stand twice in
a mapping, and ``${...}`` refers to other values. It parses in plain Python, which is nine tenths of what it takes to
read a paper; and most files refer to nothing, so that it is not even imported.
"""

from __future__ import annotations

import re
from copy import deepcopy
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import Any

import yaml

from documents import variants
from documents.file_state import State, find_state
from documents.large_numbers import TOO_LARGE, find_too_large

UNREADABLE = (yaml.YAMLError, OSError, UnicodeDecodeError)
"""What is raised for a file that cannot be read."""
_Parser: Any = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
_FLOAT, _DATE = "tag:yaml.org,2002:float", "tag:yaml.org,2002:timestamp"


class _Loader(_Parser):
    """The parser of libyaml, where PyYAML was built with it, with the rules of OmegaConf."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:
        """Return a mapping in which no key stands twice."""
        known = set()
        for key, _ in node.value:
            if key.tag == yaml.resolver.BaseResolver.DEFAULT_SCALAR_TAG and key.value in known:
                raise _error(f"found duplicate key {key.value}", key)
            known.add(key.value if isinstance(key.value, str) else None)
        return super().construct_mapping(node, deep=deep)


def _construct_number(loader: Any, node: yaml.ScalarNode) -> float:
    """Return a number, but not infinity for one that is too large."""
    if word := find_too_large(node.value):
        raise _error(TOO_LARGE.format(word), node)
    return loader.construct_yaml_float(node)


def _error(text: str, node: yaml.Node) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(None, None, text, node.start_mark)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in rules if tag != _DATE]
    for first, rules in _Parser.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(_FLOAT, re.compile(r"[-+]?\d[\d_]*(?:\.[\d_]*)?[eE][-+]?\d+$"), list("-+0123456789"))
_Loader.add_constructor(_FLOAT, _construct_number)


def read_as_composed(file: Path) -> Any:
    """Return what a YAML file says, in plain values.

    Parameters
    ----------
    file : Path
        The file; an empty one says what an empty mapping says. Or the place of a variant in it: `documents.variants`.

    Raises
    ------
    yaml.YAMLError
        If it is no YAML, says a key of a mapping twice or a number that is too large, or refers to what is not there.

    Examples
    --------
    >>> from algorithms.installation import ROOT
    >>> read_as_composed(ROOT / "conf" / "algorithm" / "majority.yaml")["_target_"]
    'sklearn.dummy.DummyClassifier'
    """
    whole, variant = variants.split_place(file)
    return deepcopy(variants.select_variant(_read_kept(whole, find_state(whole)), variant))


def read_heading(file: Path) -> str:
    """Return what the comment that a file begins with says, or the variant in it, as one line; nothing without one.

    Examples
    --------
    >>> from algorithms.installation import ROOT
    >>> read_heading(ROOT / "conf" / "algorithm" / "majority.yaml")
    'The floor: always the most frequent class.'
    >>> read_heading(ROOT / "conf" / "algorithm" / "edprf.yaml:sound")
    'eDPRF with every fault repaired.'
    """
    whole, variant = variants.split_place(file)
    if variant:
        return variants.find_what(_read_kept(whole, find_state(whole)), variant)
    lines = whole.read_text(encoding="utf-8").splitlines()
    comment = [line.lstrip("# ") for line in takewhile(lambda line: line.startswith("#"), lines)]
    return " ".join(line for line in comment if not line.startswith("yaml-language-server"))


def list_places(file: Path) -> dict[str, Path]:
    """Return the places of all that a file has by the names that results have: of the file and of its variants.

    A file that cannot be read has itself alone, and whoever reads it is told.

    Examples
    --------
    >>> from algorithms.installation import ROOT
    >>> list(list_places(ROOT / "conf" / "algorithm" / "edprf.yaml"))
    ['edprf', 'edprf_sound']
    """
    try:
        return variants.list_places(_read_kept(file, find_state(file)), file)
    except UNREADABLE:
        return {file.stem: file}


@lru_cache(maxsize=1024)
def _read_kept(file: Path, _state: State | None) -> Any:
    """Return what a file says in some state: a paper, and what has many variants, is asked for time and again."""
    return _read_whole(file)


def _read_whole(file: Path) -> Any:
    with file.open(encoding="utf-8") as stream:  # whose name stands in errors
        has_references = "${" in stream.read()
        stream.seek(0)
        contents = yaml.load(stream, Loader=_Loader)
    if has_references:
        return _resolve_references(contents)
    return {} if contents is None else contents


def _resolve_references(contents: Any) -> Any:
    from omegaconf import OmegaConf  # which few files need
    from omegaconf.errors import OmegaConfBaseException

    try:
        return OmegaConf.to_container(OmegaConf.create(contents), resolve=True)
    except OmegaConfBaseException as error:
        raise yaml.constructor.ConstructorError(None, None, " ".join(str(error).split()), None) from error
