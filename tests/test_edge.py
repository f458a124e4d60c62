"""The edge of a command: streams that are closed or full, locales, signals, and algorithms that print or crash."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments.edge import keep_prints_apart
from experiments.processes import make_environment
from tests.waiting import HANG, wait_for

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[1]
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="has other devices")
METHODS = """
import ctypes, os, threading, time
from sklearn.dummy import DummyClassifier

print("imported")

class Crashes(DummyClassifier):
    def fit(self, X, y):
        ctypes.string_at(0)

class Exits(DummyClassifier):
    def fit(self, X, y):
        os._exit(3)

class Prints(DummyClassifier):
    def fit(self, X, y):
        print("Epoch 1")
        os.write(1, b"Epoch 2\\n")
        ctypes.CDLL(None).puts(b"Epoch 3")
        return super().fit(X, y)

class Leaves(DummyClassifier):
    def fit(self, X, y):
        threading.Thread(target=time.sleep, args=[{hang}]).start()
        return super().fit(X, y)
"""
SWEEP = ("dataset=car", "algorithm=majority", "repeats=1", "executor.jobs=1")


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A folder with algorithms that are not to be trusted."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "algorithm").mkdir()
    (folder / "untrusted.py").write_text(METHODS.replace("{hang}", str(10 * HANG)))
    for name in ("Crashes", "Exits", "Prints", "Leaves"):
        (folder / "algorithm" / f"{name.lower()}.yaml").write_text(f"_target_: untrusted.{name}\n")
    return folder


@pytest.fixture
def run(commands, own, tmp_path):
    """Run a command line with these algorithms; returns the exit code and what it wrote."""

    def run(*words):
        return commands.run_module("experiments", "--config-dir", own, *words, f"results={tmp_path}")

    return run


@pytest.mark.parametrize("algorithm", ["crashes", "exits"])
def test_an_algorithm_that_ends_its_process_is_named_with_one_job_too(algorithm, run):
    done = run("dataset=car", f"algorithm=majority,{algorithm}", "repeats=1", "executor.jobs=1")
    assert done.returncode == 1
    assert "failed in repeat 0: its worker died 2 times, alone" in done.stderr
    assert "Fatal Python error" not in done.stderr and len(done.stderr.splitlines()) < 10
    assert {json.loads(line)["algorithm"] for line in done.stdout.splitlines()} == {"majority"}


def test_an_algorithm_that_crashes_in_a_thread_of_the_command_does_not_end_it_without_a_word(run):
    done = run("dataset=car", "algorithm=crashes", "repeats=1", "executor=threads")
    assert done.returncode == -signal.SIGSEGV and "untrusted.py" in done.stderr


@pytest.mark.parametrize("where", ["executor.jobs=1", "executor.jobs=2", "executor=threads"])
def test_what_an_algorithm_prints_is_no_result(where, run):
    done = run("dataset=car", "algorithm=prints", "repeats=1", where)
    assert done.returncode == 0, done.stderr
    assert {json.loads(line)["algorithm"] for line in done.stdout.splitlines()} == {"prints"}
    assert set(re.findall(r"imported|Epoch \d", done.stderr)) == {"imported", "Epoch 1", "Epoch 2", "Epoch 3"}


def test_what_is_printed_apart_does_not_come_later(capfd):
    with keep_prints_apart():
        print("python")
        os.write(1, b"descriptor\n")
    print("result")
    assert capfd.readouterr() == ("result\n", "python\ndescriptor\n")


@pytest.mark.parametrize("where", ["executor.jobs=1", "executor.jobs=2", "executor=threads"])
def test_a_thread_that_an_algorithm_leaves_running_is_not_waited_for(where, run):
    done = run("dataset=car", "algorithm=leaves", "repeats=1", "output=csv", where)
    assert done.returncode == 0 and "car,leaves," in done.stdout
    assert "Traceback" not in done.stderr


def run_in_shell(line, **variables):
    """Run a line with ``RUN`` for the beginning of a command; returns its exit code, stdout and stderr."""
    line = line.replace("RUN", f"{sys.executable} -m experiments")
    return subprocess.run(
        ["bash", "-c", line], cwd=ROOT, env=make_environment(**variables), capture_output=True, text=True, timeout=HANG
    )


def run_with(commands, before, *words):
    """Run a command in a process forked after its imports, which first runs some lines; returns what it wrote."""
    code = f"import os, runpy, sys\n{before}\nrunpy.run_module('experiments', run_name='__main__', alter_sys=True)"
    return commands.run_code(code, "experiments", *words)


def check_sweep(done, folder):
    assert done.returncode == 0 and "Traceback" not in done.stderr
    assert (folder / "sweeps" / "car-majority" / "report.html").is_file()


@ON_LINUX
def test_streams_that_are_all_closed_cost_no_result(tmp_path):
    check_sweep(run_in_shell(f"RUN {' '.join(SWEEP)} output=csv results={tmp_path} <&- >&- 2>&-"), tmp_path)


@ON_LINUX
@pytest.mark.parametrize(
    "as_it_starts",
    [
        "os.close(1); sys.stdout = None",
        "os.close(2); sys.stderr = None",
        "os.dup2(os.open('/dev/full', os.O_WRONLY), 2)",
    ],
    ids=[">&-", "2>&-", "2>/dev/full"],
)
def test_a_stream_that_is_closed_or_full_costs_no_result(as_it_starts, tmp_path, commands):
    """Python sets a stream that is closed to None."""
    done = run_with(commands, as_it_starts, *SWEEP, "output=csv", f"results={tmp_path}")
    check_sweep(done, tmp_path)
    if "stdout" not in as_it_starts:
        assert "car,majority," in done.stdout


def test_a_help_takes_a_closed_stdout():
    done = run_in_shell("RUN --help >&-")
    assert (done.returncode, done.stderr) == (0, "")


@ON_LINUX
def test_a_reader_that_has_gone_ends_a_command():
    done = run_in_shell("RUN list algorithms | head -1; echo ${PIPESTATUS[0]}; RUN --help >/dev/full; echo $?")
    assert re.fullmatch(r"sound: .*\n[01]\n2\n", done.stdout)
    assert done.stderr == "error: stdout cannot be written (No space left on device)\n"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "koi8-r"])
def test_a_locale_without_our_characters_gets_them_by_number(encoding):
    done = run_in_shell("RUN help audit", PYTHONIOENCODING=encoding)
    assert done.returncode == 0 and r"whether they keep the \u03b5 that they claim" in done.stdout


def test_a_sweep_is_shown_in_any_locale(tmp_path, commands):
    words = ("dataset=car", "algorithm=rdt", "repeats=1", "executor.jobs=1", "output=table", f"results={tmp_path}")
    in_latin_1 = "for stream in (sys.stdout, sys.stderr): stream.reconfigure(encoding='latin-1')"
    done = run_with(commands, in_latin_1, *words)
    assert done.returncode == 0 and r"car, rdt, \u03b5 = 1, 1 run" in done.stdout


@ON_LINUX
def test_signals_that_came_together_end_a_command_without_a_further_line():
    code = "import os, signal; from experiments.edge import Interrupted, _end_on_signals\n"
    code += "signal.signal(signal.SIGINT, signal.SIG_DFL)  # which is ignored in the background of a shell\n"
    code += "_end_on_signals()\n"
    code += "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGINT])\n"
    code += "[os.kill(os.getpid(), number) for number in (signal.SIGTERM, signal.SIGINT)]\n"
    code += "try: signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM, signal.SIGINT])\n"
    code += "except Interrupted as ended: print(ended.number)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"{int(signal.SIGINT)}\n", "")


@ON_LINUX
@pytest.mark.parametrize(
    "dropped", ["Finalized()", "weakref.finalize(Finalized(), interrupt)", "weakref.ref(Finalized(), interrupt)"]
)
def test_a_signal_that_comes_where_python_drops_what_is_raised_ends_the_command_all_the_same(dropped):
    code = f"""\
import os, signal, time, weakref
from experiments.edge import Interrupted, _end_on_signals

def interrupt(*_):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0)

class Finalized:
    def __del__(self):
        if {dropped == "Finalized()"}:
            interrupt()

signal.signal(signal.SIGINT, signal.SIG_DFL)  # which is ignored in the background of a shell
_end_on_signals()
kept = {dropped}
del kept
print("goes on")
try:
    time.sleep({HANG})
except Interrupted as ended:
    print(ended.number)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=HANG)
    assert (done.stdout, done.stderr) == (f"goes on\n{int(signal.SIGINT)}\n", "")


def test_results_go_to_a_folder_whose_name_is_not_utf_8(tmp_path, commands):
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")
    words = ("dataset=car", "algorithm=majority,rdt", "repeats=1", "executor.jobs=1", "output=table")
    done = commands.run_module("experiments", *words, f"results={folder}")
    assert done.returncode == 0 and r"caf\udce9/sweeps/car-majority-rdt/report.html" in done.stdout, done.stderr
    assert r"caf\\udce9" in Path(folder, "sweeps", "car-majority-rdt", "provenance.json").read_text(encoding="utf-8")
    for words in ("export", "paper=demo"):  # which write Parquet
        refused = commands.run_module("experiments", words, f"results={folder}")
        assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1, refused.stderr


def test_the_backend_of_a_notebook_is_not_looked_for(tmp_path):
    words = ("dataset=car", "algorithm=majority", "epsilon=0.1,1", "repeats=1", "executor.jobs=1")
    backend = "module://matplotlib_inline.backend_inline"
    done = run_in_shell(f"RUN {' '.join(words)} results={tmp_path}", MPLBACKEND=backend)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "sweeps" / "car-majority-epsilon" / "figure.png").is_file()


@pytest.mark.system
@pytest.mark.parametrize(
    ("signals", "codes"),
    [
        ([signal.SIGHUP], {129}),
        (5 * [signal.SIGINT], {130}),
        # those that came while the process did something else are handled by their number, not by when they came
        ([signal.SIGTERM, signal.SIGINT, signal.SIGHUP], {143, 130, 129}),
    ],
)
@pytest.mark.parametrize("jobs", [1, 2])
def test_the_first_signal_ends_a_command_and_is_met_by_one_line(signals, codes, jobs, tmp_path, commands):
    words = ("dataset=car", "algorithm=random_forest", "repeats=1000", f"executor.jobs={jobs}", f"results={tmp_path}")
    process = commands.start_module("experiments", *words)
    wait_for(lambda: (tmp_path / "store.sqlite").exists() or process.poll())
    for number in signals:
        process.send_signal(number, to_group=True)
        time.sleep(0.02)
    done = process.wait()
    line = "everything finished so far is kept; run the same command again to go on\n"
    assert (done.stdout, done.stderr) == ("", line)
    assert done.returncode in codes


def test_a_signal_that_is_ignored_from_the_first_is_not_heard(tmp_path):
    """As those of `nohup`, and of Ctrl-C where a shell has put a command into the background."""
    code = "import os, signal; from experiments.edge import run_process"
    code += (
        "; run_process(lambda: [os.kill(os.getpid(), getattr(signal, n)) for n in ('SIGHUP', 'SIGINT')] and print(1))"
    )
    done = run_in_shell(f"trap '' HUP INT; {sys.executable} -c \"{code}\"")
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


@pytest.mark.parametrize("first", ["outside", "inside"])
def test_what_is_registered_for_the_end_of_a_process_is_called(first):
    """Whether it was before the command, as a profiler's, or by what it imports; what stands in a buffer is written."""
    register = "atexit.register(print, 'at the end')"
    outside, inside = (register, "") if first == "outside" else ("", register)
    code = f"import atexit; from experiments.edge import run_process\n{outside}\n"
    code += f"def command():\n    {inside}\n    print('done', end=', ')\nrun_process(command)"
    done = run_in_shell(f'{sys.executable} -c "{code}"', PYTHONUNBUFFERED="")
    assert (done.returncode, done.stdout, done.stderr) == (0, "done, at the end\n", "")


def test_what_code_of_users_left_open_is_written_and_removed(tmp_path):
    """A module of theirs, not of a package that is installed, may rely on Python to end as it does."""
    left = tmp_path / "left"
    (tmp_path / "theirs.py").write_text(
        f"import tempfile\nlog = open({str(left)!r}, 'w')\nlog.write('a line')\n"
        f"kept = tempfile.NamedTemporaryFile(dir={str(tmp_path)!r}, suffix='.tmp')\n"
    )
    code = "from experiments.edge import run_process\nrun_process(lambda: __import__('theirs') and None)"
    done = run_in_shell(f'{sys.executable} -c "{code}"', PYTHONPATH=f"{ROOT}{os.pathsep}{tmp_path}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert left.read_text() == "a line" and list(tmp_path.glob("*.tmp")) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that is always full is Linux's")
@pytest.mark.parametrize("n", [1, 5_000, 100_000])
def test_text_that_a_full_disk_does_not_take_is_missed(n):
    """Where it waits in the buffer when the command has ended, as well as where it does not."""
    code = f"from experiments.edge import run_process\nrun_process(lambda: print({n} * 'x'))"
    done = run_in_shell(f'{sys.executable} -c "{code}" > /dev/full', PYTHONUNBUFFERED="")
    assert done.returncode != 0 and "No space left on device" in done.stderr
