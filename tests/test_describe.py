"""A draft of a table's YAML file: it loads at once, marks what is from the rows, and points out what is doubtful."""

import runpy
import signal
import sys

import numpy as np
import pandas as pd
import pytest
import yaml

from algorithms import Continuous
from datasets import dataset
from datasets.draft import format_draft
from datasets.own_tables.own_file import TextForm
from documents import search_path
from tests.command_line import exit_code

MARK = "# from the rows: replace by what is public"


@pytest.fixture
def table(tmp_path):
    """A table with all that can be doubtful of a column."""
    rng, n = np.random.default_rng(0), 120
    frame = pd.DataFrame(
        {
            "": np.arange(n),
            "id": [f"P{i:04d}" for i in range(n)],
            "age": rng.integers(18, 80, n).astype(object),
            "on": rng.choice(["yes", "no"], n),
            "weight kg": rng.normal(70, 10, n).round(2),
            "visited": pd.date_range("2020-01-01", periods=n).strftime("%Y-%m-%d"),
            "job": rng.choice(["clerk", 'say "hi"'], n),
            "site": "A",
            "remark": [f"a long text in somebody's own words, number {i}" for i in rng.integers(0, 9, n)],
            "flag": rng.integers(0, 2, n),
            "empty": "",
            "town": [f"town {i}" for i in rng.integers(0, 400, n)],
            "tiny": rng.random(n) * 1e-7,
            "gaps": np.where(np.arange(n) % 4, "", "7.5"),
            "class": rng.choice([0, 1, 2], n),
        }
    )
    frame.loc[3, "age"], frame.loc[5, "job"] = "?", ""
    frame.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv"


def test_a_draft_loads_at_once_and_its_domain_is_that_of_the_rows(table, tmp_path, monkeypatch, capsys):
    assert exit_code("describe", table, f"to={tmp_path / 'mine'}") == 0
    printed = capsys.readouterr()
    draft = tmp_path / "mine" / "dataset" / "people.yaml"
    assert printed.out == f"{draft}\n" and "dataset=people" in printed.err
    monkeypatch.setenv(search_path.VARIABLE, str(tmp_path / "mine"))
    loaded = dataset.load("people")
    names = ["age", "on", "weight kg", "job", "site", "flag", "tiny"]
    assert (loaded.domain.names, len(loaded.frame)) == (names, 119)
    assert loaded.domain.bounds_from_rows == (*names, "class")
    problems = loaded.domain.rows(loaded.frame, loaded.target).problems()
    assert (problems.clipped, problems.left_out) == ({}, 0)
    assert yaml.safe_load(draft.read_text(encoding="utf-8"))["file"] == "../../people.csv"
    monkeypatch.delenv(search_path.VARIABLE)
    assert exit_code("describe", table, f"to={tmp_path / 'mine'}") == 2
    assert "exists, and nothing is overwritten" in capsys.readouterr().err


def test_every_bound_and_category_is_marked_and_every_doubt_is_said(table, capsys):
    assert exit_code("do=describe", f"file={table}") == 0
    text = capsys.readouterr().out
    lines = [line.strip() for line in text.splitlines()]
    assert f'file: "{table}"' in lines
    for name in ("age", '"on"', '"weight kg"', "job", "site", "flag", "tiny", "class"):
        (line,) = [line for line in lines[lines.index("features:") :] if line.startswith(f"{name}: ")]
        assert line.endswith(MARK), name
    doubts = {
        "column 1": "it looks like an identifier",
        "id": "it looks like an identifier",
        "visited": 'it holds dates; dates: {"visited": "%Y-%m-%d"}',
        "remark": "it looks like free text",
        "empty": "every cell is missing",
        "town": "it looks like names or free text",
        "gaps": "90 of 120 cells are missing",
    }
    for name, doubt in doubts.items():
        assert any(line.startswith(f'# "{name}" is left out: {doubt}') for line in lines), name
    assert "# constant in these rows: nothing can be learnt from it" in lines
    assert "# 2 different numbers: perhaps categories, in quotes" in lines
    assert '# "?" stands for a missing value: 1 of them' in lines
    assert 'drop_missing: true    # leaves out 1 of 120 rows: 1 in "age"' in lines
    assert 'task: classification    # "class" holds 3 different whole numbers; or regression' in lines
    assert "target: class    # guessed by its name; target=COLUMN names another" in lines
    assert "Take a name out once public knowledge stands below" in text


@pytest.mark.parametrize(
    ("target", "task"),
    [
        ("age", 'regression    # "age" holds numbers, '),
        ("weight kg", "regression"),
        ("on", 'classification    # "on" h'),
    ],
)
def test_the_task_follows_the_target_that_is_named(target, task, table, capsys):
    assert exit_code("describe", table, f"target='{target}'") == 0
    text = capsys.readouterr().out
    assert f"\ntask: {task}" in text and "guessed" not in text


def test_without_a_name_that_tells_the_last_column_is_the_target():
    text = format_draft(pd.DataFrame({"x": ["1.5", "2"], "end": ["a", "b"]}), "my.csv")
    assert "target: end    # guessed: it stands last" in text


def test_a_column_that_cannot_be_declared_is_left_out_with_the_reason():
    text = format_draft(pd.DataFrame({"x": ["1", "inf"], "z": ["1", "2"], "y": ["a", "b"]}), "my.csv")
    assert "# \"x\" is left out: column 'x': bounds must be finite" in text
    assert 'bounds_from_rows: ["z", "y"]' in text


def test_numbers_of_any_size_are_read_back_as_they_are():
    numbers = pd.DataFrame({"x": ["1e12", "-2.5"], "z": ["1e-7", "3"], "y": ["a", "b"]})
    domain = yaml.safe_load(format_draft(numbers, "my.csv"))["domain"]
    bounds = [Continuous(name, **domain["features"][name]) for name in ("x", "z")]
    assert [(column.lower, column.upper) for column in bounds] == [(-2.5, 1e12), (1e-7, 3.0)]


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("x,y\n1,a\n2,b\n", ["target=z"], "my.csv: target: there is no column 'z'"),
        ("x,y\n1,a\n2,a\n", [], "my.csv: target: 'y' has one value in all rows, ['a']: there is nothing to predict"),
        ("y\na\nb\n", [], "my.csv: it has one column alone, 'y': no comma, semicolon, tab or | separates its cells"),
        ("x,y\n,a\n,b\n", [], "could be declared: 'x': every cell is missing"),
        ("x,z,y\n1,,a\n,2,b\n3,4,a\n", [], 'only 1 rows have no missing value in "x", "z"'),
        ("x,x\n1,a\n", [], "my.csv has the column 'x' more than once"),
        ("", [], "my.csv is empty"),
    ],
)
def test_what_cannot_be_described_is_refused_in_one_line(text, words, message, tmp_path, capsys):
    (tmp_path / "my.csv").write_text(text, encoding="utf-8")
    assert exit_code("describe", tmp_path / "my.csv", *words) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and len(printed.err.splitlines()) == 1 and message in printed.err


def test_a_table_that_is_not_there_or_is_none_is_refused(tmp_path, capsys):
    assert exit_code("describe", tmp_path / "it's.csv") == 2
    assert capsys.readouterr().err == f"error: {tmp_path}/it's.csv is not there\n"
    assert exit_code("describe") == 2
    names = "describe algorithm=NAME, or describe dataset=NAME, or describe metric=NAME"
    assert capsys.readouterr().err == f"error: name what to describe: describe my.csv, or {names}\n"
    assert exit_code("describe", "a.csv", "b.csv") == 2
    assert "describe does not take the word 'b.csv'" in capsys.readouterr().err


def test_a_draft_takes_no_name_that_is_taken(tmp_path, capsys):
    (tmp_path / "car.csv").write_text("x,y\n1,a\n2,b\n", encoding="utf-8")
    assert exit_code("describe", tmp_path / "car.csv", f"to={tmp_path}") == 2
    assert "there is a dataset of that name" in capsys.readouterr().err


def test_the_module_is_the_command(table, monkeypatch, capsys):
    assert exit_code("describe", table) == 0
    expected = capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["experiments.describe", str(table)])
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("experiments.describe", run_name="__main__")
    assert ended.value.code == 0 and capsys.readouterr().out == expected


def draft(frame, file="my.csv", target="y"):
    return format_draft(frame.astype(object), file, target)


def test_words_that_mostly_occur_once_are_left_out_and_a_long_tail_is_kept():
    notes = [f"asked for refund, angry #{i}" for i in range(60)] + ["ok"] * 340
    kept = [f"town {i}" for i in range(60) for _ in range(6)] + [f"village {i}" for i in range(40)]
    text = draft(pd.DataFrame({"note": notes, "town": kept, "y": ["a", "b"] * 200}))
    assert '# "note" is left out: it looks like names or free text: 60 of 61 different values occur once' in text
    assert "angry" not in text and 'town: ["' in text
    with pytest.raises(ValueError, match=r"target: of 'note', it looks like names or free text: 60 of 61"):
        draft(pd.DataFrame({"note": notes, "x": range(400)}), target="note")
    few = pd.DataFrame({"note": [*notes[:20], *["ok"] * 20], "x": [i / 2 for i in range(40)], "y": ["a", "b"] * 20})
    assert '"note" is left out: it looks like names or free text: 20 of 21 different values occur once' in draft(few)
    assert "target: note" in draft(few, target="note")  # a label that is there once is named, and the table is read


def test_structures_of_parquet_and_json_in_a_cell_are_asked_about():
    cells = [f"{{'u': {i % 3}}}" for i in range(12)]
    text = draft(pd.DataFrame({"both": cells, "x": range(12), "y": ["a", "b"] * 6}))
    assert "# is \"{'u': 0}\" a list or a structure? then make a column of each of its values" in text


@pytest.mark.parametrize(("one", "other"), [("1", "1.0"), ("-0.0", "0.0"), ("0", "-0"), ("1e1", "10")])
def test_two_words_for_one_number_are_both_named_with_the_way_out(one, other, tmp_path, capsys):
    rows = "\n".join(f"{x / 2},{label}" for x, label in enumerate([one, other, "7"] * 4))
    (tmp_path / "my.csv").write_text(f"x,y\n{rows}\n", encoding="utf-8")
    assert exit_code("describe", tmp_path / "my.csv") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert sorted(line.split("'")[3:6:2]) == sorted([one, other])
    assert line.endswith("are two words for one number: write it in one way in the file")


def test_numbers_among_words_say_which_marks_and_signs_they_have():
    cells = [*(f"{i}.5" for i in range(100)), *["-"] * 30, *["unknown"] * 20, "44 %", "44,3", "12 %"]
    text = draft(pd.DataFrame({"x": [i / 2 for i in range(153)], "score": cells, "y": ["a", "b", "a"] * 51}))
    (line,) = [line for line in text.splitlines() if '"score" is left out' in line]
    assert '"-" (30), "unknown" (20) and 3 more are no numbers' in line
    assert line.endswith('write missing: ["-", "unknown"] and signs: ["%"], and mend the others')


def test_what_looks_the_same_and_numbers_in_brackets_are_asked_about():
    columns = {"food": ["café", "cafe\u0301", "tea"] * 4, "owed": [f"({i % 5})" for i in range(12)]}
    text = draft(pd.DataFrame({**columns, "x": range(12), "y": ["a", "b"] * 6}))
    assert '# different by code points alone, and kept apart: "café", "cafe\u0301"' in text
    assert '# is "(0)" a negative number? then write it with a minus in the file' in text
    errors = draft(pd.DataFrame({"x": ["1", "#REF!", "3", "#NUM!", "#NAME?", "4"], "y": ["a", "b"] * 3}))
    assert 'missing: ["#REF!", "#NUM!", "#NAME?"]' in errors


def test_a_title_above_the_header_and_a_table_of_one_column_are_refused():
    titled = pd.DataFrame(
        [["a", "b", "y"], ["1", "2", "u"], ["3", "4", "v"]], columns=["Sales", "column 2", "column 3"]
    )
    with pytest.raises(
        ValueError, match="only the first column has a name, 'Sales': take out the lines above the header"
    ):
        format_draft(titled, "my.xlsx")
    one = pd.DataFrame({"x y": ["1 a", "2 b"]})
    with pytest.raises(ValueError, match=r"it has one column alone, 'x y': no comma, semicolon, tab or \| separates"):
        format_draft(one, "my.csv", "y", TextForm(None, ","))
    with pytest.raises(ValueError, match=r"it has one column alone, 'x y'$"):
        format_draft(one, "my.parquet")
    with pytest.raises(ValueError, match="its first line is a comment, '# made': take out the lines above the header"):
        format_draft(one.rename(columns={"x y": "# made"}), "my.csv", "y")


def test_a_comment_with_commas_above_the_header_is_named(tmp_path, capsys):
    (tmp_path / "my.csv").write_text("# of us\n" + "1,2,a\n" * 9, encoding="utf-8")
    assert exit_code("describe", tmp_path / "my.csv", "target=y") == 2
    assert "its first line is a comment" in capsys.readouterr().err


def test_a_workbook_says_what_it_does_not_read(tmp_path, capsys):
    with pd.ExcelWriter(tmp_path / "my.xlsx") as book:
        pd.DataFrame(columns=["Readme"]).to_excel(book, sheet_name="Readme", index=False)
        pd.DataFrame({"x": [1, 2]}).to_excel(book, sheet_name="rows")
    assert exit_code("describe", tmp_path / "my.xlsx") == 2
    said = "my.xlsx, of its sheets the first is read, 'Readme', and not 'rows', has no rows below its header"
    assert said in capsys.readouterr().err
    with pd.ExcelWriter(tmp_path / "my.xlsx") as book:
        pd.DataFrame({"see the": ["second", "sheet"], "z": [1, 2]}).to_excel(book, sheet_name="Readme", index=False)
        pd.DataFrame({"x": [1, 2]}).to_excel(book, sheet_name="rows")
    assert exit_code("describe", tmp_path / "my.xlsx", "target=y") == 2
    said = "my.xlsx (of its sheets the first is read, 'Readme', and not 'rows'): target: there is no column 'y'"
    assert said in capsys.readouterr().err
    assert exit_code("describe", tmp_path / "my.xlsx", "target=z") == 0
    assert "    # of its sheets the first is read, 'Readme', and not 'rows'\n" in capsys.readouterr().out
    formulas = pd.DataFrame({"x": range(6), "sum": [f"=A{i}+1" for i in range(2, 8)], "y": ["a", "b"] * 3})
    formulas.to_excel(tmp_path / "our.xlsx", index=False)
    assert exit_code("describe", tmp_path / "our.xlsx", "target=y") == 0
    assert "formulas that were saved without values: save the file in Excel" in capsys.readouterr().out
    assert exit_code("describe", tmp_path / "our.xlsx", "target=sum") == 2
    assert "every cell of 'sum' is missing, it may hold formulas" in capsys.readouterr().err


def test_bytes_in_parquet_are_text_where_they_are_some(tmp_path, capsys):
    duckdb = pytest.importorskip("duckdb")
    cells = "('w' || i % 3)::BLOB AS word, '\\xFF\\x01'::BLOB AS photo, 'ab'[1 + i % 2] AS y"
    rows = f"SELECT i AS x, {cells} FROM range(9) numbers(i)"
    with duckdb.connect() as database:
        database.sql(rows).write_parquet(str(tmp_path / "my.parquet"))
    assert exit_code("describe", tmp_path / "my.parquet") == 0
    text = capsys.readouterr().out
    assert 'word: ["w0", "w1", "w2"]' in text
    assert "# \"photo\" is left out: column 'photo': it holds bytes that are no text" in text
    assert exit_code("describe", tmp_path / "my.parquet", "target=photo") == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_damaged_text_is_not_taken_for_another_encoding(tmp_path, capsys):
    lines = [f"{i / 2},{'ab'[i % 2]}" for i in range(60)]
    (tmp_path / "my.csv").write_bytes("\n".join(["x,y", *lines[:30], "3\0,a", *lines[30:]]).encode())
    assert exit_code("describe", tmp_path / "my.csv") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("my.csv, line 32 has a NUL, which no text has: it is damaged")
    (tmp_path / "my.csv").write_bytes("\n".join(["x,y", *lines, ""]).encode() + bytes(4096))  # a crash, a full disk
    assert exit_code("describe", tmp_path / "my.csv") == 2
    assert "my.csv, line 62 has a NUL" in capsys.readouterr().err
    (tmp_path / "my.csv").write_bytes(bytes(range(256)) * 9)
    assert exit_code("describe", tmp_path / "my.csv") == 2
    assert "my.csv, it holds binary data, no text" in capsys.readouterr().err
    (tmp_path / "my.csv").write_bytes("\n".join(["x,y", *lines]).encode("utf-16-be"))
    assert exit_code("describe", tmp_path / "my.csv") == 0
    assert "encoding: utf-16-be" in capsys.readouterr().out
