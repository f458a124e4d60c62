"""Individual Household Electric Power Consumption (UCI 235), one row a minute: active power from the six others.

The 25,979 minutes without measurements are left out. Date and time are no features and are not read.
"""

from io import StringIO

from datasets import table

MEASUREMENTS = [
    "Global_active_power",
    "Global_reactive_power",
    "Voltage",
    "Global_intensity",
    "Sub_metering_1",
    "Sub_metering_2",
    "Sub_metering_3",
]


def read(file):
    """Read ``household_power_consumption.txt``, or a part of it."""
    return table.read_text(file, sep=";", usecols=MEASUREMENTS)


def rebuild_file(frame) -> bytes:
    """Return the bytes of the original file from UCI's own table, so that they can be checked.

    A minute without measurements is a row of question marks whose last cell is empty.
    """
    lines = frame[["Date", "Time"]].copy()
    numbers = frame[MEASUREMENTS].apply(lambda column: column.astype(str).str.strip())
    for name in MEASUREMENTS:
        values = table.read_rounded(numbers[name])
        lines[name] = ["" if value != value else f"{value:.3f}" for value in values]
    empty = lines["Sub_metering_3"] == ""
    lines.loc[empty, MEASUREMENTS[:-1]] = table.MISSING
    text = StringIO()
    lines.to_csv(text, sep=";", index=False, lineterminator="\n")
    return text.getvalue().encode()
