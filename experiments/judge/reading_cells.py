"""What a paper's readings are to explain, and the cells that each of them needs: the key ``readings`` of a paper."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple

import pandas as pd

from experiments.cells.cell import Cell
from experiments.cells.grid import expand
from experiments.config import estimators
from experiments.config.selection import PaperError, axes, setting_words, settings, study_of
from experiments.errors import suggestion
from experiments.judge.numbers import selected

_KINDS = {
    "numbers": ("study", "algorithm", "params"),
    "table": ("table",),
    "claims": ("claims", "algorithm", "params"),
}
_COMMON, _OPTIONAL = ("id", "title", "repeats"), ("protocol",)


class Target(NamedTuple):
    """Something printed that a reading should explain.

    Parameters
    ----------
    metric : str
        Which.
    printed : float
        The number; NaN of an ordering.
    cells : list of Cell
        Its setting, one cell per repeat; of an ordering the one that should have more of the metric.
    less : list of Cell
        Of an ordering, the one that should have less.
    """

    metric: str
    printed: float
    cells: list[Cell]
    less: list[Cell]

    def all(self) -> list[Cell]:
        """Return the cells of both."""
        return [*self.cells, *self.less]


class Reading(NamedTuple):
    """One way to read the text.

    Parameters
    ----------
    words : str
        What it chooses.
    targets : list of Target
        What it should explain.
    """

    words: str
    targets: list[Target]


def readings_of(paper: Mapping, question: Mapping, reported: pd.DataFrame) -> list[Reading]:
    """Return every reading that a question asks for.

    Raises
    ------
    BadInput
        If the question cannot be meant.
    """
    kind = kind_of(question)
    if kind == "table":
        found = list(_of_settings(paper, question, reported))
    else:
        targets = _numbers if kind == "numbers" else _orderings
        found = [
            Reading(_words(params, protocol), list(targets(paper, question, reported, params, protocol)))
            for params in _product(question["params"])
            for protocol in _product(question.get("protocol") or {})
        ]
    if not found or not found[0].targets:
        raise PaperError(f"readings {question['id']!r}: the paper prints nothing that they could explain")
    return found


def kind_of(question: Mapping) -> str:
    """Return whether a question is about ``numbers``, about a ``table`` without settings, or about ``claims``.

    Raises
    ------
    PaperError
        If it lacks a key or has one too many.
    """
    name = f"readings {question.get('id')!r}"
    kind = next((key for key in ("table", "claims") if key in question), "numbers")
    needed = (*_COMMON, *_KINDS[kind])
    for key in needed:
        if key not in question:
            raise PaperError(f"{name}: {key} is missing; they need {', '.join(needed)}")
    for key in question:
        if key not in (*needed, *(_OPTIONAL if kind != "table" else ())):
            raise PaperError(f"{name}: unknown key {key!r}; {suggestion(key, (*needed, *_OPTIONAL))}")
    return kind


def _product(values: Mapping[str, list]) -> list[dict]:
    return [dict(zip(values, point, strict=True)) for point in product(*values.values())]


def _words(params: Mapping, protocol: Mapping) -> str:
    return setting_words({name: "null" if value is None else value for name, value in (params | protocol).items()})


def _numbers(paper, question, reported, params, protocol) -> Iterator[Target]:
    """Yield the printed means of an algorithm in a study."""
    items = {one["id"]: one for one in [*paper.get("tables", ()), *paper.get("figures", ())]}
    for number in reported[reported["statistic"] == "mean"].to_dict("records"):
        item = items[number["table"]]
        if item.get("study") != question["study"] or number["algorithm"] != question["algorithm"]:
            continue
        own = {name: value for name, value in number.items() if name.removeprefix("params.") not in params}
        study = study_of(paper, item)
        where = {
            name: value
            for name, value in (item.get("where") or {}).items()
            if name.removeprefix("params.") not in params
        }
        part = selected(own, study, where)
        if part is None:
            raise PaperError(
                f"readings {question['id']!r}: {number['id']!r} is no setting of study {question['study']!r}"
            )
        cells = _cells(paper, question, study, part | {"algorithm": question["algorithm"]}, params, protocol)
        yield Target(number["metric"], float(number["value"]), cells, [])


def _orderings(paper, question, reported, params, protocol) -> Iterator[Target]:
    """Yield every group of every claim about which of two algorithms has more of a metric."""
    claims = {claim["id"]: claim for claim in paper.get("claims") or ()}
    for name in question["claims"]:
        claim = claims.get(name, {})
        if claim.get("kind") not in ("above", "below"):
            raise PaperError(f"readings {question['id']!r}: there is no claim {name!r} of kind above or below")
        study, where = study_of(paper, claim), dict(claim.get("where") or {})
        for point in settings(study, claim["within"], where):
            fixed = where | dict(zip(claim["within"], point, strict=True))
            better, worse = (
                _cells(
                    paper,
                    question,
                    study,
                    fixed | {"algorithm": claim[role]},
                    params if claim[role] == question["algorithm"] else {},
                    protocol,
                )
                for role in ("better", "worse")
            )
            more, less = (better, worse) if claim["kind"] == "above" else (worse, better)
            yield Target(claim["metric"], math.nan, more, less)


def _of_settings(paper, question, reported) -> Iterator[Reading]:
    """Yield every setting that the studies of a table of numbers without settings have in common."""
    item = next((one for one in paper.get("tables", ()) if one["id"] == question["table"]), {})
    if item.get("kind") != "span":
        raise PaperError(f"readings {question['id']!r}: {question['table']!r} is no table of kind span")
    meant = reported[(reported["table"] == item["id"]) & (reported["statistic"] == "some")].to_dict("records")
    meant = [number for number in meant if number["algorithm"] not in (paper.get("not_implemented") or {})]
    for name in item["studies"]:
        study = study_of(paper, {"id": question["id"], "study": name})
        by = [one for one, values in axes(study).items() if one != "algorithm" and len(values) > 1]
        for point in settings(study, by):
            fixed = dict(zip(by, point, strict=True))
            targets = [
                Target(
                    number["metric"],
                    float(number["value"]),
                    _cells(paper, question, study, fixed | {"algorithm": number["algorithm"]}, {}, {}),
                    [],
                )
                for number in meant
            ]
            yield Reading(f"{name}, {setting_words(fixed)}", targets)


def _cells(paper, question, study, where, params, protocol) -> list[Cell]:
    """Return the repeats of one setting of a study, read in one way."""
    values = axes(study, where) | {f"params.{name}": [value] for name, value in params.items()}
    values = {
        name: values[name]
        for name in ("dataset", "algorithm", *(n for n in values if n.startswith("params.")), "epsilon")
    }
    several = [name for name, found in values.items() if len(found) > 1]
    if several:
        raise PaperError(f"readings {question['id']!r}: {', '.join(several)} is open; name it under params")
    given = dict(study.get("protocol") or {}) | protocol
    accepted = estimators.accepts(estimators.target(values["algorithm"][0]))
    depends = {
        name: {along: {value: one for value, one in rule.items() if value in values[along]}}
        for name, ((along, rule),) in ((name, found.items()) for name, found in (study.get("depends") or {}).items())
        if name in accepted and name not in params
    }
    (cells,) = expand(values, question["repeats"], paper.get("algorithms"), given, depends)
    return cells
