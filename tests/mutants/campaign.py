"""The campaign: every mutant is shown to layers, cheap ones first, until each command has noticed it or is through.

`make audit` is the replay with the exact laws, and the black box; `make test` has the replay among its tests, too.
Mutants of the C++ are shown to the tests that compare it with the Python, those of widths to the tests of large tables,
and to no other layer.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from pathlib import Path

from tests.mutants import Mutant, in_kernels, layers
from tests.mutants.in_copy import watched_algorithms

OF_PYTHON = ("replay", "privacy_tests", "black_box", "all_tests", "bands")
TWINS, WIDTHS = "twins", "widths"
LAYERS = (*OF_PYTHON, TWINS, WIDTHS)
COMMANDS = {
    "make audit": ("replay", "black_box"),
    "make test": ("replay", "privacy_tests", "all_tests"),
    "make check": ("bands",),
}
NAMES_PRIVACY = ("replay", "privacy_tests", "black_box")
NOTHING = "-"


@dataclass(frozen=True)
class Noticed:
    """What noticed a mutant: a line of the CSV.

    Parameters
    ----------
    name, kind, file : str
        Of the mutant.
    changes_privacy : bool
        Whether it is no control.
    replay, privacy_tests, black_box, all_tests, bands, twins, widths : str
        What each layer said: what noticed it, "-" for nothing, empty where it was not asked.
    """

    name: str
    kind: str
    file: str
    changes_privacy: bool
    replay: str = ""
    privacy_tests: str = ""
    black_box: str = ""
    all_tests: str = ""
    bands: str = ""
    twins: str = ""
    widths: str = ""

    def is_noticed_by(self, those: Sequence[str]) -> bool:
        """Tell whether any of some layers noticed it."""
        return any(getattr(self, layer) not in ("", NOTHING) for layer in those)

    def is_decided_by(self, those: Sequence[str]) -> bool:
        """Tell whether any of some layers noticed it, or all were asked."""
        return self.is_noticed_by(those) or all(getattr(self, layer) for layer in those)


def shown(mutant: Mutant, asked: Sequence[str], earlier: Noticed | None = None) -> Noticed:
    """Show a mutant to some layers, in a copy of its own; what an earlier run found of others is kept.

    Raises
    ------
    ValueError
        If its text does not stand in the source exactly once.
    """
    one = earlier or Noticed(*mutant[:3], mutant.changes_privacy)
    one = replace(one, **{layer: "" for layer in asked})
    with layers.copy_with(mutant) as copy:
        for layer in (layer for layer in OF_PYTHON if layer in asked):
            if _is_worth_asking(layer, one):
                one = replace(one, **{layer: _ask(layer, copy, mutant) or NOTHING})
    return one


def shown_to_twins(mutants: Sequence[Mutant]) -> Iterator[Noticed]:
    """Show mutants of the C++ to the tests of twins; errors are those of `_show_compiled`."""
    return _show_compiled(mutants, TWINS, in_kernels.ask_twins)


def shown_to_widths(mutants: Sequence[Mutant]) -> Iterator[Noticed]:
    """Show mutants to the tests of large tables; errors are those of `_show_compiled`."""
    if compiled := [mutant for mutant in mutants if mutant.is_compiled]:
        yield from _show_compiled(compiled, WIDTHS, in_kernels.ask_widths)
    for mutant in mutants:
        if not mutant.is_compiled:
            with layers.copy_with(mutant) as copy:
                yield _note(mutant, WIDTHS, in_kernels.ask_widths(copy))


def _show_compiled(mutants: Sequence[Mutant], layer: str, ask: Callable[..., str]) -> Iterator[Noticed]:
    """Show mutants of the C++ to a layer, in a copy that has all of them; of these, one at a time is there.

    Raises
    ------
    ValueError
        If a text does not stand in the source exactly once, a mutant cannot be compiled, or tests fail without any.
    """
    with layers.copy_with(None) as copy:
        in_kernels.put_in(mutants, copy)
        if said := ask(copy):
            raise ValueError(f"the project as it is does not pass: {said}")
        for number, mutant in enumerate(mutants, start=1):
            yield _note(mutant, layer, ask(copy, mutant, number))


def _note(mutant: Mutant, layer: str, said: str) -> Noticed:
    return replace(Noticed(*mutant[:3], mutant.changes_privacy), **{layer: said or NOTHING})


def _is_worth_asking(layer: str, one: Noticed) -> bool:
    """Tell whether some command that has this layer has not noticed it yet; of a control all tests say little."""
    if layer == "all_tests" and not one.changes_privacy:
        return False
    return not all(one.is_noticed_by(those) for those in COMMANDS.values() if layer in those)


def _ask(layer: str, copy: Path, mutant: Mutant) -> str:
    if layer == "replay":
        return "" if mutant.file in layers.UNSEEN_BY_REPLAY else layers.replay(copy, mutant.algorithms)
    if layer == "privacy_tests":
        return layers.privacy_tests(copy, mutant.file, mutant.kind)
    if layer == "all_tests":
        return layers.all_tests(copy)
    if layer == "bands":
        return layers.bands(copy, mutant) if _watched() & set(mutant.algorithms) else ""
    return "" if mutant.file in layers.UNSEEN_BY_BLACK_BOX else layers.black_box(copy, mutant)


@cache
def _watched() -> set[str]:
    return watched_algorithms()


def unchanged(asked: Sequence[str], algorithms: tuple[str, ...]) -> str:
    """Return what the cheap layers notice of the project as it is: with anything, all else would be worthless."""
    with layers.copy_with(None) as copy:
        said = layers.replay(copy, algorithms) if "replay" in asked else ""
        return said or (layers.privacy_tests(copy, "", "") if "privacy_tests" in asked else "")


def read(path: Path) -> dict[str, Noticed]:
    """Return what an earlier run wrote, by name."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["name"]: Noticed(**(row | {"changes_privacy": row["changes_privacy"] == "True"})) for row in rows}


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
    rows = [("noticed by", f"of {len(harmful)} that change privacy", f"of {len(controls)} controls")]
    shown_by = {"the audit, or a test that names privacy": NAMES_PRIVACY} | COMMANDS
    shown_by |= {f"  {layer.replace('_', ' ')}": (layer,) for layer in OF_PYTHON}
    rows += [(what, _share(harmful, those), _share(controls, those)) for what, those in shown_by.items()]
    lines = [f"{what:40} {of_harmful:36} {of_controls}" for what, of_harmful, of_controls in rows]
    if survivors := [one for one in harmful if not one.is_noticed_by(NAMES_PRIVACY)]:
        lines += ["", "Not noticed by the audit or a test that names privacy:"]
        lines += [f"  {one.name} ({one.file}); all tests: {one.all_tests or 'not asked'}" for one in survivors]
    return "\n".join(lines)


def told_of_layer(found: Sequence[Noticed], layer: str) -> str:
    """Return how many mutants the one layer that was asked noticed, and those that it did not."""
    lines = [f"{f'noticed by tests of {layer}':40} {_share(found, (layer,))}"]
    unnoticed = [one for one in found if getattr(one, layer) == NOTHING]
    return "\n".join([*lines, *(f"  not noticed: {one.name} ({one.file})" for one in unnoticed)])


def _share(some: Sequence[Noticed], those: Sequence[str]) -> str:
    """Return how many were noticed, of all: where a layer was not asked of some, that is a lower bound."""
    noticed = sum(one.is_noticed_by(those) for one in some)
    if n_open := sum(not one.is_decided_by(those) for one in some):
        return f"{noticed} of {len(some)}, {n_open} not asked" if n_open < len(some) else "not asked"
    return f"{noticed} of {len(some)} ({noticed / len(some):.0%})" if some else "none"


def share_that_names_privacy(found: Sequence[Noticed]) -> float:
    """Return the share of the mutants that change privacy which the audit, or a test that is about it, noticed."""
    harmful = [one.is_noticed_by((*NAMES_PRIVACY, TWINS)) for one in found if one.changes_privacy]
    return sum(harmful) / len(harmful) if harmful else 1.0
