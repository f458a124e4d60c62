"""The name of an installed DP-Replica: ``dp_replica.algorithms``, ``dp_replica.datasets``, ...

In a checkout these are the modules that are called ``algorithms``, ``datasets``, ... there: the same objects under a
second name, so that what is written for one works with the other. A wheel has a folder for each below this one instead.
"""

import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[1]


class CheckoutFinder(MetaPathFinder, Loader):
    """Finds ``dp_replica.algorithms.base`` where ``algorithms.base`` is."""

    def find_spec(self, fullname, path=None, target=None):
        """Return the spec of a second name."""
        name = fullname.removeprefix(f"{__name__}.")
        is_ours = name != fullname and (_CHECKOUT / name.partition(".")[0] / "__init__.py").is_file()
        own = find_spec(name) if is_ours else None
        if own is None:
            return None
        spec = ModuleSpec(fullname, self, origin=own.origin, is_package=own.submodule_search_locations is not None)
        spec.loader_state = own
        return spec

    def create_module(self, spec):
        """Return the module that is there under its first name."""
        return import_module(spec.name.removeprefix(f"{__name__}."))

    def exec_module(self, module):
        """Give the module its own spec back, which importlib has replaced; it has run already."""
        module.__spec__ = module.__spec__.loader_state


if not (Path(__file__).parent / "algorithms").is_dir():  # as there is in a wheel
    sys.meta_path.insert(0, CheckoutFinder())
