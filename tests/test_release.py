"""What stands in for the training rows, beside slow references and closed forms; and what is trained on it."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from algorithms import (
    AdditiveGaussianNoise,
    ASNClassifier,
    Continuous,
    CPPPWClassifier,
    Domain,
    DomainError,
    DPMarginalsClassifier,
    MarginalReplacement,
    Nominal,
    ParameterError,
    ParzenReplacement,
    PrivacyLeakWarning,
)
from algorithms.data_replacement import dp_marginals
from algorithms.data_replacement.cpppw import RATIOS, choose_ratio
from algorithms.data_replacement.train_on_release import CLASSIFIERS

pytestmark = pytest.mark.long

DOMAIN = Domain(
    (Continuous("age", 0, 100), Nominal("safety", ("low", "med", "high")), Continuous("gain", 0, 99999)),
    Nominal("rich", ("yes", "no")),
)
SAMPLERS = [ParzenReplacement(), AdditiveGaussianNoise(), MarginalReplacement()]
NOISY = SAMPLERS[:2]

every = pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda sampler: type(sampler).__name__)
every_noisy = pytest.mark.parametrize("sampler", NOISY, ids=lambda sampler: type(sampler).__name__)


def table(n=100, seed=0):
    rng = np.random.default_rng(seed)
    safety = rng.choice(["low", "med", "high"], n)
    frame = pd.DataFrame({"age": rng.integers(17, 90, n), "safety": safety, "gain": rng.uniform(0, 5000, n)})
    return frame, np.where(frame["age"] + 20 * (safety == "high") > 75, "yes", "no")


def coded(frame):
    """The rows as the paper reads them: categories by their place, from 1."""
    place = frame["safety"].map({"low": 1, "med": 2, "high": 3})
    return np.column_stack([frame["age"], place, frame["gain"]]).astype(float)


def set_up(sampler, **parameters):
    return clone(sampler).set_params(domain=DOMAIN, random_state=0, **parameters)


# The contract of all samplers.


@every
def test_a_release_is_numbers_in_the_order_of_the_domain_with_declared_labels(sampler):
    X, y = table()
    released, labels = set_up(sampler).fit_resample(X, y)
    assert isinstance(released, pd.DataFrame) and list(released) == DOMAIN.names
    assert (released.dtypes == np.float64).all() and set(labels) <= {"yes", "no"}
    array, again = set_up(sampler).fit_resample(X[DOMAIN.names[::-1]][DOMAIN.names].to_numpy(), y)
    assert isinstance(array, np.ndarray) and (array == released.to_numpy()).all() and (again == labels).all()


@every
def test_the_random_state_decides_and_clone_and_pickle_keep_it(sampler):
    X, y = table()
    fitted = set_up(sampler)
    released, labels = fitted.fit_resample(X, y)
    for copy in (clone(fitted), pickle.loads(pickle.dumps(fitted)), fitted):
        again, same = copy.fit_resample(X, y)
        assert again.equals(released) and (same == labels).all() and copy.privacy_ == fitted.privacy_
    assert not hasattr(clone(fitted), "privacy_")
    other, _ = fitted.set_params(random_state=1).fit_resample(X, y)
    assert not other.equals(released)


@every
def test_the_rows_of_the_caller_stay_as_they_are(sampler):
    X, y = table()
    before = X.copy(), y.copy()
    set_up(sampler).fit_resample(X, y)
    assert X.equals(before[0]) and (y == before[1]).all()


@every
def test_an_inferred_domain_warns_and_is_a_fault(sampler):
    sampler = clone(sampler)
    with pytest.warns(PrivacyLeakWarning):
        sampler.fit_resample(*table())
    assert "inferred domain" in {fault.name for fault in sampler.privacy_.faults}
    assert math.isinf(sampler.privacy_.accounted_epsilon) and not sampler.privacy_.keeps_claim


@every
def test_bad_rows_and_labels_are_refused(sampler):
    X, y = table()
    with pytest.raises(DomainError, match="column 'safety' has values outside its declared categories"):
        set_up(sampler).fit_resample(X.replace({"safety": {"low": "none"}}), y)
    with pytest.raises(DomainError, match="column 'rich' has values outside"):
        set_up(sampler).fit_resample(X, np.where(y == "no", "maybe", y))
    with pytest.raises(DomainError, match="must declare its class labels"):
        set_up(sampler).set_params(domain=Domain(DOMAIN.features)).fit_resample(X, y)


BAD_PARAMETERS = [
    (ParzenReplacement(), "sampling_ratio", [0.9, -1, math.nan, math.inf, "1.6", None, True]),
    (ParzenReplacement(), "bandwidth", [-0.1, math.nan, math.inf, "wide", None]),
    (ParzenReplacement(), "scale", ["standardised", 1]),
    (AdditiveGaussianNoise(), "sigma", [-0.1, math.nan, math.inf, "wide", None]),
    (AdditiveGaussianNoise(), "scale", ["standardised", 1]),
    (MarginalReplacement(), "epsilon", [0, -1, math.nan, "1", None]),
    (MarginalReplacement(), "n_bins", [1, 2.5, None]),
    (MarginalReplacement(), "sampling_ratio", [0.9, math.nan, "1.6"]),
    (MarginalReplacement(), "noise", ["gaussian", 1, None]),
]


@pytest.mark.parametrize(("sampler", "name", "values"), BAD_PARAMETERS, ids=[str(row[:2]) for row in BAD_PARAMETERS])
def test_bad_parameters_are_named_in_one_line(sampler, name, values):
    for value in values:
        with pytest.raises(ParameterError, match=rf"^{name} must be ") as caught:
            set_up(sampler, **{name: value}).fit_resample(*table())
        assert "\n" not in str(caught.value)


def test_no_parameter_of_a_sampler_is_left_out_of_these():
    for sampler in SAMPLERS:
        tested = {name for one, name, _ in BAD_PARAMETERS if type(one) is type(sampler)}
        assert tested == set(sampler.get_params()) - {"domain", "random_state"}


# Noisy copies.


def seeded(random_state=0):
    """The stream of random numbers of a sampler, from what its documentation says of ``random_state``."""
    root = np.random.SeedSequence(np.random.RandomState(random_state).randint(2**31 - 1))
    return np.random.default_rng(root)


@pytest.mark.parametrize(("ratio", "width", "scale"), [(1.0, 0.25, "standard"), (1.6, 0.5, None), (2.0, 0.0, None)])
def test_parzen_draws_row_by_row_as_a_slow_loop_does(ratio, width, scale):
    X, y = table(30)
    rows, rng = coded(X), seeded()
    unit = [math.sqrt(sum((v - sum(c) / 30) ** 2 for v in c) / 30) if scale else 1.0 for c in rows.T.tolist()]
    drawn = []
    for label in ("no", "yes"):
        members = [i for i in range(30) if y[i] == label]
        drawn += [members[j] for j in rng.integers(len(members), size=round(ratio * len(members)))]
    expected = [[rows[i, j] + width * unit[j] * rng.standard_normal() for j in range(3)] for i in drawn]
    sampler = set_up(ParzenReplacement(ratio, bandwidth=width, scale=scale))
    released, labels = sampler.fit_resample(X, y)
    assert released.to_numpy() == pytest.approx(np.array(expected), rel=1e-12, abs=1e-9)
    assert sampler.sample_indices_.tolist() == drawn and (labels == y[drawn]).all()


@every_noisy
def test_without_noise_released_rows_are_training_rows(sampler):
    X, y = table()
    exact = set_up(sampler, **({"bandwidth": 0} if "bandwidth" in sampler.get_params() else {"sigma": 0}))
    released, labels = exact.fit_resample(X, y)
    assert (released.to_numpy() == coded(X)[exact.sample_indices_]).all()
    assert (labels == y[exact.sample_indices_]).all()


@pytest.mark.parametrize("ratio", [1.0, 1.25, 1.6, 1.8, 2.0])
def test_each_class_is_released_in_the_ratio_asked_for(ratio):
    X, _ = table(42)
    y = np.array(["yes"] * 10 + ["no"] * 32)
    _, labels = set_up(ParzenReplacement(ratio)).fit_resample(X, y)
    assert [(labels == label).sum() for label in ("yes", "no")] == [round(10 * ratio), round(32 * ratio)]


def test_a_parzen_release_has_the_mean_and_variance_of_its_estimate():
    """A mixture of windows around the rows: mean as the rows, variance larger by the square of the width."""
    X, y = table(400)
    rows = coded(X)[y == "no"]
    sampler = set_up(ParzenReplacement(500.0, bandwidth=0.7, scale="standard"))
    released, labels = sampler.fit_resample(X, y)
    drawn = released.to_numpy()[labels == "no"]
    variance = rows.var(axis=0) + (0.7 * coded(X).std(axis=0)) ** 2
    assert drawn.var(axis=0) == pytest.approx(variance, rel=0.02)
    assert (np.abs(drawn.mean(axis=0) - rows.mean(axis=0)) < 5 * np.sqrt(variance / len(drawn))).all()


@pytest.mark.parametrize("scale", [None, "standard"])
def test_asn_adds_independent_noise_of_one_size_to_every_attribute(scale):
    X, y = table(20_000)
    sampler = set_up(AdditiveGaussianNoise(5.0, scale=scale))
    released, labels = sampler.fit_resample(X, y)
    noise = (released.to_numpy() - coded(X)) / (coded(X).std(axis=0) if scale else 1.0)
    assert (labels == y).all() and sampler.sample_indices_.tolist() == list(range(20_000))
    assert np.cov(noise.T) == pytest.approx(25 * np.eye(3), abs=1.0)
    assert all(stats.kstest(column / 5, "norm").pvalue > 0.001 for column in noise.T)


def test_a_constant_attribute_has_no_standard_deviation_and_gets_no_noise():
    X, y = table()
    released, _ = set_up(ParzenReplacement(scale="standard")).fit_resample(X.assign(gain=7.0), y)
    assert (released["gain"] == 7).all()


@every_noisy
def test_noisy_copies_claim_no_epsilon_and_say_why(sampler):
    fitted = set_up(sampler)
    fitted.fit_resample(*table())
    assert math.isinf(fitted.privacy_.claimed_epsilon) and math.isinf(fitted.privacy_.accounted_epsilon)
    assert str(fitted.privacy_).startswith("no epsilon claimed, accounted inf")
    assert {"copied rows", "exact labels"} <= {fault.name for fault in fitted.privacy_.faults}


# Noisy marginals.


def crosstab(values, y, levels):
    """Share of each level in each class, counted one row at a time."""
    seen = list(zip(values, y, strict=True))
    counts = [[seen.count((level, label)) for level in levels] for label in ("no", "yes")]
    return np.array([[n / sum(line) for n in line] for line in counts])


def test_without_noise_the_marginals_are_counted():
    X, y = table()
    sampler = set_up(MarginalReplacement(math.inf, n_bins=4, sampling_ratio=1.5))
    _, labels = sampler.fit_resample(X, y)
    sizes = np.array([(y == "no").sum(), (y == "yes").sum()])
    assert sampler.class_counts_.tolist() == sizes.tolist()
    assert [(labels == "no").sum(), (labels == "yes").sum()] == np.round(1.5 * sizes).tolist()
    assert sampler.shares_[0] == pytest.approx(crosstab(X["age"] // 25, y, range(4)))
    assert sampler.shares_[1] == pytest.approx(crosstab(X["safety"], y, ("low", "med", "high")))
    assert sampler.shares_[2].tolist() == [[1, 0, 0, 0]] * 2, "5,000 lies in the first quarter of 99,999"


def test_rows_are_drawn_from_the_marginals_and_evenly_within_a_bin():
    X, y = table()
    sampler = set_up(MarginalReplacement(math.inf, n_bins=4, sampling_ratio=1000.0))
    released, labels = sampler.fit_resample(X, y)
    drawn = released[labels == "yes"]
    counts = [(drawn["safety"] == place).sum() for place in (1, 2, 3)]
    assert stats.chisquare(counts, sampler.shares_[1][1] * len(drawn)).pvalue > 0.001
    assert set(drawn["age"] // 25) == set(np.flatnonzero(sampler.shares_[0][1]))
    assert stats.kstest(drawn["age"] % 25 / 25, "uniform").pvalue > 0.001
    assert drawn["gain"].between(0, 99999 / 4).all()
    assert abs(drawn.corr().to_numpy()[0, 1]) < 0.02, "attributes are independent within a class"


def recorded(monkeypatch, X, y, epsilon=1.2):
    """What is handed to the Laplace mechanism while rows are released: (counts, sensitivity, epsilon) of each call."""
    calls = []

    def recording(values, sensitivity, epsilon, rng):
        calls.append((np.array(values), sensitivity, epsilon))
        return np.asarray(values, dtype=np.float64)

    monkeypatch.setattr(dp_marginals, "laplace_vector", recording)
    sampler = set_up(MarginalReplacement(epsilon))
    sampler.fit_resample(X, y)
    return calls, sampler.privacy_


def test_no_record_costs_more_than_is_booked(monkeypatch):
    X, y = table(40)
    calls, privacy = recorded(monkeypatch, X, y)
    assert privacy.keeps_claim and privacy.accounted_epsilon == pytest.approx(1.2, rel=1e-12)
    for gone in range(40):
        fewer, _ = recorded(monkeypatch, X.drop(index=gone), np.delete(y, gone))
        pairs = list(zip(calls, fewer, strict=True))
        cost = sum(np.abs(more[0] - less[0]).sum() / more[1] * more[2] for more, less in pairs)
        assert cost == pytest.approx(privacy.accounted_epsilon, rel=1e-12)
        assert all(more[1:] == less[1:] for more, less in pairs)


def test_the_noise_of_the_class_counts_is_laplace_of_the_scale_booked():
    X, y = table(100)  # the noise does not depend on the size of a class
    size = (y == "no").sum()
    noise = [class_counts(seed, X, y)[0] - size for seed in range(400)]
    assert stats.kstest(noise, stats.laplace(scale=4 / 2.0).cdf).pvalue > 0.001


def class_counts(seed, X, y):
    sampler = MarginalReplacement(2.0, domain=DOMAIN, random_state=seed)
    sampler.fit_resample(X, y)
    return sampler.class_counts_


def test_something_is_released_whatever_the_noise():
    X, y = table(1)
    sizes = set()
    for seed in range(40):
        sampler = MarginalReplacement(0.01, domain=DOMAIN, random_state=seed)
        released, labels = sampler.fit_resample(X, y)
        sizes.add(len(released))
        assert len(released) == len(labels) > 0 and np.isfinite(released.to_numpy()).all()
        assert released["safety"].isin([1, 2, 3]).all() and released["age"].between(0, 100).all()
        assert all(np.allclose(shares.sum(axis=1), 1) for shares in sampler.shares_)
    assert 2 in sizes, "one row of each class where both noisy sizes are 0"


# Classifiers that are trained on a release.

TRAINED = [CPPPWClassifier(), ASNClassifier(), DPMarginalsClassifier()]


@pytest.mark.parametrize("model", TRAINED, ids=lambda model: type(model).__name__)
def test_the_classifier_sees_the_release_and_the_test_rows_as_they_are(model):
    """By hand: the sampler's rows, standardised, a support vector machine, and the original rows of the test."""
    X, y = table(300)
    model = clone(model).set_params(classifier="svm", domain=DOMAIN, random_state=0).fit(X, y)
    sampler = model.make_sampler()
    released, labels = sampler.fit_resample(X, y)
    scaler = StandardScaler().fit(released.to_numpy())
    machine = SVC(C=1000, gamma=1 / 256).fit(scaler.transform(released.to_numpy()), labels)
    new, _ = table(200, seed=1)
    assert (model.predict(new) == machine.predict(scaler.transform(coded(new)))).all()
    assert model.privacy_ == sampler.privacy_


def test_without_noise_asn_is_the_classifier_on_the_original_rows():
    X, y = table(300)
    model = ASNClassifier(sigma=0.0, classifier_scale=None, domain=DOMAIN, random_state=0).fit(X, y)
    by_hand = CLASSIFIERS["c45"](300, 1).fit(coded(X), y)
    assert (model.predict(X) == by_hand.predict(coded(X))).all()
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_learns_from_every_release_and_copes_with_a_single_class(name):
    X, y = table(1000)
    new = table(500, seed=1)
    for model in TRAINED:
        model = clone(model).set_params(classifier=name, domain=DOMAIN, random_state=0)
        model.set_params(**{"epsilon": 20.0} if "epsilon" in model.get_params() else {})
        assert model.fit(X, y).score(*new) > 0.8
    alone = CPPPWClassifier(name, domain=DOMAIN, random_state=0).fit(X[:20], ["yes"] * 20)
    assert set(alone.predict(X)) == {"yes"}


def test_a_leaf_of_the_tree_saves_what_its_description_costs():
    X, y = table(300)
    tree = ASNClassifier("cart_pruned", sigma=0.0, classifier_scale=None, domain=DOMAIN, random_state=0).fit(X, y)
    tree = tree.classifier_
    nodes = tree.tree_
    bits = nodes.impurity * nodes.weighted_n_node_samples
    inner = np.flatnonzero(nodes.children_left >= 0)
    assert len(inner)
    for i in inner:
        below, leaves = [i], []
        while below:
            j = below.pop()
            if nodes.children_left[j] < 0:
                leaves.append(j)
            else:
                below += [nodes.children_left[j], nodes.children_right[j]]
        assert bits[i] - bits[leaves].sum() > math.log2(300) * (len(leaves) - 1)


def test_the_net_descends_a_thousand_times_over_all_rows_without_a_warning(recwarn):
    X, y = table(60)
    model = CPPPWClassifier("back_propagation", sampling_ratio=1.5, domain=DOMAIN, random_state=0).fit(X, y)
    net = model.classifier_[-1]
    assert net.n_iter_ == 1000 and net.t_ == 1000 * 90 and [w.shape for w in net.coefs_] == [(3, 5), (5, 1)]
    assert not recwarn.list


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_net_is_the_one_of_plain_gradient_descent():
    """A thousand steps of 0.1 of the gradient of the mean log-loss, from the weights the net began with."""
    X, y = table(60)
    rows = StandardScaler().fit_transform(coded(X))
    net = CLASSIFIERS["back_propagation"](60, 0)
    start = clone(net).set_params(max_iter=1, learning_rate_init=1e-300).fit(rows, y)
    (w1, w2), (b1, b2) = (list(map(np.copy, part)) for part in (start.coefs_, start.intercepts_))
    target = (y == "yes").astype(float)[:, None]
    for _ in range(1000):
        hidden = np.tanh(rows @ w1 + b1)
        error = (1 / (1 + np.exp(-(hidden @ w2 + b2))) - target) / 60
        back = (error @ w2.T) * (1 - hidden**2)
        w1, b1 = w1 - 0.1 * rows.T @ back, b1 - 0.1 * back.sum(axis=0)
        w2, b2 = w2 - 0.1 * hidden.T @ error, b2 - 0.1 * error.sum(axis=0)
    net.fit(rows, y)
    assert np.allclose(net.coefs_[0], w1, atol=1e-6) and np.allclose(net.intercepts_[1], b2, atol=1e-6)


@pytest.mark.parametrize("name", ["back_propagation", "svm"])
def test_classifiers_that_compare_attributes_need_a_common_scale(name):
    """A reading of the text, which does not speak of scales: amounts in dollars drown all other attributes."""
    rows, new = table(500), table(500, seed=1)
    model = ASNClassifier(name, sigma=0.0, domain=DOMAIN, random_state=0)
    standard = model.fit(*rows).score(*new)
    assert model.set_params(classifier_scale=None).fit(*rows).score(*new) < standard - 0.1


# The choice of the ratio.


def test_the_ratio_is_chosen_as_a_slow_loop_chooses_it():
    X, y = table(150)
    ratios = (1.0, 1.5, 2.0)
    for seed in range(3):
        model = CPPPWClassifier(bandwidth=1.0, domain=DOMAIN, random_state=seed)
        hits = dict.fromkeys(ratios, 0.0)
        for train, test in StratifiedKFold(10, shuffle=True, random_state=seed).split(X, y):
            for ratio in ratios:
                fitted = clone(model).set_params(sampling_ratio=ratio).fit(X.iloc[train], y[train])
                hits[ratio] += (fitted.predict(X.iloc[test]) == y[test]).mean() / 10
        best = min(ratio for ratio in ratios if hits[ratio] >= max(hits.values()) - 1e-12)
        assert choose_ratio(X, y, model, ratios[::-1], random_state=seed) == best
    assert model.sampling_ratio == 1.0 and not hasattr(model, "classifier_")


def test_a_classifier_may_choose_its_ratio_by_itself():
    X, y = table(150)
    model = CPPPWClassifier(sampling_ratio="cross_validated", bandwidth=1.0, domain=DOMAIN, random_state=4).fit(X, y)
    assert model.sampling_ratio == "cross_validated" and model.sampling_ratio_ in RATIOS
    assert "ratio from the rows" in [fault.name for fault in model.privacy_.faults]
    plain = CPPPWClassifier(sampling_ratio=model.sampling_ratio_, bandwidth=1.0, domain=DOMAIN, random_state=4).fit(
        X, y
    )
    assert (plain.predict(X) == model.predict(X)).all()
    assert "ratio from the rows" not in [fault.name for fault in plain.privacy_.faults]
    same, _ = model.make_sampler().fit_resample(X, y)
    assert len(same) == sum(round(model.sampling_ratio_ * n) for n in np.unique(y, return_counts=True)[1])


def test_a_ratio_that_cannot_be_is_refused():
    model = CPPPWClassifier(domain=DOMAIN, random_state=0)
    with pytest.raises(ParameterError, match=r"sampling_ratio must be at least 1, got 0\.5"):
        choose_ratio(*table(), model, (0.5, 1.0))
