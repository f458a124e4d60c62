"""Mutants: one change each in a line that privacy rests on, to see whether anything notices.

`make test`, the audit and `make check` all say that an algorithm keeps its promise. Whether they would say otherwise if
it did not is what this counts: every mutant is a mistake that somebody might make, of the size of a line, and the share
that is noticed is the worth of a green run. Some mutants cost nothing but accuracy; they are controls, counted apart,
and so are those that only a large table shows.

The lists are in ``of_mechanisms``, ``of_forests``, ``of_bayes``, ``of_tail``, ``of_regressions`` and ``of_accounts``;
those of the C++ in ``of_kernels``, those of large tables in ``of_widths``. ``layers`` and ``in_kernels`` ask,
``python -m tests.mutants`` (`make mutants`) runs all of it.
"""

from __future__ import annotations

from typing import NamedTuple

SENSITIVITY = "a sensitivity too small"
BUDGET = "a budget spent twice"
NOISE = "too little noise"
SHARED = "noise that is used twice"
EXACT = "a step that reads the rows"
BOUNDS = "bounds or measures from the rows"
PARTS = "parts that others' rows decide"
ACCOUNT = "an account that says too little"
DOOR = "a release of more than was paid for"
READING = "a reading that other rows decide"
WIDTH = "a number too short or a block cut off: accuracy alone"
CONTROL = "control: accuracy alone"


class Mutant(NamedTuple):
    """A change of one place in the source."""

    name: str
    kind: str
    file: str
    right: str
    """The text that stands there, once."""
    wrong: str
    breaks: str
    """What is wrong then, in a sentence."""
    algorithms: tuple[str, ...]
    """Those of ``conf/algorithm`` that it touches, one that shows it first."""

    @property
    def changes_privacy(self) -> bool:
        """Whether less is kept than is promised; else only accuracy changes."""
        return self.kind not in (WIDTH, CONTROL)

    @property
    def is_compiled(self) -> bool:
        """Whether it is one of the C++."""
        return self.file.endswith(".h")


def mutated(mutant: Mutant, source: str) -> str:
    """Return a source with its change.

    Raises
    ------
    ValueError
        If the text does not stand there exactly once.

    Examples
    --------
    >>> mutated(Mutant("less noise", NOISE, "a.py", "x + noise", "x", "There is no noise.", ("rdt",)), "y = x + noise")
    'y = x'
    """
    if (n := source.count(mutant.right)) != 1:
        raise ValueError(f"{mutant.name}: {mutant.right!r} stands {n} times in {mutant.file}")
    return source.replace(mutant.right, mutant.wrong)
