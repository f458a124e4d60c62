"""A paper is resolved once: its questions know settings and metrics, travel to other processes, and need no paper."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.cells.study_cells import cells_of_studies
from experiments.config import kinds
from experiments.config.papers import read_paper
from experiments.config.paths import list_papers
from experiments.judge import claim_answers
from experiments.judge.claim_answers import judge_by_runs, list_claim_needs
from experiments.judge.number_answers import judge_numbers, list_number_verdicts
from experiments.judge.question import ClaimQuestion
from experiments.judge.verdict import Verdict
from experiments.questions import claims
from experiments.questions.paper_questions import resolve_claims, resolve_numbers, resolve_paper
from experiments.questions.settings import key_of_cell, list_setting_keys
from experiments.run.executors import task_runner
from experiments.run.executors.executor import Executor
from experiments.run.executors.task_runner import TaskRunner
from experiments.store.results import Results, SettingKey
from tests.papers import make_paper
from tests.test_layout import MODULES, list_imports

STUDY = {"dataset": ["car", "nursery"], "algorithm": ["rdt", "majority"], "epsilon": [0.1, 1.0], "params": {}}
PAIR = {"id": "a", "text": "", "kind": "above", "study": "s", "within": ["dataset", "epsilon"], "metric": "accuracy"}
PAIR |= {"better": "rdt", "worse": "majority"}
PAPER = {"studies": {"s": STUDY}, "claims": [PAIR], "repeats": 5}


def draw_table(paper, seed=0):
    """Return a long table with an accuracy drawn for every cell of a paper's studies."""
    rng, rows = np.random.default_rng(seed), []
    for name, study in paper.studies.items():
        for values in study.settings(list(study.axes())):
            for repeat in range(paper.repeats):
                setting = dict(zip(study.axes(), values, strict=True))
                rows.append({"study": name, **setting, "repeat": repeat, "accuracy": rng.random(), "status": "done"})
    return pd.DataFrame(rows)


def test_who_answers_knows_no_paper():
    judges = [name for name in MODULES if name.startswith("experiments.judge")]
    assert len(judges) > 10
    papers = {"experiments.config.paper", "experiments.config.papers"}
    assert {name: list_imports(name) & papers for name in judges if list_imports(name) & papers} == {}


@pytest.mark.parametrize("name", list_papers())
def test_the_questions_of_a_paper_travel_to_another_process(name):
    paper = read_paper(name)
    numbers = resolve_numbers(paper)
    claims = resolve_claims(paper, [question.number for question in numbers])
    assert len(claims) == len(paper.claims)
    nothing = Results(pd.DataFrame())
    for claim, sent in zip(claims, pickle.loads(pickle.dumps(claims)), strict=True):
        assert (sent.id, sent.kind, type(sent.question)) == (claim.id, claim.kind, type(claim.question))
        if isinstance(claim.question, ClaimQuestion):
            assert sent.question == claim.question
            evidence = claim.question.gather(nothing)
            assert list_claim_needs(sent.question, evidence) == list_claim_needs(claim.question, evidence) != []
    verdicts = [answer.verdict for answer in list_number_verdicts(pickle.loads(pickle.dumps(numbers)), nothing)]
    assert verdicts == [answer.verdict for answer in list_number_verdicts(numbers, nothing)]


def test_a_question_that_has_travelled_gives_the_same_answer():
    paper = make_paper(**PAPER)
    results = Results(draw_table(paper))
    (claim,) = resolve_claims(paper)
    sent = pickle.loads(pickle.dumps(claim.question))
    evidence = pickle.loads(pickle.dumps(claim.question.gather(results)))
    assert judge_by_runs(sent, evidence) == judge_by_runs(claim.question, claim.question.gather(results))


@pytest.mark.long
def test_verdicts_made_in_other_processes_are_the_same(monkeypatch):
    monkeypatch.setattr(task_runner, "_SECONDS_HERE", 0)
    paper = read_paper("4")
    questions, table = resolve_paper(paper), draw_table(make_paper(**PAPER))
    answer, results = TaskRunner(Executor(jobs=2)).answer, Results(table)
    numbers = judge_numbers(questions.numbers, results, run_tasks=answer)
    pd.testing.assert_frame_equal(numbers, judge_numbers(questions.numbers, results))
    claims = [*questions.claims, *resolve_claims(make_paper(**PAPER))]
    verdicts = claim_answers.judge_claims(claims, results, numbers, answer)
    assert verdicts == claim_answers.judge_claims(claims, results, numbers)
    assert verdicts[-1].verdict not in (Verdict.NOT_RUN, None)


def test_a_setting_is_found_however_its_values_were_stored():
    paper = make_paper(**PAPER)
    table, study = draw_table(paper), paper.studies["s"]
    as_text = table.assign(epsilon=table["epsilon"].astype(str))
    shuffled = table.sample(frac=1, random_state=0)
    keys = list_setting_keys(study, {"dataset": "car"})
    assert len(keys) == 4
    for key, (algorithm, epsilon) in zip(keys, study.settings(["algorithm", "epsilon"]), strict=True):
        is_own = (table["dataset"] == "car") & (table["algorithm"] == algorithm) & (table["epsilon"] == epsilon)
        for stored in (table, as_text, shuffled):
            runs = Results(stored).find(key, "accuracy")
            assert runs.repeats.tolist() == list(range(5))
            assert runs.values.tolist() == table.loc[is_own, "accuracy"].tolist()
    assert not len(Results(table).find(key._replace(study="other"), "accuracy").repeats)
    assert np.isnan(Results(table).find(key, "r2").values).all()


def test_a_run_that_failed_is_told_from_one_whose_metric_is_undefined():
    table = draw_table(make_paper(**PAPER))
    key = list_setting_keys(make_paper(**PAPER).studies["s"], {})[0]
    table.loc[:1, "accuracy"] = np.nan
    table.loc[0, "status"] = "failed"
    runs = Results(table).find(key, "accuracy")
    assert np.isnan(runs.values).tolist() == [True, True, False, False, False]
    assert runs.is_undefined.tolist() == [False, True, False, False, False]
    assert len(runs.measured) == 3 and runs.n_attempted == 5


def test_cells_have_the_keys_of_their_settings():
    paper = make_paper(**PAPER)
    study = paper.studies["s"]
    keys = [key_of_cell(study, cell) for cell in cells_of_studies(paper, repeats=1)["s"]]
    assert keys == list(list_setting_keys(study, {}))


def test_the_rule_of_a_kind_is_a_short_file_of_its_name():
    files = [path for path in Path(claims.__file__).parent.glob("*.py") if path.stem != "__init__"]
    lengths = {file.stem: len(file.read_text(encoding="utf-8").splitlines()) for file in files}
    assert len(lengths) > 10 and lengths.keys() <= set(kinds.list_kinds("claims"))
    assert {file: n for file, n in lengths.items() if n > 100} == {}


def test_what_was_sorted_of_a_study_is_kept_while_it_has_no_new_rows(monkeypatch):
    rows = [("a", "rdt", 0, 0.5), ("a", "rdt", 1, 0.6), ("a+b", "edprf", 0, 0.7), ("b", "edprf", 1, 0.8)]
    columns = ["study", "algorithm", "repeat", "accuracy"]
    first = Results(pd.DataFrame(rows, columns=columns))
    asked = [SettingKey(study, ("algorithm",), (name,)) for study in "ab" for name in ("rdt", "edprf")]
    before = first.find_all(asked, "accuracy")
    table = pd.DataFrame([*rows, ("b", "edprf", 2, 0.9), ("b", "rdt", 0, 0.4)], columns=columns)
    sorted_anew, sort = [], Results._sort_study
    monkeypatch.setattr(Results, "_sort_study", lambda self, *study: sorted_anew.append(study[0]) or sort(self, *study))
    later = Results(table, first, {"b"}).find_all(asked, "accuracy")
    assert sorted_anew == ["b"]
    anew = Results(table).find_all(asked, "accuracy")
    assert [runs.measured.tolist() for runs in later] == [runs.measured.tolist() for runs in anew]
    assert later[0].values.tolist() == before[0].values.tolist() and before[3].measured.tolist() == [0.7, 0.8]
    assert later[3].measured.tolist() == [0.7, 0.8, 0.9] and later[2].measured.tolist() == [0.4]
