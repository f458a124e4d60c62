"""``python -m tests.mutants``: does anything notice a mistake in a line that privacy rests on? ``make mutants``"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

os.environ["NUMBA_DISABLE_JIT"] = "1"  # before Numba is imported: what is asked in children is not compiled

from experiments.progress import Progress
from tests.mutants import campaign
from tests.mutants.algorithms import KEPT
from tests.mutants.campaign import COMMANDS, NOT_ASKED, Noticed
from tests.mutants.every import MUTANTS
from tests.mutants.layers import PROJECT

ENOUGH = 0.95
HELP = """\
Put mistakes into the lines that privacy rests on, one at a time, in a copy, and see what notices them.

  python -m tests.mutants                        all mutants, audit and tests: about an hour
  python -m tests.mutants only=thrifty           those whose name or file has the word
  python -m tests.mutants commands=check         the settings that `make check` watches, compiled anew each time

Settings:
  only=WORD              mutants; several with commas
  commands=audit,test    which commands are asked, of audit, test and check
  results=results        folder; mutants.csv in it keeps what an earlier run found of others, or of other commands

stdout: the shares; stderr: how far it is. The same words give the same answers.
Exit code: 0 done, 1 less than 95 % of those that change privacy are noticed by the audit or a test that names it,
2 bad input, or a text that does not stand in the source exactly once."""


def command(words: list[str]) -> int:
    """Run what is asked for; returns the exit code."""
    if {"-h", "--help"} & set(words):
        print(HELP)
        return 0
    given = {"only": "", "commands": "audit,test", "results": "results"}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or name not in given:
            print(f"cannot read {word!r}: write one of {', '.join(given)} and a value", file=sys.stderr)
            return 2
        given[name] = text
    commands = given["commands"].split(",")
    if not set(commands) <= set(COMMANDS):
        print(f"commands are {', '.join(COMMANDS)}, got {given['commands']}", file=sys.stderr)
        return 2
    asked = [one for one in MUTANTS if any(word in f"{one.name} {one.file}" for word in given["only"].split(","))]
    try:
        return _run(asked, commands, PROJECT / Path(given["results"]) / "mutants.csv", is_whole=not given["only"])
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2


def _run(asked, commands: list[str], path: Path, is_whole: bool) -> int:
    if is_whole and (said := campaign.unchanged(commands, KEPT)):
        print(f"the project as it is does not pass: {said}", file=sys.stderr)
        return 1
    known = campaign.read(path)
    found = []
    with Progress(len(asked), 0, "mutants") as progress:
        for mutant in asked:
            one = campaign.shown_to(mutant, commands)
            known[mutant.name] = _with_earlier(one, known.get(mutant.name), commands)
            found.append(known[mutant.name])
            campaign.write([known[each.name] for each in MUTANTS if each.name in known], path)
            progress.advance(failed=False)
    print(campaign.told(found))
    print(f"  {path}", file=sys.stderr)
    is_asked = {"audit", "test"} & set(commands)
    return 1 if is_asked and campaign.share_that_names_privacy(found) < ENOUGH else 0


def _with_earlier(one: Noticed, earlier: Noticed | None, commands: list[str]) -> Noticed:
    """Keep what an earlier run found by commands that were not asked now."""
    if earlier is None:
        return one
    kept = {name: getattr(earlier, name) for name in COMMANDS if name not in commands}
    kept = {name: said for name, said in kept.items() if said != NOT_ASKED}
    names_privacy = one.names_privacy or (earlier.names_privacy and bool(kept.keys() & {"audit", "test"}))
    return replace(one, **(kept | {"names_privacy": names_privacy}))


if __name__ == "__main__":
    sys.exit(command(sys.argv[1:]))
