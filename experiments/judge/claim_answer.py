"""What is answered of a claim: written to ``claims.json``, and read back as the same."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo, field_validator

from experiments.judge.evidence.standings import Outcome
from experiments.judge.verdict import Verdict


def _read_missing(value: Any) -> Any:
    return math.nan if value is None else value


Number = Annotated[float, BeforeValidator(_read_missing)]
"""A number, NaN where there is none: JSON has null for it."""


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SettingAnswer(_Answer):
    """What the runs of one setting say of one thing that a claim says of it."""

    place: dict[str, Any]
    """The setting, and under ``part`` what of the claim it is about, where a claim says several things of it."""
    outcome: Outcome
    effect: Number = math.nan
    """Of the claim's statistic, with its 95 % interval, on the metric's scale."""
    low: Number = math.nan
    high: Number = math.nan
    margin: Number = math.nan
    """What counts as no difference."""
    share_won: Number = math.nan
    """Of the runs, how many are as claimed: a fact beside the verdict, which does not rest on it."""
    n: int = 0
    """Runs that these numbers are of: all that there are."""
    weighed: int = 0
    """The first of them, which the outcome rests on."""

    @classmethod
    def of_effect(cls, effect: Mapping[str, Any], outcome: Outcome, weighed: int) -> SettingAnswer:
        """Return the answer from what `ClaimGroup.describe` gives."""
        numbers = {name: effect[name] for name in ("effect", "low", "high", "margin", "share_won", "n")}
        place = {name: value for name, value in effect.items() if name not in numbers}
        return cls(place=place, outcome=outcome, weighed=weighed, **numbers)

    def to_mapping(self) -> dict[str, Any]:
        """Return place and numbers as one mapping."""
        return {**self.place, **self.model_dump(exclude={"place", "outcome", "weighed"})}


class ClaimAnswer(_Answer):
    """The verdict on a claim, and what it rests on."""

    id: str
    text: str
    kind: str
    metric: str | None = None
    verdict: Verdict
    """Of all natural readings of the claim together."""
    as_read: Verdict
    """Of the claim as it is read itself."""
    reason: str
    statistic: str = ""
    """What the claim is about, and what verdict, effect and interval are of: "mean" or "median" of the runs."""
    level: float | None = None
    """The chance that it may have of a false verdict, for either side."""
    runs: int | None = None
    """The most that were taken of a setting."""
    unseen: str = ""
    """What so many runs could not have seen."""
    counts: dict[str, int] = {}
    """How many settings came out how."""
    settings: list[SettingAnswer] = []
    """Of each setting, the one that speaks least for the claim first."""
    effect: float | None = None
    """The mean over all settings, with its 95 % interval."""
    low: float | None = None
    high: float | None = None
    scope: str = ""
    """What is special of the splits."""
    conditions: dict[str, Verdict] = {}
    """Where readings differ: what each of them comes to, by how it takes the text."""

    @field_validator("low", "high", mode="before")
    @classmethod
    def _read_end(cls, end: Any, others: ValidationInfo) -> Any:
        """Return NaN for an end that JSON has as null beside an effect."""
        return _read_missing(end) if others.data.get("effect") is not None else end

    @property
    def decisive(self) -> SettingAnswer | None:
        """The setting that refutes the claim, else the weakest; None without runs."""
        return self.settings[0] if self.settings and self.settings[0].n else None

    @property
    def refuting(self) -> SettingAnswer | None:
        """The setting that refutes it as it is read; None if none does."""
        return self.decisive if self.as_read == Verdict.REFUTED else None
