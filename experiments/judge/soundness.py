"""What soundness costs, or gains: the sound variant of an algorithm beside the printed one at equal claimed ε."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from experiments.config.selection import PaperError, axis, center_of, matches, study_of
from experiments.judge.ranks import LOWER_IS_BETTER
from experiments.stats import center_interval
from experiments.store.long_table import said_of_privacy
from experiments.store.study_rows import rows_of_study


def gains(paper: Mapping, item: Mapping, table: pd.DataFrame) -> pd.DataFrame:
    """Compare each sound variant with the printed algorithm, on the same splits.

    Parameters
    ----------
    paper, item : mapping
        The paper, and a figure of it with ``study``, ``metric`` and ``pairs``: printed algorithm to its sound variant.
    table : DataFrame
        The long table.

    Returns
    -------
    DataFrame
        One row per pair, ε and data set, and one with an empty ``dataset`` for the mean over the data sets if all have
        an answer: ``printed`` and ``sound`` (algorithms); ``epsilon``; ``gain``, ``low`` and ``high``, center over
        repeats of the sound metric less the printed one, of errors log2(printed error / sound error), so that more is
        better, with its 95 % interval; ``accounted``, the largest ε that the printed one accounts for between tables
        that are ``neighbours`` as it means them, infinite where a step has no noise; ``noisy``, the same over its noisy
        steps alone; ``sound_accounted``, what the sound one accounts for between the same neighbours; ``n`` and
        ``n_expected`` (pairs of cells).
    """
    study = study_of(paper, item)
    sets, epsilons = (axis(study, name, item.get("where")) for name in ("dataset", "epsilon"))
    rows = rows_of_study(table, study, item["metric"], item.get("where"))
    center = center_of(paper, item, item["metric"])
    found = []
    for printed, sound in item["pairs"].items():
        for epsilon in epsilons:
            known = {"printed": printed, "sound": sound, "epsilon": epsilon}
            at = rows[matches(rows["epsilon"], epsilon)]
            privacy = _paid(
                *(said_of_privacy(at[at["algorithm"] == one].get("privacy", ())) for one in (printed, sound))
            )
            of_sets = [
                known
                | {"dataset": dataset}
                | _gain(at[at["dataset"] == dataset], printed, sound, item["metric"], center)
                | privacy
                | {"n_expected": int(paper["repeats"])}
                for dataset in sets
            ]
            mean = float(np.mean([one["gain"] for one in of_sets]))  # NaN where a data set has no answer
            over = (
                {"dataset": "", "gain": mean, "low": math.nan, "high": math.nan, "n": 0} | privacy | {"n_expected": 0}
            )
            found += [*of_sets, known | over]
    return pd.DataFrame(found)


def _gain(rows: pd.DataFrame, printed: str, sound: str, metric: str, center: str) -> dict:
    wide = rows.pivot(index="repeat", columns="algorithm", values=metric).reindex(columns=[printed, sound]).dropna()
    is_error = metric in LOWER_IS_BETTER
    differences = np.log2(wide[printed] / wide[sound]) if is_error else wide[sound] - wide[printed]
    interval = center_interval(center, differences.to_numpy())
    return {"gain": interval.center, "low": interval.low, "high": interval.high, "n": interval.n}


def _paid(printed: list[dict], sound: list[dict]) -> dict:
    """Return the most that both account for, between neighbours as the printed one means them."""
    names = {"accounted": "accounted_epsilon", "noisy": "noisy_epsilon"}
    paid: dict = {name: max((float(one[key]) for one in printed), default=math.nan) for name, key in names.items()}
    neighbours = printed[0]["neighbours"] if printed else ""
    same = [float(one["accounted"][neighbours]) for one in sound] if printed else []
    return paid | {"neighbours": neighbours, "sound_accounted": max(same, default=math.nan)}


def check(paper: Mapping, item: Mapping) -> None:
    """Check that the study has both algorithms of every pair.

    Raises
    ------
    PaperError
        If it has not.
    """
    pairs = item["pairs"]
    if not isinstance(pairs, Mapping) or not pairs:
        raise PaperError(f"{item['id']}: pairs: write {{printed algorithm: its sound variant, ...}}, got {pairs!r}")
    known = axis(study_of(paper, item), "algorithm", item.get("where"))
    for name in [*pairs, *pairs.values()]:
        if name not in known:
            raise PaperError(f"{item['id']}: the study has no algorithm {name!r}; it has: {', '.join(known)}")
