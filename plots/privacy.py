"""What fitted models said of their privacy, as a reader sees it, with what an audit says of it.

An accusation is documented: each fault with its place in the text, what goes wrong, what it does to privacy, the lines
of code that take the step and those that confess it; each attack with its tables, its event, and the command that
repeats it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import pandas as pd

from algorithms.accounting.faults import CLAIMS_ONLY, Fault
from experiments.audit.attacks.black_box import describe_difference
from experiments.audit.audit_tasks import find_pair, name_attack
from experiments.audit.of_runs import select_counting
from experiments.audit.outcomes import BLACK_BOX, ONE_RUN, judge_bound
from experiments.audit.private_as_claimed import find_account_sign, find_gravity, rank_fault
from experiments.catalogue.faults import list_confessions, list_steps
from experiments.catalogue.places import Place
from experiments.config.estimators import find_read
from experiments.config.finding import AccountSign, AnySign, Sign
from experiments.config.paper import Paper
from experiments.errors import BadInput
from experiments.store.long_table import is_claim_only
from plots.audits import format_account, format_bound, format_times_label, list_bounds, rate_bound
from plots.labels import SYMBOLS, label_name


def describe_privacy(paper: Paper, row: Mapping[str, Any], audit: pd.DataFrame) -> dict[str, Any]:
    """Return a row of `sum_up_privacy` as it is read, with what the audit measured of the algorithm."""
    sign = find_account_sign(row, audit)
    audited = select_counting(audit[audit["algorithm"] == row["algorithm"]])
    return {
        "algorithm": label_name(paper, row["algorithm"]),
        "sound": CLAIMS_ONLY.name if is_claim_only(row) else _SOUND[sign],
        "paid": format_account(row["times_label"], audited.to_dict("records")),
        "neighbours": ", ".join(row["neighbours"]),
        "faults": list_faults(paper, [row]),
        "attack": next(iter(list_attacks(paper, [row], audit)), None),
        "measured": list_bounds(audit, row["algorithm"]),
    }


_SOUND: dict[AnySign | None, str] = {
    Sign.HOLDS: "yes",
    Sign.FAILS: "no",
    AccountSign.UNAUDITED: f"{SYMBOLS[AccountSign.UNAUDITED]} {AccountSign.UNAUDITED}",
    None: "claims no ε",
}


def describe_data_faults(paper: Paper, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return why no account strictly holds on some data sets, a text for each."""
    faults = [fault for row in rows for fault in row.get("data_faults", {}).items()]
    return list(dict.fromkeys(f"on {label_name(paper, name)} {'; '.join(reasons)}" for name, reasons in faults))


@dataclass(frozen=True)
class FaultRow:
    """A fault of some algorithms of a paper, documented."""

    name: str
    why: str  #: what goes wrong
    source: str  #: what the text says, and where
    loss: str  #: what it does to privacy, and what accounts say where they are finite
    algorithms: str  #: that have it, and in how many of their readings
    steps: tuple[Place, ...]  #: the lines of code that take the step
    places: tuple[Place, ...]  #: those that add it to an account


def list_faults(paper: Paper, rows: Sequence[Mapping[str, Any]]) -> list[FaultRow]:
    """Return every fault of some algorithms, the gravest first, and of these those of the paper's own algorithms.

    ``rows`` are as from `sum_up_privacy`.
    """
    families, proposed = _find_families(rows), {*paper.own}
    having: dict[Fault, list[Mapping[str, Any]]] = {}
    for row in rows:
        for fault in row["faults"]:
            having.setdefault(Fault(**fault), []).append(row)
    ranked: list[tuple[tuple[int, bool], FaultRow]] = []
    for fault, of_rows in having.items():
        names = [row["algorithm"] for row in of_rows]
        loss = "; ".join(filter(None, [find_gravity(fault.name), _format_accounts(of_rows)]))
        readings = _name_readings(paper, names, families)
        steps, places = tuple(list_steps(fault)), _list_places(fault, names)
        described = FaultRow(**vars(fault), loss=loss, algorithms=readings, steps=steps, places=places)
        ranked.append(((rank_fault(fault.name), proposed.isdisjoint(families[name] for name in names)), described))
    return [described for _, described in sorted(ranked, key=itemgetter(0))]


def _find_families(rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the algorithm that each is a reading of, if that is among them; else it stands for itself."""
    names = [row["algorithm"] for row in rows]
    if len(names) == 1:  # which is asked of every algorithm of a paper by itself
        return dict(zip(names, names, strict=True))
    return {name: read if (read := find_read(name)) in names else name for name in names}


def _format_accounts(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return what accounts say, all faults of an algorithm together, where they are finite and more than is claimed.

    >>> _format_accounts([{"times_label": 2.0}, {"times_label": 724.56}, {"times_label": math.inf}])
    'its account has up to 725 × the claimed ε'
    """
    finite = [times for row in rows if (times := row["times_label"]) is not None and 1 < times < math.inf]
    return f"its account has {format_times_label(max(finite))}" if finite else ""


def _name_readings(paper: Paper, algorithms: Iterable[str], families: Mapping[str, str]) -> str:
    """Return algorithms, each with the number of its readings that are meant if these are not all."""
    meant, all_of = Counter(families[name] for name in algorithms), Counter(families.values())
    words = []
    for family, n in meant.items():
        only = f" in {n} of {all_of[family]} readings" if n < all_of[family] else ""
        words.append(f"{label_name(paper, family)}{only}")
    return "; ".join(dict.fromkeys(words))


def _list_places(fault: Fault, algorithms: Iterable[str]) -> tuple[Place, ...]:
    places: set[Place] = set()
    for name in algorithms:
        with suppress(BadInput):  # an algorithm that is no longer there
            places |= {*list_confessions(name, fault)}
    return tuple(sorted(places))


@dataclass(frozen=True)
class AttackRow:
    """What attacks measured of an algorithm at most, so that it can be repeated."""

    algorithm: str
    accounted: str  #: by its own account
    measured: str  #: with the verdict
    where: str  #: what is special about the tables
    tables: str  #: both of them; nothing where an attack has no pair of them
    event: str  #: what happens more often on one of them
    command: str  #: that repeats it


def list_attacks(paper: Paper, rows: Sequence[Mapping[str, Any]], audit: pd.DataFrame) -> list[AttackRow]:
    """Return what attacks measured of each algorithm, those that show most first.

    Of its readings that one stands for it on which pairs of tables show most, and that on which one run with canaries
    does. ``rows`` are as from `sum_up_privacy`, ``audit`` as from `plots.audits.read_bounds`.
    """
    families, accounts = _find_families(rows), {row["algorithm"]: row["times_label"] for row in rows}
    worst: dict[tuple[str, str], dict[str, Any]] = {}
    for bound in select_counting(audit[audit["algorithm"].isin(list(families))]).to_dict("records"):
        if bound["layer"] == ONE_RUN:
            bound["verdict"] = judge_bound(bound["bound"], bound["claimed"])
        if bound["layer"] in (BLACK_BOX, ONE_RUN):
            of_one = families[bound["algorithm"]], bound["layer"]
            worst[of_one] = max(worst.get(of_one, bound), bound, key=rate_bound)
    found = sorted(worst.values(), key=rate_bound, reverse=True)
    return [_make_attack(paper, bound, accounts[bound["algorithm"]]) for bound in found]


def _make_attack(paper: Paper, bound: Mapping[str, Any], times_label: float | None) -> AttackRow:
    """Return a bound as it is read; a summary of an older audit says less of it."""
    pair, name, layer, where = None, bound["algorithm"], bound["layer"], bound["where"]
    with suppress(BadInput):  # an algorithm that is no longer there
        pair = find_pair(name, where)
    n_right = (
        f": {bound['count']:.0f} of {bound['of']:.0f} guesses are right" if layer == ONE_RUN and "of" in bound else ""
    )
    return AttackRow(
        algorithm=label_name(paper, name),
        accounted=format_account(times_label, [bound]),
        measured=format_bound(bound),
        where=f"{where} ({bound['neighbours']})" if "neighbours" in bound else where,
        tables=describe_difference(pair) if pair else "",
        event=f"{bound['event']}{n_right}",
        command=name_attack(name, layer, where),
    )
