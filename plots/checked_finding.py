"""The finding of a paper, with its sizes filled in and its verdicts compared with those of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from experiments.config.finding import INSIDE, PaperFinding, Sign
from experiments.judge.numbers.number_verdict import format_size
from experiments.judge.numbers.printed import is_blank
from experiments.judge.verdict import REFUTED, REPRODUCED_WITHIN, SIGN_OF
from plots.labels import MISSING

OUTSIDE = (REFUTED, REPRODUCED_WITHIN)
"""Of printed numbers: they lie outside of our intervals."""


def fill_finding(finding: PaperFinding, claims: Sequence[Mapping[str, Any]], numbers: pd.DataFrame) -> str:
    """Return a finding with the sizes of a run, from the verdicts on claims and on numbers; a dash where it has none.

    A size is that of an effect, in the setting that refutes the claim if there is one, or of the difference of a
    number, or it is how many numbers lie inside of our intervals.
    """
    known = {row["id"]: row for row in (*numbers.to_dict("records"), *claims)}
    sizes = {name: _find_size(known[name]) if name in known else MISSING for name in finding.fields}
    return finding.fill(sizes | ({INSIDE: _count_inside(numbers)} if INSIDE in sizes else {}))


def list_misfits(
    finding: PaperFinding, claims: Sequence[Mapping[str, Any]], numbers: pd.DataFrame, privacy: Sign, is_partial: bool
) -> list[str]:
    """Return what a finding takes for granted and the verdicts of a run do not bear out, a text for each.

    A run that is partial leaves much open, so what is open there is no misfit; that it is partial is said beside it.
    """
    given = {"claim": (finding.claims, claims), "number": (finding.numbers, numbers.to_dict("records"))}
    misfits = []
    for what, (expected, rows) in given.items():
        found = {row["id"]: SIGN_OF[row["verdict"]] for row in rows}
        for name, sign in expected.items():
            came_out = found.get(name, Sign.OPEN)
            if came_out != sign and not (came_out == Sign.OPEN and is_partial):
                misfits.append(f"{what} {name}: it says that this {_say(sign)}; here it {_say(came_out)}")
    if finding.privacy not in (None, privacy):
        misfits.append(f"privacy: it says that this {_say(finding.privacy)}; here it {_say(privacy)}")
    return misfits


def _say(sign: Sign) -> str:
    return "is open" if sign == Sign.OPEN else sign.value


def _count_inside(numbers: pd.DataFrame) -> str:
    if not numbers["prediction_low"].notna().any():
        return MISSING
    tested = numbers[numbers["statistic"] != "exact"]
    n_inside = int((tested["prediction_low"].notna() & ~tested["verdict"].isin(OUTSIDE)).sum())
    return f"{n_inside} of {len(tested)}"


def _find_size(row: Mapping[str, Any]) -> str:
    """Return the size of the difference of a number, or of the effect of a claim."""
    size = row["difference"] if "difference" in row else (row["contradiction"] or row)["effect"]
    return _round_size(row["metric"], size)


def _round_size(metric: str, size: float | None) -> str:
    """Return a difference without its sign, of two digits, as a sentence has it.

    Examples
    --------
    >>> _round_size("accuracy", -0.2155), _round_size("accuracy", 0.0104), _round_size("mse", 0.01651)
    ('22 points', '1 point', '0.017')
    """
    return MISSING if size is None or is_blank(size) else format_size(metric, float(f"{abs(size):.2g}"))
