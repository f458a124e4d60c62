"""What is audited: every private estimator of the project, made small and given a public domain."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import get_tags

from algorithms import Continuous, Domain, Nominal
from algorithms.base import PrivateEstimator, SpendsEpsilon
from algorithms.installation import name_in_checkout
from experiments.cells import code_version
from experiments.cells.current import version_of_algorithm
from experiments.config import estimators
from experiments.config.setting import drop_entries
from experiments.errors import BadInput

EPSILON = 50.0  #: large, so that trees whose nodes stop at small noisy counts grow at all
SEED = 1  #: draws the last of 20 rows twice for both trees of a bootstrap, so that repeated rows are seen
FEATURES = (Continuous("x", 0, 8), Nominal("a", (0, 1)), Nominal("b", (0, 1, 2)))
CLASS_TARGET = Nominal("y", (0, 1, 2))
NUMBER_TARGET = Continuous("y", 0, 2)
GRID = np.array(list(itertools.product((0.5, 2.5, 4.5, 6.5, 8), (0, 1), (0, 1, 2))), dtype=np.float64)
"""Public points at which models are compared."""


@dataclass(frozen=True)
class Subject:
    """An estimator to be audited."""

    name: str  #: that of its file, or of its class and variant
    target: str  #: the import path of its class
    params: dict  #: those that differ from the defaults

    def build(self, **settings: Any) -> BaseEstimator:
        """Return the estimator without a fit, with the settings that it takes; its own parameters count for more."""
        accepted = estimators.list_parameters(self.target)
        given = {name: value for name, value in settings.items() if name in accepted}
        return estimators.import_class(self.target)(**(given | self.params))

    def make_estimator(self) -> BaseEstimator:
        """Return the estimator without a fit, small and with a public domain."""
        is_regressor = issubclass(estimators.import_class(self.target), RegressorMixin)
        domain = Domain(FEATURES, NUMBER_TARGET if is_regressor else CLASS_TARGET)
        return self.build(**read_small(self.target), epsilon=EPSILON, domain=domain, random_state=SEED)

    def reseed(self) -> Subject:
        """Return the same subject with another seed; itself if it takes none."""
        takes_seed = "random_state" in estimators.list_parameters(self.target)
        return replace(self, params=self.params | {"random_state": SEED + 1}) if takes_seed else self

    @property
    def can_be_replayed(self) -> bool:
        """Whether it draws its noise from our mechanisms, in this process: a peer draws it in another."""
        if name_in_checkout(self.target).startswith("algorithms."):
            return True
        is_peer = hasattr(estimators.import_class(self.target), "packages")
        return not is_peer and code_version.imports_module(self.target, "algorithms.mechanisms")

    @property
    def is_sound(self) -> bool:
        """Whether it is meant to keep its claim: a sound variant, or one of a class that has no variants and a claim.

        Such as have a file that sets ε to infinity are not.
        """
        cls = estimators.import_class(self.target)
        if not issubclass(cls, SpendsEpsilon) or "epsilon" in self.params:
            return False
        return self.params.get("variant") == "sound" or len(cls.list_variants()) == 1

    @property
    def is_binary(self) -> bool:
        """Whether it takes two classes and no more, as it says by scikit-learn's tag ``multi_class``."""
        tags = get_tags(self.build()).classifier_tags
        return tags is not None and not tags.multi_class

    def can_take(self, domain: Domain) -> bool:
        """Whether it takes rows of a domain: one that is binary, with a target of two classes."""
        return not (has_many_classes(domain) and self.is_binary)

    @property
    def is_claim_only(self) -> bool:
        """Whether it takes an ε, and offers nothing to be attacked or replayed."""
        cls = estimators.import_class(self.target)
        is_open = issubclass(cls, PrivateEstimator) or hasattr(cls, "released_")
        return estimators.takes_budget(cls) and not is_open and not self.can_be_replayed

    def for_release(self) -> Subject | None:
        """Return the same subject with noise for a release; None where it has it already or cannot have it."""
        has_noise = "noise" in estimators.list_parameters(self.target) and self.params.get("noise") != "opendp"
        return replace(self, params=self.params | {"noise": "opendp"}) if has_noise else None


def read_small(target: str) -> Mapping[str, Any]:
    """Return the parameters of a small model, as its class states them; those of most where it states none.

    Examples
    --------
    >>> dict(read_small("algorithms.RDTClassifier"))
    {'n_estimators': 2, 'max_depth': 2, 'max_features': 2}
    """
    return getattr(estimators.import_class(target), "small_parameters", PrivateEstimator.small_parameters)


def has_many_classes(domain: Domain) -> bool:
    """Return whether the target of a domain has more than two classes."""
    return isinstance(domain.target, Nominal) and len(domain.target.categories) > 2


def find_version(algorithm: str, params: Mapping[str, Any]) -> str:
    """Return the version of an algorithm with some parameters, of which its size does not count; nothing if unknown.

    An audit trains small models: it speaks of an algorithm as its file has it, however large it is.
    """
    try:
        small = read_small(estimators.find_target(algorithm))
        return version_of_algorithm(algorithm, drop_entries(params, small))
    except BadInput:  # it is not in the catalogue, or not any more
        return ""


def find_configured_version(algorithm: str) -> str:
    """Return the version of an algorithm as its file has it; nothing if it is not in the catalogue.

    Examples
    --------
    >>> find_configured_version("rdt") == find_configured_version("rdt") != find_configured_version("edprf")
    True
    >>> find_configured_version("PFDPDTClassifier sound")
    ''
    """
    if algorithm not in estimators.list_algorithms():
        return ""
    return find_version(algorithm, estimators.merge_parameters(algorithm))


def list_claims_only() -> list[str]:
    """Return the algorithms of the catalogue that claim an ε which nothing shows: none of ours.

    Examples
    --------
    >>> list_claims_only()
    []
    """
    subjects = [Subject(name, estimators.find_target(name), {}) for name in estimators.list_algorithms()]
    return [subject.name for subject in subjects if subject.is_claim_only]


def list_subjects() -> list[Subject]:
    """Return every private estimator of the catalogue, and every variant of each of their classes.

    Peers are not among them: their noise is drawn in another process.

    Examples
    --------
    >>> [subject.name for subject in list_subjects() if "EDPRF" in subject.target and "variant" in subject.params]
    ['edprf', 'edprf_sound']
    """
    subjects = []
    for name in estimators.list_algorithms():
        target = estimators.find_target(name)
        cls = estimators.import_class(target)
        if not (issubclass(cls, PrivateEstimator) or hasattr(cls, "released_")) or estimators.list_packages(name):
            continue
        params = estimators.merge_parameters(name) | estimators.own_epsilon(name)
        subjects.append(Subject(name, target, drop_entries(params, read_small(target))))
    # sound variants that have no file of their own
    variants = {(subject.target, subject.params.get("variant", "paper")) for subject in subjects}
    for target in sorted(dict(variants)):
        if "variant" in estimators.list_parameters(target) and (target, "sound") not in variants:
            subjects.append(Subject(f"{target.rpartition('.')[2]} sound", target, {"variant": "sound"}))
    return subjects
