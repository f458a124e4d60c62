"""Tells Hydra of variants, for which an option is a file; Hydra finds this by its folder's name."""

# Hydra loads this in programs of other people, too: what reads our catalogue is imported when it is asked for.
from pathlib import Path

from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.object_type import ObjectType
from hydra.plugins.config_source import ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin

_SCHEME = "dp-replica-variants"
_MAIN = "main"  # Hydra's name for the folder of the program that is run


class VariantsOfAlgorithms(SearchPathPlugin):
    """Puts the variants before the files that have them, where the program is ours."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Put them first."""
        from documents.search_path import BUILT_IN

        main = [place.path.removeprefix("file://") for place in search_path.get_path() if place.provider == _MAIN]
        if str(BUILT_IN) in main:
            search_path.prepend("dp-replica", f"{_SCHEME}://")


class VariantSource(ConfigSource):
    """Gives Hydra the algorithms whose files have variants, by each of their names; it reads all other files itself."""

    @staticmethod
    def scheme() -> str:
        """Return what stands before paths."""
        return _SCHEME

    def available(self) -> bool:
        """Return that it is always there."""
        return True

    def is_group(self, config_path: str) -> bool:
        """Return whether a path is that of the algorithms."""
        return config_path == _ALGORITHM

    def is_config(self, config_path: str) -> bool:
        """Return whether a path is that of an algorithm with variants, or of a variant."""
        return _find_place(config_path) is not None

    def load_config(self, config_path: str) -> ConfigResult:
        """Return what the file of an algorithm says of it."""
        from omegaconf import OmegaConf

        from documents.composed_yaml import read_as_composed

        place = _find_place(config_path)
        assert place is not None, config_path
        contents = OmegaConf.create(read_as_composed(place))
        return ConfigResult(self.provider, f"file://{place}", contents, {"package": None})

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        """Return the names of all algorithms and variants."""
        from documents.search_path import ALGORITHMS, list_choices

        return [] if results_filter == ObjectType.GROUP or config_path != _ALGORITHM else list_choices(ALGORITHMS)


_ALGORITHM = "algorithm"


def _find_place(config_path: str) -> Path | None:
    """Return the place of an algorithm that has variants, or of a variant; None of anything else."""
    from documents.composed_yaml import list_places
    from documents.search_path import ALGORITHMS, find_file
    from documents.variants import split_place

    group, _, name = config_path.rpartition("/")
    place = find_file(ALGORITHMS, name) if group == _ALGORITHM else None
    return place if place and (place != split_place(place)[0] or len(list_places(place)) > 1) else None
