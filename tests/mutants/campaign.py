"""The campaign: every mutant is shown to every layer, cheap ones first, until one notices it."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from tests.mutants import Mutant, layers
from tests.mutants.in_copy import watched_algorithms

AUDIT, TESTS, CHECK = "audit", "test", "check"
COMMANDS = (AUDIT, TESTS, CHECK)
"""Commands that a user has, each with layers of its own."""

NOT_ASKED, NOTHING = "not asked", "nothing"
CANNOT = "cannot"
"""Said where a command has nothing of the mutant's algorithms to look at, so that it is not run."""


@dataclass(frozen=True)
class Noticed:
    """What noticed a mutant: a line of the CSV.

    Parameters
    ----------
    name, kind, file : str
        Of the mutant.
    changes_privacy : bool
        Whether it is no control.
    audit, test, check : str
        What of each command noticed it; "nothing", "cannot" or "not asked" otherwise.
    names_privacy : bool
        Whether the audit or a test that is about privacy noticed it.
    """

    name: str
    kind: str
    file: str
    changes_privacy: bool
    audit: str = NOT_ASKED
    test: str = NOT_ASKED
    check: str = NOT_ASKED
    names_privacy: bool = False

    def is_noticed_by(self, command: str) -> bool:
        """Tell whether a command noticed it."""
        return getattr(self, command) not in (NOT_ASKED, NOTHING, CANNOT)

    def is_asked_of(self, command: str) -> bool:
        """Tell whether a command was asked, or had nothing to look at."""
        return getattr(self, command) != NOT_ASKED


def shown_to(mutant: Mutant, commands: Sequence[str]) -> Noticed:
    """Show a mutant to some commands, in a copy of its own.

    Raises
    ------
    ValueError
        If its text does not stand in the source exactly once.
    """
    with layers.copy_with(mutant) as copy:
        replayed = layers.replay(copy, mutant.algorithms) if {AUDIT, TESTS} & set(commands) else ""
        said = {"audit": NOT_ASKED, "test": NOT_ASKED, "check": NOT_ASKED}
        by_privacy = replayed
        if TESTS in commands:  # the replay is one of the tests, too
            by_privacy = replayed or layers.privacy_tests(copy, mutant.file)
            said["test"] = by_privacy or (layers.all_tests(copy) if mutant.changes_privacy else "") or NOTHING
        if AUDIT in commands:
            said["audit"] = replayed or _black_box(copy, mutant)
        if CHECK in commands:
            said["check"] = _check(copy, mutant)
    names_privacy = bool(by_privacy) or said["audit"] not in (NOT_ASKED, NOTHING, CANNOT)
    return Noticed(mutant.name, mutant.kind, mutant.file, mutant.changes_privacy, **said, names_privacy=names_privacy)


def _black_box(copy: Path, mutant: Mutant) -> str:
    if mutant.file in layers.UNSEEN_BY_BLACK_BOX:
        return NOTHING
    return layers.black_box(copy, mutant.algorithms[0]) or NOTHING


def _check(copy: Path, mutant: Mutant) -> str:
    if not watched_algorithms() & set(mutant.algorithms):
        return CANNOT
    return layers.bands(copy, mutant.algorithms) or NOTHING


def unchanged(commands: Sequence[str], algorithms: tuple[str, ...]) -> str:
    """Return what the cheap layers say of the project as it is: anything would make all else worthless."""
    with layers.copy_with(None) as copy:
        asked: list[Callable] = []
        if {AUDIT, TESTS} & set(commands):
            asked.append(lambda: layers.replay(copy, algorithms))
        if TESTS in commands:
            asked.append(lambda: layers.privacy_tests(copy, ""))
        return next(filter(None, (ask() for ask in asked)), "")


def read(path: Path) -> dict[str, Noticed]:
    """Return what an earlier campaign wrote, by name."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    flags = ("changes_privacy", "names_privacy")
    return {row["name"]: Noticed(**(row | {flag: row[flag] == "True" for flag in flags})) for row in rows}


def write(found: Sequence[Noticed], path: Path) -> None:
    """Write what was noticed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Noticed)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(asdict, found))


def told(found: Sequence[Noticed]) -> str:
    """Return the shares as a table, and all that was not noticed."""
    harmful, controls = ([one for one in found if one.changes_privacy == harms] for harms in (True, False))
    lines = [f"{len(harmful)} mutants change privacy, {len(controls)} are controls", ""]
    rows = [("noticed by", "of those that change privacy", "of controls")]
    named = lambda some: [one.names_privacy for one in some if one.is_asked_of(AUDIT) or one.is_asked_of(TESTS)]  # noqa: E731
    rows.append(("the audit, or a test that names privacy", _share(named(harmful)), _share(named(controls))))
    for command in COMMANDS:
        shares = [
            _share([one.is_noticed_by(command) for one in some if one.is_asked_of(command)])
            for some in (harmful, controls)
        ]
        rows.append((f"make {command}", *shares))
    lines += [f"{what:40} {of_harmful:30} {of_controls}" for what, of_harmful, of_controls in rows]
    survivors = [one for one in harmful if not one.names_privacy and (one.is_asked_of(AUDIT) or one.is_asked_of(TESTS))]
    if survivors:
        lines += ["", "Not noticed by the audit or a test that names privacy:"]
        lines += [f"  {one.name} ({one.file}); tests: {one.test}" for one in survivors]
    return "\n".join(lines)


def _share(noticed: Sequence[bool]) -> str:
    return f"{sum(noticed)} of {len(noticed)} ({sum(noticed) / len(noticed):.1%})" if noticed else "not asked"


def share_that_names_privacy(found: Sequence[Noticed]) -> float:
    """Return the share of the mutants that change privacy which the audit, or a test that is about it, noticed."""
    harmful = [one.names_privacy for one in found if one.changes_privacy]
    return sum(harmful) / len(harmful) if harmful else 1.0
