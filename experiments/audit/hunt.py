"""Search for pairs of tables on which trainings can prove most; ``make hunt``.

A pair is worth what n trainings on each table could prove of ε by it. That can be told from a few hundred exact losses
(`sample_losses`) without the black box: of trainings on the neighbour, those that lose t or more are an event, whose
share is its probability there; its probability on the table is the mean of exp(-loss) over it (importance sampling).
The event of the largest losses is the best by the lemma of Neyman and Pearson. So a pair, how many categories, classes
and records of each kind, is worth a number, and a random walk uphill from tables that are known to hurt
(`list_starts`), changing a thing or two at a time, finds better ones.

To search by estimated probabilities for a pair and an event, which trainings of their own then confirm, is the way of
DP-Sniper (Bichsel, Steffen, Bogunovic, Vechev, 2021), which learns the event from trainings, and of Delta-Siege
(Lokna, Paradis, Dimitrov, Vechev, 2023), which searches for what exceeds the claim most. Here the law of a training is
known, and need not be learned. What is found stands in ``conf/audit_pairs.yaml``.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, is_classifier

from algorithms.accounting.events import RELATIONS, REPLACED
from algorithms.accounting.privacy import Privacy
from algorithms.forests.forest import PrivateForest
from algorithms.installation import PROGRAM
from algorithms.parameters import ParameterError
from experiments.audit.attacks.black_box import list_pairs, resize_estimator
from experiments.audit.neighbouring_tables import split_targets
from experiments.audit.observe.trainings import derive_key
from experiments.audit.outcomes import FALSE_ALARMS, bound_epsilon_by_counts, read_claim
from experiments.audit.plain_python import require_plain_python
from experiments.audit.replay.exact_losses import sample_losses
from experiments.audit.subjects import Subject, list_subjects
from experiments.audit.table_templates import CONTINUOUS, HIGHEST, Codes, TableTemplate
from experiments.config import estimators
from experiments.errors import BadInput, suggest_name

EPSILON = 1.0
COUNTED = 900_000  #: trainings on each table that are to count an event
ALPHA = FALSE_ALARMS / 26  #: chance of a wrong bound in each direction, with 13 pairs of tables
PEEK, GLANCE, LOOK = 30, 150, 1_000
"""Losses that are sampled to see whether a template deserves more, to compare it with another, and in the end."""
DOUBLING = 0.005
"""What twice as many records have to be worth: small tables are trained on sooner, and read more easily."""
LEAST = 3  #: losses of an event, at least, for its probability to be told
CLIMBS, STEPS = 2, 60  #: how many of the best starts are climbed from, and how many steps are tried from each
ENOUGH = 0.96  #: A pair that is worth this share of the claim leaves nothing to be found


def compute_provable_epsilon(sample: np.ndarray, n: int = COUNTED, alpha: float = ALPHA) -> float:
    """Return what n trainings on each of two tables could prove of ε, by losses of some trainings on the neighbour.

    ``sample`` is as from `sample_losses`; ``alpha`` is the chance of a wrong bound, in each direction.

    Notes
    -----
    The best of the events {loss >= t}, likelier on the neighbour, and {loss <= t}, likelier on the table. Probabilities
    are taken as small as a standard error makes them, so that no pair is thought better for few losses.

    Examples
    --------
    >>> round(compute_provable_epsilon(np.repeat([0.5, -0.9], 1000)), 3)
    0.895
    """
    m, best = len(sample), 0.0
    for losses_first in (np.sort(sample)[::-1], np.sort(sample)):
        share = np.arange(1, m + 1) / m
        share -= np.sqrt(share * (1 - share) / m)
        here = np.clip(share, 0, 1)
        there = np.clip(here * np.cumsum(np.exp(-losses_first)) / np.arange(1, m + 1), 0, 1)
        seen_here, seen_there = (n * np.array([here, there])[:, LEAST - 1 :]).astype(np.int64)
        likelier_here = bound_epsilon_by_counts(seen_here, seen_there, n, alpha)
        likelier_there = bound_epsilon_by_counts(seen_there, seen_here, n, alpha)
        best = max(best, float(np.max([likelier_here, likelier_there])))
    return best


Worth = Callable[[TableTemplate, float], float]
"""(template, what it has to exceed) -> what it is worth, or 0 where it was soon seen not to exceed that."""


def improve_template(
    start: TableTemplate, worth: Worth, enough: float, steps: int, rng: np.random.Generator
) -> TableTemplate:
    """Walk uphill: take each step that is worth more, until one is worth enough; returns where the walk ends."""
    best, most = start, worth(start, 0.0)
    for _ in range(steps):
        if most >= enough:
            break
        other = vary_template(best, rng)
        other_is_worth = worth(other, most)
        if other_is_worth > most:
            best, most = other, other_is_worth
    return best


def choose_starts(starts: list[TableTemplate], worth: Worth, n: int) -> list[TableTemplate]:
    """Return the n best of some starts, the best first."""
    ranking: list[tuple[float, TableTemplate]] = []
    for start in starts:
        least = ranking[n - 1][0] if len(ranking) >= n else 0.0
        ranking = sorted([*ranking, (worth(start, least), start)], key=lambda pair: -pair[0])
    return [start for _, start in ranking[:n]]


def search_pair(subject: Subject, neighbours: str) -> dict:
    """Search for the pair of one relation that can prove most of an algorithm's claim; returns an entry of the file."""
    rng, forest = np.random.default_rng(derive_key(subject.name, neighbours)), subject.build(epsilon=EPSILON)

    def sample(template: TableTemplate, n: int, first: int = 0) -> np.ndarray:
        pair = template.build_pair()
        return sample_losses(resize_estimator(forest, pair, subject.params), pair, n, first)

    def worth(template: TableTemplate, least: float) -> float:
        toll = DOUBLING * math.log2(template.n_records)
        try:
            losses = sample(template, PEEK)
        except ParameterError:  # some take no such columns
            return 0.0
        if np.abs(losses).max() - toll <= least:  # no event can prove more than the largest loss
            return 0.0
        return compute_provable_epsilon(np.concatenate([losses, sample(template, GLANCE - PEEK, PEEK)])) - toll

    starts = choose_starts(list_starts(not is_classifier(forest), neighbours), worth, CLIMBS)
    claimed = read_claim(_read_privacy(forest), neighbours)
    assert claimed is not None  # a sound forest's claim speaks of both relations
    ends = [improve_template(start, worth, ENOUGH * claimed, STEPS, rng) for start in starts]
    provable = [compute_provable_epsilon(sample(template, LOOK)) for template in ends]
    proves, best = max(zip(provable, ends, strict=True), key=lambda pair: pair[0])
    print(f"{subject.name}, {neighbours}: {proves:.3f} of {claimed:g}", file=sys.stderr, flush=True)
    return {"algorithm": subject.name, "worth": round(proves / claimed, 3), **best.to_entry()}


def _read_privacy(forest: BaseEstimator) -> Privacy:
    pair = list_pairs(forest)[0]
    model = resize_estimator(forest, pair).set_params(domain=pair.domain, random_state=0)
    return model.fit(*split_targets(pair.domain, pair.table)).privacy_


def list_sound_forests() -> dict[str, Subject]:
    """Return the forests that call themselves sound, by name."""
    forests = {}
    for subject in list_subjects():
        is_forest = issubclass(estimators.import_class(subject.target), PrivateForest)
        if is_forest and "epsilon" not in subject.params and _read_privacy(subject.build(epsilon=EPSILON)).keeps_claim:
            forests[subject.name] = subject
    return forests


def hunt_pairs(algorithms: Sequence[str], jobs: int) -> Iterator[dict]:
    """Search for the pairs of some algorithms, or of all sound forests; yields entries of the file as they come.

    It is BadInput if there is no such forest, or losses would be sampled by compiled code.
    """
    require_plain_python("exact losses need", f"as in `DPREPLICA_PLAIN=1 {PROGRAM} hunt`")
    sound = list_sound_forests()
    for name in algorithms:
        if name not in sound:
            raise BadInput(f"{name!r} is no sound forest; {suggest_name(name, sound)}")
    tasks = (
        delayed(search_pair)(sound[name], neighbours) for name, neighbours in product(algorithms or sound, RELATIONS)
    )
    return Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks)


# Starts of a search, and steps.


def list_starts(is_regression: bool, neighbours: str) -> list[TableTemplate]:
    """Return templates that are known to hurt: ties in a leaf, a question that hardly anybody would ask."""
    other, target = (8, CONTINUOUS) if is_regression else (1, 2)
    starts: list[TableTemplate] = []
    lost: Codes | None
    for n in (5, 50, 1000):  # leaves in which two classes tie, or one leads by a record
        lost = (0, 0) if neighbours == REPLACED else None
        tie = TableTemplate((1,), target, (((0, 0), n), ((0, other), n)), (0, other), lost)
        lead = replace(tie, shared=(((0, 0), n + 1), ((0, other), n)))
        starts += [tie, lead, replace(lead, splits=0)]
    # one other record is alone in a category of one column, or alike in all columns but many
    for n, width, n_classes in ((5, 3, 4), (50, 6, 4), (50, 4, 3)):
        zeros = (0,) * width
        target = CONTINUOUS if is_regression else n_classes
        lost = (*zeros, 2) if neighbours == REPLACED else None
        alone = TableTemplate((2,) + (1,) * (width - 1), target, (((*zeros, 0), n),), (1, *zeros[1:], other), lost)
        alike = replace(alone, columns=(1,) + (2,) * (width - 1), gained=(0,) + (1,) * (width - 1) + (other,))
        starts += [alone, alike]
    return starts


def vary_template(template: TableTemplate, rng: np.random.Generator) -> TableTemplate:
    """Return a template that differs by a step or two."""
    for _ in range(100):
        varied = template
        for _ in range(int(rng.integers(1, 3))):
            varied = _CHANGES[rng.integers(len(_CHANGES))](varied, rng)
        varied = _merge_records(varied)
        if varied != template and varied.is_valid:
            return varied
    return template


def _merge_records(template: TableTemplate) -> TableTemplate:
    """Return the same tables with each shared record once, in order."""
    counts: Counter = Counter()
    for record, times in template.shared:
        counts[record] += times
    return replace(template, shared=tuple(sorted((+counts).items())))


def _change_count(template: TableTemplate, rng: np.random.Generator) -> TableTemplate:
    shared = list(template.shared)
    if not shared:
        return template
    i = rng.integers(len(shared))
    record, times = shared[i]
    shared[i] = record, int(rng.choice([times + 1, times - 1, 2 * times, times // 2, times + 5, times - 5]))
    return replace(template, shared=tuple(shared))


def _change_size(template: TableTemplate, rng: np.random.Generator) -> TableTemplate:
    by = rng.choice([0.5, 2.0, 5.0])
    return replace(template, shared=tuple((record, int(by * times)) for record, times in template.shared))


def _add_records(template: TableTemplate, rng: np.random.Generator) -> TableTemplate:
    records = [*(record for record, _ in template.shared), template.gained]
    record = records[rng.integers(len(records))]
    times = int(rng.choice([1, 2, 5, 20, 100]))
    return replace(template, shared=(*template.shared, (_change_code(template, record, rng), times)))


def _remove_records(template: TableTemplate, rng: np.random.Generator) -> TableTemplate:
    i = rng.integers(len(template.shared) + 1)
    return replace(template, shared=template.shared[:i] + template.shared[i + 1 :])


def _change_record(template: TableTemplate, rng: np.random.Generator) -> TableTemplate:
    if template.lost and rng.random() < 0.5:
        return replace(template, lost=_change_code(template, template.lost, rng))
    return replace(template, gained=_change_code(template, template.gained, rng))


def _change_code(template: TableTemplate, record: Codes, rng: np.random.Generator) -> Codes:
    widths = (*template.columns, template.target)
    j = rng.integers(len(widths))
    if widths[j] < 0:  # a step before took a category from a continuous column: the template is given up
        return record
    return (*record[:j], int(rng.integers(widths[j] or HIGHEST + 1)), *record[j + 1 :])


def _change_width(template: TableTemplate, rng: np.random.Generator) -> TableTemplate:
    by = int(rng.choice([-1, 1]))
    j = rng.integers(len(template.columns) + 1)
    if j == len(template.columns):
        return replace(template, target=max(template.target + by, 2)) if template.target != CONTINUOUS else template
    columns = list(template.columns)
    columns[j] = CONTINUOUS if rng.random() < 0.1 else columns[j] + by
    return replace(template, columns=tuple(columns))


def _add_column(template: TableTemplate, rng: np.random.Generator) -> TableTemplate:
    """Return a template with a copy of a column, or one in which all records agree but perhaps the one that differs."""
    if rng.random() < 0.5:
        j = int(rng.integers(len(template.columns)))
        return template.map_columns(lambda codes: (codes[j], *codes))
    width, code = int(rng.integers(1, 3)), int(rng.integers(2))
    wider = template.map_columns(lambda codes: (0, *codes))
    return replace(wider, columns=(width, *template.columns), gained=(code, *template.gained))


def _remove_column(template: TableTemplate, rng: np.random.Generator) -> TableTemplate:
    if len(template.columns) == 1:
        return template
    j = int(rng.integers(len(template.columns)))
    return template.map_columns(lambda codes: codes[:j] + codes[j + 1 :])


def _change_depth(template: TableTemplate, rng: np.random.Generator) -> TableTemplate:
    return replace(template, splits=template.splits + int(rng.choice([-1, 1])))


_CHANGES = (
    _change_count,
    _change_count,
    _change_size,
    _add_records,
    _remove_records,
    _change_record,
    _change_width,
    _add_column,
    _remove_column,
    _change_depth,
)
"""The changes that a search tries; counts most often."""
