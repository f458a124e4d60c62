"""What can be chosen, as ``--help`` lists it: algorithms by kind, data sets by task, all else by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from algorithms.installation import PROGRAM
from experiments.catalogue.kinds import group_algorithms, group_datasets
from experiments.catalogue.screen import hang_text

_INDENT = "  "
_LABEL = 16


def format_choices(options: Mapping[str, Sequence[str]]) -> str:
    """Return all options of each config group, as lines of 80 columns.

    Parameters
    ----------
    options : mapping of str to sequence of str
        The names in each group; those of algorithms and data sets are looked up.

    Examples
    --------
    >>> print(format_choices({"executor": ["dask", "local"]}))
    executor          dask, local
    """
    lines: list[str] = []
    for group, names in options.items():
        if group == "algorithm":
            lines += _list_by(
                f"algorithm, by kind: `{PROGRAM} list algorithms` has a line for each", group_algorithms()
            )
            lines += [f"{_INDENT}`{PROGRAM} describe algorithm=NAME` says what one is"]
        elif group == "dataset":
            lines += _list_by(f"dataset, by task: `{PROGRAM} describe dataset=NAME` says what one is", group_datasets())
        else:
            lines += hang_text(f"{group:<{_LABEL}}{_INDENT}", ", ".join(names))
    return "\n".join(lines)


def _list_by(title: str, groups: Mapping[str, Sequence[str]]) -> list[str]:
    lines = [title]
    for name, members in groups.items():
        lines += hang_text(f"{_INDENT}{name:<{_LABEL}}", ", ".join(members))
    return lines
