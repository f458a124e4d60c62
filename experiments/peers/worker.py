"""Fits and asks the peers, in their environment: ``.venv-peers/bin/python -I worker.py``.

This file imports nothing of this project, whose other modules it could not load there. Requests come over stdin and
answers go to stdout, each a frame: eight bytes of length, then a numpy archive of arrays, one of which holds words as
JSON. Nothing is pickled across the pipe, as the two environments may have different versions of numpy; a fitted model
is pickled here and read only here. The process ends when stdin does, whatever it is doing: so it ends with its parent.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import queue
import signal
import struct
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import BinaryIO

import numpy as np

_LENGTH = struct.Struct("<Q")

#: Weight of the public rows that name every category: too little to move a sum, and all that the peer asks of a weight.
_PUBLIC_WEIGHT = 1e-9


def send_frame(stream: BinaryIO, words: Mapping, **arrays: np.ndarray) -> None:
    """Write a frame."""
    archive = io.BytesIO()
    np.savez(archive, words=np.frombuffer(json.dumps(words).encode(), dtype=np.uint8), **arrays)
    stream.write(_LENGTH.pack(archive.tell()))
    stream.write(archive.getbuffer())
    stream.flush()


def receive_frame(stream: BinaryIO) -> tuple[dict, dict[str, np.ndarray]]:
    """Read a frame: words and arrays.

    Raises
    ------
    EOFError
        If the stream ends before the frame does.

    Examples
    --------
    >>> pipe = io.BytesIO()
    >>> send_frame(pipe, {"do": "predict"}, X=np.array([1.5, 2]))
    >>> _ = pipe.seek(0)
    >>> receive_frame(pipe)
    ({'do': 'predict'}, {'X': array([1.5, 2. ])})
    >>> receive_frame(pipe)
    Traceback (most recent call last):
    EOFError: the other end of the pipe is gone
    """
    (length,) = _LENGTH.unpack(_read_exactly(stream, _LENGTH.size))
    with np.load(io.BytesIO(_read_exactly(stream, length)), allow_pickle=False) as archive:
        arrays = dict(archive)
    return json.loads(arrays.pop("words").tobytes()), arrays


def _read_exactly(stream: BinaryIO, size: int) -> bytes:
    contents = stream.read(size)
    if len(contents) < size:
        raise EOFError("the other end of the pipe is gone")
    return contents


def make_diffprivlib_forest(
    X: np.ndarray,
    y: np.ndarray,
    *,
    epsilon: float,
    seed: int,
    n_estimators: int,
    max_depth: int,
    n_classes: int,
) -> tuple:
    """Return diffprivlib's forest and what its ``fit`` is given: rows in the unit cube, classes by their position."""
    from diffprivlib.accountant import BudgetAccountant
    from diffprivlib.models import RandomForestClassifier

    model = RandomForestClassifier(
        n_estimators,
        epsilon=epsilon,
        max_depth=max_depth,
        bounds=_unit_cube(X.shape[1]),
        classes=np.arange(n_classes),
        random_state=seed,
        accountant=BudgetAccountant(),  # the default one is shared by all models of the process, and kept with each
    )
    return model, {"X": X, "y": y}


def make_diffprivlib_linear(X: np.ndarray, y: np.ndarray, *, epsilon: float, seed: int) -> tuple:
    """Return diffprivlib's linear regression and what its ``fit`` is given: rows in the unit cube, target in [0, 1]."""
    from diffprivlib.accountant import BudgetAccountant
    from diffprivlib.models import LinearRegression

    model = LinearRegression(
        epsilon=epsilon,
        bounds_X=_unit_cube(X.shape[1]),
        bounds_y=(0.0, 1.0),
        random_state=seed,
        accountant=BudgetAccountant(),
    )
    return model, {"X": X, "y": y}


def make_dp_ebm(
    X: np.ndarray,
    y: np.ndarray,
    *,
    epsilon: float,
    delta: float,
    seed: int,
    max_rounds: int,
    n_categories: Sequence[int],
    n_classes: int | None,
) -> tuple:
    """Return interpret's DP-EBM and what its ``fit`` is given: the rows, and public ones that name every category.

    Numbers and the target of a regression lie in [0, 1]; categories and classes come as their position.
    """
    from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor

    parameters = {
        "feature_types": ["nominal" if n else "continuous" for n in n_categories],
        "privacy_bounds": np.column_stack(_unit_cube(X.shape[1])),
        "epsilon": epsilon,
        "delta": delta,
        "max_rounds": max_rounds,
        "random_state": seed,
        "n_jobs": 1,
    }
    if n_classes is None:
        model = DPExplainableBoostingRegressor(**parameters, privacy_target_min=0.0, privacy_target_max=1.0)
    else:
        model = DPExplainableBoostingClassifier(**parameters)
    public, labels = _public_rows(n_categories, n_classes or 1)
    weights = np.repeat([1.0, _PUBLIC_WEIGHT], [len(X), len(public)])
    return model, {"X": np.vstack([X, public]), "y": np.append(y, labels), "sample_weight": weights}


def _unit_cube(n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(n_columns), np.ones(n_columns)


def _public_rows(n_categories: Sequence[int], n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return as many rows as it takes to name every category and every class: which occur is no longer to be seen.

    DP-EBM lists categories and classes as it finds them in the rows, so that one that a single record has would show.

    Examples
    --------
    >>> _public_rows([0, 3, 2], 2)
    (array([[0., 0., 0.],
           [0., 1., 1.],
           [0., 2., 0.]]), array([0, 1, 0]))
    """
    n_rows = max(*n_categories, n_classes)
    columns = [np.arange(n_rows) % n if n else np.zeros(n_rows) for n in n_categories]
    return np.column_stack(columns).astype(np.float64), np.arange(n_rows) % n_classes


#: What can be asked for, by name: a function that returns an estimator and the arguments of its ``fit``.
MODELS = {
    "diffprivlib_forest": make_diffprivlib_forest,
    "diffprivlib_linear": make_diffprivlib_linear,
    "dp_ebm": make_dp_ebm,
}


@contextmanager
def leak_warnings_as_errors() -> Iterator[None]:
    """Turn every warning that something is learnt from the rows without being paid for into an error.

    interpret warns of such things with plain UserWarnings. It also warns that a fixed seed gives its noise away, which
    is true, and wanted: an experiment that cannot be repeated is none.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", UserWarning)
        warnings.filterwarnings("ignore", message="Privacy violation: using a fixed random_state")
        if loaded := sys.modules.get("diffprivlib.utils"):
            warnings.simplefilter("error", loaded.PrivacyLeakWarning)
            warnings.simplefilter("error", loaded.DiffprivlibCompatibilityWarning)
        yield


def answer_request(words: Mapping, arrays: Mapping, models: Mapping[str, Callable]) -> tuple[dict, dict]:
    """Do what is asked for: fit a model, which comes back as bytes with the seconds that ``fit`` took, or ask one."""
    if words["do"] == "predict":
        return {}, {"predicted": np.asarray(pickle.loads(arrays["model"].tobytes()).predict(arrays["X"]))}
    model, rows = models[words["model"]](arrays["X"], arrays["y"], **words["parameters"])
    with leak_warnings_as_errors():
        started = time.perf_counter()
        model.fit(**rows)
        seconds = time.perf_counter() - started
    return {"fit_seconds": seconds}, {"model": np.frombuffer(pickle.dumps(model), dtype=np.uint8)}


def serve_requests(packages: Sequence[str], models: Mapping[str, Callable] = MODELS) -> None:
    """Say which versions are installed, then answer until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the parent decides
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what the peers print is no answer
    requests: queue.SimpleQueue = queue.SimpleQueue()
    threading.Thread(target=_read_requests, args=(sys.stdin.buffer, requests), daemon=True).start()
    send_frame(answers, {"versions": {name: _find_version(name) for name in packages}})
    while True:
        try:
            words, arrays = answer_request(*requests.get(), models)
        except Exception as error:
            words, arrays = {"error": " ".join(f"{type(error).__name__}: {error}".split())}, {}
        send_frame(answers, words, **arrays)


def _read_requests(stream: BinaryIO, requests: queue.SimpleQueue) -> None:
    """Read requests as they come, so that the end of the stream is noticed while a model is being fitted, too."""
    try:
        while True:
            requests.put(receive_frame(stream))
    except EOFError:
        os._exit(0)
    except BaseException as error:  # nobody else would hear of it, and the parent would wait
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(1)


def _find_version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


if __name__ == "__main__":
    serve_requests(sys.argv[1:])
