"""No exact number of rows decides anything: a table grows row by row, and each step is replayed.

A threshold on a count is crossed at one number of rows only, which a handful of neighbouring tables may miss. Here a
table grows from one row to twenty: copies of one record, so that all nodes above its leaf pass every number. Epsilon is
small, so that the depth of a tree follows from its noisy count. All estimators that keep their claim are replayed, in
one process without compilation; those of classes on tables of eight classes, too, of which one grows from none of the
records to most.
"""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import ClassifierMixin

from algorithms import Domain, Nominal, RFDPPGiniClassifier
from algorithms.forests import rfdpp_gini
from algorithms.forests.engine import depth
from experiments.audit.neighbouring_tables import DOMAIN, MIDDLE, TablePair
from experiments.audit.replay import replay_audit
from experiments.audit.subjects import FEATURES, Subject, list_subjects
from experiments.config import estimators
from tests.combined import COMBINED
from tests.plain_python import found_by

pytestmark = pytest.mark.long

N_MOST = 20
SMALL = {"n_estimators": 1, "max_depth": 3, "epsilon": 3.0}


def growing():
    """Tables of 1, 2, 3, ... rows, each beside the next."""
    pairs = []
    for n in range(1, N_MOST):
        records = n * [(*MIDDLE, 0.0)]
        records[n // 2 : n // 2] = [(*MIDDLE, 1.0)]
        pairs.append(TablePair(f"{n} rows and one more", DOMAIN, tuple(records[:-1]), tuple(records)))
    return pairs


MANY_CLASSES = Domain(FEATURES, Nominal("y", range(8)))


def growing_class():
    """Tables of 35 rows, five of each class but the first, and 0, 1, 2, ... of the first, each beside the next."""
    rng = np.random.default_rng(0)
    others = [(x / 2, float(x % 2), float(x % 3), float(y)) for y in range(1, 8) for x in rng.integers(17, size=5)]
    first = [(x / 2, float(x % 2), float(x % 3), 0.0) for x in rng.integers(17, size=N_MOST)]
    tables = [tuple(others + first[:n]) for n in range(N_MOST + 1)]
    return [
        TablePair(f"{n} rows of a class and one more", MANY_CLASSES, table, larger)
        for n, (table, larger) in enumerate(pairwise(tables))
    ]


def of_many_classes(subject):
    return replace(sized(subject), params=sized(subject).params | {"domain": MANY_CLASSES})


def sized(subject):
    accepted = estimators.list_parameters(subject.target)
    return replace(subject, params=subject.params | {name: value for name, value in SMALL.items() if name in accepted})


KEPT = [subject for subject in list_subjects() if subject.is_sound]
KEPT += COMBINED
KEPT += [Subject("always a tail", "tests.planted.AlwaysATail", {})]


class ThriftyAtLargeCounts(RFDPPGiniClassifier):
    """A sound forest whose splits are drawn with less budget where a node has more than 17 rows."""

    def _bind_grower(self, table):
        grow = super()._bind_grower(table)
        draw = rfdpp_gini.draw_public_cut

        def drawn(growth, table, i, features, totals, epsilon, rng):
            return draw(growth, table, i, features, totals, epsilon / (1 + (totals.sum() > 17)), rng)

        def growing(table, rows, rng):
            rfdpp_gini.draw_public_cut = drawn
            try:
                return grow(table, rows, rng)
            finally:
                rfdpp_gini.draw_public_cut = draw

        return growing


class DepthOfTheRows(RFDPPGiniClassifier):
    """A sound forest as deep as the exact number of its rows allows."""

    def _bind_grower(self, table):
        grow, exact = super()._bind_grower(table), len(table.labels)

        def growing(table, rows, rng):
            affordable = depth.affordable_levels
            depth.affordable_levels = lambda reach, n_rows: affordable(reach, exact)
            try:
                return grow(table, rows, rng)
            finally:
                depth.affordable_levels = affordable

        return growing


PLANTED = [
    Subject(cls.__name__, f"tests.test_no_exact_count_decides.{cls.__name__}", {"variant": "sound"})
    for cls in (ThriftyAtLargeCounts, DepthOfTheRows)
]


def every_subject():
    """Print as JSON which rules are broken on the way."""
    kinds = {}
    for subject in [*KEPT, *PLANTED]:
        report = replay_audit.replay_subject(sized(subject), growing())
        assert report.keeps_claim, subject.name
        broken = set(report.broken_rules)
        if issubclass(estimators.import_class(subject.target), ClassifierMixin):
            broken |= replay_audit.replay_subject(of_many_classes(subject), growing_class()).broken_rules
        kinds[subject.name] = sorted(broken)
    print(json.dumps(kinds))


@pytest.fixture(scope="module")
def kinds():
    return found_by("test_no_exact_count_decides", "every_subject")


@pytest.mark.parametrize("subject", KEPT, ids=lambda subject: subject.name)
def test_whatever_the_number_of_rows_one_more_changes_no_step(subject, kinds):
    assert kinds[subject.name] == []


@pytest.mark.parametrize("subject", PLANTED, ids=lambda subject: subject.name)
def test_a_threshold_on_an_exact_count_is_found(subject, kinds):
    assert set(kinds[subject.name]) & {"calls", "told"}
