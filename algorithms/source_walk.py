"""Which code a module is made of, as text to be hashed: its own and that of all that it imports.

The key of a stored result depends on it. Comments, layout and
docstrings are no code. A package that only passes names on ties nobody to all that it passes on. Modules of this
project have the names here that they have in a checkout, wherever they are installed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path

from algorithms.installation import PREFIX, ROOT, name_in_checkout

FindSource = Callable[[str], Path | None]
"""Returns the file of a module whose code counts, None of any other."""

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Where nodes of a syntax tree have statements, or parts that have statements."""


def collect_modules(roots: Iterable[str], list_imports: Callable[[str], Iterable[str]]) -> set[str]:
    """Return some modules and all that they import, directly or not.

    Parameters
    ----------
    roots : iterable of str
        Names of modules.
    list_imports : callable
        Returns the modules that one imports, of those that count.

    Examples
    --------
    >>> sorted(collect_modules(["a"], {"a": ["b"], "b": ["c"], "c": ["a"]}.get))
    ['a', 'b', 'c']
    """
    modules: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in modules:
            modules.add(name)
            waiting += list_imports(name)
    return modules


def list_imports(path: Path, module: str, find_source: FindSource) -> list[tuple[str, str]]:
    """Return what one module imports, as pairs: the module that a statement names, and the one that the code is from.

    Parameters
    ----------
    path : Path
        Its file.
    module : str
        Its name.
    find_source : callable
        Packages are looked through where it finds their file.

    Examples
    --------
    >>> path = ROOT / "algorithms" / "encoding" / "clipping.py"
    >>> list_imports(path, "algorithms.encoding.clipping", find_algorithm_source)[-1]
    ('algorithms.native', 'algorithms.native')
    """
    pairs = []
    for node in _walk_statements(_parse_file(path)):
        if isinstance(node, ast.Import):
            pairs += [(alias.name, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            origin = _resolve_module(path, module, node)
            pairs += [(origin, _find_defining(origin, alias.name, find_source)) for alias in node.names]
    return pairs


@cache
def find_algorithm_source(module: str) -> Path | None:
    """Return the file of a module of ``algorithms``.

    Examples
    --------
    >>> find_algorithm_source("algorithms.mechanisms").name, find_algorithm_source("numpy")
    ('mechanisms.py', None)
    """
    return find_file(ROOT, module) if module.partition(".")[0] == "algorithms" else None


def find_file(folder: Path, module: str) -> Path | None:
    """Return the file of a module, or of a package, whose top level lies in a folder."""
    base = folder.joinpath(*module.split("."))
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    return None


@cache
def read_code(path: Path) -> str:
    """Return the code of a file, and of its twin in C++, without words; it is the same wherever this is installed."""
    return "\n".join([ast.unparse(_parse_file(path)), *map(_read_cpp, _list_twins(path))])


def _list_twins(path: Path) -> list[Path]:
    """Return the files in C++ that belong to a module: those of its name; to a package, those of no module in it."""
    near = sorted(other for other in path.parent.iterdir() if other.suffix in (".h", ".cpp"))
    if path.name == "__init__.py":
        return [other for other in near if not other.with_suffix(".py").exists()]
    return [other for other in near if other.stem == path.stem]


def _read_cpp(path: Path) -> str:
    return re.sub(r"\s*//.*", "", path.read_text(encoding="utf-8"))


def code_without_words(source: str) -> str:
    """Return the code of a module without docstrings, comments and layout.

    Examples
    --------
    >>> code_without_words("def f(x):\\n    'Double.'\\n    return 2 * x  # fast")
    'def f(x):\\n    return 2 * x'
    """
    return ast.unparse(_parse_without_words(source))


def _find_defining(module: str, name: str, find_source: FindSource) -> str:
    """Return the module that ``from module import name`` gets its code from.

    A package that only passes names on would otherwise tie every algorithm to all others.
    """
    path = find_source(module)
    if path is None:
        return module
    if find_source(f"{module}.{name}"):
        return f"{module}.{name}"
    for node in _parse_file(path).body:
        if isinstance(node, ast.ImportFrom) and name in {alias.asname or alias.name for alias in node.names}:
            return _find_defining(_resolve_module(path, module, node), name, find_source)
    if path.name != "__init__.py":
        return module
    is_ours = path.is_relative_to(ROOT)  # such a package may look names up when somebody asks for them
    package = import_module(f"{PREFIX}{module}" if is_ours else module)
    found = getattr(package, name, None)  # kernels are no attribute where plain Python runs
    return name_in_checkout(getattr(found, "__module__", module))


def _resolve_module(path: Path, module: str, node: ast.ImportFrom) -> str:
    """Return the absolute name of the module that an import statement names."""
    if not node.level:
        return node.module or ""  # only a relative import may leave it out
    is_package = path.name == "__init__.py"
    parent = module.split(".")[: None if is_package and node.level == 1 else is_package - node.level]
    return ".".join([*parent, *([node.module] if node.module else [])])


@cache
def _parse_file(path: Path) -> ast.Module:
    """Return what the code of a file is, but for its words; imports are named as in a checkout."""
    tree = _parse_without_words(path.read_text(encoding="utf-8"))
    for node in _walk_statements(tree):
        if isinstance(node, ast.ImportFrom | ast.Import):
            _name_as_in_checkout(node)
    return tree


def _name_as_in_checkout(node: ast.ImportFrom | ast.Import) -> None:
    """Undo what `setup.py` does to an import, so that code has the same hash wherever this is installed."""
    if isinstance(node, ast.ImportFrom):
        node.module = node.module and name_in_checkout(node.module)
        return
    for alias in node.names:
        alias.name = name_in_checkout(alias.name)
        alias.asname = None if alias.asname == alias.name else alias.asname


def _parse_without_words(source: str) -> ast.Module:
    """Parse code and take out strings that stand alone: docstrings, and those below a constant."""
    tree = ast.parse(source)
    for body in _list_bodies(tree):
        body[:] = [statement for statement in body if not _is_word(statement)]
    return tree


def _is_word(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _walk_statements(tree: ast.Module) -> Iterator[ast.AST]:
    return chain.from_iterable(_list_bodies(tree))


def _list_bodies(tree: ast.Module) -> list[list[ast.AST]]:
    """Return the lists of statements of a module and of all blocks in it.

    Expressions, most of a syntax tree, hold no statement: to pass them by spares most of the time of `ast.walk`.
    """
    bodies: list[list[ast.AST]] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        for name in _BLOCKS:
            if not (body := getattr(node, name, None)) or not isinstance(body, list):
                continue  # the body of a lambda is an expression
            if name in ("body", "orelse", "finalbody"):
                bodies.append(body)
            waiting += body
    return bodies
