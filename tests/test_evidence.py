"""From a claim, a printed number or a fault to its lines in code and files, and the command that repeats it."""

import json
import shlex
from itertools import chain

import pytest

from algorithms.accounting import faults
from algorithms.accounting.faults import CLAIMS_ONLY, Fault
from documents import search_path
from experiments.audit.audit_tasks import find_pair
from experiments.audit.private_as_claimed import Gravity, find_gravity
from experiments.catalogue.faults import list_confessions, list_steps
from experiments.catalogue.places import find_class, locate_claims, locate_numbers
from experiments.commands import sweep_runs
from experiments.config import estimators
from experiments.config.paths import REFERENCE
from experiments.questions.commands import AskedCells, name_commands
from plots.privacy import list_attacks, list_faults
from tests.command_line import exit_code
from tests.published_report import published_run

PAPERS = [str(number) for number in range(1, 7)]


def accounts():
    """Return what published models said of their privacy, by the algorithm."""
    return [row for path in REFERENCE.glob("paper-*/privacy.json") for row in json.loads(path.read_text("utf-8"))]


def read_line(place):
    return place.file.read_text(encoding="utf-8").splitlines()[place.line - 1]


@pytest.mark.parametrize("name", ["2", "3", "5"])
def test_a_command_runs_the_cells_that_decide_and_no_other(name, monkeypatch):
    run, made = published_run(name), []
    monkeypatch.setattr(sweep_runs, "run_sweep", lambda *given: made.extend(chain.from_iterable(given[3])) or 0)
    asked = AskedCells.of_paper(run.paper)
    claim = [claim for claim in run.claims if claim.decisive][-1]
    number = next((one for one in asked.numbers if asked.find_number(one)), None)
    for cells in filter(None, [asked.find_claim(claim.id, claim.decisive.place), number and asked.find_number(number)]):
        made.clear()
        for command in name_commands(cells, 2):
            program, words = command.split(" dataset=")
            assert program == "dp-replica" and exit_code(*shlex.split(f"dataset={words}")) == 0
        wanted = [one.identity for cell in cells for one in cell.repeats(range(2))]
        assert sorted(cell.identity for cell in made) == sorted(wanted)


@pytest.mark.parametrize("name", PAPERS)
def test_every_verdict_leads_to_its_line_and_those_that_runs_decide_to_a_command(name):
    run = published_run(name)
    for claim in run.claims:
        evidence = run.traces.claims[claim.id]
        assert f"id: {claim.id}" in read_line(evidence.entry)
        assert bool(evidence.commands) == (claim.decisive is not None), claim.id
        for place in evidence.code.values():
            assert read_line(place).startswith(("class ", "def ", "@")), str(place)
    for identifier, evidence in run.traces.numbers.items():
        assert read_line(evidence.entry).startswith(f"{identifier},")


def test_what_is_of_a_library_has_no_line():
    assert find_class("random_forest") is None and "algorithms/forests" in str(find_class("rfdpp_gini"))


def test_every_fault_has_lines_that_confess_it():
    checked = {}
    for row in accounts():
        for fault in (Fault(**one) for one in row["faults"]):
            if fault.name != CLAIMS_ONLY.name:  # of what has no account
                checked[row["algorithm"], fault] = list_confessions(row["algorithm"], fault)
    assert [one for one, places in checked.items() if not places] == [] and len(checked) > 150
    for (algorithm, _), places in checked.items():
        modules = {base.__module__ for base in estimators.import_class(estimators.find_target(algorithm)).__mro__}
        for place in places:
            assert any(module.endswith(place.file.stem) for module in modules)
            assert not read_line(place).startswith(("from ", "import "))


def test_every_fault_of_ours_has_the_step_that_is_it():
    """One line, or one in each of the trees that take it; never the line that confesses it."""
    kept = [fault for fault in vars(faults).values() if isinstance(fault, Fault)]
    named = {fault for fault in kept if fault not in (CLAIMS_ONLY, faults.INFERRED_DOMAIN)}
    for row in accounts():
        if str(find_class(row["algorithm"])).startswith("algorithms/"):
            named |= {Fault(**one) for one in row["faults"]}
    steps = {fault: list_steps(fault) for fault in named}
    assert {fault: places for fault, places in steps.items() if not 1 <= len(places) <= 2} == {}
    assert list_steps(faults.INFERRED_DOMAIN) == []
    for places in steps.values():
        assert not any(read_line(place).startswith(("from ", "import ", "def ")) for place in places)
        assert not any("faults." in read_line(place) for place in places)


def test_the_gravity_of_every_fault_is_known():
    named = [fault for fault in vars(faults).values() if isinstance(fault, Fault) and fault != CLAIMS_ONLY]
    named += [Fault(**one) for row in accounts() for one in row["faults"] if one["name"] != CLAIMS_ONLY.name]
    assert {fault.name for fault in named if find_gravity(fault.name) == Gravity.UNKNOWN} == set()
    assert find_gravity("a fault of a user's own") == Gravity.UNKNOWN


@pytest.mark.parametrize("name", PAPERS)
def test_faults_are_all_shown_the_gravest_first_and_the_harmless_last(name):
    run = published_run(name)
    shown = list_faults(run.paper, run.privacy)
    gravities = [list(Gravity).index(find_gravity(row.name)) for row in shown]
    assert gravities == sorted(gravities)
    assert {(row.name, row.source) for row in shown} == {
        (fault["name"], fault["source"]) for row in run.privacy for fault in row["faults"]
    }
    assert all(row.loss.startswith(find_gravity(row.name)) for row in shown)


def test_a_fault_names_the_readings_that_have_it():
    shown = {row.name: row for row in list_faults(published_run("2").paper, published_run("2").privacy)[:4]}
    assert shown["exact purity test"].algorithms == "RFDPP-Gini"
    n = sum("exact nominal splits" in json.dumps(row) for row in published_run("2").privacy)
    assert shown["exact nominal splits"].algorithms == f"RFDPP-Gini in {n} of 9 readings"


@pytest.mark.parametrize("name", PAPERS)
def test_an_attack_has_its_tables_and_the_command_that_repeats_it(name):
    run = published_run(name)
    attacks = list_attacks(run.paper, run.privacy, run.audit)
    assert attacks
    for row in attacks:
        program, _, words = row.command.partition(" audit ")
        given = dict(word.split("=") for word in words.split())
        assert program == "dp-replica" and given["algorithm"] in estimators.list_algorithms()
        if "canaries" in given:
            assert row.where.startswith(f"{given['dataset']}, ") and row.event.endswith("guesses are right")
            assert "broken" not in row.measured or float(row.measured.split("≥ ")[1].split()[0]) > 1
        else:
            assert (
                find_pair(given["algorithm"], row.where.partition(" (one record")[0])
                and "; its neighbour " in row.tables
            )


def test_the_worst_of_all_faults_is_named_first():
    answer = published_run("6").answers[-1]
    assert answer.reason.startswith("the gravest of 4 faults: whether all labels of a node agree"), answer.reason


@pytest.mark.parametrize("text", ["claims: [", "claims: [{kind: increases}]", "title: only", "- a list"])
def test_a_file_that_somebody_is_writing_has_no_lines(text, tmp_path, monkeypatch):
    monkeypatch.setenv(search_path.VARIABLE, "")
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "mine.yaml").write_text(text, encoding="utf-8")
    search_path.use_folders([tmp_path])
    assert locate_claims("mine") == {} == locate_numbers("mine") == locate_claims("unknown")
