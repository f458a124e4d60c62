"""What may notice a mutant: the replay and exact laws, tests that name privacy, the black box, all tests, the bands.

Each layer is asked in a copy of the project, in a process of its own. What raises where nothing did is noticed, too.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from algorithms.native import PLAIN
from tests.mutants import ACCOUNT, BOUNDS, BUDGET, DOOR, EXACT, PARTS, READING, SENSITIVITY, SHARED, Mutant, mutated

PROJECT = Path(__file__).resolve().parents[2]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv*", ".cache", ".*_cache", "data", "reference")

PRIVACY_TESTS = (
    "tests/test_monotone.py",
    "tests/test_mechanisms.py",
    "tests/test_accounting.py",
    "tests/test_noise_is_used_once.py",
    "tests/test_no_exact_count_decides.py",
    "tests/test_parts.py",
    "tests/test_secure.py",
    "tests/test_released.py",
    "tests/test_domain.py",
    "tests/test_reading.py",
    "tests/test_release_path.py",
    "tests/test_audit_replay.py",
    "tests/test_moments.py",
    "tests/test_audit_exact.py",
    "tests/test_independent_account.py",
    "tests/test_scores.py::test_no_record_moves_a_score_by_more_than_the_sensitivity",
    "tests/test_scores.py::test_no_record_moves_the_score_of_numbers_by_more_than_its_sensitivity",
    "tests/test_thrifty.py::test_class_counts_move_by_1_together",
    "tests/test_thrifty.py::test_worth_is_what_is_enumerated",
    "tests/test_thrifty.py::test_separation_is_what_is_enumerated",
    "tests/test_thrifty.py::test_separation_moves_by_1_either_way_and_costs_its_epsilon",
    "tests/test_thrifty.py::test_a_score_grows_by_0_to_1_with_a_record",
    "tests/test_thrifty.py::test_a_question_costs_its_epsilon_where_a_record_comes_or_goes_and_more_where_one_is_replaced",
    "tests/test_thrifty_forest.py::test_nothing_but_noisy_numbers_and_choices_decides_what_a_tree_is",
    "tests/test_thrifty_regressor.py::test_a_score_grows_by_0_to_1_with_a_record",
    "tests/test_thrifty_regressor.py::test_a_record_adds_1_to_the_sums_of_a_look_and_1_to_the_shares_of_one_code",
    "tests/test_thrifty_regressor.py::test_sums_have_the_same_bits_in_any_order_of_the_records",
    "tests/test_thrifty_regressor.py::test_a_question_costs_its_epsilon_where_a_record_comes_or_goes_and_more_where_one_is_replaced",
    "tests/test_thrifty_bayes.py::test_a_record_is_in_one_cell_of_each_feature",
    "tests/test_thrifty_bayes.py::test_the_scores_are_what_the_choice_is_told_and_grow_by_0_to_1",
    "tests/test_thrifty_bayes.py::test_no_sequence_of_choices_costs_more_than_their_share_and_one_nearly_as_much",
    "tests/test_thrifty_bayes.py::test_the_plan_spends_the_budget",
    "tests/test_thrifty_bayes.py::test_the_mechanisms_are_called_as_the_ledger_says",
    "tests/test_thrifty_bayes.py::test_what_is_public_decides_what_is_counted",
    "tests/test_thrifty_means.py::test_a_record_moves_each_number_of_its_class_by_at_most_1_and_one_by_exactly_1",
    "tests/test_thrifty_means.py::test_the_mechanism_is_told_1_and_the_whole_budget_for_each_class",
    "tests/test_thrifty_means.py::test_the_mechanism_is_called_as_the_ledger_says",
    "tests/test_thrifty_means.py::test_nothing_but_noisy_numbers_decides_what_the_model_is",
    "tests/test_thrifty_means.py::test_sums_have_the_same_bits_in_any_order_of_the_records",
    "tests/test_thrifty_pairs.py::test_scores_are_those_by_hand_and_the_calls_are_told_what_they_cost",
    "tests/test_thrifty_pairs.py::test_a_record_raises_scores_by_0_to_1_and_one_cell_of_each_pair_by_1",
    "tests/test_thrifty_pairs.py::test_no_sequence_of_choices_costs_more_than_their_share_and_one_nearly_as_much",
    "tests/test_thrifty_pairs.py::test_the_plan_spends_the_budget",
    "tests/test_thrifty_pairs.py::test_the_mechanisms_are_called_as_the_ledger_says",
    "tests/test_thrifty_pairs.py::test_nothing_but_noisy_numbers_and_choices_decides_what_the_model_is",
    "tests/test_thrifty_classifier.py::test_the_rows_do_not_decide_what_comes_first",
    "tests/test_thrifty_classifier.py::test_a_budget_is_divided_without_rest",
    "tests/test_thrifty_classifier.py::test_the_parts_spend_the_budget",
    "tests/test_thrifty_classifier.py::test_hits_are_counted_for_each_weight_as_by_hand",
    "tests/test_thrifty_classifier.py::test_a_record_more_raises_hits_by_0_to_1_given_the_parts",
    "tests/test_thrifty_classifier.py::test_a_row_has_the_same_bits_whatever_rows_stand_beside_it",
    "tests/test_thrifty_classifier.py::test_the_vote_follows_the_law_of_permute_and_flip_on_the_training_rows",
    "tests/test_thrifty_classifier.py::test_nothing_but_parts_and_choice_decides_what_is_predicted",
    "tests/test_thrifty_classifier.py::test_parts_and_the_vote_have_seeds_of_their_own",
    "tests/test_release.py::test_no_record_costs_more_than_is_booked",
    "tests/test_forests.py::test_the_sound_variant_refuses_information_gain_and_says_why",
    "tests/test_rdt.py::test_a_record_more_moves_one_count_of_one_leaf_of_each_tree_by_one",
    "tests/test_rdt.py::test_no_two_nodes_or_draws_of_a_tree_share_a_key",
    "tests/test_estimators.py::test_no_two_of_many_trees_draw_alike",
    "tests/test_rdt.py::test_leaves_without_records_have_noise_of_their_own_and_it_follows_the_law",
)
"""Tests that are about privacy, and run without compilation. Those that compare digits are not among them."""

ASKED_FIRST = {
    PARTS: ("tests/test_parts.py",),
    BUDGET: ("tests/test_accounting.py", "tests/test_moments.py"),
    ACCOUNT: ("tests/test_accounting.py", "tests/test_moments.py"),
    EXACT: ("tests/test_no_exact_count_decides.py",),
    BOUNDS: ("tests/test_no_exact_count_decides.py", "tests/test_reading.py"),
    READING: ("tests/test_reading.py",),
    "algorithms/opendp_noise.py": ("tests/test_secure.py",),
    "algorithms/mechanisms.py": ("tests/test_mechanisms.py", "tests/test_monotone.py"),
    DOOR: ("tests/test_accounting.py", "tests/test_secure.py", "tests/test_released.py"),
    SHARED: ("tests/test_noise_is_used_once.py", "tests/test_audit_replay.py"),
    SENSITIVITY: ("tests/test_moments.py",),
}
"""By the kind of a mutant or its source, for speed alone: the others follow."""

COMPILED_TOO = {"algorithms/opendp_noise.py": "tests/test_secure.py"}
"""Tests that say more where they are compiled: there, the type of a generator decides what draws."""

UNSEEN_BY_REPLAY = ("algorithms/opendp_noise.py", "algorithms/mechanisms.py")
"""It stands between an estimator and its mechanisms, and believes that these do what they say."""

UNSEEN_BY_BLACK_BOX = tuple(
    f"algorithms/{name}.py"
    for name in (
        "opendp_noise",
        "accounting/trust",
        "accounting/events",
        "accounting/privacy",
        "base",
        "encoding/cells",
        "encoding/columns",
        "encoding/rows",
        "fitting",
    )
)
"""Noise by OpenDP, accounts, releases, and cells that no table of its has: it trains with numpy."""

TRAININGS = 10_000
MOST_REPLAYED = 6
"""Algorithms of a mutant that are replayed: where many share a line, the others show the same."""
OURS = ("algorithms", "datasets", "documents", "experiments", "plots", "tests")
MOST_SAID = 1_000


@contextmanager
def copy_with(mutant: Mutant | None) -> Iterator[Path]:
    """Copy the project to a folder of its own, with a mutant in it or as it is."""
    with TemporaryDirectory() as folder:
        copy = Path(folder) / PROJECT.name
        shutil.copytree(PROJECT, copy, ignore=LEFT_OUT)
        if mutant is not None:
            path = copy / mutant.file
            path.write_text(mutated(mutant, path.read_text(encoding="utf-8")), encoding="utf-8")
        yield copy


def apart(copy: Path, ask: Callable[..., str], *words) -> str:
    """Call a function in a copy, in a child of this process: what others have written is imported already.

    The project's own modules are imported anew there, from the copy. Nothing is compiled.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.write(writing, _asked_there(copy, ask, words).encode()[:MOST_SAID])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    return "raised: the process ended" if status else said


def _asked_there(copy: Path, ask: Callable[..., str], words: tuple) -> str:
    """Become a process of the copy, and ask."""
    silent = os.open(copy / "said.txt", os.O_RDWR | os.O_CREAT)
    os.dup2(silent, 1), os.dup2(silent, 2)
    os.chdir(copy)
    os.environ |= _environment(copy)
    sys.path[:] = [str(copy), *(path for path in sys.path if Path(path or ".").resolve() != PROJECT)]
    for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
        del sys.modules[name]
    try:
        return ask(*words)
    except BaseException as error:
        return f"raised: {type(error).__name__}: {error}"


def _environment(copy: Path) -> dict[str, str]:
    data = os.environ.get("DPREPLICA_DATA") or str(PROJECT.parent / "shared" / "data")
    return {"PYTHONPATH": str(copy), "DPREPLICA_DATA": data, "PYTHONDONTWRITEBYTECODE": "1"}


def compiled(copy: Path, *words: str, shown: bool = False, **environment: str) -> subprocess.CompletedProcess:
    """Run Python in a copy, with kernels unless the environment says otherwise; keep what it prints, or show it."""
    environment = os.environ | _environment(copy) | {PLAIN: "0"} | environment
    return subprocess.run([sys.executable, *words], cwd=copy, env=environment, capture_output=not shown, text=True)


def where_it_runs(file: str) -> dict[str, str]:
    """Return the environment in which the Python of a file runs: of a kernel, no twin in its place."""
    return {PLAIN: str(int((PROJECT / file).with_suffix(".h").exists()))}


def replay(copy: Path, algorithms: tuple[str, ...]) -> str:
    """Ask the replay of some algorithms, and the exact laws: what of the audit needs no training."""
    return apart(copy, _replay, algorithms[:MOST_REPLAYED])


def _replay(algorithms: tuple[str, ...]) -> str:
    return import_module("tests.mutants.in_copy").replayed(algorithms)


def bands(copy: Path, mutant: Mutant) -> str:
    """Ask the settings that `make check` watches of the algorithms of a mutant."""
    done = compiled(copy, "-m", "tests.mutants.in_copy", *mutant.algorithms, **where_it_runs(mutant.file))
    if done.returncode:
        return f"raised: {(done.stderr.strip().splitlines() or [''])[-1][:120]}"
    return (done.stdout.strip().splitlines() or [""])[-1]


def black_box(copy: Path, mutant: Mutant) -> str:
    """Ask the audit of the first algorithm of a mutant, many trainings included; another one may show more."""
    algorithm = mutant.algorithms[0]
    words = [f"algorithm={algorithm}", f"trainings={TRAININGS}", "executor.jobs=1", "results=results/mutant"]
    done = compiled(copy, "-m", "experiments", "do=audit", *words, **where_it_runs(mutant.file))
    return f"black box: {algorithm}" if done.returncode else ""


def privacy_tests(copy: Path, file: str, kind: str) -> str:
    """Ask the tests that name privacy; returns the first that fails."""
    first = next((tests for what, tests in ASKED_FIRST.items() if what in (kind, file)), ())
    said = apart(copy, _pytest, (*dict.fromkeys((*first, *PRIVACY_TESTS)), f"--deselect={NEEDS_COMPILATION}"))
    if said or file not in COMPILED_TOO:
        return said
    done = compiled(copy, "-m", "pytest", *OPTIONS, COMPILED_TOO[file])
    return first_failure(done.stdout) if done.returncode else ""


def _pytest(words: tuple[str, ...]) -> str:
    code = pytest.main([*OPTIONS, *words])
    return "" if code == 0 else first_failure(Path("said.txt").read_text(encoding="utf-8", errors="replace"))


def all_tests(copy: Path) -> str:
    """Ask the tests of `make test`, compiled; returns the first that fails."""
    words = ("-m", "not slow and not system", "--deselect=tests/test_mutants.py")
    done = compiled(copy, "-m", "pytest", *OPTIONS, *words)
    return first_failure(done.stdout) if done.returncode else ""


OPTIONS = ("-x", "-q", "--tb=no", "-p", "no:cacheprovider")
NEEDS_COMPILATION = "tests/test_audit_replay.py::test_compiled_code_is_refused"


def first_failure(said: str) -> str:
    """Return the test that pytest says has failed, the first."""
    failed = re.search(r"^(?:FAILED|ERROR) ([^\s\[]+)", said, flags=re.MULTILINE)
    return failed[1] if failed else "pytest could not run"
