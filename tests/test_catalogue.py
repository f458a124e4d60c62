"""What there is, for who chooses: every algorithm and data set is described in full, and listed by its kind."""

import json
import re
import shlex
from itertools import chain

import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

import datasets
from documents.search_path import name_chosen, name_stored
from experiments.catalogue.account import describe_privacy, read_class_text
from experiments.catalogue.algorithms import describe_algorithm, read_algorithm
from experiments.catalogue.data_sets import describe_dataset
from experiments.catalogue.kinds import KINDS, group_algorithms, group_datasets
from experiments.catalogue.listing import HEADINGS, format_rows, list_algorithm_rows, list_paper_rows
from experiments.catalogue.screen import HEIGHT, WIDTH, format_field, hang_text
from experiments.cells.grid import expand_grid
from experiments.config import estimators
from experiments.config.papers import read_paper
from experiments.config.paths import list_papers
from tests.command_line import exit_code

ALGORITHMS = estimators.list_algorithms()
FIELDS = ("Class", "Whose", "Kind", "Task", "Privacy", "Variants", "Parameters", "Run")
"""Of every algorithm."""
OF_DATASETS = ("Task", "Rows", "Source", "Licence", "Here", "Left out", "Domain", "Columns", "Run")
"""Of every data set."""


def read_fields(screen):
    """Return the text of each field of a screen by its label, parameters and columns in theirs."""
    fields, label = {}, ""
    for line in screen.splitlines()[1:]:
        label = line[:10].strip() if line[0].isupper() else label
        text = line[11:] if line[0].isupper() else line.strip()
        fields[label] = f"{fields.get(label, '')} {text}".strip()
    return fields


def check_screen(screen, labels, is_long=()):
    fields = read_fields(screen)
    assert set(labels) <= set(fields), "a field is missing"
    assert [label for label, text in fields.items() if not text] == []
    assert [line for line in screen.splitlines() if len(line) > WIDTH or line != line.rstrip()] == []
    assert not re.search(r"\b(None|nan|NaN|True|False)\b|``|\*\*|<class", screen)
    assert "conf/" not in screen
    return fields


@pytest.fixture(scope="module")
def screens():
    """The screens of all algorithms, each made once."""
    return {name: describe_algorithm(name) for name in ALGORITHMS}


def test_every_algorithm_is_described_in_full_on_one_screen(screens):
    for name, screen in screens.items():
        fields = check_screen(screen, FIELDS)
        assert len(screen.splitlines()) <= HEIGHT + 2, name
        assert fields["Kind"] == f"{read_algorithm(name).kind}: {KINDS[read_algorithm(name).kind]}", name
        for parameter in estimators.list_parameters(estimators.find_target(name)) - set(estimators.GIVEN):
            assert f"{parameter} = " in fields["Parameters"], (name, parameter)
        assert "its class does not say what" not in fields["Parameters"], name


def test_every_printed_command_is_one_that_can_be_run(screens, tmp_path, capsys):
    """Its settings make cells; of each form one is given to the command line."""
    forms = {}
    for name, screen in screens.items():
        program, *words = shlex.split(read_fields(screen)["Run"].replace("\\", ""))
        assert program == "dp-replica"
        settings = dict(word.split("=") for word in words)
        assert settings["algorithm"] == name_chosen(name) and set(settings) <= {"dataset", "algorithm", "epsilon"}
        assert ("epsilon" in settings) is estimators.takes_epsilon(name)
        values = {
            "dataset": [settings["dataset"]],
            "algorithm": [settings["algorithm"]],
            "epsilon": [float(settings.get("epsilon", 1))],
        }
        expand_grid(values, repeats=1)
        forms[settings["dataset"], "epsilon" in settings] = name, words
    for name, words in forms.values():
        assert exit_code(*words, "dry_run=true", f"results={tmp_path}") == 0
        assert f" {name} " in capsys.readouterr().err


@pytest.mark.parametrize("name", datasets.names())
def test_every_data_set_is_described_in_full(name, capsys):
    screen = describe_dataset(name)
    fields = check_screen(screen, OF_DATASETS)
    assert len(screen.splitlines()) <= HEIGHT + 1
    entry = datasets.catalogue.read_entry(name)
    assert fields["Rows"].startswith(f"{entry.rows:,}, with {len(entry.domain.features)} columns")
    assert ("Classes" in fields) is (entry.task == "classification")
    assert fields["Domain"].startswith("follows the rows in ") is bool(entry.domain.bounds_from_rows)


def test_a_printed_command_on_a_data_set_plans_a_run(tmp_path, capsys):
    for name in ("car", "nursery"):
        words = shlex.split(read_fields(describe_dataset(name))["Run"].replace("\\", ""))[1:]
        assert exit_code(*words, "dry_run=true", f"results={tmp_path}") == 0
        assert f"{name} thrifty " in " ".join(capsys.readouterr().err.split())


def test_what_is_said_of_some_algorithms_is_right(screens):
    fields = read_fields(screens["edprf_sound"])
    assert fields["Class"].startswith("EDPRFClassifier: eDPRF, a forest of pfDPDT trees")
    assert fields["Whose"] == "paper 4 (eDPRF)"
    assert fields["Task"] == "classification"
    added = "claims ε and accounts for ε, for one record added or removed (2 ε for one record replaced)"
    assert fields["Privacy"] == f"{added}, given a public domain"
    assert "edprf:sound variant=sound tradition " in " ".join(screens["edprf"].split())
    assert fields["Old name"] == "edprf_sound, which its results have"
    assert screens["edprf_sound"].startswith("edprf:sound: ") and "Old name" not in screens["edprf"]
    assert "tradition split=exponential, leaf=noisy_counts" in re.sub(" +", " ", screens["edprf"])
    shown = " ".join(screens["edprf_sound"].split())
    assert 'variant = sound {paper, sound}; default paper: "paper" is the' in shown
    assert "papers 1 (DiffPETs) and 4 (eDPRF) compare with it" in read_fields(screens["rdt"])["Whose"]
    assert "exact leaves" in read_fields(screens["diffpets"])["Privacy"]
    assert "exact leaves" not in read_fields(screens["diffpets_noisy_labels"])["Privacy"]
    assert "n_estimators = 25 int; default 100: The number of trees" in " ".join(screens["random_forest"].split())


def test_what_is_said_of_some_data_sets_is_right():
    fields = read_fields(describe_dataset("car"))
    assert fields["Classes"] == "4: unacc 70.0%, acc 22.2%, good 4.0%, vgood 3.8%"
    assert fields["Left out"] == "no row" and fields["Source"] == "UCI, data set 19"
    assert "safety 3: low, med, high" in re.sub(" +", " ", describe_dataset("car"))
    assert "ihepc_2007h1 stands in for it (3, benchmark)" in read_fields(describe_dataset("ihepc"))["Stand-ins"]
    adult = read_fields(describe_dataset("adult"))
    assert adult["Rows"].endswith("official split: the first 30,162 train, 15,060 test")
    assert adult["Left out"].startswith("rows with a missing value")
    assert adult["Domain"] == "follows the rows in fnlwgt, capital-loss: every account says so"


def test_a_file_of_ours_names_a_kind_and_a_paper_is_named_with_its_own_methods():
    for name in ALGORITHMS:
        assert set(estimators.read_notes(name)) == set(estimators.NOTES), name
    assert set(group_algorithms()) == set(KINDS) - {"own"}
    for number in list_papers():
        for name in read_paper(number).own:
            assert f"paper {number}" in read_algorithm(name).whose and read_algorithm(name).kind == "paper"


def test_what_is_called_sound_keeps_its_claim_and_a_peer_has_an_environment_of_its_own():
    grouped = group_algorithms()
    for name in grouped["sound"]:
        said = describe_privacy(name, read_algorithm(name).task)
        assert said.startswith("claims ε and accounts for ε, for one record added or removed"), name
    with_packages = [name for name in ALGORITHMS if estimators.list_packages(name)]
    assert sorted(map(name_stored, grouped["peer"])) == with_packages
    assert [name for name in grouped["baseline"] if estimators.takes_epsilon(name)] == []


def test_every_parameter_of_ours_has_a_range_a_default_and_a_meaning():
    """What text can be checked for: a default where there is one, and where it is a number, a bound."""
    number = re.compile(r"at least|at most|from \d|above|below|In \(0, 1\)|in [(\[]", flags=re.IGNORECASE)
    for target in set(map(estimators.find_target, ALGORITHMS)):
        estimator = estimators.import_class(target)
        if target.startswith("sklearn."):
            continue
        said = read_class_text(estimator).parameters
        for name, parameter in estimators.read_signature(target).parameters.items():
            text = said[name]
            assert text.values and text.meaning, (target, name)
            if name not in estimators.GIVEN and re.match(r"(int|float)\b", text.values) and name != "n_jobs":
                assert number.search(text.meaning), (target, name)
            if parameter.default is not parameter.empty and name != "domain":
                assert re.search(rf"\b{name}\b.* : .*default=", estimator.__doc__), (target, name)


OWN = '''
from sklearn.base import BaseEstimator, ClassifierMixin


class Silent(ClassifierMixin, BaseEstimator):
    def __init__(self, width=3, epsilon=1.0):
        self.width, self.epsilon = width, epsilon

    def fit(self, X, y):
        self.classes_ = y[:1]
        return self

    def predict(self, X):
        return self.classes_.repeat(len(X))


class Described(Silent):
    """Guess the first label.

    Parameters
    ----------
    width : {1, 3}, default=3
        How wide it guesses. More is said here.

    Notes
    -----
    Privacy: it publishes a **label**.
    """
'''


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder with algorithms of one's own, and where it stands."""
    (tmp_path / "algorithm").mkdir()
    (tmp_path / "own_guesses.py").write_text(OWN, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, text in {
        "silent": "_target_: own_guesses.Silent\n",
        "described": "# Guesses, as I like it.\n_target_: own_guesses.Described\nwidth: 1\n",
        "kept": "_target_: own_guesses.Described\n_kind_: sound\n_whose_: A. Nother, 2024\n",
        "neighbours": "_target_: sklearn.neighbors.KNeighborsClassifier\n",
        "broken": "_target_: own_guesses.Nothing\n",
        "odd": "_target_: own_guesses.Silent\n_kind_: sond\n",
    }.items():
        (tmp_path / "algorithm" / f"{name}.yaml").write_text(text, encoding="utf-8")
    return tmp_path


def describe(capsys, *words):
    """Return what a description says, by field, and its first line."""
    assert exit_code("describe", *words) == 0
    screen = capsys.readouterr().out
    assert all(len(line) <= WIDTH for line in screen.splitlines() if str(words[1]) not in line), screen
    return screen.splitlines()[0], read_fields(screen)


def test_algorithms_of_ones_own_are_described(own, capsys):
    title, fields = describe(capsys, "--config-dir", own, "algorithm=silent")
    assert title == "silent: Silent, which has no docstring"
    assert fields["Class"] == "Silent: it has no docstring"
    assert fields["Kind"] == f"own: {KINDS['own']}"
    assert fields["Privacy"].startswith("claims ε; nothing here says what it accounts for")
    assert "width = 3 its class does not say what it means" in re.sub(" +", " ", fields["Parameters"])
    title, fields = describe(capsys, "--config-dir", own, "algorithm=described")
    assert title == "described: Guesses, as I like it."
    assert fields["Class"] == "Described: Guess the first label." and fields["Privacy"] == "it publishes a label."
    assert "width = 1 {1, 3}; default 3: How wide it guesses. More is said here." in re.sub(
        " +", " ", fields["Parameters"]
    )
    assert fields["Variants"].endswith("kept width=3") or "kept" in fields["Variants"]
    assert "dataset=car algorithm=described epsilon=1" in " ".join(fields["Run"].split())
    _, fields = describe(capsys, "--config-dir", own, "algorithm=kept")
    assert fields["Whose"] == "A. Nother, 2024" and fields["Kind"] == f"sound: {KINDS['sound']}"
    title, fields = describe(capsys, "--config-dir", own, "algorithm=neighbours")
    assert "Classifier implementing the k-nearest neighbors vote." in title
    assert fields["Privacy"] == "claims no ε: it has no such parameter"


def test_algorithms_of_ones_own_are_listed_and_a_broken_one_keeps_nobody_from_it(own, capsys):
    assert exit_code("list", "algorithms", "kind=own", "--config-dir", own) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"own: {KINDS['own']} (5)\n")
    assert "  described   Guesses, as I like it.\n" in text
    assert "  broken      cannot be read:\n" in text and "kept" not in text
    assert exit_code("list", "algorithms", "kind=sound", "output=json", "--config-dir", own) == 0
    rows = list(map(json.loads, capsys.readouterr().out.splitlines()))
    (kept,) = [row for row in rows if row["name"] == "kept"]
    assert (kept["group"], kept["whose"], kept["task"]) == ("sound", "A. Nother, 2024", "classification")
    assert exit_code("describe", "algorithm=odd", "--config-dir", own) == 2
    assert "_kind_: there is no kind 'sond'; choose from sound, paper" in capsys.readouterr().err


def test_a_help_lists_by_kind_and_has_those_of_ones_own(own, capsys):
    assert exit_code("--help", "--config-dir", own) == 0
    lines = capsys.readouterr().out.splitlines()
    begin = {name: next(i for i, line in enumerate(lines) if line.startswith(f"  {name} ")) for name in KINDS}
    assert sorted(begin, key=begin.get) == list(KINDS)
    assert lines[begin["own"]].split() == ["own", "broken,", "described,", "neighbours,", "odd,", "silent"]
    choices = lines[begin["sound"] : lines.index("Settings, with their defaults:")]
    assert all(len(line) <= WIDTH for line in choices if "http" not in line and not line.startswith("  algorithm"))
    named = set(re.findall(r"[\w:]+", " ".join(lines)))
    assert set(map(name_chosen, ALGORITHMS)) | set(datasets.names()) <= named


def test_data_sets_of_ones_own_are_described(tmp_path, capsys):
    (tmp_path / "dataset").mkdir()
    rows = [f"{20 + i},{('cook', 'clerk')[i % 2]},{('well', 'badly')[i % 4 == 0]}" for i in range(20)]
    (tmp_path / "sleepers.csv").write_text("\n".join(["age,job,sleeps", *rows, "77,?,well"]) + "\n", encoding="utf-8")
    text = "# How people sleep.\ntitle: People\ntask: classification\nfile: ../sleepers.csv\ntarget: sleeps\n"
    (tmp_path / "dataset" / "sleepers.yaml").write_text(text + "drop_missing: true\n", encoding="utf-8")
    title, fields = describe(capsys, "--config-dir", tmp_path, "dataset=sleepers")
    assert title == "sleepers: People" and fields["What"] == "How people sleep."
    assert fields["Rows"].startswith("20, with 2 columns: 1 of numbers, 1 nominal; no official split")
    assert fields["Classes"] == "2: badly 25.0%, well 75.0%"
    assert fields["Left out"] == "rows with a missing value: 1 of 21"
    assert fields["Domain"] == "follows the rows in age, job, sleeps: every account says so"
    assert "job 2: clerk, cook" in re.sub(" +", " ", fields["Columns"])


@pytest.fixture
def sleepers(tmp_path, capsys):
    """A function that returns what is said of a table of one's own with incomplete rows and one beyond its bounds."""

    def say(keys):
        (tmp_path / "dataset").mkdir()
        ages = ["" if i < 10 and "missing" in keys else 77 if i == 80 else i % 50 for i in range(100)]
        rows = [f"{age},{('badly', 'well')[i % 2]}" for i, age in enumerate(ages)]
        (tmp_path / "sleepers.csv").write_text("\n".join(["age,sleeps", *rows]) + "\n", encoding="utf-8")
        domain = "domain: {features: {age: {lower: 0, upper: 60}}, target: {sleeps: [well, badly]}}\n"
        text = f"task: classification\nfile: ../sleepers.csv\n{domain}{keys}"
        (tmp_path / "dataset" / "sleepers.yaml").write_text(text, encoding="utf-8")
        return describe(capsys, "--config-dir", tmp_path, "dataset=sleepers")[1]

    return say


def test_rows_of_ones_own_beyond_their_bounds_are_said_to_be_left_out(sleepers):
    assert sleepers("drop_beyond_bounds: true\n")["Left out"] == "rows beyond the declared bounds: 1 of 100"


def test_training_rows_of_ones_own_that_are_left_out_are_none_of_the_split(sleepers):
    fields = sleepers("n_train: 70\ndrop_missing: true\n")
    assert fields["Rows"].endswith("official split: the first 60 train, 30 test")
    assert fields["Left out"] == "rows with a missing value: 10 of 100"


def test_lists_are_grouped_in_lines_of_80_columns():
    rows = list_algorithm_rows()
    text = format_rows(list_algorithm_rows(is_brief=True), HEADINGS["algorithms"])
    assert text == format_rows(rows, HEADINGS["algorithms"]), "the same without the classes"
    assert [row["name"] for row in list_algorithm_rows(["peer"], ["regression"])] == [
        "diffprivlib_linear_regression",
        "dp_ebm_regressor",
        "dp_sgd_regressor",
        "mst_regressor:boosting",
        "mst_regressor:tree",
    ]
    assert sorted(row["stored_as"] for row in rows) == ALGORITHMS
    assert [row["name"] for row in rows] == [name_chosen(row["stored_as"]) for row in rows]
    names = [row["name"] for row in rows]
    start = names.index("diffpets")
    assert {name.partition(":")[0] for name in names[start : start + 5]} == {"diffpets"}, "all variants together"
    assert re.search(
        r"^  diffpets:sound +sound: DiffPETs with every fault repaired\.\s+\[diffpets_sound\]$", text, re.M
    )
    assert "[" not in format_rows(list_algorithm_rows(["baseline"], ["classification"]), HEADINGS["algorithms"])
    assert max(map(len, text.splitlines())) <= WIDTH
    assert max(len(format_rows([row], KINDS).splitlines()) for row in rows) <= 4, "a heading, and two lines or three"
    assert "  majority                          The floor: always the most frequent class." in text
    assert [row["group"] for row in list_paper_rows()] == ["paper"] * 6 + ["study"] * 3


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["list"], "name what to list: list algorithms|datasets|metrics|papers"),
        (["list", "algorithm"], "what: there is no 'algorithm'; choose from algorithms, datasets, metrics, papers"),
        (
            ["list", "algorithms", "kind=sond"],
            "kind: there is no kind 'sond'; choose from sound, paper, reading,",
        ),
        (["list", "algorithms", "kind=sound,1e5"], "kind: there is no kind '100000.0'; choose from sound"),
        (["list", "algorithms", "task=ranking"], "task: there is no 'ranking'; choose from classification, regression"),
        (["list", "algorithms", "output=xml"], "output: there is no 'xml'; choose from table, json"),
        (["list", "datasets", "kind=sound"], "kind: datasets have none; leave it out"),
        (["list", "papers", "extra"], "list does not take the word 'extra'"),
        (["describe", "algorithm=diffpet"], "unknown algorithm 'diffpet'; did you mean 'diffpets'?"),
        (["describe", "dataset=car,adul"], "unknown data set 'adul'; did you mean 'adult'?"),
        (["describe", "adult"], "adult is not there; describe dataset=adult says what that is"),
        (["describe", "rdt"], "rdt is not there; describe algorithm=rdt says what that is"),
        (["describe", "my.csv", "dataset=car"], "file belongs to a table of your own: leave it out beside dataset=..."),
    ],
)
def test_bad_input_is_answered_in_one_line(words, line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert exit_code(*words) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and len(printed.err.splitlines()) == 1 and line in printed.err


def test_several_are_described_one_after_the_other(capsys):
    assert exit_code("describe", "algorithm=majority,linear_regression", "dataset=car") == 0
    titles = re.findall(r"^\w+: .*$", capsys.readouterr().out, flags=re.MULTILINE)
    assert [title.partition(":")[0] for title in titles] == ["majority", "linear_regression", "car"]


class NumberedNotes(ClassifierMixin, BaseEstimator):
    """Predict, says this class. It says more.

    It ends here.

    Parameters
    ----------
    deep, wide : int or None, default=None
        How far; see :class:`~sklearn.tree.DecisionTreeClassifier`.

        .. versionchanged:: 1.0
    *many
        Others.
    """

    def __init__(self, deep=None, wide=None):
        self.deep, self.wide = deep, wide


def test_a_docstring_of_numpydoc_is_read_with_the_words_of_a_command_line():
    text = read_class_text(NumberedNotes)
    assert text.summary == "Predict, says this class. It says more."
    assert text.parameters["deep"].values == "int or null"
    assert text.parameters["wide"].meaning == "How far; see sklearn.tree.DecisionTreeClassifier."
    assert text.parameters["many"].meaning == "Others." and text.privacy == ""


def test_text_is_cut_where_a_sentence_or_a_word_ends():
    assert format_field("Task", "It grows. It ends where the budget does, and no later than that, I say.", 1) == [
        "Task       It grows."
    ]
    (line,) = hang_text("  ", "word " * 40, most_lines=1)
    assert line.endswith("word …") and len(line) <= WIDTH


def test_data_sets_are_grouped_by_task():
    grouped = group_datasets()
    for task, names in grouped.items():
        assert all(datasets.catalogue.read_entry(name).task == task for name in names)
    assert sorted(chain.from_iterable(grouped.values())) == datasets.names()
