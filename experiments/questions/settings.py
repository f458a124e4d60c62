"""The settings of a study by the keys under which their runs are found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, product
from typing import Any

from experiments.cells.cell import Cell
from experiments.config.setting import make_setting_key
from experiments.config.study import Study
from experiments.judge.numbers.number_verdict import AskedSetting, NumberQuestion
from experiments.judge.question import AskedClaim, ClaimQuestion
from experiments.store.results import SettingKey


def list_setting_keys(study: Study, where: Mapping[str, Any]) -> tuple[SettingKey, ...]:
    """Return the settings of a part of a study, in the order of its axes."""
    axes = study.axes(where)
    name, names = study.name, tuple(axes)
    return tuple(SettingKey(name, names, make_setting_key(values)) for values in product(*axes.values()))


def key_of_cell(study: Study, cell: Cell) -> SettingKey:
    """Return the setting of a study that a cell is a repeat of."""
    attributes: dict[str, Any] = {"dataset": cell.dataset, "algorithm": cell.algorithm, "epsilon": cell.epsilon}
    axes = tuple(study.axes())
    values = [attributes[name] if name in attributes else cell.params[name.removeprefix("params.")] for name in axes]
    return SettingKey(study.name, axes, make_setting_key(values))


def list_settings(study: Study, where: Mapping[str, Any]) -> list[AskedSetting]:
    """Return the settings of a part of a study in the order of their values."""
    axes = list(study.axes(where))
    named = [dict(zip(axes, values, strict=True)) for values in study.settings(axes, where)]
    found = list(map(AskedSetting, named, list_setting_keys(study, where)))
    try:
        return sorted(found, key=lambda setting: tuple(setting.values.values()))
    except TypeError:  # values of several kinds have no order
        return found


def list_asked(claims: Iterable[AskedClaim], numbers: Iterable[NumberQuestion]) -> dict[SettingKey, dict[str, str]]:
    """Return the settings whose runs decide: of each the metrics that are asked for, and who asks first."""
    asked: dict[SettingKey, dict[str, str]] = {}
    for claim in claims:
        if isinstance(claim.question, ClaimQuestion):
            settings = chain.from_iterable(group.list_settings() for group in claim.question.groups)
            metrics = dict.fromkeys(claim.question.list_metrics(), f"claim {claim.id!r}")
            for setting in settings:
                asked[setting] = metrics | asked.get(setting, {})
    for question in chain.from_iterable(number.together or (number,) for number in numbers):
        metrics = {question.number.metric: f"printed number {question.number.id!r}"}
        for one in question.settings:
            asked[one.key] = metrics | asked.get(one.key, {})
    return asked
