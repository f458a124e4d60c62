"""Which data sets the constants of a method of ours may be chosen on, and which are held out: ``conf/tuning.yaml``."""

from __future__ import annotations

from functools import cache
from typing import Literal

from pydantic import model_validator

from datasets import catalogue
from documents import search_path
from documents.document import Document, ListOf, parse_document
from documents.yaml_files import parse_yaml

FILE = search_path.BUILT_IN / "tuning.yaml"

Side = Literal["chosen_on", "held_out"]


class SetsByTask(Document):
    """Names of data sets."""

    classification: ListOf[str]
    """Those whose target is a class."""
    regression: ListOf[str]
    """Those whose target is a number."""


class Division(Document):
    """All data sets of the catalogue on two sides, divided before any constant was chosen on those that were new."""

    chosen_on: SetsByTask
    """Those that constants may be chosen on."""
    held_out: SetsByTask
    """Those that they may not: ranks and advice come from these alone."""

    def list_sets(self, side: Side) -> tuple[str, ...]:
        """Return the data sets of one side, of both tasks."""
        sets: SetsByTask = getattr(self, side)
        return (*sets.classification, *sets.regression)

    @model_validator(mode="after")
    def _check_sides(self) -> Division:
        if both := set(self.list_sets("chosen_on")) & set(self.list_sets("held_out")):
            raise ValueError(f"{', '.join(sorted(both))} cannot be both held out and chosen on: keep one of the two")
        return self


@cache
def read_division() -> Division:
    """Return what ``conf/tuning.yaml`` says.

    Raises
    ------
    DocumentError
        If it names a data set on both sides, or says anything else that it may not say.

    Examples
    --------
    >>> "letter" in read_division().held_out.classification
    True
    """
    return parse_document(Division, parse_yaml(FILE.read_text(encoding="utf-8")), FILE)


def find_side(name: str) -> Side | None:
    """Return on which side a data set is; None if it is on neither, as a table of one's own or an unknown name.

    What is made of the same original files as a listed data set, or is its first rows, is on the side of that.

    Examples
    --------
    >>> find_side("ihepc_2007h1"), find_side("letter"), find_side("my_own")
    ('chosen_on', 'held_out', None)
    """
    sides: tuple[Side, ...] = ("chosen_on", "held_out")
    listed = {listed_name: side for side in sides for listed_name in read_division().list_sets(side)}
    if name in listed:
        return listed[name]
    try:
        entry = catalogue.read_entry(name)
    except catalogue.UnknownDataset:
        return None
    original_files = set(entry.files.values())
    for other, side in listed.items():
        has_same_files = not original_files.isdisjoint(catalogue.read_entry(other).files.values())
        if has_same_files or entry.first_rows_of == other:
            return side
    return None
