"""DP-Replica: reproduce papers on private machine learning, run and compare private estimators, audit what they claim.

``import dp_replica as dr`` gives `run`, `run_paper`, `load_results`, `load_paper`, `plot_curves`, `compare`, `judge`,
`read_cv_results`, `read_benchopt`, `write_page`, `audit`, `use_folder`, `Domain`, `BadInput` and ``__version__``;
estimators are in ``dp_replica.algorithms``, tables in ``dp_replica.datasets``. Each is imported when somebody asks for
it.

In a checkout ``dp_replica.algorithms``, ``dp_replica.datasets``, ... are the modules that are called ``algorithms``,
``datasets``, ... there: the same objects under a second name, so that what is written for one works with the other. A
wheel has a folder for each below this one instead.
"""

import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what editors read; a checkout has these modules under their first names alone
    from dp_replica.algorithms import Domain
    from dp_replica.experiments.errors import BadInput
    from dp_replica.experiments.python_api.auditing import audit
    from dp_replica.experiments.python_api.comparing import compare
    from dp_replica.experiments.python_api.curves import plot_curves
    from dp_replica.experiments.python_api.judging import judge, read_benchopt, read_cv_results
    from dp_replica.experiments.python_api.pages import write_page
    from dp_replica.experiments.python_api.papers import load_paper
    from dp_replica.experiments.python_api.results import load_results
    from dp_replica.experiments.python_api.runs import run, run_paper, use_folder

_PLACES = {
    "BadInput": "experiments.errors",
    "Domain": "algorithms",
    "audit": "experiments.python_api.auditing",
    "compare": "experiments.python_api.comparing",
    "judge": "experiments.python_api.judging",
    "load_paper": "experiments.python_api.papers",
    "load_results": "experiments.python_api.results",
    "plot_curves": "experiments.python_api.curves",
    "read_benchopt": "experiments.python_api.judging",
    "read_cv_results": "experiments.python_api.judging",
    "run": "experiments.python_api.runs",
    "run_paper": "experiments.python_api.runs",
    "use_folder": "experiments.python_api.runs",
    "write_page": "experiments.python_api.pages",
}
__all__ = [
    "BadInput",
    "Domain",
    "__version__",
    "audit",
    "compare",
    "judge",
    "load_paper",
    "load_results",
    "plot_curves",
    "read_benchopt",
    "read_cv_results",
    "run",
    "run_paper",
    "use_folder",
    "write_page",
]

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


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _find_version()
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return __all__


def _find_version() -> str:
    try:
        return version("dp-replica")
    except PackageNotFoundError:
        return "of a checkout that is not installed"
