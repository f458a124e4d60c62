"""An independent account: what Google's and OpenDP's accountants say of our ledgers, and of the calls behind them.

Google's is the ``PLDAccountant`` of ``dp_accounting``, for one record added or removed. Of its events it takes Laplace
noise, discrete Laplace noise, steps without privacy, and their compositions. Its ``RdpAccountant`` takes Laplace noise,
too, but has no event for a choice under this relation, and says infinity wherever delta is 0.

- A choice, or noise of the maximum norm, is discrete Laplace noise of sensitivity 1: its privacy loss is epsilon or
  -epsilon and nothing between, which is the worst that any mechanism of pure epsilon can do.
- Composed losses lose a tail of 1e-15 to an infinite loss, so that epsilon is asked for at a tiny delta, not at 0; and
  they lie on a grid, each step rounded up.
- It has no parallel composition: each part is priced alone, and the dearest counts, as a record that is added or
  removed is in one of them.
- It refuses a sample with replacement. Of a bootstrap only the step itself can be priced, a lower bound;
  `test_accounting` enumerates samples for the rest.

OpenDP has maps from what a record changes to epsilon, for Laplace noise and for the noisy maximum that is
permute-and-flip, also of monotone scores, and for their adaptive composition. For Gumbel noise, which makes the
exponential mechanism, its account is zero-concentrated (see `test_secure`); it has no noise of the maximum norm; and
the thrifty tree decides by its noisy counts how it divides what is left, so that its ledger names no sequence to be
mapped.

The ledgers are read from their JSON: nothing here shares a sum with ``algorithms.accounting``. All estimators are
fitted, and their calls recorded, in one process without compilation.
"""

import copy
import json
import math
import sys
from dataclasses import asdict

import numpy as np
import opendp.prelude as dp
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant
from dp_accounting.privacy_accountant import NeighboringRelation, UnsupportedEventError

from algorithms.accounting.events import ADDED_OR_REMOVED
from experiments.audit.neighbouring_tables import build_replay_pairs, make_arrays
from experiments.audit.replay.recorder import (
    MAXIMUM,
    CallRecorder,
    RunsDiverged,
    include_modules,
    pair_calls,
    recording_calls,
)
from experiments.audit.subjects import EPSILON, GRID, Subject, list_subjects
from experiments.config import estimators
from tests.combined import COMBINED
from tests.plain_python import found_by

pytestmark = pytest.mark.long

STEP_OF_LOSSES = 2e-3
TINY_DELTA = 1e-12
LOST_TO_DELTA = 1e-5
"""Epsilon at that delta is no farther below pure epsilon: the dearest outcome of 20 Laplace draws has a share 2^-20."""

LAPLACE = {"laplace", "noisy_counts", "laplace_vector", "laplace_of"}
CHOICES = {"exponential", "permute_and_flip"}
OTHERS = {MAXIMUM, "laplace and permute_and_flip"}
"""Private by a proof of their own: all that an accountant is told of them is their epsilon."""

EVERY = list_subjects()
BOOTSTRAPPED = Subject("public features", "algorithms.DiffPRFClassifier", {"criterion": "max"})
MORE = [  # ledgers that the configured readings do not have
    BOOTSTRAPPED,
    Subject("no bootstrap", "algorithms.DiffPRFClassifier", {"criterion": "max", "sampling": "all"}),
    Subject(
        "noisy leaves",
        "algorithms.EDPRFClassifier",
        {"variant": "sound", "split": "exponential", "leaf": "noisy_counts"},
    ),
    Subject("all features", "algorithms.ThriftyBayesClassifier", {"max_features": None}),
    *COMBINED,
    Subject("always a tail", "tests.planted.AlwaysATail", {}),
    Subject("all rows", "algorithms.DiffPETsClassifier", {"variant": "sound", "sampling": "all"}),
]
PLANTED = [  # what they call costs more than their ledger says
    Subject(name, f"tests.planted.{name}", params)
    for name, params in (
        ("SensitivityOneForTwo", {}),
        ("ChoiceToldOneForTwo", {}),
        ("MonotoneThatIsNot", {}),
        ("BudgetNotDivided", {}),
        ("BoundsOfTheRows", {}),
        ("NumberOfRowsUsed", {}),
        ("HalfTheNoise", {}),
        ("TwoPartsWithTheWholeBudget", {}),
        ("WholeBudgetForEachTree", {"variant": "sound", "sampling": "all"}),
    )
]
BY_OPENDP = {
    "diff_lr",
    "diff_lr_ball",
    "dp_marginals",
    "dpba",
    "dpc",
    "dpgdf_sound",
    "edprf_sound",
    "fm",
    "fm_ball",
    "fm_code",
    "PFDPDTClassifier sound",
    "privatree_sound",
    "rdt",
    "thrifty_bayes",
    "thrifty_pairs",
}
"""Estimators whose whole ledger OpenDP can express; a new one may be added to them."""
LOOSE = (
    "fm_ball",
    "diff_lr_ball",
    *(f"{of}:{how}" for of in ("fm", "diff_lr") for how in ("signed_ball", "ball_intercept")),
)
"""They are told the box's sensitivity, and need less in the ball: how much less is in `test_audit_replay`."""


# What estimators say and do, in a process without compilation.


def record():
    """Print, of each subject on standard input, its account and the calls that touched one record (all JSON)."""
    np.seterr(over="ignore")  # keys are mixed modulo 2^64
    print(json.dumps([seen_of(Subject(**asked)) for asked in json.load(sys.stdin)]))


def seen_of(subject):
    include_modules([estimators.import_class(subject.target).__module__])
    added = [pair for pair in build_replay_pairs() if pair.neighbours == ADDED_OR_REMOVED]
    privacy = subject.make_estimator().fit(*make_arrays(added[0].table)).privacy_
    is_finite = math.isfinite(privacy.accounted(ADDED_OR_REMOVED))
    ways = {json.dumps(touching_calls(subject, pair)) for pair in added if is_finite}
    account = privacy.as_dict() | {"noisy_epsilon": privacy.noisy_epsilon}
    return {"privacy": account, "ways": [json.loads(way) for way in sorted(ways)]}


def touching_calls(subject, pair):
    """Return the calls whose exact answers one record changes; a run that goes on in another way is one such call."""
    first = CallRecorder()
    second = CallRecorder(first)
    try:
        for tape, table in ((first, pair.table), (second, pair.neighbour)):
            with recording_calls(tape):
                subject.make_estimator().fit(*make_arrays(table)).predict(GRID)
    except RunsDiverged:
        return [{"mechanism": "another run"}]
    if len(second.calls) < len(first.calls):
        return [{"mechanism": "another run"}]
    assert len(first.calls) == len(second.calls)
    couples = list(pair_calls(first, second))
    return [call for call in (touched(*couple) for couple in couples) if call["moved"]]


def touched(before, after):
    """Return a call with what a record moves: the entries of a vector one by one, a maximum or a choice as a whole."""
    is_one = before.is_choice or before.mechanism == MAXIMUM
    moved = [before.measure_change(after)] if is_one else np.abs(after.protected - before.protected).tolist()
    epsilon, sensitivity, _ = before.parameters
    return {
        "mechanism": before.mechanism,
        "epsilon": epsilon,
        "sensitivity": sensitivity,
        "moved": [change for change in moved if change],
    }


@pytest.fixture(scope="module")
def seen():
    """What was seen of each subject, by name."""
    asked = [*EVERY, *MORE, *PLANTED]
    found = found_by("test_independent_account", "record", asked=[asdict(subject) for subject in asked])
    return {subject.name: one for subject, one in zip(asked, found, strict=True)}


def accounted(one):
    return float(one["privacy"]["accounted"][ADDED_OR_REMOVED])


def kind_of(mechanism):
    return mechanism.removesuffix(", monotone")


def largest_change(spent):
    """How far a record that is added or removed moves the answer, None if nobody knows."""
    return spent["sensitivity"] if spent["neighbours"] == ADDED_OR_REMOVED else spent["other_sensitivity"]


def without_unpaid(entry):
    """Return an entry of a ledger without the steps that have no noise, which hide what the others cost."""
    if entry["event"] == "Bootstrapped":
        return entry | {"part": without_unpaid(entry["part"])}
    return entry | {
        name: [without_unpaid(part) for part in parts if part["event"] != "Unpaid"]
        for name, parts in entry.items()
        if name == "parts"
    }


# Google's accountant.


def event_of(entry):
    """Translate an entry of a ledger."""
    if entry["event"] == "Spent":
        return event_of_spent(entry)
    if entry["event"] == "Unpaid":
        return dp_event.NonPrivateDpEvent()
    if entry["event"] == "Sequential":
        if entry["times"] == 0:  # what never happens may even be unpaid
            return dp_event.NoOpDpEvent()
        return dp_event.SelfComposedDpEvent(dp_event.ComposedDpEvent([*map(event_of, entry["parts"])]), entry["times"])
    if entry["event"] == "Parallel":
        return dearest([*map(event_of, entry["parts"])])
    if entry["event"] == "Bootstrapped":
        return event_of_bootstrap(entry)
    raise ValueError(f"no event of an accountant for {entry['event']}")


def event_of_spent(spent):
    epsilon, change = float(spent["epsilon"]), largest_change(spent)
    if change is None or math.isinf(epsilon):
        return dp_event.NonPrivateDpEvent()
    scale = spent["sensitivity"] / epsilon
    if kind_of(spent["mechanism"]) in LAPLACE:
        return dp_event.LaplaceDpEvent(scale / change)
    if kind_of(spent["mechanism"]) in CHOICES | OTHERS:
        return pure(change / scale)
    raise ValueError(f"no event of an accountant for {spent['mechanism']}")


def event_of_bootstrap(entry):
    """Translate a bootstrap; a step that is not private is not made private by it."""
    step, n = event_of(entry["part"]), entry["n_rows"]
    if has_price(step) and math.isinf(priced(step)):
        return dp_event.NonPrivateDpEvent()
    return dp_event.SampledWithReplacementDpEvent(n, n, step)


def dearest(events):
    return events[0] if len(events) == 1 else max(events, key=priced)


def pure(epsilon):
    return dp_event.DiscreteLaplaceDpEvent(noise_parameter=epsilon, sensitivity=1)


def event_of_calls(calls):
    return dp_event.ComposedDpEvent([*map(event_of_call, calls)])


def event_of_call(call):
    """Translate a recorded call, with what the record moved: noise on each entry of a vector is a step of its own."""
    if call["mechanism"] == "another run":
        return dp_event.NonPrivateDpEvent()
    scale = call["sensitivity"] / call["epsilon"]
    if call["mechanism"] in LAPLACE:
        return dp_event.ComposedDpEvent([dp_event.LaplaceDpEvent(scale / change) for change in call["moved"]])
    (change,) = call["moved"]
    if call["mechanism"] == MAXIMUM:
        return pure(change / scale)
    if call["mechanism"] in CHOICES:
        is_covered = change <= call["sensitivity"] * (1 + 1e-9)
        return pure(call["epsilon"]) if is_covered else dp_event.NonPrivateDpEvent()
    raise ValueError(f"no event of an accountant for {call['mechanism']}")


PRICES = {}
"""What was asked before: many estimators have the same steps, and an accountant takes a tenth of a second for some."""


def priced(event):
    """Return what Google's accountant says, rounded up by no more than `rounding`."""
    if repr(event) not in PRICES:
        accountant = PLDAccountant(NeighboringRelation.ADD_OR_REMOVE_ONE, STEP_OF_LOSSES)
        PRICES[repr(event)] = accountant.compose(event).get_epsilon(TINY_DELTA)
    return PRICES[repr(event)]


def add_up(event):
    """Return the sum of what all steps cost: no accountant says more of pure epsilon, and it takes no time."""
    if isinstance(event, dp_event.ComposedDpEvent):
        return math.fsum(map(add_up, event.events))
    if isinstance(event, dp_event.LaplaceDpEvent):
        return 1 / event.noise_multiplier
    return event.noise_parameter if isinstance(event, dp_event.DiscreteLaplaceDpEvent) else math.inf


def dearest_first(ways):
    """Sort events by their sums; of equal sums fewer draws lose less to delta."""
    return sorted(ways, key=lambda way: (-round(add_up(way), 6), len(repr(way))))


def rounding(event):
    """Return a step of the grid for each call that is composed."""
    if isinstance(event, dp_event.SelfComposedDpEvent):
        return event.count * rounding(event.event)
    if isinstance(event, dp_event.ComposedDpEvent):
        return math.fsum(map(rounding, event.events))
    return STEP_OF_LOSSES


def without_sampling(event):
    """Return what happens on samples with replacement as if it happened on the rows, which costs less."""
    if isinstance(event, dp_event.SampledWithReplacementDpEvent):
        return without_sampling(event.event)
    if isinstance(event, dp_event.SelfComposedDpEvent):
        return dp_event.SelfComposedDpEvent(without_sampling(event.event), event.count)
    if isinstance(event, dp_event.ComposedDpEvent):
        return dp_event.ComposedDpEvent([*map(without_sampling, event.events)])
    return event


def has_price(event):
    return PLDAccountant().supports(event)


def agree(ours, event):
    """Tell whether our number is that of the accountant, up to its rounding; infinity is infinity only."""
    theirs = priced(event)
    if math.isinf(ours) or math.isinf(theirs):
        return ours == theirs
    return ours - LOST_TO_DELTA <= theirs <= ours + LOST_TO_DELTA + rounding(event)


each = pytest.mark.parametrize("subject", [*EVERY, *MORE], ids=lambda subject: subject.name)


def assert_agree(ours, event):
    """Of a bootstrap the accountant knows no more than a lower bound."""
    if has_price(event):
        assert agree(ours, event)
    else:
        assert priced(without_sampling(event)) < ours < math.inf


@each
def test_googles_accountant_says_of_a_ledger_what_we_say(subject, seen):
    one = seen[subject.name]
    assert_agree(accounted(one), event_of(one["privacy"]["ledger"]))


OVERSPENT = ("diffprf:author_code", "diffprf:linear_author_code")
"""Cost more than they claim even so, like what confesses that it spends a budget anew: leaves without noise inside of
parts."""


@each
def test_googles_accountant_says_of_the_steps_that_have_noise_what_we_say(subject, seen):
    """An infinite account hides whether the rest of it is right: here the rest is alone."""
    privacy = seen[subject.name]["privacy"]
    event = event_of(without_unpaid(privacy["ledger"]))
    if privacy["neighbours"] == ADDED_OR_REMOVED:  # as what has noise is then meant for it
        assert_agree(privacy["noisy_epsilon"], event)
    on_the_rows = without_sampling(event)
    is_kept = priced(on_the_rows) <= float(privacy["claimed_epsilon"]) + LOST_TO_DELTA + rounding(on_the_rows)
    confessed = {fault["name"] for fault in privacy["faults"]}
    assert is_kept == (subject.name not in OVERSPENT and "budget spent more than once" not in confessed)


@each
def test_the_calls_that_touch_a_record_cost_by_googles_accountant_what_the_ledger_says(subject, seen):
    """No way of a record through them costs more, and one as much; a bootstrap's account is about all its draws."""
    one = seen[subject.name]
    ours, ways = accounted(one), [event_of_calls(way) for way in one["ways"]]
    assert bool(ways) == math.isfinite(ours)
    if not has_price(event_of(one["privacy"]["ledger"])):
        return
    for place, way in enumerate(dearest_first(ways)):
        if place == 0 or add_up(way) > ours + LOST_TO_DELTA:  # the price of any other is at most its sum
            assert priced(way) <= ours + LOST_TO_DELTA + rounding(way)
    reach_it = (priced(way) >= ours - LOST_TO_DELTA for way in dearest_first(ways))
    assert not ways or subject.name in LOOSE or any(reach_it)


def test_a_bootstrap_can_be_named_but_not_priced_and_its_step_is_a_lower_bound(seen):
    one = seen[BOOTSTRAPPED.name]
    ledger = one["privacy"]["ledger"]
    with pytest.raises(UnsupportedEventError, match="SampledWithReplacement"):
        priced(event_of(ledger))
    assert agree(EPSILON, without_sampling(event_of(ledger))) and EPSILON < accounted(one) < math.inf


@pytest.mark.parametrize("subject", PLANTED, ids=lambda subject: subject.name)
def test_calls_that_cost_more_than_their_ledger_says_are_found(subject, seen):
    one = seen[subject.name]
    assert one["privacy"]["keeps_claim"] and agree(accounted(one), event_of(one["privacy"]["ledger"]))
    ways = [event_of_calls(way) for way in one["ways"]]
    assert priced(dearest_first(ways)[0]) > accounted(one) + LOST_TO_DELTA + max(map(rounding, ways))


# OpenDP's maps.

ROWS = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
NUMBERS = dp.vector_domain(dp.atom_domain(T=float, nan=False))


class Inexpressible(Exception):
    """OpenDP has no map to pure epsilon for this."""


@pytest.fixture(scope="module", autouse=True)
def maps_of_our_own():
    dp.enable_features("contrib", "honest-but-curious")  # the sensitivities are taken on trust: they are what we say


def measurement_of(entry):
    """Return an entry of a ledger as a measurement of rows, of which one is added or removed."""
    if entry["event"] == "Spent":
        return measurement_of_spent(entry)
    if entry["event"] == "Parallel":
        return max(map(measurement_of, entry["parts"]), key=cost_of_a_record)
    if entry["event"] == "Sequential":
        return composed([measurement_of(part) for _ in range(entry["times"]) for part in entry["parts"]])
    if entry["event"] in ("Unpaid", "Bootstrapped"):
        raise Inexpressible(entry["event"])
    raise ValueError(f"no measurement for {entry['event']}")


def measurement_of_spent(spent):
    epsilon, change = float(spent["epsilon"]), largest_change(spent)
    mechanism = kind_of(spent["mechanism"])
    if mechanism in OTHERS | {"exponential"} or change is None or math.isinf(epsilon):
        raise Inexpressible(mechanism)
    scale = spent["sensitivity"] / epsilon
    if mechanism in LAPLACE:
        metric = dp.l1_distance(T=float)
        return moved_by(change, metric) >> dp.m.make_laplace(NUMBERS, metric, scale=scale)
    if mechanism == "permute_and_flip":
        return noisy_maximum(change, scale, is_monotone=mechanism != spent["mechanism"])
    raise ValueError(f"no measurement for {mechanism}")


def noisy_maximum(change, scale, is_monotone, noise_for_monotone=None):
    """Return permute-and-flip: monotone scores have half the noise, which OpenDP has to find enough."""
    has_half_noise = is_monotone if noise_for_monotone is None else noise_for_monotone
    metric = dp.linf_distance(T=float, monotonic=is_monotone)
    factor = 1 if has_half_noise else 2
    return moved_by(change, metric) >> dp.m.make_noisy_max(NUMBERS, metric, dp.max_divergence(), scale=factor * scale)


def moved_by(change, metric):
    """Return a query of the rows that a record moves by so much; what it answers does not matter here."""
    return dp.t.make_user_transformation(*ROWS, NUMBERS, metric, lambda rows: [0.0], lambda records: change * records)


def composed(measurements):
    """Compose adaptively: what a tree asks depends on what it was told."""
    costs = [*map(cost_of_a_record, measurements)]
    return dp.c.make_adaptive_composition(*ROWS, dp.max_divergence(), d_in=1, d_mids=costs)


def cost_of_a_record(measurement):
    return measurement.map(1)


@each
def test_opendps_maps_say_of_a_ledger_what_we_say_where_they_can(subject, seen):
    one = seen[subject.name]
    try:
        measurement = measurement_of(one["privacy"]["ledger"])
    except Inexpressible:
        assert subject.name not in BY_OPENDP
        return
    assert cost_of_a_record(measurement) == pytest.approx(accounted(one), rel=1e-9)


def test_the_names_of_what_opendp_expresses_are_those_of_estimators():
    assert {subject.name for subject in EVERY} >= BY_OPENDP


@pytest.mark.parametrize(("sensitivity", "epsilon"), [(1.0, 0.5), (2.0, 3.0)])
def test_half_the_noise_is_enough_for_monotone_scores_and_not_for_others(sensitivity, epsilon):
    scale = sensitivity / epsilon
    for is_monotone in (False, True):
        assert cost_of_a_record(noisy_maximum(sensitivity, scale, is_monotone)) == pytest.approx(epsilon)
    undeserved = noisy_maximum(sensitivity, scale, is_monotone=False, noise_for_monotone=True)
    assert cost_of_a_record(undeserved) == pytest.approx(2 * epsilon)


# What must not pass.


def test_a_budget_that_is_not_divided_is_refuted(seen):
    one = copy.deepcopy(seen["rdt"])
    ledger = one["privacy"]["ledger"]
    assert agree(accounted(one), event_of(ledger))
    ledger["parts"][0]["epsilon"] *= ledger["times"]
    assert not agree(accounted(one), event_of(ledger))
    assert cost_of_a_record(measurement_of(ledger)) == pytest.approx(2 * accounted(one))


def test_a_sum_that_forgets_how_often_a_step_happens_or_a_small_step_is_refuted(seen):
    (tree,) = seen["rfdpp_gini_sound"]["privacy"]["ledger"]["parts"]
    count, level, leaf = (part if part["event"] == "Spent" else part["parts"][0] for part in tree["parts"])
    for forgetful in (count["epsilon"] + level["epsilon"] + leaf["epsilon"], 2 * level["epsilon"] + leaf["epsilon"]):
        assert not agree(forgetful, event_of(tree))
    assert not agree(math.inf, event_of(tree)) and not agree(EPSILON, dp_event.NonPrivateDpEvent())


@pytest.mark.parametrize("translate", [event_of, measurement_of])
def test_what_has_no_translation_is_refused(translate):
    gift = {"event": "Gift", "parts": []}
    spent = {"event": "Spent", "mechanism": "gaussian", "epsilon": 1.0, "sensitivity": 1.0}
    for entry in (gift, spent | {"neighbours": ADDED_OR_REMOVED}):
        with pytest.raises(ValueError, match=r"^no .* for (Gift|gaussian)$"):
            translate({"event": "Sequential", "times": 1, "parts": [entry]})
    with pytest.raises(ValueError, match="no event of an accountant for gaussian"):
        event_of_calls([{"mechanism": "gaussian", "epsilon": 1.0, "sensitivity": 1.0, "moved": [1.0]}])
