"""Tasks that judge and draw: run anywhere, in their order, survived by whoever asked; the same answers."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from threading import Lock
from types import SimpleNamespace

import pytest

from experiments.errors import BadInput
from experiments.judge.tasks import run_here
from experiments.run.executors import cluster, task_runner
from experiments.run.executors.executor import Executor
from experiments.run.executors.task_runner import TaskRunner


@pytest.fixture
def runner(monkeypatch):
    """A runner that sends all tasks to two processes."""
    monkeypatch.setattr(task_runner, "_SECONDS_HERE", 0)
    return TaskRunner(Executor(jobs=2))


def note(folder: Path, number: int) -> int:
    """Leave a file, and return the process that left it."""
    (folder / f"{number}-{len(list(folder.iterdir()))}").touch()
    return os.getpid()


def test_answers_come_in_the_order_of_their_tasks(runner):
    squares = [partial(pow, number, 2) for number in range(50)]
    assert runner.run(squares) == run_here(squares) == TaskRunner(Executor(jobs=1)).run(squares)


def test_tasks_run_in_other_processes(runner, tmp_path):
    assert os.getpid() not in runner.run([partial(note, tmp_path, number) for number in range(4)])
    one = TaskRunner(Executor(jobs=1))
    assert set(one.run([partial(note, tmp_path, number) for number in range(4)])) == {os.getpid()}


def test_an_answer_is_made_once(runner, tmp_path):
    asked = [partial(note, tmp_path, number) for number in (0, 1, 1)]
    first = runner.answer(asked)
    assert runner.answer(asked[1:]) == first[1:] and len(list(tmp_path.iterdir())) == 2
    runner.run(asked[:1])
    assert len(list(tmp_path.iterdir())) == 3  # what does something is done whenever it is asked for


def die_elsewhere(home: int) -> str:
    if os.getpid() != home:
        os._exit(1)
    return "done"


def test_a_task_whose_process_dies_is_run_here(runner):
    assert runner.run([partial(die_elsewhere, os.getpid()), partial(str, "other")]) == ["done", "other"]
    assert runner.run([partial(str, "next"), partial(str, "one")]) == ["next", "one"]


def test_a_task_is_begun_beside_what_this_process_does(runner, tmp_path):
    begun = runner.begin(partial(note, tmp_path, 1))
    assert begun.wait() != os.getpid() and begun.is_done and len(list(tmp_path.iterdir())) == 1
    here = TaskRunner(Executor(jobs=1)).begin(os.getpid)
    assert here.is_done and here.wait() == os.getpid()
    for failing in (runner, TaskRunner(Executor(jobs=1))):
        begun = failing.begin(partial(int, "none"))
        with pytest.raises(ValueError, match="invalid literal"):
            begun.wait()
    dying, other = runner.begin(partial(die_elsewhere, os.getpid())), runner.begin(partial(str, 3))
    assert (dying.wait(), other.wait()) == ("done", "3")


def wait_elsewhere(home: int) -> str:
    if os.getpid() != home:
        time.sleep(60)
    return "done"


def test_a_begun_task_is_done_whatever_ends_the_processes(runner):
    begun = runner.begin(partial(wait_elsewhere, os.getpid()))
    with pytest.raises(ValueError, match="something else"), Executor(jobs=2).open_workers():
        raise ValueError("something else failed")
    assert begun.wait() == "done"


def test_functions_without_a_name_are_run_whenever_they_are_asked(runner):
    asked = [0]
    assert runner.answer([lambda: asked[0], partial(str, 3)]) == [0, "3"]
    asked[0] = 1
    assert runner.answer([lambda: asked[0], partial(str, 3)]) == [1, "3"]


def test_what_cannot_be_sent_is_run_here(runner):
    lock = Lock()
    assert runner.run([lambda: lock.locked(), partial(str, 3)]) == [False, "3"]


def test_a_task_that_fails_says_so(runner):
    with pytest.raises(ValueError, match="invalid literal"):
        runner.run([partial(int, "no number"), partial(int, "1")])


def test_no_thread_runs_tasks_and_no_cluster(monkeypatch, tmp_path):
    monkeypatch.setattr(task_runner, "_SECONDS_HERE", 0)
    monkeypatch.setattr(cluster, "connect_to_dask", None)
    asked = [partial(note, tmp_path, number) for number in range(4)]
    assert set(TaskRunner(Executor("threading", 2)).run(asked)) == {os.getpid()}
    assert os.getpid() not in TaskRunner(Executor("dask", 2)).run(asked)


@pytest.fixture
def on_cluster(monkeypatch):
    """A runner with a Dask cluster, for whose workers threads stand."""
    with ThreadPoolExecutor(2) as pool:
        client = SimpleNamespace(status="running", get_executor=lambda pure: pool, nthreads=lambda: {"one": 2})
        monkeypatch.setattr(cluster, "connect_to_dask", lambda where: nullcontext(client))
        monkeypatch.setattr(task_runner, "_SECONDS_HERE", 0)
        yield TaskRunner(Executor("dask", address="tcp://host:8786"))


def test_workers_of_a_cluster_that_runs_answer(on_cluster):
    names = on_cluster.run([partial(tell_where)] * 4)
    assert {process for process, _ in names} == {os.getpid()}
    assert threading.main_thread().name not in {thread for _, thread in names}
    assert on_cluster.answer([partial(pow, number, 2) for number in range(20)]) == [n**2 for n in range(20)]


def tell_where() -> tuple[int, str]:
    return os.getpid(), threading.current_thread().name


def test_a_worker_with_other_code_gives_no_answer(on_cluster, monkeypatch):
    versions = iter("abcdefghi")
    monkeypatch.setattr(task_runner, "hash_installation", lambda folders: next(versions))
    assert os.getpid() not in {process for process, _ in on_cluster.run([partial(tell_where)] * 2)}


def test_without_the_cluster_processes_of_this_machine_answer(on_cluster, monkeypatch):
    asked = []

    def refuse(where):
        asked.append(where.address)
        raise BadInput("it has gone")

    monkeypatch.setattr(cluster, "connect_to_dask", refuse)
    for _ in range(2):
        assert os.getpid() not in {process for process, _ in on_cluster.run([partial(tell_where)] * 2)}
    assert asked == ["tcp://host:8786"]  # and not again


def test_what_a_cluster_cannot_answer_is_said_here(on_cluster):
    lock = Lock()
    assert on_cluster.run([lambda: lock.locked(), partial(str, 3)]) == [False, "3"]
    with pytest.raises(ValueError, match="invalid literal"):
        on_cluster.run([partial(int, "no number"), partial(int, "1")])
