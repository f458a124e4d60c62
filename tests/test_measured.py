"""What an audit measured, set beside results: made-up findings on a made-up paper."""

import html
import json
import shutil

import pandas as pd
import pytest

from experiments.audit import private_as_claimed
from experiments.audit.private_as_claimed import judge_privacy
from experiments.cells.current import Standing
from experiments.config import paths
from experiments.config.finding import AccountSign
from experiments.config.paths import ROOT
from plots import audits, privacy
from plots.answers import format_tally
from plots.labels import SYMBOLS
from plots.pages import reference_pages
from tests.papers import make_paper
from tests.test_plots import PAPER, REPORTED, long_table, publish

VERSION = "0123456789ab-01234567"
FOUND = pd.DataFrame(
    [
        ("a", "black box", 1.0, "alone in its leaf", "root is split", 2.5, "violated"),
        ("a", "one run", 4.0, "car, 5 trees", "count", 3.0, "not refuted"),
        ("c", "black box", 1.0, "breaks a tie", "label", 0.98, "tight"),
    ],
    columns=["algorithm", "layer", "claimed", "where", "event", "bound", "verdict"],
).assign(version=VERSION)


def write(results, frame):
    path = results / audits.SUMMARY
    path.parent.mkdir(parents=True)
    frame.to_csv(path, index=False)


@pytest.fixture(autouse=True)
def apart(tmp_path, monkeypatch):
    for module in (audits, reference_pages):
        monkeypatch.setattr(module, "REFERENCE", tmp_path / "reference")
    monkeypatch.setattr(paths, "REFERENCE", tmp_path / "reference")
    monkeypatch.setattr(audits, "find_configured_version", lambda algorithm: VERSION)
    monkeypatch.setattr(private_as_claimed, "find_version", lambda algorithm, params: VERSION)


def test_an_audit_of_this_machine_comes_before_the_published_one(tmp_path):
    assert audits.read_bounds(tmp_path).empty
    write(tmp_path / "reference", FOUND.iloc[:1])
    assert list(audits.read_bounds(tmp_path)["bound"]) == [2.5]
    write(tmp_path, FOUND.iloc[2:])
    assert list(audits.read_bounds(tmp_path)["bound"]) == [0.98]


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
    found = FOUND.assign(standing=Standing.CURRENT)
    assert (
        audits.describe_bounds(make_paper(), found, ["a"])
        == "What attacks measured at most: a ε ≥ 2.50 where 1 is claimed (broken)."
    )
    assert (
        audits.describe_bounds(make_paper(), found, ["b"])
        == ""
        == audits.describe_bounds(make_paper(), audits.read_bounds(audits.REFERENCE), ["a"])
    )


def test_an_audit_that_is_missing_or_of_changed_code_is_not_published(tmp_path):
    with pytest.raises(SystemExit, match="dp-replica audit first"):
        reference_pages.publish_audit(tmp_path)
    write(tmp_path, FOUND)
    (tmp_path / "audit" / "provenance.json").write_text('{"git": {"revision": "1", "dirty": true}}', encoding="utf-8")
    with pytest.raises(SystemExit, match="not committed: commit, then dp-replica audit"):
        reference_pages.publish_audit(tmp_path)
    assert not audits.REFERENCE.exists()


def test_a_published_audit_is_that_of_the_results(tmp_path):
    write(tmp_path / "results", FOUND)
    provenance = tmp_path / "results" / "audit" / "provenance.json"
    provenance.write_text('{"command": "make audit", "git": {"revision": "1", "dirty": false}}', encoding="utf-8")
    reference_pages.publish_audit(tmp_path / "results")
    published, ours = audits.read_bounds(audits.REFERENCE), audits.read_bounds(tmp_path / "results")
    assert set(published["audit"]) == {"the published audit at revision 1"}
    assert set(ours["audit"]) == {"the latest audit at revision 1"}
    assert published.drop(columns="audit").equals(ours.drop(columns="audit"))


def test_the_pages_are_written_from_the_published_runs_of_a_project(tmp_path):
    (tmp_path / "README.md").write_text("before\n<!-- verdicts -->\n<!-- /verdicts -->\nafter\n", encoding="utf-8")
    reference_pages.rewrite_pages(tmp_path)
    readme = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert readme.startswith("before\n") and readme.endswith("after\n") and "what holds of it" in readme
    assert (tmp_path / "results" / "reference" / "README.md").is_file()
    assert not (tmp_path / "docs").exists(), "what we learned speaks of papers that are not published here"


def test_a_published_command_names_no_folder_of_a_machine(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "results" / "reference" / "paper-2", tmp_path / "paper-2")
    path = tmp_path / "paper-2" / "provenance.json"
    facts = json.loads(path.read_text(encoding="utf-8"))
    command = f"dp-replica paper=2 results={tmp_path} repeats=10"
    path.write_text(json.dumps(facts | {"command": command}), encoding="utf-8")
    reference_pages.publish_run("2", tmp_path)
    kept = json.loads((tmp_path / "reference" / "paper-2" / "provenance.json").read_text(encoding="utf-8"))
    assert kept == facts | {"command": "dp-replica paper=2 repeats=10"}


SOUND = {"algorithm": "a", "keeps_claim": True, "neighbours": ["n"], "times_label": 1.0, "faults": []}
WITHSTOOD = ("a", "black box", 1.0, "a tie", "label", 0.5, "not refuted", VERSION)


def answer(tmp_path, *rows, versions=(VERSION,), of_a=SOUND, name="audit/summary-a.csv", written="2026-11-28T01:02:03"):
    """Return the answer and the row of a page for one algorithm, audited by itself as given."""
    if rows:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        pd.DataFrame(rows, columns=FOUND.columns).to_csv(path, index=False)
        origin = path.with_name(path.name.replace("summary", "provenance")).with_suffix(".json")
        origin.write_text(json.dumps({"written": written, "git": {"revision": "that of ours"}}), encoding="utf-8")
    bounds = audits.read_bounds(tmp_path, {"a": versions})
    paper = make_paper(labels={"a": "A"})
    described = privacy.describe_privacy(paper, of_a, bounds)
    return judge_privacy(paper, [of_a], bounds), described, audits.name_audits(bounds, ["a"])


def test_a_ledger_alone_is_no_yes_and_has_a_sign_of_its_own(tmp_path):
    found, row, named = answer(tmp_path)
    assert (found.words, format_tally(found)) == (
        "own account, not audited",
        "✎ 1 has its own account, not audited",
    )
    assert (SYMBOLS[found.sign], row["sound"], row["measured"], named) == ("✎", "✎ own account, not audited", [], "")


def test_an_audit_of_the_code_that_was_run_clears_it_and_has_its_own_date(tmp_path):
    write(tmp_path / "reference", FOUND.iloc[2:])
    found, row, named = answer(tmp_path, WITHSTOOD)
    assert (found.words, SYMBOLS[found.sign], row["sound"]) == ("yes", "✓", "yes")
    assert named == "an audit of 2026-11-28", "the published one did not run it"


@pytest.mark.parametrize("verdict", ["not refuted", "violated"])
@pytest.mark.parametrize(
    "versions, why",
    [
        (["ba9876543210-01234567"], "not audited since it changed"),
        (["0123456789ab-76543210"], "not audited with these settings"),
    ],
)
def test_an_audit_of_other_code_or_settings_neither_clears_nor_condemns(tmp_path, verdict, versions, why):
    row = (*WITHSTOOD[:5], 2.0 if verdict == "violated" else 0.5, verdict, VERSION)
    found, described, named = answer(tmp_path, row, versions=versions)
    assert (SYMBOLS[found.sign], found.words, found.reason) == ("✎", "own account, not audited", f"A: {why}")
    assert described["measured"] == [{"bound": why, "where": "an audit of 2026-11-28"}] and named == ""
    assert audits.describe_bounds(make_paper(), audits.read_bounds(tmp_path, {"a": versions}), ["a"]) == ""


def test_an_audit_that_names_no_version_neither_clears_nor_condemns(tmp_path):
    found, described, _ = answer(tmp_path, (*WITHSTOOD[:7], ""))
    assert SYMBOLS[found.sign] == "✎" and described["measured"][0]["bound"] == "audited before audits noted their code"


@pytest.mark.parametrize("bound, verdict, sign", [(2.0, "violated", "✗"), (0.5, "not refuted", "✎")])
def test_where_some_settings_were_audited_a_break_counts_and_no_clearing(tmp_path, bound, verdict, sign):
    versions = [VERSION, "0123456789ab-76543210"]
    found, described, _ = answer(tmp_path, (*WITHSTOOD[:5], bound, verdict, VERSION), versions=versions)
    assert SYMBOLS[found.sign] == sign
    assert described["measured"][-1]["bound"] == "audited with some of its settings alone"


def test_an_own_account_that_admits_a_fault_needs_no_audit(tmp_path):
    admitting = SOUND | {"keeps_claim": False, "faults": [{"name": "n", "why": "it says so", "source": "s"}]}
    found, row, _ = answer(tmp_path, of_a=admitting)
    assert (SYMBOLS[found.sign], row["sound"], found.reason) == ("✗", "no", "it says so")


def test_of_several_algorithms_some_may_have_nothing_but_their_account(tmp_path):
    accounts = [SOUND, SOUND | {"algorithm": "b"}, SOUND | {"algorithm": "c", "keeps_claim": False}]
    bounds = FOUND.iloc[1:2].assign(standing=Standing.CURRENT, audit="")
    found = judge_privacy(make_paper(), accounts, bounds)
    assert found.words == "1 of 3 algorithms is, 1 by its own account alone"
    assert format_tally(found) == "✓ 1 holds, ✗ 1 fails, ✎ 1 has its own account, not audited"
    assert judge_privacy(make_paper(), accounts[:2], bounds).sign == AccountSign.UNAUDITED


def test_an_attack_names_the_algorithm_that_it_is_on(tmp_path):
    accounts = [SOUND, SOUND | {"algorithm": "b"}]
    bounds = FOUND.iloc[:1].assign(standing=Standing.CURRENT, audit="")
    paper = make_paper(labels={"a": "A"}, own=["a", "b"])
    assert judge_privacy(paper, accounts, bounds).reason == "an attack on A measured ε ≥ 2.50 where 1 is claimed"
