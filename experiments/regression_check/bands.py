"""The ranges that `make check` accepts: ``results/bands/paper-N.csv``, made by ``make bands`` from many runs.

A row is one number that a paper's key ``check`` names, with its band (`order_statistics`). ``paper-N.json`` beside it
says which verdicts the watched claims have and where all of it comes from. Both belong into the repository: a change
that is meant to change results changes them too, and the difference shows what it did.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from experiments.config.papers import paper_of
from experiments.config.paths import ROOT
from experiments.errors import BadInput, suggestion
from experiments.regression_check.order_statistics import FALSE_ALARMS, Band, band_of
from experiments.regression_check.watch import Check, check_of, doubts, verdict

FOLDER = ROOT / "results" / "bands"
_COLUMNS = ["setting", "metric", *Band._fields]


class Accepted(NamedTuple):
    """What is accepted of a paper.

    Parameters
    ----------
    bands : dict
        The band of every watched setting and metric.
    claims : dict of str to str
        The verdict on every watched claim.
    repeats : int
        Of how many further runs the bands ask for the median.
    """

    bands: dict[tuple[str, str], Band]
    claims: dict[str, str]
    repeats: int


def plan_of(name: str) -> tuple[dict, Check]:
    """Return a paper and what is watched of it.

    Raises
    ------
    BadInput
        If it cannot be checked; the message names its file.
    """
    paper = paper_of(name)
    try:
        return paper, check_of(paper)
    except BadInput as error:
        raise BadInput(f"conf/paper/{name}.yaml: {error}") from error


def accepted_of(paper: Mapping, check: Check, table: pd.DataFrame) -> Accepted:
    """Return what is to be accepted, from the runs of a long table.

    Raises
    ------
    BadInput
        If a number has not all its runs, or the verdict on a claim is not sure enough to be watched.
    """
    bands = {}
    for one in check.watched:
        values = one.values(paper, table)
        if len(values) < check.accepted:
            raise BadInput(f"{one.name}: {len(values)} of {check.accepted} runs have a finite {one.metric}")
        bands[one.name, one.metric] = band_of(values, check.repeats)
    claims = {claim["id"]: verdict(paper, claim, table, check.accepted)[0] for claim in check.claims}
    unsure = [
        f"claim {claim['id']!r} may change without a fault: {doubt}"
        for claim in check.claims
        if (doubt := doubts(paper, claim, table, claims[claim["id"]], check.repeats))
    ]
    if unsure:
        raise BadInput(f"{'; '.join(unsure)}; narrow under check: claims: or drop")
    return Accepted(bands, claims, check.repeats)


def write(name: str, accepted: Accepted, facts: Mapping, folder: Path = FOLDER) -> None:
    """Write ``paper-N.csv`` and ``paper-N.json``."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [(*key, *band) for key, band in accepted.bands.items()]
    path = folder / f"paper-{name}.csv"
    pd.DataFrame(rows, columns=_COLUMNS).to_csv(path, index=False, lineterminator="\n", float_format="%.10g")
    said = {"claims": accepted.claims, "median_of": accepted.repeats, "false_alarms": FALSE_ALARMS}
    text = json.dumps(said | dict(facts), indent=2, ensure_ascii=False) + "\n"
    path.with_suffix(".json").write_text(text, encoding="utf-8")


def read(name: str, check: Check, folder: Path = FOLDER) -> Accepted:
    """Read what is accepted of a paper.

    Raises
    ------
    BadInput
        If it is not there, or was made for something else than what is watched now.
    """
    path = folder / f"paper-{name}.csv"
    again = f"make bands PAPER={name}"
    try:
        rows = pd.read_csv(path)[_COLUMNS].itertuples(index=False)
        bands = {(row[0], row[1]): Band(*row[2:]) for row in rows}
        said = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        accepted = Accepted(bands, said["claims"], said["median_of"])
    except (OSError, ValueError, KeyError) as error:
        raise BadInput(f"{path}, and the .json beside it, cannot be read ({error}); {again} writes them") from error
    asked = {(one.name, one.metric) for one in check.watched}, {claim["id"] for claim in check.claims}, check.repeats
    if asked != (set(bands), set(accepted.claims), accepted.repeats):
        raise BadInput(f"{path} was made for another check than conf/paper/{name}.yaml asks for; {again} makes it anew")
    return accepted


def of_algorithm(check: Check, algorithm: str) -> Check:
    """Return the part of a check that runs an algorithm: what a change of it alone can move.

    Raises
    ------
    BadInput
        If there is none.
    """
    watched = [one for one in check.watched if algorithm in one.where["algorithm"]]
    if not watched:
        names = sorted({name for one in check.watched for name in one.where["algorithm"]})
        raise BadInput(f"no number of {algorithm!r} is watched; {suggestion(algorithm, names)}")
    return replace(check, watched=watched, claims=[one for one in check.claims if algorithm in _algorithms(one)])


def _algorithms(claim: Mapping) -> list[str]:
    said = [(claim.get("where") or {}).get("algorithm"), *(claim.get(key) for key in ("algorithm", "better", "worse"))]
    return [name for one in said if one for name in (one if isinstance(one, list) else [one])]


def join_bands(name: str, check: Check, part: Accepted, facts: Mapping) -> tuple[Accepted, dict]:
    """Put new bands among the others; where they come from is told beside where those do."""
    old, known = read(name, check), _facts(name)
    bands = {key: part.bands.get(key, band) for key, band in old.bands.items()}
    later = {key: facts[key] for key in ("git", "written", "versions")}
    later |= {"settings": [setting for setting, _ in part.bands]}
    return Accepted(bands, old.claims | part.claims, old.repeats), known | {
        "made_later": [*known.get("made_later", []), later]
    }


def _facts(name: str) -> dict:
    said = json.loads((FOLDER / f"paper-{name}.json").read_text(encoding="utf-8"))
    return {key: value for key, value in said.items() if key not in ("claims", "median_of", "false_alarms")}
