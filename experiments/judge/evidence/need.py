"""What a verdict still needs: more repeats of a part of a study."""

from __future__ import annotations

from typing import Any, NamedTuple


class Need(NamedTuple):
    """More repeats of a part of a study.

    Parameters
    ----------
    study : str
        The study.
    where : dict
        Values of its axes: the part of it that is meant, as in `Study.axes`.
    repeats : int
        How many repeats there should be: 0, 1, ... up to this number.
    """

    study: str
    where: dict[str, Any]
    repeats: int
