"""Where data is from: ``load(name)`` gives the same table whatever source it came from, or says what is missing.

A data set is one file ``conf/dataset/<name>.yaml`` and one reader, `datasets.readers` says how; nothing else has to be
changed to add one, and the tests find it by themselves. The YAML file has the title, the task, the SHA-256 of the
files, the number of rows, the fingerprint and the public domain, and may have ``reader``, ``bounds_from``, ``wheels``,
``uci``, ``uci_archive``, ``openml``, ``kaggle``, ``folder``, ``n_train``, ``drop_missing``, ``drop_beyond_bounds``,
``rows_where``, ``merge_classes`` and ``first_rows_of``; see `datasets.catalogue.CatalogueEntry`. A new table's
fingerprint stands in the message of the first `load`, which refuses it.
"""

from datasets.catalogue import UnknownDataset, names
from datasets.dataset import Dataset, count_original_rows, fingerprint, is_available, load
from datasets.source import DataMismatch, DataUnavailable

__all__ = [
    "DataMismatch",
    "DataUnavailable",
    "Dataset",
    "UnknownDataset",
    "count_original_rows",
    "fingerprint",
    "is_available",
    "load",
    "names",
]
