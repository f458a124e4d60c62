"""Where the source of a module lies, if its code is hashed: this project's, and what a user has written.

Code of a user is a module in a folder of the catalogue, in the current directory, or in a package that was installed
from a folder, whose version says little. Of any other package the version stands for the code.
"""

from __future__ import annotations

import json
import sys
import sysconfig
from functools import cache
from importlib import import_module, util
from importlib.metadata import PathDistribution, packages_distributions, version
from pathlib import Path

from algorithms.installation import ROOT
from algorithms.source_walk import find_file

# Not `datasets`: whatever its code does, the fingerprint of the table and the public domain stand for it.
PACKAGES = ("algorithms", "experiments")
_NO_LIBRARIES = ("datasets", "documents", "dp_replica", "hydra_plugins", "plots")


def is_of_project(module: str) -> bool:
    """Return whether a module is one of this project whose code is hashed.

    Examples
    --------
    >>> is_of_project("algorithms.mechanisms"), is_of_project("sklearn.tree")
    (True, False)
    """
    return module.partition(".")[0] in PACKAGES


@cache
def find_source(module: str) -> Path | None:
    """Return the file of a module whose code is hashed; None of a library.

    Examples
    --------
    >>> find_source("experiments.errors").name, find_source("sklearn.tree"), find_source("math")
    ('errors.py', None, None)
    """
    place = find_place(module.partition(".")[0])
    return place and find_file(place, module)


@cache
def find_place(package: str) -> Path | None:
    """Return the folder that a package or a module of the top level lies in, if its code is hashed."""
    if package in PACKAGES:
        return ROOT
    if package in sys.stdlib_module_names or package in _NO_LIBRARIES:
        return None
    try:
        spec = util.find_spec(package)
    except (ImportError, ValueError):  # it cannot be found, or is no module
        return None
    if spec and spec.submodule_search_locations:
        place = Path(next(iter(spec.submodule_search_locations))).parent
    elif spec and spec.has_location and spec.origin:
        place = Path(spec.origin).parent
    else:
        return None
    return None if _is_for_libraries(place) and package not in _list_installed_from_folders(place) else place


def describe_package(package: str) -> str:
    """Return a package with its version.

    Examples
    --------
    >>> describe_package("email")
    'email unknown'
    """
    found = getattr(import_module(package), "__version__", None)
    return f"{package} {found or ' '.join(list_versions(package).values()) or 'unknown'}"


def list_versions(package: str) -> dict[str, str]:
    """Return the version of each distribution that a package comes with.

    Examples
    --------
    >>> list(list_versions("sklearn")), list_versions("math")
    (['scikit-learn'], {})
    """
    return {name: version(name) for name in sorted(set(_list_distributions().get(package, [])))}


@cache
def _list_distributions() -> dict[str, list[str]]:
    return dict(packages_distributions())  # a quarter of a second: only asked for code of a user


def _is_for_libraries(place: Path) -> bool:
    """Return whether a folder is one that packages are installed into, or Python's own."""
    own = {sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib", "platstdlib")}
    return str(place) in own or place.name in ("site-packages", "dist-packages")


@cache
def _list_installed_from_folders(place: Path) -> frozenset[str]:
    packages = set()
    for path in place.glob("*.dist-info/direct_url.json"):
        if "dir_info" in json.loads(path.read_text(encoding="utf-8")):
            files = PathDistribution(path.parent).files or []
            packages |= {file.parts[0].removesuffix(".py") for file in files}
    return frozenset(packages)
