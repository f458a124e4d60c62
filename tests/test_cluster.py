"""A Dask cluster as users have it: processes of their own, which come and go; what is finished stays."""

import itertools
import json
import signal
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from experiments.cells.cell import Cell
from experiments.config.paths import ROOT
from experiments.errors import BadInput
from experiments.run import runner
from experiments.run.executors import cluster as dask_cluster
from experiments.run.executors.executor import Executor
from experiments.run.executors.workers import Workers
from experiments.run.runner import run_cells
from experiments.store.database import Store
from tests.pages import fenced_blocks
from tests.test_survival import finished
from tests.waiting import HANG, wait_for


class Cluster:
    """A Dask scheduler and workers, as `dask scheduler` and `dask worker` start them, each a process of its own."""

    def __init__(self, commands, folder, *words):
        self._commands, self._folder, self._words = commands, folder, ("--no-dashboard", *words)
        self.processes = []
        self.scheduler = self.address = None
        self._numbers = itertools.count()

    def start_scheduler(self):
        """Start one, at another address each time."""
        file = self._folder / f"scheduler-{next(self._numbers)}.json"
        self.scheduler = self._start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", file)
        wait_for(lambda: file.exists() and file.read_text())
        self.address = json.loads(file.read_text())["address"]

    def add_worker(self):
        """Start one, as a node of the cluster does."""
        folder = self._folder / f"worker-{next(self._numbers)}"
        return self._start("dask_worker", self.address, "--nthreads", "1", "--no-nanny", "--local-directory", folder)

    def _start(self, module, *words):
        process = self._commands.start_module(f"distributed.cli.{module}", *words, *self._words)
        self.processes.append(process)
        return process

    def kill(self, *processes):
        """Kill processes as a machine does that fails."""
        for process in processes:
            process.send_signal(signal.SIGKILL)
            process.wait()


@pytest.fixture
def make_cluster(commands, tmp_path):
    """Make a cluster with its scheduler; words are passed on to both commands."""
    made = []

    def make(*words):
        cluster = Cluster(commands, tmp_path, *words)
        made.append(cluster)
        cluster.start_scheduler()
        return cluster

    yield make
    for cluster in made:
        cluster.kill(*cluster.processes)


@pytest.fixture
def certificates(tmp_path):
    """Make a certificate that vouches for itself; yields its file and that of its key."""
    files = tmp_path / "certificate.pem", tmp_path / "key.pem"
    words = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=cluster"]
    subprocess.run(["openssl", "req", *words, "-out", files[0], "-keyout", files[1]], check=True, capture_output=True)
    return files


def forests(n):
    """Return cells that take about a tenth of a second each: a run of them can be caught on its way."""
    return [Cell("car", "random_forest", {"n_estimators": 30, "max_depth": None}, 1.0, repeat) for repeat in range(n)]


def metrics(cells, store):
    return {key: record.measured.metrics for key, record in store.get([cell.key for cell in cells]).items()}


@pytest.mark.system
def test_workers_come_and_go_and_a_scheduler_is_killed(commands, make_cluster, certificates, tmp_path):
    """With certificates, named to the command as Dask's own configuration names them."""
    certificate, key = map(str, certificates)
    cluster = make_cluster(
        "--protocol", "tls", "--tls-ca-file", certificate, "--tls-cert", certificate, "--tls-key", key
    )
    tls = "DASK_DISTRIBUTED__COMM__TLS__"
    named = {f"{tls}CA_FILE": certificate, f"{tls}CLIENT__CERT": certificate, f"{tls}CLIENT__KEY": key}
    results, cells = tmp_path / "results", forests(60)

    def start():
        words = ("dataset=car", "algorithm=random_forest", "algorithm.n_estimators=30", "epsilon=1", "repeats=60")
        where = ("executor=dask", f"executor.address={cluster.address}", f"results={results}")
        return commands.start_module("experiments", *words, *where, **named)

    first = start()
    wait_for(lambda: (results / "store.sqlite").exists() or first.poll())  # there is no worker yet
    leaving = cluster.add_worker()
    wait_for(lambda: finished(results) or first.poll())
    cluster.add_worker()
    cluster.kill(leaving)
    before = finished(results)
    wait_for(lambda: finished(results) > before or first.poll())
    cluster.kill(cluster.scheduler)
    done = first.wait()
    said = [line for line in done.stderr.splitlines() if "of 60 cells" not in line and line]
    gone = f"error: executor.address: the Dask scheduler at {cluster.address} has gone; start it again, then the same "
    assert (done.returncode, said) == (2, [f"{gone}command: everything finished is kept"])
    kept = finished(results)
    assert before < kept < len(cells)
    cluster.start_scheduler()
    cluster.add_worker()
    second = start().wait()
    assert second.returncode == 0, second.stderr
    assert f"{kept} cells reused from the store, {len(cells) - kept} to run" in second.stderr
    with Store(tmp_path / "here.sqlite") as here, Store(results / "store.sqlite") as there:
        run_cells(cells[:5], here, Executor(jobs=1))
        assert metrics(cells[:5], here) == metrics(cells[:5], there)


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch):
    monkeypatch.setattr(dask_cluster, "_SECONDS_TO_ANSWER", 0.5)
    nobody = Executor("dask", address="tcp://127.0.0.1:9")
    with pytest.raises(BadInput, match="no Dask scheduler answers at tcp://127") as caught, nobody.open_workers():
        pass
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "said"),
    [(8786, "must be like tcp://10"), ("tls://127.0.0.1:9", "certificates are named by distributed.comm.tls")],
)
def test_an_address_that_cannot_be_used_is_explained(address, said):
    with pytest.raises(BadInput, match=said), Executor("dask", address=address).open_workers():
        pass


def test_a_worker_with_other_code_is_found_out():
    cell = Cell("car", "majority", {}, 1.0, 0)
    cell.__dict__["key"] = "of another version"
    (record,), *_ = dask_cluster._run_chunk_on_cluster([cell], None, {})
    assert record.status == "failed" and "other code, libraries or data" in record.error


class Absent:
    """Is pickled here; where it is unpacked its module is missing."""

    def __reduce__(self):
        return __import__, ("no_such_project",)


@pytest.fixture
def client():
    """What stands for a client of Dask with two workers; they are threads."""
    with ThreadPoolExecutor(2) as pool:
        yield SimpleNamespace(status="running", get_executor=lambda pure: pool, nthreads=lambda: {"a": 1, "b": 1})


def test_workers_without_this_project_say_so(client):
    cluster = dask_cluster._Cluster(client, Executor("dask"))
    assert cluster.submit(pow, 2, 5).result() == 32
    with pytest.raises(BadInput, match=r"cannot run cells .*'no_such_project'.; install there what is installed here"):
        cluster.submit(print, Absent()).result()


def test_whatever_is_asked_of_a_scheduler_that_has_gone_says_so(client):
    lost = Future()
    lost.cancel()
    lost.set_running_or_notify_cancel()
    client.get_executor = lambda pure: SimpleNamespace(submit=lambda *_: lost)
    cluster, gone = (
        dask_cluster._Cluster(client, Executor("dask", address="tcp://host:1")),
        "tcp://host:1 has gone; start",
    )
    with pytest.raises(BadInput, match=gone):
        cluster.submit(pow, 2, 5).result()
    client.nthreads = lambda: open("/no/such/file")  # noqa: SIM115 - an OSError, as of a connection
    with pytest.raises(BadInput, match=gone):
        cluster.count_threads()
    client.status = "connecting"
    for ask in (cluster.count_threads, lambda: cluster.submit(pow, 2, 5)):
        with pytest.raises(BadInput, match=gone):
            ask()


def test_a_time_limit_needs_workers_of_one_thread_each(client):
    assert dask_cluster._Cluster(client, Executor("dask", time_limit=1)).count_threads() == 2
    client.nthreads = lambda: {"a": 2, "b": 2}
    assert dask_cluster._Cluster(client, Executor("dask")).count_threads() == 4
    with pytest.raises(BadInput, match="one thread each: dask worker --nthreads 1"):
        dask_cluster._Cluster(client, Executor("dask", time_limit=1)).count_threads()


def test_chunks_are_handed_out_to_as_many_workers_as_there_are():
    handed_out, count = [], iter([0, 3, 1, 1, 1])

    def submit(_, chunk, __):
        handed_out.append(chunk)
        future = Future()
        future.set_result(None)
        return future

    workers = Workers(Executor("dask"), lambda: SimpleNamespace(submit=submit), None, lambda: next(count))
    results = runner._hand_out(iter([[number] for number in range(20)]), workers)
    seen = [(next(results), len(handed_out))[1] for _ in range(10)]
    assert seen == [1] + 6 * [7] + [8, 9, 10]


def test_chunks_take_longer_where_there_are_many_workers():
    """A scheduler passes on a few hundred chunks a second, whatever they hold."""
    sizes = []
    for n_workers in (16, 1200):
        queue = runner.CellQueue(forests(20_000), n_workers)
        queue.note_seconds(forests(4), 4.0)
        sizes.append(len(next(queue.take_chunks())))
    assert sizes == [1, 6]


@pytest.mark.long
def test_the_script_with_dask_jobqueue_runs_a_paper_on_its_cluster(tmp_path):
    """With a worker of this machine in place of 32 of Slurm, and a small paper."""
    (script,) = fenced_blocks((ROOT / "docs" / "executors.md").read_text(encoding="utf-8"), "py")
    run = f'dr.run_paper("demo", repeats=1, results={str(tmp_path / "results")!r},'
    assert script.count("dr.run_paper(2,") == 1
    (tmp_path / "script.py").write_text(script.replace("dr.run_paper(2,", run), encoding="utf-8")
    (tmp_path / "dask_jobqueue.py").write_text(
        """from distributed import LocalCluster

class SLURMCluster(LocalCluster):
    def __init__(self, cores, processes, memory, walltime):
        super().__init__(n_workers=0, threads_per_worker=cores, memory_limit=memory, dashboard_address=None)

    def scale(self, jobs):
        super().scale(min(jobs, 1))
""",
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stderr
    claims = json.loads((tmp_path / "results" / "paper-demo" / "claims.json").read_text(encoding="utf-8"))
    assert claims["cells"] == claims["cells_expected"] == finished(tmp_path / "results") > 0


def test_the_script_for_slurm_runs_the_command_on_its_workers(tmp_path):
    """With stand-ins for Slurm, Dask and the command: what is started, with which words, and that nothing stays."""
    (script,) = fenced_blocks((ROOT / "docs" / "executors.md").read_text(encoding="utf-8"), "bash")
    programs = {
        "cells.sbatch": script,
        "srun": '#!/bin/bash\nexec "$@"\n',
        "dask": """#!/bin/bash
            echo "$@" >> started
            [ "$1" = worker ] && exec sleep 60
            sleep 0.3
            echo '{"type": "Scheduler", "address": "tcp://10.0.0.1:8786", "workers": {}}' > scheduler-7.json
            exec sleep 60""",
        "dp-replica": '#!/bin/bash\nwhile ! grep -q worker started; do sleep 0.1; done\necho "$@"\nexit 1\n',
    }
    for name, text in programs.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "SLURM_JOB_ID": "7"}
    words = ["./cells.sbatch", "paper=2", "results=/my results"]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=HANG)
    assert done.stderr == "" and done.returncode == 1  # that of the command
    assert done.stdout == "paper=2 results=/my results executor=dask executor.address=tcp://10.0.0.1:8786\n"
    started = sorted((tmp_path / "started").read_text().splitlines())
    assert [line.split()[0] for line in started] == ["scheduler", "worker"]
    assert all(f"--scheduler-file {tmp_path}/scheduler-7.json" in line for line in started)
    assert not (tmp_path / "scheduler-7.json").exists()
