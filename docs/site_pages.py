"""What pages of the site have beside their Markdown: the table of contents, and the API of the modules they name."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from types import GenericAlias, ModuleType

import jinja2
import numpydoc.numpydoc
from numpydoc import docscrape, docscrape_sphinx
from pydantic import BaseModel
from sphinx.application import Sphinx
from sphinx.domains.python import PythonDomain
from sphinx.pycode import ModuleAnalyzer

import algorithms

_NAMES = re.compile(r"^```\{public\}\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)


def setup(app: Sphinx) -> dict:
    """Register what follows with Sphinx."""
    app.add_config_value("site_contents", {}, "env")
    app.connect("source-read", _complete_page)
    app.connect("autodoc-skip-member", _skip_imported)
    app.connect("autodoc-process-docstring", _escape_bars, priority=400)  # both come before numpydoc
    app.connect("autodoc-process-signature", _shorten_signature, priority=400)
    numpydoc.numpydoc.setup(app, get_doc_object_=_read_docstring)
    app.add_domain(_NamedByEnd, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class _NamedByEnd(PythonDomain):
    """Sphinx's objects of Python, sought by the last parts of their names.

    Sphinx compares a name with the ends of all that there are: most types in signatures are not ours, and end none.
    """

    _n_objects, _ends = 0, frozenset()

    def find_obj(self, env, modname, classname, name, objtype, searchmode=0):
        """Find what Sphinx finds."""
        if self._n_objects != len(self.objects):
            self._n_objects = len(self.objects)
            self._ends = frozenset(known.rpartition(".")[2] for known in self.objects)
        if name.removesuffix("()").rpartition(".")[2] not in self._ends:
            return []
        return super().find_obj(env, modname, classname, name, objtype, searchmode)


def _complete_page(app: Sphinx, page: str, text: list[str]) -> None:
    text[0] = _NAMES.sub(lambda block: write_api(block[1].split()), text[0])
    if page in app.config.site_contents:
        text[0] += write_contents(app.config.site_contents[page])


def write_contents(pages: list[str]) -> str:
    """Return the hidden list of the pages below a page, as MyST.

    Examples
    --------
    >>> print(write_contents(["Start <docs/tutorial>", "docs/api/*"]).strip())
    ```{toctree}
    :hidden:
    :glob:
    Start </docs/tutorial>
    /docs/api/*
    ```
    """
    lines = [re.sub(r"(?<=<)(?=[^<]*>$)|^(?!.*<)", "/", page) for page in pages]
    return "\n".join(["\n\n```{toctree}", ":hidden:", ":glob:", *lines, "```\n"])


def write_api(names: list[str]) -> str:
    """Return a list of names, and what each of them is, as MyST: packages by their modules, with headings.

    ``algorithms.bayes.*`` is what ``algorithms`` offers of that package.

    Examples
    --------
    >>> print(write_api(["datasets.tuning"]))
    ```{eval-rst}
    .. autosummary::
       :nosignatures:
    <BLANKLINE>
       ~datasets.tuning
    ```
    <BLANKLINE>
    ## datasets.tuning
    <BLANKLINE>
    ```{eval-rst}
    .. automodule:: datasets.tuning
    ```
    """
    listed = [found for name in names for found in _list_modules(name)]
    overview = [".. autosummary::", "   :nosignatures:", "", *(f"   ~{name}" for name in listed)]
    return "\n\n".join([_as_rst(overview), *map(_write_one, listed)])


def _list_modules(name: str) -> list[str]:
    if name.endswith(".*"):
        public = (getattr(algorithms, offered) for offered in algorithms.__all__)
        return [f"{one.__module__}.{one.__name__}" for one in public if fnmatchcase(one.__module__, name)]
    found = _find(name)
    if not hasattr(found, "__path__"):
        return [name]
    inside = [module.name for module in pkgutil.walk_packages(found.__path__, f"{name}.")]
    return [name, *(module for module in inside if not module.rpartition(".")[2].startswith("_"))]


def _write_one(name: str) -> str:
    found = _find(name)
    if isinstance(found, ModuleType):
        return f"## {name}\n\n" + _as_rst([f".. automodule:: {name}"])
    if not inspect.isclass(found):
        return _as_rst([f".. autofunction:: {name}"])
    return _as_rst([f".. auto{'exception' if issubclass(found, Exception) else 'class'}:: {name}"])


def _find(name: str):
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        module, _, attribute = name.rpartition(".")
        return getattr(importlib.import_module(module), attribute)


def _as_rst(lines: list[str]) -> str:
    return "\n".join(["```{eval-rst}", *lines, "```"])


def _skip_imported(app: Sphinx, what: str, name: str, found: object, is_skipped: bool, options: object) -> bool | None:
    """Skip what a module only imports: autodoc leaves it out, too, but not before it has read the module it is from."""
    if what != "module" or not (inspect.isclass(found) or inspect.isroutine(found)):
        return None
    module = app.env.temp_data["autodoc:module"]
    is_own = getattr(found, "__module__", None) in (None, module)
    is_shown = hasattr(importlib.import_module(module), "__all__") or _is_described(module, name)
    return None if is_own or is_shown else True


def _is_described(module: str, name: str) -> bool:
    """Return whether a comment at an assignment describes a name, such as one of a type."""
    return ("", name) in ModuleAnalyzer.for_module(module).find_attr_docs()


def _escape_bars(app: Sphinx, what: str, name: str, found: object, options: object, lines: list[str]) -> None:
    lines[:] = [line if line.lstrip().startswith((">>>", "...")) else escape_bars(line) for line in lines]


def escape_bars(line: str) -> str:
    r"""Return a line of a docstring in which what stands between bars is no substitution.

    Examples
    --------
    >>> print(escape_bars("at most |x|, which is ``a | b``"))
    at most \|x\|, which is ``a | b``
    """
    return re.sub(r"(``.*?``)|\|", lambda found: found[1] or r"\|", line)


def _shorten_signature(
    app: Sphinx, what: str, name: str, found: object, options: object, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Leave out the fields of a document, which stand below it.

    It answers for everything, so that numpydoc does not look for a signature in each docstring.
    """
    if isinstance(found, GenericAlias):  # the name of a type, which has none
        return None, None
    is_document = inspect.isclass(found) and issubclass(found, BaseModel)
    return ("", "") if is_document else (signature, returned)


def _read_docstring(found: object, what: str | None = None, doc: str | None = None, config=None, builder=None):
    """Read a docstring as numpydoc does, which makes its template anew for each: a quarter of the time of a build."""
    return docscrape.get_doc_object(
        found,
        what=what,
        doc=doc,
        config={**(config or {}), "template": _find_template()},
        class_doc=docscrape_sphinx.SphinxClassDoc,
        func_doc=docscrape_sphinx.SphinxFunctionDoc,
        obj_doc=docscrape_sphinx.SphinxObjDoc,
    )


@cache
def _find_template() -> jinja2.Template:
    folder = Path(docscrape_sphinx.__file__).parent / "templates"
    return jinja2.Environment(loader=jinja2.FileSystemLoader(folder)).get_template("numpydoc_docstring.rst")
