"""The first sheet of a workbook, with a header row: Combined Cycle Power Plant and Concrete.

The four other sheets of Combined Cycle Power Plant hold the same rows, shuffled.
"""

from algorithms.encoding import later_pandas as pd


def read(file):
    """Read one ``.xlsx``; columns that the domain does not declare are left out later."""
    return pd.read_excel(file)
