"""Commands that run again what decides a claim or a printed number, and nothing else of the paper."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from algorithms.installation import PROGRAM
from experiments.cells.cell import Cell
from experiments.cells.study_cells import cells_of_studies
from experiments.config.paper import Paper
from experiments.judge.question import AskedGroup, ClaimQuestion
from experiments.questions.paper_questions import resolve_claims, resolve_numbers
from experiments.questions.settings import key_of_cell
from experiments.store.results import SettingKey

_PART = "part"
"""Where the place of an answer names what of the claim it is about; the other entries are a setting."""


@dataclass(frozen=True)
class AskedCells:
    """The cells whose repeats decide the claims and the printed numbers of a paper."""

    cells: Mapping[SettingKey, Cell]  #: the first repeat of every setting
    groups: Mapping[str, tuple[AskedGroup, ...]]  #: of each claim about runs
    numbers: Mapping[str, tuple[SettingKey, ...]]  #: of each printed number

    @classmethod
    def of_paper(cls, paper: Paper) -> AskedCells:
        """Return those of a paper; BadInput if today's code cannot run it as it is written."""
        cells: dict[SettingKey, Cell] = {}
        for name, of_study in cells_of_studies(paper, 1).items():
            cells |= {key_of_cell(paper.studies[name], cell): cell for cell in of_study}
        numbers = resolve_numbers(paper)
        asked = resolve_claims(paper, [question.number for question in numbers])
        groups = {one.id: one.question.groups for one in asked if isinstance(one.question, ClaimQuestion)}
        settings = {one.number.id: tuple(setting.key for setting in one.settings) for one in numbers}
        return cls(cells, groups, settings)

    def find_claim(self, claim: str, place: Mapping[str, Any] | None = None) -> list[Cell]:
        """Return the cells of a claim, or of its setting at a place; none of a claim that no runs decide."""
        groups = self.groups.get(claim, ())
        if place is not None:
            setting = {name: value for name, value in place.items() if name != _PART}
            groups = tuple(group for group in groups if group.setting == setting)
        return self._find(chain.from_iterable(group.list_settings() for group in groups))

    def find_number(self, number: str) -> list[Cell]:
        """Return the cells of a printed number; none of one that no runs decide."""
        return self._find(self.numbers.get(number, ()))

    def _find(self, settings: Iterable[SettingKey]) -> list[Cell]:
        return [self.cells[key] for key in dict.fromkeys(settings)]


def name_commands(cells: Iterable[Cell], repeats: int) -> list[str]:
    """Return the commands that run the settings of some cells so many times: as few commands as there can be.

    Examples
    --------
    >>> cells = [Cell("car", "rdt", {}, epsilon, 0) for epsilon in (1.0, 2.0)]
    >>> name_commands(cells, 20)
    ['dp-replica dataset=car algorithm=rdt epsilon=1.0,2.0 repeats=20']
    >>> len(name_commands([*cells, Cell("nursery", "rdt", {}, 0.5, 0)], 20))
    2
    """
    words = [_read_words(cell.name) for cell in cells]
    for name in dict.fromkeys(chain.from_iterable(words)):
        words = _join_values(words, name)
    lines = [" ".join(f"{name}={shlex.quote(value)}" for name, value in one.items()) for one in words]
    return [f"{PROGRAM} {line} repeats={repeats}" for line in lines]


def _read_words(name: str) -> dict[str, str]:
    return {word: value for word, _, value in (text.partition("=") for text in shlex.split(name))}


def _join_values(settings: Iterable[Mapping[str, str]], name: str) -> list[dict[str, str]]:
    """Return settings of which those that differ in one word alone are one, with all values of that word."""
    joined: dict[tuple, list[str]] = {}
    for setting in settings:
        others = tuple((word, "" if word == name else value) for word, value in setting.items())
        joined.setdefault(others, []).append(setting.get(name, ""))
    return [
        {word: ",".join(values) if word == name else value for word, value in others}
        for others, values in joined.items()
    ]
