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
import struct
import sys
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from experiments.cells.cell import Cell, format_canonical
from experiments.cells.current import StoredSetting, version_of_cell
from experiments.errors import BadInput, describe_os_error, print_to_stderr
from experiments.store.record import Measured, Record

_MARK = 0x44505232  # "DPR2" in the file's header: tells our stores from other SQLite files
_FORMER_MARK = 0x44505265  # "DPRe": every cell with texts of its own
_SECONDS = 0.5
_AT_ONCE = 20_000  # records that are held at once
_SOON, _PATIENCE = 1, 60  # seconds for which a statement waits for another program: in silence, and in all
_BATCH = 500  # keys in one query; SQLite takes 32,766 at most, older ones 999
_FEW = 20_000  # keys

_SCHEMA = """
CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE cells (
    key BLOB PRIMARY KEY, setting INTEGER NOT NULL REFERENCES texts, epsilon REAL NOT NULL, repeat INTEGER NOT NULL,
    status TEXT NOT NULL, error TEXT, names INTEGER NOT NULL REFERENCES texts, numbers BLOB NOT NULL,
    details INTEGER NOT NULL REFERENCES texts, fit_seconds REAL, seconds REAL
) WITHOUT ROWID;
"""
"""``setting``, ``names`` and ``details`` are JSON, ``names`` of metrics whose values ``numbers`` has, as float64."""


class _Row(NamedTuple):
    """The columns of a cell on its way into the file; what it shares is a text at first, then the number of one."""

    key: bytes
    setting: Any
    epsilon: float
    repeat: int
    status: str
    error: str | None
    names: Any
    numbers: bytes
    details: Any
    fit_seconds: float
    seconds: float


class StoreError(BadInput):
    """The store cannot be read or written; the message names the file and the way out."""


class Store:
    """Results by key, in a file, which is made with its folder if need be.

    Whatever cannot be read or written, or is damaged or something else, is a StoreError.

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
        self._waiting: list[_Row] = []
        self._timer: threading.Timer | None = None
        self._late_error: StoreError | None = None
        self._ids: dict[str, int] = {}
        self._values: dict[int, Any] = {}
        self._versions: dict[tuple[str, str], str] = {}
        self._lock = threading.RLock()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"results folder {self.path.parent} cannot be made ({error.strerror}); choose one with results=FOLDER"
            ) from error
        with self._explained():
            # The timer's thread writes too; the lock keeps the two apart.
            self._connection = sqlite3.connect(
                self.path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
            )
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
        names = sorted(measured.metrics)
        setting = {"dataset": cell.dataset, "algorithm": cell.algorithm, "params": cell.params}
        setting |= {"protocol": vars(cell.protocol), **self._find_version(cell)}
        row = _Row(
            key=bytes.fromhex(cell.key),
            setting=format_canonical(setting),
            epsilon=cell.epsilon,
            repeat=cell.repeat,
            status=record.status,
            error=record.error,
            names=format_canonical(names),
            numbers=struct.pack(f"<{len(names)}d", *(measured.metrics[name] for name in names)),
            details=format_canonical(measured.details),
            fit_seconds=measured.fit_seconds,
            seconds=measured.seconds,
        )
        with self._lock:
            self._waiting.append(row)
            if self._timer is None:
                self._timer = threading.Timer(_SECONDS, self._flush_late)
                self._timer.daemon = True
                self._timer.start()

    def _find_version(self, cell: Cell) -> dict[str, str]:
        behind = cell.dataset, cell.algorithm
        if behind not in self._versions:
            self._versions[behind] = version_of_cell(*behind)
        return {"version": self._versions[behind]}

    def forget(self, keys: Iterable[str]) -> None:
        """Take what is known of some cells out of the store."""
        self.flush()
        with self._lock, self._explained():
            for batch in split_batches(sorted(map(bytes.fromhex, keys)), _BATCH):
                self._connection.execute(f"DELETE FROM cells WHERE key IN ({','.join('?' * len(batch))})", batch)

    def flush(self) -> None:
        """Write what is kept back."""
        with self._lock, self._explained():
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if self._waiting:
                self._write_waiting()

    def _write_waiting(self) -> None:
        self._wait_for("BEGIN IMMEDIATE")
        try:
            rows = []
            for row in self._waiting:
                setting, names, details = map(self._find_id, (row.setting, row.names, row.details))
                rows.append(row._replace(setting=setting, names=names, details=details))
            marks = ",".join("?" * len(_Row._fields))
            self._connection.executemany(f"INSERT OR REPLACE INTO cells VALUES ({marks})", rows)
            self._wait_for("COMMIT")
        except BaseException:  # Ctrl-C, too
            self._ids.clear()  # some may be of texts that are now not in the file
            if self._connection.in_transaction:  # else the next attempt would fail for being inside this one
                self._connection.execute("ROLLBACK")
            raise
        self._waiting.clear()

    def _find_id(self, text: str) -> int:
        """Return the number of a text, which is put into the file if it is not there."""
        if text not in self._ids:
            self._connection.execute("INSERT OR IGNORE INTO texts (text) VALUES (?)", (text,))
            (self._ids[text],) = self._connection.execute("SELECT id FROM texts WHERE text = ?", (text,)).fetchone()
        return self._ids[text]

    def _read_value(self, number: int) -> Any:
        """Return what the text with a number says, parsed once for all cells: it is not to be changed."""
        if number not in self._values:
            (text,) = self._connection.execute("SELECT text FROM texts WHERE id = ?", (number,)).fetchone()
            self._values[number] = json.loads(text)
        return self._values[number]

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other runs from this store; while one of them holds it, say which and wait.

        The claim is a lock of the operating system on a file beside the store: it goes with the process, however that
        ends.
        """
        path = self.path.with_suffix(".lock")
        with ExitStack() as until_the_end:
            try:
                claim = until_the_end.enter_context(path.open("a+", encoding="utf-8", errors="backslashreplace"))
                self._take_claim(claim)
            except OSError as error:
                raise StoreError(describe_os_error(OSError(error.errno, error.strerror, str(path)))) from error
            yield

    def _take_claim(self, claim: TextIO) -> None:
        try:
            fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            claim.seek(0)
            print_to_stderr(f"{self.path} is held by {claim.read().strip()}: waiting for it to end")
            fcntl.flock(claim, fcntl.LOCK_EX)
        claim.truncate(0)
        claim.write(f"process {os.getpid()} on {socket.gethostname()}: {shlex.join(sys.argv)}")
        claim.flush()

    def close(self) -> None:
        """Write what is kept back and close the file."""
        try:
            self.flush()
        finally:
            self._connection.close()

    def done(self, among: Collection[str] | None = None) -> set[str]:
        """Return the keys of all cells that were run with success, or of those among some."""
        self.flush()
        query = "SELECT key FROM cells WHERE status = 'done'"
        with self._lock, self._explained():
            if among is None or len(among) > _FEW:  # to read all of a file is then quicker than to look for each
                found = {key.hex() for (key,) in self._connection.execute(query)}
                return found if among is None else found.intersection(among)
            keys: set[str] = set()
            for batch in split_batches(sorted(map(bytes.fromhex, among)), _BATCH):
                rows = self._connection.execute(f"{query} AND key IN ({','.join('?' * len(batch))})", batch)
                keys.update(key.hex() for (key,) in rows)
            return keys

    def find_lacking(self, wanted: Mapping[str, Sequence[str]], versions: Mapping[str, str]) -> dict[str, Measured]:
        """Return what cells that were run gave, by key, where they lack a metric that is wanted of them.

        Versions are those of metrics that are somebody's own: a value of another version does not count.
        """
        lacking = {}
        for batch in split_batches(list(wanted), _AT_ONCE):
            for key, record in self.get(batch).items():
                measured = record.measured
                if measured is None:
                    continue
                known = measured.details.get("own_metrics", {})
                there = [name in measured.metrics and known.get(name) == versions.get(name) for name in wanted[key]]
                if not all(there):
                    lacking[key] = measured
        return lacking

    def seconds(self) -> dict[tuple[str, str], float]:
        """Return how long a cell took, in the mean over all that are done, by data set and algorithm."""
        query = """SELECT json_extract(text, '$.dataset') AS dataset, json_extract(text, '$.algorithm') AS algorithm,
                          sum(total) / sum(n)
                   FROM (SELECT setting, sum(seconds) AS total, count(seconds) AS n FROM cells
                         WHERE status = 'done' GROUP BY setting) JOIN texts ON id = setting
                   GROUP BY dataset, algorithm HAVING sum(n) > 0"""
        with self._lock, self._explained():
            return {(dataset, algorithm): mean for dataset, algorithm, mean in self._connection.execute(query)}

    def rows(self, batch: int) -> Iterator[list[dict[str, Any]]]:
        """Yield all cells in the order of their keys, so many at a time; ``params`` and ``protocol`` are JSON.

        ``current`` says whether the cell would be found today, by the data, code and libraries that there are;
        ``version`` is that of these when it was run, None of a cell that an earlier release of this project has run.
        """
        self.flush()
        columns = (
            "key",
            "setting",
            "epsilon",
            "repeat",
            "status",
            "error",
            "names",
            "numbers",
            "details",
            "fit_seconds",
        )
        settings: dict[tuple[int, float], StoredSetting] = {}
        with self._lock, self._explained():
            cursor = self._connection.execute(f"SELECT {', '.join(columns)} FROM cells ORDER BY key")
            while rows := cursor.fetchmany(batch):
                yield [self._describe_row(dict(zip(columns, row, strict=True)), settings) for row in rows]

    def _describe_row(self, cell: dict[str, Any], settings: dict[tuple[int, float], StoredSetting]) -> dict[str, Any]:
        """Return a row of the file as it is read; settings are those that were met before."""
        which = cell.pop("setting"), cell["epsilon"]
        asked, names, details = map(self._read_value, (which[0], cell.pop("names"), cell.pop("details")))
        setting = settings[which] = settings.get(which) or StoredSetting.find(asked, cell["epsilon"])
        cell |= {"key": cell["key"].hex(), "metrics": _name_numbers(names, cell.pop("numbers"))}
        cell |= {name: asked[name] for name in ("dataset", "algorithm")}
        cell |= {name: format_canonical(asked[name]) for name in ("params", "protocol")}
        is_current = setting.is_current(cell["key"], cell["repeat"], details)
        return cell | {"version": setting.version if is_current else asked.get("version"), "current": is_current}

    def get(self, keys: Iterable[str]) -> dict[str, Record]:
        """Return the records of some cells, by key; keys of cells that were never run are left out.

        Cells whose details are equal share them: they are not to be changed.
        """
        self.flush()
        records = {}
        columns = "key, status, error, names, numbers, details, fit_seconds, seconds"
        with self._lock, self._explained():
            # in the order of the file, whose pages are then read once and not for every key
            for batch in split_batches(sorted(map(bytes.fromhex, keys)), _BATCH):
                query = f"SELECT {columns} FROM cells WHERE key IN ({','.join('?' * len(batch))})"
                rows = self._connection.execute(query, batch).fetchall()
                for key, status, error, names, numbers, details, fit_seconds, seconds in rows:
                    measured = None
                    if status == "done":
                        metrics = _name_numbers(self._read_value(names), numbers)
                        seconds = math.nan if seconds is None else seconds
                        measured = Measured(metrics, fit_seconds, self._read_value(details), seconds)
                    records[key.hex()] = Record(status, measured, error)
        return records

    def _open(self) -> None:
        fault = self._wait_for("PRAGMA quick_check(1)").fetchone()[0]
        if fault != "ok":
            raise sqlite3.DatabaseError(fault)
        # Taken even if nothing is written yet, so that a read-only folder is found out before an hour of work; and
        # before the tables are looked at: another process may be making them.
        self._wait_for("BEGIN IMMEDIATE")
        try:
            self._make_or_check_tables()
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._wait_for("COMMIT")

    def _wait_for(self, statement: str) -> sqlite3.Cursor:
        """Execute a statement that another program may hold up; after a second, say so, and wait for longer."""
        self._connection.execute(f"PRAGMA busy_timeout = {_SOON * 1000:.0f}")
        try:
            return self._connection.execute(statement)
        except sqlite3.OperationalError as error:
            if not _is_busy(error):
                raise
        finally:
            self._connection.execute(f"PRAGMA busy_timeout = {_PATIENCE * 1000:.0f}")
        print_to_stderr(f"store {self.path} is open in another program: waiting for up to {_PATIENCE} s")
        return self._connection.execute(statement)

    def _make_or_check_tables(self) -> None:
        mark = self._connection.execute("PRAGMA application_id").fetchone()[0]
        if mark == _FORMER_MARK:
            raise StoreError(
                f"store {self.path} was written by an earlier version, none of whose cells this one would take; "
                "move it away and run again"
            )
        tables = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if mark != _MARK and tables:
            raise sqlite3.DatabaseError("it is not a store of this project")
        if not tables:
            self._connection.execute(f"PRAGMA application_id = {_MARK}")
            for statement in _SCHEMA.split(";"):
                self._connection.execute(statement)
        columns = [row[1] for row in self._connection.execute("PRAGMA table_info(cells)")]
        if columns != list(_Row._fields):
            raise StoreError(
                f"store {self.path} has not the table of this version: another version wrote it, or somebody changed "
                "it; choose another with results=FOLDER, or move it away and run again"
            )

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
            way_out = "make its folder writable, free space on the disk"
            if _is_busy(error):
                way_out = "another program has it open: close it there"
            raise StoreError(
                f"store {self.path} cannot be read or written ({error}); {way_out}, or choose another with "
                "results=FOLDER"
            ) from error
        except (sqlite3.DatabaseError, json.JSONDecodeError, struct.error, TypeError) as error:
            fault = " ".join(str(error).split())
            raise StoreError(
                f"store {self.path} is damaged ({fault}); move it away and run again, its cells are then computed anew"
            ) from error


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return error.sqlite_errorname.startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def _name_numbers(names: list[str], numbers: bytes) -> dict[str, float]:
    return dict(zip(names, struct.unpack(f"<{len(names)}d", numbers), strict=True))


def split_batches(items: list, size: int) -> Iterator[list]:
    """Yield the items of a list in order, so many at a time."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
