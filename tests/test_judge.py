"""``judge``: verdicts on runs of any program, what they still need, and what is wrong with a table, in a line."""

import json
import math
import re
import shlex
import shutil

import numpy as np
import pandas as pd
import pytest
import yaml

from experiments.command_line import translate_words
from experiments.config.papers import read_paper_file
from experiments.config.paths import REFERENCE, ROOT
from experiments.errors import BadInput
from experiments.questions.given_runs.given_table import arrange_given
from experiments.questions.paper_questions import resolve_given
from experiments.questions.settings import list_asked
from experiments.store.json_files import read_json
from experiments.store.results import Results
from experiments.store.runs_file import LARGEST, RUNS, select_runs, write_runs
from plots.pages import reference_pages
from plots.pages.paper_results import publish_paper
from plots.runs.run_folder import KEPT, copy_files, read_csv
from tests.command_line import exit_code
from tests.papers import ask, make_paper

WORDS = {"says": "It is better.", "source": "page 1"}
LOOP = {"dataset": ["iris", "wine"], "algorithm": ["logistic", "svm"], "params": {"C": [1, 100]}}
BETTER = {"id": "better", "text": "Logistic regression is better.", "kind": "above", "study": "loop", **WORDS} | {
    "better": "logistic",
    "worse": "svm",
    "within": ["dataset", "params.C"],
    "metric": "accuracy",
}
PAPER = {
    "number": "loop",
    "title": "Two loops",
    "repeats": 20,
    "reported": "printed.csv",
    "studies": {"loop": LOOP},
    "tables": [
        {"id": "table-1", "title": "Table 1", "kind": "grid", "study": "loop", "where": {"dataset": "iris"}}
        | {"rows": "algorithm", "columns": "params.C", "metric": "accuracy"}
    ],
    "claims": [BETTER],
}
PRINTED = "id,table,dataset,algorithm,params.C,metric,statistic,value,decimals,source\n"
PRINTED += "svm,table-1,iris,svm,1,accuracy,mean,0.90,2,page 2\n"
DEPTH = {"dataset": "iris", "algorithm": "svm", "params": {"degree": [2, 3]}}


def make_runs(n=20, gain=0.03, sd=0.005, first=1):
    """Return the table of a loop over data sets, algorithms and C: logistic regression is better by ``gain``."""
    rng = np.random.default_rng(0)
    rows = []
    for dataset in ("iris", "wine"):
        for C in (1, 100):
            for repeat in range(first, first + n):
                level = 0.9 + rng.normal(0, 0.01)
                for algorithm, own in (("logistic", gain), ("svm", 0.0)):
                    rows.append((dataset, algorithm, C, repeat, level + own + rng.normal(0, sd)))
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "C", "repeat", "accuracy"])


@pytest.fixture
def folder(tmp_path):
    write_paper(tmp_path, PAPER)
    (tmp_path / "printed.csv").write_text(PRINTED, encoding="utf-8")
    return tmp_path


def write_paper(folder, keys):
    (folder / "paper.yaml").write_text(yaml.safe_dump(keys, sort_keys=False), encoding="utf-8")


def judge(folder, table, capsys, *words):
    """Judge a table by the paper of a folder; return the objects on stdout by id, and what stderr says."""
    table.to_csv(folder / "runs.csv", index=False)
    assert exit_code("judge", folder / "runs.csv", folder / "paper.yaml", *words) == 0
    said = capsys.readouterr()
    return {line["id"]: line for line in map(json.loads, said.out.splitlines())}, said.err


def arrange(keys, table):
    """Return the long table that a table is, by the claims of a paper."""
    paper = make_paper(**{name: value for name, value in keys.items() if name != "reported"})
    questions = resolve_given(paper)
    return arrange_given(table.reset_index(drop=True), "runs.csv", paper, list_asked(questions.claims, []))


def test_a_table_of_another_program_gets_verdicts_counts_and_a_summary(folder, capsys):
    answers, said = judge(folder, make_runs(), capsys)
    assert answers["better"]["verdict"] == "reproduced" and answers["better"]["needs"] == []
    assert answers["better"]["counts"] == {"as claimed": 4, "equal": 0, "opposite": 0, "open": 0}
    assert answers["svm"]["what"] == "printed number" and answers["svm"]["n"] == 20
    assert answers["svm"]["mean"] == pytest.approx(0.9, abs=0.01)
    assert "4 as claimed" in said and "Judged from 160 runs." in said and "needs at least" not in said


@pytest.mark.parametrize(("left_out", "ids"), [("reported", ["better"]), ("claims", ["svm"])])
def test_claims_or_printed_numbers_alone_are_judged(folder, left_out, ids, capsys):
    write_paper(folder, {name: value for name, value in PAPER.items() if name != left_out})
    answers, said = judge(folder, make_runs(), capsys, f"results={folder / 'out'}")
    assert list(answers) == ids and "Judged from 160 runs." in said
    assert (folder / "out" / "needs.csv").read_text(encoding="utf-8") and "nan" not in said


def test_what_is_open_says_which_settings_need_how_many_more_runs(folder, capsys):
    table = make_runs()
    is_close = (table["dataset"] == "wine") & (table["C"] == 100) & (table["algorithm"] == "logistic")
    table.loc[is_close, "accuracy"] += np.random.default_rng(1).normal(-0.025, 0.02, is_close.sum())
    answers, said = judge(folder, table, capsys, f"results={folder / 'out'}")
    assert answers["better"]["verdict"] == "undecided" and answers["better"]["counts"]["open"] == 1
    needs = {(need["dataset"], need["algorithm"], need["params.C"]): need for need in answers["better"]["needs"]}
    assert set(needs) == {("wine", "logistic", "100"), ("wine", "svm", "100")}
    assert {(need["runs"], need["needed"], need["more"]) for need in needs.values()} == {(20, 40, 20)}
    assert "What is open needs at least" in said and "wine, logistic, C = 100" in said
    assert pd.read_csv(folder / "out" / "needs.csv")["more"].tolist() == [20, 20]
    assert read_json(folder / "out" / "claims.json")["claims"][0]["verdict"] == "undecided"
    assert read_csv(folder / "out" / "numbers.csv")["id"].tolist() == ["svm"]


def test_few_runs_need_as_many_as_a_first_look_takes(folder, capsys):
    answers, _ = judge(folder, make_runs(n=5), capsys)
    assert {need["more"] for need in answers["better"]["needs"]} == {15} and len(answers["better"]["needs"]) == 8


def test_parquet_is_read_like_csv_and_a_setting_may_be_written_otherwise(folder, capsys):
    table = make_runs()
    first, _ = judge(folder, table, capsys)
    same = table.rename(columns={"C": "params.C"}).assign(study="loop", repeat=table["repeat"] + 100, seconds=1.5)
    assert write_runs(same, folder / "runs.parquet")
    words = f"runs={folder / 'runs.parquet'}", f"paper={folder / 'paper.yaml'}"
    assert exit_code("do=judge", *words) == 0
    assert {line["id"]: line for line in map(json.loads, capsys.readouterr().out.splitlines())} == first


def test_a_crashed_run_keeps_its_setting_open(folder, capsys):
    table = make_runs().assign(status="")
    table.loc[3, ["accuracy", "status"]] = [math.nan, "failed"]
    answers, said = judge(folder, table, capsys)
    assert answers["better"]["verdict"] == "undecided" and "1 run failed" in answers["better"]["reason"]
    assert "Judged from 160 runs, 1 of which failed." in said


def test_a_metric_without_a_value_counts_as_nothing():
    claim = BETTER | {"metric": "precision_acc"}
    table = make_runs().rename(columns={"accuracy": "precision_acc"}).assign(status=None)
    table.loc[3, ["precision_acc", "status"]] = [math.nan, "undefined"]
    rows = arrange(PAPER | {"claims": [claim]}, table)
    (asked,) = resolve_given(make_paper(studies={"loop": LOOP}, claims=[claim])).claims
    undefined = [group.undefined.tolist() for group in asked.question.gather(Results(rows)).groups]
    assert undefined == [[1], [], [], []]


TWO = PAPER | {"studies": {"loop": LOOP, "depth": DEPTH}}


def test_rows_find_the_one_study_that_they_fit():
    deep = pd.DataFrame({"dataset": "iris", "algorithm": "svm", "degree": [2, 3], "repeat": 1, "accuracy": 0.5})
    rows = arrange(TWO, pd.concat([make_runs(), deep]))
    assert rows["study"].value_counts().to_dict() == {"loop": 160, "depth": 2}
    assert rows["epsilon"].tolist() == [math.inf] * 162


def test_a_word_may_be_a_value_that_another_program_writes_in_its_own_way():
    study = LOOP | {"params": {"C": [1, 100], "scaled": [True]}}
    rows = arrange(PAPER | {"studies": {"loop": study}}, make_runs().assign(scaled="TRUE", C="1e0").iloc[:40])
    assert set(rows["params.scaled"]) == {True} and set(rows["params.C"]) == {1}


def change(place, **cells):
    def changed(table):
        table = table.astype(object)
        for name, value in cells.items():
            table.loc[place, name] = value
        return table

    return changed


@pytest.mark.parametrize(
    ("keys", "spoil", "reason"),
    [
        (PAPER, lambda table: table.drop(columns="C"), "the column 'C' is missing, which study 'loop' varies"),
        (PAPER, lambda table: table.drop(columns="algorithm"), "the column 'algorithm' is missing"),
        (PAPER, lambda table: table.drop(columns="repeat"), "the column 'repeat' is missing"),
        (PAPER, lambda table: table.drop(columns="accuracy"), "the column 'accuracy' is missing, which claim 'better'"),
        (PAPER, lambda table: table.assign(**{"params.C": 1}), "both columns 'C' and 'params.C'"),
        (PAPER, change(2, algorithm="logistik"), "row 3 below the header: unknown algorithm 'logistik'; did you mean"),
        (PAPER, change(2, dataset="cars"), "row 3 below the header: unknown dataset 'cars'; known are iris, wine"),
        (PAPER, change(4, C=7), "row 5 below the header: no study has C = 7; there are 1, 100"),
        (PAPER, change(4, C=None), "row 5 below the header: it is a setting of no study: iris, logistic"),
        (PAPER, change(4, accuracy=math.nan), "row 5 below the header: accuracy is empty: a run that crashed has"),
        (PAPER, change(4, accuracy="n/a"), "row 5 below the header: accuracy is n/a: a run that crashed"),
        (PAPER, change(4, accuracy=93.3), "row 5 below the header: accuracy is 93.3, and it lies between 0 and 1"),
        (
            PAPER,
            change(4, repeat=2),
            r"row 5 below the header: repeat 2 of iris, logistic, C = 1, no noise stands in row 3",
        ),
        (PAPER, change(4, repeat="b"), "row 5 below the header: repeat is b, no whole number"),
        (PAPER, lambda table: table.drop(4), "has repeat 20 but not 3: all settings need the same ones"),
        (PAPER, change(4, status="crashed"), "row 5 below the header: unknown status 'crashed'"),
        (PAPER, lambda table: table.assign(study="loup"), "row 1 below the header: unknown study 'loup'; did you mean"),
        (TWO, lambda table: table, "the column 'degree' is missing, which study 'depth' varies"),
        (
            PAPER | {"studies": {"loop": LOOP, "again": LOOP}},
            lambda table: table,
            r"row 1 below the header: it fits the studies loop and again: add the column study",
        ),
        (
            TWO,
            lambda table: table.assign(degree=math.nan, study="depth"),
            "row 1 below the header: iris, logistic, C = 1 is no setting of study 'depth'",
        ),
    ],
)
def test_what_is_wrong_with_a_table_is_said_with_its_row(keys, spoil, reason):
    with pytest.raises(BadInput) as error:
        arrange(keys, spoil(make_runs()))
    assert str(error.value).startswith("runs.csv") and reason in str(error.value) and "\n" not in str(error.value)


def test_an_infinite_value_has_no_mean():
    claim = BETTER | {"metric": "mse"}
    table = make_runs().rename(columns={"accuracy": "mse"})
    table.loc[0, "mse"] = math.inf
    with pytest.raises(BadInput, match="row 1 below the header: mse is inf: no mean can be taken"):
        arrange(PAPER | {"claims": [claim]}, table)


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("runs.csv", "", "runs.csv is empty"),
        ("runs.csv", "dataset,algorithm\n", "runs.csv has no rows below its header"),
        ("runs.parquet", "no parquet", "runs.parquet is no Parquet file by its first bytes"),
        ("runs.json", "[]", "runs.json ends on .json, which is no table here"),
        ("runs.csv", None, "runs.csv is not there"),
    ],
)
def test_what_is_no_table_is_one_line(folder, name, text, reason, capsys):
    if text is not None:
        (folder / name).write_text(text, encoding="utf-8")
    assert exit_code("judge", folder / name, folder / "paper.yaml") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ") and reason in line


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"claims": [], "reported": None}, "has neither claims nor printed numbers: there is nothing to judge by"),
        ({"claims": [BETTER | {"says": ""}]}, "says is missing"),
        ({"claims": [BETTER | {"better": "forest"}]}, "better = 'forest' is not run by the study"),
        ({"reported": "nowhere.csv"}, "printed numbers are missing"),
        ({"claims": [BETTER | {"reading_of": "x", "leaves_open": "better"}]}, "there is no claim 'x'"),
    ],
)
def test_a_paper_that_says_nothing_to_judge_by_or_something_wrong_is_refused(folder, keys, reason, capsys):
    make_runs().to_csv(folder / "runs.csv", index=False)
    write_paper(folder, {name: value for name, value in (PAPER | keys).items() if value is not None})
    assert exit_code("judge", folder / "runs.csv", folder / "paper.yaml") == 2
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], "name the runs and the paper"),
        (["runs.csv"], "name the paper to judge by"),
        (["runs.csv", "nowhere.yaml"], "nowhere.yaml cannot be read"),
        (["runs.csv", "nowhere"], "unknown paper 'nowhere'"),
        (["runs.csv", "a.yaml", "b"], "judge does not take the word 'b'"),
        (["runs.csv", "2", "file=a.yaml"], "paper and file are two papers"),
    ],
)
def test_what_is_missing_on_the_command_line_is_said(words, reason, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert exit_code("judge", *words) == 2
    assert reason in capsys.readouterr().err


def test_a_paper_is_a_name_of_the_catalogue_or_a_path():
    assert translate_words(["judge", "r.csv", "4"]) == ["do=judge", "runs='r.csv'", "paper='4'"]
    assert translate_words(["do=judge", "runs=r.csv", "paper='my/4.yaml'"]) == [
        "do=judge",
        "runs=r.csv",
        "file='my/4.yaml'",
    ]
    assert translate_words(["paper=my/4.yaml"]) == ["paper=my/4.yaml"]


PAGE = (ROOT / "docs" / "judging.md").read_text(encoding="utf-8")
BLOCKS = [block for _, block in re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)]


def test_the_loop_of_the_page_is_judged_as_the_page_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    loop, paper, numbers, command, said = BLOCKS
    exec(loop, {})
    (tmp_path / "paper.yaml").write_text(paper, encoding="utf-8")
    (tmp_path / "printed.csv").write_text(numbers, encoding="utf-8")
    program, *words = shlex.split(command)
    assert program == "dp-replica" and exit_code(*words) == 0
    printed = [line.rstrip() for line in capsys.readouterr().err.splitlines()]
    assert [line for line in said.splitlines() if line not in printed] == []


# Published runs.

GRID = {"dataset": "car", "algorithm": ["a", "b"], "params": {"depth": [2, 4, 6]}, "epsilon": [0.1, 1.0, math.inf]}
KINDS = {"dataset": "car", "algorithm": ["a", "b"], "params": {"depth": [4], "way": ["gini", 3, None]}}
PLAIN = {"dataset": "car", "algorithm": ["a", "b"]}
PUBLISHED = {
    "number": 9,
    "title": "Runs to be published",
    "repeats": 20,
    "most_repeats": 80,
    "studies": {"grid": GRID, "kinds": KINDS, "unused": {"dataset": "car", "algorithm": "c"}}
    | {"shared": PLAIN | {"epsilon": 1.0}, "other": PLAIN | {"epsilon": 2.0}}
    | {"part": PLAIN | {"params": {"size": [1, 2]}}},
    "tables": [
        {"id": "table-1", "title": "Table 1", "kind": "grid", "study": "grid", "where": {"params.depth": 2}}
        | {"rows": "algorithm", "columns": "epsilon", "metric": "accuracy"},
        {"id": "table-2", "title": "Table 2", "kind": "datasets", "datasets": ["car"]},
    ],
    "claims": [
        WORDS
        | {"id": "above", "text": "a is above b.", "kind": "above", "study": "grid", "better": "a", "worse": "b"}
        | {"within": ["params.depth", "epsilon"], "metric": "accuracy", "read_as": "accuracy is meant"},
        {"id": "precise", "text": "precision is meant", "kind": "above", "study": "grid", "better": "a", "worse": "b"}
        | {"within": ["params.depth"], "where": {"epsilon": 1.0}, "metric": "precision_acc"}
        | {"reading_of": "above", "leaves_open": "better"},
        WORDS
        | {"id": "grows", "text": "It grows with ε.", "kind": "increases", "study": "grid", "along": "epsilon"}
        | {"where": {"algorithm": "a"}, "within": ["params.depth"], "metric": "accuracy"},
        WORDS
        | {"id": "ways", "text": "a is above b.", "kind": "above", "study": "kinds", "better": "a", "worse": "b"}
        | {"within": ["params.way"], "metric": "accuracy"},
        *(
            WORDS
            | {"id": name, "text": "a is above b.", "kind": "above", "study": name, "better": "a", "worse": "b"}
            | {"within": [], "metric": "accuracy", "where": where}
            for name, where in (("shared", {}), ("other", {}), ("part", {"params.size": 1}))
        ),
        WORDS
        | {"id": "leaks", "text": "a is better at equal leakage.", "kind": "above_at_equal", "metric": "accuracy"}
        | {"equal": "leak"}
        | {
            part: {"study": "grid", "along": "params.depth", "where": {"algorithm": algorithm, "epsilon": 1.0}}
            for part, algorithm in (("better", "a"), ("worse", "b"))
        },
    ],
}
PUBLISHED_NUMBERS = """id,table,dataset,algorithm,epsilon,metric,statistic,value,decimals,source
one,table-1,car,a,1.0,accuracy,mean,0.82,2,page 3
best,table-1,car,b,,accuracy,max,0.95,2,page 3
rows,table-2,car,,,rows,exact,1728,0,page 2
"""


def make_cells(paper):
    """Return a long table as runs give it: some runs failed, one has no precision, some settings have more repeats.

    A study has the cells of another, and one tells a parameter that it does not vary.
    """
    rng = np.random.default_rng(3)
    rows = []
    for study in paper.studies.values():
        for values in study.settings(list(study.axes())):
            setting = dict(zip(study.axes(), values, strict=True))
            if study.name == "other":
                setting["params.depth"] = 9
            depth, is_b = setting.get("params.depth", 4), setting["algorithm"] == "b"
            epsilon = min(setting["epsilon"], 10.0)
            for repeat in range(40 if setting["epsilon"] == 1.0 else 20):
                level = 0.8 + 0.01 * math.log10(epsilon) - 0.02 * is_b + rng.normal(0, 0.01)
                row = {"study": study.name, **setting, "repeat": repeat, "status": "done", "accuracy": level}
                row |= {"precision_acc": level - 0.1, "leak": depth / 10 + rng.normal(0, 0.001), "seconds": 1.0}
                rows.append(row)
    table = pd.DataFrame(rows)
    table = table[table["study"] != "shared"].reset_index(drop=True)
    is_shared = (table["study"] == "grid") & (table["params.depth"] == 4) & (table["epsilon"] == 1.0)
    table.loc[is_shared, "study"] = "grid+shared"
    table.loc[5, "precision_acc"] = math.nan
    table.loc[7, ["accuracy", "precision_acc", "leak"]] = math.nan
    table.loc[7, "status"] = "failed"
    is_undefined = (table["epsilon"] == 1.0) & (table["repeat"] == 3)
    table.loc[is_undefined, "precision_acc"] = math.nan
    return table


def publish(folder):
    """Write the results of the made-up paper, and keep of them what is published."""
    folder.mkdir()
    (folder / "printed.csv").write_text(PUBLISHED_NUMBERS, encoding="utf-8")
    paper = make_paper(**PUBLISHED, reported=str(folder / "printed.csv"))
    table = make_cells(paper)
    publish_paper(paper, ask(paper), table, folder / "run")
    copy_files(folder / "run", folder / "kept", KEPT)
    return folder / "kept", table


FOLDERS = [path for path in sorted(REFERENCE.glob("paper-*")) if (path / RUNS).is_file()]


@pytest.mark.long
@pytest.mark.parametrize("folder", [None, *FOLDERS], ids=lambda path: path.name if path else "made up")
def test_published_runs_give_the_published_verdicts(folder, tmp_path, capsys):
    folder = folder or publish(tmp_path / "made-up")[0]
    assert (folder / RUNS).stat().st_size <= LARGEST
    assert exit_code("judge", folder, f"results={tmp_path / 'out'}") == 0
    published, ours = (read_json(path / "claims.json")["claims"] for path in (folder, tmp_path / "out"))
    assert ours == published
    assert published or len(read_csv(folder / "numbers.csv"))
    tables = [read_csv(path / "numbers.csv") for path in (folder, tmp_path / "out")]
    measured = [table[table["statistic"] != "exact"].reset_index(drop=True) for table in tables]
    pd.testing.assert_frame_equal(*measured, check_dtype=False)  # a column without a decimal is read as integers
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(lines) == len(ours) + len(tables[0])


def test_a_fact_of_a_data_set_is_no_run(tmp_path, capsys):
    folder, _ = publish(tmp_path / "made-up")
    assert exit_code("judge", folder) == 0
    said = capsys.readouterr()
    facts = [line for line in map(json.loads, said.out.splitlines()) if line.get("statistic") == "exact"]
    assert [fact["verdict"] for fact in facts] == ["not run"] and "have to be counted" in facts[0]["reason"]
    assert "1 printed fact of data sets cannot be counted in a table of runs." in said.err


def test_what_is_published_of_runs_is_what_verdicts_need_to_the_last_digit(tmp_path):
    folder, table = publish(tmp_path / "made-up")
    paper = read_paper_file(folder / "paper.yaml")
    questions = ask(paper)
    asked = list_asked(questions.claims, questions.numbers)
    rows = select_runs(table, asked)
    metrics = ["accuracy", "precision_acc", "leak"]
    columns = ["study", "dataset", "algorithm", "params.depth", "params.size", "params.way", "epsilon", "repeat"]
    columns += [*metrics, "status"]
    assert set(rows.loc[rows["study"] == "part", "params.size"]) == {1}
    assert sorted(rows.columns) == sorted(columns) and "unused" not in set(rows["study"])
    assert rows["status"].value_counts().to_dict() == {"undefined": 1 + 6, "failed": 1}
    duckdb = pytest.importorskip("duckdb")
    read = duckdb.read_parquet(str(folder / RUNS)).df()
    for metric in metrics:
        assert read[metric].to_numpy().tobytes() == rows[metric].to_numpy().tobytes()
    write_runs(rows.copy(), tmp_path / "again.parquet")
    assert (tmp_path / "again.parquet").read_bytes() == (folder / RUNS).read_bytes()
    shuffled = select_runs(table.sample(frac=1, random_state=0), asked)
    pd.testing.assert_frame_equal(shuffled, rows)


def test_nothing_is_written_of_a_paper_that_asks_nothing(tmp_path):
    assert not write_runs(select_runs(pd.DataFrame(), {}), tmp_path / RUNS)
    paper = make_paper()
    publish_paper(paper, ask(paper), pd.DataFrame(), tmp_path / "run")
    assert not (tmp_path / "run" / RUNS).exists()


def test_runs_are_published_with_their_paper_if_they_are_small(tmp_path, monkeypatch):
    folder, _ = publish(tmp_path / "made-up")
    shutil.copytree(folder.parent / "run", tmp_path / "results" / "paper-9")
    (tmp_path / "results" / "paper-9" / "provenance.json").write_text('{"git": {"dirty": false}, "command": ""}')
    monkeypatch.setattr("experiments.config.paths.REFERENCE", tmp_path / "reference")
    monkeypatch.setattr(reference_pages, "_lacks_cells", lambda run: False)
    reference_pages.publish_run("9", tmp_path / "results")
    assert (tmp_path / "reference" / "paper-9" / RUNS).read_bytes() == (folder / RUNS).read_bytes()
    monkeypatch.setattr(reference_pages, "LARGEST", 100)
    with pytest.raises(SystemExit, match="and a published one has at most 100"):
        reference_pages.publish_run("9", tmp_path / "results")
