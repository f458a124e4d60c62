"""The verdicts, and their signs."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from operator import attrgetter

from experiments.config.finding import AnySign, FinerSign, Sign


class Verdict(StrEnum):
    """What is found of a claim or of a printed number, the most telling first; each has a sign.

    Examples
    --------
    >>> Verdict("in part").sign.value, Verdict("in part").shown.value, Verdict.REFUTED == "refuted"
    ('depends', 'in part', True)
    """

    sign: Sign
    #: The sign that a reader sees and counts: finer than `sign` where a difference is shown to be too small to matter.
    shown: AnySign
    #: How little is known of a printed number, where that does not speak against it.
    doubt: int

    #: Of claims: as claimed in each setting. Of numbers: where ours predict it.
    REPRODUCED = "reproduced", Sign.HOLDS, 0
    #: Of numbers: outside of what ours predict, by less than δ.
    REPRODUCED_WITHIN = "reproduced within ± δ", Sign.HOLDS, 1, FinerSign.WITHIN
    REFUTED = "refuted", Sign.FAILS
    #: Of claims: in no setting is there a difference that matters.
    EQUAL = "practically equal", Sign.FAILS, -1, FinerSign.WITHIN
    #: Of claims: what is printed contradicts itself, whatever is run.
    INCONSISTENT = "inconsistent in print", Sign.FAILS
    #: Of claims: as claimed in some settings, in the others there is no difference that matters.
    IN_PART = "in part", Sign.DEPENDS, -1, FinerSign.IN_PART
    #: Of claims: the natural readings of the text come to different verdicts.
    DEPENDS_ON_READING = "depends on the reading", Sign.DEPENDS
    #: Of numbers: it depends on how many runs the printed one is a mean of.
    DEPENDS_ON_RUNS = "depends on how many runs were averaged", Sign.DEPENDS
    #: After as many repeats as were run: the effect is known within an interval only.
    UNDECIDED = "undecided", Sign.OPEN, 4
    #: Of numbers: the print's own noise is so wide that no number of repeats could tell.
    TOO_COARSE = "print too coarse", Sign.OPEN, 2
    #: Of numbers: printed without their setting, and some setting may have given them.
    SETTING_LOST = "setting lost", Sign.OPEN, 3
    NOT_IMPLEMENTED = "not implemented", Sign.OPEN, 6
    #: No cell answers.
    NOT_RUN = "not run", Sign.OPEN, 5

    def __new__(cls, words: str, sign: Sign = Sign.OPEN, doubt: int = -1, shown: AnySign | None = None) -> Verdict:
        """Return the verdict of some words."""
        verdict = str.__new__(cls, words)
        verdict._value_ = words
        verdict.sign, verdict.doubt, verdict.shown = sign, doubt, shown or sign
        return verdict

    @property
    def finer(self) -> str:
        """The verdict where it says more than its sign; else nothing."""
        return "" if self in (Verdict.REPRODUCED, Verdict.REFUTED, Verdict.UNDECIDED) else self.value


OUTSIDE = (Verdict.REFUTED, Verdict.REPRODUCED_WITHIN)
"""Of printed numbers: they lie outside of what ours predict."""


def find_least_known(verdicts: Iterable[str]) -> Verdict:
    """Return the verdict, of some that do not speak against a paper, about which least is known.

    Examples
    --------
    >>> find_least_known(["reproduced", "undecided", "print too coarse"]).value
    'undecided'
    """
    return max(map(Verdict, verdicts), key=attrgetter("doubt"))
