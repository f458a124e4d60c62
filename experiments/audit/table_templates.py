"""Templates of pairs of tables: a few numbers, which a search varies and which are kept in a file people can read."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache

import yaml

from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous, Nominal
from algorithms.whole_files import write_text
from documents.yaml_files import parse_yaml
from experiments.audit.neighbouring_tables import TablePair
from experiments.config.paths import CONF

SEARCHED_PAIRS = CONF / "audit_pairs.yaml"
CONTINUOUS = 0  #: in place of a number of categories: a column from 0 to ``HIGHEST``
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

        It is a ValueError if a record is not in its domain, the tables are no neighbours, or no such ε can be claimed.
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
    write_text(SEARCHED_PAIRS, HEAD + lines)
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
