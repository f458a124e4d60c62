"""pandas, imported when somebody first asks for something of it.

To read what is declared of columns takes nothing of it, and a list of data sets would spend a third of its time on it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import *  # noqa: F403


def __getattr__(name: str):
    if name.startswith("__") and name != "__version__":  # what imports and inspection ask of any module
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module("pandas"), name)
    return found
