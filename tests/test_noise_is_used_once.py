"""Noise protects one answer once: another seed gives other noise, and what is said once more has no other.

That no two answers of one fit share noise is seen by the replay (kind ``noise``). Here fits are compared: all that
mechanisms draw follows from ``random_state``, so that no constant of the code, which is public, decides it. Estimators
are those of ``conf/algorithm``, recorded in one process without compilation.
"""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest

from algorithms import PrivacyLeakWarning
from experiments.audit.neighbouring_tables import build_replay_pairs, make_arrays
from experiments.audit.replay.recorder import CallRecorder, include_modules, recording_calls
from experiments.audit.subjects import GRID, Subject, list_subjects
from experiments.config import estimators
from tests.combined import COMBINED
from tests.plain_python import found_by

KEPT = [subject for subject in list_subjects() if "epsilon" not in subject.params] + COMBINED
PLANTED = Subject("planted", "tests.test_noise_is_used_once.ConstantSeed", {"variant": "sound"})


class ConstantSeed(estimators.import_class("algorithms.EDPRFClassifier")):
    """Whatever random_state says, its trees draw the same."""

    def seed(self):
        return np.random.SeedSequence(1)


class Streams(CallRecorder):
    """A tape that keeps where calls begin to draw, and their keys."""

    def marks(self):
        return self._stream_starts | {f"key {key}" for key in self.keyed_calls}


def marks_of(subject, seed):
    """Where the calls of a fit begin to draw, and the keys of what it says."""
    include_modules([estimators.import_class(subject.target).__module__])
    tape = Streams()
    with recording_calls(tape):
        model = (
            replace(subject, params=subject.params | {"random_state": seed})
            .make_estimator()
            .fit(*make_arrays(build_replay_pairs()[0].table))
        )
        model.predict(GRID)
    return tape.marks()


def every_subject():
    """Print as JSON how many draws there are in fits from two seeds, and how many they share."""
    warnings.simplefilter("ignore", PrivacyLeakWarning)
    shared = {}
    for subject in [*KEPT, PLANTED]:
        some, others = (marks_of(subject, seed) for seed in (1, 2))
        shared[subject.name] = [len(some), len(some & others)]
    print(json.dumps(shared))


@pytest.fixture(scope="module")
def shared():
    return found_by("test_noise_is_used_once", "every_subject")


@pytest.mark.parametrize("subject", KEPT, ids=lambda subject: subject.name)
def test_another_seed_gives_other_noise_everywhere(subject, shared):
    n_draws, n_shared = shared[subject.name]
    assert n_shared == 0
    assert n_draws > 0 or subject.target.rpartition(".")[2] in ("ASNClassifier", "CPPPWClassifier")


def test_a_seed_that_is_a_constant_is_found(shared):
    n_draws, n_shared = shared[PLANTED.name]
    assert 0 < n_shared == n_draws
