"""Seeded faults: mistakes that somebody might make, every one of which `make check` must notice.

A fault is a replacement in the source of one function, of text that stands there exactly once: where the code has moved
on, the test says so. Those in plain Python are made in this process and watch a few numbers of one paper. Those in
C++ need a copy of the project with kernels compiled anew, once for all of them; `make faults` runs them.
"""

import inspect
import shutil
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import pytest

from experiments.regression_check.bands import find_differences, name_printed, read_accepted, read_watched_paper
from experiments.regression_check.watch import make_watched_cells
from experiments.run import evaluate
from experiments.store.long_table import long_table
from experiments.store.record import Record
from tests.mutants import NOISE, Mutant, in_kernels, layers

pytestmark = pytest.mark.long

PROJECT = Path(__file__).resolve().parents[1]
CODE = (
    "algorithms",
    "datasets",
    "experiments",
    "hydra_plugins",
    "plots",
    "tests",
    "conf",
    "results/bands",
    "results/reported",
    "pyproject.toml",
)


class Fault(NamedTuple):
    """A mistake in a function, and the watched numbers of a paper that should show it."""

    what: str
    function: str  # module:name; where it is looked up, if that is not where it is defined
    right: str
    wrong: str
    paper: str
    watched: tuple[str, ...]


IN_PYTHON = [
    Fault(
        "budget not divided by T: DiffPETs",
        "algorithms.forests.forest:TwoVariants._tree_epsilon",
        '(1 if self._sampling_rule() == "disjoint" else self.n_estimators)',
        "1",
        "1",
        ("classification: mushroom, diffpets_noisy_labels, epsilon = 0.5",),
    ),
    Fault(
        "budget not divided by T: RFDPP-Gini",
        "algorithms.forests.forest:TwoVariants._tree_epsilon",
        '(1 if self._sampling_rule() == "disjoint" else self.n_estimators)',
        "1",
        "2",
        ("grid: mushroom, rfdpp_gini, max_depth = 8, epsilon = 0.25",),
    ),
    Fault(
        "budget not divided by T: RDT",
        "algorithms.forests.rdt:RDTClassifier._bind_grower",
        "float(self.epsilon) / self.n_estimators",
        "float(self.epsilon)",
        "1",
        ("classification: congvote, rdt, epsilon = 0.5",),
    ),
    Fault(
        "budget not divided by the levels: DiffPRF",
        "algorithms.forests.diffprfs:DiffPRFsClassifier._level_shares",
        "1 / (levels + 1))",
        "1.0)",
        "4",
        ("curves: mushroom, diffprf, epsilon = 0.2",),
    ),
    Fault(
        "a share of the levels that does not add up to 1: DiffPRF_linear",
        "algorithms.forests.diffprf:DiffPRFClassifier._level_shares",
        "parts / parts.sum()",
        "parts / parts.max()",
        "4",
        ("curves: nursery, diffprf_linear_unstopped, epsilon = 1",),
    ),
    Fault(
        "levels of eDPRF upside down",
        "algorithms.forests.edprf:level_budgets",
        "np.arange(max_depth, 0, -1)",
        "np.arange(1, max_depth + 1)",
        "4",
        ("curves: nursery, edprf, epsilon = 0.2",),
    ),
    Fault(
        "disjoint trees that all see all rows: eDPRF",
        "algorithms.forests.edprf:EDPRFClassifier._sampling_rule",
        "self.sampling",
        '"all"',
        "4",
        ("curves: nursery, edprf, epsilon = 1",),
    ),
    Fault(
        "sensitivity 1 instead of 2: FM",
        "algorithms.regression.functional_mechanism:part_sensitivities",
        "ENTRY_OF_M * n_regressors**2, ENTRY_OF_B * n_regressors",
        "n_regressors**2, 2 * n_regressors",
        "3",
        ("comparison: ccpp, fm, epsilon = 1",),
    ),
    Fault(
        "shares of the two parts exchanged: DPBA",
        "algorithms.regression.dpba:in_two_parts",
        "Noise(of_M, epsilon * share), Noise(of_b, epsilon * (1 - share))",
        "Noise(of_M, epsilon * (1 - share)), Noise(of_b, epsilon * share)",
        "3",
        ("comparison: ccpp, dpba, epsilon = 1",),
    ),
    Fault(
        "b of the objective without its factor 2",
        "algorithms.regression.polynomial:objective_of",
        "-2 * b",
        "-b",
        "3",
        ("comparison: ccpp, polynomial_regression, epsilon = 100",),
    ),
    Fault(
        "labels shuffled before training",
        "experiments.run.evaluate:_take_rows",
        "target[rows], None",
        "np.random.default_rng(0).permutation(target[rows]), None",
        "4",
        ("robot: wall_following_robot, tradition, max_depth = 5, no noise",),
    ),
    Fault(
        "measured on the training rows",
        "experiments.run.evaluate:_evaluate_split",
        "= test if",
        "= train if",
        "1",
        ("classification: congvote, extra_trees, epsilon = 1",),
    ),
    Fault(
        "twice the budget handed to the algorithm",
        "experiments.config.estimators:make_estimator",
        "given |= own_epsilon(name)",
        'given |= {"epsilon": 2 * given.get("epsilon", 0)} | own_epsilon(name)',
        "1",
        ("classification: mushroom, rdt, epsilon = 0.5",),
    ),
    Fault(
        "leaves get a ten-thousandth of what they need: PrivaTree, the positive control",
        "algorithms.forests.privatree:PrivaTreeClassifier._make_plan",
        "/ float(self.max_error)",
        "* float(self.max_error)",
        "6",
        ("printed number nursery-privatree-1, 100 %",),
    ),
]


def mutated(function, right, wrong):
    """Return a function made from another's source with one change."""
    source = dedent(inspect.getsource(inspect.unwrap(function)))
    assert source.count(right) == 1, f"{function.__qualname__}: {right!r} stands there {source.count(right)} times"
    scope = dict(inspect.unwrap(function).__globals__)
    exec(compile(source.replace(right, wrong), "<fault>", "exec"), scope)
    return scope[function.__name__]


@cache
def read_accepted_paper(name):
    paper, watched = read_watched_paper(name)
    return paper, watched, read_accepted(name, watched)


def differing(name, wanted):
    """Run a few of the numbers that are watched of a paper, in this process; return those that differ."""
    paper, watched, accepted = read_accepted_paper(name)
    numbers = [number for number in watched.numbers if number.name in wanted]
    must_hold = [number for number in watched.must_hold if name_printed(number) in wanted]
    watched = replace(watched, numbers=numbers, claims=[], must_hold=must_hold)
    assert {number.name for number in numbers} | set(map(name_printed, must_hold)) == set(wanted)
    studies = make_watched_cells(paper, watched, range(watched.repeats))
    records = {cell.key: Record("done", evaluate.evaluate_cell(cell)) for cells in studies.values() for cell in cells}
    differences = find_differences(paper, watched, accepted, long_table(studies, records))
    return [difference.what for difference in differences]


@pytest.fixture
def forgetful(monkeypatch):
    """Splits and sums of this test are those of no other."""
    for name in ("_take_sides", "_summarise_rows"):
        monkeypatch.setattr(evaluate, name, cache(getattr(evaluate, name).__wrapped__))


@pytest.mark.parametrize("fault", IN_PYTHON, ids=[fault.what for fault in IN_PYTHON])
def test_a_fault_is_noticed(fault, monkeypatch, forgetful):
    module, _, path = fault.function.partition(":")
    *owners, name = path.split(".")
    owner = import_module(module)
    for one in owners:
        owner = getattr(owner, one)
    monkeypatch.setattr(owner, name, mutated(getattr(owner, name), fault.right, fault.wrong))
    assert differing(fault.paper, fault.watched)


@pytest.mark.parametrize("paper", sorted({fault.paper for fault in IN_PYTHON}))
def test_without_a_fault_nothing_is_noticed(paper, forgetful):
    wanted = {name for fault in IN_PYTHON if fault.paper == paper for name in fault.watched}
    assert differing(paper, wanted) == []


# ---------------------------------------------------------------------------------------- compiled: make faults

LAPLACE = ("algorithms/native/random.h", "random_laplace(bits, 0.0, scale)")
TWICE = "random_laplace(bits, 0.0, 2.0 * scale)"
COMPILED = [
    Fault(
        "Laplace scale twice as large: DiffPETs",
        *(*LAPLACE, TWICE),
        "1",
        ("classification: mushroom, diffpets_noisy_labels, epsilon = 0.5",),
    ),
    Fault(
        "Laplace scale twice as large: RFDPP-Gini",
        *(*LAPLACE, TWICE),
        "2",
        (
            "grid: mushroom, rfdpp_gini, max_depth = 8, epsilon = 0.25",
            "grid: adult, rfdpp_gini, max_depth = 8, epsilon = 1",
        ),
    ),
    Fault(
        "Laplace scale twice as large: DPBA",
        *(*LAPLACE, TWICE),
        "3",
        ("shares: ccpp, mean of 48 settings, clipped to 0 to 1",),
    ),
    Fault(
        "Laplace scale twice as large: tradition",
        *(*LAPLACE, TWICE),
        "4",
        tuple(f"robot: wall_following_robot, tradition, max_depth = 5, epsilon = {value}" for value in (0.1, 1)),
    ),
    Fault(
        "Laplace scale half as large: RFDPP-Gini",
        *(*LAPLACE, "random_laplace(bits, 0.0, 0.5 * scale)"),
        "2",
        ("grid: adult, rfdpp_gini, max_depth = 8, epsilon = 1", "grid: adult, mean of 9 settings"),
    ),
    Fault(
        "Laplace scale twice as large in leaves drawn on demand: RDT",
        "algorithms/mechanisms.h",
        "return value + noise * (sensitivity / epsilon);",
        "return value + 2.0 * noise * (sensitivity / epsilon);",
        "1",
        ("classification: mushroom, rdt, epsilon = 0.5",),
    ),
    Fault(
        "split selection that ignores the scores: DiffPETs",
        "algorithms/mechanisms.h",
        "weight[i] = measure[i] * std::exp((quality[i] - best) * (epsilon / (2.0 * sensitivity)))",
        "weight[i] = measure[i]",
        "1",
        ("classification: nursery, diffpets, epsilon = 1", "classification: nursery, diffpets_sound, epsilon = 1"),
    ),
    Fault(
        "exponential mechanism without the 2 in its exponent: tradition",
        "algorithms/mechanisms.h",
        "(epsilon / (2.0 * sensitivity))",
        "(epsilon / sensitivity)",
        "4",
        tuple(
            f"robot: wall_following_robot, {name}, max_depth = 5, epsilon = 1"
            for name in ("tradition", "tradition_pf_leaf")
        ),
    ),
    Fault(
        "permute-and-flip with half of its noise: eDPRF",
        "algorithms/mechanisms.h",
        "2.0 * sensitivity / epsilon",
        "sensitivity / epsilon",
        "4",
        ("curves: nursery, edprf, epsilon = 0.2",),
    ),
    Fault(
        "sensitivity 1 instead of 2: splits of eDPRF",
        "algorithms/forests/edprf.h",
        "permute_and_flip(quality, 2.0, epsilon, rng, plan.is_sound)",
        "permute_and_flip(quality, 1.0, epsilon, rng, plan.is_sound)",
        "4",
        ("robot: wall_following_robot, edprf, max_depth = 5, epsilon = 1",),
    ),
    Fault(
        "sensitivity 1 instead of 2: splits of the tradition",
        "algorithms/forests/edprf.h",
        "exponential(quality, measure, 2.0, epsilon, rng, plan.is_sound)",
        "exponential(quality, measure, 1.0, epsilon, rng, plan.is_sound)",
        "4",
        ("robot: wall_following_robot, tradition, max_depth = 5, epsilon = 1",),
    ),
    Fault(
        "sensitivity 2 instead of 1: labels of leaves",
        "algorithms/forests/forest.h",
        "laplace_vector(counts, 1.0, epsilon, rng)",
        "laplace_vector(counts, 2.0, epsilon, rng)",
        "2",
        (
            "grid: mushroom, rfdpp_gini, max_depth = 8, epsilon = 0.25",
            "grid: adult, rfdpp_gini, max_depth = 8, epsilon = 1",
        ),
    ),
    Fault(
        "Gini index without its weight",
        "algorithms/forests/engine/scores.h",
        "count * (count / n - 1.0)",
        "count / n * (count / n - 1.0)",
        "2",
        ("grid: adult, rfdpp_gini, max_depth = 8, no noise",),
    ),
    Fault(
        "rows equal to a cut go right",
        "algorithms/forests/engine/tree.h",
        "column[row] <= code",
        "column[row] < code",
        "1",
        ("classification: mushroom, diffpets, epsilon = 1",),
    ),
    Fault(
        "leaves of a regression at the sum, not the mean",
        "algorithms/forests/diffpets.h",
        "below + above > 0 ? below / (below + above) : 0.5",
        "below",
        "1",
        ("regression: wine_quality, diffpets_regressor_sound, epsilon = 1",),
    ),
]
PROGRAM = """
import sys
from algorithms.native import is_plain
from tests.test_faults import differing
assert not is_plain()
print(*differing(sys.argv[1], sys.argv[2:]), sep="\\n")
"""


MUTANTS = [Mutant(fault.what, NOISE, fault.function, fault.right, fault.wrong, "", ()) for fault in COMPILED]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """The project somewhere else, with all faults in it, of which none is there unless somebody asks."""
    folder = tmp_path_factory.mktemp("project")
    for name in CODE:
        source = PROJECT / name
        copy = shutil.copytree if source.is_dir() else shutil.copyfile
        copy(source, folder / name)
    in_kernels.put_in(MUTANTS, folder)
    return folder


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.name for mutant in MUTANTS])
def test_a_compiled_fault_has_a_place_in_cpp(mutant):
    source = (PROJECT / mutant.file).read_text(encoding="utf-8")
    assert mutant.is_compiled and in_kernels.switched(mutant, 1, source) != source


def test_all_compiled_faults_can_stand_in_one_copy():
    assert in_kernels.list_switched(MUTANTS, PROJECT).keys() == {mutant.file for mutant in MUTANTS}


def run_with(fault, project, *words):
    """Run Python in a copy of the project where a fault is there, or none."""
    number = COMPILED.index(fault) + 1 if fault else 0
    return layers.compiled(project, *words, **{in_kernels.VARIABLE: str(number)})


@pytest.mark.slow
@pytest.mark.parametrize("fault", COMPILED, ids=[fault.what for fault in COMPILED])
def test_a_compiled_fault_is_noticed(fault, project):
    done = run_with(fault, project, "-c", PROGRAM, fault.paper, *fault.watched)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize("paper", sorted({fault.paper for fault in COMPILED}))
def test_without_a_compiled_fault_nothing_is_noticed(paper, project):
    wanted = {name for fault in COMPILED if fault.paper == paper for name in fault.watched}
    done = run_with(None, project, "-c", PROGRAM, paper, *sorted(wanted))
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr[-2000:]


@pytest.mark.slow
def test_the_command_turns_red_and_names_the_setting(project):
    (fault,) = (fault for fault in COMPILED if fault.paper == "3")
    done = run_with(fault, project, "-m", "experiments", "do=check", f"paper={fault.paper}")
    assert done.returncode == 1, done.stderr[-2000:]
    assert fault.watched[0] in done.stdout and "outside" in done.stdout


def test_every_paper_has_faults():
    assert {fault.paper for fault in IN_PYTHON} >= {"1", "2", "3", "4"} <= {fault.paper for fault in COMPILED}
