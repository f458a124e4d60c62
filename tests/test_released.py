"""What leaves of a model: it predicts as the model does, holds what was paid for, and needs no code that trains.

Estimators are those of ``conf/algorithm``: a new one that can be released is tested here without a line being added.
They are fitted in a process without compilation (`every_release`).
"""

import json
import math
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_regressor
from sklearn.exceptions import NotFittedError

import algorithms
from algorithms import Continuous, Domain, Nominal, ReleaseError, load_release
from algorithms.released import document
from algorithms.released.document import FORMAT, FORMAT_WITHOUT_CHECKSUM, from_json
from algorithms.released.numbers import ReleasedNumbers
from experiments.audit.replay.leaks import list_reachable
from experiments.audit.subjects import GRID
from experiments.config import estimators
from tests.made_up_releases import sealed
from tests.plain_python import found_by
from tests.test_secure import made, private

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[1]
DOMAIN = Domain((Continuous("x", 0, 8), Nominal("a", (0, 1)), Nominal("b", (0, 1, 2))), Nominal("y", (0, 1, 2)))
PROBES = GRID


# Every estimator, in a process without compilation.


def every_release():
    """Write the release of each estimator that can leave to a folder, with what the model predicts; say what stayed."""
    np.seterr(over="ignore")  # keys are mixed modulo 2^64
    folder = Path(sys.argv[1])
    stayed = {}
    for name, cls in private().items():
        model = made(name, cls, noise="opendp").fit(*rows_for(cls))
        if not model.privacy_.is_sound:
            stayed[name] = refusal(model)
            continue
        model.release().save(folder / f"{name}.json")
        np.save(folder / f"{name}.npy", model.predict(PROBES))
        if hasattr(model, "predict_proba"):
            np.save(folder / f"{name}-shares.npy", model.predict_proba(PROBES))
    for classifier in ("back_propagation", "svm", "c45", "cart_pruned"):
        for scale in ("standard", None):
            model = made("dp_marginals", algorithms.DPMarginalsClassifier, noise="opendp", epsilon=400.0)
            model.set_params(classifier=classifier, classifier_scale=scale).fit(*rows_for(type(model)))
            model.release().save(folder / f"{classifier} {scale}.json")
            np.save(folder / f"{classifier} {scale}.npy", model.predict(PROBES))
    sampler = algorithms.MarginalReplacement(5.0, domain=DOMAIN, noise="opendp")
    sampler.fit_resample(*rows_for(algorithms.DPMarginalsClassifier))
    sampler.release().save(folder / "sampler.json")
    print(json.dumps(stayed))


def rows_for(cls):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(0, 8, 60), rng.integers(2, size=60), rng.integers(3, size=60)])
    return X, X[:, 0] / 4 if is_regressor(cls()) else rng.integers(3, size=60)


def refusal(model):
    try:
        model.release()
    except ReleaseError as error:
        return str(error)
    return ""


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    folder = tmp_path_factory.mktemp("released")
    stayed = found_by("test_released", "every_release", str(folder))
    return folder, stayed


def test_every_sound_estimator_can_leave_and_no_other(released):
    folder, stayed = released
    left = {path.stem for path in folder.glob("*.json")}
    assert set(private()) <= left | set(stayed)
    for name in private():
        variant = estimators.merge_parameters(name).get("variant")
        assert (name in left) or variant != "sound"
    assert {
        "thrifty",
        "thrifty_bayes",
        "thrifty_forest",
        "thrifty_means",
        "thrifty_pairs",
        "thrifty_tree",
        "rdt",
        "edprf_sound",
        "diffpets_regressor_sound",
        "thrifty_tree_regressor",
        "fm_sound",
        "dp_marginals",
    } <= left
    assert {"edprf", "diffpets", "rfdpp_gini"} <= set(stayed)
    for said in stayed.values():
        assert " must not leave: " in said and len(said.splitlines()) == 1


def names_of(folder):
    return sorted(path.stem for path in folder.glob("*.npy") if not path.stem.endswith("-shares"))


def test_a_release_predicts_what_its_model_did(released):
    folder, _ = released
    assert len(names_of(folder)) > 15
    for name in names_of(folder):
        release = load_release(folder / f"{name}.json")
        expected, predicted = np.load(folder / f"{name}.npy"), release.predict(PROBES)
        if expected.dtype.kind == "f" and release.KIND in ("regression", "forest"):
            assert predicted == pytest.approx(expected, rel=1e-9, abs=1e-12), name
        else:
            assert np.array_equal(predicted, expected), name
        if (shares := folder / f"{name}-shares.npy").exists():
            assert release.predict_proba(PROBES) == pytest.approx(np.load(shares), rel=1e-9, abs=1e-12), name


def test_a_release_is_its_json_and_its_json_is_the_release(released):
    folder, _ = released
    for path in sorted(folder.glob("*.json")):
        text = path.read_text().rstrip("\n")
        assert from_json(text).to_json() == text
        assert list(list_reachable(from_json(text))) == list(list_reachable(load_release(path)))
        account = json.loads(text)["privacy"]
        assert account["is_sound"] and account["trust"]["noise"] == "opendp"


def test_rows_are_drawn_from_released_marginals(released):
    folder, _ = released
    release = load_release(folder / "sampler.json")
    rows, labels = release.draw(3)
    assert rows.shape == (len(labels), 3) and set(labels) <= {0, 1, 2}
    assert np.array_equal(rows, release.draw(3)[0]) and not np.array_equal(rows, release.draw(4)[0])
    assert np.bincount(labels, minlength=3) == pytest.approx(release.class_counts, abs=0.5)
    assert rows.min(axis=0)[1:].tolist() == [1, 1] and rows.max(axis=0)[1:].tolist() == [2, 3]


FORBIDDEN = (
    "sklearn",
    "opendp",
    "joblib",
    "algorithms.native",
    *(f"algorithms.{p}" for p in ("forests", "regression")),
)
FORBIDDEN += ("algorithms.data_replacement", "algorithms.mechanisms", "algorithms.base", "experiments")


def test_it_loads_and_predicts_without_the_code_that_trains(released):
    folder, _ = released
    code = f"""
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if any(name == no or name.startswith(no + ".") for no in {FORBIDDEN!r}):
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
import numpy as np
from pathlib import Path
from algorithms import load_release
for path in sorted(Path({str(folder)!r}).glob("*.npy")):
    if not path.stem.endswith("-shares"):
        predicted = load_release(path.with_suffix(".json")).predict(np.array({PROBES.tolist()!r}))
        print(path.stem, np.allclose(predicted, np.load(path), rtol=1e-9))
"""
    said = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == [f"{name} True" for name in names_of(folder)]


# What it holds.


def test_nothing_of_the_rows_stays_with_a_release():
    """Its arrays are its own: a view would remember what it is a view of."""
    model = algorithms.ThriftyTreeClassifier(3.0, domain=DOMAIN, noise="opendp").fit(
        *rows_for(algorithms.RDTClassifier)
    )
    names = [path for path, _ in list_reachable(model.release())]
    assert not any(".base" in name or "clipped" in name or "random_state" in name for name in names)
    assert {name.split("[")[0].split(".")[1] for name in names} == {"origin", "classes", "combines", "n_bins", "trees"}


def test_how_the_rows_were_stored_does_not_leave_with_a_release():
    """One cell decides that, text among numbers for instance: the domain of a release has looked nothing up."""
    X, y = rows_for(algorithms.RDTClassifier)
    as_text = X.astype(object)
    as_text[0, 1] = str(int(X[0, 1]))
    domains = []
    for rows in (X, as_text, pd.DataFrame(X, columns=DOMAIN.names)):
        domain = Domain(DOMAIN.features, DOMAIN.target)
        model = algorithms.ThriftyTreeClassifier(3.0, domain=domain, noise="opendp").fit(rows, y)
        domains.append(list(list_reachable(model.release().origin.domain)))
    assert domains[0] == domains[1] == domains[2]
    assert domains[0] == list(list_reachable(Domain.from_mapping(DOMAIN.to_mapping())))


def test_what_leaks_through_an_object_is_seen():
    def remembers(rows):
        return lambda X: len(rows)

    table = np.arange(8.0)
    views = {"view": lambda: table[:1], "closure": lambda: remembers(table), "partial": lambda: partial(max, table)}
    views |= {"builtin": lambda: table[7:].tolist().index, "attribute": lambda: with_attribute(table)}
    views |= {"generator": lambda: np.random.default_rng(int(table[7])), "method": lambda: Holder(table).method}
    for name, make in views.items():
        before = list(list_reachable(make()))
        table[7] += 1
        assert list(list_reachable(make())) != before, name
    for hidden in (object(), Slotted(table), type("Rows", (list,), {})([1]), np.ma.masked_array([1.0], [False])):
        with pytest.raises(TypeError, match="cannot look into"):
            list(list_reachable(hidden))


class Slotted:
    __slots__ = ("__rows",)

    def __init__(self, rows):
        self.__rows = rows


def with_attribute(rows):
    def described():
        return None

    described.rows = rows
    return described


class Holder:
    def __init__(self, rows):
        self.rows = rows

    def method(self):
        return None


def test_a_model_that_must_not_leave_says_why():
    X, y = rows_for(algorithms.RDTClassifier)
    reasons = {
        "a seed decides its noise": algorithms.ThriftyTreeClassifier(1.0, domain=DOMAIN, random_state=0),
        "no epsilon is claimed": algorithms.ThriftyTreeClassifier(math.inf, domain=DOMAIN, noise="opendp"),
        "its account has faults: inferred domain": algorithms.ThriftyTreeClassifier(1.0, noise="opendp"),
        "its domain is not public: ε holds only if the ranges of": algorithms.ThriftyTreeClassifier(
            1.0, domain=replace(DOMAIN, bounds_from_rows=["x"]), noise="opendp"
        ),
    }
    for why, model in reasons.items():
        with pytest.raises(ReleaseError, match=f"^ThriftyTreeClassifier must not leave: {why}"):
            model.fit(X, y).release()


def test_an_account_of_a_former_fit_releases_nothing_of_what_came_later():
    X, y = rows_for(algorithms.RDTClassifier)
    model = algorithms.ThriftyTreeClassifier(3.0, domain=DOMAIN, noise="opendp").fit(X, y)
    model.set_params(n_bins=4)
    with pytest.raises(ReleaseError, match="its parameters are not those that it was fitted by"):
        model.release()
    model.set_params(n_bins=100).release()
    model.set_params(domain=None, epsilon=-1)
    with pytest.raises(algorithms.ParameterError), pytest.warns(algorithms.PrivacyLeakWarning):
        model.fit(X, y)
    with pytest.raises(NotFittedError, match="no account of a fit that ended"):
        model.release()


def test_a_summary_of_rows_changes_no_model_and_must_have_been_made_for_a_release():
    X, y = rows_for(algorithms.DPBARegressor)
    numbers = Domain(DOMAIN.features, Continuous("y", 0, 2))
    model = algorithms.DPBARegressor(3.0, variant="sound", domain=numbers, noise="opendp").fit(X, y)
    before = model.release().to_json()
    model.summarise(X[:1], y[:1])
    assert model.release().to_json() == before
    experiment = algorithms.DPBARegressor(3.0, variant="sound", domain=numbers).summarise(X, y)
    with pytest.raises(algorithms.ParameterError, match="made for an experiment"):
        model.fit_summary(experiment)


# Files that are no releases.


@pytest.mark.parametrize(
    "text, why",
    [
        ("", "not JSON"),
        ("[]", "its format is not"),
        ("[" * 200_000, "not JSON"),
        ("1" * 5000, "not JSON"),
        ('{"format": "another"}', "its format is not"),
        (json.dumps({"format": FORMAT}), "damaged: it does not stand as it was written"),
        (json.dumps({"format": FORMAT_WITHOUT_CHECKSUM}), "damaged: the file must have 'kind'"),
        (sealed({}), "damaged: the file must have 'kind'"),
        (sealed({"kind": "os.system"}), "damaged: the file must have 'algorithm'"),
    ],
)
def test_what_is_no_release_is_refused_in_a_line(text, why):
    with pytest.raises(ReleaseError, match=why) as raised:
        from_json(text)
    assert len(str(raised.value).splitlines()) == 1


def test_a_damaged_release_is_refused(released):
    folder, _ = released
    good = json.loads((folder / "thrifty_tree.json").read_text())
    (tree,) = good["contents"]["trees"]
    damages = [{"contents": {}}, {"domain": {}}, {"domain": []}, {"privacy": "trust me"}]
    of_forest = [{"trees": [{"cut": ["x"]}]}, {"trees": []}, {"combines": "x"}, {"n_bins": "x"}, {"classes": [1]}]
    of_forest += [{"classes": good["contents"]["classes"][::-1]}]
    of_tree = [{"child": [0] * len(tree["child"])}, {"feature": [99] * len(tree["feature"])}, {"decides": [300]}]
    of_tree += [{"feature": [2**40]}, {"answer": [[7.0]] * len(tree["answer"])}, {"zz\nq": []}]
    of_forest += [{"trees": [tree | damage]} for damage in of_tree]
    damages += [{"contents": good["contents"] | damage} for damage in of_forest]
    for damage in damages:
        with pytest.raises(ReleaseError, match="damaged") as raised:
            from_json(sealed(good | damage))
        assert len(str(raised.value).splitlines()) == 1


def test_a_file_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "release.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ReleaseError, match="not text"):
        load_release(tmp_path / "release.json")


@pytest.mark.parametrize("column", [Nominal(3, (0, 1)), Nominal("a", ((0, 1), (2, 3)))])
def test_a_domain_that_json_cannot_hold_cannot_leave(column):
    origin = document.Origin("any", {}, Domain((column,), Nominal("y", (0, 1))), {})
    with pytest.raises(ReleaseError, match="cannot hold"):
        ReleasedNumbers(origin, {}).to_json()


def test_what_json_cannot_hold_is_refused():
    for value in (math.inf, object(), 1j):
        with pytest.raises(ReleaseError, match="cannot hold"):
            document.to_plain_data(value)
