"""The finding of a paper, with its sizes filled in and its verdicts compared with those of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments.config.finding import INSIDE, Sign
from experiments.judge.numbers.number_verdict import format_size, is_blank
from experiments.judge.verdict import SIGN_OF
from plots.answers import answer_privacy
from plots.labels import MISSING
from plots.runs.run_folder import PaperRun


def write_finding(run: PaperRun) -> str:
    """Return the finding of a paper with the sizes of this run, which a partial run says; nothing if it has none."""
    finding = run.paper.finding
    if finding is None:
        return ""
    if not run.coverage[0]:
        return "Nothing of it has been run yet."
    said = finding.fill({name: _find_size(run, name) for name in finding.fields})
    return f"So far, after a part of its runs: {said}" if run.is_partial else said


def list_misfits(run: PaperRun) -> list[str]:
    """Return what the finding of a paper takes for granted and this run does not bear out, a text for each.

    A run that is short leaves much open, so what is open there is no misfit; that it is short is said beside it.
    """
    finding = run.paper.finding
    if finding is None or not run.coverage[0]:
        return []
    given = {"claim": (finding.claims, _map_claims(run)), "number": (finding.numbers, _map_numbers(run))}
    misfits = []
    for what, (expected, found) in given.items():
        for name, sign in expected.items():
            came_out = SIGN_OF[found[name]["verdict"]] if name in found else Sign.OPEN
            if came_out != sign and not (came_out == Sign.OPEN and run.is_partial):
                misfits.append(f"{what} {name}: it says that this {_say(sign)}; here it {_say(came_out)}")
    private = answer_privacy(run).sign
    if finding.privacy not in (None, private):
        misfits.append(f"privacy: it says that this {_say(finding.privacy)}; here it {_say(private)}")
    return misfits


def _say(sign: Sign) -> str:
    return "is open" if sign == Sign.OPEN else sign.value


def _find_size(run: PaperRun, name: str) -> str:
    """Return the size of an effect or of a difference, or a count, in words; a dash where the run has none."""
    if name == INSIDE:
        n_inside, n_tested = run.count_inside()
        return f"{n_inside} of {n_tested}" if run.numbers["prediction_low"].notna().any() else MISSING
    claim, number = _map_claims(run).get(name), _map_numbers(run).get(name)
    if claim:
        effect = claim["contradiction"] or claim
        return _round_size(claim["metric"], effect["effect"])
    return _round_size(number["metric"], number["difference"]) if number else MISSING


def _round_size(metric: str, size: float | None) -> str:
    """Return a difference without its sign, of two digits, as a sentence has it.

    Examples
    --------
    >>> _round_size("accuracy", -0.2155), _round_size("accuracy", 0.0104), _round_size("mse", 0.01651)
    ('22 points', '1 point', '0.017')
    """
    return MISSING if size is None or is_blank(size) else format_size(metric, float(f"{abs(size):.2g}"))


def _map_claims(run: PaperRun) -> dict[str, Mapping[str, Any]]:
    return {claim["id"]: claim for claim in run.claims}


def _map_numbers(run: PaperRun) -> dict[str, Mapping[str, Any]]:
    return {row["id"]: row for row in run.numbers.to_dict("records")}
