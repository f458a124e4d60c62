"""What tells Hydra of variants, for which an option is a file."""

from __future__ import annotations

from pathlib import Path

from hydra.core.object_type import ObjectType
from hydra.plugins.config_source import ConfigResult, ConfigSource
from omegaconf import OmegaConf

from documents.composed_yaml import list_places, read_as_composed
from documents.search_path import ALGORITHMS, find_file, list_choices
from documents.variants import split_place


class VariantSource(ConfigSource):
    """Gives Hydra the algorithms whose files have variants, by each of their names; it reads all other files itself."""

    def __init__(self) -> None:
        super().__init__("dp-replica", "variants://")

    @staticmethod
    def scheme() -> str:
        """Return what stands before paths."""
        return "variants"

    def available(self) -> bool:
        """Return that it is always there."""
        return True

    def is_group(self, config_path: str) -> bool:
        """Return whether a path is that of the algorithms."""
        return config_path == ALGORITHMS.name

    def is_config(self, config_path: str) -> bool:
        """Return whether a path is that of an algorithm with variants, or of a variant."""
        return _find_place(config_path) is not None

    def load_config(self, config_path: str) -> ConfigResult:
        """Return what the file of an algorithm says of it."""
        place = _find_place(config_path)
        assert place is not None, config_path
        contents = OmegaConf.create(read_as_composed(place))
        return ConfigResult(self.provider, f"file://{place}", contents, {"package": None})

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        """Return the names of all algorithms and variants."""
        return [] if results_filter == ObjectType.GROUP else list_choices(ALGORITHMS)


def _find_place(config_path: str) -> Path | None:
    group, _, name = config_path.rpartition("/")
    place = find_file(ALGORITHMS, name) if group == ALGORITHMS.name else None
    return place if place and (place != split_place(place)[0] or len(list_places(place)) > 1) else None
