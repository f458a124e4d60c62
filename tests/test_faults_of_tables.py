"""The machine fails once while a table is read or kept: a line that names the file, no torn table, and it goes on."""

import builtins
import errno
import io
import os
import re
import resource
import warnings
from contextlib import contextmanager
from itertools import count

import numpy as np
import pandas as pd
import pytest

from algorithms.installation import find_user_cache
from datasets import dataset
from datasets.own_tables import kept_tables, opened_file, own_table
from documents import search_path
from documents.yaml_files import DocumentError
from tests.command_line import exit_code
from tests.test_opened_tables import write

ROWS = pd.DataFrame({"b": np.arange(200) / 4, "word": ["u", "v"] * 100, "y": ["no", "yes", "no", "no"] * 50})
READ_ERRORS = [errno.EIO, errno.EACCES, errno.EMFILE, errno.ESTALE]
KINDS = {type(OSError(error, "")): error for error in reversed(READ_ERRORS)}.values()


class FailingFile(io.FileIO):
    """A file that asks before each read and write whether it may."""

    def __init__(self, path, mode, ask):
        super().__init__(path, mode)
        self.ask = ask

    def readinto(self, buffer):
        self.ask()
        return super().readinto(buffer)

    def readall(self):
        self.ask()
        return super().readall()

    def write(self, content):
        self.ask()
        return super().write(content)


class Fault:
    """One operation on files below a folder fails, and no other."""

    def __init__(self, folder, error, place):
        self.folder, self.error, self.place, self.n_asked = str(folder), error, place, 0

    @property
    def happened(self):
        return self.n_asked > self.place

    def ask(self, path):
        self.n_asked += 1
        if self.n_asked == self.place + 1:
            raise OSError(self.error, os.strerror(self.error), str(path))

    def is_meant(self, path):
        return isinstance(path, str | os.PathLike) and os.path.abspath(path).startswith(self.folder)


@contextmanager
def fail_once(folder, error, place):
    """Fail in the operation of that number on files below a folder: stat, open, read, write, rename."""
    fault, real_open, real_stat, real_replace = Fault(folder, error, place), io.open, os.stat, os.replace

    def open_file(path, mode="r", *more, **options):
        if not fault.is_meant(path):
            return real_open(path, mode, *more, **options)
        fault.ask(path)
        if "b" not in mode:
            return real_open(path, mode, *more, **options)
        raw = FailingFile(path, mode.replace("b", ""), lambda: fault.ask(path))
        return io.BufferedWriter(raw) if "w" in mode else io.BufferedReader(raw)

    def find_stat(path, *more, **options):
        if fault.is_meant(path):
            fault.ask(path)
        return real_stat(path, *more, **options)

    def rename(old, new, *more, **options):
        if fault.is_meant(new):
            fault.ask(new)
        return real_replace(old, new, *more, **options)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(io, "open", open_file)
        patched.setattr(builtins, "open", open_file)
        patched.setattr(os, "stat", find_stat)
        patched.setattr(os, "replace", rename)
        yield fault


@pytest.fixture
def table(request, tmp_path, monkeypatch):
    """A data set ``my`` with its rows in a folder of their own, and what forgets that it was read."""
    ending, is_kept = request.param
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(own_table, "_LEAST_KEPT", 0 if is_kept else 1 << 20)
    monkeypatch.setenv(search_path.VARIABLE, str(tmp_path / "mine"))
    (tmp_path / "mine" / "dataset").mkdir(parents=True)
    text = f"file: ../../rows/my{ending}\ntask: classification\ntarget: y\n"
    (tmp_path / "mine" / "dataset" / "my.yaml").write_text(text, encoding="utf-8")
    file = tmp_path / "rows" / f"my{ending}"
    write(ROWS, file)

    def forget(kept=True):
        own_table._read_once.cache_clear()
        dataset._load_once.cache_clear()
        for path in (find_user_cache() / "tables").glob("*") if kept else ():
            path.unlink()
        return file

    yield forget
    forget()


ALL = [(ending, is_kept) for ending in (".csv", ".csv.gz", ".xlsx", ".parquet") for is_kept in (False, True)]
"""One of each way to open a file: a .tsv is opened as a .csv is."""
FAILING = [(table, errno.EIO) for table in ALL]
FAILING += [(table, error) for table in (ALL[0], ALL[-1]) for error in KINDS if error != errno.EIO]
FAILING += [(ALL[0], error) for error in READ_ERRORS if error not in KINDS]
"""One error on every table; one of each other class that Python has for them where a file is text, and where a library
opens it; on one table those that differ from these by number and words alone."""


def name_failing(asked):
    (ending, is_kept), error = asked
    return f"{errno.errorcode[error]} of {'kept ' * is_kept}{ending}"


@pytest.mark.long
@pytest.mark.parametrize(("table", "error"), FAILING, indirect=["table"], ids=map(name_failing, FAILING))
def test_each_operation_on_the_file_that_fails_is_a_line_and_the_next_try_goes_on(table, error):
    file = table()
    whole = dataset.load("my").fingerprint
    n_faults = 0
    for place in count():
        table()
        with fail_once(file.parent, error, place) as fault:
            try:
                found = dataset.load("my").fingerprint
            except DocumentError as refused:
                found = str(refused)
        if not fault.happened:
            break
        n_faults += 1
        lines = [
            f"{file.name} cannot be read ({os.strerror(error)})",
            f"{file.name} was changed while it was read: run ",
        ]
        is_said = any(line in found for line in lines) and "\n" not in found
        is_same = found == whole  # a file whose state is not known is not kept, and read all the same
        assert is_said or is_same, (place, found)
        assert dataset.load("my").fingerprint == whole
    assert n_faults >= 4


@pytest.mark.parametrize("table", [(ending, False) for ending in (".csv", ".xlsx", ".parquet")], indirect=True)
def test_a_draft_ends_with_one_line_and_the_code_of_bad_input(table, capsys):
    file = table()
    for place in count():
        with fail_once(file.parent, errno.EIO, place) as fault:
            code = exit_code("describe", file)
        printed = capsys.readouterr()
        if not fault.happened:
            break
        if code == 0:  # whether it is there was asked, and to read it said so
            assert place == 0 and printed.err == ""
            continue
        assert (code, printed.out) == (2, ""), place
        assert printed.err == f"error: {file} cannot be read (Input/output error)\n"
    assert code == 0 and place >= 4


@pytest.fixture
def fill_numbers_below_the_last():
    """Open files until all numbers are taken that what ran before has left free: a limit is one of numbers."""
    opened = []
    yield lambda: opened.extend(os.open(os.devnull, os.O_RDONLY) for _ in range(100))
    for number in opened:
        os.close(number)


@pytest.mark.filterwarnings("ignore:.*so nothing is cached")
@pytest.mark.parametrize("table", [given for given in ALL if given[0] != ".parquet"], indirect=True)
def test_as_many_open_files_as_may_be_are_a_line(table, fill_numbers_below_the_last):
    """DuckDB itself ends its process where it may not open a single one."""
    table()
    whole = dataset.load("my").fingerprint
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    outcomes = []
    fill_numbers_below_the_last()
    for spare in range(12):
        table()
        unused = os.open(os.devnull, os.O_RDONLY)
        os.close(unused)
        resource.setrlimit(resource.RLIMIT_NOFILE, (unused + spare, hard))
        try:
            outcomes.append(dataset.load("my").fingerprint)
        except DocumentError as refused:
            outcomes.append(str(refused))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    refused = [outcome for outcome in outcomes if outcome != whole]
    assert refused and outcomes[-1] == whole
    assert all(
        re.search(r"my\.\w+", line) and "Too many open files" in line and "\n" not in line for line in refused
    ), refused


@pytest.mark.parametrize("table", [(".parquet", False), (".parquet", True)], indirect=True)
def test_what_duckdb_cannot_read_is_a_line(table, monkeypatch):
    duckdb = pytest.importorskip("duckdb")
    file = table()
    whole, connect, asked = dataset.load("my").fingerprint, duckdb.connect, []

    class Connection:
        """DuckDB's own, of which one call fails."""

        def __init__(self, *words, **options):
            self.real = connect(*words, **options)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.real.close()

        def __getattr__(self, name):
            asked.append(name)
            if len(asked) == place + 1:
                raise duckdb.IOException(f'IO Error: Could not read from file "{file}": Input/output error')
            return getattr(self.real, name)

    monkeypatch.setattr(duckdb, "connect", Connection)
    for place in count():
        table()
        asked.clear()
        try:
            found = dataset.load("my").fingerprint
        except DocumentError as refused:
            found = str(refused)
        if len(asked) <= place:
            break
        reason = (
            'my.parquet cannot be read as a Parquet file (Could not read from file "my.parquet": Input/output error)'
        )
        assert found.endswith(f": file: {reason}"), (place, found)
        table()
    assert found == whole and place >= 3


@pytest.mark.parametrize(
    ("table", "error"),
    [
        *(((".csv", True), error) for error in (errno.ENOSPC, errno.EIO, errno.EROFS, errno.EMFILE)),
        ((".parquet", True), errno.ENOSPC),
    ],
    indirect=["table"],
)
def test_a_cache_that_fails_costs_no_answer_and_keeps_nothing_torn(table, error):
    table()
    whole = dataset.load("my")
    for place in count():
        table()
        with fail_once(find_user_cache(), error, place) as fault, warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = dataset.load("my")
        if not fault.happened:
            break
        pd.testing.assert_frame_equal(found.frame, whole.frame)
        assert all("cannot be written, so nothing is cached" in str(warning.message) for warning in said)
        kept = list((find_user_cache() / "tables").glob("*.columns"))
        assert kept or said or place < 3, place
        assert not list((find_user_cache() / "tables").glob("*.part"))
        table(kept=False)
        pd.testing.assert_frame_equal(dataset.load("my").frame, whole.frame)
    assert place >= 4


@pytest.mark.parametrize("table", [(".csv", True)], indirect=True)
def test_a_kept_table_that_does_not_fit_is_said_and_left_out(table):
    """Numpy writes columns past Python's own files: the limit is the system's."""
    file = table()
    write(pd.concat([ROWS] * 20), file)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.warns(UserWarning, match="cannot be written, so nothing is cached"):
            found = dataset.load("my").frame
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list((find_user_cache() / "tables").glob("*.columns")) == []
    table()
    pd.testing.assert_frame_equal(dataset.load("my").frame, found)
    assert len(list((find_user_cache() / "tables").glob("*.columns"))) == 1


@pytest.mark.parametrize("error", [errno.ENOLCK, errno.ENOSYS, errno.EIO], ids=errno.errorcode.get)
@pytest.mark.parametrize("table", [(".csv", True)], indirect=True)
def test_a_cache_on_a_file_system_without_locks_is_one(table, error, monkeypatch):
    """As NFS without its daemon of locks: what is kept there is written aside and renamed, so it is whole."""
    fcntl = pytest.importorskip("fcntl")

    def refuse(*_):
        raise OSError(error, os.strerror(error))

    table()
    monkeypatch.setattr(fcntl, "flock", refuse)
    found = dataset.load("my")
    assert len(list((find_user_cache() / "tables").glob("*.columns"))) == 1
    table(kept=False)
    pd.testing.assert_frame_equal(dataset.load("my").frame, found.frame)


@pytest.mark.parametrize("table", [(".csv", True)], indirect=True)
def test_a_kept_table_that_cannot_be_read_is_made_again(table):
    table()
    whole = dataset.load("my").frame
    for error in READ_ERRORS:
        for place in count():
            table(kept=False)
            with fail_once(kept_tables._find_folder(), error, place) as fault:
                pd.testing.assert_frame_equal(dataset.load("my").frame, whole)
            if not fault.happened:
                break
    assert opened_file.measure_file(next(kept_tables._find_folder().glob("*.columns")))
