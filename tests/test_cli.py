"""The command line: what stands on stdout, what on stderr, and the exit codes."""

import json
import shlex
import signal
import sqlite3
import statistics
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hydra.errors import ConfigCompositionException, OverrideParseException
from scipy.stats import ttest_1samp

from experiments.cells.cell import Cell
from experiments.composition import explain_error
from experiments.config.protocol import read_protocol
from experiments.run import run_studies
from experiments.run.executors.executor import Executor
from experiments.run.run_studies import describe_clipping, describe_data_faults, gather_details
from experiments.store.record import Measured, Record
from experiments.store.summaries import summarise_setting, write_json_lines
from tests.command_line import exit_code
from tests.waiting import wait_for

ROOT = Path(__file__).parents[1]


def command(folder, *arguments):
    return [sys.executable, "-m", "experiments", f"results={folder}", "executor.jobs=1", *arguments]


@pytest.fixture
def here(capfd):
    """The same in this process, which spares the start of another: returns the exit code, stdout and stderr."""

    def run(folder, *arguments):
        capfd.readouterr()
        code = exit_code(*command(folder, *arguments)[3:])
        return code, *capfd.readouterr()

    return run


def test_a_sweep_gives_one_json_object_for_each_setting_and_metric(tmp_path, here, commands):
    words = ("-m", "dataset=car", "algorithm=majority", "epsilon=0.5,inf", "repeats=2")
    first = commands.run_module("experiments", *command(tmp_path, *words)[3:])
    assert first.returncode == 0, first.stderr
    objects = [json.loads(line, parse_constant=pytest.fail) for line in first.stdout.splitlines()]  # no NaN, Infinity
    fields = [
        "key",
        "dataset",
        "algorithm",
        "params",
        "epsilon",
        "metric",
        "mean",
        "std",
        "ci95",
        "median",
        "median_ci95",
        "n",
    ]
    assert all(list(one) == fields for one in objects)
    n_expected = 2 * 2  # accuracy and the time of a fit, at each epsilon
    assert len(objects) == len({(one["key"], one["metric"]) for one in objects}) == n_expected
    accuracy = [one for one in objects if one["metric"] == "accuracy"]
    assert [one["epsilon"] for one in accuracy] == [0.5, "inf"]
    assert accuracy[0]["n"] == 2 and 0.6 < accuracy[0]["mean"] < 0.8 and len(accuracy[0]["ci95"]) == 2
    assert "4 cells run" in first.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store.lock", "store.sqlite", "sweeps"]

    code, stdout, stderr = here(tmp_path, *words)
    assert code == 0 and stdout == first.stdout and "4 cells reused" in stderr


def test_the_numbers_of_a_setting_are_those_of_its_runs(capsys):
    values = [0.1, 0.2, 0.3, 0.4, 0.9, 1.0]
    cells = list(Cell("car", "majority", {}, 1.0, 0).repeats(range(len(values))))
    measured = [Record("done", Measured({"accuracy": value}, 0.5)) for value in values]
    records = {cell.key: record for cell, record in zip(cells, measured, strict=True)}
    write_json_lines(cells, summarise_setting(cells, records))
    said = json.loads(capsys.readouterr().out.splitlines()[0])
    assert (said["mean"], said["std"]) == pytest.approx((statistics.mean(values), statistics.stdev(values)))
    assert said["ci95"] == pytest.approx(ttest_1samp(values, 0).confidence_interval())
    assert (said["median"], said["median_ci95"]) == (pytest.approx(0.35), [0.1, 1.0])


def test_a_failing_setting_is_named_with_the_command_that_runs_it(tmp_path, here):
    words = ("dataset=car", "algorithm=majority", "algorithm.strategy=prior,nonsense", "repeats=1")
    code, stdout, stderr = here(tmp_path, *words)
    assert code == 1 and '"strategy": "prior"' in stdout and "nonsense" not in stdout
    reason, again = stderr.splitlines()[-2:]
    assert reason.startswith("failed in repeat 0: InvalidParameterError: The 'strategy' parameter")
    words = "dataset=car algorithm=majority epsilon=1.0 algorithm.strategy=nonsense repeat=0"
    assert again == f"  dp-replica {words} results={tmp_path}"


def test_numbers_of_rows_can_be_said_on_the_command_line(tmp_path, here):
    sizes = {"train_rows": {"unacc": 1000, "acc": 300}, "test_rows": {"unacc": 210, "acc": 84}}
    cell = Cell("car", "majority", {}, 1.0, 0, read_protocol(sizes))
    words = shlex.split(f"{cell.name} repeats=1")
    assert "protocol.train_rows={unacc:1000,acc:300}" in words
    code, stdout, _ = here(tmp_path, *words)
    said = {one["metric"]: one["mean"] for one in map(json.loads, stdout.splitlines())}
    assert code == 0 and said["accuracy"] == pytest.approx(210 / 294)


def test_bad_input_is_one_line_and_exit_code_2(tmp_path, here, commands):
    (tmp_path / "store.sqlite").write_bytes(b"nonsense" * 200)
    found = commands.run_module("experiments", *command(tmp_path, "dataset=carr", "algorithm=majority")[3:])
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == "error: unknown dataset 'carr'; did you mean 'car'?\n"
    code, stdout, stderr = here(tmp_path, "dataset=car", "algorithm=majority")
    assert (code, stdout) == (2, "") and stderr.startswith(f"error: store {tmp_path / 'store.sqlite'} is damaged")
    assert len(stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (OverrideParseException("a=b,c d", "no viable\nalternative"), "cannot read 'a=b,c d': write name=value"),
        (ConfigCompositionException("Could not override 'reapeats'.\nTo append ..."), "did you mean 'repeats'?"),
        (ConfigCompositionException("Could not override 'executor.job'.\n..."), "did you mean 'executor.jobs'?"),
        (ConfigCompositionException("Something\nelse"), "Something else"),
    ],
)
def test_what_hydra_says_becomes_one_line(error, line):
    assert line in explain_error(error) and "\n" not in explain_error(error)


def test_help_suffices():
    done = subprocess.run([sys.executable, "-m", "experiments", "--help"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0
    for needed in (
        "dp-replica dataset=car",
        "paper=2",
        "majority",
        "nursery",
        "threads",
        "Exit code",
        "audit",
    ):
        assert needed in done.stdout


LARGE = ("hydra", "omegaconf", "pydantic", "numpy", "pandas", "scipy", "sklearn", "matplotlib")


@pytest.mark.parametrize(
    ("words", "first", "large"),
    [
        (["check", "--help"], "Run a part of every paper again", []),
        (["list", "datasets"], "classification: the target is a class", ["hydra", "omegaconf", "pydantic", "numpy"]),
    ],
)
def test_what_only_says_something_imports_little(words, first, large):
    """In 0.4 of the processor time in which scikit-learn's trees are imported: pandas alone would take as much."""
    code = f"import atexit, sys; sys.argv = ['experiments', *{words}]; from experiments.command_line import main\n"
    code += f"atexit.register(lambda: print([*filter(sys.modules.__contains__, {LARGE})], file=sys.stderr)); main()"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.startswith(first) and done.stderr == f"{large}\n"


def test_without_a_word_it_says_how_to_start(commands):
    done = commands.run_module("experiments")
    assert (done.returncode, done.stdout) == (2, "")
    for needed in ("paper=demo", "dataset=car algorithm=random_forest", "--help"):
        assert f"dp-replica {needed}" in done.stderr


def test_several_papers_are_all_read_before_one_is_run(tmp_path, here):
    code, _, stderr = here(tmp_path, "paper=demo,dem")
    assert code == 2 and stderr == "error: unknown paper 'dem'; did you mean 'demo'?\n"
    assert list(tmp_path.iterdir()) == []
    code, _, stderr = here(tmp_path, "paper=demo,2", "dry_run=true", "repeats=1")
    assert code == 0 and stderr.count(" cells: ") == 2


def test_a_paper_says_itself_what_is_run(tmp_path, here):
    for word in ("dataset=car", "algorithm=rdt", "epsilon=2", "protocol.rows=balanced", "algorithm.max_depth=3"):
        code, _, stderr = here(tmp_path, "paper=demo", word)
        assert code == 2 and f"{word.partition('=')[0]} cannot be given beside paper=..." in stderr
    code, _, stderr = here(tmp_path, "paper=demo", "paper.title=Mine")
    assert code == 2 and "paper.title cannot be changed" in stderr


@pytest.mark.system
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_keeps_what_is_finished(tmp_path, commands, number, code):
    words = ("dataset=car", "algorithm=random_forest", "repeats=1000", "executor.jobs=2")
    process = commands.start_module("experiments", *command(tmp_path, *words)[3:])
    wait_for(lambda: _finished(tmp_path / "store.sqlite") or process.poll())
    # Ctrl-C reaches the whole group, workers included; `kill` reaches the parent only.
    process.send_signal(number, to_group=number == signal.SIGINT)
    done = process.wait()
    assert done.returncode == code
    assert done.stderr.splitlines()[-1] == "everything finished so far is kept; run the same command again to go on"
    assert "Traceback" not in done.stderr
    assert 0 < _finished(tmp_path / "store.sqlite") < 1000


def _finished(path):
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT count(*) FROM cells WHERE status = 'done'").fetchone()[0]
    except sqlite3.OperationalError:  # not there yet
        return 0


def test_a_folder_that_cannot_hold_the_results_is_found_out_before_anything_runs(tmp_path, here):
    (tmp_path / "paper-demo").write_text("in the way")
    code, _, stderr = here(tmp_path, "paper=demo")
    assert code == 2
    (line,) = stderr.splitlines()
    assert "paper-demo cannot be written to" in line and "results=FOLDER" in line


def test_a_sweep_that_is_summarised_some_settings_at_a_time_says_all_the_same(tmp_path, monkeypatch):
    settings = [[Cell(name, "majority", {}, 1.0, repeat) for repeat in range(2)] for name in ("car", "nursery")]
    found = []
    for at_once in (100, 3):  # both settings, one after the other
        monkeypatch.setattr(run_studies, "_AT_ONCE", at_once)
        taken = []

        def take(first, some, records, taken=taken):
            taken += [(first + i, summarise_setting(cells, records)) for i, cells in enumerate(some)]

        outcome, details = run_studies.run_in_batches(settings, tmp_path, Executor("loky", 1), take)
        assert {dataset for dataset, _ in details} == {"car", "nursery"} and not outcome.failures
        found.append(taken)
    assert repr(found[0]) == repr(found[1])
    assert [(number, {one.n for one in metrics}) for number, metrics in found[0]] == [(0, {2}), (1, {2})]


def test_clipped_values_are_reported_with_their_columns():
    cells = [Cell("car", "majority", {}, 1.0, repeat) for repeat in range(2)]
    details = [{"clipped": {"age": 3}}, {"clipped": {"age": 5, "hours": 1}}]
    records = {cell.key: Record("done", Measured({}, 0.0, one)) for cell, one in zip(cells, details, strict=True)}
    (line,) = describe_clipping(gather_details(cells, records))
    assert line.startswith("car: ") and "age 5, hours 1" in line
    assert describe_clipping(gather_details(cells, {})) == []


def test_bounds_that_follow_the_rows_are_said_once_for_each_data_set():
    cells = [Cell(name, "majority", {}, 1.0, repeat) for name in ("car", "nursery") for repeat in range(2)]
    fault = {"name": "bounds from the rows", "why": "the bounds of y follow", "source": "s"}
    records = {}
    for cell in cells:
        details = {"privacy": {"data_faults": [fault] if cell.dataset == "car" else []}}
        records[cell.key] = Record("done", Measured({}, 0.0, details))
    assert describe_data_faults(gather_details(cells, records)) == ["car: the bounds of y follow"]
    assert describe_data_faults(gather_details(cells, {cells[0].key: Record("failed")})) == []
