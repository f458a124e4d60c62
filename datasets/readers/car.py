"""Car Evaluation (UCI 19): embedded, because the file is a complete product of values judged by a tree of rule tables.

The tree is the one that its authors published (Bohanec and Rajkovic 1988): a car has a price and a technical
character, that has comfort and safety. The tables are derived from the file. In each of them, a row is a value of the
first concept and each digit is the level that it gets together with a value of the second, in the order of
``ATTRIBUTES``; higher is better.
"""

from datasets import table

ATTRIBUTES = {
    "buying": ("vhigh", "high", "med", "low"),
    "maint": ("vhigh", "high", "med", "low"),
    "doors": ("2", "3", "4", "5more"),
    "persons": ("2", "4", "more"),
    "lug_boot": ("small", "med", "big"),
    "safety": ("low", "med", "high"),
}
CLASSES = ("unacc", "acc", "good", "vgood")

PRICE = ("0011", "0111", "1123", "1233")  # buying x maint
COMFORT = (  # doors x persons x lug_boot
    ("000", "112", "012"),
    ("000", "112", "122"),
    ("000", "122", "122"),
    ("000", "122", "122"),
)
TECHNICAL = ("000", "012", "023")  # comfort x safety
CAR = ("0000", "0011", "0113", "0123")  # price x technical


def original_bytes() -> bytes:
    """Return the bytes of UCI's ``car.data``.

    Examples
    --------
    >>> original_bytes().splitlines()[0]
    b'vhigh,vhigh,2,2,small,low,unacc'
    """
    return table.complete_product(ATTRIBUTES, _judge_car).encode()


def read(file):
    """Read ``car.data``."""
    return table.read_text(file, [*ATTRIBUTES, "class"], dtype=str)


def _judge_car(buying: int, maint: int, doors: int, persons: int, lug_boot: int, safety: int) -> str:
    price = int(PRICE[buying][maint])
    comfort = int(COMFORT[doors][persons][lug_boot])
    technical = int(TECHNICAL[comfort][safety])
    return CLASSES[int(CAR[price][technical])]
