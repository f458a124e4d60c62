"""How the checkout becomes a wheel: everything lies below ``dp_replica``, and imports say so.

In the checkout the packages stand at the top. Installed like that, ``datasets`` or ``experiments`` would hide packages
of other people. So a wheel has them as ``dp_replica.datasets``, ..., and in what is copied into it

- imports of our packages begin with ``dp_replica.``: the statements are found in the syntax tree, text is not searched;
- files in ``conf`` name classes of ours likewise, call the program ``dp-replica``, and know of no checkout.

Names that code makes up at run time are right in both places, see `algorithms.installation`. An editable installation
points at the checkout and changes nothing; there, kernels are compiled when they are first imported.
"""

import ast
import re
from pathlib import Path
from runpy import run_path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.editable_wheel import editable_wheel

NAME = "dp_replica"
KERNELS = run_path(str(Path(__file__).parent / "algorithms/native/build.py"))
PACKAGES = ("algorithms", "datasets", "documents", "experiments", "plots")
OTHERS = [NAME, "hydra_plugins"]  # the latter is where Hydra looks, in all packages that are installed
DATA = {
    f"{NAME}.conf": ["**/*.yaml", "**/*.json"],
    f"{NAME}.results": [
        "reported/*",
        "bands/*",
        *(f"reference/**/*.{kind}" for kind in ("csv", "json", "parquet", "svg", "tex", "yaml")),  # what reports show
    ],
}


def list_sources() -> list[str]:
    """Return all packages by their names in the checkout."""
    return find_packages(include=[pattern for name in PACKAGES for pattern in (name, f"{name}.*")])


class BuildBelowOneName(build_py):
    """Copies what setuptools copies, and lets the copies of a wheel say where they lie."""

    def run(self):
        """Copy; setuptools calls this."""
        super().run()
        if self.editable_mode:
            return
        root = Path(self.build_lib)
        for read in ("CITATION.cff", "requirements-peers.lock", "requirements-peers-jax.lock"):
            self.copy_file(read, str(root / NAME))
        for path in (*root.glob(f"{NAME}/**/*.py"), *root.glob("hydra_plugins/*.py")):
            path.write_text(move_imports(path.read_text(encoding="utf-8")), encoding="utf-8")
        for path in root.glob(f"{NAME}/conf/**/*.yaml"):
            path.write_text(move_names(path.read_text(encoding="utf-8")), encoding="utf-8")


class CompileKernels(build_ext):
    """Compiles the kernels, see ``algorithms/native``, or takes those that the checkout has of just this code."""

    def build_extension(self, ext):
        """Leave the extension module where setuptools wants it; setuptools calls this."""
        module = Path(self.get_ext_fullpath(ext.name)).resolve()
        if KERNELS["is_built"]():
            module.parent.mkdir(parents=True, exist_ok=True)
            self.copy_file(str(KERNELS["BUILT"]), str(module))
        else:
            KERNELS["build_kernels"](module.parent, Path(self.build_temp).resolve())


class LinkCheckout(editable_wheel):
    """Links the packages of the checkout under their own names."""

    def finalize_options(self):
        """Replace the packages of a wheel by those of the checkout; setuptools calls this."""
        super().finalize_options()
        self.distribution.packages = [*list_sources(), *OTHERS]
        self.distribution.package_dir = {}
        self.distribution.package_data = {}
        self.distribution.ext_modules = []


def move_imports(source: str) -> str:
    """Return a module in which imports of our packages begin with ``dp_replica.``."""
    lines = source.splitlines(keepends=True)
    places = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and not node.level and is_ours(node.module):
            places.append((node.lineno, node.col_offset, f"from {node.module}", f"from {NAME}.{node.module}"))
        elif isinstance(node, ast.Import):
            for alias in filter(lambda alias: is_ours(alias.name), node.names):
                if alias.asname is None and "." in alias.name:
                    raise SystemExit(f"import {alias.name}: write `import ... as ...`, which a wheel can say, too")
                named = "" if alias.asname else f" as {alias.name}"
                places.append((alias.lineno, alias.col_offset, alias.name, f"{NAME}.{alias.name}{named}"))
    for line, column, old, new in sorted(places, reverse=True):
        head, rest = lines[line - 1].encode()[:column].decode(), lines[line - 1].encode()[column:].decode()
        if not rest.startswith(old):
            raise SystemExit(f"{lines[line - 1].strip()}: write this import in the usual way")
        lines[line - 1] = head + new + rest.removeprefix(old)
    return "".join(lines)


def is_ours(module: str) -> bool:
    """Return whether a module belongs to a package that a wheel moves."""
    return module.partition(".")[0] in PACKAGES


def move_names(text: str) -> str:
    """Return a file of ``conf`` with our classes named as they are where they are installed."""
    text = re.sub(rf"^(\s*_target_: )({'|'.join(PACKAGES)})\.", rf"\1{NAME}.\2.", text, flags=re.MULTILINE)
    return text.replace("relative to the checkout", "relative to the current folder")


if __name__ == "__main__":
    setup(
        packages=[*(f"{NAME}.{package}" for package in list_sources()), *OTHERS, *DATA],
        package_dir={f"{NAME}.{name}": name for name in (*PACKAGES, "conf", "results")},
        package_data={
            **DATA,
            NAME: ["py.typed"],
            f"{NAME}.algorithms": ["**/*.h", "**/*.cpp"],  # the code that the key of a result depends on
            f"{NAME}.experiments.skeletons": ["*.yaml", "*.csv", "project/*", "notebooks/*"],
            f"{NAME}.plots.pages": ["templates/*"],
        },
        include_package_data=False,
        ext_modules=[Extension(f"{NAME}.algorithms.native.kernels", sources=[])],
        setup_requires=[] if KERNELS["has_compiler"]() else ["ziglang"],
        cmdclass={"build_ext": CompileKernels, "build_py": BuildBelowOneName, "editable_wheel": LinkCheckout},
    )
