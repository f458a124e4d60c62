"""A full disk, a quota, a file system that fails: whichever call fails, one line says so, and the run goes on."""

import errno
import json
import os
import random
import re
import sys

import pytest

from tests.injected_faults import Faulty

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="calls are replaced as Linux does it"),
]

ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EMFILE)
PAPER = """\
number: small
title: A small paper
repeats: 2
most_repeats: 2
reported: printed.csv
studies:
  floor: {dataset: [car], algorithm: [rdt, majority], epsilon: [0.1, 1.0]}
tables:
  - {id: accuracy, kind: grid, title: Accuracy, study: floor, metric: accuracy, rows: algorithm, columns: epsilon}
figures:
  - {id: curves, title: Accuracy, study: floor, metric: accuracy, x: epsilon, lines: algorithm}
claims:
  - {id: no-better, text: RDT is no worse than the majority., says: It is no worse., source: page 1, kind: not_worse,
     study: floor, metric: accuracy, better: rdt, worse: majority, margin: 0.05, within: [epsilon]}
"""
PRINTED = """\
id,table,dataset,algorithm,epsilon,metric,statistic,value,decimals,source
n1,accuracy,car,rdt,1.0,accuracy,mean,0.70,2,Table 1
"""
VOLATILE = ("store.sqlite", "store.lock", "timings.csv", "provenance.json", "report.html")
"""What no two runs have alike: the store's pages, times, the date."""


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    """What runs commands, and the words of a sweep and of a paper."""
    faulty = Faulty(tmp_path_factory.mktemp("faulty"))
    folder = tmp_path_factory.mktemp("paper")
    (folder / "paper").mkdir()
    (folder / "paper" / "small.yaml").write_text(PAPER, encoding="utf-8")
    (folder / "paper" / "printed.csv").write_text(PRINTED, encoding="utf-8")
    faulty.words = {
        "sweep": ["dataset=car", "algorithm=majority,rdt", "epsilon=0.1,1", "repeats=2", "output=csv"],
        "paper": [f"--config-dir={folder}", "paper=small"],
    }
    yield faulty
    faulty.close()


@pytest.fixture(scope="module", params=["sweep", "paper"])
def whole(request, faulty, tmp_path_factory):
    """A command without a fault: its words, its folder, its answer, its files and how many calls wrote them."""
    folder = tmp_path_factory.mktemp("whole")
    words = [*faulty.words[request.param], "executor.jobs=1"]
    done, n_calls = faulty.run(folder, *words, f"results={folder}")
    assert (done.returncode, n_calls > 50) == (0, True), done.stderr
    return words, name_folder(done.stdout, folder), read_files(folder), n_calls


def name_folder(text, folder):
    return text.replace(str(folder), "FOLDER").replace(os.path.relpath(folder), "FOLDER")


def read_files(folder):
    """Return what each file of a folder holds; of those that change from run to run, whether they are whole."""
    return {str(path.relative_to(folder)): summarise(path) for path in folder.rglob("*") if path.is_file()}


def summarise(path):
    if path.name == "report.html":
        return path.read_text(encoding="utf-8").rstrip().endswith("</html>")
    if path.name == "provenance.json":
        return sorted(json.loads(path.read_text(encoding="utf-8")))
    return None if path.name in VOLATILE else path.read_bytes()


def check_fault(faulty, whole, folder, fails, error):
    """Let one call fail: one line, no half of a file, and the same command goes on."""
    words, answer, files, _ = whole
    words = [*words, f"results={folder}"]
    done, _ = faulty.run(folder, *words, fails=fails, error=error)
    which = f"call {fails}, error {errno.errorcode[error]}: {done.stderr}"
    assert "Traceback" not in done.stderr, which
    if done.returncode:
        assert done.returncode == 2, which
        assert len(re.findall("^error: ", done.stderr, flags=re.MULTILINE)) == 1, which
        assert str(folder) in done.stderr.splitlines()[-1], which
    left = read_files(folder) if folder.exists() else {}
    half = [name for name, content in left.items() if content != files.get(name, content)]
    assert half == [] and [name for name in left if name.endswith(".part")] == [], which
    again, _ = faulty.run(folder, *words)
    assert (again.returncode, name_folder(again.stdout, folder)) == (0, answer), (which, again.stderr)
    assert read_files(folder) == files, which


def test_whichever_call_fails_one_line_says_so_and_the_run_goes_on(faulty, whole, tmp_path):
    n_calls, rng = whole[-1], random.Random(0)
    for error in rng.sample(ERRORS, 3):  # `make survive` has all
        fails = rng.randrange(1, n_calls + 1)
        check_fault(faulty, whole, tmp_path / f"{fails}", fails, error)


@pytest.mark.slow
def test_every_call_fails_with_every_error(faulty, whole, tmp_path):
    for fails in range(1, whole[-1] + 1):
        for error in ERRORS:
            check_fault(faulty, whole, tmp_path / f"{fails}-{error}", fails, error)
