"""What `publish_paper` writes, from a small made-up long table over embedded data sets."""

import hashlib
import io
import json
import math
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from types import SimpleNamespace
from unittest.mock import patch
from xml.parsers import expat

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from scipy.stats import t as student

import datasets
from documents.yaml_files import DocumentError
from experiments.audit.private_as_claimed import rank_fault
from experiments.cells import study_cells
from experiments.config.papers import read_paper
from experiments.config.study import PaperError
from experiments.config.substitutes import replace_datasets
from experiments.errors import BadInput
from experiments.judge.readings.under_reading import HOLDS, IS_REFUTED, OPEN
from experiments.questions import paper_questions
from experiments.questions.exhibits.series import summarise_metrics
from experiments.questions.paper_questions import resolve_paper
from experiments.run import runner
from experiments.store.database import Store
from experiments.store.long_table import long_table as long_table_of
from plots.exhibits.views import view
from plots.pages import paper_results, terminal
from plots.pages.drawings import draw_exhibits
from plots.pages.paper_results import publish_paper
from plots.pages.readings import draw_claim
from plots.runs.paper_run import PaperRun
from plots.runs.run_folder import read_csv
from plots.style import ENDINGS
from plots.tables.datasets import count_facts
from plots.tables.grid import describe_center
from tests.papers import ask, make_paper

pytestmark = pytest.mark.long

PAPER = {
    "number": 9,
    "title": "A paper & its <numbers>",
    "citation": "Nobody, 2020",
    "repeats": 10,
    "labels": {"car": "Car", "epsilon": "ε", "params.max_depth": "depth"},
    "studies": {
        "grid": {
            "dataset": ["car"],
            "algorithm": ["a", "b"],
            "params": {"max_depth": [3, 4]},
            "epsilon": [0.05, 1.0, math.inf],
            "protocol": {"test_size": 0.3},
        }
    },
    "tables": [
        {"id": "table-1", "title": "Table 1. Data", "kind": "datasets", "datasets": ["car"]},
        {
            "id": "table-2",
            "title": "Table 2. Accuracy (%)",
            "kind": "grid",
            "study": "grid",
            "where": {"algorithm": "a"},
        }
        | {"rows": "params.max_depth", "columns": "epsilon", "metric": "accuracy"},
    ],
    "figures": [
        {"id": "figure-1", "title": "Figure 1. By depth", "study": "grid", "where": {"algorithm": "a"}}
        | {"x": "params.max_depth", "lines": "epsilon", "metric": "accuracy"},
        {"id": "figure-2", "title": "Figure 2. By ε", "study": "grid", "where": {"params.max_depth": 3}}
        | {"x": "epsilon", "lines": "algorithm", "metric": "accuracy"},
    ],
    "claims": [
        {"id": "up", "text": "a is above b.", "kind": "above", "study": "grid", "better": "a", "worse": "b"}
        | {"within": ["dataset", "params.max_depth", "epsilon"], "metric": "accuracy"},
    ],
}
REPORTED = """id,table,dataset,algorithm,params.max_depth,epsilon,metric,statistic,value,decimals,source
rows,table-1,car,,,,rows,exact,1728,0,section 4
good,table-2,car,a,3,0.05,accuracy,mean,0.80012,3,section 5
bad,table-2,car,a,4,1.00,accuracy,mean,0.95000,3,section 5
far,table-2,car,a,4,inf,accuracy,mean,0.80000,3,section 5
"""


@pytest.fixture
def paper(tmp_path):
    (tmp_path / "reported.csv").write_text(REPORTED, encoding="utf-8")
    return PAPER | {"reported": str(tmp_path / "reported.csv")}


@pytest.fixture
def undrawn(paper):
    """The paper without figures, for tests that look at none: to draw one takes as long as all else."""
    return paper | {"figures": []}


def publish(keys, table, folder, endings=("svg",)):
    """Publish a paper with these keys; its figures in some formats, as the fonts of a PDF take longer than all else."""
    paper = make_paper(**keys)
    with patch.object(paper_results, "draw_exhibits", partial(draw_exhibits, endings=endings)):
        paths = publish_paper(paper, ask(paper), table, folder)
    terminal.print_summary(PaperRun.read(folder), paths)


def check(keys):
    """Check a paper with these keys as the command line does."""
    resolve_paper(make_paper(**keys))


def make_exhibit(keys, exhibit):
    """Return a paper with these keys and one figure, and the figure."""
    paper = make_paper(**keys | {"figures": [exhibit]})
    return paper, paper.figures[0]


def long_table(seed=0):
    rng = np.random.default_rng(seed)
    by = ["dataset", "algorithm", "params.max_depth", "epsilon"]
    privacy = {
        "claimed_epsilon": 1.0,
        "accounted_epsilon": 25.0,
        "keeps_claim": False,
        "neighbours": "add or remove one",
    }
    return pd.DataFrame(
        dict(zip(by, point, strict=True))
        | {"study": "grid", "repeat": r, "status": "done", "accuracy": 0.8 + rng.normal(0, 0.003)}
        | {"privacy": json.dumps(privacy | {"faults": [{"name": f"fault of <{point[1]}>", "why": "y", "source": "s"}]})}
        for point in make_paper(**PAPER).studies["grid"].settings(by)
        for r in range(10)
    )


def without(table, n):
    """Return the table without the first ``n`` repeats of a at depth 4 and no noise."""
    gone = (table["algorithm"] == "a") & (table["params.max_depth"] == 4) & np.isinf(table["epsilon"])
    return table[~(gone & (table["repeat"] < n))]


def digests(folder):
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.rglob("*") if p.is_file()
    }


def test_every_file_is_written_and_listed(paper, tmp_path, capsys):
    publish(paper, long_table(), tmp_path / "out", ENDINGS)
    expected = {"paper.yaml", "numbers.csv", "claims.json", "copies.csv", "privacy.json", "report.html", "runs.parquet"}
    expected |= {f"tables/table-{i}.{ending}" for i in (1, 2) for ending in ("csv", "tex")}
    expected |= {f"figures/figure-{i}.{ending}" for i in (1, 2) for ending in ("csv", "svg", "png", "pdf")}
    assert set(digests(tmp_path / "out")) == expected
    said = capsys.readouterr()
    assert said.err == ""
    for text in ("report.html", "figure-1.png", "figure-2.png", "depth = 3, ε = 0.05", "80.012", "a is above b."):
        assert text in said.out
    assert "Complete: all 120 cells" in said.out


def test_bytes_are_equal_on_two_runs_and_whatever_the_order_of_rows(paper, tmp_path):
    table, shown = long_table(), paper | {"figures": PAPER["figures"][:1]}
    publish(shown, table, tmp_path / "one", ENDINGS)
    publish(shown, table.sample(frac=1, random_state=1), tmp_path / "two", ENDINGS)
    assert digests(tmp_path / "one") == digests(tmp_path / "two")


def test_other_numbers_give_other_figures(paper, tmp_path):
    publish(paper, long_table(0), tmp_path / "one")
    publish(paper, long_table(1), tmp_path / "two")
    one, two = digests(tmp_path / "one"), digests(tmp_path / "two")
    same = {name for name in one if one[name] == two[name]}
    assert same == {"paper.yaml", "copies.csv", "privacy.json", "tables/table-1.csv", "tables/table-1.tex"}


def test_a_table_that_went_through_a_file_gives_the_same(undrawn, tmp_path):
    table = long_table()
    table.to_csv(tmp_path / "cells.csv", index=False)
    publish(undrawn, table, tmp_path / "one")
    publish(undrawn, pd.read_csv(tmp_path / "cells.csv"), tmp_path / "two")
    assert (tmp_path / "one/numbers.csv").read_bytes() == (tmp_path / "two/numbers.csv").read_bytes()


def test_numbers_stand_beside_ours(paper, tmp_path):
    table = long_table()
    publish(paper | {"figures": PAPER["figures"][:1]}, table, tmp_path)
    numbers = pd.read_csv(tmp_path / "numbers.csv").set_index("id")
    assert numbers["verdict"].to_dict() == {
        "rows": "reproduced",
        "good": "reproduced",
        "bad": "undecided",  # until a second look confirms it
        "far": "reproduced",
    }
    cell = table.query("algorithm == 'a' and `params.max_depth` == 3 and epsilon == 0.05")["accuracy"]
    assert numbers.loc["good", "mean"] == pytest.approx(cell.mean())
    assert numbers.loc["good", "printed"] == 0.80012
    mean, half = 100 * cell.mean(), 100 * student.ppf(0.975, 9) * cell.std() / math.sqrt(10)
    assert rf"3 & ${mean:.3f} \pm {half:.3f}$ & " in (tmp_path / "tables/table-2.tex").read_text(encoding="utf-8")
    figure = pd.read_csv(tmp_path / "figures/figure-1.csv")
    assert figure["printed"].notna().sum() == 3
    point = figure.query("epsilon == 0.05 and `params.max_depth` == 3").iloc[0]
    assert (point["mean"], point["printed"], point["n"]) == (pytest.approx(cell.mean()), 0.80012, 10)


@pytest.mark.parametrize("n", [10, 3])
def test_missing_cells_never_look_complete(paper, tmp_path, capsys, n):
    figures = PAPER["figures"] if n == 10 else []  # three missing are drawn below, where figures are looked at
    publish(paper | {"figures": figures}, without(long_table(), n), tmp_path)
    cells = f"{60 - n} of 60 cells"
    csv = pd.read_csv(tmp_path / "tables/table-2.csv")
    gap = csv[csv["n"] < csv["n_expected"]].iloc[0]
    assert gap["n"] == 10 - n
    assert gap["note"] == f"INCOMPLETE: {10 - n} of 10 cells"
    assert math.isnan(gap["mean"]) == (n == 10)
    tex = (tmp_path / "tables/table-2.tex").read_text(encoding="utf-8")
    assert f"INCOMPLETE: {cells}" in tex and r"depth / $\varepsilon$ & 0.05 & 1.00 & no noise" in tex
    assert ("---" in tex) == (n == 10)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"INCOMPLETE: {cells}" in page
    assert f"INCOMPLETE: {120 - n} of 120 cells" in page
    claims = json.loads((tmp_path / "claims.json").read_text(encoding="utf-8"))["claims"]
    assert "INCOMPLETE" in claims[0]["reason"]
    said = capsys.readouterr().out
    assert f"INCOMPLETE: {120 - n} of 120 cells" in said
    numbers = pd.read_csv(tmp_path / "numbers.csv").set_index("id")
    assert (numbers.loc["far", "verdict"] == "not run") == (n == 10)


def test_a_run_without_the_metric_is_no_missing_cell():
    exhibit = PAPER["tables"][1] | {"metric": "precision_acc"}
    made = make_paper(**PAPER | {"tables": [exhibit], "figures": []})
    table = long_table().rename(columns={"accuracy": "precision_acc"})
    table.loc[table["repeat"] < 2, "precision_acc"] = math.nan
    frame = view(made, made.tables[0]).make_frame(table, NO_NUMBERS, {})
    assert (set(frame["n"]), set(frame["n_expected"]), set(frame["note"])) == ({8}, {8}, {"undefined in 2 runs"})
    table.loc[table["repeat"] < 2, "status"] = "failed"
    failed = view(made, made.tables[0]).make_frame(table, NO_NUMBERS, {})
    assert (set(failed["n_expected"]), set(failed["note"])) == ({10}, {"INCOMPLETE: 8 of 10 cells"})


def test_an_empty_table_is_published_as_nothing(paper, tmp_path, capsys):
    publish(paper, pd.DataFrame(), tmp_path)
    numbers = pd.read_csv(tmp_path / "numbers.csv")
    assert set(numbers.loc[numbers["statistic"] == "mean", "verdict"]) == {"not run"}
    assert "INCOMPLETE: 0 of 120 cells" in capsys.readouterr().out
    assert "reproduced (" not in (tmp_path / "tables/table-2.tex").read_text(encoding="utf-8")


def test_figures_mark_what_is_printed_and_what_is_missing(paper, tmp_path, monkeypatch):
    from matplotlib.text import Text

    drawn = []
    monkeypatch.setattr(
        Text, "set_text", lambda self, s, original=Text.set_text: (drawn.append(str(s)), original(self, s))[1]
    )
    publish(paper, without(long_table(), 3), tmp_path)
    assert "INCOMPLETE: 57 of 60 cells" in drawn
    assert "INCOMPLETE: 60 of 60 cells" not in drawn
    assert "printed in the paper,\ncoloured by its ε" in drawn
    assert {"no noise", "0.05", "1.00", "accuracy (%)", "depth"} <= set(drawn)
    ElementTree.parse(tmp_path / "figures/figure-1.svg")
    assert "<dc:date>" not in (tmp_path / "figures/figure-1.svg").read_text(encoding="utf-8")


DRAWING = re.compile("<svg .*?</svg>", re.DOTALL)


class Page(HTMLParser):
    """Collects what a browser would fetch, pictures beside the page, the ids, and whether every element is closed.

    Drawings are most of a page, and XML, which a parser in C reads: it refuses an element that is not closed.
    """

    def __init__(self, text):
        super().__init__()
        self.fetched, self.pictures, self.ids, self.open = [], [], [], []
        for drawing in DRAWING.findall(text):
            expat.ParserCreate().Parse(drawing, True)
            self.ids += re.findall(' id="([^"]+)"', drawing)
            self.fetched += re.findall('src="[^"]*"', drawing) + re.findall('href="(?!#|data:)[^"]*"', drawing)
        self.feed(DRAWING.sub("", text))

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.ids += [named["id"]] if "id" in named else []
        if tag == "img" and not re.match("[a-z]+:|/", named["src"]):
            assert named["alt"] and named["loading"] == "lazy"
            self.pictures.append(named["src"])
        elif tag in ("link", "img", "iframe", "object", "image") or "src" in named:
            self.fetched.append((tag, named))
        if tag not in ("meta", "br", "img", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The folder of a paper with figures."""
    folder = tmp_path_factory.mktemp("published")
    (folder / "reported.csv").write_text(REPORTED, encoding="utf-8")
    (folder / "provenance.json").write_text('{"git": "0123abc", "processor": {"cores": 2}}', encoding="utf-8")
    publish(PAPER | {"reported": str(folder / "reported.csv")}, long_table(), folder, ENDINGS)
    return folder


def test_report_opens_from_disk(published):
    text = (published / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.fetched == []
    assert page.pictures == ["figures/figure-2.svg"] and (published / page.pictures[0]).is_file()
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert text.count("<table") == len(re.findall('<div class="scroll"[^>]*><table', text)), "one could be too wide"
    assert not re.search(r"@import|url\((?!#)", text)
    files = dict(re.findall(r'<a href="[^"]+\.(\w+)">(CSV|LaTeX|SVG|PNG|PDF)</a>', text))
    assert files == {"csv": "CSV", "tex": "LaTeX", "svg": "SVG", "png": "PNG", "pdf": "PDF"}
    for link in re.findall(r'<a href="([^"]+)"', text):
        assert link[1:] in page.ids if link.startswith("#") else (published / link).is_file()
    order = [
        text.index(f'id="{name}"')
        for name in ("figure-1", "claims", "numbers", "table-1", "figure-2", "privacy", "provenance")
    ]
    assert order == sorted(order)
    assert "A paper &amp; its &lt;numbers&gt;" in text
    assert "fault of &lt;a&gt;" in text
    assert "up to 25 × the claimed ε" in text
    assert "0123abc" in text
    assert "prefers-color-scheme: dark" in text


def test_references_inside_drawings_lead_somewhere(published):
    text = (published / "report.html").read_text(encoding="utf-8")
    ids = set(Page(text).ids)
    used = set(re.findall(r'xlink:href="#([^"]+)"|url\(#([^)]+)\)', text))
    assert used
    assert {a or b for a, b in used} <= ids


def test_data_sets_are_counted(undrawn, tmp_path, monkeypatch):
    publish(undrawn, long_table(), tmp_path)
    counted = pd.read_csv(tmp_path / "tables/table-1.csv").set_index("fact")
    assert counted["value"].dropna().to_dict() == {
        "rows": 1728,
        "features": 6,
        "continuous": 0,
        "nominal": 6,
        "classes": 4,
    }
    assert counted.loc["train", "note"] == "none: no official split"

    def unavailable(name):
        raise datasets.DataUnavailable("not here")

    monkeypatch.setattr(datasets, "load", unavailable)
    publish(undrawn, long_table(), tmp_path)
    assert "INCOMPLETE: 0 of 1 data sets" in (tmp_path / "tables/table-1.tex").read_text(encoding="utf-8")
    numbers = pd.read_csv(tmp_path / "numbers.csv").set_index("id")
    assert numbers.loc["rows", "verdict"] == "not run"


def test_a_paper_without_printed_numbers_or_claims(tmp_path):
    publish({key: value for key, value in PAPER.items() if key not in ("claims", "figures")}, long_table(), tmp_path)
    assert json.loads((tmp_path / "claims.json").read_text(encoding="utf-8"))["claims"] == []
    assert len((tmp_path / "numbers.csv").read_text(encoding="utf-8").splitlines()) == 1


def test_a_point_that_mixes_settings_is_refused(paper, tmp_path):
    mixed = [PAPER["figures"][0] | {"where": {}}]
    with pytest.raises(PaperError, match="figure-1: algorithm varies within a point"):
        publish(paper | {"figures": mixed}, long_table(), tmp_path)


def test_paper_2_asks_for_what_the_paper_shows():
    paper = read_paper("2")
    exhibits = [*paper.tables, *paper.figures]
    assert len({exhibit.id for exhibit in exhibits}) == len(exhibits)
    assert {f"table-{i}" for i in range(1, 4)} <= {exhibit.id for exhibit in paper.tables}
    assert {f"figure-{i}" for i in range(1, 6)} <= {exhibit.id for exhibit in paper.figures}
    cells = study_cells.cells_of_studies(paper)
    assert set(cells) == set(paper.studies)
    for exhibit in exhibits:
        if exhibit in paper.tables and exhibit.kind == "datasets":
            assert set(exhibit.datasets) <= {cell.dataset for study in cells.values() for cell in study}
            continue
        points = summarise_metrics(paper, exhibit, exhibit.metric, pd.DataFrame(), NO_NUMBERS, exhibit.axes)
        assert len(points) == math.prod(
            len(paper.studies[exhibit.study].axis(name, exhibit.where)) for name in exhibit.axes
        )
        assert all(points[name].nunique() > 1 for name in exhibit.axes)


def test_a_real_run_says_what_was_paid_for_privacy(tmp_path):
    study = {"dataset": ["car"], "algorithm": ["rfdpp_gini", "majority"], "epsilon": [1.0]}
    own = {"rfdpp_gini": {"n_estimators": 2, "max_depth": 2}, "majority": {}}
    keys = {"number": 9, "title": "Tiny", "repeats": 2, "studies": {"tiny": study}, "algorithms": own}
    cells = study_cells.cells_of_studies(make_paper(**keys))
    with Store(tmp_path / "store.sqlite") as store:
        assert runner.run_cells(cells["tiny"], store, runner.Executor(jobs=1)).done == 4
        records = store.get([cell.key for cell in cells["tiny"]])
    table = long_table_of(cells, records)
    assert (table["privacy"] == "").tolist() == (table["algorithm"] == "majority").tolist()
    said = json.loads(table["privacy"].max())
    assert (said["claimed_epsilon"], said["accounted_epsilon"], said["keeps_claim"]) == (1.0, "inf", False)
    publish(keys, table, tmp_path)
    section = (tmp_path / "report.html").read_text(encoding="utf-8").partition('id="privacy-table"')[2]
    section = section.partition("</table>")[0]
    cells = re.findall(r"<td[^>]*>(.*?)</td>", section)
    assert cells[:3] == ["rfdpp_gini", "no", "no finite ε"] and cells[5] == "one record added or removed"
    assert "majority" not in section
    names = [fault["name"] for fault in said["faults"]]
    assert "exact nominal splits" in names
    assert re.findall("<li>([^:]+):", section) == sorted(names, key=rank_fault), "the gravest first"


ERRORS = {"a": [0.5, 0.1, 0.02], "b": [40.0, 0.3, 0.0]}


def error_figure(printed=math.nan, **more):
    """Return a drawn figure of errors: a with one run of four far above, b once far above and once at zero."""
    study = {"dataset": ["car"], "algorithm": ["a", "b"], "epsilon": [0.1, 1.0, 10.0]}
    item = {"id": "f", "title": "Errors", "study": "s", "x": "epsilon", "lines": "algorithm", "metric": "unit_mse"}
    keys = {"repeats": 4, "studies": {"s": study}, "labels": {"b": "DiffPRF, stop at zero"}}
    table = pd.DataFrame(
        {"study": "s", "dataset": "car", "algorithm": name, "epsilon": epsilon, "repeat": r}
        | {"unit_mse": mean * ((0.1, 0.1, 0.1, 3.7)[r] if name == "a" else 1)}
        for name, means in ERRORS.items()
        for epsilon, mean in zip(study["epsilon"], means, strict=True)
        for r in range(4)
    )
    paper, figure = make_exhibit(keys, item | more)
    series = view(paper, figure).make_frame(table, NO_NUMBERS)
    drawn = view(paper, figure).draw(series.assign(printed=printed))
    drawn.draw_without_rendering()
    return drawn.axes[0], drawn


def list_legend(drawn):
    """Return what the legend says."""
    return [text.get_text() for text in drawn.legends[0].get_texts()]


def written(axes):
    """Return the values that are written beyond the ends of the axis."""
    return [(text.xy[0], text.get_text()) for text in axes.texts]


def test_each_line_has_its_own_name_points_and_intervals():
    axes, drawn = error_figure()
    lines = {line.get_label(): line.get_ydata() for line in axes.lines}
    assert lines["a"] == pytest.approx(ERRORS["a"]) and lines["DiffPRF, stop at zero"] == pytest.approx(ERRORS["b"])
    assert [text.get_text() for text in drawn.legends[0].get_texts()][:2] == ["a", "DiffPRF, stop at zero"]
    half = student.ppf(0.975, 3) * np.std([0.1, 0.1, 0.1, 3.7], ddof=1) / 2
    bars = [bar[:, 1] for bar in axes.collections[0].get_segments()]
    assert half > 1, "a t-interval would reach below zero"
    assert np.array(bars) == pytest.approx(np.outer(ERRORS["a"], [np.exp(-half), 1 + half]))


def test_a_log_axis_shows_whole_intervals_and_marks_a_mean_of_zero():
    axes, _ = error_figure(y="log")
    assert axes.get_yscale() == "log"
    bottom, top = axes.get_ylim()
    assert 0.001 < bottom < 0.02 and 40 < top < 100
    bars = [segment for part in axes.collections for segment in part.get_segments()]
    assert len(bars) == 6 and all(bar[1, 1] > 0.02 for bar in bars[:3])
    assert written(axes) == [(2, "0.00")]
    assert {"0.1", "1", "10"} <= {tick.get_text() for tick in axes.get_yticklabels()}


@pytest.mark.parametrize("y", [{}, {"y": "log"}], ids=["linear", "log"])
def test_what_lies_beyond_an_end_is_written_there(y):
    axes, drawn = error_figure(printed=0.7, top=0.4, bottom=0.05, **y)
    assert axes.get_ylim() == (0.05, 0.4)
    above = [(0, "0.500"), (0, "× 0.700"), (0, "× 0.700"), (0, "40.0"), *[(x, "× 0.700") for x in (1, 1, 2, 2)]]
    assert written(axes) == [*above, (2, "0.0200"), (2, "0.00")]
    at_ends = [line.get_ydata()[0] for line in axes.lines if not line.get_clip_on()]
    assert at_ends == [0.4] * 8 + [0.05] * 2
    boxes = [text.get_window_extent() for text in axes.texts]
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])
    ticks = [tick.get_window_extent() for tick in axes.get_xticklabels()]
    assert not any(box.overlaps(tick) for box in boxes for tick in ticks)
    assert drawn._suptitle.get_window_extent().y0 >= max(box.y1 for box in boxes)
    assert {"above the axis,\nvalue written", "below the axis,\nvalue written"} <= set(list_legend(drawn))


def test_the_sign_of_a_point_beyond_an_end_is_the_sign_in_the_legend():
    for top, bottom, words, marker in ((30.0, None, "above", "^"), (None, 0.05, "below", "v")):
        _, drawn = error_figure(top=top, bottom=bottom)
        beyond = [text.split(" the axis")[0] for text in list_legend(drawn) if "value written" in text]
        assert beyond == [words]
        place = [text.startswith(words) for text in list_legend(drawn)].index(True)
        assert drawn.legends[0].legend_handles[place].get_marker() == marker


def test_an_axis_that_is_linear_around_zero_has_no_point_beyond_it():
    axes, _ = error_figure(y="symlog")
    assert axes.get_yscale() == "symlog" and written(axes) == []
    assert axes.get_ylim()[0] < 0 and axes.get_ylim()[1] > 40
    assert {"0", "1", "10"} <= {tick.get_text() for tick in axes.get_yticklabels()}


def test_all_that_is_drawn_of_a_line_is_one_group():
    _, drawn = error_figure(printed=0.7, top=0.4)
    groups = {artist.get_gid() for artist in drawn.findobj() if (artist.get_gid() or "").startswith("line-")}
    own = {gid for gid in groups if gid.startswith("line-0-")}
    assert {"line-0-key", "line-0-text", "line-0-0-0", "line-0-0-1", "line-0-0-2"} <= own
    assert len(groups) - len(own) >= 5


def test_points_of_one_place_stand_close_together():
    axes, _ = error_figure()
    first, second = (line.get_xdata() for line in axes.lines[::2][:2])
    assert 0 < np.max(np.abs(first - second)) < 0.03


def test_one_end_that_is_given_leaves_room_for_the_rest():
    axes, _ = error_figure(top=1.0)
    assert axes.get_ylim()[1] == 1.0 and -2 < axes.get_ylim()[0] < 0
    assert written(axes) == [(0, "40.0")]
    axes, _ = error_figure(top=0.001, y="log", where={"epsilon": [0.1, 1.0]})
    assert axes.get_ylim()[1] == 0.001 and 0 < axes.get_ylim()[0] < 0.001
    assert len(written(axes)) == 4


def test_a_figure_that_fits_has_nothing_beyond():
    axes, drawn = error_figure()
    assert written(axes) == []
    assert not [text for text in list_legend(drawn) if "value written" in text]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"y": "logarithmic"}, r"figures\.0\.y: input should be 'log' or 'symlog', got 'logarithmic'"),
        ({"top": "high"}, r"figures\.0\.top: input should be a valid number, got 'high'"),
        ({"top": True}, r"figures\.0\.top: input should be a valid number, got True"),
        ({"bottom": math.nan}, r"figures\.0: bottom = nan must be a number"),
        ({"y": "log", "bottom": 0}, r"figures\.0: bottom = 0.0 cannot be shown on a log axis"),
        ({"top": 1, "bottom": 1.0}, r"figures\.0: bottom = 1.0 must lie below top = 1.0"),
    ],
)
def test_an_axis_that_contradicts_itself_is_refused(more, message):
    with pytest.raises(DocumentError, match=message):
        error_figure(**more)


def test_data_sets_may_be_lines(tmp_path):
    study = {"dataset": ["car", "nursery"], "algorithm": ["a"], "epsilon": [0.1, 1.0]}
    item = {"id": "figure-1", "title": "T", "study": "s", "x": "epsilon", "lines": "dataset", "metric": "accuracy"}
    paper = {"number": 9, "title": "T", "repeats": 1, "labels": {"nursery": "Nursery"}, "studies": {"s": study}}
    points = make_paper(studies={"s": study}).studies["s"].settings(["dataset", "epsilon"])
    table = pd.DataFrame(points, columns=["dataset", "epsilon"]).assign(study="s", algorithm="a", repeat=0)
    publish(paper | {"figures": [item]}, table.assign(accuracy=0.8, status="done"), tmp_path)
    drawn = pd.read_csv(tmp_path / "figures/figure-1.csv")
    assert list(zip(drawn["dataset"], drawn["epsilon"], strict=True)) == points
    assert "<td>Nursery</td>" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_report_shows_claims_of_every_kind(undrawn, tmp_path):
    grid = {"study": "grid", "metric": "accuracy", "text": "t"}
    by_epsilon = grid | {"along": "epsilon", "within": ["params.max_depth"]}
    claims = [
        by_epsilon | {"id": "i", "kind": "increases", "where": {"algorithm": "a"}},
        by_epsilon | {"id": "d", "kind": "decreases", "where": {"algorithm": "a"}},
        grid | {"id": "b", "kind": "below", "better": "a", "worse": "b", "within": ["params.max_depth", "epsilon"]},
        by_epsilon | {"id": "n", "kind": "approaches", "algorithm": "a", "to": "b"},
        by_epsilon | {"id": "s", "kind": "independent", "margin": 0.05, "where": {"algorithm": "a"}},
    ]
    publish(undrawn | {"claims": claims}, long_table(), tmp_path)
    said = {one["id"]: one for one in json.loads((tmp_path / "claims.json").read_text(encoding="utf-8"))["claims"]}
    assert {name: one["kind"] for name, one in said.items()} == {one["id"]: one["kind"] for one in claims}
    assert said["s"]["settings"] and all(len(one["settings"]) == sum(one["counts"].values()) for one in said.values())
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    settings = {"i": 6, "d": 6, "b": 6, "n": 2, "s": 6}
    for name, n in settings.items():
        row = page.partition(f'id="claim-{name}"')[2].partition("</details>")[0]
        assert len(re.findall(r'<li[^>]*><span class="text">depth = [34]', row)) == n
        assert len(re.findall('class="(dot|beyond)', row)) == n + 1, "the row itself has a strip, too"
        assert "Its settings, the weakest first" in row
        assert len(re.findall(r"\d+ % of 10 runs as claimed", row)) == n


@pytest.mark.parametrize("n_words", [1, 8, 16])
def test_a_title_of_any_length_stays_off_the_legend(paper, tmp_path, n_words):
    item = PAPER["figures"][0] | {"title": " ".join(["Accuracy"] * n_words)}
    made, figure = make_exhibit(paper, item)
    drawn = view(made, figure).draw(view(made, figure).make_frame(long_table(), NO_NUMBERS))
    drawn.draw_without_rendering()
    title, (legend,), (axes,) = drawn._suptitle, drawn.legends, drawn.axes
    assert title.get_text().split() == item["title"].split()
    assert not title.get_window_extent().overlaps(legend.get_window_extent())
    assert title.get_window_extent().y0 >= axes.get_window_extent().y1
    assert ("\n" in title.get_text()) == (n_words > 5)


def test_medians_and_several_metrics_in_one_table(tmp_path):
    study = {"dataset": ["ccpp"], "algorithm": ["a", "b"], "epsilon": [1.0]}
    item = {"id": "table-1", "title": "T_1", "kind": "grid", "study": "s", "rows": "algorithm"}
    item |= {"columns": "metric", "metric": ["mse", "r2"], "center": "median"}
    figure = {"id": "figure-1", "title": "F", "study": "s", "x": "epsilon", "lines": "algorithm", "metric": "r2"}
    paper = {"number": 9, "title": "T", "repeats": 6, "studies": {"s": study}, "center": {"r2": "median"}}
    paper |= {"labels": {"mse": "error"}, "tables": [item], "figures": [figure]}
    values = [0.3, 0.1, 0.2, 0.4, 0.5, -1e7]
    table = pd.DataFrame(
        {"study": "s", "dataset": "ccpp", "algorithm": name, "epsilon": 1.0, "repeat": r, "status": "done"}
        | {"r2": value, "mse": 5000 - value}
        for name in "ab"
        for r, value in enumerate(values)
    )
    publish(paper, table, tmp_path)
    written = pd.read_csv(tmp_path / "tables/table-1.csv")
    assert "mean" not in written and list(written["metric"]) == ["mse", "r2"] * 2
    assert list(written["median"]) == pytest.approx([5000 - 0.25, 0.25] * 2)
    assert pd.read_csv(tmp_path / "figures/figure-1.csv")["ci_low"].tolist() == [-1e7, -1e7]
    tex = (tmp_path / "tables/table-1.tex").read_text(encoding="utf-8")
    assert (
        r"\caption{T\_1 (" in tex
        and "algorithm & error & r2" in tex
        and r"a & $5000$ (5000 to 10005000) & $0.250$ (-1.0e+07 to 0.500)" in tex
    )
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Median and its 95 % interval" in page and "ours, r2, median" in page
    made, exhibit = make_exhibit(paper, figure)
    drawn = view(made, exhibit).draw(view(made, exhibit).make_frame(table, NO_NUMBERS))
    assert drawn.axes[0].get_ylabel() == "R², median"
    assert "95 % interval\nof the median,\n6 repeats" in list_legend(drawn)


NO_NUMBERS = pd.DataFrame(columns=["statistic"])


def test_places_on_the_axis_are_marked_between_its_ticks():
    axes, drawn = error_figure(marks={"here": 1.0, "between": 5.5, "the last": 10})
    (names,) = axes.child_axes
    assert [tick.get_text() for tick in names.get_xticklabels()] == ["here", "between", "the last"]
    assert list(names.get_xticks()) == pytest.approx([1, 1.5, 2])
    boxes = [tick.get_window_extent() for tick in names.get_xticklabels()]
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])
    assert drawn._suptitle.get_window_extent().y0 >= max(box.y1 for box in boxes)


def test_a_fit_shows_rows_and_a_curve_for_each_algorithm(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"AT": rng.uniform(0, 40, 500), "V": 30.0})
    loaded = SimpleNamespace(frame=frame, target=pd.Series(500 - frame["AT"]), task="regression", n_train=400)
    monkeypatch.setattr(datasets, "load", lambda name: loaded)
    item = {"id": "figure-1", "title": "T", "kind": "fit", "dataset": "ccpp", "feature": "AT", "epsilon": 1e9}
    item |= {"algorithm": ["polynomial_regression", "fm"], "params": {"degree": 2, "fit_intercept": True}}
    paper = {"number": 9, "title": "T", "repeats": 1, "labels": {"fm": "FM"}, "figures": [item]}
    publish(paper, pd.DataFrame(), tmp_path)
    drawn = pd.read_csv(tmp_path / "figures/figure-1.csv")
    assert drawn["line"].value_counts().to_dict() == {"rows": 400, "fm": 200, "polynomial_regression": 200}
    assert drawn["y"].to_numpy() == pytest.approx(500 - drawn["x"], abs=1e-3)
    made, figure = make_exhibit(paper, item)
    legend = [text.get_text() for text in view(made, figure).draw(drawn).legends[0].get_texts()]
    assert legend == ["400 of the rows", "polynomial_regression", "FM at ε = 1e+09"]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'id="figure-1"' in page and "the numbers behind it" not in page

    def nothing(name):
        raise datasets.DataUnavailable("gone")

    monkeypatch.setattr(datasets, "load", nothing)
    publish(paper, pd.DataFrame(), tmp_path)
    assert "INCOMPLETE: data set not available" in (tmp_path / "report.html").read_text(encoding="utf-8")


LEDGER = {"id": "figure-1", "title": "T", "kind": "ledger", "dataset": "car", "algorithm": "edprf", "epsilon": 1}
LEDGER |= {"params": {"max_depth": [3, 5]}}


def ledger_frame(**keys):
    """Return what a ledger is drawn from."""
    paper, figure = make_exhibit({}, LEDGER | keys)
    return view(paper, figure).make_frame(pd.DataFrame(), NO_NUMBERS)


def test_a_ledger_shows_what_each_step_costs(tmp_path, monkeypatch):
    paper = {"number": 9, "title": "T", "repeats": 1, "labels": {"params.max_depth": "levels"}, "figures": [LEDGER]}
    publish(paper, pd.DataFrame(), tmp_path)
    drawn = pd.read_csv(tmp_path / "figures/figure-1.csv")
    shares = drawn[drawn["value"] == 3]
    assert shares["epsilon"].to_numpy() == pytest.approx([2 / 11, 3 / 11, 6 / 11])  # 0.18, 0.27, 0.55 as printed
    assert shares["purpose"].tolist() == ["feature at level 1", "feature at level 2", "label of a leaf"]
    assert drawn.groupby("value")["epsilon"].sum().tolist() == pytest.approx([1, 1])
    made, figure = make_exhibit({}, LEDGER)
    words = [text.get_text() for text in view(made, figure).draw(drawn).axes[0].texts]
    assert words[:4] == ["0.18", "0.27", "0.55", " 1"] and words[-1] == " 1"
    monkeypatch.setattr("datasets.load", lambda name: (_ for _ in ()).throw(datasets.DataUnavailable("gone")))
    publish(paper, pd.DataFrame(), tmp_path)
    assert "INCOMPLETE: data set not available" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_ledger_of_a_bootstrap_forest_has_the_steps_of_all_its_trees():
    levels = ledger_frame(algorithm="diffprf_linear", params={"max_depth": [2]})
    # T = 10 trees, levels in proportion to 1, 2, 3, half of each for the count and half for the split or the leaf
    assert levels["epsilon"].to_numpy() == pytest.approx(np.tile(np.repeat([1, 2, 3], 2) / 6 / 10 / 2, 10))
    assert levels["step"].tolist() == list(range(1, 61))


@pytest.mark.parametrize(
    "algorithm", ["rfdpp_gini_sound", "diffpets_sound", "dp_marginals", "edprf_sound", "rdt", "diffprf_linear"]
)
def test_the_steps_of_a_ledger_add_up_to_the_label(algorithm):
    name = "n_bins" if algorithm == "dp_marginals" else "max_depth"
    steps = ledger_frame(algorithm=algorithm, params={name: [3]})
    assert steps["epsilon"].sum() == pytest.approx(1.0)


SPAN = {"id": "table-9", "title": "Table 9", "kind": "span", "studies": ["grid"], "algorithms": ["a", "lost"]}
SPAN |= {"metric": "accuracy"}


def test_numbers_without_their_setting_stand_beside_the_span_of_ours(tmp_path, capsys):
    lines = ["id,table,dataset,algorithm,metric,statistic,value,decimals,source"]
    lines += [f"{name},table-9,,{name},accuracy,some,0.9,1,section 5" for name in ("a", "lost")]
    (tmp_path / "reported.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    paper = PAPER | {"reported": str(tmp_path / "reported.csv"), "tables": [SPAN], "claims": []}
    paper |= {"not_implemented": {"lost": "never described"}}
    table = long_table()
    publish(paper, table, tmp_path / "out")
    a, lost = pd.read_csv(tmp_path / "out/tables/table-9.csv").to_dict("records")
    means = table[table["algorithm"] == "a"].groupby(["params.max_depth", "epsilon"])["accuracy"].mean()
    assert (a["lowest"], a["highest"]) == pytest.approx((means.min(), means.max()))
    (depth, epsilon), words = means.idxmax(), a["highest_setting"]
    assert words == f"grid, max_depth = {depth}, {'no noise' if np.isinf(epsilon) else f'ε = {epsilon:g}'}"
    assert (a["verdict"], lost["verdict"], lost["n"]) == ("undecided", "not implemented", 0)
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert "90.0 ?" in page and "not implemented: never described" in page
    assert "not implemented: never described" in (tmp_path / "out/tables/table-9.tex").read_text(encoding="utf-8")
    assert "setting not printed" in capsys.readouterr().out
    marked = pd.read_csv(tmp_path / "out/figures/figure-2.csv").groupby("algorithm")["unplaced"]
    assert marked.first().dropna().to_dict() == {"a": 0.9}
    assert "unplaced" not in pd.read_csv(tmp_path / "out/figures/figure-1.csv"), "its lines are no algorithms"
    made = make_paper(**paper)
    described = view(made, made.tables[0]).describe(read_csv(tmp_path / "out/tables/table-9.csv"))
    (_, of_a), (name, shown) = described["rows"]
    ends = {head: cell["ours"] for head, cell in zip(described["columns"], of_a, strict=True) if head != "paper"}
    assert ends == {f"{end} of ours": f"{100 * a[end]:.1f}" for end in ("lowest", "highest")}
    assert name == "lost" and [cell["ours"] for cell in shown] == ["90.0 ?", "—", "—"]
    assert shown[0]["band"] == "(not implemented: never described)"


def test_a_level_is_drawn_for_a_number_without_its_setting():
    keys = PAPER | {"tables": [SPAN], "not_implemented": {"lost": "never described"}}
    paper, figure = make_exhibit(keys, PAPER["figures"][1])
    printed = {"table": "table-9", "metric": "accuracy", "algorithm": ["a"], "printed": [0.95], "statistic": "some"}
    (axes,) = view(paper, figure).draw(view(paper, figure).make_frame(long_table(), pd.DataFrame(printed))).axes
    assert 95.0 in [float(line.get_ydata()[0]) for line in axes.lines if len(line.get_ydata()) == 1]
    assert axes.get_ylim()[1] > 95


def test_metrics_may_stand_along_the_axis(tmp_path):
    item = {"id": "figure-1", "title": "T", "study": "grid", "x": "metric", "lines": "algorithm"}
    item |= {"metric": ["precision_acc", "recall_acc"], "where": {"params.max_depth": 3, "epsilon": 1.0}}
    table = long_table()
    table = table.assign(precision_acc=table["accuracy"], recall_acc=table["accuracy"] / 2)
    paper = {name: value for name, value in PAPER.items() if name not in ("claims", "tables")} | {"figures": [item]}
    publish(paper, table, tmp_path)
    drawn = pd.read_csv(tmp_path / "figures/figure-1.csv")
    assert drawn["metric"].tolist() == ["precision_acc", "recall_acc"] * 2
    assert drawn["mean"].iloc[1] == pytest.approx(drawn["mean"].iloc[0] / 2)
    made, figure = make_exhibit(paper, item)
    (axes,) = view(made, figure).draw(drawn).axes
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["precision,\nacc (%)", "recall,\nacc (%)"]
    assert {line.get_linewidth() for line in axes.lines if line.get_label() in ("a", "b")} == {0}, "no order, no line"
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "precision, acc (%)" in page and "recall, acc (%)" in page


def test_attributes_stand_with_their_kinds_beside_what_is_printed(tmp_path):
    exhibit = {"id": "table-1", "title": "T", "kind": "attributes", "datasets": ["adult"]}
    paper = make_paper(**PAPER | {"tables": [exhibit], "figures": [], "claims": []})
    numbers = [{"dataset": "adult", "metric": "categories_race", "statistic": "exact", "printed": 5, "verdict": "✓"}]
    facts = {("adult", "categories_race"): 5, ("adult", "categories_age"): 0}
    frame = view(paper, paper.tables[0]).make_frame(pd.DataFrame(), pd.DataFrame(numbers), facts)
    assert len(frame) == 14 and frame["printed"].sum() == 5
    described = dict(view(paper, paper.tables[0]).describe(frame)["rows"])
    assert [cell["ours"] for cell in described["race"]] == ["nominal", "5"]
    assert [cell["ours"] for cell in described["age"]] == ["continuous", "none"]
    assert described["sex"][1]["note"].startswith("INCOMPLETE")
    view(paper, paper.tables[0]).write_latex(frame, tmp_path / "table.tex")
    assert "race & nominal & 5" in (tmp_path / "table.tex").read_text(encoding="utf-8")


def test_facts_count_categories_and_the_rows_of_each_class():
    counted = count_facts(datasets.load("car"))
    assert (counted["rows_unacc"], counted["rows_acc"], counted["categories_doors"]) == (1210, 384, 4)
    assert sum(value for name, value in counted.items() if name.startswith("rows_")) == counted["rows"] == 1728
    split = count_facts(replace(datasets.load("car"), n_train=1000))
    assert (split["train"], split["test"]) == (1000, 728)


TRADEOFF = {"id": "figure-1", "title": "T", "kind": "tradeoff", "x": "relinked", "y": "accuracy"}
TRADEOFF |= {"curves": [{"label": "a, depth", "study": "grid", "along": "params.max_depth"}]}
TRADEOFF["curves"][0]["where"] = {"algorithm": "a", "epsilon": 1.0}


def test_a_tradeoff_has_a_point_for_every_value(tmp_path, capsys):
    table = long_table().assign(relinked=lambda t: t["params.max_depth"] / 10, key=lambda t: t.index.astype(str))
    paper = {name: value for name, value in PAPER.items() if name not in ("claims", "tables")} | {"figures": [TRADEOFF]}
    studies = {"grid": PAPER["studies"]["grid"] | {"protocol": {"test_size": 0.3, "leakage": True}}}
    paper |= {"studies": studies}
    publish(paper, table, tmp_path)
    drawn = pd.read_csv(tmp_path / "figures/figure-1.csv")
    meant = (
        table[(table["algorithm"] == "a") & (table["epsilon"] == 1.0)].groupby("params.max_depth")["accuracy"].mean()
    )
    assert (drawn["value"].tolist(), drawn["x"].tolist()) == ([3, 4], [0.3, 0.4])
    assert drawn["y"].tolist() == pytest.approx(meant.tolist())
    other = TRADEOFF["curves"][0] | {"label": "b, depth", "where": {"algorithm": "b", "epsilon": 1.0}}
    made, figure = make_exhibit(paper, TRADEOFF | {"curves": [*TRADEOFF["curves"], other]})
    frame = view(made, figure).make_frame(table.assign(relinked=table["relinked"] + table["repeat"] / 90), NO_NUMBERS)
    picture = view(made, figure).draw(frame)
    explained = ["95 % intervals", "beside points: depth,\nwhere there is room"]
    assert list_legend(picture) == ["a, depth", "b, depth", *explained]
    values = [text.get_window_extent() for text in picture.axes[0].texts]
    assert values and not any(one.overlaps(other) for i, one in enumerate(values) for other in values[:i])
    bars = [np.array(part.get_segments()) for part in picture.axes[0].collections]  # upright, level; of a, of b
    for name, scale, segments in (("y", 100, [bars[0], bars[2]]), ("x", 1, [bars[1], bars[3]])):
        ends = np.concatenate(segments)[:, :, "xy".index(name)]
        assert ends == pytest.approx(scale * frame[[f"{name}_low", f"{name}_high"]].to_numpy())
    gone = table[~((table["params.max_depth"] == 4) & (table["repeat"] < 3))]
    publish(paper, gone, tmp_path)
    assert "INCOMPLETE: 17 of 20 cells" in (tmp_path / "report.html").read_text(encoding="utf-8")


GRID, FIGURE = PAPER["tables"][1], PAPER["figures"][0]
FIT = {"id": "figure-1", "title": "T", "kind": "fit", "dataset": "ccpp", "feature": "AT", "algorithm": ["fm"]}
FIT |= {"params": {"degree": 2}, "epsilon": 1}


@pytest.mark.parametrize(
    ("section", "item", "message"),
    [
        ("tables", GRID | {"kind": "gird"}, "tables.0: kind 'gird' is not known; did you mean 'grid'"),
        (
            "tables",
            GRID | {"kind": ["grid"]},
            "tables.0: write a mapping with a kind: attributes, by_kind, datasets, decision, grid, span",
        ),
        ("tables", [], "tables.0: write a mapping with a kind: attributes, by_kind, datasets, decision, grid, span"),
        ("tables", GRID | {"rows": "params.depth"}, "no axis 'params.depth'"),
        ("tables", GRID | {"metric": "acuracy"}, "no metric 'acuracy'; did you mean 'accuracy'"),
        ("tables", GRID | {"metric": ["accuracy"]}, "tables.0: columns: metric goes with a list"),
        ("tables", GRID | {"metrics": 1}, "tables.0: unknown key 'metrics'; did you mean 'metric'"),
        ("tables", GRID | {"where": {}}, "algorithm varies within a point"),
        ("tables", {"id": "t", "title": "T", "kind": "datasets"}, "tables.0: the key 'datasets' is missing"),
        ("tables", SPAN | {"algorithms": ["c"]}, "not all of its studies run 'c'"),
        ("tables", SPAN | {"studies": ["gird"]}, "study 'gird' is not in the paper"),
        ("figures", LEDGER | {"algorithm": "majority", "params": {"strategy": ["prior"]}}, "keeps no ledger"),
        ("figures", LEDGER | {"params": {"max_depth": 3}}, "figures.0.params.max_depth: write a list, got 3"),
        (
            "figures",
            TRADEOFF | {"curves": [{"study": "grid", "along": "epsilon"}]},
            "figures.0.curves.0: the key 'label' is missing",
        ),
        ("figures", TRADEOFF | {"curves": [{"label": "a", "study": "grid", "along": "epsilon"}]}, "must fix algorithm"),
        ("figures", FIGURE | {"x": "metric"}, "figures.0: x: metric goes with a list"),
        ("figures", TRADEOFF, "car has no metric 'relinked'"),
        ("tables", {"id": "t", "title": "T", "kind": "datasets", "datasets": ["carr"]}, "did you mean 'car'"),
        ("figures", {k: v for k, v in FIGURE.items() if k != "x"}, "figures.0: the key 'x' is missing"),
        ("figures", FIGURE | {"lines": "epsilo"}, "no axis 'epsilo'"),
        ("figures", FIGURE | {"y": "logarithmic"}, "figures.0.y: input should be 'log' or 'symlog', got 'logarithmic'"),
        ("figures", FIGURE | {"marks": {"a": "b"}}, "figures.0.marks.a: input should be a valid number, got 'b'"),
        ("figures", FIGURE | {"center": "mode"}, "figures.0.center: input should be 'mean' or 'median', got 'mode'"),
        ("figures", FIT | {"feature": "TA"}, "ccpp has no feature 'TA'; known are AP, AT"),
        ("figures", FIT | {"params": {"degre": 2}}, "no parameter 'degre'; did you mean 'degree'"),
        ("own", "c", "own: no study runs 'c'; known are a, b"),
        ("claims", PAPER["claims"][0] | {"metric": "r2"}, "up: car has no metric 'r2'"),
        ("claims", PAPER["claims"][0] | {"better": "c"}, "better = 'c' is not run"),
        ("claims", PAPER["claims"][0] | {"reading_of": "down"}, "no claim 'down' that it is a reading of"),
    ],
)
def test_what_a_paper_cannot_show_is_found_out_before_it_runs(paper, section, item, message, monkeypatch):
    monkeypatch.setattr(paper_questions, "cells_of_studies", lambda *_, **__: {})  # a and b cannot be run
    with pytest.raises((BadInput, DocumentError), match=message):
        check(paper | {"reported": None, section: [item]})


def test_what_a_paper_can_show_is_not_refused(paper, monkeypatch):
    monkeypatch.setattr(paper_questions, "cells_of_studies", lambda *_, **__: {})  # a and b cannot be run
    check(paper)


def test_a_printed_number_of_a_data_set_with_a_substitute_is_not_run(paper, tmp_path, monkeypatch):
    monkeypatch.setattr(paper_questions, "cells_of_studies", lambda *_, **__: {})  # a and b cannot be run
    renamed = replace_datasets(paper | {"labels": {"car": "Car", "nursery": "Part of Car"}}, {"car": "nursery"})
    check(renamed)
    publish(renamed | {"figures": []}, long_table().assign(dataset="nursery"), tmp_path)
    numbers = pd.read_csv(tmp_path / "numbers.csv")
    assert set(numbers["verdict"]) == {"not run"} and "nursery answers for itself only" in numbers["reason"].iloc[0]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Car is not available: Part of Car stands in for it, under its own name." in page
    assert json.loads((tmp_path / "claims.json").read_text(encoding="utf-8"))["claims"][0]["runs"] == 10


def test_claims_are_drawn_where_no_difference_matters(undrawn, tmp_path):
    """Two models below an R² of 0 are both worse than the mean: there δ is infinite, here in all settings."""
    claims = [PAPER["claims"][0] | {"metric": "r2"}]
    table = long_table().assign(r2=-1e6 * (1 + np.random.default_rng(0).random(120)))
    publish(undrawn | {"claims": claims}, table, tmp_path)
    (claim,) = json.loads((tmp_path / "claims.json").read_text(encoding="utf-8"))["claims"]
    assert {setting["margin"] for setting in claim["settings"]} == {"inf"}
    assert 'id="claim-up"' in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("effects", "scale"), [([900, -1, 1, 2], "symlog"), ([9, -1, 1, 2], "linear")])
def test_a_curve_shows_small_effects_beside_very_large_ones(effects, scale):
    columns = {"kind": "choice", "unit": "mse", "keeps_epsilon": "yes", "choice.leaf": ["a", "b"] * 2}
    columns["verdict"] = [HOLDS, IS_REFUTED, OPEN, OPEN]
    rows = pd.DataFrame(columns | {"effect": effects, "low": effects, "high": effects, "weakest": effects})
    drawn = draw_claim(make_paper(), "It is smaller.", rows)
    drawn.draw_without_rendering()
    axes = drawn.axes[0]
    assert axes.get_yscale() == scale
    assert ("logarithmic beyond ± 1.5" in axes.get_ylabel()) == (scale == "symlog")
    assert axes.get_ylim()[1] >= max(effects), "nothing is cut off"
    (ticks,) = [line.get_ydata() for line in axes.lines if line.get_marker() == "_"]
    assert list(ticks) == sorted(effects)
    assert "holds under 1 of 4 readings and fails under 1." in " ".join(drawn._suptitle.get_text().split())


def test_a_wide_table_is_printed_in_parts_so_that_its_rows_keep_their_names():
    paper = read_paper("benchmark")
    exhibit = next(exhibit for exhibit in paper.tables if exhibit.id == "accuracy-1")
    sets, algorithms = paper.studies["classification"].dataset, paper.studies["classification"].algorithm
    rows = pd.DataFrame([{"dataset": name, "algorithm": algorithm} for name in sets for algorithm in algorithms])
    frame = rows.assign(epsilon=1.0, metric="accuracy", mean=0.5, ci_low=0.4, ci_high=0.6, n=3, n_expected=3)
    frame = frame.assign(printed=math.nan, decimals=math.nan, verdict="", note="")
    console = Console(width=80, record=True, file=io.StringIO())
    grid, center = view(paper, exhibit).arrange(frame, " / "), describe_center(frame)
    for table in terminal._make_grid_tables(exhibit.title, grid, center, console.width):
        console.print(table)
    text = console.export_text()
    assert text.count("thrifty (ours), sound") == text.count("RDT, sound") >= math.ceil(len(sets) / 4)
    assert all(paper.labels[name] in text for name in sets)
