"""Processes without kernels in C++, in which an audit follows the calls of mechanisms."""

import os

import pytest

from algorithms import native
from experiments.audit.plain_python import run_in_plain_python
from experiments.errors import BadInput

pytestmark = pytest.mark.long


def find_process(_):
    return os.getpid(), native.is_plain()


def test_they_have_no_kernels_and_stay_for_what_is_asked_next():
    ((first, is_plain),) = run_in_plain_python(find_process, [(0,)])
    ((second, _),) = run_in_plain_python(find_process, [(1,)])
    assert is_plain and first == second != os.getpid()


def test_several_answer_in_the_order_in_which_they_are_asked():
    assert list(run_in_plain_python(pow, [(2, n) for n in range(20)], jobs=2)) == [2**n for n in range(20)]
    assert list(run_in_plain_python(pow, [], jobs=2)) == []


def test_what_a_call_raises_is_raised_behind_what_the_calls_before_it_gave():
    answers = run_in_plain_python(int, [("1",), ("x",), ("3",)])
    assert next(answers) == 1
    with pytest.raises(ValueError, match="invalid literal"):
        next(answers)


def test_a_process_that_is_killed_is_told_in_one_line():
    with pytest.raises(BadInput, match=r"^a process of the audit was killed, .* executor.jobs=1$"):
        list(run_in_plain_python(os._exit, [(9,)]))


def test_folders_of_a_catalogue_that_were_added_since_can_be_imported_from(tmp_path, monkeypatch):
    list(run_in_plain_python(abs, [(0,)]))
    (tmp_path / "module_of_a_user.py").write_text("def double(n):\n    return 2 * n\n", encoding="utf-8")
    monkeypatch.setenv("DPREPLICA_CATALOGUE", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    double = __import__("module_of_a_user").double
    assert list(run_in_plain_python(double, [(4,)])) == [8]
