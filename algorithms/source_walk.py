"""Which code a module of this project is made of, as text to be hashed: its own and that of all that it imports.

Two things depend on it: the key of a stored result, and the name of cached machine code. Comments, layout and
docstrings are no code. A package that only passes names on ties nobody to all that it passes on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from operator import attrgetter
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]


def collect_imports(roots: Iterable[str], packages: tuple[str, ...]) -> set[str]:
    """Return the modules that some modules import, directly or not, and themselves.

    Parameters
    ----------
    roots : iterable of str
        Names of modules.
    packages : tuple of str
        Modules elsewhere are left out.

    Examples
    --------
    >>> sorted(collect_imports(["algorithms.encoding.clipping"], ("algorithms",)))
    ['algorithms.encoding.clipping', 'algorithms.jit', 'algorithms.source_walk']
    """
    modules: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in modules:
            modules.add(name)
            waiting += _list_imports(name, packages)
    return modules


@cache
def _list_imports(name: str, packages: tuple[str, ...]) -> list[str]:
    """Return the modules of the packages that one module imports."""
    modules: list[str] = []
    for node in ast.walk(_parse_module(name)):
        if isinstance(node, ast.Import):
            modules += map(attrgetter("name"), node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = _resolve_module(name, node)
            modules += [_find_defining(origin, alias.name, packages) for alias in node.names]
    return [module for module in modules if module.partition(".")[0] in packages]


def _find_defining(module: str, name: str, packages: tuple[str, ...]) -> str:
    """Return the module that ``from module import name`` gets its code from.

    A package that only passes names on would otherwise tie every algorithm to all others.
    """
    if module.partition(".")[0] not in packages:
        return module
    if _find_path(f"{module}.{name}"):
        return f"{module}.{name}"
    for node in _parse_module(module).body:
        if isinstance(node, ast.ImportFrom) and name in {alias.asname or alias.name for alias in node.names}:
            return _find_defining(_resolve_module(module, node), name, packages)
    is_package = _is_package(module)  # it may look names up when somebody asks for them
    return getattr(getattr(import_module(module), name), "__module__", module) if is_package else module


def _resolve_module(module: str, node: ast.ImportFrom) -> str:
    """Return the absolute name of the module that an import statement names."""
    if not node.level:
        return node.module or ""  # only a relative import may leave it out
    is_package = _is_package(module)
    parent = module.split(".")[: None if is_package and node.level == 1 else is_package - node.level]
    return ".".join([*parent, *([node.module] if node.module else [])])


def _is_package(module: str) -> bool:
    return _require_path(module).name == "__init__.py"


def _require_path(module: str) -> Path:
    path = _find_path(module)
    if path is None:
        raise ModuleNotFoundError(f"{module} is no module of this project")
    return path


def _find_path(module: str) -> Path | None:
    base = _ROOT.joinpath(*module.split("."))
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None


@cache
def _parse_module(module: str) -> ast.Module:
    return ast.parse(_require_path(module).read_text(encoding="utf-8"))


@cache
def read_code(module: str) -> str:
    """Return the code of a module, see `code_without_words`."""
    return code_without_words(_require_path(module).read_text(encoding="utf-8"))


def code_without_words(source: str) -> str:
    """Return the code of a module without docstrings, comments and layout.

    Examples
    --------
    >>> code_without_words("def f(x):\\n    'Double.'\\n    return 2 * x  # fast")
    'def f(x):\\n    return 2 * x'
    """
    return ast.unparse(_WordRemover().visit(ast.parse(source)))


class _WordRemover(ast.NodeTransformer):
    """Takes out strings that stand alone: docstrings of functions and classes, and those below a constant."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str) else node
