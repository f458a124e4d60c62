"""``python -m tests.fuzz seed=0 cases=300``: every estimator through its public doors, on odd tables.

A case is a function of the seed and its number: an estimator, parameters, a table, and the array, or what else, that
holds it. The estimator is fitted and asked; then its parameters are set to others, and it is asked again; then a fit of
it fails, and it is asked once more. Each step answers, or raises what says that it refuses. Under sanitizers, kernels
that read or write where they should not end the process.
"""

from __future__ import annotations

import ast
import inspect
import math
import re
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager

import numpy as np
import pandas as pd
from sklearn.base import is_regressor

import algorithms
from algorithms import Continuous, Domain, Nominal
from algorithms.base import PrivateEstimator

REFUSALS = (ValueError, MemoryError)
"""What an estimator may raise: the errors of parameters, domains, fits and releases are all of these."""
LONGEST = 20
"""Seconds after which a case is stopped; a kernel that cannot be stopped fails it."""
ESTIMATORS = [
    offered
    for offered in (getattr(algorithms, name) for name in algorithms.__all__)
    if isinstance(offered, type) and issubclass(offered, PrivateEstimator) and hasattr(offered, "predict")
]
NUMBERS = {
    "epsilon": (math.inf, 1.7e308, 1e6, 1.0, 0.01, 1e-12),
    "max_depth": (1, 2, 5, 9, 16, 30),
    "n_estimators": (1, 2, 7, 40),
    "n_bins": (2, 3, 32, 2000),
    "max_features": (None, 1, 2, 10**6),
    "n_jobs": (None, 1, 2, 5),
    "min_samples": (0.0, 5.0),
    "min_gini": (None, 0.2),
    "error_threshold": (0.0, 0.1),
}
WRONG = {"epsilon": (0, -1.0, math.nan), "max_depth": (0, 10**9, "deep"), "n_estimators": (0, -1), "n_bins": (1, 2.5)}
BOUNDS = ((0, 10), (-1.0, 1.0), (-1e36, 1e36), (0, 1e-35), (-0.0, 5.0))
ODD_NUMBERS = (-0.0, 5e-324, -2.2e-310, 1e300, -1e300, math.inf, 0.1 + 0.2)
MANY_CATEGORIES, MANY_CLASSES = 100_000, 300


class TookTooLong(BaseException):
    """A case has run for longer than `LONGEST`."""


def run_case(seed: int, number: int) -> str:
    """Run a case; returns the estimator's name and what each step came to.

    Raises
    ------
    AssertionError
        If an answer has not a row for each that was asked for, or the caller's table has changed.
    BaseException
        What the estimator raised, if that is no refusal.
    """
    rng = np.random.default_rng((seed, number))
    cls = ESTIMATORS[number % len(ESTIMATORS)]
    frame, target, domain = draw_table(rng, is_regressor(cls()))
    X = draw_container(rng, frame)
    model = cls(**draw_parameters(rng, cls), domain=domain, random_state=number)
    steps = {
        "fit": lambda: model.fit(X, target),
        "ask": lambda: ask(model, X, len(frame)),
        "change": lambda: ask(model.set_params(**draw_parameters(rng, cls)), X, len(frame)),
        "fail": lambda: model.set_params(**draw_wrong(rng, cls)).fit(*draw_table(rng, is_regressor(model))[:2]),
        "ask again": lambda: ask(model, X, len(frame)),
    }
    return f"{cls.__name__}: " + ", ".join(f"{name} {outcome(step)}" for name, step in steps.items())


def outcome(step: Callable) -> str:
    """Return whether a step was answered, refused or stopped."""
    with warnings.catch_warnings(), alarm(LONGEST):
        warnings.simplefilter("ignore")
        try:
            step()
        except REFUSALS:
            return "refused"
        except TookTooLong:
            return "stopped"
    return "answered"


@contextmanager
def alarm(seconds):
    """Raise `TookTooLong` after so many seconds."""

    def ring(number, frame):
        raise TookTooLong

    earlier = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, earlier)


def ask(model, X, n_rows: int) -> None:
    """Ask a model for all that it predicts of some rows, twice."""
    before = pd.DataFrame(X).to_numpy().tobytes()
    assert len(model.predict(X)) == n_rows
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(X)
        assert shares.shape == (n_rows, len(model.classes_))
        assert shares.tobytes() == model.predict_proba(X).tobytes()
    assert pd.DataFrame(X).to_numpy().tobytes() == before


def draw_parameters(rng, cls) -> dict:
    """Draw parameters of an estimator: some of the choices that its docstring lists, and odd numbers."""
    listed = re.findall(r"^(\w+) : \{(.*?)\}", inspect.getdoc(cls) or "", flags=re.MULTILINE)
    choices = {name: ast.literal_eval(f"({values},)") for name, values in listed if name != "noise"} | NUMBERS
    names = [name for name in inspect.signature(cls).parameters if name in choices and rng.random() < 0.4]
    drawn = {name: choices[name][rng.integers(len(choices[name]))] for name in names}
    if drawn.get("max_depth", 0) > 9 and drawn.get("n_estimators", 10) > 2:
        drawn["max_depth"] = 9  # deep forests are slow, one or two such trees show as much
    return drawn


def draw_wrong(rng, cls) -> dict:
    """Draw a parameter that no fit accepts, of those that an estimator has."""
    names = [name for name in inspect.signature(cls).parameters if name in WRONG] or ["domain"]
    name = names[rng.integers(len(names))]
    return {name: WRONG[name][rng.integers(len(WRONG[name]))] if name in WRONG else Domain((Continuous("a", 0, 1),))}


def draw_table(rng, is_regression: bool) -> tuple[pd.DataFrame, np.ndarray, Domain]:
    """Draw rows, what is to be predicted and the domain: few rows or some hundred, of columns of either kind."""
    n, n_columns = (
        int(rng.choice([1, 2, 3, 17, 64, 257, 300, 1000])),
        int(rng.choice([1, 2, 3, 5, 40], p=[0.2, 0.2, 0.3, 0.25, 0.05])),
    )
    columns, features = {}, []
    for j in range(n_columns):
        columns[f"c{j}"], feature = draw_column(rng, n, f"c{j}")
        features.append(feature)
    if is_regression:
        lower, upper = BOUNDS[rng.integers(len(BOUNDS))]
        return (
            pd.DataFrame(columns),
            rng.uniform(0, 1, n) * upper,
            Domain(tuple(features), Continuous("y", lower, upper)),
        )
    n_classes = int(rng.choice([2, 3, 5, MANY_CLASSES], p=[0.5, 0.2, 0.2, 0.1]))
    y = rng.integers(0, n_classes, n) if rng.random() < 0.8 else np.zeros(n, dtype=int)
    return pd.DataFrame(columns), y, Domain(tuple(features), Nominal("y", tuple(range(n_classes))))


def draw_column(rng, n: int, name: str):
    """Draw a column, and what the domain says of it."""
    if rng.random() < 0.5:
        n_categories = int(rng.choice([2, 3, 8, 70, MANY_CATEGORIES], p=[0.4, 0.25, 0.25, 0.08, 0.02]))
        return rng.integers(0, n_categories, n).astype(float), Nominal(name, tuple(range(n_categories)))
    lower, upper = BOUNDS[rng.integers(len(BOUNDS))]
    values = lower + rng.uniform(0, 1, n).round(int(rng.integers(0, 4))) * (upper / 2 - lower / 2) * 2
    if rng.random() < 0.3:
        values[rng.integers(n)] = rng.choice(ODD_NUMBERS)
    if rng.random() < 0.03:
        values[rng.integers(n)] = math.nan
    return values, Continuous(name, lower, upper)


def draw_container(rng, frame: pd.DataFrame):
    """Draw what holds a table: arrays of any order, stride, byte order and type, lists or a frame."""
    array = frame.to_numpy()
    read_only = array.copy()
    read_only.flags.writeable = False
    containers = (
        lambda: frame,
        lambda: array,
        lambda: np.asfortranarray(array),
        lambda: np.repeat(array, 2, axis=0)[::2],
        lambda: array[::-1].copy()[::-1],
        lambda: array.astype(">f8"),
        lambda: array.astype(np.float32),
        lambda: array.astype(object),
        lambda: read_only,
        lambda: array.tolist(),
        lambda: np.frombuffer(b"\0" + array.tobytes(), dtype=np.float64, offset=1, count=array.size).reshape(
            array.shape
        ),
        lambda: frame.astype(str),
    )
    with np.errstate(over="ignore"):
        return containers[rng.integers(len(containers))]()


def run_cases(seed: int, numbers) -> tuple[Counter, list[str]]:
    """Run cases with a line for each twentieth; returns how often each outcome came, and what failed."""
    outcomes, failed, start = Counter(), [], time.monotonic()
    for done, number in enumerate(numbers, start=1):
        print(
            f"case {number} of seed {seed}: {ESTIMATORS[number % len(ESTIMATORS)].__name__}",
            file=sys.stderr,
            flush=True,
        )
        try:
            case = run_case(seed, number)
            outcomes.update(re.findall("answered|refused|stopped", case))
            if "stopped" in case:
                print(f"  {case}", file=sys.stderr)
        except Exception as error:
            failed.append(f"case {number} of seed {seed}: {type(error).__name__}: {error}")
            print(f"  {failed[-1]}", file=sys.stderr)
        if done % 20 == 0:
            print(f"{done} cases, {len(failed)} failed, {time.monotonic() - start:.0f} s", flush=True)
    return outcomes, failed


def main(words: list[str]) -> int:
    """Run what is asked for; returns the exit code."""
    given = {"seed": "0", "cases": "300", "first": "0"} | dict(word.split("=") for word in words)
    first = int(given["first"])
    outcomes, failed = run_cases(int(given["seed"]), range(first, first + int(given["cases"])))
    steps = ", ".join(f"{outcomes[name]} {name}" for name in ("answered", "refused", "stopped"))
    print("\n".join([*failed, f"{given['cases']} cases: {len(failed)} failed; steps: {steps}"]))
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
