"""How many repeats a claim gets: look by look, the open groups alone, the same however the runs came about."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from documents.yaml_files import DocumentError
from experiments.config.kinds.claims import AboveClaim
from experiments.config.papers import prepare_paper
from experiments.errors import BadInput, one_line
from experiments.judge.evidence.claim_group import ClaimGroup, ClaimTest
from experiments.judge.evidence.replay import replay_looks
from experiments.judge.evidence.sequential_test import list_looks
from experiments.judge.numbers.number_verdict import PrintedNumber
from experiments.judge.question import ClaimQuestion
from experiments.metrics.metric import Margin
from experiments.questions.claims import find_rule
from experiments.questions.decide import PaperErrors, list_rounds, run_together, run_until_decided
from experiments.questions.number_questions import resolve_number
from experiments.questions.paper_questions import resolve_claims, resolve_paper
from experiments.run.more_metrics import merge_metrics
from experiments.store.record import Measured, Record
from tests.papers import judge_claims, list_claim_needs, make_paper, name_settings

EPSILON = [0.1, 1.0]
ABOVE = {"id": "above", "text": "above", "kind": "above", "study": "pair", "better": "rdt", "worse": "majority"}
ABOVE |= {"within": ["epsilon"], "metric": "accuracy"}
STUDY = {"dataset": "car", "algorithm": ["rdt", "majority"], "epsilon": EPSILON}
PAPER = {"repeats": 20, "most_repeats": 160, "studies": {"pair": STUDY}, "claims": [ABOVE]}


def make_table(gain, repeats=160):
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
    return 0.4 if epsilon == 1 else 0.03 + 0.3 * (-1) ** repeat


def test_open_groups_alone_need_the_next_look():
    for table, repeats in ((make_table(clear_at_one, 20), 40), (make_table(clear_at_one, {0.1: 40, 1.0: 20}), 80)):
        (need,) = ask(table)
        assert name_settings(need) == [("car", "majority", "0.1"), ("car", "rdt", "0.1")]
        assert need.repeats == repeats


def test_all_groups_need_the_first_look():
    assert [need.repeats for need in ask(make_table(clear_at_one, 19))] == [20, 20]
    assert [need.repeats for need in ask(pd.DataFrame())] == [20, 20]
    assert [need.repeats for need in ask(make_table(clear_at_one, 20), repeats=40)] == [40, 40]
    assert [need.repeats for need in ask(make_table(clear_at_one, 9), repeats=10)] == [20, 20]


@pytest.mark.parametrize(("gain", "verdict"), [(0.4, "reproduced"), (-0.4, "refuted"), (0.0, "practically equal")])
def test_a_decided_claim_needs_nothing(gain, verdict):
    table = make_table(lambda *_: gain)
    assert judge(table).verdict == verdict
    n = judge(table).runs
    assert n <= 40
    assert ask(table[table["repeat"] < n]) == []


def test_repeats_end_where_the_paper_or_the_claim_says():
    table = make_table(clear_at_one)
    assert ask(table) == []
    assert ask(table, most_repeats=320)[0].repeats == 320
    assert ask(make_table(clear_at_one, 40), claims=[ABOVE | {"most_repeats": 40}]) == []
    assert ask(table, claims=[ABOVE | {"most_repeats": 320}])[0].repeats == 320
    result = judge(table)
    assert (result.verdict, result.runs) == ("undecided", 160)


def test_given_repeats_are_one_look():
    written = make_paper(**PAPER)
    paper = prepare_paper(written, 20)
    assert (paper.repeats, paper.most_repeats) == (20, 20)
    table = make_table(clear_at_one, 20)
    assert list_claim_needs(paper, table) == []
    (result,) = judge_claims(paper, table)
    assert (result.verdict, result.runs) == ("undecided", 20)
    assert prepare_paper(written).most_repeats == 160
    assert prepare_paper(written, 20, 40).most_repeats == 40
    of_claim = written.replaced(claims=[written.claims[0].replaced(most_repeats=320)])
    assert prepare_paper(of_claim).claims[0].most_repeats == 320
    assert "most_repeats" not in prepare_paper(of_claim, 20).claims[0].model_fields_set
    assert prepare_paper(of_claim, 20).to_mapping() == prepare_paper(written, 20).to_mapping()


@pytest.mark.parametrize(
    ("repeats", "most_repeats", "says"),
    [
        (0, None, "repeats: input should be greater than or equal to 1, got 0"),
        ("many", None, "repeats: input should be a valid integer, got 'many'"),
        (None, 0, "most_repeats: input should be greater than or equal to 1, got 0"),
    ],
)
def test_what_is_no_number_of_repeats_is_refused_in_one_line(repeats, most_repeats, says):
    with pytest.raises(DocumentError) as refused:
        prepare_paper(make_paper(**PAPER), repeats, most_repeats)
    assert str(refused.value) == says


def test_with_fewer_than_twenty_runs_nothing_is_shown():
    table = make_table(lambda *_: 0.4, 10)
    paper = prepare_paper(make_paper(**PAPER), 10)
    assert list_claim_needs(paper, table) == []
    (result,) = judge_claims(paper, table)
    assert result.verdict == "undecided" and "10 runs, and 20 are the least that prove anything" in result.reason


def list_decided(answer):
    """Return what rests on the looks alone; an effect is of all runs that there are."""
    settings = {str(found.place): (found.outcome, found.weighed) for found in answer.settings}
    return answer.verdict, answer.as_read, answer.runs, answer.unseen, answer.counts, settings


@pytest.mark.parametrize("gain", [clear_at_one, lambda *_: 0.4, lambda e, r: -0.4 if e == 1 else 0.3 * (-1) ** r])
def test_neither_more_repeats_nor_the_order_of_rows_change_what_is_said(gain):
    rng = np.random.default_rng(0)
    whole = make_table(gain)
    result = judge(whole)
    needed = {found.place["epsilon"]: found.weighed for found in result.settings}
    exact = make_table(gain, needed)
    assert len(exact) < len(whole)
    longer = pd.concat([whole, make_table(lambda *_: -0.4, 320).query("repeat >= 160")])
    for table in (exact, longer, whole.sample(frac=1, random_state=rng), exact.iloc[::-1]):
        assert list_decided(judge(table)) == list_decided(result)
        assert ask(table) == []


def test_the_verdict_is_that_of_the_look_at_which_it_fell():
    table = make_table(lambda e, r: 0.4 if r < 20 else -0.4)
    assert judge(table).verdict == "reproduced" and judge(table).runs == 20
    later = make_table(lambda e, r: -0.4 if r < 20 else 0.4)
    assert judge(later).verdict == "refuted"


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
    assert runner.count() == [80, 40, 80, 160]
    assert runner.reasons[0] == "" and "up to 160 repeats" in runner.reasons[-1]
    for cells in runner.rounds[1:]:
        assert {cell.epsilon for cell in cells} == {0.1}
    keys = [cell.key for cells in runner.rounds for cell in cells]
    assert len(set(keys)) == len(keys) == len(table)
    (result,) = judge_claims(paper, table)
    (expected,) = judge_claims(paper, make_table(clear_at_one))
    assert list_decided(result) == list_decided(expected)


def test_a_decided_claim_gets_no_second_round():
    runner = FakeRunner(lambda cell: 0.1 + 0.8 * (cell.algorithm == "rdt"))
    decide(runner)
    assert runner.count() == [80]


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
    assert result.verdict in ("undecided", "not run")
    assert "INCOMPLETE" in result.reason or result.verdict == "not run"


def test_one_crash_keeps_a_claim_open_and_is_said():
    """What a crash hides may be worse than all that was seen; that the rest would hold does not matter."""
    gains = lambda cell: 0.1 + 0.8 * (cell.algorithm == "rdt")  # noqa: E731
    runner = FakeRunner(
        lambda cell: None if (cell.epsilon, cell.repeat, cell.algorithm) == (1, 3, "rdt") else gains(cell)
    )
    paper, table = decide(runner)
    assert runner.count() == [80], "no further run could decide it"
    (result,) = judge_claims(paper, table)
    assert result.verdict == "undecided" and "INCOMPLETE: 1 run failed at ε = 1" in result.reason
    assert result.counts == {"as claimed": 1, "equal": 0, "opposite": 0, "open": 1}


def test_one_crash_does_not_hide_that_another_group_refutes():
    runner = FakeRunner(
        lambda cell: (
            None
            if (cell.epsilon, cell.repeat, cell.algorithm) == (1, 3, "rdt")
            else 0.9 - 0.8 * (cell.algorithm == "rdt")
        )
    )
    paper, table = decide(runner)
    (result,) = judge_claims(paper, table)
    assert result.verdict == "refuted" and "INCOMPLETE: 1 run failed" in result.reason


def test_papers_have_their_rounds_together_and_each_is_given_what_it_gives_alone():
    narrow = ABOVE | {"id": "narrow", "where": {"epsilon": 1.0}, "within": []}
    papers = {"open": make_paper(**PAPER), "clear": make_paper(**PAPER | {"claims": [narrow]})}
    alone = {name: FakeRunner(accuracy_of) for name in papers}
    tables = {name: run_until_decided(resolve_paper(paper), alone[name]) for name, paper in papers.items()}
    together = FakeRunner(accuracy_of)
    rounds = {name: list_rounds(resolve_paper(paper)) for name, paper in papers.items()}
    found = run_together(rounds, together, PaperErrors(2))
    assert next(found)[0] == "clear" and len(together.rounds) == 1, "it waits for no other"
    (name, table), *_ = found
    assert name == "open" and table.equals(tables["open"])
    assert together.count() == [160, *alone["open"].count()[1:]]
    assert together.reasons[1:] == [f"paper open, {reason}" for reason in alone["open"].reasons[1:]]


class OneStore(FakeRunner):
    """Measures of a cell what all ask for that ask at once, and keeps what it has measured before."""

    def __init__(self, accuracy):
        super().__init__(accuracy)
        self.measured = {}

    def __call__(self, cells, reason):
        records = super().__call__(cells, reason)
        for key, cell in merge_metrics(cells).items():
            more = dict.fromkeys(cell.metrics, 0.1) | self.measured.get(key, {})
            self.measured[key] = records[key].measured.metrics | more
        return {key: Record("done", Measured(self.measured[key], 0.1)) for key in records}


@pytest.mark.parametrize("names", [("plain", "more", "other"), ("more", "other", "plain")])
def test_papers_that_ask_for_different_metrics_of_a_cell_are_given_their_own(names):
    asked = {"plain": [], "more": ["f1_macro"], "other": []}
    papers = {name: make_paper(**PAPER | {"studies": {"pair": STUDY | {"metrics": asked[name]}}}) for name in names}
    together = OneStore(accuracy_of)
    found = dict(run_together({n: list_rounds(resolve_paper(papers[n])) for n in names}, together, PaperErrors(3)))
    for name, paper in papers.items():
        assert found[name].equals(run_until_decided(resolve_paper(paper), OneStore(accuracy_of))), name
        assert ("f1_macro" in found[name]) == (name == "more")
    passes = (2, 1) if names[0] == "plain" else (1, 2)
    assert together.count() == [n * of for n in (80, 40, 80, 160) for of in passes], "those that ask alike as one"


def raise_after_a_round(rounds, error):
    yield next(rounds)
    raise error


@pytest.mark.parametrize("error", [ZeroDivisionError("a mistake"), BadInput("a mistake")])
def test_a_paper_that_raises_is_left_out_and_the_others_go_on(error, capsys):
    questions, errors = resolve_paper(make_paper(**PAPER)), PaperErrors(2)
    papers = {"bad": raise_after_a_round(list_rounds(questions), error), "good": list_rounds(questions)}
    ((name, table),) = run_together(papers, FakeRunner(accuracy_of), errors)
    assert name == "good" and table.equals(decide(FakeRunner(accuracy_of))[1])
    assert capsys.readouterr().err == f"paper bad is left out: {one_line(error)}\n"
    with pytest.raises(type(error), match="a mistake"):
        errors.raise_first()


@pytest.mark.parametrize(("n_papers", "error"), [(1, ValueError("a mistake")), (2, BrokenPipeError())])
def test_where_no_other_paper_goes_on_or_nobody_reads_on_an_error_is_raised_at_once(n_papers, error, capsys):
    with pytest.raises(type(error)):
        PaperErrors(n_papers).leave_out("bad", error)
    assert capsys.readouterr().err == ""


def test_what_is_no_error_of_one_paper_ends_all_at_once():
    questions = resolve_paper(make_paper(**PAPER))

    def refuse():
        raise BadInput("it cannot be run")
        yield

    def fail(cells, reason):
        raise OSError("the disk is full")

    interrupted = raise_after_a_round(list_rounds(questions), KeyboardInterrupt())
    for other, run, error in (
        (refuse(), FakeRunner(accuracy_of), BadInput),
        (interrupted, FakeRunner(accuracy_of), KeyboardInterrupt),
        (list_rounds(questions), fail, OSError),
    ):
        with pytest.raises(error):
            next(run_together({"one": list_rounds(questions), "other": other}, run, PaperErrors(2)))
        assert error is not BadInput or not run.rounds, "nothing was run"


def test_a_run_may_begin_with_the_cells_of_no_study():
    runner, paper = FakeRunner(lambda cell: 0.1 + 0.8 * (cell.algorithm == "rdt")), make_paper(**PAPER)
    questions = resolve_paper(paper)
    table = run_until_decided(questions, runner, questions.claims)
    assert sum(runner.count()) == len(table) == 80


def test_claims_that_share_cells_run_them_once_and_do_not_move_each_other():
    narrow = ABOVE | {"id": "narrow", "where": {"epsilon": 1.0}, "within": []}
    runner = FakeRunner(accuracy_of)
    paper, table = decide(runner, claims=[narrow, ABOVE])
    keys = [cell.key for cells in runner.rounds for cell in cells]
    assert len(set(keys)) == len(keys)
    of_narrow, _ = judge_claims(paper, table)
    less = table[(table["epsilon"] == 1) & (table["repeat"] < of_narrow.runs)]
    assert judge_claims(paper, less)[0] == of_narrow


def test_a_number_whose_cells_fail_keeps_no_claim_from_the_cells_that_they_share():
    runner = FakeRunner(lambda cell: None if (cell.repeat, cell.algorithm) == (30, "majority") else accuracy_of(cell))
    grid = {"id": "t", "title": "T", "kind": "grid", "study": "pair", "rows": "algorithm", "columns": "epsilon"}
    paper = make_paper(**PAPER, tables=[grid | {"metric": "accuracy"}])
    setting = {"dataset": "car", "algorithm": "majority", "epsilon": 0.1}
    number = PrintedNumber("x", "t", "accuracy", "mean", 0.6, 1, "p. 1", setting)  # 0.4 in all runs
    questions = replace(resolve_paper(paper), numbers=(resolve_number(paper, number, [number]),))
    most = run_until_decided(questions, runner).groupby("epsilon")["repeat"].max().to_dict()
    assert most == {0.1: 39, 1.0: 19}, "the claim gets its look, at which its run has failed"


def test_an_approaching_algorithm_waits_for_the_cells_of_the_other():
    """Another claim may have run one of the two much more often."""
    nears = {"id": "nears", "text": "", "kind": "approaches", "study": "pair", "along": "epsilon", "within": []}
    nears |= {"metric": "accuracy", "algorithm": "rdt", "to": "majority"}
    table = make_table(lambda e, r: 0.1 * (-1) ** r / e)
    uneven = table[(table["repeat"] < 10) | (table["algorithm"] == "rdt")]
    assert [need.repeats for need in ask(uneven, claims=[nears | {"most_repeats": 40}], repeats=40)] == [40]


CLAIM = AboveClaim(
    id="above", text="", own=True, kind="above", study="s", within=(), metric="accuracy", better="a", worse="b"
)
LOOKS = list_looks(20, 320)


def make_group(*gains, n_attempted=None):
    gains = np.array(gains)
    values = np.column_stack([np.full(len(gains), 0.5), 0.5 + gains])
    test = ClaimTest(find_rule(CLAIM), Margin(0.01))
    return ClaimGroup({}, np.arange(len(gains)), values, n_attempted or len(gains), test)


def make_even(mean, half, n=320):
    """Return a group whose runs lie alternately above and below their mean."""
    return make_group(*(mean + half * (-1) ** np.arange(n)))


def test_a_group_that_is_given_up_is_not_taken_up_again():
    """It is far from both δ and 0 at first, on neither side; what it does later counts for nothing."""
    slow = make_group(*[-0.3, 0.3] * 80, *[0.9] * 160)
    replay = replay_looks([slow], LOOKS, 0.00125)
    assert replay.counts[0] == 160 and replay.standings.verdict == "undecided"


def test_a_claim_that_could_only_stay_undecided_gets_no_more_runs():
    """No side wins: half of the runs are enough to see that the others would decide nothing."""
    table = make_table(lambda epsilon, repeat: 0.3 * (-1) ** repeat)
    claims = [ABOVE, *(ABOVE | {"id": f"other {place}"} for place in range(9))]
    assert {need.repeats for need in ask(table[table["repeat"] < 20], claims=claims)} == {40}
    result, *_ = judge_claims(make_paper(**PAPER | {"claims": claims}), table)
    assert (result.verdict, result.runs) == ("undecided", 80)
    assert ask(table[table["repeat"] < 80], claims=claims) == []


def test_a_group_that_waits_for_the_others_goes_on_when_one_of_them_is_equal():
    """By itself it is as claimed after twenty runs, but not by Holm's rule, which is what *in part* takes."""
    equal = make_even(0.0, 0.012)
    gains = make_even(0.03, 0.03)
    level = 0.003
    alone = replay_looks([gains], LOOKS, level)
    assert (alone.standings.verdict, alone.counts) == ("reproduced", [20])
    replay = replay_looks([gains, *[equal] * 9], LOOKS, level)
    assert replay.standings.verdict == "in part"
    assert replay.counts[0] > 20 and [outcome.value for outcome in replay.standings.outcomes] == [
        "as claimed",
        *["equal"] * 9,
    ]


def test_a_group_that_waits_for_one_that_is_given_up_goes_on_until_it_is_shown():
    hopeless, gains = make_even(0.0, 0.3), make_even(0.03, 0.03)
    replay = replay_looks([gains, *[hopeless] * 9], LOOKS, 0.003)
    assert replay.standings.outcomes[0] == "as claimed" and replay.standings.verdict == "undecided"
    assert replay.counts == [320, *[160] * 9]


def test_a_group_that_goes_on_asks_for_the_runs_that_it_lacks():
    equal, gains = make_even(0.0, 0.012), make_even(0.03, 0.03, 20)
    whole = replay_looks([make_even(0.03, 0.03), *[equal] * 9], LOOKS, 0.003)
    replay = replay_looks([gains, *[equal] * 9], LOOKS, 0.003)
    (needed,) = replay.needed.items()
    assert needed == (0, whole.counts[0])


def test_a_group_that_refutes_ends_a_claim_at_once():
    replay = replay_looks([make_even(0.0, 0.3), make_group(*[-0.4] * 320)], LOOKS, 0.003)
    assert (replay.standings.verdict, replay.counts) == ("refuted", [20, 20])


def test_who_is_given_up_would_hardly_ever_have_been_proven():
    """Of groups that some look would show to be anything, few are given up: their verdict is open, never false."""
    rng, level = np.random.default_rng(0), 0.00125
    lost = n_shown = 0
    for mean in np.linspace(-0.02, 0.02, 9):
        for _ in range(60):
            group = make_group(*rng.normal(mean, 0.03, 320))
            shown_at = None
            for look in LOOKS:
                (found,) = group.weigh(look.n, is_alone=True)
                if min(found) <= level * look.share:
                    shown_at = look.n
                    break
            if shown_at:
                n_shown += 1
                lost += replay_looks([group], LOOKS, level).standings.verdict == "undecided"
    assert n_shown > 200 and lost <= 0.02 * n_shown


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
        reading = {"reading_of": of} if of else {}
        made.append(ABOVE | reading | {"id": name, "text": name, "worse": "lost" if name == "lost" else "majority"})
    levels = list_levels(made, **LOST)
    assert len(levels) == sum(name != "lost" for name, _ in claims)
    assert all(level > 0 for level in levels)
    assert sum(levels) <= 0.05 + 1e-12


def test_readings_share_what_their_text_has_and_take_nothing_from_other_claims():
    printed = [ABOVE, ABOVE | {"id": "other"}]
    readings = [ABOVE | {"id": f"reading {i}", "text": f"reading {i}", "reading_of": "above"} for i in range(9)]
    alone, other = list_levels(printed)
    shared = list_levels([*printed, *readings])
    assert alone == other == shared[1] == pytest.approx(0.05 / 2 / 2)
    assert {round(level, 12) for level in [shared[0], *shared[2:]]} == {round(alone / 10, 12)}


def test_what_is_not_implemented_takes_no_share():
    lost = [ABOVE | {"id": f"lost {i}", "worse": "lost"} for i in range(200)]
    assert list_levels([ABOVE, *lost], **LOST) == list_levels([ABOVE])
