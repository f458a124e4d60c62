"""Write the examples of the gallery as notebooks, without outputs: `make notebooks`. A wheel has them for `new`."""

import json
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from sphinx_gallery.notebook import python_to_jupyter_cli

GALLERY = Path(__file__).parent / "gallery"
NOTEBOOKS = Path(__file__).parents[1] / "experiments" / "skeletons" / "notebooks"
_PAGE = re.compile(r":doc:`/?(?:[^`/]*/)*([^`/]+)`")


def convert(example: Path) -> str:
    """Return an example as the text of a notebook, in which pages of the site are named and not linked."""
    with TemporaryDirectory() as folder:
        script = Path(folder) / example.name
        script.write_text(example.read_text(encoding="utf-8"), encoding="utf-8")
        python_to_jupyter_cli([str(script)])
        notebook = json.loads(script.with_suffix(".ipynb").read_text(encoding="utf-8"))
    notebook["metadata"]["language_info"].pop("version")  # of whoever converts it
    for cell in notebook["cells"]:
        cell["source"] = [_PAGE.sub(r"“\1” in the documentation", line) for line in cell["source"]]
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    """Write all of them."""
    for example in sorted(GALLERY.glob("*.py")):
        (NOTEBOOKS / f"{example.stem}.ipynb").write_text(convert(example), encoding="utf-8")
    print(NOTEBOOKS, file=sys.stderr)


if __name__ == "__main__":
    main()
