"""Whether a printed table of patients is what it is said to be (paper 5, Tables 1 and 2 of section 1.1).

Table 2 generalises age and post code of Table 1, so that patients cannot be told apart. Both are printed in full.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from experiments.statements.finding import Finding


class _Class(NamedTuple):
    """What Table 2 shows of a patient but for the disease: both ends of a range count as part of it."""

    ages: tuple[int, int]
    sex: str
    codes: tuple[int, int]


_YOUNG = _Class((1, 5), "M", (10_000, 15_000))
_OLDER = _Class((6, 10), "M", (15_000, 20_000))
_OLDEST = _Class((11, 20), "F", (20_000, 25_000))

#: Table 1 in English: name, age, sex, post code, disease.
_TABLE_1 = (
    ("Andy", 4, "M", 12_000, "gastric ulcer"),
    ("Bill", 5, "M", 14_000, "indigestion"),
    ("Ken", 6, "M", 18_000, "pneumonia"),
    ("Nash", 9, "M", 19_000, "bronchitis"),
    ("Alice", 12, "F", 22_000, "influenza"),
    ("Betty", 19, "F", 24_000, "pneumonia"),
)
#: Table 2, in the same order: class and disease.
_TABLE_2 = (
    (_YOUNG, "gastric ulcer"),
    (_YOUNG, "indigestion"),
    (_OLDER, "pneumonia"),
    (_OLDER, "bronchitis"),
    (_OLDEST, "influenza"),
    (_OLDEST, "pneumonia"),
)


def table_is_anonymous(k: int) -> Finding:
    """Decide whether each class of Table 2 has k rows at least, and its rows are those of Table 1, generalised."""
    sizes = [len(diseases) for diseases in _group().values()]
    for (name, age, sex, code, disease), (band, shown) in zip(_TABLE_1, _TABLE_2, strict=True):
        is_inside = band.ages[0] <= age <= band.ages[1] and band.codes[0] <= code <= band.codes[1] and band.sex == sex
        if not (is_inside and disease == shown):
            return Finding(False, f"{name} is not the patient of that row")
    return Finding(min(sizes) >= k, f"{len(sizes)} classes of {', '.join(map(str, sizes))} rows")


def table_is_diverse(l: int) -> Finding:  # noqa: E741
    """Decide whether each class of Table 2 has l different diseases at least."""
    kinds = [len(set(diseases)) for diseases in _group().values()]
    return Finding(min(kinds) >= l, f"{len(kinds)} classes with {', '.join(map(str, kinds))} diseases")


def _group() -> dict[_Class, list[str]]:
    """Return the diseases of each class of Table 2."""
    classes: dict[_Class, list[str]] = defaultdict(list)
    for band, disease in _TABLE_2:
        classes[band].append(disease)
    return classes
