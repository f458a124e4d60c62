"""Readings of a paper: the cells they need, and their ranking on made-up results whose truth is known."""

import math

import numpy as np
import pandas as pd
import pytest

from documents.yaml_files import DocumentError
from experiments.commands import readings as readings_command
from experiments.config.papers import read_paper
from experiments.config.paths import REFERENCE, list_papers
from experiments.config.readings import parse_question
from experiments.config.study import PaperError
from experiments.judge.readings.halving import run_races
from experiments.judge.readings.sentences import (
    describe_curve,
    describe_ranking,
    list_curve_details,
    list_curve_notes,
    list_ranking_details,
    list_ranking_notes,
)
from experiments.questions.printed import read_numbers_of
from experiments.questions.readings.cells import make_null, make_readings
from experiments.questions.readings.choices import check_choices
from experiments.questions.readings.claim_curves import judge_readings, list_curves, make_claim_readings
from experiments.questions.readings.ranking import rank_readings, split_targets
from experiments.store.record import Measured, Record
from plots.pages.readings import write_curves, write_rankings
from plots.pages.reference_pages import _lacks_cells
from plots.runs.run_folder import read_paper_as_run
from tests.command_line import exit_code
from tests.papers import make_paper

KEYS = {
    "number": 0,
    "repeats": 4,
    "not_implemented": {"lost": "never described"},
    "studies": {
        "grid": {
            "dataset": ["car", "nursery"],
            "algorithm": ["rfdpp_gini", "rdt"],
            "params": {"max_depth": [2, 3]},
            "epsilon": [0.5, math.inf],
            "protocol": {"test_size": 0.25},
        }
    },
    "tables": [
        {"id": "t", "title": "T", "kind": "grid", "study": "grid", "where": {"algorithm": "rfdpp_gini"}}
        | {"rows": "params.max_depth", "columns": "epsilon", "metric": "accuracy"},
        {"id": "s", "title": "S", "kind": "span", "studies": ["grid"], "algorithms": ["rfdpp_gini", "rdt", "lost"]}
        | {"metric": "accuracy"},
    ],
    "claims": [
        {"id": "above", "text": "above", "kind": "above", "study": "grid", "better": "rfdpp_gini", "worse": "rdt"}
        | {"within": ["dataset", "params.max_depth", "epsilon"], "metric": "accuracy"},
        {"id": "below", "text": "below", "kind": "below", "study": "grid", "better": "rfdpp_gini", "worse": "rdt"}
        | {"within": ["dataset", "params.max_depth"], "where": {"epsilon": 0.5}, "metric": "accuracy"},
    ],
}
PAPER = make_paper(**KEYS)
NUMBERS = pd.DataFrame(
    [
        ("a", "t", "car", "rfdpp_gini", 2, 0.5, "mean", 0.70),
        ("b", "t", "car", "rfdpp_gini", 3, math.inf, "mean", 0.80),
        ("c", "s", math.nan, "rfdpp_gini", math.nan, math.nan, "some", 0.60),
        ("d", "s", math.nan, "rdt", math.nan, math.nan, "some", 0.50),
        ("e", "s", math.nan, "lost", math.nan, math.nan, "some", 0.90),
    ],
    columns=["id", "table", "dataset", "algorithm", "params.max_depth", "epsilon", "statistic", "value"],
).assign(metric="accuracy", decimals=1, source="by hand")
TABLE_KEYS = {"id": "tables", "title": "Which?", "study": "grid", "algorithm": "rfdpp_gini", "repeats": 4}
TABLE_KEYS |= {
    "params": {"leaf": ["noisy_counts", "exact"], "n_estimators": [5]},
    "protocol": {"evaluate_on": ["test", "train"]},
}
SETTING_KEYS = {"id": "settings", "title": "Which?", "table": "s", "repeats": 4}
ORDERING_KEYS = {"id": "orderings", "title": "Which?", "claims": ["above", "below"], "algorithm": "rdt", "repeats": 4}
ORDERING_KEYS |= {"params": {"n_estimators": [2, 3]}}
TABLES, SETTINGS, ORDERINGS = (parse_question(keys) for keys in (TABLE_KEYS, SETTING_KEYS, ORDERING_KEYS))


def rank(question, readings, value, privacy=None, paper=PAPER, asked=None):
    """Rank readings where ``value(cell)`` is the accuracy of every cell; None is a cell that failed."""

    def run(cells_by_race):
        records = {}
        for cell in cells_by_race["it"]:
            accuracy = value(cell)
            details = {"privacy": privacy(cell)} if privacy else {}
            measured = None if accuracy is None else Measured({"accuracy": accuracy}, 0.0, details)
            records[cell.key] = Record("failed" if measured is None else "done", measured)
        if asked is not None:
            asked.append(set(records))
        return records

    return run_races({"it": rank_readings(paper, question, readings)}, run)["it"]


def only_readings(rows):
    """The rows without the null."""
    return rows[rows["kind"] != "no noise"].reset_index(drop=True)


def test_every_product_of_parameters_and_protocols_is_a_reading():
    readings = make_readings(PAPER, TABLES, NUMBERS)
    assert [one.words for one in readings] == [
        f"leaf = {leaf}, n_estimators = 5, evaluate_on = {rows}"
        for leaf in ("noisy_counts", "exact")
        for rows in ("test", "train")
    ]
    first, second = readings[1].targets
    assert (first.printed, second.printed) == (0.70, 0.80)
    cell = first.cells[3]
    assert (cell.dataset, cell.epsilon, cell.repeat, cell.params["max_depth"]) == ("car", 0.5, 3, 2)
    assert "leaf" not in cell.params and cell.params["n_estimators"] == 5, "what it has anyway is not written"
    assert (cell.protocol.evaluate_on, cell.protocol.test_size) == ("train", 0.25)


def right_value(cell, rng, spread=0.001):
    """The printed number under one reading, five points more under the others."""
    truth = 0.70 if cell.params["max_depth"] == 2 else 0.80
    is_right = cell.params.get("leaf") == "exact" and cell.protocol.evaluate_on == "train"
    return truth + (0 if is_right else 0.05) + rng.normal(0, spread)


def test_the_reading_that_gives_the_printed_numbers_is_the_nearest():
    readings, rng = make_readings(PAPER, TABLES, NUMBERS), np.random.default_rng(0)
    privacy = {"claimed_epsilon": 0.5, "accounted_epsilon": math.inf, "noisy_epsilon": 1.5, "keeps_claim": False}
    rows = only_readings(rank(TABLES, readings, lambda cell: right_value(cell, rng), lambda cell: privacy))
    assert rows["reading"].iloc[0] == "leaf = exact, n_estimators = 5, evaluate_on = train"
    assert rows["rank"].tolist() == [1, 2, 3, 4] and rows["in_set"].tolist() == [True, False, False, False]
    assert rows["distance"].tolist() == pytest.approx([0.0, 5, 5, 5], abs=0.15), "points, root mean square"
    assert rows["times_label"].tolist() == [3.0] * 4 and rows["unpaid"].all()
    assert describe_ranking(
        rows
    ) == "The nearest of 4 readings, leaf = exact, evaluate_on = train, is 0.0 points off; " + ("none keeps its ε")
    assert list_ranking_details(rows)[-2:] == [
        "The noisy steps of the nearest cost 3 times its ε",
        "Other steps of the nearest carry no noise",
    ]


def test_readings_that_lead_nowhere_get_two_repeats_and_the_literal_one_all():
    readings, rng, asked = make_readings(PAPER, TABLES, NUMBERS), np.random.default_rng(0), []
    rows = only_readings(rank(TABLES, readings, lambda cell: right_value(cell, rng), asked=asked))
    dropped = rows.set_index("reading")["dropped_after"]
    literal = rows.set_index("reading").index[rows["kind"] == "literal"].tolist()
    assert literal == ["leaf = noisy_counts, n_estimators = 5, evaluate_on = test"]
    assert dropped.isna().sum() == 2 and dropped.dropna().tolist() == [2.0, 2.0] and math.isnan(dropped[literal[0]])
    assert rows["n"].tolist() == rows["n_expected"].tolist() and set(rows["n_full"]) == {8}
    assert sorted(rows["n"]) == [
        4,
        4,
        8,
        8,
    ]
    assert list_ranking_notes(rows) == ["2 of 4 readings were dropped early, so that 75 % of all cells were run"]
    assert "dropped" not in "".join([describe_ranking(rows), *list_ranking_details(rows)])
    assert [len(keys) for keys in asked] == [4 * 4 + 2, 2 * 8 + 4], "half of the null is the literal one"


def test_what_is_dropped_does_not_depend_on_the_order_of_readings():
    readings = make_readings(PAPER, TABLES, NUMBERS)

    def value(cell):
        return right_value(cell, np.random.default_rng(cell.seed), 0.02)

    forwards, backwards = (rank(TABLES, order, value) for order in (readings, readings[::-1]))
    columns = ["rank", "distance", "low", "high", "dropped_after", "p_set"]
    pd.testing.assert_frame_equal(
        only_readings(forwards).set_index("reading")[columns], only_readings(backwards).set_index("reading")[columns]
    )


def test_a_noisy_reading_with_the_right_means_is_nearer_than_a_quiet_wrong_one():
    readings, sign = make_readings(PAPER, TABLES, NUMBERS), [1, -1, 1, -1]

    def value(cell):
        truth = 0.70 if cell.params["max_depth"] == 2 else 0.80
        return truth + (0.06 * sign[cell.repeat] if cell.params.get("leaf") == "exact" else 0.03)

    rows = only_readings(rank(TABLES, readings, value))
    assert rows["reading"].iloc[0].startswith("leaf = exact") and rows["distance"].iloc[0] == pytest.approx(0)
    assert rows["uncorrected"].iloc[0] == pytest.approx(0, abs=1e-9)
    # s² = 48 points², four repeats of ours and one of the print
    assert rows["noise_floor"].iloc[0] == pytest.approx(math.sqrt(48 / 4 + 48))


def test_no_noise_at_all_stands_beside_the_readings_and_is_none_of_them():
    readings = make_readings(PAPER, TABLES, NUMBERS)
    null = make_null(readings)
    assert {(cell.epsilon, cell.params["max_depth"]) for cell in null.list_cells()} == {(math.inf, 2), (math.inf, 3)}
    assert {cell.protocol.evaluate_on for cell in null.list_cells()} == {"test"}

    def value(cell):
        truth = 0.70 if cell.params["max_depth"] == 2 else 0.80
        is_null = math.isinf(cell.epsilon) and "leaf" not in cell.params and cell.protocol.evaluate_on == "test"
        return truth + (0.0 if is_null else 0.02 + 0.001 * cell.repeat)

    rows = rank(TABLES, readings, value)
    first = rows.iloc[0]
    assert (first["kind"], first["reading"], first["in_set"]) == ("no noise", "no noise at all, whatever ε", False)
    assert math.isnan(first["rank"]) and first["distance"] == pytest.approx(0)
    assert describe_ranking(rows).startswith("The nearest of 4 readings, ")
    assert describe_ranking(rows).endswith("no noise at all is 0.0 points off, which is nearer")
    assert "No noise at all, whatever ε, is 0.0 points off" in list_ranking_details(rows)
    assert make_null(make_readings(PAPER, SETTINGS, NUMBERS)) is None, "no setting of a table is the literal one"


def test_the_literal_reading_is_the_papers_own_cells():
    literal = make_readings(PAPER, TABLES.replaced(params={"leaf": ["noisy_counts", "exact"]}), NUMBERS)[0]
    assert literal.is_literal
    assert all("leaf" not in cell.params for cell in literal.list_cells())


def test_an_undefined_mean_has_no_distance():
    readings = make_readings(PAPER, TABLES, NUMBERS)
    rows = only_readings(rank(TABLES, readings, lambda cell: math.nan if cell.params.get("leaf") == "exact" else 0.75))
    assert rows["distance"].notna().tolist() == [True, True, False, False]
    assert "2 could not be compared: cells are missing, or a mean is undefined" in list_ranking_details(rows)


def test_a_cost_is_that_of_the_algorithm_that_is_read():
    readings = make_readings(PAPER, ORDERINGS, NUMBERS)

    def privacy(cell):
        noisy = {"rdt": 2.0, "rfdpp_gini": 9.0}[cell.algorithm]
        return {"claimed_epsilon": 1.0, "accounted_epsilon": 0.9, "noisy_epsilon": noisy, "keeps_claim": noisy == 2.0}

    rows = only_readings(rank(ORDERINGS, readings, lambda cell: 0.5, privacy))
    assert rows["times_label"].tolist() == [2.0, 2.0] and rows["keeps_epsilon"].tolist() == ["yes", "yes"]


def test_readings_that_cannot_be_told_apart_are_all_in_the_set():
    readings, rng = make_readings(PAPER, TABLES, NUMBERS), np.random.default_rng(1)
    rows = only_readings(rank(TABLES, readings, lambda cell: 0.75 + rng.normal(0, 0.05)))
    assert rows["in_set"].sum() > 1 and "more cannot be told from it" in "".join(list_ranking_details(rows))
    assert (rows["low"] <= rows["distance"]).all() and (rows["distance"] <= rows["high"]).all()


def test_a_reading_without_all_its_cells_has_no_distance_and_stands_last():
    readings = make_readings(PAPER, TABLES, NUMBERS)
    gone = readings[0].targets[0].cells[1].key
    rows = only_readings(rank(TABLES, readings, lambda cell: None if cell.key == gone else 0.75))
    assert rows["reading"].iloc[-1] == readings[0].words and math.isnan(rows["distance"].iloc[-1])
    assert (rows["n"].iloc[-1], rows["n_expected"].iloc[-1]) == (3, 4)
    nothing = rank(TABLES, readings, lambda cell: None)
    assert describe_ranking(nothing).startswith("INCOMPLETE") and list_ranking_details(nothing) == []


def test_halves_are_data_sets_where_there_are_several():
    target = make_readings(PAPER, TABLES, NUMBERS)[0]
    assert split_targets(target)[:2] == ([0], [1]), "one data set: every other number"
    ordering = make_readings(PAPER, ORDERINGS, NUMBERS)[0]
    first, second, words = split_targets(ordering)
    assert words == "car | nursery" and len(first) == len(second) == 6
    assert {ordering.targets[place].cells[0].dataset for place in first} == {"car"}


def test_what_is_chosen_on_one_half_is_scored_on_the_other():
    readings = make_readings(PAPER, TABLES, NUMBERS)

    def value(cell):  # the first printed number is met by exact leaves only, the second by noisy counts only
        is_exact = cell.params.get("leaf") == "exact"
        truth, is_met = (0.70, is_exact) if cell.params["max_depth"] == 2 else (0.80, not is_exact)
        return truth + (0.0 if is_met else 0.04)

    details = list_ranking_details(only_readings(rank(TABLES, readings, value)))
    said = "The nearest on every other number, from the first is number 3 on the others: there it is 4.0 points off"
    assert said in details


def test_numbers_without_a_setting_are_asked_of_every_setting_that_all_share():
    readings = make_readings(PAPER, SETTINGS, NUMBERS)
    assert len(readings) == 8 and readings[0].words == "grid, car, max_depth = 2, ε = 0.5"
    assert [target.printed for target in readings[0].targets] == [0.6, 0.5], "what is not implemented is left out"

    def value(cell):
        right = cell.dataset == "nursery" and cell.params["max_depth"] == 3 and math.isinf(cell.epsilon)
        return (0.6 if cell.algorithm == "rfdpp_gini" else 0.5) if right else 0.9

    rows = rank(SETTINGS, readings, value)
    assert rows["reading"].iloc[0] == "grid, nursery, max_depth = 3, no noise"
    assert rows["distance"].iloc[0] == pytest.approx(0)
    assert rows["distance"].iloc[1] == pytest.approx(100 * math.sqrt((0.3**2 + 0.4**2) / 2))


def test_orderings_are_counted_in_the_direction_that_is_claimed():
    readings = make_readings(PAPER, ORDERINGS, NUMBERS)
    assert [len(one.targets) for one in readings] == [12, 12], "eight groups of one claim, four of the other"

    def value(cell):  # with two trees RDT is always below, so that "above" holds in all its groups and "below" in none
        return 0.5 if cell.algorithm == "rfdpp_gini" else 0.2 * cell.params["n_estimators"]

    rows = only_readings(rank(ORDERINGS, readings, value))
    assert rows["reading"].tolist() == ["n_estimators = 2", "n_estimators = 3"]
    assert rows["distance"].tolist() == pytest.approx([4 / 12, 8 / 12])
    assert "gets 33 % of the comparisons wrong" in describe_ranking(rows)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (TABLES.replaced(algorithm="rdt"), "readings 'tables': the paper prints nothing that they could explain"),
        (TABLES.replaced(study="gird"), "readings 'tables': the paper prints nothing that they could explain"),
        (SETTINGS.replaced(table="t"), "readings 'settings': 't' is no table of kind span"),
        (SETTINGS.replaced(table="u"), "readings 'settings': 'u' is no table of kind span"),
        (ORDERINGS.replaced(claims=("abov",)), "readings 'orderings': there is no claim 'abov' of kind above or below"),
    ],
)
def test_a_question_that_cannot_be_meant_is_refused(question, message):
    with pytest.raises(PaperError, match=message):
        make_readings(PAPER, question, NUMBERS)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (
            {key: value for key, value in TABLE_KEYS.items() if key != "study"},
            "readings.0: the key 'study' is missing",
        ),
        (TABLE_KEYS | {"param": {}}, "readings.0: unknown key 'param'; did you mean 'params'"),
        (SETTING_KEYS | {"protocol": {}}, "readings.0: unknown key 'protocol'"),
        (ORDERING_KEYS | {"repeats": 0}, "readings.0.repeats: input should be greater than or equal to 1, got 0"),
    ],
)
def test_a_question_that_lacks_a_key_or_has_a_wrong_one_is_refused(question, message):
    with pytest.raises(DocumentError, match=message):
        make_paper(**KEYS, readings=[question])


@pytest.mark.long
@pytest.mark.parametrize("name", list_papers())
def test_the_readings_of_every_paper_can_be_asked(name):
    paper = read_paper(name)
    reported = read_numbers_of(paper)
    for question in paper.readings:
        readings = make_readings(paper, question, reported)
        assert len({reading.words for reading in readings}) == len(readings) > 1
        assert len({len(reading.targets) for reading in readings}) == 1


def test_the_ranking_is_written_and_drawn(tmp_path, without_pdf):
    readings, rng = make_readings(PAPER, TABLES, NUMBERS), np.random.default_rng(0)
    rows = rank(TABLES, readings, lambda cell: rng.normal(0.75, 0.01))
    paper = make_paper(**KEYS, readings=[TABLE_KEYS])
    paths = write_rankings(paper, {"tables": rows}, tmp_path)
    assert [path.name for path in paths] == ["readings.csv", "readings-tables.png"]
    assert pd.read_csv(paths[0])["distance"].tolist() == pytest.approx(rows["distance"].tolist())
    before = (tmp_path / "figures" / "readings-tables.svg").read_bytes()
    write_rankings(paper, {"tables": rows}, tmp_path)
    assert (tmp_path / "figures" / "readings-tables.svg").read_bytes() == before


CHOICES = {
    "algorithms": {
        "rfdpp_gini": {"leaf": ["noisy_counts", "exact"], "max_features": [None, 2]},
        "rdt": {"max_features": [None, 2]},
    },
    "protocol": {"evaluate_on": ["test", "train"]},
}


def chosen(**algorithms):
    """A paper whose text leaves these parameters open."""
    return make_paper(**KEYS, choices={"algorithms": algorithms})


@pytest.mark.parametrize(
    ("paper", "message"),
    [
        (chosen(dpba={"share": [None, 0.5]}), "choices.algorithms: no study runs 'dpba'"),
        (chosen(rdt={"leaves": [1, 2]}), "choices.algorithms.rdt.leaves: .* has no parameter 'leaves'"),
        (chosen(rfdpp_gini={"leaf": ["noisy_counts", "exakt"]}), "rfdpp_gini.leaf: .* did you mean 'exact'"),
        (chosen(rfdpp_gini={"leaf": ["exact", "noisy_counts"]}), "must be what the paper runs anyway, 'noisy_counts'"),
        (make_paper(**KEYS, choices={"protocol": {"evaluate_on": ["test", "tset"]}}), "choices.protocol.evaluate_on: "),
        (
            make_paper(**KEYS, choices={"curves": {"abov": {"where": None, "why": "slow"}}}),
            "choices.curves: the paper has no claim 'abov'; did you mean 'above'",
        ),
    ],
)
def test_choices_that_cannot_be_run_are_refused_before_anything_is(paper, message):
    with pytest.raises(PaperError, match=message) as error:
        check_choices(paper)
    assert "\n" not in str(error.value)


def test_a_choice_with_a_single_value_is_none():
    with pytest.raises(DocumentError, match="write two or more distinct values"):
        chosen(rdt={"n_estimators": [10]})


def test_a_question_need_not_repeat_the_choices_of_its_paper():
    paper = make_paper(**KEYS, choices=CHOICES | {"algorithms": {"rfdpp_gini": {"leaf": ["noisy_counts", "exact"]}}})
    question = parse_question({"id": "q", "title": "?", "study": "grid", "algorithm": "rfdpp_gini", "repeats": 2})
    assert [one.words for one in make_readings(paper, question, NUMBERS)] == [
        f"leaf = {leaf}, evaluate_on = {rows}" for leaf in ("noisy_counts", "exact") for rows in ("test", "train")
    ]
    narrowed = make_readings(paper, question.replaced(protocol={"evaluate_on": ["test"]}), NUMBERS)
    assert [one.words for one in narrowed] == [
        f"leaf = {leaf}, evaluate_on = test" for leaf in ("noisy_counts", "exact")
    ]


CURVE_CHOICES = {
    "algorithms": {
        "rfdpp_gini": {"leaf": ["noisy_counts", "exact"], "n_bins": [32, 8]},
        "rdt": {"n_estimators": [10, 5]},
    },
    "curves": {"below": {"where": {"params.max_depth": 2}, "why": "depth 2"}},
}


def judge(paper, claim, value, asked=None):
    """Judge a claim under every reading where ``value(cell)`` is the accuracy."""

    def run(cells_by_race):
        cells = cells_by_race["it"]
        if asked is not None:
            asked.append(len({cell.key for cell in cells}))
        return {cell.key: Record("done", Measured({"accuracy": value(cell)}, 0.0)) for cell in cells}

    return run_races({"it": judge_readings(paper, claim)}, run)["it"]


def test_a_claim_has_the_product_of_what_is_open_in_its_algorithms():
    paper = make_paper(**KEYS | {"repeats": 6}, choices=CURVE_CHOICES)
    (above, below), left_out = list_curves(paper)
    assert (above.id, below.id, left_out) == ("above", "below", {}) and below.where["params.max_depth"] == (2,)
    readings = make_claim_readings(paper, above)
    assert len(readings) == 8 and readings[0].choice.is_literal
    assert readings[-1].choice.values == {"leaf": "exact", "n_bins": 8, "n_estimators": 5}
    # two data sets, two depths, two ε, of both algorithms
    assert len(readings[0].list_cells(1)) == 16 and len(readings[0].list_cells(99)) == 16 * 6
    rdt = {cell.params["n_estimators"] for cell in readings[1].list_cells(1) if cell.algorithm == "rdt"}
    assert rdt == {5}


def test_a_parameter_of_two_algorithms_with_the_same_values_is_read_alike():
    alike = {name: {"n_estimators": [25, 5]} for name in ("rfdpp_gini", "rdt")}
    paper = make_paper(**KEYS, choices={"algorithms": alike})
    readings = make_claim_readings(paper, list_curves(paper)[0][0])
    assert [one.choice.values for one in readings] == [{"n_estimators": 25}, {"n_estimators": 5}]
    apart = {"rfdpp_gini": {"n_estimators": [25, 5]}, "rdt": {"n_estimators": [10, 5]}}
    paper = make_paper(**KEYS, choices={"algorithms": apart})
    assert make_claim_readings(paper, list_curves(paper)[0][0])[1].choice.values == {
        "rfdpp_gini.n_estimators": 25,
        "rdt.n_estimators": 5,
    }


def test_a_claim_that_may_not_be_run_says_why():
    paper = make_paper(**KEYS, choices=CURVE_CHOICES | {"curves": {"above": {"where": None, "why": "slow"}}})
    claims, left_out = list_curves(paper)
    assert [claim.id for claim in claims] == ["below"] and left_out == {"above": "slow"}
    assert list_curves(PAPER) == ([], {})


def test_a_claim_is_judged_under_every_reading():
    paper = make_paper(**KEYS | {"repeats": 10}, choices=CURVE_CHOICES)
    above, asked = list_curves(paper)[0][0], []

    def value(cell):  # exact leaves: above; noisy counts: above with few bins, on nursery below with many
        if cell.algorithm == "rdt":
            return 0.5
        if cell.params.get("leaf") == "exact":
            return 0.6
        return 0.55 if cell.params.get("n_bins") == 8 or cell.dataset == "car" else 0.4

    rows = judge(paper, above, value, asked)
    verdicts = rows.set_index(["choice.leaf", "choice.n_bins"])["verdict"].sort_index()
    assert set(verdicts["exact"]) == {"holds"} and set(verdicts["noisy_counts"][8]) == {"holds"}
    assert set(verdicts["noisy_counts"][32]) == {"refuted"}
    assert rows["effect"].tolist() == pytest.approx([10] * 4 + [5] * 2 + [-2.5] * 2)
    assert rows["weakest"].iloc[-1] == pytest.approx(-10) and rows["weakest_group"].iloc[-1].startswith("nursery")
    assert rows["repeats"].tolist() == [5] * 6 + [10] * 2 and rows["low"].tolist() == pytest.approx(rows["effect"])
    assert describe_curve(rows) == "It holds under 6 of 8 readings and fails under 2; under the literal one it fails"
    assert list_curve_details(rows)[0].startswith("What matters, as a share of all that differs between readings: leaf")
    assert list_curve_notes(rows) == ["Readings that were decided early got no more runs: 62 % of all cells"]


def test_curves_are_written_and_drawn_and_a_part_says_so(tmp_path, without_pdf):
    paper, rng = make_paper(**KEYS | {"repeats": 6}, choices=CURVE_CHOICES), np.random.default_rng(0)
    below = list_curves(paper)[0][1]
    rows = judge(paper, below, lambda cell: rng.normal(0.7, 0.1))
    assert list_curve_details(rows)[-1] == "Run on a part of the claim: depth 2"
    paths = write_curves(paper, {"below": rows}, tmp_path)
    assert [path.name for path in paths] == ["curves.csv", "curve-below.png"]
    assert len(pd.read_csv(paths[0])) == 8
    assert not list((tmp_path / "figures").glob("*.csv")), "the numbers stand in curves.csv"


def test_a_run_whose_curves_lack_cells_is_not_complete(tmp_path):
    pd.DataFrame({"n": [3], "n_expected": [3]}).to_csv(tmp_path / "numbers.csv", index=False)
    assert not _lacks_cells(tmp_path)
    for name in ("readings.csv", "curves.csv"):
        for n, lacks in ((2, True), (3, False)):
            pd.DataFrame({"n": [3, n], "n_expected": [3, 3]}).to_csv(tmp_path / name, index=False)
            assert _lacks_cells(tmp_path) is lacks


def test_the_published_numbers_of_readings_stand_in_one_file():
    for folder in sorted(REFERENCE.glob("paper-*")):
        names = {path.stem for path in (folder / "figures").glob("*.csv")}
        drawn = {exhibit.id for exhibit in read_paper_as_run(folder / "paper.yaml").figures}
        assert names == drawn, folder.name


def test_a_curve_over_a_thousand_readings_is_a_small_file(tmp_path, without_pdf):
    paper, rng = make_paper(**KEYS | {"repeats": 6}, choices=CURVE_CHOICES), np.random.default_rng(0)
    rows = judge(paper, list_curves(paper)[0][1], lambda cell: rng.normal(0.7, 0.1))
    others = rows[rows["kind"] != "literal"]
    many = pd.concat([rows, *[others] * 142], ignore_index=True)
    many = many.assign(effect=rng.normal(size=len(many)))
    write_curves(paper, {"below": many}, tmp_path)
    assert (tmp_path / "figures" / "curve-below.svg").stat().st_size < 400_000


def test_a_paper_that_leaves_nothing_open_says_so(capsys):
    assert exit_code("do=readings", "paper=demo") == 2
    assert "paper demo has no readings" in capsys.readouterr().err


@pytest.mark.long  # without machine code, half a minute
def test_the_command_runs_the_readings_and_a_second_time_nothing(tmp_path, monkeypatch, capsys, without_pdf):
    question = TABLE_KEYS | {"repeats": 2, "params": {"n_estimators": [1]}}
    choices = {"algorithms": {"rdt": {"n_estimators": [10, 2]}}}
    keys = KEYS | {"repeats": 2, "choices": choices, "claims": KEYS["claims"][1:]}
    monkeypatch.setattr(readings_command, "load_paper", lambda name: make_paper(**keys, readings=[question]))
    monkeypatch.setattr(readings_command, "read_numbers_of", lambda paper: NUMBERS)
    command = ("do=readings", "paper=2", f"results={tmp_path}", "executor.jobs=1")
    assert exit_code(*command) == 0
    ranking = pd.read_csv(tmp_path / "paper-2" / "readings.csv")
    assert len(only_readings(ranking)) == 2 and ranking["n"].tolist() == ranking["n_expected"].tolist()
    stdout, stderr = capsys.readouterr()
    assert f"  {tmp_path / 'paper-2' / 'readings.csv'}" in stderr and "Which? The nearest of 2 readings, " in stdout
    assert "below: It " in stdout
    before = (tmp_path / "paper-2" / "curves.csv").read_bytes()
    assert exit_code(*command) == 0
    assert "cells run" not in capsys.readouterr().err
    assert (tmp_path / "paper-2" / "curves.csv").read_bytes() == before
