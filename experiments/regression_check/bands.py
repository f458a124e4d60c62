"""The ranges that `make check` accepts: ``results/bands/paper-N.csv``, made by ``make bands`` from many runs.

A row is one number that a paper's key ``check`` names, with its band (`order_statistics`). ``paper-N.json`` beside it
says which verdicts the watched claims have and where all of it comes from. Both belong into the repository: a change
that is meant to change results changes them too, and the difference shows what it did.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from algorithms.installation import name_command
from experiments.config.paper import Paper
from experiments.config.papers import (
    find_own_file,
    list_own_papers,
    list_papers,
    name_paper_file,
    read_paper,
)
from experiments.config.paths import ROOT
from experiments.config.setting import drop_entries, keep_entries
from experiments.errors import BadInput
from experiments.regression_check.order_statistics import FALSE_ALARMS, Band, make_band
from experiments.regression_check.watch import WatchList, explain_doubt, judge_watched_claim, make_watch_list

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
    """Return where the bands of a paper are kept: of a user's own paper in ``bands`` of the folder that was added.

    Examples
    --------
    >>> find_folder("2") == FOLDER
    True
    """
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
    bands = {}
    for number in watched.numbers:
        values = number.collect_values(paper, table)
        if len(values) < watched.accepted:
            raise BadInput(f"{number.name}: {len(values)} of {watched.accepted} runs have a finite {number.metric}")
        bands[number.key] = make_band(values, watched.repeats)
    claims, doubts = {}, []
    for claim in watched.claims:
        claims[claim.id], _ = judge_watched_claim(paper, claim, table, watched.accepted)
        if doubt := explain_doubt(paper, claim, table, claims[claim.id], watched.repeats):
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
    pd.DataFrame(rows, columns=_COLUMNS).to_csv(path, index=False, lineterminator="\n", float_format="%.10g")
    contents = {"claims": accepted.claims, "median_of": accepted.repeats, "false_alarms": FALSE_ALARMS, **facts}
    text = json.dumps(contents, indent=2, ensure_ascii=False) + "\n"
    path.with_suffix(".json").write_text(text, encoding="utf-8")


def read_accepted(name: str, watched: WatchList, folder: Path | None = None) -> Accepted:
    """Read what is accepted of a paper; BadInput if it is not there, or made for something else than is watched."""
    path = (folder or find_folder(name)) / f"paper-{name}.csv"
    command = name_command("bands", paper=name)
    try:
        rows = pd.read_csv(path)[_COLUMNS].itertuples(index=False)
        bands = {}
        for setting, metric, *numbers in rows:
            bands[setting, metric] = Band(*numbers)
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
    old_facts = _read_facts(name, folder or find_folder(name))
    later = keep_entries(facts, ("git", "written", "versions"))
    later["settings"] = [setting for setting, _ in part.bands]
    old_facts["made_later"] = [*old_facts.get("made_later", []), later]
    return Accepted(old.bands | part.bands, old.claims | part.claims, old.repeats), old_facts


def _read_facts(name: str, folder: Path) -> dict[str, Any]:
    contents = json.loads((folder / f"paper-{name}.json").read_text(encoding="utf-8"))
    return drop_entries(contents, ("claims", "median_of", "false_alarms"))
