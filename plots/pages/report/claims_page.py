"""The page of all claims and all printed numbers of all papers, to be searched and filtered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.config.finding import Sign
from experiments.config.paper import Speaker
from experiments.judge.verdict import SIGN_OF
from plots.pages import html
from plots.pages.report.paper_entry import PaperEntry
from plots.rows.number_rows import make_row

_WHOSE = {Speaker.PAPER: "the paper's", Speaker.READING: "another reading", Speaker.OURS: "our own"}


def render_claims_page(entries: Sequence[PaperEntry], links: Sequence[Mapping[str, Any]]) -> str:
    """Return the page of all claims and numbers of some papers; ``links`` are the pages around it."""
    claims, numbers = [], []
    for entry in entries:
        claims += _list_claims(entry)
        numbers += _list_numbers(entry)
    return html.render_template(
        "claims.html.j2",
        links=links,
        papers=list(dict.fromkeys(row["paper"] for row in (*claims, *numbers))),
        whose=list(_WHOSE.values()),
        verdicts=_group_verdicts({row["verdict"] for row in (*claims, *numbers)}),
        claims=claims,
        numbers=numbers,
    )


def _group_verdicts(given: set[str]) -> dict[Sign, list[str]]:
    """Return the finer verdicts that were given, under the sign that each has.

    Examples
    --------
    >>> groups = _group_verdicts({"undecided", "reproduced", "not run"})
    >>> {sign.value: verdicts for sign, verdicts in groups.items()}
    {'holds': ['reproduced'], 'open': ['undecided', 'not run']}
    """
    groups: dict[Sign, list[str]] = {}
    for verdict, sign in SIGN_OF.items():
        if verdict in given:
            groups.setdefault(sign, []).append(verdict)
    return groups


def _list_claims(entry: PaperEntry) -> list[dict[str, Any]]:
    """Return the claims of a paper; a reading stands with the text that it is a reading of."""
    known = entry.paper.claims_by_id
    rows = []
    for record in entry.claims:
        claim = known[record["id"]]
        row = {**_locate(entry, f"claim-{claim.id}", record["verdict"]), "reason": record["reason"]}
        row |= {"whose": _WHOSE[entry.paper.speaker_of(claim)], "text": record["text"], "reads": ""}
        if claim.reading_of is not None:
            row["reads"] = known[entry.paper.text_of(claim)].text
        rows.append(row)
    return rows


def _list_numbers(entry: PaperEntry) -> list[dict[str, Any]]:
    rows = []
    for record in entry.numbers.to_dict("records"):
        row = make_row(entry.paper, record)
        rows.append({**vars(row), **_locate(entry, "numbers", row.verdict), "whose": _WHOSE[Speaker.PAPER]})
    return rows


def _locate(entry: PaperEntry, anchor: str, verdict: str) -> dict[str, Any]:
    href = f"{entry.href}#{anchor}" if entry.href else ""
    return {"paper": entry.heading, "href": href, "sign": SIGN_OF[verdict], "verdict": verdict}
