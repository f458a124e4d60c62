"""Fits and asks the peers, in their environment: ``.venv-peers/bin/python -I worker.py models_in_peers.py``.

This file, and the one with the models that it is given, import nothing of this project, whose other modules they could
not load there. Requests come over stdin and
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
from importlib.util import module_from_spec, spec_from_file_location
from typing import BinaryIO

import numpy as np

_LENGTH = struct.Struct("<Q")


def send_frame(stream: BinaryIO, words: Mapping, **arrays: np.ndarray) -> None:
    """Write a frame."""
    archive = io.BytesIO()
    np.savez(archive, words=np.frombuffer(json.dumps(words).encode(), dtype=np.uint8), **arrays)
    stream.write(_LENGTH.pack(archive.tell()))
    stream.write(archive.getbuffer())
    stream.flush()


def receive_frame(stream: BinaryIO) -> tuple[dict, dict[str, np.ndarray]]:
    """Read a frame: words and arrays.

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
    if words["do"] in ("predict", "predict_proba"):
        model = pickle.loads(arrays["model"].tobytes())
        return {}, {"predicted": np.asarray(getattr(model, words["do"])(arrays["X"]))}
    model, rows = models[words["model"]](arrays["X"], arrays["y"], **words["parameters"])
    with leak_warnings_as_errors():
        started = time.perf_counter()
        model.fit(**rows)
        seconds = time.perf_counter() - started
    return {"fit_seconds": seconds}, {"model": np.frombuffer(pickle.dumps(model), dtype=np.uint8)}


def serve_requests(packages: Sequence[str], models: Mapping[str, Callable]) -> None:
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


def load_models(path: str) -> Mapping[str, Callable]:
    """Return ``MODELS`` of a file: what can be asked for, by name. Its classes are pickled as those of ``models``."""
    spec = spec_from_file_location("models", path)
    module = sys.modules["models"] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.MODELS


if __name__ == "__main__":
    serve_requests(sys.argv[2:], load_models(sys.argv[1]))
