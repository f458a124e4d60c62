"""Wine Quality, the 1,599 red wines (UCI 186); see `datasets.wine_quality`."""

from datasets import table


def read(file):
    """Read ``winequality-red.csv``."""
    return table.read_text(file, sep=";")


def tidy(frame):
    """Keep the red wines of UCI's merged table."""
    return frame[frame["color"] == "red"] if "color" in frame else frame
