"""Published figures: intervals inside of the range of their metric, drawings that can be read, searched and told."""

import math
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest

from experiments.config.paths import REFERENCE, ROOT
from experiments.metrics.find import find_metric
from experiments.stats import mean_interval
from plots.drawing.svg import dress_svg
from plots.style import ON_DARK
from plots.sweeps.sweep_folder import write_sweep
from tests.browser import opened
from tests.made_up_sweeps import accuracies, run_sweep

TELEPHONE_COLUMN = 368  # pixels that a figure is wide on a telephone, as a code host and the site show it
SMALLEST = 9  # pixels of a letter there
TABLES = sorted(path for folder in ("figures", "tables") for path in REFERENCE.glob(f"paper-*/{folder}/*.csv"))
DRAWINGS = sorted(REFERENCE.glob("paper-*/figures/*.svg"))
PICTURES = sorted(ROOT.glob("docs/pictures/*.svg"))
SVG = "{http://www.w3.org/2000/svg}"
# A word of the code: small letters with an underscore between them, or nothing where a value should stand.
CODE_NAME = re.compile(r"(?<![A-Za-z])[a-z0-9]+(?:_[a-z0-9]+)+\b|\bnull\b|\bNone\b|\bTrue\b|\bFalse\b")
# The words of a drawing that lie beyond its edges by more than a pixel; its rules are for nothing else on the page.
FIND_WORDS_BEYOND = """text => {
    const place = document.body.appendChild(document.createElement("div")), beyond = 1;
    place.attachShadow({mode: "open"}).innerHTML = text;
    const drawing = place.shadowRoot.querySelector("svg"), edge = drawing.getBoundingClientRect();
    const words = [...drawing.querySelectorAll("text")].filter(words => {
        const box = words.getBoundingClientRect();
        return box.left < edge.left - beyond || box.right > edge.right + beyond
            || box.top < edge.top - beyond || box.bottom > edge.bottom + beyond;
    }).map(words => words.textContent);
    place.remove();
    return words;
}"""


def name_file(path):
    return path.relative_to(REFERENCE).as_posix()


def measure_letters(path):
    """Return how many pixels the smallest letters of a drawing take on a telephone."""
    svg = path.read_text(encoding="utf-8")
    width = re.search(r'<svg [^>]*?viewBox="0 0 ([\d.]+) ', svg)[1]
    return min(map(float, re.findall(r"font-size: ([\d.]+)px", svg))) * TELEPHONE_COLUMN / float(width)


def test_intervals_lie_in_the_range_of_their_metric():
    n_checked = 0
    for path in TABLES:
        frame = pd.read_csv(path)
        if not {"metric", "ci_low", "ci_high"} <= set(frame):
            continue
        for metric, rows in frame.dropna(subset=["ci_low"]).groupby("metric"):
            low, high = find_metric(str(metric)).range
            center = rows["mean" if "mean" in rows else "median"]
            assert rows["ci_low"].min() >= low and rows["ci_high"].max() <= high, name_file(path)
            slack = 1e-9 * (1 + center.abs())  # files keep ten digits
            assert (rows["ci_low"] <= center + slack).all() and (center <= rows["ci_high"] + slack).all(), name_file(
                path
            )
            n_checked += len(rows)
    assert n_checked > 3000


@pytest.mark.parametrize("bounds", [(0, 1), (0, math.inf), (-math.inf, 1), (-math.inf, math.inf)])
def test_an_interval_of_few_runs_stays_inside_of_its_bounds(bounds):
    rng = np.random.default_rng(0)
    for n in (2, 3, 10):
        for spread in (0.001, 0.1, 0.5, 3):
            values = np.clip(rng.normal(0.5, spread, n), *bounds)
            interval = mean_interval(values, bounds)
            assert bounds[0] <= interval.low <= interval.center <= interval.high <= bounds[1]
            usual = mean_interval(values)
            if bounds[0] <= usual.low:
                assert interval.low == usual.low, "an end that is inside stays"
            if usual.high <= bounds[1]:
                assert interval.high == usual.high


@pytest.mark.parametrize("values", [[1, 1, 1], [0, 0], [1, 1 - 1e-16, 1]])
def test_an_interval_of_runs_at_a_bound_is_a_point(values):
    interval = mean_interval(values, (0, 1))
    assert interval.high - interval.low < 1e-15


@pytest.mark.parametrize("path", DRAWINGS, ids=name_file)
def test_a_drawing_has_a_name_and_text_that_can_be_read(path):
    root = ElementTree.parse(path).getroot()
    title, description = root.findtext(f"{SVG}title"), root.findtext(f"{SVG}desc")
    assert root.get("role") == "img" and title and description and len(description) > len("Legend: ")
    texts = root.findall(f".//{SVG}text")
    assert len(texts) > 5 and measure_letters(path) >= SMALLEST
    words = ["".join(text.itertext()) for text in texts]
    assert not [word for word in [title, description, *words] if CODE_NAME.search(word)]
    assert {"Verdana" in text.get("style") for text in texts if text.get("style")} == {True}


@pytest.mark.long
def test_no_words_are_cut_off_at_the_edge_of_a_drawing(browser, tmp_path):
    page, cut_off = tmp_path / "page.html", {}
    page.write_text("<!doctype html><title>Drawings</title>", encoding="utf-8")
    with opened(browser, page) as tab:
        for path in (*DRAWINGS, *PICTURES):
            text = path.read_text(encoding="utf-8")
            cut_off[path] = tab.page.evaluate(FIND_WORDS_BEYOND, text[text.index("<svg") :])
    assert len(cut_off) > 90 and {path.name: words for path, words in cut_off.items() if words} == {}


@pytest.mark.parametrize(
    "values",
    [
        {"dataset": ["car", "nursery", "mushroom"], "epsilon": [0.1, 1.0, 10.0]},
        {"dataset": ["car", "nursery"], "algorithm": ["majority", "diffprf_linear_unstopped"]},
    ],
    ids=["lines", "dots"],
)
@pytest.mark.long
def test_a_sweep_of_several_panels_can_be_read_on_a_phone(values, tmp_path):
    n_settings = math.prod(map(len, values.values()))
    run = run_sweep(accuracies(*np.linspace(0.2, 0.8, n_settings)), **values)
    write_sweep(run, "identity", {}, tmp_path)
    assert measure_letters(tmp_path / "figure.svg") >= SMALLEST


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_a_picture_of_the_documentation_can_be_read_on_a_phone_and_in_the_dark(path):
    assert measure_letters(path) >= SMALLEST
    assert "(prefers-color-scheme: dark)" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", DRAWINGS[:: len(DRAWINGS) // 12], ids=name_file)
def test_every_colour_of_a_page_has_one_in_the_dark(path):
    text = path.read_text(encoding="utf-8")
    _, rules, drawn = re.split(r"<style>(@media.*?)</style>", text, flags=re.DOTALL)
    used = set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", drawn))
    for colour in used & set(ON_DARK):
        assert f": {colour}" in rules and ON_DARK[colour] in rules
    assert {"#ffffff", "#1f2328"} <= used


def test_a_description_cannot_end_the_drawing():
    dressed = dress_svg('<svg x=""><title>T</title></svg>', "a </svg><script> & b", {})
    assert ElementTree.fromstring(dressed).findtext("desc") == "a </svg><script> & b"
