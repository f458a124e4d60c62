"""Wall-Following Robot Navigation (UCI 194): 24 ultrasound readings in metres, in the order in time."""

from datasets import table

COLUMNS = [*(f"US{i}" for i in range(1, 25)), "class"]


def read(file):
    """Read ``sensor_readings_24.data``."""
    return table.read_text(file, COLUMNS)
