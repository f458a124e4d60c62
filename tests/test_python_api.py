"""``import dp_replica as dr``: what Python gives is what the commands give, from the same store and the same checks."""

import math
import re
import subprocess
import sys
import textwrap
from html.parser import HTMLParser

import duckdb
import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.stats import ttest_rel
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import dp_replica as dr
from algorithms import RDTClassifier
from experiments.audit import audit_tasks
from experiments.audit.attacks import release_path
from experiments.config.paths import ROOT
from experiments.judge.verdict import Verdict
from experiments.python_api.auditing import describe_estimator
from experiments.python_api.comparing import APART, BEYOND, EQUAL, FEW, ONLY_IN_A, ONLY_IN_B, WITHIN
from experiments.python_api.results import widen
from experiments.stats import mean_interval
from experiments.store.database import Store
from tests.command_line import exit_code

TRAININGS = 50
"""Trainings and releases by which an audit comes to its end; what it finds by many is in test_audit_of_own."""
SETTINGS = {"dataset": "car", "algorithm": ["majority", "rdt"], "epsilon": [1.0, math.inf], "repeats": 3, "jobs": 1}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A folder with the cells of some settings, and what `run` returned of them."""
    folder = tmp_path_factory.mktemp("results")
    return folder, dr.run(**SETTINGS, results=folder)


# Runs and results.


def test_a_run_is_that_of_the_command(store, tmp_path):
    _, frame = store
    words = ["dataset=car", "algorithm=majority,rdt", "epsilon=1,inf", "repeats=3", f"results={tmp_path}"]
    assert exit_code(*words, "executor.jobs=1", "output=json") == 0
    of_command = dr.load_results(tmp_path)
    pd.testing.assert_frame_equal(of_command.drop(columns="fit_seconds"), frame.drop(columns="fit_seconds"))
    assert len(frame["key"].unique()) == 12 and set(frame["status"]) == {"done"} and frame["current"].all()


def test_a_run_finds_what_is_there_and_runs_nothing_twice(store, capfd):
    folder, frame = store
    again = dr.run(**SETTINGS, results=folder)
    assert "12 cells reused from the store, 0 to run" in capfd.readouterr().err
    pd.testing.assert_frame_equal(again, frame)
    part = dr.run("car", "rdt", repeats=2, jobs=1, results=folder)
    wanted = frame.query("algorithm == 'rdt' and epsilon == 1 and repeat < 2").reset_index(drop=True)
    pd.testing.assert_frame_equal(part.dropna(axis=1, how="all"), wanted.dropna(axis=1, how="all"), check_dtype=False)


def test_results_hold_what_the_store_holds(store):
    folder, _ = store
    frame = dr.load_results(folder)
    with Store(folder / "store.sqlite") as opened:
        cells = {cell["key"]: cell for batch in opened.rows(5) for cell in batch}
    for key, rows in frame.groupby("key"):
        values = dict(zip(rows["metric"], rows["value"], strict=True))
        assert values.keys() == cells[key]["metrics"].keys()
        assert np.array_equal(list(values.values()), list(cells[key]["metrics"].values()), equal_nan=True)
        assert set(rows["epsilon"]) == {cells[key]["epsilon"]} and set(rows["repeat"]) == {cells[key]["repeat"]}
    assert not any(name.startswith("protocol.") for name in frame.columns)


def test_settings_are_columns(tmp_path):
    given = {"params": {"max_depth": [2, None]}, "protocol": {"folds": [2, 3], "rows": "balanced"}}
    frame = dr.run("car", "rdt", **given, repeats=1, jobs=1, results=tmp_path)
    settings = frame[["params.max_depth", "protocol.folds", "protocol.rows"]].drop_duplicates()
    assert {tuple(map(str, row)) for row in settings.to_numpy(dtype=object)} == {
        (depth, folds, "balanced") for depth in ("2.0", "nan") for folds in ("2", "3")
    }


def test_rows_are_in_the_order_of_their_settings_and_repeats(tmp_path):
    params = {"max_depth": [4, None, 2]}
    frame = dr.run("car", ["rdt", "majority"], [10, 1], repeats=12, jobs=1, results=tmp_path)
    deeper = dr.run("car", "rdt", params=params, repeats=12, jobs=1, results=tmp_path)
    for rows in (frame, deeper, dr.load_results(tmp_path)):
        runs = rows.drop_duplicates("key")[["dataset", "algorithm", "epsilon", "repeat"]]
        assert list(runs["repeat"]) == list(range(12)) * (len(runs) // 12)
    assert frame["algorithm"].is_monotonic_increasing and deeper["params.max_depth"].dropna().is_monotonic_increasing


def test_a_cell_that_fails_has_a_row(tmp_path, capfd):
    frame = dr.run("car", "majority", params={"strategy": "constant"}, repeats=2, jobs=1, results=tmp_path)
    assert list(frame["status"]) == ["failed"] * 2 and frame["metric"].isna().all() and frame["value"].isna().all()
    assert frame["error"].str.contains("constant").all() and "failed in repeat 0, 1" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"dataset": "carr"}, "did you mean 'car'"),
        ({"algorithm": []}, "algorithm has no value"),
        ({"epsilon": -1}, "epsilon"),
        ({"repeats": 0}, "repeats must be a whole number, at least 1"),
        ({"executor": "locale"}, "unknown executor 'locale'; did you mean 'local'"),
        ({"params": {"max_deph": 2}}, "no parameter 'max_deph'"),
        ({"protocol": {"fold": 2}}, "folds"),
        ({"metrics": "f1_macroo"}, "f1_macro"),
        ({"params": "max_depth"}, "params must be a mapping"),
        ({"anew": "no"}, "anew must be True or False, got 'no'"),
        ({"results": None}, "results must be a path, as text or a Path, got None"),
        ({"algorithm": [["rdt"]]}, "algorithm must be named by text, got ['rdt']"),
        ({"dataset": None}, "dataset must be named by text, got None"),
    ],
)
def test_bad_input_is_refused_in_the_words_of_the_command(tmp_path, given, message):
    with pytest.raises(dr.BadInput, match=re.escape(message)):
        dr.run(**({"dataset": "car", "algorithm": "rdt", "results": tmp_path} | given))
    assert not list(tmp_path.iterdir())


def test_a_folder_of_ones_own_is_added_and_one_without_anything_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("DPREPLICA_CATALOGUE", "")
    with pytest.raises(dr.BadInput, match="there is no folder"):
        dr.use_folder(tmp_path / "nowhere")
    with pytest.raises(dr.BadInput, match="has none of the folders algorithm"):
        dr.use_folder(tmp_path)
    (tmp_path / "algorithm").mkdir()
    (tmp_path / "algorithm" / "most.yaml").write_text("_target_: sklearn.dummy.DummyClassifier\n")
    dr.use_folder(tmp_path)
    assert set(dr.run("car", "most", repeats=1, jobs=1, results=tmp_path / "r")["algorithm"]) == {"most"}


@pytest.mark.long
def test_a_script_without_a_guard_runs_once_with_processes(tmp_path):
    """Worker processes of `multiprocessing` run the main module again, which here would begin a run in each."""
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
        import dp_replica as dr
        from experiments.audit import audit_tasks
        from experiments.audit.attacks import release_path
        print("begun")
        frame = dr.run("car", "majority,rdt".split(","), repeats=4, jobs=2, results={str(tmp_path / "r")!r})
        audit_tasks.FEWEST["trainings"] = release_path.RELEASES = {TRAININGS}
        print(set(frame["status"]), dr.audit("fm", trainings={TRAININGS}, jobs=1).outcome)
        """)
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert done.returncode == 0, done.stderr
    begun, came_out = done.stdout.splitlines()
    assert (begun, came_out[: len("{'done'}")]) == ("begun", "{'done'}"), f"{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr and "8 cells run" in done.stderr, done.stderr


# Comparisons.


def make_results(*values, **settings):
    setting = {"dataset": "car", "algorithm": "rdt", "epsilon": 1.0, "metric": "accuracy"} | settings
    return pd.DataFrame([setting | {"repeat": i, "value": value} for i, value in enumerate(values)])


def test_a_change_is_tested_in_pairs():
    rng = np.random.default_rng(0)
    before, change = rng.normal(0.7, 0.1, 20), rng.normal(0.02, 0.01, 20)
    (row,) = dr.compare(make_results(*before), make_results(*(before + change))).to_dict("records")
    interval = mean_interval(change)
    assert (row["change"], row["low"], row["high"]) == pytest.approx((interval.center, interval.low, interval.high))
    assert row["verdict"] == BEYOND and ttest_rel(before + change, before).pvalue < 0.05


def test_the_same_change_in_three_pairs_is_no_proof_however_it_is_rounded():
    """A row more of 519 in each; the differences are the same but for the last bit."""
    before, after = ([(n + more) / 519 for n in (100, 400, 401)] for more in (0, 1))
    assert len({b - a for a, b in zip(before, after, strict=True)}) > 1
    assert set(dr.compare(make_results(*before), make_results(*after))["verdict"]) == {WITHIN}


def test_what_is_not_beyond_noise_is_said_so():
    a = pd.concat([make_results(0.1, 0.2, 0.3), make_results(0.5, algorithm="fm"), make_results(0.1, dataset="iris")])
    b = pd.concat([make_results(0.2, 0.1, 0.3), make_results(0.6, algorithm="fm"), make_results(0.1, dataset="wine")])
    found = dr.compare(a, b).set_index(["dataset", "algorithm"])["verdict"].to_dict()
    assert found == {
        ("car", "rdt"): WITHIN,
        ("car", "fm"): FEW,
        ("iris", "rdt"): ONLY_IN_A,
        ("wine", "rdt"): ONLY_IN_B,
    }
    assert set(dr.compare(a, a)["verdict"]) == {EQUAL}
    later = make_results(0.1, 0.2).assign(repeat=[7, 8])
    assert list(dr.compare(make_results(0.1, 0.2), later)["verdict"]) == [APART]


@pytest.mark.long
def test_noise_alone_is_seldom_called_a_change():
    """Of 40 comparisons of 50 settings each without any change, about one in twenty finds one or more."""
    rng, n_wrong = np.random.default_rng(1), 0
    for _ in range(40):
        a, b = (
            pd.concat([make_results(*rng.normal(0.7, 0.1, 10), epsilon=float(e)) for e in range(1, 51)])
            for _ in range(2)
        )
        n_wrong += BEYOND in set(dr.compare(a, b)["verdict"])
    assert n_wrong <= 7  # of 40 with a chance of 0.05 each: more in one of a thousand tries


def test_equal_changes_in_a_few_pairs_are_no_proof():
    for n, verdict in ((2, WITHIN), (3, WITHIN), (8, BEYOND)):
        a = make_results(*[0.5] * n)
        assert list(dr.compare(a, a.assign(value=0.6))["verdict"]) == [verdict]


def test_settings_without_an_order_are_compared():
    a, b = make_results(0.5, 0.6), make_results(0.5, 0.6).assign(**{"params.max_depth": 2})
    assert set(dr.compare(a, pd.concat([a, b]))["verdict"]) == {EQUAL, ONLY_IN_B}


def test_an_option_of_the_protocol_without_a_column_has_its_default():
    a, b = make_results(0.5, 0.6), make_results(0.5, 0.6).assign(**{"protocol.split": "random"})
    assert list(dr.compare(a, b)["verdict"]) == [EQUAL]
    assert set(dr.compare(a, b.assign(**{"protocol.split": "in_order"}))["verdict"]) == {ONLY_IN_A, ONLY_IN_B}


def test_a_value_without_a_mean_is_refused():
    with pytest.raises(dr.BadInput, match="a has a value that is no finite number"):
        dr.compare(make_results(0.5, math.inf), make_results(0.5, 0.6))


def test_results_of_two_versions_are_not_mixed():
    with pytest.raises(dr.BadInput, match="a run has a metric twice"):
        widen(pd.concat([make_results(0.5), make_results(0.6)]))
    with pytest.raises(dr.BadInput, match="b has repeat 0 of"):
        dr.compare(make_results(0.5), pd.concat([make_results(0.5), make_results(0.6)]))


# Curves.


def test_a_setting_that_is_not_named_has_its_point_and_its_line():
    deep = pd.concat([make_results(0.5, 0.7), make_results(0.8, 0.9).assign(**{"params.max_depth": 4.0})])
    axes = dr.plot_curves(deep, x="params.max_depth")
    (line,) = (line for line in axes.lines if line.get_label() == "rdt")
    assert line.get_ydata() == pytest.approx([60, 85])
    axes = dr.plot_curves(deep, by="params.max_depth")
    assert [line.get_ydata().tolist() for line in axes.lines if line.get_label() in ("none", "4")] == [
        pytest.approx([60]),
        pytest.approx([85]),
    ]


def test_a_curve_has_the_mean_and_the_interval_of_each_point():
    frame = pd.concat([make_results(0.5, 0.6, 0.9), make_results(0.7, 0.8, epsilon=10.0)])
    axes = dr.plot_curves(frame)
    (line,) = (line for line in axes.lines if line.get_label() == "rdt")
    assert line.get_ydata() == pytest.approx([100 * np.mean([0.5, 0.6, 0.9]), 75.0])
    (bars,) = axes.collections
    ends = [sorted(y for _, y in segment) for segment in bars.get_segments()]
    wanted = [mean_interval([0.5, 0.6, 0.9], (0, 1)), mean_interval([0.7, 0.8], (0, 1))]
    assert np.allclose(ends, [[100 * one.low, 100 * one.high] for one in wanted])


@pytest.mark.parametrize(
    ("columns", "given", "message"),
    [
        ({"params.max_depth": [2, 3]}, {}, "params.max_depth has several values (2, 3)"),
        ({}, {"x": "epsilo"}, "there is no column 'epsilo'; did you mean 'epsilon'"),
        ({}, {"metric": "mse"}, "there is no metric 'mse'"),
        ({}, {"x": "algorithm"}, "x and by are both 'algorithm'"),
        ({"metric": None}, {}, "there are no results to draw"),
        ({"repeat": 0}, {}, "a point has one repeat twice"),
    ],
)
def test_a_curve_that_would_mix_settings_or_has_no_column_is_refused(columns, given, message):
    with pytest.raises(dr.BadInput, match=re.escape(message)):
        dr.plot_curves(make_results(0.5, 0.6).assign(**columns), **given)


# Papers, verdicts, audits.


class Balanced(HTMLParser):
    """Checks that tags are closed in order, and gathers the text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.text = [], ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open += [] if tag == "br" else [tag]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.long
@pytest.mark.parametrize("name", ["1", "2", "3", "4", "5", "6", "benchmark"])
def test_each_published_paper_is_loaded_with_all_that_it_has(name):
    paper = dr.load_paper(name)
    assert paper.tables.keys() == {exhibit.id for exhibit in paper.paper.tables}
    assert paper.figures.keys() == {exhibit.id for exhibit in paper.paper.figures}
    assert all(len(frame) for frame in (*paper.tables.values(), *paper.figures.values()))
    assert set(paper.verdicts.get("verdict", ())) <= set(Verdict) and len(paper.verdicts) == len(paper.claims)
    assert len(paper.accounts) == len(paper.privacy) > 0
    shown = Balanced(paper._repr_html_()).text
    said = [claim.text for claim in paper.paper.claims if claim.reading_of is None]
    assert [text for text in said if " ".join(text.split()) not in " ".join(shown.split())] == []


def test_a_figure_is_drawn_and_another_name_is_refused():
    paper = dr.load_paper(2)
    assert paper.draw("figure-1").axes
    with pytest.raises(dr.BadInput, match="there is no figure 'figure-9'"):
        paper.draw("figure-9")
    with pytest.raises(dr.BadInput, match="neither the folder of a run nor a published paper"):
        dr.load_paper("nine")


@pytest.mark.long
def test_a_paper_is_run_loaded_and_judged_again(tmp_path, capfd):
    run = dr.run_paper("demo", repeats=2, results=tmp_path, jobs=1)
    assert capfd.readouterr().out == ""
    loaded = dr.load_paper(tmp_path / "paper-demo")
    assert loaded._repr_html_() == run._repr_html_() and "INCOMPLETE: 2 of 5 repeats" in run._repr_html_()
    runs = dr.load_results(tmp_path)
    judged = dr.judge(runs, "demo")
    assert [claim.verdict for claim in judged.claims] == [claim.verdict for claim in run.claims]
    assert [claim.effect for claim in judged.claims] == pytest.approx([claim.effect for claim in run.claims])
    assert "Judged from" in judged._repr_html_()
    wide = widen(runs)
    wide.to_csv(tmp_path / "runs.csv", index=False)
    again = [dr.judge(given, "demo").verdicts for given in (wide, tmp_path / "runs.csv")]
    assert all(list(one["verdict"]) == list(judged.verdicts["verdict"]) for one in again)


def test_a_search_of_scikit_learn_is_judged(tmp_path):
    X, y = make_classification(300, random_state=0)
    steps = make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0))
    splits = ShuffleSplit(20, random_state=0)
    scoring = ["accuracy", "neg_mean_squared_error"]
    grid = {"decisiontreeclassifier__max_depth": [1, 4]}
    search = GridSearchCV(steps, grid, cv=splits, scoring=scoring, refit=False).fit(X, y)
    table = dr.read_cv_results(search.cv_results_, dataset="made", algorithm="tree", score="accuracy")
    assert list(table.columns) == ["dataset", "algorithm", "max_depth", "repeat", "accuracy"] and len(table) == 40
    for place, depth in enumerate((1, 4)):
        wanted = [search.cv_results_[f"split{i}_test_accuracy"][place] for i in range(20)]
        assert list(table[table["max_depth"] == depth]["accuracy"]) == wanted
    errors = dr.read_cv_results(search.cv_results_, dataset="m", algorithm="t", metric="mse", score=scoring[1])
    assert (errors["mse"] >= 0).all() and errors["mse"].max() > 0
    pd.DataFrame(search.cv_results_).to_csv(tmp_path / "cv.csv", index=False)
    from_file = dr.read_cv_results(tmp_path / "cv.csv", dataset="made", algorithm="tree", score="accuracy")
    pd.testing.assert_frame_equal(from_file, table, check_dtype=False)
    claim = {"id": "deeper", "text": "Deeper is better.", "says": "deeper", "source": "here", "kind": "increases"}
    claim |= {"study": "trees", "along": "params.max_depth", "within": ["dataset"], "metric": "accuracy"}
    study = {"dataset": ["made"], "algorithm": ["tree"], "params": {"max_depth": [1, 4]}}
    paper = {"number": "cv", "title": "CV", "repeats": 20, "studies": {"trees": study}, "claims": [claim]}
    (tmp_path / "paper.yaml").write_text(yaml.safe_dump(paper), encoding="utf-8")
    assert len(dr.judge(table, tmp_path / "paper.yaml").claims) == 1
    with pytest.raises(dr.BadInput, match="no column split0_test_score"):
        dr.read_cv_results(search.cv_results_, dataset="made", algorithm="tree")
    with pytest.raises(dr.BadInput, match=r"nope.csv cannot be read: FileNotFoundError"):
        dr.read_cv_results(tmp_path / "nope.csv", dataset="made", algorithm="tree")


def test_parameters_of_a_search_keep_their_own_names():
    scores = {"split0_test_score": [-0.5, -0.7]}
    both = {"param_a__alpha": [1, 2], "param_b__alpha": [3, 4], "param_b__C": [5, 6]}
    table = dr.read_cv_results(both | scores, dataset="d", algorithm="e", metric="mse", negate=True)
    assert table[["a__alpha", "b__alpha", "C", "mse"]].to_numpy().tolist() == [[1, 3, 5, 0.5], [2, 4, 6, 0.7]]
    for name in ("algorithm", "repeat", "accuracy"):
        with pytest.raises(dr.BadInput, match=f"{name!r} is a parameter of the search or a column of its own"):
            dr.read_cv_results({f"param_{name}": [1, 2]} | scores, dataset="d", algorithm="e")
    with pytest.raises(dr.BadInput, match=r"no column split0_test_\.\*"):
        dr.read_cv_results(scores, dataset="d", algorithm="e", score=".*")


def make_benchopt(objective="objective_accuracy", dataset="dataset_name"):
    """A table as benchopt writes it: two solvers, one of them with two settings, and curves of two points."""
    rows = []
    for solver, depth in (("stump", None), ("tree[depth=2]", 2), ("tree[depth=4]", 4)):
        for repeat in range(20):
            run = {"objective_name": "test", "p_obj_reg": 0.5, "solver_name": solver, "p_solver_depth": depth}
            run |= {dataset: "made[n=9]", "p_dataset_n": 9, "idx_rep": repeat, "sampling_strategy": "Iteration"}
            for point in (2, 1):  # in any order
                value = 0.1 * point + (depth or 0) / 10 + repeat / 1000
                rows.append(run | {"time": 0.1 * point, "stop_val": point, objective: value, "platform": "Linux"})
    return pd.DataFrame(rows)


def test_results_of_benchopt_are_a_table_of_runs(tmp_path):
    file = str(tmp_path / "benchopt_run.parquet")
    duckdb.from_df(make_benchopt()).write_parquet(file)
    table = dr.read_benchopt(file, objective="objective_accuracy")
    assert list(table.columns) == ["dataset", "algorithm", "reg", "depth", "repeat", "accuracy"] and len(table) == 60
    assert set(table["dataset"]) == {"made[n=9]"} and set(table["algorithm"]) == {"stump", "tree"}
    trees = table[table["depth"] == 4]
    assert trees["accuracy"].to_list() == [0.2 + 4 / 10 + repeat / 1000 for repeat in range(20)]  # its last point
    old = dr.read_benchopt(make_benchopt("objective_value", "data_name"), metric="mse", negate=True)
    assert (-old["mse"]).to_list() == table["accuracy"].to_list()
    claim = {"id": "deeper", "text": "Deeper is better.", "says": "deeper", "source": "here", "kind": "increases"}
    claim |= {"study": "trees", "along": "params.depth", "within": ["dataset"], "metric": "accuracy"}
    study = {"dataset": ["made[n=9]"], "algorithm": ["tree"], "params": {"depth": [2, 4]}}
    paper = {"number": "bench", "title": "B", "repeats": 20, "studies": {"trees": study}, "claims": [claim]}
    (tmp_path / "paper.yaml").write_text(yaml.safe_dump(paper), encoding="utf-8")
    (answer,) = dr.judge(table[table["algorithm"] == "tree"], tmp_path / "paper.yaml").claims
    assert answer.verdict == "reproduced"


def test_a_table_that_is_not_of_benchopt_is_refused():
    with pytest.raises(
        dr.BadInput, match="a column objective_value, these have not; did you mean 'objective_accuracy'"
    ):
        dr.read_benchopt(make_benchopt())
    both = make_benchopt("objective_value").assign(p_obj_depth=1)
    with pytest.raises(dr.BadInput, match="'depth' is a parameter and another column, too"):
        dr.read_benchopt(both)


def test_a_paper_of_ones_own_finds_its_printed_numbers_beside_it(tmp_path, monkeypatch):
    study = {"dataset": ["made"], "algorithm": ["a", "b"]}
    table = {"id": "table-1", "title": "T", "kind": "grid", "study": "s", "rows": "algorithm", "columns": "dataset"}
    paper = {"number": "own", "title": "Own", "repeats": 20, "reported": "printed.csv", "studies": {"s": study}}
    paper |= {"tables": [table | {"metric": "accuracy"}]}
    (tmp_path / "paper.yaml").write_text(yaml.safe_dump(paper), encoding="utf-8")
    printed = (
        "id,table,dataset,algorithm,metric,statistic,value,decimals,source\na,table-1,made,a,accuracy,mean,0.5,2,T\n"
    )
    (tmp_path / "printed.csv").write_text(printed, encoding="utf-8")
    rows = [("made", name, repeat, 0.5 + repeat / 1000) for name in "ab" for repeat in range(20)]
    monkeypatch.chdir(tmp_path)
    judged = dr.judge(pd.DataFrame(rows, columns=["dataset", "algorithm", "repeat", "accuracy"]), "paper.yaml")
    assert list(judged.numbers["id"]) == ["a"]


@pytest.mark.long
def test_an_estimator_is_audited_by_its_class_and_parameters(monkeypatch):
    monkeypatch.setitem(audit_tasks.FEWEST, "trainings", TRAININGS)
    monkeypatch.setattr(release_path, "RELEASES", TRAININGS)
    found = dr.audit(RDTClassifier(epsilon=2.0), trainings=TRAININGS, jobs=1)
    assert found.outcome.startswith("withstood") and not found.missing
    assert set(found.frame["claimed"]) == {2.0} and "RDTClassifier" in str(found)


def test_an_estimator_has_the_parameters_that_differ_from_defaults():
    subject = describe_estimator(RDTClassifier(epsilon=2.0, n_estimators=7, random_state=3))
    assert subject.target == "algorithms.forests.rdt.RDTClassifier" and subject.params == {"n_estimators": 7}


def test_what_cannot_be_audited_is_refused():
    class Mine(RDTClassifier):
        pass

    with pytest.raises(dr.BadInput, match="write its class into a module"):
        dr.audit(Mine())
    with pytest.raises(dr.BadInput, match="is no estimator"):
        dr.audit(3)
    with pytest.raises(dr.BadInput, match="are of algorithms of the catalogue"):
        dr.audit(RDTClassifier(), dataset="car")
    with pytest.raises(dr.BadInput, match="RDTClassifier is a class"):
        dr.audit(RDTClassifier)
    with pytest.raises(dr.BadInput, match="canaries are put into a data set"):
        dr.audit("rdt", canaries=200)
    with pytest.raises(dr.BadInput, match="leave trainings out"):
        dr.audit("rdt", dataset="car", trainings=2_000)
    with pytest.raises(dr.BadInput, match="max_depth"):
        dr.audit("rdt", params={"max_depth": "x"}, trainings=1_000)


# The names.


def test_every_name_is_there_and_nothing_is_imported_before_it_is_asked_for():
    assert all(getattr(dr, name) is not None for name in dr.__all__) and dir(dr) == dr.__all__
    code = "import dp_replica, sys; dp_replica.__version__; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert not {"numpy", "pandas", "sklearn", "experiments"} & set(loaded.split())
    with pytest.raises(AttributeError, match="has no attribute 'runn'"):
        _ = dr.runn


def test_every_name_stands_on_its_page():
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    assert [name for name in dr.__all__ if f"`dr.{name}" not in text and f"`{name}`" not in text] == []
