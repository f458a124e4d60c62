"""Bands: their false alarms are counted, not assumed, and the check says what is outside, flipped or missing."""

import json
import re
from dataclasses import replace
from itertools import combinations, product
from math import comb

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from documents.yaml_files import DocumentError
from experiments.config import paths
from experiments.config.paths import list_papers
from experiments.errors import BadInput
from experiments.regression_check import bands, order_statistics, watch
from experiments.regression_check.bands import (
    Accepted,
    find_differences,
    format_report,
    join_accepted,
    measure_accepted,
    read_accepted,
    read_watched_paper,
    write_accepted,
)
from experiments.regression_check.order_statistics import FALSE_ALARMS, LEVEL, MOST_TESTS, Band, make_band, most_against
from experiments.regression_check.watch import (
    explain_doubt,
    judge_parts,
    list_claim_parts,
    make_watch_list,
    make_watched_cells,
)
from experiments.store.results import Results
from tests.command_line import exit_code
from tests.papers import make_paper

DRAWS = {
    "normal": lambda rng, size: rng.normal(size=size),
    "without a mean": lambda rng, size: rng.standard_cauchy(size),
    "R² of a noisy fit": lambda rng, size: 1 - np.exp(np.minimum(3 * rng.standard_t(2, size), 500)),
    "two modes": lambda rng, size: rng.choice([0.4, 0.9], size, p=[0.1, 0.9]) + rng.normal(0, 0.01, size),
    "few values": lambda rng, size: rng.binomial(4, 0.7, size) / 4,
    "nearly constant": lambda rng, size: (rng.random(size) < 0.98).astype(float),
}
STUDY = {"dataset": ["car"], "algorithm": ["rdt", "majority"], "epsilon": [0.1, 1.0]}
ABOVE = {"id": "above", "text": "above", "kind": "above", "study": "grid", "better": "rdt", "worse": "majority"}
ABOVE |= {"within": ["dataset", "epsilon"], "metric": "accuracy"}
KEYS = {
    "repeats": 10,
    "studies": {"grid": STUDY},
    "claims": [ABOVE, {"id": "printed", "text": "printed", "kind": "printed", "numbers": ["a"]}],
    "check": {
        "repeats": 21,
        "accepted": 200,
        "watch": [
            {"study": "grid", "metric": "accuracy"},
            {"study": "grid", "metric": "accuracy", "within": ["algorithm"]},
        ],
        "claims": {"above": {}},
    },
}
PAPER = make_paper(**KEYS)
WATCHED = make_watch_list(PAPER)


def table(n, *, gap=0.1, sd=0.02, seed=0):
    """Return a long table in which rdt is above majority by ``gap``."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {"study": "grid", "dataset": "car", "algorithm": algorithm, "epsilon": epsilon, "repeat": repeat}
        | {"accuracy": 0.7 + (gap + rng.normal(0, sd) if algorithm == "rdt" else 0.0)}
        for algorithm, epsilon, repeat in product(STUDY["algorithm"], STUDY["epsilon"], range(n))
    )


@pytest.fixture(scope="module")
def accepted():
    return measure_accepted(PAPER, WATCHED, table(200, seed=1))


# ------------------------------------------------------------------------------------------ false alarms


@pytest.mark.parametrize(("n", "m"), [(6, 3), (7, 4), (8, 1), (9, 5)])
def test_the_chance_of_an_alarm_is_that_of_all_orders_counted_one_by_one(n, m):
    for j in range(1, n + 1):
        alarms = half = 0
        for places in combinations(range(n + m), m):
            threshold = [place for place in range(n + m) if place not in places][-j]
            alarms += np.median(places) > threshold
            half += sum(place > threshold for place in places) >= (m + 1) // 2
        assert alarms <= half and (alarms == half or m % 2 == 0)  # of an even number, half is not always enough
        level = half / comb(n + m, m)
        assert order_statistics._find_rank(n, m, level * (1 + 1e-9)) >= j
        assert order_statistics._find_rank(n, m, level * (1 - 1e-9)) < j


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_whatever_the_distribution_no_more_false_alarms_than_stated(draw, monkeypatch):
    """At a level that can be seen in 4,000 draws; smaller ones follow from the same count of orders."""
    monkeypatch.setattr(order_statistics, "LEVEL", 0.02)
    rng, n_trials = np.random.default_rng(0), 4000
    runs = draw(rng, (n_trials, 60 + 11))
    alarms = sum(bool(make_band(one[:60], 11).measure_excess(np.median(one[60:]))) for one in runs)
    assert alarms <= binom.isf(1e-4, n_trials, 0.02)
    if len(np.unique(runs)) == runs.size:  # where no values are equal, the level is nearly used up
        assert alarms >= binom.ppf(1e-4, n_trials, 0.01)


@pytest.mark.parametrize("name", ["normal", "without a mean", "R² of a noisy fit"])
def test_a_shift_of_the_stated_size_is_detected_nine_times_in_ten(name):
    rng, found = np.random.default_rng(1), 0
    for sign in (1, -1) * 300:
        runs = DRAWS[name](rng, 221)
        band = make_band(runs[:200], 21)
        found += bool(band.measure_excess(np.median(runs[200:]) + sign * band.detects))
    assert found >= binom.ppf(1e-3, 600, 0.9)


def test_constant_runs_allow_for_rounding_only():
    band = make_band([0.7543160690571049] * 200, 21)
    assert (band.low, band.high, band.detects) == (0.7543160690571049, 0.7543160690571049, 0)
    assert band.measure_excess(0.7543160691) == 0 and band.measure_excess(0.7544) > 0 > band.measure_excess(0.7542)


def test_too_few_runs_are_refused():
    with pytest.raises(BadInput, match="40 runs are too few for a band of the median of 9; take more of either"):
        make_band(range(40), 9)


@pytest.mark.parametrize("share", [0.001, 0.0123, 0.05, 0.1234, 0.3])
def test_claims_that_are_watched_flip_no_more_often_than_stated(share):
    """The rule: watched if at most so many of n runs are against it; flipped if too many of m are."""
    for too_many in (5, 7, 9, 12):
        allowed = most_against(200, 21, too_many, LEVEL)
        assert binom.cdf(allowed, 200, share) * binom.sf(too_many - 1, 21, share) <= LEVEL


def test_the_bound_on_flips_holds_for_whole_claims(monkeypatch):
    monkeypatch.setattr(watch, "LEVEL", 0.05)
    claim, trials, flips, watching = WATCHED.claims[0], 60, 0, 0
    for seed in range(trials):
        runs = table(81, gap=0.02, sd=0.02, seed=seed)
        first, then = runs[runs["repeat"] < 60], runs[runs["repeat"] >= 60]
        parts, later = (list_claim_parts(PAPER, claim, Results(some)) for some in (first, then))
        was, _ = judge_parts(parts, 60)
        if not explain_doubt(parts, was, 21):
            watching += 1
            flips += judge_parts(later, 21)[0] != was
    assert 0 < watching < trials  # a case on the edge
    assert flips <= binom.isf(1e-3, trials, 0.05)


def test_all_papers_together_stay_below_the_family_wise_rate():
    tests = sum(read_watched_paper(name)[1].n_tests for name in list_papers())
    assert 0 < tests <= MOST_TESTS and tests * LEVEL <= FALSE_ALARMS == 1e-4


# -------------------------------------------------------------------------------------- what the check finds


def test_unchanged_runs_are_inside(accepted):
    found = find_differences(PAPER, WATCHED, accepted, table(21, seed=2))
    assert found == []
    assert "paper 0: 6 of 6 bands hold and 1 of 1 verdicts" in format_report("0", WATCHED, accepted, found)


def test_a_shift_is_named_with_band_and_size(accepted):
    found = find_differences(PAPER, WATCHED, accepted, table(21, gap=0.14, seed=2))
    assert {one.what for one in found} == {
        "grid: car, rdt, epsilon = 0.1: accuracy",
        "grid: car, rdt, epsilon = 1: accuracy",
        "grid: rdt, mean of 2 settings: accuracy",
    }
    first = found[0]
    assert first.was.startswith("7") and first.now.startswith("8") and first.by.startswith("+")
    assert first.by.endswith(" points outside")
    text = format_report("0", WATCHED, accepted, found)
    assert "3 of 6 bands hold and 1 of 1 verdicts" in text and "by how much" in text and first.was in text


def test_a_mean_of_settings_finds_what_no_single_one_shows():
    study = STUDY | {"algorithm": ["rdt"], "epsilon": [float(i) for i in range(1, 26)]}
    watch = [{"study": "grid", "metric": "accuracy"}, {"study": "grid", "metric": "accuracy", "within": ["dataset"]}]
    check = KEYS["check"] | {"watch": watch, "claims": {}}
    paper = make_paper(**KEYS | {"studies": {"grid": study}, "claims": [], "check": check})
    watched = make_watch_list(paper)

    def runs(n, mean, seed):
        values = np.random.default_rng(seed).normal(mean, 0.02, (25, n))
        return pd.DataFrame(
            {"study": "grid", "dataset": "car", "algorithm": "rdt", "epsilon": e, "repeat": r, "accuracy": values[i, r]}
            for i, e in enumerate(study["epsilon"])
            for r in range(n)
        )

    was = measure_accepted(paper, watched, runs(200, 0.8, 1))
    (difference,) = find_differences(paper, watched, was, runs(21, 0.815, 2))
    assert difference.what == "grid: car, mean of 25 settings: accuracy"


def test_a_claim_that_flips_is_named(accepted):
    assert accepted.claims == {"above": "reproduced"}
    found = find_differences(PAPER, WATCHED, accepted, table(21, gap=-0.1, seed=2))
    assert (found[-1].what, found[-1].was, found[-1].now) == ("claim above", "reproduced", "refuted")
    assert "21 of 21 runs the other way" in found[-1].by


def test_what_is_missing_is_no_pass(accepted):
    runs = table(21, seed=2)
    runs.loc[(runs["algorithm"] == "rdt") & (runs["epsilon"] == 1.0) & (runs["repeat"] == 3), "accuracy"] = np.nan
    found = {one.what: one for one in find_differences(PAPER, WATCHED, accepted, runs)}
    assert set(found) == {"grid: car, rdt, epsilon = 1: accuracy", "grid: rdt, mean of 2 settings: accuracy"}
    assert found["grid: car, rdt, epsilon = 1: accuracy"].now == "20 of 21 runs"
    nothing = find_differences(PAPER, WATCHED, accepted, runs.iloc[:0])
    assert len(nothing) == 7
    assert "0 of 6 bands hold and 0 of 1 verdicts" in format_report("0", WATCHED, accepted, nothing)


def test_a_claim_that_may_flip_by_chance_is_not_accepted():
    with pytest.raises(BadInput, match=r"claim 'above' may change without a fault: \d+ of 200 runs speak against it"):
        measure_accepted(PAPER, WATCHED, table(200, gap=0.02, seed=1))
    with pytest.raises(BadInput, match="may change without a fault: it is undecided"):
        measure_accepted(PAPER, WATCHED, table(200, gap=0.0, seed=1))


# ---------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"watch": [{"study": "gird", "metric": "accuracy"}]}, "check: study 'gird' is not in the paper"),
        ({"watch": [{"study": "grid", "metric": "r2"}]}, "check: car has no metric 'r2'"),
        ({"watch": [{"study": "grid", "metric": "relinked"}]}, "check: car has no metric 'relinked'"),
        ({"claims": {"printed": {}}}, "claim 'printed' is not about the runs of one study"),
        ({"watch": [{"study": "grid", "metric": "accuracy", "where": {"epsilon": 7}}]}, "no epsilon = 7"),
        ({"watch": 2 * [{"study": "grid", "metric": "accuracy"}]}, "is watched twice"),
        ({"claims": {"abvoe": {}}}, "no claim 'abvoe'; did you mean 'above'?"),
    ],
)
def test_a_check_that_cannot_be_meant_is_refused(change, message):
    with pytest.raises(BadInput, match=re.escape(message)):
        make_watch_list(make_paper(**KEYS | {"check": KEYS["check"] | change}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"watch": []}, "check.watch: nothing to check: name what is watched"),
        ({"wacth": []}, "check: unknown key 'wacth'; did you mean 'watch'?"),
        ({"repeats": 0}, "check.repeats: input should be greater than or equal to 1, got 0"),
        ({"repeats": True}, "check.repeats: input should be a valid integer, got True"),
        ({"watch": [{"study": "grid"}]}, "check.watch.0: the key 'metric' is missing"),
        (
            {"watch": [{"study": "grid", "metric": "accuracy", "clip": [1, 0]}]},
            "check.watch.0.clip: write two numbers, the smaller one first, got [1, 0]",
        ),
    ],
)
def test_a_check_that_lacks_a_key_or_has_a_wrong_one_is_refused(change, message):
    with pytest.raises(DocumentError, match=re.escape(message)):
        make_paper(**KEYS | {"check": KEYS["check"] | change})


def test_bands_are_read_as_they_were_written_and_must_fit(tmp_path, accepted):
    write_accepted("0", accepted, {"git": None}, tmp_path)
    read = read_accepted("0", WATCHED, tmp_path)
    assert read.claims == accepted.claims and read.repeats == 21
    for key, band in accepted.bands.items():
        assert read.bands[key] == pytest.approx(band, rel=1e-9)
    narrowed = make_watch_list(make_paper(**KEYS | {"check": KEYS["check"] | {"claims": {}}}))
    with pytest.raises(BadInput, match=r"another check than conf/paper/0\.yaml asks for; dp-replica bands paper=0"):
        read_accepted("0", narrowed, tmp_path)
    with pytest.raises(BadInput, match=r"cannot be read .*dp-replica bands paper=1 writes them"):
        read_accepted("1", WATCHED, tmp_path)


def test_an_unknown_paper_and_one_without_a_check_are_refused(tmp_path, monkeypatch, capsys):
    with pytest.raises(BadInput, match="unknown paper '17'"):
        read_watched_paper("17")
    text = "number: 9\ntitle: T\nstudies: {floor: {dataset: [car], algorithm: [majority]}}\n"
    (tmp_path / "9.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(paths, "PAPERS", tmp_path)
    assert list_papers() == ["9"]
    with pytest.raises(BadInput, match=r"conf/paper/9.yaml: nothing to check: .*key check"):
        read_watched_paper("9")


# ------------------------------------------------------------------------------------------ the repository


@pytest.mark.parametrize("name", list_papers())
def test_the_bands_of_every_paper_fit_what_is_watched_and_say_where_they_are_from(name):
    _, watched = read_watched_paper(name)
    accepted = read_accepted(name, watched)
    assert all(band.low <= band.median <= band.high and band.n == watched.accepted for band in accepted.bands.values())
    facts = json.loads((bands.FOLDER / f"paper-{name}.json").read_text(encoding="utf-8"))
    assert facts["git"]["revision"] and not facts["git"]["dirty"]
    assert facts["repeats"] == watched.accepted and facts["false_alarms"] == 1e-4


@pytest.mark.long
def test_the_command_says_what_it_checked_and_exits_with_1_when_something_moved(tmp_path, monkeypatch, capsys):
    text = (
        "number: 9\ntitle: T\nstudies: {floor: {dataset: [car], algorithm: [majority, rdt], params: {}, epsilon: [1]}}"
    )
    text += "\nrepeats: 3\ncheck: {repeats: 31, accepted: 80, watch: [{study: floor, metric: accuracy}]}\n"
    (tmp_path / "9.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(paths, "PAPERS", tmp_path)
    monkeypatch.setattr(bands, "FOLDER", tmp_path)
    for function in (write_accepted, read_accepted):
        monkeypatch.setattr(function, "__defaults__", (tmp_path,))
    words = [f"results={tmp_path / 'results'}", "executor.jobs=1"]
    assert exit_code("do=bands", *words) == 0
    assert exit_code("do=check", *words) == 0
    out = capsys.readouterr().out
    assert "paper 9: 2 of 2 bands hold" in out and "smallest shift detected (90 % of the time), accuracy: " in out
    _, watched = read_watched_paper("9")
    was = read_accepted("9", watched, tmp_path)
    moved = {key: Band(*(band[:2]), band.high + 0.5, band.high + 0.6, 0.1) for key, band in was.bands.items()}
    write_accepted("9", Accepted(moved, {}, 31), {}, tmp_path)
    assert exit_code("do=check", *words) == 1
    assert "floor: car, majority" in capsys.readouterr().out


@pytest.mark.long
def test_a_printed_number_that_has_to_hold_is_judged_by_the_runs_of_the_check(tmp_path, monkeypatch, capsys):
    """Of Car the majority class has 69.94 % in every stratified split; nobody finds 75 %."""
    head = "id,table,dataset,algorithm,epsilon,metric,statistic,value,decimals,source"
    rows = ["right,t,car,majority,1,accuracy,mean,0.699,1,p. 1", "wrong,t,car,majority,1,accuracy,mean,0.750,1,p. 1"]
    (tmp_path / "printed.csv").write_text("\n".join([head, *rows, "rows,t,car,,,rows,exact,1728,0,p. 1", ""]))
    table = "tables: [{id: t, title: T, kind: grid, study: floor, rows: dataset, columns: epsilon, metric: accuracy}]"
    text = f"number: 9\ntitle: T\nreported: {tmp_path / 'printed.csv'}\nrepeats: 3\n{table}\n"
    text += "studies: {floor: {dataset: [car], algorithm: [majority], epsilon: [1]}}\n"
    text += "check: {repeats: 31, accepted: 80, watch: [{study: floor, metric: accuracy}], must_hold: [right]}\n"
    file = tmp_path / "9.yaml"
    file.write_text(text, encoding="utf-8")
    monkeypatch.setattr(paths, "PAPERS", tmp_path)
    monkeypatch.setattr(bands, "FOLDER", tmp_path)
    for function in (write_accepted, read_accepted):
        monkeypatch.setattr(function, "__defaults__", (tmp_path,))
    words = [f"results={tmp_path / 'results'}", "executor.jobs=1"]
    assert exit_code("do=bands", *words) == 0
    assert exit_code("do=check", *words) == 0
    assert "1 of 1 bands hold and 0 of 0 verdicts, 1 of 1 printed numbers, medians" in capsys.readouterr().out
    file.write_text(text.replace("must_hold: [right]", "must_hold: [right, wrong]"), encoding="utf-8")
    assert exit_code("do=check", *words) == 1
    out = capsys.readouterr().out
    assert "1 of 2 printed numbers" in out and "printed number wrong, 75 %" in out
    assert "outside so far" in out and "no more runs are allowed to confirm it" in out, "a check looks once"
    for name, message in (("rihgt", "prints no number 'rihgt'; did you mean 'right'?"), ("rows", "'rows' is no mean")):
        file.write_text(text.replace("[right]", f"[{name}]"), encoding="utf-8")
        with pytest.raises(BadInput, match=re.escape(message)):
            read_watched_paper("9")


def test_the_runs_of_the_check_are_none_of_those_behind_the_bands():
    paper, watched = read_watched_paper(list_papers()[0])
    now = make_watched_cells(paper, watched, range(watched.repeats))
    then = make_watched_cells(paper, watched, range(watched.repeats, watched.repeats + watched.accepted))
    identities = [{cell.identity for cells in studies.values() for cell in cells} for studies in (now, then)]
    assert not set.intersection(*identities)
    some = next(iter(now.values()))[0]
    assert some.identity != replace(some, repeat=watched.repeats).identity


def test_the_bands_of_one_algorithm_can_be_made_alone(tmp_path, accepted):
    part = WATCHED.select_algorithm("rdt")
    assert [number.name for number in part.numbers] == [
        "grid: car, rdt, epsilon = 0.1",
        "grid: car, rdt, epsilon = 1",
        "grid: rdt, mean of 2 settings",
    ]
    assert [claim.id for claim in part.claims] == ["above"]
    write_accepted("1", accepted, {"command": "make bands", "git": "old"}, tmp_path)
    fresh = measure_accepted(PAPER, part, table(200, gap=0.2, seed=5))
    facts = {"git": "new", "written": "today", "versions": {}}
    joined, origin = join_accepted("1", WATCHED, fresh, facts, tmp_path)
    of_rdt = set(fresh.bands)
    assert len(of_rdt) == 3 < len(joined.bands) == len(accepted.bands)
    for key, band in joined.bands.items():
        assert band == (fresh.bands[key] if key in of_rdt else pytest.approx(accepted.bands[key]))
    assert (origin["git"], origin["made_later"][0]["git"]) == ("old", "new")
    assert origin["made_later"][0]["settings"] == [name for name, _ in fresh.bands]
    with pytest.raises(BadInput, match="no number of 'rtd' is watched; did you mean 'rdt'"):
        WATCHED.select_algorithm("rtd")
