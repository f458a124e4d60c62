"""Which reading of a paper's text explains best what it prints? The product of its readings, run and ranked.

A paper's key ``readings`` is a list of questions. Each is one of three kinds::

    readings:
      - id: tables            # printed numbers of one algorithm in one study: the parameters vary
        title: "..."
        study: grid
        algorithm: rfdpp_gini
        params: {leaf: [noisy_counts, exact], tree_budget: [divided, whole]}
        protocol: {evaluate_on: [test, train]}
        repeats: 3
      - {id: table-2, title: "...", table: table-2, repeats: 10}     # numbers without a setting: the settings vary
      - id: orderings         # no number survives, but claims "above" and "below" do
        title: "..."
        claims: [diffpets-above-rdt]
        algorithm: diffpets
        params: {leaf: [noisy_counts, count]}
        repeats: 5

The distance of a reading is the root mean square, over the printed numbers, of ours minus theirs; of orderings, the
share that comes out the wrong way round. Every repeat gives one distance, on splits that all readings share, so that
readings are compared in pairs: those whose difference from the best has an interval that reaches zero are as good.
"""

from __future__ import annotations

import json
import math
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.bands import ROOT, exit_with, paper_of, parsed, run
from experiments.errors import BadInput
from experiments.questions import Reading, kind_of, readings_of
from experiments.statistics import mean_interval
from experiments.verdicts import per_cent, read_reported


def ranked(question: Mapping, readings: list[Reading], table: pd.DataFrame) -> pd.DataFrame:
    """Rank readings by their distance from what is printed.

    Parameters
    ----------
    question : mapping
        What was asked.
    readings : list of Reading
        As from `readings_of`.
    table : DataFrame
        The long table, with the cells of all of them.

    Returns
    -------
    DataFrame
        ``question, unit, rank, reading, distance`` (mean over repeats; points where the paper prints per cent),
        ``from_best`` with ``low`` and ``high`` (how much farther off it is than the best, paired), ``as_good`` (whether
        that may be nothing), ``times_label`` (what its noisy steps cost, as a multiple of the ε of the label),
        ``unpaid`` (whether other steps have no noise at all), ``n`` and ``n_expected`` (cells). Readings without all
        their cells have no distance and stand last.
    """
    cells = table.set_index("key")
    rows = []
    for reading in readings:
        keys = {cell.key for target in reading.targets for cell in target.all()}
        done = cells.loc[[key for key in keys if key in cells.index]]
        n = int((done["status"] == "done").sum())
        distances = _distances(reading, cells) if n == len(keys) else np.array([])
        rows.append((reading.words, distances, *_cost(done["privacy"]), n, len(keys)))
    order = sorted(range(len(rows)), key=lambda i: (rows[i][1].mean() if len(rows[i][1]) else math.inf, i))
    best = rows[order[0]][1]
    return pd.DataFrame([_ranked(question, rank, best, *rows[i]) for rank, i in enumerate(order, start=1)])


def _ranked(
    question: Mapping, rank: int, best: np.ndarray, words: str, distances, times, unpaid, n, n_expected
) -> dict:
    behind = mean_interval(distances - best if len(distances) else [])
    return {
        "question": question["id"],
        "unit": "orderings" if kind_of(question) == "claims" else "points",
        "rank": rank,
        "reading": words,
        "distance": float(distances.mean()) if len(distances) else math.nan,
        "from_best": behind.center,
        "low": behind.low,
        "high": behind.high,
        "as_good": bool(behind.low <= 0) if len(distances) > 1 else rank == 1,
        "times_label": times,
        "unpaid": unpaid,
        "n": n,
        "n_expected": n_expected,
    }


def _distances(reading: Reading, cells: pd.DataFrame) -> np.ndarray:
    """Return the distance of each repeat."""
    parts = []
    for target in reading.targets:
        ours = cells.loc[[cell.key for cell in target.cells], target.metric].to_numpy(np.float64)
        if target.less:
            theirs = cells.loc[[cell.key for cell in target.less], target.metric].to_numpy(np.float64)
            parts.append((ours <= theirs).astype(np.float64))
        else:
            parts.append((ours - target.printed) * (100 if per_cent(target.metric) else 1))
    parts = np.array(parts)
    return parts.mean(axis=0) if reading.targets[0].less else np.sqrt((parts**2).mean(axis=0))


def _cost(privacy: pd.Series) -> tuple[float, bool]:
    """Return what the noisy steps cost at most, in labels, and whether there are steps without noise."""
    said = [json.loads(text) for text in sorted({text for text in privacy if text})]
    finite = [one for one in said if isinstance(one["claimed_epsilon"], int | float)]
    times = [float(one["noisy_epsilon"]) / one["claimed_epsilon"] for one in finite]
    return max(times, default=math.nan), any(not isinstance(one["accounted_epsilon"], int | float) for one in finite)


def sentence(rows: pd.DataFrame) -> str:
    """Say which reading explains best what is printed, and what it costs."""
    best = rows.iloc[0]
    if math.isnan(best["distance"]):
        return "INCOMPLETE: no reading has all its cells"
    others = int(rows["as_good"].sum()) - 1
    unit = "the wrong way round" if best["unit"] == "orderings" else "points off (root mean square)"
    off = f"{best['distance']:.0%} of the orderings" if best["unit"] == "orderings" else f"{best['distance']:.2f}"
    cost = (
        ""
        if math.isnan(best["times_label"])
        else f"; its noisy steps cost {best['times_label']:.3g} × the ε of the label"
    )
    unpaid = ", and other steps have no noise at all" if best["unpaid"] else ""
    tied = f"; {others} more of {len(rows)} are as good" if others else f", better than {len(rows) - 1} others"
    return f"best explained by {best['reading']}: {off} {unit}{tied}{cost}{unpaid}"


def command(arguments: list[str]) -> int:
    """Ask the questions of some papers, or of all that have any; returns the exit code."""
    options = parsed("readings", arguments)
    papers = {name: paper_of(name) for name in options.papers}
    asking = {name: paper for name, paper in papers.items() if paper.get("readings")}
    if not asking:
        raise BadInput(f"paper {', '.join(papers)} has no readings: nothing is printed that they could explain")
    return max(_ask(name, paper, options) for name, paper in asking.items())


def _ask(name: str, paper: Mapping, options: Namespace) -> int:
    from plots.readings import write  # matplotlib is slow to import and is needed only here

    reported = read_reported(ROOT / paper["reported"])
    found = {question["id"]: readings_of(paper, question, reported) for question in paper["readings"]}
    asked = {
        key: list(
            {cell.key: cell for reading in readings for target in reading.targets for cell in target.all()}.values()
        )
        for key, readings in found.items()
    }
    table, code = run(asked, options)
    parts = [ranked(question, found[question["id"]], table) for question in paper["readings"]]
    folder = ROOT / Path(options.results).expanduser() / f"paper-{name}"
    for path in write(paper, parts, folder):
        print(f"  {path}", file=sys.stderr)
    for question, rows in zip(paper["readings"], parts, strict=True):
        print(f"{question['title']}: {sentence(rows)}", file=sys.stderr)
    return code


if __name__ == "__main__":
    exit_with(command)
