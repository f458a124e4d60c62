"""Test rows that stand in the training rows are counted as one would by hand, and said beside the results."""

import numpy as np
import pandas as pd
import pytest

from algorithms import Continuous, Domain, Nominal
from datasets import Dataset
from experiments.config.protocol import read_protocol
from experiments.run.copies import describe_copies, list_copies, measure_copies
from experiments.run.splits import split_rows
from plots.pages.paper_results import list_splits
from plots.runs.paper_run import PaperRun
from tests.papers import make_paper

DOMAIN = Domain((Continuous("x", 0, 9), Nominal("a", ("u", "v"))), Nominal("y", ("n", "p")))


def make_data(n=300, n_train=None):
    """Return a small table in which most rows stand several times, some of them with another target."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"x": rng.integers(0, 60, n) / 7, "a": pd.Categorical(rng.choice(["u", "v"], n))})
    target = pd.Series(rng.choice(["n", "p"], n), name="y")
    return Dataset("toy", "Toy", "classification", frame, target, DOMAIN, n_train, "0" * 64, {})


@pytest.mark.parametrize(
    "given", [{}, {"test_size": 0.9}, {"split": "in_order"}, {"rows": "balanced"}, {"train_rows": 40, "test_rows": 30}]
)
@pytest.mark.parametrize("n_train", [None, 50])
def test_copies_are_those_that_one_counts_by_hand(given, n_train):
    data, protocol = make_data(n_train=n_train), read_protocol(given)
    records = list(zip(data.frame["x"], data.frame["a"], data.target, strict=True))
    shares = []
    for repeat in range(4):
        train, test = split_rows(data, repeat, protocol)
        known = {records[row] for row in train}
        shares.append(sum(records[row] in known for row in test) / len(test))
    assert 0 < shares[0] < 1
    assert measure_copies(data, protocol, 4) == pytest.approx(np.mean(shares))


def test_rows_that_differ_in_one_cell_or_in_the_target_are_no_copies():
    data = make_data(n=12)
    for frame, target in (
        (data.frame.assign(x=np.arange(12) / 2), data.target),
        (data.frame.assign(x=np.arange(12) // 2, a=pd.Categorical(["u", "v"] * 6)), data.target),
        (data.frame.assign(x=np.arange(12) // 2, a="u"), pd.Series(["n", "p"] * 6, name="y")),
    ):
        other = Dataset("toy", "Toy", "classification", frame, target, DOMAIN, None, "0" * 64, {})
        assert measure_copies(other, read_protocol({}), 5) == 0


def test_each_split_of_a_paper_is_measured_and_few_copies_are_not_worth_a_word():
    study = {"dataset": ["car", "nursery"], "algorithm": "majority"}
    ordered = study | {"dataset": "car", "protocol": {"split": "in_order"}}
    copies = list_copies(list_splits(make_paper(studies={"a": study, "b": study, "c": ordered})), repeats=2)
    assert list(copies["dataset"]) == ["car", "nursery", "car"]
    assert not copies["copies"].any() and describe_copies(copies, {}) == ""  # both sets are complete products


def test_copies_are_said_with_the_verdicts(tmp_path):
    paper = make_paper(labels={"wine_quality": "WineQuality"})
    nothing = pd.DataFrame(columns=["id"])
    run_of_paper = PaperRun(tmp_path, paper, nothing, [], (1, 1), [], {}, *[nothing] * 5)
    assert run_of_paper.notes_on_data == []
    (tmp_path / "copies.csv").write_text("dataset,split,copies\nwine_quality,the last ones,0.2611\ncar,all,0.0\n")
    said = "Test rows that also stand in the training rows (the last ones): 26.1 % on WineQuality."
    assert run_of_paper.notes_on_data == [said]
