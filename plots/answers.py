"""The three answers that a reader wants of a paper: do its numbers come out, do its claims hold, is it private?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from algorithms.accounting.faults import join_names
from experiments.config.finding import Sign
from experiments.config.paper import Speaker
from experiments.judge.verdict import SIGN_OF
from plots.audit_bounds import VIOLATED
from plots.labels import SYMBOLS, label_names
from plots.privacy import is_claim_only, list_datasets_at_fault
from plots.runs.run_folder import PaperRun, list_verdicts


@dataclass(frozen=True)
class Answer:
    """One of the three answers.

    Parameters
    ----------
    question : str
        What is asked.
    words : str
        The answer, in a few words.
    counts : dict of Sign to int
        How many numbers, claims or algorithms have which sign, those that none has left out; empty without any.
    reason : str
        Why, if that can be said in a sentence.
    """

    question: str
    words: str
    counts: dict[Sign, int]
    reason: str = ""

    @property
    def tally(self) -> str:
        """The counts in words.

        Examples
        --------
        >>> Answer("Do its claims hold?", "2 of 3 hold", {Sign.HOLDS: 2, Sign.FAILS: 1}).tally
        '✓ 2 hold, ✗ 1 fails'
        """
        return ", ".join(f"{SYMBOLS[sign]} {n} {describe_sign(sign, n)}" for sign, n in self.counts.items())

    @property
    def sign(self) -> Sign:
        """What the counts come to: holds or fails where all or none hold, depends between, open without any."""
        if not self.counts:
            return Sign.OPEN
        n_holding, n = self.counts.get(Sign.HOLDS, 0), sum(self.counts.values())
        return {n: Sign.HOLDS, 0: Sign.FAILS}.get(n_holding, Sign.DEPENDS)

    @property
    def share(self) -> float:
        """The share that holds, 0 where nothing is counted."""
        return self.counts.get(Sign.HOLDS, 0) / max(sum(self.counts.values()), 1)


def describe_sign(sign: Sign, n: int) -> str:
    """Return what a number of claims with a sign do.

    Examples
    --------
    >>> describe_sign(Sign.HOLDS, 1), describe_sign(Sign.FAILS, 2), describe_sign(Sign.OPEN, 3)
    ('holds', 'fail', 'are open')
    """
    if sign == Sign.OPEN:
        return "is open" if n == 1 else "are open"
    return sign.value if n == 1 else sign.value.removesuffix("s")


def answer_paper(run: PaperRun) -> list[Answer]:
    """Return the three answers of a run, in the order in which a page gives them."""
    return [answer_numbers(run), answer_claims(run), answer_privacy(run)]


def answer_numbers(run: PaperRun) -> Answer:
    """Return whether the printed measurements come out; facts of data sets are not among them."""
    verdicts = list(run.numbers.loc[run.numbers["statistic"] != "exact", "verdict"])
    nothing = "it prints no legible value" if isinstance(run.paper.number, int) else "it prints none"
    return _answer_verdicts("Do its numbers come out?", verdicts, nothing)


def answer_claims(run: PaperRun) -> Answer:
    """Return whether the claims of the paper itself hold; readings of them and our own are not among them."""
    return _answer_verdicts("Do its claims hold?", list_verdicts(run.paper, run.claims, Speaker.PAPER), "it has none")


def count_signs(verdicts: Iterable[str]) -> dict[Sign, int]:
    """Return how many verdicts have which sign, in the order of the signs.

    Examples
    --------
    >>> {sign.value: n for sign, n in count_signs(["undecided", "reproduced", "refuted", "refuted"]).items()}
    {'holds': 1, 'fails': 2, 'open': 1}
    """
    signs = [SIGN_OF[verdict] for verdict in verdicts]
    return {sign: signs.count(sign) for sign in Sign if sign in signs}


def answer_privacy(run: PaperRun) -> Answer:
    """Return whether the algorithms of the paper keep the ε that they claim, or all algorithms if it proposes none.

    An algorithm keeps it if its fitted models account for no more and no attack has measured more.
    """
    question = "Is it private as claimed?"
    rows = [row for row in run.privacy if row["algorithm"] in run.paper.own or not run.paper.own]
    claiming = [row for row in rows if row["keeps_claim"] is not None]
    if not rows:
        return Answer(question, "not run", {})
    attacked = _describe_attack(run, rows)
    if not claiming:
        words = "it claims an ε without any proof of it" if any(map(is_claim_only, rows)) else "it claims no ε"
        return Answer(question, words, {}, attacked)
    keeping = [row for row in claiming if row["keeps_claim"] and not _is_violated(run, row)]
    counts = {Sign.HOLDS: len(keeping), Sign.FAILS: len(claiming) - len(keeping)}
    counts = {sign: n for sign, n in counts.items() if n}
    if not run.paper.own and len(claiming) > 1:
        return Answer(
            question, f"{len(keeping)} of {len(claiming)} algorithms are", counts, _describe_condition(run, rows)
        )
    if len(keeping) == len(claiming):
        return Answer(question, "yes", counts, _describe_condition(run, rows))
    words = "no" if not keeping else f"{len(keeping)} of {len(claiming)} algorithms are"
    return Answer(question, words, counts, "; ".join(filter(None, [_describe_faults(claiming), attacked])))


def _answer_verdicts(question: str, verdicts: Sequence[str], nothing: str) -> Answer:
    if not verdicts:
        return Answer(question, nothing, {})
    counts = count_signs(verdicts)
    n_holding = counts.get(Sign.HOLDS, 0)
    return Answer(question, f"{n_holding} of {len(verdicts)} {describe_sign(Sign.HOLDS, n_holding)}", counts)


def _is_violated(run: PaperRun, row: Mapping[str, Any]) -> bool:
    return bool((run.audit.loc[run.audit["algorithm"] == row["algorithm"], "verdict"] == VIOLATED).any())


def _describe_faults(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say what is wrong first, and how much else is."""
    faults = {fault["name"]: fault["why"] for row in rows for fault in row["faults"]}
    if not faults:
        return ""
    first, *others = faults.values()
    return f"{first} (and {len(others)} more faults)" if others else first


def _describe_attack(run: PaperRun, rows: Sequence[Mapping[str, Any]]) -> str:
    """Say how much an attack has measured of what is claimed, if it is more; of what claims nothing, how much."""
    names = [row["algorithm"] for row in rows]
    measured = run.audit[run.audit["algorithm"].isin(names)]
    exceeding = []
    for bound in measured.to_dict("records"):
        if not math.isfinite(bound["claimed"]) or bound["bound"] > bound["claimed"]:
            exceeding.append(bound)
    if not exceeding:
        return ""
    worst = max(exceeding, key=itemgetter("bound"))
    claim = f" where {worst['claimed']:g} is claimed" if math.isfinite(worst["claimed"]) else ""
    return f"an attack measured ε ≥ {worst['bound']:.1f}{claim}"


def _describe_condition(run: PaperRun, rows: Sequence[Mapping[str, Any]]) -> str:
    """Say on which data sets that holds only if their ranges count as public."""
    names = label_names(run.paper, list_datasets_at_fault(rows))
    if not names:
        return ""
    where = join_names(names) if len(names) < 3 else f"{len(names)} of its data sets"
    return f"if the ranges of {where} are taken as public"
