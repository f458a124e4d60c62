"""The sentence that says what came out of a paper, and the three answers, against the verdicts of made-up runs."""

import copy
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from documents.yaml_files import DocumentError
from experiments.config.finding import Sign
from experiments.config.kinds import find_kind
from experiments.config.paper import PaperError, Speaker, parse_paper
from experiments.config.papers import read_paper
from experiments.config.paths import REFERENCE
from experiments.judge import verdict
from experiments.metrics.metric import Margin
from experiments.questions.paper_questions import resolve_paper
from plots.answers import answer_privacy, count_signs
from plots.labels import MISSING
from plots.rows import label_place
from plots.runs.paper_run import PaperRun
from plots.runs.run_folder import read_json, write_json, write_paper
from tests.papers import make_paper

PUBLISHED = sorted(REFERENCE.glob("paper-[0-9]*"))
KINDS = (
    "above",
    "below",
    "increases",
    "decreases",
    "not_worse",
    "farther",
    "highest",
    "approaches",
    "meets",
    "independent",
)


@pytest.fixture
def run_2(tmp_path):
    """The published run of paper 2, in a folder of its own."""
    shutil.copytree(REFERENCE / "paper-2", tmp_path / "paper-2")
    return tmp_path / "paper-2"


def rewrite_paper(folder, **finding):
    """Write another finding into the description of a run, and return the run."""
    described = PaperRun.read(folder).paper.to_mapping()
    described["finding"] = {"text": "It fails.", **finding}
    write_paper(parse_paper(described), folder / "paper.yaml")
    return PaperRun.read(folder)


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda folder: folder.name)
def test_the_findings_of_published_papers_fit_their_runs_and_are_short(folder):
    run = PaperRun.read(folder)
    said = run.finding
    assert said and "{" not in said and len(said.split()) <= 30
    assert run.paper.promise and len(run.paper.promise.split()) <= 30
    assert run.paper.finding.claims or run.paper.finding.numbers
    assert run.misfits == []


def test_a_finding_that_a_run_does_not_bear_out_is_named(run_2):
    run = rewrite_paper(run_2, claims={"grows-with-depth": "holds"}, numbers={"max-adult": "fails"}, privacy="holds")
    assert run.misfits == [
        "claim grows-with-depth: it says that this holds; here it fails",
        "number max-adult: it says that this fails; here it holds",
        "privacy: it says that this holds; here it fails",
    ]


def test_what_a_short_run_leaves_open_is_no_misfit_and_what_it_refutes_is(run_2):
    judged = read_json(run_2 / "claims.json")
    for claim in judged["claims"]:
        claim["verdict"] = verdict.UNDECIDED if claim["id"] == "grows-with-depth" else claim["verdict"]
    write_json(judged, run_2 / "claims.json")
    wrong = {"grows-with-depth": "fails", "above-diffprfs-ig": "fails"}
    assert len(rewrite_paper(run_2, claims=wrong).misfits) == 2
    write_json(judged | {"cells": judged["cells"] - 1}, run_2 / "claims.json")
    assert PaperRun.read(run_2).misfits == ["claim above-diffprfs-ig: it says that this fails; here it holds"]


def test_sizes_come_from_the_run(run_2):
    sizes = {"claims": {"grows-with-depth": "fails"}, "numbers": {"adult-d10-eps0.05": "fails"}}
    text = "Depth loses {grows-with-depth}, and {adult-d10-eps0.05} are missing."
    assert rewrite_paper(run_2, text=text, **sizes).finding == "Depth loses 15 points, and 24 points are missing."
    numbers = pd.read_csv(run_2 / "numbers.csv")
    numbers.loc[numbers["id"] == "adult-d10-eps0.05", "difference"] = -0.031
    numbers.to_csv(run_2 / "numbers.csv", index=False)
    assert PaperRun.read(run_2).finding == "Depth loses 15 points, and 3.1 points are missing."


def test_how_many_numbers_lie_inside_is_counted_without_facts_and_what_was_not_run(run_2):
    numbers = pd.read_csv(run_2 / "numbers.csv")
    measured = numbers["statistic"] != "exact"
    numbers.loc[measured, ["verdict", "prediction_low"]] = ["refuted", 0.5]
    first = numbers.index[measured][:5]
    numbers.loc[first, "verdict"] = ["reproduced", "print too coarse", "undecided", "reproduced within ± δ", "not run"]
    numbers.loc[first[4], "prediction_low"] = np.nan
    numbers.to_csv(run_2 / "numbers.csv", index=False)
    assert rewrite_paper(run_2, text="{inside} lie inside.").finding == f"3 of {measured.sum()} lie inside."
    numbers.assign(prediction_low=np.nan).to_csv(run_2 / "numbers.csv", index=False)
    assert PaperRun.read(run_2).finding == f"{MISSING} lie inside.", "one run has no interval"


@pytest.mark.parametrize(
    ("finding", "said"),
    [
        ({"claims": {"nothing": "holds"}}, "finding.claims: the paper has no 'nothing'"),
        ({"numbers": {"max-adul": "holds"}}, "did you mean 'max-adult'?"),
        ({"text": "By {max-adult}."}, "finding.text: {max-adult} is not among the claims and numbers"),
        ({"picture": "figure-9"}, "finding.picture: "),
    ],
)
def test_a_finding_that_names_what_is_not_there_is_refused_before_anything_runs(finding, said):
    described = copy.deepcopy(read_paper("2").to_mapping())
    described["finding"] = {"text": "It fails.", **finding}
    with pytest.raises(PaperError, match="finding") as caught:
        resolve_paper(parse_paper(described))
    assert said in str(caught.value)


def test_long_sentences_are_refused():
    with pytest.raises(DocumentError, match="it has 31 words; write at most 30"):
        make_paper(promise="word " * 31)
    with pytest.raises(DocumentError, match="it has 31 words; write at most 30"):
        make_paper(finding={"text": "word " * 29 + "{size}"})
    assert make_paper(promise="word " * 30).promise


def test_every_verdict_has_a_sign():
    names = {value for name, value in vars(verdict).items() if name.isupper() and isinstance(value, str)}
    assert names == set(verdict.SIGN_OF)
    assert count_signs(names) == {Sign.HOLDS: 2, Sign.FAILS: 3, Sign.DEPENDS: 2, Sign.OPEN: 5}


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_claim_wants_lies_in_its_direction(kind):
    """Large effects to one side must be gains exactly if the kind says that this is the side it claims."""
    claim = find_kind("claims", kind)
    values = np.array([[0.1, 0.2, 0.4], [0.6, 0.3, 0.1]])
    if kind == "approaches":
        values = np.array([[0.1, 0.3, 0.0, 0.0], [0.3, 0.1, 0.0, 0.0]])
    elif kind not in ("increases", "decreases", "independent", "highest", "farther"):
        values = values[:, [0, 2]]
    parts = claim.list_parts(values, Margin(0.01))
    direction = claim.find_direction(parts[0].name)
    first = [part for part in parts if part.name == parts[0].name]
    for change, *gains in zip(first[0].changes, *(part.gains for part in first), strict=True):
        assert (min(gains) > 0) == (direction * change > 0)


def test_answers_count_what_is_the_papers_own():
    run = PaperRun.read(REFERENCE / "paper-2")
    own = [claim for claim in run.claims if run.paper.speaker_of(run.paper.claims_by_id[claim["id"]]) == Speaker.PAPER]
    numbers, answer, _ = run.answers
    assert sum(answer.counts.values()) == len(own) < len(run.claims)
    assert answer.counts[Sign.HOLDS] == sum(claim["verdict"].startswith("reproduced") for claim in own)
    assert sum(numbers.counts.values()) == (run.numbers["statistic"] != "exact").sum() < len(run.numbers)


def _answer_privacy(paper, rows, bounds=()):
    return answer_privacy(paper, rows, pd.DataFrame(bounds, columns=["algorithm", "claimed", "bound", "verdict"]))


def test_privacy_is_answered_from_accounts_and_attacks():
    paper = PaperRun.read(REFERENCE / "paper-2").paper
    kept = {"algorithm": "rfdpp_gini", "keeps_claim": True, "faults": [], "data_faults": {}}
    broken = kept | {"keeps_claim": False, "faults": [{"name": "leaves", "why": "leaf labels carry no noise"}]}
    attack = [("rfdpp_gini", 1.0, 3.25, "violated")]
    assert _answer_privacy(paper, [kept]).words == "yes"
    assert _answer_privacy(paper, [kept], attack).words == "no"  # whatever it accounts for
    no = _answer_privacy(paper, [broken], attack)
    assert (no.words, no.sign) == ("no", Sign.FAILS)
    assert no.reason == "leaf labels carry no noise; an attack measured ε ≥ 3.2 where 1 is claimed"
    claims_none = _answer_privacy(paper, [kept | {"keeps_claim": None}])
    assert (claims_none.words, claims_none.counts) == ("it claims no ε", {})
    on_adult = kept | {"data_faults": {"adult": ["bounds"]}}
    assert _answer_privacy(paper, [on_adult]).reason == "if the ranges of Adult are taken as public"
    assert _answer_privacy(paper, []).sign == Sign.OPEN
    ours = paper.model_copy(update={"own": ()})
    assert _answer_privacy(ours, [broken]).words == "no"
    assert _answer_privacy(ours, [broken, kept]).words == "1 of 2 algorithms are"


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda folder: folder.name)
def test_every_claim_stands_once_and_a_reading_inside_of_what_it_reads(folder):
    run = PaperRun.read(Path(folder))
    names = []

    def collect(row):
        names.append(row.id)
        strips = filter(None, [row.strip, *(setting.strip for setting in row.settings)])
        assert all(strip.low <= strip.center <= strip.high for strip in strips)
        for reading in row.readings:
            assert run.paper.claims_by_id[reading.id].reading_of == row.id
            collect(reading)

    for forest in (*run.forests, *run.own_forests):
        for row in forest.rows:
            assert run.paper.claims_by_id[row.id].reading_of is None
            collect(row)
    assert sorted(names) == sorted(claim["id"] for claim in run.claims)


def test_the_part_of_a_claim_is_named_by_the_values_that_it_compares():
    study = {"dataset": "car", "algorithm": "rdt", "epsilon": [0.5, 0.1, 1.0], "params": {"max_depth": [3, 5]}}
    grows = {"kind": "increases", "along": "epsilon", "within": ["params.max_depth"]}
    best = {"kind": "highest", "along": "params.max_depth", "at": 5, "within": ["epsilon"]}
    claims = [own | {"id": own["kind"], "text": "T", "study": "s", "metric": "accuracy"} for own in (grows, best)]
    paper = make_paper(studies={"s": study}, claims=claims)
    grows, best = paper.claims
    assert grows.find_compared(paper, "first to last") == ("epsilon", [0.1, 1.0])
    assert grows.find_compared(paper, "step 2") == ("epsilon", [0.5, 1.0])
    assert label_place(paper, grows, {"dataset": "car", "part": "step 1"}) == "car, epsilon from 0.1 to 0.5"
    assert label_place(paper, best, {"epsilon": 1.0, "part": "other value 1"}) == "epsilon = 1, against max_depth = 3"
