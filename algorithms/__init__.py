"""The algorithms of the papers as scikit-learn estimators, usable without the rest of DP-Replica."""

from algorithms.domain import Continuous, Domain, DomainError, Nominal, PrivacyLeakWarning
from algorithms.forests.diffprfs import DiffPRFsClassifier
from algorithms.forests.rfdpp_gini import RFDPPGiniClassifier
from algorithms.parameters import ParameterError

__all__ = [
    "Continuous",
    "DiffPRFsClassifier",
    "Domain",
    "DomainError",
    "Nominal",
    "ParameterError",
    "PrivacyLeakWarning",
    "RFDPPGiniClassifier",
]
