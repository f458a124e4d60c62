"""Claims on tables whose truth is known, both ways."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from experiments.judge.evidence.claim_groups import ClaimGroup

from documents.document import DocumentError
from experiments.config.paper import PaperError
from experiments.config.papers import read_paper
from experiments.judge.claim_verdicts import judge_claims
from experiments.judge.claims.independent import IndependentClaim
from experiments.judge.numbers.printed import read_numbers_of
from experiments.judge.verdict import format_effect
from experiments.stats import adjust_holm, mean_interval, median_interval, paired_t_p, sign_flip_p, sign_p
from tests.papers import make_paper

EPSILON = [0.1, 0.5, 1.0, math.inf]
DEPTH = [3, 5, 7]
GROWS = {"id": "grows", "text": "grows", "kind": "increases", "study": "grid", "along": "epsilon", "metric": "accuracy"}
GROWS |= {"within": ["dataset", "params.max_depth"]}
ABOVE = {"id": "above", "text": "above", "kind": "above", "study": "pair", "better": "a", "worse": "b"}
ABOVE |= {"within": ["dataset", "epsilon"], "metric": "accuracy"}
NEARS = {
    "id": "nears",
    "text": "nears",
    "kind": "approaches",
    "study": "pair",
    "along": "epsilon",
    "metric": "accuracy",
}
NEARS |= {"algorithm": "a", "to": "b", "within": ["dataset"]}
STAYS = GROWS | {"id": "stays", "kind": "independent", "margin": 0.05}
PAPER = {
    "number": 0,
    "repeats": 10,
    "studies": {
        "grid": {"dataset": ["car"], "algorithm": ["a"], "params": {"max_depth": DEPTH}, "epsilon": EPSILON},
        "pair": {"dataset": ["car"], "algorithm": ["a", "b"], "params": {"max_depth": 3}, "epsilon": EPSILON},
    },
    "claims": [GROWS],
}


def without(claim, key):
    """Return a claim without one of its keys."""
    return {name: value for name, value in claim.items() if name != key}


def grid(truth, *, sd=0.002, repeats=10, seed=0, cap=1.0):
    """Return a table of the study ``grid`` with mean ``truth(level of epsilon, depth)``."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {"study": "grid", "dataset": "car", "algorithm": "a", "params.max_depth": d, "epsilon": e, "repeat": r}
        | {"accuracy": min(cap, truth(i, d) + rng.normal(0, sd))}
        for d in DEPTH
        for i, e in enumerate(EPSILON)
        for r in range(repeats)
    )


def pair(gap, *, sd=0.002, repeats=10, seed=0):
    """Return a table of the study ``pair`` in which a is above b by ``gap(level of epsilon)``; repeats share a part."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(0, 0.05, repeats)
    return pd.DataFrame(
        {"study": "pair", "dataset": "car", "algorithm": algorithm, "params.max_depth": 3, "epsilon": e, "repeat": r}
        | {"accuracy": 0.8 + shared[r] + (gap(i) if algorithm == "a" else 0) + rng.normal(0, sd)}
        for i, e in enumerate(EPSILON)
        for algorithm in "ab"
        for r in range(repeats)
    )


def judge(table, claim=GROWS, fixed=("car",), paper=PAPER, **more):
    (result,) = judge_claims(make_paper(**paper | {"claims": [claim | more]}), table, fixed_splits=fixed)
    return result


@pytest.mark.parametrize("fixed", [("car",), ()], ids=["official split", "split anew"])
def test_growth_is_found(fixed):
    result = judge(grid(lambda i, d: 0.7 + 0.02 * i), fixed=fixed)
    assert result["verdict"] == "reproduced"
    assert result["effect"] == pytest.approx(0.06, abs=0.003)
    assert result["low"] < result["effect"] < result["high"]
    assert (result["groups"], result["groups_holding"], result["cells"]) == (3, 3, 120)


@pytest.mark.parametrize("fixed", [("car",), ()], ids=["official split", "split anew"])
@pytest.mark.parametrize(
    "truth",
    [lambda i, d: 0.8 - 0.01 * i, lambda i, d: 0.7 + (0.02 * i if d != 5 else -0.02 * i)],
    ids=["falls", "falls at one depth"],
)
def test_a_fall_contradicts_growth(truth, fixed):
    result = judge(grid(truth), fixed=fixed)
    assert result["verdict"] == "refuted"
    assert result["p_value"] > 0.05
    most = result["contradicted"][0]
    assert most["effect"] == min(group["effect"] for group in result["contradicted"])
    assert most["high"] < 0
    place = f"most in car, max_depth = {most['params.max_depth']}"
    assert (
        f"contradicted in {len(result['contradicted'])} of 3 groups, {place}: {100 * most['effect']:+.2f} points ("
        in (result["reason"])
    )


@pytest.mark.parametrize("fixed", [("car",), ()], ids=["official split", "split anew"])
def test_no_growth_is_inconclusive(fixed):
    result = judge(grid(lambda i, d: 0.8), fixed=fixed)
    assert result["verdict"] == "undecided"
    assert result["p_value"] > 0.05
    assert result["contradicted"] == result["steps"] == []
    assert "inconclusive: significant in 0 of 3 groups; weakest car, max_depth = " in result["reason"]


def test_growth_that_is_too_noisy_to_see_is_inconclusive_and_more_repeats_find_it():
    few, many = (
        judge(grid(lambda i, d: 0.7 + 0.005 * i, sd=0.02, repeats=n), paper=PAPER | {"repeats": n}) for n in (10, 100)
    )
    assert few["verdict"] == "undecided"
    assert many["verdict"] == "reproduced"


def test_true_growth_is_rarely_contradicted():
    study = {"dataset": ["car"], "algorithm": ["a"], "params": {"max_depth": 3}, "epsilon": EPSILON}
    paper = PAPER | {"studies": {"grid": study}}
    contradicted = 0
    for seed in range(100):
        table = grid(lambda i, d: 0.8 + 0.001 * i, sd=0.01, seed=seed).query("`params.max_depth` == 3")
        contradicted += judge(table, paper=paper)["verdict"] == "refuted"
    assert contradicted <= 13  # 2.5 % by the interval, 5 % by the steps: binomial(100, 0.075) exceeds 13 with 0.01


def test_a_dip_contradicts_step_by_step_growth():
    result = judge(grid(lambda i, d: 0.7 + (0.0, 0.1, 0.08, 0.12)[i]))
    assert result["p_adjusted"] < 0.05
    assert result["verdict"] == "refuted"
    assert {step["step"] for step in result["steps"]} == {2}
    assert result["steps"][0]["effect"] == pytest.approx(-0.02, abs=0.004)
    assert "3 steps fall significantly, most step 2 of car, max_depth = " in result["reason"]
    assert all(step["low"] < step["effect"] < step["high"] < 0 for step in result["steps"])
    assert result["contradicted"] == []


def test_the_worst_group_is_named():
    result = judge(grid(lambda i, d: 0.7 + (0.02 * i if d != 7 else 0)))
    worst = result["worst"]
    assert worst["params.max_depth"] == 7
    assert result["verdict"] == "undecided"
    assert result["groups_holding"] == 2
    effect, low, high = (f"{100 * worst[name]:+.2f}" for name in ("effect", "low", "high"))
    assert result["reason"] == (
        f"inconclusive: significant in 2 of 3 groups; weakest car, max_depth = 7: {effect} points ({low} to {high})"
    )


def test_groups_at_the_ceiling_are_set_aside_but_never_a_pass_alone():
    result = judge(grid(lambda i, d: 0.7 + 0.02 * i if d < 7 else 2))
    assert result["verdict"] == "reproduced"
    assert result["at_bound"] == 1
    assert "1 more stand at 1 throughout" in result["reason"]
    result = judge(grid(lambda i, d: 2))
    assert result["verdict"] == "undecided"
    assert "every group stands at 1 throughout" in result["reason"]


def test_a_constant_below_the_ceiling_is_no_growth():
    assert judge(grid(lambda i, d: 0.8, sd=0))["verdict"] == "refuted"


def test_false_growth_is_rarely_accepted():
    """With no growth at all, the smallest of a paper's adjusted p-values is below 5 % in at most 5 % of the papers."""
    study = {"dataset": ["car"], "algorithm": ["a"], "params": {"max_depth": 3}, "epsilon": EPSILON}
    claims = [GROWS | {"id": "one"}, GROWS | {"id": "two", "where": {"epsilon": [0.1, 0.5]}}]
    paper = make_paper(**PAPER | {"studies": {"grid": study}, "claims": claims})
    accepted = 0
    for seed in range(100):
        table = grid(lambda i, d: 0.8, seed=seed).query("`params.max_depth` == 3")
        accepted += any(c["verdict"] == "reproduced" for c in judge_claims(paper, table, fixed_splits=["car"]))
    assert accepted <= 10  # binomial(100, 0.05) exceeds 10 with probability 0.01


@pytest.mark.parametrize("fixed", [("car",), ()], ids=["official split", "split anew"])
def test_above_is_paired(fixed):
    result = judge(pair(lambda i: 0.01), ABOVE, fixed)
    assert result["verdict"] == "reproduced"
    assert result["effect"] == pytest.approx(0.01, abs=0.002)
    assert judge(pair(lambda i: 0.01), ABOVE, fixed, better="b", worse="a")["verdict"] == "refuted"
    assert judge(pair(lambda i: 0.0, seed=1), ABOVE, fixed)["verdict"] == "undecided"


def test_above_must_hold_in_every_setting():
    for gap, verdict in ((-0.01, "refuted"), (0.0, "undecided")):
        result = judge(pair(lambda i, gap=gap: 0.02 if i else gap), ABOVE)
        assert result["verdict"] == verdict
        assert result["worst"]["epsilon"] == 0.1
        assert "car, epsilon = 0.1" in result["reason"]


def test_ties_at_the_ceiling_are_not_above():
    assert judge(pair(lambda i: 0).assign(accuracy=1.0), ABOVE)["verdict"] == "refuted"


def test_claims_without_cells_never_pass():
    for table in (pd.DataFrame(), grid(lambda i, d: 0.8).assign(accuracy=math.nan), pair(lambda i: 1).iloc[:0]):
        result = judge(table)
        assert result["verdict"] == "undecided"
        assert "no cell answers it (0 of 120)" in result["reason"]
        assert result["p_value"] is None


def test_a_missing_setting_is_not_testable():
    table = grid(lambda i, d: 0.7 + 0.02 * i)
    result = judge(table[~((table["params.max_depth"] == 5) & (table["epsilon"] == 0.5))])
    assert result["verdict"] == "undecided"
    assert "INCOMPLETE: 110 of 120" in result["reason"]
    assert "max_depth = 5" in result["reason"]


def test_one_missing_cell_is_said_and_its_repeat_left_out():
    result = judge(grid(lambda i, d: 0.7 + 0.02 * i).drop(index=17))
    assert result["verdict"] == "reproduced"
    assert "INCOMPLETE: 119 of 120" in result["reason"]


@pytest.mark.parametrize("repeats", [1, 2, 4])
def test_too_few_repeats_are_not_testable(repeats):
    result = judge(grid(lambda i, d: 0.7 + 0.02 * i, repeats=repeats), paper=PAPER | {"repeats": repeats})
    assert result["verdict"] == "undecided"


def test_the_number_of_repeats_asked_for_suffices():
    """What the reason of a claim with too few repeats recommends is enough, and one less is not."""
    for repeats, verdict in ((4, "undecided"), (5, "reproduced")):
        result = judge(grid(lambda i, d: 0.7 + 0.02 * i, repeats=repeats), paper=PAPER | {"repeats": repeats})
        assert result["verdict"] == verdict
    assert "5 repeats suffice" in judge(grid(lambda i, d: 0.7 + 0.02 * i, repeats=4))["reason"]


def test_a_missing_claim_does_not_ease_the_others():
    paper = make_paper(**PAPER | {"claims": [GROWS, ABOVE]})
    alone, other = judge_claims(paper, grid(lambda i, d: 0.7 + 0.02 * i), fixed_splits=["car"])
    assert other["verdict"] == "undecided"
    assert alone["p_adjusted"] == pytest.approx(2 * alone["p_value"])


def test_overlapping_splits_are_less_certain():
    table = grid(lambda i, d: 0.7 + 0.02 * i)
    fixed, anew = judge(table), judge(table, fixed=())
    assert anew["high"] - anew["low"] == pytest.approx((fixed["high"] - fixed["low"]) * math.sqrt(1 + 10 * 3 / 7))
    assert "one split" in fixed["scope"]
    assert "overlapping" in anew["scope"]


TRUTHS = {
    "grows": lambda i, d: 0.7 + 0.02 * i,
    "falls": lambda i, d: 0.8 - 0.01 * i,
    "flat": lambda i, d: 0.8,
    "dips": lambda i, d: 0.7 + (0.0, 0.1, 0.08, 0.12)[i],
    "ceiling": lambda i, d: 2 if d == 7 else 0.7 + 0.02 * i,
}


@pytest.mark.parametrize("fixed", [("car",), ()], ids=["official split", "split anew"])
@pytest.mark.parametrize("truth", TRUTHS)
def test_an_error_decreases_as_its_complement_increases(truth, fixed):
    table = grid(TRUTHS[truth])
    error = table.assign(accuracy=1 - table["accuracy"])
    up, down = judge(table, fixed=fixed), judge(error, GROWS | {"kind": "decreases"}, fixed)
    assert up["verdict"] == down["verdict"]
    for name in ("p_value", "groups_holding", "at_bound"):
        assert up[name] == pytest.approx(down[name])
    assert up["effect"] == pytest.approx(-down["effect"])
    for one, other in ((up["contradicted"], down["contradicted"]), (up["steps"], down["steps"])):
        assert [found["effect"] for found in one] == pytest.approx([-found["effect"] for found in other])
    assert down["reason"].count("rise") == up["reason"].count("fall")


@pytest.mark.parametrize("fixed", [("car",), ()], ids=["official split", "split anew"])
@pytest.mark.parametrize(("gap", "verdict"), [(-0.01, "reproduced"), (0.01, "refuted"), (0.0, "undecided")], ids=str)
def test_below_is_the_mirror_of_above(gap, verdict, fixed):
    table = pair(lambda i: gap, seed=1)
    result = judge(table, ABOVE | {"kind": "below"}, fixed)
    assert result["verdict"] == verdict
    mirrored = judge(table.assign(accuracy=1 - table["accuracy"]), ABOVE, fixed)
    assert (mirrored["verdict"], mirrored["p_value"]) == (verdict, pytest.approx(result["p_value"]))
    assert result["effect"] == pytest.approx(gap, abs=0.003)


@pytest.mark.parametrize("fixed", [("car",), ()], ids=["official split", "split anew"])
@pytest.mark.parametrize(
    ("gap", "verdict"),
    [
        (lambda i: -0.06 / 2**i, "reproduced"),
        (lambda i: 0.01 * (1 + i), "refuted"),
        (lambda i: (0.06, 0.02, 0.05, 0.01)[i], "refuted"),
        (lambda i: 0.03, "undecided"),
    ],
    ids=["nears from below", "parts", "nears with a step back", "keeps its distance"],
)
def test_two_algorithms_approach_each_other(gap, verdict, fixed):
    result = judge(pair(gap, seed=2), NEARS, fixed)
    assert result["verdict"] == verdict
    assert (result["cells"], result["cells_expected"], result["groups"]) == (80, 80, 1)
    assert len(result["steps"]) == (0 if verdict != "refuted" else 1 if gap(2) == 0.05 else len(result["steps"]))


def test_a_distance_of_zero_is_set_aside():
    result = judge(pair(lambda i: 0, sd=0), NEARS)
    assert result["verdict"] == "undecided"
    assert "every group stands at 0 throughout" in result["reason"]


@pytest.mark.parametrize("fixed", [("car",), ()], ids=["official split", "split anew"])
@pytest.mark.parametrize(
    ("truth", "sd", "verdict"),
    [
        (lambda i, d: 0.8, 0.002, "reproduced"),
        (lambda i, d: 0.8 + 0.002 * i, 0.002, "reproduced"),
        (lambda i, d: 0.7 + 0.05 * i * (d == 5), 0.002, "refuted"),
        (lambda i, d: 0.9 - 0.05 * i, 0.002, "refuted"),
        (lambda i, d: (0.6, 0.8, 0.8, 0.6)[i], 0.002, "refuted"),
        (lambda i, d: 0.8, 0.08, "undecided"),
    ],
    ids=["flat", "a slope inside", "rises at one depth", "falls", "humps", "too noisy"],
)
def test_independence_needs_evidence_of_its_own(truth, sd, verdict, fixed):
    result = judge(grid(truth, sd=sd), STAYS, fixed)
    assert result["verdict"] == verdict
    assert (result["contradicted"] + result["steps"] == []) == (verdict != "refuted")
    mean = grid(truth, sd=sd).query(f"`params.max_depth` == {result['worst']['params.max_depth']}")["accuracy"].mean()
    assert result["worst"]["margin"] == pytest.approx(0.05 * mean)
    assert ("margin ± " in result["reason"]) == (verdict != "reproduced")


def test_what_never_varies_is_independent_and_nothing_is_not():
    assert judge(grid(lambda i, d: 0.8, sd=0), STAYS)["verdict"] == "reproduced"
    result = judge(grid(lambda i, d: 0.0, sd=0), STAYS)
    assert result["verdict"] == "undecided"
    assert "every group stands at 0 throughout" in result["reason"]


@pytest.mark.parametrize("overlap", [0.25, 3 / 7])
@pytest.mark.parametrize("shift", [-0.03, 0.0, 0.01, 0.035])
def test_equivalence_against_two_t_tests_by_hand(overlap, shift):
    from scipy.stats import t

    gains = shift + np.random.default_rng(3).normal(0, 0.005, 12)
    centre = np.full(12, 0.8)  # so that the room is the same in every repeat
    group = ClaimGroup({}, np.column_stack([centre - gains / 2, centre + gains / 2]), overlap, IndependentClaim, 0.05)
    error = gains.std(ddof=1) * math.sqrt(1 / 12 + overlap)
    upper, lower = (t.sf((0.04 - sign * gains.mean()) / error, 11) for sign in (1, -1))
    assert group.p_value == pytest.approx(max(upper, lower, 2**-12))
    assert group.p_against == pytest.approx([max(1 - p, 2**-12) for p in (upper, lower)])
    half = t.ppf(0.95, 11) * error  # equivalent at 5 % exactly where the 90 % interval lies inside
    assert (group.p_value < 0.05) == (gains.mean() - half > -0.04 and gains.mean() + half < 0.04)


@pytest.mark.parametrize("overlap", [0.0, 0.1], ids=["sign flips", "t"])
def test_equivalence_at_its_margin_is_rarely_accepted_or_refuted(overlap):
    """The mean varies with the repeat, and the gain stands exactly at five per cent of it."""
    rng = np.random.default_rng(4)
    accepted = refuted = 0
    for _ in range(400):
        shared = rng.normal(0, 0.02 * math.sqrt(overlap), 2)  # what overlapping training sets have in common
        noise = rng.normal(0, 0.02, (10, 2)) + shared
        truth = np.array([0.78, 0.82])
        group = ClaimGroup({}, truth + noise, overlap, IndependentClaim, 0.05)
        accepted += group.p_value < 0.05
        refuted += 2 * min(group.p_against) < 0.05
    assert 4 <= accepted <= 32  # binomial(400, 0.05) exceeds 32 with probability 0.003
    assert refuted <= 32


def test_a_margin_is_written_beside_its_effect():
    effect = {"effect": 0.01, "low": -0.02, "high": 0.04, "margin": 0.04}
    assert format_effect("accuracy", effect) == "+1.00 points (-2.00 to +4.00), margin ± 4.00"
    assert format_effect("unit_mse", effect) == "+0.01 (-0.02 to +0.04), margin ± 0.04"


def test_studies_that_differ_in_an_open_parameter_are_told_apart():
    grown, flat = grid(TRUTHS["grows"]), grid(TRUTHS["flat"]).assign(study="other")
    studies = PAPER["studies"] | {"other": PAPER["studies"]["grid"]}
    claims = [GROWS, GROWS | {"id": "other", "study": "other"}]
    paper = make_paper(**PAPER | {"studies": studies, "claims": claims})
    one, other = judge_claims(paper, pd.concat([grown, flat]), fixed_splits=["car"])
    assert (one["verdict"], other["verdict"]) == ("reproduced", "undecided")
    assert one["cells"] == other["cells"] == 120
    shared = grown.assign(study="grid+other")
    assert [r["cells"] for r in judge_claims(paper, shared, fixed_splits=["car"])] == [120, 120]
    assert judge(grown.assign(study="grid-2"))["cells"] == 0
    with pytest.raises(PaperError, match="study 'grid': two cells answer the same setting"):
        judge(pd.concat([grown, grown]))


def test_printed_claims_follow_their_numbers():
    claim = {"id": "p", "text": "", "kind": "printed", "numbers": ["x", "y"]}
    paper = make_paper(**PAPER | {"claims": [claim]})
    for verdicts, expected in (
        (["reproduced", "reproduced"], "reproduced"),
        (["reproduced", "refuted"], "refuted"),
        (["reproduced", "not run"], "undecided"),
    ):
        numbers = pd.DataFrame({"id": ["x", "y"], "verdict": verdicts, "reason": ""})
        (result,) = judge_claims(paper, pd.DataFrame(), numbers)
        assert result["verdict"] == expected
    with pytest.raises(PaperError, match="no printed number 'x'"):
        judge_claims(paper, pd.DataFrame())


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        (GROWS | {"study": "gird"}, "claim 'grows': study 'gird' is not in the paper; it has: grid, pair"),
        (GROWS | {"along": "params.depth"}, "study 'grid' has no axis 'params.depth'; did you mean 'params.max_depth'"),
        (GROWS | {"within": ["dataset"]}, "claim 'grows': within must name"),
        (GROWS | {"within": ["dataset", "params.max_dept"]}, "claim 'grows': within must name"),
        (
            GROWS | {"where": {"params.max_depth": 4}},
            "study 'grid' has no params.max_depth = 4; it has ",
        ),
        (ABOVE | {"better": "c"}, "claim 'above': better = 'c'"),
        (GROWS | {"where": {"epsilon": 0.1}}, "claim 'grows': epsilon has one level only"),
        (NEARS | {"to": "c"}, "to = 'c' is not run by the study"),
        (NEARS | {"to": "a"}, "compared with itself"),
        (NEARS | {"within": ["dataset", "algorithm"]}, "within must name every axis that varies except algorithm and"),
    ],
)
def test_claims_about_nothing_are_refused(claim, message):
    with pytest.raises(PaperError, match=message):
        judge(grid(lambda i, d: 0.8), claim)


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        (GROWS | {"kind": "grows"}, "claims.0: kind 'grows' is not known; known are above, above_at_equal, "),
        (GROWS | {"kind": "increase"}, "claims.0: kind 'increase' is not known; did you mean 'increases'?"),
        (GROWS | {"kind": ["above"]}, "claims.0: write a mapping with a kind: above, "),
        (without(GROWS, "kind"), "claims.0: write a mapping with a kind: above, above_at_equal, "),
        (without(GROWS, "id"), "claims.0: the key 'id' is missing"),
        (without(GROWS, "along"), "claims.0: the key 'along' is missing"),
        (without(GROWS, "metric"), "claims.0: the key 'metric' is missing"),
        (without(ABOVE, "worse") | {"kind": "below"}, "claims.0: the key 'worse' is missing"),
        (without(NEARS, "to"), "claims.0: the key 'to' is missing"),
        (without(STAYS, "margin"), "claims.0: the key 'margin' is missing"),
        ({"id": "p", "text": "", "kind": "printed"}, "claims.0: the key 'numbers' is missing"),
        (GROWS | {"withn": ["dataset"]}, "claims.0: unknown key 'withn'; did you mean 'within'?"),
        (GROWS | {"margin": 0.1}, "claims.0: unknown key 'margin'; "),
        (GROWS | {"axis": "epsilon"}, "claims.0: unknown key 'axis'; "),
        (STAYS | {"margin": 5}, "claims.0.margin: margin = 5.0 must be a share of the mean between 0 and 1"),
        (STAYS | {"margin": "0.05"}, "claims.0.margin: input should be a valid number, got '0.05'"),
        (GROWS | {"center": "mode"}, "claims.0.center: input should be 'mean' or 'median', got 'mode'"),
    ],
)
def test_claims_that_lack_a_key_or_have_a_wrong_one_are_refused(claim, message):
    with pytest.raises(DocumentError, match=re.escape(message)):
        judge(grid(lambda i, d: 0.8), claim)


def test_every_claim_of_paper_2_can_be_asked():
    paper = read_paper("2")
    numbers = read_numbers_of(paper).assign(verdict="not run", reason="")
    results = judge_claims(paper, pd.DataFrame(), numbers, fixed_splits=["adult"])
    own = {"grows-with-epsilon", "grows-with-depth", "above-diffprfs-ig", "above-diffprfs-max", "printed-maximum"}
    assert own <= {result["id"] for result in results}
    assert len({result["id"] for result in results}) == len(results) == len(paper.claims)
    for claim, result in zip(paper.claims, results, strict=True):
        assert (result["id"], result["verdict"]) == (claim.id, "undecided")
        assert result["cells_expected"] == (None if claim.kind == "printed" else count_cells_of(paper, claim))


def count_cells_of(paper, claim):
    values = paper.studies[claim.study].axes(claim.where)
    if claim.kind == "above":
        values |= {"algorithm": [claim.better, claim.worse]}
    return paper.repeats * math.prod(len(levels) for levels in values.values())


def test_statistics_against_other_sources():
    from scipy.stats import permutation_test, ttest_1samp

    d = np.array([0.3, -0.1, 0.4, 0.2, 0.05, 0.3])
    exact = permutation_test((d,), np.mean, permutation_type="samples", alternative="greater", n_resamples=10_000)
    assert sign_flip_p(d) == pytest.approx(exact.pvalue)
    ours = ttest_1samp(d, 0, alternative="greater")
    assert paired_t_p(d) == pytest.approx(ours.pvalue)
    both = ttest_1samp(d, 0).confidence_interval(0.95)
    assert (mean_interval(d).low, mean_interval(d).high) == pytest.approx((both.low, both.high))
    assert adjust_holm([0.01, 0.02, 0.03, 0.005]) == pytest.approx([0.03, 0.04, 0.04, 0.02])
    many = np.random.default_rng(0).normal(0.3, 1, 30)
    assert sign_flip_p(many) == pytest.approx(ttest_1samp(many, 0, alternative="greater").pvalue, abs=0.01)


HEAVY = -(10.0 ** np.arange(2, 12))  # one number for each repeat, as R² may be: no mean says anything of them


def heavy(gap, *, repeats=10, along_epsilon=False):
    """Return a table of the study ``pair`` whose noise is enormous in all but a few repeats, in a and in b alike."""
    table = pair(lambda i: 0, repeats=repeats)
    noise = table["repeat"].map(dict(enumerate(np.resize(HEAVY, repeats)))) * (table["epsilon"] < 1)
    steps = table["epsilon"].map({e: i for i, e in enumerate(EPSILON)}) * (1 if along_epsilon else 0)
    return table.assign(accuracy=table["accuracy"] + noise + steps + gap * (table["algorithm"] == "a"))


def test_medians_see_through_tails_that_drown_means():
    table = heavy(0.5)
    flipped = (table["repeat"] == 9) & (table["algorithm"] == "a") & (table["epsilon"] < 1)
    table.loc[flipped, "accuracy"] -= 1e12  # one repeat of ten speaks against, and enormously
    by_mean, by_median = (
        judge(table, ABOVE, paper=PAPER | {"center": center}) for center in ({}, {"accuracy": "median"})
    )
    assert (by_mean["center"], by_mean["verdict"]) == ("mean", "undecided")
    assert (by_median["center"], by_median["verdict"]) == ("median", "reproduced")
    assert by_median["worst"]["p_value"] == pytest.approx(11 / 1024)
    assert by_median["effect"] == pytest.approx(0.5, abs=0.01) and by_median["low"] > 0.4
    assert judge(table, ABOVE | {"better": "b", "worse": "a"}, center="median")["verdict"] == "refuted"


@pytest.mark.parametrize("drop", [False, True])
def test_medians_grow_step_by_step(drop):
    table = heavy(0.0, along_epsilon=True)
    if drop:
        table.loc[np.isinf(table["epsilon"]), "accuracy"] -= 3
    claim = GROWS | {"study": "pair", "where": {"algorithm": "a"}, "within": ["dataset"], "center": "median"}
    result = judge(table, claim, fixed=())
    assert result["verdict"] == ("refuted" if drop else "reproduced")
    assert [step["step"] for step in result["steps"]] == ([3] if drop else [])
    assert "medians and signs" in result["scope"]


@pytest.mark.long
def test_medians_are_rarely_found_where_there_is_no_effect():
    rng = np.random.default_rng(0)
    table = pair(lambda i: 0, sd=0)
    found = []
    for _ in range(300):
        noise = rng.standard_cauchy(len(table)) * (table["algorithm"] == "a")
        result = judge(table.assign(accuracy=table["accuracy"] + noise), ABOVE, center="median")
        found.append(result["verdict"])
    assert found.count("reproduced") == 0  # four groups at once
    assert found.count("refuted") <= 300 * 0.05 + 3 * math.sqrt(300 * 0.05 * 0.95)


MEETS = NEARS | {"id": "meets", "kind": "meets", "margin": 0.05}


@pytest.mark.parametrize("center", ["mean", "median"])
@pytest.mark.parametrize("fixed", [("car",), ()], ids=["official split", "split anew"])
@pytest.mark.parametrize(
    ("last", "verdict"),
    [
        (0.0, "reproduced"),
        (0.02, "reproduced"),
        (-0.02, "reproduced"),
        (0.2, "refuted"),
        (-0.2, "refuted"),
    ],
)
def test_two_algorithms_meet_at_the_last_level_only(last, verdict, fixed, center):
    result = judge(pair(lambda i: last if i == 3 else 5.0 * i + 3), MEETS, fixed=fixed, center=center)
    assert result["verdict"] == verdict
    assert result["effect"] == pytest.approx(last, abs=0.005)
    assert result["worst"]["margin"] == pytest.approx(0.05 * 0.8, abs=0.003)
    assert (result["cells"], result["cells_expected"]) == (20, 20)


def test_a_repeat_far_below_zero_does_not_turn_the_margin_round():
    table = pair(lambda i: 0.0)
    table.loc[table["repeat"] == 0, "accuracy"] -= 1e6
    result = judge(table, MEETS, center="median")
    assert result["verdict"] == "reproduced" and result["worst"]["margin"] == pytest.approx(0.04, abs=0.003)


def test_a_wide_scatter_meets_nothing():
    assert judge(pair(lambda i: 0.0, sd=0.3), MEETS)["verdict"] == "undecided"


def test_values_of_a_parameter_are_compared_like_algorithms():
    claim = ABOVE | {"study": "grid", "axis": "params.max_depth", "better": 5, "worse": 3}
    assert judge(grid(lambda i, d: 0.7 + 0.01 * d), claim)["verdict"] == "reproduced"
    assert judge(grid(lambda i, d: 0.7 - 0.01 * d), claim)["verdict"] == "refuted"
    with pytest.raises(PaperError, match="worse = 4 is not run"):
        judge(grid(lambda i, d: 0.7), claim | {"worse": 4})


def test_medians_against_other_sources():
    from scipy.stats import binomtest, quantile_test

    d = np.array([0.3, -0.1, 0.4, 0.2, 0.05, 0.3, -9e9, 0.1, 0.2, 0.3, 0.1, 0.2])
    assert sign_p(d) == pytest.approx(binomtest(int((d > 0).sum()), len(d), alternative="greater").pvalue)
    ours, theirs = median_interval(d), quantile_test(d, p=0.5).confidence_interval(0.95)
    assert (ours.center, ours.low, ours.high) == (np.median(d), theirs.low, theirs.high)
    assert math.isnan(median_interval(range(5)).low) and median_interval(range(6)).low == 0


def test_a_claim_about_what_is_not_implemented_is_not_testable_and_counts_as_no_test():
    table, lost = pair(lambda i: 0.02), [ABOVE | {"id": f"lost-{i}", "worse": "lost"} for i in range(200)]
    keys = PAPER | {"claims": [ABOVE, *lost]}
    paper = make_paper(**keys, not_implemented={"lost": "never described"})
    of_ours, *of_lost = judge_claims(paper, table, fixed_splits=("car",))
    assert of_ours["verdict"] == "reproduced"
    assert {result["verdict"] for result in of_lost} == {"undecided"}
    assert {result["reason"] for result in of_lost} == {"not implemented: never described"}
    with pytest.raises(PaperError, match="'lost' is not run by the study"):
        judge_claims(make_paper(**keys), table)


@pytest.mark.parametrize(
    ("gaps", "verdicts"),
    [
        ((-0.02, 0.02), ["only under a reading", "reproduced"]),
        ((0.02, 0.02), ["reproduced", "reproduced"]),
        ((0.02, -0.02), ["reproduced", "refuted"]),
        ((-0.02, -0.02), ["refuted", "refuted"]),
        ((0.0, 0.02), ["undecided", "reproduced"]),
    ],
)
def test_a_claim_that_comes_out_in_another_reading_says_so(gaps, verdicts):
    first, second = (pair(lambda i, g=gap: g, seed=3) for gap in gaps)
    table = pd.concat([first, second.assign(study="other")])
    studies = PAPER["studies"] | {"other": PAPER["studies"]["pair"]}
    reading = ABOVE | {"id": "anew", "text": "with exact labels", "study": "other", "reading_of": "above"}
    paper = make_paper(**PAPER | {"studies": studies, "claims": [ABOVE, reading]})
    results = judge_claims(paper, table, fixed_splits=("car",))
    assert [result["verdict"] for result in results] == verdicts
    if verdicts == ["undecided", "reproduced"]:
        assert results[0]["reason"].endswith("; reproduced under a reading: anew")
    if verdicts[0] == "only under a reading":
        assert results[0]["reason"].startswith("anew (with exact labels) is; as printed: refuted")
