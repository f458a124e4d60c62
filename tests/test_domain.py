"""The public domain: what is declared, what is refused, what is clipped."""

import datetime
import math

import numpy as np
import pandas as pd
import pytest

from algorithms import Continuous, Domain, DomainError, Nominal, PrivacyLeakWarning

DOMAIN = Domain(
    (Continuous("age", 17, 90), Nominal("sex", ("Female", "Male")), Nominal("rooms", (1, 2, 3))),
    Nominal("rich", ("no", "yes")),
)


@pytest.mark.parametrize(("lower", "upper"), [(1, 1), (2, 1), (math.nan, 1), (0, math.inf), (-math.inf, 0)])
def test_impossible_bounds_are_refused(lower, upper):
    with pytest.raises(DomainError, match=r"'age'.*lower < upper"):
        Continuous("age", lower, upper)


@pytest.mark.parametrize("categories", [(), ("a", "a"), (1, 1.0)])
def test_impossible_categories_are_refused(categories):
    with pytest.raises(DomainError, match=r"'sex'.*distinct"):
        Nominal("sex", categories)


def test_a_domain_needs_features_with_different_names():
    with pytest.raises(DomainError, match="at least one feature"):
        Domain(())
    with pytest.raises(DomainError, match="same name"):
        Domain((Continuous("a", 0, 1), Nominal("a", (0,))))


def test_values_are_clipped_and_counted_and_categories_become_positions():
    rows = [[95, "Male", 3], [16.5, "Female", 1], [17, "Female", 2], [-math.inf, "Male", 1]]
    matrix, clipped = DOMAIN.encode(rows)
    assert matrix.tolist() == [[90, 1, 2], [17, 0, 0], [17, 0, 1], [17, 1, 0]]
    assert clipped == {"age": 3}


def test_the_columns_of_a_frame_are_found_by_name():
    frame = pd.DataFrame({"rooms": [1, 3], "unused": [0, 0], "sex": ["Male", "Female"], "age": [20, 30]})
    assert DOMAIN.encode(frame)[0].tolist() == [[20, 1, 0], [30, 0, 2]]


@pytest.mark.parametrize("dtype", [object, "string", "category"])
def test_any_kind_of_text_column_will_do(dtype):
    frame = pd.DataFrame({"age": [20, 30], "sex": pd.Series(["Male", "Female"], dtype=dtype), "rooms": [1, 3]})
    assert DOMAIN.encode(frame)[0].tolist() == [[20, 1, 0], [30, 0, 2]]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([20, "Other", 1], "column 'sex' has values outside its declared categories: .*Other.*declared are 'Female'"),
        ([20, "Male", 4], "column 'rooms' has values outside"),
        ([20, None, 1], "column 'sex'"),
        ([math.nan, "Male", 1], r"column 'age' has 1 missing values \(NaN\)"),
        ([None, "Male", 1], "column 'age' has 1 missing"),
        (["old", "Male", 1], "column 'age' must be numeric"),
        ([20, "Male"], "1 records have not as many cells as the domain has columns"),
    ],
)
def test_bad_rows_are_refused_in_one_line(row, message):
    with pytest.raises(DomainError, match=message) as caught:
        DOMAIN.encode([row])
    assert "\n" not in str(caught.value)


def test_plain_data_and_back():
    assert Domain.from_mapping(DOMAIN.to_mapping()) == DOMAIN
    without_target = Domain(DOMAIN.features)
    assert Domain.from_mapping(without_target.to_mapping()) == without_target
    with pytest.raises(DomainError, match="expected lower and upper"):
        Domain.from_mapping({"features": {"age": {"lower": 1, "uper": 2}}})


def test_bounds_from_rows_are_remembered_and_belong_to_declared_columns():
    declared = DOMAIN.to_mapping() | {"bounds_from_rows": ["sex", "age"]}
    domain = Domain.from_mapping(declared)
    assert domain.bounds_from_rows == ("sex", "age") and domain.is_public and domain != DOMAIN
    assert (domain.numbers_from_rows, domain.categories_from_rows) == (["age"], ["sex"])
    assert domain.to_mapping() == declared
    with pytest.raises(DomainError, match="bounds_from_rows names 'nothing', which is no declared column"):
        Domain.from_mapping(declared | {"bounds_from_rows": ["nothing"]})


def test_an_inferred_domain_warns_and_is_not_public():
    frame = pd.DataFrame({"age": [20, 35], "same": [1.0, 1.0], "sex": ["Male", "Female"]})
    with pytest.warns(PrivacyLeakWarning, match="not private"):
        domain = Domain.infer(frame, np.array(["b", "a"]))
    age, same, sex = domain.features
    assert not domain.is_public and DOMAIN.is_public
    assert age == Continuous("age", 20.0, 35.0)
    assert same.lower <= 1.0 <= same.upper
    assert sex == Nominal("sex", ("Female", "Male"))
    assert domain.target.categories == ("a", "b")


@pytest.mark.filterwarnings("ignore::algorithms.PrivacyLeakWarning")
@pytest.mark.parametrize("column", [[1.0, math.nan], ["a", None]])
def test_a_missing_value_never_becomes_a_category(column):
    with pytest.raises(DomainError, match=r"'b' has 1 missing values \(NaN\)"):
        Domain.infer(pd.DataFrame({"a": [0, 1], "b": column}))


def long_table(n=20_000):
    rng = np.random.default_rng(0)
    return np.column_stack([rng.integers(10, 100, n), rng.integers(0, 3, n)])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, object])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_table_of_many_blocks_is_encoded_like_its_rows(dtype, order):
    """Longer than a block, stored either way, of any type, and not to be written to."""
    domain = Domain((Continuous("age", 17, 90), Nominal("rooms", (2, 0, 1))))
    table = long_table()
    given = np.asarray(table, dtype=dtype, order=order)
    given.setflags(write=False)
    matrix, clipped = domain.encode(given)
    age = table[:, 0]
    assert (matrix == np.column_stack([age.clip(17, 90), np.array([1, 2, 0])[table[:, 1]]])).all()
    assert clipped == {"age": ((age < 17) | (age > 90)).sum()}


def test_errors_are_about_whole_columns_the_first_one_first():
    """Though the second column has a bad value in an earlier block."""
    table = long_table().astype(float)
    table[5, 1], table[[9_000, 19_999], 0] = 7, np.nan
    domain = Domain((Continuous("age", 17, 90), Nominal("rooms", (0, 1, 2))))
    with pytest.raises(DomainError, match=r"column 'age' has 2 missing values \(NaN\)") as caught:
        domain.encode(table)
    assert caught.value.__cause__ is None and caught.value.__context__ is None
    with pytest.raises(DomainError, match=r"column 'rooms' has values outside .*: \[7.0, 8.0\]"):
        domain.encode(np.where(np.arange(20_000)[:, None] == [0, 15_000], [17.0, 8.0], np.nan_to_num(table, nan=50)))


@pytest.mark.parametrize(
    "dates",
    [
        pd.to_datetime(["2020-01-01", "2020-02-01"]),
        pd.Series([datetime.date(2020, 1, 1), datetime.date(2020, 2, 1)]),
        pd.to_timedelta([1, 2], unit="D"),
        np.array(["2020-01-01", "2020-02-01"], dtype="datetime64[D]"),
    ],
)
@pytest.mark.filterwarnings("ignore::algorithms.PrivacyLeakWarning")
def test_a_column_of_dates_becomes_no_category_in_silence(dates):
    with pytest.raises(DomainError, match="column 'day' holds dates, times or durations: leave it out, make a number"):
        Domain.infer(pd.DataFrame({"age": [20, 30], "day": dates}))
