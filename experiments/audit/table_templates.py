"""Templates of pairs of tables: a few numbers, which a search varies and which are kept in a file people can read."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import yaml

from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous, Nominal
from documents.document import parse_yaml
from experiments.audit.neighbouring_tables import TablePair
from experiments.config.paths import CONF

SEARCHED_PAIRS = CONF / "audit_pairs.yaml"
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
class TableTemplate:
    """A pair of tables, of records that are numbers.

    Examples
    --------
    >>> tie = TableTemplate((1,), 2, (((0, 0), 3), ((0, 1), 3)), gained=(0, 1))
    >>> tie.neighbours, tie.n_records, tie.build_pair().differing_records
    ('one record added or removed', 7, ((0, 1),))
    """

    columns: tuple[int, ...]  #: number of categories of each feature, or ``CONTINUOUS``
    target: int  #: number of classes, or ``CONTINUOUS``
    shared: tuple[tuple[Codes, int], ...]  #: the records that both tables have, each once, and how often
    gained: Codes  #: the record that only the neighbour has
    lost: Codes | None = None  #: the record that only the table has
    splits: int = 1  #: levels of splits of the trees
    epsilon: float | None = None  #: what is to be claimed on them; None for what the audit asks of all

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
        return (
            0 < len(self.columns) <= MOST_COLUMNS
            and max(self.columns) <= MOST_CATEGORIES
            and (self.target == CONTINUOUS or 2 <= self.target <= MOST_CATEGORIES)
            and 0 <= self.splits <= MOST_SPLITS
            and (self.epsilon is None or 0 < self.epsilon < math.inf)
            and 1 < self.n_records <= MOST_RECORDS
            and self.gained != self.lost
            and all(map(self._is_in_domain, records))
        )

    def _is_in_domain(self, record: Codes) -> bool:
        widths = (width or HIGHEST + 1 for width in (*self.columns, self.target))
        return all(0 <= code < width for code, width in zip(record, widths, strict=True))

    def map_columns(self, change: Callable[[tuple], tuple]) -> TableTemplate:
        """Return the template with its columns, and the codes of each record, changed alike."""
        shared = tuple((change(record), times) for record, times in self.shared)
        lost = change(self.lost) if self.lost else None
        return replace(self, columns=change(self.columns), shared=shared, gained=change(self.gained), lost=lost)

    def build_pair(self) -> TablePair:
        """Return the tables."""
        columns = tuple(_make_column(f"column {j + 1}", width) for j, width in enumerate(self.columns))
        shared = tuple(itertools.chain.from_iterable(times * (record,) for record, times in self.shared))
        name = NAMES[self.neighbours]
        return TablePair(
            name if self.epsilon is None else f"{name}, at ε = {self.epsilon:g}",
            Domain(columns, _make_column("target", self.target)),
            (*shared, self.lost) if self.lost else shared,
            (*shared, self.gained),
            splits=self.splits,
            worth=WORTH_MORE,
            epsilon=self.epsilon,
        )

    def to_entry(self) -> dict:
        """Return the entry of the file that stands for it."""
        return {
            **({} if self.epsilon is None else {"epsilon": self.epsilon}),
            "columns": [width or "continuous" for width in self.columns],
            "target": self.target or "continuous",
            "splits": self.splits,
            "shared": [{"record": list(record), "times": times} for record, times in self.shared],
            **({"lost": list(self.lost)} if self.lost else {}),
            "gained": list(self.gained),
        }

    @classmethod
    def from_entry(cls, entry: Mapping) -> TableTemplate:
        """Return the template that an entry of the file stands for.

        Raises
        ------
        ValueError
            If a record is not in its domain, the tables are no neighbours, or no such ε can be claimed.
        """
        widths = (*entry["columns"], entry["target"])
        *columns, target = (CONTINUOUS if isinstance(width, str) else width for width in widths)
        shared = tuple((tuple(group["record"]), group["times"]) for group in entry["shared"])
        lost = tuple(entry["lost"]) if "lost" in entry else None
        template = cls(
            tuple(columns), target, shared, tuple(entry["gained"]), lost, entry["splits"], entry.get("epsilon")
        )
        if not template.is_valid:
            raise ValueError(f"no pair of neighbouring tables: {entry}")
        return template


def _make_column(name: str, width: int) -> Continuous | Nominal:
    return Continuous(name, 0, HIGHEST) if width == CONTINUOUS else Nominal(name, tuple(range(width)))


# The file of pairs that a search has found.


def load_searched_pairs(algorithm: str) -> tuple[TablePair, ...]:
    """Return the pairs that were found for an algorithm; none if nobody searched."""
    entries = [entry for entry in read_entries() if entry["algorithm"] == algorithm]
    return tuple(TableTemplate.from_entry(entry).build_pair() for entry in entries)


@cache
def read_entries() -> list[dict]:
    """Return the entries of the file; none if there is no file."""
    return parse_yaml(SEARCHED_PAIRS.read_text(encoding="utf-8")) or [] if SEARCHED_PAIRS.is_file() else []


def keep_entries(entries: Iterable[Mapping]) -> None:
    """Write entries to the file, in place of those of the same algorithm, relation and ε."""
    kept = {_read_key(entry): dict(entry) for entry in (*read_entries(), *entries)}
    lines = yaml.safe_dump([kept[key] for key in sorted(kept)], sort_keys=False, default_flow_style=None, width=110)
    SEARCHED_PAIRS.write_text(HEAD + lines, encoding="utf-8")
    read_entries.cache_clear()


def _read_key(entry: Mapping) -> tuple[str, bool, float]:
    return entry["algorithm"], "lost" in entry, entry.get("epsilon", math.inf)


HEAD = """\
# Pairs of neighbouring tables on which trainings of an algorithm can prove most of its epsilon, as `make hunt` found.
# columns and target: numbers of categories, or "continuous", which is from 0 to 8. A record has the number of its
# category, or its value, in each column, and last its class or target. Both tables have the shared records; one of them
# has the gained record, too, the other the lost one, if any. worth: the share of its claim that was expected; above 1
# it is broken. note: what a reader has to know of the entry, until a search replaces it. epsilon: what is claimed on
# these tables, such as a printed budget, whatever do=audit asks of all. `make hunt` leaves printed variants alone.
"""


# Starts of a search, and steps.


def list_starts(is_regression: bool, neighbours: str) -> list[TableTemplate]:
    """Return templates that are known to hurt: ties in a leaf, a question that hardly anybody would ask.

    Examples
    --------
    >>> all(start.is_valid for start in list_starts(True, REPLACED) + list_starts(False, ADDED_OR_REMOVED))
    True
    """
    other, target = (8, CONTINUOUS) if is_regression else (1, 2)
    starts: list[TableTemplate] = []
    lost: Codes | None
    for n in (5, 50, 1000):  # leaves in which two classes tie, or one leads by a record
        lost = (0, 0) if neighbours == REPLACED else None
        tie = TableTemplate((1,), target, (((0, 0), n), ((0, other), n)), (0, other), lost)
        lead = replace(tie, shared=(((0, 0), n + 1), ((0, other), n)))
        starts += [tie, lead, replace(lead, splits=0)]
    # one other record is alone in a category of one column, or alike in all columns but many
    for n, width, n_classes in ((5, 3, 4), (50, 6, 4), (50, 4, 3)):
        zeros = (0,) * width
        target = CONTINUOUS if is_regression else n_classes
        lost = (*zeros, 2) if neighbours == REPLACED else None
        alone = TableTemplate((2,) + (1,) * (width - 1), target, (((*zeros, 0), n),), (1, *zeros[1:], other), lost)
        alike = replace(alone, columns=(1,) + (2,) * (width - 1), gained=(0,) + (1,) * (width - 1) + (other,))
        starts += [alone, alike]
    return starts


def vary_template(template: TableTemplate, rng: np.random.Generator) -> TableTemplate:
    """Return a template that differs by a step or two.

    Examples
    --------
    >>> start = list_starts(False, REPLACED)[0]
    >>> varied = {vary_template(start, np.random.default_rng(seed)) for seed in range(50)}
    >>> len(varied) > 10, all(template.is_valid for template in varied)
    (True, True)
    """
    for _ in range(100):
        varied = template
        for _ in range(int(rng.integers(1, 3))):
            varied = STEPS[rng.integers(len(STEPS))](varied, rng)
        varied = _merge_records(varied)
        if varied != template and varied.is_valid:
            return varied
    return template


def _merge_records(template: TableTemplate) -> TableTemplate:
    """Return the same tables with each shared record once, in order."""
    counts: Counter = Counter()
    for record, times in template.shared:
        counts[record] += times
    return replace(template, shared=tuple(sorted((+counts).items())))


def _change_count(template: TableTemplate, rng: np.random.Generator) -> TableTemplate:
    shared = list(template.shared)
    if not shared:
        return template
    i = rng.integers(len(shared))
    record, times = shared[i]
    shared[i] = record, int(rng.choice([times + 1, times - 1, 2 * times, times // 2, times + 5, times - 5]))
    return replace(template, shared=tuple(shared))


def _change_size(template: TableTemplate, rng: np.random.Generator) -> TableTemplate:
    by = rng.choice([0.5, 2.0, 5.0])
    return replace(template, shared=tuple((record, int(by * times)) for record, times in template.shared))


def _add_records(template: TableTemplate, rng: np.random.Generator) -> TableTemplate:
    records = [*(record for record, _ in template.shared), template.gained]
    record = records[rng.integers(len(records))]
    times = int(rng.choice([1, 2, 5, 20, 100]))
    return replace(template, shared=(*template.shared, (_change_code(template, record, rng), times)))


def _remove_records(template: TableTemplate, rng: np.random.Generator) -> TableTemplate:
    i = rng.integers(len(template.shared) + 1)
    return replace(template, shared=template.shared[:i] + template.shared[i + 1 :])


def _change_record(template: TableTemplate, rng: np.random.Generator) -> TableTemplate:
    if template.lost and rng.random() < 0.5:
        return replace(template, lost=_change_code(template, template.lost, rng))
    return replace(template, gained=_change_code(template, template.gained, rng))


def _change_code(template: TableTemplate, record: Codes, rng: np.random.Generator) -> Codes:
    """Return a record with another code at one place."""
    widths = (*template.columns, template.target)
    j = rng.integers(len(widths))
    if widths[j] < 0:  # a step before took a category from a continuous column: the template is given up
        return record
    return (*record[:j], int(rng.integers(widths[j] or HIGHEST + 1)), *record[j + 1 :])


def _change_width(template: TableTemplate, rng: np.random.Generator) -> TableTemplate:
    """Return a template with a category more or fewer, or a class."""
    by = int(rng.choice([-1, 1]))
    j = rng.integers(len(template.columns) + 1)
    if j == len(template.columns):
        return replace(template, target=max(template.target + by, 2)) if template.target != CONTINUOUS else template
    columns = list(template.columns)
    columns[j] = CONTINUOUS if rng.random() < 0.1 else columns[j] + by
    return replace(template, columns=tuple(columns))


def _add_column(template: TableTemplate, rng: np.random.Generator) -> TableTemplate:
    """Return a template with a copy of a column, or one in which all records agree but perhaps the one that differs."""
    if rng.random() < 0.5:
        j = int(rng.integers(len(template.columns)))
        return template.map_columns(lambda codes: (codes[j], *codes))
    width, code = int(rng.integers(1, 3)), int(rng.integers(2))
    wider = template.map_columns(lambda codes: (0, *codes))
    return replace(wider, columns=(width, *template.columns), gained=(code, *template.gained))


def _remove_column(template: TableTemplate, rng: np.random.Generator) -> TableTemplate:
    if len(template.columns) == 1:
        return template
    j = int(rng.integers(len(template.columns)))
    return template.map_columns(lambda codes: codes[:j] + codes[j + 1 :])


def _change_depth(template: TableTemplate, rng: np.random.Generator) -> TableTemplate:
    return replace(template, splits=template.splits + int(rng.choice([-1, 1])))


STEPS = (
    _change_count,
    _change_count,
    _change_size,
    _add_records,
    _remove_records,
    _change_record,
    _change_width,
    _add_column,
    _remove_column,
    _change_depth,
)
"""The changes that a search tries; counts most often."""
