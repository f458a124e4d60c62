"""``python -m tests.mutants``: does anything notice a mistake in a line that privacy rests on? ``make mutants``"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

os.environ["DPREPLICA_PLAIN"] = "1"  # before a module asks for kernels: mutants are of the Python

from experiments.run.progress import Progress
from tests.mutants import Mutant, campaign
from tests.mutants.algorithms import KEPT
from tests.mutants.campaign import LAYERS, TWINS, WIDTHS, Noticed
from tests.mutants.every import KERNEL_MUTANTS, MUTANTS, WIDTH_MUTANTS
from tests.mutants.layers import PROJECT

ENOUGH = 0.95
HELP = """\
Put mistakes into the lines that privacy rests on, one at a time, in a copy, and see what notices them.

  python -m tests.mutants                        all mutants, replay, tests of privacy, twins and widths: an hour
  python -m tests.mutants only=thrifty           those whose name or file has the word
  python -m tests.mutants layers=black_box       of those that the replay does not notice; takes long
  python -m tests.mutants layers=bands           the settings that `make check` watches; takes long
  python -m tests.mutants layers=twins           mutants of the C++, which tests compare with the Python
  python -m tests.mutants layers=widths          numbers too short and blocks cut off, which only large tables show

Settings:
  only=WORD                       mutants; several with commas
  layers=replay,privacy_tests,twins,widths   which are asked, of these, black_box, all_tests and bands
  results=results                 folder; its mutants.csv keeps what earlier runs found of other mutants and layers

stdout: the shares; stderr: how far it is. The same words give the same answers.
Exit code: 0 done, 1 less than 95 % of those that change privacy are noticed by the audit or a test that names it, or
one of those that large tables show is not, 2 bad input, or a text that does not stand in the source exactly once."""


def command(words: list[str]) -> int:
    """Run what is asked for; returns the exit code."""
    if {"-h", "--help"} & set(words):
        print(HELP)
        return 0
    given = {"only": "", "layers": "replay,privacy_tests,twins,widths", "results": "results"}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or name not in given:
            return _refused(f"cannot read {word!r}: write one of {', '.join(given)}, = and a value")
        given[name] = text
    asked = given["layers"].split(",")
    if unknown := set(asked) - set(LAYERS):
        return _refused(f"there is no layer {', '.join(sorted(unknown))}; there are {', '.join(LAYERS)}")
    touched = [*(MUTANTS if set(asked) - {TWINS, WIDTHS} else [])]
    touched += [*(KERNEL_MUTANTS if TWINS in asked else []), *(WIDTH_MUTANTS if WIDTHS in asked else [])]
    wanted = [one for one in touched if any(word in f"{one.name} {one.file}" for word in given["only"].split(","))]
    if not wanted:
        return _refused(f"no mutant has {given['only']!r} in its name or file")
    try:
        return _run(wanted, asked, PROJECT / Path(given["results"]).expanduser() / "mutants.csv")
    except ValueError as error:
        return _refused(str(error))


def _refused(why: str) -> int:
    print(why, file=sys.stderr)
    return 2


def _run(wanted: Sequence[Mutant], asked: Sequence[str], path: Path) -> int:
    of_python, of_kernels, of_widths = (
        [one for one in wanted if one in each] for each in (MUTANTS, KERNEL_MUTANTS, WIDTH_MUTANTS)
    )
    if len(of_python) == len(MUTANTS) and (said := campaign.unchanged(asked, KEPT)):
        return _refused(f"the project as it is does not pass: {said}")
    known = campaign.read(path)
    shown = [
        (campaign.shown(mutant, asked, known.get(mutant.name)) for mutant in of_python),
        campaign.shown_to_twins(of_kernels) if of_kernels else (),
        campaign.shown_to_widths(of_widths),
    ]
    with Progress(len(wanted), 0, "mutant") as progress:
        for one in chain.from_iterable(shown):
            known[one.name] = one
            every = (*MUTANTS, *KERNEL_MUTANTS, *WIDTH_MUTANTS)
            campaign.write([known[each.name] for each in every if each.name in known], path)
            progress.advance(failed=False)
    found = [[known[mutant.name] for mutant in each] for each in (of_python, of_kernels, of_widths)]
    print(*_told(*found), sep="\n")
    print(f"  {path}", file=sys.stderr)
    share = campaign.share_that_names_privacy([*found[0], *found[1]])
    return 0 if share >= ENOUGH and all(one.is_noticed_by((WIDTHS,)) for one in found[2]) else 1


def _told(of_python: Sequence[Noticed], of_kernels: Sequence[Noticed], of_widths: Sequence[Noticed]) -> Iterator[str]:
    if of_python:
        yield campaign.told(of_python)
    if of_kernels:
        yield campaign.told_of_layer(of_kernels, TWINS)
    if of_widths:
        yield campaign.told_of_layer(of_widths, WIDTHS)


if __name__ == "__main__":
    sys.exit(command(sys.argv[1:]))
