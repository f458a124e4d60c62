"""What a Hydra user types works, or is refused in one sentence with the way out; no folder is left behind."""

import json
import os
import re
import subprocess
import sys

import pytest
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from documents import search_path
from documents.composed_yaml import read_as_composed
from experiments.composition import start_hydra
from experiments.config.paths import CONF, ROOT
from tests.command_line import exit_code

pytestmark = pytest.mark.long

CAR = ("dataset=car", "algorithm=majority", "repeats=1", "executor.jobs=1")
ONLY_SAID = "repeat=0"  # of the only repeat: the settings are printed alike, and no figure is drawn, which took longest


@pytest.fixture(autouse=True)
def working_folder(tmp_path, monkeypatch):
    """An empty folder to run in, which is empty in the end, too: Hydra would make outputs/ and multirun/ there."""
    folder = tmp_path / "working"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture
def results(tmp_path):
    return f"results={tmp_path / 'results'}"


def epsilons(capsys):
    """Return the values of epsilon of the settings on stdout, in order."""
    settings = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return [setting["epsilon"] for setting in settings if setting["metric"] == "accuracy"]


@pytest.mark.parametrize("flag", ["-m", "--multirun", "--run", "-r"])
@pytest.mark.parametrize("place", [0, 2, 5])
def test_a_flag_may_stand_anywhere_and_adds_nothing(flag, place, results, capsys):
    words = [*CAR, "epsilon=0.5,1", results, ONLY_SAID]
    words.insert(place, flag)
    assert exit_code(*words) == 0
    assert epsilons(capsys) == [0.5, 1.0]


@pytest.mark.parametrize("values", ["0.5,1", "choice(0.5,1)", "range(0.5,1.5,0.5)", "sort(1,0.5)"])
def test_lists_are_written_as_in_hydra(values, results, capsys):
    assert exit_code(*CAR, f"epsilon={values}", results, ONLY_SAID) == 0
    assert epsilons(capsys) == [0.5, 1.0]


def test_options_of_a_group_are_globbed(results, capsys):
    assert exit_code("dataset=glob(car*)", "algorithm=majority", "dry_run=true", results) == 0
    assert "    car  majority" in capsys.readouterr().err


@pytest.mark.parametrize(
    "params",
    [
        ["hydra.sweeper.params={dataset: car, algorithm: majority, epsilon: '0.5,1'}"],
        [*CAR[:2], 'hydra.sweeper.params.epsilon="0.5,1"'],
        [*CAR[:2], '+hydra.sweeper.params.epsilon="0.5,1"'],
    ],
)
def test_the_grid_may_be_given_to_the_sweeper(params, results, capsys):
    words = [*params, *CAR[2:], results, ONLY_SAID]
    assert exit_code(*words) == 0
    assert epsilons(capsys) == [0.5, 1.0]
    assert exit_code(*words, "epsilon=3") == 0
    assert epsilons(capsys) == [3.0]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_configuration_is_shown(place, capsys):
    words = ["dataset=car", "algorithm=rdt", "algorithm.max_depth=3"]
    words[place:place] = ["--cfg", "job"]
    assert exit_code(*words) == 0
    shown = capsys.readouterr().out
    assert "_target_: algorithms.RDTClassifier" in shown and "  max_depth: 3\n" in shown and "hydra:" not in shown


def test_the_configuration_is_shown_in_part_and_resolved(capsys):
    assert exit_code("do=export", "--cfg", "job", "results=here") == 0
    assert "file: ${results}/cells.parquet" in capsys.readouterr().out
    assert exit_code("do=export", "--cfg", "job", "--resolve", "results=here") == 0
    assert "file: here/cells.parquet" in capsys.readouterr().out
    assert exit_code("--cfg", "hydra", "--package", "hydra.run") == 0
    assert "dir: ." in capsys.readouterr().out
    assert exit_code("--cfg", "all") == 0


@pytest.mark.parametrize("info", ["all", "config", "defaults", "defaults-tree", "plugins", "searchpath"])
def test_hydra_tells_of_itself(info, capsys):
    assert exit_code("--info", info, "dataset=car") == 0
    assert len(capsys.readouterr().out) > 100


def test_the_version_is_that_of_this_program(capsys):
    assert exit_code("--version") == 0
    stdout = capsys.readouterr().out
    assert re.fullmatch(r"dp-replica \d+\.\d+\.\d+, Python [\d.]+, numpy [\d.]+, .*Hydra [\d.]+\n", stdout)


def test_hydra_helps():
    # in a process of its own: its logging would close the stream that pytest captures
    command = [sys.executable, "-m", "experiments", "--hydra-help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "Hydra" in done.stdout


def test_a_help_lists_what_hydra_lists(capsys):
    assert exit_code("--help") == 0
    words = set(re.split(r"[\s,]+", capsys.readouterr().out))
    with start_hydra():
        loader = GlobalHydra.instance().config_loader()
        listed = {
            group: loader.get_group_options(group) for group in ("algorithm", "dataset", "do", "executor", "paper")
        }
    for group, names in listed.items():
        known = {name for name in search_path.list_choices(CONF / group) if search_path.name_chosen(name) == name}
        assert known <= set(names) and set(map(search_path.name_command_word, known)) <= words, group
        assert len(known) > 2, group


def test_a_help_is_of_the_command_that_is_named(capsys):
    asked = [["check", "--help"], ["--help", "check"], ["--help", "do=check", "paper=2"], ["do='check'", "--help"]]
    said = []
    for words in asked:
        assert exit_code(*words) == 0
        said.append(capsys.readouterr().out)
    assert len(set(said)) == 1 and said[0].startswith("Run a part of every paper again")
    assert exit_code("--help", "bogus") == 2
    assert capsys.readouterr().err.startswith("error: cannot read 'bogus': write name=value")


def test_a_command_may_stand_behind_options(capsys):
    assert exit_code("-m", "describe", "metric=rmse") == 0
    assert "rmse" in capsys.readouterr().out


def test_a_setting_may_refer_to_hydra(tmp_path, capsys):
    assert exit_code(*CAR, "results=${hydra:runtime.cwd}/../referred") == 0
    assert (tmp_path / "referred" / "store.sqlite").is_file()


@pytest.mark.parametrize("words", [["describe"], ["--cfg", "job"]])
def test_variants_are_found_on_a_search_path_of_hydra(words, tmp_path, capsys):
    (tmp_path / "more" / "algorithm").mkdir(parents=True)
    text = "_target_: sklearn.dummy.DummyClassifier\n_variants_: {prior: {_what_: The shares., strategy: prior}}\n"
    (tmp_path / "more" / "algorithm" / "floor.yaml").write_text(text, encoding="utf-8")
    path = f"hydra.searchpath=[file://{tmp_path / 'more'}]"
    assert exit_code(*words, "algorithm=floor:prior", path) == 0, capsys.readouterr().err
    assert "prior" in capsys.readouterr().out


def test_papers_of_another_folder_are_run(tmp_path, results, capsys):
    (tmp_path / "more" / "paper").mkdir(parents=True)
    paper = (
        "number: mine\ntitle: Mine\nrepeats: 2\nstudies: {floor: {dataset: [car], algorithm: [majority]}}\ntables: []\n"
    )
    (tmp_path / "more" / "paper" / "mine.yaml").write_text(paper, encoding="utf-8")
    assert exit_code("--config-dir", tmp_path / "more", "paper=mine", "dry_run=true", results) == 0
    assert "2 cells: 0 in" in capsys.readouterr().err


def test_an_installed_command_is_completed_by_shells(tmp_path, monkeypatch, capsys):
    assert exit_code("-sc", "install=bash", program="dp-replica") == 0
    assert capsys.readouterr().out.rstrip().endswith("hydra_bash_completion dp-replica")
    (tmp_path / "own" / "dataset").mkdir(parents=True)
    (tmp_path / "own" / "dataset" / "mine.yaml").write_text("file: mine.csv\n", encoding="utf-8")
    for line, completed in (
        ("do=ver", "do=verify"),
        ("dataset=ca", "dataset=car"),
        ("do=check executor.jo", "executor.jobs="),
        ("aud", "audit"),
        ("help aud", "audit"),
        ("", "describe"),
        ("run dataset=ca", "dataset=car"),
        ("describe algorithm=rd", "algorithm=rdt"),
        ("paper=2 repe", "repeats="),
        (f"--config-dir {tmp_path / 'own'} dataset=mi", "dataset=mine"),
    ):
        monkeypatch.setenv("COMP_LINE", f"dp-replica {line}")
        assert exit_code("-sc", "query=bash", program="dp-replica") == 0
        completions, error = capsys.readouterr()
        assert completed in completions.split() and error == "", line
        assert exit_code("-sc", "query=fish", program="dp-replica") == 0
        assert completed in capsys.readouterr().out.splitlines(), "fish wants a line each"


@pytest.mark.parametrize(
    "line", ["'x repe", "raport paper=", "--config-dir nowhere dataset=ca", "paper=no re", "a=[ b"]
)
def test_what_cannot_be_completed_puts_no_error_into_the_prompt(line, monkeypatch, capsys):
    monkeypatch.setenv("COMP_LINE", f"dp-replica {line}")
    assert exit_code("-sc", "query=bash", program="dp-replica") == 0
    assert capsys.readouterr().err == ""


def test_help_is_a_command_too(capsys):
    assert exit_code("help", "audit") == 0
    said = capsys.readouterr().out
    assert exit_code("audit", "--help") == 0 and capsys.readouterr().out == said


def test_a_folder_that_is_called_like_a_setting_is_no_group(tmp_path, results, capsys):
    for name in ("algorithm", "results", "claims", "experiment"):
        (tmp_path / "own" / name).mkdir(parents=True)
    (tmp_path / "own" / "experiment" / "large.yaml").write_text("# @package _global_\nrepeats: 7\n", encoding="utf-8")
    own = ("--config-dir", tmp_path / "own")
    assert exit_code(*own, *CAR, results, "dry_run=true") == 0
    assert str(tmp_path / "results" / "store.sqlite") in capsys.readouterr().err
    assert exit_code(*own, "decide", "paper=demo", "claims=nonsense", results) == 2
    assert "the paper has no claim 'nonsense'" in capsys.readouterr().err
    assert exit_code(*own, *CAR[:2], results, "--cfg", "job") == 0
    assert f"results: {tmp_path / 'results'}" in capsys.readouterr().out
    assert exit_code(*own, *CAR[:2], "+experiment=large", "--cfg", "job") == 0
    assert "repeats: 7" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["runs (1)", "ünï 🙂", "eq=al", "it's", "100% #1 ?x&y"])
def test_results_go_to_a_folder_of_any_name(name, tmp_path, capsys):
    assert exit_code(*CAR, f"results={tmp_path / name}") == 0, capsys.readouterr().err
    assert (tmp_path / name / "sweeps" / "car-majority" / "report.html").is_file()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["hydra/sweeper=basic"], "leave it out, lists of values are run"),
        (["hydra.sweeper.lists=[repeats]"], "belongs to the command: leave it out"),
        (["hydra/launcher=joblib"], "choose executor=local|threads|dask"),
        (["hydra/launcher=basic", "-m"], "choose executor=local|threads|dask"),
        (["hydra.launcher.n_jobs=2"], "choose executor=local|threads|dask"),
        (["hydra.run.dir=elsewhere"], "results=FOLDER says where"),
        (["hydra.mode=RUN"], "one call runs a whole grid, of one setting or of many: leave it out"),
        (["hydra.sweep.dir=elsewhere"], "results=FOLDER says where"),
        (["hydra.sweep.subdir=elsewhere"], "results=FOLDER says where"),
        (["hydra.output_subdir=.hydra"], "results=FOLDER says where"),
        (["hydra.job.chdir=true"], "results=FOLDER says where"),
        (
            ["hydra.sweeper.params={repeats: '1,2'}"],
            "repeats cannot have several values; only these can: paper, dataset",
        ),
        (["--cfg", "job", "epsilon=1,2"], "give one value"),
        (["--cfg", "job", "epsilon=range(1,3)"], "give one value"),
        (["--cfg", "job", "-m", "epsilon=1,2"], "--multirun and --cfg do not go together; leave out --multirun"),
        (["--info", "config", "-m"], "--multirun and --info do not go together; leave out --multirun"),
        (["--resolve"], "--resolve goes with --cfg or --help"),
        (["--config-path", "elsewhere"], "add to it with --config-dir"),
        (["--config-dir", "nowhere"], "--config-dir: there is no folder nowhere"),
        (["--config-name", "nothing"], "'nothing'"),
        (["--experimental-rerun", "config.pickle"], "run the same command again"),
        (["-sc", "install=bash"], 'eval "$(dp-replica -sc install=bash)"'),
        (["--dry-run"], "there is no option --dry-run; settings are written name=value: dry_run=..."),
        (["--jobs", "2"], "settings are written name=value"),
        (["~repeats"], "Could not delete"),
        (["~algorithm"], "nothing can be deleted"),
        (["~do"], "~do: a command is chosen by its name, or by do=NAME"),
        (["+do=check"], "a command is chosen by its name, or by do=NAME"),
        (["hydra.sweeper.params.epsilon='1e400,1'"], "1e400 is larger than any number that can be held"),
        (["--package", "executor"], "--package goes with --cfg"),
        (["+repaets=3"], "no setting can be added to run; write repaets=... to change one"),
        (["++repeats=3"], "no setting can be added to run; write repeats=... to change one"),
        (["repaets=3"], "run has nothing called 'repaets' to set; did you mean 'repeats'?"),
        (["executor.job=3"], "did you mean 'executor.jobs'?"),
        (["repeats=3,4"], "repeats cannot have several values; in run only these can: paper, dataset, algorithm,"),
        (["epsilon=interval(0,1)"], "an interval is not a list of values"),
        (["dataset.rows=3"], "dataset.rows cannot be changed: run takes what the file of the dataset says"),
        (["dataset=3"], "unknown dataset '3'"),
        (["dataset=inf"], "unknown dataset 'inf'"),
        (["dataset=nan"], "unknown dataset 'nan'"),
        (["dataset=-inf"], "unknown dataset '-inf'"),
        (["dataset=2020-01-01"], "unknown dataset '2020-01-01'"),
        (["dataset=1:30"], "unknown dataset '1:30'"),
        (["dataset=1_000"], "unknown dataset '1_000'"),
        (["dataset=car,inf"], "unknown data set 'inf'"),
        (["dataset=1e5,car"], "unknown data set '1e5'"),
        (["algorithm=1e5"], "unknown algorithm '1e5'"),
        (["algorithm=0x10"], "unknown algorithm '0x10'"),
        (["algorithm=True"], "unknown algorithm 'True'"),
        (["paper=.5"], "unknown paper '.5'; did you mean '5'?"),
        (["executor=1e5"], "unknown executor '1e5'"),
        (["do=1e5"], "unknown do '1e5'"),
        (["dataset=[car,inf]"], "write dataset=NAME; where several are taken, with commas: dataset=NAME,NAME"),
        (["dataset@x=inf"], "dataset@x=inf: write dataset=NAME"),
        (["dataset=carr"], "unknown dataset 'carr'; did you mean 'car'?"),
        (["dataset"], "cannot read 'dataset': write name=value"),
        (["raport"], "there is no command 'raport'; did you mean 'report'?"),
        (["decsribe"], "there is no command 'decsribe'; did you mean 'describe'?"),
        (["results="], "results= is empty, perhaps a variable is not set: write results=PATH, or leave it out"),
        (["results=''"], "results= is empty, perhaps a variable is not set: write results=PATH, or leave it out"),
        (["results=null"], "results=null names no folder: write results=FOLDER, or leave it out"),
        (["executor=threads", "executor.address=tcp://host:8786"], "it goes with executor=dask"),
    ],
)
def test_what_cannot_work_is_refused_in_one_sentence(words, sentence, results, capsys):
    assert exit_code(*CAR[:2], results, *words) == 2
    stdout, stderr = capsys.readouterr()
    assert len(stderr.splitlines()) == 1, stderr
    assert stdout == "" and stderr.startswith("error: ") and sentence in stderr


@pytest.mark.parametrize("name", ["inf", "nan", "1e5", "0x10", ".5", "2020-01-01", "null", "true"])
def test_a_name_that_yaml_reads_as_something_else_is_found(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for group, text in {
        "algorithm": "_target_: sklearn.dummy.DummyClassifier\n",
        "dataset": "file: ../rows.csv\ntask: classification\ntarget: y\n",
        "paper": "number: x\ntitle: T\nstudies: {all: {dataset: car, algorithm: majority}}\n",
    }.items():
        (tmp_path / group).mkdir()
        (tmp_path / group / f"{name}.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "rows.csv").write_text("x,y\n1,a\n2,b\n3,a\n4,b\n", encoding="utf-8")
    words = ("--config-dir", tmp_path, "dry_run=true", "repeats=1", f"results={tmp_path}")
    for chosen in (
        (f"dataset={name}", f"algorithm={name}"),
        (f"dataset=car,{name}", f"algorithm={name},majority"),
        (f"paper={name}", "most_repeats=1"),
    ):
        assert exit_code(*chosen, *words) == 0, capsys.readouterr().err
        named = capsys.readouterr().err.split()
        assert name in named or chosen[0] == f"paper={name}"


ODD = """1e-3 1e5 1E5 1.e3 .5 .5e3 .5e+3 1_000 1_0.5 1_0e2 -1e3 2020-01-01 2020-01-01T10:00:00 1:30 1:30.5 0x10 0o17 017
.inf -.inf inf yes no on True ~ null 1.5e 1e e5 - 1. -.5 1_"""
ODD_FILES = [*(f"a: {word}" for word in ODD.split()), "a: {b: 1e3, c: '${a.b}'}", "a: {1: x, [1, 2]: z}", "[1e3, .inf]"]


@pytest.mark.parametrize("text", ODD_FILES)
def test_a_file_says_what_it_says_to_hydra(text, tmp_path):
    file = tmp_path / "odd.yaml"
    file.write_text(text, encoding="utf-8")
    try:
        expected = OmegaConf.to_container(OmegaConf.load(file), resolve=True)
    except (OmegaConfBaseException, YAMLError):
        with pytest.raises(YAMLError):
            read_as_composed(file)
    else:
        assert repr(read_as_composed(file)) == repr(expected)


def test_what_is_made_of_a_file_changes_no_other_answer_but_an_edit_does(tmp_path):
    file = tmp_path / "kept.yaml"
    file.write_text("a: {b: [1]}\n", encoding="utf-8")
    read_as_composed(file)["a"]["b"].append(2)
    assert read_as_composed(file) == {"a": {"b": [1]}}
    file.write_text("a: {b: [1, 3]}\n", encoding="utf-8")
    assert read_as_composed(file) == {"a": {"b": [1, 3]}}


def test_a_file_that_another_replaces_is_read_again_whatever_time_it_bears(tmp_path):
    """As `rsync -t`, `cp -p` and `tar` leave it."""
    file, other = tmp_path / "kept.yaml", tmp_path / "other.yaml"
    for path, n in ((file, 5), (other, 7)):
        path.write_text(f"repeats: {n}\n", encoding="utf-8")
        os.utime(path, (1_000_000_000, 1_000_000_000))
    assert read_as_composed(file) == {"repeats": 5}
    other.replace(file)
    assert read_as_composed(file) == {"repeats": 7}


def test_what_is_escaped_in_a_paper_is_no_reference(tmp_path, capsys):
    text = (CONF / "paper" / "demo.yaml").read_text(encoding="utf-8")
    title = re.search(r"^title: .*$", text, re.MULTILINE)[0]
    (tmp_path / "paper").mkdir()
    mine = text.replace(title, r"title: A paper that costs \${5} in all")
    (tmp_path / "paper" / "mine.yaml").write_text(mine, encoding="utf-8")
    words = ("--config-dir", tmp_path, "paper=mine", f"results={tmp_path / 'results'}", "dry_run=true")
    assert exit_code(*words) == 0, capsys.readouterr().err


@pytest.mark.parametrize("folder", ["2026__11", "_", "1_e3"])
def test_a_folder_may_be_named_nearly_as_a_number(folder, tmp_path, capsys):
    words = ("dataset=car", "algorithm=majority", "repeats=1", "dry_run=true", f"results={tmp_path}/{folder}")
    assert exit_code(*words) == 0, capsys.readouterr().err
    assert exit_code(*words[:-1], f"results={folder}") == 0, capsys.readouterr().err


def test_a_key_that_stands_twice_is_refused(tmp_path):
    (tmp_path / "twice.yaml").write_text("a: 1\nb: {c: 2, c: 3}\n", encoding="utf-8")
    with pytest.raises(YAMLError, match="duplicate key c"):
        read_as_composed(tmp_path / "twice.yaml")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"title: [\n", "while parsing a flow node"),
        (b"title: ${nowhere}\n", "Interpolation key 'nowhere' not found"),
        (b"a: 1\na: 2\n", "found duplicate key a"),
        (b"\xff\xfe\n", "'utf-8' codec can't decode"),
    ],
)
def test_a_paper_that_cannot_be_read_is_named_with_the_reason(text, why, tmp_path, capsys):
    (tmp_path / "paper").mkdir()
    file = tmp_path / "paper" / "torn.yaml"
    file.write_bytes(text)
    assert exit_code("--config-dir", tmp_path, "paper=torn", f"results={tmp_path / 'results'}") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {file} cannot be read: ") and why in line
