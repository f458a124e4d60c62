"""The checks of private estimators find what is wrong: `test_estimators` has all of ours, which pass them."""

import math

import numpy as np
import pandas as pd
import pytest

from algorithms import (
    DomainError,
    DPCRegressor,
    ThriftyBayesClassifier,
    check_private_estimator,
)
from algorithms.accounting.events import Spent
from algorithms.checks import list_private_checks
from algorithms.released.numbers import ReleasedNumbers
from experiments.skeletons.algorithm import NoisyBayesClassifier


class DrawsAnew(ThriftyBayesClassifier):
    def seed(self):
        return np.random.SeedSequence()


class ForgetsToBook(ThriftyBayesClassifier):
    def _ledger(self, plan):
        return Spent("laplace", "one count of many", plan.count_epsilon * 2 * plan.n_counted, 1.0)


class FixedEpsilon(ThriftyBayesClassifier):
    def account(self, claimed_epsilon, ledger, faults=(), **given):
        return super().account(1.0, ledger, faults, **given)


class ClipsTheRowsGiven(ThriftyBayesClassifier):
    def fit(self, X, y):
        if isinstance(X, pd.DataFrame) and pd.api.types.is_numeric_dtype(X["age"]):
            X["age"] = X["age"].clip(0, 100)
        return super().fit(X, y)


class SilentWithoutDomain(ThriftyBayesClassifier):
    def _inferred_domain(self, X, y):
        with pytest.warns():
            return super()._inferred_domain(X, y)


class ReadsColumnsByPlace(ThriftyBayesClassifier):
    def fit(self, X, y):
        return super().fit(X.to_numpy() if isinstance(X, pd.DataFrame) else X, y)


class LeavesOutBadRows(ThriftyBayesClassifier):
    def _leaves_out(self):
        return True


class TakesAnything(ThriftyBayesClassifier):
    def check_parameters(self, n_features):
        if not isinstance(self.n_bins, int):
            self.n_bins = 16
        super().check_parameters(n_features)


class DrawsFeatures(ThriftyBayesClassifier):
    def _add_noise(self, table, plan, rng):
        return super()._add_noise(table, plan, rng) + rng.random(table.shape)


class ReleasesSomethingElse(ThriftyBayesClassifier):
    def _released(self, origin):
        released = super()._released(origin)
        released.log_sizes[:] = np.arange(len(released.log_sizes))[::-1] * 100.0
        return released


class AnotherUnit(DPCRegressor):
    def predict(self, X):
        return np.full(len(X), math.nan)


FAULTY = {
    DrawsAnew: "check_seed_decides_model",
    ForgetsToBook: "check_account",
    FixedEpsilon: "check_account",
    ClipsTheRowsGiven: "check_rows_stay_as_they_are",
    SilentWithoutDomain: "check_missing_domain",
    ReadsColumnsByPlace: "check_names_of_columns_count",
    LeavesOutBadRows: "check_bad_cells_are_refused",
    TakesAnything: "check_bad_parameters_are_refused",
    DrawsFeatures: "check_model_without_noise",
    ReleasesSomethingElse: "check_release",
    AnotherUnit: "check_predicted_numbers",
}


@pytest.mark.parametrize(("faulty", "name"), FAULTY.items(), ids=[faulty.__name__ for faulty in FAULTY])
def test_a_faulty_estimator_is_noticed_by_the_check_that_is_about_it(faulty, name):
    (check,) = (check for check in list_private_checks(faulty()) if check.__name__ == name)
    with pytest.raises((AssertionError, DomainError)):
        check(faulty())
    with pytest.raises(AssertionError, match=f"^{faulty.__name__}: check_"):
        check_private_estimator(faulty())


def test_a_release_without_predictions_is_checked_as_far_as_it_goes():
    assert not hasattr(ReleasedNumbers, "predict")
    check_private_estimator(NoisyBayesClassifier(epsilon=2.0))
