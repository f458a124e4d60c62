"""Mushroom (UCI 73): 22 nominal features; a missing stalk-root, ``?``, is a category of its own."""

from datasets import table

COLUMNS = [
    "poisonous",
    "cap-shape",
    "cap-surface",
    "cap-color",
    "bruises",
    "odor",
    "gill-attachment",
    "gill-spacing",
    "gill-size",
    "gill-color",
    "stalk-shape",
    "stalk-root",
    "stalk-surface-above-ring",
    "stalk-surface-below-ring",
    "stalk-color-above-ring",
    "stalk-color-below-ring",
    "veil-type",
    "veil-color",
    "ring-number",
    "ring-type",
    "spore-print-color",
    "population",
    "habitat",
]


def read(file):
    """Read ``agaricus-lepiota.data``."""
    return table.read_text(file, COLUMNS, dtype=str)
