"""Verdicts on the claims of a paper: is it true, and how sure is that?

A claim is decided by as many runs as it takes, look by look (`evidence.replay`), on the paper's own statistic and by
most runs; where the two contradict each other it ``depends on the average``. Where the mean of a bounded metric is not
decided, which takes runs enough to rule out a collapse, but most runs are, the verdict is theirs and says so.

The chance that a paper gets a verdict of one kind, such as reproduced or refuted, which is false is at most 5 %,
whatever the distribution of its runs. (A claim with one part exactly at zero and another exactly at δ may be wrong in
two ways.) Each claim of its text has an equal share of that: half of it for the claim as printed, the other half for
our readings of it (``reading_of``) together, so that a reading that somebody adds never makes the claim itself harder
to decide. A share is halved where two questions are asked, on average and in most runs.

A claim may be another reading of the text of one before it: where that one is refuted as printed and this one is
reproduced, that one's verdict is ``only under a reading``, with both reasons.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from experiments.judge.evidence.claim_group import (
    HOLDS_WITHIN,
    ClaimGroup,
    RunsQuestion,
    State,
    estimate_rerun_probability,
    list_lowest,
)
from experiments.judge.evidence.replay import QuestionState, Replay, list_looks, replay_looks
from experiments.judge.question import AskedClaim, ClaimQuestion, ComputedQuestion, Evidence, Need
from experiments.judge.tasks import RunTasks, run_here
from experiments.judge.verdict import (
    DEPENDS_ON_AVERAGE,
    EQUAL,
    NOT_IMPLEMENTED,
    NOT_RUN,
    ONLY_UNDER_READING,
    REFUTED,
    REPRODUCED,
    REPRODUCED_WITHIN,
    UNDECIDED,
    count_runs,
    format_effect,
    say_share,
    say_where,
)
from experiments.store.results import Results

_FIELDS = (
    *("verdict", "reason", "on_average", "in_most_runs", "level", "repeats", "looks"),
    *("center", "effect", "low", "high", "rerun_probability"),
    *("at_bound", "groups", "contradiction", "scope", "cells", "cells_expected"),
)


def judge_claims(
    claims: Sequence[AskedClaim],
    results: Results,
    numbers: pd.DataFrame | None = None,
    run_tasks: RunTasks = run_here,
) -> list[dict[str, Any]]:
    """Judge claims on the runs that there are, and on the verdicts on printed numbers, which some are about.

    For each there is id, text, kind, metric, and what `answer_claim` says of it. What a claim has not is None.
    """
    verdicts_of = {} if numbers is None else {row["id"]: row for row in numbers.to_dict("records")}
    tasks: list[Callable[[], dict[str, Any]]] = []
    for claim in claims:
        question = claim.question
        if isinstance(question, ComputedQuestion):
            tasks.append(partial(question.compute, verdicts_of))
        else:
            tasks.append(partial(answer_claim, question, question.gather(results)))
    answers = []
    for claim, found in zip(claims, run_tasks(tasks), strict=True):
        own = {"id": claim.id, "text": claim.text, "kind": claim.kind, "metric": claim.question.metric}
        answers.append(own | dict.fromkeys(_FIELDS) | found)
    _judge_readings(claims, answers)
    for claim, answer in zip(claims, answers, strict=True):
        if claim.is_against_reconstruction and answer["verdict"] not in (NOT_RUN, NOT_IMPLEMENTED):
            answer["reason"] += "; against our reconstruction of the baseline"
    return answers


def answer_claim(question: ClaimQuestion, evidence: Evidence) -> dict[str, Any]:
    """Return the verdict on a claim, from the runs of its groups.

    It has, as far as they are known: verdict, reason; on_average and in_most_runs (the verdict by each, None where it
    is not asked), level (α of each), repeats (the most that a group took), looks, center, effect with low and high (of
    the mean group, on the metric's scale, 95 %), rerun_probability, at_bound (groups set aside), groups (of each the
    setting, the effect of its weakest part with its interval, margin, share_won, n and state, the weakest group first),
    contradiction (the part that refutes the claim), scope, cells and cells_expected.
    """
    counts: dict[str, Any] = {"scope": question.scope, "center": question.test.center}
    if not evidence.unfit and not any(len(group.values) for group in evidence.groups):
        return counts | {"verdict": NOT_RUN, "reason": "no cell of it was run"}
    tested = _list_tested(question, evidence)
    counts["at_bound"] = len(evidence.groups) - len(tested)
    if not tested:
        reason = f"every run of every setting gives {question.test.rule.bound:g}, which cannot move as claimed"
        return counts | {"verdict": UNDECIDED, "reason": reason}
    replay = _replay(question, evidence, tested)
    repeats = max(replay.looks)
    if n_unfit := sum(repeat < repeats for repeat in evidence.unfit):  # of those that were asked for
        reason = f"{question.obstacle} in {n_unfit} of {repeats} repeats"
        return counts | {"verdict": UNDECIDED, "reason": reason, "repeats": repeats}
    return {**counts, **_describe_replay(question, tested, replay)}


def list_claim_needs(question: ClaimQuestion, evidence: Evidence) -> list[Need]:
    """Return the repeats that a claim still needs to be decided."""
    tested = _list_tested(question, evidence)
    needed = _replay(question, evidence, tested).needed if tested else {}
    return [Need(tested[place].settings, repeats) for place, repeats in needed.items()]


def _list_tested(question: ClaimQuestion, evidence: Evidence) -> list[ClaimGroup]:
    """Return the groups that can move as claimed."""
    return [group for group in evidence.groups if not group.is_at_bound(question.first)]


def _replay(question: ClaimQuestion, evidence: Evidence, groups: Sequence[ClaimGroup]) -> Replay:
    looks = list_looks(question.first, question.most)
    if evidence.unfit:
        looks = looks[: bisect_right(looks, min(evidence.unfit)) + 1]
    return replay_looks(groups, looks, math.log(len(question.test.questions) / question.level))


def _describe_replay(question: ClaimQuestion, groups: Sequence[ClaimGroup], replay: Replay) -> dict[str, Any]:
    verdicts = {answer.question: answer.verdict for answer in replay.answers}
    states = list(map(_find_decisive(replay).describe_group, range(len(groups))))
    lowest = list_lowest(groups, replay.counts, states)
    contradiction = None
    if found := next(filter(None, (answer.contradiction for answer in replay.answers)), None):
        place, part = found
        contradiction = groups[place].describe_part(part, replay.counts[place])
    n = min(replay.counts)  # the effect over all groups is that of the repeats that all of them have
    interval = groups[0].make_interval(np.mean([group.parts[0].changes[:n] for group in groups], axis=0))
    n_found = n_expected = n_undefined = 0
    for place, group in enumerate(groups):
        n_found += replay.counts[place] * len(group.settings)
        n_expected += (replay.looks[place] or replay.needed.get(place, 0)) * len(group.settings)
        n_undefined += int((group.undefined < replay.looks[place]).sum())
    verdict, basis = combine_answers(verdicts)
    reasons = _explain_incompleteness(groups, replay)
    reasons += [basis] if basis else []
    reasons += _explain_verdict(question, verdict, states, replay, lowest, contradiction)
    if n_undefined:
        reasons.append(f"{question.metric} is undefined in {count_runs(n_undefined)} and counts as 0 there")
    return {
        "on_average": verdicts.get(RunsQuestion.MEAN),
        "in_most_runs": verdicts[RunsQuestion.MOST],
        "level": question.level / len(verdicts),
        "repeats": max(replay.looks),
        "looks": sorted(set(replay.looks)),
        "rerun_probability": estimate_rerun_probability(groups, replay.counts),
        "groups": lowest,
        "contradiction": contradiction,
        "cells": n_found,
        "cells_expected": n_expected,
        "effect": interval.center,
        "low": interval.low,
        "high": interval.high,
        "verdict": verdict,
        "reason": "; ".join(reasons),
    }


def combine_answers(verdicts: Mapping[RunsQuestion, str]) -> tuple[str, str]:
    """Return the verdict on a claim from those on its two questions, and what is special about them.

    Two answers that agree are nothing special, and no mean that stays open: it takes runs enough to rule out a rare
    collapse, which most single runs need not. `describe_answers` says each of these.

    Examples
    --------
    >>> combine_answers({RunsQuestion.MEAN: "undecided", RunsQuestion.MOST: "refuted"})
    ('refuted', '')
    >>> combine_answers({RunsQuestion.MEAN: "refuted", RunsQuestion.MOST: "undecided"})
    ('refuted', 'the mean of the runs says no, most single runs are open')
    >>> combine_answers({RunsQuestion.MEAN: "reproduced", RunsQuestion.MOST: "refuted"})
    ('depends on the average', 'the mean of the runs says yes, most single runs say no')
    """
    most = verdicts[RunsQuestion.MOST]
    mean = verdicts.get(RunsQuestion.MEAN, most)
    if mean in (most, UNDECIDED):
        return most, ""
    basis = describe_answers(mean, most)
    if most != UNDECIDED and REFUTED in (mean, most):
        return DEPENDS_ON_AVERAGE, basis
    return mean, basis


def describe_answers(on_average: str | None, in_most_runs: str) -> str:
    """Say what the mean of the runs says of a claim, and what most single runs say; a mean may not be asked.

    Examples
    --------
    >>> describe_answers("undecided", "refuted")
    'the mean of the runs is open, most single runs say no'
    >>> describe_answers("reproduced", "reproduced"), describe_answers(None, "practically equal")
    ('the mean and most single runs say yes', 'most single runs say that there is no difference')
    """
    most = _ANSWERS[in_most_runs]
    if on_average is None:
        return f"most single runs {most}"
    if on_average == in_most_runs:
        return f"the mean and most single runs {most}"
    mean = {"are open": "is open"}.get(_ANSWERS[on_average], _ANSWERS[on_average].replace("say", "says", 1))
    return f"the mean of the runs {mean}, most single runs {most}"


_ANSWERS = {
    REPRODUCED: "say yes",
    REPRODUCED_WITHIN: "say yes, within ± δ",
    EQUAL: "say that there is no difference",
    REFUTED: "say no",
    UNDECIDED: "are open",
}


def _explain_incompleteness(groups: Sequence[ClaimGroup], replay: Replay) -> list[str]:
    """Say which runs are missing that a look asked for."""
    short = [place for place, look in enumerate(replay.looks) if replay.counts[place] < look]
    waiting = [place for place, look in replay.needed.items() if replay.looks[place] == 0]
    if not short and not waiting:
        return []
    place = (short or waiting)[0]
    asked = replay.looks[place] or replay.needed[place]
    found = f"{groups[place].count_repeats(asked)} of {asked} repeats are complete"
    return [f"INCOMPLETE: {found}{say_where(groups[place].setting)}"]


def _explain_verdict(
    question: ClaimQuestion,
    verdict: str,
    states: Sequence[str],
    replay: Replay,
    lowest: Sequence[Mapping],
    contradiction: Mapping[str, Any] | None,
) -> list[str]:
    """Say what a verdict rests on: the setting that refutes it, how near an open one is, in how many it holds."""
    held = _count_states(states)
    in_settings = [held] if len(states) > 1 else []
    if contradiction is not None and verdict in (REFUTED, DEPENDS_ON_AVERAGE):
        return [f"fails{say_where(contradiction)}: {_say_effect(question, contradiction)}", *in_settings]
    if verdict == UNDECIDED:
        open_group = next((group for group in lowest if group["state"] == State.OPEN.value), lowest[0])
        effect = [_say_effect(question, open_group)] if open_group["n"] else []
        if len(states) > 1:
            effect = [f"weakest{say_where(open_group)}: {said}" for said in effect]
        return [f"open: {'; '.join([*in_settings, *effect])}"] if in_settings or effect else ["open"]
    runs = count_runs(max(replay.looks))
    return [f"{held}, after {runs}" if len(states) == 1 else f"{held}, after up to {runs}"]


def _count_states(states: Sequence[str]) -> str:
    """Say in how many settings a claim is proven, proven within ± δ, or shows no difference.

    Examples
    --------
    >>> _count_states(["holds"] * 3), _count_states(["holds", "open"])
    ('holds in all 3 settings', 'proven in 1 of 2 settings')
    >>> _count_states(["holds", "practically equal"])
    'proven in 1 of 2 settings, no difference that matters in 1'
    >>> _count_states(["practically equal"] * 2), _count_states(["holds within ± δ"])
    ('no difference that matters in any of 2 settings', 'holds within ± δ')
    """
    n = len(states)
    if len(set(states)) == 1 and states[0] != State.OPEN.value:
        if n == 1:
            return _STATES[states[0]]
        every = "any of" if states[0] == State.EQUAL.value else "all"
        return f"{_STATES[states[0]]} in {every} {n} settings"
    counts = [f"proven in {states.count(State.HOLDS.value)} of {n} settings"]
    for state in dict.fromkeys(states):
        if state not in (State.HOLDS.value, State.OPEN.value):
            counts.append(f"{_STATES[state].removeprefix('holds ')} in {states.count(state)}")
    return ", ".join(counts)


_STATES = {
    State.HOLDS.value: "holds",
    HOLDS_WITHIN: "holds within ± δ",
    State.EQUAL.value: "no difference that matters",
}


def _find_decisive(replay: Replay) -> QuestionState:
    """Return the question that the verdict is about, or that is nearer to one."""
    main = replay.answers[0]
    if main.verdict != UNDECIDED:
        return main
    return min(replay.answers, key=lambda answer: (answer.verdict == UNDECIDED, answer.count_open()))


def _say_effect(question: ClaimQuestion, effect: Mapping[str, Any]) -> str:
    shown = re.sub("(?<!e)-", "−", format_effect(question.metric, effect))
    if effect["n"] == 1:
        return f"{shown}, {'as' if effect['share_won'] else 'not as'} claimed, in one run"
    return f"{shown}, as claimed in {say_share(effect['share_won'])} of {count_runs(effect['n'])}"


def _judge_readings(claims: Sequence[AskedClaim], answers: Sequence[dict]) -> None:
    """Give claims that come out only under another reading of the text, ``reading_of``, a verdict that says so."""
    by_id = {answer["id"]: answer for answer in answers}
    holding: dict[str, list[str]] = {}
    for claim in claims:
        if claim.reading_of and claim.reading_of in by_id and by_id[claim.id]["verdict"] == REPRODUCED:
            holding.setdefault(claim.reading_of, []).append(claim.id)
    for name, readings in holding.items():
        literal, another = by_id[name], f"holds under another reading ({', '.join(readings)})"
        if literal["verdict"] == REFUTED:
            literal["verdict"] = ONLY_UNDER_READING
            literal["reason"] = f"{another}; as printed: {literal['reason']}"
        elif literal["verdict"] == UNDECIDED:
            literal["reason"] += f"; {another}"
