"""The summary on the terminal: what came out, in the order of a page and on 80 columns, however little was run."""

import json
from collections import Counter
from dataclasses import replace

import pandas as pd
import pytest
from rich.text import Text

from experiments.audit.private_as_claimed import sum_up_privacy
from experiments.config.finding import SIGNS, FinerSign, Sign
from experiments.config.paper import Speaker
from experiments.config.paths import REFERENCE
from experiments.judge.paper_answer import Answer, count_signs
from experiments.judge.verdict import Verdict
from plots.answers import draw_bar, format_tally
from plots.labels import SYMBOLS
from plots.pages import terminal
from plots.pages.terminal import print_summary
from plots.runs.paper_run import PaperRun

FOLDERS = sorted(REFERENCE.glob("paper-*"))


@pytest.fixture(scope="module")
def run():
    return PaperRun.read(REFERENCE / "paper-2")


def summarise(run, capsys, *more):
    print_summary(run, *more or ([],))
    stdout, stderr = capsys.readouterr()
    assert stderr == ""
    return stdout


@pytest.mark.long
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_no_line_is_longer_than_80_columns_and_nothing_that_is_missing_is_printed(folder, capsys):
    text = summarise(PaperRun.read(folder), capsys)
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert not {"nan", "None", "null"} & set(text.replace("(", " ").replace(")", " ").split())


def test_a_path_is_printed_in_one_line(run, capsys):
    path = run.folder / ("long" * 30) / "report.html"
    assert f"  {path}\n" in summarise(run, capsys, [path])


def test_answers_come_before_the_finding_and_claims_before_numbers(run, capsys):
    text = summarise(run, capsys)
    numbers, claims, _ = run.answers
    parts = [
        "Paper 2.",
        "It promises:",
        numbers.words,
        format_tally(claims),
        "What came out:",
        "Its claims",
        "Its numbers",
    ]
    places = [text.index(part) for part in [*parts, f"Complete: all {run.coverage[1]} cells."]]
    assert places == sorted(places)


def test_every_claim_and_every_number_is_shown_with_its_sign(run, capsys):
    lines = summarise(run, capsys).splitlines()
    signs = [line[0] for line in lines if line[:3].endswith("  ") and line[:1] in SYMBOLS.values()]
    counted = {symbol: signs.count(symbol) for symbol in SYMBOLS.values()}
    numbers, claims, _ = run.answers
    ours = count_signs(run.list_verdicts(Speaker.OURS))
    expected = [Counter(answer) for answer in (numbers.counts, claims.counts, ours)]
    assert counted == {SYMBOLS[sign]: sum(found[sign] for found in expected) for sign in SYMBOLS}
    (row,) = [line for line in lines if "Adult, depth d = 10, ε = 0.05" in line]
    ours = 100 * run.numbers.set_index("id").loc["adult-d10-eps0.05", "mean"]
    assert row.split()[-2:] == ["86.120", f"{ours:.3f}"] and "×" in row and "●" in row


def test_what_numbers_share_is_said_once(run):
    accuracies, maxima = run.number_groups
    assert accuracies.shared == "RFDPP-Gini: accuracy (%)" and len(accuracies.rows) == 28
    assert accuracies.rows[0].what == "Adult, depth d = 3, ε = 0.05"
    assert (maxima.shared, maxima.rows[0].what) == ("", "Adult: maximum")
    row = accuracies.rows[0]
    judged = run.numbers.set_index("id").loc[row.id]
    for text, name in ((row.interval, "ci"), (row.prediction, "prediction")):
        assert text == f"{100 * judged[f'{name}_low']:.3f} to {100 * judged[f'{name}_high']:.3f}"


def test_a_run_that_is_short_says_so_in_the_finding_and_in_red(run, capsys):
    short = replace(run, paper=run.paper.replaced(repeats=3, repeats_asked=10))
    assert short.outcome.startswith("So far, after a part of its runs: At ε")
    assert "INCOMPLETE: 3 of 10 repeats" in summarise(short, capsys)
    assert replace(run, coverage=(0, 10)).outcome == "Nothing of it has been run yet."
    missing = replace(run, numbers=run.numbers.assign(n=3))
    assert missing.number_groups[0].rows[0].aside.startswith("3 of ")


def test_what_looks_like_markup_is_printed_as_it_is(run, capsys):
    claims = [claim.model_copy(update={"text": "It [/] is [red]d."}) for claim in run.claims]
    assert "It [/] is [red]d." in summarise(replace(run, claims=claims), capsys)


def test_a_finding_that_does_not_fit_is_not_repeated(run):
    held = [claim.model_copy(update={"verdict": Verdict.REPRODUCED}) for claim in run.claims]
    said = replace(run, claims=held).outcome
    assert said.startswith("The sentence that was written about it no longer fits: claim noise-costs-little: it says")
    assert "half a point" not in said


def test_facts_that_differ_are_named(run):
    assert PaperRun.read(REFERENCE / "paper-1").note_on_facts == "Facts of the data sets: 10 of 10 agree."
    missing = run.numbers.assign(mean=float("nan"), verdict="not run")
    assert "Adult, rows: 45222 printed, nobody counted" in replace(run, numbers=missing).note_on_facts
    assert replace(run, numbers=run.numbers.iloc[:0]).note_on_facts == ""


@pytest.mark.parametrize("counts", [{Sign.HOLDS: 27, Sign.FAILS: 1, FinerSign.WITHIN: 2}, {Sign.OPEN: 2}, {}])
def test_a_bar_has_a_sign_for_each_thing_that_is_counted(counts):
    assert Counter(draw_bar(Answer("", "", counts))) == {SYMBOLS[sign]: n for sign, n in counts.items()}


def test_the_parts_of_a_long_bar_have_their_numbers():
    parts = draw_bar(Answer("", "", {Sign.HOLDS: 1, Sign.FAILS: 500})).split("  ")
    assert [part.rstrip("█0123456789 ") for part in parts] == ["✓", "✗"]
    assert [part.partition(" ")[2] for part in parts] == ["1", "500"]


@pytest.mark.parametrize("sign", SYMBOLS)
def test_every_sign_is_a_character_of_its_own_with_a_colour(sign):
    shown = terminal._colour_signs(SYMBOLS[sign])
    assert shown.plain == SYMBOLS[sign] and len(shown.spans) == 1
    assert len(set(SYMBOLS.values())) == len(SIGNS) and Text(shown.plain).cell_len == 1


def test_bounds_that_follow_the_rows_are_no_fault_of_an_algorithm():
    fault = {"name": "bounds from the rows", "why": "the bounds of y follow", "source": "s"}
    report = {"claimed_epsilon": 1.0, "accounted_epsilon": 1.0, "keeps_claim": True, "neighbours": "n", "faults": []}
    said = {"ccpp": [fault], "car": [], "diamonds": [fault]}
    table = pd.DataFrame(
        {"algorithm": "majority", "dataset": name, "privacy": json.dumps(report | {"data_faults": faults})}
        for name, faults in said.items()
    )
    (row,) = sum_up_privacy(table)
    assert row["keeps_claim"] and set(row["data_faults"]) == {"ccpp", "diamonds"}
