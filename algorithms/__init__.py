"""The algorithms of the papers as scikit-learn estimators, usable without the rest of DP-Replica."""

from algorithms.domain import Continuous, Domain, DomainError, Nominal, PrivacyLeakWarning
from algorithms.forests.diffpets import DiffPETsClassifier, DiffPETsRegressor
from algorithms.forests.diffprf import DiffPRFClassifier
from algorithms.forests.diffprfs import DiffPRFsClassifier
from algorithms.forests.edprf import EDPRFClassifier, PFDPDTClassifier
from algorithms.forests.rdt import RDTClassifier
from algorithms.forests.rfdpp_gini import RFDPPGiniClassifier
from algorithms.forests.thrifty import ThriftyTreeClassifier
from algorithms.parameters import ParameterError
from algorithms.regression.diff_lr import DiffLRRegressor
from algorithms.regression.dpba import DPBARegressor
from algorithms.regression.dpc import DPCRegressor
from algorithms.regression.functional_mechanism import FunctionalMechanismRegressor
from algorithms.release.asn import AdditiveGaussianNoise, ASNClassifier
from algorithms.release.cpppw import CPPPWClassifier, ParzenReplacement
from algorithms.release.marginals import DPMarginalsClassifier, MarginalReplacement

__all__ = [
    "ASNClassifier",
    "AdditiveGaussianNoise",
    "CPPPWClassifier",
    "Continuous",
    "DPBARegressor",
    "DPCRegressor",
    "DPMarginalsClassifier",
    "DiffLRRegressor",
    "DiffPETsClassifier",
    "DiffPETsRegressor",
    "DiffPRFClassifier",
    "DiffPRFsClassifier",
    "Domain",
    "DomainError",
    "EDPRFClassifier",
    "FunctionalMechanismRegressor",
    "MarginalReplacement",
    "Nominal",
    "PFDPDTClassifier",
    "ParameterError",
    "ParzenReplacement",
    "PrivacyLeakWarning",
    "RDTClassifier",
    "RFDPPGiniClassifier",
    "ThriftyTreeClassifier",
]
