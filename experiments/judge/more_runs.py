"""Which settings need how many more runs before what is open of them can be decided."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from experiments.judge.claim_answers import list_claim_needs
from experiments.judge.number_answers import list_number_needs
from experiments.judge.numbers.number_verdict import NumberQuestion, NumberVerdict
from experiments.judge.question import AskedClaim, ClaimQuestion, Need
from experiments.store.results import Results, SettingKey


class MoreRuns(NamedTuple):
    """A setting of which there are fewer runs than the next look at it takes; more looks may follow."""

    setting: SettingKey
    #: Runs that there are, and that are needed.
    n: int
    needed: int

    def to_mapping(self) -> dict[str, Any]:
        """Return the setting and both numbers as one mapping."""
        setting = {"study": self.setting.study, **dict(zip(self.setting.axes, self.setting.values, strict=True))}
        return {**setting, "runs": self.n, "needed": self.needed, "more": self.needed - self.n}


def list_more_runs(
    claims: Iterable[AskedClaim],
    numbers: Sequence[NumberQuestion],
    results: Results,
    verdicts: Mapping[str, NumberVerdict],
) -> dict[str, list[MoreRuns]]:
    """Return what open claims and printed numbers need, by their ids; of the numbers there are the verdicts.

    What is decided needs none, nor does what stays open: no more runs are allowed, some failed, or they would be in
    vain.
    """
    more = {}
    for claim in claims:
        question = claim.question
        if isinstance(question, ClaimQuestion):
            needs = list_claim_needs(question, question.gather(results))
            more[claim.id] = _list_settings(needs, question.metric, results)
    for number in numbers:
        of_number = list_number_needs([number], results, known=verdicts)
        more[number.number.id] = _list_settings(of_number, number.number.metric, results)
    return {name: settings for name, settings in more.items() if settings}


def _list_settings(needs: Iterable[Need], metric: str, results: Results) -> list[MoreRuns]:
    settings: dict[SettingKey, MoreRuns] = {}
    for need in needs:
        for setting in need.settings:
            n = results.find(setting, metric).n_attempted
            if n < need.repeats:
                settings[setting] = MoreRuns(setting, n, need.repeats)
    return list(settings.values())
