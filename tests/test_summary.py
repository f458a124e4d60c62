"""What is said of a paper in a sentence is true of it, however little of it was run."""

import json
import math
from pathlib import Path

import pandas as pd
import pytest
from rich.text import Text

from experiments.config.paper import Speaker
from plots.labels import SIGNS, TONES
from plots.pages import html, terminal
from plots.pages.claim_rows import describe_claim, draw_intervals
from plots.pages.glances import glance_at_numbers, glance_at_privacy, glance_at_readings
from plots.pages.reference_pages import format_data_faults
from plots.pages.summary import summarise_run
from plots.privacy import sum_up_privacy
from plots.run_folder import PaperRun
from tests.papers import STUDY, make_paper

QUESTION = {"title": "Q?", "study": "floor", "algorithm": "majority", "params": {}, "repeats": 1}
PRINTED = {"text": "It is so.", "kind": "printed", "numbers": []}
READING = {"question": "q", "kind": "reading", "unit": "points", "distance": 1.83, "unpaid": True, "times_label": 3.0}


def make_run(claims=(), numbers=(), facts=(), privacy=(), audit=(), ranked=(), coverage=(10, 10), more=(), **keys):
    """Return a run with these verdicts, accounts (algorithm, keeps_claim, times_label) and audits of algorithms.

    ``more`` has further keys of the first claims.
    """
    judged = [{"verdict": verdict, "statistic": "mean"} for verdict in numbers]
    judged += [{"verdict": verdict, "statistic": "exact"} for verdict in facts]
    accounts = [dict(zip(("algorithm", "keeps_claim", "times_label"), row, strict=True)) for row in privacy]
    said = [PRINTED | {"id": f"claim-{i}"} for i in range(len(claims))]
    for claim, its_own in zip(said, more, strict=False):
        claim.update(its_own)
    return PaperRun(
        Path(),
        make_paper(**{"number": 7, "labels": {"majority": "Most"}, "claims": said} | keys),
        pd.DataFrame(judged, columns=["verdict", "statistic"]),
        [{"id": claim["id"], "verdict": verdict} for claim, verdict in zip(said, claims, strict=True)],
        coverage,
        accounts,
        {},
        pd.DataFrame(ranked, columns=list(READING)),
        pd.DataFrame(columns=["claim"]),
        pd.DataFrame(columns=["claim"]),
        pd.DataFrame(columns=["dataset"]),
        pd.DataFrame(audit, columns=["algorithm", "verdict"]).assign(bound=6.25),
    )


def account_of(keeps, times, *verdicts, algorithm="majority"):
    return {"privacy": [(algorithm, keeps, times)], "audit": [(algorithm, verdict) for verdict in verdicts]}


def test_verdicts_are_counted_and_facts_are_not_among_them():
    run = make_run(["reproduced", "refuted", "undecided"], ["refuted"] * 2 + ["reproduced within ± δ"], ["reproduced"])
    said = "Of 3 claims 1 is reproduced and 1 is refuted; of 3 printed numbers 1 is reproduced and 2 are refuted."
    assert summarise_run(run) == said


def test_our_readings_and_our_own_claims_are_counted_apart_from_what_the_paper_says():
    verdicts = ["refuted", "reproduced", "reproduced", "undecided", "reproduced"]
    more = [{}, {"reading_of": "claim-0"}, {"own": True}, {"reading_of": "claim-2"}, {"reading_of": "claim-1"}]
    run = make_run(verdicts, more=more)
    assert summarise_run(run) == "Its one claim: refuted; no printed number survives."
    counted = {speaker.value: run.list_verdicts(speaker) for speaker in Speaker}
    assert counted == {
        "the paper's": ["refuted"],
        "our reading": ["reproduced", "reproduced"],
        "ours": ["reproduced", "undecided"],
    }


def test_a_paper_without_numbers_says_so_and_a_study_of_ours_does_not():
    assert summarise_run(make_run(["undecided"])) == "Its one claim: undecided; no printed number survives."
    assert summarise_run(make_run(["undecided"], number="demo")) == "Its one claim: undecided."


def test_what_is_not_complete_is_so_far():
    assert summarise_run(make_run(["reproduced"] * 2, ["refuted"], coverage=(3, 10))).startswith("So far, both claims")
    short = make_run(["reproduced"] * 2, ["refuted"], repeats=3, repeats_asked=10)
    assert summarise_run(short).startswith("So far, ")
    assert summarise_run(make_run(["not run"], coverage=(0, 10))) == "Nothing of it has been run yet."


@pytest.mark.parametrize(
    ("readings", "said"),
    [
        ([READING], "; the nearest reading of its text is off by 1.8 points, not private."),
        ([READING | {"unpaid": False}], "is off by 1.8 points, costs 3 × its ε."),
        ([READING | {"unpaid": False, "times_label": 1.0}], "is off by 1.8 points, keeps its ε."),
        ([READING | {"unpaid": False, "times_label": math.nan}], "is off by 1.8 points, without any ε."),
        ([READING | {"unit": "orderings", "distance": 0.22}], "is off by 22 % of the orderings, not private."),
        (
            [READING, READING | {"question": "r"}],
            "readings of its text are off by 1.8 and 1.8 points, not private.",
        ),
        ([READING | {"distance": math.nan}], "refuted."),
    ],
)
def test_the_nearest_reading_is_named_with_its_price(readings, said):
    questions = [QUESTION | {"id": name} for name in ("q", "r")]
    run = make_run(["refuted"] * 2, ["refuted"], ranked=readings, readings=questions)
    assert summarise_run(run).endswith(said)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (
            account_of(False, math.inf, "tight", "violated"),
            "Most is private for no finite ε, and the audit convicted it.",
        ),
        (account_of(False, math.inf, "not refuted"), "Most is private for no finite ε; the audit did not convict it."),
        (account_of(False, 10.0), "Most accounts for up to 10 × the ε on its label; the audit has not tried it."),
        (
            account_of(True, 1.0, "tight"),
            "Most accounts for the ε on its label, and the audit found nothing against it.",
        ),
        (account_of(True, 1.0, "violated"), "Most accounts for the ε on its label, but the audit convicted it."),
        (account_of(None, None, "nothing claimed"), "Most claims no ε; the audit shows an ε of at least 6.25."),
    ],
)
def test_the_real_epsilon_of_the_papers_own_algorithm(known, said):
    run = make_run(["refuted"] * 2, ["refuted"], own=["majority"], **known)
    assert summarise_run(run).endswith(f" As described, {said}")
    assert "As described" not in summarise_run(make_run(["refuted"] * 2, ["refuted"], own=["nothing"], **known))


def test_own_algorithms_that_are_alike_are_named_together():
    studies = {"floor": STUDY | {"algorithm": ["majority", "nothing"]}}
    both = [("majority", False, math.inf), ("nothing", False, math.inf)]
    run = make_run(privacy=both, own=["majority", "nothing"], studies=studies, number="demo")
    assert summarise_run(run) == (
        "As described, Most and nothing are private for no finite ε; the audit has not tried them."
    )
    without_own = make_run(privacy=[*both, ("c", True, 1.0)], number="demo")
    assert summarise_run(without_own) == "Of 3 algorithms that claim an ε 1 keep it."


def test_bounds_that_follow_the_rows_are_said_beside_the_accounts_and_convict_nobody():
    fault = {"name": "bounds from the rows", "why": "the bounds of y follow", "source": "s"}
    report = {"claimed_epsilon": 1.0, "accounted_epsilon": 1.0, "keeps_claim": True, "neighbours": "n", "faults": []}
    said = {"ccpp": [fault], "car": [], "diamonds": [fault]}
    table = pd.DataFrame(
        {"algorithm": "majority", "dataset": name, "privacy": json.dumps(report | {"data_faults": faults})}
        for name, faults in said.items()
    )
    (row,) = sum_up_privacy(table)
    assert row["keeps_claim"] and set(row["data_faults"]) == {"ccpp", "diamonds"}
    run = make_run(**account_of(True, 1.0, "within"), own=["majority"], labels={"ccpp": "CCPP", "majority": "Most"})
    run.privacy[0]["data_faults"] = row["data_faults"]
    assert summarise_run(run).endswith(
        "As described, Most accounts for the ε on its label, and the audit found nothing against it; "
        "strictly, no ε holds on CCPP and diamonds, whose bounds follow the rows."
    )
    assert "- on CCPP the bounds of y follow" in format_data_faults(run)
    assert format_data_faults(make_run()) == ""


@pytest.mark.parametrize("verdict", SIGNS)
def test_every_verdict_has_a_colour_on_pages_and_on_the_terminal(verdict):
    style = (Path(html.__file__).parent / "templates/style.css").read_text(encoding="utf-8")
    assert f".{TONES[verdict]} {{ color: var(--" in style
    shown = Text.from_markup(terminal._colour_verdict(verdict))
    assert shown.plain == verdict and len(shown.spans) == 1


def test_a_glance_says_what_is_missing():
    paper = make_paper(readings=[QUESTION | {"id": "q"}])
    assert glance_at_readings(paper, None)["lines"] == ["not run"]
    assert glance_at_readings(make_paper(), None)["lines"] == ["no question"]
    assert glance_at_privacy(None)["lines"] == ["not run"]
    claimless = make_run(privacy=[("majority", None, None)])
    assert glance_at_privacy(claimless) | {"key": ""} == {
        "anchor": "privacy",
        "bar": [],
        "counts": [],
        "lines": ["no ε is claimed"],
        "key": "",
    }
    run = make_run(facts=["reproduced", "refuted"])
    glance = glance_at_numbers(run.paper, run.numbers)
    assert glance["lines"] == ["none survive", "facts of data sets: 1 of 2 agree"] and glance["anchor"] == "numbers"


def test_one_long_interval_leaves_the_others_readable():
    groups = [{"effect": e, "low": 0.5 * e, "high": 1.5 * e, "margin": 0.0} for e in (1.0, 1.0, 1e6)]
    usual, _, far = draw_intervals(groups)
    assert usual["high"] - usual["low"] > 5 and (far["low"], far["high"], far["beyond"]) == (100, 100, "right")
    assert usual["beyond"] == ""


def test_a_group_without_a_run_is_named_and_not_drawn():
    group = {"dataset": "car", "effect": None, "low": None, "high": None, "margin": None, "share_won": None, "n": 0}
    claim = {"id": "a", "text": "T", "verdict": "undecided", "reason": "", "scope": "", "center": "mean", "repeats": 0}
    claim |= {"metric": "accuracy", "on_average": "undecided", "in_most_runs": "undecided", "at_bound": 0}
    claim |= {"effect": None, "contradiction": None, "rerun_probability": None, "groups": [group]}
    described = describe_claim(make_paper(labels={"car": "Car"}, claims=[PRINTED | {"id": "a"}]), claim)
    assert described["groups"] == [{"place": "Car", "n": 0, "contradicts": False, "drawing": None}]
    assert described["effect"] == described["rerun"] == ""
