"""What is changed of Hydra while a command line is read: it takes two ways round less, and variants for options."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import util
from pathlib import Path

from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import ConfigRepository
from hydra._internal.hydra import Hydra
from hydra.core.object_type import ObjectType
from hydra.plugins.config_source import ConfigResult, ConfigSource
from hydra.types import RunMode
from omegaconf import OmegaConf

from documents import search_path
from documents.composed_yaml import list_places, read_as_composed
from documents.variants import split_place
from experiments.catalogue.choices import format_choices
from experiments.config.paths import CONF


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
        return config_path == search_path.ALGORITHMS.name

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
        return [] if results_filter == ObjectType.GROUP else search_path.list_choices(search_path.ALGORITHMS)


def _find_place(config_path: str) -> Path | None:
    group, _, name = config_path.rpartition("/")
    place = search_path.find_file(search_path.ALGORITHMS, name) if group == search_path.ALGORITHMS.name else None
    return place if place and (place != split_place(place)[0] or len(list_places(place)) > 1) else None


@contextmanager
def change_hydra(arguments: Sequence[str]) -> Iterator[None]:
    """Spare Hydra two detours, each of which would take as long as all else that it does; tell it of variants.

    It would compose everything once more to find out its mode, unless words say something of Hydra; and for a help it
    would copy all that it has read, several times for each folder of ``conf/``. What there is to choose is listed by
    kind, and not in one alphabet.
    """
    find_mode, list_options, list_groups, find_sources = (
        Hydra.get_mode,
        ConfigLoaderImpl.get_group_options,
        Hydra.format_config_groups,
        ConfigRepository.initialize_sources,
    )

    def find_folders(repository, config_search_path):
        find_sources(repository, config_search_path)
        search_path.use_folders(_find_added_folders(repository.sources))
        repository.sources.insert(0, VariantSource())

    def list_quickly(loader, group_name, results_filter=ObjectType.CONFIG, config_name=None, overrides=None):
        if config_name or overrides:  # these may add folders
            return list_options(loader, group_name, results_filter, config_name, overrides)
        return loader.repository.get_group_options(group_name, results_filter)

    def list_by_kind(hydra_itself, predicate, compact=True):
        if not predicate("algorithm"):  # those of Hydra
            return list_groups(hydra_itself, predicate, compact)
        loader = hydra_itself.config_loader
        groups = filter(predicate, sorted(hydra_itself.list_all_config_groups()))
        return format_choices({group: sorted(loader.get_group_options(group)) for group in groups}) + "\n"

    if not any("hydra" in word or word.startswith(("-cn", "--config-name")) for word in arguments):
        Hydra.get_mode = lambda *_, **__: RunMode.MULTIRUN  # type: ignore[method-assign] # hydra.mode in conf/config.yaml
    ConfigLoaderImpl.get_group_options = list_quickly  # type: ignore[method-assign]
    Hydra.format_config_groups = list_by_kind  # type: ignore[method-assign]
    ConfigRepository.initialize_sources = find_folders  # type: ignore[method-assign]
    try:
        yield
    finally:
        Hydra.get_mode, ConfigLoaderImpl.get_group_options = find_mode, list_options  # type: ignore[method-assign]
        Hydra.format_config_groups = list_groups  # type: ignore[method-assign]
        ConfigRepository.initialize_sources = find_sources  # type: ignore[method-assign]


def has_group(folder: Path) -> bool:
    """Return whether a folder has one of the sub-folders that are looked into."""
    return any((folder / group).is_dir() for group in search_path.GROUPS)


def _find_added_folders(sources: Iterable[ConfigSource]) -> list[Path]:
    """Return the folders, beside ``conf/``, where Hydra looks: of the environment, of plugins, of the user."""
    folders: list[Path] = []
    for source in sources:
        if source.scheme() == "file":
            folders.append(Path(source.path))
        elif source.scheme() == "pkg" and source.provider != "hydra":
            spec = util.find_spec(source.path)
            folders += map(Path, (spec and spec.submodule_search_locations) or ())
    return [folder for folder in folders if has_group(folder) and not folder.samefile(CONF)]
