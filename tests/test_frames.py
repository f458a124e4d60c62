"""Tables of results as pages: what the explorer and the page of changes show is what pandas finds in the same table."""

import io
import math

import numpy as np
import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

import dp_replica as dr
from experiments.cells.cell import Cell
from experiments.comparisons.changes import BEYOND, WITHIN
from experiments.stats import mean_interval
from experiments.store.database import Store
from experiments.store.record import Measured, Record
from plots.frames.changes import order_changes
from tests.browser import fits, opened
from tests.command_line import exit_code

EPSILONS = (0.1, 1.0, math.inf)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A store of two data sets, of which one has a cell that failed."""
    path, rng = tmp_path_factory.mktemp("results"), np.random.default_rng(0)
    with Store(path / "store.sqlite") as store:
        for dataset in ("car", "nursery"):
            for first in (Cell(dataset, "rdt", {"max_depth": d}, e, 0) for d in (2, 4) for e in EPSILONS):
                for cell in first.repeats(range(4)):
                    store.put(cell, Record("done", Measured({"accuracy": rng.random(), "recall_acc": 0.5}, 0.1)))
        store.put(Cell("car", "majority", {"constant": 'a "b", c'}, 1.0, 0), Record("failed", error="no\nclass"))
    return path


@pytest.fixture(scope="module")
def page(folder):
    file = folder / "results.html"
    assert exit_code("results", f"results={folder}", f"page={file}") == 0
    return file


def usual(folder):
    frame = dr.load_results(folder)
    return frame[frame["metric"].isna() | (frame["metric"] == "accuracy")].drop(columns="key")


def fill(page, name, text):
    page.get_by_label(f"filter of {name}", exact=True).fill(text)


def read_download(page, button):
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    return pd.read_csv(download.value.path())


@pytest.mark.system
@pytest.mark.parametrize(
    ("filters", "query"),
    [
        ({"dataset": "nurs"}, "dataset == 'nursery'"),
        ({"epsilon": "0.1, inf"}, "epsilon != 1"),
        ({"epsilon": ">=1", "params.max_depth": "2"}, "epsilon >= 1 and `params.max_depth` == 2"),
        ({"value": "0.25..0.75", "dataset": "=CAR"}, "0.25 <= value <= 0.75 and dataset == 'car'"),
        ({"params.max_depth": "—"}, "`params.max_depth` != `params.max_depth`"),
        ({"error": "class"}, "status == 'failed'"),
    ],
)
def test_a_filter_keeps_the_rows_that_it_means(browser, folder, page, filters, query):
    frame = usual(folder)
    wanted = frame.query(query)
    with opened(browser, page) as tab:
        for name, text in filters.items():
            fill(tab.page, name, text)
        expect(tab.page.locator("#count")).to_have_text(f"{len(wanted)} of {len(frame)} rows")
        kept = read_download(tab.page, "Download them as CSV")
    for name in kept.columns:
        shown = wanted[name].reset_index(drop=True)
        pd.testing.assert_series_equal(kept[name], shown, check_dtype=False, check_exact=True)
    assert 0 < len(kept) < len(frame)


@pytest.mark.system
def test_rows_are_sorted_with_what_is_missing_last(browser, folder, page):
    values = usual(folder)["value"].dropna()
    with opened(browser, page) as tab:
        header = tab.page.locator("#rows thead button", has_text="value")
        for ascending in (True, False):
            header.click()
            rows = read_download(tab.page, "Download them as CSV")
            assert list(rows["value"].iloc[:-1]) == sorted(values, reverse=not ascending)
            assert math.isnan(rows["value"].iloc[-1])


@pytest.mark.system
def test_means_are_those_of_the_groups_and_name_what_they_mix(browser, folder, page):
    with opened(browser, page) as tab:
        tab.page.get_by_label("params.max_depth", exact=True).last.uncheck()
        expect(tab.page.locator("#mixed")).to_have_text("A mean is over several values of: params.max_depth (3).")
        means = read_download(tab.page, "Download the means as CSV")
        n_lines = tab.page.locator("#picture polyline").count()
    groups = usual(folder).groupby(["dataset", "algorithm", "epsilon"])
    assert len(means) == len(groups) == 7 and n_lines == 2
    for row in means.to_dict("records"):
        group = groups.get_group((row["dataset"], row["algorithm"], float(row["epsilon"])))
        interval = mean_interval(group["value"].dropna())
        assert (row["n"], row["without"]) == (interval.n, group["value"].isna().sum())
        found = [row["mean"], row["half_of_interval"]]
        assert found == pytest.approx([interval.center, interval.high - interval.center], rel=1e-12, nan_ok=True)


@pytest.mark.system
def test_the_last_of_many_rows_is_reached(browser, tmp_path):
    """300,000 rows would be taller than a page can be: the way is scaled, and its end is the last row."""
    n = 300_000
    frame = pd.DataFrame({"dataset": "car", "repeat": np.arange(n), "metric": "accuracy", "value": np.arange(n) / n})
    with opened(browser, dr.write_page(frame, tmp_path / "many.html")) as tab:
        rows = tab.page.locator("#rows tbody tr:visible")
        expect(tab.page.locator("#explorer")).to_be_visible()  # the rows are unpacked first
        assert tab.page.evaluate("part('height').offsetHeight") == 8_000_000
        assert rows.first.locator("td").all_inner_texts() == ["car", "0", "accuracy", "0"]
        tab.page.evaluate("part('view').scrollTop = 1e9")
        expect(rows.last.locator("td").nth(1)).to_have_text(str(n - 1))


@pytest.fixture(scope="module")
def changes():
    """A comparison with what became better, what did not, and what is in one alone."""
    rng, setting = np.random.default_rng(1), {"dataset": "car", "metric": "accuracy"}
    rows = [
        setting | {"algorithm": name, "epsilon": epsilon, "repeat": repeat, "value": rng.normal(0.7, 0.01)}
        for name in ("rdt", "edprf")
        for epsilon in EPSILONS
        for repeat in range(5)
    ]
    before = pd.DataFrame(rows)
    after = before.assign(value=before["value"] + rng.normal(0, 0.001, len(before)) + 0.1 * (before["epsilon"] == 1))
    return dr.compare(before, after[(after["algorithm"] == "rdt") | (after["epsilon"] < 2)])


@pytest.mark.system
def test_changes_are_shown_sorted_and_filtered(browser, changes, tmp_path):
    file = dr.write_page(changes, tmp_path / "changes.html", a="old <code>", b="new")
    with opened(browser, file) as tab:
        page = tab.page
        assert page.locator("h1").inner_text() == "What changed from old <code> to new"
        rows = page.locator("#changes tbody tr")
        verdicts = rows.locator("td:last-child").all_inner_texts()
        assert verdicts == list(order_changes(changes)["verdict"]) and verdicts.count(BEYOND) == 2
        assert {WITHIN, "only in a"} <= set(verdicts) and "+" in rows.first.inner_text()
        assert page.locator("figure svg").count() == 1
        page.get_by_role("button", name="change").click()
        sizes = [text for text in page.locator("#changes tbody td:nth-child(7)").all_inner_texts() if text != "—"]
        assert list(map(float, sizes)) == sorted(map(float, sizes))
        page.get_by_label("Verdict").select_option(BEYOND)
        assert page.locator("form output").inner_text() == "2 of 6 comparisons"


@pytest.mark.system
def test_both_pages_can_be_read_by_all(browser, page, changes, tmp_path):
    for file in (page, dr.write_page(changes, tmp_path / "changes.html")):
        with opened(browser, file) as tab:
            expect(tab.page.locator("table").first).to_be_visible()  # the rows of the explorer are unpacked first
            found = Axe().run(tab.page, context={"exclude": ["svg *"]}, options={"resultTypes": ["violations"]})
            assert not found.violations_count, found.generate_report()
            tab.show_as_on_a_telephone(400)
            assert fits(tab.page, 400)


def test_a_page_of_the_same_rows_is_the_same_file(folder, tmp_path):
    frame = dr.load_results(folder)
    texts = [dr.write_page(frame, tmp_path / f"{i}.html").read_bytes() for i in range(2)]
    assert texts[0] == texts[1]


def test_compare_prints_what_python_finds(folder, tmp_path, capfd):
    with Store(tmp_path / "store.sqlite") as store:
        for cell in Cell("car", "rdt", {"max_depth": 2}, 1.0, 0).repeats(range(4)):
            store.put(cell, Record("done", Measured({"accuracy": 0.9 + cell.repeat / 100}, 0.1)))
    assert exit_code("compare", str(folder), str(tmp_path), "metrics=accuracy", "output=csv") == 0
    found = pd.read_csv(io.StringIO(capfd.readouterr().out))
    wanted = dr.compare(*(dr.load_results(path).query("metric == 'accuracy'") for path in (folder, tmp_path)))
    assert list(found["verdict"]) == list(wanted["verdict"]) and "only in a" in set(found["verdict"])
    assert found["change"].dropna().to_list() == wanted["change"].dropna().to_list() != []
    assert exit_code("compare", str(folder), str(tmp_path), "metrics=accuracy", "output=table") == 0
    assert capfd.readouterr().out.startswith("12 comparisons: 1 ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["compare", "{folder}"], "name two folders of results: compare before after"),
        (["compare", "{folder}", "nowhere"], "nothing has run with results=nowhere"),
        (["results", "results={folder}", "page=x.html", "output=csv"], "output and page are two places"),
    ],
)
def test_bad_input_is_refused_in_a_line(folder, capfd, words, message):
    assert exit_code(*(word.format(folder=folder) for word in words)) == 2
    printed = capfd.readouterr()
    assert message in printed.err and printed.out == "" and len(printed.err.splitlines()) == 1


def test_what_is_no_table_of_results_has_no_page(tmp_path):
    with pytest.raises(dr.BadInput, match="no column 'value'"):
        dr.write_page(pd.DataFrame({"x": [1]}), tmp_path / "x.html")


@pytest.mark.system
def test_a_browser_that_cannot_unpack_the_rows_says_so(browser, page):
    tab = browser()
    tab.page.add_init_script("if (location.hash) delete window.DecompressionStream")
    tab.open(page)
    tab.page.goto(f"{page.as_uri()}#old")
    tab.page.reload()
    expect(tab.page.locator("#failed")).to_be_visible()
    expect(tab.page.locator("#explorer")).to_be_hidden()
    assert all("DecompressionStream" in message for message in tab.wrong) and tab.wrong
