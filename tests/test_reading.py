"""Reading: every cell by itself, whatever the container and whatever stands in other rows; a release shows no row.

What concerns every estimator runs in a process of its own, without compilation (`every_estimator`).
"""

import contextlib
import csv
import io
import json
import math
import pickle
import re
import subprocess
import sys
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

import algorithms
from algorithms import Continuous, Domain, DomainError, Nominal, PrivacyLeakWarning, native
from algorithms.accounting.events import ADDED_OR_REMOVED, REPLACED
from algorithms.encoding import clipping
from algorithms.encoding.columns import clip_numbers
from algorithms.regression.design import Design
from tests import test_secure
from tests.plain_python import found_and_said_by
from tests.test_secure import made, predictions, private

pytestmark = pytest.mark.long

QUICKLY = settings(max_examples=400, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


class Hostile:
    """A cell that raises where it is looked at in a certain way."""

    def __init__(self, *raising):
        self.raising = raising

    def _raise_if(self, name):
        if name in self.raising:
            raise RuntimeError("do not look")

    def __float__(self):
        self._raise_if("float")
        return 3.0

    def __eq__(self, other):
        self._raise_if("eq")
        return self is other

    def __hash__(self):
        self._raise_if("hash")
        return hash("clerk")

    def __repr__(self):
        self._raise_if("repr")
        return "a\ncell"


class Number(float):
    """A number that cannot be had."""

    def __float__(self):
        raise RuntimeError("no number")


HOSTILE = [
    *(None, math.nan, pd.NaT, pd.NA, np.datetime64("NaT"), Decimal("NaN"), Decimal("sNaN"), complex(math.nan, 0)),
    *(math.inf, -math.inf, -0.0, 0.5, 2**53 + 1, 2**64, 10**400, -(10**400), Fraction(10**400, 3), Decimal("1e999")),
    *("3.5", " 7 ", np.str_("7"), "nan", "inf", "", "x", "1_0", "True", "٣", "clerk\0", b"7", b"\xff", b"clerk"),
    *(1j, 2 + 0j, np.complex128(3), np.float32(2.5), np.int16(1), np.bool_(True), np.longdouble("1e4000")),
    *(Decimal("2.5"), Fraction(5, 2), [1], [], (1, 2), {"a": 1}, {1}, object(), np.array([1.0]), np.array(2.5)),
    *(np.datetime64("2020-01-01"), np.datetime64("20200-01-01"), pd.Timestamp("2020-01-01"), pd.Timedelta("1D")),
    *(Hostile("float", "repr"), Hostile("eq"), Hostile("hash"), Number(3.0)),
]

FEATURES = {
    "continuous": (Continuous("c", -1, 6), [-2, 0, 2.5, 7, True, "3.5", None, math.nan, 2**53 + 1, math.inf]),
    "numbers": (Nominal("c", (0, 1, 2.5, 2**53 - 1)), [0, 1, 2.5, 2**53 - 1, 2**53, False, "2.5", math.nan, 4]),
    "words": (Nominal("c", ("clerk", "7", None)), ["clerk", "7", 7, None, math.nan, "cook", "clerk "]),
    "flags": (Nominal("c", (True, False)), [True, False, 1, 0.0, "True"]),
    "days": (Nominal("c", (pd.Timestamp("2020-01-01"), "never")), [pd.Timestamp("2020-01-01"), "never"]),
}
"""Features, and cells of usual columns."""


def as_csv(cells):
    text = io.StringIO()
    csv.writer(text).writerows([["c"], *([cell] for cell in cells)])
    return pd.read_csv(io.StringIO(text.getvalue()), skip_blank_lines=False)


def object_array(cells):
    array = np.empty((len(cells), 1), dtype=object)
    for i, cell in enumerate(cells):
        array[i, 0] = cell
    return array


def frame_of(dtype):
    return lambda cells: pd.DataFrame({"c": pd.Series(cells, dtype=dtype)})


CONTAINERS = {
    "lists": lambda cells: [[cell] for cell in cells],
    "tuples": lambda cells: tuple((cell,) for cell in cells),
    "object array": object_array,
    "array": lambda cells: np.array([[cell] for cell in cells]),
    "text array": lambda cells: np.array([[cell] for cell in cells], dtype=str),
    "float array": lambda cells: np.array([[cell] for cell in cells], dtype=float),
    "float32 array": lambda cells: np.array([[cell] for cell in cells], dtype=np.float32),
    "frame": lambda cells: pd.DataFrame({"c": cells}),
    "file": as_csv,
    **{dtype: frame_of(dtype) for dtype in ("category", "string", "Int64", "Float64", "boolean", "datetime64[s]")},
    "object frame": frame_of(object),
}
"""Whatever can hold a column, by how a list of cells gets there; what cannot hold the cells raises."""


def readings(feature, X):
    """What each cell is read as, None where its record would be left out."""
    out = np.empty((1, len(X)))
    known = Domain((feature,)).rows(X, leave_out=True).encode(slice(None), out)
    return [value if is_known else None for value, is_known in zip(out[0].tolist(), known, strict=True)]


def held(container, cells):
    """The cells in a container, None if it cannot hold them."""
    with warnings.catch_warnings(), contextlib.suppress(Exception):
        warnings.simplefilter("ignore")
        X = CONTAINERS[container](cells)
        shape = getattr(X, "shape", (len(cells), 1))
        return X if shape == (len(cells), 1) else None


def at(cell):
    """Where a cell stands among the hostile ones."""
    return next(i for i, one in enumerate(HOSTILE) if type(one) is type(cell) and one == cell)


kinds, containers = st.sampled_from(sorted(FEATURES)), st.sampled_from(sorted(CONTAINERS))
places = st.integers(0, 1000)


@QUICKLY
@example("numbers", "array", [2, 3, 1], at(0.5), 0)
@example("numbers", "array", [2, 3, 1], at(1j), 0)
@example("words", "array", [0, 1, 2], at("x"), 2)
@example("continuous", "file", [1, 2, 4], at("x"), 1)
@example("flags", "file", [0, 1], at("x"), 1)
@example("words", "file", [0, 3], at(2**64), 1)
@given(kinds, containers, st.lists(places, min_size=1, max_size=4), st.integers(0, len(HOSTILE) - 1), places)
def test_no_record_changes_how_another_is_read(kind, container, drawn, hostile, place):
    feature, usual = FEATURES[kind]
    cells, hostile, place = [usual[i % len(usual)] for i in drawn], HOSTILE[hostile], place % (len(drawn) + 1)
    without, with_it = held(container, cells), held(container, [*cells[:place], hostile, *cells[place:]])
    assume(without is not None and with_it is not None)
    read = readings(feature, with_it)
    assert read[:place] + read[place + 1 :] == readings(feature, without)


@QUICKLY
@given(kinds, st.sampled_from(["lists", "tuples", "object array", "object frame"]), st.lists(places, max_size=6))
def test_the_fast_reading_is_the_slow_one(kind, container, drawn):
    feature, usual = FEATURES[kind]
    cells = [[*usual, *HOSTILE][i % len([*usual, *HOSTILE])] for i in drawn]
    assert readings(feature, held(container, cells)) == [slowly(feature, cell) for cell in cells]


ENDINGS = Nominal("c", ("x\0", "x", b"y", "z\0"))
WORDS = [*filter(lambda cell: isinstance(cell, str), HOSTILE), "x", "y", "z\0", "7.0", "1", "clerk", "cook", "never"]


@QUICKLY
@example("endings", [*range(len(WORDS))])  # an array of text takes the NUL off
@given(st.sampled_from(["endings", *FEATURES]), st.lists(places, min_size=1, max_size=6))
def test_an_array_of_text_is_read_as_its_cells_are(kind, drawn):
    feature = ENDINGS if kind == "endings" else FEATURES[kind][0]
    X = held("text array", [WORDS[i % len(WORDS)] for i in drawn])
    assert readings(feature, X) == [slowly(feature, cell) for cell in X[:, 0].tolist()]


def slowly(feature, cell):
    """Read one cell in the plainest way."""
    value = slow_number(cell)
    if isinstance(feature, Continuous):
        return None if value in (None, "missing") else float(min(max(value, feature.lower), feature.upper))
    for i, category in enumerate(feature.categories):
        with contextlib.suppress(Exception):
            one, other = (of.decode() if isinstance(of, bytes) else of for of in (cell, category))
            same = category is not None and hash(one) == hash(other) and one == other
            if same or (value is not None and value == slow_number(category)):
                return float(i)
    return None


NUMERAL = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")


def slow_number(cell):
    """A number as the nearest float, "missing", or None."""
    with contextlib.suppress(Exception):
        if cell is None or (pd.api.types.is_scalar(cell) and pd.isna(cell) and str(cell) != "sNaN"):
            return "missing"
        if isinstance(cell, bytes):
            return slow_number(cell.decode("ascii"))
        if isinstance(cell, str):
            words = {"true": 1.0, "false": 0.0, "inf": math.inf, "nan": "missing", "": "missing"}
            return float(cell) if NUMERAL.fullmatch(cell) else words.get(cell.lower())
        if isinstance(cell, complex):
            return cell.real if not cell.imag else None
        if isinstance(cell, int | Fraction | Decimal) and abs(cell) > 2**1030:
            return math.inf if cell > 0 else -math.inf
        is_number = isinstance(cell, int | float | Fraction | Decimal | np.number | np.bool_)
        return float(cell) if is_number and not isinstance(cell, np.timedelta64) else None
    return None


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int8, np.int64, np.uint64, bool])
@pytest.mark.parametrize("feature", ["continuous", "numbers", "words", "flags"])
def test_arrays_of_numbers_are_read_as_their_cells(dtype, feature):
    values = np.array([0, 1, 2.5, 7, 100, 120]).astype(dtype)
    feature = FEATURES[feature][0]
    assert readings(feature, values[:, None]) == readings(feature, [[cell] for cell in values])


def test_clipping_compiled_and_not_is_the_same():
    values = np.array([-2.0, -1.0, 0.0, 3.0, np.nan, np.inf, 7.0, -np.inf, np.nan, 5.0])
    for given_ in (values, values[:4], np.repeat(values, 2)[::2], values[:0]):
        outs = np.empty((2, len(given_)))
        counts = [
            clip(given_, -1.0, 5.0, out) for clip, out in zip((clipping.clip_compiled, clip_numbers), outs, strict=True)
        ]
        assert counts[0] == counts[1] and np.array_equal(*outs, equal_nan=True)
    assert clip_numbers(values, -1.0, 5.0, np.empty(10)) == (4, 2)


def test_categories_are_looked_up_once_for_a_column_of_type_category():
    column = pd.Categorical(["7", "clerk", None, "cook"] * 3, categories=["cook", "clerk", "7"])
    assert readings(FEATURES["words"][0], pd.DataFrame({"c": column})) == [1.0, 0.0, 2.0, None] * 3


def test_a_missing_value_can_be_a_category_in_either_mode():
    feature = Nominal("c", ("clerk", None))
    cells = ["clerk", None, math.nan, pd.NaT, pd.NA, "nan", " "]
    for container in ("lists", "object array", "object frame"):
        assert Domain((feature,)).encode(held(container, cells))[0].ravel().tolist() == [0, 1, 1, 1, 1, 1, 1]
    assert readings(feature, [[Hostile()], [[]], ["-"]]) == [None] * 3
    assert readings(Nominal("n", (0, math.nan)), np.array([[math.nan], [0.0], [1.0]])) == [1.0, 0.0, None]


def test_columns_of_a_frame_are_read_one_by_one_also_by_position():
    """As one array, 1 and 2.5 would have one type."""
    domain = Domain((Nominal("a", ("1", "2")), Continuous("b", 0, 9), Nominal("c", (True, False))))
    frame = pd.DataFrame({0: [1, 2], 1: [2.5, math.inf], 2: [True, False]})
    assert domain.encode(frame)[0].tolist() == [[0, 2.5, 0], [1, 9, 1]]
    with pytest.raises(DomainError, match="more than one column named b"):
        domain.encode(pd.DataFrame([[1, 2, 3, 4]], columns=["a", "b", "b", "c"]))


def test_what_was_read_does_not_show_in_a_stored_domain():
    feature = Nominal("c", (0, 1))
    fresh = pickle.dumps(feature)
    for X in (np.array([[0], [1]]), [[0], ["1"]]):
        Domain((feature,)).encode(X)
        assert pickle.dumps(feature) == fresh and pickle.loads(fresh) == feature


# Strict reading.


@pytest.mark.parametrize("container", ["lists", "tuples", "object array", "object frame"])
@pytest.mark.parametrize("kind", FEATURES)
def test_errors_name_the_column_in_one_line(kind, container):
    feature = FEATURES[kind][0]
    n_errors = 0
    for cell in HOSTILE:
        if slowly(feature, cell) is None:
            n_errors += 1
            with pytest.raises(DomainError, match=r"^column 'c' ") as caught:
                Domain((feature,)).encode(CONTAINERS[container]([cell]))
            assert "\n" not in str(caught.value) and len(str(caught.value)) < 250
    assert n_errors > 20


@pytest.mark.parametrize("container", ["lists", "array", "frame", "object array", "Float64"])
def test_infinity_is_clipped_in_every_container_unless_bounds_were_inferred(container):
    X = held(container, [0.5, math.inf, -math.inf])
    declared, y = Domain((Continuous("c", 0, 1),), Nominal("y", (0, 1))), [0, 1, 1]
    assert declared.encode(X)[0].ravel().tolist() == [0.5, 1, 0]
    model = algorithms.RDTClassifier(math.inf, n_estimators=1, domain=declared).fit(X, y)
    assert model.clipped_ == {"c": 2} and len(model.predict(X)) == 3
    with pytest.warns(PrivacyLeakWarning):
        model = algorithms.RDTClassifier(math.inf, n_estimators=1).fit(held(container, [0.5, 0.1, 0.2]), y)
    with pytest.raises(DomainError, match=r"infinite values \(inf\)"):
        model.predict(X)


def test_records_of_a_wrong_length_are_counted_or_left_out():
    domain = Domain((Continuous("a", 0, 9), Continuous("b", 0, 9)), Continuous("y", 0, 9))
    others = [[3], [], None, "ab", {1: 2, 3: 4}, {1, 2}, [4, 5, 6]]
    records = [[1, 2], *others, (7, 8), np.array([3, 3]), pd.Series([1, 1])]
    with pytest.raises(DomainError, match=r"^7 records have not as many cells as the domain has columns$"):
        domain.encode(records)
    y = [*range(10), 10]
    assert domain.rows(records, y, leave_out=True).matrix().tolist() == [[1, 2, 0], [7, 8, 8], [3, 3, 9], [1, 1, 9]]
    assert domain.problems(records, y) == ({"y": 1}, 7, 7, {})


def test_problems_are_counted_for_the_curator():
    domain = Domain((Continuous("age", 17, 90), Nominal("job", ("clerk", "cook"))), Nominal("rich", ("no", "yes")))
    X = pd.DataFrame({"age": [95, "old", None, 30, math.inf], "job": ["clerk", None, "cook", "miller", "cook"]})
    found = domain.problems(X, ["no", "no", "no", "no", None])
    assert found.clipped == {"age": 2} and (found.left_out, found.ragged) == (4, 0)
    assert found.reasons["age"] == {"missing": 1, "unknown": 1}
    assert found.reasons["job"] == {"missing": 1, "unknown": 1} and found.reasons["rich"] == {"missing": 1}
    assert domain.problems(X.iloc[:1], ["no"]) == ({"age": 1}, 0, 0, {})
    assert domain.problems([]) == ({}, 0, 0, {})
    assert len(domain.rows(X, ["no"] * 5, leave_out=True).matrix()) == 2


# Attacks.


def test_a_fraction_in_one_record_does_not_merge_the_categories_of_others():
    largest = 2**53 - 1
    domain = Domain((Nominal("c", (largest - 1, largest)),), Nominal("y", (largest - 1, largest)))
    for last in (largest, 0.5, "x", None):
        rows = domain.rows([[largest - 1], [largest], [last]], [largest, largest - 1, last], leave_out=True)
        assert rows.matrix()[:2].tolist() == [[0, 1], [1, 0]]
    with pytest.raises(DomainError, match=r"'c': \[9007199254740993\] is too large a number"):
        Nominal("c", (2**53, 2**53 + 1)[::-1])


def test_bounds_whose_width_overflows_are_refused():
    """A regression on them returned exactly 0 for a table and not for its neighbour."""
    with pytest.raises(DomainError, match=r"^column 'x': bounds must be within ±1e\+36 .* use another unit$"):
        Continuous("x", -1e308, 1e308)


def test_one_record_more_in_a_release_is_one_row_more_at_most():
    """Whatever it holds: of a table and its neighbours, each record gives the row that it gives alone."""
    domain = Domain((Continuous("c", -1, 6), Nominal("n", ("clerk", "7"))), Continuous("y", 0, 9))
    good = [([1, "clerk"], 3), ([2.5, 7], 4), ([9, b"7"], "5")]
    model = algorithms.FunctionalMechanismRegressor(1.0, domain=domain, noise="opendp")
    expected = [[1, 0, 3], [2.5, 1, 4], [6, 1, 5]]
    for cell in HOSTILE:
        for record, target in (([cell, "clerk"], 0), ([0, cell], 0), ([0, "clerk"], cell), (cell, 0)):
            for place in (0, 3):
                pairs = [*good[:place], (record, target), *good[place:]]
                matrix = model.training_rows([x for x, _ in pairs], [y for _, y in pairs]).matrix().tolist()
                one_more = matrix[: len(matrix) - 3] if place == 0 else matrix[3:]
                assert len(one_more) <= 1 and (matrix[-3:] if place == 0 else matrix[:3]) == expected


def test_a_record_left_out_of_a_block_is_left_out_of_its_moments():
    domain = Domain((Continuous("x", 0, 1),), Continuous("y", 0, 1))
    design = Design(domain, 1, "box", constant=True)
    X, y = np.linspace(0, 1, 10)[:, None], np.linspace(0, 1, 10)
    X[[0, 4], 0], y[9] = math.nan, math.nan
    blocks = [block.copy() for block in design.blocks(domain.rows(X, y, leave_out=True), 4)]
    kept = [1, 2, 3, 5, 6, 7, 8]
    assert [block.shape[1] for block in blocks] == [3, 3, 1]
    (whole,) = design.blocks(domain.rows(X[kept], y[kept]))
    assert np.array_equal(np.hstack(blocks), whole)


@pytest.mark.parametrize("scaling", ["box", "unit", "ball", "signed_ball"])
@pytest.mark.parametrize("shape", [(1, 1), (31, 3), (32, 2), (33, 1), (100, 5)])
def test_a_table_of_many_rows_is_read_as_numpy_would(shape, scaling, monkeypatch):
    monkeypatch.setattr(algorithms.regression.design, "MANY_ROWS", 0)
    rng = np.random.default_rng(shape)
    unusual = rng.choice([math.nan, math.inf, -math.inf, -0.0, 0.0, -1.0, 2.5, 1e300, 5e-324], shape)
    X, y = np.where(rng.random(shape) < 0.2, unusual, rng.normal(0.5, 2, shape)), rng.random(len(unusual))
    lower = -1.0 + np.arange(shape[1]) % 2
    domain = Domain([Continuous(f"x{i}", bound, 2.5) for i, bound in enumerate(lower)], Continuous("y", 0, 1))
    design = Design(domain, 1, scaling, constant=False)
    is_known = ~np.isnan(X).any(axis=1)
    share = (np.clip(X, lower, 2.5) - lower) / (2.5 - lower)
    in_ball = share / math.sqrt(shape[1])
    scaled = {"box": 2 * share - 1, "unit": share, "ball": in_ball, "signed_ball": in_ball}[scaling][is_known].T
    n_beyond = ((lower > X) | (X > 2.5)).sum(axis=0)
    expected = {f"x{i}": n for i, n in enumerate(n_beyond.tolist()) if n}
    for held in (X, np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], X[:, ::-1].copy()[:, ::-1], pd.DataFrame(X)):
        rows = domain.rows(held, y, leave_out=True)
        blocks = [block[:-1].copy() for block in design.blocks(rows, 70)]
        assert np.array_equal(np.hstack([np.empty((shape[1], 0)), *blocks]), scaled)
        assert rows.clipped == expected
    assert domain.rows(X, y).table is X
    if not is_known.all():
        with pytest.raises(DomainError, match="missing values"):
            next(design.blocks(domain.rows(X, y)))


# Refused domains.


@pytest.mark.parametrize(
    "bounds",
    [
        *((0, "1"), (None, 1), (0, 1j), (0, Decimal(1)), (0, 10**400), (0, math.inf), (math.nan, 1)),
        *((0, 5e-324), (1e300, 2e300), (0, 1e37), (1, 1 + 2**-60), (2**60, 2**60 + 1), (1e35, 1e35)),
    ],
)
def test_bounds_that_cannot_be_computed_with_are_refused(bounds):
    with pytest.raises(DomainError, match=r"^column 'x': bounds must be ") as caught:
        Continuous("x", *bounds)
    assert "\n" not in str(caught.value)


def test_bounds_are_what_floats_compute_with():
    one = Continuous("x", np.float32(0.1), np.float32(0.7))
    assert type(one.lower) is type(one.upper) is float and one.upper - one.lower == float(np.float32(0.7)) - one.lower
    assert Continuous("x", Fraction(1, 3), np.int64(2**62)).upper == 2.0**62
    assert repr(Continuous("x", 0, 90)) == "Continuous(name='x', lower=0, upper=90)"
    with pytest.raises(DomainError, match="'x': bounds must be numbers"):
        Domain.from_mapping({"features": {"x": {"lower": "low", "upper": 1}}})
    assert Domain.from_mapping({"features": {"x": {"lower": 0, "upper": "1e5"}}}).features[0].upper == 1e5


@pytest.mark.parametrize("width", [1e-36, 1e-30])
@pytest.mark.parametrize("lower", [0, -1e-36])
def test_the_narrowest_and_the_widest_bounds_do(lower, width):
    for bounds in ((lower, lower + width), (-1e36, 1e36)):
        feature = Continuous("x", *bounds)
        domain = Domain((feature,), Continuous("y", *bounds))
        X = np.linspace(*bounds, 200)
        for model in (
            algorithms.FunctionalMechanismRegressor(math.inf, scaling="box"),
            algorithms.DiffLRRegressor(math.inf, variant="sound"),
        ):
            predicted = model.set_params(domain=domain).fit(X[:, None], X).predict(X[:, None])
            assert predicted == pytest.approx(X, abs=1e-6 * (bounds[1] - bounds[0]))


@pytest.mark.parametrize(
    ("categories", "message"),
    [
        *(((1, "1"), "distinct, also as numbers"), (("7", "07"), "distinct"), ((None, math.nan), "distinct")),
        *(((0.1, Decimal("0.1")), "distinct"), ((True, 1), "distinct"), (("a", b"a"), "distinct")),
        *(((2**53 + 1,), "too large a number"), ((-(2**53), 0), "too large"), (("inf",), "too large")),
        *(((10**5000,), "too large"), (("9007199254740993",), "too large"), ((), "at least one")),
        *(((np.datetime64("2020-01-01"),), "pandas' Timestamp"), ((np.timedelta64(1, "D"), 1), "pandas' Timestamp")),
        *((("nan", "a"), "declare None"), ((b"",), "declare None"), (([1],), "hashable")),
    ],
)
def test_categories_that_cannot_be_told_apart_are_refused(categories, message):
    with pytest.raises(DomainError, match=f"^column 'c': .*{message}") as caught:
        Nominal("c", categories)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("labels", [("a", 1), ("a", None), (0, None), (math.nan, 1), ((1, 2), (3, 4)), ("a", "a\0")])
def test_class_labels_of_more_than_one_kind_are_refused_before_a_row_is_read(labels):
    domain = Domain((Continuous("x", 0, 1),), Nominal("y", labels))
    for noise in ("numpy", "opendp"):
        with pytest.raises(DomainError, match=r"^column 'y': class labels must be all text or all numbers$"):
            algorithms.RDTClassifier(domain=domain, noise=noise).fit(None, ())


def test_class_labels_fit_into_16_bits():
    assert len(Nominal("y", range(2**16)).labels()) == 2**16
    with pytest.raises(DomainError, match="there can be 65,536 class labels at most, got 65,537"):
        Nominal("y", range(2**16 + 1)).labels()
    assert Nominal("y", (2, False, 1.5)).labels().tolist() == [0, 1.5, 2]


def test_reading_needs_neither_the_kernels_nor_scikit_learn():
    """So that a released model can do without."""
    reads = """
import sys, types
package = types.ModuleType("algorithms")
package.__path__ = ["algorithms"]
sys.modules["algorithms"] = package
from algorithms.encoding.domain import Domain
from algorithms.encoding.features import Continuous
print(Domain((Continuous("x", 0, 1),)).encode([[3]])[0], {"algorithms.native", "sklearn", "scipy"} & set(sys.modules))
"""
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run([sys.executable, "-c", reads], cwd=root, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == "[[1.]] set()\n"


# Every estimator, in a process without kernels.


def every_estimator():
    """Print as JSON what went wrong with each of them, and whether a replaced record costs as much as one removed."""
    assert native.is_plain()
    np.seterr(over="ignore")  # keys are mixed modulo 2^64
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", "overflow encountered", RuntimeWarning)
    print(json.dumps({name: seen_of(name, cls) for name, cls in private().items()}))


def seen_of(name, cls):
    model, X = made(name, cls, noise="opendp"), test_secure.table()[0]
    costs, wrong = [], []
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        for kind, (rows, y) in tables().items():
            try:
                model.clipped_ = "of a former fit"
                model.fit(rows, y)
                assert np.isfinite(predictions(model, X)).all()
                assert model.is_secure() is not hasattr(model, "clipped_")
                costs += [[model.privacy_.ledger.epsilon_under(how) for how in (ADDED_OR_REMOVED, REPLACED)]]
            except Exception as error:
                wrong.append(f"{kind}: {error!r}")
    return {"released": model.is_secure(), "wrong": wrong, "costs": costs, "printed": out.getvalue()}


def tables():
    X, y = test_secure.table()
    hostile = [*([cell, 1, 2] for cell in HOSTILE), *([1.0, cell, 2] for cell in HOSTILE), *HOSTILE]
    targets = [*HOSTILE, *[1] * len(HOSTILE), *HOSTILE]
    cells = np.full((len(hostile), 3), None, dtype=object)
    for i, record in enumerate(hostile[: 2 * len(HOSTILE)]):
        for j, cell in enumerate(record):
            cells[i, j] = cell
    return {
        "no rows": (np.empty((0, 3)), np.empty(0)),
        "no records": ([], []),
        "no cells": (np.empty((0, 0)), pd.Series(dtype=float)),
        "one row": (X[:1], y[:1]),
        "nothing but hostile records": (hostile, targets),
        "hostile records": (X.tolist() + hostile, y.tolist() + targets),
        "hostile array": (cells, np.array([*targets, None], dtype=object)[:-1]),
        "text": (np.array([*X.astype(str).tolist(), ["x", "", "nan"]]), [*y.astype(str), "?"]),
        "complex": (X + np.array([0, 0, 1j]), y + 1j * (np.arange(len(y)) == 3)),
    }


@pytest.fixture(scope="module")
def seen():
    found, said = found_and_said_by("test_reading", "every_estimator")
    assert not said
    return found  # from standard output, which has nothing else in it


@pytest.mark.parametrize("name", private())
def test_nothing_about_the_rows_stops_a_release_or_is_said(name, seen):
    one = seen[name]
    if one["released"]:
        assert not one["wrong"] and not one["printed"]
        assert len(one["costs"]) == len(tables())
    else:
        assert name.startswith("polynomial_regression") and one["wrong"], "without noise the default is strict"


@pytest.mark.parametrize("name", private())
def test_a_replaced_record_costs_no_less_than_one_removed(name, seen):
    """So that a record may be replaced by one that is left out."""
    assert all(removed <= replaced for removed, replaced in seen[name]["costs"])


def test_an_empty_frame_is_an_empty_table():
    domain = test_secure.NUMBERS
    for X in (pd.DataFrame(), pd.DataFrame(columns=domain.names)):
        model = algorithms.FunctionalMechanismRegressor(1.0, domain=domain, noise="opendp").fit(X, [])
        assert model.feature_names_in_.tolist() == domain.names and model.n_features_in_ == 3
    with pytest.raises(DomainError, match="lacks columns that the domain declares: a, b"):
        model.fit(pd.DataFrame(columns=["x"]), [])


@pytest.mark.parametrize(
    ("X", "y", "error"),
    [
        (np.array([[12345.0, 1.0]] * 3), [1, 2, 3], DomainError),
        (np.array([12345.0] * 3), [1, 2, 3], ValueError),
        (np.full((3, 3), 12345.0), [1, 2], ValueError),
        (np.full((3, 3), 12345.0), np.full((3, 2), 12345.0), ValueError),
        (pd.DataFrame({"x": [12345.0]}), [1], DomainError),
        (np.empty((0, 2)), [], DomainError),
    ],
)
def test_tables_of_another_shape_are_refused_without_a_value_of_a_row(X, y, error):
    model = algorithms.FunctionalMechanismRegressor(1.0, domain=test_secure.NUMBERS, noise="opendp")
    with pytest.raises(error) as caught:
        model.fit(X, y)
    assert "12345" not in str(caught.value) and "\n" not in str(caught.value)


def test_a_release_whose_domain_is_inferred_is_as_strict_as_an_experiment():
    model = algorithms.FunctionalMechanismRegressor(1.0, noise="opendp")
    with pytest.warns(PrivacyLeakWarning), pytest.raises(DomainError, match="missing"):
        model.fit([[1.0], [math.nan]], [0, 1])


# Containers that numpy would take for one array.


class ListLike:
    """A sequence by what it does, not by its type."""

    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def records_as_objects(records):
    array = np.empty(len(records), dtype=object)
    for i, record in enumerate(records):
        array[i] = record
    return array


@pytest.mark.parametrize("hold", [list, tuple, ListLike, records_as_objects])
def test_a_ragged_record_is_left_out_of_whatever_holds_it(hold):
    records = [[0.5, 0], [0.25, 1], [0.5, 1]]
    domain = Domain((Continuous("x", 0, 1), Nominal("a", (0, 1))), Nominal("y", (0, 1)))
    tree = algorithms.ThriftyTreeClassifier(1.0, domain=domain, noise="opendp")
    usual = tree.training_rows(hold(records), hold([0, 1, 0])).matrix()
    more = tree.training_rows(hold([*records, [0.5]]), hold([0, 1, 0, [1]])).matrix()
    assert np.array_equal(usual, more) and len(usual) == 3


def test_a_masked_cell_is_a_missing_one():
    table = np.ma.masked_array([[0.1], [0.9]], mask=[[False], [True]])
    domain = Domain((Continuous("x", 0, 1),), Nominal("y", (0, 1)))
    tree = algorithms.ThriftyTreeClassifier(1.0, domain=domain, noise="opendp")
    assert tree.training_rows(table, np.ma.masked_array([0, 1], mask=[False, False])).matrix().tolist() == [[0.1, 0]]
    with pytest.raises(DomainError, match="'x'"):
        algorithms.ThriftyTreeClassifier(1.0, domain=domain).fit(table, [0, 1])


def test_a_column_as_target_is_said_in_experiments_alone():
    domain = Domain((Continuous("x", 0, 1),), Nominal("y", (0, 1)))
    X, y = np.array([[0.1], [0.9]]), np.array([[0], [1]])
    with pytest.warns(DataConversionWarning):
        algorithms.ThriftyTreeClassifier(1.0, domain=domain).training_rows(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        algorithms.ThriftyTreeClassifier(1.0, domain=domain, noise="opendp").training_rows(X, y)


def test_labels_that_an_array_of_text_would_change_are_refused():
    with pytest.raises(DomainError, match="class labels"):
        Nominal("y", ("a\0", "b")).labels()
