"""The algorithms by name: files ``algorithm/*.yaml`` of the catalogue, each an import path, parameters and variants.

A variant has the name ``FILE:VARIANT``, and the one that results have, if that is older: `documents.variants`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from documents import search_path
from documents.composed_yaml import UNREADABLE, read_as_composed
from documents.variants import name_place
from documents.yaml_files import shorten_path
from experiments.config.paths import CONF
from experiments.config.setting import drop_entries, keep_entries
from experiments.edge import keep_prints_apart
from experiments.errors import BadInput, one_line, suggest_name

FOLDER = CONF / "algorithm"

NOTES = ("_kind_", "_whose_")
"""Keys of an algorithm's file that are for its readers; `experiments.catalogue` shows them."""

#: Not to be set as parameters: the harness has decided on them, for every estimator that has them.
GIVEN = {
    "epsilon": "use epsilon=...",
    "domain": "it belongs to the data set",
    "random_state": "the seed comes from the cell",
    "noise": "experiments can be repeated, OpenDP's noise cannot; for a release, give noise='opendp' to the estimator",
}


def list_algorithms() -> list[str]:
    """Return the names of all algorithms and their variants, as results have them."""
    return list(search_path.list_files(FOLDER))


def find_target(name: str) -> str:
    """Return the import path of an algorithm's class.

    Examples
    --------
    >>> find_target("majority")
    'sklearn.dummy.DummyClassifier'
    """
    return _read_entry(name)["_target_"]


def read_notes(name: str) -> dict[str, Any]:
    """Return what the algorithm's file says to its readers: those of `NOTES` that it has.

    Examples
    --------
    >>> read_notes("majority")
    {'_kind_': 'baseline', '_whose_': 'scikit-learn'}
    """
    entry = _read_entry(name)
    return keep_entries(entry, filter(entry.__contains__, NOTES))


def find_read(name: str) -> str:
    """Return the algorithm that one is a reading of, as its file says; one that is none, or is not known, is its own.

    Examples
    --------
    >>> find_read("fm_raw_target"), find_read("diffpets:below_root"), find_read("fm_ball")
    ('fm', 'diffpets', 'fm_ball')
    """
    place = search_path.find_file(FOLDER, name)
    if place is None or read_notes(name).get("_kind_") != "reading":
        return name
    return search_path.name_stored(name_place(place).partition(":")[0])


def merge_parameters(name: str, *overrides: Mapping) -> dict:
    """Return the parameters of an algorithm: those of its file, replaced by others where given.

    An ``epsilon`` in the file is none of them: it is what the algorithm is run with, whatever ε it stands under.
    BadInput suggests the nearest where there is no such algorithm or parameter.

    Examples
    --------
    >>> merge_parameters("majority", {"strategy": "prior"})
    {'strategy': 'prior'}
    """
    written = drop_entries(_read_entry(name), ("_target_", "epsilon", *NOTES))
    params = dict(written)
    for given in overrides:
        params |= given
    accepted = list_parameters(find_target(name))
    for parameter in params:
        if parameter in GIVEN:
            raise BadInput(f"algorithm {name!r}: {parameter} cannot be set as a parameter: {GIVEN[parameter]}")
        if parameter not in accepted:
            hint = suggest_name(parameter, accepted - set(GIVEN))
            where = f"{name_file(name)}: " if parameter in written else ""
            raise BadInput(f"{where}algorithm {name!r} has no parameter {parameter!r}; {hint}")
    return params


def make_estimator(name: str, params: Mapping[str, Any], **given: Any) -> Any:
    """Return an estimator, with those of ``epsilon``, ``domain`` and ``random_state`` that it has.

    An ``epsilon`` in the algorithm's file comes first: ``.inf`` there makes it the algorithm without noise.

    Examples
    --------
    >>> make_estimator("majority", {}, epsilon=1.0, random_state=3)
    DummyClassifier(random_state=3)
    """
    target = find_target(name)
    if not takes_budget(import_class(target)):
        given.pop("epsilon", None)
    given |= own_epsilon(name)
    taken = {key: value for key, value in given.items() if key in list_parameters(target)}
    return import_class(target)(**params, **taken)


@cache
def takes_budget(estimator: type) -> bool:
    """Return whether a class has a parameter ``epsilon`` that is a privacy budget.

    Examples
    --------
    >>> takes_budget(import_class("sklearn.svm.SVR"))  # there it is the width of a tube
    False
    """
    is_of_scikit_learn = estimator.__module__.startswith("sklearn.")
    return "epsilon" in inspect.signature(estimator).parameters and not is_of_scikit_learn


def own_epsilon(name: str) -> dict[str, float]:
    """Return the ``epsilon`` that the algorithm's file fixes, if it does.

    Examples
    --------
    >>> own_epsilon("polynomial_regression"), own_epsilon("fm")
    ({'epsilon': inf}, {})
    """
    entry = _read_entry(name)
    return {"epsilon": entry["epsilon"]} if "epsilon" in entry else {}


@cache
def takes_epsilon(name: str) -> bool:
    """Return whether what an algorithm does depends on the ε that it is run with.

    Examples
    --------
    >>> takes_epsilon("majority"), takes_epsilon("polynomial_regression"), takes_epsilon("fm")
    (False, False, True)
    """
    return takes_budget(import_class(find_target(name))) and not own_epsilon(name)


def list_packages(name: str) -> dict[str, str]:
    """Return the versions of the packages that run an algorithm in an environment of its own; none of most.

    Examples
    --------
    >>> list_packages("majority"), list_packages("dp_ebm")["interpret-core"]
    ({}, '0.7.8')
    """
    return getattr(import_class(find_target(name)), "packages", dict)()


def explain_obstacle(name: str) -> str | None:
    """Return why an algorithm cannot be run on this machine, in one line; None if it can."""
    return getattr(import_class(find_target(name)), "lacks", lambda: None)()


@cache
def list_parameters(path: str) -> frozenset[str]:
    """Return the names of the constructor parameters of the class at an import path."""
    return frozenset(read_signature(path).parameters)


@cache
def read_signature(path: str) -> inspect.Signature:
    """Return what the constructor of the class at an import path takes, with the defaults."""
    return inspect.signature(import_class(path))


@cache
def import_class(path: str) -> type:
    """Import a class by its path; BadInput if there is none, or it is no estimator."""
    found = import_target(path)
    if not inspect.isclass(found) or not all(hasattr(found, name) for name in ("fit", "predict", "get_params")):
        raise BadInput(
            f"_target_: {path} is no estimator: write a class with fit and predict, derived from a mixin and the "
            "BaseEstimator of sklearn.base"
        )
    return found


def name_file(name: str) -> str:
    """Return the file of an algorithm, as an error names it."""
    path = search_path.find_file(FOLDER, name)
    return shorten_path(path) if path else f"algorithm {name}"


def read_target_file(path: Path, of_what: str) -> dict[str, Any]:
    """Return what a file says, ``_target_`` among it, which errors call the import path of ``of_what``.

    BadInput if the file cannot be read, or has no such path.
    """
    place = shorten_path(path)
    try:
        entry = read_as_composed(path)
    except UNREADABLE as error:
        raise BadInput(f"{place} cannot be read: {' '.join(str(error).split())}") from error
    if not isinstance(entry, dict) or not isinstance(entry.get("_target_"), str):
        raise BadInput(f"{place}: _target_, the import path of {of_what}, is missing")
    return entry


def import_target(path: str) -> Any:
    """Import what has an import path; BadInput if there is nothing, or its module raises.

    Examples
    --------
    >>> import_target("math.sqrt")(4.0)
    2.0
    """
    search_path.make_importable()
    module, _, name = path.rpartition(".")
    try:
        if module not in sys.modules:  # it may print
            with keep_prints_apart():
                import_module(module)
        return getattr(sys.modules[module], name)
    except Exception as error:  # whatever the module of a user raises
        raise BadInput(f"_target_: {path} cannot be imported ({one_line(error)})") from error


def is_built_in(name: str) -> bool:
    """Return whether a file of an algorithm is one of ours, and not one of a folder that a user adds."""
    return (FOLDER / f"{name}.yaml").is_file()


def _read_entry(name: str) -> dict:
    return _find_entry(name, FOLDER, search_path.list_added())


@cache
def _find_entry(name: str, built_in: Path, added: tuple[Path, ...]) -> dict:
    """Return what the file of an algorithm says; the folders are those that are looked into."""
    path = search_path.find_file(built_in, name)
    if path is None:
        raise BadInput(f"unknown algorithm {name!r}; {suggest_name(name, list_algorithms())}")
    entry = read_target_file(path, "the estimator's class")
    try:
        list_parameters(entry["_target_"])
    except ValueError as error:  # here, where the file is known that names the class
        raise BadInput(f"{shorten_path(path)}: {one_line(error)}") from error
    return entry
