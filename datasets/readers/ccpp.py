"""Combined Cycle Power Plant (UCI 294): the first sheet; the other four hold the same rows, shuffled."""

import pandas as pd


def read(file):
    """Read ``Folds5x2_pp.xlsx``."""
    return pd.read_excel(file, sheet_name="Sheet1")
