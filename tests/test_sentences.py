"""Sentences are short and in plain words, whatever is missing: no maker of them says what only we understand."""

import json
import math
import re
from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from algorithms.accounting import faults
from experiments.audit.outcomes import OUTCOMES
from experiments.judge.evidence.sequential_test import describe_unseen
from experiments.judge.readings.sentences import (
    describe_curve,
    describe_ranking,
    list_curve_details,
    list_curve_notes,
    list_ranking_details,
    list_ranking_notes,
)
from experiments.judge.readings_together import describe_conditions
from experiments.judge.verdict import Verdict
from experiments.judge.words import describe_place, describe_where, format_share
from experiments.questions.claims import find_rule
from experiments.questions.further_rows import describe_further_rows
from plots import audits, pages
from plots.runs.paper_run import PaperRun
from plots.runs.run_folder import read_readings, write_csv
from tests import test_claims, test_statements

FORBIDDEN = (
    *("convicted", "our readings of them", "seen again by ten", "private for no finite", "of the same", "strictly, no"),
    *("wealth", "the only group", "rule out a collapse", "of the orderings", "without any ε", "a part only", " groups"),
    *("whose own text was not at hand", "each repeat splits", "dropped early, which", "epsilon = ", "nobody has"),
)
MACHINE = re.compile(r"\b(nan|NaN|None|inf)\b|<NA>")
"""What Python writes where a value is missing."""


def count_words(text):
    """Count what a reader reads: signs such as = and numbers in brackets are no words of their own."""
    return sum(any(letter.isalnum() for letter in word) for word in text.split())


def check_sentence(text, most=45):
    assert text == text.strip() and text, repr(text)
    assert not [words for words in FORBIDDEN if words in text], text
    assert not MACHINE.search(text), text
    assert count_words(text) <= most, (count_words(text), text)
    assert not re.search(r"\d%", text), text


@example(share=0.99995, threshold=100)
@example(share=0.994999, threshold=99)
@given(share=st.floats(0, 1), threshold=st.integers(0, 100))
def test_a_share_stands_on_its_side_of_each_threshold_and_is_never_all_or_nothing_that_is_not(share, threshold):
    said = format_share(share)
    assert (said == "100 %") == (share == 1) and (said == "0 %") == (share == 0)
    per_cent = 0.0 if said == "below 0.01 %" else float(said.removeprefix("above ").removesuffix(" %"))
    if abs(100 * share - threshold) > 1e-6:
        assert (per_cent >= threshold) == (100 * share >= threshold)


def test_a_share_of_runs_is_the_one_that_was_counted():
    assert [format_share(n / 100) for n in range(1, 101)] == [f"{n} %" for n in range(1, 101)]


def test_pages_explain_every_verdict_and_begin_with_its_sign():
    templates = Path(pages.__file__).parent / "templates"
    explained = re.findall(
        r"^  \('([^']+)', '([^:']+): ", (templates / "macros.html.j2").read_text("utf-8"), re.MULTILINE
    )
    assert {verdict for verdict, _ in explained} == set(Verdict)
    assert all(Verdict(verdict).shown == sign for verdict, sign in explained)


RANKED = {
    **{"question": "q", "unit": "points", "kind": "reading", "rank": 1.0, "reading": "leaf = exact, cut = value"},
    **{"distance": 0.9, "low": 0.8, "high": 1.1, "uncorrected": 1.0, "noise_floor": 0.2, "in_set": True, "p_set": 1.0},
    **{"first_half": 0.5, "second_half": 1.2, "halves": "adult | mushroom", "keeps_epsilon": "no"},
    **{"times_label": 1.9, "unpaid": True, "dropped_after": math.nan, "n": 4, "n_expected": 4, "n_full": 8},
    **{"choice.leaf": "exact", "choice.cut": "value"},
}
OPTIONAL_OF_RANKING = ("low", "high", "noise_floor", "first_half", "second_half", "times_label", "dropped_after")
CURVE = {
    **{"claim": "c", "unit": "points", "kind": "reading", "rank": 1, "reading": "leaf = exact", "verdict": "holds"},
    **{"effect": 5.0, "low": 4.0, "high": 6.0, "weakest": 1.0, "weakest_group": "car", "keeps_epsilon": "yes"},
    **{"times_label": 1.0, "unpaid": False, "repeats": 5, "n": 5, "n_expected": 5, "n_full": 10, "part": "depth 2"},
    **{"choice.leaf": "exact"},
}
OPTIONAL_OF_CURVE = ("effect", "low", "high", "weakest", "weakest_group", "times_label", "part")


def make_ranking(**changes):
    others = [
        RANKED | {"rank": 2.0, "kind": "literal", "distance": 5.0, "choice.leaf": "count", "in_set": False},
        RANKED | {"rank": 3.0, "distance": 9.0, "choice.cut": "middle", "keeps_epsilon": "yes", "in_set": False},
        RANKED | {"rank": math.nan, "kind": "no noise", "distance": 0.4, "choice.leaf": "null"},
    ]
    return pd.DataFrame([row | changes for row in (RANKED, *others)])


def make_curve(**changes):
    others = [CURVE | {"verdict": "refuted", "effect": -2.0, "kind": "literal", "choice.leaf": "count"}]
    return pd.DataFrame([row | changes for row in (CURVE, *others, CURVE | {"verdict": "open"})])


def list_missing(names, values):
    """Yield every field without its value, and every two of them."""
    yield {}
    for n in (1, 2):
        for chosen in combinations(names, n):
            yield from (dict.fromkeys(chosen, value) for value in values)


def test_an_answer_on_readings_is_one_short_sentence_that_leads_with_the_nearest():
    said = describe_ranking(make_ranking())
    assert said == (
        "The nearest of 3 readings, leaf = exact, is 0.9 points off; the one that keeps ε is 9.0 points off; "
        "no noise at all is 0.4 points off, which is nearer"
    )
    of_orderings = describe_ranking(make_ranking(unit="orderings", distance=0.17, keeps_epsilon="yes"))
    assert of_orderings == "The nearest of 3 readings, leaf = exact, gets 17 % of the comparisons wrong; it keeps its ε"


def test_an_answer_names_three_choices_of_a_long_reading():
    choices = {f"choice.{name}": "new" for name in "abcdefg"}
    rows = pd.DataFrame([RANKED | choices, RANKED | dict.fromkeys(choices, "old") | {"kind": "literal", "rank": 2.0}])
    said = describe_ranking(rows)
    assert ", a = new, b = new, c = new and 4 more choices, is 0.9 points off" in said
    check_sentence(said)


@pytest.mark.parametrize("change", [*list_missing(OPTIONAL_OF_RANKING, (math.nan, math.inf))], ids=str)
def test_what_a_ranking_lacks_is_never_printed(change):
    rows = make_ranking(**change)
    for said in (describe_ranking(rows), *list_ranking_details(rows), *list_ranking_notes(rows)):
        check_sentence(said)


@pytest.mark.parametrize("change", [*list_missing(OPTIONAL_OF_CURVE, (math.nan, None, ""))], ids=str)
def test_what_a_curve_lacks_is_never_printed(change, tmp_path):
    if set(change.values()) <= {""} and not set(change) <= {"part", "weakest_group"}:
        return  # a number is missing, never an empty text
    rows = make_curve(**change)
    write_csv(rows, tmp_path / "curves.csv")
    for table in (rows, read_readings(tmp_path / "curves.csv", "claim")):
        for said in (describe_curve(table), *list_curve_details(table), *list_curve_notes(table)):
            check_sentence(said)


def test_an_optional_text_that_is_missing_is_an_empty_one(tmp_path):
    """Of a whole column, too, which pandas reads as numbers: "a part only: nan" ended 23 paragraphs."""
    write_csv(make_curve(part="", weakest_group=""), tmp_path / "curves.csv")
    rows = read_readings(tmp_path / "curves.csv", "claim")
    assert set(rows["part"]) == set(rows["weakest_group"]) == {""}
    assert not any("Run on a part" in said for said in list_curve_details(rows))


def test_how_readings_were_run_is_no_finding():
    ranking, curve = make_ranking(dropped_after=2.0), make_curve()
    (note,), (other,) = list_ranking_notes(ranking), list_curve_notes(curve)
    assert note == "3 of 3 readings were dropped early, so that 50 % of all cells were run"
    findings = [describe_ranking(ranking), describe_curve(curve)]
    findings += [*list_ranking_details(ranking), *list_curve_details(curve)]
    assert not {note, other} & set(findings)
    assert not any("early" in said or "cells" in said for said in findings)


REASONS = {
    "grows": lambda: test_claims.judge(test_claims.grid(lambda i, d: 0.4 + 0.15 * i)),
    "falls": lambda: test_claims.judge(test_claims.grid(lambda i, d: 0.9 - 0.12 * i)),
    "flat": lambda: test_claims.judge(test_claims.grid(lambda i, d: 0.8)),
    "flat in part": lambda: test_claims.judge(test_claims.grid(lambda i, d: 0.8 if d == 7 else 0.4 + 0.15 * i)),
    "at the ceiling": lambda: test_claims.judge(test_claims.grid(lambda i, d: 2)),
    "above": lambda: test_claims.judge(test_claims.pair(lambda i: 0.3), test_claims.ABOVE),
    "below": lambda: test_claims.judge(test_claims.pair(lambda i: -0.3), test_claims.ABOVE),
    "even": lambda: test_claims.judge(test_claims.pair(lambda i: 0.0, sd=0.05, seed=1), test_claims.ABOVE),
    "one setting": lambda: test_claims.judge(
        test_claims.pair(lambda i: -0.3), test_claims.ABOVE, where={"epsilon": [0.1]}, within=[]
    ),
    "not run": lambda: test_claims.judge(pd.DataFrame()),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", REASONS)
def test_a_reason_is_short_and_leads_with_what_came_out(name):
    result = REASONS[name]()
    check_sentence(result.reason, most=32)
    starts = {
        Verdict.REFUTED: "fails",
        Verdict.REPRODUCED: "as claimed in all",
        Verdict.EQUAL: "no difference that matters",
        Verdict.IN_PART: "as claimed in 8 of 12 settings, no difference",
        Verdict.UNDECIDED: "open",
        Verdict.NOT_RUN: "no cell",
    }
    assert result.reason.startswith(starts[result.verdict])
    assert result.scope == ""


def test_the_reason_of_a_claim_that_fails_is_the_one_that_a_page_shows():
    """A minus is a minus; ε is ε; where there is one setting alone, nothing is said of it."""
    said = REASONS["below"]().reason
    effect = r"−[\d.]+ points \(−[\d.]+ to −[\d.]+\); 0 % of \d+ runs as claimed"
    assert re.fullmatch(rf"fails on car (at ε = [\d.]+|without noise): {effect}; the opposite in all 4 settings", said)
    assert re.fullmatch(r"fails: −[\d.]+ points .* of \d+ runs as claimed", REASONS["one setting"]().reason)


def test_conditions_are_said_in_the_words_of_the_readings():
    conditions = {"the target is scaled.": Verdict.REPRODUCED, "leaves get half": Verdict.EQUAL, "it is not": "refuted"}
    said = describe_conditions({condition: Verdict(verdict) for condition, verdict in conditions.items()})
    assert said == "holds if the target is scaled; fails if leaves get half, or if it is not"
    check_sentence(said, most=20)


def test_what_runs_could_not_show_is_said_with_a_number_that_is_right():
    """With one collapse in n/3 runs, none of n shows one in 5 % of cases at most."""
    for n in (20, 40, 60, 320, 1280):
        said = describe_unseen(n)
        check_sentence(said, most=15)
        rate = int(re.search(r"1 of ([\d,]+) runs", said)[1].replace(",", ""))
        assert (1 - 1 / rate) ** n <= 0.06


def test_every_place_is_named_with_greek_and_none_is_empty_words():
    settings = ({}, {"dataset": "car"}, {"epsilon": 1.0}, {"dataset": "car", "epsilon": math.inf, "part": "step 2"})
    for setting in settings:
        check_sentence(describe_place(setting))
        check_sentence("fails" + describe_where(setting))


def test_what_is_said_of_new_rows_is_short():
    rows = pd.DataFrame({"claim": "c", "n": 10, "outcome": ["as claimed", "equal", "opposite", "open"]})
    check_sentence(describe_further_rows(rows), most=30)
    check_sentence(describe_further_rows(rows.iloc[:1]), most=15)


def test_the_reasons_of_published_claims_that_are_computed_are_short():
    paper = test_statements.read_paper("4")
    for claim in json.loads((audits.REFERENCE / "paper-4" / "claims.json").read_text(encoding="utf-8"))["claims"]:
        if claim["kind"] == "exact":
            question = find_rule(paper.claims_by_id[claim["id"]]).resolve(paper, {})
            check_sentence(question.compute({})["reason"], most=30)


def test_every_fault_is_told_in_a_few_plain_words():
    known = [value for value in vars(faults).values() if isinstance(value, faults.Fault)]
    known += [faults.copied_rows("s"), faults.exact_labels("s")]
    known.append(faults.bounds_from_rows(["a", "b", "c", "d", "e", "f", "g"], ["h"]))
    assert len(known) > 30
    for fault in known:
        check_sentence(fault.why, most=20 if fault.name != "bounds from the rows" else 30)


@pytest.mark.parametrize("verdict", OUTCOMES)
def test_what_an_attack_measured_is_told_without_words_of_a_court(verdict):
    claimed = math.inf if verdict == "nothing claimed" else 1.0
    row = {"algorithm": "rdt", "bound": 8.4591, "claimed": claimed, "verdict": verdict}
    said = audits.format_bound(row)
    assert said.startswith(OUTCOMES[verdict] + ": ")
    assert ("8.45" if "measured ε ≥" in said else "nothing above 8.46") in said
    check_sentence(said, most=20)


@pytest.mark.parametrize("name", ["1", "2", "3", "4", "5", "benchmark", "benchmark-heavy"])
def test_notes_and_captions_of_published_runs_are_in_plain_words(name):
    run = PaperRun.read(audits.REFERENCE / f"paper-{name}")
    notes = [*run.notes, *run.notes_on_running]
    for _, rows in run.list_rankings():
        notes += [describe_ranking(rows), *list_ranking_notes(rows)]
    for _, rows in run.list_curves():
        notes += [describe_curve(rows), *list_curve_details(rows), *list_curve_notes(rows)]
    notes += filter(None, [run.describe_further_rows(claim.id) for claim in run.claims])
    for note in filter(None, notes):
        check_sentence(note, most=90)
