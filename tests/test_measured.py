"""What an audit measured, set beside results: made-up findings on a made-up paper."""

import html
import json
import shutil

import pandas as pd
import pytest

from experiments.config.paths import ROOT
from plots import privacy
from plots.pages import reference_pages
from tests.papers import make_paper
from tests.test_plots import PAPER, REPORTED, long_table, publish

FOUND = pd.DataFrame(
    [
        ("a", "black box", 1.0, "alone in its leaf", "root is split", 2.5, "violated"),
        ("a", "one run", 4.0, "car, 5 trees", "count", 3.0, "not refuted"),
        ("c", "black box", 1.0, "breaks a tie", "label", 0.98, "tight"),
    ],
    columns=["algorithm", "layer", "claimed", "where", "event", "bound", "verdict"],
)


def write(results, frame):
    path = results / privacy.SUMMARY
    path.parent.mkdir(parents=True)
    frame.to_csv(path, index=False)


@pytest.fixture(autouse=True)
def apart(tmp_path, monkeypatch):
    for module in (privacy, reference_pages):
        monkeypatch.setattr(module, "REFERENCE", tmp_path / "reference")


def test_an_audit_of_this_machine_comes_before_the_published_one(tmp_path):
    assert privacy.read_bounds(tmp_path).empty
    write(tmp_path / "reference", FOUND.iloc[:1])
    assert list(privacy.read_bounds(tmp_path)["bound"]) == [2.5]
    write(tmp_path, FOUND.iloc[2:])
    assert list(privacy.read_bounds(tmp_path)["bound"]) == [0.98]


def test_a_page_has_the_measured_privacy_beside_tables_figures_and_accounts(tmp_path):
    write(tmp_path, FOUND)
    (tmp_path / "reported.csv").write_text(REPORTED, encoding="utf-8")
    said = '{"claimed_epsilon":1.0,"accounted_epsilon":2.0,"noisy_epsilon":2.0,"keeps_claim":false,'
    said += '"neighbours":"added or removed","faults":[]}'
    table = long_table().assign(privacy=said)
    publish(PAPER | {"reported": str(tmp_path / "reported.csv")}, table, tmp_path / "paper-9")
    page = html.unescape((tmp_path / "paper-9" / "report.html").read_text(encoding="utf-8"))
    # table 2 and figure 1 show a alone, figure 2 both; b was not audited, c is not in the paper
    assert page.count("ε ≥ 2.50 where 1 is claimed (broken).") == 3
    assert (
        page.count("withstood: nothing above 3.00 was measured where 4 is claimed") == 1
        and "alone in its leaf: root is split" in page
    )
    assert page.count("not audited") == 1 and "breaks a tie" not in page
    assert "Measured: by the latest audit, of" in page


def test_the_worst_of_an_algorithm_is_the_claim_that_it_breaks_not_its_largest_bound():
    assert (
        privacy.describe_bounds(make_paper(), FOUND, ["a"])
        == "What attacks measured at most: a ε ≥ 2.50 where 1 is claimed (broken)."
    )
    assert (
        privacy.describe_bounds(make_paper(), FOUND, ["b"])
        == ""
        == privacy.describe_bounds(make_paper(), privacy.read_bounds(privacy.REFERENCE), ["a"])
    )


def test_an_audit_that_is_missing_or_of_changed_code_is_not_published(tmp_path):
    with pytest.raises(SystemExit, match="make audit first"):
        reference_pages.publish_audit(tmp_path)
    write(tmp_path, FOUND)
    (tmp_path / "audit" / "provenance.json").write_text('{"git": {"revision": "1", "dirty": true}}', encoding="utf-8")
    with pytest.raises(SystemExit, match="not committed: commit, then make audit"):
        reference_pages.publish_audit(tmp_path)
    assert not privacy.REFERENCE.exists()


def test_a_published_audit_is_that_of_the_results(tmp_path):
    write(tmp_path / "results", FOUND)
    provenance = tmp_path / "results" / "audit" / "provenance.json"
    provenance.write_text('{"command": "make audit", "git": {"revision": "1", "dirty": false}}', encoding="utf-8")
    reference_pages.publish_audit(tmp_path / "results")
    assert privacy.read_bounds(privacy.REFERENCE).equals(privacy.read_bounds(tmp_path / "results"))


def test_the_pages_are_written_from_the_published_runs_of_a_project(tmp_path):
    (tmp_path / "README.md").write_text("before\n<!-- verdicts -->\n<!-- /verdicts -->\nafter\n", encoding="utf-8")
    reference_pages.rewrite_pages(tmp_path)
    readme = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert readme.startswith("before\n") and readme.endswith("after\n") and "private as claimed?" in readme
    assert (tmp_path / "results" / "reference" / "README.md").is_file()
    assert not (tmp_path / "docs").exists(), "what we learned speaks of papers that are not published here"


def test_a_published_command_names_no_folder_of_a_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(reference_pages, "REFERENCE", tmp_path / "reference")
    shutil.copytree(ROOT / "results" / "reference" / "paper-2", tmp_path / "paper-2")
    path = tmp_path / "paper-2" / "provenance.json"
    facts = json.loads(path.read_text(encoding="utf-8"))
    command = f"python -m experiments paper=2 results={tmp_path} repeats=10"
    path.write_text(json.dumps(facts | {"command": command}), encoding="utf-8")
    reference_pages.publish_run("2", tmp_path)
    kept = json.loads((tmp_path / "reference" / "paper-2" / "provenance.json").read_text(encoding="utf-8"))
    assert kept == facts | {"command": "python -m experiments paper=2 repeats=10"}
