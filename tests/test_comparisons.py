"""Wins, kinds of data, the way from floor to ceiling, decisions and facets, on cells whose truth is known."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata

import datasets
from algorithms import Continuous, Domain, Nominal
from datasets import Dataset, tuning
from documents.document import parse_document
from documents.yaml_files import DocumentError
from experiments.comparisons.comparison import describe_held_out
from experiments.comparisons.data_kinds import KINDS, DataFacts, count_facts, list_kinds_of
from experiments.config.study import PaperError, Study
from experiments.questions.paper_questions import resolve_paper
from experiments.stats import nemenyi_difference
from plots.exhibits.views import view
from plots.pages.paper_results import publish_paper
from plots.runs.paper_run import PaperRun
from tests.papers import ask, make_paper

SETS = ["car", "nursery", "mushroom", "congvote"]
PAPER = {
    "number": 0,
    "repeats": 2,
    "labels": {"rdt": "RDT"},
    "studies": {
        "all": {"dataset": SETS, "algorithm": ["rdt", "edprf", "thrifty_tree"], "epsilon": [0.5, 1.0]},
        "levels": {"dataset": SETS, "algorithm": ["majority", "random_forest"]},
    },
}
WINS = {"id": "w", "title": "W", "kind": "wins", "study": "all", "metric": "accuracy"}
LEVELS = {"levels": "levels", "floor": "majority", "ceiling": "random_forest"}
WAYS = {
    "id": "k",
    "title": "K",
    "kind": "by_kind",
    "study": "all",
    "metric": "accuracy",
    "where": {"epsilon": 1},
} | LEVELS
FACETS = {"id": "f", "title": "F", "kind": "facets", "study": "all", "metric": "accuracy"} | LEVELS
LINE = {"situation": "any table", "study": "all", "metric": "accuracy"}
TREE_AHEAD = {"thrifty_tree": 0.8, "edprf": 0.7, "rdt": 0.6, "majority": 0.5, "random_forest": 0.9}


def make_exhibit(exhibit, folder="figures", **keys):
    """Return a paper with one table or figure, and that."""
    paper = make_paper(**PAPER, **keys, **{folder: [exhibit]})
    return paper, getattr(paper, folder)[0]


def report(epsilon, paid, replaced):
    """Return what a fit says of its privacy: what it pays for a record added or removed, and for one replaced."""
    return json.dumps(
        {"claimed_epsilon": epsilon, "accounted_epsilon": paid, "noisy_epsilon": paid, "keeps_claim": paid <= epsilon}
        | {"neighbours": "one record added or removed", "faults": []}
        | {"accounted": {"one record added or removed": paid, "one record replaced": replaced}}
    )


def cells(truth=lambda dataset, algorithm: TREE_AHEAD[algorithm], metric="accuracy", price=lambda algorithm: (1, 2)):
    """Return cells with ``truth(dataset, algorithm)``; the two repeats lie as far above it as below."""
    rows = []
    for study, keys in PAPER["studies"].items():
        for dataset in keys["dataset"]:
            for algorithm in keys["algorithm"]:
                for epsilon in keys.get("epsilon", [math.inf]):
                    for shift in (0.01, -0.01):
                        cell = {"study": study, "dataset": dataset, "algorithm": algorithm, "epsilon": epsilon}
                        cell |= {"repeat": int(shift < 0), "status": "done", "key": str(len(rows))}
                        paid = [epsilon * times for times in price(algorithm)]
                        said = report(epsilon, *paid) if study == "all" else ""
                        value = truth(dataset, algorithm)
                        rows.append(cell | {metric: value * (1 + shift), "privacy": said})
    return pd.DataFrame(rows)


# Wins.


def by_hand(dataset, algorithm):
    # the tree beats eDPRF by far on two sets, ties on one (half a point), loses on one; RDT is last everywhere
    tree = {"car": 0.8, "nursery": 0.8, "mushroom": 0.705, "congvote": 0.6}[dataset]
    return {"thrifty_tree": tree, "edprf": 0.7, "rdt": 0.4}.get(algorithm, 0.5)


def wins(table, **keys):
    paper, figure = make_exhibit(WINS | keys)
    return view(paper, figure).make_frame(table, pd.DataFrame())


def test_wins_are_counted_by_data_set_and_beyond_the_margin():
    found = wins(cells(by_hand)).set_index(["row", "column"])
    assert found.loc["thrifty_tree", "edprf"][["wins", "ties", "losses", "sets"]].tolist() == [2, 1, 1, 4]
    assert found.loc["edprf", "thrifty_tree"][["wins", "ties", "losses", "sets"]].tolist() == [1, 1, 2, 4]
    assert found.loc["rdt", "edprf"][["wins", "ties", "losses"]].tolist() == [0, 0, 4]
    assert wins(cells(by_hand), equal_within=0.2).set_index(["row", "column"]).loc["thrifty_tree", "edprf"]["ties"] == 4
    apart = cells(lambda dataset, algorithm: {"rdt": 0.25, "edprf": 0.5}.get(algorithm, 0.75))
    assert set(wins(apart, equal_within=0.25).query("row == 'edprf' and column == 'rdt'")["ties"]) == {4}, "up to it"


def test_pairs_stand_in_the_order_of_mean_ranks_and_mirror_each_other():
    found = wins(cells(by_hand))
    scores = np.array([[by_hand(name, a) for a in ("rdt", "edprf", "thrifty_tree")] for name in SETS])
    means = dict(zip(("rdt", "edprf", "thrifty_tree"), rankdata(-scores, axis=1).mean(axis=0), strict=True))
    assert found.drop_duplicates("row").set_index("row")["rank"].to_dict() == pytest.approx(means)
    assert list(found["row"].unique()) == sorted(means, key=means.get) == list(found["column"].unique())
    matrix = found.pivot(index="row", columns="column", values="wins")
    assert (found.pivot(index="row", columns="column", values="losses").to_numpy() == matrix.to_numpy().T).all()


def test_an_error_is_won_when_smaller_and_by_its_ratio():
    table = cells(lambda dataset, algorithm: {"rdt": 1.0, "edprf": 1.005}.get(algorithm, 2.0), metric="unit_mse")
    found = wins(table, metric="unit_mse").set_index(["row", "column"])
    assert found.loc["rdt", "edprf"]["ties"] == 4 and found.loc["rdt", "thrifty_tree"]["wins"] == 4


def test_a_set_with_a_setting_missing_counts_for_nobody_and_is_named():
    table = cells(by_hand)
    gone = table[~((table["dataset"] == "car") & (table["algorithm"] == "rdt") & (table["epsilon"] == 1.0))]
    found = wins(gone)
    assert set(found["sets"]) == {3}
    assert (found["n"].sum(), found["n_expected"].sum()) == (46, 48)
    paper, figure = make_exhibit(WINS)
    assert view(paper, figure).draw(found).axes[0].get_title(loc="left") == "INCOMPLETE: 46 of 48 cells"


def test_each_pair_is_written_into_the_figure_and_summed_up_beside_it():
    paper, figure = make_exhibit(WINS)
    frame = wins(cells(by_hand))
    words = [text.get_text() for text in view(paper, figure).draw(frame).axes[0].texts]
    assert words[:2] == ["2", "4"] and len(words) == 9
    assert words[6:] == ["thrifty_tree, mean rank 1.25", "edprf, mean rank 1.75", "RDT, mean rank 3.00"]
    shown = view(paper, figure).describe(frame)
    last = dict(zip(shown["heads"], shown["standings"][-1], strict=True))
    assert last == {"algorithm": "RDT", "mean rank": "3.00", "wins": "0", "ties": "0", "losses": "8"}


# The critical difference.


@pytest.mark.parametrize(
    ("n_algorithms", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (8, 3.031), (10, 3.164)]
)
def test_the_critical_difference_is_that_of_the_printed_quantiles(n_algorithms, q):
    # Demsar (JMLR 2006), table 5 (a): critical values of the two-tailed Nemenyi test at 0.05
    expected = q * math.sqrt(n_algorithms * (n_algorithms + 1) / (6 * 14))
    assert nemenyi_difference(n_algorithms, 14) == pytest.approx(expected, rel=4e-4)


def test_the_critical_difference_of_the_published_example():
    # section 3.2.2 there: four algorithms on 14 data sets, CD = 1.25 at 0.05
    assert nemenyi_difference(4, 14) == pytest.approx(1.25, abs=0.005)
    assert math.isnan(nemenyi_difference(4, 0)) and math.isnan(nemenyi_difference(1, 14))


@pytest.mark.long
def test_equals_differ_by_more_than_the_critical_difference_in_one_of_twenty_benchmarks():
    rng, limit = np.random.default_rng(3), nemenyi_difference(6, 20)
    ranks = rng.random((4000, 20, 6)).argsort(axis=2).argsort(axis=2).mean(axis=1)
    assert np.mean(np.ptp(ranks, axis=1) >= limit) == pytest.approx(0.05, abs=0.015)


# Which sets are held out.


def test_sets_that_are_held_out_are_those_of_the_file(monkeypatch):
    sides = {"chosen_on": {"classification": ["car", "nursery"], "regression": []}}
    sides |= {"held_out": {"classification": ["mushroom", "congvote", "letter"], "regression": ["casp"]}}
    division = parse_document(tuning.Division, sides)
    monkeypatch.setattr(tuning, "read_division", lambda: division)
    monkeypatch.setattr("experiments.comparisons.comparison.read_division", lambda: division)
    ranks = {**WINS, "kind": "ranks", "sets": "held_out", "advises": True}
    paper, figure = make_exhibit(ranks)
    frame = view(paper, figure).make_frame(cells(), pd.DataFrame())
    assert set(frame["dataset"]) == {"mushroom", "congvote", ""}
    advice = view(paper, figure).advise(frame)
    assert "over 2 data sets, all held out, not in this study: letter;" in advice
    ranks.pop("sets")
    paper, figure = make_exhibit(ranks)
    shown = view(paper, figure).describe(view(paper, figure).make_frame(cells(), None))
    assert "4 data sets, 2 of 4 held out" in shown["explanation"]
    assert set(wins(cells(), sets="chosen_on")["sets"]) == {2}


def test_a_study_without_a_set_that_is_held_out_says_so():
    paper, _ = make_exhibit(WINS | {"sets": "held_out"})
    with pytest.raises(PaperError, match=r"w: study 'all' has no data set that the project lists as held_out"):
        resolve_paper(paper)


def test_no_set_is_on_both_sides():
    both = {"classification": ["car"], "regression": []}
    with pytest.raises(DocumentError, match="car cannot be both held out and chosen on"):
        parse_document(tuning.Division, {"chosen_on": both, "held_out": both})
    assert describe_held_out(["adult", "magic", "letter"]) == "2 of 3 held out"


# Kinds of data.


FACTS = DataFacts(n_train=5000, n_classes=2, n_numbers=4, n_nominal=4, n_skewed=0)


@pytest.mark.parametrize(
    ("facts", "kinds"),
    [
        (FACTS, []),
        (FACTS._replace(n_train=1500), ["small"]),
        (FACTS._replace(n_train=1501, n_classes=6), ["classes"]),
        (FACTS._replace(n_classes=5, n_skewed=2), ["tails"]),
        (FACTS._replace(n_skewed=1), []),
        (FACTS._replace(n_numbers=0, n_nominal=30), ["wide", "nominal"]),
        (FACTS._replace(n_numbers=20, n_nominal=9), ["numbers"]),
    ],
)
def test_a_rule_says_what_kind_a_data_set_is(facts, kinds):
    assert [name for name, kind in KINDS.items() if kind.holds(facts)] == kinds


def test_what_the_rules_ask_is_counted_in_the_table():
    rng = np.random.default_rng(0)
    columns = {"flat": rng.random(500), "long": rng.exponential(size=500) ** 2, "same": np.ones(500)}
    frame = pd.DataFrame(columns | {"word": ["a", "b"] * 250})
    numbers = [Continuous(name, 0, 100) for name in columns]
    domain = Domain([*numbers, Nominal("word", ("a", "b"))], Nominal("y", ("0", "1", "2")))
    loaded = Dataset("made_up", "", "classification", frame, pd.Series(["0", "1"] * 250), domain, None, "", {})
    assert count_facts(loaded, 350) == DataFacts(350, 2, 3, 1, 1)


@pytest.fixture
def without_mushroom(monkeypatch):
    """Mushroom's files are missing."""

    def load(name, load=datasets.load):
        if name == "mushroom":
            raise datasets.DataUnavailable("not here")
        return load(name)

    monkeypatch.setattr(datasets, "load", load)


def test_training_rows_are_those_of_the_protocol():
    study = Study(dataset="nursery", algorithm="rdt", protocol={"test_size": 0.9})
    assert "small" in list_kinds_of(study, "nursery")
    assert "small" not in list_kinds_of(Study(dataset="nursery", algorithm="rdt"), "nursery")


def test_a_set_whose_files_are_missing_is_named_where_kinds_are_shown(without_mushroom):
    paper, exhibit = make_exhibit(WAYS, "tables")
    frame = view(paper, exhibit).make_frame(cells(), pd.DataFrame(), {})
    members = frame.drop_duplicates("data").set_index("data")["members"]
    assert members["all"].split() == sorted(SETS) and members["unknown"] == "mushroom"
    assert not any("mushroom" in members[kind].split() for kind in KINDS)
    assert "kind unknown (1)" in view(paper, exhibit).describe(frame)["columns"]
    assert "kind unknown, as their files are missing: mushroom." in view(paper, exhibit).describe(frame)["explanation"]

    paper, figure = make_exhibit(FACETS)
    kinds = (
        view(paper, figure).make_frame(cells(), pd.DataFrame()).drop_duplicates("dataset").set_index("dataset")["kinds"]
    )
    assert kinds["mushroom"] == "unknown" and "small" in kinds["car"] and kinds.index[-1] == "mushroom"


def test_a_decision_names_the_sets_that_it_leaves_out_because_their_files_are_missing(without_mushroom):
    (_, evidence), (_, on_all) = decide(cells(), {"situation": "few rows", "data": "small"}, {}, least_sets=2)
    assert evidence.endswith("; left out, as their files are missing: mushroom")
    assert "4 data sets" in on_all and "missing" not in on_all


def test_where_all_files_are_there_no_kind_is_unknown():
    assert "unknown" not in set(ways(cells())["data"])
    ((_, evidence),) = decide(cells(), {"data": "small"}, least_sets=2)
    assert evidence.startswith("mean rank 1.00 of 3 over 2 data sets") and "missing" not in evidence


# The way from floor to ceiling.


def ways(table, **keys):
    paper, exhibit = make_exhibit(WAYS | keys, "tables")
    return view(paper, exhibit).make_frame(table, pd.DataFrame(), {})


def test_a_share_of_the_way_is_the_mean_over_the_sets_of_a_kind():
    found = ways(cells()).set_index(["data", "algorithm"])["way"]
    assert found["all"].to_dict() == pytest.approx({"thrifty_tree": 0.75, "edprf": 0.5, "rdt": 0.25})
    better_when_small = cells(lambda d, a: 0.9 if (d, a) == ("car", "rdt") else TREE_AHEAD[a])
    found = ways(better_when_small).set_index(["data", "algorithm"])
    assert found.loc[("all", "rdt"), "way"] == pytest.approx((1 + 3 * 0.25) / 4)
    assert found.loc[("small", "rdt"), "way"] == pytest.approx((1 + 0.25) / 2)
    assert found.loc[("small", "rdt"), "members"] == "car congvote"
    assert math.isnan(found.loc[("wide", "rdt"), "way"])


def test_the_way_of_an_error_is_that_of_its_logarithm():
    sizes = {"majority": 1.0, "random_forest": 0.01, "thrifty_tree": 0.1, "edprf": 1.0, "rdt": 1e9}
    found = ways(cells(lambda dataset, algorithm: sizes[algorithm], metric="unit_mse"), metric="unit_mse")
    at = found[found["data"] == "all"].set_index("algorithm")["way"]
    assert at.to_dict() == pytest.approx({"thrifty_tree": 0.5, "edprf": 0.0, "rdt": -1.0}, abs=1e-9)


def test_a_set_without_a_way_is_in_no_mean():
    found = ways(cells(lambda d, a: 0.505 if (d, a) == ("car", "random_forest") else TREE_AHEAD[a]))
    assert found.loc[found["data"] == "all", "members"].iloc[0] == "congvote mushroom nursery"


def test_the_table_names_the_rules_and_the_number_of_sets(tmp_path, without_pdf):
    paper, exhibit = make_exhibit(WAYS, "tables")
    publish_paper(paper, ask(paper), cells(), tmp_path)
    shown = view(paper, exhibit).describe(PaperRun.read(tmp_path).read_frame(exhibit))
    assert shown["columns"] == ["all sets (4)", "small table (2)", "mostly nominal (4)"]
    texts = {name: [cell["ours"] for cell in cells_of] for name, cells_of in shown["rows"]}
    assert texts["RDT"] == ["25", "25", "25"]
    assert "small table (at most 1,500 training rows): " in shown["explanation"]
    assert "small table (2)" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_floor_and_ceiling_must_be_run_on_the_same_sets():
    paper, _ = make_exhibit(WAYS | {"ceiling": "extra_trees"}, "tables")
    with pytest.raises(PaperError, match="k: study 'levels' has no algorithm extra_trees; add it there"):
        resolve_paper(paper)


# Decisions.


def decide(table, *lines, **keys):
    """Return the answers of a decision table, each with its evidence."""
    exhibit = {"id": "d", "title": "D", "kind": "decision", "lines": [LINE | line for line in lines]} | keys
    paper, decision = make_exhibit(exhibit, "tables")
    frame = view(paper, decision).make_frame(table, pd.DataFrame(), {})
    return [[cell["ours"] for cell in cells_of] for _, cells_of in view(paper, decision).describe(frame)["rows"]]


def test_the_answer_is_the_first_by_mean_rank_with_its_evidence():
    ((take, evidence),) = decide(cells(), {})
    assert take == "thrifty_tree"
    assert evidence.startswith(
        "mean rank 1.00 of 3 over 4 data sets, none held out; on average 10.0 points ahead of the next, edprf"
    )
    ((take, _),) = decide(cells(lambda dataset, algorithm: 1 - TREE_AHEAD[algorithm]), {})
    assert take == "RDT", "nothing of the answer is written anywhere but in the cells"


def test_with_few_sets_nothing_is_said():
    (take, evidence), (none, _) = decide(cells(), {"data": "small"}, {"situation": "wide", "data": "wide"})
    assert take == none == "not enough sets to say"
    assert evidence == "2 data sets, none held out, of at least 3"
    assert decide(cells(), {"data": "small"}, least_sets=2)[0][0] == "thrifty_tree"


def test_those_that_are_not_told_apart_are_named_together(monkeypatch):
    near = cells(lambda d, a: {"thrifty_tree": 0.8 if d == "car" else 0.7, "edprf": 0.7}.get(a, 0.2))
    ((take, _),) = decide(near, {})
    assert take == "thrifty_tree or edprf (no clear difference)"
    monkeypatch.setattr("plots.tables.decision.MOST_NAMED", 0)
    ((take, _),) = decide(near, {})
    assert take == "no clear first: thrifty_tree by mean rank, but 1 other may be as good"


def test_a_method_that_beats_the_first_is_said_to():
    paper, decision = make_exhibit({"id": "d", "title": "D", "kind": "decision", "lines": [LINE]}, "tables")
    means = [("rdt", 1.5, "", 0.0), ("edprf", 1.6, "beats the first", 0.01)]
    rows = [(name, "", rank, verdict, lead) for name, rank, verdict, lead in means]
    rows += [(name, dataset, rank, "", lead) for name, rank, _, lead in means for dataset in SETS]
    frame = pd.DataFrame(rows, columns=["algorithm", "dataset", "rank", "verdict", "lead"])
    take, _ = view(paper, decision)._answer(decision.lines[0], frame.assign(better=0.0, equal=0.0, worse=1.0))
    assert take == "RDT; beside it alone, edprf is better"


def test_what_is_needed_decides_who_comes_into_question():
    prices = {"thrifty_tree": (1, 2), "edprf": (2, 4), "rdt": (0.5, 1)}
    table = cells(price=lambda algorithm: prices.get(algorithm, (1, 1)))
    lines = [
        {"situation": "either"},
        {"situation": "added", "neighbours": "added_or_removed"},
        {"situation": "replaced", "neighbours": "replaced"},
    ]
    answers = decide(table, *lines)
    assert [take for take, _ in answers] == ["thrifty_tree", "thrifty_tree", "RDT"]
    assert answers[2][1] == "the only method that qualifies"
    nobody = decide(cells(price=lambda algorithm: (3, 3)), {})
    assert nobody[0] == ["none of these methods", "no method of this run does that"]


def test_a_claim_that_nobody_checked_will_do_only_where_that_is_said():
    table = cells()
    table.loc[table["algorithm"] == "thrifty_tree", "privacy"] = ""
    answers = decide(table, {}, {"situation": "any claim", "unchecked": True})
    assert [take for take, _ in answers] == ["edprf", "thrifty_tree"]


def test_a_model_that_is_to_be_published_must_have_a_form_for_that():
    studies = {"all": {"dataset": SETS, "algorithm": ["rdt", "dp_ebm"], "epsilon": [0.5, 1.0]}}
    exhibit = {"id": "d", "title": "D", "kind": "decision", "lines": [LINE | {"release": True, "unchecked": True}]}
    paper = make_paper(number=0, repeats=2, studies=studies, tables=[exhibit])
    table = cells().replace({"algorithm": {"edprf": "dp_ebm"}})
    frame = view(paper, paper.tables[0]).make_frame(table, pd.DataFrame(), {})
    assert frame.loc[frame["algorithm"] == "dp_ebm", "excluded"].tolist() == ["its model cannot be published"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"data": "smal"}, "d: data: 'smal' is no kind of data; choose one of small, classes"),
        ({"figure": "nowhere"}, "d: figure: the paper has no table or figure 'nowhere'"),
        ({"where": {"algorithm": "rdt"}}, "one algorithm alone has no rank"),
    ],
)
def test_a_situation_that_cannot_be_judged_is_refused(line, message):
    exhibit = {"id": "d", "title": "D", "kind": "decision", "lines": [LINE | line]}
    with pytest.raises(PaperError, match=message):
        resolve_paper(make_exhibit(exhibit, "tables")[0])


def test_the_decision_stands_first_on_the_published_page(tmp_path, without_pdf):
    from plots.pages.reference_pages import describe_paper

    exhibit = {"id": "d", "title": "D", "kind": "decision", "lines": [LINE | {"figure": "w"}]}
    paper = make_paper(**PAPER, tables=[exhibit], figures=[WINS])
    publish_paper(paper, ask(paper), cells(), tmp_path)
    (tmp_path / "provenance.json").write_text('{"written": "2026-01-01", "git": null}', encoding="utf-8")
    page = describe_paper(PaperRun.read(tmp_path))
    assert page.index("## Which one to take") < page.index("## More")
    assert " [w](figures/w.svg) |" in page
    assert '<a href="#w">shown here</a>' in (tmp_path / "report.html").read_text(encoding="utf-8")


# Facets.


def test_every_set_has_a_picture_with_floor_and_ceiling_at_one_height():
    paper, figure = make_exhibit(FACETS)
    shifted = cells(lambda d, a: TREE_AHEAD[a] / (2 if d == "car" else 1))
    frame = view(paper, figure).make_frame(shifted, pd.DataFrame(columns=["table", "statistic", "metric"]))
    drawn = view(paper, figure).draw(frame)
    drawn.draw_without_rendering()
    ticks = {axes.texts[0].get_text(): [t.get_text() for t in axes.get_yticklabels()] for axes in drawn.axes}
    assert ticks.pop("car") == ["25", "35", "45"]
    assert len(ticks) == 3 and set(map(tuple, ticks.values())) == {("50", "70", "90")}
    tree = [axes.lines[-1].get_ydata() for axes in drawn.axes]
    assert all(line == pytest.approx([0.75, 0.75]) for line in tree)
    assert drawn.axes[0].texts[1].get_text().split() == ["small", "table,", "mostly", "nominal"]
    frame = frame.assign(ci_low=frame["mean"] - 0.04, ci_high=frame["mean"] + 0.02)
    bars = view(paper, figure).draw(frame).axes[1].collections[-1].get_segments()
    assert [bar[:, 1].tolist() for bar in bars] == [pytest.approx([0.65, 0.8])] * 2, "from floor to ceiling are 0.4"


def test_what_a_picture_cannot_show_is_marked_at_its_end_and_what_is_missing_named():
    paper, figure = make_exhibit(FACETS)
    table = cells(lambda d, a: 0.01 if a == "rdt" else TREE_AHEAD[a])
    nothing = pd.DataFrame(columns=["table", "statistic", "metric"])
    gone = table[table["dataset"] != "mushroom"]
    drawn = view(paper, figure).draw(view(paper, figure).make_frame(gone, nothing))
    assert len(drawn.axes) == 3 and drawn.axes[0].get_title(loc="left") == "INCOMPLETE: 48 of 64 cells"
    marked = [line for line in drawn.axes[0].lines if line.get_marker() == "v" and not line.get_clip_on()]
    assert len(marked) == 1
    legend = drawn.legends[0].get_window_extent()
    assert min(axes.get_tightbbox().y0 for axes in drawn.axes) >= legend.y1 - 1, "nothing lies over the legend"
    (empty,) = view(paper, figure).draw(view(paper, figure).make_frame(pd.DataFrame(), nothing)).axes
    assert empty.get_title(loc="left") == "INCOMPLETE: 0 of 64 cells"


def test_the_facets_of_an_error_are_logarithmic():
    sizes = {"majority": 1.0, "random_forest": 0.01, "thrifty_tree": 0.1, "edprf": 0.1, "rdt": 0.1}
    paper, figure = make_exhibit(FACETS | {"metric": "unit_mse"})
    table = cells(lambda dataset, algorithm: sizes[algorithm], metric="unit_mse")
    frame = view(paper, figure).make_frame(table, pd.DataFrame(columns=["table", "statistic", "metric"]))
    drawn = view(paper, figure).draw(frame)
    axes = drawn.axes[0]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["0.01", "0.1", "1"]
    assert axes.lines[-1].get_ydata() == pytest.approx([0.5, 0.5])
    legend = {text.get_text() for text in drawn.legends[0].get_texts()}
    assert {"upper tick: majority", "lower tick: random_forest"} <= legend
