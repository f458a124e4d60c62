"""What a regression check watches: a paper's key ``check``, and the cells, values and verdicts that it stands for.

Settings that are summed up in their mean tell a fault that moves all of them a little, which no single one shows. Where
tails are heavy that mean would be the worst setting's alone; ``clip: [0, 1]`` moves values beyond to the ends first.

Claims are judged by sign tests, whatever the paper's center is, each as the only one and after one number of runs:
then the verdict depends on nothing but how many runs speak for each part of it, and the chance of another verdict has
a bound for any distribution.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, starmap
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binom

from experiments.cells.cell import Cell
from experiments.cells.study_cells import cells_of_study
from experiments.config.kinds.claims import GroupClaim
from experiments.config.paper import Paper, Watch
from experiments.config.setting import describe_setting
from experiments.errors import BadInput, suggest_name
from experiments.judge.evidence.sequential_test import ROUNDING
from experiments.judge.number_answers import list_number_verdicts
from experiments.judge.numbers.number_verdict import NumberVerdict, PrintedNumber
from experiments.judge.verdict import Verdict
from experiments.judge.words import describe_place
from experiments.questions.claims import find_rule
from experiments.questions.number_questions import find_settings, resolve_number
from experiments.questions.preflight import check_metrics
from experiments.questions.printed import list_numbers, read_numbers_of
from experiments.questions.settings import key_of_cell, list_setting_keys
from experiments.regression_check.order_statistics import LEVEL, most_against
from experiments.stats import ALPHA
from experiments.store.results import Results, SettingKey


@dataclass(frozen=True)
class WatchedNumber:
    """One number that is watched: a metric of one setting of a study, or its mean over several."""

    name: str  #: the setting in words
    metric: str
    settings: tuple[SettingKey, ...]
    algorithms: Sequence[str]  #: of these settings
    clip: tuple[float, float] | None = None  #: values beyond them are moved there before the mean is taken

    @property
    def key(self) -> tuple[str, str]:
        """The setting in words, and the metric."""
        return self.name, self.metric

    def collect_values(self, results: Results) -> np.ndarray:
        """Return the number of every repeat that has all its settings, in their order."""
        of_settings = results.find_all(self.settings, self.metric)
        values = pd.concat([pd.Series(runs.values, runs.repeats) for runs in of_settings], axis=1, join="inner")
        complete = values[np.isfinite(values).all(axis=1)]
        return complete.clip(*self.clip or ()).mean(axis=1).to_numpy()


@dataclass(frozen=True)
class WatchList:
    """What is watched of a paper."""

    repeats: int  #: runs of the check
    accepted: int  #: runs that the bands are made from
    numbers: list[WatchedNumber]
    claims: list[GroupClaim]  #: each narrowed to the part of its study that is watched
    must_hold: list[PrintedNumber]  #: that the runs of the check have to bear out

    @property
    def n_tests(self) -> int:
        """How many chances of a false alarm there are."""
        return len(self.numbers) + len(self.claims) + len(self.must_hold)

    def select_algorithm(self, algorithm: str) -> WatchList:
        """Return the part that runs an algorithm, what a change of it alone can move; BadInput if there is none."""
        numbers = [number for number in self.numbers if algorithm in number.algorithms]
        if not numbers:
            names = set(chain.from_iterable(number.algorithms for number in self.numbers))
            raise BadInput(f"no number of {algorithm!r} is watched; {suggest_name(algorithm, sorted(names))}")
        claims = [claim for claim in self.claims if algorithm in _list_algorithms(claim)]
        must_hold = [number for number in self.must_hold if number.algorithm == algorithm]
        return replace(self, numbers=numbers, claims=claims, must_hold=must_hold)


def make_watch_list(paper: Paper) -> WatchList:
    """Return what a paper's key ``check`` asks for; BadInput if there is none, or it names what the paper has not.

    Examples
    --------
    >>> study = {"dataset": "car", "algorithm": "majority", "epsilon": [0.1, 1]}
    >>> check = {"repeats": 9, "accepted": 200, "watch": [{"study": "floor", "metric": "accuracy"}]}
    >>> watched = make_watch_list(Paper(number=0, title="T", studies={"floor": study}, check=check))
    >>> [number.name for number in watched.numbers]
    ['floor: car, majority, epsilon = 0.1', 'floor: car, majority, epsilon = 1']
    """
    if paper.check is None:
        raise BadInput("nothing to check: the paper has no key check, which names what is watched")
    numbers = list(chain.from_iterable(map(partial(_expand_watch, paper), paper.check.watch)))
    for (name, metric), times in Counter(number.key for number in numbers).items():
        if times > 1:
            raise BadInput(f"check: {name}, {metric} is watched twice")
    claims = [_narrow_claim(paper, name, where or {}) for name, where in paper.check.claims.items()]
    must_hold = _find_printed(paper, paper.check.must_hold)
    return WatchList(paper.check.repeats, paper.check.accepted, numbers, claims, must_hold)


def _find_printed(paper: Paper, names: Sequence[str]) -> list[PrintedNumber]:
    known = {number.id: number for number in list_numbers(read_numbers_of(paper))} if names else {}
    for name in names:
        if name not in known:
            raise BadInput(f"check: the paper prints no number {name!r}; {suggest_name(name, list(known))}")
        if known[name].statistic != "mean" or known[name].table not in paper.exhibits:
            raise BadInput(f"check: printed number {name!r} is no mean of a setting of a table or figure")
        find_settings(paper, known[name])
    return [known[name] for name in names]


def _expand_watch(paper: Paper, watch: Watch) -> list[WatchedNumber]:
    study = paper.study(watch.study, "check")
    axes = study.axes(watch.where)
    check_metrics(paper, "check", watch.study, watch.where, [watch.metric])
    varying = [name for name in axes if name in ("dataset", "algorithm") or len(study.axis(name)) > 1]
    within = watch.within or tuple(varying)
    clipped = "" if watch.clip is None else ", clipped to {:g} to {:g}".format(*watch.clip)
    numbers = []
    for values in study.settings(within, watch.where):
        named = dict(zip(within, values, strict=True))
        where = axes | {name: [value] for name, value in named.items()}
        settings = list_setting_keys(study, where)
        several = f", mean of {len(settings)} settings" if len(settings) > 1 else ""
        name = f"{study.name}: {describe_setting(named)}{several}{clipped}"
        numbers.append(WatchedNumber(name, watch.metric, settings, where["algorithm"], watch.clip))
    return numbers


def _narrow_claim(paper: Paper, name: str, where: Mapping[str, Any]) -> GroupClaim:
    claim = paper.claim(name, "check")
    if not isinstance(claim, GroupClaim):
        raise BadInput(f"check: claim {name!r} is not about the runs of one study; watch its settings instead")
    narrowed = claim.replaced(where={**claim.where, **where})
    narrowed.find_part(paper)
    return narrowed


def _list_algorithms(claim: GroupClaim) -> list[str]:
    return list(map(str, [*claim.where.get("algorithm", ()), *claim.named_values.values()]))


def make_watched_cells(paper: Paper, watched: WatchList, repeats: Iterable[int]) -> dict[str, list[Cell]]:
    """Return the cells of all that is watched, by study, for some repeats; a cell that several numbers need is one."""
    parts = [claim.find_part(paper) for claim in watched.claims]
    parts += [find_settings(paper, printed) for printed in watched.must_hold]
    settings = [*(number.settings for number in watched.numbers), *starmap(list_setting_keys, parts)]
    wanted = set(chain.from_iterable(settings))
    repeats, asked = list(repeats), {setting.study for setting in wanted}
    cells: dict[str, list[Cell]] = defaultdict(list)
    for name in [name for name in paper.studies if name in asked]:
        for cell in cells_of_study(paper, name, repeats=1):
            if key_of_cell(paper.studies[name], cell) in wanted:
                cells[name] += cell.repeats(repeats)
    return dict(cells)


ClaimParts = Sequence[tuple[str, np.ndarray]]
"""Every part of a claim: where it is, and what it wants above zero, of each complete repeat."""


def list_claim_parts(paper: Paper, claim: GroupClaim, results: Results) -> ClaimParts:
    """Return the parts of a claim that is narrowed to what is watched."""
    parts = []
    for group in find_rule(claim).make_question(paper).gather(results).groups:
        for contrast in group.contrasts:
            parts.append((describe_place({**group.setting, "part": contrast.name}), contrast.gains))
    return parts


def judge_parts(parts: ClaimParts, repeats: int) -> tuple[Verdict, str]:
    """Return the verdict of sign tests on a watched claim of which each setting should have so many runs, and why.

    It is reproduced if significantly many runs speak for every part of it, refuted if significantly many speak against
    some part (Bonferroni over the parts), and else undecided. A run that is missing speaks for nothing.
    """
    n_for = [int((gains > ROUNDING).sum()) for _, gains in parts]
    n_against = [int((gains < -ROUNDING).sum()) for _, gains in parts]
    if repeats - min(n_for) <= _count_tolerated(repeats, ALPHA):
        where, _ = parts[n_for.index(min(n_for))]
        return Verdict.REPRODUCED, f"{where}: {min(n_for)} of {repeats} runs as claimed, the fewest"
    where, _ = parts[n_against.index(max(n_against))]
    reason = f"{where}: {max(n_against)} of {repeats} runs the other way"
    is_refuted = repeats - max(n_against) <= _count_tolerated(repeats, ALPHA / len(parts))
    return (Verdict.REFUTED if is_refuted else Verdict.UNDECIDED), reason


def judge_must_hold(paper: Paper, watched: WatchList, results: Results) -> list[tuple[PrintedNumber, NumberVerdict]]:
    """Return the verdicts on the printed numbers that have to hold, from the runs of the check.

    A check looks once. What lies outside is *undecided*, outside so far, and never *refuted*: neither holds.
    """
    judged_so = paper.replaced(repeats=watched.repeats, most_repeats=watched.repeats)
    questions = [resolve_number(judged_so, number, ()) for number in watched.must_hold]
    return list(zip(watched.must_hold, list_number_verdicts(questions, results), strict=True))


def explain_doubt(parts: ClaimParts, verdict: str, n_further: int) -> str:
    """Return why so many further runs may well give another verdict; nothing if the chance is below ``LEVEL``.

    A claim that is reproduced stays so unless too many runs speak against some part of it. One that is refuted stays so
    as long as enough runs contradict one part. Both are counts of signs, see `most_against`.
    """
    if verdict == Verdict.UNDECIDED:
        return f"it is {verdict}"
    if verdict == Verdict.REPRODUCED:
        too_many = _count_tolerated(n_further, ALPHA) + 1
        tests = [gains <= ROUNDING for _, gains in parts]
    else:
        too_many = _count_tolerated(n_further, ALPHA / len(parts)) + 1
        tests = [gains >= -ROUNDING for _, gains in parts]
    margins = []
    for is_against in tests:
        allowed = most_against(len(is_against), n_further, too_many, LEVEL / len(tests))
        margins.append((allowed, int(is_against.sum()), len(is_against)))
    choose = min if verdict == Verdict.REPRODUCED else max  # all must hold, or one must
    allowed, n_against, n = choose(margins, key=lambda margin: margin[0] - margin[1])
    return "" if n_against <= allowed else f"{n_against} of {n} runs speak against it, and {max(allowed, 0)} may"


def _count_tolerated(n: int, alpha: float) -> int:
    """Return how many of n signs may be wrong in a sign test that is significant; -1 if it never is."""
    p_values = binom.sf(n - np.arange(n + 1) - 1, n, 0.5)  # with 0, 1, ... wrong signs
    return int(np.flatnonzero(p_values < alpha).max(initial=-1))
