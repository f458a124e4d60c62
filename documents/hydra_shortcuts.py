"""Work that Hydra does in vain, left out: a tenth of a second of every start, a quarter of what ``--help`` takes."""

from __future__ import annotations

import copy

from hydra._internal.config_repository import ConfigRepository
from hydra._internal.hydra import Hydra
from hydra.types import RunMode
from omegaconf import _utils

from documents.composed_yaml import Loader

_find_mode = Hydra.get_mode


def take_shortcuts() -> None:
    """Let Hydra compose once instead of twice, read YAML with libyaml, and list options without copying all it read."""
    Hydra.get_mode = _get_mode  # type: ignore[assignment,method-assign]
    ConfigRepository.__deepcopy__ = _copy_repository  # type: ignore[attr-defined]
    _utils.get_yaml_loader = lambda: Loader


def _get_mode(hydra: Hydra, config_name: str | None, overrides: list[str]) -> RunMode | None:
    """Return the mode that ``conf/config.yaml`` sets, which Hydra would find by composing everything a first time."""
    is_set = any("hydra.mode" in word for word in overrides)
    return _find_mode(hydra, config_name, overrides) if is_set else RunMode.MULTIRUN


def _copy_repository(repository: ConfigRepository, memo: object) -> ConfigRepository:
    """Return a copy that may be given other sources, which is all that is ever done to it; the sources are the same."""
    return copy.copy(repository)
