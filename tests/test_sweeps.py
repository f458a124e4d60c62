"""Sweeps: their tables, the signs in them, their names and folders, and what the command line prints."""

import json
import shlex
import subprocess
import sys
from itertools import chain

import pytest

from experiments.cells.cell import Cell
from experiments.cells.grid import expand_grid
from experiments.commands import sweep_runs
from experiments.commands.sweep_options import read_name
from experiments.config.paths import ROOT
from experiments.errors import BadInput
from experiments.run.executors.executor import Executor
from experiments.run.run_studies import Rounds
from experiments.run.runner import run_cells
from experiments.store.database import Store
from plots.pages.report import build_report
from plots.sweeps import sweep_folder
from plots.sweeps.sweep import identify_sweep, name_sweep
from plots.sweeps.sweep_folder import write_sweep
from plots.sweeps.sweep_tables import WIDTH, arrange_tables, format_as_markdown
from tests.command_line import exit_code
from tests.made_up_sweeps import accuracies, make_axes, run_sweep

pytestmark = pytest.mark.long

TWO = ["majority", "rdt"]


@pytest.fixture
def sweep(tmp_path, capfd, without_pdf):
    """Run a sweep of two repeats in this process; returns the exit code, stdout and stderr."""

    def run(*words, jobs=1):
        capfd.readouterr()
        code = exit_code(f"results={tmp_path}", f"executor.jobs={jobs}", *words)
        return code, *capfd.readouterr()

    return run


def show(run):
    """Return the lines of a sweep's tables in Markdown, without the heading and the rule of each."""
    lines = format_as_markdown(run, arrange_tables(run)).replace("\\*", "*").splitlines()
    return [line for line in lines[1:] if line and not line.startswith("|---")]


def test_rows_are_alternatives_and_the_best_is_marked():
    errors = {"linear_regression": 250.0, "predict_mean": 125.0}
    regressions = {"dataset": ["daily_demand"], "algorithm": [*errors]}
    runs = [
        run_sweep(accuracies(0.3, 0.7, 0.4, 0.6), algorithm=TWO, epsilon=[1, 0.1]),
        run_sweep(accuracies(0.3, 0.3000001), algorithm=TWO),  # shown as equal
        run_sweep(accuracies(0.3, 0.7), epsilon=[0.1, 1]),  # which are no alternatives
        run_sweep(accuracies(0.3, 0.7, 0.4, 0.6), dataset=["car", "nursery"], algorithm=TWO),
        run_sweep(lambda cell: {"mse": errors[cell.algorithm], "r2": 0.5}, **regressions),
    ]
    assert "\n".join(chain.from_iterable(map(show, runs))).replace(EACH, "EACH") == TABLES


EACH = "mean ± half-width of its 95 % interval"
# of 0.29, 0.3 and 0.31: t quantile 4.303, standard deviation 0.01, over the root of three
TABLES = """\
accuracy (%): EACH; * best of each column
| algorithm | ε = 0.1 | ε = 1.0 |
| majority | 30.00 ± 2.48 | 70.00 ± 2.48* |
| rdt | 40.00 ± 2.48* | 60.00 ± 2.48 |
EACH
| algorithm | accuracy (%) |
| majority | 30.00 ± 2.48 |
| rdt | 30.00 ± 2.48 |
EACH
| ε | accuracy (%) |
| 0.1 | 30.00 ± 2.48 |
| 1.0 | 70.00 ± 2.48 |
accuracy (%): EACH; * best of each column
| algorithm | car | nursery |
| majority | 30.00 ± 2.48 | 40.00 ± 2.48 |
| rdt | 70.00 ± 2.48* | 60.00 ± 2.48* |
EACH; * best of each column
| algorithm | r2 | mse |
| linear_regression | 0.500 ± 0.000 | 250 ± 0 |
| predict_mean | 0.500 ± 0.000 | 125 ± 0* |"""


def test_a_layout_is_taken_that_a_terminal_has_room_for():
    (table,) = arrange_tables(run_sweep(accuracies(*14 * [0.3]), algorithm=TWO, epsilon=[0.1, 0.2, 0.5, 1, 2, 5, 10]))
    assert table.columns == TWO and len(table.rows) == 7 and table.measure_width() <= WIDTH


def fail_of(algorithm, from_repeat):
    def metrics_of(cell):
        is_failed = cell.algorithm == algorithm and cell.repeat >= from_repeat
        return None if is_failed else {"accuracy": 0.9 if cell.algorithm == algorithm else 0.5}

    return metrics_of


@pytest.mark.parametrize(("from_repeat", "text"), [(0, "—!"), (1, "90.00!"), (2, "90.00 ± 0.00!")])
def test_what_lacks_runs_is_named_and_never_the_best(from_repeat, text):
    run = run_sweep(fail_of("rdt", from_repeat), algorithm=[*TWO, "random_forest"])
    assert show(run)[0] == f"{EACH}; ! incomplete" and show(run)[3] == f"| rdt | {text} |"
    assert show(run)[-1:] == run.list_incomplete() == [f"INCOMPLETE: rdt: {from_repeat} of 3 runs"]
    assert run.describe_shortfall() == f"INCOMPLETE: {6 + from_repeat} of 9 runs"


def test_what_is_shown_is_what_was_asked_for_else_the_usual_else_all():
    given = {"accuracy": 0.5, "f1_macro": 0.4, "sampling_ratio": 2.0}
    run = run_sweep(lambda cell: given)
    assert (run.sweep.shown, run.others) == (("accuracy",), ["f1_macro", "sampling_ratio"]), "no time: it differs"
    assert run_sweep(lambda cell: {"f1_macro": 0.4, "sampling_ratio": 2.0}).sweep.shown == ("f1_macro",)
    assert run_sweep(lambda cell: {"beta": 2.0}).sweep.shown == ("beta",)


def test_an_undefined_metric_is_no_missing_run():
    run = run_sweep(lambda cell: {"accuracy": float("nan") if cell.repeat else 0.5})
    assert not run.describe_shortfall() and run.select("accuracy")["n_expected"].tolist() == [1]


def test_a_sweep_is_named_by_what_varies():
    assert name_sweep(make_axes(algorithm=["rdt"], max_depth=[3, 5])) == "car-rdt-max_depth"
    assert name_sweep(make_axes(dataset=["car", "nursery", "mushroom", "adult"])) == "4-data-sets-majority"


def test_the_same_settings_are_the_same_sweep_whatever_their_order_and_number_of_runs():
    def identify(repeats=3, **values):
        return identify_sweep(expand_grid(make_axes(**values), repeats), [])

    one = identify(algorithm=TWO, epsilon=[0.1, 1])
    assert one == identify(algorithm=TWO[::-1], epsilon=[1, 0.1], repeats=7)
    assert one != identify(algorithm=TWO, epsilon=[0.1, 2])


def test_the_files_of_a_sweep_are_these_and_are_drawn_from_two_of_them(tmp_path, capsys):
    def metrics_of(cell):
        if (cell.dataset, cell.algorithm, cell.epsilon) == ("nursery", "rdt", 0.1) and cell.repeat:
            return None
        base = {"rdt": 0.8, "majority": 0.5}[cell.algorithm] + (0.1 if cell.epsilon > 1 else 0)
        return {"accuracy": base + 0.01 * cell.repeat, "f1_macro": 0.2}

    run = run_sweep(metrics_of, dataset=["car", "nursery"], algorithm=TWO[::-1], epsilon=[0.1, float("inf")])
    folder = sweep_folder.make_folder(tmp_path / "sweeps", "mine", "x")
    write_sweep(run, "x", {"written": "now"}, folder)
    assert (folder / "table.md").read_text(encoding="utf-8") == TABLE_MD
    for name, each, lines in (("table.tex", 2, TABLE_TEX), ("table.csv", 5, TABLE_CSV), ("figure.csv", 5, FIGURE_CSV)):
        assert (folder / name).read_text(encoding="utf-8").splitlines()[:11:each][-len(lines) :] == lines, name
    assert r"! incomplete \textbf{INCOMPLETE: 22 of 24 runs}}" in (folder / "table.tex").read_text(encoding="utf-8")
    assert sorted(path.name for path in folder.iterdir()) == sorted(sweep_folder.FILES)
    written = {path.name: path.read_bytes() for path in folder.iterdir()}
    for name in written.keys() - {"table.csv", "provenance.json", "report.html"}:
        (folder / name).unlink()
    assert exit_code("do=redraw", f"results={tmp_path}", "executor.jobs=1") == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == written
    (folder / "table.csv").write_text("\n".join((folder / "table.csv").read_text().splitlines()[:-2]))
    assert exit_code("do=redraw", f"results={tmp_path}", "executor.jobs=1") == 2
    assert "table.csv is not as it was written (ValueError: it has 7 settings and not 8)" in capsys.readouterr().err
    (folder / "provenance.json").write_text('{"sweep": {"identity": "x"}}')
    assert exit_code("do=redraw", f"results={tmp_path}", "executor.jobs=1") == 0
    assert "sweeps that an older version wrote are left as they are: 1" in capsys.readouterr().err


TABLE_MD = """\
**3 repeats**

accuracy (%): mean ± half-width of its 95 % interval; * best of each column at each data set; ! incomplete

| data set | algorithm | ε = 0.1 | no noise |
|---|---|---|---|
| car | rdt | 81.00 ± 2.48\\* | 91.00 ± 2.48\\* |
| car | majority | 51.00 ± 2.48 | 61.00 ± 2.48 |
| nursery | rdt | 80.00! | 91.00 ± 2.48\\* |
| nursery | majority | 51.00 ± 2.48 | 61.00 ± 2.48 |

INCOMPLETE: nursery, rdt, ε = 0.1: 1 of 3 runs
"""
TABLE_TEX = [
    r"\begin{tabular}{ll*{2}{r}}",
    r"data set & algorithm & $\varepsilon$ = 0.1 & no noise \\",
    r"car & rdt & $81.00 \pm 2.48^{*}$ & $91.00 \pm 2.48^{*}$ \\",
    r"nursery & rdt & $80.00!$ & $91.00 \pm 2.48^{*}$ \\",
    r"\bottomrule",
]
TABLE_CSV = [
    "dataset,algorithm,epsilon,metric,mean,std,ci_low,ci_high,n,n_expected",
    "car,majority,0.1,accuracy,0.51,0.01,0.4851586229,0.5348413771,3,3",
    "nursery,rdt,0.1,f1_macro,0.2,,,,1,3",
]
FIGURE_CSV = [
    "dataset,algorithm,epsilon,metric,mean,ci_low,ci_high,n,n_expected",
    "nursery,rdt,0.1,accuracy,0.8,,,1,3",
]


def test_a_sweep_writes_its_own_folder_anew_and_never_that_of_another(sweep, tmp_path):
    words = ["dataset=car", "algorithm=majority", "repeats=2", "output=csv"]
    for epsilons in ("0.1,1", "0.1,2", "1,0.1"):
        code, _, stderr = sweep(*words, f"epsilon={epsilons}")
        assert code == 0
    assert sorted(path.name.removeprefix("car-majority-epsilon") for path in (tmp_path / "sweeps").iterdir()) == [
        "",
        "-2",
    ]
    assert f"{tmp_path}/sweeps/car-majority-epsilon/figure.png" in stderr, "the third is the first again"
    kept = tmp_path / "sweeps" / "car-majority-epsilon" / "notes.txt"
    kept.write_text("mine")
    sweep(*words, "epsilon=0.1,1")
    assert kept.read_text() == "mine"
    written = {path.name for path in kept.parent.iterdir() if path != kept}
    assert written == set(sweep_folder.FILES) - {"figure.pdf"}, "which is not drawn here"


def test_a_name_that_another_sweep_has_is_refused_before_anything_runs(sweep, tmp_path):
    assert sweep("dataset=car", "algorithm=majority", "repeats=1", "name=mine")[0] == 0
    before = (tmp_path / "sweeps" / "mine" / "table.csv").read_bytes()
    code, stdout, stderr = sweep("dataset=car", "algorithm=rdt", "repeats=1", "name=mine")
    assert (code, stdout) == (2, "") and "cells run" not in stderr
    (line,) = stderr.splitlines()
    assert line.startswith(f"error: name=mine: {tmp_path / 'sweeps' / 'mine'} holds another sweep; choose another name")
    assert (tmp_path / "sweeps" / "mine" / "table.csv").read_bytes() == before


@pytest.mark.parametrize("name", ["a/b", "", "..", ".hidden", "a b", True, 1.5, "x" * 101, "a\\b"])
def test_a_name_that_no_folder_can_have_is_refused(name):
    with pytest.raises(BadInput, match="choose letters, digits"):
        read_name(name)


def test_a_folder_of_somebody_elses_is_no_sweeps(tmp_path):
    (tmp_path / "car").mkdir()
    (tmp_path / "car" / "thesis.txt").write_text("mine")
    assert sweep_folder.make_folder(tmp_path, "car", "x").name == "car-2"
    with pytest.raises(BadInput, match="holds another sweep"):
        sweep_folder.refuse_taken_name(tmp_path, "car", "x")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("output=tabel", "output must be table, json or csv; did you mean 'table'?"),
        ("repeat=-1", "repeat must be a whole number from 0"),
        ("stop_on_error=1", "stop_on_error must be true or false, got 1"),
        ("name=a/b", "name='a/b': choose letters, digits"),
        ("paper=demo name=mine", "name cannot be given beside paper=..."),
        ("paper=demo output=json", "output cannot be given beside paper=..."),
        ("paper=demo repeat=3", "repeat cannot be given beside paper=..."),
    ],
)
def test_a_wrong_value_is_refused_and_nothing_written(sweep, tmp_path, words, message):
    settings = [] if words.startswith("paper") else ["dataset=car", "algorithm=majority"]
    code, stdout, stderr = sweep(*settings, *words.split())
    assert (code, stdout) == (2, "") and message in stderr and len(stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_equal_sweeps_give_equal_bytes_whatever_jobs_and_order(tmp_path, monkeypatch):
    words = ["dataset=car", "algorithm=rdt,majority", "epsilon=0.5,inf", "repeats=2", "output=json"]
    files = []
    for number, jobs in enumerate((1, 2)):
        where = Executor("threading", jobs)
        monkeypatch.setattr(sweep_runs, "make_executor", lambda settings, where=where: where)
        assert exit_code(f"results={tmp_path / str(number)}", f"executor.jobs={jobs}", *words) == 0
        folder = tmp_path / str(number) / "sweeps" / "car-rdt-majority-epsilon"
        names = set(sweep_folder.FILES) - {"provenance.json", "report.html"}
        files.append({name: (folder / name).read_bytes() for name in names})
    assert files[0] == files[1] and len(files[0]) == 7


def test_a_terminal_gets_a_table_and_a_pipe_json(sweep, monkeypatch, tmp_path):
    words = ["dataset=car", "algorithm=majority", "algorithm.strategy=prior,uniform", "repeats=2"]
    _, stdout, _ = sweep(*words)
    assert {json.loads(line)["metric"] for line in stdout.splitlines()} > {"accuracy"}
    _, stdout, stderr = sweep(*words, "output=table")
    lines = stdout.splitlines()
    assert lines[0] == "car, majority, 2 repeats" and lines[-2].endswith("/car-majority-strategy/figure.png")
    assert lines[2] == "mean ± half-width of its 95 % interval; * best of each column"
    assert lines[4].split() == ["prior", "69.94", "±", "0.00*"] and max(map(len, lines[:6])) <= WIDTH
    assert "{" not in stdout and "figure.png" not in stderr
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "best of each column" in sweep(*words)[1]


def test_csv_on_stdout_is_the_table(sweep, tmp_path):
    _, stdout, stderr = sweep("dataset=car", "algorithm=majority", "repeats=2", "output=csv")
    assert stdout == (tmp_path / "sweeps" / "car-majority" / "table.csv").read_text()
    assert "report.html" in stderr and "figure" not in stderr, "one setting is not drawn"


def test_many_rows_are_cut_in_a_terminal_and_whole_in_the_files(sweep, tmp_path):
    words = ["dataset=car", "algorithm=random_forest", "algorithm.n_estimators=1", "algorithm.max_depth=range(1,51)"]
    _, stdout, _ = sweep(*words, "repeats=1", "output=table")
    assert "... and 10 more rows: table.md and table.csv" in stdout
    text = (tmp_path / "sweeps" / "car-random_forest-max_depth" / "table.md").read_text()
    assert text.splitlines()[2] == "one run each; * best of each column" and "| 50 |" in text


def test_a_failing_cell_is_run_again_by_the_command_that_is_printed(sweep, tmp_path):
    settings = ["dataset=car", "algorithm=majority", 'algorithm.strategy=prior,"it\'s"']
    code, stdout, stderr = sweep(*settings, "repeats=3", "output=table")
    assert code == 1 and "INCOMPLETE: strategy = it's: 0 of 3 runs" in stdout
    again = stderr.splitlines()[-1]
    assert stderr.splitlines()[-2].startswith("failed in repeat 0, 1, 2: InvalidParameterError")
    program, *words = shlex.split(again)
    assert program == "dp-replica" and words[-2:] == ["repeat=0", f"results={tmp_path}"]
    before = sorted(path.name for path in (tmp_path / "sweeps").iterdir())
    code, _, stderr = sweep(*words)
    assert code == 1 and "1 cell run in" in stderr and "1 failed" in stderr and stderr.splitlines()[-1] == again
    assert sorted(path.name for path in (tmp_path / "sweeps").iterdir()) == before, "one repeat is no sweep"


def test_one_repeat_is_the_same_run_as_among_the_others(sweep):
    words = ["dataset=car", "algorithm=rdt", "output=json"]
    sweep(*words, "repeats=4")
    code, stdout, stderr = sweep(*words, "repeat=3")
    assert code == 0 and "1 cell reused" in stderr and json.loads(stdout.splitlines()[0])["n"] == 1


def test_a_sweep_stops_at_its_first_failure(sweep, tmp_path):
    words = ["dataset=car", "algorithm=majority", "algorithm.strategy=nonsense,prior", "repeats=10"]
    code, _, stderr = sweep(*words, "stop_on_error=true")
    assert code == 1 and "InvalidParameterError" in stderr
    assert "stopped at the first failure: 19 cells were not run (stop_on_error=true)" in stderr
    assert "INCOMPLETE: strategy = prior: 0 of 10 runs" in stderr
    assert sweep(*words)[0] == 1 and "10 cells" in sweep(*words)[2]


@pytest.mark.parametrize("where", [Executor(jobs=1), Executor("threading", 2)])
def test_what_runs_when_a_cell_fails_is_kept_and_nothing_more_is_handed_out(tmp_path, where):
    bad = Cell("car", "majority", {"strategy": "nonsense"}, 1.0, 0)
    others = [Cell("car", "majority", {}, 1.0, repeat) for repeat in range(1, 400)]
    with Store(tmp_path / "store.sqlite") as store:
        outcome = run_cells([bad, *others], store, where, stop_on_error=True)
        assert [cell for cell, _ in outcome.failures] == [bad]
        assert outcome.done == len(store.done()) and outcome.n_left == 399 - outcome.done > 0


def test_no_round_of_a_paper_begins_after_a_failure(tmp_path, capsys):
    bad = Cell("car", "majority", {"strategy": "nonsense"}, 1.0, 0)
    good = Cell("car", "majority", {}, 1.0, 0)
    rounds = Rounds(tmp_path, Executor(jobs=1), stop_on_error=True)
    rounds.run([bad], "")
    assert rounds.run([good], "another round") == {} and "another round" not in capsys.readouterr().err
    assert rounds.name_failures("results") == 1
    assert "another round" not in capsys.readouterr().err and Rounds(tmp_path, Executor(jobs=1)).run([good], "")


def test_labels_are_shown_as_text(tmp_path):
    write_sweep(
        run_sweep(accuracies(0.3, 0.7), strategy=["prior", "<b onload=x>&"]), "x", {"command": "<i>run</i>"}, tmp_path
    )
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<b onload" not in page and "&lt;b onload=x&gt;&amp;" in page and "&lt;i&gt;run" in page
    assert r"<b onload=x>\&" in (tmp_path / "table.tex").read_text(encoding="utf-8")
    assert "src=" not in page and "http" not in page.partition("</svg>")[2], "it asks for nothing"


def test_the_report_lists_the_newest_sweeps(tmp_path):
    for day in range(1, 24):
        folder = sweep_folder.make_folder(tmp_path / "sweeps", f"sweep-{day}", "x")
        facts = {"written": f"2024-01-{day:02}T00:00:00+00:00", "command": f"run {day}"}
        text = json.dumps({"sweep": {"identity": "x", "varies": f"ε (1, {1 + day})", "incomplete": day == 23}, **facts})
        (folder / "provenance.json").write_text(text)
        (folder / "report.html").write_text("page")
    page = build_report(tmp_path, []).read_text(encoding="utf-8")
    listed = page.partition("<h2>Sweeps</h2>")[2]
    assert listed.index("sweep-23<") < listed.index("sweep-9<") and "sweep-8<" not in listed
    assert ">8 older ones are in results/sweeps." in listed and listed.count("INCOMPLETE") == 1
    assert 'href="sweeps/sweep-23/report.html" title="run 23"' in listed and "ε (1, 24); 2024-01-23" in listed
    assert (tmp_path / "report" / "sweeps" / "sweep-23" / "report.html").read_text() == "page"


def test_nothing_that_draws_is_imported_before_something_is_drawn(tmp_path):
    words = ["dataset=car", "algorithm=majority", "repeats=1", "output=csv", "executor.jobs=1", f"results={tmp_path}"]
    lines = ["import sys", "from experiments.command_line import main", f"sys.argv = {['x', *words]!r}"]
    lines += ["try: main()", "except SystemExit: print('matplotlib' in sys.modules)"]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "False", done.stderr
    assert (tmp_path / "sweeps" / "car-majority" / "report.html").is_file()
