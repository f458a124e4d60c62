"""Pairs of tables as a few numbers, to be changed a little by a search and kept in a file that people can read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import yaml

from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous, Nominal
from experiments.audit.neighbouring_tables import Pair
from experiments.config.paths import CONF

FOUND = CONF / "audit_pairs.yaml"
CONTINUOUS = 0
"""In place of a number of categories: a column from 0 to ``HIGHEST``."""
HIGHEST = 8
MOST_RECORDS, MOST_COLUMNS, MOST_CATEGORIES, MOST_SPLITS = 2_500, 12, 9, 3
WORTH_MORE = 10
"""A pair that was searched for is trained on so many times as often as one that was made by hand: there are few."""
NAMES = {ADDED_OR_REMOVED: "searched, a record more", REPLACED: "searched, a record replaced"}
Codes = tuple[int, ...]
"""A record: the number of its category in each column, or its value, and last that of its class, or its target."""


@dataclass(frozen=True)
class Template:
    """A pair of tables, of records that are numbers.

    Parameters
    ----------
    columns : tuple of int
        Number of categories of each feature, or ``CONTINUOUS``.
    target : int
        Number of classes, or ``CONTINUOUS``.
    shared : tuple of (Codes, int)
        The records that both tables have, each once, and how often.
    gained : Codes
        The record that only the neighbour has.
    lost : Codes or None
        The record that only the table has.
    splits : int
        Levels of splits of the trees.

    Examples
    --------
    >>> tie = Template((1,), 2, (((0, 0), 3), ((0, 1), 3)), gained=(0, 1))
    >>> tie.neighbours, tie.n_records, tie.pair().differing
    ('one record added or removed', 7, ((0, 1),))
    """

    columns: tuple[int, ...]
    target: int
    shared: tuple[tuple[Codes, int], ...]
    gained: Codes
    lost: Codes | None = None
    splits: int = 1

    @property
    def neighbours(self) -> str:
        """The relation of the tables."""
        return ADDED_OR_REMOVED if self.lost is None else REPLACED

    @property
    def n_records(self) -> int:
        """Records of the neighbour."""
        return 1 + sum(times for _, times in self.shared)

    @property
    def is_valid(self) -> bool:
        """Whether it is a pair of small tables whose records lie in their domain."""
        records = [*(record for record, _ in self.shared), self.gained, *([self.lost] if self.lost else [])]
        widths = [HIGHEST + 1 if width == CONTINUOUS else width for width in (*self.columns, self.target)]
        return (
            0 < len(self.columns) <= MOST_COLUMNS
            and max(self.columns) <= MOST_CATEGORIES
            and (self.target == CONTINUOUS or 2 <= self.target <= MOST_CATEGORIES)
            and 0 <= self.splits <= MOST_SPLITS
            and 1 < self.n_records <= MOST_RECORDS
            and self.gained != self.lost
            and all(0 <= code < width for record in records for code, width in zip(record, widths, strict=True))
        )

    def pair(self) -> Pair:
        """Return the tables."""
        columns = [_column(f"column {j + 1}", width) for j, width in enumerate(self.columns)]
        shared = tuple(record for record, times in self.shared for _ in range(times))
        table = shared + ((self.lost,) if self.lost else ())
        return Pair(
            NAMES[self.neighbours],
            Domain(columns, _column("target", self.target)),
            table,
            (*shared, self.gained),
            splits=self.splits,
            worth=WORTH_MORE,
        )

    def entry(self) -> dict:
        """Return what stands in the file."""
        records = {"lost": list(self.lost)} if self.lost else {}
        return {
            "columns": [width or "continuous" for width in self.columns],
            "target": self.target or "continuous",
            "splits": self.splits,
            "shared": [{"record": list(record), "times": times} for record, times in self.shared],
            **records,
            "gained": list(self.gained),
        }

    @classmethod
    def of(cls, entry: Mapping) -> Template:
        """Return what an entry of the file stands for.

        Raises
        ------
        ValueError
            If a record is not in its domain, or the tables are no neighbours.
        """
        widths = [CONTINUOUS if width == "continuous" else width for width in (*entry["columns"], entry["target"])]
        shared = tuple((tuple(one["record"]), one["times"]) for one in entry["shared"])
        lost = tuple(entry["lost"]) if "lost" in entry else None
        template = cls(tuple(widths[:-1]), widths[-1], shared, tuple(entry["gained"]), lost, entry["splits"])
        if not template.is_valid:
            raise ValueError(f"no pair of neighbouring tables: {entry}")
        return template


def _column(name: str, width: int) -> Continuous | Nominal:
    return Continuous(name, 0, HIGHEST) if width == CONTINUOUS else Nominal(name, tuple(range(width)))


# What was found.


def found_for(algorithm: str) -> tuple[Pair, ...]:
    """Return the pairs that a search has found for an algorithm; none if it was not searched for."""
    return tuple(Template.of(entry).pair() for entry in found() if entry["algorithm"] == algorithm)


@cache
def found() -> list[dict]:
    """Return what was found, as it stands in the file."""
    return yaml.safe_load(FOUND.read_text(encoding="utf-8")) or [] if FOUND.is_file() else []


def keep(entries: Iterable[Mapping]) -> None:
    """Write what was found, in place of what was found before for the same algorithm and relation."""
    fresh = {_key(entry): dict(entry) for entry in entries}
    kept = {_key(entry): entry for entry in found()} | fresh
    lines = yaml.safe_dump([kept[key] for key in sorted(kept)], sort_keys=False, default_flow_style=None, width=110)
    FOUND.write_text(HEAD + lines, encoding="utf-8")
    found.cache_clear()


def _key(entry: Mapping) -> tuple[str, bool]:
    return entry["algorithm"], "lost" in entry


HEAD = """\
# Pairs of neighbouring tables on which trainings of an algorithm can prove most of its epsilon, as `make hunt` found.
# columns and target: numbers of categories, or "continuous", which is from 0 to 8. A record has the number of its
# category, or its value, in each column, and last its class or target. Both tables have the shared records; one of them
# has the gained record, too, the other the lost one, if any. worth: the share of its claim that was expected.
"""


# Starts of a search, and steps.


def starts(is_regression: bool, neighbours: str) -> list[Template]:
    """Return templates that are known to hurt: ties in a leaf, a question that hardly anybody would ask.

    Examples
    --------
    >>> all(start.is_valid for relation in NAMES for numbers in (False, True) for start in starts(numbers, relation))
    True
    """
    sizes, is_replaced = (5, 50, 1000), neighbours == REPLACED
    other = 8 if is_regression else 1
    target = CONTINUOUS if is_regression else 2
    made = []
    for n in sizes:
        tie = Template((1,), target, (((0, 0), n), ((0, other), n)), (0, other), (0, 0) if is_replaced else None)
        lead = replace(tie, shared=(((0, 0), n + 1), ((0, other), n)))
        made += [tie, lead, replace(lead, splits=0)]
    for n, width, n_classes in ((5, 3, 4), (50, 6, 4), (50, 4, 3)):
        zeros = (0,) * width
        target = CONTINUOUS if is_regression else n_classes
        alone = Template((2,) + (1,) * (width - 1), target, (((*zeros, 0), n),), (1, *zeros[1:], other))
        found = replace(alone, lost=(*zeros, 2)) if is_replaced else alone
        drowned = replace(found, columns=(1,) + (2,) * (width - 1), gained=(0,) + (1,) * (width - 1) + (other,))
        made += [found, drowned]
    return made


def moved(template: Template, rng: np.random.Generator) -> Template:
    """Return a template that differs by a step or two.

    Parameters
    ----------
    template : Template
        It stays as it is.
    rng : Generator
        What draws.

    Examples
    --------
    >>> start = starts(False, REPLACED)[0]
    >>> some = [moved(start, np.random.default_rng(seed)) for seed in range(50)]
    >>> len(set(some)) > 10, all(template.is_valid for template in some)
    (True, True)
    """
    for _ in range(100):
        other = template
        for _ in range(int(rng.integers(1, 3))):
            other = STEPS[rng.integers(len(STEPS))](other, rng)
        other = _in_order(other)
        if other != template and other.is_valid:
            return other
    return template


def _in_order(template: Template) -> Template:
    counts: Counter = Counter()
    for record, times in template.shared:
        counts[record] += times
    return replace(template, shared=tuple(sorted((record, times) for record, times in counts.items() if times > 0)))


def _another_count(template: Template, rng) -> Template:
    shared = list(template.shared)
    if not shared:
        return template
    i = rng.integers(len(shared))
    record, times = shared[i]
    shared[i] = record, int(rng.choice([times + 1, times - 1, 2 * times, times // 2, times + 5, times - 5]))
    return replace(template, shared=tuple(shared))


def _another_size(template: Template, rng) -> Template:
    by = rng.choice([0.5, 2.0, 5.0])
    return replace(template, shared=tuple((record, int(by * times)) for record, times in template.shared))


def _more_records(template: Template, rng) -> Template:
    known = [record for record, _ in template.shared] + [template.gained]
    record = known[rng.integers(len(known))]
    times = int(rng.choice([1, 2, 5, 20, 100]))
    return replace(template, shared=(*template.shared, (_nudged(template, record, rng), times)))


def _fewer_records(template: Template, rng) -> Template:
    i = rng.integers(len(template.shared) + 1)
    return replace(template, shared=template.shared[:i] + template.shared[i + 1 :])


def _another_record(template: Template, rng) -> Template:
    if template.lost and rng.random() < 0.5:
        return replace(template, lost=_nudged(template, template.lost, rng))
    return replace(template, gained=_nudged(template, template.gained, rng))


def _nudged(template: Template, record: Codes, rng) -> Codes:
    """Return a record with another code at one place."""
    widths = (*template.columns, template.target)
    j = rng.integers(len(widths))
    return (*record[:j], int(rng.integers(widths[j] or HIGHEST + 1)), *record[j + 1 :])


def _another_width(template: Template, rng) -> Template:
    """Return a template with a category more or fewer, or a class."""
    by = int(rng.choice([-1, 1]))
    j = rng.integers(len(template.columns) + 1)
    if j == len(template.columns):
        return replace(template, target=max(template.target + by, 2)) if template.target != CONTINUOUS else template
    columns = list(template.columns)
    columns[j] = CONTINUOUS if rng.random() < 0.1 else columns[j] + by
    return replace(template, columns=tuple(columns))


def _one_column_more(template: Template, rng) -> Template:
    """Return a template with a copy of a column, or one in which all records agree but perhaps the one that differs."""
    if rng.random() < 0.5:
        j = int(rng.integers(len(template.columns)))
        return _with_column(template, template.columns[j], lambda record: record[j], template.gained[j])
    return _with_column(template, int(rng.integers(1, 3)), lambda record: 0, int(rng.integers(2)))


def _with_column(template: Template, width: int, code_of, of_gained: int) -> Template:
    shared = tuple(((code_of(record), *record), times) for record, times in template.shared)
    lost = (code_of(template.lost), *template.lost) if template.lost else None
    columns = (width, *template.columns)
    return replace(template, columns=columns, shared=shared, gained=(of_gained, *template.gained), lost=lost)


def _one_column_less(template: Template, rng) -> Template:
    if len(template.columns) == 1:
        return template
    j = int(rng.integers(len(template.columns)))

    def rest(values: tuple) -> tuple:
        return values[:j] + values[j + 1 :]

    shared = tuple((rest(record), times) for record, times in template.shared)
    lost = rest(template.lost) if template.lost else None
    return replace(template, columns=rest(template.columns), shared=shared, gained=rest(template.gained), lost=lost)


def _another_depth(template: Template, rng) -> Template:
    return replace(template, splits=template.splits + int(rng.choice([-1, 1])))


STEPS = (
    _another_count,
    _another_count,
    _another_size,
    _more_records,
    _fewer_records,
    _another_record,
    _another_width,
    _one_column_more,
    _one_column_less,
    _another_depth,
)
"""What can be changed; counts most often."""
