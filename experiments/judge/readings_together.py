"""What all natural readings of a claim come to together: none of them has a privilege, not even the first.

=================================== ================================================
all hold                            it holds
all fail                            it fails
all come to the same                that
definite, and not all the same      *depends on the reading*, with the conditions
some are open                       *undecided*: nothing is shown under these
=================================== ================================================

A reading that the text leaves open has the words that do so (``leaves_open``), and its text says what it takes for
granted. That of the claim itself stands in ``read_as``.
"""

from __future__ import annotations

from collections.abc import Sequence

from experiments.config.finding import Sign
from experiments.judge.claim_answer import ClaimAnswer
from experiments.judge.question import AskedClaim
from experiments.judge.verdict import Verdict


def combine_verdicts(verdicts: Sequence[Verdict]) -> Verdict:
    """Return what the verdicts under several readings come to.

    Examples
    --------
    >>> hold, fail, equal, open_ = map(Verdict, ("reproduced", "refuted", "practically equal", "undecided"))
    >>> [combine_verdicts(pair).value for pair in ((hold, hold), (fail, equal), (hold, fail), (hold, open_))]
    ['reproduced', 'refuted', 'depends on the reading', 'undecided']
    """
    if len(set(verdicts)) == 1:
        return verdicts[0]
    signs = {verdict.sign for verdict in verdicts}
    if Sign.OPEN in signs:
        return Verdict.UNDECIDED
    if signs == {Sign.FAILS}:
        return Verdict.REFUTED
    return verdicts[0] if signs == {Sign.HOLDS} else Verdict.DEPENDS_ON_READING


def combine_readings(claims: Sequence[AskedClaim], answers: Sequence[ClaimAnswer]) -> list[ClaimAnswer]:
    """Return the answers, those with other readings with the verdict of all."""
    by_id = {answer.id: answer for answer in answers}
    read_as = {claim.id: claim.read_as for claim in claims}
    combined = []
    for answer in answers:
        readings = [by_id[claim.id] for claim in claims if claim.reading_of == answer.id]
        if readings:
            answer = _combine(answer, read_as[answer.id] or "it is read as it stands", readings)
        combined.append(answer)
    return combined


def _combine(answer: ClaimAnswer, read_as: str, readings: Sequence[ClaimAnswer]) -> ClaimAnswer:
    verdicts = [answer.verdict, *(reading.verdict for reading in readings)]
    verdict = combine_verdicts(verdicts)
    if len(set(verdicts)) == 1:
        return answer.model_copy(update={"reason": f"{answer.reason}; so under each of {len(verdicts)} readings"})
    conditions = dict(zip([read_as, *(reading.text for reading in readings)], verdicts, strict=True))
    reason = f"{describe_conditions(conditions)}; if {read_as}: {answer.reason}"
    return answer.model_copy(update={"verdict": verdict, "conditions": conditions, "reason": reason})


def describe_conditions(conditions: dict[str, Verdict]) -> str:
    """Say under which readings a claim comes to what.

    Examples
    --------
    >>> describe_conditions({"the target is scaled": Verdict.REFUTED, "it is not": Verdict.REPRODUCED})
    'fails if the target is scaled; holds if it is not'
    """
    words = {sign: sign.describe(1) for sign in Sign} | {Sign.DEPENDS: "holds in part"}
    by_sign: dict[Sign, list[str]] = {}
    for condition, verdict in conditions.items():
        by_sign.setdefault(verdict.sign, []).append(condition.rstrip("."))
    return "; ".join(f"{words[sign]} if {', or if '.join(texts)}" for sign, texts in by_sign.items())
