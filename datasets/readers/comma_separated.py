"""Text with a header row and commas between the cells: Diabetes prediction, Diamonds."""

from datasets import table


def read(file):
    """Read one text file; columns that the domain does not declare are left out later."""
    return table.read_text(file)
