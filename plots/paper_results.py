"""From the long table of a paper to everything that is shown of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from experiments.config.data import task_and_domain
from experiments.config.paths import ROOT
from experiments.config.selection import PaperError
from experiments.judge import no_setting, ranks, soundness
from experiments.judge.claims import judge_claims
from experiments.judge.numbers import judge_numbers, read_reported
from experiments.judge.preflight import check_metrics
from experiments.judge.series import summarise, with_unplaced
from experiments.run import example_fit, ledger_steps
from experiments.stats import LEVEL
from experiments.store.study_rows import count_cells
from plots import shape, style, terminal, y_axis
from plots.figures import fit, ledger, tradeoff
from plots.figures import ranks as plotted_ranks
from plots.figures import soundness as plotted_soundness
from plots.pages import paper_page, privacy
from plots.run_folder import Run, write_csv, write_json, write_paper
from plots.tables import grid_table, span

#: Figures that are no lines over an axis of a study: what is drawn, and how.
_DRAWN_APART = {
    "fit": (lambda paper, item, table: example_fit.curves(item), fit.figure),
    "ledger": (lambda paper, item, table: ledger_steps.steps(item), ledger.figure),
    "tradeoff": (tradeoff.frame, tradeoff.figure),
    "ranks": (ranks.ranks, plotted_ranks.figure),
    "soundness": (soundness.gains, plotted_soundness.figure),
}
_CHECKS = {
    "fit": lambda paper, item: example_fit.check(item),
    "ledger": lambda paper, item: ledger_steps.check(item),
    "tradeoff": tradeoff.check,
    "ranks": ranks.check,
    "soundness": soundness.check,
    "span": no_setting.check,
}
_NO_NUMBERS = ["id", "table", "dataset", "metric", "statistic", "value", "decimals", "source"]


def publish(paper: dict, table: pd.DataFrame, folder: Path) -> None:
    """Write the tables, figures, verdicts and the report page of a paper, and print a summary to stderr.

    Parameters
    ----------
    paper : dict
        The paper's description (``conf/paper``).
    table : DataFrame
        The long table, one row per cell and repeat. Cells that are missing are shown as missing.
    folder : Path
        ``results/paper-N``; it is made if need be. A ``provenance.json`` in it becomes part of the report.

    Raises
    ------
    PaperError
        If the description contradicts itself or names printed numbers that are not there.
    """
    check(paper)
    folder = Path(folder)
    for name in ("tables", "figures"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    facts = grid_table.collect_facts(paper)
    numbers = judge_numbers(paper, reported(paper), table, facts)
    claims = judge_claims(paper, table, numbers, fixed_splits=grid_table.fixed_splits(paper))
    write_paper(paper, folder / "paper.yaml")
    write_csv(numbers, folder / "numbers.csv")
    _write_claims(paper, claims, count_cells(paper, table), folder / "claims.json")
    write_json(privacy.sums(table), folder / "privacy.json")
    shown = [_publish_table(paper, item, table, numbers, facts, folder / "tables") for item in paper.get("tables", ())]
    for item in paper.get("figures", ()):
        _publish_figure(paper, item, table, numbers, folder / "figures")
    run = Run.read(folder)
    paths = [paper_page.write(run), *(folder / "figures" / f"{item['id']}.png" for item in paper.get("figures", ()))]
    grids = [one for one in shown if one["item"]["kind"] == "grid"]
    terminal.show(paper, numbers, claims, run.notes(), paths, grids=() if len(numbers) else grids)


def reported(paper: Mapping) -> pd.DataFrame:
    """Return the paper's printed numbers; a paper without the key ``reported`` has none."""
    if not paper.get("reported"):
        return pd.DataFrame(columns=_NO_NUMBERS)
    return read_reported(ROOT / paper["reported"])


def _publish_table(paper, item, table, numbers, facts, folder: Path) -> dict:
    if item["kind"] == "datasets":
        frame = grid_table.datasets_frame(item, facts, numbers)
        grid_table.write_datasets_tex(paper, item, frame, folder / f"{item['id']}.tex")
    elif item["kind"] == "span":
        frame = span.frame(paper, item, table, numbers)
        span.write_span_tex(paper, item, frame, folder / f"{item['id']}.tex")
    else:
        frame = summarise(paper, item, table, numbers, shape.axes_of(item))
        grid_table.write_grid_tex(paper, item, frame, folder / f"{item['id']}.tex")
    write_csv(frame, folder / f"{item['id']}.csv")
    return {"item": item, "frame": frame}


def _publish_figure(paper, item, table, numbers, folder: Path) -> None:
    if item.get("kind") in _DRAWN_APART:
        make, draw = _DRAWN_APART[item["kind"]]
        frame = make(paper, item, table)
        style.write(item["id"], lambda: draw(paper, item, frame), frame, folder)
        return
    series = with_unplaced(paper, item, summarise(paper, item, table, numbers, shape.axes_of(item)), numbers)
    style.draw(paper, item, series, folder)


def check(paper: dict) -> None:
    """Check a paper's printed numbers, tables, figures and claims as far as can be done before any cell has run.

    Raises
    ------
    BadInput
        If one of them asks for what the paper does not run.
    """
    items = [*paper.get("tables", ()), *paper.get("figures", ())]
    for item in items:
        shape.check_keys(item, is_table=item in paper.get("tables", ()))
    nothing = pd.DataFrame()
    numbers = judge_numbers(paper, reported(paper), nothing)
    judge_claims(paper, nothing, numbers)
    for item in items:
        for name in item.get("datasets", ()):
            task_and_domain(name)
        if item.get("kind") in _CHECKS:
            _CHECKS[item["kind"]](paper, item)
        elif "study" in item:
            shape.check_axes(paper, item)
            series = summarise(paper, item, nothing, numbers, shape.axes_of(item))
            y_axis.limits_of(item, series)
            check_metrics(paper, item)
    ids = [claim["id"] for claim in paper.get("claims") or ()]
    for claim in paper.get("claims") or ():
        if claim.get("reading_of", ids[0]) not in ids:
            raise PaperError(
                f"claim {claim['id']!r}: there is no claim {claim['reading_of']!r} that it is a reading of"
            )
        if "metric" in claim and "study" in claim:
            check_metrics(paper, claim)
        if claim["kind"] == "above_at_equal":
            for curve in (claim["better"], claim["worse"]):
                check_metrics(paper, curve | {"id": claim["id"], "metric": [claim["equal"], claim["metric"]]})


def _write_claims(paper: Mapping, claims: list[dict], covered: tuple[int, int], path: Path) -> None:
    known = {"paper": paper["number"], "family_error_rate": round(1 - LEVEL, 10)}
    write_json(known | {"cells": covered[0], "cells_expected": covered[1], "claims": claims}, path)
