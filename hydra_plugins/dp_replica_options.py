"""Gives Hydra options that it would not find (variants) or read slowly (papers); it finds this by its folder's name."""

# Hydra loads this in programs of other people, too: what reads our catalogue is imported when it is asked for.
from pathlib import Path
from typing import Any

from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.object_type import ObjectType
from hydra.plugins.config_source import ConfigLoadError, ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin

_SCHEME = "dp-replica-options"
_MAIN = "main"  # Hydra's name for the folder of the program that is run


class OptionsOfOurs(SearchPathPlugin):
    """Puts options that we read before all files, where the program is ours."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Put them first."""
        from documents.search_path import BUILT_IN

        main = [place.path.removeprefix("file://") for place in search_path.get_path() if place.provider == _MAIN]
        if str(BUILT_IN) in main:
            search_path.prepend("dp-replica", f"{_SCHEME}://")


class OptionSource(ConfigSource):
    """Gives Hydra papers, and algorithms whose files have variants by each of their names; the rest it reads itself.

    It would parse a paper in plain Python, which took three tenths of the time to compose one.
    """

    @staticmethod
    def scheme() -> str:
        """Return what stands before paths."""
        return _SCHEME

    def available(self) -> bool:
        """Return that it is always there."""
        return True

    def is_group(self, config_path: str) -> bool:
        """Return whether a path is that of the algorithms or of the papers."""
        return config_path in (_ALGORITHM, _PAPER)

    def is_config(self, config_path: str) -> bool:
        """Return whether a path is that of a paper, of an algorithm with variants, or of a variant."""
        return _find_place(config_path) is not None

    def load_config(self, config_path: str) -> ConfigResult:
        """Return what a file says of an algorithm or of a paper."""
        from omegaconf import OmegaConf

        from documents.composed_yaml import UNREADABLE, read_as_composed
        from documents.yaml_files import shorten_path

        place = _find_place(config_path)
        assert place is not None, config_path
        try:
            contents = read_as_composed(place)
        except UNREADABLE as error:
            raise ConfigLoadError(f"{shorten_path(place)} cannot be read: {' '.join(str(error).split())}") from error
        # references are resolved: what is still written like one was escaped in the file
        config = OmegaConf.create(_escape_references(contents))
        return ConfigResult(self.provider, f"file://{place}", config, {"package": None})

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        """Return the names of all algorithms and variants, or of all papers."""
        from documents.search_path import BUILT_IN, list_choices

        is_ours = results_filter != ObjectType.GROUP and self.is_group(config_path)
        return list_choices(BUILT_IN / config_path) if is_ours else []


def _escape_references(contents: Any) -> Any:
    """Return contents in which no text is read as a reference to other values."""
    if isinstance(contents, dict):
        return {name: _escape_references(value) for name, value in contents.items()}
    if isinstance(contents, list):
        return list(map(_escape_references, contents))
    return contents.replace("${", "\\${") if isinstance(contents, str) else contents


_ALGORITHM, _PAPER = "algorithm", "paper"


def _find_place(config_path: str) -> Path | None:
    """Return the place of a paper, of an algorithm that has variants, or of a variant; None of anything else."""
    from documents.composed_yaml import list_places
    from documents.search_path import BUILT_IN, find_file
    from documents.variants import split_place

    group, _, name = config_path.rpartition("/")
    place = find_file(BUILT_IN / group, name) if group in (_ALGORITHM, _PAPER) else None
    if place is None or group == _PAPER:
        return place
    return place if place != split_place(place)[0] or len(list_places(place)) > 1 else None
