"""Tables as people have them: what a draft makes of them loads with the right types, bounds, categories and rows."""

import datetime
import json
import re

import numpy as np
import pandas as pd
import pytest

from algorithms import Continuous, Nominal
from datasets import dataset
from datasets.notation.guessing import MARKS_IN_NUMBERS, MARKS_IN_WORDS
from datasets.notation.spelling import Notation
from datasets.own_tables import own_file
from documents import search_path
from documents.yaml_files import DocumentError
from tests.command_line import exit_code

pytestmark = pytest.mark.long


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of the user, whose data sets are known."""
    (tmp_path / "dataset").mkdir()
    monkeypatch.setenv(search_path.VARIABLE, str(tmp_path))
    return tmp_path


@pytest.fixture
def drafted(folder, monkeypatch, capsys):
    """A function that writes a table and has it described; returns what is loaded by the draft, and its text."""

    def draft(content, *words, file="my.csv", encoding="utf-8"):
        name = file.partition(".")[0]
        if isinstance(content, str):
            (folder / file).write_bytes(content.encode(encoding))
        monkeypatch.delenv(search_path.VARIABLE, raising=False)
        assert exit_code("describe", folder / file, f"to={folder}", *words) == 0, capsys.readouterr().err
        monkeypatch.setenv(search_path.VARIABLE, str(folder))
        text = (folder / "dataset" / f"{name}.yaml").read_text(encoding="utf-8")
        loaded = dataset.load(name)
        problems = loaded.domain.rows(loaded.frame, loaded.target).problems()
        assert (problems.clipped, problems.left_out) == ({}, 0)
        return loaded, text

    return draft


@pytest.fixture
def refused(folder):
    """A function that writes a table and its YAML file, and returns the one line that refuses them."""

    def refuse(entry, rows="", file="my.csv"):
        (folder / "dataset" / "my.yaml").write_text(f"file: ../{file}\n{entry}", encoding="utf-8")
        if rows:
            (folder / file).write_text(rows, encoding="utf-8")
        with pytest.raises(DocumentError) as caught:
            dataset.load("my")
        text = str(caught.value)
        assert "\n" not in text or re.match(r"\d+ errors:\n", text)
        return text.removeprefix(str(folder / "dataset" / "my.yaml"))

    return refuse


def load(folder, entry, rows, file="my.csv"):
    (folder / "dataset" / "my.yaml").write_text(f"file: ../{file}\n{entry}", encoding="utf-8")
    if rows:
        (folder / file).write_text(rows, encoding="utf-8")
    return dataset.load("my")


def with_rows(header, *rows):
    return "\n".join([header, *rows]) + "\n"


INFERRED = "task: classification\ntarget: y\n"
BY_KIND = {
    "#N/A N/A",
    "#NULL!",
    "*",
    "-",
    "--",
    "...",
    "<NA>",
    "NA",
    "NULL",
    "n/a",
    "null",
    "None",
    "none",
    "missing",
    "—",
}
"""Marks that YAML or a reader of numbers may take for something else, and one of each kind of the others."""


def test_the_marks_that_are_tried_are_marks():
    assert BY_KIND <= MARKS_IN_NUMBERS | MARKS_IN_WORDS


@pytest.mark.parametrize("mark", ["", "?", "nan", "NaN", *sorted(MARKS_IN_NUMBERS & BY_KIND)])
def test_one_mark_of_a_missing_value_leaves_a_column_of_numbers(mark, drafted):
    rows = [f"{20 + i % 9},{'ab'[i % 2]}" for i in range(11)]
    loaded, text = drafted(with_rows("age,y", *rows, f"{mark},a"))
    assert loaded.domain.features == (Continuous("age", 20, 28),)
    assert loaded.frame["age"].tolist() == [20.0 + i % 9 for i in range(11)]  # and the row of the mark is left out
    assert 'drop_missing: true    # leaves out 1 of 12 rows: 1 in "age"' in text
    said = f'# taken for missing values: 1 "{mark}"' in text
    assert said is (mark in MARKS_IN_NUMBERS)


@pytest.mark.parametrize("mark", sorted(MARKS_IN_WORDS & BY_KIND))
def test_a_sure_mark_among_words_is_the_missing_category_and_said(mark, drafted):
    loaded, text = drafted(with_rows("job,y", "cook,a", "clerk,b", f"{mark},a", "cook,b", f"{mark},b"))
    assert loaded.domain.features == (Nominal("job", ("clerk", "cook", "?")),)
    assert loaded.frame["job"].tolist() == ["cook", "clerk", "?", "cook", "?"]
    assert f'"?" stands for a missing value: 2 of them, 2 "{mark}" among them' in text
    assert f'missing: ["{mark}"]    # 2 "{mark}" in "job"' in text


@pytest.mark.parametrize("word", sorted(MARKS_IN_NUMBERS & BY_KIND - MARKS_IN_WORDS))
def test_a_word_that_may_be_a_category_is_kept_as_one_and_said(word, drafted):
    loaded, text = drafted(with_rows("job,y", "cook,a", f"{word},b", f"{word},a", "cook,b"))
    assert loaded.frame["job"].tolist() == ["cook", word, word, "cook"]
    assert f'# kept as categories: 2 "{word}"; if that means missing' in text and "missing: [" not in text


def test_a_listed_category_wins_over_a_mark(drafted, folder):
    loaded, text = drafted(with_rows("x,rh,where,y", "1,+,NA,a", "-,-,EU,b", "3,-,NA,a", "4,+,EU,b"))
    assert loaded.frame["rh"].tolist() == ["+", "-", "+"] and loaded.frame["x"].tolist() == [1, 3, 4]
    assert loaded.frame["where"].tolist() == ["?", "?", "EU"]
    (folder / "dataset" / "ours.yaml").write_text(text.replace('["EU", "?"]', '["EU", "NA"]'), encoding="utf-8")
    assert dataset.load("ours").frame["where"].tolist() == ["NA", "NA", "EU"]


def test_the_accuracy_of_a_run_is_that_of_the_numbers(drafted, folder, capsys):
    """With decimal commas and marks, one threshold tells the classes apart; a column of words would not."""
    rows = [f"{'yes' if i % 3 else 'no'};{i % 3},{i:03d}" for i in range(300)]
    loaded, _ = drafted(with_rows("class;num", *rows, "no;NA", "yes;-"), file="with_commas.csv")
    assert loaded.domain.features == (Continuous("num", 0.0, 2.299),) and len(loaded.frame) == 300
    words = [
        "dataset=with_commas",
        "algorithm=extra_trees",
        "repeats=2",
        "executor.jobs=1",
        f"results={folder}/results",
    ]
    capsys.readouterr()
    assert exit_code(*words) == 0
    measured = list(map(json.loads, capsys.readouterr().out.splitlines()))
    assert [(of["mean"], of["n"]) for of in measured if of["metric"] == "accuracy"] == [(1.0, 2)]


DECIMALS = {
    "decimal comma": ("num;y", ["5,5;a", "-6,25;b", "7;a"], [5.5, -6.25, 7.0], {"decimal": '","', "separator": '";"'}),
    "decimal comma, points group": (
        "num;y",
        ["1.234.567,8;a", "1.234;b", "0,5;a"],
        [1234567.8, 1234.0, 0.5],
        {"decimal": '","', "thousands": '"."', "separator": '";"'},
    ),
    "commas group": ("num,y", ['"1,234,567",a', '"-1,234.5",b', "7,a"], [1234567, -1234.5, 7], {"thousands": '","'}),
    "blanks group": (
        "num,y",
        ["1 234,a", "1\u00a0234\u00a0567,b", "7.5,a"],
        [1234, 1234567, 7.5],
        {"thousands": '" "'},
    ),
    "apostrophes group": ("num,y", ["1'234.5,a", "1’234,b", "7,a"], [1234.5, 1234, 7], {"thousands": '"\'"'}),
    "Indian groups": ("num,y", ['"12,34,567",a', '"1,234",b', "7,a"], [1234567, 1234, 7], {"thousands": '","'}),
    "a power": ("num;y", ["1,5e3;a", "2,5E-1;b", "7;a"], [1500, 0.25, 7], {"decimal": '","'}),
    "a minus as printers have it": ("num,y", ["−5,a", "6,b", "7,a"], [-5, 6, 7], {}),
    "a currency": ("num,y", ["$5.50,a", "-$6,b", "$ 7,a"], [5.5, -6, 7], {"signs": '["$"]'}),
    "a share": ("num;y", ["5,5 %;a", "6 %;b", "7;a"], [5.5, 6, 7], {"signs": '["%"]', "decimal": '","'}),
    "tabs": ("num\ty", ["5.5\ta", "6\tb", "7\ta"], [5.5, 6, 7], {"separator": '"\\t"'}),
    "strokes": ("num|y", ["5.5|a", "6|b", "7|a"], [5.5, 6, 7], {"separator": '"|"'}),
}


@pytest.mark.parametrize(("header", "rows", "numbers", "keys"), DECIMALS.values(), ids=DECIMALS)
def test_numbers_are_read_as_they_are_written_and_the_draft_says_how(header, rows, numbers, keys, drafted):
    loaded, text = drafted(with_rows(header, *rows))
    assert loaded.frame["num"].dtype == np.float64 and loaded.frame["num"].tolist() == numbers
    assert loaded.domain.features == (Continuous("num", min(numbers), max(numbers)),)
    said = dict(re.findall(r'^(decimal|thousands|signs|separator|missing|encoding): (\[.*?\]|".*?"|\S+)', text, re.M))
    assert keys.items() <= said.items() and set(said) - {"separator"} == set(keys) - {"separator"}
    for sign in ("$", "%"):
        assert (f'"{sign}" is taken off' in text) is (sign in keys.get("signs", ""))


@pytest.mark.parametrize(
    ("content", "numbers", "question"),
    [
        ('pay,y\n"1,234",a\n"5,678",b\n', [1234, 5678], 'is "1,234" the number 1234?'),
        ("pay;y\n1,234;a\n5,678;b\n", [1.234, 5.678], 'is "1,234" the number 1.234?'),
        ("pay;x;y\n1.234;5,5;a\n5.678;6,5;b\n", [1234, 5678], 'is "1.234" the number 1234?'),
    ],
)
def test_what_may_be_two_numbers_is_asked_about(content, numbers, question, drafted):
    loaded, text = drafted(content)
    assert loaded.frame["pay"].tolist() == numbers and question in text


def test_a_number_that_is_written_otherwise_than_said_is_refused(refused):
    entry = 'decimal: ","\n' + INFERRED + "domain: {features: {x: {lower: 0, upper: 9}}, target: {y: [a, b]}}\n"
    found = refused(entry, "x;y\n5,5;a\n5.5;b\n")
    assert "domain.features.x: my.csv, row 2 below the header: '5.5' is no number" in found
    found = refused(entry.replace('decimal: ","\n', ""), "x;y\n5,5;a\n5.5;b\n")
    assert "row 1 below the header: '5,5' is no number here; write decimal: \",\"" in found
    found = refused(entry, "x;y\n5,5;a\nNA;b\n")
    assert "row 2 below the header: 'NA' is no number here; write missing: [\"NA\"]" in found


def test_numbers_in_two_ways_or_units_are_left_out_with_the_reason(drafted):
    rows = [f'{i}.5,"{i},25",{("$", "€")[i % 2]}{i},{"ab"[i % 2]}' for i in range(1, 31)]
    loaded, text = drafted(with_rows("x,z,price,y", *rows))
    assert loaded.domain.names == ["x"]
    assert '# "z" is left out: it looks like numbers written in another way than others are: here "1,25" (1)' in text
    assert (
        '# "price" is left out: its numbers are in different units: 15 "€", 15 "$"' in text or '15 "$", 15 "€"' in text
    )


def test_a_few_words_among_many_numbers_are_no_categories(drafted):
    rows = [f"{i},{i % 5},{'ab'[i % 2]}" for i in range(100, 130)]
    loaded, text = drafted(with_rows("x,z,y", *rows, "refused,K,a"))
    assert loaded.domain.features == (Nominal("z", ("0", "1", "2", "3", "4", "K")),)
    assert '# "x" is left out: it looks like numbers, but "refused" (1) is no number' in text
    assert '# taken as words: "K" (1) is no number; if that means missing, write it into missing' in text


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("cp1252", 'encoding: cp1252    # it is not in UTF-8; "größe" is read so; else latin-1'),
        ("latin-1", "encoding: cp1252 "),
        ("utf-16", 'encoding: utf-16    # it is not in UTF-8; "größe" is read so\n'),
        ("utf-16-le", "encoding: utf-16-le "),
        ("utf-16-be", "encoding: utf-16-be "),
    ],
)
def test_text_is_read_in_the_encoding_that_the_draft_names(encoding, said, drafted):
    loaded, text = drafted("Stadt,größe,y\nKöln,1,ja\nMünchen,2,nein\n", encoding=encoding)
    assert loaded.domain.names == ["Stadt", "größe"] and loaded.frame["Stadt"].tolist() == ["Köln", "München"]
    assert (said in text) if said else ("encoding:" not in text)


def test_bytes_without_a_meaning_in_windows_are_latin_1():
    assert own_file.read_csv_bytes(b"a,y\n\x81,x\n", "my.csv", own_file.TextForm("latin-1"))["a"].tolist() == ["\x81"]
    with pytest.raises(own_file.UnreadableFile, match=r"my.csv, line 2 is no text in CP1252: name another"):
        own_file.read_csv_bytes(b"a,y\n\x81,x\n", "my.csv", own_file.TextForm("cp1252"))
    with pytest.raises(own_file.UnreadableFile, match=r"my.csv, there is no encoding 'klingon'"):
        own_file.read_csv_bytes(b"a,y\n1,x\n", "my.csv", own_file.TextForm("klingon"))


WORDS_OF_YAML = [
    "yes",
    "no",
    "on",
    "off",
    "NO",
    "true",
    "1e5",
    "1.5",
    "2020-01-01",
    "null",
    "~",
    "0x1F",
    "1_000",
    "=",
    "x: y",
]


@pytest.mark.parametrize("word", WORDS_OF_YAML)
def test_names_and_categories_that_yaml_reads_otherwise_are_quoted(word, drafted):
    loaded, _ = drafted(with_rows(f"{word},z,y", f"{word},1,a", "other,2,b", f"{word},3,a"), "target=y")
    kept = "?" if word == "null" else word  # a mark of missing values
    if word not in ("1.5", "1e5", "2020-01-01"):
        assert loaded.frame[word].tolist() == [kept, "other", kept]
    loaded.frame["z"]
    assert word in loaded.domain.names


@pytest.mark.parametrize(
    ("word", "read"),
    [("yes", "true"), ("off", "false"), ("null", "null"), ("2020", "2020"), ("0x1F", "31"), ("1_000", "1000"),
     ("2020-01-01", "the date 2020-01-01"), ("~", "null")],
)  # fmt: skip
def test_names_that_are_not_quoted_by_hand_are_refused_in_a_line(word, read, refused):
    domain = f"domain:\n  features:\n    {word}: [a, b]\n  target:\n    y: [a, b]\n"
    found = refused("task: classification\n" + domain, f"{word},y\na,a\nb,b\n")
    assert f": domain: YAML reads the name of a column as {read}: write it in quotes" in found
    if read != "null":
        found = refused(f"task: classification\ntarget: {word}\n", f"{word},y\na,a\nb,b\n")
        assert f":3: target: YAML reads this as {read}: write it in quotes" in found
    if read[0] in "tf":
        found = refused(
            f"task: classification\ndomain: {{features: {{x: [{word}]}}, target: {{y: [a, b]}}}}\n", "x,y\n"
        )
        assert f"YAML reads a category of 'x' as {read}: write categories such as" in found


def test_what_yaml_reads_as_another_number_is_refused_by_its_cell(refused):
    entry = "task: classification\ndomain: {features: {x: [0x1F, 1_000]}, target: {y: [a, b]}}\n"
    assert "row 1 below the header: '0x1F' is not declared; known are 1000, 31" in refused(
        entry, "x,y\n0x1F,a\n1_000,b\n"
    )


def test_missing_words_that_yaml_changes_are_refused(refused):
    for word, read in (("null", "null"), ("no", "false")):
        found = refused(f"missing: [{word}]\n{INFERRED}", "x,y\n1,a\n2,b\n")
        assert f"missing: YAML reads a word as {read}: write it in quotes" in found


DATES = {
    "%Y-%m-%d": ("2020-01-31", "2020-02-01", [18292, 18293]),
    "%d.%m.%Y": ("31.12.2020", "01.01.2021", [18627, 18628]),
    "%m/%d/%Y": ("12/31/2020", "01/01/2021", [18627, 18628]),
    "%d/%m/%Y": ("31/12/2020", "01/01/2021", [18627, 18628]),
    "%Y-%m-%d %H:%M:%S": ("2020-01-31 12:00:00", "2020-02-01 00:00:00", [18292.5, 18293]),
}


@pytest.mark.parametrize(("how", "first", "second", "days"), [(how, *rest) for how, rest in DATES.items()], ids=DATES)
def test_dates_are_left_out_refused_or_declared_as_days(how, first, second, days, drafted, refused, folder):
    rows = with_rows("day,x,y", f"{first},1,a", f"{second},2,b")
    loaded, text = drafted(rows)
    assert loaded.domain.names == ["x"]
    way = f'dates: {{"day": "{how}"}} makes days since 1970-01-01 of it'
    assert f'# "day" is left out: it holds dates; {way}' in text
    assert refused(INFERRED) == f": my.csv: 'day' holds dates: {way}, or declare a domain (describe drafts one)"
    domain = "domain: {features: {day: {lower: 2020-01-01, upper: 2021-12-31}}, target: {y: [a, b]}}\n"
    assert refused(INFERRED + domain).endswith(f"'{first}' is a date; {way}, or leave the column out")
    found = load(folder, f'dates: {{day: "{how}"}}\n{INFERRED}', None)
    assert found.frame["day"].tolist() == days
    found = load(folder, f'dates: {{day: "{how}"}}\n{INFERRED}{domain}', None)
    assert found.frame["day"].tolist() == days and found.domain.features == (Continuous("day", 18262, 18992),)


def test_a_date_that_may_be_two_is_asked_about_and_one_that_is_none_is_refused(drafted, refused):
    _, text = drafted(with_rows("day,x,y", "01/02/2021,1,a", "03/02/2021,2,b"))
    assert 'dates: {"day": "%d/%m/%Y"} (or "%m/%d/%Y") makes days' in text
    found = refused(f'dates: {{day: "%Y-%m-%d"}}\n{INFERRED}', "day,y\n2020-01-01,a\nsoon,b\n")
    assert ": dates.day: my.csv, row 2 below the header: 'soon' is no date written as %Y-%m-%d" in found
    assert ": dates: 'dya' is no column of my.csv; did you mean 'day'" in refused(f'dates: {{dya: "%Y"}}\n{INFERRED}')


@pytest.mark.parametrize("kind", ["parquet", "xlsx"])
def test_typed_dates_booleans_and_numbers_keep_their_types(kind, folder, drafted, refused):
    days = pd.to_datetime(["2020-01-31 00:00", "2020-02-01 12:00", None, "2020-02-02 00:00"])
    frame = pd.DataFrame(
        {"day": days, "smokes": [True, False, True, True], "n": [1.5, np.nan, 2, 3], "y": list("abab")}
    )
    file = f"my.{kind}"
    write_table(frame, folder / file)
    loaded, text = drafted(None, file=file)
    assert loaded.domain.features == (Nominal("smokes", ("False", "True")), Continuous("n", 1.5, 3))
    assert loaded.frame["smokes"].tolist() == ["True", "True", "True"] and loaded.frame["n"].tolist() == [1.5, 2, 3]
    assert "drop_missing: true    # leaves out 1 of 4 rows" in text
    assert '# "day" is left out: it holds dates; dates: {"day": "%Y-%m-%d"} makes days' in text
    assert "'day' holds dates: dates: " in refused(INFERRED, file=file)
    domain = "domain: {features: {day: {lower: 0, upper: 1e5}}, target: {y: [a, b]}}\n"
    assert "domain.features.day: " in (found := refused(INFERRED + domain, file=file)) and "is a date; dates:" in found
    found = load(folder, f'dates: {{day: "%Y-%m-%d"}}\ndrop_missing: true\n{INFERRED}', None, file)
    assert found.frame["day"].tolist() == [18292, 18294]


def write_table(frame, path):
    if path.suffix == ".xlsx":
        frame.to_excel(path, index=False)
        return
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.register("frame", frame)
        connection.execute(f"COPY frame TO '{path}' (FORMAT parquet)")


def test_numbers_as_text_in_excel_are_read_beside_real_ones(folder, drafted):
    frame = pd.DataFrame({"x": ["1,5", 2.5, "n/a", 3, None], "y": list("ababa")})
    frame.to_excel(folder / "my.xlsx", index=False)
    loaded, text = drafted(None, file="my.xlsx")
    assert loaded.frame["x"].tolist() == [1.5, 2.5, 3] and 'decimal: ","' in text and 'missing: ["n/a"]' in text


def test_categories_that_differ_by_case_are_kept_apart_and_said(drafted):
    loaded, text = drafted(with_rows("w,y", "s,a", "S,b", " s,a", "s,b", "New  York,a", "New York,b"))
    assert loaded.domain.features[0].categories == ("New  York", "New York", "S", "s")
    assert loaded.frame["w"].tolist() == ["s", "S", "s", "s", "New  York", "New York"]
    assert '# different by case or blanks alone, and kept apart: "s", "S"' in text
    assert '# different by case or blanks alone, and kept apart: "New  York", "New York"' in text
    assert "# blanks around 1 of 6 cells do not count" in text


@pytest.mark.parametrize("header", ["y,target,class", "target,x,y", "class,target,x", "x,y,z"])
def test_the_target_may_stand_anywhere_and_have_any_name(header, drafted, folder, capsys):
    names = header.split(",")
    rows = [",".join(f"{name}{i % 2}" for name in names) for i in range(40)]
    for target in names:
        loaded, _ = drafted(with_rows(header, *rows), f"target={target}")
        assert loaded.target.tolist() == [f"{target}{i % 2}" for i in range(40)]
        assert loaded.domain.names == [name for name in names if name != target]
        (folder / "dataset" / "my.yaml").unlink()


def test_what_looks_doubtful_is_said(drafted):
    rows = [f"{i},{i},{i % 3},{i % 2},A,{'ab'[i % 2]}" for i in range(12)]
    loaded, text = drafted(with_rows(",index,stage,flag,site,y", *rows, "12,12,1,0,A,rare"))
    assert loaded.domain.names == ["stage", "flag", "site"]
    for name in ("column 1", "index"):
        assert f'# "{name}" is left out: it looks like an identifier: every row has a value of its own' in text
    assert "# 3 different whole numbers, taken as numbers; if they are codes, list them in quotes" in text
    assert "# constant in these rows: nothing can be learnt from it" in text
    assert '# in one row alone: "rare"; a split trains or tests on it' in text


def test_a_number_far_from_all_others_is_asked_about(drafted, folder):
    _, text = drafted(with_rows("x,y", *(f"{i % 9},{'ab'[i % 2]}" for i in range(30)), "-999,a"))
    assert '# -999 stands far from all others: a mark? then add "-999" to missing' in text
    loaded = load(folder, f'missing: ["-999"]\ndrop_missing: true\n{INFERRED}', None)
    assert loaded.domain.features == (Continuous("x", 0, 8),) and len(loaded.frame) == 30


def test_long_whole_numbers_are_whole_and_small_ones_are_not_zero(drafted):
    ids = [1052416870 + 893087 * i**2 for i in range(100)]
    moles = [1.25e-13 * (i + 1) for i in range(100)]
    codes = [9780140449136, 7153586789]
    rows = [f"{one},{mol},{codes[i % 2]}" for i, (one, mol) in enumerate(zip(ids, moles, strict=True))]
    loaded, text = drafted(with_rows("customer_id,mol,code", *rows))
    assert '# "customer_id" is left out: it looks like an identifier: every row has a value of its own' in text
    assert 'task: classification    # "code" holds 2 different whole numbers; or regression' in text
    assert loaded.domain.features == (Continuous("mol", moles[0], moles[-1]),)
    assert loaded.frame["mol"].tolist() == moles
    assert loaded.domain.target == Nominal("code", ("7153586789", "9780140449136"))


def test_class_labels_that_are_small_numbers_stand_in_their_order(folder):
    loaded = load(folder, INFERRED, with_rows("x,y", "1,1e-11", "2,2e-12", "3,1e-11"))
    assert loaded.domain.target.categories == ("2e-12", "1e-11")


@pytest.mark.parametrize("mark", ["-999", "inf", "9e9"])
def test_a_number_may_stand_for_a_missing_value(mark, folder):
    rows = with_rows("x,y", "1,a", f"{mark},b", "3,a", "4,b")
    loaded = load(folder, f"missing: [{mark}]\ndrop_missing: true\n{INFERRED}", rows)
    assert loaded.frame["x"].tolist() == [1, 3, 4] and loaded.domain.features == (Continuous("x", 1, 4),)


def test_many_categories_are_said_and_names_are_left_out(drafted):
    rows = [f"town {i % 60},name {i},{'ab'[i % 2]}" for i in range(240)]
    loaded, text = drafted(with_rows("town,who,y", *rows))
    assert len(loaded.domain.features[0].categories) == 60 and loaded.domain.names == ["town"]
    assert "# 60 different words, 4 rows of each in the mean" in text


def test_categories_of_test_rows_alone_are_known(drafted, folder):
    rows = [f"{'xy'[i % 2]},{'ab'[i % 2]}" for i in range(40)] + ["z,a", "z,b"]
    _, text = drafted(with_rows("w,y", *rows))
    (folder / "dataset" / "split.yaml").write_text(f"n_train: 40\n{text}", encoding="utf-8")
    found = dataset.load("split")
    assert found.domain.features[0].categories == ("x", "y", "z") and found.n_train == 40


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("x,y\n1,a\nNA,b\n", "'x' holds numbers, but \"NA\" (1) is no number: write missing: [\"NA\"], or declare"),
        ("x;y\n5,5;a\n6,1;b\n", "'x' holds numbers, but \"5,5\" (1), \"6,1\" (1) are no numbers: write decimal: \",\""),
        ("x;y\n5,5;a\nNA;b\n", "write missing: [\"NA\"] and decimal: \",\", or declare"),
        ("x;y\n5 %;a\n6 %;b\n", "are no numbers: write signs: [\"%\"], or declare a domain (describe drafts one)"),
        ("x,y\nN/A,a\nclerk,b\n", "'x' holds \"N/A\" (1), mostly a mark of missing values: write missing: [\"N/A\"]"),
        ("x,y\n1,NA\n2,b\n3,c\n", "'y' holds \"NA\" (1), mostly a mark of missing values: write missing: [\"NA\"]"),
        ("x,y\n1,a\n2,a\n", ":3: target: 'y' of my.csv has one value in all rows, 'a': nothing to predict"),
        ("x,z,y\n1,2,a\n2,b\n", ":1: file: my.csv: row 2 below the header has 2 cells of 3; write out the empty ones"),
        ("x,z,y\n1,2,a,b\n", ":1: file: my.csv cannot be read as text with ',' between cells: Expected 3"),
        ("x,x,y\n1,2,a\n", ":1: file: my.csv has the column 'x' more than once: give each a name of its own"),
        ("x,y\n", ":1: file: my.csv has no rows below its header"),
        ("\n\n", ":1: file: my.csv is empty"),
    ],
)  # fmt: skip
def test_without_a_domain_nothing_becomes_a_category_in_silence(rows, message, refused):
    assert message in refused(INFERRED, rows)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ('thousands: "."\n', "decimal and thousands are both '.': they cannot be the same sign"),
        ('decimal: ";"\n', ":2: decimal: input should be '.' or ','"),
        ("encoding: klingon\n", ":1: file: my.csv, there is no encoding 'klingon'"),
        ('separator: ";;"\n', ":2: separator: "),
        ("missing: NA\n", ":2: missing: write a list"),
    ],
)
def test_keys_that_cannot_be_are_refused(keys, message, refused, folder):
    (folder / "my.csv").write_text("decimal")
    if "thousands" in keys:
        keys = 'decimal: "."\n' + keys
    assert message in refused(keys + INFERRED, "x,y\n1,a\n2,b\n")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("id,y\n" + "".join(f"P{i},{i % 2}\n" for i in range(20)), "be declared: 'id': it looks like an identifier"),
        ("x,y\n" + "".join(f"{i % 3}.5,name {i}\n" for i in range(60)), "of 'y', it looks like names or free text"),
        ("x,y\n1.5,2020-01-01\n2,2020-01-02\n", "target: 'y' holds dates; target=COLUMN names another"),
        ("x,y\n1,\n2,NA\n", "target: every cell of 'y' is missing; target=COLUMN names another"),
        ("x,y\n1,a\n2\n", "my.csv: row 2 below the header has 1 cells of 2; write out the empty ones"),
    ],
)  # fmt: skip
def test_what_cannot_be_drafted_is_refused_in_a_line(rows, message, tmp_path, capsys):
    (tmp_path / "my.csv").write_text(rows, encoding="utf-8")
    assert exit_code("describe", tmp_path / "my.csv") == 2
    printed = capsys.readouterr()
    assert printed.out == "" and len(printed.err.splitlines()) == 1 and message in printed.err


def test_the_plain_notation_changes_nothing():
    cells = pd.Series(
        ["1.5", " 7 ", "1e5", "x", None, 3, 2.5, "0x1F", "1_000", datetime.date(2020, 1, 1)], dtype=object
    )
    assert Notation().read_numbers(cells).tolist()[:3] == [1.5, 7, 1e5]
    assert np.isnan(Notation().read_numbers(cells)).tolist() == [False] * 3 + [True] * 2 + [False] * 2 + [True] * 3
