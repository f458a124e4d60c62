"""Where data is from: ``load(name)`` gives the same table whatever source it came from, or says what is missing.

A data set is one file ``conf/dataset/<name>.yaml`` and one reader, `datasets.readers` says how; nothing else has to be
changed to add one, and the tests find it by themselves. The YAML file has the title, the task, the SHA-256 of the
files, the number of rows, the fingerprint and the public domain, and may have ``reader``, ``bounds_from``, ``wheels``,
``uci``, ``uci_archive``, ``openml``, ``kaggle``, ``folder``, ``n_train``, ``drop_missing``, ``drop_beyond_bounds``,
``rows_where``, ``merge_classes``, ``first_rows_of``, ``origin`` and ``licence``; see
`datasets.catalogue.CatalogueEntry`. A new table's fingerprint stands in the message of the first `load`, which refuses
it.

Names are looked up when somebody asks for them, so that a paper is read without the code that reads tables.
"""

from importlib import import_module

_NAMES = {
    "catalogue": ("UnknownDataset", "names"),
    "dataset": ("Dataset", "count_original_rows", "fingerprint", "is_available", "load"),
    "source": ("DataMismatch", "DataUnavailable"),
}
_MODULES = {name: f"{__name__}.{module}" for module, names in _NAMES.items() for name in names}

__all__ = sorted(_MODULES)


def __getattr__(name: str):
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
