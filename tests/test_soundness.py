"""What soundness costs: sound variants beside printed ones, on cells whose truth is known."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from documents.yaml_files import DocumentError
from experiments.config.study import PaperError
from experiments.questions.paper_questions import resolve_paper
from plots.exhibits.views import view
from plots.pages.paper_results import publish_paper
from plots.runs.paper_run import PaperRun
from tests.papers import ask, make_paper

PAPER = {
    "number": 0,
    "title": "T",
    "repeats": 8,
    "labels": {"rdt": "RDT"},
    "studies": {
        "all": {"dataset": ["car", "nursery"], "algorithm": ["rdt", "edprf", "thrifty_tree"], "epsilon": [0.5, 1.0]}
    },
}
ITEM = {"id": "s", "title": "S", "kind": "soundness", "study": "all", "metric": "accuracy"}
ITEM |= {"pairs": {"rdt": "thrifty_tree"}}
GAINS = {"car": 0.02, "nursery": -0.06}


def make_exhibit(exhibit=ITEM, **keys):
    """Return a paper with one figure, and the figure."""
    paper = make_paper(**PAPER, **keys, figures=[exhibit])
    return paper, paper.figures[0]


def gains(table):
    paper, figure = make_exhibit()
    return view(paper, figure).make_frame(table, pd.DataFrame())


def draw(frame):
    paper, figure = make_exhibit()
    return view(paper, figure).draw(frame)


def read_paid(drawn):
    """Return what is written beside each pair, panel by panel."""
    return [text.get_text() for axes in drawn.axes for text in axes.texts]


def read_means(drawn):
    """Return where the mean of each pair stands, panel by panel."""
    return [line.get_xdata()[0] for axes in drawn.axes for line in axes.lines if line.get_marker() == "D"]


def cells(metric="accuracy", gain=lambda printed, dataset: printed + GAINS[dataset]):
    """The sound variant gains what is known; splits move both alike; the printed one pays twice its label."""
    rows = []
    for dataset in GAINS:
        for epsilon in (0.5, 1.0):
            for repeat in range(8):
                printed = 0.5 + repeat / 20
                values = {"rdt": printed, "thrifty_tree": gain(printed, dataset), "edprf": 0.1}
                for algorithm, value in values.items():
                    paid = 2 * epsilon + (dataset == "car") if algorithm == "rdt" else epsilon
                    row = {"study": "all", "dataset": dataset, "algorithm": algorithm, "epsilon": epsilon}
                    row |= {"repeat": repeat, "status": "done", metric: value, "key": str(len(rows))}
                    said = {"claimed_epsilon": epsilon, "accounted_epsilon": paid, "noisy_epsilon": paid}
                    said |= {
                        "faults": [],
                        "keeps_claim": False,
                        "neighbours": "replaced",
                        "accounted": {"replaced": paid},
                    }
                    rows.append(row | {"privacy": json.dumps(said)})
    return pd.DataFrame(rows)


def test_gains_are_paired_by_split_and_the_most_that_is_paid_stands_beside_them():
    found = gains(cells())
    at = found[found["epsilon"] == 0.5].set_index("dataset")
    assert at["gain"].to_dict() == pytest.approx({"car": 0.02, "nursery": -0.06, "": -0.02})
    # the splits differ by 35 points, the pairs not at all
    assert (at["high"] - at["low"]).drop("").max() < 1e-9
    assert set(at["accounted"]) == {2.0} and set(found[found["epsilon"] == 1.0]["accounted"]) == {3.0}
    assert (found["n"].sum(), found["n_expected"].sum()) == (32, 32)


def test_an_error_is_compared_by_its_ratio_and_less_of_it_is_a_gain():
    paper, figure = make_exhibit(ITEM | {"metric": "unit_mse"}, center={"unit_mse": "median"})
    table = cells("unit_mse", lambda printed, dataset: printed * {"car": 0.25, "nursery": 2.0}[dataset])
    frame = view(paper, figure).make_frame(table, pd.DataFrame())
    at = frame.query("epsilon == 1").set_index("dataset")
    assert at["gain"].to_dict() == pytest.approx({"car": 2.0, "nursery": -1.0, "": 0.5})
    drawn = view(paper, figure).draw(frame)
    assert read_means(drawn) == [0.5, 0.5] and read_paid(drawn) == ["2", "3"]
    assert any("more than 1 is a gain" in text.get_text() for text in drawn.legends[0].get_texts())


def test_a_step_without_noise_is_paid_with_infinity():
    table = cells()
    unpaid = {"accounted_epsilon": "inf", "noisy_epsilon": 0.75}
    table.loc[0, "privacy"] = json.dumps(json.loads(table.loc[0, "privacy"]) | unpaid)
    found = gains(table)
    assert math.isinf(found[found["epsilon"] == 0.5]["accounted"].max())
    assert read_paid(draw(found)) == ["∞; 2 with noise", "3"]


def test_what_is_missing_is_named_and_has_no_mean():
    table = cells()
    half = table[~((table["dataset"] == "car") & (table["algorithm"] == "thrifty_tree"))]
    found = gains(half)
    assert found[found["dataset"] == ""]["gain"].isna().all()
    assert (found["n"].sum(), found["n_expected"].sum()) == (16, 32)
    drawn = draw(found)
    assert drawn.axes[0].get_title(loc="left") == "INCOMPLETE: 16 of 32 cells"
    assert read_paid(drawn) == ["2", "3"] and np.isnan(read_means(drawn)).all()
    assert gains(pd.DataFrame())["gain"].isna().all()


def test_it_is_published(tmp_path, without_pdf):
    paper, figure = make_exhibit()
    publish_paper(paper, ask(paper), cells(), tmp_path)
    assert "Complete: all 96 cells" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert (tmp_path / "figures" / "s.svg").is_file()
    drawn = draw(PaperRun.read(tmp_path).read_frame(figure))
    assert read_means(drawn) == pytest.approx([-2, -2]), "points"
    assert [axes.get_title() for axes in drawn.axes] == ["claimed ε = 0.5", "claimed ε = 1"]
    assert drawn.legends[0].get_texts()[0].get_text() == "mean over 2 data sets: a gain"
    assert read_paid(drawn) == ["2", "3"]


def test_pairs_that_the_study_does_not_run_are_refused():
    paper, _ = make_exhibit(ITEM | {"pairs": {"rdt": "rdt_sound"}})
    with pytest.raises(PaperError, match="s: the study has no algorithm 'rdt_sound'"):
        resolve_paper(paper)


@pytest.mark.parametrize("pairs", [["rdt"], {}])
def test_pairs_that_are_none_are_refused(pairs):
    with pytest.raises(DocumentError, match=r"figures\.0\.pairs: write {printed algorithm: its sound variant"):
        make_exhibit(ITEM | {"pairs": pairs})


def test_a_sound_variant_that_pays_more_between_the_same_neighbours_says_so():
    table = cells()
    for i in table.index[table["algorithm"] == "thrifty_tree"]:
        said = json.loads(table.loc[i, "privacy"])
        table.loc[i, "privacy"] = json.dumps(said | {"accounted": {"replaced": 2 * said["claimed_epsilon"]}})
    assert read_paid(draw(gains(table))) == ["2; sound 1", "3; sound 2"]
    assert read_paid(draw(gains(cells()))) == ["2", "3"]
