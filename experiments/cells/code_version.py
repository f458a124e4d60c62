"""The code and data behind a cell, as hashes that nobody has to remember to change.

The version of an algorithm is a hash over the syntax trees of the module that defines it, of the protocol, and of every
module of this project that these import, directly or not. Comments, layout and docstrings do not count.
"""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from importlib import import_module
from importlib.metadata import version

from algorithms.source_walk import collect_imports, read_code
from datasets import catalogue
from experiments.config import estimators

# Not `datasets`: whatever its code does, the fingerprint of the table and the public domain stand for it.
_PACKAGES = ("algorithms", "experiments")

LIBRARIES = ("numpy", "pandas", "scipy", "scikit-learn", "numba")


@cache
def describe_version(dataset: str, algorithm: str) -> str:
    """Return all that determines a cell's value and is not said in its identity, as text to be hashed."""
    code = code_version(estimators.find_target(algorithm))
    lines = [data_version(dataset), code]
    lines += map("epsilon {}".format, estimators.own_epsilon(algorithm).values())
    lines += list_libraries().values()
    lines += map("{0[0]}=={0[1]}".format, estimators.list_packages(algorithm).items())
    return "\n".join(lines)


@cache
def data_version(dataset: str) -> str:
    """Return the fingerprint of a data set's rows, its split and its public domain, without reading a row."""
    entry = catalogue.read_entry(dataset)
    return f"{entry.fingerprint} {entry.n_train} {hashlib.sha256(repr(entry.domain).encode()).hexdigest()}"


@cache
def code_version(target: str) -> str:
    """Return the version of the code behind an estimator.

    Parameters
    ----------
    target : str
        Import path of its class.

    Returns
    -------
    str
        A hash; for an estimator from elsewhere also the version of its package.
    """
    module = estimators.import_class(target).__module__
    package = module.partition(".")[0]
    roots, elsewhere = ["experiments.run.evaluate", module], ""
    if package not in _PACKAGES:
        roots, elsewhere = roots[:1], f" {package} {getattr(import_module(package), '__version__', 'unknown')}"
    digest = hashlib.sha256()
    for name in sorted(collect_imports(roots, _PACKAGES)):
        digest.update(f"{name}\0{read_code(name)}\0".encode())
    return digest.hexdigest() + elsewhere


@cache
def list_libraries() -> dict[str, str]:
    """Return the versions of Python (minor) and of the libraries that compute, by name."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    versions = {"python": f"python {python}"}
    for name in LIBRARIES:
        versions[name] = f"{name} {version(name)}"
    return versions
