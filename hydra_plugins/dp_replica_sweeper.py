"""A Hydra sweeper that hands a whole grid of settings to the task in one call; Hydra finds it by this folder's name."""

# No `from __future__ import annotations`: dataclasses would look into sys.modules, where Hydra puts this file later.
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hydra.core.config_store import ConfigStore
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf, open_dict


@dataclass
class GridSweeperConf:
    """The configuration of the sweeper, as ``hydra/sweeper: grid``.

    Parameters
    ----------
    params : dict of str to str
        Settings and their lists of values, as for Hydra's basic sweeper; the command line replaces them.
    lists : list of str
        Names, or patterns such as ``algorithm.*``, of the settings that may have several values.
    """

    _target_: str = f"{__name__}.GridSweeper"
    params: dict[str, str] = field(default_factory=dict)
    lists: list[str] = field(default_factory=list)


_CONF = OmegaConf.structured(GridSweeperConf)
OmegaConf.set_struct(_CONF.params, False)  # so that names can be put into it on the command line
ConfigStore.instance().store(group="hydra/sweeper", name="grid", node=_CONF, provider="dp-replica")


class GridSweeper(Sweeper):
    """Calls the task once for a whole grid, as composing costs 90 to 160 ms a job; launchers do not apply: executor=...

    The task finds the composed configuration as its argument, and the lists of values under ``overrides.task`` of
    ``HydraConfig``, from which it makes the combinations.

    Parameters
    ----------
    params : mapping of str to str, optional
        As in `GridSweeperConf`.
    lists : sequence of str
        As in `GridSweeperConf`.
    """

    def __init__(self, params: Mapping[str, str] | None = None, lists: Sequence[str] = ()):
        self.params = dict(params or {})
        self.lists = list(lists)

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Keep what `sweep` needs; Hydra calls this first."""
        self._loader = hydra_context.config_loader
        self._task = task_function
        self._config = config

    def sweep(self, arguments: list[str]) -> object:
        """Call the task once.

        Parameters
        ----------
        arguments : list of str
            Settings of the command line, as typed.

        Raises
        ------
        BadInput
            If a setting of ``params`` cannot have several values.
        """
        from experiments.config.request import is_listed  # Hydra imports this file for everybody who uses Hydra
        from experiments.errors import BadInput

        words = [f"{name}={value}" for name, value in self.params.items()]
        parser = OverridesParser.create(config_loader=self._loader)
        for override in parser.parse_overrides(words):
            if not is_listed(override.key_or_group, self.lists):
                raise BadInput(
                    f"hydra.sweeper.params: {override.key_or_group} cannot have several values; what can: "
                    f"{', '.join(self.lists)}"
                )
        with open_dict(self._config.hydra):
            self._config.hydra.overrides.task = [*words, *arguments]
        HydraConfig.instance().set_config(self._config)
        names = [str(name) for name in self._config if name != "hydra"]
        return self._task(OmegaConf.masked_copy(self._config, names))
