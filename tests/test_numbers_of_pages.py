"""What a page says in numbers is what files have: no page contradicts another, or what was published."""

import re
from functools import cache

import pandas as pd
import pytest

from datasets import catalogue
from datasets.tuning import find_side
from experiments.config.papers import read_paper
from experiments.config.paths import REFERENCE, list_papers
from experiments.store.json_files import read_json
from tests.pages import TEXTS
from tests.published_report import published_run

BY_HAND = {
    page: " ".join(text.split()) for page, text in TEXTS.items() if not page.startswith(("results/", "CHANGELOG"))
}
WORDS = {
    word: n
    for n, word in enumerate(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"])
}
WORDS |= {"fifteen": 15, "twenty": 20}
BENCHMARK = REFERENCE / "paper-benchmark"


def read_number(said):
    return WORDS[said] if said in WORDS else float(said.replace(",", ""))


def count_rows(dataset):
    return catalogue.read_entry(dataset).rows


@cache
def read_figure(name):
    return pd.read_csv(BENCHMARK / "figures" / f"{name}.csv")


def find_rank(figure, algorithm):
    frame = read_figure(figure)
    return round(frame.loc[frame["algorithm"] == algorithm, "rank"].mean(), 2)


def count_held_out():
    return sum(find_side(path.stem) == "held_out" for path in catalogue.FOLDER.glob("*.yaml"))


def count_benchmarked():
    return pd.read_csv(BENCHMARK / "copies.csv")["dataset"].nunique()


def find_repeats():
    """Of every paper, which all have the same number."""
    (repeats,) = {read_paper(name).repeats for name in list_papers()}
    return repeats


NUMBER = r"([\d.,]*\d|[a-z]+)"
FACTS = {
    "papers": (rf"(?:from|of the) {NUMBER} papers\b", lambda: len(list_papers())),
    "runs of a setting of a paper": (rf"[Ee]ach setting (?:is run|runs) {NUMBER} times", find_repeats),
    "data sets of the benchmark": (rf"on {NUMBER} data sets at seven", count_benchmarked),
    "held-out data sets": (
        rf"(?:only the|on the) {NUMBER} (?:data sets on which no constant|sets at ε = 1)",
        count_held_out,
    ),
    "rank of thrifty": (rf"its mean rank among 16 methods is {NUMBER}", lambda: find_rank("ranks-middle", "thrifty")),
    "methods in that rank": (
        rf"its mean rank among {NUMBER} methods is 1.52",
        lambda: read_figure("ranks-middle")["algorithm"].nunique(),
    ),
    "rank of thrifty_regressor": (
        rf"its mean rank among five private methods is {NUMBER}",
        lambda: find_rank("ranks-regression-sound", "thrifty_regressor"),
    ),
    "diamonds": (rf"{NUMBER} diamonds three are", lambda: count_rows("diamonds")),
    "diamonds of impossible size": (
        rf"diamonds {NUMBER} are recorded",
        lambda: count_rows("diamonds") - count_rows("diamonds_cleaned"),
    ),
    "training rows of Adult": (rf"Adult \({NUMBER} rows", lambda: catalogue.read_entry("adult").n_train),
    "data sets in wheels": (
        rf"for {NUMBER} of them, one of three wheels",
        lambda: sum(bool(catalogue.read_entry(path.stem).wheels) for path in catalogue.FOLDER.glob("*.yaml")),
    ),
}
"""What pages say of one thing, and how many or how much it is; a new sentence about it is checked by itself."""


@pytest.mark.parametrize("name", FACTS)
def test_every_sentence_has_the_number_of_the_files(name):
    pattern, count = FACTS[name]
    said = {(page, found) for page, text in BY_HAND.items() for found in re.findall(pattern, text)}
    assert said, f"no page says it any more: {pattern}"
    assert {one for one in said if read_number(one[1]) != count()} == set()


def list_rows(page, first_head):
    """Return the body of the table of a page that has this head first, each row as its cells."""
    (table,) = re.findall(rf"^\| {re.escape(first_head)} .*\n\|[-:| ]+\n((?:\|.*\n)+)", TEXTS[page], re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]


AUDITED = {
    **{"thrifty tree": "thrifty_tree", "thrifty tree, regression": "thrifty_tree_regressor"},
    **{"PrivaTree": "privatree_sound", "RDT": "rdt", "pfDPDT": "PFDPDTClassifier sound", "DiffPRF": "diffprf_sound"},
    **{"DiffPETs, regression": "diffpets_regressor_sound", "DiffPRF_linear": "diffprf_linear_sound"},
}
STARRED = {"RFDPP-Gini": "rfdpp_gini_sound", "DiffPETs": "diffpets_sound", "DiffPRFs-Max": "diffprfs_max_sound"}
STARRED |= {"DiffPRFs with the Gini index": "diffprfs_gini_sound"}


def test_the_table_of_what_attacks_measured_is_that_of_the_published_audit():
    summary = pd.read_csv(REFERENCE / "audit" / "summary.csv")
    summary = summary[(summary["layer"] == "black box") & (summary["neighbours"] == "one record added or removed")]
    bounds, losses = (summary.set_index("algorithm")[column] for column in ("bound", "loss"))
    rows = {name: cells for name, *cells in list_rows("docs/audit.md", "sound variant of")}
    for name, algorithm in AUDITED.items():
        assert [f"{bounds[algorithm]:.3f}", f"{losses[algorithm]:.3f}"] == rows[name][:2], name
    for name, algorithm in STARRED.items():  # of a million trainings, as the line below the table says
        assert rows[name][0].endswith("*") and f"{losses[algorithm]:.3f}" == rows[name][1], name
        assert f"{bounds[algorithm]:.2f}" == "0.79", name


def test_the_table_of_mean_accuracies_is_that_of_the_published_benchmark():
    curves = read_figure("curves")
    held_out = [name for name in curves["dataset"].unique() if find_side(name) == "held_out"]
    curves = curves[curves["dataset"].isin(held_out) & (curves["metric"] == "accuracy")]
    means = curves[curves["algorithm"] == "thrifty"].groupby("epsilon")["mean"].mean()
    (row,) = [
        cells
        for name, *cells in list_rows("docs/benchmark.md", "mean accuracy on the ten sets (%)")
        if name == "`thrifty`"
    ]
    assert len(held_out) == 10 and [f"{100 * mean:.1f}" for mean in means[:7]] == row


def test_the_cells_of_a_reproduction_are_those_of_the_published_runs():
    """Twenty repeats of each setting, and what verdicts took beyond these."""
    import duckdb

    ((_, *shown),) = (row for row in list_rows("docs/speed.md", "paper | 1") if row[0] == "cells")
    counted = []
    for name in list_papers():
        folder = REFERENCE / f"paper-{name}"
        judged, repeats = read_json(folder / "claims.json"), published_run(name).paper.repeats
        query = f"SELECT count(*) FROM '{folder / 'runs.parquet'}' WHERE repeat >= {repeats}"
        counted.append(judged["cells"] + duckdb.sql(query).fetchall()[0][0])
    assert shown == [f"{n:,}" for n in counted]
