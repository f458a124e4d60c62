"""The file of a table is opened as it is named, whatever its path means to a library, and known by what it holds."""

import bz2
import gzip
import lzma
import os
import pickle
import re
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from datasets import dataset
from datasets.own_tables import own_table
from datasets.own_tables.opened_file import ROWS, UnreadableFile, open_parquet
from datasets.own_tables.own_file import guess_form, read_file
from documents import search_path
from tests.command_line import exit_code

pytestmark = pytest.mark.long

TABLE = pd.DataFrame({"b": range(9), "word": ["u", "v", "w"] * 3, "y": ["no", "yes", "no"] * 3})
OTHER = TABLE.assign(b=TABLE["b"] + 100)
CSV = TABLE.to_csv(index=False)
NAMES = {  # and the file beside it that a library would take for it
    "data[1]": "data1",
    "a*": "ab",
    "a?": "ax",
    "{a,b}": "a",
    "b=77/x": "x",
    "b=77/year=2020/y": "z",
    "**/deep": "other/deep",
    "100%41 #1": "100A #1",
    "~root": "root",
    "~": "home",
    "-x": "x",
    "with blanks ": "with",
    "two\nlines": "two",
    "it's $HOME ${x} `id`": "its",
    "back\\slash": "back/slash",
    "http:/x.org": "org",
    "a&b;c|d": "c",
    "café 🙂": "caf",
}


BY_LIBRARIES = {}
"""Files that were written before, by their ending and what they hold: a library takes longer for one than a test."""


def write(frame, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix in (".parquet", ".xlsx"):
        asked = path.suffix, pickle.dumps(frame)
        if asked not in BY_LIBRARIES:
            BY_LIBRARIES[asked] = write_by_library(frame, path.parent / f"new{path.suffix}")
        path.write_bytes(BY_LIBRARIES[asked])
    else:
        content = frame.to_csv(index=False, sep="\t" if ".tsv" in path.name else ",").encode()
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def write_by_library(frame, path):
    """Write a file that a library has the words for, and return its bytes; it is removed."""
    if path.suffix == ".parquet":
        with pytest.importorskip("duckdb").connect() as database:
            database.from_df(frame).write_parquet(str(path))
    else:
        frame.to_excel(path, index=False)
    content = path.read_bytes()
    path.unlink()
    return content


@pytest.fixture
def added(tmp_path, monkeypatch):
    (tmp_path / "mine" / "dataset").mkdir(parents=True)
    monkeypatch.setenv(search_path.VARIABLE, str(tmp_path / "mine"))
    return tmp_path / "mine" / "dataset"


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".xlsx", ".parquet"])
def test_a_name_is_no_pattern_and_no_column(added, tmp_path, monkeypatch, capsys, ending, large):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(own_table, "_LEAST_KEPT", 0 if large else 1 << 20)
    for number, (name, beside) in enumerate(NAMES.items()):
        write(OTHER, tmp_path / "tables" / f"{beside}{ending}")
        write(TABLE, tmp_path / "tables" / f"{name}{ending}")
        read = read_file(tmp_path / "tables" / f"{name}{ending}")
        assert [*map(int, read["b"])] == [*range(9)] and list(read.columns) == ["b", "word", "y"], name
        text = yaml.safe_dump({"file": f"../../tables/{name}{ending}", "task": "classification", "target": "y"})
        (added / f"my{number}.yaml").write_text(text, encoding="utf-8")
        assert dataset.load(f"my{number}").frame["b"].tolist() == [*range(9)], name
    assert capsys.readouterr().err == ""


SHELL_NAMES = (
    *("data[1]", "b=77/x", "target=x", "${x}", "two\nlines"),
    *("./~root", "a'b", "a,b", "./-x", "caf\udce9"),
)


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        *((name, ".csv") for name in SHELL_NAMES),
        *((name, ".parquet") for name in (*SHELL_NAMES[:2], "a'b", "caf\udce9")),
    ],
)
def test_a_draft_of_it_is_of_these_rows(tmp_path, monkeypatch, capsys, name, ending):
    monkeypatch.chdir(tmp_path)
    try:
        write(TABLE, Path(f"{name}{ending}"))
    except (OSError, UnicodeError):
        pytest.skip("no such names here")
    done = exit_code("describe", f"{name}{ending}", "target=y", "to=mine")
    printed = capsys.readouterr()
    if name == "caf\udce9":
        assert done == 2 and "a name that is not in UTF-8 cannot stand in a YAML file: rename it\n" in printed.err
        return
    assert done == 0, printed.err
    monkeypatch.setenv(search_path.VARIABLE, str(tmp_path / "mine"))
    (draft,) = (tmp_path / "mine" / "dataset").iterdir()
    assert dataset.load(draft.stem).frame["b"].tolist() == [*range(9)]


def test_what_a_pattern_of_duckdb_cannot_name_is_refused_and_nothing_else_is_read(tmp_path):
    write(OTHER, tmp_path / "a" / "[1].parquet")
    write(TABLE, tmp_path / "a\\[1].parquet")
    with pytest.raises(UnreadableFile, match="DuckDB cannot open a file of such a name: rename it"):
        read_file(tmp_path / "a\\[1].parquet")


def test_every_query_of_parquet_is_of_the_file_as_it_is(tmp_path):
    """No other module hands DuckDB a path to read."""
    write(TABLE, tmp_path / "b=7" / "x[1].parquet")
    write(OTHER, tmp_path / "b=7" / "x1.parquet")
    with open_parquet(tmp_path / "b=7" / "x[1].parquet", threads=1) as database:
        assert database.execute(f"SELECT min(b), max(b), count(*) FROM {ROWS}").fetchone() == (0, 8, 9)
    folder = Path(own_table.__file__).parents[2]
    sources = [
        path for part in ("datasets", "experiments", "plots", "algorithms") for path in (folder / part).rglob("*.py")
    ]
    readers = {path.name for path in sources if re.search(r"read_parquet\(|FROM '", path.read_text(encoding="utf-8"))}
    assert readers == {"opened_file.py", "own_file.py"}


def pack_zip(path, *members):
    with zipfile.ZipFile(path, "w") as archive:
        for name in members:
            archive.writestr(name, CSV)


@pytest.mark.parametrize("name", ["my.csv", "my.csv.gz", "my.CSV.XZ", "my.csv.bz2"])
@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress])
def test_packed_text_is_read_by_its_bytes_whatever_its_name(tmp_path, name, pack):
    (tmp_path / name).write_bytes(pack(CSV.encode()))
    pd.testing.assert_frame_equal(read_file(tmp_path / name), read_file_of(tmp_path, CSV))
    assert guess_form(tmp_path / name).separator == ","
    (tmp_path / name).write_bytes(pack(CSV.encode())[:-9])
    with pytest.raises(UnreadableFile, match="is packed, and damaged or encrypted: "):
        read_file(tmp_path / name)


def read_file_of(folder, text):
    (folder / "plain.csv").write_bytes(text.encode())
    return read_file(folder / "plain.csv")


def test_an_archive_of_one_file_is_read_and_of_several_refused(tmp_path):
    pack_zip(tmp_path / "my.csv.zip", "folder/", "folder/my.csv", "__MACOSX/._my.csv")
    pd.testing.assert_frame_equal(read_file(tmp_path / "my.csv.zip"), read_file_of(tmp_path, CSV))
    pack_zip(tmp_path / "my.csv.zip", "a.csv", "b.csv")
    with pytest.raises(UnreadableFile, match=r"my.csv.zip holds 2 files \(a.csv, b.csv\): unpack it"):
        read_file(tmp_path / "my.csv.zip")
    write(TABLE, tmp_path / "my.xlsx")
    (tmp_path / "my.xlsx").rename(tmp_path / "my.csv")
    with pytest.raises(UnreadableFile, match=r"my.csv is an Excel file: let its name end on .xlsx"):
        read_file(tmp_path / "my.csv")


def test_a_large_packed_file_is_kept_as_any_other(added, monkeypatch):
    monkeypatch.setattr(own_table, "_LEAST_KEPT", 10)
    write(TABLE, added / "my.csv.gz")
    write(TABLE, added / "our.csv")
    for name, file in (("my", "my.csv.gz"), ("our", "our.csv")):
        (added / f"{name}.yaml").write_text(f"file: {file}\ntask: classification\ntarget: y\n", encoding="utf-8")
    assert dataset.load("my").fingerprint == dataset.load("our").fingerprint


OTHER_KINDS = [
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n", "a pointer of Git LFS, not the table"),
    (b"../../.git/annex/objects/a/b/c.csv", "a pointer of git-annex, not the table"),
    (b"\xef\xbb\xbf\n<!DOCTYPE html>\n<html><body>Not found", "a web page or XML"),
    (b"% 1. Title\n%\n@RELATION iris\n@ATTRIBUTE x REAL\n@DATA\n1\n", "an ARFF file"),
    (b"PAR1\x15\4\x15", "a Parquet file: let its name end on .parquet"),
    (b'[{"x": 1, "y": "no"}]', "JSON, not a table"),
    (b'{"x": 1}\n{"x": 2}\n', "JSON, not a table"),
    (b"\x28\xb5\x2f\xfd\x04\0", "packed in a way that is not read here: unpack it"),
    (b"\x80\4\x95", "an object of Python or NumPy"),
    (b"\x89PNG\r\n\x1a\n\0", "a picture, not a table"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1", "a file of old Excel, or one with a password: save it as .xlsx without"),
    (b"%PDF-1.7\n", "a PDF document"),
    (b"SQLite format 3\0...", "an SQLite database"),
]


@pytest.mark.parametrize(
    ("content", "what", "ending"),
    [
        *((*kind, ".csv") for kind in OTHER_KINDS),
        *((*OTHER_KINDS[place], ending) for place in (0, 7) for ending in (".tsv", ".xlsx", ".parquet", ".csv.gz")),
        (*OTHER_KINDS[4], ".xlsx"),
    ],
)
def test_a_file_that_is_something_else_is_named_as_what_it_is(tmp_path, capsys, content, what, ending):
    path = tmp_path / f"my{ending}"
    path.write_bytes(gzip.compress(content) if ending == ".csv.gz" else content)
    assert exit_code("describe", path) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {path} is {what}")


@pytest.mark.parametrize("name", ["PAR1", "orc", "ORCID", "Rar!", "ARROW1", "GIF8", "% of all", "[x]", "{x}", "PK"])
def test_a_header_that_begins_as_another_kind_of_file_does_is_one(tmp_path, name):
    read = read_file_of(tmp_path, CSV.replace("b,", f"{name},", 1))
    assert list(read.columns) == [name, "word", "y"]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".xlsx"])
def test_what_may_never_end_is_not_read(tmp_path, ending):
    """A pipe waits for somebody who writes, and a device such as /dev/zero gives bytes for ever."""
    os.mkfifo(tmp_path / f"pipe{ending}")
    (tmp_path / f"device{ending}").symlink_to("/dev/zero")
    for name in ("pipe", "device"):
        for read in (read_file, guess_form) if ending in (".csv", ".tsv") else (read_file,):
            with pytest.raises(UnreadableFile, match=f"{name}{ending} is a pipe or a device, no file: write what it"):
                read(tmp_path / f"{name}{ending}")


@pytest.mark.parametrize(("ending", "what"), [(".parquet", "Parquet"), (".xlsx", "Excel")])
def test_text_with_the_ending_of_another_kind_is_refused_with_the_way_out(tmp_path, ending, what):
    for content, reason in ((CSV.encode(), f"no {what} file by its first bytes: if it is text"), (b"", "empty")):
        (tmp_path / f"my{ending}").write_bytes(content)
        with pytest.raises(UnreadableFile, match=f"my{ending} is {reason}"):
            read_file(tmp_path / f"my{ending}")


def test_what_is_no_file_is_said_to_be_what_it_is(tmp_path):
    write(TABLE, tmp_path / "parts.parquet" / "part-0.parquet")
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "dangling.csv").symlink_to(tmp_path / "gone.csv")
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    reasons = {
        "parts.parquet": "is a folder, no file: COPY (FROM '{}/**/*.parquet') TO 'one.parquet' in DuckDB makes one",
        "folder.csv": "is a folder, no file",
        "dangling.csv": f"{tmp_path}/dangling.csv is not there (it is a link to {tmp_path}/gone.csv)",
        "loop.csv": "cannot be read (Too many levels of symbolic links)",
        "my.csv": f"{tmp_path}/my.csv is not there",
        "my.zip": "ends on .zip, which is no table here; unpack it",
        "my.parquet.gz": "ends on .gz, which is no table here; unpack it",
    }
    for name, reason in reasons.items():
        with pytest.raises(UnreadableFile, match=re.escape(reason.format(tmp_path / name))):
            read_file(tmp_path / name)


@pytest.mark.parametrize("mark", ["sep=;\r\n", "\ufeffsep=;\n", "SEP=;\n", '"sep=;"\n', "sep=;;;\n", "sep=; \n"])
def test_the_separator_that_excel_writes_above_the_header_is_taken(added, tmp_path, monkeypatch, mark):
    text = f"{mark}b;word;y\n" + "".join(f"{b},5;u;{'no' if b % 2 else 'yes'}\n" for b in range(9))
    (tmp_path / "my.csv").write_text(text, encoding="utf-8", newline="")
    assert exit_code("describe", tmp_path / "my.csv", f"to={added.parent}") == 0
    loaded = dataset.load("my")
    assert loaded.frame["b"].tolist() == [b + 0.5 for b in range(9)]
    monkeypatch.setattr(own_table, "_LEAST_KEPT", 0)
    (tmp_path / "my.csv").touch()
    assert dataset.load("my").fingerprint == loaded.fingerprint


@pytest.mark.parametrize("ending", [".csv", ".xlsx", ".csv.gz", ".parquet"])
def test_a_damaged_file_is_refused_in_a_line(tmp_path, ending):
    path, rng = tmp_path / f"my{ending}", np.random.default_rng(5)
    write(TABLE, path)
    whole = np.frombuffer(path.read_bytes(), dtype=np.uint8)
    for _ in range(25):
        damaged = whole[: rng.integers(1, len(whole) + 1)].copy()
        damaged[rng.integers(0, len(damaged), 3)] = rng.integers(0, 256, 3)
        path.write_bytes(damaged.tobytes())
        try:
            read_file(path, guess_form(path))
        except UnreadableFile as error:
            assert "\n" not in str(error)


def test_a_workbook_without_its_parts_is_refused(tmp_path):
    write(TABLE, tmp_path / "whole.xlsx")
    with zipfile.ZipFile(tmp_path / "whole.xlsx") as whole, zipfile.ZipFile(tmp_path / "my.xlsx", "w") as archive:
        for name in whole.namelist():
            archive.writestr(name, whole.read(name).replace(b"spreadsheetml.sheet.main", b"spreadsheetml.other"))
    with pytest.raises(
        UnreadableFile, match=r"my.xlsx cannot be read as an Excel file: it is damaged or something else \(OSError\)"
    ):
        read_file(tmp_path / "my.xlsx")


def test_line_ends_of_three_kinds_and_long_cells_are_read_or_refused_in_a_line(tmp_path):
    assert read_file_of(tmp_path, "b,y\r\n1,\n2,u\r3,v\n")["b"].tolist() == ["1", "2", "3"]
    with pytest.raises(UnreadableFile, match="cannot be read as text with ',' between cells: field larger than"):
        read_file_of(tmp_path, f"b,y\n{'x' * 200_000},\n2,u\n")
