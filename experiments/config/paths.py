"""Where the files are that come with this project, and which papers there are."""

from pathlib import Path

from algorithms.installation import PROGRAM, ROOT
from documents import search_path
from documents.yaml_files import shorten_path

CONF = search_path.BUILT_IN
"""What is run, as YAML; `documents.search_path` knows the folders that a user adds."""
REFERENCE = ROOT / "results" / "reference"
"""Published results, a folder for each paper."""
PAPERS = CONF / "paper"
"""The papers that come with the project."""
BENCHMARKS = ("benchmark", "benchmark-heavy")
"""What compares methods beyond the papers; the second has peers that take up to a minute a fit."""


def list_papers() -> list[str]:
    """Return the numbers of our papers: the names of ``conf/paper`` but the demo and the benchmarks.

    Examples
    --------
    >>> "2" in list_papers(), "demo" in list_papers()
    (True, False)
    """
    files = search_path.list_files(PAPERS)
    return [name for name, file in files.items() if name.isdigit() and is_built_in(file)]


def list_own_papers() -> list[str]:
    """Return the papers of the folders that a user adds."""
    return [name for name, file in search_path.list_files(PAPERS).items() if not is_built_in(file)]


def find_own_file(name: str) -> Path | None:
    """Return the file of a paper in a folder that a user adds; None if it is one of ours, or there is none."""
    file = search_path.find_file(PAPERS, name)
    return None if file is None or is_built_in(file) else file


def name_paper_command(command: str, paper: str) -> str:
    """Return what a user types for a command on a paper, with the folder of one that is theirs.

    Examples
    --------
    >>> name_paper_command("bands", "2")
    'dp-replica bands paper=2'
    """
    program = PROGRAM if find_own_file(paper) is None else search_path.name_program()
    return f"{program} {command} paper={paper}"


def find_reference(name: str) -> Path:
    """Return where runs of a paper are published: of a user's own paper in ``reference`` of the folder that was added.

    Examples
    --------
    >>> find_reference("2") == REFERENCE
    True
    """
    file = find_own_file(name)
    return file.parents[1] / "reference" if file else REFERENCE


def is_built_in(file: Path) -> bool:
    """Return whether a paper's file is one of ours, and not one of a folder that a user adds."""
    return file.parent == PAPERS


def name_paper_file(name: str) -> str:
    """Return the file of a paper, as an error names it.

    Examples
    --------
    >>> name_paper_file("2")
    'conf/paper/2.yaml'
    """
    file = find_own_file(name)
    return shorten_path(file) if file else f"conf/paper/{name}.yaml"
