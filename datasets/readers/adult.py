"""Adult, also called Census Income (UCI 2): training part first, then the test part, rows with missing values left out.

The 3,620 rows with a missing workclass, occupation or native-country are dropped, as is usual in the papers: 30,162
rows stay in the training part and 15,060 in the test part.
"""

from algorithms.encoding import later_pandas as pd
from datasets import table

COLUMNS = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
]


def read(train, test):
    """Read ``adult.data`` and ``adult.test``, whose first line is a banner."""
    parts = [
        table.read_text(train, COLUMNS, skipinitialspace=True),
        table.read_text(test, COLUMNS, skipinitialspace=True, skiprows=1),
    ]
    return pd.concat(parts, ignore_index=True)


def tidy_rows(frame):
    """Take off the full stop behind the labels of the test part."""
    return frame.assign(income=frame["income"].str.strip().str.rstrip("."))
