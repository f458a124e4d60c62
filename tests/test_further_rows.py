"""The variance of the split is told from that of the noise, and only it is widened."""

import math
import shutil
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from experiments.cells.cell import Cell
from experiments.config.finding import Sign
from experiments.config.paths import REFERENCE
from experiments.config.protocol import Protocol
from experiments.questions.further_rows import estimate_split_variance, judge_further_rows, list_crossed_cells
from experiments.store.long_table import long_table
from experiments.store.record import Measured, Record
from plots.pages.paper_results import render_page
from plots.pages.reference_pages import describe_paper
from plots.pages.terminal import print_summary
from plots.runs.paper_run import PaperRun
from tests.command_line import exit_code
from tests.papers import make_paper

pytestmark = pytest.mark.long

ABOVE = {"id": "above", "text": "above", "kind": "above", "study": "pair", "better": "rdt", "worse": "majority"}
ABOVE |= {"within": ["dataset"], "metric": "accuracy"}
STUDY = {"dataset": ["car", "adult"], "algorithm": ["rdt", "majority"], "epsilon": 1.0}
PAPER = {"repeats": 10, "studies": {"pair": STUDY}, "claims": [ABOVE]}


def test_both_variances_are_found_on_average():
    rng = np.random.default_rng(1)
    squares = []
    for _ in range(4000):
        values = 3.0 + rng.normal(0, 2.0, (10, 1)) + rng.normal(0, 1.0, (10, 2))
        found = estimate_split_variance(values, 0.4)
        squares.append((found.noise**2, found.split**2))
    noise, split = np.mean(squares, axis=0)
    assert noise == pytest.approx(1.0, rel=0.03) and split == pytest.approx(4.0, rel=0.03)


def test_without_noise_the_interval_is_that_of_nadeau_and_bengio():
    gains = np.random.default_rng(2).normal(1.0, 1.0, 10)
    found = estimate_split_variance(np.column_stack([gains, gains]), 3 / 7)
    half = stats.t.ppf(0.975, 9) * gains.std(ddof=1) * math.sqrt(1 / 10 + 3 / 7)
    assert (found.low, found.high) == pytest.approx((gains.mean() - half, gains.mean() + half))


def test_without_an_effect_of_the_split_the_overlap_widens_nothing():
    """Noise of the same sum in each split leaves the splits nothing to differ by."""
    noise = np.random.default_rng(3).normal(0, 1, 10)
    found = estimate_split_variance(np.column_stack([1 + noise, 1 - noise]), 3 / 7)
    assert found.split == 0 and found.high - found.low == pytest.approx(0, abs=1e-12) and found.noise > 0.5


def test_the_interval_covers_the_mean_of_further_rows():
    """Rows drawn anew each time: a classifier that knows nothing has an accuracy of test rows alone, plus noise.

    Test sets of random splits share rows, so the interval without the overlap covers the truth far too seldom.
    One with it is near 95 %: its variance of the split is an estimate.
    """
    rng = np.random.default_rng(4)
    covered = {0.0: 0, 3 / 7: 0}
    for _ in range(300):
        rows = rng.normal(0, 1, 100)
        tests = np.array([rng.permutation(rows)[:30].mean() for _ in range(30)])
        values = tests[:, None] + rng.normal(0, 0.2, (30, 2))
        for overlap in covered:
            found = estimate_split_variance(values, overlap)
            covered[overlap] += found.low <= 0 <= found.high
    assert covered[0.0] < 0.75 * 300 and covered[3 / 7] >= 0.9 * 300


def test_a_draw_is_another_seed_on_the_same_split():
    """The default is part of no identity, so seeds of what was published stay."""
    first = Cell("car", "majority", {}, 1.0, 3)
    again = replace(first, protocol=Protocol(draw=1))
    assert "draw" not in first.identity and first.seed != again.seed and first.key != again.key


def test_only_random_splits_are_crossed():
    paper = make_paper(**PAPER)
    draws = list_crossed_cells(paper)
    for draw, cells in enumerate(draws):
        assert {(cell.dataset, cell.protocol.draw) for cell in cells["pair"]} == {("car", draw)}
        assert len(cells["pair"]) == 20


def judge_gains(gains, claim=ABOVE):
    """Return what is said of RDT, which gains this on each split of Car: a column for each draw of the noise."""
    paper = make_paper(**PAPER | {"claims": [claim]})
    tables = []
    for draw, cells in enumerate(list_crossed_cells(paper)):
        records = {}
        for cell in cells["pair"]:
            gain = gains[cell.repeat][draw] if cell.algorithm == "rdt" else 0.0
            records[cell.key] = Record("done", Measured({"accuracy": 0.5 + gain}, 0.0, {}))
        tables.append(long_table(cells, records))
    (row,) = judge_further_rows(paper, tables).to_dict("records")
    return row


def gain_by_split(first, last):
    """Return gains that go from one to another from split to split, and hardly differ from draw to draw."""
    return np.linspace(first, last, 10)[:, None] + [0, 0.001]


def test_a_claim_holds_on_further_rows_if_splits_do_not_undo_it():
    """Two points in every split are proven, on these rows and on others; not if splits differ by as much."""
    steady, shaky = judge_gains(gain_by_split(0.02, 0.02)), judge_gains(gain_by_split(-0.004, 0.05))
    assert steady["setting"] == "car" and steady["n"] == 10 and steady["gain"] == pytest.approx(0.0205)
    assert steady["outcome"] == "as claimed"
    assert shaky["gain"] > steady["gain"] and shaky["split"] > 0.01 and shaky["outcome"] == "open"


def test_a_claim_fails_on_further_rows_too_or_no_difference_matters_there():
    """A claim that fails on these rows may do so on others, or not. Half a point is no difference."""
    assert judge_gains(gain_by_split(-0.02, -0.02))["outcome"] == "opposite"
    assert judge_gains(gain_by_split(-0.05, 0.004))["outcome"] == "open"
    assert judge_gains(gain_by_split(0.005, 0.005))["outcome"] == "equal"
    assert judge_gains(gain_by_split(-0.005, -0.005))["outcome"] == "equal"


def test_that_two_means_are_near_is_asked_of_means():
    """Each run differs by more than the margin, and their mean does not."""
    near = {"id": "near", "text": "near", "kind": "meets", "study": "pair", "algorithm": "rdt", "to": "majority"}
    near |= {"within": ["dataset"], "metric": "accuracy", "margin": 0.05}
    row = judge_gains(np.tile([0.04, -0.03], (10, 1)), near)
    assert row["outcome"] == "as claimed" and row["low"] == pytest.approx(0.05 * 0.5 - 0.005)


def test_the_command_writes_what_it_found(tmp_path, capsys):
    assert exit_code("do=crossing", "paper=demo", "repeats=3", "executor.jobs=1", f"results={tmp_path}") == 0
    rows = pd.read_csv(tmp_path / "paper-demo" / "further_rows.csv")
    assert set(rows["n"]) == {3} and (rows["low"] <= rows["gain"]).all()
    assert "on new rows of this kind: as claimed in 15 of 48 settings, open in 33 (3 splits)" in capsys.readouterr().out


def test_too_few_splits_are_refused(tmp_path, capsys):
    assert exit_code("do=crossing", "paper=demo", "repeats=2", f"results={tmp_path}") == 2
    assert "at least 3 splits" in capsys.readouterr().err


@pytest.mark.parametrize("sign", [Sign.HOLDS, Sign.FAILS])
def test_what_was_found_stands_beside_each_claim_of_a_page(sign, tmp_path, capsys):
    """Beside those that hold and those that fail alike; a claim of which nothing was asked says nothing."""
    published, name = next(_list_claims_with_effects(sign))
    folder = tmp_path / published.name
    shutil.copytree(published, folder)
    silent = next(row.id for row in _read_claims(published) if row.id != name)
    place = {"part": "", "n": 40, "gain": 0.1, "low": 0.0, "high": 0.2, "noise": 0.1, "split": 0.1}
    outcomes = {"car": "as claimed", "nursery": "opposite"}
    found = [{"claim": name, "setting": setting, **place, "outcome": outcomes[setting]} for setting in outcomes]
    pd.DataFrame(found).to_csv(folder / "further_rows.csv", index=False)
    run = PaperRun.read(folder)
    said = "on new rows of this kind: as claimed in 1 of 2 settings, the opposite in 1 (40 splits)"
    by_id = {row.id: row for plot in run.claim_plots for row in plot.rows}
    assert by_id[name].new_rows == said and said in by_id[name].lines_below
    assert by_id[silent].new_rows == ""
    print_summary(run, [])
    shown = " ".join(capsys.readouterr().out.split())
    for page in (describe_paper(run), render_page(run)):
        assert page.count(said) == 1
    assert "on new rows of" in shown


def _list_claims_with_effects(sign):
    """Yield published papers with a claim of theirs that has a sign, and that runs have decided."""
    for folder in sorted(REFERENCE.glob("paper-[0-9]")):
        yield from ((folder, row.id) for row in _read_claims(folder) if row.sign == sign and row.effect)


@cache
def _read_claims(folder):
    return [row for plot in PaperRun.read(folder).claim_plots for row in plot.rows]


@pytest.mark.parametrize("sign", [Sign.HOLDS, Sign.FAILS])
def test_published_claims_that_splits_were_crossed_for_say_so(sign):
    said = {
        row.id: row.new_rows
        for folder in sorted(REFERENCE.glob("paper-[0-9]*"))
        for row in _read_claims(folder)
        if row.sign == sign and row.new_rows
    }
    assert said and all(words.startswith("on new rows of this kind: ") for words in said.values())
