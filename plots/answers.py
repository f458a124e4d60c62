"""The three answers that a reader wants of a paper: do its numbers come out, do its claims hold, is it private?

With them goes its finding, with its sizes filled in and its verdicts compared with those of a run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any

import pandas as pd

from algorithms.accounting.faults import join_names
from experiments.config.estimators import find_read
from experiments.config.finding import INSIDE, PaperFinding, Sign
from experiments.config.paper import Paper
from experiments.judge.claim_answer import ClaimAnswer
from experiments.judge.numbers.number_verdict import half_digit, is_blank
from experiments.judge.verdict import OUTSIDE, Verdict
from experiments.judge.words import format_difference
from experiments.store.long_table import is_claim_only
from plots.audits import NO_AUDIT, describe_standing, select_counting
from plots.labels import MISSING, SYMBOLS, AccountSign, AnySign, label_name, label_names
from plots.privacy import find_account_sign


@dataclass(frozen=True)
class Answer:
    """One of the three answers, in a few words."""

    question: str
    words: str
    #: How many numbers, claims or algorithms have which sign, those that none has left out; empty without any.
    counts: dict[AnySign, int]
    reason: str = ""  #: why, if that can be said in a sentence

    @property
    def tally(self) -> str:
        """The counts in words.

        Examples
        --------
        >>> Answer("Do its claims hold?", "2 of 3 hold", {Sign.HOLDS: 2, Sign.FAILS: 1}).tally
        '✓ 2 hold, ✗ 1 fails'
        """
        return ", ".join(f"{SYMBOLS[sign]} {n} {sign.describe(n)}" for sign, n in self.counts.items())

    @property
    def sign(self) -> AnySign:
        """What the counts come to: the one sign that all have, else depends; open without any.

        Where nothing fails and something is not audited, nobody has looked at the whole.
        """
        if not self.counts:
            return Sign.OPEN
        if self.counts.keys() == {Sign.HOLDS, AccountSign.UNAUDITED}:
            return AccountSign.UNAUDITED
        return next(iter(self.counts)) if len(self.counts) == 1 else Sign.DEPENDS

    @property
    def share(self) -> float:
        """The share that holds, 0 where nothing is counted."""
        return self.counts.get(Sign.HOLDS, 0) / max(sum(self.counts.values()), 1)

    def draw_bar(self, width: int = 20) -> str:
        """Draw the counts as a bar of signs, each of them at least once; a single one needs no bar.

        Examples
        --------
        >>> Answer("", "", {Sign.HOLDS: 2, Sign.FAILS: 28}).draw_bar(10), Answer("", "", {Sign.FAILS: 1}).draw_bar(3)
        ('✓✗✗✗✗✗✗✗✗✗', '✗')
        """
        left, total, drawn = width, sum(self.counts.values()), ""
        if total == 1:
            return SYMBOLS[next(iter(self.counts))]
        for place, (sign, n) in enumerate(self.counts.items(), start=1):
            others = len(self.counts) - place
            length = min(max(1, round(left * n / total)), left - others)
            drawn += SYMBOLS[sign] * length
            left, total = left - length, total - n
        return drawn


def count_signs(verdicts: Iterable[str]) -> dict[AnySign, int]:
    """Return how many verdicts have which sign, in the order of the signs.

    Examples
    --------
    >>> {sign.value: n for sign, n in count_signs(["undecided", "reproduced", "refuted", "refuted"]).items()}
    {'holds': 1, 'fails': 2, 'open': 1}
    """
    signs = [Verdict(verdict).sign for verdict in verdicts]
    return {sign: signs.count(sign) for sign in Sign if sign in signs}


def sum_up_verdicts(question: str, verdicts: Sequence[str], nothing: str) -> Answer:
    """Return how many verdicts on numbers or on claims hold; ``nothing`` is the answer where there are none."""
    if not verdicts:
        return Answer(question, nothing, {})
    counts = count_signs(verdicts)
    n_holding = counts.get(Sign.HOLDS, 0)
    return Answer(question, f"{n_holding} of {len(verdicts)} {Sign.HOLDS.describe(n_holding)}", counts)


_PRIVATE: dict[AnySign, str] = {
    Sign.HOLDS: "yes",
    Sign.FAILS: "no",
    Sign.DEPENDS: "depends on the reading",
    AccountSign.UNAUDITED: AccountSign.UNAUDITED.value,
}
"""Whether algorithms are private as claimed, where all of them come to one sign."""


def judge_privacy(paper: Paper, accounts: Iterable[Mapping[str, Any]], audit: pd.DataFrame) -> Answer:
    """Return whether the algorithms of the paper keep the ε that they claim, or all algorithms if it proposes none.

    An algorithm keeps it if its fitted models account for no more and attacks on the same code and settings measured no
    more, under each reading of it that was run; under some alone, it depends on the reading. Where nobody attacked it,
    its own account is all that there is. ``accounts`` are as from `plots.privacy.sum_up_privacy`, ``audit`` as from
    `plots.audits.read_bounds`.
    """
    question = "Is it private as claimed?"
    by_algorithm = _group_accounts(paper, accounts)
    rows = list(chain.from_iterable(by_algorithm.values()))
    if not rows:
        return Answer(question, "not run", {})
    attacked = _describe_attack(paper, rows, audit)
    claiming = [row for row in rows if row["keeps_claim"] is not None]
    if not claiming:
        words = "it claims an ε without any proof of it" if any(map(is_claim_only, rows)) else "it claims no ε"
        return Answer(question, words, {}, attacked)
    signs = [sign for of_one in by_algorithm.values() if (sign := _find_sign(of_one, audit))]
    counts: dict[AnySign, int] = {sign: signs.count(sign) for sign in SYMBOLS if sign in signs}
    is_about_all = not paper.own and len(signs) > 1
    if not counts.keys() & {Sign.FAILS, Sign.DEPENDS} or is_about_all:
        at_fault = dict.fromkeys(name for row in rows for name in row.get("data_faults", ()))
        reasons = [_describe_condition(label_names(paper, at_fault)), _describe_changes(paper, claiming, audit)]
    else:
        reasons = [_describe_faults(claiming), attacked]
    words = _PRIVATE[signs[0]] if len(counts) == 1 and not is_about_all else _count_private(counts)
    return Answer(question, words, counts, "; ".join(filter(None, reasons)))


def _count_private(counts: Mapping[AnySign, int]) -> str:
    """Return how many algorithms are private as claimed.

    >>> _count_private({Sign.HOLDS: 1, Sign.FAILS: 1}), _count_private({Sign.FAILS: 2, AccountSign.UNAUDITED: 3})
    ('1 of 2 algorithms are', '0 of 5 algorithms are, 3 by their own account alone')
    """
    n_unaudited = counts.get(AccountSign.UNAUDITED, 0)
    alone = f", {n_unaudited} by their own account alone" if n_unaudited else ""
    return f"{counts.get(Sign.HOLDS, 0)} of {sum(counts.values())} algorithms are{alone}"


def _group_accounts(paper: Paper, accounts: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Return the accounts by algorithm: those of the paper's own and of their readings, or of all if it has none."""
    grouped: dict[str, list[Mapping[str, Any]]] = {}
    for row in accounts:
        name = row["algorithm"]
        if paper.own and name not in paper.own:
            name = find_read(name)
        if name in paper.own or not paper.own:
            grouped.setdefault(name, []).append(row)
    return grouped


def _find_sign(rows: Iterable[Mapping[str, Any]], audit: pd.DataFrame) -> AnySign | None:
    """Return whether an algorithm keeps its ε under each of its readings, under none, or under some; None without ε."""
    signs = {find_account_sign(row, audit) for row in rows} - {None}
    if len(signs) < 2:
        return next(iter(signs), None)
    return Sign.DEPENDS if Sign.FAILS in signs else AccountSign.UNAUDITED


def _describe_faults(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say what is wrong first, and how much else is."""
    faults = {fault["name"]: fault["why"] for row in rows for fault in row["faults"]}
    if not faults:
        return ""
    first, *others = faults.values()
    return f"{first} (and {len(others)} more faults)" if others else first


def _describe_attack(paper: Paper, rows: Sequence[Mapping[str, Any]], audit: pd.DataFrame) -> str:
    """Say how much an attack has measured of what is claimed, if it is more; of what claims nothing, how much."""
    exceeding, names = [], [row["algorithm"] for row in rows]
    for bound in select_counting(audit[audit["algorithm"].isin(names)]).to_dict("records"):
        if not math.isfinite(bound["claimed"]) or bound["bound"] > bound["claimed"]:
            exceeding.append(bound)
    if not exceeding:
        return ""
    worst = max(exceeding, key=itemgetter("bound"))
    whom = f" on {label_name(paper, worst['algorithm'])}" if len(names) > 1 else ""
    claim = f" where {worst['claimed']:g} is claimed" if math.isfinite(worst["claimed"]) else ""
    return f"an attack{whom} measured ε ≥ {worst['bound']:.1f}{claim}"


def _describe_changes(paper: Paper, rows: Sequence[Mapping[str, Any]], audit: pd.DataFrame) -> str:
    """Say of which algorithms there is an audit that says nothing of what was run, and why."""
    by_reason: dict[str, list[str]] = {}
    for row in rows:
        why = describe_standing(audit, row["algorithm"])
        if why and why != NO_AUDIT and find_account_sign(row, audit) == AccountSign.UNAUDITED:
            by_reason.setdefault(why, []).append(label_name(paper, row["algorithm"]))
    return "; ".join(f"{join_names(names, 'algorithms')}: {why}" for why, names in by_reason.items())


def _describe_condition(names: Sequence[str]) -> str:
    """Say that it holds only if the ranges of some data sets count as public."""
    if not names:
        return ""
    where = join_names(names) if len(names) < 3 else f"{len(names)} of its data sets"
    return f"if the ranges of {where} are taken as public"


def fill_finding(finding: PaperFinding, claims: Sequence[ClaimAnswer], numbers: pd.DataFrame) -> str:
    """Return a finding with the sizes of a run, from the verdicts on claims and on numbers; a dash where it has none.

    A size is that of an effect, in the setting that refutes the claim if there is one, or of the difference of a
    number, or it is how many numbers lie inside of our intervals.
    """
    found = {row["id"]: format_number_size(row) for row in numbers.to_dict("records")}
    found |= {claim.id: format_claim_size(claim) for claim in claims}
    sizes = {name: found.get(name, MISSING) for name in finding.fields}
    return finding.fill(sizes | ({INSIDE: count_inside(numbers)} if INSIDE in sizes else {}))


def list_misfits(
    finding: PaperFinding, claims: Sequence[ClaimAnswer], numbers: pd.DataFrame, privacy: AnySign, is_partial: bool
) -> list[str]:
    """Return what a finding takes for granted and the verdicts of a run do not bear out, a text for each.

    Words such as "never" take for granted that its claims have one sign under all of their readings.

    A run that is partial leaves much open, so what is open there is no misfit; that it is partial is said beside it.
    """
    of_claims = {claim.id: claim.verdict.sign for claim in claims}
    of_numbers = {row["id"]: Verdict(row["verdict"]).sign for row in numbers.to_dict("records")}
    misfits = []
    for what, expected, found in (
        ("claim", finding.claims, of_claims),
        ("number", finding.numbers, of_numbers),
    ):
        for name, sign in expected.items():
            came_out = found.get(name, Sign.OPEN)
            if came_out != sign and not (came_out == Sign.OPEN and is_partial):
                misfits.append(f"{what} {name}: {_contrast(sign, came_out)}")
    for word in dict.fromkeys(finding.sweeping_words):
        misfits += [f"it says `{word}`, but claim {name}" for name in _list_differing(finding, claims, is_partial)]
    if finding.privacy not in (None, privacy):
        misfits.append(f"privacy: {_contrast(finding.privacy, privacy)}")
    return misfits


def _list_differing(finding: PaperFinding, claims: Sequence[ClaimAnswer], is_partial: bool) -> list[str]:
    """Return the claims of a finding that have several signs under their readings, with what is so of each."""
    differing = []
    for claim in claims:
        signs = {verdict.sign for verdict in claim.conditions.values()}
        if claim.id in finding.claims and len(signs - ({Sign.OPEN} if is_partial else set())) > 1:
            depends = claim.verdict == Verdict.DEPENDS_ON_READING
            differing.append(f"{claim.id} {'depends on the reading' if depends else 'has readings that differ'}")
    return differing


def _contrast(said: Sign, found: AnySign) -> str:
    return f"it says that this {said.describe(1)}; here it {found.describe(1)}"


def find_outside(numbers: pd.DataFrame) -> pd.Series:
    """Return which printed numbers lie outside of our intervals, whatever number of runs they may be means of.

    These are the refuted ones, those that are off by less than δ, and those that a second look has yet to confirm.
    """
    slack = [half_digit(*row) for row in zip(numbers["metric"], numbers["decimals"], strict=True)]
    is_off = numbers["printed"] + slack < numbers["prediction_low"]
    is_off |= numbers["printed"] - slack > numbers["prediction_high"]
    return numbers["verdict"].isin(OUTSIDE) | (is_off & (numbers["verdict"] == Verdict.UNDECIDED))


def count_inside(numbers: pd.DataFrame) -> str:
    """Return how many printed numbers lie inside of our intervals, such as "65 of 68"."""
    if not numbers["prediction_low"].notna().any():
        return MISSING
    tested = numbers[numbers["statistic"] != "exact"]
    n_inside = int((tested["prediction_low"].notna() & ~find_outside(tested)).sum())
    return f"{n_inside} of {len(tested)}"


def format_claim_size(claim: ClaimAnswer) -> str:
    """Return the size of the effect of a claim as it is read: in the setting that refutes it, else over all."""
    return _format_size(claim.metric, claim.refuting.effect if claim.refuting else claim.effect)


def format_number_size(row: Mapping[str, Any]) -> str:
    """Return the size of the difference of a printed number from ours."""
    return _format_size(row["metric"], row["difference"])


def _format_size(metric: str | None, size: float | None) -> str:
    """Return a difference with two digits and without its sign.

    >>> [_format_size("accuracy", size) for size in (-0.2155, 0.0104, None)]
    ['22 points', '1 point', '—']
    """
    return MISSING if size is None or is_blank(size) else format_difference(str(metric), float(f"{abs(size):.2g}"))
