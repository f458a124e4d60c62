"""A table of one's own: by a YAML file alone, of every format, checked cell by cell, its faults in every account."""

import re
import shlex
import threading

import pandas as pd
import pytest
import yaml

from algorithms import Continuous, Nominal
from algorithms.installation import find_user_cache
from algorithms.released.document import ReleaseError
from datasets import catalogue, dataset, download
from datasets.own_tables import own_file, own_table
from documents import search_path
from documents.yaml_files import DocumentError
from experiments.cells.code_version import data_version
from experiments.config.data import task_and_domain
from experiments.config.paths import ROOT
from experiments.config.protocol import Protocol
from experiments.run.splits import list_splits
from experiments.skeletons.algorithm import NoisyBayesClassifier
from tests.command_line import exit_code
from tests.test_data_sources import Server

ROWS = "age,job,pay\n31,clerk,low\n50,cook,high\n44,clerk,high\n22,cook,low\n"
DECLARED = """
file: my.csv
task: classification
domain:
  features:
    age: {lower: 16, upper: 100}
    job: [clerk, cook, other]
  target:
    pay: [low, high]
"""
INFERRED = "file: my.csv\ntask: classification\ntarget: pay\n"


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder that was added to the catalogue; the function writes a data set `my` into it and returns its name."""
    (tmp_path / "dataset").mkdir()
    monkeypatch.setenv(search_path.VARIABLE, str(tmp_path))

    def write(entry=DECLARED, rows=ROWS, file="my.csv"):
        (tmp_path / "dataset" / "my.yaml").write_text(entry, encoding="utf-8")
        if isinstance(rows, str):
            (tmp_path / "dataset" / file).write_text(rows, encoding="utf-8")
        return "my"

    write.folder = tmp_path / "dataset"
    return write


def refused(own, *given):
    """Return the one line that refuses a data set, on the command line with exit code 2."""
    (line,) = refused_all(own, *given)
    return line


def refused_all(own, *given):
    """Return the lines that refuse a data set, from the number of the line in its file on."""
    name = own(*given)
    with pytest.raises(DocumentError) as caught:
        dataset.load(name)
    lines, file = str(caught.value).split("\n  "), str(own.folder / "my.yaml")
    assert len(lines) == 1 or lines[0].endswith(" errors:")
    assert all(line.startswith(f"{file}:") for line in lines if not line.endswith((" errors:", " more")))
    return [line.removeprefix(file) for line in lines]


def test_a_yaml_file_alone_is_a_data_set(own):
    loaded = dataset.load(own())
    assert (loaded.name, loaded.title, loaded.task, loaded.n_train) == ("my", "my", "classification", None)
    assert loaded.frame["age"].tolist() == [31, 50, 44, 22] and list(loaded.frame["job"].cat.categories)[2] == "other"
    assert loaded.domain.bounds_from_rows == () and loaded.domain.target.categories == ("low", "high")
    assert loaded.provenance["source"] == "file" and list(loaded.provenance["files"]) == ["my.csv"]
    assert loaded.fingerprint == dataset.fingerprint("my") == loaded.provenance["fingerprint"]
    assert dataset.is_available("my") and dataset.count_original_rows("my") == 4 and "my" in catalogue.names()


def test_changed_rows_are_another_version_of_the_data(own, tmp_path, monkeypatch):
    before = data_version(own())
    other = tmp_path / "other" / "dataset"
    other.mkdir(parents=True)
    (other / "my.yaml").write_text(DECLARED, encoding="utf-8")
    monkeypatch.setenv(search_path.VARIABLE, str(other.parent))
    (other / "my.csv").write_text(ROWS, encoding="utf-8")
    assert data_version("my") == before
    (other / "my.yaml").rename(other / "our.yaml")
    (other / "my.csv").write_text(ROWS.replace("50", "51"), encoding="utf-8")
    assert data_version("our") != before


def test_a_table_that_was_changed_is_read_again(own):
    first = dataset.load(own())
    assert dataset.load("my") is first
    _, domain = task_and_domain("my")
    assert dataset.load(own(rows=ROWS.replace("31", "99"))).frame["age"].tolist() == [99, 50, 44, 22]
    own(DECLARED.replace("upper: 100", "upper: 120"), ROWS)
    assert dataset.load("my").domain.features[0].upper == task_and_domain("my")[1].features[0].upper == 120
    assert domain.features[0].upper == 100 and first.frame["age"].tolist() == [31, 50, 44, 22]


def test_every_format_gives_the_same_table(own):
    own()
    frame = own_file.read_file(own.folder / "my.csv")
    expected = dataset.load("my")
    frame = frame.assign(age=frame["age"].astype(int))
    frame.to_csv(own.folder / "a.tsv", sep="\t", index=False)
    frame.to_csv(own.folder / "b.csv", sep=";", index=False, encoding="utf-8-sig")
    frame.to_excel(own.folder / "c.xlsx", index=False)
    files = ["a.tsv", "b.csv", "c.xlsx"]
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.register("frame", frame)
        connection.execute("COPY frame TO '" + str(own.folder / "d.parquet") + "' (FORMAT parquet)")
    for file in [*files, "d.parquet"]:
        name = f"of_{file[0]}"
        text = DECLARED.replace("my.csv", file)
        (own.folder / f"{name}.yaml").write_text(text, encoding="utf-8")
        assert dataset.load(name).fingerprint == expected.fingerprint, file


def test_what_is_pinned_is_planned_without_its_rows_and_refused_if_it_differs(own):
    fingerprint = dataset.load(own()).fingerprint
    pinned = f"fingerprint: {fingerprint}\nrows: 4{DECLARED}"
    (own.folder / "right.yaml").write_text(pinned, encoding="utf-8")
    assert dataset.load("right").fingerprint == fingerprint
    (own.folder / "away.yaml").write_text(pinned.replace("my.csv", "gone.csv"), encoding="utf-8")
    assert catalogue.read_entry("away").rows == 4  # and nothing was read
    (own.folder / "wrong.yaml").write_text(pinned.replace(fingerprint, "f" * 64), encoding="utf-8")
    with pytest.raises(
        DocumentError, match=f"wrong.yaml:1: fingerprint: my.csv holds another table: 4 .*{fingerprint}"
    ):
        dataset.load("wrong")
    (own.folder / "short.yaml").write_text(pinned.replace("rows: 4", "rows: 5"), encoding="utf-8")
    with pytest.raises(DocumentError, match=r"short.yaml:2: rows: my.csv has 4 rows, not 5"):
        dataset.load("short")


NUMBERS = [1.25e-13, 0.1 + 0.2, 123456.7890123456, 1 / 3e7, 5568363461.0, 9988754659.0, 1600030000090.0, 2**53 - 1.0]
OF_NUMBERS = """
file: my.csv
task: classification
drop_beyond_bounds: true
domain:
  features:
    x: {lower: 1.25e-13, upper: 9007199254740991}
  target:
    y: [a, b]
"""
WAYS = ["csv", "csv cell by cell", "csv kept", "decimal comma", "xlsx", "parquet", "parquet cell by cell"]


@pytest.mark.parametrize("way", WAYS)
def test_numbers_are_taken_as_they_are_written(way, own, monkeypatch):
    file = f"my.{way.split()[0]}" if way != "decimal comma" else "my.csv"
    frame = pd.DataFrame({"x": NUMBERS, "y": ["a", "b"] * 4})
    entry = OF_NUMBERS.replace("my.csv", file) + ('decimal: ","\n' if way == "decimal comma" else "")
    rows = frame.to_csv(index=False, sep=";", decimal=",") if way == "decimal comma" else frame.to_csv(index=False)
    own(entry, rows)
    if file == "my.xlsx":
        frame.to_excel(own.folder / file, index=False)
    if file == "my.parquet":
        pytest.importorskip("duckdb").sql("SELECT * FROM frame").write_parquet(str(own.folder / file))
    if "cell by cell" in way:
        monkeypatch.setattr(own_table, "_read_typed", lambda *_: None)
    if way == "csv kept":
        monkeypatch.setattr(own_table, "_LEAST_KEPT", 0)
        own_table.read_own_table(own.folder / "my.yaml")
        own_table._read_once.cache_clear()
        monkeypatch.setattr(own_table, "_make_own_table", None)
    written = [float(f"{number:.16g}") for number in NUMBERS] if way == "xlsx" else NUMBERS  # as openpyxl writes them
    assert dataset.load("my").frame["x"].tolist() == written  # those at the bounds, too


def test_long_decimal_numbers_of_parquet_are_read_as_text_would_be(own):
    words = ["699.61", "0.000000000001234567", "9007199254740993.000000000000000001", "-7.1"]
    cells = ", ".join(f"({word}::DECIMAL(38, 18), {number})" for number, word in enumerate(words))
    own("file: my.parquet\ntask: regression\ntarget: y\n", None)
    file = str(own.folder / "my.parquet")
    pytest.importorskip("duckdb").sql(f'SELECT * FROM (VALUES {cells}) AS rows("the ""x", y)').write_parquet(file)
    assert dataset.load("my").frame['the "x'].tolist() == list(map(float, words))
    assert own_file.read_file(own.folder / "my.parquet")['the "x'].tolist() == list(map(float, words))


PLAIN = "x,z,w,y\n14.96,-0,1000000007,a\n0.000000125,12.5,7,b\n-3.1,7,0.1,a\n"
LONG = PLAIN.replace("14.96", "1.25e-13").replace("12.5,7", "12.5,9988754659")
PINNED = """
file: my.csv
task: classification
domain:
  features:
    x: {lower: -5, upper: 20}
    z: {lower: 0, upper: 20}
    w: {lower: 0, upper: 1.0e+10}
  target:
    y: [a, b]
"""


def test_a_fingerprint_is_that_of_all_times_if_rounding_changes_no_number_and_refused_with_the_reason_else(own):
    """Numbers were once rounded to nine decimals: then these fingerprints were written down."""
    plain = "fingerprint: 12183dd9c3a73a576f8bb9093576d4bb5ed616e5c48aadc64b193c9e919afb3a"
    assert dataset.load(own(plain + PINNED, PLAIN)).frame["w"].tolist() == [1000000007, 7, 0.1]
    rounded = "fingerprint: afdf26cd6072b560f233858e53e121c0f2c690eba8fed839d3a3460797644f83"
    said = refused(own, rounded + PINNED, LONG)
    assert said.startswith(":1: fingerprint: this is of the numbers of my.csv rounded to 9 decimals, as they once were")
    assert dataset.load(own(f"fingerprint: {said.split()[-1]}{PINNED}", LONG)).frame["x"].tolist()[0] == 1.25e-13
    assert "holds another table: 3 rows" in refused(own, rounded + PINNED, LONG.replace("-3.1", "-3.2"))


INCOMPLETE = "x,y\n" + "".join(f"{'' if i < 2 else 99 if i == 6 else i},{'ab'[i % 2]}\n" for i in range(10))
SPLIT = """
file: my.csv
task: classification
n_train: 5
drop_missing: true
domain: {features: {x: {lower: 0, upper: 20}}, target: {y: [a, b]}}
"""


@pytest.mark.parametrize("is_kept", [False, True])
@pytest.mark.parametrize("is_pinned", [False, True])
def test_rows_that_are_left_out_make_no_training_rows_of_official_test_rows(is_kept, is_pinned, own, monkeypatch):
    if is_kept:
        monkeypatch.setattr(own_table, "_LEAST_KEPT", 0)
    loaded = dataset.load(own(SPLIT, INCOMPLETE))
    assert (loaded.n_train, loaded.frame["x"].tolist()) == (3, [2, 3, 4, 5, 99, 7, 8, 9])
    if is_pinned:  # what would be planned without its rows, if none were left out
        own(f"fingerprint: {loaded.fingerprint}\nrows: 8{SPLIT}", INCOMPLETE)
    own_table._read_once.cache_clear()
    loaded = dataset.load("my")
    train, test = next(iter(list_splits(loaded, 0, Protocol())))
    assert loaded.frame["x"].iloc[train].tolist() == [2, 3, 4]
    assert loaded.frame["x"].iloc[test].tolist() == [5, 99, 7, 8, 9]
    assert data_version("my").split()[1] == str(catalogue.read_entry("my").n_train) == "3"


def test_a_number_beyond_its_bounds_makes_no_training_row_of_a_test_row(own):
    entry = SPLIT.replace("n_train: 5", "n_train: 8").replace("missing", "beyond_bounds")
    loaded = dataset.load(own(entry, INCOMPLETE.replace("\n,", "\n-1,")))
    assert (loaded.n_train, loaded.frame["x"].tolist()) == (5, [2, 3, 4, 5, 7, 8, 9])


@pytest.mark.parametrize(
    ("n_train", "message"),
    [
        (2, ":4: n_train: the first 2 rows of my.csv are all left out: none trains"),
        (10, ":4: n_train: 10 leaves no test row of the 8 rows of my.csv that are kept"),
    ],
)
def test_a_split_with_an_empty_part_is_refused(n_train, message, own):
    assert refused(own, SPLIT.replace("n_train: 5", f"n_train: {n_train}"), INCOMPLETE) == message


def test_an_undeclared_domain_is_a_fault_of_all_that_is_run_on_it(own):
    loaded = dataset.load(own(INFERRED))
    assert loaded.domain.features == (Continuous("age", 22, 50), Nominal("job", ("clerk", "cook")))
    assert loaded.domain.bounds_from_rows == ("age", "job", "pay")
    model = NoisyBayesClassifier(1.0, domain=loaded.domain, random_state=0).fit(loaded.frame, loaded.target)
    (fault,) = model.privacy_.data_faults
    assert fault.why.startswith(
        "ε holds only if the ranges of age and the categories of job and pay are taken as public"
    )
    assert not model.privacy_.is_sound
    with pytest.raises(ReleaseError, match="must not leave"):
        model.release()


def test_the_account_in_the_results_says_so(own, tmp_path, capsys):
    own(INFERRED, ROWS + ROWS.partition("\n")[2] * 9)
    (tmp_path / "algorithm").mkdir()
    target = "_target_: experiments.skeletons.algorithm.NoisyBayesClassifier\n"
    (tmp_path / "algorithm" / "bayes.yaml").write_text(target, encoding="utf-8")
    words = [
        "dataset=my",
        "algorithm=bayes",
        "epsilon=1",
        "repeats=1",
        "executor.jobs=1",
        f"results={tmp_path}/results",
    ]
    assert exit_code(*words) == 0
    printed = capsys.readouterr()
    assert "my: ε holds only if the ranges of age and the categories of job and pay are taken as public" in printed.err


def test_classes_are_labels_though_they_are_numbers(own):
    loaded = dataset.load(own(INFERRED, "x,pay\n1.5,10\n2,9\n3,10\n4,9\n"))
    assert loaded.domain.target.categories == ("9", "10")
    text = "file: my.csv\ntask: classification\ndomain: {features: {x: [1, 2.5]}, target: {pay: [0, 1]}}"
    (own.folder / "numbers.yaml").write_text(text, encoding="utf-8")
    (own.folder / "my.csv").write_text("x,pay\n1,0\n2.5,1\n", encoding="utf-8")
    assert dataset.load("numbers").frame["x"].tolist() == ["1", "2.5"]


def test_missing_values_are_left_out_or_a_category(own):
    rows = ROWS + ",cook,low\n18,?,low\n19,nan,high\n"
    assert ": drop_missing: my.csv has missing values: 1 in 'age', 2 in 'job'; drop_missing: true" in refused(
        own, DECLARED, rows
    )
    (own.folder / "dropped.yaml").write_text(DECLARED + "drop_missing: true\n", encoding="utf-8")
    assert len(dataset.load("dropped").frame) == 4
    kept = DECLARED.replace("other]", '"?"]') + "drop_missing: true\n"
    (own.folder / "kept.yaml").write_text(kept, encoding="utf-8")
    assert dataset.load("kept").frame["job"].tolist()[-2:] == ["?", "?"]


@pytest.mark.parametrize(
    ("entry", "rows", "message"),
    [
        (DECLARED.replace("my.csv", "nothing.csv"), ROWS, ":2: file: .*/nothing.csv is not there"),
        (DECLARED.replace("my.csv", "my.ods"), ROWS, ":2: file: my.ods ends on .ods, which is no table here; known"),
        (INFERRED.replace("pay", "apy"), ROWS, ":3: target: 'apy' is no column of my.csv; did you mean 'pay'"),
        (DECLARED.replace("age:", "aeg:"), ROWS, ":4: domain: 'aeg' is no column of my.csv; did you mean 'age'"),
        (DECLARED, "", ":2: file: my.csv is empty"),
        (DECLARED, "age,job,pay\n", ":2: file: my.csv has no rows below its header"),
        (DECLARED, "age,age,pay\n1,2,low\n", ":2: file: my.csv has the column 'age' more than once"),
        (DECLARED, "age,job,pay\n1,2,3,low\n", ":2: file: my.csv cannot be read as text with ',' .* line 2, saw 4"),
        (DECLARED, ROWS.replace("44", "old"), ":6: domain.features.age: my.csv, row 3 below the header: 'old' is no n"),
        (DECLARED, ROWS.replace("50,cook", "50,coko"), ":7: domain.features.job: my.csv, row 2 .* did you mean 'cook'"),
        (DECLARED, ROWS.replace("22,cook,low", "22,cook,lo"), ":9: domain.target.pay: my.csv, row 4 .*: 'lo' is not d"),
        (DECLARED.replace("[low, high]", "[yes, no]"), ROWS, ":4: domain: YAML reads a category of 'pay' as true"),
        (
            INFERRED.replace("classification", "regression"),
            ROWS,
            ":2: task: regression needs bounds of numbers of 'pay'",
        ),
        (
            INFERRED.replace("pay", "age").replace("classification", "regression") + "n_train: 4",
            ROWS,
            ":4: n_train: 4 l",
        ),
        ("file: my.csv\ntask: classification\n", ROWS, "write target, the column to predict, where there is no domain"),
        ("target: pay\ntask: classification\n", ROWS, "write one of file, openml and uci, got none"),
        (INFERRED + "uci: 19", ROWS, "write one of file, openml and uci, got file and uci"),
        (DECLARED + "target: job", ROWS, "target is 'job', and domain declares the target 'pay'"),
        (INFERRED.replace("file", "fiel"), ROWS, ":1: unknown key 'fiel'; did you mean 'file'"),
        (INFERRED, "pay\nlow\nhigh\n", ":3: target: my.csv has no column but the target"),
        (
            INFERRED + "drop_missing: true",
            "x,pay\n,low\n,high\n",
            ":4: drop_missing: every row of my.csv has a missing",
        ),
        (INFERRED, "x,pay\n1,low\n", ": drop_missing: 1 rows of my.csv are left"),
    ],
)
def test_what_is_wrong_is_refused_with_file_and_key(entry, rows, message, own):
    assert re.search(message, refused(own, entry, rows))


def test_all_that_is_wrong_of_a_table_is_said_in_one_go(own):
    entry = DECLARED.replace("job: [", "born: {lower: 1900-01-01, upper: 2020-01-01}\n    job: [")
    entry += 'dates: {born: "%Y-%m-%d"}\n'
    rows = "age,born,job,pay\n31,1990-01-01,Clerk,low\nold,soon,cook,hi\n44,never,coko,high\n,2001-01-01,Clerk,low\n"
    said = refused_all(own, entry + "merge: {pay: {high: [hi]}}\n", rows)
    assert [line.replace(": my.csv, row ", ": ").replace(" below the header", "")[:64] for line in said] == [
        "5 errors:",
        ":11: dates.born: 2: 'soon' is no date written as %Y-%m-%d",
        ":6: domain.features.age: 2: 'old' is no number; mend the cell, e",
        ":8: domain.features.job: 1: 'Clerk' is not declared; did you mea",
        ":8: domain.features.job: 3: 'coko' is not declared; did you mean",
        ": drop_missing: my.csv has missing values: 1 in 'age'; drop_miss",
    ]
    assert said[3].endswith("; did you mean 'clerk'?; or fold_case: true, if case does not count")


def test_of_many_faults_some_are_named_and_the_rest_are_counted(own):
    features = "".join(f"    c{number}: [x]\n" for number in range(30))
    entry = f"file: my.csv\ntask: classification\ndomain:\n  features:\n{features}  target: {{pay: [low, high]}}\n"
    said = refused_all(own, entry, "a\nb\nc\n")
    assert (said[0], len(said), said[-1]) == ("31 errors:", 22, "and 11 more")
    rows = "age,job,pay\n" + "".join(f"3{number},job{number},low\n" for number in range(9))
    said = refused_all(own, DECLARED, rows)
    assert len(said) == 7 and said[-1].endswith(": domain.features.job: my.csv: more words of 'job' like these: 4")


MERGED = DECLARED + 'fold_case: true\nmerge: {job: {other: [baker, "7"]}}\n'


@pytest.mark.parametrize("large", [False, True])
def test_words_are_counted_as_the_category_that_they_stand_for(large, own, monkeypatch):
    if large:
        monkeypatch.setattr(own_table, "_LEAST_KEPT", 0)
    rows = "age,job,pay\n31,CLERK,Low\n50,Baker,HIGH\n44,7,high\n22,cook,low\n"
    found = dataset.load(own(MERGED, rows))
    assert found.frame["job"].tolist() == ["clerk", "other", "other", "cook"]
    assert found.target.tolist() == ["low", "high", "high", "low"]
    assert found.domain.features[1].categories == ("clerk", "cook", "other")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            MERGED.replace("[clerk, cook,", "[clerk, Clerk,"),
            "fold_case: 'clerk' and 'Clerk' of 'job' differ in case alone",
        ),
        (
            MERGED.replace("merge: {job", "merge: {jbo"),
            "merge: 'jbo' is no column of words in domain; did you mean 'job'",
        ),
        (MERGED.replace("merge: {job", "merge: {age"), "merge: 'age' is no column of words in domain"),
        (MERGED.replace("{other: [", "{others: ["), "merge: 'others' is no category of 'job' in domain; did you mean"),
        (MERGED.replace("[baker", "[COOK"), "merge: 'COOK' of 'job' is 'cook' already: name it once"),
        (MERGED.replace('"7"', "baker"), "merge: 'baker' of 'job' is 'baker' already: name it once"),
        (MERGED.replace('"7"', "no"), "merge: YAML reads a word as false: write a word, in quotes"),
        (INFERRED + "fold_case: true\n", "name words by the categories that a domain declares: write a domain"),
    ],
)
def test_words_that_could_stand_for_two_categories_are_refused(entry, message, own):
    assert message in refused(own, entry)


@pytest.mark.parametrize("file", ["my.xlsx", "my.parquet"])
def test_a_file_that_is_not_what_its_ending_says_is_refused(file, own):
    pytest.importorskip("duckdb")
    line = refused(own, DECLARED.replace("my.csv", file), ROWS, file)
    assert re.search(rf":2: file: .*{file} is no (Excel|Parquet) file by its first bytes: ", line)


def test_text_in_another_encoding_is_refused_with_its_line(own):
    (own.folder / "my.csv").write_bytes(ROWS.replace("cook", "k\u00f6chin").encode("latin-1"))
    assert "file: my.csv, line 3 is no text in UTF-8: write encoding: cp1252" in refused(own, DECLARED, None)


def test_a_file_that_is_no_yaml_is_refused(own):
    with pytest.raises(DocumentError, match=r"my.yaml is no YAML: "):
        catalogue.read_entry(own("file: [my.csv"))


def test_bad_input_ends_the_command_line_with_one_line(own, tmp_path, capsys):
    own(DECLARED.replace("my.csv", "nothing.csv"))
    assert exit_code("dataset=my", "algorithm=majority", f"results={tmp_path}/results") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {own.folder}/my.yaml:2: file: ") and line.endswith("nothing.csv is not there")


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(download, "PAUSE", 0.001)
    with Server() as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        monkeypatch.setattr("ucimlrepo.fetch.API_BASE_URL", f"{server.url}/api")
        yield server
        server.shutdown()


def test_a_number_at_a_server_will_do(own, server):
    loaded = dataset.load(own("uci: 19\ntask: classification\ntarget: class\n", None))
    assert loaded.frame.shape == (1728, 6) and loaded.provenance["source"] == "uci"
    assert (find_user_cache() / "uci-19.csv").is_file()
    asked = len(server.requests)
    (own.folder / "again.yaml").write_text("uci: 19\ntask: classification\ntarget: class\n", encoding="utf-8")
    assert dataset.load("again").fingerprint == loaded.fingerprint and len(server.requests) == asked


def test_openml_is_asked_by_its_number(own, server, monkeypatch):
    frame = pd.DataFrame({"x": [1, 2], "y": pd.Categorical(["a", "b"])})
    asked = []
    monkeypatch.setattr(download, "_openml_table", lambda number: asked.append(number) or frame)
    assert dataset.load(own("openml: 31\ntask: classification\ntarget: y\n", None)).frame["x"].tolist() == [
        1,
        2,
    ]
    assert asked == [31]


def test_a_server_that_fails_is_named(own, server, capsys):
    server.fault = "500"
    own("uci: 19\ntask: classification\ntarget: class\n", None)
    assert exit_code("dataset=my", "algorithm=majority") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: my: uci failed with ")


def test_the_page_of_data_runs(tmp_path, monkeypatch, capsys):
    page = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)
    (example,) = [text for language, text in blocks if language == "yaml"]
    assert yaml.safe_load(example)["file"] == "../../people.csv"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    rows = ["age,hours,job,sleeps"] + [
        f"{20 + i},{i % 9},{('cook', 'clerk')[i % 2]},{('well', 'badly')[i % 3 % 2]}" for i in range(40)
    ]
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    for command in [line for language, text in blocks if language == "sh" for line in text.splitlines()]:
        program, *words = shlex.split(command, comments=True)
        assert program == "dp-replica"
        how = [f"results={tmp_path}/results", "repeats=1", "executor.jobs=1"] if "epsilon=1" in words else []
        assert exit_code(*words, *how) == 0, (command, capsys.readouterr().err)
    (tmp_path / "mine" / "dataset" / "example.yaml").write_text(example, encoding="utf-8")
    monkeypatch.setenv(search_path.VARIABLE, str(tmp_path / "mine"))
    assert dataset.load("example").domain.bounds_from_rows == ()
