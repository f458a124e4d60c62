"""What the contrasts of a claim come to: proven together or one by one, frozen, waiting for others, equal or not."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom, ttest_1samp

from experiments.judge.evidence.claim_group import ClaimGroup, ClaimTest, Contrast, PValues
from experiments.judge.evidence.sequential_test import ANY, EACH, GainsByMean, GainsByMedian
from experiments.judge.evidence.standings import Outcome, Standings
from experiments.judge.verdict import Verdict
from experiments.metrics.metric import Margin

LEVEL = 0.01
POINT = Margin(0.01)
ABOVE = SimpleNamespace(
    list_contrasts=lambda values, margin: [Contrast.of_difference("", 1, values.T[0], values.T[1], margin)]
)
STEPS = SimpleNamespace(
    list_contrasts=lambda values, margin: [
        Contrast.of_difference(f"step {place}", 1, values.T[place - 1], values.T[place], margin)
        for place in range(1, values.shape[-1])
    ]
)
STAYS = SimpleNamespace(
    list_contrasts=lambda values, margin: [
        Contrast.of_equivalence("", values.T[1] - values.T[0], margin.between(values.T[0], values.T[1]))
    ]
)
NOTHING = PValues(0.9, 0.9, 0.9, 0.9, 0.9)
CLAIMED = NOTHING._replace(each=1e-5, any=1e-5)
ALONE = NOTHING._replace(each=0.006, any=0.008)
EQUAL = NOTHING._replace(equal_each=1e-5, equal_any=1e-5)
EQUAL_ALONE = NOTHING._replace(equal_each=0.006, equal_any=0.008)
OPPOSITE = NOTHING._replace(opposite=1e-5)


def make_group(gains, rule=ABOVE, margin=POINT, base=0.5, statistic="mean"):
    gains = np.asarray(gains, dtype=float)
    values = np.column_stack([np.full(len(gains), base), base + gains])
    return ClaimGroup({}, np.arange(len(gains)), values, len(gains), ClaimTest(rule, margin, statistic))


def stand(*found, share=1.0):
    standings = Standings(len(found), LEVEL)
    standings.weigh(dict(enumerate(found)), share)
    return standings


@pytest.mark.parametrize(
    ("found", "verdict", "outcomes"),
    [
        ([CLAIMED], "reproduced", ["as claimed"]),
        ([EQUAL], "practically equal", ["equal"]),
        ([OPPOSITE], "refuted", ["opposite"]),
        ([NOTHING], "undecided", ["open"]),
        ([CLAIMED, CLAIMED], "reproduced", ["as claimed", "as claimed"]),
        ([CLAIMED, ALONE], "reproduced", ["as claimed", "as claimed"]),
        ([ALONE, ALONE], "reproduced", ["as claimed", "as claimed"]),
        ([EQUAL, EQUAL_ALONE], "practically equal", ["equal", "equal"]),
        ([EQUAL_ALONE, EQUAL_ALONE], "practically equal", ["equal", "equal"]),
        ([CLAIMED, EQUAL], "in part", ["as claimed", "equal"]),
        ([CLAIMED, OPPOSITE], "refuted", ["as claimed", "opposite"]),
        ([EQUAL, OPPOSITE], "refuted", ["equal", "opposite"]),
        ([CLAIMED, NOTHING], "undecided", ["as claimed", "open"]),
        ([ALONE, NOTHING, NOTHING], "undecided", ["open", "open", "open"]),
        ([EQUAL_ALONE, NOTHING, NOTHING], "undecided", ["open", "open", "open"]),
        ([CLAIMED, CLAIMED, EQUAL_ALONE], "undecided", ["as claimed", "as claimed", "open"]),
        ([EQUAL, EQUAL, ALONE], "undecided", ["equal", "equal", "open"]),
    ],
)
def test_what_contrasts_come_to(found, verdict, outcomes):
    standings = stand(*found)
    assert (standings.verdict.value, [outcome.value for outcome in standings.outcomes]) == (verdict, outcomes)
    assert standings.count() == {outcome: outcomes.count(outcome.value) for outcome in Outcome}


def test_of_no_contrasts_nothing_is_shown():
    assert Standings(0, LEVEL).verdict == Verdict.UNDECIDED


def test_what_is_smaller_than_delta_is_equal_whatever_its_sign():
    both = CLAIMED._replace(equal_each=1e-5, equal_any=1e-5)
    assert stand(both).outcomes == [Outcome.EQUAL]
    assert stand(both._replace(opposite=1e-5)).outcomes == [Outcome.EQUAL]


def test_a_look_pays_with_its_share_and_the_best_look_counts():
    standings = Standings(1, LEVEL)
    standings.weigh({0: NOTHING._replace(each=0.004, any=0.004)}, share=0.35)
    assert standings.verdict == Verdict.UNDECIDED
    standings.weigh({0: NOTHING}, share=0.25)
    standings.weigh({0: NOTHING._replace(each=0.0019, any=0.0019)}, share=0.2)
    assert standings.verdict == Verdict.REPRODUCED


def test_looks_at_which_each_contrast_is_proven_may_differ():
    standings = Standings(2, LEVEL)
    standings.weigh({0: ALONE, 1: NOTHING}, share=1.0)
    assert standings.is_settled(0) and not standings.is_settled(1)
    standings.weigh({1: ALONE}, share=1.0)
    assert standings.verdict == Verdict.REPRODUCED


@pytest.mark.parametrize(("first", "outcome"), [(CLAIMED, "as claimed"), (EQUAL, "equal")])
def test_what_is_shown_stays(first, outcome):
    standings = stand(first, NOTHING)
    for later in (CLAIMED, EQUAL, OPPOSITE):
        standings.weigh({0: later}, share=1.0)
        assert standings.outcomes[0] == outcome and standings.is_settled(0)


def test_a_contrast_waits_for_others_only_as_long_as_all_may_come_out_alike():
    assert stand(ALONE, NOTHING).is_settled(0)
    assert stand(EQUAL_ALONE, NOTHING).is_settled(0)
    for other in (EQUAL, EQUAL_ALONE):
        assert not stand(ALONE, other, NOTHING).is_settled(0)
    for other in (CLAIMED, ALONE):
        assert not stand(EQUAL_ALONE, other, NOTHING).is_settled(0)
    assert not stand(ALONE, NOTHING).is_settled(0, lost=[1])
    assert stand(CLAIMED, NOTHING).is_settled(0, lost=[1]), "it waits for nobody"


def test_proofs_of_some_are_those_of_holm_and_of_all_need_no_correction():
    rng = np.random.default_rng(0)
    for _ in range(300):
        found = [PValues(*rng.choice([0.0001, 0.003, 0.006, 0.02], 5)) for _ in range(3)]
        outcomes = stand(*found).outcomes

        def prove(name, alone, found=found):
            order = sorted(range(3), key=lambda place: getattr(found[place], name))
            proven = set()
            for rank, place in enumerate(order):
                if getattr(found[place], name) > LEVEL / (3 - rank):
                    break
                proven.add(place)
            is_all = alone and all(getattr(one, alone) <= LEVEL for one in found)
            return {0, 1, 2} if is_all else proven

        equal, opposite, claimed = prove("equal_any", "equal_each"), prove("opposite", ""), prove("any", "each")
        for place, outcome in enumerate(outcomes):
            of_place = [(equal, Outcome.EQUAL), (opposite, Outcome.OPPOSITE), (claimed, Outcome.AS_CLAIMED)]
            assert outcome == next((name for proven, name in of_place if place in proven), Outcome.OPEN)


@pytest.mark.parametrize("n", [300, 1200])
def test_hundreds_of_contrasts_cost_little_and_hold_as_easily_as_one(n):
    assert stand(*[ALONE] * n).verdict == Verdict.REPRODUCED
    assert stand(*[EQUAL_ALONE] * n).verdict == Verdict.EQUAL
    assert stand(*[CLAIMED] * (n - 1), NOTHING._replace(opposite=1.1 * LEVEL / n)).verdict == Verdict.UNDECIDED
    assert stand(*[CLAIMED] * (n - 1), NOTHING._replace(opposite=0.9 * LEVEL / n)).verdict == Verdict.REFUTED


GAINS = np.random.default_rng(0).normal(0.004, 0.02, 40)


@pytest.mark.parametrize("is_alone", [True, False])
def test_p_values_of_a_group_are_those_of_its_gains(is_alone):
    group, caution = make_group(GAINS), EACH if is_alone else ANY
    for n in (20, 40):
        (found,) = group.weigh(n, is_alone)
        values = group.values[:n]
        step = np.diff(np.unique(values.round(12))).min()
        gains = (values[:, 1] - values[:, 0])[:n]

        def find_p(gains, caution, step=step):
            return float(GainsByMean.of(gains, step).find_p(caution))

        assert found.each == pytest.approx(find_p(gains, EACH))
        assert found.any == pytest.approx(find_p(gains, caution))
        assert found.opposite == pytest.approx(find_p(-gains, caution))
        for p, of in ((found.equal_each, EACH), (found.equal_any, caution)):
            assert p == pytest.approx(max(find_p(0.01 + gains, of), find_p(0.01 - gains, of)))
        assert found.each > ttest_1samp(gains, 0, alternative="greater").pvalue


def test_an_equivalence_is_as_claimed_inside_of_its_margin_and_has_no_other_that_is_none():
    (found,) = make_group(GAINS / 20, STAYS, Margin(0.05)).weigh(40, is_alone=True)
    assert found.each < 1e-9 and found.opposite == 1 and found.equal_each == found.equal_any == 1
    (found,) = make_group(0.2 + GAINS, STAYS, Margin(0.05)).weigh(40, is_alone=True)
    (one_side,) = make_group(0.15 + GAINS).weigh(40, is_alone=True)
    assert found.each > 0.99 and found.opposite == pytest.approx(2 * one_side.each, rel=0.1), (
        "either side may refute it"
    )


def test_a_claim_about_medians_is_decided_by_signs():
    gains = np.where(np.arange(40) % 4 == 0, -0.4, 0.05)
    (found,) = make_group(gains, statistic="median").weigh(40, is_alone=False)
    assert found.each == found.any == pytest.approx(binom.sf(29, 40, 0.5))
    assert found.opposite == pytest.approx(binom.sf(9, 40, 0.5))
    within = np.where(np.arange(40) % 4 == 0, -0.4, 0.005)
    (found,) = make_group(within, statistic="median").weigh(40, is_alone=True)
    assert found.equal_each == pytest.approx(binom.sf(29, 40, 0.5))
    assert float(GainsByMedian.of(gains).find_p(EACH)) == pytest.approx(binom.sf(29, 40, 0.5))


SKILL = Margin(0.01, floor=0.0)


def test_two_levels_below_the_floor_are_equal_however_far_apart():
    rng = np.random.default_rng(0)
    values = np.column_stack([-5 + rng.normal(0, 0.5, 40), -2 + rng.normal(0, 0.5, 40)])
    (found,) = ClaimGroup({}, np.arange(40), values, 40, ClaimTest(ABOVE, SKILL)).weigh(40, is_alone=True)
    assert found.equal_each < 1e-9 and found.each < 1e-9
    assert stand(found).outcomes == [Outcome.EQUAL]
    (found,) = ClaimGroup({}, np.arange(40), values + 4, 40, ClaimTest(ABOVE, SKILL)).weigh(40, is_alone=True)
    assert found.equal_each > 0.99, "one of them is above it"
    near = np.column_stack([0.5 + rng.normal(0, 0.001, 40), 0.5 + rng.normal(0, 0.001, 40)])
    (found,) = ClaimGroup({}, np.arange(40), near, 40, ClaimTest(ABOVE, SKILL)).weigh(40, is_alone=True)
    (bare,) = ClaimGroup({}, np.arange(40), near, 40, ClaimTest(ABOVE, POINT)).weigh(40, is_alone=True)
    assert found.equal_each == pytest.approx(2 * bare.equal_each), "there are two ways to be equal"


def test_twenty_equal_accuracies_do_not_prove_that_no_row_of_twenty_is_ever_wrong():
    alike = make_group(np.zeros(40), base=1.0)
    (after_20,), (after_40,) = (alike.weigh(n, is_alone=True) for n in (20, 40))
    assert after_20.equal_each / 0.35 > 0.00125 > after_40.equal_each / 0.25
    (found,) = make_group(np.full(20, 0.05)).weigh(20, is_alone=True)
    assert found.each < 1e-4, "a difference in every run is one"


def test_every_contrast_of_a_group_is_weighed_and_described():
    rng = np.random.default_rng(0)
    values = np.array([0.2, 0.5, 0.5, 0.3]) + rng.normal(0, 0.002, (40, 4))
    group = ClaimGroup({"dataset": "car"}, np.arange(40), values, 40, ClaimTest(STEPS, POINT))
    standings = Standings(3, LEVEL)
    standings.weigh(dict(enumerate(group.weigh(40, is_alone=False))), 0.25)
    assert standings.outcomes == [Outcome.AS_CLAIMED, Outcome.EQUAL, Outcome.OPPOSITE]
    found = group.describe(2, 40)
    assert (found["dataset"], found["part"], found["n"], found["share_won"]) == ("car", "step 3", 40, 0.0)
    assert found["low"] < found["effect"] < found["high"] and found["effect"] == pytest.approx(-0.2, abs=0.001)


def test_it_does_not_matter_how_a_claim_is_turned():
    """A above B is B below A."""
    turned = SimpleNamespace(
        list_contrasts=lambda values, margin: [Contrast.of_difference("", -1, values.T[1], values.T[0], margin)]
    )
    for gains, is_alone in product((GAINS, GAINS * 10), (True, False)):
        assert make_group(gains).weigh(40, is_alone) == make_group(gains, turned).weigh(40, is_alone)
