"""The files of one run of a paper: which there are, how each is written and read.

The folder has ``paper.yaml`` (the description as it was run), ``numbers.csv``, ``claims.json``, ``privacy.json``,
``tables/*.csv``, ``figures/*.csv|.svg``, and, where somebody wrote them, ``provenance.json``, ``readings.csv``,
``curves.csv``, ``further_rows.csv`` and ``costs.csv``. ``runs.parquet`` has the runs that its verdicts rest on: the
command ``judge`` makes the same verdicts of it. ``copies.csv`` has the share of test rows that stand in the
training rows, by data set and split.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import yaml

from algorithms.whole_files import replace_file, write_text
from documents.yaml_files import parse_yaml
from experiments.config.paper import Paper, parse_paper
from experiments.errors import BadInput, one_line
from experiments.store.runs_file import RUNS

_TEXTS = (
    *("id", "table", "dataset", "verdict", "verdicts_by_runs", "reason", "source", "note"),
    *("lowest_setting", "highest_setting", "excluded", "members", "kinds"),
    *("part", "weakest_group", "setting", "reading", "halves", "unit"),
)
DIGITS = 10  #: that numbers keep in tables and in JSON
REMEDY = "running the paper again writes it (its cells are kept)"
NEEDED = ("paper.yaml", "numbers.csv", "claims.json", "privacy.json")  #: files without which a folder holds no run
#: What of a run is small and shows all of it.
KEPT = (
    *(*NEEDED, RUNS, "copies.csv", "provenance.json", "readings.csv", "curves.csv", "further_rows.csv", "costs.csv"),
    *("tables/*", "figures/*.csv", "figures/*.svg"),
)


@contextmanager
def name_damage(path: Path, remedy: str = REMEDY) -> Iterator[None]:
    """Turn what goes wrong with the contents of a file of a run into a BadInput that names it, and the way out."""
    try:
        yield
    except (BadInput, OSError):
        raise
    except Exception as error:  # whatever reads a file that somebody cut or edited
        raise BadInput(f"{path} is not as it was written ({one_line(error)}); {remedy}") from error


def copy_files(folder: Path, target: Path, patterns: Iterable[str]) -> None:
    """Copy those files of a run that match one of some patterns."""
    for pattern in patterns:
        for path in sorted(folder.glob(pattern)):
            if path.name.startswith("."):  # of somebody who was killed while it was written
                continue
            copied = target / path.relative_to(folder)
            copied.parent.mkdir(parents=True, exist_ok=True)
            with replace_file(copied) as aside:
                shutil.copyfile(path, aside)


def read_csv(path: Path, column: str = "") -> pd.DataFrame:
    """Read a table of a run; counted facts are whole numbers, and no text is missing.

    Of a table that nobody needs to write, ``column`` names a column: without the file it is an empty one with that.
    """
    if column and not path.is_file():
        return pd.DataFrame(columns=[column])
    with name_damage(path):
        frame = pd.read_csv(path, dtype=dict.fromkeys(_TEXTS, str))
        if "fact" in frame:
            frame = frame.astype({"value": "Int64", "printed": "Int64"})
        return _fill_texts(frame)


def read_readings(path: Path, name: str) -> pd.DataFrame:
    """Read a table of readings, in which "null" is a word; without the file, or of an older version, an empty one.

    What is optional and a text is empty where there is none, never a number that is missing.
    """
    nothing = pd.DataFrame(columns=[name])
    with name_damage(path):
        rows = pd.read_csv(path, keep_default_na=False, na_values=[""]) if path.is_file() else nothing
        return _fill_texts(rows) if "kind" in rows else nothing


def _fill_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table in which a text that is missing is an empty one."""
    names = frame.columns.intersection(_TEXTS)
    return frame.astype(dict.fromkeys(names, object)).fillna(dict.fromkeys(names, ""))


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write a table of a run."""
    write_text(path, frame.to_csv(index=False, float_format=f"%.{DIGITS}g", lineterminator="\n"))


def read_paper_as_run(path: Path) -> Paper:
    """Read what `write_paper` wrote."""
    with name_damage(path):
        return parse_paper(parse_yaml(path.read_text(encoding="utf-8")), path)


def write_paper(paper: Paper, path: Path) -> None:
    """Write a paper's description as it was run, substitutes and number of repeats included."""
    write_text(path, yaml.safe_dump(paper.to_mapping(), sort_keys=False, allow_unicode=True, width=120))
