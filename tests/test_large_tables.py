"""Large tables of one's own: read as numbers at once, kept in columns, mapped; the same table as cell by cell."""

import multiprocessing
import os
import re
import shutil
from functools import cache
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from algorithms.installation import find_user_cache
from datasets import progress_bar
from datasets.own_tables import kept_tables, own_table, typed_parquet, typed_text
from datasets.own_tables.opened_file import UnreadableFile
from datasets.own_tables.own_file import TextForm
from datasets.own_tables.typed_text import Columns, count_even_rows, read_typed
from documents.yaml_files import DocumentError

pytestmark = pytest.mark.long

OPEN = "file: my.csv\ntask: classification\ntarget: pay\n"
COLUMNS = "features:\n    age: {lower: 0, upper: 99}\n    job: [clerk, cook]\n  target:\n    pay: [low, high]\n"
DECLARED = f"{OPEN}domain:\n  {COLUMNS}"
REGRESSION = "file: my.csv\ntask: regression\ntarget: pay\n"


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A function that reads a table of one's own, written into a folder of its own, with a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def read(content: bytes, entry: str = OPEN) -> own_table.OwnTable:
        (tmp_path / "my.csv").write_bytes(content)
        (tmp_path / "my.yaml").write_text(entry, encoding="utf-8")
        return own_table.read_own_table(tmp_path / "my.yaml")

    read.folder = tmp_path
    return read


FILES = {
    "numbers and words": b"age,job,pay\n31,clerk,low\n50.25,cook,high\n-0,cook,low\n",
    "whole numbers with an empty cell": b"age,job,pay\n31,clerk,low\n,cook,high\n7,cook,low\n",
    "no line end at the end, Windows line ends": b"age,job,pay\r\n31,clerk,low\r\n50,cook,high",
    "a mark of UTF-8": b"\xef\xbb\xbfage,job,pay\n31,clerk,low\n50,cook,high\n",
    "semicolons": b"age;job;pay\n31;clerk;low\n5;cook;high\n",
    "quotes around separators and line ends": b'age,job,pay\n31,"clerk, chief",low\n5,"co\nok",high\n6,"a ""b""",low\n',
    "blanks before quotes": b'age, job, pay\n31, "clerk", "low"\n5, "cook", "high"\n',
    "labels that look like numbers": b"age,pay\n31,007\n5,1.0\n6,007\n",
    "labels with blanks": b"age,pay\n31, low\n5,high \n",
    "true and false": b"rich,age,pay\nTrue,1,low\nFalse,2,high\n",
    "blank lines": b"age,pay\n\n31,low\n\n\n5,high\n\n",
    "long numbers": b"age,pay\n0.1234567890123456789,low\n123456789012345678901234567890,high\n1e300,low\n",
    "a question mark": b"age,job,pay\n31,?,low\n?,cook,high\n5,cook,low\n",
    "a word late among numbers": b"age,pay\n" + b"31,low\n" * 1200 + b"x1,high\n",
    "the last cell of a row is empty": b"pay,age\nlow,31\nhigh,\nlow,5\n",
    "one column more than is declared": b"age,job,pay,zip\n31,clerk,low,01\n50,cook,high,02\n",
    "blanks before the quotes of the header": b'age, "pay"\n1, "low"\n2, "high"\n',
    "latin letters": "age,job,pay\n31,Bäcker,low\n5,cook,high\n".encode(),
}


@pytest.mark.parametrize(
    "entry",
    [OPEN, DECLARED, REGRESSION, f"{OPEN}drop_missing: true\n"],
    ids=["open", "declared", "regression", "dropped"],
)
@pytest.mark.parametrize("name", FILES)
def test_a_file_read_as_numbers_is_the_file_read_cell_by_cell(own, monkeypatch, name, entry):
    def read():
        try:
            found = own(FILES[name], entry)
            return found.fingerprint, found.domain, found.rows
        except DocumentError as error:
            return str(error)

    typed = read()
    monkeypatch.setattr(own_table, "read_typed", lambda *_: None)
    by_cell = read()
    assert typed[:2] == by_cell[:2]
    if not isinstance(typed, str):
        pd.testing.assert_frame_equal(typed[2], by_cell[2])


def test_all_of_these_files_are_read_as_numbers(tmp_path):
    for name, content in FILES.items():
        (tmp_path / "my.csv").write_bytes(content)
        assert read_typed(tmp_path / "my.csv", TextForm(), Columns(None, ("pay",), ())) is not None, name


@pytest.mark.parametrize("number", ["018446744073709551616", "007", "True"])
def test_words_of_one_block_of_rows_may_look_like_numbers(tmp_path, monkeypatch, number):
    monkeypatch.setattr(typed_text, "_ROWS", 3)
    (tmp_path / "my.csv").write_text(f"age,pay\n1,{number}\n2,{number}\n3,{number}\n4,A0\n", encoding="utf-8")
    frame = read_typed(tmp_path / "my.csv", TextForm(), Columns(None, ("pay",), ()))
    assert frame["pay"].tolist() == [number, number, number, "A0"]


def test_a_mark_that_python_reads_as_a_number_is_a_word(own):
    rows = b"age,pay\n1000,low\n1_000,high\n5,low\n7,high\n"
    assert own(rows, f'{OPEN}missing: ["1_000"]\ndrop_missing: true\n').rows["age"].tolist() == [1000, 5, 7]


def test_one_number_in_all_rows_is_nothing_to_predict(own):
    with pytest.raises(DocumentError, match="has one value in all rows, '1'"):
        own(b"age,pay\n1,1\n2,1.0\n", REGRESSION)


def test_what_leaves_a_doubt_is_not_read_as_numbers(tmp_path):
    columns = Columns(None, ("pay",), ())

    def reads(content: bytes, form: TextForm | None = None, columns: Columns = columns) -> bool:
        (tmp_path / "my.csv").write_bytes(content)
        return read_typed(tmp_path / "my.csv", form or TextForm(), columns) is not None

    assert reads(b"age,pay\n1,low\n")
    assert not reads(b"age,pay\n1,low\n2\n3,low\n")  # a row that ends early
    assert not reads(b"age,pay\n1,low\n2,low,9\n3,low\n")  # one that goes on
    assert not reads(b"age,pay\n1,low\n2\n3,low,9\n")  # as many separators as there should be
    assert not reads(b"age,age\n1,low\n") and not reads(b"age,\n1,low\n")  # names
    assert not reads("age,pay\n1,low\n".encode("utf-16")) and not reads(b"age,pay\n\0,low\n")
    assert not reads(b"age,pay\n1,l\xe4w\n") and reads(b"age,pay\n1,l\xe4w\n", TextForm("latin-1"))
    assert not reads(b"age,pay\n1,low\n", columns=Columns(("job",), (), ()))
    assert not reads(b"age,pay\r1,low\r2,high\n")
    assert not reads(b'a",pay"\n1",low"\n3\n2",high"\n')
    assert not reads(b"") and not reads(b"age,pay\n") and not reads(b'age,pay\n1,"low\n2,low\n')


def test_rows_are_counted_across_blocks(monkeypatch):
    content = b'a,b\n1,"x,\n""y"""\n2,\n\r\n3,z'
    for size in range(1, len(content) + 1):
        monkeypatch.setattr("datasets.own_tables.typed_text._BLOCK", size)
        assert count_even_rows(BytesIO(content), ",", 2) == 4
        assert count_even_rows(BytesIO(content), ",", 3) is None
        assert count_even_rows(BytesIO(content + b","), ",", 2) is None
        assert typed_text._holds(BytesIO(content), b'"y"') and not typed_text._holds(BytesIO(content), b"\n,")


def test_a_file_that_is_cut_while_it_is_read_ends_no_process(tmp_path, monkeypatch):
    """A file mapped into memory would: with SIGBUS, and without a word."""
    (tmp_path / "my.csv").write_bytes(b"age,pay\n" + b"1,low\n2,high\n" * 100_000)
    read_csv = pd.read_csv

    def read_and_cut(*words, **options):
        frame = read_csv(*words, **options)
        os.truncate(tmp_path / "my.csv", 0)
        return frame

    def read() -> None:
        monkeypatch.setattr(typed_text.pd, "read_csv", read_and_cut)
        assert read_typed(tmp_path / "my.csv", TextForm(), Columns(None, ("pay",), ())) is None

    process = multiprocessing.get_context("fork").Process(target=read)
    process.start()
    process.join()
    assert process.exitcode == 0


def test_rows_are_not_counted_one_by_one_where_none_ends_early(tmp_path, monkeypatch):
    monkeypatch.setattr(typed_text, "count_even_rows", refuse_to_read)
    (tmp_path / "my.csv").write_bytes(b"age,pay\n,low\n\n2,high")
    columns = Columns(None, ("pay",), ())
    assert len(read_typed(tmp_path / "my.csv", TextForm(), columns)) == 2
    for content in (b"age,pay\n1,low\n2,\n", b'age,pay\n1,"low"\n'):  # the last cell of a row is empty; quotes
        (tmp_path / "my.csv").write_bytes(content)
        with pytest.raises(AssertionError, match="read again"):
            read_typed(tmp_path / "my.csv", TextForm(), columns)


@cache  # nearly all want the same one
def make_large(seed: int = 0) -> bytes:
    """Return a table of more than a megabyte, which is kept."""
    rng = np.random.default_rng(seed)
    ages, jobs = rng.uniform(0, 99, 60_000).round(6), rng.choice(["clerk", "cook"], 60_000)
    frame = pd.DataFrame({"age": ages, "job": jobs, "pay": rng.choice(["low", "high"], 60_000)})
    return frame.to_csv(index=False).encode()


def list_kept() -> list:
    return sorted((find_user_cache() / "tables").glob("*.columns"))


def refuse_to_read(*_, **__):
    raise AssertionError("the file was read again")


def test_a_large_table_is_read_once_and_then_mapped(own, monkeypatch):
    first = own(make_large(), DECLARED)
    (path,) = list_kept()
    monkeypatch.setattr(own_table, "_make_own_table", refuse_to_read)
    again = own(make_large(), DECLARED)
    assert (again.fingerprint, again.domain, again.files) == (first.fingerprint, first.domain, first.files)
    pd.testing.assert_frame_equal(again.rows, first.rows)
    start, size = again.rows["age"].to_numpy().ctypes.data, again.rows["job"].cat.codes.to_numpy().nbytes
    lines = Path("/proc/self/maps").read_text().splitlines()
    maps = [line.split()[0].split("-") for line in lines if str(path) in line]
    assert size == 60_000 and any(int(low, 16) <= start < int(high, 16) for low, high in maps)


@pytest.mark.parametrize("change", ["rows", "entry", "code"])
def test_a_stale_table_is_made_anew(own, monkeypatch, change):
    first = own(make_large(), DECLARED)
    if change == "code":
        monkeypatch.setattr(kept_tables, "_hash_code", lambda: b"another")
    entry = DECLARED.replace("upper: 99", "upper: 120") if change == "entry" else DECLARED
    other = own(make_large(seed=change == "rows"), entry)
    assert len(list_kept()) == 2
    assert (other.fingerprint != first.fingerprint) is (change == "rows")
    assert other.domain.features[0].upper == (120 if change == "entry" else 99)


def spoil(path, how: str) -> None:
    content = path.read_bytes()
    changes = {
        "cut short": content[: len(content) // 2],
        "empty": b"",
        "another value": content[:-9] + bytes([content[-9] ^ 1]) + content[-8:],
        "another file": b"age,job\n" * 100,
        "header": content[:30] + b"!" + content[31:],
        "length of the header": content[:27] + b"\xff" + content[28:],
        "a bound": content.replace(b"99.0", b"91.0", 1),
    }
    path.unlink()
    path.write_bytes(changes[how])


@pytest.mark.parametrize(
    "how",
    [
        *("cut short", "empty", "another value", "another file"),
        *("header", "length of the header", "a bound"),
    ],
)
def test_a_damaged_table_is_made_anew(own, how):
    first = own(make_large(), DECLARED)
    (path,) = list_kept()
    good = path.read_bytes()
    spoil(path, how)
    pd.testing.assert_frame_equal(own(make_large(), DECLARED).rows, first.rows)
    assert [path.read_bytes() for path in list_kept()] == [good]


def test_kept_tables_are_bounded(own, monkeypatch):
    own(make_large(), DECLARED)
    (oldest,) = list_kept()
    os.utime(oldest, (1, 1))
    monkeypatch.setattr(kept_tables, "LARGEST", int(2.5 * oldest.stat().st_size))
    own(make_large(seed=1), DECLARED)
    assert len(list_kept()) == 2
    own(make_large(seed=2), DECLARED)
    assert len(list_kept()) == 2 and oldest not in list_kept()
    monkeypatch.setattr(kept_tables, "LARGEST", 1000)
    there = list_kept()
    own(make_large(seed=3), DECLARED)
    assert list_kept() == there  # one that is larger than all may be drives out none


def test_what_a_killed_process_left_is_removed(own):
    own(make_large(), DECLARED)
    (path,) = list_kept()
    left = path.with_suffix(".part")
    left.write_bytes(b"half")
    own(make_large(seed=1), DECLARED)
    assert not left.exists() and len(list_kept()) == 2


TABLES = {
    "numbers and words": "(VALUES (31.25, 'clerk', 'low'), (-0, 'cook', 'high')) AS rows(age, job, pay)",
    "text of numbers": "(VALUES ('31', '007', 'low'), ('5', '7', 'high')) AS rows(age, zip, pay)",
    "text of most numbers": "(VALUES ('31', 'clerk', 'low'), ('NA', 'cook', 'high')) AS rows(age, job, pay)",
    "empty cells": "(VALUES (31, 'clerk', 'low'), (NULL, NULL, 'high'), (5, '', 'low')) AS rows(age, job, pay)",
    "words with blanks": "(VALUES (31, ' clerk', 'low '), (5, 'clerk', ' high')) AS rows(age, job, pay)",
    "whole numbers as labels": "(VALUES (31, 9007199254740993), (5, 9007199254740992)) AS rows(age, pay)",
    "booleans": "(VALUES (31, true, 'low'), (5, NULL, 'high'), (7, false, 'low')) AS rows(age, rich, pay)",
    "dates": "(VALUES (31, DATE '2020-01-31', 'low'), (5, DATE '1999-12-31', 'high')) AS rows(age, born, pay)",
    "nothing in a column": "(VALUES (31, NULL::VARCHAR, 'low'), (5, NULL, 'high')) AS rows(age, job, pay)",
    "a column more": """(VALUES (31, 'clerk', 'low', 'x'), (5, 'cook', 'high', 'y')) AS rows(age, job, pay, "a ""b")""",
    "kinds of numbers": "(VALUES (31::FLOAT, 2.5::DECIMAL(9, 2), 200::UTINYINT, 'low'), (0.1, 0.01, 3, 'high')) "
    "AS rows(age, kg, cm, pay)",
    "blocks of rows": "(SELECT CASE WHEN i < 3000 THEN i % 99 END, CASE WHEN i > 2500 THEN 'cook' ELSE 'clerk' END, "
    "CASE WHEN i % 3 = 0 THEN 'low' ELSE 'high' END FROM range(5000) AS numbers(i)) AS rows(age, job, pay)",
    "names": "(SELECT i, 'n' || i, CASE WHEN i % 3 = 0 THEN 'low' ELSE 'high' END FROM range(300) AS numbers(i)) "
    "AS rows(age, id, pay)",
    "a list": "(VALUES ([31], 'clerk', 'low'), ([5], 'cook', 'high')) AS rows(age, job, pay)",
}


def write_parquet(path: Path, rows: str) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as database:
        database.sql(f"SELECT * FROM {rows}").write_parquet(str(path))


LEFT_OUT = f"{OPEN}drop_missing: true\n"
OTHER_ENTRIES = [
    *((name, DECLARED) for name in ("numbers and words", "empty cells", "a column more")),
    *((name, REGRESSION) for name in ("text of most numbers", "whole numbers as labels", "kinds of numbers")),
    *((name, LEFT_OUT) for name in ("empty cells", "booleans", "nothing in a column", "blocks of rows")),
]


@pytest.mark.parametrize(("name", "entry"), [*((name, OPEN) for name in TABLES), *OTHER_ENTRIES])
def test_a_parquet_file_with_words_as_categories_is_the_file_read_cell_by_cell(own, monkeypatch, name, entry):
    write_parquet(own.folder / "my.parquet", TABLES[name])
    monkeypatch.setattr(typed_parquet, "_VECTORS", 1)
    monkeypatch.setattr(typed_parquet, "_MOST_CATEGORIES", 200)

    def read():
        try:
            found = own(b"", entry.replace("my.csv", "my.parquet"))
            return found.fingerprint, found.domain, found.rows
        except DocumentError as error:
            return str(error)

    typed = read()
    monkeypatch.setattr(typed_parquet, "read_typed_parquet", lambda *_: None)
    by_cell = read()
    assert typed[:2] == by_cell[:2]
    if not isinstance(typed, str):
        pd.testing.assert_frame_equal(typed[2], by_cell[2])


def test_what_of_a_parquet_file_is_read_with_words_as_categories(tmp_path):
    def reads(rows: str, names=None) -> bool:
        write_parquet(tmp_path / "my.parquet", rows)
        return typed_parquet.read_typed_parquet(tmp_path / "my.parquet", Columns(names, (), ())) is not None

    assert [name for name in TABLES if not reads(TABLES[name])] == ["a list"]
    assert reads(TABLES["a list"], ("job", "pay")) and not reads(TABLES["a list"], ("job", "zip"))
    assert not reads("(SELECT 31 AS age WHERE false) AS rows")
    (tmp_path / "my.parquet").write_bytes(b"PAR1")
    with pytest.raises(UnreadableFile, match=r"^my\.parquet cannot be read as a Parquet file \(.*too small"):
        typed_parquet.read_typed_parquet(tmp_path / "my.parquet", Columns(None, (), ()))


def test_words_that_repeat_are_categories_and_names_are_text(tmp_path, monkeypatch):
    monkeypatch.setattr(typed_parquet, "_MOST_CATEGORIES", 200)
    write_parquet(tmp_path / "my.parquet", TABLES["names"])
    frame = typed_parquet.read_typed_parquet(tmp_path / "my.parquet", Columns(None, (), ()))
    assert [isinstance(kind, pd.CategoricalDtype) for kind in frame.dtypes] == [False, False, True]
    assert frame["id"].tolist()[::299] == ["n0", "n299"]


def test_a_large_parquet_file_is_read_once(own, monkeypatch):
    monkeypatch.setattr(own_table, "_LEAST_KEPT", 1000)
    text, entry = own(make_large()), OPEN.replace("my.csv", "my.parquet")
    write_parquet(own.folder / "my.parquet", f"read_csv('{own.folder / 'my.csv'}')")
    first = own(b"", entry)
    monkeypatch.setattr(own_table, "_make_own_table", refuse_to_read)
    again = own(b"", entry)
    assert again.domain == first.domain == text.domain
    for table in (first, again):
        pd.testing.assert_frame_equal(table.rows, text.rows)


def test_a_file_that_changes_while_it_is_read_is_refused(own, monkeypatch):
    make = own_table._make_own_table

    def make_late(*given):
        made = make(*given)
        (own.folder / "my.csv").write_bytes(make_large(seed=1))
        return made

    monkeypatch.setattr(own_table, "_make_own_table", make_late)
    with pytest.raises(DocumentError, match=r"my.csv was changed while it was read: run the same command again"):
        own(make_large(), DECLARED)
    assert list_kept() == []


@pytest.mark.parametrize("size", [1, 60_000])
def test_a_file_that_nobody_may_read_is_refused_in_a_line(own, monkeypatch, size):
    opened = Path.open

    def refuse(self, mode="r", *more, **options):
        if self.name == "my.csv" and mode != "wb":
            raise PermissionError(13, "Permission denied", str(self))
        return opened(self, mode, *more, **options)

    content = make_large()[: 20 * size]
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DocumentError, match=r"my.csv cannot be read \(Permission denied\)"):
        own(content[: content.rindex(b"\n")])


def _read(path, barrier) -> None:
    own_table._read_once.cache_clear()  # it has what its parent read
    barrier.wait()
    own_table.read_own_table(path)


def test_two_processes_may_read_a_table_at_once(own):
    expected = own(make_large(), DECLARED).fingerprint
    shutil.rmtree(find_user_cache() / "tables")
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(2)
    readers = [context.Process(target=_read, args=(own.folder / "my.yaml", barrier)) for _ in range(2)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert [reader.exitcode for reader in readers] == [0, 0]
    assert len(list_kept()) == 1 and own(make_large(), DECLARED).fingerprint == expected


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_how_far_a_file_is_read_is_said_without_a_terminal(own, monkeypatch, capsys, suffix):
    monkeypatch.setattr(typed_text, "_ROWS", 10_000)
    monkeypatch.setattr(typed_parquet, "_VECTORS", 5)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    clock = iter(range(1000))
    monkeypatch.setattr(progress_bar, "monotonic", lambda: next(clock))
    content = make_large()
    own(content)
    if suffix == "parquet":
        write_parquet(own.folder / "my.parquet", f"read_csv('{own.folder / 'my.csv'}')")
    capsys.readouterr()
    own(content + b"1,cook,low\n", OPEN.replace("csv", suffix))
    first, last = capsys.readouterr().err.splitlines()
    assert re.fullmatch(rf"my.{suffix}: \d of \d MB \([4-7]\d%\), about [1-4]\.\d s left", first), first
    assert last == f"my.{suffix}: read in {7 + (suffix == 'csv')}.0 s"  # which has a row more


def test_what_is_read_at_once_is_not_worth_a_line(own, capsys):
    own(make_large())
    assert capsys.readouterr().err == ""
