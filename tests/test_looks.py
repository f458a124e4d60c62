"""How many repeats a claim gets: look by look, the open groups alone, the same however the runs came about."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from experiments.config.papers import prepare_paper
from experiments.judge.claim_answers import combine_answers
from experiments.judge.evidence.claim_group import ClaimGroup, ClaimTest, PartWealth, RunsQuestion
from experiments.judge.evidence.replay import QuestionState, list_looks, replay_looks
from experiments.judge.evidence.wealth import compute_log_wealth, project_log_wealth
from experiments.judge.numbers.number_verdict import PrintedNumber
from experiments.judge.question import ClaimQuestion
from experiments.metrics.metric import Margin
from experiments.questions.claims.above import AboveClaim
from experiments.questions.decide import run_until_decided
from experiments.questions.number_questions import resolve_number
from experiments.questions.paper_questions import resolve_claims, resolve_paper
from experiments.store.record import Measured, Record
from tests.papers import judge_claims, list_claim_needs, make_paper, name_settings

EPSILON = [0.1, 1.0]
ABOVE = {"id": "above", "text": "above", "kind": "above", "study": "pair", "better": "rdt", "worse": "majority"}
ABOVE |= {"within": ["epsilon"], "metric": "accuracy"}
STUDY = {"dataset": "car", "algorithm": ["rdt", "majority"], "epsilon": EPSILON}
PAPER = {"repeats": 10, "most_repeats": 80, "studies": {"pair": STUDY}, "claims": [ABOVE]}


def make_table(gain, repeats=80):
    """Return the cells of the study, rdt above by ``gain(epsilon, repeat)``; ``repeats`` may differ by epsilon."""
    rows = []
    for epsilon in EPSILON:
        for repeat in range(repeats[epsilon] if isinstance(repeats, dict) else repeats):
            for algorithm, accuracy in (("majority", 0.4), ("rdt", 0.4 + gain(epsilon, repeat))):
                setting = {"study": "pair", "dataset": "car", "algorithm": algorithm, "epsilon": epsilon}
                rows.append(setting | {"repeat": repeat, "accuracy": accuracy, "status": "done"})
    return pd.DataFrame(rows)


def ask(table, **keys):
    """Return what the one claim of the paper needs."""
    paper = make_paper(**PAPER | keys)
    return list_claim_needs(paper, table)


def judge(table, **keys):
    (result,) = judge_claims(make_paper(**PAPER | keys), table)
    return result


def clear_at_one(epsilon, repeat):
    """Win every run at ε = 1, and every other run at 0.1, there by a little on average: open, and never in vain."""
    return 0.4 if epsilon == 1 else 0.1 + 0.3 * (-1) ** repeat


def test_open_groups_alone_need_the_next_look():
    for table, repeats in ((make_table(clear_at_one, 20), 30), (make_table(clear_at_one, {0.1: 40, 1.0: 20}), 60)):
        (need,) = ask(table)
        assert name_settings(need) == [("car", "majority", "0.1"), ("car", "rdt", "0.1")]
        assert need.repeats == repeats


def test_all_groups_need_the_first_look():
    assert [need.repeats for need in ask(make_table(clear_at_one, 9))] == [10, 10]
    assert [need.repeats for need in ask(pd.DataFrame())] == [10, 10]


@pytest.mark.parametrize("gain", [0.4, -0.4])
def test_a_decided_claim_needs_nothing(gain):
    table = make_table(lambda *_: gain, 30)
    assert ask(table) == []
    assert judge(table)["verdict"] == ("reproduced" if gain > 0 else "refuted")


def test_repeats_end_where_the_paper_or_the_claim_says():
    table = make_table(clear_at_one)
    assert ask(table) == []
    assert ask(table, most_repeats=160)[0].repeats == 120
    assert ask(make_table(clear_at_one, 30), claims=[ABOVE | {"most_repeats": 30}]) == []
    steady = make_table(lambda *_: 0.2, 20)
    assert ask(steady, claims=[ABOVE | {"most_repeats": 30}])[0].repeats == 30
    assert ask(make_table(clear_at_one, 80), claims=[ABOVE | {"most_repeats": 160}])[0].repeats == 120
    result = judge(table)
    assert (result["verdict"], result["repeats"], result["looks"]) == ("undecided", 80, [20, 80])


def test_given_repeats_are_one_look():
    contents = make_paper(**PAPER).to_mapping()
    paper = prepare_paper(contents, "0", 20)
    assert (paper.repeats, paper.most_repeats) == (20, 20)
    table = make_table(clear_at_one, 20)
    assert list_claim_needs(paper, table) == []
    (result,) = judge_claims(paper, table)
    assert result["looks"] == [20]
    assert prepare_paper(contents, "0", None).most_repeats == 80
    assert prepare_paper(contents, "0", 20, 40).most_repeats == 40
    of_claim = contents | {"claims": [ABOVE | {"most_repeats": 160}]}
    assert prepare_paper(of_claim, "0", None).claims[0].most_repeats == 160
    assert prepare_paper(of_claim, "0", 20).claims[0].most_repeats is None


@pytest.mark.parametrize("first", [1, 3, 10])
def test_looks_grow_by_a_third_to_all_of_what_is_there_and_never_beyond(first):
    looks = list_looks(first, 1280)
    assert looks[0] == first and 3 * 1280 / 4 <= looks[-1] <= 1280
    assert all(1.3 <= after / before <= 2 for before, after in pairwise(looks))
    assert list_looks(first, first) == [first]


@pytest.mark.parametrize("gain", [clear_at_one, lambda *_: 0.4, lambda e, r: -0.4 if e == 1 else 0.3 * (-1) ** r])
def test_neither_more_repeats_nor_the_order_of_rows_change_what_is_said(gain):
    rng = np.random.default_rng(0)
    whole = make_table(gain)
    result = judge(whole)
    needed = dict(zip(EPSILON, [80 if gain is clear_at_one else 0] * 2, strict=True))
    for group in result["groups"]:
        needed[group["epsilon"]] = group["n"]
    exact = make_table(gain, needed)
    assert len(exact) < len(whole)
    longer = pd.concat([whole, make_table(lambda *_: -0.4, 160).query("repeat >= 80")])
    for table in (exact, longer, whole.sample(frac=1, random_state=rng), exact.iloc[::-1]):
        assert judge(table) == result
        assert ask(table) == []


def test_the_verdict_is_that_of_the_look_at_which_it_fell():
    table = make_table(lambda e, r: 0.4 if r < 20 else -0.4)
    assert judge(table)["verdict"] == "reproduced" and judge(table)["repeats"] < 40
    later = make_table(lambda e, r: -0.4 if r < 20 else 0.4)
    assert judge(later)["verdict"] == "refuted"


class FakeRunner:
    """Runs cells by a rule, and keeps what was asked for."""

    def __init__(self, accuracy):
        self.accuracy, self.rounds, self.reasons = accuracy, [], []

    def __call__(self, cells, reason):
        self.rounds.append(cells)
        self.reasons.append(reason)
        return {cell.key: self.make_record(cell) for cell in cells}

    def make_record(self, cell):
        accuracy = self.accuracy(cell)
        if accuracy is None:
            return Record("failed", error="it never works")
        return Record("done", Measured({"accuracy": accuracy}, 0.1))

    def count(self):
        return [len(cells) for cells in self.rounds]


def accuracy_of(cell):
    return 0.4 + (clear_at_one(cell.epsilon, cell.repeat) if cell.algorithm == "rdt" else 0)


def decide(runner, **keys):
    paper = make_paper(**PAPER | keys)
    return paper, run_until_decided(resolve_paper(paper), runner)


def test_a_run_goes_on_with_the_open_group_alone_and_runs_each_cell_once():
    runner = FakeRunner(accuracy_of)
    paper, table = decide(runner)
    assert runner.count() == [40, 40, 20, 20, 40, 40]
    assert runner.reasons[0] == "" and "up to 80 repeats" in runner.reasons[-1]
    for cells in runner.rounds[2:]:
        assert {cell.epsilon for cell in cells} == {0.1}
    keys = [cell.key for cells in runner.rounds for cell in cells]
    assert len(set(keys)) == len(keys) == len(table)
    (result,) = judge_claims(paper, table)
    (expected,) = judge_claims(paper, make_table(clear_at_one))
    assert result == expected


def test_a_decided_claim_gets_no_second_round():
    runner = FakeRunner(lambda cell: 0.1 + 0.8 * (cell.algorithm == "rdt"))
    decide(runner)
    assert runner.count() == [40]


def test_a_run_that_is_taken_up_again_asks_for_the_same_cells_and_says_the_same():
    whole = FakeRunner(accuracy_of)
    _, table = decide(whole)
    cells = {cell.key: cell for cells in whole.rounds for cell in cells}
    stored = {key: whole.make_record(cells[key]) for key in list(cells)[::3]}  # a kill left some of them

    def take_up(cells, reason):
        return {cell.key: stored.get(cell.key) or whole.make_record(cell) for cell in cells}

    paper = make_paper(**PAPER)
    assert run_until_decided(resolve_paper(paper), take_up).equals(table)


@pytest.mark.parametrize("fails", [lambda cell: True, lambda cell: cell.epsilon == 1, lambda cell: cell.repeat > 12])
def test_cells_that_fail_end_a_run_and_its_claim_is_never_complete(fails):
    runner = FakeRunner(lambda cell: None if fails(cell) else accuracy_of(cell))
    paper, table = decide(runner)
    assert len(runner.rounds) < 10
    (result,) = judge_claims(paper, table)
    assert result["verdict"] in ("undecided", "not run")
    assert "INCOMPLETE" in result["reason"] or result["verdict"] == "not run"


def test_a_group_without_any_result_ends_its_claim_at_once():
    runner = FakeRunner(lambda cell: None if cell.epsilon == 1 else accuracy_of(cell))
    decide(runner)
    assert runner.count() == [40]


def test_a_group_that_the_papers_own_question_has_settled_gets_no_more():
    settled = make_group(*[0.9, -0.1] * 40)  # on average clearly, and in half of the runs
    replay = replay_looks([settled, make_group(*[0.5, -0.3] * 40)], [10, 20, 30, 40, 60, 80], math.log(20))
    assert replay.looks[0] <= 30 and replay.looks[1] == 80
    assert [replay.answers[0].is_settled(place) for place in (0, 1)] == [True, False]


def test_one_failed_repeat_is_left_out_and_said():
    runner = FakeRunner(lambda cell: None if (cell.repeat, cell.algorithm) == (3, "rdt") else accuracy_of(cell))
    paper, table = decide(runner)
    (result,) = judge_claims(paper, table)
    assert result["reason"].startswith("INCOMPLETE: ")
    assert (result["cells"], result["cells_expected"]) == (2 * (19 + 79), 2 * (20 + 80))
    assert [group["n"] for group in result["groups"]] == [79, 19]


def test_a_run_may_begin_with_the_cells_of_no_study():
    runner, paper = FakeRunner(lambda cell: 0.1 + 0.8 * (cell.algorithm == "rdt")), make_paper(**PAPER)
    questions = resolve_paper(paper)
    table = run_until_decided(questions, runner, questions.claims)
    assert sum(runner.count()) == len(table) == 40


def test_claims_that_share_cells_run_them_once_and_do_not_move_each_other():
    narrow = ABOVE | {"id": "narrow", "where": {"epsilon": 1.0}, "within": []}
    runner = FakeRunner(accuracy_of)
    paper, table = decide(runner, claims=[narrow, ABOVE])
    keys = [cell.key for cells in runner.rounds for cell in cells]
    assert len(set(keys)) == len(keys)
    of_narrow, _ = judge_claims(paper, table)
    less = table[(table["epsilon"] == 1) & (table["repeat"] < of_narrow["repeats"])]
    assert judge_claims(paper, less)[0] == of_narrow


def test_a_number_whose_cells_fail_keeps_no_claim_from_the_cells_that_they_share():
    runner = FakeRunner(lambda cell: None if (cell.repeat, cell.algorithm) == (3, "majority") else accuracy_of(cell))
    grid = {"id": "t", "title": "T", "kind": "grid", "study": "pair", "rows": "algorithm", "columns": "epsilon"}
    paper = make_paper(**PAPER, tables=[grid | {"metric": "accuracy"}])
    setting = {"dataset": "car", "algorithm": "majority", "epsilon": 0.1}
    number = PrintedNumber("x", "t", "accuracy", "mean", 0.6, 1, "p. 1", setting)  # 0.4 in all runs, in few of them
    questions = replace(resolve_paper(paper), numbers=(resolve_number(paper, number, [number]),))
    assert run_until_decided(questions, runner).groupby("epsilon")["repeat"].max().to_dict() == {0.1: 79, 1.0: 19}


def test_an_approaching_algorithm_waits_for_the_cells_of_the_other():
    """Another claim may have run one of the two much more often."""
    nears = {"id": "nears", "text": "", "kind": "approaches", "study": "pair", "along": "epsilon", "within": []}
    nears |= {"metric": "accuracy", "algorithm": "rdt", "to": "majority"}
    table = make_table(lambda e, r: 0.1 * (-1) ** r / e)
    uneven = table[(table["repeat"] < 10) | (table["algorithm"] == "rdt")]
    assert [need.repeats for need in ask(uneven, claims=[nears | {"most_repeats": 20}], repeats=20)] == [20]


def make_group(*gains, setting=None):
    gains = np.array(gains)
    values = np.column_stack([np.full(len(gains), 0.5), 0.5 + gains])
    return ClaimGroup(
        setting or {}, np.arange(len(gains)), values, len(gains), ClaimTest(AboveClaim, Margin(0.01), reach=1.0)
    )


def test_a_group_that_is_given_up_is_not_taken_up_again():
    """Most runs lose; the mean of one group hardly moves at first, and what it does later counts for nothing."""
    looks, losing = [10, 20, 30, 40, 60, 80], make_group(*[-0.4] * 10, *[0.9] * 70)
    slow = make_group(*[0.001] * 10, *[-0.9] * 70)
    replay = replay_looks([losing, slow], looks, math.log(20))
    mean, most = replay.answers
    assert (mean.verdict, most.verdict) == ("undecided", "refuted")
    assert replay.looks[0] > replay.looks[1] == 10


def test_a_claim_that_could_only_stay_undecided_gets_no_more_runs():
    """No side wins: half of the runs are enough to see that the others would decide nothing."""
    table = make_table(lambda epsilon, repeat: 0.3 * (-1) ** repeat, 80)
    (needs,) = ({need.repeats for need in ask(table[table["repeat"] < n])} for n in [20])
    assert needs == {30}
    assert ask(table[table["repeat"] < 40]) == []
    result = judge(table)
    assert (result["verdict"], result["repeats"]) == ("undecided", 40)


def test_where_one_group_is_in_vain_only_those_that_may_refute_get_more_runs():
    """No question can be answered as claimed if one group stays open, so those that win would win for nothing."""
    looks, even = [10, 20, 30, 40, 60, 80], make_group(*[0.0, -0.3, 0.3] * 27)
    gains, loses = make_group(*[0.4, -0.2, -0.2, 0.2] * 20), make_group(*[0.1, -0.3] * 40)
    alone = replay_looks([gains], looks, math.log(20))
    assert replay_looks([gains, even], looks, math.log(20)).looks[0] < alone.looks[0]
    replay = replay_looks([loses, even], looks, math.log(20))
    assert replay.answers[0].verdict == "refuted" and replay.looks[0] > replay.looks[1]


@pytest.mark.parametrize(("hoped", "promising"), [(4.5, {0, 1, 2, 3}), (3.5, {0, 1, 2, 3}), (2.9, set())])
def test_groups_that_may_refute_only_together_get_more_runs(monkeypatch, hoped, promising):
    """Four groups: one alone needs log 20 and log 4 for its choice, 4.4 in all; all together need log 20, 3.0."""
    parts = [PartWealth(np.float64(0), np.float64(hoped), np.float64(-math.inf))]
    monkeypatch.setattr(ClaimGroup, "project_parts", lambda *_: parts)
    state = QuestionState([make_group(*[0.0, -0.1] * 10) for _ in range(4)], RunsQuestion.MEAN, math.log(20))
    assert state.list_promising(range(4), [10] * 4, 80) == promising


def test_hope_is_what_is_there_and_three_standard_errors_for_what_comes():
    """Lost bets are lost: who staked all and lost once has nothing whatever comes, and others grow as the runs did."""
    gains = np.array([0.5, 0.3] * 10)
    exact = compute_log_wealth(np.array([0.5, 0.3] * 40))[-1]
    hoped = project_log_wealth(gains, n_made=20, n_runs=80)
    better = project_log_wealth(gains + 3 * gains.std(ddof=1) / math.sqrt(20), n_made=20, n_runs=80)
    assert exact < hoped < better
    assert project_log_wealth(np.array([-1.0] * 5), n_made=5, n_runs=1000) < 0
    assert project_log_wealth(gains, n_made=1, n_runs=2) == math.inf


def test_a_loss_within_delta_is_practically_equal_and_refutes_nothing():
    _, most = replay_looks([make_group(*[-0.004] * 10)], [10], math.log(20)).answers
    assert most.verdict == "practically equal"
    _, most = replay_looks([make_group(*[-0.02] * 10)], [10], math.log(20)).answers
    assert most.verdict == "refuted"


def test_who_bets_against_any_of_many_groups_pays_for_their_number():
    losing, gaining = make_group(*[-0.02] * 20), [make_group(*[0.02] * 20) for _ in range(99)]
    alone, among = (replay_looks(groups, [10, 20], math.log(20)) for groups in ([losing], [*gaining, losing]))
    assert [replay.answers[1].verdict for replay in (alone, among)] == ["refuted", "refuted"]
    assert (alone.looks[-1], among.looks[-1]) == (10, 20)
    assert among.answers[1].contradiction == (99, 0)


def test_a_proof_for_a_claim_is_not_harder_where_it_has_more_groups():
    for n in (1, 100):
        replay = replay_looks([make_group(*[0.02] * 20) for _ in range(n)], [10, 20], math.log(20))
        assert replay.answers[1].verdict == "reproduced" and set(replay.looks) == {10}


def count_wins_needed(level):
    """Return how many wins in a row make seventeen gamblers rich enough together."""
    for n in range(100):
        money = sum((1 + 2 ** (-k / 2)) ** n / ((k + 1) * (k + 2)) for k in range(17)) * 18 / 17
        if money >= 1 / level:
            return n
    raise AssertionError("never")


@pytest.mark.parametrize(
    ("claims", "center", "level"),
    [
        (1, "median", 0.05 / 2),
        (1, "mean", 0.05 / 2 / 2),
        (5, "median", 0.05 / 5 / 2),
        (5, "mean", 0.05 / 5 / 2 / 2),
    ],
)
def test_so_many_wins_in_a_row_prove_a_claim_as_its_share_of_five_per_cent_says(claims, center, level):
    needed = count_wins_needed(level)
    made = [ABOVE | {"id": f"above {i}", "center": center} for i in range(claims)]
    for repeats, verdict in ((needed - 1, "undecided"), (needed, "reproduced")):
        paper = make_paper(**PAPER | {"claims": made, "repeats": repeats, "most_repeats": repeats})
        results = judge_claims(paper, make_table(lambda *_: 0.02))
        assert {result["in_most_runs"] for result in results} == {verdict}
        assert [result["level"] for result in results] == pytest.approx([level] * claims)


@pytest.mark.parametrize(
    ("mean", "most", "verdict", "words"),
    [
        ("undecided", "undecided", "undecided", ""),
        ("reproduced", "undecided", "reproduced", "the mean of the runs says yes, most single runs are open"),
        ("undecided", "reproduced", "reproduced", ""),
        ("undecided", "practically equal", "practically equal", ""),
        ("refuted", "refuted", "refuted", ""),
        ("reproduced", "refuted", "depends on the average", "the mean of the runs says yes, most single runs say no"),
        ("refuted", "reproduced", "depends on the average", "the mean of the runs says no, most single runs say yes"),
        ("refuted", "practically equal", "depends on the average", "most single runs say that there is no difference"),
        ("reproduced", "practically equal", "reproduced", "the mean of the runs says yes, most single runs say"),
        (None, "refuted", "refuted", ""),
        (None, "undecided", "undecided", ""),
    ],
)
def test_what_two_questions_say_together(mean, most, verdict, words):
    answers = {RunsQuestion.MOST: most} | ({RunsQuestion.MEAN: mean} if mean else {})
    found, basis = combine_answers(answers)
    assert found == verdict and words in basis
    assert bool(basis) == bool(words)


def list_levels(claims, **keys):
    paper = make_paper(**PAPER | {"claims": claims}, **keys)
    questions = [claim.question for claim in resolve_claims(paper)]
    return [question.level for question in questions if isinstance(question, ClaimQuestion)]


LOST = {"not_implemented": {"lost": "never described"}}


@pytest.mark.parametrize(
    "claims",
    [
        [("a", None)],
        [("a", None), ("b", None), ("c", None)],
        [("a", None), ("b", "a"), ("c", "a"), ("d", None)],
        [("a", None), ("b", "a"), ("c", "b")],
        [("lost", None), ("b", "lost"), ("c", None), ("d", "c")],
        [("a", None), ("lost", "a"), ("c", "a")],
    ],
    ids=["one", "three", "readings", "a reading of a reading", "a reading of what is lost", "a lost reading"],
)
def test_all_claims_of_a_paper_share_five_per_cent(claims):
    made = []
    for name, of in claims:
        made.append(ABOVE | {"id": name, "reading_of": of, "worse": "lost" if name == "lost" else "majority"})
    levels = list_levels(made, **LOST)
    assert len(levels) == sum(name != "lost" for name, _ in claims)
    assert all(level > 0 for level in levels)
    assert sum(levels) <= 0.05 + 1e-12


def test_a_reading_that_is_added_does_not_make_the_claim_harder_to_decide():
    printed = [ABOVE, ABOVE | {"id": "other"}]
    readings = [ABOVE | {"id": f"reading {i}", "reading_of": "above"} for i in range(9)]
    assert list_levels(printed) == list_levels([*printed, *readings])[:2]


def test_what_is_not_implemented_takes_no_share():
    lost = [ABOVE | {"id": f"lost {i}", "worse": "lost"} for i in range(200)]
    assert list_levels([ABOVE, *lost], **LOST) == list_levels([ABOVE])


BELOW = {"id": "below", "text": "below", "kind": "below", "study": "errors", "within": [], "metric": "unit_mse"}
BELOW |= {"better": "diffpets_regressor", "worse": "fm"}
ERRORS = {"dataset": "wine_quality", "algorithm": ["diffpets_regressor", "fm"], "epsilon": 1.0}
TREES_MISS_BY_ONE = {"unit_mse": {"diffpets_regressor": 1}}


def judge_errors(errors, *, claim=BELOW, **keys):
    """Judge that trees err less than FM, given the errors of both in each repeat."""
    rows = []
    for repeat, pair in enumerate(errors):
        for algorithm, error in zip(ERRORS["algorithm"], pair, strict=True):
            setting = {"study": "errors", "dataset": "wine_quality", "algorithm": algorithm, "epsilon": 1.0}
            rows.append(setting | {"repeat": repeat, "unit_mse": error, "status": "done"})
    size = {"repeats": len(errors), "most_repeats": len(errors)}
    paper = make_paper(**size | {"studies": {"errors": ERRORS}, "claims": [claim], "at_most": TREES_MISS_BY_ONE} | keys)
    (result,) = judge_claims(paper, pd.DataFrame(rows))
    return result


def count_gains_needed(gain, level):
    """Return how many such gains, where a run may lose 1, make seventeen gamblers rich enough together."""
    for n in range(1000):
        money = sum((1 + gain * 2 ** (-k / 2)) ** n / ((k + 1) * (k + 2)) for k in range(17)) * 18 / 17
        if money >= 1 / level:
            return n
    raise AssertionError("never")


def test_a_mean_without_an_upper_end_is_proven_to_be_above_one_that_has_one():
    needed = count_gains_needed(0.3, 0.05 / 2 / 2)
    for repeats, verdict in ((needed - 1, "undecided"), (needed, "reproduced")):
        result = judge_errors([(0.05, 0.35)] * repeats)
        assert (result["on_average"], result["in_most_runs"]) == (verdict, "reproduced")


def test_that_such_a_mean_is_below_is_never_proven():
    """Most runs contradict the claim. Its collapses, seen or not, may outweigh them."""
    for errors in ([(0.05, 0.01)] * 300, [(1.0, 0.0)] * 300):
        result = judge_errors(errors)
        assert (result["on_average"], result["in_most_runs"]) == ("undecided", "refuted")
    result = judge_errors([(0.05, 0.01), (0.05, 0.01), (0.05, 1e6)] * 100)
    assert (result["on_average"], result["verdict"]) == ("reproduced", "depends on the average")


def test_without_a_bound_of_the_better_one_the_mean_is_not_asked():
    turned = BELOW | {"better": "fm", "worse": "diffpets_regressor"}
    for keys in ({"at_most": {}}, {"claim": turned}, {"center": {"unit_mse": "median"}}):
        assert judge_errors([(0.05, 0.35)] * 100, **keys)["on_average"] is None


def test_an_error_beyond_its_bound_is_an_error():
    with pytest.raises(ValueError, match=r"a run lost 1\.2, more than the 1 that it can lose"):
        judge_errors([(1.3, 0.1)] * 10)


def test_between_two_that_have_a_bound_both_sides_can_be_proven():
    bounds = {"at_most": {"unit_mse": {"diffpets_regressor": 1, "fm": 1}}}
    assert judge_errors([(0.05, 0.5)] * 100, **bounds)["on_average"] == "reproduced"
    assert judge_errors([(0.5, 0.05)] * 100, **bounds)["on_average"] == "refuted"
