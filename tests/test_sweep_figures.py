"""The figure of a sweep: what is x, what has a line and what a facet, and that it can be drawn and read."""

import math
from xml.etree import ElementTree

import pytest

from experiments.config.paths import ROOT
from plots import style
from plots.sweeps.sweep import make_sweep
from plots.sweeps.sweep_figure import place_values, plan_figure, thin_names
from tests.made_up_sweeps import accuracies, make_axes, run_sweep

pytestmark = pytest.mark.long


def plan(**values):
    figure = plan_figure(make_sweep(make_axes(**values), 3, "", []))
    return figure and (figure.x, figure.lines.names, figure.facets.names)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, None),
        ({"algorithm": ["rdt", "majority"], "epsilon": [0.1, 1]}, ("epsilon", ["algorithm"], [])),
        (
            {"dataset": ["car", "nursery"], "algorithm": ["rdt"], "max_depth": [3, 5]},
            ("params.max_depth", [], ["dataset"]),
        ),
        ({"algorithm": ["rdt"], "max_depth": [3, 5], "epsilon": [0.1, 1]}, ("epsilon", ["params.max_depth"], [])),
        ({"dataset": ["car", "nursery"], "algorithm": ["rdt", "majority"]}, (None, ["algorithm"], ["dataset"])),
        ({"dataset": ["car", "nursery"]}, (None, ["dataset"], [])),
        ({"strategy": ["prior", "uniform"]}, (None, ["params.strategy"], [])),
        (
            {"algorithm": ["rdt", "rfdpp_gini"], "max_depth": list(range(1, 6)), "epsilon": [0.1, 1]},
            ("epsilon", ["algorithm"], ["params.max_depth"]),
        ),
    ],
)
def test_a_numeric_axis_is_x_and_algorithms_are_lines_and_data_sets_are_facets(values, expected):
    assert plan(**values) == expected


def test_an_axis_is_logarithmic_where_it_spans_more_than_a_decade():
    assert place_values([1, 2, 10]).tolist() == pytest.approx([0, 2 / 9, 2])
    assert place_values([0.1, 1, 2, 10]).tolist() == pytest.approx([0, 1.5, 1.5 * math.log10(20), 3])
    assert place_values([1, math.inf]).tolist() == [0, 1] and place_values([0, 100, 200]).tolist() == [0, 1, 2]


def test_ticks_that_would_touch_have_no_name():
    names = thin_names(list(range(100)), list(map(str, range(100))), 30)
    kept = [name for name in names if name]
    assert kept[0] == "0" and kept[-1] == "99" and 5 < len(kept) < 15


def draw(metrics_of, **values):
    run = run_sweep(metrics_of, **values)
    figure, drawn = plan_figure(run.sweep), []
    frame = figure.make_frame(run)
    style.render_figure(
        "figure", lambda: drawn.append(figure.draw(frame, run.describe_shortfall())) or drawn[0], ("svg",)
    )
    return frame, drawn[0]


def test_the_points_of_a_line_are_the_means_in_their_places(tmp_path):
    values = {"algorithm": ["rdt", "majority"], "epsilon": [0.1, 1, math.inf]}
    frame, drawn = draw(accuracies(0.3, 0.4, 0.5, 0.6, 0.7, 0.8), **values)
    assert frame["mean"].tolist() == pytest.approx([0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
    (axes,) = drawn.axes
    line = next(line for line in axes.lines if line.get_label() == "majority")
    assert line.get_ydata() == pytest.approx([60, 70, 80])
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0.1", "1.0", "no noise"]
    style.draw_figure("figure", lambda: drawn, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {f"figure.{kind}" for kind in ("svg", "png", "pdf")}
    ElementTree.parse(tmp_path / "figure.svg")
    assert b"CreationDate" not in (tmp_path / "figure.pdf").read_bytes()


def test_dots_stand_beside_the_names_of_algorithms():
    _, drawn = draw(accuracies(0.3, 0.4, 0.5, 0.6), dataset=["car", "nursery"], algorithm=["rdt", "majority"])
    assert [axes.lines[0].get_xdata().tolist() for axes in drawn.axes] == [
        pytest.approx([30, 40]),
        pytest.approx([50, 60]),
    ]
    assert [text.get_text() for text in drawn.axes[0].get_yticklabels()] == ["rdt", "majority"]
    assert drawn.axes[0].yaxis_inverted(), "the first stands at the top"
    assert [axes.texts[0].get_text() for axes in drawn.axes] == ["car", "nursery"]


def test_several_metrics_have_a_row_each_and_what_is_far_below_is_marked():
    metrics = {0.1: {"mse": 2000.0, "r2": -40.0}, 1.0: {"mse": 10.0, "r2": 0.5}}
    values = {"dataset": ["daily_demand", "wine_quality_red"], "algorithm": ["predict_mean"], "epsilon": [0.1, 1]}
    _, drawn = draw(lambda cell: metrics[cell.epsilon], **values)
    assert [axes.get_ylabel() for axes in drawn.axes] == ["R²", "R²", "squared error", "squared error"]
    assert drawn.axes[0].get_ylim()[0] == -1 and "−40.0" in [text.get_text() for text in drawn.axes[0].texts]
    assert drawn.axes[2].get_yscale() == "log"


def test_a_figure_says_what_is_missing_and_what_is_not_drawn():
    values = {"algorithm": ["random_forest"], "epsilon": [0.1, 1], "max_depth": list(range(1, 40))}
    _, drawn = draw(lambda cell: None if cell.repeat == 2 else {"accuracy": 0.5}, **values)
    titles = [axes.get_title(loc="left") for axes in drawn.axes]
    assert titles == ["INCOMPLETE: 156 of 234 runs"]
    assert "(shown: 16 of 39 lines; table.csv has all)" in " ".join(drawn.get_suptitle().split())


def test_of_very_many_values_some_are_drawn_from_end_to_end():
    frame, drawn = draw(lambda cell: {"accuracy": cell.epsilon / 1000}, epsilon=list(range(1, 301)))
    assert len(frame) == 100 and frame["epsilon"].iloc[[0, -1]].tolist() == [1, 300]
    assert frame["mean"].tolist() == pytest.approx([epsilon / 1000 for epsilon in frame["epsilon"]])
    assert "(shown: 100 of 300 values along the bottom; table.csv has all)" in " ".join(drawn.get_suptitle().split())


def test_of_too_many_facets_every_data_set_has_some(tmp_path):
    depths = list(range(1, 26))
    axes = make_axes(dataset=["car", "nursery"], algorithm=["rdt", "rfdpp_gini"], epsilon=[0.1, 1], max_depth=depths)
    figure = plan_figure(make_sweep(axes, 3, "", []))
    chosen = figure.facets.drawn
    assert len(chosen) == 24 and {name for name, _ in chosen} == {"car", "nursery"}
    assert (chosen[0], chosen[-1]) == (("car", 1), ("nursery", 25))


def test_the_first_64_lines_differ():
    looks = [(style.QUALITATIVE[i % 8], tuple(style.choose_shape(i).values())) for i in range(64)]
    assert len(set(looks)) == 64


def test_published_runs_have_no_pdf():
    assert list((ROOT / "results" / "reference").rglob("*.pdf")) == []
