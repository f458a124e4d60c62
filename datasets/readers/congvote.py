"""Congressional Voting Records of 1984 (UCI 105): 16 votes; ``?``, neither yea nor nay, is a category of its own."""

from datasets import table

COLUMNS = [
    "party",
    "handicapped-infants",
    "water-project-cost-sharing",
    "adoption-of-the-budget-resolution",
    "physician-fee-freeze",
    "el-salvador-aid",
    "religious-groups-in-schools",
    "anti-satellite-test-ban",
    "aid-to-nicaraguan-contras",
    "mx-missile",
    "immigration",
    "synfuels-corporation-cutback",
    "education-spending",
    "superfund-right-to-sue",
    "crime",
    "duty-free-exports",
    "export-administration-act-south-africa",
]


def read(file):
    """Read ``house-votes-84.data``."""
    return table.read_text(file, COLUMNS, dtype=str)
