"""Publish a finished run: its summaries and figures go to ``results/reference``, its verdicts into the README.

``python -m plots.reference 2`` after ``make reproduce-paper-2``. Runs that are not complete are refused.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pandas as pd
import yaml

from plots.labels import interval, number
from plots.summary import describe

PROJECT = Path(__file__).resolve().parent.parent
_KEPT = ("numbers.csv", "claims.json", "provenance.json", "tables/*.csv", "figures/*.svg")


def verdict_table(paper: dict, numbers: pd.DataFrame) -> str:
    """Return the verdicts on printed numbers as a Markdown table, the counts of a data table left out."""
    lines = ["| setting | paper, % | ours, % (95 % interval) | verdict |", "|---|---:|---:|---|"]
    for row in numbers[numbers["statistic"] != "exact"].to_dict("records"):
        decimals = int(row["decimals"])
        ours = number(row["metric"], row["mean"], decimals)
        between = interval(row["metric"], row["ci_low"], row["ci_high"], decimals)
        printed = number(row["metric"], row["printed"], decimals)
        lines.append(f"| {describe(paper, row)} | {printed} | {ours} ({between}) | {row['verdict']} |")
    return "\n".join(lines)


def claims_table(claims: list[dict]) -> str:
    """Return the verdicts on claims as a Markdown table."""
    lines = ["| claim of the paper | verdict |", "|---|---|"]
    lines += [f"| {claim['text']} | {claim['verdict']}: {claim['reason']} |" for claim in claims]
    return "\n".join(lines)


def readme_block(number_of_paper: str) -> str:
    """Return what the README says of a paper, from the published run in ``results/reference``."""
    kept = PROJECT / "results" / "reference" / f"paper-{number_of_paper}"
    paper = yaml.safe_load((PROJECT / "conf" / "paper" / f"{number_of_paper}.yaml").read_text(encoding="utf-8"))
    claims = json.loads((kept / "claims.json").read_text(encoding="utf-8"))["claims"]
    return verdict_table(paper, pd.read_csv(kept / "numbers.csv")) + "\n\n" + claims_table(claims)


def with_block(readme: str, name: str, block: str) -> str:
    """Return the README with the text between its markers ``<!-- name -->`` and ``<!-- /name -->`` replaced.

    Examples
    --------
    >>> print(with_block("a\\n<!-- x -->\\nold\\n<!-- /x -->\\nb", "x", "new"))
    a
    <!-- x -->
    new
    <!-- /x -->
    b
    """
    before, _, rest = readme.partition(f"<!-- {name} -->\n")
    _, _, after = rest.partition(f"<!-- /{name} -->")
    return f"{before}<!-- {name} -->\n{block}\n<!-- /{name} -->{after}"


def publish_reference(number_of_paper: str, results: Path = PROJECT / "results") -> None:
    """Copy the summaries of a complete run and put its verdicts into the README.

    Raises
    ------
    SystemExit
        If the run is missing or not complete.
    """
    run, kept = results / f"paper-{number_of_paper}", PROJECT / "results" / "reference" / f"paper-{number_of_paper}"
    if not (run / "numbers.csv").is_file():
        sys.exit(f"{run} holds no finished run: make reproduce-paper-{number_of_paper} first")
    numbers = pd.read_csv(run / "numbers.csv")
    if (numbers["n"] < numbers["n_expected"]).any():
        sys.exit(f"{run} is not complete: make reproduce-paper-{number_of_paper} first")
    shutil.rmtree(kept, ignore_errors=True)
    for pattern in _KEPT:
        for path in sorted(run.glob(pattern)):
            target = kept / path.relative_to(run)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    readme = PROJECT / "README.md"
    text = with_block(readme.read_text(encoding="utf-8"), f"paper-{number_of_paper}", readme_block(number_of_paper))
    readme.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for number_of_paper in sys.argv[1:]:
        publish_reference(number_of_paper)
