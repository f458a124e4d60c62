"""YAML files as Hydra reads them when it composes a configuration, only faster.

OmegaConf, with which Hydra reads, has rules of its own: 1e-3 is a number, a key may not stand twice in a mapping, and
``${...}`` refers to other values. It parses in plain Python, which is nine tenths of what it takes to read a paper.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from omegaconf import OmegaConf
from omegaconf._utils import get_yaml_loader

from documents.large_numbers import TOO_LARGE, find_too_large

_PARSER: tuple[Any, ...] = (yaml.CSafeLoader,) if yaml.__with_libyaml__ else ()
_Rules: Any = get_yaml_loader()


class _Loader(*_PARSER, _Rules):  # type: ignore[misc]  # which bases it has is known when it runs
    """OmegaConf's loader with the parser of libyaml, where PyYAML was built with it."""


def _construct_number(loader: Any, node: yaml.ScalarNode) -> float:
    """Return a number, but not infinity for one that is too large."""
    if word := find_too_large(node.value):
        raise yaml.constructor.ConstructorError(None, None, TOO_LARGE.format(word), node.start_mark)
    return loader.construct_yaml_float(node)


_Loader.add_constructor("tag:yaml.org,2002:float", _construct_number)


def read_as_composed(file: Path) -> Any:
    """Return what a YAML file says, in plain values.

    Parameters
    ----------
    file : Path
        The file; an empty one says what an empty mapping says.

    Raises
    ------
    yaml.YAMLError
        If it is no YAML, says a key of a mapping twice, or a number that is too large.
    OmegaConfBaseException
        If it refers to what is not there.

    Examples
    --------
    >>> from documents.document import ROOT
    >>> read_as_composed(ROOT / "conf" / "algorithm" / "majority.yaml")["_target_"]
    'sklearn.dummy.DummyClassifier'
    """
    with file.open(encoding="utf-8") as stream:  # whose name stands in errors
        has_references = "${" in stream.read()
        stream.seek(0)
        contents = yaml.load(stream, Loader=_Loader)
    if has_references:
        return OmegaConf.to_container(OmegaConf.create(contents), resolve=True)
    return {} if contents is None else contents
