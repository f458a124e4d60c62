"""Diamonds (R's ggplot2; Kaggle shivam2503/diamonds): price from nine attributes; the row number is not read.

Cut, colour and clarity are ordered from the worst to the best, so that the position of a category is its rank.
"""

from datasets import table


def read(file):
    """Read ``diamonds.csv``."""
    return table.read_text(file)
