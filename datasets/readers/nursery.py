"""Nursery (UCI 76): embedded, because the file is a complete product of values judged by a tree of rule tables.

The tree follows the one that its authors published (Olave, Rajkovic and Bohanec 1989): employment of the parents and
the child's nursery; structure of the family and its housing and finances; social conditions and health. The tables
are derived from the file. In each of them, a row is a value of the first concept and each digit is the level that it
gets together with a value of the second, in the order of ``ATTRIBUTES``; here 0 is the best.
"""

from datasets import table

ATTRIBUTES = {
    "parents": ("usual", "pretentious", "great_pret"),
    "has_nurs": ("proper", "less_proper", "improper", "critical", "very_crit"),
    "form": ("complete", "completed", "incomplete", "foster"),
    "children": ("1", "2", "3", "more"),
    "housing": ("convenient", "less_conv", "critical"),
    "finance": ("convenient", "inconv"),
    "social": ("nonprob", "slightly_prob", "problematic"),
    "health": ("recommended", "priority", "not_recom"),
}
CLASSES = ("recommend", "very_recom", "priority", "spec_prior", "not_recom")

EMPLOYMENT = ("01123", "11233", "22333")  # parents x has_nurs
FAMILY = ("0122", "1122", "1222", "2222")  # form x children
HOME = ("01", "11", "22")  # housing x finance
STRUCTURE = ("011", "112", "122")  # family x home
CONDITION = ("012", "012", "112")  # social x health
NURSERY = (  # condition x employment x structure
    ("012", "112", "222", "223"),
    ("222", "222", "223", "233"),
    ("444", "444", "444", "444"),
)


def original_bytes() -> bytes:
    """Return the bytes of UCI's ``nursery.data``, its empty last line included.

    Examples
    --------
    >>> original_bytes().splitlines()[0]
    b'usual,proper,complete,1,convenient,convenient,nonprob,recommended,recommend'
    """
    return (table.complete_product(ATTRIBUTES, _judge_application) + "\n").encode()


def read(file):
    """Read ``nursery.data``."""
    return table.read_text(file, [*ATTRIBUTES, "class"], dtype=str)


def _judge_application(parents, has_nurs, form, children, housing, finance, social, health) -> str:
    employment = int(EMPLOYMENT[parents][has_nurs])
    family = int(FAMILY[form][children])
    home = int(HOME[housing][finance])
    structure = int(STRUCTURE[family][home])
    condition = int(CONDITION[social][health])
    return CLASSES[int(NURSERY[condition][employment][structure])]
