"""What Hydra composes from the words of a command line, and what it refuses, in our words."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import util
from pathlib import Path
from typing import NamedTuple, cast

import hydra
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from algorithms.installation import PROGRAM
from documents import search_path
from experiments.errors import BadInput, suggest_name

DESCRIBED = ("paper", "dataset", "algorithm")
"""Config groups whose files describe what is run; a command takes them as they are, unless it says otherwise."""

_VERSION = "1.3"  # of Hydra's behaviour
_FEW = 20  #: names that an error message may have
_LISTED = ("algorithms", "datasets", "papers")

# Hydra lets nobody set what no file lists, unless a node says otherwise: an algorithm has parameters that its file does
# not list, and any setting may be in a grid. Whether it can be is checked by whoever reads it.
_OPEN = DictConfig({}, flags={"struct": False})
_NODES = ConfigStore.instance()
_NODES.store("open_algorithm", DictConfig({"algorithm": _OPEN}), provider="dp-replica")
_GRID = DictConfig({"params": _OPEN, "lists": []})  # which settings may have several values, each command says
_NODES.store("grid", _GRID, group="hydra/sweeper", provider="dp-replica")


@contextmanager
def start_hydra(command: str = "") -> Iterator[None]:
    """Let Hydra compose, as long as the context lasts; BadInput for what it refuses of a command's settings then.

    Where it looks the rest looks, too: in the folders that other people's plugins add.
    """
    with _in_our_words(command), hydra.initialize_config_dir(str(search_path.BUILT_IN), version_base=_VERSION):
        places = GlobalHydra.instance().config_loader().get_search_path().get_path()
        search_path.use_folders(_find_added_folders((place.provider, place.path) for place in places))
        yield


@contextmanager
def _in_our_words(command: str) -> Iterator[None]:
    try:
        yield
    except (HydraException, OmegaConfBaseException) as error:
        raise BadInput(explain_error(error, command)) from error


class Composed(NamedTuple):
    """What Hydra makes of the settings on a command line."""

    config: DictConfig  #: of settings with one value, Hydra's own part with it
    grid: list[Override]  #: of ``hydra.sweeper.params``, where any program with Hydra has lists of values, too
    words: list[Override]  #: of the command line, which replace those


def compose_settings(words: Sequence[str], config_name: str | None = None) -> Composed:
    """Return what Hydra makes of settings."""
    parser = OverridesParser.create(config_loader=GlobalHydra.instance().config_loader())
    parsed = parser.parse_overrides(list(words))
    _use_search_path(words)
    alone = [str(word.input_line) for word in parsed if not word.is_sweep_override()]
    config = hydra.compose(config_name or "config", alone, return_hydra_config=True)
    HydraConfig.instance().set_config(config)  # of which ``${hydra:...}`` speaks
    _use_sources(config)
    grid = [f"{name}={values}" for name, values in config.hydra.sweeper.params.items()]
    return Composed(config, parser.parse_overrides(grid), parsed)


def _use_search_path(words: Sequence[str]) -> None:
    """Look where ``hydra.searchpath`` says, before anything is chosen: variants are in files that have other names."""
    if overrides := [word for word in words if word.lstrip("+").startswith("hydra.searchpath=")]:
        _use_sources(hydra.compose("config", overrides, return_hydra_config=True))


def _use_sources(config: DictConfig) -> None:
    sources = config.hydra.runtime.config_sources
    search_path.use_folders(
        _find_added_folders((place.provider, f"{place.schema}://{place.path}") for place in sources)
    )


def show_hydra(options: Sequence[str], settings: Sequence[str], command: str) -> None:
    """Let Hydra do what it can do by itself: show a configuration, tell of itself, complete a word for a shell."""

    def run_nothing(config: DictConfig) -> None:
        raise AssertionError(f"Hydra ran a task: {options}")

    with start_hydra(command):
        _use_search_path(settings)
    sys.argv[1:] = [*options, *settings]
    with _in_our_words(command):
        hydra.main(version_base=_VERSION, config_path=str(search_path.BUILT_IN), config_name="config")(run_nothing)()


def _find_added_folders(places: Iterable[tuple[str, str]]) -> list[Path]:
    """Return the folders, beside ``conf/``, of a search path of Hydra, whose places have providers."""
    folders: list[Path] = []
    for provider, place in places:
        scheme, _, path = place.partition("://")
        if scheme in ("file", search_path.SCHEME):
            folders.append(Path(path))
        elif scheme == "pkg" and provider != "hydra":
            spec = util.find_spec(path)
            folders += map(Path, (spec and spec.submodule_search_locations) or ())
    return [folder for folder in folders if search_path.has_group(folder) and not folder.samefile(search_path.BUILT_IN)]


def explain_error(error: Exception, command: str = "reproduce") -> str:
    """Return what is wrong with a command line, in one line and in our words.

    Examples
    --------
    >>> explain_error(MissingConfigException("...", "dataset/aduld", ["adult", "car"]))
    "unknown dataset 'aduld'; did you mean 'adult'?"
    """
    text = " ".join(str(error).split())
    if isinstance(error, MissingConfigException) and error.missing_cfg_file and "/" in error.missing_cfg_file:
        group, _, name = error.missing_cfg_file.rpartition("/")
        options = error.options or search_path.list_choices(search_path.BUILT_IN / group)
        return f"unknown {group} {name!r}; {_suggest_option(group, name, options)}"
    if isinstance(error, OverrideParseException):
        return f"cannot read {error.override!r}: write name=value (text with blanks or commas in quotes)"
    if refused := re.match(r"Could not override '([^']+)'", text):
        hint = suggest_name(refused[1], list_settings(command))
        return f"{search_path.name_command_word(command)} has nothing called {refused[1]!r} to set; {hint}"
    if several := re.match(r"(?:Ambiguous value for argument|Sweep parameters) '([^']+)'", text):
        return f"{several[1]}: --cfg and --info are about one setting; give one value"
    return text or " ".join(str(error.__cause__).split())


def _suggest_option(group: str, name: str, options: Sequence[str]) -> str:
    """Return the nearest option of a config group; of many that are far the command that lists them."""
    hint = suggest_name(name, options)
    is_long = len(options) > _FEW and hint.startswith("known are")
    hint = f"`{PROGRAM} list {group}s` says what there is" if is_long and f"{group}s" in _LISTED else hint
    return search_path.mention_folders(hint) if group in search_path.GROUPS else hint


@cache
def list_settings(command: str) -> list[str]:
    """Return the names of what can be set of a command.

    Examples
    --------
    >>> list_settings("verify")
    ['do', 'most_repeats', 'paper', 'repeats']
    """
    with hydra.initialize_config_dir(str(search_path.BUILT_IN), version_base=_VERSION):
        config = hydra.compose("config", overrides=[f"do={command}"], return_hydra_config=True)
    choices = cast(dict, OmegaConf.to_container(config.hydra.runtime.choices))
    names = [name for name in choices if not name.startswith("hydra/")]
    for name, value in config.items():
        if isinstance(value, DictConfig) and name not in ("hydra", *DESCRIBED):
            names += [f"{name!s}.{part!s}" for part in value]
        elif not isinstance(value, DictConfig):
            names.append(str(name))
    return sorted(set(names))
