"""The runner: the same numbers whatever the workers, and every way in which cells and workers die."""

import math
import random
import time
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from queue import SimpleQueue
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import pytest
from loky.process_executor import ShutdownExecutorError
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import PolynomialFeatures

import datasets
from algorithms.regression.polynomial import PrivatePolynomialRegressor
from datasets import catalogue
from documents.yaml_files import DocumentError
from experiments.cells import study_cells
from experiments.cells.cell import Cell
from experiments.cells.grid import expand_grid
from experiments.config.protocol import DEFAULT_PROTOCOL
from experiments.errors import BadInput
from experiments.run import evaluate, runner
from experiments.run.executors.executor import Executor
from experiments.run.executors.workers import Workers
from experiments.run.run_studies import run_and_collect
from experiments.run.runner import CellQueue, run_cells
from experiments.run.splits import split_rows
from experiments.store.database import Store
from experiments.store.long_table import long_table
from tests.papers import make_paper
from tests.waiting import HANG

ONE = Executor(jobs=1)
FOREST = {"n_estimators": 3, "max_depth": 4}


def _cells():
    settings = expand_grid({"dataset": ["car"], "algorithm": ["majority"], "epsilon": [1.0]}, repeats=3)
    values = {"dataset": ["car", "nursery"], "algorithm": ["random_forest", "rfdpp_gini"], "epsilon": [0.5, 5.0]}
    settings += expand_grid(values, repeats=2, overrides={"random_forest": FOREST, "rfdpp_gini": FOREST})
    return [cell for setting in settings for cell in setting]


class Treacherous(str):
    """A parameter that runs code where it arrives, that is, in the worker."""

    def __new__(cls, text, code):
        made = super().__new__(cls, text)
        made.code = code
        return made

    def __reduce__(self):
        return eval, (self.code,)


KILL = "__import__('os').kill(__import__('os').getpid(), 9)"


def _bytes(cells, store):
    table = long_table({"all": cells}, store.get([cell.key for cell in cells]))
    return table.drop(columns="fit_seconds").to_csv(index=False)


@pytest.mark.long
def test_same_bytes_with_one_job_two_jobs_threads_dask_and_any_order(tmp_path):
    cells = _cells()
    found = set()
    for number, (jobs, executor, order) in enumerate(
        [(1, "loky", 0), (2, "loky", 1), (2, "threading", 2), (2, "dask", 3)]
    ):
        shuffled = random.Random(order).sample(cells, len(cells))
        with Store(tmp_path / f"{number}.sqlite") as store:
            outcome = run_cells(shuffled, store, Executor(executor, jobs))
            assert (outcome.done, outcome.failures) == (len(cells), [])
            found.add(_bytes(shuffled, store))
    assert len(found) == 1 and "done" in found.pop()


def test_resuming_computes_only_what_is_missing(tmp_path, monkeypatch):
    cells = _cells()
    with Store(tmp_path / "store.sqlite") as store:
        assert run_cells(cells[:5], store, ONE).done == 5
        assert (run_cells(cells, store, ONE).done, run_cells(cells, store, ONE).reused) == (len(cells) - 5, len(cells))
        monkeypatch.setattr(evaluate, "evaluate_cell", lambda cell: pytest.fail("computed again"))
        assert run_cells(cells + cells, store, ONE).done == 0


def test_a_failing_cell_is_named_and_the_others_go_on(tmp_path):
    bad = Cell("car", "majority", {"strategy": "nonsense"}, 1.0, 0)
    with Store(tmp_path / "store.sqlite") as store:
        outcome = run_cells([bad, *_cells()], store, ONE)
        assert outcome.done == len(_cells())
        ((cell, error),) = outcome.failures
        assert cell is bad and error.startswith("InvalidParameterError: The 'strategy' parameter")
        assert store.get([bad.key])[bad.key].error == error
        assert run_cells([bad], store, ONE).failures, "a failed cell is tried again"


@pytest.mark.system
def test_a_killed_worker_costs_only_the_guilty_cell(tmp_path):
    deadly = Cell("car", "majority", {"strategy": Treacherous("deadly", KILL)}, 1.0, 0)
    met = str(tmp_path / "met")
    once = f"'prior' if __import__('os').path.exists({met!r}) else (open({met!r}, 'w'), {KILL})"
    unlucky = Cell("car", "majority", {"strategy": Treacherous("prior", once)}, 1.0, 1)
    with Store(tmp_path / "store.sqlite") as store:
        outcome = run_cells([deadly, *_cells(), unlucky], store, Executor(jobs=2))
        assert outcome.done == len(_cells()) + 1
        ((cell, error),) = outcome.failures
        assert cell is deadly and error.startswith("its worker died 2 times")
        assert unlucky.key in store.done()


def test_an_interrupt_keeps_what_is_finished(tmp_path, monkeypatch):
    cells, honest = _cells(), evaluate.evaluate_cell

    def interrupted(cell):
        if cell.key == last.key:
            raise KeyboardInterrupt
        return honest(cell)

    last = max(cells, key=lambda cell: (cell.dataset, cell.algorithm, cell.repeat))
    monkeypatch.setattr(evaluate, "evaluate_cell", interrupted)
    with pytest.raises(KeyboardInterrupt), Store(tmp_path / "store.sqlite") as store:
        run_cells(cells, store, ONE)
    with Store(tmp_path / "store.sqlite") as store:
        assert len(store.done()) >= len(cells) // 2


def test_chunks_hold_one_kind_and_grow_with_quick_cells():
    cells = [Cell(name, "majority", {}, 1.0, r) for r, name in product(range(500), ("car", "nursery"))]
    queue, sizes = CellQueue(cells, 2), []
    for chunk in queue.take_chunks():
        assert len({cell.dataset for cell in chunk}) == 1
        sizes.append(len(chunk))
        queue.note_seconds(chunk, 0.001 * len(chunk))
    assert sum(sizes) == 1000 and sizes[0] == 1 and max(sizes) > 100


def test_cells_of_a_missing_data_set_are_skipped_and_said_to_be(tmp_path, monkeypatch):
    honest = datasets.load

    def load(name):
        if name == "nursery":
            raise datasets.DataUnavailable("nursery: put the file there")
        return honest(name)

    monkeypatch.setattr(datasets, "load", load)
    outcome, records = run_and_collect(_cells(), tmp_path, Executor("loky", 1))
    assert outcome.failures == [] and list(outcome.skipped) == ["nursery: put the file there"]
    assert len(records) == outcome.done == sum(cell.dataset == "car" for cell in _cells())
    statuses = long_table({"all": _cells()}, records).groupby("dataset")["status"].unique()
    assert statuses["car"].tolist() == ["done"] and statuses["nursery"].tolist() == ["missing"]


def test_a_cell_of_two_studies_stands_once_in_the_table():
    study = {"dataset": ["car"], "algorithm": ["majority"], "epsilon": [1.0]}
    cells = study_cells.cells_of_studies(make_paper(repeats=2, studies={"one": study, "two": study}))
    assert long_table(cells, {})["study"].tolist() == ["one+two"] * 2


@pytest.mark.parametrize(
    ("study", "message"),
    [
        ({"dataset": ["car"]}, "studies.one: the key 'algorithm' is missing"),
        (
            {"dataset": ["car"], "algorithm": ["majority"], "epsilonn": [1]},
            "studies.one: unknown key 'epsilonn'; did you mean 'epsilon'",
        ),
        ({"dataset": ["car"], "algorithm": ["majorty"]}, "study 'one': unknown algorithm"),
    ],
)
def test_a_study_that_cannot_be_run_is_named(study, message):
    with pytest.raises((BadInput, DocumentError), match=message):
        study_cells.cells_of_studies(make_paper(repeats=1, studies={"one": study}))


@pytest.mark.parametrize(("backend", "jobs"), [("dusk", 1), ("loky", 0), ("loky", "many"), ("loky", True)])
def test_an_impossible_executor_is_refused(backend, jobs):
    with pytest.raises(BadInput, match="executor"):
        Executor(backend, jobs)


@pytest.fixture
def three_columns(monkeypatch):
    """Stand in for CCPP: a few rows of its domain, so that no file is needed."""
    rng = np.random.default_rng(0)
    entry = catalogue.read_entry("ccpp")
    frame = pd.DataFrame({f.name: rng.uniform(f.lower, f.upper, 300) for f in entry.domain.features})
    target = pd.Series(450 + frame["AT"] - 0.02 * frame["AT"] * frame["V"] / 2)
    about = ("ccpp", entry.title, "regression")
    made = datasets.Dataset(*about, frame, target, entry.domain, None, entry.fingerprint, {})
    monkeypatch.setattr(datasets, "load", lambda name: made)
    return made


def _regressions(repeats=3):
    values = {"dataset": ["ccpp"], "algorithm": ["fm", "polynomial_regression", "diff_lr"], "epsilon": [0.1, 1.0, 10.0]}
    settings = expand_grid(values, repeats, overrides={"polynomial_regression": {"degree": 1}})
    return [cell for setting in settings for cell in setting]


def test_algorithms_share_one_pass_over_the_rows_of_a_split(three_columns, tmp_path, monkeypatch):
    read = []
    summarise = PrivatePolynomialRegressor.summarise
    monkeypatch.setattr(
        PrivatePolynomialRegressor, "summarise", lambda self, X, y: read.append(len(X)) or summarise(self, X, y)
    )
    cells = random.Random(1).sample(_regressions(), 27)
    with Store(tmp_path / "store.sqlite") as store:
        assert run_cells(cells, store, ONE).done == 27
        found = {key: record.measured.metrics for key, record in store.get([cell.key for cell in cells]).items()}
    assert read == [210] * 3
    monkeypatch.setattr(evaluate, "_summarise_rows", evaluate._summarise_rows.__wrapped__)
    assert found == {cell.key: evaluate.evaluate_cell(cell).metrics for cell in cells}
    assert read == [210] * 30


def test_what_is_read_otherwise_is_read_again(three_columns):
    evaluate._summarise_rows.cache_clear()
    for params in (
        {"degree": 1},
        {"degree": 2},
        {"degree": 1, "scaling": "ball"},
        {"degree": 1, "fit_intercept": True},
    ):
        evaluate.evaluate_cell(Cell("ccpp", "fm", params, 1.0, 0))
    evaluate.evaluate_cell(Cell("ccpp", "fm", {"degree": 1}, 1.0, 1))
    evaluate.evaluate_cell(Cell("ccpp", "fm", {"degree": 1}, 2.0, 1))
    assert evaluate._summarise_rows.cache_info()[:2] == (1, 5)


def test_an_algorithm_may_have_an_epsilon_of_its_own(three_columns):
    free = [
        evaluate.evaluate_cell(Cell("ccpp", "polynomial_regression", {"degree": 2}, epsilon, 0))
        for epsilon in (0.1, 10.0)
    ]
    assert free[0].metrics == free[1].metrics
    assert free[0].metrics["r2"] == evaluate.evaluate_cell(Cell("ccpp", "fm", {"degree": 2}, math.inf, 0)).metrics["r2"]
    assert free[0].details["privacy"]["claimed_epsilon"] == math.inf
    train, test = split_rows(three_columns, 0, DEFAULT_PROTOCOL)
    low, high = np.array([(f.lower, f.upper) for f in three_columns.domain.features]).T
    matrix = PolynomialFeatures(2, include_bias=False).fit_transform(2 * (three_columns.frame - low) / (high - low) - 1)
    y = (three_columns.target.to_numpy() - 450) / 50
    theirs = LinearRegression(fit_intercept=False).fit(matrix[train], y[train]).score(matrix[test], y[test])
    assert free[0].metrics["r2"] == pytest.approx(theirs, abs=1e-9)


@pytest.mark.long
def test_an_interrupt_gives_up_what_is_run_alone():
    with pytest.raises(KeyboardInterrupt), Executor(jobs=2).open_workers() as workers:
        future = workers.isolate().get_pool().submit(time.sleep, HANG)
        raise KeyboardInterrupt
    assert isinstance(future.exception(), ShutdownExecutorError)


@pytest.mark.long
def test_a_pool_that_is_broken_already_loses_the_chunk_and_another_pool_runs_it(tmp_path):
    broken = ThreadPoolExecutor(1, initializer=lambda: 1 / 0)
    with pytest.raises(BrokenExecutor):
        broken.submit(int).result()
    pools = iter([broken])
    with Executor(jobs=2).open_workers() as workers:
        workers = replace(workers, get_pool=lambda: next(pools, None) or workers.isolate().get_pool())
        records = dict(runner._run_pending(_cells()[:3], workers, stop_on_error=False))
    assert [record.status for record in records.values()] == ["done"] * 3


@pytest.mark.long
def test_workers_see_the_variables_of_the_run_and_draw_numbers_of_their_own(monkeypatch):
    """They may be forked from one process, which began before a variable was set and has one state of numpy's."""
    for word in ("first", "second"):
        monkeypatch.setenv("DPREPLICA_WORD", word)
        with Executor(jobs=2).open_workers() as workers:
            meet = f"__import__('time').sleep(0.1), __import__('os').environ['DPREPLICA_WORD'], {OWN_NUMBERS}"
            told = [future.result() for future in [workers.get_pool().submit(eval, meet) for _ in range(6)]]
        assert {said for _, said, _ in told} == {word}
        assert len({number for _, _, number in told}) == len(told)


OWN_NUMBERS = "__import__('numpy').random.random()"


@pytest.mark.long
def test_joblib_finds_its_own_kind_of_processes_after_a_run(tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        assert run_cells(_cells()[:2], store, Executor(jobs=2)).done == 2
    assert joblib.Parallel(2, "loky")(joblib.delayed(abs)(i) for i in (-1, -2)) == [1, 2]


@pytest.mark.long
def test_a_cluster_that_has_no_workers_is_waited_for_and_then_given_up(monkeypatch):
    monkeypatch.setattr(runner, "_PATIENCE", 0)
    counts = iter([1, 0])
    workers = Workers(Executor("dask"), SimpleNamespace, None, lambda: next(counts))
    with pytest.raises(BadInput, match="no worker for 0 s; start some"):
        runner._wait_for_some(SimpleQueue(), workers)
    assert next(counts, None) is None


def when_compared(code):
    """Return the code of a text that runs code where it is used: Dask's scheduler unpacks what it passes on."""
    return f"type('Text', (str,), {{'__hash__': str.__hash__, '__eq__': lambda *_: {code}}})('prior')"


NEVER = when_compared("__import__('time').sleep(HANG)").replace("HANG", str(HANG))


@pytest.mark.long
@pytest.mark.parametrize(
    "where",
    [
        pytest.param(Executor(jobs=1, time_limit=3), id="loky"),
        pytest.param(Executor("dask", 2, time_limit=3), id="dask", marks=pytest.mark.system),
    ],
)
def test_a_cell_that_never_ends_is_given_up_and_named(tmp_path, where):
    endless = Cell("car", "majority", {"strategy": Treacherous("prior", NEVER)}, 1.0, 0)
    others = [Cell("car", "nothing", {}, 1.0, repeat) for repeat in range(3)]  # of another kind: it goes out alone
    with Store(tmp_path / "store.sqlite") as store:
        outcome = run_cells([*others, endless], store, where)
        assert outcome.done == 3
        assert outcome.failures == [(endless, "it took longer than executor.time_limit=3 (seconds)")]


@pytest.mark.system
def test_a_cell_that_kills_its_dask_worker_is_named_and_the_others_go_on(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "ATTEMPTS", 1)  # every death costs the start of a new worker
    deadly = Cell("car", "majority", {"strategy": Treacherous("prior", when_compared(KILL))}, 1.0, 0)
    with Store(tmp_path / "store.sqlite") as store:
        outcome = run_cells([deadly, *_cells()[3:8]], store, Executor("dask", 2))
        assert outcome.done == 5
        ((cell, error),) = outcome.failures
        assert cell is deadly and error.startswith("its worker died 1 times")


@pytest.mark.parametrize(
    ("where", "is_started", "loaded"),
    [
        (Executor(jobs=2), False, {"car": {"majority"}}),
        (Executor(jobs=16), False, {}),  # most workers will never run a cell of it
        (Executor(jobs=2), True, {}),
        (Executor(jobs=1), False, {}),
        (Executor("threading", jobs=2), False, {}),
        (Executor("dask", address="tcp://host:8786"), False, {}),
    ],
)
def test_tables_are_read_before_workers_are_forked(where, is_started, loaded, monkeypatch):
    asked = {}
    monkeypatch.setattr(runner, "can_fork_server", lambda: not is_started)
    monkeypatch.setattr(runner.evaluate, "load_rows", lambda dataset, names: asked.update({dataset: set(names)}))
    cells = Cell("car", "majority", {}, 1.0, 0).repeats(range(5)) + Cell("letter", "majority", {}, 1.0, 0).repeats([0])
    runner._load_for_all(cells, where)
    assert asked == loaded


def test_the_matrix_of_a_table_is_made_for_those_who_ask_for_it():
    evaluate._encode_features.cache_clear()
    evaluate.load_rows("car", ["rdt", "edprf"])  # which take the table as declared
    assert evaluate._encode_features.cache_info().currsize == 0
    evaluate.load_rows("car", ["rdt", "majority"])
    assert evaluate._encode_features.cache_info().currsize == 1
