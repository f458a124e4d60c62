"""The sentence that says what came out of a paper, and the three answers, against the verdicts of made-up runs."""

import copy
import re
import shutil
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from algorithms.accounting.faults import CLAIMS_ONLY
from documents.yaml_files import DocumentError
from experiments.audit.private_as_claimed import judge_privacy
from experiments.cells.current import Standing
from experiments.config.finding import FinerSign, PaperFinding, Sign
from experiments.config.kinds import find_kind
from experiments.config.paper import Speaker, parse_paper
from experiments.config.papers import read_paper
from experiments.config.paths import REFERENCE
from experiments.config.study import PaperError
from experiments.judge.paper_answer import count_signs
from experiments.judge.verdict import Verdict
from experiments.metrics.metric import Margin
from experiments.questions.claims import find_rule
from experiments.questions.paper_questions import resolve_paper
from experiments.store.json_files import read_json, write_json
from plots.labels import MISSING
from plots.pages.reference_pages import read_published
from plots.rows import label_place
from plots.runs.paper_run import PaperRun
from plots.runs.run_folder import write_paper
from tests.papers import make_paper
from tests.published_report import published_run

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


@cache
def list_increasing():
    """The claims of paper 2 that something increases, none of them a reading of another."""
    claims = published_run("2").paper.claims
    return [claim.id for claim in claims if claim.reading_of is None and claim.kind == "increases"]


@pytest.fixture
def run_2(tmp_path):
    """The published run of paper 2, in a folder of its own; two of its claims come out as is needed here."""
    folder = tmp_path / "paper-2"
    shutil.copytree(REFERENCE / "paper-2", folder)
    judged = read_json(folder / "claims.json")
    falling, holding = list_increasing()[:2]
    fails = {
        "place": {"dataset": "adult"},
        "outcome": "opposite",
        "effect": -0.1523,
        "low": -0.2,
        "high": -0.1,
        "n": 20,
    }
    change_claim(judged, falling, verdict="refuted", as_read="refuted", settings=[fails], effect=-0.01)
    change_claim(judged, holding, verdict="reproduced", as_read="reproduced", effect=0.031)
    write_json(judged, folder / "claims.json")
    return SimpleNamespace(folder=folder, judged=judged, falling=falling, holding=holding)


def change_claim(judged, name, **answer):
    """Change the answer to one claim."""
    next(claim for claim in judged["claims"] if claim["id"] == name).update({"conditions": {}, **answer})


def rewrite_paper(run_2, **finding):
    """Write another finding into the description of a run, and return the run."""
    described = PaperRun.read(run_2.folder).paper.to_mapping()
    described["finding"] = {"text": "It fails.", **finding}
    write_paper(parse_paper(described), run_2.folder / "paper.yaml")
    return PaperRun.read(run_2.folder)


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda folder: folder.name)
def test_the_findings_of_published_papers_fit_their_runs_and_are_short(folder):
    run = read_published(folder)
    said = run.finding
    assert said and "{" not in said and len(said.split()) <= 30
    assert run.paper.promise and len(run.paper.promise.split()) <= 30
    assert run.paper.finding.claims or run.paper.finding.numbers
    assert run.misfits == []


def test_a_finding_that_a_run_does_not_bear_out_is_named(run_2):
    run = rewrite_paper(run_2, claims={run_2.falling: "holds"}, numbers={"max-adult": "fails"}, privacy="holds")
    came_out = {"holds": "it holds", "fails": "it fails", "open": "it is open", "depends": "it depends"}
    of_number = Verdict(run.numbers.set_index("id").loc["max-adult", "verdict"]).sign
    assert run.misfits == [
        f"claim {run_2.falling}: it says that this holds; here it fails",
        *([f"number max-adult: it says that this fails; here {came_out[of_number]}"] if of_number != "fails" else []),
        "privacy: it says that this holds; here it fails",
    ]


def test_what_a_short_run_leaves_open_is_no_misfit_and_what_it_refutes_is(run_2):
    change_claim(run_2.judged, run_2.falling, verdict="undecided", as_read="undecided")
    write_json(run_2.judged, run_2.folder / "claims.json")
    assert len(rewrite_paper(run_2, claims={run_2.falling: "fails", run_2.holding: "fails"}).misfits) == 2
    write_json(run_2.judged | {"cells": run_2.judged["cells"] - 1}, run_2.folder / "claims.json")
    assert PaperRun.read(run_2.folder).misfits == [f"claim {run_2.holding}: it says that this fails; here it holds"]


@pytest.mark.parametrize("word", ["never", "No", "none", "every", "Always"])
@pytest.mark.parametrize(
    ("conditions", "verdict", "said"),
    [
        ({"x": "reproduced", "y": "refuted"}, "depends on the reading", "depends on the reading"),
        ({"x": "reproduced", "y": "undecided"}, "undecided", "has readings that differ"),
        ({"x": "refuted", "y": "practically equal"}, "refuted", ""),
        ({}, "refuted", ""),
    ],
)
def test_a_word_without_exceptions_needs_readings_that_agree(run_2, word, conditions, verdict, said):
    change_claim(run_2.judged, run_2.falling, verdict=verdict, conditions=conditions)
    write_json(run_2.judged, run_2.folder / "claims.json")
    run = PaperRun.read(run_2.folder)

    def list_misfits(text, claims):
        finding = PaperFinding(text=text, claims=claims)
        return replace(run, paper=run.paper.model_copy(update={"finding": finding})).misfits

    rests_on = {run_2.falling: Verdict(verdict).sign.value}
    expected = [f"it says `{word}`, but claim {run_2.falling} {said}"] if said else []
    assert list_misfits(f"It is {word} tree.", rests_on) == expected
    assert list_misfits(f"It is un{word}ish.", rests_on) == [], "whole words alone"
    assert list_misfits(f"It is {word} tree.", {run_2.holding: "holds"}) == []


def test_readings_that_a_part_of_the_runs_leaves_open_are_no_misfit(run_2):
    conditions = {"x": "refuted", "y": "undecided"}
    change_claim(run_2.judged, run_2.falling, verdict="undecided", conditions=conditions)
    write_json(run_2.judged | {"cells": run_2.judged["cells"] - 1}, run_2.folder / "claims.json")
    assert rewrite_paper(run_2, text="It never fails.", claims={run_2.falling: "fails"}).misfits == []


def test_sizes_come_from_the_run(run_2):
    """That of a claim which fails is in the setting that refutes it, else it is of all settings."""
    sizes = {"claims": {run_2.falling: "fails", run_2.holding: "holds"}, "numbers": {"adult-d10-eps0.05": "fails"}}
    text = f"It loses {{{run_2.falling}}}, gains {{{run_2.holding}}}, and {{adult-d10-eps0.05}} are missing."
    numbers = pd.read_csv(run_2.folder / "numbers.csv")
    for missing, said in ((-0.24, "24"), (-0.031, "3.1")):
        numbers.loc[numbers["id"] == "adult-d10-eps0.05", "difference"] = missing
        numbers.to_csv(run_2.folder / "numbers.csv", index=False)
        run = rewrite_paper(run_2, text=text, **sizes)
        assert (
            run.finding
            == f"It loses 15 percentage points, gains 3.1 percentage points, and {said} percentage points are missing."
        )


def test_how_many_numbers_lie_inside_is_counted_without_facts_and_what_was_not_run(run_2):
    numbers = pd.read_csv(run_2.folder / "numbers.csv")
    measured = numbers["statistic"] != "exact"
    numbers.loc[measured, ["verdict", "prediction_low", "prediction_high"]] = ["refuted", 0.0, 1.0]
    first = numbers.index[measured][:5]
    numbers.loc[first, "verdict"] = ["reproduced", "print too coarse", "undecided", "reproduced within ± δ", "not run"]
    numbers.loc[first[4], "prediction_low"] = np.nan
    numbers.to_csv(run_2.folder / "numbers.csv", index=False)
    assert rewrite_paper(run_2, text="{inside} lie inside.").finding == f"3 of {measured.sum()} lie inside."
    numbers.assign(prediction_low=np.nan).to_csv(run_2.folder / "numbers.csv", index=False)
    assert PaperRun.read(run_2.folder).finding == f"{MISSING} lie inside.", "one run has no interval"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{inside} lie inside. At ε = 0.05 noise costs points.", "At ε = 0.05 noise costs points."),
        ("At ε = 0.05 noise costs points. {inside} lie inside.", "At ε = 0.05 noise costs points."),
        ("{inside} lie inside.", "nothing can be said."),
    ],
)
def test_a_partial_run_leaves_out_the_sentence_whose_size_it_does_not_know(run_2, text, said):
    numbers = pd.read_csv(run_2.folder / "numbers.csv")
    numbers.assign(prediction_low=np.nan).to_csv(run_2.folder / "numbers.csv", index=False)
    run = rewrite_paper(run_2, text=text)
    partial = replace(run, coverage=(run.coverage[0] - 1, run.coverage[1]))
    assert partial.finding == f"So far, after a part of its runs: {said}"
    assert MISSING in run.finding, "the whole run has a dash, which its author will see"


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


def test_every_verdict_has_a_sign_and_what_is_near_one_is_counted_apart():
    assert Counter(verdict.sign for verdict in Verdict) == {
        Sign.HOLDS: 2,
        Sign.FAILS: 3,
        Sign.DEPENDS: 3,
        Sign.OPEN: 5,
    }
    near = {FinerSign.WITHIN: 2, FinerSign.IN_PART: 1}
    assert count_signs(Verdict) == {Sign.HOLDS: 1, Sign.FAILS: 2, Sign.DEPENDS: 2, Sign.OPEN: 5, **near}
    assert all(isinstance(verdict.sign, Sign) and Verdict(verdict.value) is verdict for verdict in Verdict)


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_claim_wants_lies_in_its_direction(kind):
    """Large effects to one side must be gains exactly if the kind says that this is the side it claims."""
    rule = find_rule(find_kind("claims", kind).model_construct(kind=kind, margin=0.05))
    values = np.array([[0.1, 0.2, 0.4], [0.6, 0.3, 0.1]])
    if kind == "approaches":
        values = np.array([[0.1, 0.3, 0.0, 0.0], [0.3, 0.1, 0.0, 0.0]])
    elif kind not in ("increases", "decreases", "independent", "highest", "farther"):
        values = values[:, [0, 2]]
    first = rule.list_contrasts(values, Margin(0.01))[0]
    direction = rule.find_direction(first.name)
    for change, gain in zip(first.changes, first.gains, strict=True):
        assert (gain > 0) == (direction * change > 0)


def test_answers_count_what_is_the_papers_own():
    run = PaperRun.read(REFERENCE / "paper-2")
    own = [claim for claim in run.claims if run.paper.speaker_of(run.paper.claims_by_id[claim.id]) == Speaker.PAPER]
    numbers, answer, _ = run.answers
    assert sum(answer.counts.values()) == len(own) < len(run.claims)
    assert answer.counts[Sign.HOLDS] == sum(claim.verdict == "reproduced" for claim in own)
    assert sum(numbers.counts.values()) == (run.numbers["statistic"] != "exact").sum() < len(run.numbers)


def _judge_privacy(paper, rows, bounds=()):
    """Return the answer where all that was run was attacked, and withstood unless the bounds say more."""
    bounds = [(row["algorithm"], 1.0, 0.5, "not refuted") for row in rows] + list(bounds)
    audit = pd.DataFrame(bounds, columns=["algorithm", "claimed", "bound", "verdict"])
    return judge_privacy(paper, rows, audit.assign(standing=Standing.CURRENT, audit="the latest audit"))


def test_privacy_is_answered_from_accounts_and_attacks():
    paper = PaperRun.read(REFERENCE / "paper-2").paper
    kept = {"algorithm": "rfdpp_gini", "keeps_claim": True, "faults": [], "data_faults": {}}
    broken = kept | {"keeps_claim": False, "faults": [{"name": "leaves", "why": "leaf labels carry no noise"}]}
    attack = [("rfdpp_gini", 1.0, 3.25, "violated")]
    assert _judge_privacy(paper, [kept]).words == "yes"
    assert _judge_privacy(paper, [kept], attack).words == "no"  # whatever it accounts for
    no = _judge_privacy(paper, [broken], attack)
    assert (no.words, no.sign) == ("no", Sign.FAILS)
    assert no.reason == "leaf labels carry no noise; an attack measured ε ≥ 3.25 where 1 is claimed"
    claims_none = _judge_privacy(paper, [kept | {"keeps_claim": None}])
    assert (claims_none.words, claims_none.counts) == ("it claims no ε", {})
    on_adult = kept | {"data_faults": {"adult": ["bounds"]}}
    assert _judge_privacy(paper, [on_adult]).reason == "if the ranges of Adult are taken as public"
    assert _judge_privacy(paper, []).sign == Sign.OPEN
    ours = paper.model_copy(update={"own": ()})
    assert _judge_privacy(ours, [broken]).words == "no"
    assert _judge_privacy(ours, [broken, kept | {"algorithm": "rdt"}]).words == "1 of 2 algorithms is"


def test_what_nobody_checked_is_counted_as_open():
    """A peer that claims an ε without an account is neither private nor left out."""
    paper = PaperRun.read(REFERENCE / "paper-benchmark-heavy").paper
    kept = {"algorithm": "rdt", "keeps_claim": True, "faults": [], "data_faults": {}}
    unchecked = [kept | {"algorithm": name, "keeps_claim": None, "faults": [vars(CLAIMS_ONLY)]} for name in ("a", "b")]
    found = _judge_privacy(paper, [kept, *unchecked])
    assert (found.words, found.counts) == ("1 of 3 algorithms is, nobody checked 2", {Sign.HOLDS: 1, Sign.OPEN: 2})
    assert found.sign == Sign.OPEN, "nothing speaks against it, and not all was looked at"
    alone = _judge_privacy(paper, unchecked[:1])
    assert (alone.words, alone.counts) == ("it claims an ε that nobody checked", {Sign.OPEN: 1})


@pytest.mark.parametrize("name", ["benchmark", "benchmark-heavy"])
def test_each_algorithm_of_a_benchmark_that_claims_an_epsilon_is_counted(name):
    run = PaperRun.read(REFERENCE / f"paper-{name}")
    answer = run.answers[2]
    unchecked = [row for row in run.privacy if any(fault["name"] == CLAIMS_ONLY.name for fault in row["faults"])]
    assert sum(answer.counts.values()) == len(run.privacy) and answer.counts[Sign.OPEN] == len(unchecked) > 0
    assert f"of {len(run.privacy)} algorithms" in answer.words and f"nobody checked {len(unchecked)}" in answer.words


def test_what_decides_stands_beside_the_counts():
    numbers, claims, _ = PaperRun.read(REFERENCE / "paper-2").answers
    run = PaperRun.read(REFERENCE / "paper-2")
    failing = run.measured[run.measured["verdict"] == "refuted"]
    farthest = failing.loc[(failing["difference"] / failing["printed"]).abs().idxmax()]
    printed, ours = (f"{100 * farthest[name]:.3f}" for name in ("printed", "mean"))
    assert numbers.reason.startswith(f"farthest off: printed {printed}, ours {ours} (Mushroom, depth d = 10, ε = 0.05")
    assert "14 depend on how many runs were averaged" in numbers.reason
    assert claims.reason.startswith("fails by most: “Noise costs little accuracy: ")
    assert "(ε = 0.05 minus no noise)" in claims.reason and "open: 6 undecided (after at most 40 runs" in claims.reason


def test_an_algorithm_that_is_private_under_some_readings_depends_on_them():
    """A reading of an algorithm of the paper has no less weight than the first; others of its kind have none."""
    paper = PaperRun.read(REFERENCE / "paper-3").paper
    kept = {"algorithm": "fm", "keeps_claim": True, "faults": [], "data_faults": {}}
    fault = [{"name": "scale", "why": "the target is not scaled"}]
    raw = kept | {"algorithm": "fm_raw_target", "keeps_claim": False, "faults": fault}
    found = _judge_privacy(paper, [kept, raw])
    assert (found.words, found.sign, found.counts) == ("depends on the reading", Sign.DEPENDS, {Sign.DEPENDS: 1})
    assert found.reason == "the target is not scaled"
    assert _judge_privacy(paper, [kept, raw | {"algorithm": "rdt"}]).words == "yes"
    assert _judge_privacy(paper, [raw]).words == "no"
    assert _judge_privacy(paper, [kept, raw, kept | {"algorithm": "dpba"}]).words == "1 of 2 algorithms is"


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

    for plot in (*run.claim_plots, *run.our_claim_plots):
        for row in plot.rows:
            assert run.paper.claims_by_id[row.id].reading_of is None
            collect(row)
    assert sorted(names) == sorted(claim.id for claim in run.claims)


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda folder: folder.name)
def test_an_effect_has_the_sign_of_its_side_and_says_what_it_subtracts_from_what(folder):
    """To the right of zero lies what the claim says: there it has a plus, whatever the claim's direction."""
    run = PaperRun.read(folder)
    for plot in (*run.claim_plots, *run.our_claim_plots):
        for row in (one for read in plot.rows for one in (read, *read.readings) if one.strip):
            number = float(row.size.replace("−", "-").replace(",", ""))
            assert (row.strip.center - row.strip.mark) * number >= 0, row.id
            assert " minus " in row.difference and plot.scale.startswith("−") and " … +" in plot.scale
            if row.reason.startswith("fails on"):
                assert f": {row.effect} ({row.interval.removesuffix(')')})" in row.reason, row.id


def test_a_claim_that_one_errs_less_subtracts_its_error():
    run = PaperRun.read(REFERENCE / "paper-1")
    readings = {one.id: one for plot in run.claim_plots for row in plot.rows for one in row.readings}
    row, found = readings["below-fm-signed"], next(one for one in run.claims if one.id == "below-fm-signed").decisive
    open_one = next(row for plot in run.claim_plots for row in plot.rows if row.id == "below-fm")
    assert re.search(r"weakest on daily_demand at ε = [\d.]+: \+0", open_one.reason), "of another setting, too"
    assert found.effect > 0 and row.effect == f"−{found.effect:.3g}" and row.difference.startswith("FM")


def test_the_part_of_a_claim_is_named_by_the_values_that_it_compares():
    study = {"dataset": "car", "algorithm": "rdt", "epsilon": [0.5, 0.1, 1.0], "params": {"max_depth": [3, 5]}}
    grows = {"kind": "increases", "along": "epsilon", "within": ["params.max_depth"]}
    best = {"kind": "highest", "along": "params.max_depth", "at": 5, "within": ["epsilon"]}
    claims = [own | {"id": own["kind"], "text": "T", "study": "s", "metric": "accuracy"} for own in (grows, best)]
    paper = make_paper(studies={"s": study}, claims=claims)
    grows, best = paper.claims
    assert find_rule(grows).find_compared(paper, "first to last") == ("epsilon", [0.1, 1.0])
    assert find_rule(grows).find_compared(paper, "step 2") == ("epsilon", [0.5, 1.0])
    assert label_place(paper, grows, {"dataset": "car", "part": "step 1"}) == "car, ε from 0.1 to 0.5"
    assert label_place(paper, best, {"epsilon": 1.0, "part": "other value 1"}) == "ε = 1, against max_depth = 3"
