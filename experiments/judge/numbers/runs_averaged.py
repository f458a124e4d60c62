"""A printed number under every number m of runs that its text allows it to be a mean of, and at two looks.

Few papers say over how many runs a number is a mean. So it is judged for each m that the text allows, and refuted only
if it is refuted for all of them. For one m:

- The first look is at the paper's repeats, the second at more, see `find_next_look`. *Refuted* asks for both: outside
  of the prediction at the first look and at the second. Ten or twenty runs often miss a collapse that comes once in
  thirty, and then predict too narrowly; a hundred rarely do.
- Until the second look is made, and where ``most_repeats`` leaves none, what would be refuted is *undecided*: outside
  so far. So it is where only one of the two looks has it outside, and where all of our runs agree exactly but are too
  few to show that others would, too (a chance not below 5 %).

All m together, the first that applies:

================================== =====================================================================================
refuted for each m                 *refuted*
refuted for some m                 *depends on how many runs were averaged*
undecided for some m               *undecided*
print too coarse for some m        *print too coarse*
reproduced within ± δ for some m   *reproduced within ± δ*
else                               *reproduced*
================================== =====================================================================================

The prediction that stands beside it reaches as far as the widest, and its chance is the largest.

Whether the paper made its m runs on new splits or on one that nobody knows needs no m of its own. A mean of m runs on
one split varies as splits do, plus an m-th of the noise: never more than one run of ours on a new split. So m = 1
covers it, and a text that leaves the split open leaves m = 1 open.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from experiments.judge.numbers.number_verdict import NO_INTERVAL, NumberQuestion, NumberVerdict, describe_runs
from experiments.judge.verdict import OUTSIDE, Verdict, find_least_known
from experiments.judge.words import count_runs
from experiments.stats import ALPHA, Interval

JudgeForRuns = Callable[[int], NumberVerdict]
"""Judges a number by some runs of ours, as if it were a mean of so many runs."""


def judge_all_runs(question: NumberQuestion, by_all: JudgeForRuns, by_first: JudgeForRuns | None) -> NumberVerdict:
    """Judge a number for each m that its text allows, by all of our runs and by those of the first look alone.

    The latter is None as long as the second look is not made.
    """
    verdicts = {}
    for m in question.printed_repeats:
        verdict = by_all(m)
        if verdict.verdict == Verdict.REFUTED:
            verdict = _wait(verdict, question.last_look) if by_first is None else _confirm(verdict, by_first(m))
        verdicts[m] = verdict
    return _combine(verdicts)


def _wait(verdict: NumberVerdict, last_look: int) -> NumberVerdict:
    """Return what is said of a number that is outside, before the second look."""
    more = f"{count_runs(last_look)} are to confirm it" if last_look else "no more runs are allowed to confirm it"
    reason = f"outside so far: {verdict.reason}; {more}"
    return replace(verdict, verdict=Verdict.UNDECIDED, reason=reason, needs_repeats=last_look > 0)


def _confirm(verdict: NumberVerdict, first: NumberVerdict) -> NumberVerdict:
    """Return what is said of a number that is outside at the second look, by what the first one said."""
    if first.verdict not in OUTSIDE:
        reason = f"{verdict.reason}; but it is inside by the first {count_runs(first.mean.n)} alone"
    elif verdict.chance >= ALPHA:
        reason = f"outside so far: {verdict.reason}"
    else:
        return verdict
    return replace(verdict, verdict=Verdict.UNDECIDED, reason=reason, needs_repeats=False)


def _combine(verdicts: Mapping[int, NumberVerdict]) -> NumberVerdict:
    found = {verdict.verdict for verdict in verdicts.values()}
    if Verdict.REFUTED in found:
        name = Verdict.REFUTED if len(found) == 1 else Verdict.DEPENDS_ON_RUNS
    else:
        name = find_least_known(found)
    first, *_ = verdicts.values()
    return replace(
        first,
        verdict=name,
        reason=_explain(name, verdicts),
        predicted=join_predictions([verdict.predicted for verdict in verdicts.values()]),
        chance=max((verdict.chance for verdict in verdicts.values()), key=_rank_chance),
        by_runs={m: verdict.verdict for m, verdict in verdicts.items()},
        needs_repeats=name == Verdict.UNDECIDED and any(verdict.needs_repeats for verdict in verdicts.values()),
    )


def _explain(name: Verdict, verdicts: Mapping[int, NumberVerdict]) -> str:
    """Return the reason of the m that the verdict rests on: of those that refute, the one that is nearest to not."""
    if name == Verdict.DEPENDS_ON_RUNS:
        by_verdict: dict[str, dict[int, NumberVerdict]] = {}
        for m, verdict in sorted(verdicts.items(), key=lambda item: item[1].verdict != Verdict.REFUTED):
            by_verdict.setdefault(verdict.verdict, {})[m] = verdict
        return "; ".join(
            f"{one} as {describe_runs(*of_one)}: {of_one[_find_likeliest(of_one)].reason}"
            for one, of_one in by_verdict.items()
        )
    of_verdict = {m: verdict for m, verdict in verdicts.items() if verdict.verdict == name}
    if len(verdicts) == 1 or name not in (Verdict.REFUTED, Verdict.UNDECIDED):
        return next(iter(of_verdict.values())).reason
    if name == Verdict.REFUTED:
        m = _find_likeliest(of_verdict)
        return f"likeliest as {describe_runs(m)}: {of_verdict[m].reason}"
    m = next(iter(of_verdict))
    return f"as {describe_runs(m)}: {of_verdict[m].reason}"


def _find_likeliest(verdicts: Mapping[int, NumberVerdict]) -> int:
    return max(verdicts, key=lambda m: _rank_chance(verdicts[m].chance))


def _rank_chance(chance: float) -> float:
    return -1.0 if math.isnan(chance) else chance


def join_predictions(intervals: Sequence[Interval]) -> Interval:
    """Return the interval around our mean that reaches as far as the widest of some; none if there is none."""
    known = [one for one in intervals if not math.isnan(one.low)]
    if not known:
        return NO_INTERVAL
    return replace(known[0], low=min(one.low for one in known), high=max(one.high for one in known))
