"""``make readings``: which reading of an ambiguous text explains what a paper prints?"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from experiments.commands.common import exit_with, parsed, run_studies
from experiments.config.papers import paper_of
from experiments.config.paths import ROOT
from experiments.errors import BadInput
from experiments.judge.numbers import read_reported
from experiments.judge.reading_cells import readings_of
from experiments.judge.readings import ranked, sentence


def command(arguments: list[str]) -> int:
    """Ask the questions of some papers, or of all that have any; returns the exit code."""
    options = parsed("readings", arguments)
    papers = {name: paper_of(name) for name in options.papers}
    asking = {name: paper for name, paper in papers.items() if paper.get("readings")}
    if not asking:
        raise BadInput(f"paper {', '.join(papers)} has no readings: nothing is printed that they could explain")
    return max(_ask(name, paper, options) for name, paper in asking.items())


def _ask(name: str, paper: Mapping, options: Namespace) -> int:
    from plots.reading_ranks import write  # matplotlib is slow to import and is needed only here

    reported = read_reported(ROOT / paper["reported"])
    found = {question["id"]: readings_of(paper, question, reported) for question in paper["readings"]}
    asked = {
        key: list(
            {cell.key: cell for reading in readings for target in reading.targets for cell in target.all()}.values()
        )
        for key, readings in found.items()
    }
    table, code = run_studies(asked, options)
    parts = [ranked(question, found[question["id"]], table) for question in paper["readings"]]
    folder = ROOT / Path(options.results).expanduser() / f"paper-{name}"
    for path in write(paper, parts, folder):
        print(f"  {path}", file=sys.stderr)
    for question, rows in zip(paper["readings"], parts, strict=True):
        print(f"{question['title']}: {sentence(rows)}", file=sys.stderr)
    return code


if __name__ == "__main__":
    exit_with(command)
