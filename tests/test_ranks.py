"""Ranks of algorithms over data sets, against ranks worked out by hand, a slow reference and published comparisons."""

import itertools
import math
import random

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, rankdata

from documents.yaml_files import DocumentError
from experiments.config.study import PaperError
from experiments.questions.exhibits.checks import check_exhibit
from experiments.stats import PairPosterior, compare_over_datasets
from plots.exhibits.views import view
from plots.pages.paper_results import publish_paper
from plots.runs.paper_run import PaperRun
from plots.runs.run_folder import read_csv, write_csv
from tests.papers import ask, make_paper

PAPER = {
    "number": 0,
    "repeats": 2,
    "studies": {"all": {"dataset": ["car", "nursery", "adult"], "algorithm": ["a", "b", "c"], "epsilon": [0.1, 1.0]}},
}
ITEM = {"id": "r", "title": "T", "kind": "ranks", "study": "all", "metric": "accuracy"}


def make_exhibit(exhibit, **keys):
    """Return a paper with one figure, and the figure."""
    paper = make_paper(**PAPER, **keys, figures=[exhibit])
    return paper, paper.figures[0]


def ranks(table, **keys):
    paper, figure = make_exhibit(ITEM | keys)
    return view(paper, figure).make_frame(table, pd.DataFrame())


def draw(frame, **keys):
    paper, figure = make_exhibit(ITEM, **keys)
    return view(paper, figure).draw(frame)


def advice(frame, exhibit, **keys):
    paper, figure = make_exhibit(exhibit, **keys)
    return view(paper, figure).advise(frame)


def cells(truth):
    """Accuracy ``truth(dataset, algorithm, epsilon)`` in two repeats, one of them far off upwards for all."""
    return pd.DataFrame(
        {"study": "all", "dataset": d, "algorithm": a, "epsilon": e, "repeat": r, "accuracy": truth(d, a, e) + r / 10}
        for d in PAPER["studies"]["all"]["dataset"]
        for a in "abc"
        for e in (0.1, 1.0)
        for r in range(2)
    )


def by_hand(dataset, algorithm, epsilon):
    # car: a first at both; nursery: b first at 0.1 and a at 1; adult: all equal
    orders = {("car", 0.1): "abc", ("car", 1.0): "acb", ("nursery", 0.1): "bac", ("nursery", 1.0): "abc"}
    order = orders.get((dataset, epsilon))
    return 0.5 if order is None else 0.9 - 0.1 * order.index(algorithm)


def test_ranks_are_means_over_epsilon_and_then_over_data_sets():
    found = ranks(cells(by_hand)).set_index(["dataset", "algorithm"])["rank"]
    assert found["car"].to_dict() == {"a": 1.0, "b": 2.5, "c": 2.5}
    assert found["nursery"].to_dict() == {"a": 1.5, "b": 1.5, "c": 3.0}
    assert found["adult"].to_dict() == {"a": 2.0, "b": 2.0, "c": 2.0}
    assert found[""].to_dict() == pytest.approx({"a": 1.5, "b": 2.0, "c": 2.5})


def test_errors_are_better_when_smaller():
    table = cells(by_hand).rename(columns={"accuracy": "unit_mse"})
    found = ranks(table, metric="unit_mse").set_index(["dataset", "algorithm"])["rank"]
    assert found["car"].to_dict() == {"a": 3.0, "b": 1.5, "c": 1.5}


def test_a_data_set_with_a_setting_missing_ranks_nobody():
    table = cells(by_hand)
    gone = (table["dataset"] == "car") & (table["algorithm"] == "b") & (table["epsilon"] == 1.0)
    found = ranks(table[~gone])
    assert found[found["dataset"] == "car"]["rank"].isna().all()
    assert found.set_index(["dataset", "algorithm"])["rank"][""].to_dict() == pytest.approx(
        {"a": 1.75, "b": 1.75, "c": 2.5}
    )
    assert (found["n"].sum(), found["n_expected"].sum()) == (34, 36)
    # adult is not there at one epsilon, for anybody: car and nursery rank all the same
    nobody = (table["dataset"] == "adult") & (table["epsilon"] == 1.0)
    found = ranks(table[~nobody]).set_index(["dataset", "algorithm"])["rank"]
    assert found["adult"].isna().all()
    assert found[""].to_dict() == pytest.approx({"a": 1.25, "b": 2.0, "c": 2.75})
    nothing = ranks(pd.DataFrame())
    assert nothing["rank"].isna().all() and nothing["n_expected"].sum() == 36


# What the data sets say of a pair.

PUBLISHED = {
    "nbc": """
        95.95 71.40 83.34 49.99 76.17 86.22 84.45 81.87 52.81 75.04 71.94 50.12 72.03 60.00 83.69 84.36 98.31
        89.40 93.33 87.79 87.60 56.85 85.10 62.67 74.64 96.39 95.76 90.30 92.17 93.37 80.42 87.72 75.26 68.11
        47.20 91.15 85.59 86.62 93.81 76.71 92.20 89.83 79.22 95.42 59.03 62.07 46.32 58.79 79.97 64.93 98.71
        97.20 57.61 93.98
    """,
    "aode": """
        97.88 71.66 82.87 50.71 74.17 86.68 85.46 82.02 60.08 75.83 74.53 45.76 72.65 60.00 84.31 84.43 98.52
        91.09 93.07 91.03 88.43 56.85 86.86 64.53 84.64 96.73 99.95 92.73 96.92 96.92 79.83 97.76 75.70 66.78
        47.87 95.07 88.37 87.31 97.81 77.05 93.31 93.11 80.90 96.12 59.40 67.67 46.72 75.70 85.01 66.74 98.21
        97.05 57.82 94.66
    """,
    "j48": """
        98.64 77.22 77.20 49.50 83.50 86.29 85.06 80.21 64.21 72.17 72.31 39.66 71.51 60.00 78.57 80.52 99.19
        90.12 93.60 99.44 85.80 56.85 76.37 64.09 97.80 98.92 100.00 97.18 78.59 96.61 73.17 88.62 74.32 69.78
        41.01 94.14 88.95 89.98 97.84 74.68 92.63 92.85 81.06 94.17 63.50 77.67 46.78 76.54 74.87 60.95 90.73
        95.04 57.08 92.61
    """,
}
"""Accuracy in per cent, mean over ten cross-validations, on 54 sets of the UCI repository: measured by Benavoli,
Corani, Demsar and Zaffalon (2017), github.com/BayesianTestsML/tutorial, Julia/Data."""


@pytest.mark.parametrize(
    ("first", "second", "better", "equal", "worse"),
    [("nbc", "aode", 0.000, 0.123, 0.877), ("nbc", "j48", 0.228, 0.006, 0.766), ("aode", "j48", 0.904, 0.034, 0.062)],
)
def test_the_comparison_is_the_published_one(first, second, better, equal, worse):
    # what their notebook 6 prints of these accuracies, with the same margin of one point
    scores = {name: np.array(text.split(), dtype=float) / 100 for name, text in PUBLISHED.items()}
    found = compare_over_datasets(scores[first] - scores[second], 0.01)
    assert (found.better, found.equal, found.worse) == pytest.approx((better, equal, worse), abs=0.008)


def compare_slowly(differences, margin, draws):
    """The same test from its definition: normalised gamma weights, every pair of data sets by itself."""
    rng, values, wins = random.Random(7), [0.0, *differences], {"better": 0, "equal": 0, "worse": 0}
    for _ in range(draws):
        weights = [rng.gammavariate(shape, 1) for shape in [0.5] + [1.0] * len(differences)]
        mass = dict.fromkeys(wins, 0.0)
        for (a, x), (b, y) in itertools.product(zip(weights, values, strict=True), repeat=2):
            mean = (x + y) / 2
            mass["better" if mean > margin else "worse" if mean < -margin else "equal"] += a * b
        wins[max(mass, key=mass.get)] += 1
    return {name: n / draws for name, n in wins.items()}


@pytest.mark.parametrize("seed", range(4))
def test_the_comparison_is_that_of_a_slow_reference(seed):
    differences = list(np.random.default_rng(seed).normal(0.01, 0.02, size=4 + seed))
    found, slow = compare_over_datasets(differences, 0.01), compare_slowly(differences, 0.01, 4000)
    assert vars(found) == pytest.approx(slow, abs=0.035)  # four standard errors of the reference
    assert min(slow.values()) < 0.9, "something is left to tell"


@pytest.mark.parametrize("n", [1, 2, 4, 7])
def test_leads_of_one_size_have_an_exact_answer(n):
    # beyond twice the margin all pairs but that of the pseudo-observation with itself are for better; below that, its
    # pairs with data sets are for equal, too; its weight is Beta(1/2, n)
    large, small = compare_over_datasets([0.5] * n, 0.01), compare_over_datasets([0.015] * n, 0.01)
    assert large.better == pytest.approx(beta.cdf(math.sqrt(0.5), 0.5, n), abs=0.008)
    assert small.better == pytest.approx(beta.cdf(1 - math.sqrt(0.5), 0.5, n), abs=0.01)
    assert (large.better >= 0.95) == (n > 1), "one data set alone tells nothing apart"


def test_what_is_within_the_margin_is_equal_and_what_is_balanced_is_neither():
    assert compare_over_datasets([0.01, -0.01, 0.004, 0.0], 0.01) == PairPosterior(0.0, 1.0, 0.0)
    balanced = compare_over_datasets([0.1, -0.1, 0.2, -0.2, 0.3, -0.3], 0.01)
    assert balanced.better == pytest.approx(balanced.worse, abs=0.02)
    assert max(vars(balanced).values()) < 0.6
    ahead, behind = (compare_over_datasets(sign * np.array([0.1, 0.02, -0.03, 0.04]), 0.01) for sign in (1, -1))
    assert (ahead.better, ahead.equal, ahead.worse) == pytest.approx(
        (behind.worse, behind.equal, behind.better), abs=0.02
    )


@pytest.mark.long
@pytest.mark.parametrize(("n", "share"), [(4, 0.24), (7, 0.14)])
def test_a_pair_of_equals_is_told_apart_as_often_as_the_docs_say(n, share):
    noise = np.random.default_rng(5).normal(size=(150, n))
    found = [compare_over_datasets(row, 0.01) for row in noise]
    assert np.mean([max(one.better, one.worse) >= 0.95 for one in found]) == pytest.approx(share, abs=0.07)


@pytest.mark.long
def test_the_best_of_ten_equals_is_told_apart_from_one_of_them_as_often_as_the_docs_say():
    rng, told = np.random.default_rng(2), []
    for _ in range(30):
        scores = rng.normal(scale=0.05, size=(10, 7))
        best = rankdata(-scores, axis=0).mean(axis=1).argmin()
        others = np.delete(scores, best, axis=0)
        told.append(any(compare_over_datasets(scores[best] - other, 0.01).better >= 0.95 for other in others))
    assert np.mean(told) == pytest.approx(0.83, abs=0.15)


# The comparisons of a figure.


def leads(*by_dataset):
    """Cells in which a leads b by these much and c by a lot."""
    known = dict(zip(PAPER["studies"]["all"]["dataset"], by_dataset, strict=True))
    return cells(lambda dataset, algorithm, epsilon: 0.5 - {"a": 0, "b": known[dataset], "c": 0.4}[algorithm])


def overall(frame):
    return frame[frame["dataset"] == ""].set_index("algorithm")


def test_the_first_is_compared_with_each_other_one():
    found = ranks(leads(0.05, 0.03, 0.06))
    assert found.set_index(["algorithm", "dataset"])["lead"]["b"][:3].tolist() == pytest.approx([0.05, 0.03, 0.06])
    for algorithm, by in {"b": [0.05, 0.03, 0.06], "c": [0.4] * 3}.items():
        expected = vars(compare_over_datasets(by, 0.01))
        assert overall(found).loc[algorithm, list(expected)].to_dict() == pytest.approx(expected)
    assert overall(found)["verdict"].to_dict() == {"a": "", "b": "told apart", "c": "told apart"}
    assert overall(found).loc["a", ["better", "equal", "worse"]].isna().all()


@pytest.mark.parametrize(
    ("by_dataset", "equal_within", "verdict"),
    [
        ((0.02, 0.012, 0.015), 0.01, "not told apart"),
        ((0.03, 0.03, 0.025), 0.01, "told apart"),
        ((0.03, 0.03, 0.025), 0.05, "practically equal"),
        ((0.003, 0.004, -0.001), 0.01, "practically equal"),
        ((0.3, 0.2, -0.1), 0.01, "not told apart"),
    ],
)
def test_the_margin_decides_what_is_equal(by_dataset, equal_within, verdict):
    found = ranks(leads(*by_dataset), equal_within=equal_within)
    assert overall(found).loc["b", "verdict"] == verdict


def test_a_margin_is_a_share():
    for wrong in (-0.01, 1.0):
        with pytest.raises(DocumentError, match="equal_within"):
            make_exhibit(ITEM | {"equal_within": wrong})


def test_who_else_is_in_the_pool_changes_no_comparison():
    table = leads(0.3, 0.2, -0.1)
    among_three, alone = ranks(table), ranks(table, where={"algorithm": ["a", "b"]})
    columns = ["lead", "better", "equal", "worse", "verdict"]
    assert overall(among_three).loc["b", columns].to_dict() == overall(alone).loc["b", columns].to_dict()


@pytest.mark.parametrize(
    ("share", "equal_within", "verdict"),
    [
        (1.005, 0.01, "practically equal"),
        (1.05, 0.01, "told apart"),
        (1.4, 0.5, "practically equal"),
        (2.46, 0.5, "told apart"),
    ],
)
def test_errors_are_compared_by_their_ratio(share, equal_within, verdict):
    sizes = {"car": 1e-6, "nursery": 1.0, "adult": 1e4}
    factors = {"a": 1.0, "b": share, "c": 3.0}
    table = cells(lambda dataset, algorithm, epsilon: 0.0)
    table["unit_mse"] = table["dataset"].map(sizes) * table["algorithm"].map(factors)
    found = ranks(table, metric="unit_mse", equal_within=equal_within)
    assert overall(found)["verdict"].to_dict() == {"a": "", "b": verdict, "c": "told apart"}
    assert overall(found)["lead"].to_dict() == pytest.approx({"a": 0, "b": math.log(share), "c": math.log(3)})
    table.loc[table["algorithm"] == "a", "unit_mse"] = 0.0
    assert overall(ranks(table, metric="unit_mse"))["verdict"].to_dict() == dict(a="", b="told apart", c="told apart")


def test_a_data_set_with_a_setting_missing_is_in_no_comparison():
    table = leads(0.05, -0.3, 0.06)
    table = table[~((table["dataset"] == "nursery") & (table["algorithm"] == "c") & (table["epsilon"] == 0.1))]
    found = ranks(table)
    expected = vars(compare_over_datasets([0.05, 0.06], 0.01))
    assert overall(found).loc["b", list(expected)].to_dict() == pytest.approx(expected)
    assert found[found["dataset"] == "nursery"]["lead"].isna().all()
    nothing = overall(ranks(pd.DataFrame()))
    assert nothing["better"].isna().all() and set(nothing["verdict"]) == {""}


def test_the_first_by_mean_rank_may_lose_a_comparison():
    # b is better by far on five sets; on two it is last behind three others, all of them as good as equal
    far, near = [0.5, 0.7, 0.1, 0.2, 0.3], [0.5, 0.499, 0.4998, 0.4996, 0.4994]
    names, sets = list("abcde"), ["car", "nursery", "adult", "mushroom", "congvote", "diabetes_prediction", "robot"]
    studies = {"all": {"dataset": sets, "algorithm": names}}
    paper = make_paper(repeats=1, studies=studies, figures=[ITEM | {"advises": True}])
    rows = []
    for place, dataset in enumerate(sets):
        for algorithm, accuracy in zip(names, far if place < 5 else near, strict=True):
            cell = {"study": "all", "dataset": dataset, "algorithm": algorithm, "epsilon": math.inf, "repeat": 0}
            rows.append(cell | {"accuracy": accuracy})
    figure = paper.figures[0]
    found = view(paper, figure).make_frame(pd.DataFrame(rows), pd.DataFrame())
    assert overall(found)["rank"][["a", "b"]].tolist() == pytest.approx([12 / 7, 15 / 7])
    assert overall(found).loc["b", "verdict"] == "beats the first"
    assert view(paper, figure).advise(found).endswith("worse than b by more than 1 point (chance at least 95 %).")


# What is shown of them.


def test_the_figure_names_every_algorithm_and_says_what_is_missing():
    drawn = draw(ranks(cells(by_hand)), labels={"a": "Method A"})
    axes, _ = drawn.axes
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["Method A\u20021.50", "b\u20022.00", "c\u20022.50"]
    assert "3 data sets" in axes.get_xlabel()
    axes, _ = draw(ranks(cells(by_hand).iloc[2:])).axes
    assert axes.get_title(loc="left") == "INCOMPLETE: 34 of 36 cells"


def test_ranks_are_published(tmp_path, without_pdf):
    paper, _ = make_exhibit(ITEM | {"advises": True})
    publish_paper(paper, ask(paper), cells(by_hand).assign(status="done"), tmp_path)
    (said,) = PaperRun.read(tmp_path).advice
    assert "take a, mean rank 1.50 over 3 data sets, none held out; apart from 0 of 2 others" in said
    assert "(ranks that differ by 1.91, 5 %); no clear difference from" in said
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Complete: all 36 cells" in report and '<th class="n">mean rank</th>' in report
    assert (tmp_path / "figures" / "r.svg").is_file()


def test_one_algorithm_has_no_rank():
    paper, figure = make_exhibit(ITEM | {"where": {"algorithm": "a"}})
    with pytest.raises(PaperError, match="one algorithm alone has no rank"):
        check_exhibit(figure, paper)


@pytest.mark.parametrize(
    ("by_dataset", "said"),
    [
        ((0.05, 0.03, 0.06), "better than every other by more than 1 point (chance at least 95 %)."),
        ((0.004, 0.003, 0.002), "equal to The second within 1 point (chance at least 95 %)."),
        ((0.3, 0.2, -0.1), "no clear difference from The second (better 87 %, equal 1 %, worse 10 %)."),
    ],
)
def test_the_advice_says_what_the_comparisons_say(by_dataset, said):
    asked, table = ITEM | {"advises": True}, leads(*by_dataset)
    text = advice(ranks(table), asked, labels={"a": "The first", "b": "The second"})
    mean = ranks(table).query("dataset == ''")["rank"].min()
    assert text.startswith(
        f"T: take The first, mean rank {mean:.2f} over 3 data sets, none held out; "
    ) and text.endswith(said)
    assert advice(ranks(table), ITEM) == ""
    assert advice(ranks(table.iloc[2:]), asked) == "INCOMPLETE: 34 of 36 cells; no advice"


def test_pages_are_made_from_the_file(tmp_path):
    paper, figure = make_exhibit(ITEM, labels={"c": "C"})
    write_csv(ranks(leads(0.3, 0.2, -0.1)), tmp_path / "r.csv")
    frame = read_csv(tmp_path / "r.csv")
    shown = view(paper, figure).describe(frame)
    heads = ("algorithm", "mean rank", "the best is better", "equal", "worse", "", "beyond the critical difference")
    assert shown["heads"] == heads
    assert shown["standings"] == [
        ["a", "1.33", "—", "—", "—", "", ""],
        ["b", "1.67", "87 %", "1 %", "10 %", "not told apart", "no"],
        ["C", "3.00", "above 99 %", "below 1 %", "below 1 %", "told apart", "no"],
    ]
    assert "over 3 data sets" in shown["explanation"]


def test_the_critical_difference_stands_in_the_file_the_figure_and_the_advice():
    rows = []
    for dataset in (f"set{i}" for i in range(12)):
        for algorithm, accuracy in {"a": 0.9, "b": 0.8, "c": 0.3}.items():
            cell = {"study": "all", "dataset": dataset, "algorithm": algorithm, "epsilon": math.inf, "repeat": 0}
            rows.append(cell | {"accuracy": accuracy})
    studies = {"all": {"dataset": [f"set{i}" for i in range(12)], "algorithm": ["a", "b", "c"]}}
    paper = make_paper(repeats=1, studies=studies, figures=[ITEM | {"advises": True}])
    figure = paper.figures[0]
    found = view(paper, figure).make_frame(pd.DataFrame(rows), pd.DataFrame())
    # q = 2.343 for three algorithms, in Demsar's table 5 (a): 2.343 sqrt(3 * 4 / (6 * 12))
    assert overall(found)["critical_difference"].tolist() == pytest.approx([2.343 * math.sqrt(12 / 72)] * 3, rel=1e-3)
    assert "apart from 2 of 2 others by the Nemenyi test (ranks that differ by 0.96, 5 %)" in view(
        paper, figure
    ).advise(found)
    assert [row[-1] for row in view(paper, figure).describe(found)["standings"]] == ["", "yes", "yes"]
    (bar,) = [
        line
        for line in view(paper, figure).draw(found).axes[0].lines
        if line.get_marker() == "|" and len(line.get_xdata()) == 2
    ]
    assert bar.get_xdata() == pytest.approx([1, 1 + 0.957], abs=0.001)


def test_the_figure_shows_each_comparison_and_nothing_overlaps():
    drawn = draw(ranks(leads(0.3, 0.2, -0.1)), labels={"b": "An algorithm with a name that takes room"})
    drawn.draw_without_rendering()
    left, right = drawn.axes
    words = [text.get_text() for text in right.texts]
    assert {"87 %", "above 99 %", "not told apart", "told apart"} <= set(words)
    assert sum(bar.get_width() for bar in right.patches) == pytest.approx(2)
    boxes = [text.get_window_extent() for text in (left.xaxis.label, right.xaxis.label, *right.texts)]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    assert all(box.x1 <= drawn.bbox.x1 for box in boxes)


def test_a_figure_of_nothing_can_be_drawn():
    left, right = draw(ranks(pd.DataFrame())).axes
    assert left.get_title(loc="left") == "INCOMPLETE: 0 of 36 cells" and not right.patches
