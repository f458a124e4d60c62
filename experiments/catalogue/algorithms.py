"""``describe algorithm=NAME``: what an algorithm is, on one screen; ours, a peer, or somebody's own."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml
from sklearn.base import ClassifierMixin, RegressorMixin

from algorithms.installation import name_in_checkout
from documents import search_path
from documents.composed_yaml import read_heading
from documents.variants import name_place
from documents.yaml_files import parse_yaml
from experiments.catalogue.account import ClassText, ParameterText, describe_privacy, read_class_text
from experiments.catalogue.kinds import KINDS, check_kind
from experiments.catalogue.screen import (
    HEIGHT,
    format_command,
    format_field,
    hang_text,
    shorten_text,
    split_sentences,
)
from experiments.catalogue.uses import name_example
from experiments.config import estimators
from experiments.config.paths import PAPERS
from experiments.errors import BadInput

_MOST_VARIANTS = 6
_MOST_LINES = 4  #: of the text of a parameter
_WIDEST_VALUE = 32


@dataclass(frozen=True)
class AlgorithmEntry:
    """What the catalogue knows of an algorithm before anything is fitted."""

    name: str  #: by which it is chosen
    stored_as: str  #: as results know it: the older name of some variants
    target: str  #: the import path of its class
    kind: str
    whose: str
    task: str  #: may be ``unknown``
    what: str  #: said by its file, or by its class


def read_algorithm(name: str) -> AlgorithmEntry:
    """Return what the catalogue knows of an algorithm; BadInput if there is none, or it cannot be read.

    Examples
    --------
    >>> entry = read_algorithm("edprf_sound")
    >>> entry.name, entry.kind, entry.whose, entry.task, entry.what
    ('edprf:sound', 'sound', 'paper 4', 'classification', 'eDPRF with every fault repaired.')
    """
    target, notes = estimators.find_target(name), estimators.read_notes(name)
    place = cast(Path, search_path.find_file(estimators.FOLDER, name))
    kind = check_kind(str(notes.get("_kind_", "own")), f"{estimators.name_file(name)}: _kind_")
    estimator = estimators.import_class(target)
    what = read_heading(place) or _say_variant(name_place(place)) or read_class_text(estimator).summary
    return AlgorithmEntry(
        name=name_place(place),
        stored_as=search_path.name_stored(name_place(place)),
        target=target,
        kind=kind,
        whose=str(notes.get("_whose_", f"yours: {estimators.name_file(name)}")),
        task=_find_task(estimator),
        what=what or f"{estimator.__name__}, which has no docstring",
    )


def _say_variant(name: str) -> str:
    """Return what a variant sets of the algorithm of its file, where nothing says more of it."""
    family, colon, _ = name.partition(":")
    is_variant = colon and search_path.find_file(estimators.FOLDER, family)
    return f"{family} with {_format_differences(family, name)}" if is_variant else ""


def describe_algorithm(name: str) -> str:
    """Return what an algorithm is, as text of at most 80 columns and about 40 lines; errors as of `read_algorithm`."""
    entry = read_algorithm(name)
    estimator = estimators.import_class(entry.target)
    text = read_class_text(estimator)
    summary = split_sentences(text.summary)[0] if text.summary else "it has no docstring"
    head = hang_text("", f"{entry.name}: {entry.what}")
    head += [
        *format_field("Class", f"{estimator.__name__}: {summary}", 2),
        *format_field("Whose", _name_papers(entry.whose)),
        *format_field("Kind", f"{entry.kind}: {KINDS[entry.kind]}"),
        *format_field("Task", entry.task),
        *_format_old_name(entry),
        *format_field("Privacy", describe_privacy(name, entry.task), 3),
        *_format_obstacle(name),
        *_format_variants(entry),
    ]
    tail = [*format_command("Run", name_example(entry.name)), *_name_full_text(entry)]
    return "\n".join([*head, *_format_parameters(name, text, HEIGHT - len(head) - len(tail)), *tail])


def _find_task(estimator: type) -> str:
    if issubclass(estimator, RegressorMixin):
        return "regression"
    return "classification" if issubclass(estimator, ClassifierMixin) else "unknown"


def _name_papers(whose: str) -> str:
    """Return whose an algorithm is, with the short titles of the papers that are named.

    Examples
    --------
    >>> _name_papers("paper 4")
    'paper 4 (eDPRF)'
    """
    numbered = re.search(r"\bpapers? (\d+(?:(?:,| and) \d+)*)", whose)
    if not numbered:
        return whose
    named = re.sub(r"\d+", lambda found: f"{found[0]}{_read_short_title(found[0])}", numbered[1])
    return f"{whose[: numbered.start(1)]}{named}{whose[numbered.end(1) :]}"


@cache
def _read_short_title(number: str) -> str:
    file = search_path.find_file(PAPERS, number)
    if file is None:
        return ""
    return f" ({parse_yaml(file.read_text(encoding='utf-8'))['title'].partition(':')[0]})"


def _format_obstacle(name: str) -> list[str]:
    reason, _, command = (estimators.explain_obstacle(name) or "").partition("; run `")
    if not command:
        return format_field("Not here", reason) if reason else []
    return [*format_field("Not here", f"{reason}; this makes it:"), *format_command("", command.rstrip("`"))]


def _format_old_name(entry: AlgorithmEntry) -> list[str]:
    is_renamed = entry.stored_as != entry.name
    return format_field("Old name", f"{entry.stored_as}, which its results have") if is_renamed else []


def _format_variants(entry: AlgorithmEntry) -> list[str]:
    """Return the other variants of an algorithm, and other names of the same class, with what they set differently."""
    family, found = entry.name.partition(":")[0], search_path.list_files(estimators.FOLDER)
    stored = {name_place(place): name for name, place in found.items()}
    others = [name for name in sorted(stored) if name.partition(":")[0] == family and name != entry.name]
    others += [name for name in sorted(stored) if name.partition(":")[0] != family and _shares_class(name, entry)]
    if not others:
        return format_field("Variants", "no other name of the same class")
    lines = format_field("Variants", "and other names of the same class, with what they set differently:")
    width = max(map(len, others[:_MOST_VARIANTS]))
    for other in others[:_MOST_VARIANTS]:
        lines += hang_text(f"  {other.ljust(width)}  ", _format_differences(entry.name, other), 1)
    hidden = len(others) - _MOST_VARIANTS
    return lines + ([f"  and {hidden} more"] if hidden > 0 else [])


def _shares_class(other: str, entry: AlgorithmEntry) -> bool:
    try:
        return estimators.find_target(other) == entry.target
    except BadInput:  # somebody's own file, which whoever runs it is told of
        return False


def _format_differences(name: str, other: str) -> str:
    try:
        values, others = _read_values(name), _read_values(other)
    except BadInput as error:  # of somebody's own variant, which whoever runs it is told of
        return str(error)
    changed = [f"{key}={_format_value(value)}" for key, value in others.items() if values.get(key) != value]
    return ", ".join(changed) or "nothing"


def _read_values(name: str) -> dict[str, Any]:
    """Return the value of every parameter of an algorithm: that of its file, else the default of its class."""
    signature = estimators.read_signature(estimators.find_target(name)).parameters
    values = {key: parameter.default for key, parameter in signature.items() if key not in estimators.GIVEN}
    return values | estimators.merge_parameters(name) | estimators.own_epsilon(name)


def _format_parameters(name: str, text: ClassText, room: int) -> list[str]:
    """Return the parameters that can be set, each with as many lines as there is room for."""
    rows = list(_list_rows(name, text))
    if not rows:
        return format_field("Parameters", "none that can be set")
    width = min(max(len(value) for value, _ in rows), _WIDEST_VALUE)
    heads = [f"  {value.ljust(width)}  " for value, _ in rows]
    heights = _share_lines([len(hang_text(head, text)) for head, (_, text) in zip(heads, rows, strict=True)], room - 1)
    lines = format_field("Parameters", "algorithm.NAME=VALUE sets one; default: its class has another")
    for head, (_, meaning), height in zip(heads, rows, heights, strict=True):
        lines += hang_text(head, shorten_text(head, meaning, height), height)
    return lines


def _share_lines(wanted: list[int], room: int) -> list[int]:
    """Return how many lines each text gets: one at least, and further ones in turn while there is room.

    Examples
    --------
    >>> _share_lines([3, 1, 4], room=6)
    [3, 1, 2]
    """
    heights = [1] * len(wanted)
    for most in range(2, _MOST_LINES + 1):
        for place, n_lines in enumerate(wanted):
            if n_lines >= most and sum(heights) < room:
                heights[place] = most
    return heights


def _list_rows(name: str, text: ClassText) -> Iterator[tuple[str, str]]:
    """Yield ``parameter = value`` and what the class says of it."""
    signature = estimators.read_signature(estimators.find_target(name)).parameters
    for parameter, value in _read_values(name).items():
        if parameter in estimators.GIVEN or signature[parameter].kind is inspect.Parameter.VAR_KEYWORD:
            continue
        said = text.parameters.get(parameter, ParameterText())
        default = signature[parameter].default
        other = f"default {_format_value(default)}" if default != value else ""
        about = "; ".join(filter(None, [said.values, other]))
        meaning = said.meaning or "its class does not say what it means"
        yield f"{parameter} = {_format_value(value)}", f"{about}: {meaning}" if about else meaning


def _format_value(value: Any) -> str:
    """Return a value as it is typed on a command line.

    Examples
    --------
    >>> _format_value(None), _format_value(1e-7), _format_value(True), _format_value("sqrt"), _format_value([1, 2])
    ('null', '1e-07', 'true', 'sqrt', '[1, 2]')
    """
    if value is inspect.Parameter.empty:
        return "(to be given)"
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return repr(value)
    return yaml.safe_dump(value, default_flow_style=True, width=1000).removesuffix("\n...\n").strip()


def _name_full_text(entry: AlgorithmEntry) -> list[str]:
    """Return where all of it is said, if its class can be imported anywhere."""
    inner = name_in_checkout(entry.target)
    if inner.startswith(("algorithms.", "experiments.")):
        inner = f"dp_replica.{inner}"
    elif not inner.startswith("sklearn."):
        return []
    return format_field("In full", f"python -m pydoc {inner}")
