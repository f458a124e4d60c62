"""Verdicts on the claims of a paper: is it true, and how sure is that?

A claim is decided by as many runs as it takes, look by look (`evidence.replay`), by one statistic: the mean of the
paper's metric, unless its words say another. The verdict, the effect and its interval are all of that statistic. The
verdict is of the runs that settled it; effect and interval are of all runs that there are.

The chance that a paper gets a false verdict is at most 5 %: one that a claim holds, or that it fails. Each claim of its
text has an equal share of that, half of it for either side, and its readings have equal shares of the claim's.

Other readings of a claim's text (``reading_of``) have no less weight than the first: the verdict on the claim is what
all of them come to (`readings_together`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from experiments.judge.claim_answer import ClaimAnswer, SettingAnswer
from experiments.judge.evidence.claim_group import ClaimGroup
from experiments.judge.evidence.replay import Replay, replay_looks
from experiments.judge.evidence.sequential_test import LEAST_RUNS, describe_unseen, list_looks
from experiments.judge.evidence.standings import Outcome
from experiments.judge.question import AskedClaim, ClaimQuestion, ComputedQuestion, Evidence, Need
from experiments.judge.readings_together import combine_readings
from experiments.judge.tasks import RunTasks, run_here
from experiments.judge.verdict import Verdict
from experiments.judge.words import count_runs, describe_where, format_effect, format_share
from experiments.store.results import Results


def judge_claims(
    claims: Sequence[AskedClaim],
    results: Results,
    numbers: pd.DataFrame | None = None,
    run_tasks: RunTasks = run_here,
) -> list[ClaimAnswer]:
    """Judge claims on the runs that there are, and on the verdicts on printed numbers, which some are about."""
    verdicts_of = {} if numbers is None else {row["id"]: row for row in numbers.to_dict("records")}
    tasks: list[Callable[[], dict[str, Any]]] = []
    for claim in claims:
        question = claim.question
        if isinstance(question, ComputedQuestion):
            tasks.append(partial(question.compute, verdicts_of))
        else:
            tasks.append(partial(judge_by_runs, question, question.gather(results)))
    answers = []
    for claim, found in zip(claims, run_tasks(tasks), strict=True):
        known = {"id": claim.id, "text": claim.text, "kind": claim.kind, "metric": claim.question.metric}
        answer = ClaimAnswer(**known, as_read=found["verdict"], **found)
        if claim.is_against_reconstruction and answer.verdict not in (Verdict.NOT_RUN, Verdict.NOT_IMPLEMENTED):
            answer = answer.model_copy(
                update={"reason": f"{answer.reason}; against our reconstruction of the baseline"}
            )
        answers.append(answer)
    return combine_readings(claims, answers)


def judge_by_runs(question: ClaimQuestion, evidence: Evidence) -> dict[str, Any]:
    """Return what `ClaimAnswer` has of a claim as it is read, from the runs of its groups."""
    known = {"scope": question.scope, "statistic": question.test.statistic, "level": question.level}
    if not evidence.unfit and not any(len(group.values) for group in evidence.groups):
        return known | {"verdict": Verdict.NOT_RUN, "reason": "no cell of it was run"}
    replay = _replay(question, evidence)
    counts = [n or group.count_repeats(question.most) for n, group in zip(replay.counts, evidence.groups, strict=True)]
    runs = max(counts)
    asked = max(n + replay.failed.get(place, 0) for place, n in enumerate(replay.counts))
    if n_unfit := sum(repeat < asked for repeat in evidence.unfit):
        reason = f"{question.obstacle} in {n_unfit} of {asked} repeats"
        return known | {"verdict": Verdict.UNDECIDED, "reason": reason, "runs": runs}
    settings = _describe_settings(evidence.groups, replay, counts)
    n = min(len(group.repeats) for group in evidence.groups)
    changes = np.mean([group.contrasts[0].changes[:n] for group in evidence.groups], axis=0)
    interval = evidence.groups[0].make_interval(changes, 0.0)
    verdict = replay.standings.verdict
    reasons = [*_explain_verdict(question, verdict, settings, runs), *_explain_missing(evidence.groups, replay)]
    if n_undefined := sum(len(group.undefined) for group in evidence.groups):
        reasons.append(f"{question.metric} is undefined in {count_runs(n_undefined)} and counts as 0 there")
    return known | {
        "verdict": verdict,
        "reason": "; ".join(reasons),
        "runs": runs,
        "unseen": describe_unseen(min(counts)) if verdict != Verdict.UNDECIDED else "",
        "counts": {outcome.value: count for outcome, count in replay.standings.count().items()},
        "settings": settings,
        "effect": interval.center,
        "low": interval.low,
        "high": interval.high,
    }


def list_claim_needs(question: ClaimQuestion, evidence: Evidence) -> list[Need]:
    """Return the repeats that a claim still needs to be decided."""
    needed = _replay(question, evidence).needed
    return [Need(evidence.groups[place].settings, repeats) for place, repeats in needed.items()]


def _replay(question: ClaimQuestion, evidence: Evidence) -> Replay:
    looks = list_looks(question.first, question.most)
    if evidence.unfit:
        seen = [look for look in looks if look.n <= min(evidence.unfit)]
        looks = looks[: len(seen) + 1]
    return replay_looks(evidence.groups, looks, question.level)


def _describe_settings(groups: Sequence[ClaimGroup], replay: Replay, counts: Sequence[int]) -> list[SettingAnswer]:
    """Return what each contrast gives, the one that speaks least for the claim first.

    That is of all its runs: those that settled it were stopped because their effect was large, so that theirs is
    exaggerated.
    """
    described = []
    for (place, contrast), outcome in zip(replay.places, replay.standings.outcomes, strict=True):
        group = groups[place]
        found = group.describe(contrast, len(group.repeats))
        gain = float(group.contrasts[contrast].gains.mean()) if len(group.repeats) else math.inf
        described.append((outcome != Outcome.OPPOSITE, gain, SettingAnswer.of_effect(found, outcome, counts[place])))
    described.sort(key=lambda row: row[:2])
    return [setting for *_, setting in described]


def _explain_missing(groups: Sequence[ClaimGroup], replay: Replay) -> list[str]:
    """Say which runs failed or are missing that a look asked for."""
    if replay.failed:
        place, n = next(iter(replay.failed.items()))
        return [
            f"INCOMPLETE: {count_runs(n)} failed{describe_where(groups[place].setting)}: a crash may hide the worst"
        ]
    if replay.needed:
        place, asked = next(iter(replay.needed.items()))
        found = f"{groups[place].count_repeats(asked)} of {asked} repeats are complete"
        return [f"INCOMPLETE: {found}{describe_where(groups[place].setting)}"]
    return []


def _explain_verdict(
    question: ClaimQuestion, verdict: Verdict, settings: Sequence[SettingAnswer], runs: int
) -> list[str]:
    """Say what a verdict rests on: the setting that refutes it, how near an open one is, in how many it holds."""
    decisive, outcomes = settings[0], [setting.outcome for setting in settings]
    if verdict == Verdict.REFUTED:
        strongest = _describe_effect(question, decisive)
        counted = [describe_counts(outcomes)] if len(settings) > 1 else []
        return [f"fails{describe_where(decisive.place)}: {strongest}", *counted]
    if verdict == Verdict.UNDECIDED:
        if runs < LEAST_RUNS:
            return [f"open: {count_runs(runs)}, and {LEAST_RUNS} are the least that prove anything"]
        weakest = next((setting for setting in settings if setting.outcome == Outcome.OPEN), decisive)
        effect = _describe_effect(question, weakest) if weakest.n else "no run"
        if len(settings) == 1:
            return [f"open: {effect}"]
        return [f"open: {describe_counts(outcomes)}; weakest{describe_where(weakest.place)}: {effect}"]
    after = f"after {'up to ' if len(settings) > 1 else ''}{count_runs(runs)}"
    return [f"{describe_counts(outcomes)}, {after}"]


def describe_counts(outcomes: Sequence[Outcome]) -> str:
    """Return in how many settings a claim came out how.

    Examples
    --------
    >>> describe_counts([Outcome.AS_CLAIMED, Outcome.AS_CLAIMED]), describe_counts([Outcome.EQUAL])
    ('as claimed in all 2 settings', 'no difference that matters')
    >>> describe_counts([Outcome.OPPOSITE, Outcome.AS_CLAIMED, Outcome.OPEN, Outcome.OPEN])
    'as claimed in 1 of 4 settings, the opposite in 1, open in 2'
    """
    n = len(outcomes)
    words = {
        Outcome.AS_CLAIMED: "as claimed",
        Outcome.EQUAL: "no difference that matters",
        Outcome.OPPOSITE: "the opposite",
        Outcome.OPEN: "open",
    }
    if n == 1:
        return words[outcomes[0]]
    if len(set(outcomes)) == 1:
        return f"{words[outcomes[0]]} in all {n} settings"
    counted = [f"as claimed in {outcomes.count(Outcome.AS_CLAIMED)} of {n} settings"]
    for outcome in (Outcome.EQUAL, Outcome.OPPOSITE, Outcome.OPEN):
        if count := outcomes.count(outcome):
            counted.append(f"{words[outcome]} in {count}")
    return ", ".join(counted)


def _describe_effect(question: ClaimQuestion, setting: SettingAnswer) -> str:
    shown = format_effect(question.metric, setting.to_mapping())
    if setting.n == 1:
        return f"{shown}, in one run"
    return f"{shown}; {format_share(setting.share_won)} of {count_runs(setting.n)} as claimed"
