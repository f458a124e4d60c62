"""What the command line asks of a command: Hydra's composed configuration, and the lists of values of a grid."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, cast

from hydra.core.override_parser.types import Override, QuotedString
from omegaconf import OmegaConf

from algorithms.installation import resolve_path
from documents import search_path
from documents.large_numbers import TOO_LARGE, find_too_large
from experiments.composition import DESCRIBED, compose_settings
from experiments.config.paths import list_own_papers, list_papers
from experiments.errors import BadInput


@dataclass(frozen=True)
class SweepRequest:
    """What the command line asks for."""

    #: The file in ``conf/do`` and the module in ``experiments/commands``.
    command: str
    #: The composed configuration, without Hydra's own.
    config: Mapping
    #: The option chosen in each config group, or None.
    choices: Mapping[str, str | None]
    #: Values given on the command line for settings that may have several, by the name as it is typed.
    values: Mapping[str, list]
    #: The words of the command line.
    arguments: Sequence[str] = ()

    @property
    def results_folder(self) -> Path:
        """The folder of everything that a command reads and writes; BadInput if there is none."""
        if self.config["results"] is None:
            raise BadInput("results=null names no folder: write results=FOLDER, or leave it out")
        return resolve_path(str(self.config["results"]))

    def read_flag(self, name: str) -> bool:
        """Return a setting that is true or false; BadInput if it is neither.

        Examples
        --------
        >>> SweepRequest("check", {"anew": True}, {}, {}).read_flag("anew")
        True
        """
        if not isinstance(self.config[name], bool):
            raise BadInput(f"{name} must be true or false, got {self.config[name]!r}")
        return self.config[name]

    def list_papers(self) -> list[str]:
        """Return the papers that were chosen, or all of ours that have a number, and the user's own."""
        return self.list_choices("paper") or [*list_papers(), *list_own_papers()]

    def check_papers(self) -> None:
        """Raise BadInput if a paper that was chosen cannot be read, or not be run with the repeats that are asked for.

        It is for before a command's module is imported, as what runs and judges papers takes a second to import.
        """
        names = self.list_choices("paper") if "repeats" in self.config else []
        if names:
            from experiments.config.papers import load_paper  # most commands are of no paper

            for name in names:
                load_paper(name, self.config["repeats"], self.config.get("most_repeats"))

    def list_choices(self, group: str) -> list[str]:
        """Return which options of a config group were chosen: several, one or none.

        Examples
        --------
        >>> request = SweepRequest("check", {}, {"paper": None, "executor": "local"}, {"paper": [1, 2]})
        >>> request.list_choices("paper"), request.list_choices("executor")
        (['1', '2'], ['local'])
        """
        if group in self.values:
            return list(map(str, self.values[group]))
        choice = self.choices.get(group)
        return [] if choice is None else [choice]


def read_request(words: Sequence[str], arguments: Sequence[str], config_name: str | None = None) -> SweepRequest:
    """Return what is asked for, from the settings among the words of a command line, and from all of them as typed.

    BadInput if a setting has several values that may have one, is deleted or added, or changes what a file describes.
    """
    composed = compose_settings(words, config_name)
    names = [str(name) for name in composed.config if name != "hydra"]
    settings = cast(dict, OmegaConf.to_container(OmegaConf.masked_copy(composed.config, names), resolve=True))
    choices = cast(dict, OmegaConf.to_container(composed.config.hydra.runtime.choices))
    command, lists, values = choices["do"], composed.config.hydra.sweeper.lists, {}
    for override in composed.grid:
        _check_listed(override, lists)
    overrides = [override for override in composed.words if not override.key_or_group.startswith("hydra.")]
    for override in overrides:
        _check_override(override, lists, command)
    for override in (*composed.grid, *overrides):
        if is_listed(override.key_or_group, lists):
            values[override.key_or_group] = _read_values(override)
    if "algorithm" in values:
        values["algorithm"] = list(map(_read_algorithm, values["algorithm"]))
    if choices.get("algorithm"):
        choices["algorithm"] = _read_algorithm(choices["algorithm"])
    return SweepRequest(command, settings, choices, values, arguments)


def _read_algorithm(name: Any) -> str:
    """Return what cells and results have for the name of an algorithm.

    Examples
    --------
    >>> _read_algorithm("edprf:sound")
    'edprf_sound'
    >>> _read_algorithm("edprf:sond")
    Traceback (most recent call last):
    experiments.errors.BadInput: unknown algorithm 'edprf:sond'; there are edprf, edprf:sound
    """
    known = search_path.list_choices(search_path.ALGORITHMS)
    near = [other for other in known if other.partition(":")[0] == str(name).partition(":")[0]]
    if name not in known and near:
        raise BadInput(f"unknown algorithm {name!r}; there are {', '.join(near)}")
    return search_path.name_stored(str(name))


def make_folder(folder: Path) -> None:
    """Make the folder of results, before hours are spent on what could not be written then, or raise BadInput."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = error.strerror or error
        raise BadInput(f"{folder} cannot be written to ({reason}); choose another with results=FOLDER") from error


def is_listed(name: str, patterns: Sequence[str]) -> bool:
    """Return whether a name is one of some patterns.

    Examples
    --------
    >>> is_listed("algorithm.max_depth", ["paper", "algorithm.*"]), is_listed("repeats", ["paper", "algorithm.*"])
    (True, False)
    """
    return any(map(partial(fnmatchcase, name), patterns))


def _check_listed(override: Override, lists: Sequence[str]) -> None:
    _check_size(override)
    if not is_listed(name := override.key_or_group, lists):
        raise BadInput(f"hydra.sweeper.params: {name} cannot have several values; only these can: {', '.join(lists)}")


def _check_override(override: Override, lists: Sequence[str], command: str) -> None:
    _check_size(override)
    name, line = override.key_or_group, override.input_line
    if override.is_delete():
        raise BadInput(f"{line}: nothing can be deleted; give the value that you want")
    if is_listed(name, lists):
        return
    word = search_path.name_command_word(command)
    if override.is_sweep_override():
        raise BadInput(f"{name} cannot have several values; in {word} only these can: {', '.join(lists) or 'none'}")
    group, dot, _ = name.partition(".")
    if dot and group in DESCRIBED:
        raise BadInput(f"{name} cannot be changed: {word} takes what the file of the {group} says")
    if override.is_add() or override.is_force_add():
        raise BadInput(f"{line}: no setting can be added to {word}; write {name}=... to change one")


def _check_size(override: Override) -> None:
    if word := find_too_large((override.input_line or "").partition("=")[2]):
        raise BadInput(f"{override.key_or_group}: {TOO_LARGE.format(word)}")


def _read_values(override: Override) -> list:
    if not override.is_sweep_override():
        return [override.value()]
    if not override.is_discrete_sweep():
        raise BadInput(f"{override.input_line}: an interval is not a list of values; use a,b,c or range()")
    return list(map(_plain_value, override.sweep_iterator()))


def _plain_value(value: Any) -> Any:
    if isinstance(value, QuotedString):
        return value.text
    if isinstance(value, list):
        return list(map(_plain_value, value))
    if isinstance(value, dict):
        return {name: _plain_value(item) for name, item in value.items()}
    return value
