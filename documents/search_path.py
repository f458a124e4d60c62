"""Where algorithms, data sets, metrics, papers and executors are looked for: ``conf/``, then added folders.

``--config-dir`` adds a folder, so does the search path of an installed package (a plugin of Hydra), and so does the
variable ``DPREPLICA_CATALOGUE`` of the environment, through which every process that a command starts knows them all.
A folder has the sub-folders that ``conf/`` has: ``algorithm/mine.yaml`` is the algorithm ``mine``. A file of an
algorithm may have variants, which are found like files: `documents.variants` says how. An added folder may also have
modules ``claims/NAME.py``, ``tables/NAME.py`` and ``figures/NAME.py``: kinds of these.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from algorithms.installation import PROGRAM, ROOT
from documents.composed_yaml import list_places
from documents.file_state import State, find_state
from documents.variants import name_place, split_place
from documents.yaml_files import DocumentError, shorten_path

BUILT_IN = ROOT / "conf"
ALGORITHMS = BUILT_IN / "algorithm"
GROUPS = ("algorithm", "dataset", "executor", "metric", "paper")
"""The sub-folders that are looked into."""
KINDS = ("claims", "tables", "figures")
"""Further ones of an added folder, which have the kinds of these as modules."""
COMMAND_WORDS = {"reproduce": "run"}
"""The word that a user types for a command whose file in ``conf/do`` has another name."""
SCHEME = "dp-replica-folder"
"""What Hydra has before an added folder, which our plugin then reads for it."""
VARIABLE = "DPREPLICA_CATALOGUE"
"""Names the added folders, separated like those of PATH."""
_MODULES = "DPREPLICA_MODULES"
"""Names the folder from which the command was started: modules there can be named by YAML files."""


def list_added() -> tuple[Path, ...]:
    """Return the folders that were added to ``conf/``, in the order in which they are looked into.

    Examples
    --------
    >>> before = os.environ.pop(VARIABLE, "")
    >>> list_added()
    ()
    >>> os.environ[VARIABLE] = before
    """
    named = os.environ.get(VARIABLE)  # mostly none are, and every look at an algorithm asks
    return tuple(map(Path, map(os.path.abspath, filter(None, named.split(os.pathsep))))) if named else ()


def use_folders(folders: Iterable[Path]) -> None:
    """Add folders to the catalogue, for this process and all that it starts; their modules can be imported.

    Parameters
    ----------
    folders : iterable of Path
        They take the place of those that were added before.

    Raises
    ------
    DocumentError
        If one is no folder, or a name stands in two of them.
    """
    added = tuple(dict.fromkeys(map(os.path.abspath, folders)))
    for folder in added:
        if not os.path.isdir(folder):
            raise DocumentError(f"{VARIABLE}: {folder} is no folder; leave it out, or make it")
    os.environ[VARIABLE] = os.pathsep.join(added)
    os.environ[_MODULES] = os.pathsep.join(dict.fromkeys([*_list_module_folders(), os.getcwd()]))
    for group in GROUPS:
        list_files(BUILT_IN / group)
    make_importable()


def has_group(folder: Path) -> bool:
    """Return whether a folder has any of the sub-folders that are looked into."""
    return any((folder / group).is_dir() for group in (*GROUPS, *KINDS))


def describe_environment() -> dict[str, str]:
    """Return the variables by which another process looks into the same folders."""
    return {name: os.environ.get(name, "") for name in (VARIABLE, _MODULES)}


def make_importable() -> None:
    """Let modules be imported from the added folders, and from the folder in which the command was started."""
    for folder in (*map(str, list_added()), *_list_module_folders()):
        if folder not in sys.path:
            sys.path.append(folder)  # at the end: nothing that is installed gives way to a file of the same name


def list_files(built_in: Path) -> dict[str, Path]:
    """Return the files of a group by name, sorted; of algorithms all variants, by the names that results have.

    Parameters
    ----------
    built_in : Path
        Our own folder of the group, whose name is that of the group.

    Raises
    ------
    DocumentError
        If a name stands in two folders.

    Examples
    --------
    >>> list_files(BUILT_IN / "executor")["dask"].name
    'dask.yaml'
    """
    return dict(_name_files(built_in, tuple(map(_look_into, _list_folders(built_in)))))


@lru_cache(maxsize=32)
def _name_files(built_in: Path, folders: tuple[tuple[_Found, ...], ...]) -> dict[str, Path]:
    """Return files by name as `list_files` does, of folders as they were found: mostly nothing has changed in them."""
    files: dict[str, Path] = {}
    for path in (Path(found.path) for folder in folders for found in folder):
        for name, place in (list_places(path) if built_in == ALGORITHMS else {path.stem: path}).items():
            if (first := files.setdefault(name, place)) is not place:
                _check_same(first, place, name)
    return dict(sorted(files.items()))


class _Found(NamedTuple):
    """A file, with what changes when somebody writes to it."""

    path: str
    state: State | None


def _look_into(folder: Path) -> tuple[_Found, ...]:
    """Return the YAML files of a folder, sorted; none of a folder that is not there."""
    try:
        with os.scandir(folder) as entries:
            found = [_Found(entry.path, find_state(entry)) for entry in entries if entry.name.endswith(".yaml")]
    except OSError:
        return ()
    return tuple(sorted(found))


def find_file(built_in: Path, name: str) -> Path | None:
    """Return the file of one name in a group, of an algorithm by either name; None if there is none.

    Raises
    ------
    DocumentError
        If it stands in two folders.

    Examples
    --------
    >>> find_file(BUILT_IN / "executor", "dusk")
    >>> find_file(ALGORITHMS, "edprf_sound") == find_file(ALGORITHMS, "edprf:sound") == ALGORITHMS / "edprf.yaml:sound"
    True
    """
    if built_in == ALGORITHMS:
        return list_files(ALGORITHMS).get(name_stored(name))
    found = None
    for folder in _list_folders(built_in):
        path = folder / f"{name}.yaml"
        if path.parent == folder and path.is_file():
            found = found or path
            _check_same(found, path, name)
    return found


def name_stored(name: Any) -> Any:
    """Return what cells and results have for the name of an algorithm's variant; all else as it is.

    Examples
    --------
    >>> [name_stored(name) for name in ("edprf:sound", "edprf_sound", "note: all", 1.0)]
    ['edprf_sound', 'edprf_sound', 'note: all', 1.0]
    """
    if not isinstance(name, str) or not re.fullmatch(r"[\w.+-]+:[\w.+-]+", name):
        return name
    return _list_stored_names().get(name, name)


def _list_stored_names() -> dict[str, str]:
    """Return the names that cells and results have, by those by which algorithms are chosen."""
    return {name_place(place): stored for stored, place in list_files(ALGORITHMS).items()}


def name_stored_in(contents: Any) -> Any:
    """Return what a document says with `name_stored` for every name in it, wherever it stands.

    Examples
    --------
    >>> name_stored_in({"labels": {"edprf:sound": "sound"}, "own": ["edprf", "edprf:sound"]})
    {'labels': {'edprf_sound': 'sound'}, 'own': ['edprf', 'edprf_sound']}
    """
    return _replace_names(contents, _list_stored_names())


def _replace_names(contents: Any, names: Mapping[str, str]) -> Any:
    if isinstance(contents, Mapping):
        return {_replace_names(key, names): _replace_names(value, names) for key, value in contents.items()}
    if isinstance(contents, list):
        return [_replace_names(value, names) for value in contents]
    return names.get(contents, contents) if isinstance(contents, str) else contents


def name_chosen(name: str) -> str:
    """Return the name by which an algorithm is best chosen, if there is one: that of a variant with its file.

    Examples
    --------
    >>> name_chosen("edprf_sound"), name_chosen("edprf"), name_chosen("mine")
    ('edprf:sound', 'edprf', 'mine')
    """
    place = find_file(ALGORITHMS, name)
    return name_place(place) if place else name


def name_family(algorithm: str) -> str:
    """Return the name of the file that an algorithm stands in: a variant in that of another.

    Examples
    --------
    >>> name_family("edprf_sound"), name_family("edprf:sound"), name_family("mine")
    ('edprf', 'edprf', 'mine')
    """
    place = find_file(ALGORITHMS, algorithm)
    return split_place(place)[0].stem if place else algorithm


def list_choices(built_in: Path) -> list[str]:
    """Return all names by which something of a group can be chosen, the older ones of variants among them.

    Examples
    --------
    >>> [name for name in list_choices(ALGORITHMS) if name.startswith("bdpt")]
    ['bdpt', 'bdpt:sound', 'bdpt:zero', 'bdpt_sound', 'bdpt_zero']
    """
    files = list_files(built_in)
    return sorted({*files, *map(name_place, files.values())})


def name_command_word(command: str) -> str:
    """Return the word that a user types for a command.

    Examples
    --------
    >>> name_command_word("reproduce"), name_command_word("check")
    ('run', 'check')
    """
    return COMMAND_WORDS.get(command, command)


@cache
def list_settings() -> frozenset[str]:
    """Return the names of what can be set of any command: no folder that is added makes one of these a group.

    Examples
    --------
    >>> sorted({"results", "repeats", "claims", "dataset"} & list_settings())
    ['claims', 'repeats', 'results']
    """
    texts = [path.read_text(encoding="utf-8") for path in (BUILT_IN / "do").glob("*.yaml")]
    return frozenset(re.findall(r"^(\w+):", "\n".join(texts), flags=re.MULTILINE)) - {"defaults", "hydra"}


def name_program() -> str:
    """Return the beginning of a command line that looks into the same folders.

    Examples
    --------
    >>> before = os.environ.pop(VARIABLE, "")
    >>> name_program()
    'dp-replica'
    >>> os.environ[VARIABLE] = before
    """
    here, added = Path.cwd(), list_added()
    if len(added) > 1:
        return f"{VARIABLE}={shlex.quote(os.pathsep.join(map(str, added)))} {PROGRAM}"
    shown = [str(folder.relative_to(here) if folder.is_relative_to(here) else folder) for folder in added]
    return " ".join([PROGRAM, *(f"--config-dir {shlex.quote(folder)}" for folder in shown)])


def mention_folders(hint: str) -> str:
    """Return a hint on a name that is unknown and near to none, with the way to those of a user, if none is taken yet.

    Examples
    --------
    >>> before = os.environ.pop(VARIABLE, "")
    >>> mention_folders("known are car, nursery"), mention_folders("did you mean 'car'?")
    ('known are car, nursery; --config-dir FOLDER adds your own', "did you mean 'car'?")
    >>> os.environ[VARIABLE] = before
    """
    return hint if hint.startswith("did you mean") or list_added() else f"{hint}; --config-dir FOLDER adds your own"


def _list_folders(built_in: Path) -> list[Path]:
    return [built_in, *(folder / built_in.name for folder in list_added())]


def _list_module_folders() -> list[str]:
    return list(filter(None, os.environ.get(_MODULES, "").split(os.pathsep)))


def _check_same(first: Path, second: Path, name: str) -> None:
    (file, variant), (other, other_variant) = split_place(first), split_place(second)
    if first != second and not (variant == other_variant and file.samefile(other)):
        what = f"{second.parent.name} {name!r}"
        raise DocumentError(f"{what} stands in {shorten_path(first)} and in {shorten_path(second)}; rename yours")
