"""Ranks of algorithms over data sets, against ranks worked out by hand and published tables."""

import math

import numpy as np
import pandas as pd
import pytest

from experiments.config.paper import PaperError
from plots.figures.ranks import compute_friedman_p, critical_difference
from plots.pages.paper_results import publish_paper
from plots.run_folder import PaperRun
from tests.papers import make_paper

PAPER = {
    "number": 0,
    "repeats": 2,
    "studies": {"all": {"dataset": ["car", "nursery", "adult"], "algorithm": ["a", "b", "c"], "epsilon": [0.1, 1.0]}},
}
ITEM = {"id": "r", "title": "T", "kind": "ranks", "study": "all", "metric": "accuracy"}


def make_part(part, **keys):
    """Return a paper with one figure, and the figure."""
    paper = make_paper(**PAPER, **keys, figures=[part])
    return paper, paper.figures[0]


def ranks(table, **keys):
    paper, figure = make_part(ITEM | keys)
    return figure.make_frame(paper, table, pd.DataFrame())


def draw(frame, **keys):
    paper, figure = make_part(ITEM, **keys)
    return figure.draw(paper, frame)


def advice(frame, part, **keys):
    paper, figure = make_part(part, **keys)
    return figure.advise(paper, frame)


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


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)])
def test_the_critical_difference_has_the_published_quantiles(k, q):
    # Demsar (2006), table 5(a)
    assert critical_difference(k, 20) == pytest.approx(q * math.sqrt(k * (k + 1) / 120), rel=5e-4)


def test_chance_alone_is_seldom_told_apart():
    rng, p_values = np.random.default_rng(5), []
    for _ in range(200):
        noise = dict(np.ndenumerate(rng.normal(size=(8, 4))))
        rows = [{"dataset": f"d{i}", "algorithm": f"a{j}", "rank": value} for (i, j), value in noise.items()]
        p_values.append(compute_friedman_p(pd.DataFrame(rows)))
    assert np.mean(np.array(p_values) < 0.05) < 0.1


def test_the_figure_names_every_algorithm_and_says_what_is_missing():
    drawn = draw(ranks(cells(by_hand)), labels={"a": "Method A"})
    (axes,) = drawn.axes
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["Method A", "b", "c"]
    assert "3 data sets" in axes.get_xlabel()
    (axes,) = draw(ranks(cells(by_hand).iloc[2:])).axes
    assert axes.get_title(loc="left") == "INCOMPLETE: 34 of 36 cells"


def test_ranks_are_published(tmp_path):
    paper, _ = make_part(ITEM | {"advises": True})
    publish_paper(paper, cells(by_hand).assign(status="done"), tmp_path)
    (said,) = PaperRun.read(tmp_path).list_advice()
    assert "take a, mean rank 1.50 over 3 data sets" in said
    assert "Complete: all 36 cells" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert (tmp_path / "figures" / "r.svg").is_file()


def test_one_algorithm_has_no_rank():
    paper, figure = make_part(ITEM | {"where": {"algorithm": "a"}})
    with pytest.raises(PaperError, match="one algorithm alone has no rank"):
        figure.check(paper)


def test_the_advice_is_the_best_rank_with_what_is_not_told_from_it():
    asked, found = ITEM | {"advises": True}, ranks(cells(by_hand))
    best, *others = found[found["dataset"] == ""].sort_values("rank").to_dict("records")
    said = advice(found, asked, labels={best["algorithm"]: "The best"})
    assert f"take The best, mean rank {best['rank']:.2f} over 3 data sets; not told from it" in said
    within = best["rank"] + critical_difference(3, 3)
    assert [f"{one['algorithm']} ({one['rank']:.2f})" in said for one in others] == [
        one["rank"] <= within for one in others
    ]
    assert advice(found, ITEM) == ""
    assert advice(ranks(cells(by_hand).iloc[2:]), asked) == "INCOMPLETE: 34 of 36 cells; no advice"
