"""The regression check: does this code still give what it gave? ``make check``

A few settings of every paper are run again, some repeats of each, and the median of every watched number has to lie in
its band, every watched claim to have its verdict. The check fails too if something could not be checked.

What is accepted stands in ``results/bands/paper-N.csv``, made by ``make bands`` from many runs. A row is one number
that a paper's key ``check`` names, with its band (`order_statistics`). ``paper-N.json`` beside it says which verdicts
the watched claims have and where all of it comes from. Both belong into the repository: a change that is meant to
change results changes them too, and the difference shows what it did.

What the false alarms mean: the runs of the check and those behind the bands are different repeats, with seeds and
splits of their own. As long as the code gives the same digits, the check gives the same answer; a change that draws its
random numbers in another order is a new draw, and alarms by chance once in 10,000 changes, over all papers (see
`order_statistics`).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from algorithms.whole_files import write_text
from experiments.config.finding import Sign
from experiments.config.paper import Paper
from experiments.config.papers import read_paper
from experiments.config.paths import (
    ROOT,
    find_own_file,
    list_own_papers,
    list_papers,
    name_paper_command,
    name_paper_file,
)
from experiments.config.setting import drop_entries, keep_entries
from experiments.errors import BadInput
from experiments.judge.numbers.number_verdict import PrintedNumber
from experiments.judge.words import format_difference, format_share, format_value
from experiments.regression_check.order_statistics import FALSE_ALARMS, POWER, Band, make_band
from experiments.regression_check.watch import (
    WatchList,
    explain_doubt,
    judge_must_hold,
    judge_parts,
    list_claim_parts,
    make_watch_list,
)
from experiments.store.results import Results

FOLDER = ROOT / "results" / "bands"
_COLUMNS = ["setting", "metric", *Band._fields]


class Accepted(NamedTuple):
    """What is accepted of a paper."""

    bands: dict[tuple[str, str], Band]  #: of every watched setting and metric
    claims: dict[str, str]  #: the verdict on every watched claim
    repeats: int  #: over so many further runs the median is taken that must lie in a band


def list_watched_papers() -> list[str]:
    """Return the papers that are checked if none is named: ours, and those of a user that say what to watch."""
    return [*list_papers(), *(name for name in list_own_papers() if read_paper(name).check)]


def find_folder(name: str) -> Path:
    """Return where the bands of a paper are kept: of a user's own paper in ``bands`` of the folder that was added."""
    file = find_own_file(name)
    return file.parents[1] / "bands" if file else FOLDER


def read_watched_paper(name: str) -> tuple[Paper, WatchList]:
    """Return a paper and what is watched of it; BadInput with the name of its file if it cannot be checked."""
    paper = read_paper(name)
    try:
        return paper, make_watch_list(paper)
    except BadInput as error:
        raise BadInput(f"{name_paper_file(name)}: {error}") from error


def measure_accepted(paper: Paper, watched: WatchList, table: pd.DataFrame) -> Accepted:
    """Return what is to be accepted, from the runs of a long table.

    It is BadInput if a number has not all its runs, or the verdict on a claim is not sure enough to be watched.
    """
    bands, results = {}, Results(table)
    for number in watched.numbers:
        values = number.collect_values(results)
        if len(values) < watched.accepted:
            raise BadInput(f"{number.name}: {len(values)} of {watched.accepted} runs have a finite {number.metric}")
        bands[number.key] = make_band(values, watched.repeats)
    claims: dict[str, str] = {}
    doubts = []
    for claim in watched.claims:
        parts = list_claim_parts(paper, claim, results)
        claims[claim.id], _ = judge_parts(parts, watched.accepted)
        if doubt := explain_doubt(parts, claims[claim.id], watched.repeats):
            doubts.append(f"claim {claim.id!r} may change without a fault: {doubt}")
    if doubts:
        raise BadInput(f"{'; '.join(doubts)}; narrow under check: claims: or drop")
    return Accepted(bands, claims, watched.repeats)


def write_accepted(name: str, accepted: Accepted, facts: Mapping[str, Any], folder: Path | None = None) -> None:
    """Write ``paper-N.csv`` and ``paper-N.json``."""
    folder = folder or find_folder(name)
    folder.mkdir(parents=True, exist_ok=True)
    rows = [(*key, *band) for key, band in accepted.bands.items()]
    path = folder / f"paper-{name}.csv"
    frame = pd.DataFrame(rows, columns=_COLUMNS)
    write_text(path, frame.to_csv(index=False, lineterminator="\n", float_format="%.10g"))
    contents = {"claims": accepted.claims, "median_of": accepted.repeats, "false_alarms": FALSE_ALARMS, **facts}
    text = json.dumps(contents, indent=2, ensure_ascii=False) + "\n"
    write_text(path.with_suffix(".json"), text)


def read_accepted(name: str, watched: WatchList, folder: Path | None = None) -> Accepted:
    """Read what is accepted of a paper; BadInput if it is not there, or made for something else than is watched."""
    path = (folder or find_folder(name)) / f"paper-{name}.csv"
    command = name_paper_command("bands", name)
    try:
        rows = pd.read_csv(path)[_COLUMNS].itertuples(index=False)
        bands = {(setting, metric): Band(*numbers) for setting, metric, *numbers in rows}
        contents = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        accepted = Accepted(bands, contents["claims"], contents["median_of"])
    except (OSError, ValueError, KeyError) as error:
        raise BadInput(f"{path}, and the .json beside it, cannot be read ({error}); {command} writes them") from error
    keys = set(map(attrgetter("key"), watched.numbers))
    claims = set(map(attrgetter("id"), watched.claims))
    if (keys, claims, watched.repeats) != (set(bands), set(accepted.claims), accepted.repeats):
        paper = name_paper_file(name)
        raise BadInput(f"{path} was made for another check than {paper} asks for; {command} makes it anew")
    return accepted


def join_accepted(
    name: str, watched: WatchList, part: Accepted, facts: Mapping[str, Any], folder: Path | None = None
) -> tuple[Accepted, dict[str, Any]]:
    """Replace some of a paper's bands and verdicts, and note where the new ones come from."""
    old = read_accepted(name, watched, folder)
    contents = json.loads(((folder or find_folder(name)) / f"paper-{name}.json").read_text(encoding="utf-8"))
    old_facts = drop_entries(contents, ("claims", "median_of", "false_alarms"))
    later = keep_entries(facts, ("git", "written", "versions"))
    later["settings"] = [setting for setting, _ in part.bands]
    old_facts["made_later"] = [*old_facts.get("made_later", []), later]
    return Accepted(old.bands | part.bands, old.claims | part.claims, old.repeats), old_facts


class Difference(NamedTuple):
    """One thing that is not as it was: a setting and metric, or a claim."""

    what: str
    was: str  #: what is accepted, in words
    now: str  #: what was found
    by: str  #: how far it is outside


def find_differences(paper: Paper, watched: WatchList, accepted: Accepted, table: pd.DataFrame) -> list[Difference]:
    """Return all that is outside its band, flipped or missing in the long table of the runs of a check."""
    differences, results = [], Results(table)
    for number in watched.numbers:
        values = number.collect_values(results)
        name = f"{number.name}: {number.metric}"
        differences += _compare_number(name, number.metric, accepted.bands[number.key], values, watched.repeats)
    for claim in watched.claims:
        was = accepted.claims[claim.id]
        now, reason = judge_parts(list_claim_parts(paper, claim, results), watched.repeats)
        if now != was:
            differences.append(Difference(f"claim {claim.id}", was, now, reason))
    for printed, verdict in judge_must_hold(paper, watched, results):
        if verdict.verdict.sign is not Sign.HOLDS:
            differences.append(Difference(name_printed(printed), "holds", verdict.verdict, verdict.reason))
    return differences


def name_printed(number: PrintedNumber) -> str:
    """Return a printed number in words.

    Examples
    --------
    >>> setting = {"dataset": "car", "algorithm": "rdt"}
    >>> name_printed(PrintedNumber("car-rdt", "table-1", "accuracy", "mean", 0.84, "p. 3", 1, setting))
    'printed number car-rdt, 84 %'
    """
    return f"printed number {number.id}, {format_value(number.metric, number.value)}"


def _compare_number(name: str, metric: str, band: Band, values: np.ndarray, n_runs: int) -> list[Difference]:
    was = f"{format_value(metric, band.low)} to {format_value(metric, band.high)}"
    if len(values) < n_runs:
        return [Difference(name, was, f"{len(values)} of {n_runs} runs", "missing")]
    median = float(np.median(values))
    beyond = band.measure_excess(median)
    if not beyond:
        return []
    return [Difference(name, was, format_value(metric, median), f"{format_difference(metric, beyond, '+.3g')} outside")]


def describe_sensitivity(accepted: Accepted) -> list[str]:
    """Say for each metric which shift its bands detect: the smallest and where, and what half of them do.

    Examples
    --------
    >>> bands = {(f"grid: {i}", "accuracy"): Band(200, 0.5, 0.4, 0.6, i / 100) for i in (0, 1, 2, 5)}
    >>> describe_sensitivity(Accepted(bands, {}, 21))
    ['accuracy: 1 point in grid: 1; 2 points in half of 3 bands, 5 points in all; any in 1 without spread']
    """
    shifts: dict[str, dict[str, float]] = defaultdict(dict)
    for (name, metric), band in accepted.bands.items():
        shifts[metric][name] = band.detects
    return [f"{metric}: {_describe_shifts(metric, pd.Series(of_metric))}" for metric, of_metric in shifts.items()]


def _describe_shifts(metric: str, shifts: pd.Series) -> str:
    varying = shifts[shifts != 0]
    words = []
    if len(varying):
        least, half = format_difference(metric, varying.min()), format_difference(metric, varying.median())
        most = format_difference(metric, varying.max())
        words = [f"{least} in {varying.idxmin()}", f"{half} in half of {len(varying)} bands, {most} in all"]
    if n_constant := len(shifts) - len(varying):
        words.append(f"any in {n_constant} without spread")
    return "; ".join(words)


def format_report(name: str, watched: WatchList, accepted: Accepted, differences: Sequence[Difference]) -> str:
    """Return what the check of a paper gave, as text."""
    different = set(map(attrgetter("what"), differences))
    claims = {f"claim {claim.id}" for claim in watched.claims}
    printed = set(map(name_printed, watched.must_hold))
    n_bands, n_outside = len(watched.numbers), len(different - claims - printed)
    control = f", {len(printed - different)} of {len(printed)} printed numbers" if printed else ""
    lines = [
        f"paper {name}: {n_bands - n_outside} of {n_bands} bands hold and {len(claims - different)} of "
        f"{len(claims)} verdicts{control}, medians of {watched.repeats} runs each"
    ]
    if differences:
        frame = pd.DataFrame(differences, columns=["what", "accepted", "now", "by how much"])
        lines += ["", frame.to_string(index=False, justify="left"), ""]
    for sensitivity in describe_sensitivity(accepted):
        lines.append(f"  smallest shift detected ({format_share(POWER)} of the time), {sensitivity}")
    return "\n".join(lines)
