"""Would a claim hold on further rows of the same kind? Splits are crossed with draws of the noise to find out.

A verdict speaks of further runs on the same rows. Other rows would change more than a split does, and the repeats of a
random split share rows, so their spread understates by how much. Nadeau and Bengio ("Inference for the generalization
error", Machine Learning 52, 2003) widen the interval of a mean over n splits: its variance becomes
(1/n + n_test/n_train) s^2 in place of s^2/n. That is right for what the split makes of s^2 alone, as the noise of an
algorithm is drawn anew in every run, whatever rows it shares. So every split is run with two draws of the noise, which
tells the two parts of the variance apart, and only the part of the split is widened.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t as student

from datasets import catalogue
from experiments.cells.cell import Cell
from experiments.cells.study_cells import cells_of_studies
from experiments.config.paper import Paper
from experiments.config.study import Study
from experiments.judge.claim_answers import describe_counts
from experiments.judge.evidence.claim_group import ClaimGroup
from experiments.judge.evidence.standings import Outcome
from experiments.judge.question import AskedGroup, ClaimQuestion
from experiments.judge.words import describe_place
from experiments.questions.group_claim import has_random_split
from experiments.questions.paper_questions import resolve_claims
from experiments.questions.printed import list_numbers, read_numbers_of
from experiments.questions.settings import key_of_cell
from experiments.stats import LEVEL
from experiments.store.results import Results

DRAWS = 2
"""Draws of the noise on each split."""

LEAST_SPLITS = 3
"""With fewer splits nothing is said of their variance."""


class SplitVariance(NamedTuple):
    """What the runs of one part of a claim say of further rows."""

    #: Splits, each run with two draws of the noise.
    n: int
    #: The mean over all runs.
    gain: float
    #: Its 95 % interval for further rows.
    low: float
    high: float
    #: Standard deviation that the noise makes of one run.
    noise: float
    #: Standard deviation that the split makes of one run.
    split: float


def estimate_split_variance(values: np.ndarray, overlap: float) -> SplitVariance:
    """Tell the variance of the split from that of the noise, and widen the interval of the mean by the first.

    Values of shape (n_splits, n_draws) are what a claim wants to know of each run, of at least two splits and two
    draws; ``overlap`` is what repeats share, as `find_overlap` returns it.

    Notes
    -----
    One-way analysis of variance: the mean square within splits is the variance of the noise, and the variance of the
    splits' means is that of the split and 1/n_draws of that of the noise. A variance of the split that comes out below
    zero is zero.

    Examples
    --------
    >>> of_split_alone = estimate_split_variance(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]), 0.5)
    >>> of_split_alone.gain, of_split_alone.noise, of_split_alone.split
    (2.0, 0.0, 1.0)
    """
    n_splits, n_draws = values.shape
    noise = float(values.var(axis=1, ddof=1).mean())
    of_means = float(values.mean(axis=1).var(ddof=1))
    split = max(of_means - noise / n_draws, 0.0)
    half = float(student.ppf((1 + LEVEL) / 2, n_splits - 1)) * math.sqrt(of_means / n_splits + overlap * split)
    gain = float(values.mean())
    return SplitVariance(n_splits, gain, gain - half, gain + half, math.sqrt(noise), math.sqrt(split))


def find_overlap(study: Study, dataset: str) -> float:
    """Return how much of the variance of a split stays in the mean of ever so many splits of the same rows.

    With all rows on one side or the other that is n_test/n_train (Nadeau and Bengio). Rows that are drawn out of more
    overlap less, in proportion to the share that is drawn.

    Examples
    --------
    >>> round(find_overlap(Study(dataset="car", algorithm="rdt", protocol={"test_size": 0.2}), "car"), 4)
    0.25
    >>> drawn = {"train_rows": 432, "test_rows": 432}
    >>> find_overlap(Study(dataset="car", algorithm="rdt", protocol=drawn), "car")
    0.5
    """
    protocol = study.protocol
    if protocol.train_rows is None or protocol.test_rows is None:
        return protocol.test_size / (1 - protocol.test_size)
    sizes = protocol.train_rows, protocol.test_rows
    train, test = (sum(size.values()) if isinstance(size, Mapping) else size for size in sizes)
    return test / train * (train + test) / catalogue.read_entry(dataset).rows


def list_crossed_cells(paper: Paper) -> list[dict[str, list[Cell]]]:
    """Return the cells that tell whether claims hold on further rows: by draw of the noise, and by study.

    Asked are all claims about means, of the settings whose rows are split at random.
    """
    asked = chain.from_iterable(groups for _, _, groups in _list_asked(paper))
    wanted = set(chain.from_iterable(group.list_settings() for group in asked))
    first: dict[str, list[Cell]] = {}
    for name, cells in cells_of_studies(paper).items():
        study = paper.studies[name]
        drawn = {dataset for dataset in study.dataset if has_random_split(study, dataset)}
        first[name] = [cell for cell in cells if cell.dataset in drawn and key_of_cell(study, cell) in wanted]
    crossed: list[dict[str, list[Cell]]] = [{} for _ in range(DRAWS)]
    for draw, redrawn in enumerate(crossed):
        for name, cells in first.items():
            redrawn[name] = [replace(cell, protocol=cell.protocol.replaced(draw=draw)) for cell in cells]
    return crossed


def judge_further_rows(paper: Paper, tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return what crossed runs say of each claim, one row for each of its parts.

    Columns: ``claim, setting`` (in words), ``part, n`` (splits), ``gain`` with ``low`` and ``high`` (what the claim
    wants above zero, in the metric's own unit; 95 %, for further rows), ``noise`` and ``split`` (standard deviations
    that each makes of one run) and ``outcome``, an `Outcome`.
    """
    rows = []
    results = list(map(Results, tables))
    for claim, question, asked in _list_asked(paper):
        narrowed = replace(question, groups=tuple(asked))
        found = zip(*(narrowed.gather(of_draw).groups for of_draw in results), strict=True)
        for group, draws in zip(asked, found, strict=True):
            overlap = find_overlap(*_find_place(paper, group))
            rows += [{"claim": claim, **row} for row in _judge_group(draws, overlap)]
    columns = ["claim", "setting", "part", "n", "gain", "low", "high", "noise", "split", "outcome"]
    return pd.DataFrame(rows, columns=columns)


def _list_asked(paper: Paper) -> Iterator[tuple[str, ClaimQuestion, list[AskedGroup]]]:
    """Yield the claims about means with those of their groups whose rows are split at random."""
    for claim in resolve_claims(paper, list_numbers(read_numbers_of(paper))):
        if isinstance(claim.question, ClaimQuestion) and claim.question.test.statistic == "mean":
            groups = [group for group in claim.question.groups if has_random_split(*_find_place(paper, group))]
            yield claim.id, claim.question, groups


def _find_place(paper: Paper, group: AskedGroup) -> tuple[Study, str]:
    """Return the study and the data set that a group of a claim is about; a group of several is about the first."""
    first = group.levels[0][0]
    study = paper.studies[first.study]
    return study, first.values[first.axes.index("dataset")]


def _judge_group(groups: Sequence[ClaimGroup], overlap: float) -> Iterator[dict[str, Any]]:
    """Yield what the draws of the noise say of each part of one group, on the splits that all draws have."""
    splits = sorted(set.intersection(*(set(group.repeats.tolist()) for group in groups)))
    if len(splits) < LEAST_SPLITS:
        return
    shared = [np.isin(group.repeats, splits) for group in groups]

    def estimate_sides(by_draw: Iterable[Sequence[np.ndarray]]) -> list[SplitVariance]:
        sides = zip(*by_draw, strict=True)
        kept = ([of_draw[mask] for of_draw, mask in zip(side, shared, strict=True)] for side in sides)
        return [estimate_split_variance(np.column_stack(side), overlap) for side in kept]

    for contrasts in zip(*(group.contrasts for group in groups), strict=True):
        sides = estimate_sides(contrast.sides for contrast in contrasts)
        by_draw = [group.runs.list_equal_sides(one) for group, one in zip(groups, contrasts, strict=True)]
        ways = [estimate_sides(way) for way in zip(*by_draw, strict=True)]
        place = {"setting": describe_place(groups[0].setting), "part": contrasts[0].name}
        weakest = min(sides, key=attrgetter("low"))
        yield {**place, **weakest._asdict(), "outcome": _find_outcome(sides, ways).value}


def _find_outcome(sides: Sequence[SplitVariance], ways: Iterable[Sequence[SplitVariance]]) -> Outcome:
    """Return what the intervals of a part show, in the order that verdicts have, too.

    The claim wants all ``sides`` above zero. Each of ``ways`` has what must be above zero if no difference matters.
    """
    if any(all(side.low > 0 for side in way) for way in ways):
        return Outcome.EQUAL
    if any(side.high < 0 for side in sides):
        return Outcome.OPPOSITE
    return Outcome.AS_CLAIMED if all(side.low > 0 for side in sides) else Outcome.OPEN


def describe_further_rows(rows: pd.DataFrame) -> str:
    """Return in how many settings a claim comes out how on new rows of the same kind, from the rows of that claim.

    Examples
    --------
    >>> rows = pd.DataFrame({"n": [10, 10, 10], "outcome": ["as claimed", "opposite", "open"]})
    >>> describe_further_rows(rows)
    'on new rows of this kind: as claimed in 1 of 3 settings, the opposite in 1, open in 1 (10 splits)'
    >>> describe_further_rows(rows.iloc[:1])
    'on new rows of this kind: as claimed (10 splits)'
    """
    counted = describe_counts([Outcome(outcome) for outcome in rows["outcome"]])
    return f"on new rows of this kind: {counted} ({rows['n'].min()} splits)"
