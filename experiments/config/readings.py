"""What a paper's text leaves open, and the questions that this raises."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Any

from pydantic import Field, model_validator

from documents.document import Document, ListOf, Named, OneOrMore, Scalar

Values = dict[str, ListOf[Scalar]]
"""Names with the values that the text admits, the most literal one first."""


class ClaimCurve(Document):
    """Which part of a claim's study is run under every reading."""

    where: dict[str, OneOrMore[Scalar]] | None = {}
    """Values of the study's axes; ``null`` for no curve at all."""
    why: str
    """Why not all of it: the page says so."""


class Choices(Document):
    """What the text leaves open, with the values that it admits, the most literal one first.

    Every combination is a reading. A parameter that two algorithms of a claim have with the same values is read alike
    in both; one that is an axis of a study is settled there.
    """

    algorithms: dict[str, Values] = {}
    """By algorithm, its open parameters. The first value is the one that the algorithm has without being told."""
    protocol: Values = {}
    """Open options of the protocol."""
    words: dict[str, str] = {}
    """By parameter or option, the words of the text that leave it open; where it is silent, what it does not say."""
    curves: dict[str, ClaimCurve] = {}
    """Claims of which only a part is run under every reading."""

    @model_validator(mode="after")
    def _check_distinct(self) -> Choices:
        places = {f"algorithms.{name}": values for name, values in self.algorithms.items()}
        for place, values in {**places, "protocol": self.protocol}.items():
            for name, admitted in values.items():
                if len(set(map(repr, admitted))) < max(len(admitted), 2):
                    raise ValueError(f"{place}.{name}: write two or more distinct values, got {list(admitted)}")
                if name not in self.words:
                    raise ValueError(f"words.{name} is missing: the words of the text that leave {place}.{name} open")
        return self


class ReadingQuestion(Named):
    """What a paper's readings are to explain: the cells of each reading are run and compared with what is printed."""

    title: str
    """The question in words."""
    repeats: Annotated[int, Field(ge=1)]
    """Most runs of every setting; readings that are clearly farther off than others get fewer."""


class QuestionOfNumbers(ReadingQuestion):
    """Which parameters explain the printed numbers of an algorithm in a study?"""

    study: str
    """The study whose printed numbers are to be explained."""
    algorithm: str
    """The algorithm whose parameters are read in several ways."""
    params: Values = {}
    """Values that take the place of the paper's ``choices`` of the algorithm, or add to them."""
    protocol: Values = {}
    """Values that take the place of the paper's ``choices`` of the protocol, or add to them."""


class QuestionOfTable(ReadingQuestion):
    """Which setting explains the numbers of a table that are printed without their settings?"""

    table: str
    """A table of kind ``span``."""


class QuestionOfClaims(ReadingQuestion):
    """Which parameters explain the orderings that claims of kind ``above`` and ``below`` state?"""

    claims: ListOf[str]
    """The claims."""
    algorithm: OneOrMore[str]
    """The algorithms whose parameters are read in several ways; those that two of them share are read alike."""
    params: Values = {}
    """Values that take the place of the paper's ``choices`` of the algorithms, or add to them."""
    protocol: Values = {}
    """Values that take the place of the paper's ``choices`` of the protocol, or add to them."""


_MISSPELT = 0.8  # above the likeness of table and title, which every question has


def parse_question(contents: Any) -> ReadingQuestion:
    """Return a question as an object of its kind: a ``table``, ``claims``, or else printed numbers."""
    if isinstance(contents, ReadingQuestion):
        return contents
    keys = list(map(str, contents)) if isinstance(contents, Mapping) else []
    kinds: dict[str, type[ReadingQuestion]] = {"table": QuestionOfTable, "claims": QuestionOfClaims}
    # a key that is nearly one of these is a misspelling of it: the error should suggest it
    named = [name for name in kinds if get_close_matches(name, keys, cutoff=_MISSPELT)]
    kind = kinds[named[0]] if named else QuestionOfNumbers
    return kind.model_validate(contents)
