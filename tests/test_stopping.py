"""What runs for long ends soon after Ctrl-C, on one thread and on several; what fails says so; forks go on."""

import signal
import textwrap
import time

import pytest

from algorithms.native import is_plain
from tests.waiting import wait_for

pytestmark = [pytest.mark.skipif(is_plain(), reason="the Python runs here"), pytest.mark.long]

SOON = 15
"""Seconds: a quarter of one is enough, on a machine that does nothing else; what this is about took minutes."""
BEGIN = """
import math, os, sys, warnings
import numpy as np
import algorithms
from algorithms import Continuous, Domain, Nominal
from experiments.audit.neighbouring_tables import CLASSIFICATION_PAIRS
from experiments.audit.observe.observed_forests import ForestOnTable

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X, y = rng.random((2000, 5)), rng.integers(0, 2, 2000)
domain = Domain(tuple(Continuous(f"c{j}", 0, 1) for j in range(5)), Nominal("y", (0, 1)))

def forest(**parameters):
    return algorithms.RFDPPGiniClassifier(
        math.inf, variant="sound", n_bins=2000, sampling="all", domain=domain, random_state=0, **parameters
    )

def audited(estimator):
    return ForestOnTable(estimator, CLASSIFICATION_PAIRS[0], CLASSIFICATION_PAIRS[0].table, 5)
"""
INTERRUPTED = """
print("begins", file=sys.stderr, flush=True)
try:
    {}
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.fixture
def start(commands):
    """Start lines of Python in a process of their own."""
    return lambda program: commands.start_code(BEGIN + textwrap.dedent(program), "-c")


def wait(process):
    done = process.wait()
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def wait_shortly(process):
    began = time.monotonic()
    found = wait(process)
    assert time.monotonic() - began < SOON
    return found


@pytest.mark.parametrize(
    "work",
    [
        "forest(n_estimators=1, max_depth=16).fit(X, y)",
        "forest(n_estimators=4, max_depth=16, n_jobs=2).fit(X, y)",
        "algorithms.RDTClassifier(1.0, n_estimators=3_000_000, max_depth=3, domain=domain).fit(X, y)",
        "audited(algorithms.RDTClassifier(1.0, n_estimators=20)).observe(0, 1_000_000)",
    ],
    ids=["one tree", "two threads", "many trees", "audit"],
)
def test_long_work_ends_soon_after_ctrl_c(work, start):
    process = start(INTERRUPTED.format(work))
    wait_for(process.read_stderr)
    time.sleep(0.5)  # kernels run then
    process.send_signal(signal.SIGINT)
    assert wait_shortly(process) == ("interrupted\n", "begins\n")


def test_other_threads_end_where_one_has_failed(start):
    program = """
    import threading
    from algorithms.threads import map_in_threads

    begun = threading.Event()

    def work(i):
        if i == 0:
            begun.set()
            return forest(n_estimators=1, max_depth=16).fit(X, y)
        begun.wait()
        raise ZeroDivisionError

    try:
        map_in_threads(2, work, range(2))
    except ZeroDivisionError:
        print("failed")
    """
    assert wait_shortly(start(program)) == ("failed\n", "")


def test_a_handler_of_another_signal_runs_while_a_tree_grows(start):
    program = """
    import signal

    def ring(number, frame):
        raise TimeoutError

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        forest(n_estimators=1, max_depth=16).fit(X, y)
    except TimeoutError:
        print("rang")
    """
    assert wait_shortly(start(program)) == ("rang\n", "")


def test_no_room_is_a_memory_error_and_the_process_goes_on(start):
    program = """
    import resource
    from algorithms.regression.objective import _sum_few_products

    n = 100_000
    wide = Domain(tuple(Nominal(f"c{j}", tuple(range(n))) for j in range(3)), Nominal("y", (0, 1)))
    rows = rng.integers(0, n, (20_000, 3))
    labels = rng.integers(0, 2, 20_000)
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**29, resource.RLIM_INFINITY))
    for n_jobs in (1, 2):
        try:
            algorithms.RDTClassifier(1.0, n_estimators=2, max_depth=9, n_jobs=n_jobs, domain=wide).fit(rows, labels)
        except MemoryError:
            print("no room")
    try:
        _sum_few_products(np.zeros((60_000, 1)))
    except MemoryError:
        print("no room")
    print(len(forest(n_estimators=1, max_depth=3).fit(X, y).trees_))
    """
    assert wait(start(program)) == ("no room\nno room\nno room\n1\n", "")


def test_a_fork_after_threads_grows_the_same_trees(start):
    program = """
    def trees():
        return b"".join(tree.tobytes() for tree in forest(n_estimators=4, max_depth=4, n_jobs=2).fit(X, y).trees_)

    before = trees()
    child = os.fork()
    if child == 0:
        os._exit(int(trees() != before))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), trees() == before)
    """
    assert wait(start(program)) == ("0 True\n", "")
