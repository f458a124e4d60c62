"""The store: what goes in comes out, is on the disk in time, and damage is said in one line."""

import errno
import math
import os
import sqlite3
import threading
from contextlib import closing

import pytest

from experiments.cells.cell import Cell
from experiments.store import database
from experiments.store.database import Store, StoreError
from experiments.store.record import Measured, Record
from tests.waiting import wait_for

CELLS = [Cell("car", "majority", {}, epsilon, 0) for epsilon in (0.1, 1.0, math.inf)]
PRIVACY = {"privacy": {"accounted_epsilon": math.inf}}
DONE = Record("done", Measured({"accuracy": 1 / 3, "recall_acc": math.nan}, 0.25, PRIVACY, 0.5))


def test_what_goes_in_comes_out(tmp_path):
    with Store(tmp_path / "new" / "store.sqlite") as store:
        store.put(CELLS[0], DONE)
        store.put(CELLS[1], Record("failed", error="ValueError: no"))
    with Store(tmp_path / "new" / "store.sqlite") as store:
        assert store.done() == {CELLS[0].key}
        found = store.get([cell.key for cell in CELLS])
        assert found.keys() == {CELLS[0].key, CELLS[1].key}
        measured = found[CELLS[0].key].measured
        assert measured.metrics["accuracy"] == 1 / 3 and math.isnan(measured.metrics["recall_acc"])
        assert (measured.fit_seconds, measured.seconds) == (0.25, 0.5)
        assert measured.details == {"privacy": {"accounted_epsilon": "inf"}}
        assert found[CELLS[1].key] == Record("failed", error="ValueError: no")


def test_success_replaces_failure(tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        store.put(CELLS[0], Record("failed", error="once"))
        store.flush()
        store.put(CELLS[0], DONE)
        assert store.done() == {CELLS[0].key}


def test_the_last_result_is_soon_on_the_disk_though_no_other_comes(tmp_path):
    with Store(tmp_path / "store.sqlite") as store, sqlite3.connect(tmp_path / "store.sqlite") as other:
        store.put(CELLS[0], DONE)
        wait_for(lambda: other.execute("SELECT count(*) FROM cells").fetchone() == (1,))


def test_two_runs_can_share_a_store(tmp_path):
    with Store(tmp_path / "store.sqlite") as one, Store(tmp_path / "store.sqlite") as other:
        one.put(CELLS[0], DONE)
        other.put(CELLS[1], DONE)
        one.flush()
        assert other.done() == {CELLS[0].key, CELLS[1].key} == one.done()


def _noise(path):
    path.write_bytes(b"not a database" * 100)


def _torn(path):
    with Store(path) as store:
        for i in range(300):
            store.put(Cell("car", "majority", {}, float(i + 1), 0), DONE)
    content = bytearray(path.read_bytes())
    content[4096:12288] = os.urandom(8192)
    path.write_bytes(content)


def _another(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE other (x)")


@pytest.mark.parametrize("damage", [_noise, _torn, _another])
def test_a_damaged_store_is_named_with_the_way_out_and_left_alone(tmp_path, damage):
    path = tmp_path / "store.sqlite"
    damage(path)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"store\.sqlite is damaged .* move it away") as caught:
        Store(path)
    assert "\n" not in str(caught.value) and path.read_bytes() == before


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"results folder .*file cannot be made"):
        Store(tmp_path / "file" / "store.sqlite")


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "store.sqlite").mkdir()  # also for root, whom permissions do not stop
    with pytest.raises(StoreError, match="cannot be read or written"):
        Store(tmp_path / "store.sqlite")


def test_a_write_that_fails_late_is_raised_at_the_next_result(tmp_path, monkeypatch):
    store = Store(tmp_path / "store.sqlite")
    store._connection.execute("PRAGMA query_only = 1")
    store.put(CELLS[0], DONE)
    wait_for(lambda: store._late_error)
    with pytest.raises(StoreError, match="cannot be read or written"):
        store.put(CELLS[1], DONE)
    store._connection.execute("PRAGMA query_only = 0")
    store.close()  # what waited is still written
    with Store(tmp_path / "store.sqlite") as again:
        assert again.done() == {CELLS[0].key}


@pytest.mark.parametrize("numbers", ["x'0102'", "zeroblob(24)"], ids=["too few", "too many"])
def test_a_damaged_row_is_named_with_the_way_out(tmp_path, numbers):
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        store.put(CELLS[0], DONE)
    connection = sqlite3.connect(path)
    connection.execute(f"UPDATE cells SET numbers = {numbers}")
    connection.commit()
    connection.close()
    with Store(path) as store, pytest.raises(StoreError, match=r"damaged.*move it away") as caught:
        store.get([CELLS[0].key])
    assert "\n" not in str(caught.value)


def test_a_failed_write_leaves_no_transaction_open(tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        store.put(CELLS[0], DONE)
        store.flush()
        store.put(CELLS[1], Record("failed", error="an error that is not kept"))
        store._waiting[0] = store._waiting[0]._replace(status=None, details='{"only":"here"}')
        with pytest.raises(StoreError):
            store.flush()
        store._waiting.clear()
        store.put(CELLS[1], Record("done", Measured({"accuracy": 0.5}, 0.1, {"only": "here"})))
        assert store.done() == {CELLS[0].key, CELLS[1].key}
        assert store.get([CELLS[1].key])[CELLS[1].key].measured.details == {"only": "here"}


def test_an_interrupt_while_a_batch_is_written_loses_nothing(tmp_path, monkeypatch):
    store = Store(tmp_path / "store.sqlite")
    store.put(CELLS[0], DONE)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(store, "_find_id", interrupt)
        store.flush()
    store.close()
    with Store(tmp_path / "store.sqlite") as again:
        assert again.done() == {CELLS[0].key}


def interrupt(text):
    raise KeyboardInterrupt


def test_many_may_make_one_store_at_once(tmp_path):
    barrier, failures = threading.Barrier(4), []

    def open_store(path):
        barrier.wait()
        try:
            Store(path).close()
        except StoreError as error:
            failures.append(error)

    for i in range(15):
        threads = [threading.Thread(target=open_store, args=(tmp_path / f"{i}.sqlite",)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failures


def test_a_store_of_an_earlier_version_is_named_with_the_way_out_and_left_alone(tmp_path):
    path = tmp_path / "store.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA application_id = {0x44505265}")
        connection.execute("CREATE TABLE cells (key TEXT PRIMARY KEY)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"written by an earlier version.*move it away and run again$"):
        Store(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("change", ["ALTER TABLE cells ADD COLUMN host TEXT", "DROP TABLE cells"])
def test_a_store_of_a_later_version_is_named_before_anything_runs(tmp_path, change):
    Store(tmp_path / "store.sqlite").close()
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as connection:
        connection.execute(change)
    with pytest.raises(StoreError, match=r"has not the table of this version: .*choose another with results="):
        Store(tmp_path / "store.sqlite")


@pytest.mark.parametrize("holds", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE", "SELECT * FROM cells, (VALUES (1), (2), (3))"])
def test_a_store_that_another_program_has_open_is_waited_for_with_a_word(tmp_path, monkeypatch, capsys, holds):
    monkeypatch.setattr(database, "_SOON", 0.1)
    monkeypatch.setattr(database, "_PATIENCE", 0.5)
    with Store(tmp_path / "store.sqlite") as store:
        store.put(CELLS[0], DONE)
        store.flush()
        with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
            reading = other.execute(holds)
            reading.fetchone()
            store.put(CELLS[1], DONE)
            with pytest.raises(StoreError, match=r"locked\); another program has it open: close it there, or"):
                store.flush()
            assert "is open in another program: waiting for up to" in capsys.readouterr().err
            reading.close()
        assert store.done() == {CELLS[0].key, CELLS[1].key}


def test_a_file_system_without_locks_is_named(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(database.fcntl, "flock", refuse)
    with Store(tmp_path / "store.sqlite") as store:
        with pytest.raises(StoreError, match=r"store.lock: No locks available; choose a folder whose file system has"):
            store.held().__enter__()
        monkeypatch.undo()
        with store.held():
            store.put(CELLS[0], DONE)


def test_a_cell_takes_less_than_300_bytes_and_none_of_thousands_is_lost(tmp_path):
    """Of any account of privacy, since equal texts are kept once; with the names of the metrics a cell took 680."""
    account = {"privacy": {"faults": ["a sentence that is as long as others of its kind are"] * 20}}
    metrics = {f"recall_of_a_class_{i}": i / 3 for i in range(11)}
    cells = list(Cell("car", "majority", {}, 1.0, 0).repeats(range(3000)))
    with Store(tmp_path / "store.sqlite") as store:
        for cell in cells:
            store.put(cell, Record("done", Measured(metrics, 0.1, account, 0.2)))
        assert store.get([cell.key for cell in cells]).keys() == {cell.key for cell in cells}
    assert (tmp_path / "store.sqlite").stat().st_size / len(cells) < 300
