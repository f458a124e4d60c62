"""Variants: one file has an algorithm with all that differs from it by little, as its readings and its sound one do.

A variant stands under ``_variants_`` and says what it changes of the file. It is chosen as ``FILE:VARIANT``, and its
place is ``FILE.yaml:VARIANT``, which `documents.composed_yaml` reads like a file::

    # A forest, as its paper prints it.
    _target_: algorithms.RFDPPGiniClassifier
    variant: paper
    _variants_:
      sound:
        _what_: The forest with every fault repaired.
        _stored_as_: rfdpp_gini_sound
        variant: sound

``_stored_as_`` is the older name of a variant: it can be chosen by it, too, and its cells and results go on under it.
``_without_`` lists parameters of the file that the variant leaves to its class. ``_only_variants_: true`` says that the
file is what its variants have in common, and nothing by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

_VARIANTS, _ONLY = "_variants_", "_only_variants_"
_WHAT, _STORED_AS, _WITHOUT = "_what_", "_stored_as_", "_without_"
_OF_FILE, _OF_VARIANT = (_VARIANTS, _ONLY), (_WHAT, _STORED_AS, _WITHOUT)
_NAME = re.compile(r"[\w.+-]+")


def name_place(place: Path) -> str:
    """Return the name by which what stands in a place is chosen.

    Examples
    --------
    >>> name_place(Path("algorithm/edprf.yaml:sound")), name_place(Path("algorithm/edprf.yaml"))
    ('edprf:sound', 'edprf')
    """
    return place.name.replace(".yaml", "", 1)


def split_place(place: Path) -> tuple[Path, str]:
    """Return the file of a place, and the variant; an empty one is the file itself."""
    name, dot, variant = place.name.partition(".yaml:")
    return (place.with_name(f"{name}.yaml"), variant) if dot else (place, "")


def list_places(contents: Any, file: Path) -> dict[str, Path]:
    """Return the places of all that a file has, by the names that results have.

    Examples
    --------
    >>> changes = {"ball": {}, "sound": {"_stored_as_": "fm_sound"}}
    >>> list(list_places({"_target_": "mine.FM", "_variants_": changes}, Path("fm.yaml")))
    ['fm', 'fm:ball', 'fm_sound']
    """
    places, variants = {file.stem: file}, _read_variants(contents)
    for variant, changes in variants.items():
        place = file.with_name(f"{file.name}:{variant}")
        places[str(changes.get(_STORED_AS, name_place(place)))] = place
    if variants and contents.get(_ONLY):
        del places[file.stem]
    return places


def select_variant(contents: Any, variant: str) -> Any:
    """Return what a file says of a variant, or of itself, without the keys that are about variants.

    Raises
    ------
    yaml.YAMLError
        If the variants are not written as the module says.

    Examples
    --------
    >>> fm = {"degree": 1, "scaling": "box", "_variants_": {"ball": {"scaling": "ball", "_without_": ["degree"]}}}
    >>> select_variant(fm, ""), select_variant(fm, "ball")
    ({'degree': 1, 'scaling': 'box'}, {'scaling': 'ball'})
    """
    changes = _read_variants(contents).get(variant)
    if changes is None:
        return _drop_keys(contents, _OF_FILE) if isinstance(contents, Mapping) else contents
    left_out = changes.get(_WITHOUT, ())
    for key in left_out:
        if key not in contents:
            raise _error(f"{_VARIANTS}.{variant}: {_WITHOUT} names {key!r}, which the file does not set")
    return _drop_keys(contents, (*_OF_FILE, *left_out)) | _drop_keys(changes, _OF_VARIANT)


def find_what(contents: Any, variant: str) -> str:
    """Return what a file says of a variant in words; nothing if it says nothing."""
    return " ".join(str(_read_variants(contents)[variant].get(_WHAT, "")).split())


def _read_variants(contents: Any) -> dict[str, Mapping[str, Any]]:
    variants = contents.get(_VARIANTS, {}) if isinstance(contents, Mapping) else {}
    if not isinstance(variants, Mapping):
        raise _error(f"{_VARIANTS}: write NAME: {{parameter: value}}, got {variants!r}")
    for name, changes in variants.items():
        if not _NAME.fullmatch(str(name)):
            raise _error(f"{_VARIANTS}: {name!r} is no name: choose letters, digits, '_', '-', '+' and '.'")
        if not isinstance(changes, Mapping):
            raise _error(f"{_VARIANTS}.{name}: write parameter: value, got {changes!r}")
    older = [changes[_STORED_AS] for changes in variants.values() if _STORED_AS in changes]
    for name in older:
        if older.count(name) > 1:
            raise _error(f"{_VARIANTS}: two have {_STORED_AS}: {name}")
    return {str(name): changes for name, changes in variants.items()}


def _error(text: str) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(None, None, text, None)


def _drop_keys(mapping: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: value for key, value in mapping.items() if key not in keys}
