"""Figures and tables are drawn from their files alone: ``redraw`` runs nothing, and ``publish`` draws what it wrote."""

import shutil

import pandas as pd
import pytest
import yaml

from experiments.commands import redraw as redraw_command
from experiments.config.paths import REFERENCE
from plots.pages import printed_picture
from tests.command_line import exit_code

pytestmark = pytest.mark.long

NAME = "paper-6"


@pytest.fixture
def folder(tmp_path):
    """A published run: of its figures there are SVG and CSV."""
    kept = tmp_path / NAME
    shutil.copytree(REFERENCE / NAME, kept)
    return kept


@pytest.fixture
def small(folder):
    """Of this run two figures and one question on readings."""
    paper = yaml.safe_load((folder / "paper.yaml").read_text(encoding="utf-8"))
    paper["figures"], paper["readings"] = paper["figures"][:2], paper["readings"][:1]
    (folder / "paper.yaml").write_text(yaml.safe_dump(paper, sort_keys=False), encoding="utf-8")
    kept = {*(entry["id"] for entry in paper["figures"]), *(f"readings-{entry['id']}" for entry in paper["readings"])}
    for path in folder.glob("figures/*"):
        if path.stem not in kept:
            path.unlink()
    return folder


def redraw(folder, *words):
    return exit_code("do=redraw", f"results={folder.parent}", "executor.jobs=1", *words)


def read_pictures(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("figures/*.[!c]*"))}


def test_what_is_published_is_what_its_files_draw(folder, capsys, monkeypatch):
    """With the names that its paper's file has today, as published runs are drawn."""
    monkeypatch.setattr(redraw_command, "REFERENCE", folder.parent.resolve())
    published = read_pictures(folder)
    latex = {path.name: path.read_text() for path in folder.glob("tables/*.tex")}
    of_all_numbers = folder.parent / f"{printed_picture.NAME}.svg"
    of_all_numbers.touch()
    assert redraw(folder) == 0
    n_measured = len(pd.read_csv(folder / "numbers.csv").query("statistic != 'exact'"))
    assert of_all_numbers.read_text(encoding="utf-8").count("<use ") > n_measured
    assert read_pictures(folder) == published and len(published) >= 5
    assert {path.name: path.read_text() for path in folder.glob("tables/*.tex")} == latex and latex
    stdout, stderr = capsys.readouterr()
    assert stdout == "" and f"{NAME}: {len(published)} figures drawn" in stderr


def test_a_label_and_a_number_change_the_figures_that_show_them(small):
    before = read_pictures(small)
    paper = yaml.safe_load((small / "paper.yaml").read_text(encoding="utf-8"))
    for entry in (*paper["figures"], *paper["readings"]):
        entry["title"] += ", again"
    (small / "paper.yaml").write_text(yaml.safe_dump(paper, sort_keys=False), encoding="utf-8")
    assert redraw(small, "paper=6") == 0 and not (small.parent / f"{printed_picture.NAME}.svg").exists()
    after = read_pictures(small)
    assert after.keys() == before.keys() and all(after[name] != before[name] for name in after)
    frame = pd.read_csv(small / "figures" / "table-6-figure.csv")
    frame.assign(mean=frame["mean"] / 2).to_csv(small / "figures" / "table-6-figure.csv", index=False)
    assert redraw(small, "paper=6") == 0
    changed = [name for name, content in read_pictures(small).items() if content != after[name]]
    assert changed == ["table-6-figure.svg"]


def test_formats_that_a_run_does_not_have_are_not_drawn_and_those_that_it_has_are(small, capsys):
    name = next(iter(read_pictures(small))).removesuffix(".svg")
    (small / "figures" / f"{name}.png").write_bytes(b"old")
    assert redraw(small) == 0
    assert f"{len(list(small.glob('figures/*.svg')))} figures drawn" in capsys.readouterr().err
    endings = {path.suffix for path in small.glob("figures/*")}
    assert endings == {".csv", ".svg", ".png"}
    assert (small / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_that_is_not_there_is_named_with_those_that_are(folder, capsys):
    assert redraw(folder, "paper=2") == 2
    assert capsys.readouterr().err == f"error: {folder.parent} holds no run of paper '2'; it holds: 6\n"
    shutil.rmtree(folder)
    assert redraw(folder) == 2
    assert "holds no run of a paper: run one first" in capsys.readouterr().err
