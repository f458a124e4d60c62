"""How often the verdict on a claim is false, and how soon a true one comes: claims are drawn, and the judge judges.

All settings of many claims are weighed at once, by the functions that weigh a real one (`RunsUnderTest`). What these
give goes look by look into `replay_looks`, which ends where the judge ends. A claim of which no p-value at any look is
below what the look may spend stays open, so it is counted without a replay.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from experiments.calibration.gains import POINT, GainFamily
from experiments.judge.evidence.claim_group import ClaimTest, PValues, RunsUnderTest
from experiments.judge.evidence.replay import replay_looks
from experiments.judge.evidence.sequential_test import list_looks
from experiments.judge.evidence.standings import Outcome
from experiments.judge.verdict import Verdict
from experiments.metrics.metric import Margin
from experiments.stats import ALPHA

MOST = 320
LOOKS = tuple(list_looks(20, MOST))
MARGIN = Margin(POINT)

_BATCH = 1200  # settings that are held at once: as many claims of 1, 10 or 40 settings as fit


def find_level(n_claims: int) -> float:
    """Return the level of either side of a claim in a paper that has so many.

    Examples
    --------
    >>> find_level(20), find_level(1)
    (0.00125, 0.025)
    """
    return round(ALPHA, 12) / n_claims / 2


class SettingTruth(NamedTuple):
    """What is true of some settings of a claim: how they vary, and what they gain."""

    family: GainFamily
    gain: float

    def is_false(self, outcome: Outcome) -> bool:
        """Return whether it is wrong to say that of such a setting."""
        if outcome == Outcome.EQUAL:
            return abs(self.gain) >= MARGIN.size
        return (outcome == Outcome.AS_CLAIMED and self.gain <= 0) or (outcome == Outcome.OPPOSITE and self.gain >= 0)

    def list_false(self) -> list[str]:
        """Return the p-values of what would be wrong to say."""
        names = {
            Outcome.AS_CLAIMED: ["each", "any"],
            Outcome.OPPOSITE: ["opposite"],
            Outcome.EQUAL: ["equal_each", "equal_any"],
        }
        return [name for outcome, of_outcome in names.items() if self.is_false(outcome) for name in of_outcome]


class TrueClaim(NamedTuple):
    """Claims that are drawn alike: the truth of each setting."""

    settings: tuple[SettingTruth, ...]
    #: Of the runs of two settings, as of those on the same splits.
    correlation: float = 0.0

    @classmethod
    def alike(cls, family: GainFamily, gain: float, n: int, correlation: float = 0.0) -> TrueClaim:
        """Return a claim whose settings are all alike."""
        return cls((SettingTruth(family, gain),) * n, correlation)


@dataclass(frozen=True)
class LookedAt:
    """What the looks at many claims find; arrays have a row for each claim, a column for each setting."""

    #: By number of runs.
    p_values: Mapping[int, PValues]
    hopes: Mapping[int, np.ndarray]

    @property
    def n_claims(self) -> int:
        """How many claims there are."""
        return len(next(iter(self.hopes.values())))

    def find_candidates(self, settings: Sequence[SettingTruth], level: float) -> np.ndarray:
        """Return the places of the claims of which something false may be shown: of no other is it, whatever is run."""
        may = np.zeros(self.n_claims, dtype=bool)
        for place, setting in enumerate(settings):
            for name in setting.list_false():
                for look in LOOKS:
                    may |= getattr(self.p_values[look.n], name)[:, place] <= look.share * level
        return np.flatnonzero(may)

    def regroup(self, n_settings: int) -> LookedAt:
        """Return settings that are all alike and independent as claims of so many; what is left over is left out."""

        def regroup(numbers: np.ndarray) -> np.ndarray:
            n_claims = numbers.size // n_settings
            return numbers.ravel()[: n_claims * n_settings].reshape(n_claims, n_settings)

        p_values = {n: PValues(*map(regroup, found)) for n, found in self.p_values.items()}
        return LookedAt(p_values, {n: regroup(hope) for n, hope in self.hopes.items()})

    @staticmethod
    def join(parts: Sequence[LookedAt], axis: int) -> LookedAt:
        """Return several as one, with more claims (0) or more settings (1)."""
        p_values, hopes = {}, {}
        for n in parts[0].hopes:
            of_parts = zip(*(part.p_values[n] for part in parts), strict=True)
            p_values[n] = PValues(*(np.concatenate(found, axis=axis) for found in of_parts))
            hopes[n] = np.concatenate([part.hopes[n] for part in parts], axis=axis)
        return LookedAt(p_values, hopes)


class SimulatedGroup(NamedTuple):
    """One setting of a simulated claim, as `replay_looks` wants it: what its looks find is there already."""

    found: LookedAt
    claim: int
    setting: int
    n_attempted: int = MOST
    n_contrasts: int = 1

    def count_repeats(self, look: int) -> int:
        """Return that no run fails."""
        return look

    def weigh(self, n: int, is_alone: bool) -> list[PValues]:
        """Return what the look finds."""
        return [PValues(*(float(p[self.claim, self.setting]) for p in self.found.p_values[n]))]

    def is_promising(self, place: int, n: int, most: int, level: float) -> bool:
        """Return whether more runs could prove something."""
        return bool(self.found.hopes[n][self.claim, self.setting] <= level)


def look_at_runs(runs: RunsUnderTest, shape: tuple[int, int], kinds: Collection[bool]) -> dict[bool, LookedAt]:
    """Return what the looks at many settings find, by claim and setting.

    Of each kind that is asked for: True, each setting as the only one of its claim; False, as one of several.
    """
    by_alone: dict[bool, dict[int, PValues]] = {is_alone: {} for is_alone in kinds}
    hopes = {}
    for look in LOOKS:
        (examined,) = runs.examine(look.n)
        hopes[look.n] = examined.find_optimistic_p(MOST).reshape(shape)
        for is_alone, p_values in by_alone.items():
            p_values[look.n] = PValues(*(p.reshape(shape) for p in examined.find_p_values(is_alone)))
    return {is_alone: LookedAt(p_values, hopes) for is_alone, p_values in by_alone.items()}


def draw_runs(
    rng: np.random.Generator, setting: SettingTruth, shape: tuple[int, int], correlation: float
) -> RunsUnderTest:
    """Return the runs of settings that are alike, of so many claims with so many settings each."""
    levels = setting.family.draw_settings(rng, (*shape, MOST), setting.gain, correlation)
    test = ClaimTest(setting.family.claim(setting.gain), MARGIN)
    return RunsUnderTest(levels.reshape(len(levels), -1, MOST).T, test)


def list_kinds_of_settings(claim: TrueClaim) -> list[tuple[SettingTruth, int]]:
    """Return the settings that differ, each with how many there are, in their order."""
    return list(Counter(claim.settings).items())


def look_at_claims(rng: np.random.Generator, claim: TrueClaim, n_claims: int) -> LookedAt:
    """Return what the looks at so many claims find that are drawn alike."""
    parts, is_alone = [], len(claim.settings) == 1
    for setting, n in list_kinds_of_settings(claim):
        runs = draw_runs(rng, setting, (n_claims, n), claim.correlation)
        parts.append(look_at_runs(runs, (n_claims, n), (is_alone,))[is_alone])
    return LookedAt.join(parts, axis=1)


class JudgedClaim(NamedTuple):
    """What the judge says of one claim."""

    verdict: Verdict
    outcomes: tuple[Outcome, ...]
    #: Runs of each setting that were weighed.
    runs: tuple[int, ...]


def judge_claim(found: LookedAt, claim: int, level: float) -> JudgedClaim:
    """Judge one claim by what its looks found."""
    n_settings = next(iter(found.hopes.values())).shape[1]
    groups = [SimulatedGroup(found, claim, setting) for setting in range(n_settings)]
    replay = replay_looks(groups, LOOKS, level)
    return JudgedClaim(replay.standings.verdict, tuple(replay.standings.outcomes), tuple(replay.counts))


@dataclass
class FalseVerdicts:
    """How many of some claims got a false verdict, or have a setting of which something false is shown."""

    n: int = 0
    #: By verdict.
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    settings: int = 0

    def __add__(self, other: FalseVerdicts) -> FalseVerdicts:
        """Return both together."""
        return FalseVerdicts(self.n + other.n, self.verdicts + other.verdicts, self.settings + other.settings)


def count_false(claim: TrueClaim, found: LookedAt, level: float) -> FalseVerdicts:
    """Return how many of the claims are judged wrongly."""
    counted = FalseVerdicts(found.n_claims)
    for place in found.find_candidates(claim.settings, level):
        judged = judge_claim(found, int(place), level)
        if any(truth.is_false(outcome) for truth, outcome in zip(claim.settings, judged.outcomes, strict=True)):
            counted.settings += 1
            if judged.verdict != Verdict.UNDECIDED:
                counted.verdicts[judged.verdict] += 1
    return counted


@dataclass
class Decisions:
    """How many of some claims came to the verdict that is true, and after how many runs of a setting at most."""

    n: int = 0
    by_runs: Counter[int] = field(default_factory=Counter)
    runs: float = 0.0

    def __add__(self, other: Decisions) -> Decisions:
        """Return both together."""
        return Decisions(self.n + other.n, self.by_runs + other.by_runs, self.runs + other.runs)

    def find_share(self, runs: int) -> float:
        """Return which share came to it within so many runs of each setting."""
        return sum(n for n_runs, n in self.by_runs.items() if n_runs <= runs) / self.n

    @property
    def mean_runs(self) -> float:
        """Runs of a setting that were asked for, on average."""
        return self.runs / self.n


def count_decided(found: LookedAt, verdict: Verdict, level: float) -> Decisions:
    """Return how many of the claims come to a verdict, and when."""
    counted = Decisions(found.n_claims)
    for place in range(found.n_claims):
        judged = judge_claim(found, place, level)
        counted.runs += float(np.mean(judged.runs))
        counted.by_runs[max(judged.runs)] += judged.verdict == verdict
    return counted


def seed_batches(words: str, n_claims: int, n_settings: int) -> Iterator[tuple[np.random.Generator, int]]:
    """Yield generators, the same for the same words, each with the number of claims that are to be drawn from it."""
    size = max(1, _BATCH // n_settings)
    for batch, start in enumerate(range(0, n_claims, size)):
        yield np.random.default_rng([zlib.crc32(words.encode()), batch]), min(size, n_claims - start)


def simulate_false(name: str, claim: TrueClaim, n_claims: int, level: float) -> FalseVerdicts:
    """Return how many of so many claims that are drawn alike get a false verdict; ``name`` is the seed."""
    counted = FalseVerdicts()
    for rng, n in seed_batches(name, n_claims, len(claim.settings)):
        counted += count_false(claim, look_at_claims(rng, claim, n), level)
    return counted


def simulate_no_difference(
    family: GainFamily, n_settings: int, sizes: Sequence[int], numbers_of_claims: Sequence[int]
) -> dict[tuple[int, int], FalseVerdicts]:
    """Return the false verdicts where no setting gains, by how many claims a paper has, and a claim settings.

    The settings are drawn once, and grouped into claims of each size.
    """
    setting = SettingTruth(family, 0.0)
    counted = {(n_claims, size): FalseVerdicts() for n_claims in numbers_of_claims for size in sizes}
    for rng, n in seed_batches(family.name, n_settings, 1):
        runs = draw_runs(rng, setting, (n, 1), 0.0)
        looked_at = look_at_runs(runs, (n, 1), {size == 1 for size in sizes})
        for size in sizes:
            found, claim = looked_at[size == 1].regroup(size), TrueClaim((setting,) * size)
            for n_claims in numbers_of_claims:
                counted[n_claims, size] += count_false(claim, found, find_level(n_claims))
    return counted


def simulate_decisions(name: str, claim: TrueClaim, verdict: Verdict, n_claims: int, level: float) -> Decisions:
    """Return how many of so many claims come to the verdict that is true, and when; ``name`` is the seed."""
    counted = Decisions()
    for rng, n in seed_batches(name, n_claims, len(claim.settings)):
        counted += count_decided(look_at_claims(rng, claim, n), verdict, level)
    return counted
