"""The algorithms of the papers as scikit-learn estimators, usable without the rest of DP-Replica.

Names are looked up when somebody asks for them, so that a release is loaded without the code that trains.
"""

from importlib import import_module

_NAMES = {
    "bayes.thrifty_bayes": ("ThriftyBayesClassifier",),
    "bayes.thrifty_means": ("ThriftyMeansClassifier",),
    "bayes.thrifty_pairs": ("ThriftyPairsClassifier",),
    "bayes.vaidya_bayes": ("VaidyaBayesClassifier",),
    "checks": ("check_private_estimator", "parametrize_with_private_checks"),
    "combined.thrifty_classifier": ("ThriftyClassifier",),
    "combined.thrifty_regressor": ("ThriftyRegressor",),
    "encoding.domain": ("Continuous", "Domain", "DomainError", "Nominal", "PrivacyLeakWarning"),
    "forests.by_category.bdpt": ("BDPTClassifier",),
    "forests.by_category.dpgdf": ("DPGDFClassifier",),
    "forests.diffpets": ("DiffPETsClassifier", "DiffPETsRegressor"),
    "forests.diffprf": ("DiffPRFClassifier",),
    "forests.diffprfs": ("DiffPRFsClassifier",),
    "forests.edprf": ("EDPRFClassifier", "PFDPDTClassifier"),
    "forests.privatree": ("PrivaTreeClassifier",),
    "forests.rdt": ("RDTClassifier",),
    "forests.rfdpp_gini": ("RFDPPGiniClassifier",),
    "forests.thrifty_forest": ("ThriftyForestClassifier", "ThriftyForestRegressor"),
    "forests.thrifty_regressor": ("ThriftyTreeRegressor",),
    "forests.thrifty_tree": ("ThriftyTreeClassifier",),
    "parameters": ("ParameterError",),
    "regression.diff_lr": ("DiffLRRegressor",),
    "regression.dpba": ("DPBARegressor",),
    "regression.dpc": ("DPCRegressor",),
    "regression.functional_mechanism": ("FunctionalMechanismRegressor",),
    "data_replacement.asn": ("ASNClassifier", "AdditiveGaussianNoise"),
    "data_replacement.cpppw": ("CPPPWClassifier", "ParzenReplacement"),
    "data_replacement.dp_marginals": ("DPMarginalsClassifier", "MarginalReplacement"),
    "released.document": ("ReleaseError", "load_release"),
}
_MODULES = {name: f"{__name__}.{module}" for module, names in _NAMES.items() for name in names}

__all__ = sorted([*_MODULES, "all_estimators"])


def all_estimators() -> list[type]:
    """Return every private estimator of the package that predicts, by its name: suites about all of them begin here.

    Examples
    --------
    >>> [estimator.__name__ for estimator in all_estimators()][:3]
    ['ASNClassifier', 'BDPTClassifier', 'CPPPWClassifier']
    """
    base = import_module(f"{__name__}.base").PrivateEstimator  # not before somebody asks, as all that trains
    offered = [__getattr__(name) for name in sorted(_MODULES)]
    return [cls for cls in offered if isinstance(cls, type) and issubclass(cls, base) and hasattr(cls, "predict")]


def __getattr__(name: str):
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
