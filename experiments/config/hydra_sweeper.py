"""Hydra's ``-m`` without Hydra's cost.

Hydra's own sweepers compose a configuration for every job, a tenth of a second each. This one lets Hydra compose once,
keeps the values of everything that may vary as lists, and hands both to the task in a single call: the combinations are
made in Python and run together.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType

from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, QuotedString
from hydra.core.plugins import Plugins
from hydra.plugins.sweeper import Sweeper
from omegaconf import DictConfig, OmegaConf

from experiments.errors import BadInput

_VARYING = ("dataset", "algorithm", "epsilon")


@dataclass(frozen=True)
class Request:
    """What the command line asks for.

    Parameters
    ----------
    config : dict
        The composed configuration.
    choices : dict of str to str
        The option chosen in each config group.
    values : dict of str to list
        Values given on the command line for ``dataset``, ``algorithm``, ``epsilon``, ``params.<name>`` (written
        ``algorithm.<name>``) and ``protocol.<name>``.
    """

    config: Mapping
    choices: Mapping[str, str]
    values: Mapping[str, list]


class GridSweeper(Sweeper):
    """Hands a whole grid to the task function in one call."""

    __module__ = "hydra_plugins.grid"  # see `register`

    def setup(self, *, hydra_context, task_function, config: DictConfig) -> None:
        """Keep what `sweep` needs; Hydra calls this first."""
        self._loader = hydra_context.config_loader
        self._task = task_function
        self._config = config

    def sweep(self, arguments: list[str]):
        """Expand the overrides into lists of values and run the task once."""
        values = {}
        for override in OverridesParser.create(config_loader=self._loader).parse_overrides(arguments):
            name = override.key_or_group
            if name in _VARYING or name.startswith(("algorithm.", "protocol.")):
                if override.is_delete():
                    raise BadInput(f"{override.input_line}: nothing can be deleted; give the value that you want")
                values[_column(name)] = _values(override)
            elif override.is_sweep_override():
                allowed = ", ".join([*_VARYING, "algorithm.*", "protocol.*"])
                raise BadInput(f"{name} cannot have several values; what can: {allowed}")
        asked = OmegaConf.masked_copy(self._config, [name for name in self._config if name != "hydra"])
        choices = OmegaConf.to_container(self._config.hydra.runtime.choices)
        return self._task(Request(OmegaConf.to_container(asked, resolve=True), choices, values))


def register() -> None:
    """Make the sweeper known to Hydra as ``hydra/sweeper: grid``.

    Hydra takes registered plug-ins only from a package called ``hydra_plugins`` and finds them by name, so this module
    gets a second name there, which lasts as long as the process.
    """
    Plugins.instance().register(GridSweeper)
    package = sys.modules.setdefault("hydra_plugins", ModuleType("hydra_plugins"))
    package.grid = sys.modules["hydra_plugins.grid"] = sys.modules[__name__]
    node = {"_target_": "hydra_plugins.grid.GridSweeper"}
    ConfigStore.instance().store(group="hydra/sweeper", name="grid", node=node)


def _column(name: str) -> str:
    return name.replace("algorithm.", "params.", 1)


def _values(override: Override) -> list:
    if not override.is_sweep_override():
        return [override.value()]
    if not override.is_discrete_sweep():
        raise BadInput(f"{override.input_line}: an interval is not a list of values; use a,b,c or range()")
    return [_plain(value) for value in override.sweep_iterator()]


def _plain(value):
    if isinstance(value, QuotedString):
        return value.text
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return {name: _plain(one) for name, one in value.items()} if isinstance(value, dict) else value
