"""The store: every cell that was ever run, in one SQLite file.

Only the parent process writes. The journal is the ordinary rollback journal: SQLite's newer one (WAL) does not work on
network file systems. Rows are kept back for at most half a second and then written in one short transaction: a run that
is killed loses no more than that. Two runs on one store go one after the other, so that no cell is computed twice.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import shlex
import socket
import sqlite3
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from experiments.cells.cell import Cell, format_canonical
from experiments.errors import BadInput
from experiments.store.record import Measured, Record

_MARK = 0x44505265  # "DPRe" in the file's header: tells our stores from other SQLite files
_SECONDS = 0.5
_BATCH = 500  # keys in one query; SQLite takes 32,766 at most, older ones 999

_SCHEMA = """
CREATE TABLE IF NOT EXISTS cells (
    key TEXT PRIMARY KEY, dataset TEXT NOT NULL, algorithm TEXT NOT NULL, params TEXT NOT NULL, epsilon REAL NOT NULL,
    repeat INTEGER NOT NULL, protocol TEXT NOT NULL, status TEXT NOT NULL, error TEXT, metrics TEXT NOT NULL,
    fit_seconds REAL, details TEXT NOT NULL
) WITHOUT ROWID
"""


class StoredCell(NamedTuple):
    """A cell as it lies in the file; JSON stays text."""

    key: str
    dataset: str
    algorithm: str
    params: str
    epsilon: float
    repeat: int
    protocol: str
    status: str
    error: str | None
    metrics: str
    fit_seconds: float | None


class StoreError(BadInput):
    """The store cannot be read or written; the message names the file and the way out."""


class Store:
    """Results by key, in a file.

    Parameters
    ----------
    path : Path
        The file; it and its folder are made if need be.

    Raises
    ------
    StoreError
        If the folder cannot be written, or the file is damaged or something else.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "store.sqlite") as store:
    ...     cell = Cell("car", "majority", {}, math.inf, 0)
    ...     store.put(cell, Record("done", Measured({"accuracy": 0.7}, 0.01)))
    ...     store.done() == {cell.key}, store.get([cell.key])[cell.key].measured.metrics
    (True, {'accuracy': 0.7})
    """

    def __init__(self, path: Path):
        self.path = Path(path)
        self._waiting: list[tuple] = []
        self._timer: threading.Timer | None = None
        self._late_error: StoreError | None = None
        self._lock = threading.RLock()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"results folder {self.path.parent} cannot be made ({error.strerror}); choose one with results=FOLDER"
            ) from error
        with self._explained():
            # The timer's thread writes too; the lock keeps the two apart.
            self._connection = sqlite3.connect(self.path, timeout=60, isolation_level=None, check_same_thread=False)
            self._open()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def put(self, cell: Cell, record: Record) -> None:
        """Keep a result; it is on the disk within half a second. A later result of the same cell replaces it."""
        if self._late_error:
            raise self._late_error
        measured = record.measured or Measured({}, math.nan)
        row = (
            *(cell.key, cell.dataset, cell.algorithm, format_canonical(cell.params), cell.epsilon, cell.repeat),
            *(format_canonical(cell.protocol), record.status, record.error, format_canonical(measured.metrics)),
            *(measured.fit_seconds, format_canonical(measured.details)),
        )
        with self._lock:
            self._waiting.append(row)
            if self._timer is None:
                self._timer = threading.Timer(_SECONDS, self._flush_late)
                self._timer.daemon = True
                self._timer.start()

    def flush(self) -> None:
        """Write what is kept back.

        Raises
        ------
        StoreError
            If it cannot be written.
        """
        with self._lock, self._explained():
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if self._waiting:
                self._write_waiting()

    def _write_waiting(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            marks = ",".join("?" * len(self._waiting[0]))
            self._connection.executemany(f"INSERT OR REPLACE INTO cells VALUES ({marks})", self._waiting)
            self._connection.execute("COMMIT")
        except sqlite3.Error:
            if self._connection.in_transaction:  # else the next attempt would fail for being inside this one
                self._connection.execute("ROLLBACK")
            raise
        self._waiting.clear()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other runs from this store; while one of them holds it, say which and wait.

        The claim is a lock of the operating system on a file beside the store: it goes with the process, however that
        ends.
        """
        with self.path.with_suffix(".lock").open("a+", encoding="utf-8") as claim:
            try:
                fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                claim.seek(0)
                print(f"{self.path} is held by {claim.read().strip()}: waiting for it to end", file=sys.stderr)
                fcntl.flock(claim, fcntl.LOCK_EX)
            claim.truncate(0)
            claim.write(f"process {os.getpid()} on {socket.gethostname()}: {shlex.join(sys.argv)}")
            claim.flush()
            yield

    def close(self) -> None:
        """Write what is kept back and close the file."""
        try:
            self.flush()
        finally:
            self._connection.close()

    def done(self) -> set[str]:
        """Return the keys of all cells that were run with success."""
        self.flush()
        with self._lock, self._explained():
            return {key for (key,) in self._connection.execute("SELECT key FROM cells WHERE status = 'done'")}

    def seconds(self) -> dict[tuple[str, str], float]:
        """Return how long a cell took, in the mean over all that are done, by data set and algorithm."""
        query = """SELECT dataset, algorithm, avg(json_extract(details, '$.seconds')) AS mean FROM cells
                   WHERE status = 'done' GROUP BY dataset, algorithm HAVING mean IS NOT NULL"""
        with self._lock, self._explained():
            return {(dataset, algorithm): mean for dataset, algorithm, mean in self._connection.execute(query)}

    def rows(self, batch: int) -> Iterator[list[StoredCell]]:
        """Yield all cells, in the order of their keys, so many at a time."""
        self.flush()
        with self._lock, self._explained():
            cursor = self._connection.execute(f"SELECT {', '.join(StoredCell._fields)} FROM cells ORDER BY key")
            while rows := cursor.fetchmany(batch):
                yield list(map(StoredCell._make, rows))

    def get(self, keys: Iterable[str]) -> dict[str, Record]:
        """Return the records of some cells, by key; keys of cells that were never run are left out."""
        self.flush()
        records = {}
        with self._lock, self._explained():
            for batch in _split_batches(list(keys), _BATCH):
                marks = ",".join("?" * len(batch))
                query = f"SELECT key, status, error, metrics, fit_seconds, details FROM cells WHERE key IN ({marks})"
                rows = self._connection.execute(query, batch).fetchall()
                metrics, details = _parse_json(map(itemgetter(3), rows)), _parse_json(map(itemgetter(5), rows))
                for (key, status, error, _, fit_seconds, _), *parsed in zip(rows, metrics, details, strict=True):
                    records[key] = _make_record(status, error, fit_seconds, *parsed)
        return records

    def _open(self) -> None:
        fault = self._connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if fault != "ok":
            raise sqlite3.DatabaseError(fault)
        mark = self._connection.execute("PRAGMA application_id").fetchone()[0]
        tables = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if mark != _MARK and tables:
            raise sqlite3.DatabaseError("it is not a store of this project")
        # Taken even if nothing is written yet, so that a read-only folder is found out before an hour of work.
        self._connection.execute("BEGIN IMMEDIATE")
        if not tables:
            self._connection.execute(f"PRAGMA application_id = {_MARK}")
            self._connection.execute(_SCHEMA)
        self._connection.execute("COMMIT")

    def _flush_late(self) -> None:
        try:
            self.flush()
        except StoreError as error:  # raised in the timer's thread, where nobody would see it
            self._late_error = error

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise StoreError(
                f"store {self.path} cannot be read or written ({error}); make its folder writable, free space on the "
                "disk, or choose another with results=FOLDER"
            ) from error
        except (sqlite3.DatabaseError, json.JSONDecodeError) as error:
            fault = " ".join(str(error).split())
            raise StoreError(
                f"store {self.path} is damaged ({fault}); move it away and run again, its cells are then computed anew"
            ) from error


def _make_record(status: str, error: str, fit_seconds: float, metrics: dict, details: dict) -> Record:
    if status != "done":
        return Record(status, error=error)
    for name, value in metrics.items():
        if value is None:
            metrics[name] = math.nan
    return Record(status, Measured(metrics, fit_seconds, details))


def _parse_json(texts: Iterable[str | None]) -> list:
    """Return what JSON texts hold, parsed in one go: to call the parser takes longer than it takes for a short text."""
    return json.loads(f"[{','.join(text or 'null' for text in texts)}]")


def _split_batches(items: list, size: int) -> Iterator[list]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
