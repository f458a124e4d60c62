"""From the long table of a paper to everything that is shown of it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from experiments import illustration, spending, substitutes, unplaced
from experiments.claims import judge_claims
from experiments.selection import PaperError, coverage
from experiments.settings import known
from experiments.statistics import LEVEL
from experiments.verdicts import NOT_REPRODUCED, expected_misses, judge_numbers, read_reported
from plots import figures, fit, ledger, report, scale, shape, span, summary, tables, tradeoff
from plots.labels import OF_NUMBERS, incomplete
from plots.series import shortfall, summarise, with_unplaced

PROJECT = Path(__file__).resolve().parent.parent
#: Figures that are no lines over an axis of a study: what is drawn, and how.
_DRAWN_APART = {
    "fit": (lambda paper, item, table: illustration.curves(item), fit.figure),
    "ledger": (lambda paper, item, table: spending.steps(item), ledger.figure),
    "tradeoff": (tradeoff.frame, tradeoff.figure),
}
_CHECKS = {
    "fit": lambda paper, item: illustration.check(item),
    "ledger": lambda paper, item: spending.check(item),
    "tradeoff": tradeoff.check,
    "span": unplaced.check,
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
    facts = tables.collect_facts(paper)
    numbers = judge_numbers(paper, _reported(paper), table, facts)
    claims = judge_claims(paper, table, numbers, fixed_splits=tables.fixed_splits(paper))
    _write_csv(numbers, folder / "numbers.csv")
    _write_claims(paper, claims, folder / "claims.json")
    shown_tables = [
        _publish_table(paper, item, table, numbers, facts, folder / "tables") for item in paper.get("tables", ())
    ]
    shown_figures = [
        _publish_figure(paper, item, table, numbers, folder / "figures") for item in paper.get("figures", ())
    ]
    notes = _notes(paper, table, numbers)
    page = report.write(paper, table, numbers, claims, notes, shown_tables, shown_figures, folder)
    paths = [page, *(folder / "figures" / f"{f['item']['id']}.png" for f in shown_figures)]
    grids = [shown for shown in shown_tables if shown["item"]["kind"] == "grid"]
    summary.show(paper, numbers, claims, notes, paths, grids=() if len(numbers) else grids)


def _reported(paper: Mapping) -> pd.DataFrame:
    """Read the paper's printed numbers; a paper without the key ``reported`` has none."""
    if not paper.get("reported"):
        return pd.DataFrame(columns=_NO_NUMBERS)
    return read_reported(PROJECT / paper["reported"])


def _publish_table(paper, item, table, numbers, facts, folder: Path) -> dict:
    if item["kind"] == "datasets":
        frame = tables.datasets_frame(item, facts, numbers)
        tables.write_datasets_tex(paper, item, frame, folder / f"{item['id']}.tex")
    elif item["kind"] == "span":
        frame = span.frame(paper, item, table, numbers)
        span.write_span_tex(paper, item, frame, folder / f"{item['id']}.tex")
    else:
        frame = summarise(paper, item, table, numbers, shape.axes_of(item))
        tables.write_grid_tex(paper, item, frame, folder / f"{item['id']}.tex")
    _write_csv(frame, folder / f"{item['id']}.csv")
    return {"item": item, "frame": frame}


def _publish_figure(paper, item, table, numbers, folder: Path) -> dict:
    if item.get("kind") in _DRAWN_APART:
        make, draw = _DRAWN_APART[item["kind"]]
        frame = make(paper, item, table)
        svg, _, _ = figures.write(item["id"], lambda: draw(paper, item, frame), frame, folder)
        return {"item": item, "frame": frame, "svg": svg, "note": shortfall(frame)}
    series = with_unplaced(paper, item, summarise(paper, item, table, numbers, shape.axes_of(item)), numbers)
    svg, _, _ = figures.draw(paper, item, series, folder)
    return {"item": item, "frame": series, "svg": svg, "note": shortfall(series)}


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
    numbers = judge_numbers(paper, _reported(paper), nothing)
    judge_claims(paper, nothing, numbers)
    for item in items:
        for name in item.get("datasets", ()):
            known(name)
        if item.get("kind") in _CHECKS:
            _CHECKS[item["kind"]](paper, item)
        elif "study" in item:
            shape.check_axes(paper, item)
            series = summarise(paper, item, nothing, numbers, shape.axes_of(item))
            scale.limits_of(item, series)
            shape.check_metrics(paper, item)
    ids = [claim["id"] for claim in paper.get("claims") or ()]
    for claim in paper.get("claims") or ():
        if claim.get("reading_of", ids[0]) not in ids:
            raise PaperError(
                f"claim {claim['id']!r}: there is no claim {claim['reading_of']!r} that it is a reading of"
            )
        if "metric" in claim and "study" in claim:
            shape.check_metrics(paper, claim)


def _notes(paper: Mapping, table: pd.DataFrame, numbers: pd.DataFrame) -> list[str]:
    """Return what must be said with the verdicts: how complete the run is, and what chance alone would do."""
    n, expected = coverage(paper, table)
    notes = [incomplete(n, expected) or f"Complete: all {expected} cells.", *substitutes.sentences(paper)]
    if chance := expected_misses(numbers):
        tested = numbers[numbers["statistic"] != "exact"]
        missed = int((tested["verdict"] == NOT_REPRODUCED).sum())
        notes.append(
            f"Each number is judged on its own at {100 * LEVEL:.0f} %: about {chance:.1f} would fall outside by "
            f"chance alone if all were reproducible; {missed} did. Claims share one 5 % error rate for the whole "
            "paper (Holm)."
        )
        if (m := int(paper.get("printed_repeats", 1))) > 1:
            kindest = tested["verdict_one_run"].value_counts()
            notes.append(
                f"Assumed: a printed number is the mean of {m} runs. Were each a single run, "
                + ", ".join(f"{kindest.get(verdict, 0)} would be {verdict}" for verdict in OF_NUMBERS)
                + "."
            )
    return notes


def _write_csv(frame: pd.DataFrame, path: Path) -> None:
    frame.to_csv(path, index=False, float_format="%.10g", lineterminator="\n")


def _write_claims(paper: Mapping, claims: list[dict], path: Path) -> None:
    contents = {"paper": paper["number"], "family_error_rate": round(1 - LEVEL, 10), "claims": claims}
    path.write_text(json.dumps(_plain(contents), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _plain(value):
    """Return what JSON can hold: NaN becomes null, infinite ε the text "inf", numbers keep ten digits."""
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return None if math.isnan(value) else (str(value) if math.isinf(value) else float(f"{value:.10g}"))
    return value
