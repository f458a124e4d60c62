"""Tables and figures of a run, drawn from the files that hold their numbers: what is drawn is what is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from experiments.run.executors.task_runner import TaskRunner
from plots import style
from plots.exhibits.views import view
from plots.pages.readings import draw_claim, draw_ranking
from plots.runs.paper_run import PaperRun
from plots.runs.run_folder import name_damage

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_exhibits(run: PaperRun, runner: TaskRunner, endings: Iterable[str] = style.ENDINGS) -> list[Path]:
    """Write the tables of a run as LaTeX and its figures in some formats; returns the figures' files."""
    for table in run.paper.tables:
        with name_damage(file := run.find_file(table)):
            view(run.paper, table).write_latex(run.read_frame(table), file.with_suffix(".tex"))
    drawings = {}
    for figure in run.paper.figures:
        draw = view(run.paper, figure).draw
        drawings[figure.id] = partial(_draw_rows, run.find_file(figure), draw, run.read_frame(figure))
    return _write_drawings(drawings, run.folder / "figures", runner, endings)


def redraw(run: PaperRun, runner: TaskRunner) -> list[Path]:
    """Draw all tables and figures of a run anew, in those formats that its folder has; returns the figures' files."""
    figures = run.folder / "figures"
    endings = [ending for ending in style.ENDINGS if any(figures.glob(f"*.{ending}"))]
    readings: dict[str, Callable[[], Figure]] = {}
    for question, rows in run.list_rankings():
        draw_rows = partial(draw_ranking, run.paper, question)
        readings[f"readings-{question.id}"] = partial(_draw_rows, run.folder / "readings.csv", draw_rows, rows)
    for claim, rows in run.list_curves():
        draw_rows = partial(draw_claim, run.paper, claim.text)
        readings[f"curve-{claim.id}"] = partial(_draw_rows, run.folder / "curves.csv", draw_rows, rows)
    return [*draw_exhibits(run, runner, endings), *_write_drawings(readings, figures, runner, endings)]


def _draw_rows(file: Path, draw: Callable[[pd.DataFrame], Figure], rows: pd.DataFrame) -> Figure:
    with name_damage(file):
        return draw(rows)


def _write_drawings(
    drawings: Mapping[str, Callable[[], Figure]], folder: Path, runner: TaskRunner, endings: Iterable[str]
) -> list[Path]:
    tasks = [partial(style.render_figure, name, draw, tuple(endings)) for name, draw in drawings.items()]
    paths = []
    for name, files in zip(drawings, runner.run(tasks), strict=True):
        paths += style.write_rendered(name, files, folder)
    return paths
