"""The cache of machine code: other code, other machine code; other words, the same."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pandas as pd
import pytest
from numba.core.compiler import Flags
from numba.core.runtime import _nrt_python, rtsys
from numba.core.target_extension import jit_registry

import algorithms
from algorithms.forests.forest import PrivateForest
from algorithms.jit import _QuicklyComparedFlags, uncounted
from algorithms.jit import compiled as compiled_here
from algorithms.kept_code import compile_alone
from tests import forks

PROGRAM = """
import numpy as np
from algorithms import mechanisms
print(mechanisms.laplace(1.0, 1.0, np.inf, np.random.default_rng(0)))
"""
LEAF = """
import numpy as np
from algorithms.jit import compiled
from algorithms.mechanisms import laplace_of

@compiled
def label(value):
    return laplace_of(np.uint64(7), value, 1.0, np.inf) if value < 0 else mean(value)

@compiled
def mean(value):
    return 0.5 * value
"""

ROOTS = """
import numpy as np
from numba import njit
from algorithms.jit import compiled

@compiled
def root(value):
    if value < 0:
        raise ValueError("no root of", value)
    return np.sqrt(value)

@compiled
def twice(value):
    return 2 * root(value)

@compiled
def thrice(value):
    return 3 * root(value)

@njit
def fourfold(value):
    return 4 * root(value)
"""
TAKE_ROOTS = """
from algorithms.forests import roots
function = roots.{function}
try:
    function(-1.0)
except ValueError as error:
    print(error.args[1] * function(4.0))
else:
    raise SystemExit("nothing was raised")
"""

HOLDS = """
from algorithms.jit import compiled

@compiled
def double(value):
    return 2 * value

@compiled
def triple(value):
    return 3 * value

def hold(function):
    return compiled(lambda value: function(value))
"""
CALL_HELD = """
from algorithms.forests import holds
{before}
print(holds.hold({held})(7.0))
"""


def copy_package(folder):
    """Put the package somewhere else; its first file is emptied, so that importing one module imports only that."""
    source = Path(algorithms.__file__).parent
    shutil.copytree(source, folder / "algorithms", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "algorithms" / "__init__.py").write_text("")
    return folder


@pytest.fixture
def copy(tmp_path):
    return copy_package(tmp_path)


@pytest.fixture(scope="module")
def compiled_once(tmp_path_factory):
    """A copy in which the function has been called, and what came out and was said."""
    folder = copy_package(tmp_path_factory.mktemp("compiled"))
    return folder, run(folder)


@pytest.fixture
def compiled(compiled_once, tmp_path):
    """A copy of this copy, machine code included."""
    return Path(shutil.copytree(compiled_once[0], tmp_path, dirs_exist_ok=True))


def start(folder, program=PROGRAM, **environment):
    """Begin to compile and call one function in a process of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    return subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=folder,
        env=kept | {"PYTHONPATH": str(folder)} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    """Return what a process has computed, and what it said."""
    out, err = process.communicate()
    assert process.returncode == 0, err
    return float(out), err


def run(folder, program=PROGRAM, **environment):
    return finish(start(folder, program, **environment))


@pytest.fixture(scope="module")
def run_forked(tmp_path_factory):
    """What runs programs in processes that are forked from one in which Numba has compiled something, but none of ours.

    To come as far takes as long as to compile one of the functions here.
    """
    folder = tmp_path_factory.mktemp("origin")
    (folder / "something_else.py").write_text("import numba\nnumba.njit(lambda: 0)()\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    origin = forks.Origin(("something_else", "numpy"), folder, environment=environment)

    def run(folder, program=PROGRAM):
        done = origin.run_code(program, "-c", PYTHONPATH=str(folder))
        assert done.returncode == 0, done.stderr
        return float(done.stdout), done.stderr

    yield run
    origin.close()


NUMBERS = """
import os
from numba.core.bytecode import FunctionIdentity
import algorithms.jit
fork = os.fork()
os.write(1, b'%d\\n' % FunctionIdentity.from_function(lambda: 0).unique_id)
if fork:
    os.wait()
"""


def test_no_two_processes_give_code_the_same_name():
    """Not even forks of one process, which count on alike: code that both keep may be linked into one function."""
    given = [subprocess.check_output([sys.executable, "-c", NUMBERS], text=True).split() for _ in range(2)]
    assert len(set(given[0] + given[1])) == 4


def machine_code(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*.nbc")}


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_machine_code_is_kept_and_compiling_is_said_once(compiled_once, compiled):
    _, (result, said) = compiled_once
    assert result == 1.0 and said.count("compiling machine code") == 1
    written = machine_code(compiled / ".cache")
    assert written
    assert run(compiled) == (1.0, "")
    assert machine_code(compiled / ".cache") == written, "nothing is compiled twice"


def test_words_compile_nothing(compiled, run_forked):
    written = machine_code(compiled / ".cache")
    mechanisms = compiled / "algorithms" / "mechanisms.py"
    edit(mechanisms, '"""Add Laplace noise of scale', '"""Say something else,\n\n    on more lines, of scale')
    edit(mechanisms, "\n@compiled\ndef laplace(", "\n# A comment moves the lines.\n\n@compiled\ndef laplace(")
    with (compiled / "algorithms" / "regression" / "moments.py").open("a") as file:
        file.write("ANOTHER = 1\n")  # code, but not of this function
    assert run_forked(compiled) == (1.0, "")
    assert machine_code(compiled / ".cache") == written


def test_other_code_in_the_file_is_compiled(compiled, run_forked):
    edit(compiled / "algorithms" / "mechanisms.py", "        return value\n", "        return value + 1\n")
    result, said = run_forked(compiled)
    assert result == 2.0 and said


def test_other_code_in_a_file_that_is_called_is_compiled(copy, run_forked):
    forests = copy / "algorithms" / "forests"
    (forests / "leaf.py").write_text(LEAF)
    program = "from algorithms.forests.leaf import label; print(label(-1.0))"
    assert run_forked(copy, program)[0] == -1.0
    edit(copy / "algorithms" / "mechanisms.py", "        return value\n", "        return value + 1\n")
    assert run_forked(copy, program)[0] == 0.0


def test_what_compiled_functions_call_can_be_called_from_python_too(copy, run_forked):
    (copy / "algorithms" / "forests" / "leaf.py").write_text(LEAF)
    program = "from algorithms.forests.leaf import label, mean; print(label(8.0) + mean(label(8.0)))"
    assert run_forked(copy, program)[0] == 6.0


def test_what_a_compiled_function_calls_is_kept_and_may_fail(copy, run_forked):
    (copy / "algorithms" / "forests" / "roots.py").write_text(ROOTS)
    twice, thrice = (TAKE_ROOTS.format(function=name) for name in ("twice", "thrice"))
    result, said = run_forked(copy, twice)
    assert result == -4.0 and said
    assert run_forked(copy, twice) == (-4.0, ""), "as it was kept"
    written = machine_code(copy / ".cache")
    assert run_forked(copy, thrice)[0] == -6.0, "with what was kept of the function that it calls"
    new = {path.name.split("-")[0] for path, _ in machine_code(copy / ".cache").items() - written.items()}
    assert new == {"thrice"}


def test_what_others_compile_may_call_a_compiled_function(copy, run_forked):
    (copy / "algorithms" / "forests" / "roots.py").write_text(ROOTS)
    fourfold = TAKE_ROOTS.format(function="fourfold")
    assert run_forked(copy, fourfold)[0] == -8.0
    assert run_forked(copy, fourfold) == (-8.0, ""), "as it was kept"


def test_what_numba_compiled_for_ours_serves_others_as_ever():
    @compiled_here
    def add_zeros(n):
        return np.zeros(n).sum()

    assert add_zeros(3) == 0.0 and "generic" not in jit_registry

    @numba.njit
    def add_theirs(n):
        return np.zeros(n).sum() + np.empty(n, dtype=np.int64).shape[0]

    assert add_theirs(3) == 3.0
    for adding in (add_zeros, add_theirs):
        with pytest.raises(ValueError, match="negative dimensions"):
            adding(-1)


def test_options_are_equal_where_numbas_are():
    options = [Flags() for _ in range(4)]
    options[1].nrt = True
    options[2].nrt = False  # which is what it is anyway
    options[3].nrt = options[3].enable_pyobject = True
    for one in options:
        for other in options:
            ours, others = _QuicklyComparedFlags(one), _QuicklyComparedFlags(other)
            assert (ours == others) is (ours == other) is (one == others) is (one == other)
            assert one != other or hash(ours) == hash(other)


def test_only_what_python_calls_is_made_machine_code_of():
    @compiled_here
    def half(value):
        return value / 2

    @compiled_here
    def quarter(value):
        return half(half(value))

    assert quarter(8.0) == 2.0 and not half.overloads
    (called,) = half._twin.overloads.values()
    (calling,) = quarter.overloads.values()
    assert called.library.get_pointer_to_function(called.fndesc.llvm_func_name) == 0
    assert calling.library.get_pointer_to_function(calling.fndesc.llvm_func_name) != 0


def test_of_two_processes_one_compiles(copy):
    first, second = start(copy), start(copy)
    (result, said), (other_result, other_said) = finish(first), finish(second)
    assert result == other_result == 1.0
    assert len(list((copy / ".cache").rglob("laplace-*.nbc"))) == 1
    assert (said + other_said).count("compiling") == 1


def test_another_function_is_compiled_meanwhile(copy, run_forked):
    forests, folder = copy / "algorithms" / "forests", copy / ".cache" / "numba"
    (forests / "roots.py").write_text(ROOTS)
    folder.mkdir(parents=True)
    thrice = SimpleNamespace(__module__="algorithms.forests.roots", __qualname__="thrice")
    with compile_alone(thrice, folder), compile_alone(thrice, folder):
        assert run_forked(copy, TAKE_ROOTS.format(function="twice"))[0] == -4.0


def test_a_folder_from_the_environment_and_no_compilation_at_all(copy):
    elsewhere = copy / "elsewhere"
    assert run(copy, NUMBA_CACHE_DIR=str(elsewhere))[0] == 1.0
    assert machine_code(elsewhere) and not (copy / ".cache").exists()
    assert run(copy, NUMBA_DISABLE_JIT="1") == (1.0, "")
    assert not (copy / ".cache").exists()


OFFERED = [getattr(algorithms, name) for name in algorithms.__all__]
FORESTS = [offered for offered in OFFERED if isinstance(offered, type) and issubclass(offered, PrivateForest)]
SOUND = [(forest, {"variant": "sound"}) for forest in FORESTS if "variant" in forest().get_params()]


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::algorithms.PrivacyLeakWarning")
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="plain Python takes care of its memory")
@pytest.mark.parametrize(("forest", "variant"), [*((forest, {}) for forest in FORESTS), *SOUND])
def test_a_fit_gives_back_the_memory_that_it_took(forest, variant):
    X, y = pd.DataFrame(np.random.default_rng(0).random((400, 4)), columns=list("abcd")), np.arange(400) % 2
    X["e"] = np.where(X["d"] < 0.5, "low", "high")
    held = []
    _nrt_python.memsys_enable_stats()
    for _ in range(3):
        forest(10.0, random_state=0, **variant).fit(X, y)
        stats = rtsys.get_allocation_stats()
        held.append(stats.mi_alloc - stats.mi_free)
    assert stats.mi_alloc > 0 and held[0] == held[1] == held[2]


def test_what_is_not_counted_is_the_value_itself():
    numbers, rng = np.arange(3.0), np.random.default_rng(0)

    @numba.njit
    def take(value):
        inner, rng, two = uncounted(value)
        return inner[0][1:].sum() + two + 0.0 * rng.random()

    held = sys.getrefcount(numbers)
    assert take(((numbers,), rng, 2)) == 5.0 == take.py_func(((numbers,), rng, 2))
    assert sys.getrefcount(numbers) == held and rng.random() == np.random.default_rng(0).random(3)[2]


def test_what_a_compiled_function_holds_is_part_of_it(copy, run_forked):
    """Its code is told by the names of what it holds, and is kept only where changes of that are noticed."""
    path = copy / "algorithms" / "forests" / "holds.py"
    path.write_text(HOLDS)
    double, triple = (CALL_HELD.format(before="", held=f"holds.{name}") for name in ("double", "triple"))
    results = [run_forked(copy, program) for program in (double, triple, double)]
    assert [result for result, _ in results] == [14.0, 21.0, 14.0]
    assert [bool(said) for _, said in results] == [True, True, False]
    edit(path, "2 * value", "20 * value")
    assert run_forked(copy, double)[0] == 140.0
    for factor in (5, 6):  # of a program, whose code no version knows
        before = f"mine = holds.compiled(lambda value: {factor} * value)"
        assert run_forked(copy, CALL_HELD.format(before=before, held="mine"))[0] == 7.0 * factor


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_file_of_locks_stays_open(tmp_path):
    """A process that is forked later closes what it has inherited, and would lock whatever has that number then."""

    def is_open():
        return any(os.path.realpath(link) == str(tmp_path / "lock") for link in Path("/proc/self/fd").iterdir())

    with compile_alone(copy_package, tmp_path):
        with compile_alone(machine_code, tmp_path):
            assert is_open()
        assert is_open(), "the outer lock holds"
    assert not is_open()
