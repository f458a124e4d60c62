"""What a paper promises and what came out of it, in two sentences that a person writes and every run checks."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field

from documents.document import Document

MOST_WORDS = 30
"""Of a promise, and of a finding."""
INSIDE = "inside"
"""The field that stands for how many printed numbers lie inside of our intervals, such as "65 of 68"."""
_FIELD = re.compile(r"\{([^{}]+)\}")
_BETWEEN_SENTENCES = re.compile(r"(?<=[.?!]) (?=[A-Z{])")
_SWEEPING = re.compile(r"\b(?:never|no|none|every|always)\b", re.IGNORECASE)


class Sign(StrEnum):
    """What a reader learns of a claim, a printed number or an account, before any detail."""

    HOLDS = "holds"
    FAILS = "fails"
    DEPENDS = "depends"
    OPEN = "open"

    def describe(self, n: int) -> str:
        """Return what a number of claims with this sign do.

        Examples
        --------
        >>> Sign.HOLDS.describe(1), Sign.FAILS.describe(2), Sign.OPEN.describe(3)
        ('holds', 'fail', 'are open')
        """
        if self == Sign.OPEN:
            return "is open" if n == 1 else "are open"
        return self.value if n == 1 else self.value.removesuffix("s")


class FinerSign(StrEnum):
    """What a reader learns of a verdict that is near its sign and is counted apart from it."""

    WITHIN = "within ± δ"
    IN_PART = "in part"

    def describe(self, n: int) -> str:
        """Return what a number of claims or printed numbers with this sign do.

        Examples
        --------
        >>> FinerSign.WITHIN.describe(1), FinerSign.IN_PART.describe(2)
        ('is within ± δ', 'hold in part')
        """
        if self == FinerSign.WITHIN:
            return f"{'is' if n == 1 else 'are'} {self}"
        return f"{Sign.HOLDS.describe(n)} {self}"


class AccountSign(StrEnum):
    """What a reader learns of an account that is no verdict: it is neither cleared nor refuted."""

    UNAUDITED = "own account, not audited"

    def describe(self, n: int) -> str:
        """Return what a number of algorithms with this sign have.

        Examples
        --------
        >>> AccountSign.UNAUDITED.describe(1)
        'has its own account, not audited'
        """
        return f"{'has its' if n == 1 else 'have their'} {self}"


AnySign = Sign | FinerSign | AccountSign
SIGNS: tuple[AnySign, ...] = (
    Sign.HOLDS,
    FinerSign.WITHIN,
    FinerSign.IN_PART,
    Sign.DEPENDS,
    Sign.FAILS,
    Sign.OPEN,
    AccountSign.UNAUDITED,
)
"""All signs, in the order in which they are counted."""

GivenSign = Annotated[Sign, Field(strict=False)]
"""A sign as a YAML file has it: by its name."""


def _check_length(sentence: str) -> str:
    """Return a sentence; ValueError if it has more than 30 words. A size that is filled in counts as two."""
    n_words = len(sentence.split()) + len(_FIELD.findall(sentence))
    if n_words > MOST_WORDS:
        raise ValueError(f"it has {n_words} words; write at most {MOST_WORDS}")
    return sentence


ShortText = Annotated[str, AfterValidator(_check_length)]
"""A sentence of at most 30 words."""


class PaperFinding(Document):
    """What came out of a paper and why, with the verdicts that the sentence takes for granted."""

    text: ShortText
    """The sentence, of at most 30 words. What it says with never, no, none, every or always must be so under all
    readings of the claims that it rests on. ``{ID}`` stands for the size of the effect of a claim, or of the difference
    of a printed number: in the setting that refutes it if there is one, else on average. ``{inside}`` is how many
    printed numbers lie inside of our intervals, "65 of 68". They are filled in from the run."""
    claims: dict[str, GivenSign] = {}
    """Claims that it rests on, each with the sign that it takes for granted."""
    numbers: dict[str, GivenSign] = {}
    """Printed numbers that it rests on, likewise."""
    privacy: GivenSign | None = None
    """Whether the paper's own algorithms keep the ε that they claim, if the sentence speaks of that."""
    picture: str | None = None
    """The figure or table that decides: the page of the paper begins with it."""

    @property
    def fields(self) -> list[str]:
        """The ids whose sizes the sentence names.

        Examples
        --------
        >>> PaperFinding(text="It is {a} better, not {b}.", claims={"a": "holds"}, numbers={"b": "fails"}).fields
        ['a', 'b']
        """
        return _FIELD.findall(self.text)

    @property
    def sweeping_words(self) -> list[str]:
        """The words that leave no exception: what they speak of must be so under all natural readings.

        Examples
        --------
        >>> PaperFinding(text="No forest is always better, overall or at all depths.").sweeping_words
        ['No', 'always']
        """
        return _SWEEPING.findall(self.text)

    def fill(self, sizes: dict[str, str]) -> str:
        """Return the sentence with the size of each claim and number that it names.

        Examples
        --------
        >>> PaperFinding(text="It is {a} better.", claims={"a": "holds"}).fill({"a": "2 points"})
        'It is 2 points better.'
        """
        return _FIELD.sub(lambda field: sizes[field[1]], self.text)

    def list_sentences(self) -> list[PaperFinding]:
        """Return the sentences of the text, each as a finding of its own that takes the same for granted.

        Examples
        --------
        >>> finding = PaperFinding(text="{a} are right. Noise costs {b}.", claims={"a": "holds", "b": "holds"})
        >>> [sentence.fields for sentence in finding.list_sentences()]
        [['a'], ['b']]
        """
        return [self.model_copy(update={"text": text}) for text in _BETWEEN_SENTENCES.split(self.text)]
