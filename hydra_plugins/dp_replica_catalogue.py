"""Tells Hydra the folders that were added to the catalogue; Hydra finds this by its folder's name."""

# Hydra loads this in programs of other people, too: what reads our catalogue is imported when it is asked for.
from pathlib import Path

from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.object_type import ObjectType
from hydra.plugins.config_source import ConfigLoadError, ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin


class CatalogueFolders(SearchPathPlugin):
    """Appends what the environment names, so that Hydra composes from the folders that the rest looks into."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Append the folders, after ``conf/``."""
        from documents.search_path import list_added

        for folder in list_added():
            search_path.append("dp-replica", f"{CatalogueSource.scheme()}://{folder}")


class CatalogueSource(ConfigSource):
    """Gives Hydra the files of an added folder, in which a folder that is called like a setting is no group.

    Of Hydra's own folders every sub-folder is one: where results lie in ``results/``, ``results=other`` would choose
    among them.
    """

    @staticmethod
    def scheme() -> str:
        """Return what stands before paths."""
        from documents.search_path import SCHEME

        return SCHEME

    def available(self) -> bool:
        """Return whether the folder is there."""
        return self.is_group("")

    def is_group(self, config_path: str) -> bool:
        """Return whether a path is that of a folder, and not called like a setting."""
        from documents.search_path import list_settings

        return (self._folder / config_path).is_dir() and config_path not in list_settings()

    def is_config(self, config_path: str) -> bool:
        """Return whether a path is that of a file."""
        return self._find_file(config_path).is_file()

    def load_config(self, config_path: str) -> ConfigResult:
        """Return what a file says."""
        from omegaconf import OmegaConf

        path = self._find_file(config_path)
        if not path.is_file():
            raise ConfigLoadError(f"Config not found : {path}")
        header = self._get_header_dict(path.read_text(encoding="utf-8"))
        return ConfigResult(self.provider, f"file://{self.path}", OmegaConf.load(path), header)

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        """Return the names of what is in a folder: files, or folders."""
        found: list[str] = []
        for path in (self._folder / config_path).iterdir():
            self._list_add_result(found, str(path.relative_to(self._folder)), path.name, results_filter)
        return sorted(set(found))

    @property
    def _folder(self) -> Path:
        return Path(self.path)

    def _find_file(self, config_path: str) -> Path:
        return self._folder / self._normalize_file_name(config_path)
