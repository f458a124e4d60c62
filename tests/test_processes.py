"""How worker processes come to be: forked from a process that is forked from this one, or from a new one."""

import errno
import os
import sys

import pytest

from experiments.run.executors import process_pool
from tests.command_line import exit_code

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform != "linux", reason="other systems start each worker anew"),
]

BEGIN = """
import json, sys, threading, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from experiments.processes import start_server
context = get_context("forkserver")
"""
NOTE = "from experiments import processes; processes.note = 1\n"
HAS_NOTE = "hasattr(__import__('experiments.processes').processes, 'note')"
ASK = f"""
start_server("experiments.processes")
with ProcessPoolExecutor(1, context) as pool:
    print(json.dumps(pool.submit(eval, {HAS_NOTE!r}).result()))
"""


def run(commands, code):
    done = commands.run_code(BEGIN + code, "-c")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout.splitlines()


def test_workers_of_a_process_without_threads_have_what_it_has(commands):
    assert run(commands, NOTE + ASK) == ["true"]


def test_a_process_with_threads_is_not_forked(commands):
    thread = "threading.Thread(target=time.sleep, args=[600], daemon=True).start()"
    assert run(commands, NOTE + thread + ASK) == ["false"]


def test_a_worker_may_have_workers_of_its_own(commands):
    """The server is forked while it is asked for, which nobody else may do meanwhile: a lock that no fork may keep.

    The inner pool is shut down: one left to the end of a worker may wait for ever, with Python's own server, too.
    """
    pool = "__import__('concurrent.futures').futures.ProcessPoolExecutor(1, {}.get_context({!r}))"
    pool = pool.format("__import__('multiprocessing')", "forkserver")
    asked = f"(lambda pool: (pool.submit(int, 42).result(), pool.shutdown())[0])({pool})"
    code = f"""
start_server("experiments.processes")
with ProcessPoolExecutor(1, context) as pool:
    print(pool.submit(eval, {asked!r}).result())
"""
    assert run(commands, code) == ["42"]


def test_what_waits_to_be_written_is_written_once(commands):
    buffered = "sys.stdout = open(1, 'w', closefd=False)\nprint('once')"
    assert run(commands, buffered + ASK) == ["once", "false"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EMFILE])
def test_where_no_worker_can_be_started_a_line_says_what_it_needs(monkeypatch, tmp_path, capsys, number):
    def refuse(*_, **__):
        raise OSError(number, os.strerror(number))  # as where /dev/shm is full or cannot be written

    monkeypatch.setattr(process_pool, "get_reusable_executor", refuse)
    assert exit_code("dataset=car", "algorithm=majority", "repeats=2", f"results={tmp_path}", "executor.jobs=2") == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith(
        f"error: no worker processes can be started ({os.strerror(number)}): they need locks in /dev"
    )
    assert "executor.jobs=1" in last
    assert exit_code("dataset=car", "algorithm=majority", "repeats=2", f"results={tmp_path}", "executor.jobs=1") == 0
