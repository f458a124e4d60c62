"""Tells Hydra the folders that were added to the catalogue; Hydra finds this by its folder's name."""

from hydra.core.config_search_path import ConfigSearchPath
from hydra.plugins.search_path_plugin import SearchPathPlugin


class CatalogueFolders(SearchPathPlugin):
    """Appends what the environment names, so that Hydra composes from the folders that the rest looks into."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Append the folders, after ``conf/``."""
        from documents.search_path import list_added  # Hydra loads this in programs of other people, too

        for folder in list_added():
            search_path.append("dp-replica", f"file://{folder}")
