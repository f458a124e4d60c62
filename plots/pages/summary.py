"""What came out of a paper in a sentence or two: how many verdicts, under which reading, and at which real ε."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from algorithms.accounting.faults import join_names
from experiments.config.paper import Speaker
from experiments.judge.verdict import INCONSISTENT, NOT_IMPLEMENTED, NOT_RUN, REFUTED, REPRODUCED, REPRODUCED_WITHIN
from plots.audit_bounds import VIOLATED
from plots.labels import label_names
from plots.privacy import is_claim_only, list_datasets_at_fault
from plots.run_folder import PaperRun

_NAMED = {
    "reproduced": (REPRODUCED, REPRODUCED_WITHIN),
    "refuted": (REFUTED,),
    "inconsistent in print": (INCONSISTENT,),
}


class _Account(NamedTuple):
    """What is known of the privacy of an algorithm, as predicates of one algorithm and of several."""

    one: str
    several: str


def summarise_run(run: PaperRun) -> str:
    """Return in at most two sentences what came out of a paper.

    The first counts the verdicts on its own claims and printed numbers, and names how near the best reading of its text
    comes, if readings were run. The second says what its own algorithms (``own``) account for, and whether the audit
    convicted them; of a study that proposes none, how many algorithms keep the ε that they claim; and on which data
    sets no account strictly holds.
    """
    if not run.coverage[0]:
        return "Nothing of it has been run yet."
    is_fact = run.numbers["statistic"] == "exact"
    numbers, claims = list(run.numbers.loc[~is_fact, "verdict"]), run.list_verdicts(Speaker.PAPER)
    counts = [count_in_words("claim", claims), count_in_words("printed number", numbers)]
    if not numbers and isinstance(run.paper.number, int):
        counts[1] = "no printed number survives"
    came_out = "; ".join(filter(None, [*counts, _describe_readings(run)]))
    if came_out and (run.is_short or run.coverage[0] < run.coverage[1]):
        came_out = f"so far, {came_out}"
    accounts = _describe_own(run) if run.paper.own else _count_accounts(run.privacy)
    sentences = [came_out, "; ".join(filter(None, [accounts, _describe_data_faults(run)]))]
    return " ".join(f"{sentence[0].upper()}{sentence[1:]}." for sentence in sentences if sentence)


def count_in_words(what: str, verdicts: Sequence[str]) -> str:
    """Return how many verdicts say yes and no; nothing if there are none.

    Examples
    --------
    >>> count_in_words("claim", ["reproduced", "refuted", "refuted", "undecided"])
    'of 4 claims 1 is reproduced and 2 are refuted'
    >>> count_in_words("claim", ["undecided", "reproduced within ± δ", "inconsistent in print"])
    'of 3 claims 1 is reproduced, 1 is inconsistent in print and none is refuted'
    >>> count_in_words("claim", ["undecided", "undecided", "inconsistent in print"])
    'none of 3 claims is reproduced or refuted, and 1 is inconsistent in print'
    >>> count_in_words("claim", ["refuted", "refuted"]), count_in_words("printed number", ["undecided"])
    ('both claims are refuted', 'its one printed number: undecided')
    >>> count_in_words("claim", ["not run", "not run"]), count_in_words("claim", [])
    ('none of 2 claims was run', '')
    """
    n = len(verdicts)
    if n < 2:
        return f"its one {what}: {verdicts[0]}" if verdicts else ""
    if set(verdicts) <= {NOT_RUN, NOT_IMPLEMENTED}:
        return f"none of {n} {what}s was run"
    counts = {name: sum(verdict in counted for verdict in verdicts) for name, counted in _NAMED.items()}
    parts = [f"{count} {'are' if count > 1 else 'is'} {name}" for name, count in counts.items() if count]
    if n in counts.values():
        return f"{'both' if n == 2 else f'all {n}'} {what}s {parts[0].partition(' ')[2]}"
    if not counts["reproduced"] and not counts["refuted"]:
        return ", and ".join([f"none of {n} {what}s is reproduced or refuted", *parts])
    for name in ("reproduced", "refuted"):
        if not counts[name]:
            parts.append(f"none is {name}")
    return f"of {n} {what}s {', '.join(parts[:-1])} and {parts[-1]}"


def describe_best_reading(rows: pd.DataFrame) -> tuple[str, str, str]:
    """Return how far the nearest reading of a text is from what is printed, and whether it is private.

    Parameters
    ----------
    rows : DataFrame
        The readings of one question, ranked; see `readings.ranking.rank_readings`.

    Returns
    -------
    tuple of str
        Three texts: how far off it is, what it costs, and how far off no noise at all is if that is nearer. All are
        empty if no reading could be compared.

    Examples
    --------
    >>> best = {"kind": "reading", "distance": 1.83, "unit": "points", "unpaid": True, "times_label": 3.0}
    >>> null = best | {"kind": "no noise", "distance": 1.12}
    >>> describe_best_reading(pd.DataFrame([null, best]))
    ('1.8 points', 'not private', '1.1 points')
    >>> describe_best_reading(pd.DataFrame([best | {"unpaid": False}]))
    ('1.8 points', 'costs 3 × its ε', '')
    """
    compared = rows[rows["distance"].notna()]
    readings, null = compared[compared["kind"] != "no noise"], compared[compared["kind"] == "no noise"]
    if readings.empty:
        return "", "", ""
    best = readings.iloc[0]
    is_beaten = len(null) > 0 and null["distance"].iloc[0] < best["distance"]
    return _say_distance(best), _describe_cost(best), _say_distance(null.iloc[0]) if is_beaten else ""


def _say_distance(row: Mapping[Any, Any]) -> str:
    is_of_orderings = row["unit"] == "orderings"
    return f"{100 * row['distance']:.0f} % of the orderings" if is_of_orderings else f"{row['distance']:.1f} points"


def _describe_cost(reading: Mapping[Any, Any]) -> str:
    if reading["unpaid"] or math.isinf(reading["times_label"]):
        return "not private"
    if math.isnan(reading["times_label"]):
        return "without any ε"
    if reading["times_label"] > 1 + 1e-9:
        return f"costs {reading['times_label']:.3g} × its ε"
    return "keeps its ε"


def _describe_readings(run: PaperRun) -> str:
    nearest: dict[str, list[str]] = {}
    for _, rows in run.list_rankings():
        off, cost, null = describe_best_reading(rows)
        if off:
            nearest.setdefault(cost, []).append(f"{off}, farther than no noise at all ({null})" if null else off)
    if not nearest:
        return ""
    words = " and ".join(f"{_join_distances(off)}, {cost}" for cost, off in nearest.items())
    is_one = sum(map(len, nearest.values())) == 1
    return f"the nearest {'reading' if is_one else 'readings'} of its text {'is' if is_one else 'are'} off by {words}"


def _join_distances(distances: Sequence[str]) -> str:
    """Return distances as a sentence has them, the unit that all share said once."""
    numbers, units = zip(*(distance.split(" ", 1) for distance in distances), strict=True)
    return f"{join_names(numbers)} {units[0]}" if len(set(units)) == 1 else join_names(distances)


def _describe_own(run: PaperRun) -> str:
    """Say what a paper's own algorithms account for, those with the same account together."""
    alike: dict[tuple[_Account, str], list[str]] = {}
    accounts = {row["algorithm"]: row for row in run.privacy}
    for algorithm in run.paper.own:
        if algorithm in accounts:
            account = _describe_account(accounts[algorithm])
            alike.setdefault((account, _find_measured(run, accounts[algorithm])), []).append(algorithm)
    parts = []
    for (account, measured), algorithms in alike.items():
        names = list(dict.fromkeys(label_names(run.paper, algorithms)))
        is_one = len(names) == 1
        subject = names[0] if is_one else f"{', '.join(names[:-1])} and {names[-1]}"
        parts.append(f"{subject} {account.one if is_one else account.several}")
        parts[-1] += measured.format("it" if is_one else "them")
    return f"as described, {'; '.join(parts)}" if parts else ""


def _describe_account(row: Mapping[str, Any]) -> _Account:
    """Return what an algorithm accounts for; ``row`` as from `plots.privacy.sum_up_privacy`."""
    if is_claim_only(row):
        return _Account("claims an ε that nobody checked", "claim an ε that nobody checked")
    if row["keeps_claim"] is None:
        return _Account("claims no ε", "claim no ε")
    if math.isinf(row["times_label"]):
        return _Account("is private for no finite ε", "are private for no finite ε")
    if row["keeps_claim"]:
        return _Account("accounts for the ε on its label", "account for the ε on their label")
    times = f"up to {row['times_label']:.3g} × the ε"
    return _Account(f"accounts for {times} on its label", f"account for {times} on their label")


def _find_measured(run: PaperRun, row: Mapping[str, Any]) -> str:
    """Return what the audit found against an algorithm, with a gap for its pronoun."""
    measured = run.audit[run.audit["algorithm"] == row["algorithm"]]
    if measured.empty:
        return "; the audit has not tried {}"
    if row["keeps_claim"] is None:
        return f"; the audit shows an ε of at least {measured['bound'].max():.3g}"
    if (measured["verdict"] == VIOLATED).any():
        return ", but the audit convicted {}" if row["keeps_claim"] else ", and the audit convicted {}"
    return ", and the audit found nothing against {}" if row["keeps_claim"] else "; the audit did not convict {}"


def _describe_data_faults(run: PaperRun) -> str:
    names = label_names(run.paper, list_datasets_at_fault(run.privacy))
    return f"strictly, no ε holds on {join_names(names, 'data sets')}, whose bounds follow the rows" if names else ""


def _count_accounts(privacy: Sequence[Mapping[str, Any]]) -> str:
    claiming = [row["keeps_claim"] for row in privacy if row["keeps_claim"] is not None]
    if len(claiming) == 1:
        return f"its one private algorithm {'keeps' if claiming[0] else 'does not keep'} the ε that it claims"
    return f"of {len(claiming)} algorithms that claim an ε {sum(claiming) or 'none'} keep it" if claiming else ""
