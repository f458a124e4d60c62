"""Daily Demand Forecasting Orders of a logistics company (UCI 409): 60 days, in their order.

The column names of the file are sentences, one of them without its closing bracket, and UCI's own table has others;
columns are therefore taken in order and named as in the catalogue. Units are mixed, as distributed.
"""

from datasets import table


def read(file):
    """Read ``Daily_Demand_Forecasting_Orders.csv``."""
    return table.read_text(file, sep=";")
